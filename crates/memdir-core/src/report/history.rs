//! What has happened: batches and their calls, days, and who wrote which line.

use serde::Serialize;

use super::Provenance;
use crate::path::MemoryPath;

/// What was changed and talked about, the newest day first.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Recent {
    /// The days on which anything was.
    pub days: Vec<RecentDay>,
    /// How many changes and conversations the budget had no room for.
    pub left_out: usize,
}

/// One day, in UTC.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct RecentDay {
    /// Such as `2026-11-21`.
    pub date: String,
    /// What was changed, the newest first.
    pub changes: Vec<RecentChange>,
    /// What was talked about in conversations that are kept, the newest first.
    pub conversations: Vec<RecentConversation>,
}

/// What was done to a note on a day.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct RecentChange {
    /// The note; a folder's name ends with `/`.
    pub path: String,
    /// What was done to it, in words, the newest first.
    pub did: Vec<String>,
}

/// What was said in a conversation on a day.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct RecentConversation {
    /// The session in which it is kept.
    pub session: String,
    /// What the person said, shortened, in order.
    pub said: Vec<String>,
}

/// A page of history, as `log --json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Log {
    /// Batches, the newest first.
    pub entries: Vec<LogEntry>,
    /// Where the next page starts.
    pub cursor: Option<String>,
}

/// One batch of the history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// Its number; `None` for who may not know how many there are.
    pub batch: Option<u64>,
    /// When it was committed, RFC 3339 in UTC.
    pub time: String,
    /// How it came in: `cli`, `exec`, `chat`, `ask`, `mcp`, `web` or `library`.
    pub door: String,
    /// The program that asked for it.
    pub client: Option<String>,
    /// The tool whose words it stored; shown only to those who see the whole memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The conversation it was asked for in; told to the person alone.
    #[serde(skip)]
    pub session: Option<String>,
    /// The batch that it undoes; of several the newest.
    pub undoes: Option<u64>,
    /// The older ones that it undoes together with that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_undoes: Vec<u64>,
    /// The batch that undid it.
    pub undone_by: Option<u64>,
    /// The paths it changed, sorted.
    pub changed: Vec<MemoryPath>,
    /// The calls that were made.
    pub actions: Vec<LogAction>,
    /// What it changed, as a unified diff; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// One call in the history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogAction {
    /// Its place in the batch, from 1.
    pub index: usize,
    /// The action.
    pub action: String,
    /// Its path; `None` when there is none, or it was forgotten.
    pub path: Option<String>,
    /// Whether it succeeded.
    pub ok: bool,
    /// Why not.
    pub code: Option<String>,
    /// Milliseconds that planning it took.
    pub ms: f64,
}

/// One line of a note, and who wrote it: all but its number is `None` where nobody knows.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Line {
    /// Its number, from 1.
    pub line: usize,
    /// The batch.
    pub batch: Option<u64>,
    /// When that was committed, RFC 3339 in UTC.
    pub time: Option<String>,
    /// How it came in, as in [`LogEntry`].
    pub door: Option<String>,
    /// The program that asked for it.
    pub client: Option<String>,
    /// On whose behalf: `person`, `model`, `program`, `tool:NAME` or `import`.
    pub origin: Option<String>,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
}
