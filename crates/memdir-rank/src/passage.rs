//! How much of a question one paragraph of a note holds.

use super::Question;
use super::function_words::is_function_word;
use super::question::MOST_WORDS;
use super::text::{Evidence, Left};
use memdir_note::stem::Languages;
use memdir_note::words;

/// So much of a note is looked at.
pub(super) const MOST_BYTES: usize = 64 << 10;
/// How much the length of a paragraph counts, and from how many words on.
const LENGTH: f64 = 0.5;
const SHORT: f64 = 30.0;
/// How much two words count that stand side by side in the question and in the paragraph.
const PAIR: f64 = 0.5;

/// What was found in a paragraph so far.
#[derive(Default)]
struct Paragraph {
    words: u64,
    /// The pairs of the question in it, as bits.
    pairs: u64,
    last: Option<usize>,
    length: u32,
}

/// What the best paragraph of a text says that is not longer than [`MOST_BYTES`], from 0 to a little above 1; `left` are the words that count.
pub(super) fn best(text: &str, question: &Question, evidence: &Evidence, left: &Left) -> f64 {
    let (pairs, languages) = (question.pairs(), Languages::of(text));
    let (mut best, mut paragraph): (f64, _) = (0.0, Paragraph::default());
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            best = best.max(std::mem::take(&mut paragraph).worth(&pairs, evidence, left));
        } else {
            words::each(line, &mut |word, _| paragraph.add(word, question.set().place(word, languages), &pairs));
        }
    }
    best / evidence.whole()
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
