//! A message that puts right what the one before it said.
//!
//! Owns how the model is asked which words were wrong and which are right, and where these stand in notes. Both are words of the person: the
//! model chooses them under a grammar, and nothing else of a line changes.

use std::cmp::Reverse;

use serde_json::json;

use super::view::{Entry, Shown, View};
use super::{Exchange, SURE, Session, date, request, shape, stems};
use crate::prompt;
use memdir_core::path::MemoryPath;
use memdir_model::grammar::{corrected, one_of};
use memdir_model::{Answer, Request};
use memdir_note::words::is_single;

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

/// What was told wrongly.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Correction {
    wrong: String,
    pub(super) right: String,
    /// What was told, put right.
    pub(super) told: String,
    /// What the model says of it.
    pub(super) reply: String,
}

/// How a small model is asked whether a message is a new one: it can say nothing else, and how likely it is to say so tells.
pub(super) fn is_new(prompt: &str, before: &Exchange, message: &str) -> Request {
    let shape = shape(one_of(&[NEW]), &json!({"message": {"enum": [NEW]}}));
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
    /// What the model wrote, if it was sure of it and the words stand in what was told.
    pub(super) fn read(answer: &Answer, before: &Exchange) -> Option<Self> {
        let mut lines = answer.text.lines();
        let (wrong, right) = lines.next()?.split_once(ARROW)?;
        let is_sure = answer.line_chances.first().copied().unwrap_or(SURE) >= LEAST_WORDS;
        let told = replaced(&before.message, wrong, right).filter(|told| is_sure && *told != before.message)?;
        let reply = lines.find_map(|line| line.strip_prefix("say ")).unwrap_or_default().trim().to_owned();
        Some(Self { wrong: wrong.to_owned(), right: right.to_owned(), told, reply })
    }

    /// Whether the wrong words stand in notes that the exchange before has changed.
    pub(super) fn stands(&self, notes: &[(MemoryPath, String)], session: &Session) -> bool {
        session.exchanges.last().is_some_and(|before| !self.lines(&View::of(notes), before).is_empty())
    }

    /// The lines of the notes that the exchange before has changed which have the wrong words, each as it is right: those that are made of what was
    /// told, else the one that has most of it. A date that was counted for a line goes with the words that it was counted from.
    pub(super) fn lines<'v, 'n>(
        &self,
        view: &'v View<'n>,
        before: &Exchange,
    ) -> Vec<(&'v Shown<'n>, &'v Entry, String)> {
        let (receipt, told) = (before.receipt.as_deref().unwrap_or_default(), stems(&before.message));
        let changed = view.notes.iter().filter(|note| names(receipt, note.path.as_str()));
        let entries = changed.flat_map(|note| note.entries.iter().map(move |entry| (note, entry)));
        let mut found: Vec<_> = entries
            .filter_map(|(note, entry)| {
                let said = view.said(&entry.value);
                // What is not shown whole would lose its end.
                let is_whole = !said.ends_with('…') || entry.value.ends_with('…');
                let line = Some(date::without_mark(&said)).filter(|_| is_whole)?;
                let right = replaced(line, &self.wrong, &self.right)?;
                let stems = stems(line);
                let is_of_it = stems.is_subset(&told);
                Some((Reverse((is_of_it, stems.intersection(&told).count())), (note, entry, right)))
            })
            .collect();
        found.sort_by_key(|(order, _)| *order);
        let whole = found.iter().take_while(|(Reverse((is_of_it, _)), _)| *is_of_it).count();
        found.truncate(whole.max(1));
        found.into_iter().map(|(_, line)| line).collect()
    }
}

/// Whether a receipt names a note: its path, and not a longer one that ends so.
fn names(receipt: &str, path: &str) -> bool {
    let ends = |before: &str| before.chars().next_back().is_none_or(char::is_whitespace);
    receipt.match_indices(path).any(|(at, _)| receipt.get(..at).is_some_and(ends))
}

fn examples(prompt: &str) -> (String, Vec<memdir_model::Message>) {
    let (system, messages) = prompt::examples(prompt);
    (system.to_owned(), messages)
}

fn asked(before: &Exchange, message: &str) -> String {
    prompt::fenced(&format!("Told: {}\nNow: {message}", before.message)).into_owned()
}

/// A text with other words in the place of these, wherever they stand between the boundaries of words, in whatever case; `None` where they stand nowhere.
fn replaced(text: &str, wrong: &str, right: &str) -> Option<String> {
    let (mut out, mut rest, mut last) = (String::new(), text, None);
    let mut is_found = false;
    while let Some(first) = rest.chars().next() {
        match length_of(rest, wrong).filter(|length| {
            let after = rest.get(*length..).and_then(|after| after.chars().next());
            is_boundary(last, wrong.chars().next()) && is_boundary(wrong.chars().last(), after)
        }) {
            Some(length) => {
                out.push_str(right);
                last = wrong.chars().last();
                rest = rest.get(length..).unwrap_or_default();
                is_found = true;
            }
            None => {
                out.push(first);
                last = Some(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    is_found.then_some(out)
}

/// How many bytes of a text are these words, in whatever case.
fn length_of(text: &str, words: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    for word in words.chars() {
        let (_, one) = characters.next()?;
        if !one.to_lowercase().eq(word.to_lowercase()) {
            return None;
        }
    }
    (!words.is_empty()).then(|| characters.next().map_or(text.len(), |(at, _)| at))
}

/// Whether a word ends between two characters.
fn is_boundary(before: Option<char>, after: Option<char>) -> bool {
    let is_part =
        |one: Option<char>| one.is_some_and(|one| one.is_alphanumeric() && !is_single(one.encode_utf8(&mut [0; 4])));
    !is_part(before) || !is_part(after)
}
