//! A kept conversation.
//!
//! Owns what is kept of it and its form: JSON lines, each with its version. Where they are written is for `vault`.

use serde::{Deserialize, Serialize};

use super::switches::Switches;
use crate::plan::Seen;
use crate::report::Variables;

/// A conversation.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its name: hexadecimal digits.
    pub id: String,
    /// What it may do.
    pub switches: Switches,
    /// What was said before, the oldest first.
    pub exchanges: Vec<Exchange>,
    /// What its model has seen of notes.
    pub seen: Seen,
    /// What its turns have set.
    pub variables: Variables,
}

/// A message and what came of it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Exchange {
    /// Its number in the session, from 1: what is written for it carries it.
    pub number: u64,
    /// What the person said.
    pub message: String,
    /// The message together with those that it answers a question about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// Whether the reply asks what the person means.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unclear: bool,
    /// What was replied.
    pub reply: Option<String>,
    /// What was changed, in a line for the person.
    pub receipt: Option<String>,
}

impl Session {
    /// A conversation that begins.
    #[must_use]
    pub fn new(id: String) -> Self {
        Self { id, ..Self::default() }
    }

    /// The number of the next message.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.exchanges.last().map_or(1, |exchange| exchange.number + 1)
    }
}
