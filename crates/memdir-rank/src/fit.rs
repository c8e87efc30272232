//! [`Fit`]: whether the best notes hold what a question asks for, and whether one fits a message that may ask nothing.
//!
//! Both are decided by the same evidence: which words of the question a note explains by its name, by the links that
//! lead to it, by one of its facts or by one of its paragraphs. A rare word counts for more than one that many notes
//! hold.

use super::looked::{Fact, Led, Looked};
use super::text::{Words, bit};
use super::{Bm25, MOST_WORDS, Question};
use memdir_note::words::is_unspaced;

/// What finding a word says is counted from 0 to 1, the most for one that hardly any note holds. So much a name or a key has to
/// say, so much the words of a paragraph, and so much a single word, of somebody who speaks of themselves and in a question that
/// has few words.
const NAMED: f64 = 0.5;
const SAID: f64 = 1.1;
const SAID_OF_ONESELF: f64 = 0.6;
const SAID_ALONE: f64 = 0.75;
/// A word that says less stands in so many notes that it finds none.
const RARE: f64 = 0.23;
/// In a memory of fewer notes words count as they would in one of so many.
const FEW_NOTES: usize = 100;
/// So much of what all words of a short message say a paragraph has to hold.
const OF_FEW: f64 = 0.5;
/// A message of at most so many words is short, or may be a question and nothing else; for each time that it has so many words a paragraph has to hold one more.
const FEW_WORDS: usize = 2;
const QUESTION_WORDS: usize = 6;
const WORDS_FOR_ONE_MORE: usize = 12;

/// Less than this missing from an answer says nothing: it may say the same in another word.
const MISSING: f64 = 0.85;
/// Of what is asked about something that is known, less than this part and this much is explained where nothing is known of it.
const OF_ASKED: f64 = 0.3;
const ASKED: f64 = 0.5;
/// The same of a question about nothing that is known; so much, in more than [`FEW_WORDS`] words, is enough of a long one.
const OF_ALL: f64 = 0.45;
const ALL: f64 = 1.0;
/// Of the words of a key, this part has to be in the question.
const OF_KEY: f64 = 0.5;

/// A question or a message, and what finding its words says.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// From 0 to 1, by word.
    weights: Vec<f64>,
    is_first_person: bool,
    /// The words that are written as names, and those that are numbers.
    names: Words,
    numbers: Words,
    /// Whether it is in a script without blanks, of whose words most stand across two that are meant.
    is_unspaced: bool,
}

/// What the best notes explain of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Explained {
    /// The words that name what the question is about: notes, and how they are linked.
    about: Words,
    /// These, and what one part of that note says.
    all: Words,
    /// Whether the question asks for a fact by its key.
    is_key: bool,
}

impl Fit {
    /// `weights` says how much finding each word among so many notes says, as [`super::Answer::weights`].
    #[expect(clippy::cast_precision_loss, reason = "there are fewer notes than 2^52")]
    pub(super) fn new(question: &Question, weights: &[f64], notes: usize) -> Self {
        // Where there are few notes a word is not common because two of them hold it.
        let more = ((notes.max(FEW_NOTES) + 1) as f64 / (notes + 1) as f64).ln();
        let rarest = Bm25::new(notes, 0.0, &[0]).weight(0) + more;
        let weights = weights.iter().map(|weight| ((weight + more) / rarest).clamp(0.0, 1.0));
        let words = || question.words().iter().map(super::Word::text).enumerate();
        let numbers = words().filter(|(_, word)| word.chars().all(char::is_numeric));
        Self {
            weights: weights.take(MOST_WORDS).collect(),
            is_first_person: question.is_first_person(),
            names: question.written_as_names(),
            numbers: numbers.fold(0, |bits, (word, _)| bits | bit(word)),
            is_unspaced: words().any(|(_, word)| word.chars().any(is_unspaced)),
        }
    }

    /// Whether a note fits a message that may ask nothing of the memory: most messages share some word with some note.
    ///
    /// One fits when the message names it, names one of its facts, or says several of the words of one of its paragraphs.
    /// Whoever speaks of themselves is taken to mean their notes sooner.
    #[must_use]
    pub fn fits(&self, note: &Looked) -> bool {
        self.names(note.name & !self.numbers)
            || note.facts.iter().any(|fact| self.is_about(*fact))
            || note.units.iter().any(|held| self.says(*held))
    }

    /// The words of the question that nothing explains and that are not among the `held` ones, which the notes that are shown hold, as bits
    /// by their order, where nothing is known of what it asks; `None` where the best notes may hold it.
    ///
    /// A question that names something is answered by what is said of just that. What it leaves unexplained may stand there
    /// in other words, so this is a guess: it is made where hardly anything of what was asked is there.
    #[must_use]
    pub fn unknown(&self, best: &[Looked], held: Words) -> Option<Words> {
        let Explained { about, all, is_key } = self.explained(best);
        let missing = self.every() & !all;
        // Who asks for two things finds each of them in a note of its own.
        let (unsaid, elsewhere) = (missing & !held, missing & held & !self.numbers);
        let is_elsewhere =
            self.worth(elsewhere) >= SAID_ALONE || best.iter().any(|note| self.names(note.name & elsewhere));
        let said = self.worth(all);
        let asked = self.worth(all & !about);
        let is_unknown = match () {
            () if said <= 0.0 => true,
            () if self.is_unspaced || is_key || is_elsewhere || self.worth(unsaid) < MISSING => false,
            () if about != 0 => asked < ASKED && asked < OF_ASKED * self.worth(self.every() & !about),
            () => {
                let is_much = said >= ALL && all.count_ones() as usize > FEW_WORDS;
                !is_much && said < OF_ALL * self.worth(self.every())
            }
        };
        is_unknown.then_some(unsaid)
    }

    /// Whether finding a word says that a note may be meant: the other words stand in a great part of all notes.
    pub(super) fn is_rare(&self, word: usize) -> bool {
        self.weights.get(word).is_some_and(|weight| *weight >= RARE)
    }

    /// What one of the notes explains the best.
    fn explained(&self, notes: &[Looked]) -> Explained {
        let roots = notes.iter().flat_map(|note| note.ways.iter().map(|way| way.root).chain([note.name]));
        let names = roots.fold(0, |names, root| names | root);
        let (mut best, mut most) = (Explained::default(), [f64::NEG_INFINITY; 4]);
        let none = [Led { root: 0, said: 0, is_meant: false }];
        for note in notes {
            let units = note.units.iter().map(|unit| (*unit, 0, 0)).chain([(0, 0, 0)]);
            let facts = note.facts.iter().map(|fact| {
                // The key of a link says how two notes are linked, and is no answer itself.
                let is_asked =
                    f64::from(fact.key.count_ones()) >= OF_KEY * fact.key_length as f64 && fact.key_length > 0;
                let (link, key) = if fact.is_link { (fact.key, 0) } else { (0, fact.key) };
                (fact.key | fact.value, link, if is_asked { key } else { 0 })
            });
            for (unit, link, key) in units.chain(facts) {
                for way in if note.ways.is_empty() { &none[..] } else { &note.ways } {
                    let about = way.said | note.name | (unit & names) | link;
                    let all = about | unit | note.ident;
                    let is_of = about != 0 || (way.is_meant && self.is_first_person);
                    let is_key = is_of && self.worth(key & !about) >= NAMED;
                    let much =
                        [self.worth(all & names), f64::from(u8::from(is_key)), self.worth(all), self.worth(about)];
                    if much.partial_cmp(&most).is_some_and(std::cmp::Ordering::is_gt) {
                        (best, most) = (Explained { about, all, is_key }, much);
                    }
                }
            }
        }
        best
    }

    /// Whether the words of a name are enough of it. Who is in many notes is still named by their name.
    fn names(&self, held: Words) -> bool {
        held & self.names != 0 || self.worth(held) >= NAMED
    }

    /// Whether the message names the fact.
    fn is_about(&self, fact: Fact) -> bool {
        self.worth(fact.key) >= NAMED && (self.is_first_person || (fact.key | fact.value).count_ones() > 1)
    }

    /// Whether the words that a paragraph holds are enough of the message.
    fn says(&self, held: Words) -> bool {
        let (words, worth) = (self.weights.len(), self.worth(held));
        if words <= FEW_WORDS {
            return worth > 0.0 && worth >= OF_FEW * self.worth(self.every());
        }
        let more = words / WORDS_FOR_ONE_MORE;
        #[expect(clippy::cast_precision_loss, reason = "a message has few words")]
        let is_said = held.count_ones() as usize >= 2 + more && worth >= SAID + 0.5 * more as f64;
        let alone = if self.is_first_person { SAID_OF_ONESELF } else { SAID_ALONE };
        is_said || (worth >= alone && (self.is_first_person || words <= QUESTION_WORDS))
    }

    fn every(&self) -> Words {
        (0..self.weights.len()).fold(0, |bits, word| bits | bit(word))
    }

    fn worth(&self, held: Words) -> f64 {
        self.weights.iter().enumerate().filter(|(word, _)| held >> word & 1 == 1).map(|(_, weight)| weight).sum()
    }
}
