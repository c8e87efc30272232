//! What a clause says about the things in it: that they are left out, or that they alone may stay.
//!
//! A head is known or it is not; there is no guess. Words that could turn its meaning make the clause one that is not
//! understood, or is in part.

use super::things::is_filler;
use super::token::{Token, is_in, is_one_of};

/// What a clause says about the things in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Head {
    /// They are left out.
    Not,
    /// They alone may stay.
    Only,
}

/// The clauses of a sentence: each starts with a head.
pub(super) fn clauses(tokens: &[Token]) -> Vec<&[Token]> {
    let mut starts = vec![0];
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let is_joint = |token: &Token| *token == Token::Comma || is_one_of(token, "and but or also then");
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
        || tokens.first().is_some_and(|first| is_one_of(first, "only no without nothing"))
}

/// Reads the head of a clause: what it says, the tokens of the things it is about, and whether nothing else is in it.
pub(super) fn clause_of(clause: &[Token]) -> Option<(Head, &[Token], bool)> {
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
    if let Some(rest) = after(tokens, "no without nothing") {
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
    if let Some(at) = tokens.iter().position(|token| is_one_of(token, "without")) {
        let (before, rest) = tokens.split_at(at);
        return before.iter().all(is_plain).then(|| clause_of(rest)).flatten();
    }
    // “You may share everything except …”, “reveal nothing but …”.
    let (before, behind) = at_exception(tokens)?;
    let has = |known: &str| before.iter().any(|token| is_one_of(token, known));
    if !has(EVERYTHING) || !before.iter().all(is_plain) {
        return None;
    }
    Some((if has("nothing") { Head::Only } else { Head::Not }, behind, at_exception(behind).is_none()))
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
        [first, second, rest @ ..] if is_one_of(first, AUXILIARIES) && is_one_of(second, "not never") => rest,
        [first, rest @ ..] if is_one_of(first, NEGATED) => rest,
        _ => return None,
    };
    let is_between = |token: &&Token| **token == Token::Comma || is_one_of(token, ADVERBS);
    let between = negated.iter().take_while(is_between).count();
    let negated = negated.get(between..)?;
    let (verb, rest) = negated.split_first()?;
    let rest = if is_one_of(verb, "be is") { return None } else { rest };
    is_telling(verb).then(|| other_verbs(rest))
}

/// Skips more verbs: “reveal, list or share”.
fn other_verbs(mut tokens: &[Token]) -> &[Token] {
    loop {
        let is_joint = |token: &&Token| **token == Token::Comma || is_one_of(token, "or and nor");
        let joints = tokens.iter().take_while(is_joint).count();
        match tokens.get(joints..) {
            Some([verb, rest @ ..]) if joints > 0 && is_telling(verb) => tokens = rest,
            _ => return tokens,
        }
    }
}

/// What follows “hide”, “leave out”, “avoid mentioning”.
fn hide(tokens: &[Token]) -> Option<&[Token]> {
    let tokens = skip(tokens, ADVERBS);
    let (first, rest) = tokens.split_first()?;
    if is_one_of(first, HIDING) {
        return Some(rest);
    }
    if is_one_of(first, "leave filter strip cut") && rest.first().is_some_and(|next| is_one_of(next, "out")) {
        return rest.get(1..);
    }
    let rest = match first {
        first if is_one_of(first, "avoid") => rest,
        first if is_one_of(first, "refrain") && rest.first().is_some_and(|next| is_one_of(next, "from")) => {
            rest.get(1..)?
        }
        _ => return None,
    };
    let (verb, things) = rest.split_first()?;
    if is_telling(verb) { Some(things) } else { Some(rest).filter(|_| is_one_of(first, "avoid")) }
}

/// The things of “… are private”, “… must not be shared”, “keep … secret”.
fn kept_out(tokens: &[Token]) -> Option<&[Token]> {
    let behind = tokens.iter().rev().take_while(|token| is_one_of(token, ENDINGS)).count();
    let tokens = tokens.get(..tokens.len() - behind)?;
    let (last, before) = tokens.split_last()?;
    if let Some(things) = after(before, "keep treat") {
        let things = without_last(things, "as");
        return is_one_of(last, PRIVATE).then_some(things);
    }
    if is_one_of(last, PRIVATE) {
        let (link, things) = without_last(before, "off").split_last()?;
        return is_one_of(link, "is are stay remain").then_some(things);
    }
    let [things @ .., auxiliary, not, be] = before else { return None };
    let is_passive = is_one_of(auxiliary, AUXILIARIES) && is_one_of(not, "not never") && is_one_of(be, "be");
    (is_passive && is_told(last)).then_some(things)
}

/// The things of “only reveal …”, “reveal only …”, “only …”.
fn only(tokens: &[Token]) -> Option<(Head, &[Token], bool)> {
    let at = tokens.iter().position(|token| is_one_of(token, "only solely exclusively"))?;
    let (before, rest) = (tokens.get(..at)?, tokens.get(at + 1..)?);
    if !before.iter().all(is_plain) {
        return None;
    }
    let is_verb = |token: &&Token| is_telling(token) || is_one_of(token, "answer respond reply be is are allowed to");
    let verbs = rest.iter().take_while(is_verb).count();
    let things = rest.get(verbs..)?;
    // “Only … except …” is too much for these rules.
    Some((Head::Only, things, at_exception(things).is_none()))
}

/// What stands before and behind the first “except”.
fn at_exception(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let at = tokens.iter().position(|token| is_one_of(token, "except but besides excluding than from"))?;
    let found = tokens.get(at)?;
    let before = tokens.get(..at)?;
    let (before, is_exception) = match before {
        [rest @ .., last] if is_one_of(found, "than") => (rest, is_one_of(last, "other")),
        [rest @ .., last] if is_one_of(found, "from") => (rest, is_one_of(last, "apart aside")),
        _ => (before, !is_one_of(found, "than from")),
    };
    if !is_exception {
        return at_exception_behind(tokens, at + 1);
    }
    let behind = tokens.get(at + 1..)?;
    Some((before, behind.strip_prefix([Token::Word("for".to_owned())].as_slice()).unwrap_or(behind)))
}

/// The same from a place on, where a “from” or “than” before it meant something else.
fn at_exception_behind(tokens: &[Token], start: usize) -> Option<(&[Token], &[Token])> {
    let at = tokens.iter().skip(start).position(|token| is_one_of(token, "except but besides excluding"))? + start;
    Some((tokens.get(..at)?, tokens.get(at + 1..)?))
}

/// The tokens without the last one, where it is this word.
fn without_last<'t>(tokens: &'t [Token], word: &str) -> &'t [Token] {
    match tokens.split_last() {
        Some((last, rest)) if is_one_of(last, word) => rest,
        _ => tokens,
    }
}

/// What follows when the first token is one of these words.
fn after<'t>(tokens: &'t [Token], known: &str) -> Option<&'t [Token]> {
    tokens.split_first().filter(|(first, _)| is_one_of(first, known)).map(|(_, rest)| rest)
}

fn skip<'t>(mut tokens: &'t [Token], known: &str) -> &'t [Token] {
    while let Some(rest) = after(tokens, known) {
        tokens = rest;
    }
    tokens
}

/// Whether a word is a verb of telling, in any form.
fn is_telling(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let stem = word.strip_suffix("ing").unwrap_or(word);
    TELLING.split(' ').any(|verb| word == verb || stem == verb || verb.strip_suffix('e') == Some(stem) && stem != word)
        || matches!(word.as_str(), "referring" | "letting" | "putting")
}

/// Whether a word is a verb of telling as in “must not be told”.
fn is_told(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let stems = [word.strip_suffix("ed"), word.strip_suffix('d'), word.strip_suffix('n'), Some(word.as_str())];
    matches!(word.as_str(), "told" | "said" | "sent" | "shown" | "referred")
        || stems.into_iter().flatten().any(|stem| is_in(TELLING, stem))
}

const LEAD: &str = "please you i we want would like need must should shall may can will always also and but or then \
    kindly make sure be to that ensure absolutely strictly the assistant model agent do important note \
    remember rule";

const AUXILIARIES: &str = "do must should shall may can will could would does";

const NEGATED: &str = "never dont doesnt mustnt shouldnt cant cannot wont not";

const ADVERBS: &str =
    "ever either explicitly directly under any circumstances please always even just to in want wish you";

const TELLING: &str = "reveal share show mention include tell disclose give expose provide return use say discuss talk \
    output print send leak quote reference access display report repeat divulge read open list name \
    refer publish write look pass release present state answer speak see let put touch";

const HIDING: &str =
    "hide redact remove omit exclude skip mask withhold conceal suppress block drop ignore censor obscure";

const PRIVATE: &str = "private secret confidential hidden out forbidden taboo limits";

const EVERYTHING: &str = "everything anything all any whatever nothing";

const HARMLESS: &str = "need problem issue restriction restrictions limit limits matter harm one longer worries";

/// What says nothing more behind “private” or “shared”.
const ENDINGS: &str = "with to anyone anybody others please ever of the your any answer answers reply replies";
