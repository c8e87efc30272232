//! What became of each call: [`Code`], [`Failure`], [`Outcome`], [`Report`].
//!
//! Owns the shapes that a model and a program read (the contract of `exec --json`). Holds no path of the host
//! and decides nothing.

mod bound;
mod fact;

use std::collections::BTreeMap;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::action::{Action, Call};
use crate::digest::Digest;
use crate::path::MemoryPath;

pub use fact::{Confirmation, FactState, FormerValue, Provenance, Writing, WrittenBy};

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
    /// With `awaiting_approval`: the number of the proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// With `awaiting_approval`: the number that it has for the person, where the client counts its own.
    #[serde(skip)]
    pub waiting: Option<u64>,
    /// With `awaiting_approval`: the call reads what the proposal would change, and is no part of it.
    #[serde(skip)]
    pub is_read: bool,
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

/// What a call that succeeded answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` for what was done, or the answer to a question.
    Bool(bool),
    /// The text of a note.
    Text(String),
    /// A number of bytes.
    Bytes(u64),
    /// Paths of notes, sorted.
    Paths(Vec<MemoryPath>),
    /// What stands in a folder.
    Directory(Vec<DirectoryEntry>),
    /// A file or a folder.
    File(FileInfo),
    /// What a note has seen.
    History(Log),
    /// What a search found.
    Search(Search),
    /// What is worth knowing.
    Context(Context),
    /// Links, and who links where.
    Links(Links),
    /// The entries that `memory` keeps.
    Entries(Vec<MemoryEntry>),
    /// What `remember` did to its note.
    Remembered(Remembered),
    /// What was changed and talked about.
    Recent(Recent),
    /// What a tool of another server answered, or a part of it as a text.
    Foreign(serde_json::Value),
    /// The settings that hold, by their keys.
    Config(serde_json::Map<String, serde_json::Value>),
    /// Nothing; only a variable of a Python block is that.
    Nothing,
}

/// What an answer holds beyond its value, for a dialect that shows more; not part of the contract.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Shown {
    /// All that is below a folder, sorted by path.
    Tree(Vec<TreeEntry>),
    /// A note after an edit.
    Edited {
        /// All of its text.
        text: String,
        /// The first and the last line that are new, from 1.
        lines: [usize; 2],
    },
}

/// A file or a folder below another folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TreeEntry {
    /// Where it is.
    pub path: MemoryPath,
    /// What it is.
    pub kind: Kind,
    /// Bytes: of the file, or of all files below the folder.
    pub size: u64,
}

/// What a search found, as `search --json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Search {
    /// What was looked for.
    pub query: String,
    /// The notes that were found, the best first, each once.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page starts.
    pub cursor: Option<String>,
    /// How many hits of this page did not fit the budget.
    pub left_out: usize,
    /// Whether the notes say nothing of what was asked, as far as that can be told from the words: the hits, if any, are what
    /// is nearest.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_known: bool,
    /// The words of the query that the best hits do not have, where nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The query as it was corrected, if it was.
    pub searched_for: Option<String>,
    /// Where the answer comes from.
    pub source: Source,
}

/// Where the answer to a search comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Every note was read.
    #[default]
    Scan,
    /// From the index, which was fresh.
    Index,
}

/// A note that a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The note.
    pub path: MemoryPath,
    /// The heading above the place; `None` above the first one.
    pub heading: Option<String>,
    /// The first and the last line of the place, from 1.
    pub lines: [usize; 2],
    /// What stands there, shortened.
    pub snippet: String,
    /// How well it answers; only the order means something.
    pub score: Option<f64>,
    /// By what it was found.
    pub why: Vec<Why>,
    /// Why all of the note belongs to the past, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<FactState>,
}

/// By what a note was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// By what it says, or by its name.
    Text,
    /// By what other notes say where they link to it, or by the notes on the way to it.
    Link,
    /// By what it means.
    Vector,
}

/// What is worth putting in front of a model.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Context {
    /// Whether the notes say nothing of what was asked, as far as that can be told from the words: the parts, if any, are
    /// about the person or thing that was named, or what is nearest.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_known: bool,
    /// The words of the question that nothing in these parts has, where nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The best first.
    pub parts: Vec<Part>,
    /// How many more there are that the budget had no room for.
    pub left_out: usize,
}

/// A part of a note.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Part {
    /// The note.
    pub path: MemoryPath,
    /// The heading above it; `None` above the first one.
    pub heading: Option<String>,
    /// The first and the last line, from 1.
    pub lines: [usize; 2],
    /// The lines, as they stand there. A line that belongs to the past is left out, or marked where the past was asked for; and
    /// one that came from an import or a tool and that nobody confirmed is marked.
    pub text: String,
    /// Why all of the note belongs to the past, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<FactState>,
}

/// Links, as `links --json` prints them.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Links {
    /// In the order of their notes and of their places in them.
    pub links: Vec<LinkEntry>,
    /// For a file, the notes that link to it, sorted.
    pub backlinks: BTreeMap<MemoryPath, Vec<MemoryPath>>,
}

/// One link, and where it leads.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct LinkEntry {
    /// The note it stands in.
    pub source: MemoryPath,
    /// Its line, from 1.
    pub line: usize,
    /// The target as written, before `#` and `|`.
    pub target: String,
    /// The heading or block with its `#`; empty when there is none.
    pub subpath: String,
    /// What is shown instead of the target.
    pub text: Option<String>,
    /// How it is written.
    pub kind: LinkKind,
    /// The file it leads to; `None` only where there is none.
    pub resolved: Option<MemoryPath>,
    /// Whether it leads to what it names.
    pub status: LinkStatus,
    /// For a link to no file, the file that is most like it.
    pub nearest: Option<MemoryPath>,
}

/// How a link is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// `[[target]]`.
    Wikilink,
    /// `![[target]]`, or `![text](target)`.
    Embed,
    /// `[text](target)`.
    Markdown,
    /// In a value of the front matter.
    FrontMatter,
}

/// Whether a link leads to what it names.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkStatus {
    /// It does.
    Ok,
    /// There is no such file.
    BrokenFile,
    /// The file has no such heading.
    BrokenHeading,
    /// The file has no such block.
    BrokenBlock,
}

/// One entry that `memory` keeps.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct MemoryEntry {
    /// Its name.
    pub key: String,
    /// The note that holds it.
    pub path: MemoryPath,
    /// Its tags.
    pub tags: Vec<String>,
}

/// What `remember` did to its note.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Remembered {
    /// What became of the note.
    pub change: RememberedChange,
    /// The line where it stands now, from 1.
    pub line: usize,
    /// What stands there now.
    pub text: String,
    /// What stood there before; `None` where nothing was replaced.
    pub replaced: Option<String>,
    /// Where a fact was added: other lines that have all words of its key and may say the same in another form, three at most.
    pub similar: Vec<SimilarLine>,
}

/// A line that may say what was added.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct SimilarLine {
    /// Which it is, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

/// What became of the note in which something is remembered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RememberedChange {
    /// It was made.
    Created,
    /// It has a line more.
    Added,
    /// What it said before is gone.
    Replaced,
    /// It says so already.
    None,
}

/// A setting of the person's, as far as a model may know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigKey {
    /// Its section and name, such as `permission.mcp`.
    pub key: String,
    /// What holds; `None` where it is not told, or nothing is set.
    pub value: Option<serde_json::Value>,
}

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

/// What a path is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
}

/// One entry of a folder.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DirectoryEntry {
    /// Its name in the folder.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Bytes: of the file, or of all files below the folder.
    pub size: u64,
}

/// A file or a folder.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FileInfo {
    /// Where it is.
    pub path: MemoryPath,
    /// What it is.
    pub kind: Kind,
    /// Bytes: of the file, or of all files below the folder.
    pub size: u64,
    /// Lines of a text file; an unfinished last line counts.
    pub lines: Option<usize>,
    /// When it was last changed, RFC 3339 in UTC.
    pub modified: String,
    /// The digest of a file.
    pub digest: Option<Digest>,
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
    /// The conversation it was asked for in; told to the person alone.
    #[serde(skip)]
    pub session: Option<String>,
    /// The batch that it undoes.
    pub undoes: Option<u64>,
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

/// Results by name, the newest value of a name; `Error: ` and the message where the call failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables(Vec<(String, Value)>);

impl Variables {
    /// Variables by name; of a name that is there twice, the last counts.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (String, Value)>) -> Self {
        let mut kept = Vec::<(String, Value)>::new();
        for (name, value) in variables {
            kept.retain(|(other, _)| *other != name);
            kept.push((name, value));
        }
        Self(kept)
    }

    /// The variables in the order in which they were last set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Puts `new` in the place of a value that is still `old`.
    pub fn replace(&mut self, name: &str, old: &Value, new: Value) {
        if let Some((_, value)) = self.0.iter_mut().find(|(other, value)| other == name && value == old) {
            *value = new;
        }
    }

    /// Cuts the texts for which there is no more room than `most` bytes to their first `short` ones.
    fn bound(&mut self, most: usize, short: usize) {
        let mut left = most;
        for (_, value) in &mut self.0 {
            let Value::Text(text) = value else { continue };
            match left.checked_sub(bound::size(text)) {
                Some(rest) => left = rest,
                None => bound::clip(text, short),
            }
        }
    }

    /// The value of a variable whose call failed.
    fn error(message: &str) -> Value {
        Value::Text(format!("Error: {message}"))
    }

    /// Gathers the results of calls that have a name for them.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        Self::new(outcomes.iter().filter_map(|outcome| {
            let value = match &outcome.result {
                Ok(value) => value.clone(),
                Err(failure) => Self::error(&failure.message),
            };
            Some((outcome.label.clone()?, value))
        }))
    }
}

impl Value {
    /// The value that JSON says: a text, a flag, a number of bytes or nothing. `None` for what only an answer can be.
    #[must_use]
    pub fn plain(json: &serde_json::Value) -> Option<Self> {
        Some(match json {
            serde_json::Value::Null => Self::Nothing,
            serde_json::Value::Bool(flag) => Self::Bool(*flag),
            serde_json::Value::Number(number) => Self::Bytes(number.as_u64()?),
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => return None,
        })
    }
}

impl Serialize for Variables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
