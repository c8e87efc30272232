//! [`Value`]: what a call that succeeded answers, and what a dialect may show beyond it.

use serde::Serialize;

use super::{Context, DirectoryEntry, FileInfo, Links, Log, Recent, Search, TreeEntry};
use crate::path::MemoryPath;

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
