//! The grammars of a small model: what a sentence is, in a word; which day it tells of; which words are put right; what of a message is noted, below
//! the notes it is about; the lines of a note again; and which lines go.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Class, Grammar, Part, named, text, times, token, tree};
use memdir_note::words::is_single;

/// How many words of a message the name of a new note is made of; in a longer one there is none.
const MOST_WORDS: usize = 160;
/// How many characters a line has at most, and what is said.
const MOST_LINE: usize = 200;
const MOST_SAID: usize = 300;
/// How many notes get lines at most, and how many lines each.
const MOST_NOTES: usize = 6;
const MOST_LINES: usize = 6;
/// A name of a new note has so many words of the message at most.
const MOST_NAME_WORDS: usize = 3;
const MOST_NAME_CHARACTERS: usize = 6;
/// A word that was wrong is one of so many of what was told, in a longer text there is none; and so many words are put right at once.
const MOST_TOLD: usize = 60;
const MOST_WRONG_WORDS: usize = 5;
const MOST_WRONG_CHARACTERS: usize = 8;
/// The days of a week, as days are written.
pub const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Characters that nothing is made of.
const CONTROLS: &[(char, char)] = &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')];
/// Marks around a word that are no part of it.
const MARKS: &str = "'’.,;:!?\"“”„«»()¿¡。，！？；：、（）「」";

/// The grammar of an answer that is one of these words.
#[must_use]
pub fn one_of(words: &[&str]) -> Grammar {
    let comment = "One word.".to_owned();
    Grammar::of(vec![comment], vec![tree("root", Part::Any(words.iter().map(|word| text(word)).collect()))])
}

/// The grammar of a day that is counted from today, such as `next friday`, `in 3 weeks` or `saturday in 2 weeks`; or `none`.
///
/// # Examples
///
/// ```
/// assert!(memdir_model::grammar::day().gbnf().contains(r#""none""#));
/// ```
#[must_use]
pub fn day() -> Grammar {
    let count = || {
        let digit = |from| Part::One(Class::Of(vec![(from, '9')]));
        Part::All(vec![digit('1'), times(digit('0'), 0, 1), text(" ")])
    };
    let units = |names: [&str; 4]| {
        Part::Any(names.into_iter().map(|name| Part::All(vec![text(name), times(text("s"), 0, 1)])).collect())
    };
    let unit = || units(["day", "week", "month", "year"]);
    let weekday = || Part::Any(WEEKDAYS.map(text).to_vec());
    let later = || Part::All(vec![text(" in "), count(), text("week"), times(text("s"), 0, 1)]);
    let which = Part::Any(["this ", "next ", "last "].map(text).to_vec());
    let period = Part::Any([weekday(), text("week"), text("month"), text("year")].to_vec());
    let days = vec![
        text("none"),
        text("today"),
        text("yesterday"),
        Part::All(vec![text("tomorrow"), times(later(), 0, 1)]),
        Part::All(vec![weekday(), later()]),
        Part::All(vec![which, period]),
        Part::All(vec![text("in "), count(), unit()]),
        Part::All(vec![count(), unit(), text(" ago")]),
    ];
    Grammar::of(vec!["A day, counted from today.".to_owned()], vec![tree("root", Part::Any(days))])
}

/// The grammar of words that were told wrongly and those that are right, `WRONG -> RIGHT`, each as they stand in the two texts; and then a reply.
/// `None` where there are none to choose from.
///
/// # Examples
///
/// ```
/// let grammar = memdir_model::grammar::corrected("Ana moved to Porto", "sorry, Faro").unwrap().gbnf();
/// assert!(grammar.contains(r#""Porto""#) && grammar.contains(r#""Faro""#));
/// ```
#[must_use]
pub fn corrected(told: &str, now: &str) -> Option<Grammar> {
    let of = |message| {
        let runs = runs(message, MOST_TOLD, MOST_WRONG_WORDS, MOST_WRONG_CHARACTERS);
        (!runs.is_empty()).then(|| Part::Any(runs.into_iter().map(text).collect()))
    };
    let mut rules = vec![
        tree("root", Part::All(vec![named("wrong"), text(" -> "), named("right"), text("\n"), named("say")])),
        tree("wrong", of(told)?),
        tree("right", of(now)?),
    ];
    rules.extend(say());
    Some(Grammar::of(vec!["What was told wrongly. Do not run one that was cut off.".to_owned()], rules))
}

/// The grammar of what is noted of a message: the name of a note, and below it a line for each thing; and then a reply.
///
/// The notes are those of these names, or a new one that is called by words of the message.
///
/// # Examples
///
/// ```
/// let grammar = memdir_model::grammar::noted(&["user"], "Ana moved to Paris.").gbnf();
/// assert!(grammar.contains(r#""user""#), "a line stands below the name of a note");
/// assert!(grammar.contains(r#""Ana""#), "a new note is called by words of the message");
/// ```
#[must_use]
pub fn noted(notes: &[&str], words: &str) -> Grammar {
    let all: BTreeSet<&str> = notes.iter().copied().chain(names(words)).collect();
    let line = Part::All(vec![text("+ "), named("line"), text("\n")]);
    let note = Part::All(vec![text("# "), named("name"), text("\n"), times(line, 1, MOST_LINES)]);
    let mut rules = vec![
        tree("root", Part::All(vec![times(named("note"), 0, MOST_NOTES), named("say")])),
        tree("note", note),
        tree("name", Part::Any(all.iter().map(|name| text(name)).collect())),
    ];
    rules.push(token("line", free(MOST_LINE)));
    rules.extend(say());
    let words = "What of a message is noted. Do not run one that was cut off.";
    Grammar::of(vec![words.to_owned()], rules)
}

/// The grammar of lines that are written again: as many as there are beginnings, each with its own.
///
/// # Examples
///
/// ```
/// let grammar = memdir_model::grammar::rewritten(&["city: ", "Works "]).gbnf();
/// assert!(grammar.contains(r#""city: ""#));
/// ```
#[must_use]
pub fn rewritten(beginnings: &[&str]) -> Grammar {
    let mut lines = Vec::new();
    for beginning in beginnings {
        if !lines.is_empty() {
            lines.push(text("\n"));
        }
        if !beginning.is_empty() {
            lines.push(text(beginning));
        }
        lines.push(named("line"));
    }
    let words = "The lines of a note again. Do not run one that was cut off.";
    Grammar::of(vec![words.to_owned()], vec![tree("root", Part::All(lines)), token("line", free(MOST_LINE))])
}

/// The grammar of what goes: at most so many of these lines, notes and rows of tables, or a question; and then a reply.
#[must_use]
pub fn dropped(names: &[String], most: usize) -> Grammar {
    let asks = Part::All(vec![text("ask\n"), named("say")]);
    let mut rules = Vec::new();
    let mut steps = vec![named("say")];
    if !names.is_empty() && most > 0 {
        steps.insert(0, times(named("drop"), 0, most));
        let all = names.iter().map(|name| text(name)).collect();
        rules.push(tree("drop", Part::All(vec![text("drop "), Part::Any(all), text("\n")])));
    }
    rules.insert(0, tree("root", Part::Any(vec![Part::All(steps), asks])));
    rules.extend(say());
    Grammar::of(vec!["What goes. Do not run one that was cut off.".to_owned()], rules)
}

/// What is said at the end.
fn say() -> [super::Rule; 2] {
    [tree("say", Part::All(vec![text("say "), named("said")])), token("said", free(MOST_SAID))]
}

/// Any text on one line that begins with no blank.
fn free(most: usize) -> Part {
    let first = Part::One(Class::Not([CONTROLS, &[(' ', ' '), ('<', '<')]].concat()));
    let rest = Part::One(Class::Not([CONTROLS, &[('<', '<')]].concat()));
    Part::All(vec![first, times(rest, 0, most)])
}

/// What the name of a new note may be: words that follow each other in the message.
fn names(message: &str) -> BTreeSet<&str> {
    runs(message, MOST_WORDS, MOST_NAME_WORDS, MOST_NAME_CHARACTERS)
}

/// Words of a message that follow each other, or characters of scripts without blanks; none of a message of more words than `longest`.
fn runs(message: &str, longest: usize, most_words: usize, most_characters: usize) -> BTreeSet<&str> {
    let words = words(message);
    if words.len() > longest {
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    for (at, first) in words.iter().enumerate() {
        let most = if is_unspaced(message, first) { most_characters } else { most_words };
        let runs = words.iter().skip(at).take(most).map(|last| message.get(first.start..last.end).unwrap_or_default());
        found.extend(runs.take_while(|run| !run.chars().any(|one| one.is_control() || one == '<')));
    }
    found
}

/// Where the words of a message stand that a model can choose, without marks around them: a number, an address and a link are one each. A
/// character of a script without blanks is one.
#[must_use]
pub fn words(message: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut rest = message;
    while let Some(skipped) = rest.find(|one: char| !one.is_whitespace()) {
        let from = message.len() - rest.len() + skipped;
        let end = end_of_piece(message.get(from..).unwrap_or_default());
        let piece = message.get(from..from + end).unwrap_or_default();
        let core = piece.trim_matches(|mark| MARKS.contains(mark));
        if core.chars().any(char::is_alphanumeric) {
            let start = from + piece.find(core).unwrap_or_default();
            words.push(start..start + core.len());
        }
        rest = message.get(from + end..).unwrap_or_default();
    }
    words
}

fn is_unspaced(message: &str, word: &Range<usize>) -> bool {
    is_single(message.get(word.clone()).unwrap_or_default())
}

/// The end of the first piece of a text: a character of a script without blanks, or all up to the next such, to a blank, or to an apostrophe,
/// behind which some languages put endings.
fn end_of_piece(text: &str) -> usize {
    let is_alone = |one: char| is_single(one.encode_utf8(&mut [0; 4]));
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, first)) if is_alone(first) => first.len_utf8(),
        _ => {
            let is_end = |one: char| one.is_whitespace() || matches!(one, '\'' | '’') || is_alone(one);
            characters.find(|(_, one)| is_end(*one)).map_or(text.len(), |(at, _)| at)
        }
    }
}
