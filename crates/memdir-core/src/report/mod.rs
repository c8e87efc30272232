//! What became of each call: [`Code`], [`Failure`], [`Outcome`], [`Report`].
//!
//! Owns the shapes that a model and a program read (the contract of `exec --json`). Holds no path of the host
//! and decides nothing.

mod bound;
mod fact;
mod failure;
mod files;
mod history;
mod links;
mod search;
mod value;
mod variables;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::action::Call;
use crate::path::MemoryPath;

pub use fact::{Confirmation, FactState, FormerValue, Provenance, Writing, WrittenBy};
pub use failure::{Closest, Code, Details, Failure};
pub use files::{DirectoryEntry, FileInfo, Kind, TreeEntry};
pub use history::{Line, Log, LogAction, LogEntry, Recent, RecentChange, RecentConversation, RecentDay};
pub use links::{LinkEntry, LinkKind, LinkStatus, Links};
pub use search::{Context, Hit, Part, Search, Source, Why};
pub use value::{ConfigKey, MemoryEntry, Remembered, RememberedChange, Shown, SimilarLine, Value};
pub use variables::Variables;

/// Something about a text that was repaired, matched loosely, noticed or left aside.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Issue {
    /// A stable name in snake_case.
    pub code: &'static str,
    /// The call that it concerns, from 1.
    pub index: Option<usize>,
    /// One lower-case sentence.
    pub message: String,
}

/// The code of an [`Issue`] that tells that what a call wrote contradicts what the memory says elsewhere.
pub const CONTRADICTION: &str = "contradiction";
/// The code of an [`Issue`] that tells that after a call the front matter of a note is no YAML and is not read.
pub const UNREAD_FRONT_MATTER: &str = "unread_front_matter";

/// What became of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its place among the calls, from 1.
    pub index: usize,
    /// The action that it named, if it named one.
    pub action: Option<String>,
    /// Its path as the model wrote it, or the note that a link led to.
    pub path: Option<String>,
    /// Its answer, or why there is none.
    pub result: Result<Value, Failure>,
    /// How many there are in all, for a list that was cut.
    pub total: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
    /// The name that its result gets.
    pub label: Option<String>,
    /// What a dialect shows beyond the value.
    pub shown: Option<Shown>,
}

impl Outcome {
    /// What became of a call that was not made.
    #[must_use]
    pub fn failed(call: &Call, failure: Failure) -> Self {
        Self {
            index: call.index,
            action: Some(call.action.name().to_owned()),
            path: call.action.path().map(ToString::to_string),
            result: Err(failure),
            total: None,
            cursor: None,
            label: call.label.clone(),
            shown: None,
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("action", &self.action)?;
        if let Some(path) = &self.path {
            map.serialize_entry("path", path)?;
        }
        map.serialize_entry("ok", &self.result.is_ok())?;
        match &self.result {
            Ok(value) => map.serialize_entry("value", value)?,
            Err(failure) => map.serialize_entry("error", failure)?,
        }
        if let Some(total) = self.total {
            map.serialize_entry("total", &total)?;
            map.serialize_entry("cursor", &self.cursor)?;
        }
        map.end()
    }
}

/// What `exec` says: one object of the contract.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What became of each call, in the order of the text.
    pub actions: Vec<Outcome>,
    /// Results by the name that `assign_to` gave them.
    pub variables: Variables,
    /// Every path that is different now, sorted: both names of a rename, deleted notes too.
    pub changed: Vec<MemoryPath>,
    /// How many paths are different, where they are too many to be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_total: Option<usize>,
    /// The batch to undo; `None` when nothing changed.
    pub batch: Option<u64>,
    /// Whether the change was flushed to the disk.
    pub durable: bool,
    /// What the model said to the person.
    pub reply: Option<String>,
    /// The answer in the dialect of the text, where that is not this object itself.
    pub answer: Option<String>,
    /// One line for the person.
    pub receipt: Option<String>,
    /// Each repair, loose match or ignored part.
    pub issues: Vec<Issue>,
    /// Present on a dry run, and then true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// What a dry run would change, as a unified diff over all notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Why nothing could be done at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Report {
    /// A report on calls of which none has changed anything, with the variables that their labels make.
    #[must_use]
    pub fn of(actions: Vec<Outcome>) -> Self {
        Self {
            variables: Variables::of(&actions),
            actions,
            changed: Vec::new(),
            changed_total: None,
            batch: None,
            durable: true,
            reply: None,
            answer: None,
            receipt: None,
            issues: Vec::new(),
            dry_run: None,
            diff: None,
            error: None,
        }
    }
}
