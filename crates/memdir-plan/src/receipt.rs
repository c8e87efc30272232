//! The receipt: one line that tells the person what a batch changed.
//!
//! It is part of what every door answers, so it is made here, once, and not at an edge.

use super::{Counts, Fate, FileCount, Plan};

/// How a receipt ends: with the command that takes the change back. A program that has a button for it leaves this out.
pub const UNDO: &str = " · undo: memdir undo";

impl Plan {
    /// Says what changed and how to undo it: `1 line in user.md · undo: memdir undo`.
    #[must_use]
    pub fn receipt(&self) -> String {
        format!("{}{UNDO}", self.counts().sentence())
    }
}

impl Counts {
    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        let of = |fate: Fate| self.files.iter().filter(move |file| file.fate == fate).collect::<Vec<_>>();
        parts.extend(lines(&of(Fate::Changed)));
        parts.extend(named("new", &of(Fate::Made)));
        parts.extend(named("deleted", &of(Fate::Deleted)));
        match self.moved.as_slice() {
            [] => {}
            [(from, to)] => parts.push(format!("{from} is now {to}")),
            more => parts.push(format!("{} renamed", more.len())),
        }
        if parts.is_empty() {
            parts.extend(folders("new", self.made_folders.iter()));
            parts.extend(folders("deleted", self.removed_folders.iter()));
        }
        if parts.is_empty() { "nothing changed".to_owned() } else { parts.join(", ") }
    }
}

/// `1 line in user.md`, `+2 lines in user.md`, `5 lines in 3 notes`.
fn lines(files: &[&FileCount]) -> Option<String> {
    let added: usize = files.iter().map(|file| file.added).sum();
    let removed: usize = files.iter().map(|file| file.removed).sum();
    let place = match files {
        [] => return None,
        [file] => file.path.to_string(),
        more => format!("{} {}", more.len(), noun(more)),
    };
    let (sign, number) = match (added, removed) {
        (0, 0) => return Some(place),
        (added, 0) => ("+", added),
        (0, removed) => ("-", removed),
        (added, removed) => ("", added.max(removed)),
    };
    let noun = if number == 1 { "line" } else { "lines" };
    Some(format!("{sign}{number} {noun} in {place}"))
}

fn named(word: &str, files: &[&FileCount]) -> Option<String> {
    match files {
        [] => None,
        [file] => Some(format!("{word}: {}", file.path)),
        more => Some(format!("{} {word} {}", more.len(), noun(more))),
    }
}

/// What several files are.
fn noun(files: &[&FileCount]) -> &'static str {
    if files.iter().all(|file| file.path.is_note()) { "notes" } else { "files" }
}

fn folders<'a>(
    word: &str,
    mut folders: impl ExactSizeIterator<Item = &'a memdir_core::path::MemoryPath>,
) -> Option<String> {
    match (folders.len(), folders.next()) {
        (1, Some(path)) => Some(format!("{word} folder: {path}")),
        (0, _) | (_, None) => None,
        (number, _) => Some(format!("{number} {word} folders")),
    }
}

#[cfg(test)]
mod tests {
    use crate::change::{Counts, Fate, FileCount};
    use memdir_core::path::MemoryPath;

    #[test]
    fn files_that_are_no_notes_are_not_called_so() {
        let file = |name: &str| FileCount {
            path: MemoryPath::parse(name).unwrap(),
            fate: Fate::Deleted,
            added: 0,
            removed: 1,
        };
        let sentence = |names: &[&str]| {
            let files = names.iter().map(|name| file(name)).collect();
            Counts { files, ..Counts::default() }.sentence()
        };
        assert_eq!(sentence(&["a.md", "b.md"]), "2 deleted notes");
        assert_eq!(sentence(&["a.md", "b.bin", "c.png"]), "3 deleted files");
    }
}
