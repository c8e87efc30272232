//! A suite of tasks for agents, as it stands in its file. `docs/agent.md` has the format.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::pattern::Pattern;
use crate::file;
use crate::stop::{Stop, usage};
use memdir_core::path::MemoryPath;
use memdir_policy::Mode;

/// Memories and tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suite {
    /// The memories that several tasks begin with, by name.
    #[serde(default)]
    pub(super) memories: BTreeMap<String, Notes>,
    pub(super) tasks: Vec<Task>,
}

/// Notes with their texts.
pub(super) type Notes = BTreeMap<MemoryPath, String>;

/// What is said to an agent, and what has to come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) id: String,
    /// What kind of task it is; each kind has a row of its own.
    pub(super) kind: String,
    /// How many links lie between `user.md` and the answer; says something to people only.
    #[serde(default, rename = "hop")]
    _hop: Option<u32>,
    pub(super) memory: Memory,
    pub(super) message: Messages,
    #[serde(default)]
    pub(super) permission: Mode,
    pub(super) checks: Checks,
}

/// With which notes a task begins.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a memory is `{path: text}`, a name from `memories`, or a folder")]
pub(super) enum Memory {
    /// These.
    Notes(Notes),
    /// Those of this name in `memories`, or else in the folder of this name.
    Named(String),
}

/// What is said.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a message is a text, or a list of texts")]
pub(super) enum Messages {
    /// One message.
    One(String),
    /// One after the other, in one session.
    Several(Vec<String>),
}

impl Messages {
    /// The messages in their order.
    pub(super) fn all(&self) -> &[String] {
        match self {
            Self::One(message) => std::slice::from_ref(message),
            Self::Several(messages) => messages,
        }
    }
}

/// What has to hold after a task, all of it. Checks of the reply look at the last one, `reply_not_contains` at every one.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Checks {
    pub(super) reply_contains_all: Vec<Pattern>,
    pub(super) reply_contains_any: Vec<Pattern>,
    pub(super) reply_not_contains: Vec<Pattern>,
    /// By path; `*` is all notes together.
    pub(super) file_contains: BTreeMap<String, Vec<Pattern>>,
    pub(super) file_not_contains: BTreeMap<String, Vec<Pattern>>,
    pub(super) file_equals: BTreeMap<String, String>,
    pub(super) no_change: bool,
    pub(super) nothing_else_changed: bool,
    pub(super) may_change: Vec<Pattern>,
    pub(super) max_new_lines: Option<usize>,
    pub(super) asks_a_question: bool,
    pub(super) permission_required: bool,
}

impl Checks {
    /// Whether there is nothing to check: `may_change` only takes from another check.
    fn is_empty(&self) -> bool {
        let has_flags = self.no_change || self.nothing_else_changed || self.asks_a_question || self.permission_required;
        let has_reply = [&self.reply_contains_all, &self.reply_contains_any, &self.reply_not_contains];
        let has_files = [&self.file_contains, &self.file_not_contains];
        !has_flags
            && self.max_new_lines.is_none()
            && self.file_equals.is_empty()
            && has_reply.iter().all(|patterns| patterns.is_empty())
            && has_files.iter().all(|files| files.values().all(Vec::is_empty))
    }

    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let reply = [&self.reply_contains_all, &self.reply_contains_any, &self.reply_not_contains, &self.may_change];
        let files = [&self.file_contains, &self.file_not_contains];
        reply.into_iter().flatten().chain(files.into_iter().flat_map(BTreeMap::values).flatten())
    }
}

/// How large a suite may be.
const MAX_SUITE: u64 = 64 << 20;
const HINT: &str = "a suite is one JSON object with memories and tasks: see docs/agent.md";

/// Reads a suite.
pub(super) fn read(path: &Path) -> Result<Suite, Stop> {
    let text = file::read_named("suite", path, MAX_SUITE, HINT)?;
    parse(&text).map_err(|wrong| usage(format!("the suite `{}`: {wrong}", path.display()), HINT).into())
}

/// Reads the text of a suite; says in a sentence what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Suite, String> {
    let suite: Suite = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut ids = BTreeSet::new();
    for task in &suite.tasks {
        let wrong = if !ids.insert(task.id.as_str()) {
            "is there twice"
        } else if task.id.is_empty() || task.kind.is_empty() {
            "has an empty id or kind"
        } else if task.message.all().is_empty() || task.message.all().iter().any(|one| one.trim().is_empty()) {
            "has no message, or an empty one"
        } else if task.checks.is_empty() {
            "has nothing to check"
        } else if task.checks.patterns().any(Pattern::is_empty) {
            "has an empty pattern"
        } else {
            continue;
        };
        return Err(format!("the task `{}` {wrong}", task.id));
    }
    if suite.tasks.is_empty() { Err("there are no tasks".to_owned()) } else { Ok(suite) }
}

/// Where the folders stand that tasks name: what `--memories` says, else the suite's own folder, else the one above it.
pub(super) fn places(suite: &Path, memories: Option<&Path>) -> Vec<PathBuf> {
    match memories {
        Some(folder) => vec![folder.to_owned()],
        None => {
            let beside = suite.parent().unwrap_or(Path::new(""));
            let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
            vec![beside.to_owned(), beside.join("..")]
        }
    }
}
