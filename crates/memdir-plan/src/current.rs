//! What belongs to the past, and is left out of answers unless it is asked for: whole notes by their front matter, and facts whose
//! time is over.
//!
//! Owns what an answer shows of a note then. A note is never changed by it, a link to it leads where it led, and who reads it sees
//! all of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::Planner;
use crate::step::{Content, Image, Step};
use crate::tree::Tree;
use memdir_core::path::MemoryPath;
use memdir_core::report::FactState;
use memdir_core::time::Timestamp;
use memdir_note::{Note, Past, Period};
use memdir_rank::{Number, Source, SourceError, Word};

/// What is said of a line that is over.
const EXPIRED: &str = " (expired)";

/// Of what belongs to the past, whether an answer tells it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PastShown {
    /// It is left out.
    No,
    /// It is told, and marked.
    Marked,
}

impl PastShown {
    pub(super) fn of(include_past: Option<bool>) -> Self {
        if include_past == Some(true) { Self::Marked } else { Self::No }
    }
}

/// The notes that may belong to the past, as an index knows them by their words; which do is read only where one was found.
pub(super) struct PastNotes {
    maybe: HashSet<Number>,
    known: RefCell<HashMap<Number, bool>>,
}

impl<'t, T: Tree> Planner<'t, T> {
    /// The time by which an end has passed.
    pub(super) fn today(&self) -> Timestamp {
        Timestamp::from_seconds(self.overlay.now())
    }

    /// Why all of a text belongs to the past.
    pub(super) fn past_state(&self, text: &str) -> Option<FactState> {
        past_state(text, self.manner.past_status, self.today())
    }

    /// What tells whether an answer leaves a text out, from several threads.
    pub(super) fn is_left_out(&self, shown: PastShown) -> impl Fn(&str) -> bool + Sync + use<'t, T> {
        let (past_status, now) = (self.manner.past_status, self.today());
        move |text| shown == PastShown::No && past_state(text, past_status, now).is_some()
    }

    /// What an answer may show of a text, line for line; `None` where all of it belongs to the past.
    pub(super) fn current<'n>(&self, text: &'n str, shown: PastShown) -> Option<Cow<'n, str>> {
        match shown {
            PastShown::Marked => Some(marked(text, &over(text, self.today()).lines)),
            PastShown::No => current(text, self.manner.past_status, self.today()),
        }
    }

    /// Marks the lines of a text that nobody has confirmed. `whole` is the note as it is, which has the same lines. Where the history
    /// cannot be read nothing is marked.
    pub(super) fn with_doubts(&self, path: &MemoryPath, whole: &str, text: String) -> String {
        let content = Content::new(whole.as_bytes());
        let doubts = self.overlay.tree().unconfirmed(path, &content).unwrap_or_default();
        let doubts: HashMap<usize, String> = doubts.into_iter().collect();
        if doubts.is_empty() {
            return text;
        }
        // Only what states something can be true or not: a heading or a blank line needs no mark.
        let facts: HashSet<usize> = Note::parse(whole).facts().into_iter().map(|fact| fact.line).collect();
        let mut marked = String::with_capacity(text.len());
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let bare = line.trim_end_matches(['\n', '\r']);
            marked.push_str(bare);
            let source = doubts.get(&(at + 1)).filter(|_| !bare.trim().is_empty() && facts.contains(&(at + 1)));
            if let Some(source) = source {
                marked.push_str(&format!(" ({source}, unconfirmed)"));
            }
            marked.push_str(line.get(bare.len()..).unwrap_or_default());
        }
        marked
    }

    /// The notes that may belong to the past, where these are left out: those that hold the words of one of the keys, or of `status`
    /// and one of its values.
    pub(super) fn past_notes(&self, source: &dyn Source, shown: PastShown) -> Result<Option<PastNotes>, SourceError> {
        if shown == PastShown::Marked {
            return Ok(None);
        }
        let holding = |words: &str| {
            let mut all: Option<HashSet<Number>> = None;
            for word in words.split([' ', '_', '-']).filter(|word| !word.is_empty()) {
                let found: HashSet<Number> =
                    source.matching(Word::of(word).stems())?.into_iter().map(|(note, _)| note).collect();
                let kept = match all {
                    Some(all) => &all & &found,
                    None => found,
                };
                if kept.is_empty() {
                    return Ok(kept);
                }
                all = Some(kept);
            }
            Ok(all.unwrap_or_default())
        };
        let mut maybe = holding("superseded by")?;
        maybe.extend(holding("valid until")?);
        for status in self.manner.past_status {
            maybe.extend(holding(&format!("{status} status"))?);
        }
        Ok(Some(PastNotes { maybe, known: RefCell::default() }))
    }

    /// Whether a note belongs to the past.
    pub(super) fn is_past(&self, notes: &PastNotes, source: &dyn Source, note: Number) -> bool {
        if !notes.maybe.contains(&note) {
            return false;
        }
        *notes.known.borrow_mut().entry(note).or_insert_with(|| {
            let text = source.path(note).ok().flatten().and_then(|path| self.text_of(&path));
            text.is_some_and(|text| self.past_state(&text).is_some())
        })
    }
}

/// What an answer may show of a note, line for line: a line that belongs to the past is empty. `None` where all of the note does.
#[must_use]
pub fn current<'n>(text: &'n str, past_status: &[String], now: Timestamp) -> Option<Cow<'n, str>> {
    let is_past = past_state(text, past_status, now).is_some();
    (!is_past).then(|| without(text, &over(text, now)))
}

/// Whether a step makes a note belong to the past that did not.
pub(super) fn sets_aside(step: &Step, past_status: &[String], now: Timestamp) -> bool {
    let Step::Put { path, before: Some(before), after: Some(after) } = step else { return false };
    let is_past = |image: &Image| image.content.text().is_some_and(|text| past_state(text, past_status, now).is_some());
    path.is_note() && is_past(after) && !is_past(before)
}

/// Why all of a text belongs to the past.
fn past_state(text: &str, past_status: &[String], now: Timestamp) -> Option<FactState> {
    // Most notes have no front matter.
    if !text.trim_start_matches('\u{feff}').starts_with("---") {
        return None;
    }
    Note::parse(text).past(past_status, now).as_ref().map(Past::state)
}

/// The facts of a text whose time is over.
#[derive(Default)]
struct Over {
    /// Their lines, from 1, each fact with all its lines.
    lines: HashSet<usize>,
    /// Where the values of those stand that share a line with a fact that holds, the first first.
    beside: Vec<Range<usize>>,
    /// The lines with a fact that holds.
    current: HashSet<usize>,
}

fn over(text: &str, now: Timestamp) -> Over {
    // Most notes have none, and need not be read for it.
    let may_end = |line: &str| line.contains(':') || line.contains('|');
    let is_dated = |line: &str| line.bytes().filter(u8::is_ascii_digit).count() >= 4;
    let says = |line: &str| ["(", "-", "–", "—", "ntil", "NTIL"].iter().any(|mark| line.contains(mark));
    if !text.lines().any(|line| is_dated(line) && says(line) && may_end(line)) {
        return Over::default();
    }
    let note = Note::parse(text);
    let facts = note.facts().into_iter();
    let (over, current): (Vec<_>, Vec<_>) = facts
        .filter(|fact| !matches!(fact.place, memdir_note::fact::Place::FrontMatter(_)))
        .partition(|fact| Period::of_value(&fact.value).is_some_and(|period| period.is_over(now)));
    let current: HashSet<usize> = current.into_iter().map(|fact| fact.line).collect();
    let beside = over.iter().filter(|fact| current.contains(&fact.line)).map(|fact| fact.span.clone());
    let mut beside: Vec<Range<usize>> = beside.collect();
    beside.sort_by_key(|span| span.start);
    let lines = over.iter().flat_map(|fact| fact.line..=note.line_at(fact.span.end).max(fact.line)).collect();
    Over { lines, beside, current }
}

/// A text in which the lines of what is over are empty; of a line with a fact that holds as well, only the values that are over are blank.
fn without<'t>(text: &'t str, over: &Over) -> Cow<'t, str> {
    if over.lines.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut from = 0;
    for span in &over.beside {
        blanked.push_str(text.get(from..span.start).unwrap_or_default());
        let gone = text.get(span.start.max(from)..span.end).unwrap_or_default();
        blanked.extend(gone.chars().map(|character| if character.is_control() { character } else { ' ' }));
        from = span.end.max(from);
    }
    blanked.push_str(text.get(from..).unwrap_or_default());
    let kept = blanked.split_inclusive('\n').enumerate().map(|(at, line)| {
        let end = line.trim_end_matches(['\n', '\r']).len();
        let is_over = over.lines.contains(&(at + 1)) && !over.current.contains(&(at + 1));
        if is_over { line.get(end..).unwrap_or_default() } else { line }
    });
    Cow::Owned(kept.collect())
}

/// A text in which some lines say at their end that they are over.
fn marked<'t>(text: &'t str, lines: &HashSet<usize>) -> Cow<'t, str> {
    if lines.is_empty() {
        return Cow::Borrowed(text);
    }
    let marked = text.split_inclusive('\n').enumerate().flat_map(|(at, line)| {
        let (bare, rest) = line.split_at(line.trim_end_matches(['\n', '\r']).len());
        let end = if lines.contains(&(at + 1)) { EXPIRED } else { "" };
        [bare, end, rest]
    });
    Cow::Owned(marked.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let now = Timestamp::from_seconds(1_780_000_000);
        assert_eq!(current(text, &[], now).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn only_what_is_over_is_left_out_of_a_line() {
        let text = "I live at [flat:: Rua Nova 5] and had [job:: Initech (until 2020)].\nx\n";
        let blank = " ".repeat("Initech (until 2020)".len());
        check(text, &text.replace("Initech (until 2020)", &blank));
        check("a [job:: É (until 2020)] and [pet:: Rex (until 2019)]\nb\n", "\nb\n");
        check("- job: Initech (until 2020)\r\n- flat: Rua Nova 5\r\n", "\r\n- flat: Rua Nova 5\r\n");
        check("- flat: Rua Nova 5\n", "- flat: Rua Nova 5\n");
    }
}
