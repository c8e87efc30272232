//! [`Wanted`]: the words of a question, and where a note holds them.

use std::ops::Range;

use crate::excerpt::{self, Excerpt};
use memdir_core::path::MemoryPath;
use memdir_note::stem::Languages;
use memdir_note::{Note, words};
use memdir_rank::{Column, MOST_WORDS, Word, WordSet};

/// The words of a question, each once.
pub struct Wanted {
    set: WordSet,
    count: usize,
}

/// What a note says about the words of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// How many words it has.
    pub length: u32,
    /// The words of the question that it holds, and how much of each.
    pub found: Box<[(u8, f32)]>,
}

impl Wanted {
    /// Takes the words that are looked for.
    pub fn of(words: &[Word]) -> Self {
        Self { set: WordSet::of(words), count: words.len().min(MOST_WORDS) }
    }

    /// What a note says, in its path, its headings and the rest.
    pub fn evidence(&self, path: &MemoryPath, text: &str) -> Evidence {
        let (mut length, mut line, languages) = (0u32, Line::default(), Languages::of(text));
        let mut found = vec![0.0f64; self.count];
        let mut count = |word: &str, weight: &mut dyn FnMut() -> f64| {
            length = length.saturating_add(1);
            if let Some(found) = self.set.place(word, languages).and_then(|place| found.get_mut(place)) {
                *found += weight();
            }
        };
        words::each(without_extension(path), &mut |word, _| count(word, &mut || Column::Name.weight()));
        words::each(text, &mut |word, range| count(word, &mut || line.weight(text, range.start)));
        let found = found.iter().zip(0u8..).filter(|(found, _)| **found > 0.0);
        #[expect(clippy::cast_possible_truncation, reason = "a sum of weights, of which the first digits count")]
        let found = found.map(|(found, number)| (number, *found as f32)).collect();
        Evidence { length, found }
    }

    /// The part of a note, or of a section of one in these languages, that says most; `weights` says how much finding each
    /// word says. Where one of the lines `within`, from 1, says anything, it is the best of these.
    pub(crate) fn excerpt(&self, note: &Note<'_>, languages: Languages, weights: &[f64], within: &[usize]) -> Excerpt {
        let text = note.text();
        let mut lines = vec![0u64; text.split('\n').count()];
        let mut at = vec![0; lines.len()];
        let (mut number, mut end) = (0, text.find('\n').unwrap_or(text.len()));
        words::each(text, &mut |word, range| {
            let Some(wanted) = self.set.place(word, languages) else { return };
            while range.start > end {
                number += 1;
                end += 1;
                end += text.get(end..).map_or(0, |rest| rest.find('\n').unwrap_or(rest.len()));
            }
            if let (Some(line), Some(at)) = (lines.get_mut(number), at.get_mut(number)) {
                if *line == 0 {
                    *at = range.start;
                }
                *line |= 1 << wanted;
            }
        });
        let weigh = |words: u64| {
            let held = (0..MOST_WORDS).filter(|word| words >> word & 1 == 1);
            held.filter_map(|word| weights.get(word)).sum()
        };
        let said = |line: usize| lines.get(line - 1).copied().map_or(0.0, weigh);
        let best = within.iter().rev().max_by(|one, other| said(**one).total_cmp(&said(**other)));
        if let Some(line) = best.filter(|line| said(**line) > 0.0) {
            return Excerpt::of(note, [*line; 2], at.get(line - 1).copied());
        }
        match excerpt::passage(note, &lines, &self.keys(note, languages, lines.len()), &weigh) {
            Some((place, first)) => Excerpt::of(note, place, at.get(first - 1).copied()),
            None => Excerpt::opening(note),
        }
    }

    /// Which words of the question the keys of the facts in each of some lines hold, as bits: ranking goes by these too.
    fn keys(&self, note: &Note<'_>, languages: Languages, lines: usize) -> Vec<u64> {
        let mut keys = vec![0; lines];
        for fact in note.facts() {
            if let Some(key) = keys.get_mut(fact.line - 1) {
                *key |= self.held(&fact.key, languages);
            }
        }
        keys
    }

    /// Which words of the question a part of a note in these languages holds, as bits.
    pub(crate) fn held(&self, text: &str, languages: Languages) -> u64 {
        let mut held = 0;
        words::each(text, &mut |word, _| held |= self.set.place(word, languages).map_or(0, |place| 1 << place));
        held
    }

    /// The words of the question in a text.
    pub(crate) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let (mut marks, languages) = (Vec::<Range<usize>>::new(), Languages::of(text));
        words::each(text, &mut |word, range| {
            if self.set.place(word, languages).is_some() {
                // Words that overlap are one mark.
                let mut range = range;
                while let Some(last) = marks.pop_if(|last| range.start < last.end) {
                    range = last.start.min(range.start)..last.end.max(range.end);
                }
                marks.push(range);
            }
        });
        marks
    }
}

/// The path as it is said without `.md`.
pub(crate) fn without_extension(path: &MemoryPath) -> &str {
    let text = path.as_str();
    let extension = path.name().len() - path.stem().len();
    text.get(..text.len() - extension).unwrap_or(text)
}

/// The line that was last looked at.
#[derive(Default)]
struct Line {
    end: usize,
    is_heading: bool,
}

impl Line {
    /// What a word at byte `at` counts, by its line. Asked for bytes in their order.
    fn weight(&mut self, text: &str, at: usize) -> f64 {
        if at >= self.end {
            let before = text.get(self.end..at).unwrap_or_default();
            let start = self.end + before.rfind('\n').map_or(0, |at| at + 1);
            let rest = text.get(start..).unwrap_or_default();
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            self.end = start + line.len();
            self.is_heading = excerpt::heading(line).is_some();
        }
        Column::Body.weight() + if self.is_heading { Column::Heading.weight() } else { 0.0 }
    }
}
