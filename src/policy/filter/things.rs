//! The things that a clause is about: paths, tags, facts, and what has an everyday name.

use super::Matcher;
use super::line::{is_of_tag, stem, words};
use super::token::{Token, is_in, is_one_of, is_path};
use super::topic::Topic;
use crate::policy::glob::Glob;

/// What the things of a clause are, while they are read.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Matcher>,
    /// Words that may turn out to be the names of facts.
    open: Vec<Vec<String>>,
    pub(super) is_whole: bool,
    pub(super) is_wide: bool,
    /// Where a place would only narrow what was named last: “emails in work/”.
    nearby: Nearby,
}

/// What the words since the last comma or “and” have named.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Nearby {
    #[default]
    Nothing,
    /// Something that stands in notes.
    Content,
    /// That, and a word such as “in” behind it.
    Within,
}

impl Scan {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut scan = Self { is_whole: true, ..Self::default() };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let after_related =
                at > 0 && tokens.get(at - 1).is_some_and(|before| is_one_of(before, "related relating"));
            let is_to_all = tokens.get(at + 1).is_some_and(|next| is_one_of(next, "anyone anybody others me"));
            if is_one_of(token, "to") && (after_related || is_to_all) {
                at += 1;
                continue;
            }
            if is_one_of(token, CONDITIONS) {
                scan.is_whole = false;
                break;
            }
            let before = scan.found.len();
            at += scan.step(token, tokens.get(at..).unwrap_or_default());
            scan.nearby = match scan.nearby {
                _ if is_one_of(token, "and or nor") || *token == Token::Comma => Nearby::Nothing,
                _ if scan.found.len() > before => Nearby::Content,
                Nearby::Content if is_one_of(token, "in from of within under") => Nearby::Within,
                nearby @ (Nearby::Nothing | Nearby::Content | Nearby::Within) => nearby,
            };
        }
        scan.is_whole &= scan.open.iter().all(Vec::is_empty);
        scan
    }

    /// Whether both places and what may stand in them are named.
    pub(super) fn is_mixed(&self) -> bool {
        let is_place = |matcher: &Matcher| matches!(matcher, Matcher::Path(..) | Matcher::Tag(_));
        self.found.iter().any(is_place) && !self.found.iter().all(is_place)
    }

    /// Reads what comes next, and says how many tokens it has.
    fn step(&mut self, token: &Token, rest: &[Token]) -> usize {
        let next = rest.get(1);
        match token {
            Token::Comma => self.open.push(Vec::new()),
            Token::Path(path) => self.path(path),
            Token::Tag(tag) => self.tag(tag),
            Token::Named(quoted) => self.quoted(quoted),
            Token::Quoted(quoted) => {
                self.quoted(quoted);
                if let Some(Matcher::Fact(_)) = self.found.last() {
                    self.found.push(Matcher::Words(words(quoted)));
                }
            }
            Token::Word(word) if matches!(word.as_str(), "folder" | "directory") => return self.folder(next),
            Token::Word(word) if matches!(word.as_str(), "tag" | "tagged" | "tags") => {
                let skipped = usize::from(next.is_some_and(|next| is_one_of(next, "with as")));
                if let Some(Token::Word(tag)) = rest.get(1 + skipped).filter(|next| !is_filler(next)) {
                    self.tag(tag);
                    return 2 + skipped;
                }
            }
            Token::Word(word) if is_in(FACTS, &stem(word)) => {
                let names = self.open.drain(..).filter(|name| !name.is_empty());
                self.found.extend(names.map(|name| Matcher::Fact(words(&name.join(" ")))));
                if next.is_some_and(|next| is_one_of(next, "called named"))
                    && let Some(Token::Word(name)) = rest.get(2)
                {
                    self.found.push(Matcher::Fact(words(name)));
                    return 3;
                }
            }
            Token::Word(word) => return self.word(word, rest),
        }
        1
    }

    fn word(&mut self, word: &str, rest: &[Token]) -> usize {
        // “The finance folder” is a folder, whatever its name means elsewhere.
        let is_name = rest.get(1).is_some_and(|next| is_one_of(next, "folder directory"));
        if is_name && !is_filler(&Token::Word(word.to_owned())) {
            self.open.push(vec![word.to_owned()]);
            return 1;
        }
        let stems: Vec<_> = rest
            .iter()
            .take(4)
            .map_while(|token| if let Token::Word(word) = token { Some(stem(word)) } else { None })
            .collect();
        let stems: Vec<&str> = stems.iter().map(AsRef::as_ref).collect();
        if let Some((said, count)) = Topic::at(&stems) {
            let behind = rest.get(count);
            // “Personal email addresses” are no more than email addresses.
            let is_mere = matches!(word, "personal" | "private" | "secret") && count == 1;
            if is_mere && behind.is_some_and(|next| !is_filler(next) && !is_one_of(next, CONDITIONS)) {
                return 1;
            }
            self.is_wide |= said.is_wide;
            self.found.extend(said.matchers);
            return count;
        }
        if matches!(word, "and" | "or" | "nor") {
            self.open.push(Vec::new());
        } else if !is_filler(&Token::Word(word.to_owned())) {
            if self.open.is_empty() {
                self.open.push(Vec::new());
            }
            if let Some(name) = self.open.last_mut() {
                name.push(word.to_owned());
            }
        }
        1
    }

    /// “The folder private”, “the private folder”.
    fn folder(&mut self, next: Option<&Token>) -> usize {
        if let Some(name) = self.open.pop().filter(|name| !name.is_empty()) {
            self.path(&format!("{}/", name.join(" ")));
            return 1;
        }
        match next {
            Some(Token::Word(name)) if !is_filler(&Token::Word(name.clone())) => self.path(&format!("{name}/")),
            Some(Token::Named(name) | Token::Quoted(name) | Token::Path(name)) => {
                self.path(&format!("{}/", name.trim_end_matches('/')))
            }
            _ => {
                self.is_whole = false;
                return 1;
            }
        }
        2
    }

    fn quoted(&mut self, quoted: &str) {
        if let Some(tag) = quoted.strip_prefix('#').filter(|tag| !tag.is_empty() && tag.chars().all(is_of_tag)) {
            return self.tag(tag);
        }
        if is_path(quoted) || quoted.contains('/') {
            return self.path(quoted);
        }
        let name = words(quoted.trim_start_matches("- ").split(':').next().unwrap_or_default());
        if name.is_empty() {
            self.is_whole = false;
        } else {
            self.found.push(Matcher::Fact(name));
        }
    }

    /// Whether a place narrows what was named before it. Then that is left out everywhere, and not all of the place.
    fn narrows(&mut self) -> bool {
        self.is_whole &= self.nearby != Nearby::Within;
        self.nearby == Nearby::Within
    }

    fn tag(&mut self, tag: &str) {
        if !self.narrows() {
            self.found.push(Matcher::Tag(tag.to_owned()));
        }
    }

    /// A path; a note without a folder may be in any.
    fn path(&mut self, path: &str) {
        if self.narrows() {
            return;
        }
        let path = path.trim_start_matches("./");
        let glob = if path.contains('/') || path.contains('*') { path.to_owned() } else { format!("**/{path}") };
        match Glob::parse(&glob) {
            Ok(read) => self.found.push(Matcher::Path(glob, read)),
            Err(_) => self.is_whole = false,
        }
    }
}

pub(super) fn is_filler(token: &Token) -> bool {
    *token == Token::Comma || is_one_of(token, FILLERS)
}

const CONDITIONS: &str = "if when unless until while because since so outside whenever except but to after before not never \
    only without";

/// What stands behind the name of a fact.
const FACTS: &str = "fact field key entry value property";

const FILLERS: &str = "any all the a an my his her its their our your of about on in from for with regarding concerning \
    related relating explicit explicitly specific exact actual real full whole entire such kind kinds \
    type types sort information info data details detail anything everything something things stuff \
    content contents notes note files file lines mentioned stored contained marked people peoples person \
    persons anyone anyones anybody somebody someone everyone other others else that which is are has \
    have and or nor as well also either neither ever at please provided these those this it user users \
    out away up me them both by within under there what known listed given personal private found like \
    model assistant ai agent answer answers reply replies";
