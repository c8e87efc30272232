//! Edits of the text of a configuration, and what of ours is found in it.
//!
//! They replace spans, so nothing else moves.

use std::ops::Range;

use super::{Entry, NAME};

/// Why a text is not changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Trouble {
    /// It is not what such a file holds.
    #[error("{0}")]
    Unread(String),
    /// It is written in a way in which nothing is changed here.
    #[error("{0} is written in a form that memdir does not change")]
    Form(&'static str),
    /// There is an entry of our name, and it is not ours to change or to take out.
    #[error("{FOREIGN}")]
    Foreign,
}

/// What is said of an entry of our name that is not ours.
pub(super) const FOREIGN: &str = "its entry `memdir` does not start `memdir mcp` on this machine";

/// Replaces a span of the text.
pub(super) type Edit = (Range<usize>, String);

/// The entry of our name as it stands in a text.
#[derive(Debug)]
pub(super) struct FoundEntry {
    /// What it starts; `None` where it is of another kind.
    pub(super) starts: Option<Starts>,
    /// The edits that add what it has to have beside that.
    pub(super) lacks: Vec<Edit>,
    /// The edits that take it out; `None` where it is written so that nothing here can.
    pub(super) cut: Option<Vec<Edit>>,
}

#[derive(Debug)]
pub(super) struct Starts {
    pub(super) entry: Entry,
    pub(super) written: Written,
}

/// Where an entry says what it starts.
#[derive(Debug)]
pub(super) enum Written {
    Apart {
        command: Range<usize>,
        args: Range<usize>,
    },
    /// The command is the first of a list, and the arguments the others.
    Joined(Range<usize>),
}

impl Written {
    /// The edits that name another command and other arguments.
    pub(super) fn edits(&self, text: &str, entry: &Entry) -> Vec<Edit> {
        match self {
            Self::Joined(span) => {
                vec![(span.clone(), joined(entry))]
            }
            Self::Apart { command, args } => {
                // A list in lines starts behind the colon.
                let gap = if text.get(..args.start).is_some_and(|text| text.ends_with("args:")) { " " } else { "" };
                vec![(command.clone(), quoted(&entry.command)), (args.clone(), format!("{gap}{}", listed(&entry.args)))]
            }
        }
    }
}

impl Entry {
    /// Whether it starts memdir as a server, wherever that is.
    pub(super) fn is_server(&self) -> bool {
        is_memdir(&self.command) && self.args.first().is_some_and(|first| first == "mcp")
    }
}

/// Whether a command starts memdir, wherever that is.
pub(crate) fn is_memdir(command: &str) -> bool {
    let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
    program.trim_end_matches(".exe") == NAME
}

/// Makes edits that do not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut new = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (span, put) in edits {
        new.push_str(text.get(from..span.start).unwrap_or_default());
        new.push_str(&put);
        from = span.end.max(from);
    }
    new.push_str(text.get(from..).unwrap_or_default());
    new
}

/// A text as JSON, TOML and YAML all read it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A list of texts on one line, as all three read it.
pub(super) fn listed<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    format!("[{}]", texts.into_iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// What is started and its arguments, as one list.
pub(super) fn joined(entry: &Entry) -> String {
    listed(std::iter::once(&entry.command).chain(&entry.args))
}

/// How the lines of a text end.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Where the line starts that holds `at`.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |found| found + 1)
}

/// Where the next line starts, behind the one that holds `at`.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |found| at + found + 1)
}

/// The white space with which the line starts that holds `at`.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    let end = line.find(|character| !matches!(character, ' ' | '\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// Whether nothing but white space stands before `at` on its line.
pub(super) fn is_first(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim().is_empty())
}
