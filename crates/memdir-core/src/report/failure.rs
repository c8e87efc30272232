//! Why something was not done: the closed list of codes, and the words that go with one.

use serde::Serialize;

use crate::action::Action;
use crate::digest::Digest;

/// The closed list of reasons why something was not done; its name on the wire is the snake_case of the variant.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the contract's and say it; `meaning` has the words")]
pub enum Code {
    ContentNotFound,
    AmbiguousMatch,
    InvalidAction,
    UnknownAction,
    AlreadyExists,
    Conflict,
    InvalidPath,
    OutsideMemory,
    PermissionRequired,
    AwaitingApproval,
    Denied,
    NotFound,
    IsADirectory,
    NotADirectory,
    NotText,
    UnsupportedFile,
    NotEmpty,
    TooLarge,
    QuotaExceeded,
    LinkNotFound,
    AmbiguousLink,
    HeadingNotFound,
    AmbiguousHeading,
    InvalidPattern,
    BatchAborted,
    NoActions,
    NothingToUndo,
    ReadOnly,
    NoWriteAccess,
    Busy,
    DiskFull,
    Unavailable,
    RateLimited,
    Cancelled,
    Timeout,
    Io,
    Usage,
    Internal,
    Config,
    Damaged,
    ModelUnreachable,
    ToolFailed,
}

impl Code {
    /// Whether the call was not allowed or has to wait, rather than failed.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::PermissionRequired | Self::AwaitingApproval | Self::Denied)
    }
}

impl std::fmt::Display for Code {
    /// Writes the name on the wire.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(formatter)
    }
}

/// Why a call, or a whole command, was not done, in words that a model can act on.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Failure {
    /// The closed code.
    pub code: Code,
    /// One lower-case sentence without a path of the host.
    pub message: String,
    /// What to send instead.
    pub hint: Option<String>,
    /// Keys that only some codes have.
    #[serde(flatten)]
    pub details: Box<Details>,
}

/// The keys that some codes add to a [`Failure`].
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Details {
    /// With `content_not_found`: the block that comes closest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closest: Option<Closest>,
    /// With `content_not_found` and `conflict`: the digest of the note as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// With `content_not_found`: the call again, corrected; with `not_found` on `set_fact`: the call that makes the note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// With `ambiguous_match`: the lines of all places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<usize>>,
    /// With `conflict` on `write_file`: the note as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// With `conflict` on an undo: the later change that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// With `awaiting_approval`: the number of the proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// With `awaiting_approval`: the number that it has for the person, where the client counts its own.
    #[serde(skip)]
    pub waiting: Option<u64>,
    /// With `awaiting_approval`: the call reads what the proposal would change, and is no part of it.
    #[serde(skip)]
    pub is_read: bool,
    /// With a failed call of another server's tool: the message quotes that server.
    #[serde(skip)]
    pub quotes_server: bool,
    /// With a `line` that the note does not have: how many it has. For dialects that say so in their own words.
    #[serde(skip)]
    pub note_lines: Option<usize>,
}

/// The block of a note that comes closest to a text that is not in it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Closest {
    /// Its first and last line, from 1.
    pub lines: [usize; 2],
    /// Its text.
    pub text: String,
    /// What differed, as a unified diff from the text that was asked for to this one.
    pub diff: String,
}

impl Failure {
    /// A failure without a hint.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: Box::default() }
    }

    /// The same failure with the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Failure {
    /// Writes the message and, behind a colon, the hint.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hint {
            Some(hint) => write!(formatter, "{}: {hint}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl std::error::Error for Failure {}
