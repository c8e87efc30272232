//! [`Stem`]: the form under which all inflected forms of a word are found, in the languages that a note is written in.
//!
//! A note is written in one language, and its words are stemmed in that one. A question does not say which language it
//! means, so its words are stemmed in every language that there is: a word of a note is always found by itself, and by its
//! other forms where the note's language has them. Touches nothing but text.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use snowstem::{Algorithm, Stemmer};
use whichlang::Lang;

use crate::front::Fences;

/// A longer word has no stem.
const MOST_BYTES: usize = 40;
const FEWEST_BYTES: usize = 3;
/// So much of a note is looked at to tell its language: of 401 longer notes none is taken for another one than by 1,500 bytes,
/// of which telling took a fifth of the time of building an index.
const SAMPLE_BYTES: usize = 600;
/// A text with fewer letters may be taken for another language than it is in: English is assumed beside the one that it
/// looks like, and instead of it where hardly anything is said.
const FEW_LETTERS: usize = 200;
const FEWEST_LETTERS: usize = 24;
/// The stem of a word in another language than English ends in a character that no word has, one for each language.
const FIRST_MARK: u32 = 0xe100;

/// A language whose words are stemmed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum Language {
    /// English, and what is taken for it: all that looks like none of the others.
    #[default]
    English,
    /// Dutch.
    Dutch,
    /// French.
    French,
    /// German.
    German,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Russian.
    Russian,
    /// Spanish.
    Spanish,
    /// Swedish.
    Swedish,
    /// Turkish.
    Turkish,
}

/// The languages that a text may be written in: one, or for a short text English beside what it looks like.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Languages {
    likely: Language,
    is_short: bool,
}

/// The form under which the forms of a folded word are found; two stems are equal where one language makes one of two words.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Stem(String);

impl Language {
    const ALL: [Self; 10] = [
        Self::English,
        Self::Dutch,
        Self::French,
        Self::German,
        Self::Italian,
        Self::Portuguese,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Turkish,
    ];

    fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            // The newer algorithm cuts at the front too, and a stem begins as its word does.
            Self::Dutch => Algorithm::DutchPorter,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Turkish => Algorithm::Turkish,
        }
    }

    fn mark(self) -> Option<char> {
        let number = u32::try_from(Self::ALL.iter().position(|language| *language == self)?).ok()?;
        (number > 0).then(|| char::from_u32(FIRST_MARK + number)).flatten()
    }
}

impl Languages {
    /// Tells the language of a note by the beginning of its body. Of a short text it is a guess.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let body = Fences::of(text).and_then(|fences| text.get(fences.yaml.end + "---".len()..)).unwrap_or(text);
        let sample = body.get(..body.floor_char_boundary(SAMPLE_BYTES)).unwrap_or_default();
        let likely = match whichlang::detect_language(sample) {
            Lang::Deu => Language::German,
            Lang::Fra => Language::French,
            Lang::Ita => Language::Italian,
            Lang::Nld => Language::Dutch,
            Lang::Por => Language::Portuguese,
            Lang::Rus => Language::Russian,
            Lang::Spa => Language::Spanish,
            Lang::Swe => Language::Swedish,
            Lang::Tur => Language::Turkish,
            // Words of Latin letters in notes of other scripts are mostly English.
            Lang::Ara | Lang::Cmn | Lang::Eng | Lang::Hin | Lang::Jpn | Lang::Kor | Lang::Vie => Language::English,
        };
        let letters = sample.chars().filter(|character| character.is_alphabetic()).take(FEW_LETTERS).count();
        let likely = if letters < FEWEST_LETTERS { Language::English } else { likely };
        Self { likely, is_short: letters < FEW_LETTERS }
    }

    /// Gives the stems under which a note in these languages holds a folded word: one or two.
    pub fn stems(self, word: &str, found: &mut impl FnMut(&Stem)) {
        let likely = Stem::of(word, self.likely);
        found(&likely);
        if self.is_short && self.likely != Language::English {
            let english = Stem::of(word, Language::English);
            if english != likely {
                found(&english);
            }
        }
    }
}

impl Stem {
    /// The stem of a folded word in a language; it begins with the same byte. A word with digits, of another script, or
    /// that nobody says is its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_note::stem::{Language, Stem};
    ///
    /// let stem = |word| Stem::of(word, Language::English);
    /// assert_eq!(stem("collaborated"), stem("collaborates"));
    /// assert_ne!(stem("collaborated"), Stem::of("collaborated", Language::German));
    /// assert_eq!(Stem::of("katzen", Language::German), Stem::of("katze", Language::German));
    /// ```
    #[must_use]
    pub fn of(word: &str, language: Language) -> Self {
        let letters: Range<char> = if language == Language::Russian { 'а'..'ѐ' } else { 'a'..'{' };
        let is_latin_word = (FEWEST_BYTES..=MOST_BYTES).contains(&word.len());
        if !is_latin_word || !word.chars().all(|letter| letters.contains(&letter) || is_dotless(letter, language)) {
            return Self(word.to_owned());
        }
        let stemmer = Stemmer::create(language.algorithm());
        let mut stem = stemmer.stem(word).into_owned();
        // In some languages what is left has an ending itself: `ciudades`, `ciudad`, `ciud`.
        loop {
            let shorter = if language == Language::English { None } else { Some(stemmer.stem(&stem)) };
            let Some(shorter) = shorter.filter(|shorter| shorter.len() < stem.len()) else { break };
            stem = shorter.into_owned();
        }
        // No word is all ending.
        if stem.is_empty() {
            word.clone_into(&mut stem);
        }
        stem.extend(language.mark());
        Self(stem)
    }

    /// The stems of a folded word in all languages, each once: under one of them any note holds it.
    #[must_use]
    pub fn forms(word: &str) -> Vec<Self> {
        let mut forms: Vec<Self> = Vec::with_capacity(Language::ALL.len());
        for stem in Language::ALL.map(|language| Self::of(word, language)) {
            if !forms.contains(&stem) {
                forms.push(stem);
            }
        }
        forms
    }

    /// A stem that was kept as [`Stem::as_str`] gives it.
    #[must_use]
    pub fn kept(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The stem as it is kept.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The stem of a folded English word, for those who compare words that were all said in English.
#[must_use]
pub fn english(word: &str) -> String {
    Stem::of(word, Language::English).0
}

/// The letters of a kept stem, without what says of which language it is.
#[must_use]
pub fn bare(kept: &str) -> &str {
    kept.trim_end_matches(|character| (FIRST_MARK..FIRST_MARK + 0x100).contains(&u32::from(character)))
}

/// The one letter of Turkish that folding leaves apart.
fn is_dotless(letter: char, language: Language) -> bool {
    language == Language::Turkish && letter == 'ı'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Language, Languages, Stem, bare};

    #[track_caller]
    fn check(language: Language, forms: &[&str]) {
        let stems: Vec<_> = forms.iter().map(|form| Stem::of(form, language)).collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        check(Language::English, &["collaborate", "collaborates", "collaborated", "collaborating"]);
        check(Language::English, &["university", "universities"]);
        check(Language::German, &["katze", "katzen"]);
        check(Language::German, &["haus", "hauser"]);
        check(Language::Spanish, &["ciudad", "ciudades"]);
        check(Language::Portuguese, &["gato", "gatos"]);
        check(Language::Russian, &["книга", "книги"]);
    }

    #[test]
    fn what_is_no_word_of_the_language_is_its_own() {
        for word in ["is", "gpt4s", "москвы", "猫", "caffè", &"a".repeat(41)] {
            assert_eq!(Stem::of(word, Language::English).as_str(), word);
        }
        assert_eq!(bare(Stem::of("katzen", Language::German).as_str()), "katz");
    }

    #[test]
    fn the_language_of_a_note_is_told_by_its_text() {
        let text = "---\ntitle: Notes\n---\nWir haben zwei Katzen und einen Hund, der gern im Garten liegt.\n";
        assert_eq!(Languages::of(text), Languages { likely: Language::German, is_short: true });
        let text = "Mi hermana vive en Lima con sus tres hijos y trabaja en una librería del centro. ".repeat(4);
        assert_eq!(Languages::of(&text), Languages { likely: Language::Spanish, is_short: false });
        assert_eq!(Languages::of("").likely, Language::English);
    }

    proptest! {
        /// Whatever language a note is taken for, it holds each of its words under a stem that a question asks for.
        #[test]
        fn a_word_finds_itself(word in "[a-zа-яı]{1,14}|[a-z]{1,10}(ee|ase|ity|ies|ss|e|en|os|as)", text in ".{0,60}") {
            let forms = Stem::forms(&word);
            Languages::of(&text).stems(&word, &mut |stem| assert!(forms.contains(stem), "{word}: {stem:?}"));
            for language in Language::ALL {
                prop_assert!(forms.contains(&Stem::of(&word, language)));
            }
        }

        /// Who looks for a stem need not stem each word of a text.
        #[test]
        fn stems_begin_as_their_words(word in "[a-z]{1,12}|[а-я]{1,9}|[aeiouy]{0,2}[sy](ing|ied|ed|s|ly|ies)") {
            for stem in Stem::forms(&word) {
                prop_assert_eq!(stem.as_str().as_bytes().first(), word.as_bytes().first());
            }
        }
    }
}
