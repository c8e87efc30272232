//! What a server asks about the memory to notify clients of changes.

use std::collections::BTreeSet;
use std::time::Duration;

use super::refresh::is_younger;
use super::{Engine, lock};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_index::Index;
use memdir_plan::{self as plan, Scan, Swept, Tree, TreeError};

/// Two changes that are closer to each other than this may leave the same time with a file.
const TICK: Duration = Duration::from_millis(20);

/// A file as it was when it was last looked at.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileSnapshot {
    /// What it was like; `None` where none was.
    pub file: Option<Swept>,
    /// Whether any change after that shows.
    pub is_sure: bool,
}

impl Engine {
    /// The paths of all notes, whoever may see them. No note is read.
    ///
    /// # Errors
    ///
    /// `io`.
    pub fn every_note(&self) -> Result<BTreeSet<MemoryPath>, Failure> {
        notes_in(&self.vault, None).map_err(plan::failure)
    }

    /// The notes that are at a place: one, all that are below a folder, or none. What a linked folder leads to is not
    /// below it.
    ///
    /// # Errors
    ///
    /// `io`: what is there, nobody knows.
    pub fn notes_at(&self, path: &MemoryPath) -> Result<BTreeSet<MemoryPath>, Failure> {
        match self.vault.stamp(path) {
            Ok(Some(_)) => return Ok([path.clone()].into_iter().filter(MemoryPath::is_note).collect()),
            Err(error @ TreeError::Io(_)) => return Err(plan::failure(error)),
            Ok(None) | Err(_) => {}
        }
        if self.vault.resolve(path).as_ref() != Ok(path) {
            return Ok(BTreeSet::new());
        }
        match notes_in(&self.vault, Some(path)) {
            Err(TreeError::NotFound(_) | TreeError::NotDirectory(_)) => Ok(BTreeSet::new()),
            other => other.map_err(plan::failure),
        }
    }

    /// What a file is like now, without reading it.
    ///
    /// # Errors
    ///
    /// `no_access` and `io`: what is there, nobody knows.
    pub fn glance(&self, path: &MemoryPath) -> Result<FileSnapshot, Failure> {
        let now = self.now();
        let file = self.vault.stamp(path).map_err(plan::failure)?;
        let is_sure = file.as_ref().is_none_or(|file| !is_younger(file, now, TICK));
        Ok(FileSnapshot { file, is_sure })
    }

    /// Where a path leads, with links followed as far as they can be.
    pub fn place(&self, path: &MemoryPath) -> MemoryPath {
        self.vault.resolve(path).unwrap_or_else(|_| path.clone())
    }

    /// Closes the index if it was removed, as another process does that forgets something: words of it would be kept on
    /// the disk until the next search.
    pub fn let_go_of_removed_index(&self) {
        lock(&self.index_pool.idle).retain(Index::is_current);
    }

    /// Checks that the path of the memory still leads to its folder. A server asks before each job: what it showed of a folder that was
    /// moved, deleted or replaced would not be what is there.
    ///
    /// # Errors
    ///
    /// `unavailable` where it does not.
    pub fn check_place(&self) -> Result<(), Failure> {
        self.vault.check_place().map_err(|error| super::failure(&error))
    }

    /// Writes the audit entries of the last reads, and removes what the last batch displaced. A server calls it soon after each call, and again
    /// where it says that something is left to write.
    pub fn clean_up(&self) -> bool {
        self.vault.sweep_displaced();
        self.vault.settle_reads()
    }

    /// Leaves the history so that the next process opens it fast. For a server that rests: it flushes.
    pub fn rest(&self) {
        self.vault.shorten_log();
    }

    /// Does what no answer waits for, such as writing down who has read what last. To be called before the program ends
    /// where other threads may still hold the engine.
    pub fn finish(&self) {
        self.vault.finish();
    }
}

/// The notes of a tree, all or those below a folder. None is read.
pub(super) fn notes_in(tree: &impl Tree, folder: Option<&MemoryPath>) -> Result<BTreeSet<MemoryPath>, TreeError> {
    let scan = Scan { folder, limit: 0, wants: &|_| false, stop: &|| false };
    let files = tree.scan(&scan, &|_, _| ())?;
    Ok(files.into_iter().map(|file| file.path).filter(MemoryPath::is_note).collect())
}
