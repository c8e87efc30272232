//! [`Keeper`]: the connections to the index of a memory, and what a watcher has told of changes.
//!
//! What goes wrong with an index is no news for who asks: it is removed, and the notes are read instead.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Engine, failure};
use crate::index::{FileNumber, Index, IndexError};
use crate::path::MemoryPath;
use crate::plan::{Effort, TreeError};
use crate::report::Failure;
use crate::time::Timestamp;
use crate::vault::{Noticed, Watch};

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
pub(super) struct Keeper {
    idle: Mutex<Vec<Index>>,
    /// Held while what was told is put into the index, and never by who holds the lock of the vault.
    watched: Mutex<Option<Watched>>,
    /// Held for a moment only: nothing is waited for meanwhile.
    fresh: Mutex<Fresh>,
    /// Why the index could not be opened the last time.
    unopened: Mutex<Option<String>>,
}

/// What the watcher has told.
#[derive(Debug)]
pub(super) struct Watched {
    _watch: Watch,
    noticed: Arc<Mutex<Noted>>,
}

/// What may be relied on where somebody watches.
#[derive(Debug, Default)]
struct Fresh {
    /// When all files were last looked at, and for which file of an index; `None` where that has to be done before
    /// anything is answered.
    swept: Option<(Timestamp, Option<FileNumber>)>,
    /// How often something was taken of what the watcher told. A sweep that began before does not make up for it.
    takes: u64,
}

/// Changes that are not in the index yet.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) paths: BTreeSet<MemoryPath>,
    /// Whether there may be more than the paths.
    pub(super) is_everything: bool,
    /// Whether there may be more than was told, now and from now on.
    is_blind: bool,
}

/// Why an index could not be asked or written.
pub(super) enum Trouble {
    Index(IndexError),
    Tree(TreeError),
    /// The question could not be answered.
    Asked(TreeError),
    /// So much has changed that reading all notes is quicker.
    Much,
}

impl From<IndexError> for Trouble {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<TreeError> for Trouble {
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
    pub fn watch(&self, listen: impl Fn(&Noticed) + Send + 'static) -> Result<(), Failure> {
        let noticed = Arc::new(Mutex::new(Noted::everything(false)));
        let notes = Arc::clone(&noticed);
        let told = move |event| {
            notes.lock().unwrap_or_else(PoisonError::into_inner).note(&event);
            // Searches rely on what is noted here, whatever becomes of those who listen.
            if catch_unwind(AssertUnwindSafe(|| listen(&event))).is_err() {
                tracing::error!("a change listener panicked: this is a bug of memdir");
            }
        };
        let watch = self.vault.watch(told).map_err(|error| failure(&error))?;
        *self.keeper.watched() = Some(Watched { _watch: watch, noticed });
        self.keeper.distrust();
        Ok(())
    }

    /// Opens the index, or takes a connection that nobody uses. Who holds the lock of the vault cannot ask it for the name
    /// of its history, and has an index only where somebody asked before.
    pub(super) fn taken(&self, is_locked: bool) -> Option<Index> {
        let idle = self.keeper.idle().pop();
        if idle.as_ref().is_some_and(|index| !index.is_current()) {
            self.keeper.distrust();
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
        let mut last = self.keeper.unopened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed.as_ref().filter(|failed| last.as_ref() != Some(failed)) {
            tracing::warn!(error, "the index cannot be opened");
        }
        *last = failed;
        opened.ok()
    }

    /// Opens the index in this file for the history of the memory; says what the log is told where it cannot.
    pub(super) fn open_index(&self, file: &Path) -> Result<Index, String> {
        let history = self.vault.history_id().map_err(|error| error.to_string())?;
        Index::open(file, history.as_deref()).map_err(|error| error.to_string())
    }

    /// As [`Engine::taken`], where a question need not fill the index first, or may. One that is not whole is wanted then.
    pub(super) fn taken_whole(&self, effort: Effort, is_locked: bool) -> Option<Index> {
        if effort == Effort::Fill && !self.background.is_on() {
            return self.taken(is_locked);
        }
        let is_there = !self.background.is_filling() && (self.has_index_file() || !self.keeper.idle().is_empty());
        if let Some(index) = if is_there { self.taken(is_locked) } else { None } {
            match index.status() {
                Ok(status) if status.is_complete => return Some(index),
                // Whatever it is, the notes are read.
                status => drop(self.settled(index, status.map(|_| false).map_err(Trouble::Index))),
            }
        }
        self.background.want();
        None
    }

    /// Keeps the connection for the next question. What goes wrong with an index is no news for who asks: it is made
    /// anew, and the notes are read.
    pub(super) fn settled(&self, index: Index, result: Result<bool, Trouble>) -> Result<bool, TreeError> {
        if result.is_err() {
            // What the watcher told may not have come to the index.
            self.keeper.distrust();
        }
        if index.is_damaged() {
            tracing::warn!("the index is damaged and is made anew");
            drop(index);
            if let Err(error) = self.drop_index() {
                tracing::warn!(%error, "the index was not removed");
            }
        } else {
            self.keeper.idle().push(index);
        }
        match result {
            Ok(is_answered) => Ok(is_answered),
            Err(Trouble::Tree(error)) => Err(error),
            Err(Trouble::Asked(TreeError::Stopped)) => Err(TreeError::Stopped),
            Err(Trouble::Index(error)) => {
                tracing::warn!(%error, "the index was not used");
                Ok(false)
            }
            Err(Trouble::Much) => {
                self.background.want();
                Ok(false)
            }
            Err(Trouble::Asked(_)) => Ok(false),
        }
    }

    /// Removes the index; it is built anew when it is needed.
    pub(super) fn drop_index(&self) -> Result<(), IndexError> {
        self.keeper.idle().clear();
        match &self.settings.index {
            IndexPlace::File(file) => Index::remove(file),
            IndexPlace::Process | IndexPlace::Nowhere => Ok(()),
        }
    }

    /// How many notes the index holds, and whether all were ever put into it; `None` where there is no file of one.
    #[must_use]
    pub fn indexed_notes(&self) -> Option<(usize, bool)> {
        let index = if self.has_index_file() { self.taken(false)? } else { return None };
        let status = index.status().ok();
        self.keeper.idle().push(index);
        status.map(|status| (status.notes, status.is_complete))
    }

    /// Whether there is a file with an index in it, fresh or not.
    pub(super) fn has_index_file(&self) -> bool {
        matches!(&self.settings.index, IndexPlace::File(file) if Index::is_there(file))
    }
}

impl Keeper {
    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Index>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watched(&self) -> MutexGuard<'_, Option<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> MutexGuard<'_, Fresh> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that all files have to be looked at.
    pub(super) fn distrust(&self) {
        self.fresh().swept = None;
    }

    /// When all files were last looked at for this index. Until [`Keeper::trust`] nobody else may rely on it; what was
    /// taken of what the watcher told is not in the index yet.
    pub(super) fn begin(&self, index: &Index, noted: &Noted) -> Option<Timestamp> {
        let mut fresh = self.fresh();
        fresh.takes += u64::from(noted.is_everything || !noted.paths.is_empty());
        let (swept, file) = fresh.swept.take()?;
        (file == index.file_number()).then_some(swept)
    }

    /// How often something was taken of what the watcher told.
    pub(super) fn takes(&self) -> u64 {
        self.fresh().takes
    }

    /// Says that all was in the index that had been told when `takes` was asked for.
    pub(super) fn trust(&self, index: &Index, swept: Timestamp, takes: u64) {
        let mut fresh = self.fresh();
        if fresh.takes == takes {
            fresh.swept = Some((swept, index.file_number()));
        }
    }
}

impl Watched {
    /// Takes what was told since.
    pub(super) fn take(&self) -> Noted {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Noted {
    fn everything(is_blind: bool) -> Self {
        Self { paths: BTreeSet::new(), is_everything: true, is_blind }
    }

    /// Adds what was noticed.
    pub(super) fn note(&mut self, noticed: &Noticed) {
        match noticed {
            Noticed::Changed(paths) if self.paths.len() + paths.len() <= MOST_NOTED => {
                self.paths.extend(paths.iter().cloned());
            }
            Noticed::Changed(_) | Noticed::Rescan => *self = Self::everything(self.is_blind),
            Noticed::Blind => *self = Self::everything(true),
        }
    }

    /// Takes what was noted. Where not everything is told, there may be more at any time.
    pub(super) fn take(&mut self) -> Self {
        let next = if self.is_blind { Self::everything(true) } else { Self::default() };
        std::mem::replace(self, next)
    }
}
