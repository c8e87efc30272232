//! Text that a model wrote, read into calls, and the answer to it.
//!
//! Owns the ways in which calls are written and every leniency towards them ([`Repair`]). Touches text, JSON values
//! and the catalog. Never fails, never evaluates anything, and never guesses content: what could change the meaning
//! of a call is refused as an [`Unread`] that says how to write it.

use std::borrow::Cow;

use serde::Serialize;

use crate::action::Call;
use crate::report::{Failure, Issue, Report};

mod block;
mod call;
mod json;
mod native;
mod repair;
mod tag;

pub use repair::Repair;

/// A way of writing calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Dialect {
    /// `<think>`, `<actions>` with a JSON list, `<reply>`.
    Native,
}

/// What a text says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Parsed {
    /// The way in which it was written; the answer takes the same.
    pub dialect: Dialect,
    /// Its calls, in the order of the text; each one's `index` is its place in this list, from 1.
    pub entries: Vec<Entry>,
    /// What it says to the person.
    pub reply: Option<String>,
    /// What was mended, noticed or left aside.
    pub issues: Vec<Issue>,
}

/// One call of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Entry {
    /// A call that can be reviewed.
    Call(Call),
    /// A call that cannot be read, or may not run as it stands.
    Unread(Unread),
}

/// A call that cannot be read, or may not run as it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unread {
    /// Its place among the calls of the text, from 1.
    pub index: usize,
    /// The action that it named, if it named one.
    pub action: Option<String>,
    /// Its path as the model wrote it.
    pub path: Option<String>,
    /// The name that its result would get.
    pub label: Option<String>,
    /// What is wrong, and what to send instead.
    pub failure: Failure,
}

impl Parsed {
    /// Whether the text holds neither a call nor a reply.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.reply.is_none()
    }
}

/// Reads what a model wrote.
///
/// Never fails: what cannot be read is an [`Unread`] in its place, or an issue. Only calls outside thoughts,
/// replies, quotes and examples count. A call that writes is an [`Entry::Call`] only when the list that holds it is
/// whole and every text in it was closed by the model. Spans count bytes of `input`, or of its lossy decoding
/// where it is no UTF-8.
///
/// The work is linear in the length of `input`, whatever stands in it.
///
/// # Examples
///
/// ```
/// use memdir::dialect::{Entry, parse};
///
/// let parsed = parse(b"<actions>[{\"action\":\"read_file\",\"path\":\"user.md\"},]</actions><reply>One moment.</reply>");
/// assert!(matches!(parsed.entries.as_slice(), [Entry::Call(call)] if call.action.name() == "read_file"));
/// assert_eq!(parsed.reply.as_deref(), Some("One moment."));
/// assert_eq!(parsed.issues[0].message, "a comma before `]` was ignored");
/// ```
#[must_use]
pub fn parse(input: &[u8]) -> Parsed {
    let text = String::from_utf8_lossy(input);
    native::parse(&text, matches!(text, Cow::Owned(_)))
}

/// Writes the answer to a text in the dialect in which it came.
///
/// The text of a note can neither end the answer nor be taken for actions where the answer is repeated: the `<` of
/// each tag in it is written as `\u003c`, which is the same JSON.
#[must_use]
pub fn encode(dialect: Dialect, report: &Report) -> String {
    match dialect {
        Dialect::Native => native::encode(report),
    }
}

#[cfg(test)]
mod tests;
