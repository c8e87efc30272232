//! Building the index in the background, for a program that stays: one process at a time, and no question waits for it.
//!
//! While it fills the index, questions are answered by reading the notes; so they are wherever no index is. A question that
//! would have liked one says so, and the program is to build it then.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::build::Pace;
use super::index_pool::IndexTrouble;
use super::{Engine, IndexPlace, lock};
use memdir_core::time::Timestamp;
use memdir_index::Index;
use memdir_plan::TreeError;

/// So many files are put into the index by one transaction, and so many bytes of what is kept of them: whoever else writes to
/// it waits for one, and no more than these are in memory.
const PACE: Pace = Pace { files: 250, bytes: 4 << 20, write: Index::write_patiently };
/// After a build that failed none is begun for this long.
const PAUSE: Duration = Duration::from_secs(60);

/// Whether an index is built in the background, and how that goes.
#[derive(Debug, Default)]
pub(super) struct Background {
    /// Whether the program builds it, so that no question has to.
    is_on: bool,
    /// Whether a question was not answered from the index that could have been.
    is_wanted: AtomicBool,
    is_running: AtomicBool,
    /// Whether it is put so much that reading the notes is quicker.
    is_filling: AtomicBool,
    /// When it last failed, and why.
    failed: Mutex<Option<(Timestamp, String)>>,
}

impl Background {
    /// Whether the index is built in the background, and no question puts many notes into it.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether it is put so much just now that reading the notes is quicker.
    pub(super) fn is_filling(&self) -> bool {
        self.is_filling.load(Ordering::Relaxed)
    }

    pub(super) fn set_filling(&self, is_filling: bool) {
        self.is_filling.store(is_filling, Ordering::Relaxed);
    }

    /// Says that a question was not answered from the index that could have been. What is being built need not be wanted.
    pub(super) fn want(&self) {
        if self.is_on && !self.is_running.load(Ordering::Relaxed) {
            self.is_wanted.store(true, Ordering::Relaxed);
        }
    }
}

impl Engine {
    /// The same for a program that stays, and that builds the index with [`Engine::build_in_background`] when
    /// [`Engine::wants_index`]. Nothing changes for an index that is not in a file.
    #[must_use]
    pub fn with_background_index(mut self) -> Self {
        let is_on = matches!(self.settings.index, IndexPlace::File(_));
        self.background = Background { is_on, is_wanted: is_on.into(), ..Background::default() };
        self
    }

    /// Whether [`Engine::build_in_background`] has something to do.
    #[must_use]
    pub fn wants_index(&self) -> bool {
        let background = &self.background;
        let is_free = background.is_wanted.load(Ordering::Relaxed) && !background.is_running.load(Ordering::Relaxed);
        let now = self.now();
        is_free && lock(&background.failed).as_ref().is_none_or(|(failed, _)| now.since(*failed) >= PAUSE)
    }

    /// Builds the index, or brings it up to date, unless another process does. To be called on a thread of its own, with a
    /// low priority.
    ///
    /// What was done stays when `stop` ends it or the process dies, and the next run goes on from there, in whatever process.
    /// What goes wrong is told in the log, and questions are answered without an index.
    pub fn build_in_background(&self, stop: &(dyn Fn() -> bool + Sync)) {
        let IndexPlace::File(file) = &self.settings.index else { return };
        let background = &self.background;
        if background.is_running.swap(true, Ordering::Relaxed) {
            return;
        }
        background.is_wanted.store(false, Ordering::Relaxed);
        let built = catch_unwind(AssertUnwindSafe(|| self.build_alone(file, stop)));
        let built = built.unwrap_or_else(|_| Err("it has panicked: this is a bug of memdir".to_owned()));
        background.set_filling(false);
        background.is_running.store(false, Ordering::Relaxed);
        let failed = built.err();
        let mut last = lock(&background.failed);
        if let Some(failed) = &failed
            && last.as_ref().is_none_or(|(_, last)| last != failed)
        {
            tracing::warn!(error = failed, "the index is not built: notes are read instead");
        }
        *last = failed.map(|failed| (self.now(), failed));
    }

    fn build_alone(&self, file: &Path, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), String> {
        let Some(_alone) = Index::lock_build(file).map_err(|error| error.to_string())? else {
            tracing::debug!("another process builds the index");
            return Ok(());
        };
        let mut index = self.open_index(file)?;
        index.spare_memory().map_err(|error| error.to_string())?;
        let told = |_, total: usize| self.background.set_filling(total > PACE.files);
        let built = self.build(&mut index, PACE, &told, stop);
        let failed = if let Err(IndexTrouble::Index(error)) = &built { Some(error.to_string()) } else { None };
        let settled = self.return_index(index, built);
        // What the connections remember of the file is as large as a small memory.
        lock(&self.index_pool.idle).clear();
        // What changed between being read and being put is for a sweep to find.
        self.index_pool.mark_stale();
        match (failed, settled) {
            (Some(failed), _) => Err(failed),
            (None, Ok(_)) => {
                tracing::info!("the index is built");
                Ok(())
            }
            (None, Err(TreeError::Stopped)) => Ok(()),
            (None, Err(error)) => Err(error.to_string()),
        }
    }
}
