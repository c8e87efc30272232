//! [`CallRecord`]: what the audit keeps of a call.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ServerName, ToolName};
use memdir_core::digest::Digest;
use memdir_core::report::Code;

/// Who let a call be made, or not.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// The person allows this tool.
    Allowed,
    /// The person was asked about this call and said yes.
    Approved,
    /// The person said yes to this tool for all of the conversation.
    ApprovedForConversation,
    /// The person was asked and said no.
    Refused,
    /// It was not allowed, and nobody was asked.
    Denied,
}

impl Decided {
    /// The name, as the audit keeps it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Approved => "approved",
            Self::ApprovedForConversation => "approved_for_conversation",
            Self::Refused => "refused",
            Self::Denied => "denied",
        }
    }
}

/// What the audit keeps of a call: sizes and digests, and no content unless a setting asks for the arguments.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CallRecord {
    /// The tool, by the name under which it is offered.
    pub tool: ToolName,
    /// Its server.
    pub server: ServerName,
    /// Who let it be made.
    pub decided: Decided,
    /// The digest of the arguments, as JSON without blanks in the order in which they were sent.
    pub arguments_digest: Digest,
    /// How many bytes these are.
    pub arguments_bytes: u64,
    /// The arguments themselves, where a setting asks for them; never a secret, nor more than 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// The digest of the result, likewise; absent where none came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_digest: Option<Digest>,
    /// How many bytes it is; 0 where none came.
    pub result_bytes: u64,
    /// How many of these bytes were kept for who asked, where the rest was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_bytes: Option<u64>,
    /// Whether the result was kept from an earlier call.
    pub is_cached: bool,
    /// How long it took.
    #[serde(skip)]
    pub took: Duration,
    /// Why no result came, or `tool_failed` where the tool says so itself.
    #[serde(skip)]
    pub code: Option<Code>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// Whether words of the server have come, or may have: an answer, an error that quotes it, a question, what it says of its progress.
    pub spoke: bool,
}
