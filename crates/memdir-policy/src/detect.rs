//! The engine of the detectors: what a new text says that somebody should be asked about.
//!
//! Owns no pattern; those are the rows of [`super::table`]. A text is first searched for the few words that each row
//! needs, so a process that lives for milliseconds compiles only the patterns that could match. The time is linear in the
//! length of the text, since the `regex` crate never backtracks.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

use regex::{Match, Regex};

use super::finding::{Finding, WINDOW};
use super::labelled;
use super::table::{Case, Class, Needs, Row, rows};

/// How many findings of one row are looked for in the old text beside its own findings.
const MAX_SEARCHES: usize = 64;

/// A text in the ways that patterns read it.
struct Text<'a> {
    exact: Cow<'a, str>,
    folded: String,
    words: String,
    images: OnceCell<HashSet<String>>,
    /// The pairs of bytes that the two lower-case forms have.
    pairs: Pairs,
    longest_number: usize,
}

/// Finds the rows that match `new` in a place that does not stand in `old` too, in the order of the table.
///
/// Rows of the same name are one detector, so only the first of them is in the answer.
pub(super) fn find(new: &str, old: &str, looks: impl Fn(Class) -> bool) -> Vec<&'static Row> {
    let mut found = Vec::<&'static Row>::new();
    let mut look = |new: &str, old: &str, looks: &dyn Fn(Class) -> bool| {
        if new.is_empty() {
            return;
        }
        let (new, old) = (Text::new(new), Text::new(old));
        for (row, pattern) in patterns(&new, |row| looks(row.class)) {
            if !found.iter().any(|other| other.name == row.name) && is_new(row, pattern(), &new, &old) {
                found.push(row);
            }
        }
    };
    look(new, old, &looks);
    // What a table says is said by a head and a cell, and what stands below a heading by both; a secret is refused, so it
    // has to stand behind its label.
    let may_be_in_cells = |class| class != Class::ActiveContent && looks(class);
    look(&labelled::cells(new).text, &labelled::cells(old).text, &may_be_in_cells);
    let may_be_below = |class| class == Class::Personal && looks(class);
    look(&labelled::values(new).text, &labelled::values(old).text, &may_be_below);
    found.sort_by_key(|row| rows().iter().position(|other| other.name == row.name));
    found
}

/// Finds the lines, from 0, of each place where one of the rows that are wanted finds something, in whatever shape it says so.
pub(super) fn places(text: &str, wants: impl Fn(&Row) -> bool) -> Vec<(&'static Row, RangeInclusive<usize>)> {
    let mut found = places_as_written(text, &wants);
    let cells = labelled::cells(text);
    let in_cells = places_as_written(&cells.text, |row| row.class != Class::ActiveContent && wants(row));
    let values = labelled::values(text);
    let in_values = places_as_written(&values.text, |row| row.class == Class::Personal && wants(row));
    for (labelled, places) in [(&cells, in_cells), (&values, in_values)] {
        found.extend(places.into_iter().filter_map(|(row, lines)| {
            let line = |at: &usize| labelled.lines.get(*at).copied();
            let (first, last) = (line(lines.start())?, line(lines.end())?);
            Some((row, first.min(last)..=first.max(last)))
        }));
    }
    found
}

/// As [`places`], where the text says it as the pattern is written.
pub(super) fn places_as_written(
    text: &str,
    wants: impl Fn(&Row) -> bool,
) -> Vec<(&'static Row, RangeInclusive<usize>)> {
    let text = Text::new(text);
    let mut found = Vec::new();
    for (row, pattern) in patterns(&text, wants) {
        let read = text.read(row.case);
        let breaks = |from: usize, to: usize| {
            memchr::memchr_iter(b'\n', read.get(from..to).unwrap_or_default().as_bytes()).count()
        };
        let (mut line, mut counted) = (0, 0);
        for place in pattern().find_iter(read).filter(|place| text.holds(row, place)) {
            // A match can begin with the blank space before what it is about.
            let start = place.start() + (place.as_str().len() - place.as_str().trim_start().len());
            let end = start + place.as_str().trim().len();
            line += breaks(counted, start);
            counted = start;
            found.push((row, line..=line + breaks(start, end)));
        }
    }
    found
}

/// The rows that are wanted and could find something in a text, with their patterns.
fn patterns(
    text: &Text<'_>,
    wants: impl Fn(&Row) -> bool,
) -> impl Iterator<Item = (&'static Row, impl FnOnce() -> &'static Regex)> {
    let rows = rows().iter().enumerate().filter(move |(_, row)| wants(row) && text.has_what(row));
    rows.map(|(at, row)| (row, move || compiled(at, row)))
}

/// What a detector finds, or a class, for a sentence.
pub(super) fn words(name: &str) -> &'static str {
    let class = Class::ALL.iter().find(|class| class.name() == name).map(|class| class.words());
    class.or_else(|| rows().iter().find(|row| row.name == name).map(|row| row.words)).unwrap_or_default()
}

/// The names that a rule can give: of the classes, then of the detectors.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Class::ALL.iter().map(|class| class.name()).chain(rows().iter().map(|row| row.name))
}

/// The pattern of the row at this place of the table.
#[expect(clippy::expect_used, reason = "the patterns are part of the program, and a test compiles each of them")]
pub(super) fn compiled(at: usize, row: &Row) -> &'static Regex {
    static COMPILED: OnceLock<Vec<OnceLock<Regex>>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| rows().iter().map(|_| OnceLock::new()).collect());
    let pattern = compiled.get(at).expect("there is a place for each row");
    pattern.get_or_init(|| Regex::new(row.pattern).expect("each pattern compiles"))
}

/// Whether this one row finds something.
#[cfg(test)]
pub(super) fn find_in_row(row: &Row, text: &str) -> bool {
    let pattern = Regex::new(row.pattern).unwrap();
    let text = Text::new(text);
    text.has_what(row) && is_new(row, &pattern, &text, &Text::new(""))
}

/// Whether the row finds something in `new` that does not stand in `old`, in time linear in both.
fn is_new(row: &Row, pattern: &Regex, new: &Text<'_>, old: &Text<'_>) -> bool {
    let (new_text, old_text) = (new.read(row.case), old.read(row.case));
    let known: HashSet<&str> =
        pattern.find_iter(old_text).filter(|place| old.holds(row, place)).map(|place| place.as_str().trim()).collect();
    // What is shortened stands in the old text without being a finding of its own there. Each such search costs the
    // length of the old text, so there are few; what runs is told by where it stands, so there are none.
    let mut searches = if old_text.is_empty() || row.class == Class::ActiveContent { 0 } else { MAX_SEARCHES };
    pattern.find_iter(new_text).any(|place| {
        let text = place.as_str().trim();
        if known.contains(text) || !new.holds(row, &place) {
            return false;
        }
        let may_search = searches > 0;
        searches = searches.saturating_sub(1);
        !(may_search && old_text.contains(text))
    })
}

impl<'a> Text<'a> {
    fn new(exact: &'a str) -> Self {
        let exact = plain(exact);
        let folded = exact.to_lowercase();
        let words = folded.replace('_', " ");
        Self {
            pairs: Pairs::of(&folded, &words),
            words,
            folded,
            images: OnceCell::new(),
            longest_number: longest_number(&exact),
            exact,
        }
    }

    /// Whether the check of the row, if it has one, takes a match for what the row is about.
    fn holds(&self, row: &Row, place: &Match<'_>) -> bool {
        row.check.is_none_or(|check| check(&self.around(row.case, place.start(), place.end())))
    }

    /// What a check sees of a place in the text.
    fn around(&self, case: Case, start: usize, end: usize) -> Finding<'_> {
        let text = self.read(case);
        let first = text.floor_char_boundary(start.saturating_sub(WINDOW));
        let last = text.ceil_char_boundary(end.saturating_add(WINDOW));
        let part = |from, to| text.get(from..to).unwrap_or_default();
        Finding {
            before: part(first, start),
            text: part(start, end),
            after: part(end, last),
            images: &self.images,
            whole: text,
        }
    }

    fn read(&self, case: Case) -> &str {
        match case {
            Case::Exact => &self.exact,
            Case::Folded => &self.folded,
            Case::Words => &self.words,
        }
    }

    /// Whether the text has what each place that the row could match has.
    fn has_what(&self, row: &Row) -> bool {
        let text = if row.case == Case::Words { &self.words } else { &self.folded };
        match row.needs {
            Needs::OneOf(words) => words.iter().any(|word| self.pairs.may_hold(word) && text.contains(word)),
            Needs::Digits(least) => self.longest_number >= least,
            Needs::Account => has_account(self.exact.as_bytes()),
            Needs::Code => has_code(self.exact.as_bytes()),
            Needs::Decimals => {
                self.exact.as_bytes().windows(5).any(|bytes| matches!(bytes, [b'.', rest @ ..] if is_digits(rest)))
            }
        }
    }
}

/// Which pairs of neighbouring bytes a text has, a few pairs sharing a place: enough to tell in a step or two that most
/// words are not in a short text, and the search for hundreds of them is what a small update would spend its time on.
#[derive(Debug)]
struct Pairs([u64; 64]);

impl Pairs {
    fn of(folded: &str, words: &str) -> Self {
        let mut pairs = Self([0; 64]);
        for pair in folded.as_bytes().windows(2).chain(words.as_bytes().windows(2)) {
            let (place, bit) = Self::place(pair);
            if let Some(bits) = pairs.0.get_mut(place) {
                *bits |= bit;
            }
        }
        pairs
    }

    /// False only where the text does not hold `word`.
    fn may_hold(&self, word: &str) -> bool {
        word.as_bytes().windows(2).all(|pair| {
            let (place, bit) = Self::place(pair);
            self.0.get(place).is_none_or(|bits| bits & bit != 0)
        })
    }

    fn place(pair: &[u8]) -> (usize, u64) {
        let hash = pair.iter().fold(0_usize, |hash, byte| hash * 37 + usize::from(*byte));
        (hash / 64 % 64, 1 << (hash % 64))
    }
}

/// The most digits that stand together, with no more than three dividers between any two.
fn longest_number(text: &str) -> usize {
    let (mut longest, mut digits, mut dividers) = (0, 0, 0);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                dividers = 0;
                longest = longest.max(digits);
            }
            b' ' | b'-' | b'.' | b'/' | b'(' | b')' if dividers < 3 => dividers += 1,
            _ => digits = 0,
        }
    }
    longest
}

/// The text with one kind of blank and of dash, for people see no difference and pages are full of the others.
fn plain(text: &str) -> Cow<'_, str> {
    let plain = |character| match character {
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        _ => character,
    };
    if text.is_ascii() || text.chars().all(|character| plain(character) == character) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(plain).collect())
}

fn has_account(text: &[u8]) -> bool {
    let is_one = |bytes: &[u8]| matches!(bytes, [one, two, rest @ ..] if one.is_ascii_alphabetic() && two.is_ascii_alphabetic() && is_digits(rest));
    text.get(..4).is_some_and(is_one)
        || text
            .windows(5)
            .any(|bytes| matches!(bytes, [before, rest @ ..] if !before.is_ascii_alphanumeric() && is_one(rest)))
}

fn has_code(text: &[u8]) -> bool {
    text.windows(5).any(|bytes| match bytes {
        [one, two, rest @ ..] if one.is_ascii_uppercase() && two.is_ascii_uppercase() => {
            matches!(rest, [b' ', rest @ ..] if is_digits(rest)) || matches!(rest, [rest @ .., _] if is_digits(rest))
        }
        _ => false,
    })
}

fn is_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}
