//! [`Word`]: a word that is looked for, and [`WordSet`]: which of several words a word of a note is.

use std::collections::HashMap;

use memdir_note::stem::{Languages, Stem};

/// A word that a query looks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Word {
    text: String,
    stems: Vec<Stem>,
}

/// The words of a query by their stems.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WordSet {
    places: HashMap<Stem, usize>,
    /// The first bytes of the stems: most words of a note begin otherwise, and a stem begins as its word does.
    first: Box<[bool; 256]>,
}

impl Word {
    /// A folded word with its stems in all languages.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self { text: text.to_owned(), stems: Stem::forms(text) }
    }

    /// A word that is known by its stems alone.
    #[must_use]
    pub fn with(stems: &[Stem]) -> Self {
        Self { text: String::new(), stems: stems.to_vec() }
    }

    /// The word as it was asked for, folded.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All stems under which a note may hold it.
    #[must_use]
    pub fn stems(&self) -> &[Stem] {
        &self.stems
    }

    /// Looks for another stem too.
    pub(super) fn add(&mut self, stem: Stem) {
        self.stems.push(stem);
    }
}

impl WordSet {
    /// Takes the words; a stem of two of them belongs to the first.
    #[must_use]
    pub fn of(words: &[Word]) -> Self {
        let mut set = Self { places: HashMap::new(), first: Box::new([false; 256]) };
        for (place, word) in words.iter().enumerate() {
            for stem in word.stems() {
                set.places.entry(stem.clone()).or_insert(place);
                let first = stem.as_str().as_bytes().first();
                first
                    .and_then(|byte| set.first.get_mut(usize::from(*byte)))
                    .into_iter()
                    .for_each(|first| *first = true);
            }
        }
        set
    }

    /// The place of the word that a folded word of a text in these languages is a form of.
    #[must_use]
    pub fn place(&self, word: &str, languages: Languages) -> Option<usize> {
        let first = word.as_bytes().first().and_then(|byte| self.first.get(usize::from(*byte)));
        if first != Some(&true) {
            return None;
        }
        let mut place = None;
        languages.stems(word, &mut |stem| place = place.or_else(|| self.places.get(stem).copied()));
        place
    }
}
