//! Words of a question that no note holds, and what was probably meant.

use super::{Asking, Question, Source, SourceError};
use memdir_note::stem::{Languages, Stem, bare};
use memdir_note::words;

/// A word of fewer letters is spelled like too many others; one of just so many only counts as spelled wrong where its
/// letters are right and their order is not (`jnae`).
const FEWEST_LETTERS: usize = 4;
/// From so many letters on a word may differ in two.
const MANY_LETTERS: usize = 8;
/// A stem of so many letters may be the beginning of the word; an ending of so many letters is cut off it.
const FEWEST_OF_A_STEM: usize = 5;
const MOST_OF_AN_ENDING: usize = 4;
/// So many words of a question are looked at: all words of all notes are compared with each.
const MOST_WORDS: usize = 3;

/// How a word that no note holds compares with the stems of the notes.
///
/// Both begin with the same letter, since hardly anybody errs in that. They differ in one letter (added, left out, another,
/// or two in the other order), in two where eight letters or more are compared. A stem is compared with the whole word, and with its
/// beginning, since the endings of a word that is spelled wrong are not told.
#[derive(Debug)]
pub struct Spelling {
    word: String,
    letters: usize,
}

impl Spelling {
    /// Takes a folded word; `None` for one that is too short, or has digits.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        let letters = word.chars().count();
        let is_word = letters >= FEWEST_LETTERS && !word.chars().any(char::is_numeric);
        is_word.then(|| Self { word: word.to_owned(), letters })
    }

    /// The first letter.
    #[must_use]
    pub fn first(&self) -> &str {
        self.beginning(1)
    }

    /// How far a stem as it is kept is from the word, the nearest least; `None` where it is too far.
    #[must_use]
    pub fn distance(&self, kept: &str) -> Option<usize> {
        let stem = bare(kept);
        let letters = stem.chars().count();
        let is_near = letters <= self.letters + most(self.letters) && letters + MOST_OF_AN_ENDING >= self.letters;
        if !is_near || !stem.starts_with(self.first()) || stem.chars().any(char::is_numeric) {
            return None;
        }
        if self.letters == FEWEST_LETTERS && sorted(&self.word) != sorted(stem) {
            return None;
        }
        let shortest = if letters < FEWEST_OF_A_STEM { self.letters } else { letters - 1 };
        let ends = (shortest..=letters + 1).filter(|end| *end < self.letters).chain([self.letters]);
        let distances = ends.map(|end| {
            let distance = strsim::osa_distance(self.beginning(end), stem);
            // A beginning says less than the whole.
            (1..=most(end)).contains(&distance).then_some(2 * distance + usize::from(end < self.letters))
        });
        distances.flatten().min()
    }

    /// Its first letters.
    fn beginning(&self, letters: usize) -> &str {
        let end = self.word.char_indices().nth(letters).map_or(self.word.len(), |(at, _)| at);
        self.word.get(..end).unwrap_or_default()
    }
}

/// In how many letters a word of so many, or its beginning, may differ.
fn most(letters: usize) -> usize {
    if letters >= MANY_LETTERS { 2 } else { 1 }
}

/// The letters of a word in the order of the alphabet.
fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// The question that also looks for words of the notes which are spelled like its own; `None` where nothing is to be
/// corrected.
///
/// Nothing is where any note holds any of the words: what notes do not say in these words is mostly right and means
/// something else than the word that is spelled most like it.
pub(super) fn corrected(
    source: &dyn Source,
    question: &Question,
    asking: &Asking<'_>,
) -> Result<Option<Question>, SourceError> {
    for word in question.words() {
        if source.holding(word.stems())? > 0 {
            return Ok(None);
        }
    }
    let mut corrected = None::<Question>;
    for (number, word) in question.words().iter().enumerate().take(MOST_WORDS) {
        asking.check()?;
        if let Some(meant) = source.spelled_like(word.text())? {
            corrected = Some(corrected.as_ref().unwrap_or(question).with(number, meant));
        }
    }
    Ok(corrected)
}

/// A corrected question as it would be typed: what was meant, as it stands in the first text that holds it.
pub(super) fn typed<'t>(
    asked: &Question,
    corrected: &Question,
    texts: impl Iterator<Item = &'t str> + Clone,
) -> String {
    let mut typed = asked.text().to_owned();
    let mut done = typed.len();
    // From the end, so that the bytes before stay where they are; `camelCase` is a word and two, written once.
    for said in asked.said().iter().rev() {
        let Some(number) = said.word else { continue };
        let (Some(old), Some(new)) = (asked.words().get(number), corrected.words().get(number)) else { continue };
        let Some(meant) = new.stems().get(old.stems().len()) else { continue };
        if said.range.end <= done && typed.get(said.range.clone()).is_some() {
            done = said.range.start;
            let word = texts.clone().find_map(|text| form(text, meant));
            typed.replace_range(said.range.clone(), &word.unwrap_or_else(|| bare(meant.as_str()).to_owned()));
        }
    }
    typed
}

/// The first word of a text with a stem.
fn form(text: &str, stem: &Stem) -> Option<String> {
    let mut found = None;
    let languages = Languages::of(text);
    words::each(text, &mut |word, _| {
        if found.is_none() && word.as_bytes().first() == stem.as_str().as_bytes().first() {
            languages.stems(word, &mut |known| {
                if known == stem {
                    found = Some(word.to_owned());
                }
            });
        }
    });
    found
}
