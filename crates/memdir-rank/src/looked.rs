//! [`Looked`]: which words of a question one of the best notes explains, and in which of its parts.

use std::collections::BTreeSet;

use super::Number;
use super::record::{FactWords, Record};
use super::text::{Left, Words, bit};
use super::trail::Way;

/// So many of the best notes are looked at for what they explain.
pub(super) const MOST_LOOKED: usize = 8;
/// Of one note so many different parts count.
const MOST_UNITS: usize = 256;

/// One of the best notes, in words of the question.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Looked {
    /// The note.
    pub note: Number,
    /// Its title, its aliases and its file name.
    pub(super) name: Words,
    /// The same with its tags and its description.
    pub(super) ident: Words,
    pub(super) facts: Vec<Fact>,
    /// Its list items and its paragraphs, each with the headings above it.
    pub(super) units: Vec<Words>,
    pub(super) ways: Vec<Led>,
}

/// A fact of the note.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Fact {
    pub(super) key: Words,
    pub(super) value: Words,
    /// How many words its key has, with those that are not in the question.
    pub(super) key_length: usize,
    /// Whether its value is another note.
    pub(super) is_link: bool,
}

/// A way that led to the note.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Led {
    /// The words that name its first note.
    pub(super) root: Words,
    /// These, and what is said of the links on it.
    pub(super) said: Words,
    /// Whether its first note is named, or is that of the person who asks.
    pub(super) is_meant: bool,
}

impl Looked {
    pub(super) fn new(note: Number, record: &Record, ways: &[Way], counts: &Left, units: &BTreeSet<Words>) -> Self {
        let facts: BTreeSet<Fact> = record.facts.iter().map(Fact::of).collect();
        let led = ways.iter().filter_map(|way| {
            let (root, said) = (taken(counts, &way.root), taken(counts, &way.left));
            // A link of which the question says nothing leads to whatever stands beside a note.
            let is_asked = (said & !root).count_ones() >= u32::from(way.links);
            is_asked.then_some(Led { root, said, is_meant: way.is_meant })
        });
        Self {
            note,
            name: bits(&record.name),
            ident: bits(&record.ident),
            facts: facts.into_iter().collect(),
            units: units.iter().copied().take(MOST_UNITS).collect(),
            ways: led.collect(),
        }
    }
}

impl Fact {
    fn of(words: &FactWords) -> Self {
        let FactWords { key, key_length, value, is_link } = words;
        Self { key: bits(key), value: bits(value), key_length: *key_length, is_link: *is_link }
    }
}

fn bits(words: &[u8]) -> Words {
    words.iter().fold(0, |bits, word| bits | bit(usize::from(*word)))
}

/// The words of which fewer are left than there were.
fn taken(counts: &Left, left: &Left) -> Words {
    let words = counts.iter().zip(left).enumerate().filter(|(_, (count, left))| left < count);
    words.fold(0, |bits, (word, _)| bits | bit(word))
}
