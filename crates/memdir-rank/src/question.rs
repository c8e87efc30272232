//! [`Question`]: what a query asks for.

use std::ops::Range;

use super::function_words::{is_first_person, is_function_word};
use super::{Word, WordSet};
use memdir_note::stem::Stem;
use memdir_note::words;

/// The most words of a query that count; a set of them is the bits of a number.
pub const MOST_WORDS: usize = 64;
/// No more words are looked at, with those that only hold sentences together.
const MOST_SAID: usize = 128;

/// A query taken apart.
///
/// # Examples
///
/// ```
/// use memdir_rank::Question;
///
/// let question = Question::of("Where does my sister live?").unwrap();
/// let words = |question: Question| question.words().iter().map(|word| word.text().to_owned()).collect::<Vec<_>>();
/// assert_eq!(words(question), ["sister", "live"]);
/// assert_eq!(words(Question::of("to be or not to be").unwrap()), ["to", "be", "or", "not"]);
/// assert_eq!(words(Question::of("When is Will's birthday?").unwrap()), ["will", "birthday"]);
/// assert_eq!(Question::of("?!"), None);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    text: String,
    words: Vec<Word>,
    set: WordSet,
    said: Vec<Said>,
    is_first_person: bool,
}

/// A word of a query where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Said {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// Which of the words it is that are looked for; `None` for a function word.
    pub(super) word: Option<usize>,
}

impl Question {
    /// Takes a query apart; `None` where no word of it could be found by words.
    ///
    /// Function words are looked for only where there is nothing else, or where they are written as names.
    #[must_use]
    pub fn of(query: &str) -> Option<Self> {
        let mut all: Vec<(String, Range<usize>)> = Vec::new();
        let mut is_first = false;
        words::each(query, &mut |word, range| {
            is_first |= is_first_person(word);
            if all.len() < MOST_SAID {
                all.push((word.to_owned(), range));
            }
        });
        let has_others = all.iter().any(|(word, _)| !is_function_word(word));
        let mut question = Self { text: query.to_owned(), said: Vec::new(), is_first_person: is_first, ..Self::none() };
        let mut is_findable = false;
        let mut left = MOST_WORDS;
        for (word, range) in all {
            let is_sought = left > 0 && (!has_others || !is_function_word(&word) || is_name(query, &range));
            left -= usize::from(is_sought);
            is_findable |= is_sought && !words::is_single(&word);
            let word = is_sought.then(|| question.number_of(&word));
            question.said.push(Said { range, word });
        }
        question.set = WordSet::of(&question.words);
        is_findable.then_some(question)
    }

    /// A question without words, which nothing answers.
    #[must_use]
    pub fn none() -> Self {
        Self { text: String::new(), words: Vec::new(), set: WordSet::of(&[]), said: Vec::new(), is_first_person: false }
    }

    /// The query as it was sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words that are looked for, each once.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Every word in the order of the query.
    pub(super) fn said(&self) -> &[Said] {
        &self.said
    }

    /// Whether who asks speaks of themselves.
    #[must_use]
    pub fn is_first_person(&self) -> bool {
        self.is_first_person
    }

    /// Some of the words as they are written in the query, each once; `words` are bits by their order in [`Question::words`].
    #[must_use]
    pub fn written(&self, words: u64) -> Vec<String> {
        let is_meant = |said: &&Said| said.word.is_some_and(|word| words >> (word % MOST_WORDS) & 1 == 1);
        let ranges = self.said.iter().filter(is_meant).map(|said| said.range.clone());
        let mut written = Vec::<String>::new();
        for word in ranges.filter_map(|range| self.text.get(range)) {
            if !written.iter().any(|known| known == word) {
                written.push(word.to_owned());
            }
        }
        written
    }

    /// The words that are written as names, inside a sentence with a capital, as bits by their order in [`Question::words`].
    #[must_use]
    pub fn written_as_names(&self) -> u64 {
        let names = self.said.iter().filter(|said| is_name(&self.text, &said.range));
        names
            .filter_map(|said| said.word)
            .fold(0, |bits, word| bits | 1u64.checked_shl(u32::try_from(word).unwrap_or(64)).unwrap_or(0))
    }

    /// How often each word is looked for.
    pub(super) fn counts(&self) -> [u8; MOST_WORDS] {
        let mut counts = [0; MOST_WORDS];
        for word in self.sought() {
            counts.get_mut(word).into_iter().for_each(|count| *count += 1);
        }
        counts
    }

    /// The words that stand beside each other once the function words are left out, each pair once.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.sought().zip(self.sought().skip(1)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// How many words are looked for, with those that are said again.
    pub(super) fn length(&self) -> usize {
        self.sought().count()
    }

    /// Which of the words a word of a text is.
    #[must_use]
    pub fn set(&self) -> &WordSet {
        &self.set
    }

    /// The question that also looks for another word beside one of its own.
    pub(super) fn with(&self, number: usize, stem: Stem) -> Self {
        let mut question = self.clone();
        question.words.get_mut(number).into_iter().for_each(|word| word.add(stem.clone()));
        question.set = WordSet::of(&question.words);
        question
    }

    fn sought(&self) -> impl Iterator<Item = usize> + '_ {
        self.said.iter().filter_map(|said| said.word)
    }

    fn number_of(&mut self, text: &str) -> usize {
        let word = Word::of(text);
        // Forms of one word are one.
        let known = self.words.iter().position(|known| known.stems().first() == word.stems().first());
        known.unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        })
    }
}

/// Whether a word is written as a name is, in the middle of a sentence that is not all capitals: `Will's birthday`.
fn is_name(query: &str, range: &Range<usize>) -> bool {
    let mut letters = query.get(range.clone()).unwrap_or_default().chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase);
    let before = query.get(..range.start).unwrap_or_default();
    let is_inside = before.ends_with(' ') && before.trim_end().ends_with(char::is_alphanumeric);
    is_capital && is_inside && letters.next().is_some_and(char::is_lowercase)
}
