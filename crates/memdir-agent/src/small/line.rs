//! What a small model notes, line by line, and the older line about the same thing.
//!
//! Owns how the lines are read, and which older line of the same note that is: the one of the same key, else the one that has most words of what
//! was told. Whether it is out of date is for the model, which is shown it and rewrites it.

use std::collections::BTreeSet;

use super::view::{Entry, Shown, View};
use super::{Kind, SURE, Turn, stems};
use memdir_core::path::MemoryPath;
use memdir_model::Answer;
use memdir_note::stem::Stem;
use memdir_note::{fact, words};

/// A shorter word than this says too little to tell which line is meant, but for two characters of a script without blanks.
const LEAST_LETTERS: usize = 4;
/// The key of a line has at most so many words, and letters.
const MOST_KEY_WORDS: usize = 4;
const MOST_KEY: usize = 40;

/// So many lines are written anew for a message at most.
const MOST_RENEWALS: usize = 4;

/// A line that was noted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Line<'a> {
    /// The note below which it stands.
    pub(super) note: &'a str,
    pub(super) text: &'a str,
    /// How likely it was, in thousandths.
    pub(super) chance: u16,
}

impl<'a> Line<'a> {
    /// Its key and value, where it has both.
    pub(super) fn parts(&self) -> Option<(&'a str, &'a str)> {
        let (key, value) = self.text.split_once(": ").or_else(|| self.text.split_once('：'))?;
        let (key, value) = (key.trim(), value.trim());
        let is_key = !key.is_empty()
            && key.chars().count() <= MOST_KEY
            && key.split_whitespace().count() <= MOST_KEY_WORDS
            && !key.contains(['[', ']', '{', '}', '.', '=', '"', '(', '|'])
            && !key.chars().all(|one| one.is_numeric() || one.is_whitespace());
        (is_key && !value.is_empty()).then_some((key, value))
    }
}

impl View<'_> {
    /// Whether a line of the note says already what a new one does.
    pub(super) fn stands(&self, line: &Line<'_>) -> bool {
        let words = stems(&without_dates(line.text));
        let says = |entry: &Entry| words.is_subset(&stems(&self.line(entry)));
        // A date that has to be computed may be another one.
        !words.is_empty()
            && !line.text.contains('{')
            && self.named(line.note).is_some_and(|note| note.entries.iter().any(says))
    }
}

/// A text without what stands in braces.
pub(super) fn without_dates(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('}').map_or(part, |(_, rest)| rest))
}

/// The lines that an answer notes.
pub(super) fn lines(answer: &Answer) -> Vec<Line<'_>> {
    let mut note = "";
    let mut lines = Vec::<Line<'_>>::new();
    for (at, line) in answer.text.lines().enumerate() {
        let chance = answer.line_chances.get(at).copied().unwrap_or(SURE);
        if let Some(name) = line.strip_prefix("# ") {
            note = name.trim();
        } else if let Some(text) = line.strip_prefix("+ ").map(str::trim).filter(|text| !text.is_empty())
            && !lines.iter().any(|other| other.note == note && other.text == text)
        {
            lines.push(Line { note, text, chance });
        }
    }
    lines
}

/// A line that the model is to write anew, and what it wrote.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Renewal {
    /// Its note.
    pub path: MemoryPath,
    /// The line as it is shown.
    pub old: String,
    /// The new line because of which it is asked.
    pub because: String,
    /// The line anew; empty until it is written.
    pub new: String,
}

/// The lines that a small model is to write anew because of what it has noted.
#[must_use]
pub fn renewals(turn: &Turn<'_>, noted: &Answer) -> Vec<Renewal> {
    let view = View::of(turn.notes);
    let mut renewals = Vec::<Renewal>::new();
    let mut lines = lines(noted);
    lines.retain(|line| !view.stands(line));
    // Where two lines lead to the same one, that which has words of it goes first.
    for is_by_sentence in [false, true] {
        for line in &lines {
            let found = older(&view, turn, line).filter(|found| found.is_by_sentence == is_by_sentence);
            let Some(Older { note, entry, .. }) = found.filter(|found| !found.entry.value.is_empty()) else { continue };
            let old = view.line(entry);
            // What is not shown whole cannot be written anew.
            if renewals.len() < MOST_RENEWALS
                && !old.ends_with('…')
                && !renewals.iter().any(|other| other.path == *note.path && other.old == old)
            {
                let because = line.text.to_owned();
                renewals.push(Renewal { path: note.path.clone(), old, because, new: String::new() });
            }
        }
    }
    renewals
}

/// The older line about the same thing.
pub(super) struct Older<'v, 'n> {
    pub(super) note: &'v Shown<'n>,
    pub(super) entry: &'v Entry,
    /// Whether only the sentence has a word of it in which the new line was told.
    is_by_sentence: bool,
}

/// The older line about the same thing: the one of the same key, or that has words of what was told which no other line has.
pub(super) fn older<'v, 'n>(view: &'v View<'n>, turn: &Turn<'_>, line: &Line<'_>) -> Option<Older<'v, 'n>> {
    let note = view.named(line.note)?;
    if let Some((key, _)) = line.parts()
        && let Some(entry) = note.entry(key).filter(|entry| !entry.is_prose)
    {
        return Some(Older { note, entry, is_by_sentence: false });
    }
    let filled = note.entries.iter().filter(|entry| !entry.value.is_empty());
    let said: Vec<(&Entry, BTreeSet<Stem>)> = filled.map(|entry| (entry, telling(&view.line(entry)))).collect();
    let name = telling(&note.name);
    let nearest = |text: &str| {
        let mut told = telling(text);
        told.retain(|stem| !name.contains(stem) && said.iter().filter(|(_, said)| said.contains(stem)).count() == 1);
        let shared = said.iter().map(|(entry, said)| (told.intersection(said).count(), *entry));
        let (count, entry) = shared.max_by_key(|(count, entry)| (*count, std::cmp::Reverse(entry.lines.start)))?;
        (count > 0).then_some(entry)
    };
    match nearest(line.text) {
        Some(entry) => Some(Older { note, entry, is_by_sentence: false }),
        None => nearest(sentence(turn, line.text)?).map(|entry| Older { note, entry, is_by_sentence: true }),
    }
}

/// The sentence in which a line was told: the one that has most of its words.
fn sentence<'t>(turn: &Turn<'t>, line: &str) -> Option<&'t str> {
    let words = stems(line);
    let told = turn.sorted.0.iter().filter(|(_, kind)| *kind == Kind::Tell);
    let shared = told.map(|(sentence, _)| (stems(sentence).intersection(&words).count(), sentence.as_str()));
    shared.max_by_key(|(shared, _)| *shared).filter(|(shared, _)| *shared > 0).map(|(_, sentence)| sentence)
}

/// The stems of the words that are long enough to tell something.
fn telling(text: &str) -> BTreeSet<Stem> {
    let mut found = BTreeSet::new();
    words::each(text, &mut |word, _| {
        let is_unspaced = word.chars().next().is_some_and(|one| words::is_single(one.encode_utf8(&mut [0; 4])));
        let least = if is_unspaced { 2 } else { LEAST_LETTERS };
        if word.chars().count() >= least {
            found.extend(Stem::forms(word));
        }
    });
    found
}

/// A line that was written anew, without a mark before it, if it can stand for the old one: it keeps a word of it, has one more, and all of its words are
/// in the old one or known.
pub(super) fn taken<'a>(new: &'a str, old: &str, known: &BTreeSet<Stem>) -> Option<&'a str> {
    let new = new.trim().trim_start_matches(['+', '-']).trim_start();
    let (now, before) = (stems(&without_dates(new)), stems(old));
    let is_kept = !now.is_disjoint(&before);
    let is_new = now.iter().any(|stem| !before.contains(stem));
    let is_known = now.iter().all(|stem| before.contains(stem) || known.contains(stem));
    let is_one_line = !new.chars().any(|one| one.is_control() || one == '<');
    (is_one_line && is_kept && is_new && is_known && fact::key(new) != fact::key(old)).then_some(new)
}
