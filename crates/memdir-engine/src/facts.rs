//! What all notes say as keys and values.

use serde::Serialize;

use super::Engine;
use super::query::text_in;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_note::Note;
use memdir_plan::{self as plan, Limits, Scan, Scanned, Tree};

/// A fact and the note that it stands in.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FoundFact {
    /// The note.
    pub path: MemoryPath,
    /// The line, from 1.
    pub line: usize,
    /// The heading above it; `None` above the first one.
    pub heading: Option<String>,
    /// What it is called.
    pub key: String,
    /// What it says.
    pub value: String,
}

/// A page of facts.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Facts {
    /// Sorted by note and line.
    pub facts: Vec<FoundFact>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page starts: the note of the last fact, and which of its facts that was.
    pub cursor: Option<String>,
}

impl Engine {
    /// Finds the facts of one note, or of all; `cursor` is that of the page before.
    ///
    /// # Errors
    ///
    /// Those of `read_file` for a note that is named, `io`.
    pub fn facts(&self, note: Option<&MemoryPath>, limit: usize, cursor: Option<&str>) -> Result<Facts, Failure> {
        facts_in(&self.vault, &self.settings.limits, note, limit, cursor)
    }

    /// Looks into all notes that are text.
    pub(super) fn scan<R: Send>(
        &self,
        look: impl Fn(&MemoryPath, &str) -> R + Sync,
    ) -> Result<Vec<Scanned<Option<R>>>, Failure> {
        scan_in(&self.vault, &self.settings.limits, look)
    }
}

/// As [`Engine::facts`], of a tree.
pub(super) fn facts_in(
    tree: &impl Tree,
    limits: &Limits,
    note: Option<&MemoryPath>,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Facts, Failure> {
    let facts = match note {
        Some(path) => of_note(path, &text_in(tree, path, limits.file_bytes)?.0),
        None => scan_in(tree, limits, of_note)?.into_iter().filter_map(|file| file.seen.flatten()).flatten().collect(),
    };
    let total = facts.len();
    let mut numbered: Vec<(usize, FoundFact)> = Vec::with_capacity(facts.len());
    for fact in facts {
        let number = numbered.last().filter(|(_, last)| last.path == fact.path).map_or(1, |(number, _)| number + 1);
        numbered.push((number, fact));
    }
    if let Some(cursor) = cursor {
        let read = cursor.rsplit_once(':').and_then(|(path, number)| Some((path, number.parse().ok()?)));
        let last: (&str, usize) = read.ok_or_else(|| {
            Failure::new(Code::Usage, "the cursor is not one of `memdir facts`").with_hint("leave it out to start anew")
        })?;
        numbered.retain(|(number, fact)| (fact.path.as_str(), *number) > last);
    }
    let is_cut = numbered.len() > limit;
    numbered.truncate(limit);
    let cursor = numbered.last().filter(|_| is_cut).map(|(number, fact)| format!("{}:{number}", fact.path));
    let facts = numbered.into_iter().map(|(_, fact)| fact).collect();
    Ok(Facts { facts, total, cursor })
}

/// Looks into all notes of a tree that are text.
pub(super) fn scan_in<R: Send>(
    tree: &impl Tree,
    limits: &Limits,
    look: impl Fn(&MemoryPath, &str) -> R + Sync,
) -> Result<Vec<Scanned<Option<R>>>, Failure> {
    let limit = limits.file_bytes;
    let scan = Scan { folder: None, limit, wants: &MemoryPath::is_note, stop: &|| false };
    let look = |path: &MemoryPath, bytes: Result<&[u8], plan::TreeError>| {
        let text = bytes.ok().and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(|text| look(path, text))
    };
    tree.scan(&scan, &look).map_err(plan::failure)
}

fn of_note(path: &MemoryPath, text: &str) -> Vec<FoundFact> {
    let mut facts: Vec<FoundFact> = Note::parse(text)
        .facts()
        .into_iter()
        .map(|fact| FoundFact {
            path: path.clone(),
            line: fact.line,
            heading: fact.heading,
            key: fact.key,
            value: fact.value,
        })
        .collect();
    facts.sort_by_key(|fact| fact.line);
    facts
}
