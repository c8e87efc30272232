//! What each sentence of a message is.
//!
//! Owns how the model is asked that, in one word: only sentences that tell something new can change notes, and only those that ask for it can take
//! something away.

use super::{Correction, request, shape};
use crate::{prompt, sentence};
use memdir_model::Request;
use memdir_model::grammar::one_of;
use serde_json::json;

/// How many tokens the word may have, also where a server wraps it in JSON.
const MAX_TOKENS: u32 = 24;
/// More sentences are taken together.
const MOST_SENTENCES: usize = 16;
/// A sentence of fewer words, such as a title before a name, is taken together with the next one.
const LEAST_WORDS: usize = 2;
/// How likely the word must be, in thousandths, for a sentence to count as chat, and as one that removes something. Of 210 sentences of two suites of
/// strangers the facts that the 1.5B took for chat had at most 699, but for two remarks on somebody; small talk and questions about the world had
/// at least 808. What it took wrongly for a removal had 442 and 561, what it took rightly for one at least 685.
const SURE_OF_CHAT: u16 = 700;
const SURE_OF_REMOVAL: u16 = 600;

/// What a sentence is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// It asks for something that notes may have.
    Ask,
    /// It tells something about the person's life.
    Tell,
    /// It wants something taken out of the notes.
    Remove,
    /// It is none of these.
    Chat,
}

impl Kind {
    const ALL: [(&'static str, Self); 4] =
        [("ask", Self::Ask), ("tell", Self::Tell), ("remove", Self::Remove), ("chat", Self::Chat)];

    /// The kind that a model named; what cannot be read changes nothing.
    #[must_use]
    pub fn read(written: &str) -> Self {
        let word = written.trim().split(|one: char| !one.is_alphabetic()).next().unwrap_or_default().to_lowercase();
        Self::ALL.iter().find(|(name, _)| *name == word).map_or(Self::Ask, |(_, kind)| *kind)
    }
}

/// A message by its sentences.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sorted(pub Vec<(String, Kind)>);

impl Sorted {
    /// A message of which the model has named the kind of each sentence, with how likely that word was.
    pub(super) fn by(sentences: Vec<(String, Kind, u16)>) -> Self {
        let asks = sentences.iter().any(|(_, kind, _)| *kind == Kind::Ask);
        let settled = |(sentence, kind, chance)| {
            let kind = match kind {
                Kind::Remove if chance < SURE_OF_REMOVAL => Kind::Ask,
                // What stands beside a question mostly says why it is asked.
                Kind::Chat if chance < SURE_OF_CHAT && !asks => Kind::Tell,
                Kind::Ask | Kind::Tell | Kind::Remove | Kind::Chat => kind,
            };
            (sentence, kind)
        };
        Self(sentences.into_iter().map(settled).collect())
    }

    /// How many sentences want something removed: so many lines may go.
    #[must_use]
    pub fn removals(&self) -> usize {
        self.0.iter().filter(|(_, kind)| *kind == Kind::Remove).count()
    }

    /// Whether something is asked.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.has(Kind::Ask)
    }

    /// Whether notes may change.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.has(Kind::Tell) || self.has(Kind::Remove)
    }

    /// This, with the answer to a question about it: what is said there is a part of what was told.
    pub(super) fn completed(mut self, answer: Self) -> Self {
        let kind = if self.has(Kind::Remove) { Kind::Remove } else { Kind::Tell };
        let part = |(said, other)| (said, if other == Kind::Chat { kind } else { other });
        self.0.extend(answer.0.into_iter().map(part));
        self
    }

    /// Whether a sentence is of a kind.
    #[must_use]
    pub fn has(&self, kind: Kind) -> bool {
        self.0.iter().any(|(_, other)| *other == kind)
    }

    /// The sentences of a kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> String {
        self.each(kind).collect::<Vec<_>>().join(" ")
    }

    /// Each sentence of a kind.
    pub(super) fn each(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(_, other)| *other == kind).map(|(sentence, _)| sentence.as_str())
    }

    /// Takes out the sentence that puts something right, and gives what is told beside it: mostly how the mistake came about. What is asked, and what is
    /// to be removed, stays.
    pub(super) fn beside(&mut self, correction: &Correction) -> Vec<String> {
        if let Some(at) = self.0.iter().position(|(sentence, _)| correction.is_in(sentence)) {
            self.0.remove(at);
        }
        self.0.extract_if(.., |(_, kind)| *kind == Kind::Tell).map(|(sentence, _)| sentence).collect()
    }
}

/// The sentences of a message, without blanks around them.
pub(super) fn sentences(message: &str) -> Vec<String> {
    let mut sentences = Vec::<String>::new();
    let mut is_open = false;
    for range in sentence::of(message) {
        let next = message.get(range).unwrap_or_default().trim();
        let all = sentences.len();
        match sentences.last_mut().filter(|_| is_open || all == MOST_SENTENCES) {
            Some(last) => *last = format!("{last} {next}"),
            None => sentences.push(next.to_owned()),
        }
        let mut words = 0;
        memdir_note::words::each(sentences.last().map_or("", String::as_str), &mut |_, _| words += 1);
        is_open = words < LEAST_WORDS;
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// How a small model is asked what a sentence is.
pub(super) fn sort(prompt: &str, sentence: &str) -> Request {
    let names = Kind::ALL.map(|(name, _)| name);
    let kind = json!({"kind": {"enum": names}});
    let (system, messages) = prompt::examples(prompt);
    let told = prompt::fenced(sentence).into_owned();
    request((system.to_owned(), messages), told, Some(shape(one_of(&names), &kind)), MAX_TOKENS)
}
