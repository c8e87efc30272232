//! From a person's words to matchers.
//!
//! A text is sentences, a sentence is clauses, and a clause is a head that says what to do (“do not reveal”, “only”) and the
//! things it is about. Every word is either known or makes the clause one that is understood in part.

use super::line::{is_of_tag, stem, words};
use super::topic::Topic;
use super::{Filter, Matcher};
use crate::policy::glob::Glob;

/// How many matchers a filter has at most; what would be more is not understood.
pub(super) const MAX_MATCHERS: usize = 200;

/// How many bytes a filter has at most; a longer one is not understood.
const MAX_BYTES: usize = 8 * 1024;

/// A piece of a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Token {
    /// A word in lower case.
    Word(String),
    /// `,`.
    Comma,
    /// What stands in backticks: a name.
    Named(String),
    /// What stands in quotes: a name, or words.
    Quoted(String),
    /// A path or glob.
    Path(String),
    /// A tag, without `#`.
    Tag(String),
}

/// What a clause says about the things in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Head {
    /// They are left out.
    Not,
    /// They alone may stay.
    Only,
}

/// What a sentence says.
#[derive(Default)]
struct Sentence {
    not: Vec<Matcher>,
    only: Vec<Vec<Matcher>>,
    /// Whether every word of it was understood.
    is_whole: bool,
}

pub(super) fn filter(text: &str) -> Filter {
    if text.len() > MAX_BYTES {
        return Filter { not: Vec::new(), only: Vec::new(), rest: Some(text.trim().to_owned()) };
    }
    let read: Vec<(&str, Sentence)> = sentences(text).map(|text| (text, sentence(text))).collect();
    let is_whole = read.iter().all(|(_, sentence)| sentence.is_whole);
    let mut filter = Filter { not: Vec::new(), only: Vec::new(), rest: None };
    let mut rest: Vec<&str> = Vec::new();
    for (text, sentence) in read {
        let room = MAX_MATCHERS.saturating_sub(filter.not.len() + filter.only.len());
        let is_full = sentence.not.len() > room || sentence.only.iter().map(Vec::len).sum::<usize>() > room;
        let has_lost = !is_whole && !sentence.only.is_empty();
        if !sentence.is_whole || has_lost || is_full {
            rest.push(text);
        }
        for matcher in sentence.not.into_iter().take(room) {
            if !filter.not.contains(&matcher) {
                filter.not.push(matcher);
            }
        }
        if is_whole && !is_full {
            filter.only.extend(sentence.only);
        }
    }
    filter.rest = (!rest.is_empty()).then(|| rest.join("\n"));
    filter
}

/// The sentences of a text: they end at a line, a semicolon, or a mark with a blank behind it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut cuts = vec![0];
    let mut quote = None;
    let mut marks = text.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        let is_last = marks.peek().is_none_or(|(_, next)| next.is_whitespace());
        match mark {
            '\n' => {
                quote = None;
                cuts.push(at);
            }
            '"' | '`' if quote == Some(mark) => quote = None,
            '"' | '`' if quote.is_none() => quote = Some(mark),
            ';' | '.' | '!' | '?' if quote.is_none() && (is_last || mark == ';') => cuts.push(at + 1),
            _ => {}
        }
    }
    cuts.push(text.len());
    let ends: Vec<usize> = cuts.iter().skip(1).copied().collect();
    let parts = cuts.into_iter().zip(ends).map(move |(start, end)| text.get(start..end).unwrap_or_default().trim());
    parts.map(without_bullet).filter(|part| part.chars().any(char::is_alphanumeric) && !is_number(part))
}

/// A sentence without the mark of a list before it.
fn without_bullet(sentence: &str) -> &str {
    sentence.trim_start_matches(|mark: char| matches!(mark, '-' | '*' | '•' | '–') || mark.is_whitespace())
}

fn is_number(part: &str) -> bool {
    part.trim_end_matches(['.', ')', ':']).bytes().all(|byte| byte.is_ascii_digit())
}

fn tokens(sentence: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        let closer = match first {
            '"' | '`' => Some(first),
            '“' => Some('”'),
            '‘' => Some('’'),
            '\'' => Some('\''),
            _ => None,
        };
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        if let Some((quoted, behind)) = closer.and_then(|closer| after.split_once(closer))
            && !quoted.trim().is_empty()
        {
            let quoted = quoted.trim().to_owned();
            tokens.push(if first == '`' { Token::Named(quoted) } else { Token::Quoted(quoted) });
            rest = behind;
            continue;
        }
        let ends = |mark: char| mark.is_whitespace() || matches!(mark, ',' | '"' | '`' | '“' | '”' | '(' | ')');
        let end = rest.find(ends).unwrap_or(rest.len());
        if end == 0 {
            if first == ',' {
                tokens.push(Token::Comma);
            }
            rest = after;
            continue;
        }
        let (piece, behind) = rest.split_at(end);
        add_word(piece, &mut tokens);
        rest = behind;
    }
    tokens
}

/// Adds what stands between two blanks: a path, a tag, or words.
fn add_word(piece: &str, tokens: &mut Vec<Token>) {
    let piece = piece.trim_matches(['.', ':', ';', '!', '?', '\'']);
    if let Some(tag) = piece.strip_prefix('#').filter(|tag| !tag.is_empty() && tag.chars().all(is_of_tag)) {
        tokens.push(Token::Tag(tag.to_owned()));
    } else if is_path(piece) {
        tokens.push(Token::Path(piece.to_owned()));
    } else {
        let plain = piece.to_lowercase().replace('\u{2019}', "'");
        let plain = plain.strip_suffix("'s").unwrap_or(&plain).replace("n't", "nt").replace('\'', "");
        let parts = plain.split(['-', '_', '/', '&']).filter(|part| !part.is_empty());
        tokens.extend(parts.map(|part| Token::Word(part.to_owned())));
    }
}

/// Whether a piece of text can only be a path: with a folder at its start, a name of a note at its end, or a star.
fn is_path(piece: &str) -> bool {
    let ends_in_note = piece.len() > 3 && piece.to_ascii_lowercase().ends_with(".md");
    let slashes = piece.bytes().filter(|byte| *byte == b'/').count();
    ends_in_note
        || piece.contains('*') && piece.len() > 1
        || piece.ends_with('/') && slashes < piece.len()
        || slashes > 1
}

fn sentence(text: &str) -> Sentence {
    let tokens = tokens(text);
    let mut said = Sentence { is_whole: true, ..Sentence::default() };
    for clause in clauses(&tokens) {
        let Some((head, things, is_sure)) = clause_of(clause) else {
            said.is_whole = false;
            continue;
        };
        let scan = Scan::of(things);
        let is_whole = is_sure && scan.is_whole && !scan.found.is_empty();
        said.is_whole &= is_whole;
        match head {
            Head::Not => said.not.extend(scan.found),
            // What is found too widely may be left out, but not told.
            Head::Only if is_whole && !scan.is_wide => {
                // A line that happens to hold the words may be left out, but not told.
                let found = scan.found.into_iter().filter(|matcher| !matches!(matcher, Matcher::Words(_)));
                said.only.push(found.collect());
            }
            Head::Only => said.is_whole = false,
        }
    }
    if !said.is_whole {
        said.only.clear();
    }
    said
}

/// The clauses of a sentence: each starts with a head.
fn clauses(tokens: &[Token]) -> Vec<&[Token]> {
    let mut starts = vec![0];
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let is_joint =
            |token: &Token| *token == Token::Comma || is_one_of(token, &["and", "but", "or", "also", "then"]);
        let next = tokens.get(at + 1..).unwrap_or_default();
        if is_joint(token) && next.first().is_some_and(|next| !is_joint(next)) && starts_head(next) {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    starts.iter().zip(ends).map(|(start, end)| tokens.get(*start..end).unwrap_or_default()).collect()
}

/// Whether a clause of its own starts here.
fn starts_head(tokens: &[Token]) -> bool {
    let tokens = lead(tokens);
    not_to_tell(tokens).is_some()
        || hide(tokens).is_some()
        || tokens.first().is_some_and(|first| is_one_of(first, &["only", "no", "without", "nothing"]))
}

/// Reads the head of a clause: what it says, the tokens of the things it is about, and whether nothing else is in it.
fn clause_of(clause: &[Token]) -> Option<(Head, &[Token], bool)> {
    let tokens = lead(clause);
    if let Some(things) = not_to_tell(tokens) {
        return Some(negated(things));
    }
    if let Some(things) = hide(tokens) {
        return Some(negated(things));
    }
    if let Some(things) = kept_out(tokens) {
        return Some((Head::Not, things, true));
    }
    if let Some(rest) = after(tokens, &["no", "without", "nothing"]) {
        if rest.first().is_some_and(|first| is_one_of(first, HARMLESS)) {
            return None;
        }
        let things = rest.first().filter(|first| is_telling(first)).map_or(rest, |_| rest.get(1..).unwrap_or_default());
        // “Nothing but”: what stands before it is everything.
        return Some(negated(things));
    }
    if let Some(found) = only(tokens) {
        return Some(found);
    }
    if let Some(at) = tokens.iter().position(|token| is_one_of(token, &["without"])) {
        let (before, rest) = tokens.split_at(at);
        return before.iter().all(is_plain).then(|| clause_of(rest)).flatten();
    }
    // “You may share everything except …”, “reveal nothing but …”.
    let (before, behind) = at_exception(tokens)?;
    let has = |known: &[&str]| before.iter().any(|token| is_one_of(token, known));
    if !has(EVERYTHING) || !before.iter().all(is_plain) {
        return None;
    }
    Some((if has(&["nothing"]) { Head::Only } else { Head::Not }, behind, at_exception(behind).is_none()))
}

/// Whether a token before an “except”, “without” or “only” changes nothing.
fn is_plain(token: &Token) -> bool {
    is_one_of(token, EVERYTHING) || is_telling(token) || is_filler(token) || is_one_of(token, LEAD)
}

/// What a clause that leaves things out is about; with “anything except” before them, they alone may stay.
fn negated(things: &[Token]) -> (Head, &[Token], bool) {
    match at_exception(things) {
        Some((before, behind)) if before.iter().all(|token| is_filler(token) || is_one_of(token, EVERYTHING)) => {
            (Head::Only, behind, at_exception(behind).is_none())
        }
        Some((before, _)) => (Head::Not, before, false),
        None => (Head::Not, things, true),
    }
}

/// Skips what says nothing at the start of a clause.
fn lead(mut tokens: &[Token]) -> &[Token] {
    while let Some((first, rest)) = tokens.split_first() {
        let is_number = matches!(first, Token::Word(word) if word.bytes().all(|byte| byte.is_ascii_digit()));
        if !(*first == Token::Comma || is_number || is_one_of(first, LEAD)) {
            break;
        }
        tokens = rest;
    }
    tokens
}

/// What follows “do not reveal”, “never mention” and the like.
fn not_to_tell(tokens: &[Token]) -> Option<&[Token]> {
    let negated = match tokens {
        [first, second, rest @ ..] if is_one_of(first, AUXILIARIES) && is_one_of(second, &["not", "never"]) => rest,
        [first, rest @ ..] if is_one_of(first, NEGATED) => rest,
        _ => return None,
    };
    let is_between = |token: &&Token| **token == Token::Comma || is_one_of(token, ADVERBS);
    let between = negated.iter().take_while(is_between).count();
    let negated = negated.get(between..)?;
    let (verb, rest) = negated.split_first()?;
    let rest = if is_one_of(verb, &["be", "is"]) { return None } else { rest };
    is_telling(verb).then(|| other_verbs(rest))
}

/// Skips more verbs: “reveal, list or share”.
fn other_verbs(tokens: &[Token]) -> &[Token] {
    let joints =
        tokens.iter().take_while(|token| **token == Token::Comma || is_one_of(token, &["or", "and", "nor"])).count();
    match tokens.get(joints..) {
        Some([verb, rest @ ..]) if joints > 0 && is_telling(verb) => other_verbs(rest),
        _ => tokens,
    }
}

/// What follows “hide”, “leave out”, “avoid mentioning”.
fn hide(tokens: &[Token]) -> Option<&[Token]> {
    let tokens = skip(tokens, ADVERBS);
    let (first, rest) = tokens.split_first()?;
    if is_one_of(first, HIDING) {
        return Some(rest);
    }
    if is_one_of(first, &["leave", "filter", "strip", "cut"])
        && rest.first().is_some_and(|next| is_one_of(next, &["out"]))
    {
        return rest.get(1..);
    }
    let rest = match first {
        first if is_one_of(first, &["avoid"]) => rest,
        first if is_one_of(first, &["refrain"]) && rest.first().is_some_and(|next| is_one_of(next, &["from"])) => {
            rest.get(1..)?
        }
        _ => return None,
    };
    let (verb, things) = rest.split_first()?;
    if is_telling(verb) { Some(things) } else { Some(rest).filter(|_| is_one_of(first, &["avoid"])) }
}

/// The things of “… are private”, “… must not be shared”, “keep … secret”.
fn kept_out(tokens: &[Token]) -> Option<&[Token]> {
    if let Some(rest) = after(tokens, &["keep", "treat"]) {
        let (last, things) = rest.split_last()?;
        let things = things.strip_suffix([Token::Word("as".to_owned())].as_slice()).unwrap_or(things);
        return is_one_of(last, PRIVATE).then_some(things);
    }
    let ending = |token: &Token| is_one_of(token, ENDINGS);
    let behind = tokens.iter().rev().take_while(|token| ending(token)).count();
    let (last, before) = tokens.get(..tokens.len() - behind)?.split_last()?;
    if is_one_of(last, PRIVATE) {
        let before = before.strip_suffix([Token::Word("off".to_owned())].as_slice()).unwrap_or(before);
        let (link, things) = before.split_last()?;
        return is_one_of(link, &["is", "are", "stay", "remain"]).then_some(things);
    }
    let [things @ .., auxiliary, not, be] = before else { return None };
    let is_passive = is_one_of(auxiliary, AUXILIARIES) && is_one_of(not, &["not", "never"]) && is_one_of(be, &["be"]);
    (is_passive && is_told(last)).then_some(things)
}

/// The things of “only reveal …”, “reveal only …”, “only …”.
fn only(tokens: &[Token]) -> Option<(Head, &[Token], bool)> {
    let at = tokens.iter().position(|token| is_one_of(token, &["only", "solely", "exclusively"]))?;
    let (before, rest) = (tokens.get(..at)?, tokens.get(at + 1..)?);
    if !before.iter().all(is_plain) {
        return None;
    }
    let is_verb = |token: &&Token| {
        is_telling(token) || is_one_of(token, &["answer", "respond", "reply", "be", "is", "are", "allowed", "to"])
    };
    let verbs = rest.iter().take_while(is_verb).count();
    let things = rest.get(verbs..)?;
    // “Only … except …” is too much for these rules.
    Some((Head::Only, things, at_exception(things).is_none()))
}

/// What stands before and behind the first “except”.
fn at_exception(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let at =
        tokens.iter().position(|token| is_one_of(token, &["except", "but", "besides", "excluding", "than", "from"]))?;
    let found = tokens.get(at)?;
    let before = tokens.get(..at)?;
    let (before, is_exception) = match before {
        [rest @ .., last] if is_one_of(found, &["than"]) => (rest, is_one_of(last, &["other"])),
        [rest @ .., last] if is_one_of(found, &["from"]) => (rest, is_one_of(last, &["apart", "aside"])),
        _ => (before, !is_one_of(found, &["than", "from"])),
    };
    if !is_exception {
        return at_exception_behind(tokens, at + 1);
    }
    let behind = tokens.get(at + 1..)?;
    Some((before, behind.strip_prefix([Token::Word("for".to_owned())].as_slice()).unwrap_or(behind)))
}

/// The same from a place on, where a “from” or “than” before it meant something else.
fn at_exception_behind(tokens: &[Token], start: usize) -> Option<(&[Token], &[Token])> {
    let at =
        tokens.iter().skip(start).position(|token| is_one_of(token, &["except", "but", "besides", "excluding"]))?
            + start;
    Some((tokens.get(..at)?, tokens.get(at + 1..)?))
}

/// What the things of a clause are, while they are read.
#[derive(Default)]
struct Scan {
    found: Vec<Matcher>,
    /// Words that may turn out to be the names of facts.
    open: Vec<Vec<String>>,
    is_whole: bool,
    is_wide: bool,
}

impl Scan {
    fn of(tokens: &[Token]) -> Self {
        let mut scan = Self { is_whole: true, ..Self::default() };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let after_related =
                at > 0 && tokens.get(at - 1).is_some_and(|before| is_one_of(before, &["related", "relating"]));
            let is_to_all =
                tokens.get(at + 1).is_some_and(|next| is_one_of(next, &["anyone", "anybody", "others", "me"]));
            if is_one_of(token, &["to"]) && (after_related || is_to_all) {
                at += 1;
                continue;
            }
            if is_one_of(token, CONDITIONS) {
                scan.is_whole = false;
                break;
            }
            at += scan.step(token, tokens.get(at..).unwrap_or_default());
        }
        scan.is_whole &= scan.open.iter().all(Vec::is_empty);
        scan
    }

    /// Reads what comes next, and says how many tokens it has.
    fn step(&mut self, token: &Token, rest: &[Token]) -> usize {
        let next = rest.get(1);
        match token {
            Token::Comma => self.open.push(Vec::new()),
            Token::Path(path) => self.path(path),
            Token::Tag(tag) => self.found.push(Matcher::Tag(tag.clone())),
            Token::Named(quoted) => self.quoted(quoted),
            Token::Quoted(quoted) => {
                self.quoted(quoted);
                if let Some(Matcher::Fact(_)) = self.found.last() {
                    self.found.push(Matcher::Words(words(quoted)));
                }
            }
            Token::Word(word) if matches!(word.as_str(), "folder" | "directory") => return self.folder(next),
            Token::Word(word) if matches!(word.as_str(), "tag" | "tagged" | "tags") => {
                let skipped = usize::from(next.is_some_and(|next| is_one_of(next, &["with", "as"])));
                if let Some(Token::Word(tag)) = rest.get(1 + skipped).filter(|next| !is_filler(next)) {
                    self.found.push(Matcher::Tag(tag.clone()));
                    return 2 + skipped;
                }
            }
            Token::Word(word) if FACTS.contains(&stem(word).as_ref()) => {
                let names = self.open.drain(..).filter(|name| !name.is_empty());
                self.found.extend(names.map(|name| Matcher::Fact(words(&name.join(" ")))));
                if next.is_some_and(|next| is_one_of(next, &["called", "named"]))
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
            return self.found.push(Matcher::Tag(tag.to_owned()));
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

    /// A path; a note without a folder may be in any.
    fn path(&mut self, path: &str) {
        let path = path.trim_start_matches("./");
        let glob = if path.contains('/') || path.contains('*') { path.to_owned() } else { format!("**/{path}") };
        match Glob::parse(&glob) {
            Ok(read) => self.found.push(Matcher::Path(glob, read)),
            Err(_) => self.is_whole = false,
        }
    }
}

fn is_one_of(token: &Token, known: &[&str]) -> bool {
    matches!(token, Token::Word(word) if known.contains(&word.as_str()))
}

fn is_filler(token: &Token) -> bool {
    *token == Token::Comma || is_one_of(token, FILLERS)
}

/// What follows when the first token is one of these words.
fn after<'t>(tokens: &'t [Token], known: &[&str]) -> Option<&'t [Token]> {
    tokens.split_first().filter(|(first, _)| is_one_of(first, known)).map(|(_, rest)| rest)
}

fn skip<'t>(mut tokens: &'t [Token], known: &[&str]) -> &'t [Token] {
    while let Some(rest) = after(tokens, known) {
        tokens = rest;
    }
    tokens
}

/// Whether a word is a verb of telling, in any form.
fn is_telling(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let stem = word.strip_suffix("ing").unwrap_or(word);
    TELLING.iter().any(|verb| word == verb || stem == *verb || verb.strip_suffix('e') == Some(stem) && stem != word)
        || matches!(word.as_str(), "referring" | "letting" | "putting")
}

/// Whether a word is a verb of telling as in “must not be told”.
fn is_told(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let stems = [word.strip_suffix("ed"), word.strip_suffix('d'), word.strip_suffix('n'), Some(word.as_str())];
    matches!(word.as_str(), "told" | "said" | "sent" | "shown" | "referred")
        || stems.into_iter().flatten().any(|stem| TELLING.contains(&stem))
}

const LEAD: &[&str] = &[
    "please",
    "you",
    "i",
    "we",
    "want",
    "would",
    "like",
    "need",
    "must",
    "should",
    "shall",
    "may",
    "can",
    "will",
    "always",
    "also",
    "and",
    "but",
    "or",
    "then",
    "kindly",
    "make",
    "sure",
    "be",
    "to",
    "that",
    "ensure",
    "absolutely",
    "strictly",
    "the",
    "assistant",
    "model",
    "agent",
    "do",
    "important",
    "note",
    "remember",
    "rule",
];
const AUXILIARIES: &[&str] = &["do", "must", "should", "shall", "may", "can", "will", "could", "would", "does"];
const NEGATED: &[&str] = &["never", "dont", "doesnt", "mustnt", "shouldnt", "cant", "cannot", "wont", "not"];
const ADVERBS: &[&str] = &[
    "ever",
    "either",
    "explicitly",
    "directly",
    "under",
    "any",
    "circumstances",
    "please",
    "always",
    "even",
    "just",
    "to",
    "in",
    "want",
    "wish",
    "you",
];
const TELLING: &[&str] = &[
    "reveal",
    "share",
    "show",
    "mention",
    "include",
    "tell",
    "disclose",
    "give",
    "expose",
    "provide",
    "return",
    "use",
    "say",
    "discuss",
    "talk",
    "output",
    "print",
    "send",
    "leak",
    "quote",
    "reference",
    "access",
    "display",
    "report",
    "repeat",
    "divulge",
    "read",
    "open",
    "list",
    "name",
    "refer",
    "publish",
    "write",
    "look",
    "pass",
    "release",
    "present",
    "state",
    "answer",
    "speak",
    "see",
    "let",
    "put",
    "touch",
];
const HIDING: &[&str] = &[
    "hide", "redact", "remove", "omit", "exclude", "skip", "mask", "withhold", "conceal", "suppress", "block", "drop",
    "ignore", "censor", "obscure",
];
const PRIVATE: &[&str] = &["private", "secret", "confidential", "hidden", "out", "forbidden", "taboo", "limits"];
const EVERYTHING: &[&str] = &["everything", "anything", "all", "any", "whatever", "nothing"];
const HARMLESS: &[&str] = &[
    "need",
    "problem",
    "issue",
    "restriction",
    "restrictions",
    "limit",
    "limits",
    "matter",
    "harm",
    "one",
    "longer",
    "worries",
];
const CONDITIONS: &[&str] = &[
    "if", "when", "unless", "until", "while", "because", "since", "so", "outside", "whenever", "except", "but", "to",
    "after", "before", "not", "never", "only", "without",
];
/// What says nothing more behind “private” or “shared”.
const ENDINGS: &[&str] = &[
    "with", "to", "anyone", "anybody", "others", "please", "ever", "of", "the", "your", "any", "answer", "answers",
    "reply", "replies",
];
/// What stands behind the name of a fact.
const FACTS: &[&str] = &["fact", "field", "key", "entry", "value", "property"];
const FILLERS: &[&str] = &[
    "any",
    "all",
    "the",
    "a",
    "an",
    "my",
    "his",
    "her",
    "its",
    "their",
    "our",
    "your",
    "of",
    "about",
    "on",
    "in",
    "from",
    "for",
    "with",
    "regarding",
    "concerning",
    "related",
    "relating",
    "explicit",
    "explicitly",
    "specific",
    "exact",
    "actual",
    "real",
    "full",
    "whole",
    "entire",
    "such",
    "kind",
    "kinds",
    "type",
    "types",
    "sort",
    "information",
    "info",
    "data",
    "details",
    "detail",
    "anything",
    "everything",
    "something",
    "things",
    "stuff",
    "content",
    "contents",
    "notes",
    "note",
    "files",
    "file",
    "lines",
    "mentioned",
    "stored",
    "contained",
    "marked",
    "people",
    "peoples",
    "person",
    "persons",
    "anyone",
    "anyones",
    "anybody",
    "somebody",
    "someone",
    "everyone",
    "other",
    "others",
    "else",
    "that",
    "which",
    "is",
    "are",
    "has",
    "have",
    "and",
    "or",
    "nor",
    "as",
    "well",
    "also",
    "either",
    "neither",
    "ever",
    "at",
    "please",
    "provided",
    "these",
    "those",
    "this",
    "it",
    "user",
    "users",
    "out",
    "away",
    "up",
    "me",
    "them",
    "both",
    "by",
    "within",
    "under",
    "there",
    "what",
    "known",
    "listed",
    "given",
    "personal",
    "private",
    "found",
    "like",
    "model",
    "assistant",
    "ai",
    "agent",
    "answer",
    "answers",
    "reply",
    "replies",
];
