//! From a person's text to matchers.
//!
//! A part of a filter is a list of names (`fact:phone, #private, health/**, note:Tom, email`), with `only` before it where these
//! alone may be told, or a plain English sentence about such names: “do not reveal phone numbers”, “only ages”. A part of which
//! any word is not known is not understood, and then none of it counts: what is enforced is never a guess.

use super::line::{is_of_tag, words};
use super::topic::{self, Topic};
use super::{Filter, Matcher};
use crate::glob::Glob;
use crate::table::Class;

/// How many matchers a filter has at most; what would be more is not enforced.
pub(super) const MAX_MATCHERS: usize = 200;

/// How many bytes a filter has at most; a longer one is not enforced.
const MAX_BYTES: usize = 8 * 1024;

/// A piece of a part.
#[derive(Clone, Debug)]
enum Token {
    /// A word in lower case.
    Word(String),
    /// `,`.
    Comma,
    /// What needs no sentence to be understood.
    Thing(Vec<Matcher>),
    /// The name of a fact, as its words.
    Fact(Vec<String>),
    /// What nobody can read.
    Unknown,
}

/// What a part says about the things in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Head {
    /// They are left out.
    Not,
    /// They alone may be told.
    Only,
}

pub(super) fn filter(text: &str) -> Filter {
    let mut filter = Filter { not: Vec::new(), only: Vec::new(), rest: Vec::new() };
    if text.len() > MAX_BYTES {
        filter.rest.push(text.trim().to_owned());
        return filter;
    }
    for part in parts(text) {
        let room = MAX_MATCHERS.saturating_sub(filter.not.len() + filter.only.iter().map(Vec::len).sum::<usize>());
        let read = clauses(&tokens(part)).into_iter().map(clause).collect::<Option<Vec<_>>>();
        let count = |read: &Vec<(Head, Vec<Matcher>)>| read.iter().map(|(_, found)| found.len()).sum::<usize>();
        let Some(read) = read.filter(|read| count(read) <= room) else {
            filter.rest.push(part.to_owned());
            continue;
        };
        for (head, found) in read {
            match head {
                Head::Only => filter.only.push(found),
                Head::Not => add_new(&mut filter.not, found),
            }
        }
    }
    if filter.rest.is_empty() && !filter.is_enforced() && !text.trim().is_empty() {
        filter.rest.push(text.trim().to_owned());
    }
    filter
}

fn add_new(all: &mut Vec<Matcher>, more: Vec<Matcher>) {
    for matcher in more {
        if !all.contains(&matcher) {
            all.push(matcher);
        }
    }
}

/// The parts of a text: they end at a line, a semicolon, or a mark with a blank behind it.
fn parts(text: &str) -> impl Iterator<Item = &str> {
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
            '。' | '！' | '；' | '？' if quote.is_none() => cuts.push(at + mark.len_utf8()),
            _ => {}
        }
    }
    cuts.push(text.len());
    let ends: Vec<usize> = cuts.iter().skip(1).copied().collect();
    let parts = cuts.into_iter().zip(ends).map(move |(start, end)| text.get(start..end).unwrap_or_default().trim());
    let parts = parts.map(|part| part.trim_start_matches(['-', '•', '–', ' ', '\t']));
    parts.map(|part| part.strip_prefix("* ").unwrap_or(part)).filter(|part| {
        let is_number = part.trim_end_matches(['.', ')', ':']).bytes().all(|byte| byte.is_ascii_digit());
        part.chars().any(|one| one.is_alphanumeric() || one == '*') && !is_number
    })
}

fn tokens(part: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = part;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        if let Some((quoted, behind)) = quoted(rest) {
            let found = thing(quoted).map(Token::Thing);
            let found = found.or_else(|| fact(quoted.split(':').next().unwrap_or_default()));
            tokens.push(found.unwrap_or(Token::Unknown));
            rest = behind;
        } else if first.is_whitespace() {
            rest = after;
        } else if matches!(first, ',' | '，' | '、') {
            tokens.push(Token::Comma);
            rest = after;
        } else if let Some((found, behind)) = prefixed(rest) {
            tokens.push(found);
            rest = behind;
        } else {
            let end =
                rest.find(|one: char| one.is_whitespace() || matches!(one, ',' | '，' | '、')).unwrap_or(rest.len());
            let (piece, behind) = rest.split_at(end);
            add_word(piece, &mut tokens);
            rest = behind;
        }
    }
    tokens
}

/// What stands in quotes or backticks at the start of a text, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let closer = match first {
        '"' | '`' | '\'' => first,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    let (quoted, behind) = text.get(first.len_utf8()..)?.split_once(closer)?;
    (!quoted.trim().is_empty()).then_some((quoted.trim(), behind))
}

/// `fact:…` or `note:…`. A name without quotes goes on to a comma or a joint, and none is read where a word in it could turn
/// what the part says.
fn prefixed(text: &str) -> Option<(Token, &str)> {
    let prefix = ["fact:", "note:"]
        .into_iter()
        .find(|prefix| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))?;
    let after = text.get(prefix.len()..)?.trim_start();
    let (name, behind) = match quoted(after) {
        Some(found) => found,
        None => {
            let (name, behind) = after.split_at(end_of_name(after));
            if pieces(name).any(|(_, word)| is_word_of(word, TURNING)) {
                return Some((Token::Unknown, behind));
            }
            (name, behind)
        }
    };
    let name = name.trim_end_matches(['.', '!', '?', ';', ':']);
    let found = if prefix == "fact:" { fact(name) } else { Some(Token::Thing(note(name)?)) };
    Some((found?, behind))
}

/// Where a name without quotes ends.
fn end_of_name(text: &str) -> usize {
    let end = text.find([',', '，', '、']).unwrap_or(text.len());
    let joint = pieces(text.get(..end).unwrap_or_default()).find(|(_, word)| is_word_of(word, JOINTS));
    joint.map_or(end, |(at, _)| at)
}

/// What stands between blanks, and where each piece starts.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive(char::is_whitespace).scan(0, |next, piece| {
        let start = *next;
        *next += piece.len();
        Some((start, piece.trim_matches(|one: char| !one.is_alphanumeric() && one != '&')))
    })
}

fn is_word_of(word: &str, known: &str) -> bool {
    known.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a name has to stand in quotes to be read as one.
pub(super) fn needs_quotes(name: &[String]) -> bool {
    name.iter().any(|word| is_word_of(word, JOINTS) || is_word_of(word, TURNING))
}

/// Adds what stands between two blanks.
fn add_word(piece: &str, tokens: &mut Vec<Token>) {
    let piece = piece.trim_matches(['.', ':', ';', '!', '?', '\'']);
    if let Some(thing) = thing(piece) {
        return tokens.push(Token::Thing(thing));
    }
    if is_path(piece) {
        // No path of a memory.
        return tokens.push(Token::Unknown);
    }
    let plain = piece.to_lowercase().replace('\u{2019}', "'").replace("n't", "nt");
    let parts = plain.split(['-', '_', '/', '&', '\'']).filter(|part| !part.is_empty());
    tokens.extend(parts.map(|part| Token::Word(part.to_owned())));
}

/// What a piece of text is that can be nothing else: a tag, or a path.
fn thing(piece: &str) -> Option<Vec<Matcher>> {
    if let Some(tag) = piece.strip_prefix('#').filter(|tag| !tag.is_empty() && tag.chars().all(is_of_tag)) {
        return Some(vec![Matcher::Tag(tag.to_owned())]);
    }
    if !is_path(piece) {
        return None;
    }
    let path = piece.trim_start_matches("./");
    // A note without a folder may be in any.
    let glob = if path.contains('/') || path.contains('*') { path.to_owned() } else { format!("**/{path}") };
    Glob::parse(&glob).ok().map(|read| vec![Matcher::Path(glob, read)])
}

/// Whether a piece of text can only be a path: with a folder at its start, a name of a note at its end, or a star.
fn is_path(piece: &str) -> bool {
    let slashes = piece.bytes().filter(|byte| *byte == b'/').count();
    piece.len() > 3 && piece.to_ascii_lowercase().ends_with(".md")
        || piece.contains('*')
        || piece.ends_with('/') && slashes < piece.len()
        || slashes > 1
}

fn fact(name: &str) -> Option<Token> {
    let name = words(name);
    (!name.is_empty()).then_some(Token::Fact(name))
}

/// The fact of this name. Where it is left out, so is what its topic is told by, if it is the name of one; where it alone may be
/// told, nothing else of its topic may.
fn of_fact(name: &[String], head: Head) -> Vec<Matcher> {
    let mut found = vec![Matcher::Fact(name.to_vec())];
    if head == Head::Not {
        add_new(&mut found, topic::matchers(name).to_vec());
    }
    found
}

/// A note by its name, wherever it stands, and what is said of it elsewhere.
fn note(name: &str) -> Option<Vec<Matcher>> {
    let name = name.trim();
    let name = name.strip_suffix(".md").unwrap_or(name);
    let glob: String = name.chars().map(|one| if one.is_alphanumeric() || one == '/' { one } else { '?' }).collect();
    let glob = format!("**/{}.md", glob.to_lowercase());
    let path = Glob::parse(&glob).map(|read| Matcher::Path(glob, read));
    let last = words(name.rsplit('/').next().unwrap_or_default());
    (!last.is_empty()).then(|| path.into_iter().chain([Matcher::Name(last)]).collect())
}

/// The clauses of a part: each starts with a head of its own.
fn clauses(tokens: &[Token]) -> Vec<&[Token]> {
    let is_joint = |token: &Token| matches!(token, Token::Comma) || is_one_of(token, "and but or also then");
    let mut starts = vec![0];
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let next = tokens.get(at + 1..).unwrap_or_default();
        if is_joint(token) && next.first().is_some_and(|next| !is_joint(next)) && head(next).is_some() {
            starts.push(at + 1);
        }
    }
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([tokens.len()]);
    starts.iter().zip(ends).map(|(start, end)| tokens.get(*start..end).unwrap_or_default()).collect()
}

/// Reads a clause; `None` where a word of it is not known.
fn clause(tokens: &[Token]) -> Option<(Head, Vec<Matcher>)> {
    // Names alone are left out.
    let (head, tokens) = head(tokens).or_else(|| kept(tokens)).unwrap_or((Head::Not, tokens));
    let (found, is_wide) = things(tokens, head)?;
    let places = found.iter().filter(|matcher| matcher.is_place()).count();
    // “Only ages in people/” is neither all ages nor all of it, and what is found too widely may be left out, but not told.
    let is_clear = head == Head::Not || !is_wide && (places == 0 || places == found.len());
    (is_clear && !found.is_empty()).then_some((head, found))
}

/// What the start of a clause says of its things, and these.
fn head(tokens: &[Token]) -> Option<(Head, &[Token])> {
    let tokens = skip(tokens, LEAD);
    let (first, rest) = tokens.split_first()?;
    if is_one_of(first, NEGATED) {
        let (verb, things) = skip(rest, ADVERBS).split_first()?;
        return is_one_of(verb, TELLING).then(|| (Head::Not, other_verbs(things)));
    }
    if is_one_of(first, "only") {
        return Some((Head::Only, skip(rest, TELLING)));
    }
    if is_one_of(first, TELLING) && rest.first().is_some_and(|next| is_one_of(next, "only")) {
        return Some((Head::Only, rest.get(1..)?));
    }
    if is_one_of(first, "leave filter") {
        return rest.split_first().filter(|(next, _)| is_one_of(next, "out")).map(|(_, things)| (Head::Not, things));
    }
    is_one_of(first, HIDING).then(|| (Head::Not, skip(rest, TELLING)))
}

/// “Keep … private”, “… are private”.
fn kept(tokens: &[Token]) -> Option<(Head, &[Token])> {
    let (last, before) = tokens.split_last()?;
    if !is_one_of(last, "private secret confidential hidden") {
        return None;
    }
    let (first, things) = before.split_first()?;
    if is_one_of(first, "keep") {
        return Some((Head::Not, things));
    }
    before.split_last().filter(|(link, _)| is_one_of(link, "is are")).map(|(_, things)| (Head::Not, things))
}

/// Skips more verbs: “reveal, list or share”.
fn other_verbs(mut tokens: &[Token]) -> &[Token] {
    while let [joint, verb, rest @ ..] = tokens {
        if !(matches!(joint, Token::Comma) || is_one_of(joint, "or and nor")) || !is_one_of(verb, TELLING) {
            break;
        }
        tokens = rest;
    }
    tokens
}

/// The things that tokens name, and whether some name finds more than it says; `None` where a word is not known.
fn things(mut tokens: &[Token], head: Head) -> Option<(Vec<Matcher>, bool)> {
    let (mut found, mut is_wide) = (Vec::new(), false);
    // Whether content was named just before, and whether a word such as “in” has followed it.
    let (mut is_named, mut is_within) = (false, false);
    while let Some((first, rest)) = tokens.split_first() {
        tokens = rest;
        match first {
            Token::Unknown => return None,
            Token::Comma => (is_named, is_within) = (false, false),
            Token::Fact(name) => {
                is_named = true;
                add_new(&mut found, of_fact(name, head));
            }
            Token::Thing(matchers) => {
                let is_place = matchers.iter().any(Matcher::is_place);
                if is_place && is_within {
                    return None;
                }
                is_named = !is_place;
                add_new(&mut found, matchers.clone());
            }
            Token::Word(_) if is_one_of(first, "and or nor") => (is_named, is_within) = (false, false),
            Token::Word(word) => {
                let behind =
                    rest.iter().map_while(|token| if let Token::Word(word) = token { Some(word) } else { None });
                let run: Vec<String> = [word].into_iter().chain(behind).flat_map(|word| words(word)).collect();
                let run: Vec<&str> = run.iter().map(String::as_str).collect();
                // “Personal email addresses” are not all that is personal.
                let is_mere = is_class(word) && Topic::at(run.get(1..).unwrap_or_default()).is_some();
                if is_mere {
                    continue;
                }
                if let Some((topic, count)) = Topic::at(&run) {
                    tokens = rest.get(count - 1..).unwrap_or_default();
                    (is_named, is_wide) = (true, is_wide || topic.is_wide);
                    add_new(&mut found, topic.matchers.clone());
                } else if is_one_of(first, FILLERS) {
                    is_within |= is_named && is_one_of(first, "in from of under below within tagged");
                } else {
                    return None;
                }
            }
        }
    }
    Some((found, is_wide))
}

fn is_class(word: &str) -> bool {
    Class::ALL.iter().any(|class| class.name() == word)
}

fn skip<'t>(mut tokens: &'t [Token], known: &str) -> &'t [Token] {
    while let Some((_, rest)) = tokens.split_first().filter(|(first, _)| {
        matches!(first, Token::Comma)
            || is_one_of(first, known)
            || matches!(first, Token::Word(word) if word.bytes().all(|byte| byte.is_ascii_digit()))
    }) {
        tokens = rest;
    }
    tokens
}

fn is_one_of(token: &Token, known: &str) -> bool {
    matches!(token, Token::Word(word) if known.split(' ').any(|known| known == word))
}

/// The words at which a name without quotes ends.
const JOINTS: &str = "and or nor but &";

/// The words that, in a name without quotes, could say something of it.
const TURNING: &str = "except unless in";

const LEAD: &str = "please you i do must should shall may can will also and but then always";

const NEGATED: &str = "not never dont mustnt shouldnt cannot";

const ADVERBS: &str = "ever explicitly directly under any circumstances please";

const TELLING: &str = "reveal share show mention mentioning include tell disclose give say output repeat expose read open \
    list use answer sharing showing revealing talk";

const HIDING: &str = "no without nothing hide redact remove omit exclude withhold avoid skip";

const FILLERS: &str = "any all the a my his her its their our your of about on in from for with under below within tagged explicit provided \
    information data details anything everything things notes note files file lines please to anyone";
