//! [`IndexPool`]: the connections to the index of a memory, and what a watcher has told of changes.
//!
//! Errors of the index are not reported to callers: the notes are read instead, and an index that is damaged is removed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{Engine, failure, lock};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_core::time::Timestamp;
use memdir_index::{FileNumber, Index, IndexError};
use memdir_plan::{Effort, TreeError};
use memdir_vault::{Watch, WatchEvent};

/// More changed paths than this are not kept one by one: to look at all files is as quick.
const MOST_NOTED: usize = 10_000;

/// Where the index of a memory is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum IndexPlace {
    /// Nowhere: every search reads the notes.
    #[default]
    Nowhere,
    /// In this process, as long as it lives.
    Process,
    /// In this file, with others.
    File(PathBuf),
}

/// The connections to the index, and what is known of changes.
#[derive(Debug, Default)]
pub(super) struct IndexPool {
    pub(super) idle: Mutex<Vec<Index>>,
    /// Locked while noted changes are put into the index; never taken while the vault is locked.
    pub(super) watched: Mutex<Option<Watcher>>,
    /// Locked for a moment only: nothing is waited for meanwhile.
    fresh: Mutex<Freshness>,
    /// Why the index could not be opened the last time.
    unopened: Mutex<Option<String>>,
}

/// What the watcher has noticed.
#[derive(Debug)]
pub(super) struct Watcher {
    _watch: Watch,
    noticed: Arc<Mutex<NotedChanges>>,
}

/// How far the index can be relied on while the memory is watched.
#[derive(Debug, Default)]
struct Freshness {
    /// When all files were last looked at, and for which file of an index; `None` where that has to be done before
    /// anything is answered.
    swept: Option<(Timestamp, Option<FileNumber>)>,
    /// How often noted changes were taken. A sweep that began before does not make up for it.
    takes: u64,
}

/// Changes that are not in the index yet.
#[derive(Debug, Default)]
pub(super) struct NotedChanges {
    pub(super) paths: BTreeSet<MemoryPath>,
    /// Whether there may be more than the paths.
    pub(super) is_everything: bool,
    /// Whether there may be more than was told, now and from now on.
    is_blind: bool,
}

/// Why an index could not be asked or written.
#[derive(Debug)]
pub(super) enum IndexTrouble {
    Index(IndexError),
    Tree(TreeError),
    /// The question could not be answered.
    Asked(TreeError),
    /// So much has changed that reading all notes is quicker.
    Much,
}

impl From<IndexError> for IndexTrouble {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<TreeError> for IndexTrouble {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

impl Engine {
    /// Watches the memory from now on, so that searches need not look at all files. Sweeps go on, every ten minutes.
    /// `listen` hears, on a thread of its own, all that is noticed.
    ///
    /// # Errors
    ///
    /// What the system says, such as that no more folders can be watched; everything works without, slower.
    pub fn watch(&self, listen: impl Fn(&WatchEvent) + Send + 'static) -> Result<(), Failure> {
        let noticed = Arc::new(Mutex::new(NotedChanges::everything(false)));
        let notes = Arc::clone(&noticed);
        let told = move |event| {
            lock(&notes).note(&event);
            // Searches rely on what is noted here, whatever becomes of those who listen.
            if catch_unwind(AssertUnwindSafe(|| listen(&event))).is_err() {
                tracing::error!("a change listener panicked: this is a bug of memdir");
            }
        };
        let watch = self.vault.watch(told).map_err(|error| failure(&error))?;
        *lock(&self.index_pool.watched) = Some(Watcher { _watch: watch, noticed });
        self.index_pool.mark_stale();
        Ok(())
    }

    /// Takes an idle connection to the index, or opens one. While the vault is locked it cannot be asked for the name of
    /// its history, so only an idle connection is taken then.
    pub(super) fn take_index(&self, is_locked: bool) -> Option<Index> {
        let idle = lock(&self.index_pool.idle).pop();
        if idle.as_ref().is_some_and(|index| !index.is_current()) {
            self.index_pool.mark_stale();
        }
        let idle = idle.filter(Index::is_current);
        let opened = match (&self.settings.index, idle) {
            (IndexPlace::Nowhere, _) => return None,
            (_, Some(index)) => return Some(index),
            (IndexPlace::File(_), None) if is_locked => return None,
            (IndexPlace::Process, None) => Index::in_memory().map_err(|error| error.to_string()),
            (IndexPlace::File(file), None) => self.open_index(file),
        };
        let failed = opened.as_ref().err().cloned();
        let mut last = lock(&self.index_pool.unopened);
        if let Some(error) = failed.as_ref().filter(|failed| last.as_ref() != Some(failed)) {
            tracing::warn!(error, "the index cannot be opened");
        }
        *last = failed;
        opened.ok()
    }

    /// Opens the index in this file for the history of the memory; the error is meant for the log.
    pub(super) fn open_index(&self, file: &Path) -> Result<Index, String> {
        let history = self.vault.history_id().map_err(|error| error.to_string())?;
        Index::open(file, history.as_deref()).map_err(|error| error.to_string())
    }

    /// As [`Engine::take_index`], but only an index that is complete, unless the question may fill it. Asks for it to be built otherwise.
    pub(super) fn take_complete_index(&self, effort: Effort, is_locked: bool) -> Option<Index> {
        if effort == Effort::Fill && !self.background.is_on() {
            return self.take_index(is_locked);
        }
        let is_there =
            !self.background.is_filling() && (self.has_index_file() || !lock(&self.index_pool.idle).is_empty());
        if let Some(index) = if is_there { self.take_index(is_locked) } else { None } {
            match index.status() {
                Ok(status) if status.is_complete => return Some(index),
                // Whatever it is, the notes are read.
                status => drop(self.return_index(index, status.map(|_| false).map_err(IndexTrouble::Index))),
            }
        }
        self.background.want();
        None
    }

    /// Puts a connection back for the next question. Errors of the index are logged, not returned:
    /// a damaged index is removed, and the notes are read instead.
    pub(super) fn return_index(&self, index: Index, result: Result<bool, IndexTrouble>) -> Result<bool, TreeError> {
        if result.is_err() {
            // What the watcher told may not have come to the index.
            self.index_pool.mark_stale();
        }
        if index.is_damaged() {
            tracing::warn!("the index is damaged and is made anew");
            drop(index);
            if let Err(error) = self.drop_index() {
                tracing::warn!(%error, "the index was not removed");
            }
        } else {
            lock(&self.index_pool.idle).push(index);
        }
        match result {
            Ok(is_answered) => Ok(is_answered),
            Err(IndexTrouble::Tree(error)) => Err(error),
            Err(IndexTrouble::Asked(TreeError::Stopped)) => Err(TreeError::Stopped),
            Err(IndexTrouble::Index(error)) => {
                tracing::warn!(%error, "the index was not used");
                Ok(false)
            }
            Err(IndexTrouble::Much) => {
                self.background.want();
                Ok(false)
            }
            Err(IndexTrouble::Asked(_)) => Ok(false),
        }
    }

    /// Removes the index; it is built anew when it is needed.
    pub(super) fn drop_index(&self) -> Result<(), IndexError> {
        lock(&self.index_pool.idle).clear();
        match &self.settings.index {
            IndexPlace::File(file) => Index::remove(file),
            IndexPlace::Process | IndexPlace::Nowhere => Ok(()),
        }
    }

    /// How many notes the index holds, and whether all were ever put into it; `None` where there is no file of one.
    #[must_use]
    pub fn indexed_notes(&self) -> Option<(usize, bool)> {
        let index = if self.has_index_file() { self.take_index(false)? } else { return None };
        let status = index.status().ok();
        lock(&self.index_pool.idle).push(index);
        status.map(|status| (status.notes, status.is_complete))
    }

    /// Whether there is a file with an index in it, fresh or not.
    pub(super) fn has_index_file(&self) -> bool {
        matches!(&self.settings.index, IndexPlace::File(file) if Index::is_there(file))
    }
}

impl IndexPool {
    /// Makes the next question look at all files.
    pub(super) fn mark_stale(&self) {
        lock(&self.fresh).swept = None;
    }

    /// When all files were last looked at for this index. Until [`IndexPool::mark_fresh`] nobody else may rely on it; what was
    /// taken of what the watcher told is not in the index yet.
    pub(super) fn begin(&self, index: &Index, noted: &NotedChanges) -> Option<Timestamp> {
        let mut fresh = lock(&self.fresh);
        fresh.takes += u64::from(noted.is_everything || !noted.paths.is_empty());
        let (swept, file) = fresh.swept.take()?;
        (file == index.file_number()).then_some(swept)
    }

    /// How often something was taken of what the watcher told.
    pub(super) fn takes(&self) -> u64 {
        lock(&self.fresh).takes
    }

    /// Notes that the index holds all changes that were noted before `takes` was read.
    pub(super) fn mark_fresh(&self, index: &Index, swept: Timestamp, takes: u64) {
        let mut fresh = lock(&self.fresh);
        if fresh.takes == takes {
            fresh.swept = Some((swept, index.file_number()));
        }
    }
}

impl Watcher {
    /// Takes what was told since.
    pub(super) fn take(&self) -> NotedChanges {
        lock(&self.noticed).take()
    }
}

impl NotedChanges {
    fn everything(is_blind: bool) -> Self {
        Self { paths: BTreeSet::new(), is_everything: true, is_blind }
    }

    /// Adds what was noticed.
    pub(super) fn note(&mut self, noticed: &WatchEvent) {
        match noticed {
            WatchEvent::Changed(paths) if self.paths.len() + paths.len() <= MOST_NOTED => {
                self.paths.extend(paths.iter().cloned());
            }
            WatchEvent::Changed(_) | WatchEvent::Rescan => *self = Self::everything(self.is_blind),
            WatchEvent::Blind => *self = Self::everything(true),
        }
    }

    /// Takes what was noted. Where not everything is told, there may be more at any time.
    pub(super) fn take(&mut self) -> Self {
        let next = if self.is_blind { Self::everything(true) } else { Self::default() };
        std::mem::replace(self, next)
    }
}
