//! How much of a question one paragraph of a note holds.

use std::collections::BTreeSet;

use super::Question;
use super::function_words::is_function_word;
use super::question::MOST_WORDS;
use super::text::{Evidence, Left};
use super::text::{Words, bit};
use memdir_note::stem::Languages;
use memdir_note::words;

/// So much of a note is looked at.
pub(super) const MOST_BYTES: usize = 64 << 10;
/// How much the length of a paragraph counts, and from how many words on.
const LENGTH: f64 = 0.5;
const SHORT: f64 = 30.0;
/// How much the second best paragraph counts: a note that comes back to something is about it.
const SECOND: f64 = 0.1;
/// How much two words count that stand side by side in the question and in the paragraph.
const PAIR: f64 = 0.5;

/// What the parts of a text say.
#[derive(Default)]
pub(super) struct Passages {
    /// What the best paragraph says, from 0 to a little above 1, and a little of what the second says.
    pub(super) best: f64,
    /// The words of the question in each list item and in each paragraph, with those of the headings above it.
    pub(super) units: BTreeSet<Words>,
}

/// The headings above a place, from the outermost, with their levels, and what stands below them so far.
#[derive(Default)]
struct Unit {
    headings: Vec<(usize, Words)>,
    words: Words,
}

/// What was found in a paragraph so far.
#[derive(Default)]
struct Paragraph {
    words: u64,
    /// The pairs of the question in it, as bits.
    pairs: u64,
    last: Option<usize>,
    length: u32,
}

/// What the paragraphs of a text say that is not longer than [`MOST_BYTES`]; `left` are the words that count for the best one.
pub(super) fn of(text: &str, question: &Question, evidence: &Evidence, left: &Left) -> Passages {
    let (pairs, languages) = (question.pairs(), Languages::of(text));
    let (mut passages, mut paragraph, mut unit) = (Passages::default(), Paragraph::default(), Unit::default());
    let (mut best, mut second): (f64, f64) = (0.0, 0.0);
    for line in text.lines().chain([""]) {
        let bare = line.trim();
        let level = heading_level(bare);
        if bare.is_empty() || level > 0 || is_item(bare) {
            passages.units.extend(unit.take());
        }
        if bare.is_empty() {
            let worth = std::mem::take(&mut paragraph).worth(&pairs, evidence, left);
            (best, second) = if worth > best { (worth, best) } else { (best, second.max(worth)) };
            continue;
        }
        let mut held = 0;
        words::each(line, &mut |word, _| {
            let place = question.set().place(word, languages);
            held |= place.map_or(0, bit);
            paragraph.add(word, place, &pairs);
        });
        unit.add(level, held);
    }
    passages.best = (best + SECOND * second) / evidence.whole();
    passages
}

/// How many `#` a heading begins with; 0 for what is none.
fn heading_level(line: &str) -> usize {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if line.get(level..).is_some_and(|rest| rest.starts_with([' ', '\t'])) { level } else { 0 }
}

/// Whether a line begins an item of a list or is a row of a table.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
    is_numbered || line.starts_with('|') || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

impl Unit {
    fn add(&mut self, level: usize, held: Words) {
        if level == 0 {
            self.words |= held;
        } else {
            self.headings.retain(|(above, _)| *above < level);
            self.headings.push((level, held));
        }
    }

    /// What was said since it was taken last, where there is anything.
    fn take(&mut self) -> Option<Words> {
        let headings = self.headings.iter().fold(0, |words, (_, heading)| words | heading);
        let words = std::mem::take(&mut self.words) | headings;
        (words != 0).then_some(words)
    }
}

impl Paragraph {
    fn add(&mut self, word: &str, place: Option<usize>, pairs: &[(usize, usize)]) {
        self.length = self.length.saturating_add(1);
        if place.is_none() && is_function_word(word) {
            return;
        }
        let pair = self.last.zip(place).and_then(|pair| pairs.binary_search(&pair).ok());
        self.pairs |= pair.map_or(0, |pair| 1 << (pair % MOST_WORDS));
        self.words |= place.map_or(0, |place| 1 << (place % MOST_WORDS));
        self.last = place;
    }

    fn worth(&self, pairs: &[(usize, usize)], evidence: &Evidence, left: &Left) -> f64 {
        let has = |word: usize| self.words >> (word % MOST_WORDS) & 1 == 1;
        let idf = |word: usize| evidence.idf().get(word).copied().unwrap_or_default();
        let is_left = |word: &usize| left.get(*word).is_some_and(|left| *left > 0);
        let words: f64 = (0..question_words(evidence)).filter(|word| has(*word) && is_left(word)).map(idf).sum();
        if words <= 0.0 {
            return 0.0;
        }
        let pairs = pairs.iter().enumerate().filter(|(number, _)| self.pairs >> (number % MOST_WORDS) & 1 == 1);
        let pairs: f64 = pairs.map(|(_, (one, other))| idf(*one).min(idf(*other))).sum();
        words / (1.0 + LENGTH * (1.0 + f64::from(self.length) / SHORT).ln()) + PAIR * pairs
    }
}

fn question_words(evidence: &Evidence) -> usize {
    evidence.idf().len()
}
