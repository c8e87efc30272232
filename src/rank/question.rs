//! [`Question`]: what a query asks for.

use crate::note::words;

/// The most words of a query that count; a set of them is the bits of a number.
const MOST_WORDS: usize = 64;

/// A query taken apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    text: String,
    words: Vec<String>,
}

impl Question {
    /// Takes a query apart; `None` where no word of it could be found by words.
    #[must_use]
    pub fn of(query: &str) -> Option<Self> {
        let mut stems: Vec<String> = Vec::new();
        let mut is_findable = false;
        words::each(query, &mut |word, _| {
            let stem = words::stem(word);
            if stems.len() < MOST_WORDS && !stems.iter().any(|known| *known == stem) {
                is_findable |= !words::is_single(word);
                stems.push(stem.into_owned());
            }
        });
        is_findable.then(|| Self { text: query.to_owned(), words: stems })
    }

    /// A question without words, which nothing answers.
    #[must_use]
    pub fn none() -> Self {
        Self { text: String::new(), words: Vec::new() }
    }

    /// The query as it was sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The stems of the words that are looked for, each once.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }
}
