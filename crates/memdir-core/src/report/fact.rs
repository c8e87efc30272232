//! What is known of a fact beside its text: whether it holds now, and who says so.
//!
//! Owns the shapes that `facts --why`, `log --lines` and the page show. All of it is derived each time, from the note and from
//! the history; nothing of it is ever stored in a note.

use serde::{Deserialize, Serialize};

/// Whether a fact holds now.
///
/// Where several would fit, the first of `Superseded`, `Expired`, `Disputed`, `Unconfirmed` counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FactState {
    /// It holds.
    #[default]
    Current,
    /// Its note says that something else has taken its place.
    Superseded,
    /// The time for which it was said to hold is over.
    Expired,
    /// Another line says something else.
    Disputed,
    /// It came from an import or a tool, and no person has confirmed it.
    Unconfirmed,
}

impl FactState {
    /// Whether it belongs to the past: an answer leaves it out unless the past was asked for.
    #[must_use]
    pub fn is_past(self) -> bool {
        matches!(self, Self::Superseded | Self::Expired)
    }
}

impl std::fmt::Display for FactState {
    /// Writes the name on the wire.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(formatter)
    }
}

/// Who wrote a line, the least trusted first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenBy {
    /// A tool of a model, such as one that reads web pages.
    Tool,
    /// An import of other data.
    Import,
    /// A program that uses memdir as a library.
    Program,
    /// A language model.
    Model,
    /// A language model or a program; the person was shown the change and agreed.
    Approved,
    /// Another program than memdir, such as an editor: no batch of the history wrote it.
    Outside,
    /// The person, through memdir.
    You,
}

impl WrittenBy {
    /// Reads the origin of an entry of the audit: `person`, `model`, `program`, `import`, `tool:NAME`. What is none of these is
    /// trusted as little as a tool.
    #[must_use]
    pub fn of_origin(origin: &str) -> Self {
        match origin {
            "person" => Self::You,
            "model" => Self::Model,
            "program" => Self::Program,
            "import" => Self::Import,
            _ => Self::Tool,
        }
    }

    /// Whether a person has to confirm what it wrote.
    #[must_use]
    pub fn needs_confirmation(self) -> bool {
        matches!(self, Self::Tool | Self::Import)
    }
}

impl std::fmt::Display for WrittenBy {
    /// Writes the name on the wire.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(formatter)
    }
}

/// One writing of a line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Writing {
    /// Who wrote it.
    pub by: WrittenBy,
    /// The name of the tool, for [`WrittenBy::Tool`].
    pub tool: Option<String>,
    /// The batch; `None` for [`WrittenBy::Outside`].
    pub batch: Option<u64>,
    /// When it was committed, RFC 3339 in UTC; `None` for [`WrittenBy::Outside`].
    pub time: Option<String>,
    /// How it came in, as in [`super::LogEntry`].
    pub door: Option<String>,
    /// The program that asked for it.
    pub client: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// The number of the message in the conversation.
    pub message: Option<String>,
}

/// A person's word that a line still holds. No note is changed by it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Confirmation {
    /// When, RFC 3339 in UTC.
    pub time: String,
    /// How it came in.
    pub door: String,
    /// The program through which it came.
    pub client: Option<String>,
}

/// A value that stood in a line before.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FormerValue {
    /// What it said: the value of the fact, or the whole line where the line states no fact.
    pub value: String,
    /// When it was written; `None` where nobody knows.
    pub written: Option<String>,
    /// When it was replaced; `None` where nobody knows.
    pub replaced: Option<String>,
}

/// Where a line, or the fact in it, comes from, as far as the history knows. All is empty in a note that it does not know.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Provenance {
    /// The first writing: of the line, or of another value of the fact in its place.
    pub first_written: Option<Writing>,
    /// The writing that made it what it is now.
    pub last_written: Option<Writing>,
    /// The last time that a person confirmed it as it is now.
    pub last_confirmed: Option<Confirmation>,
    /// The least trusted of those it was made by; a write or a confirmation of the person's makes it `you`.
    pub trust: Option<WrittenBy>,
    /// What the person had said right before it was last written, where the conversation is kept.
    pub words: Option<String>,
    /// What it replaced, the newest first, as far as contents are kept.
    pub replaced: Vec<FormerValue>,
}

impl Provenance {
    /// Whether it came from an import or a tool, and nobody has confirmed it since.
    #[must_use]
    pub fn is_unconfirmed(&self) -> bool {
        self.trust.is_some_and(WrittenBy::needs_confirmation)
    }
}
