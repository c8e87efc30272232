//! [`Fit`]: whether a note fits a message that may ask nothing of the memory.
//!
//! Most messages share some word with some note. A note fits when the message names it, names one of its facts, or says
//! several of the words of one of its paragraphs. A rare word counts for more than one that many notes hold, and whoever speaks of
//! themselves is taken to mean their notes sooner.

use crate::wanted::{Wanted, without_extension};
use memdir_core::path::MemoryPath;
use memdir_note::stem::Languages;
use memdir_note::{Fact, Note};
use memdir_rank::{Bm25, Question};

/// What finding a word says is counted from 0 to 1, the most for one that hardly any note holds. So much a name or a key has to
/// say, so much the words of a paragraph, and so much a single word, of somebody who speaks of themselves and in a question that
/// has few words.
const NAMED: f64 = 0.5;
const SAID: f64 = 1.1;
const SAID_OF_ONESELF: f64 = 0.6;
const SAID_ALONE: f64 = 0.75;
/// In a memory of fewer notes words count as they would in one of so many.
const FEW_NOTES: usize = 100;
/// So much of what all words of a short message say a paragraph has to hold.
const OF_FEW: f64 = 0.5;
/// A message of at most so many words is short, or may be a question and nothing else; for each time that it has so many words a paragraph has to hold one more.
const FEW_WORDS: usize = 2;
const QUESTION_WORDS: usize = 6;
const WORDS_FOR_ONE_MORE: usize = 12;

/// A message, and what finding its words says.
pub(crate) struct Fit {
    wanted: Wanted,
    /// From 0 to 1, by word.
    weights: Vec<f64>,
    is_first_person: bool,
    /// The words that are written as names, as bits.
    names: u64,
}

impl Fit {
    /// `weights` says how much finding each word among so many notes says.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer notes than 2^52")]
    pub(crate) fn new(question: &Question, weights: &[f64], notes: usize) -> Self {
        // Where there are few notes a word is not common because two of them hold it.
        let more = ((notes.max(FEW_NOTES) + 1) as f64 / (notes + 1) as f64).ln();
        let rarest = Bm25::new(notes, 0.0, &[0]).weight(0) + more;
        let weights = weights.iter().map(|weight| ((weight + more) / rarest).clamp(0.0, 1.0)).collect();
        Self {
            wanted: Wanted::of(question.words()),
            weights,
            is_first_person: question.is_first_person(),
            names: question.written_as_names(),
        }
    }

    /// Whether a note fits the message.
    pub(crate) fn fits(&self, path: &MemoryPath, text: &str) -> bool {
        let (note, languages) = (Note::parse(text), Languages::of(text));
        self.names(path, &note, languages)
            || note.facts().iter().any(|fact| self.is_about(fact, languages))
            || text
                .split("\n\n")
                .flat_map(|part| part.split("\r\n\r\n"))
                .any(|paragraph| self.says(self.wanted.held(paragraph, languages)))
    }

    /// Whether the message names the note.
    fn names(&self, path: &MemoryPath, note: &Note<'_>, languages: Languages) -> bool {
        // Who is in many notes is still named by their name.
        let names = |text: &str| {
            let held = self.wanted.held(&without_numbers(text), languages);
            held & self.names != 0 || self.worth(held) >= NAMED
        };
        names(without_extension(path))
            || note.headings().first().is_some_and(|heading| names(&heading.text))
            || note.front_values("aliases").iter().any(|alias| names(alias))
    }

    /// Whether the message names the fact.
    fn is_about(&self, fact: &Fact, languages: Languages) -> bool {
        let key = self.wanted.held(&fact.key, languages);
        let whole = key | self.wanted.held(&fact.value, languages);
        self.worth(key) >= NAMED && (self.is_first_person || whole.count_ones() > 1)
    }

    /// Whether the words that a paragraph holds are enough of the message.
    fn says(&self, held: u64) -> bool {
        let (words, worth) = (self.weights.len(), self.worth(held));
        if words <= FEW_WORDS {
            return worth > 0.0 && worth >= OF_FEW * self.weights.iter().sum::<f64>();
        }
        let more = words / WORDS_FOR_ONE_MORE;
        #[expect(clippy::cast_precision_loss, reason = "a message has few words")]
        let is_said = held.count_ones() as usize >= 2 + more && worth >= SAID + 0.5 * more as f64;
        let alone = if self.is_first_person { SAID_OF_ONESELF } else { SAID_ALONE };
        is_said || (worth >= alone && (self.is_first_person || words <= QUESTION_WORDS))
    }

    fn worth(&self, held: u64) -> f64 {
        self.weights.iter().enumerate().filter(|(word, _)| held >> word & 1 == 1).map(|(_, weight)| weight).sum()
    }
}

/// A name without its numbers: those of a diary name no note to somebody who counts.
fn without_numbers(text: &str) -> String {
    text.chars().map(|letter| if letter.is_numeric() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: (&str, &str) = ("user.md", "# Me\n\n- dentist: [[grace]]\n- colour: blue\n");
    const GRACE: (&str, &str) =
        ("people/grace_hopper.md", "# Grace Hopper\n\n- phone: 0761 555\n\nShe fixes teeth gently.\n");
    const DIARY: (&str, &str) = ("diary/2026-03-05.md", "# 5 March\n\nBread, a test of the oven and a broken lamp.\n");

    /// Whether a note fits where each word of the message is in so many of forty notes.
    #[track_caller]
    fn check(message: &str, (path, text): (&str, &str), holding: usize, expected: bool) {
        let question = Question::of(message).unwrap();
        let holding = vec![holding; question.words().len()];
        let bm25 = Bm25::new(40, 0.0, &holding);
        let weights: Vec<f64> = (0..holding.len()).map(|word| bm25.weight(word)).collect();
        let fits = Fit::new(&question, &weights, 40).fits(&MemoryPath::parse(path).unwrap(), text);
        assert_eq!(fits, expected, "{message}: {path}, {holding:?}");
    }

    #[test]
    fn a_note_fits_a_message_that_names_it_or_a_fact_or_says_its_words() {
        check("write to grace that I will be late tomorrow", GRACE, 2, true);
        check("please do not forget Grace when inviting everybody", GRACE, 30, true);
        check("please do not forget grace when inviting everybody", GRACE, 30, false);
        check("cancel the appointment with my dentist next week please", USER, 2, true);
        check("cancel the appointment with the dentist next week please", USER, 2, false);
        check("who fixes teeth", GRACE, 2, true);
        check("bake bread in the oven with whatever flour is around here today", DIARY, 2, true);
    }

    #[test]
    fn a_note_does_not_fit_for_a_word_that_happens_to_stand_in_it() {
        check("run the failing test of the parser once more with all features", DIARY, 2, false);
        check("make the button in the header blue and a little larger please", USER, 2, false);
        check("sort these numbers: 5 3 9 1, then print all of them backwards", DIARY, 2, false);
        check("thanks, go on", DIARY, 0, false);
    }
}
