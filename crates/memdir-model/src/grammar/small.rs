//! The grammars of a small model: what a sentence is, in a word; and what a message changes, a line each, with a reply.
//!
//! What stands in the notes is given by name, and so is what was told, of whose words every new value is made.

use std::collections::BTreeSet;

use super::{Class, Grammar, Part, Rule, named, text, times, token, tree};
use memdir_note::words::is_single;

/// How many words of a message values are made of; in a longer one they are free.
const MOST_WORDS: usize = 160;
/// How many characters a free value has at most, a key, and what is said.
const MOST_VALUE: usize = 200;
const MOST_KEY: usize = 24;
const MOST_SAID: usize = 300;
/// How many lines are set at most where values are free.
const MOST_FREE: usize = 12;
/// A name of a new note has so many words of the message at most.
const MOST_NAME_WORDS: usize = 3;
/// Characters that nothing is made of.
const CONTROLS: &[(char, char)] = &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')];
/// Marks around a word that are no part of it.
const MARKS: &str = "'’.,;:!?\"“”„«»()¿¡。，！？；：、（）「」";

/// What a turn may be made of.
#[derive(Clone, Debug, Default)]
pub struct Offer<'a> {
    /// Names of lines, of notes and of rows of tables that may be dropped.
    pub drops: Vec<String>,
    /// How many of them may be dropped at most.
    pub most_drops: usize,
    /// Names of lines that may be set, also of those that say nothing yet.
    pub lines: Vec<String>,
    /// The names of the notes, one at least.
    pub notes: Vec<&'a str>,
    /// The words of the person that values are made of; nothing is set where there are none.
    pub words: &'a str,
}

/// The grammar of an answer that is one of these words.
#[must_use]
pub fn one_of(words: &[&str]) -> Grammar {
    let comment = "One word.".to_owned();
    Grammar::of(vec![comment], vec![tree("root", Part::Any(words.iter().map(|word| text(word)).collect()))])
}

/// The grammar of what one message changes.
///
/// A turn drops lines, then sets some, or asks; and then it says something. Of the words of the person each is used once at most, in their order, so
/// that a turn ends where all is told.
///
/// # Examples
///
/// ```
/// use memdir_model::grammar::{Offer, small};
///
/// let offer = Offer {
///     lines: vec!["user.city".to_owned()],
///     notes: vec!["user"],
///     words: "I moved to Paris.",
///     ..Offer::default()
/// };
/// let grammar = small(&offer).gbnf();
/// assert!(grammar.contains(r#""user.city""#), "{grammar}");
/// assert!(grammar.contains(r#""Paris""#), "values are words of the message");
/// ```
#[must_use]
pub fn small(offer: &Offer<'_>) -> Grammar {
    let mut rules = Vec::new();
    let mut steps = Vec::new();
    steps.extend(drops(offer, &mut rules));
    if offer.words.trim().is_empty() {
        steps.push(named("say"));
    } else {
        steps.push(Part::Any(vec![named("next-a"), named("say")]));
        sets(offer, &mut rules);
    }
    let asks = Part::All(vec![text("ask\n"), named("say")]);
    rules.insert(0, tree("root", Part::Any(vec![Part::All(steps), asks])));
    rules.push(tree("say", Part::All(vec![text("say "), named("said")])));
    let first = Part::One(Class::Not([CONTROLS, &[(' ', ' '), ('<', '<')]].concat()));
    let rest = Part::One(Class::Not([CONTROLS, &[('<', '<')]].concat()));
    rules.push(token("said", Part::All(vec![first, times(rest, 0, MOST_SAID)])));
    rules.push(tree("name", Part::Any(offer.notes.iter().map(|name| text(name)).collect())));
    rules.push(token("key", key()));
    let words = "What a message changes, made from the notes and its words. Do not run one that was cut off.";
    Grammar::of(vec![words.to_owned()], rules)
}

/// What is dropped: lines, rows of tables, or whole notes.
fn drops(offer: &Offer<'_>, rules: &mut Vec<Rule>) -> Option<Part> {
    if offer.drops.is_empty() || offer.most_drops == 0 {
        return None;
    }
    let all = offer.drops.iter().map(|name| text(name)).collect();
    rules.push(tree("drop", Part::All(vec![text("drop "), Part::Any(all), text("\n")])));
    Some(times(named("drop"), 0, offer.most_drops))
}

/// What is set: a line that stands there, or one to be added to a note. Once somebody new has a name, a word of the message may be
/// the name of their note.
fn sets(offer: &Offer<'_>, rules: &mut Vec<Rule>) {
    let units = units(offer.words);
    let units = if units.len() > MOST_WORDS { Vec::new() } else { units };
    let lines = offer.lines.iter().map(|name| text(name));
    rules.push(tree("line", Part::Any(lines.chain([new("name")]).collect())));
    let target = |lines: Part| Part::All(vec![text("set "), lines, Part::Any(vec![text(" = "), text(" += ")])]);
    rules.push(tree("known", target(named("line"))));
    rules.extend(date());
    if units.is_empty() {
        let value = Part::One(Class::Not([CONTROLS, &[('{', '{'), ('}', '}'), ('<', '<')]].concat()));
        let free = Part::All(vec![named("known"), times(value, 1, MOST_VALUE), text("\n")]);
        rules.push(tree("next-a", Part::All(vec![times(free, 1, MOST_FREE), named("say")])));
        return;
    }
    let names: BTreeSet<&str> = units.iter().map(|unit| unit.core).filter(|core| is_word(core)).collect();
    if !names.is_empty() {
        let more = times(Part::All(vec![text(" "), named("one")]), 0, MOST_NAME_WORDS - 1);
        rules.push(tree("told", Part::All(vec![named("one"), more])));
        rules.push(tree("one", Part::Any(names.iter().map(|name| text(name)).collect())));
    }
    let lines = if names.is_empty() { named("line") } else { Part::Any(vec![named("line"), new("told")]) };
    rules.push(tree("any", target(lines)));
    for at in 0..units.len() {
        steps(&units, at, &BEFORE, rules);
        steps(&units, at, &AFTER, rules);
        // Behind a name of somebody new.
        words(&units, at, ("links", "link"), text("]]\n"), &AFTER, rules);
    }
}

/// A line that is to be added to a note.
fn new(note: &str) -> Part {
    Part::All(vec![named(note), text("."), named("key")])
}

/// The names of rules: before somebody new is named, and after.
struct Names {
    target: &'static str,
    next: &'static str,
    end: &'static str,
    from: &'static str,
    word: &'static str,
}

const BEFORE: Names = Names { target: "known", next: "next", end: "end", from: "from", word: "word" };
const AFTER: Names = Names { target: "any", next: "next-on", end: "end-on", from: "from-on", word: "word-on" };

/// Rules for what is set from one word on.
fn steps(units: &[Unit<'_>], at: usize, names: &Names, rules: &mut Vec<Rule>) {
    let date = Part::All(vec![
        named("date"),
        Part::Any(vec![
            Part::All(vec![text(" "), rule(names.from, at)]),
            Part::All(vec![text("\n"), end(at + 1, units.len(), names)]),
        ]),
    ]);
    let value = Part::Any(vec![rule(names.from, at), Part::All(vec![text("[["), rule("links", at)]), date]);
    rules.push(tree(&numbered(names.next, at), Part::All(vec![named(names.target), value])));
    rules.push(tree(&numbered(names.end, at), Part::Any(vec![rule(names.next, at), named("say")])));
    let with_date = times(Part::All(vec![text(" "), named("date")]), 0, 1);
    words(units, at, (names.from, names.word), Part::All(vec![with_date, text("\n")]), names, rules);
}

/// Rules for the words from one on: `from` begins at it or behind it, `word` is it with those that follow, as they stand there; `then` is how it
/// goes on.
fn words(units: &[Unit<'_>], at: usize, (from, word): (&str, &str), ends: Part, then: &Names, rules: &mut Vec<Rule>) {
    let Some(unit) = units.get(at) else { return };
    let mut ways = Vec::new();
    if let Some(next) = units.get(at + 1) {
        let between = format!("{}{}", unit.after, next.before);
        let next = rule(word, at + 1);
        ways.push(if between.is_empty() { next } else { Part::All(vec![text(&between), next]) });
    }
    ways.push(Part::All(vec![ends, end(at + 1, units.len(), then)]));
    rules.push(tree(&numbered(word, at), Part::All(vec![text(unit.core), Part::Any(ways)])));
    let mut starts = Vec::new();
    if is_word(unit.core) || at + 1 == units.len() {
        starts.push(rule(word, at));
    }
    if at + 1 < units.len() {
        starts.push(rule(from, at + 1));
    }
    rules.push(tree(&numbered(from, at), Part::Any(starts)));
}

/// What follows when all words before one are used.
fn end(at: usize, all: usize, names: &Names) -> Part {
    if at < all { rule(names.end, at) } else { named("say") }
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// A date that the program computes.
fn date() -> [Rule; 3] {
    let any = |words: &[&str]| Part::Any(words.iter().map(|word| text(word)).collect());
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let count = Part::All(vec![
        Part::One(Class::Of(vec![('1', '9')])),
        times(Part::One(Class::Of(vec![('0', '9')])), 0, 1),
        text(" "),
        any(&["day", "week", "month", "year"]),
        times(text("s"), 0, 1),
    ]);
    let near = [&days[..], &["week", "month", "year"]].concat();
    let digits = |count| times(Part::One(Class::Of(vec![('0', '9')])), count, count);
    let kinds = Part::Any(vec![
        Part::All(vec![digits(4), text("-"), digits(2), text("-"), digits(2)]),
        any(&["today", "tomorrow", "yesterday"]),
        Part::All(vec![any(&["this ", "next ", "last "]), any(&near)]),
        Part::All(vec![text("in "), named("count")]),
        Part::All(vec![named("count"), text(" ago")]),
    ]);
    [tree("date", Part::All(vec![text("{"), named("day"), text("}")])), tree("day", kinds), tree("count", count)]
}

/// A key: the model's own words, without what an address is made of.
fn key() -> Part {
    let marks: Vec<(char, char)> = ".=+:{}<>[]()|#\"?".chars().map(|mark| (mark, mark)).collect();
    let first = Part::One(Class::Not([CONTROLS, &marks, &[(' ', ' ')]].concat()));
    let rest = Part::One(Class::Not([CONTROLS, &marks].concat()));
    Part::All(vec![first, times(rest, 0, MOST_KEY - 1)])
}

/// A word of a message.
struct Unit<'a> {
    /// Marks before it.
    before: &'a str,
    /// The word, without marks around it.
    core: &'a str,
    /// Marks behind it, and the blank.
    after: String,
}

fn units(message: &str) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    for word in message.split_whitespace().filter(|word| !word.chars().any(char::is_control)) {
        let mut rest = word;
        while !rest.is_empty() {
            let piece = rest.get(..end_of_piece(rest)).unwrap_or(rest);
            rest = rest.get(piece.len()..).unwrap_or_default();
            let core = piece.trim_matches(|mark| MARKS.contains(mark));
            let core = if core.is_empty() { piece } else { core };
            let start = piece.find(core).unwrap_or_default();
            let blank = if rest.is_empty() { " " } else { "" };
            let after = format!("{}{blank}", piece.get(start + core.len()..).unwrap_or_default());
            units.push(Unit { before: piece.get(..start).unwrap_or_default(), core, after });
        }
    }
    units
}

/// The end of the first piece of a word: a character of a script without blanks, or all up to the next such, or to an apostrophe, behind
/// which some languages put endings.
fn end_of_piece(word: &str) -> usize {
    let is_end = |character: char| matches!(character, '\'' | '’') || is_single(character.encode_utf8(&mut [0; 4]));
    let is_unspaced = |character: char| is_single(character.encode_utf8(&mut [0; 4]));
    let mut characters = word.char_indices();
    match characters.next() {
        Some((_, first)) if is_unspaced(first) => first.len_utf8(),
        _ => characters.find(|(_, character)| is_end(*character)).map_or(word.len(), |(at, _)| at),
    }
}

/// The name of a rule for the word of this number: letters alone.
pub(super) fn numbered(name: &str, number: usize) -> String {
    let letters: String = number.to_string().bytes().map(|digit| char::from(b'a' + (digit - b'0'))).collect();
    format!("{name}-{letters}")
}

fn rule(name: &str, number: usize) -> Part {
    named(&numbered(name, number))
}
