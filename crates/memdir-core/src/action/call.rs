//! One time that a model asks for an action.

use serde::{Deserialize, Serialize};

use super::Action;

/// A range of bytes in the text that a model wrote.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// Where it starts.
    pub start: usize,
    /// Where it ends; this byte is no longer part of it.
    pub end: usize,
}

/// One occurrence of an action in what a model wrote.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// Its place among the calls of the text, from 1; calls that cannot be read count.
    pub index: usize,
    /// What is asked for.
    pub action: Action,
    /// The name that its result gets (`assign_to`).
    pub label: Option<String>,
    /// The model says that the person agreed (`has_explicit_permission`).
    pub claimed: bool,
    /// Where it stands.
    pub span: Span,
    /// How the dialect in which it came means it.
    pub meaning: Meaning,
}

impl Call {
    /// A call that nobody wrote: without a name for its result, a claim or a place.
    #[must_use]
    pub fn plain(index: usize, action: Action) -> Self {
        Self { index, action, label: None, claimed: false, span: Span::default(), meaning: Meaning::Plain }
    }
}

/// How a call means its action, where the dialect in which it came differs from the plain one. No text can say it, and no
/// schema has it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// As the catalog says.
    #[default]
    Plain,
    /// `old_content` is one whole line; where nothing takes its place, its line end goes too.
    WholeLine,
    /// As the functions of mem-agent: a link is a path from the root, a list of files is a tree of all that is there.
    MemAgent,
    /// As Anthropic's memory tool: what is read or deleted may be a folder, and any text file may be made.
    MemoryTool,
}
