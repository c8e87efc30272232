//! A message that puts right what the one before it said.
//!
//! Owns how the model is asked which words were wrong and which are right, and which lines these stand in: those that the batches of that message wrote,
//! as the history tells. Both are words of the person: the model chooses them under a grammar, and nothing else of a line changes but its date.

use std::ops::Range;

use serde_json::json;

use super::view::{Entry, Shown, View};
use super::{Exchange, SURE, date, request, shape};
use crate::prompt;
use memdir_core::path::MemoryPath;
use memdir_model::grammar::{self, corrected, one_of};
use memdir_model::{Answer, End, Message, Request};

/// How many tokens the words and the reply may have.
const MAX_TOKENS: u32 = 120;
/// The word for a message that puts nothing right.
const NEW: &str = "new";
/// What stands between the words that were wrong and those that are right.
const ARROW: &str = " -> ";
/// A message puts something right if the model takes it for a new one by less than this, in thousandths, and was as sure as [`LEAST_WORDS`] of the
/// words. In five suites of strangers 26 messages put something right; of 19 of these the 1.5B named the right words by this, of the other seven none,
/// and none of 60 other pairs of messages.
const MOST_NEW: u16 = 500;
const LEAST_WORDS: u16 = 80;

/// No words that are put right are more.
const MOST_WORDS: usize = 8;

/// What was told wrongly.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Correction {
    wrong: String,
    right: String,
    /// What was told, put right.
    pub(super) told: String,
    /// What the model says of it.
    pub(super) reply: String,
}

/// How a small model is asked whether a message is a new one: it can say nothing else, and how likely it is to say so tells.
pub(super) fn is_new(prompt: &str, before: &Exchange, message: &str) -> Request {
    let shape = shape(one_of(&[NEW]), &json!({"kind": {"enum": [NEW]}}));
    request(examples(prompt), asked(before, message), Some(shape), MAX_TOKENS)
}

/// Whether it says so, of an engine that tells how likely that is.
pub(super) fn says_new(answer: &Answer) -> bool {
    answer.line_chances.first().is_none_or(|chance| *chance >= MOST_NEW)
}

/// How it is asked for the words. `None` where there are none to choose from.
pub(super) fn words(prompt: &str, before: &Exchange, message: &str) -> Option<Request> {
    let shape = shape(corrected(&before.message, message)?, &super::steps());
    Some(request(examples(prompt), asked(before, message), Some(shape), MAX_TOKENS))
}

impl Correction {
    /// What the model wrote to its end, if it was sure of it and the words stand once in what was told.
    pub(super) fn read(answer: &Answer, before: &Exchange) -> Option<Self> {
        let is_whole = answer.end == End::Done || answer.text.contains('\n');
        let is_sure = answer.line_chances.first().copied().unwrap_or(SURE) >= LEAST_WORDS;
        let mut lines = answer.text.lines();
        let (wrong, right) = lines.next().filter(|_| is_whole && is_sure)?.split_once(ARROW)?;
        let told = replaced(&before.message, wrong, right).filter(|told| *told != before.message)?;
        let reply = lines.find_map(|line| line.strip_prefix("say ")).unwrap_or_default().trim().to_owned();
        Some(Self { wrong: wrong.to_owned(), right: right.to_owned(), told, reply })
    }

    /// Whether a sentence has the right words.
    pub(super) fn is_in(&self, sentence: &str) -> bool {
        !places(sentence, &self.right).is_empty()
    }

    /// The lines that came of what was told wrongly, each without the dates of its days, as it is right. `written` are the lines of notes that are of
    /// the batches before, by number. Of what is not shown whole the end would be lost.
    pub(super) fn lines<'v, 'n>(&self, view: &'v View<'n>, written: &[(MemoryPath, usize)]) -> Vec<Place<'v, 'n>> {
        let entries = view.notes.iter().flat_map(|note| note.entries.iter().map(move |entry| (note, entry)));
        let is_written = |note: &Shown<'_>, entry: &Entry| {
            let before = note.text.get(..entry.lines.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            written.iter().any(|(path, number)| path == note.path && *number == line)
        };
        let place = |(note, entry): (&'v Shown<'n>, &'v Entry)| {
            let said = view.said(&entry.value);
            let is_whole = !said.ends_with('…') || entry.value.ends_with('…');
            let right = replaced(date::marked(&said).0, &self.wrong, &self.right).filter(|_| is_whole)?;
            Some(Place { note, entry, right })
        };
        entries.filter(|(note, entry)| is_written(note, entry)).filter_map(place).collect()
    }
}

/// A line that is put right.
pub(super) struct Place<'v, 'n> {
    pub(super) note: &'v Shown<'n>,
    pub(super) entry: &'v Entry,
    /// What it says, without the dates of its days.
    pub(super) right: String,
}

impl Place<'_, '_> {
    /// Whether dates stand behind it: then the model is asked for the day of the line as it is right.
    pub(super) fn has_day(&self) -> bool {
        !date::marked(&self.entry.value).1.is_empty()
    }

    /// The line with its dates: as they stand, if the model names a day of them, or what it names, counted from the same date; without one if it names none.
    pub(super) fn dated(&self, day: Option<&str>) -> (String, Option<String>) {
        let (line, days) = date::marked(&self.entry.value);
        let marks = self.entry.value.get(line.len()..).unwrap_or_default();
        match (day, days.as_slice()) {
            (Some(day), _) if days.iter().any(|(other, _)| *other == day) => (format!("{}{marks}", self.right), None),
            (Some(day), [(_, from)]) => {
                let mark = date::mark(day, *from).unwrap_or_default();
                (format!("{}{mark}", self.right), Some(mark))
            }
            _ => (self.right.clone(), None),
        }
    }
}

fn examples(prompt: &str) -> (String, Vec<Message>) {
    let (system, messages) = prompt::examples(prompt);
    (system.to_owned(), messages)
}

fn asked(before: &Exchange, message: &str) -> String {
    prompt::fenced(&format!("Told: {}\nNow: {message}", before.message)).into_owned()
}

/// A text with other words in the place of these; `None` where they do not stand there once.
fn replaced(text: &str, wrong: &str, right: &str) -> Option<String> {
    let places = places(text, wrong);
    let [place] = places.as_slice() else { return None };
    let (before, behind) = (text.get(..place.start)?, text.get(place.end..)?);
    Some(format!("{before}{right}{behind}"))
}

/// Where these words stand in a text, in whatever case: whole words, as the grammar offers them.
fn places(text: &str, sought: &str) -> Vec<Range<usize>> {
    let words = grammar::words(text);
    let sought = sought.to_lowercase();
    let mut places = Vec::new();
    for (at, first) in words.iter().enumerate() {
        let runs = words.iter().skip(at).map(|last| first.start..last.end);
        let is_it = |run: &Range<usize>| text.get(run.clone()).is_some_and(|run| run.to_lowercase() == sought);
        places.extend(runs.take(MOST_WORDS).find(is_it));
    }
    places
}
