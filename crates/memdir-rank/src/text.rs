//! [`Evidence`]: what the words of a question, and vectors, say about each note alone.

use std::collections::{HashMap, HashSet};

use super::bm25::MOST;
use super::question::MOST_WORDS;
use super::{Asking, Bm25, Number, Question, Source, SourceError, best_first, vector};

/// What a word explains at the least, whatever it is; the rest is for rare ones.
const LEAST_WEIGHT: f64 = 0.6;
/// With more notes than this a word that stands in more than a tenth of them is not looked for, while another is.
const MANY_NOTES: usize = 1_000;
const COMMON: usize = 10;
/// Words are looked for, the rarest first, until so many notes came.
const MOST_MATCHING: usize = 12_000;

/// How often each word of a question is still to be explained.
pub(super) type Left = [u8; MOST_WORDS];

/// What the words of a question say.
pub(super) struct Evidence {
    /// How much finding each word says.
    idf: Vec<f64>,
    /// The same for what links and facts explain, where common words count nearly as much.
    weights: Vec<f64>,
    /// For each word, how much it says of which notes, by their numbers.
    matching: Vec<Vec<(Number, f64)>>,
    /// What all words say of a note.
    text: HashMap<Number, f64>,
    vectors: HashMap<Number, f64>,
    /// The common words for which no note was looked.
    unasked: Words,
    /// The notes that hold a rare word.
    evident: HashSet<Number>,
}

impl Evidence {
    /// Asks for the notes that hold the words; common words only where there is nothing else.
    pub(super) fn gather(source: &dyn Source, question: &Question, asking: &Asking<'_>) -> Result<Self, SourceError> {
        let notes = source.notes()?;
        let holding =
            question.words().iter().map(|word| source.holding(word.stems())).collect::<Result<Vec<_>, _>>()?;
        let bm25 = Bm25::new(notes, 0.0, &holding);
        let rarest = Bm25::new(notes, 0.0, &[0]).weight(0);
        let idf: Vec<f64> = (0..holding.len()).map(|word| bm25.weight(word)).collect();
        let weights = idf.iter().map(|idf| LEAST_WEIGHT + (1.0 - LEAST_WEIGHT) * idf / rarest).collect();
        let mut evidence = Self {
            matching: vec![Vec::new(); idf.len()],
            text: HashMap::new(),
            unasked: 0,
            evident: HashSet::new(),
            vectors: vector::alike(source, asking)?,
            idf,
            weights,
        };
        let whole = evidence.whole();
        let mut order: Vec<_> = holding.iter().copied().zip(0..).filter(|(holding, _)| *holding > 0).collect();
        order.sort_unstable();
        let mut asked = 0;
        for (at, (holding, word)) in order.iter().copied().enumerate() {
            let is_common = notes > MANY_NOTES && holding > notes / COMMON;
            if asked > 0 && (is_common || asked + holding > MOST_MATCHING) {
                evidence.unasked = order.iter().skip(at).fold(0, |bits, (_, word)| bits | bit(*word));
                break;
            }
            asked += holding;
            asking.check()?;
            let (Some(word_of), Some(idf)) = (question.words().get(word), evidence.idf.get(word)) else { continue };
            let matching = source.matching(word_of.stems())?;
            let mut matching: Vec<(Number, f64)> =
                matching.into_iter().map(|(note, much)| (note, much.value() * idf / whole / MOST)).collect();
            matching.sort_unstable_by_key(|(note, _)| *note);
            for (note, much) in &matching {
                *evidence.text.entry(*note).or_default() += much;
            }
            evidence.matching.get_mut(word).into_iter().for_each(|slot| *slot = std::mem::take(&mut matching));
        }
        Ok(evidence)
    }

    /// How much finding each word says.
    pub(super) fn idf(&self) -> &[f64] {
        &self.idf
    }

    /// What finding all words says.
    pub(super) fn whole(&self) -> f64 {
        self.idf.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// What explaining a word is worth.
    pub(super) fn weight(&self, word: usize) -> f64 {
        self.weights.get(word).copied().unwrap_or_default()
    }

    /// What explaining each word as often as it is left would be worth.
    pub(super) fn worth(&self, left: &Left) -> f64 {
        self.weights.iter().zip(left).map(|(weight, left)| weight * f64::from(*left)).sum()
    }

    /// Whether a note holds a word that was looked for.
    pub(super) fn has_text(&self, note: Number) -> bool {
        self.text.contains_key(&note)
    }

    /// Finds the notes that hold any word that is rare: a note that only holds others is no answer while there are such.
    pub(super) fn find_evident(&mut self, is_rare: &dyn Fn(usize) -> bool) {
        let rare = self.matching.iter().enumerate().filter(|(word, _)| is_rare(*word));
        self.evident = rare.flat_map(|(_, matching)| matching.iter().map(|(note, _)| *note)).collect();
    }

    /// Whether words or a vector say enough of a note to show it.
    pub(super) fn is_evident(&self, note: Number) -> bool {
        self.evident.is_empty() || self.evident.contains(&note) || self.has_vector(note)
    }

    /// Whether a vector is like a note.
    pub(super) fn has_vector(&self, note: Number) -> bool {
        self.vectors.get(&note).is_some_and(|like| *like > 0.0)
    }

    /// What words and vectors say of a note.
    pub(super) fn of(&self, note: Number) -> f64 {
        self.text.get(&note).copied().unwrap_or_default() + self.vectors.get(&note).copied().unwrap_or_default()
    }

    /// The same without the words that are not left.
    pub(super) fn of_left(&self, note: Number, left: &Left) -> f64 {
        let words = self.matching.iter().zip(left).filter(|(_, left)| **left > 0);
        let text: f64 = words.filter_map(|(matching, _)| much_of(matching, note)).sum();
        text + self.vectors.get(&note).copied().unwrap_or_default()
    }

    /// The words that a note holds; those for which no note was looked may be among them.
    pub(super) fn held(&self, note: Number) -> Words {
        let held = self.matching.iter().enumerate().filter(|(_, matching)| much_of(matching, note).is_some());
        held.fold(self.unasked, |bits, (word, _)| bits | bit(word))
    }

    /// All notes of which words or vectors say something, the best first.
    pub(super) fn ranked(&self) -> Vec<(f64, Number)> {
        let vectors = self.vectors.keys().filter(|note| self.has_vector(**note) && !self.text.contains_key(note));
        let mut all: Vec<_> = self.text.keys().chain(vectors).map(|note| (self.of(*note), *note)).collect();
        all.sort_unstable_by(|one, other| best_first(*one, *other));
        all
    }

    /// Takes words that something says off what is left, each as often as it is left; gives what they are worth, and
    /// how many there were.
    pub(super) fn take(&self, words: &[u8], left: &mut Left, strength: f64) -> (f64, usize) {
        let (mut worth, mut taken) = (0.0, 0);
        for word in words.iter().map(|word| usize::from(*word)) {
            if let Some(left) = left.get_mut(word).filter(|left| **left > 0) {
                *left -= 1;
                taken += 1;
                worth += strength * self.weight(word);
            }
        }
        (worth, taken)
    }
}

/// How much a word says of a note, where it stands there.
fn much_of(matching: &[(Number, f64)], note: Number) -> Option<f64> {
    let at = matching.binary_search_by_key(&note, |(note, _)| *note).ok()?;
    matching.get(at).map(|(_, much)| *much)
}

/// Words of a question, as bits by their order in [`super::Question::words`].
pub(super) type Words = u64;

/// A word by its number, as one of them.
pub(super) fn bit(word: usize) -> Words {
    u32::try_from(word).ok().and_then(|word| 1u64.checked_shl(word)).unwrap_or_default()
}
