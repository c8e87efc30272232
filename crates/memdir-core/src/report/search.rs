//! What a search and a question for context answer.

use serde::Serialize;

use super::FactState;
use crate::path::MemoryPath;

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
    pub nothing_known: bool,
    /// The words of the query that none of the hits has, where nothing is known.
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
    pub nothing_known: bool,
    /// The words of the question that nothing in these parts has, where nothing is known.
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
    pub state: Option<FactState>,
}
