//! [`Fit`]: whether a part of a note fits a message that may ask nothing of the memory.
//!
//! Most messages share some word with some note. A part fits when the message names its note or one of its facts, or says
//! several of the words of one paragraph; a fact of the person is named only by somebody who speaks of themselves.

use std::ops::Range;

use crate::wanted::{Wanted, without_extension};
use memdir_core::path::{MemoryPath, PERSON_NOTE};
use memdir_note::stem::Languages;
use memdir_note::{Fact, Note};
use memdir_rank::Question;

/// A message of at most so many words asks for nothing else than these.
const FEW_WORDS: usize = 2;
/// So many words of a message a paragraph has to hold, and one more for each time that it has so many words.
const LEAST_HELD: u32 = 2;
const WORDS_FOR_ONE_MORE: u32 = 12;

/// A message, and which of its words the parts of notes hold.
pub(crate) struct Fit<'a> {
    wanted: &'a Wanted,
    /// Whether who wrote it speaks of themselves.
    is_first_person: bool,
    /// How many words of it a paragraph has to hold.
    least: u32,
}

/// What is known of one note.
pub(crate) struct NoteFit<'n> {
    is_named: bool,
    /// The lines, from 1, with facts that the message names.
    facts: Vec<usize>,
    note: &'n Note<'n>,
    languages: Languages,
}

impl<'a> Fit<'a> {
    pub(crate) fn new(question: &Question, wanted: &'a Wanted) -> Self {
        let words = question.words().len();
        let more = u32::try_from(words).unwrap_or(u32::MAX) / WORDS_FOR_ONE_MORE;
        let least = if words <= FEW_WORDS { 1 } else { LEAST_HELD + more };
        Self { wanted, is_first_person: question.is_first_person(), least }
    }

    /// Looks at the name of a note and at the keys of its facts.
    pub(crate) fn of_note<'n>(&self, path: &MemoryPath, note: &'n Note<'n>, languages: Languages) -> NoteFit<'n> {
        let is_person = path.as_str() == PERSON_NOTE;
        let holds = |text: &str| self.wanted.held(text, languages) != 0;
        let title = note.headings().first().map(|heading| heading.text.clone());
        let is_named = !is_person
            && (holds(without_extension(path))
                || title.is_some_and(|title| holds(&title))
                || note.front_values("aliases").iter().any(|alias| holds(alias)));
        let is_about = |fact: &Fact| (!is_person || self.is_first_person) && holds(&fact.key);
        let facts = note.facts().into_iter().filter(is_about).map(|fact| fact.line).collect();
        NoteFit { is_named, facts, note, languages }
    }

    /// Whether a section of it fits.
    pub(crate) fn fits(&self, known: &NoteFit<'_>, section: &Range<usize>) -> bool {
        let lines = known.note.line_at(section.start)..=known.note.line_at(section.end.saturating_sub(1));
        if known.is_named || known.facts.iter().any(|line| lines.contains(line)) {
            return true;
        }
        let text = known.note.text().get(section.clone()).unwrap_or_default();
        let mut paragraphs = text.split("\n\n").flat_map(|part| part.split("\r\n\r\n"));
        paragraphs.any(|paragraph| self.wanted.held(paragraph, known.languages).count_ones() >= self.least)
    }
}
