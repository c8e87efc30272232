//! The journal as a feed: what batches have touched since somebody last asked.
//!
//! Batches of every process count, and only settled ones count as seen: a batch that is under way is reported again the
//! next time.

use rusqlite::OptionalExtension;

use super::journal::{Journal, State};
use super::{Vault, VaultError};
use memdir_core::path::MemoryPath;

/// More paths than this are not listed: looking at every file is as quick.
const MOST_PATHS: usize = 10_000;

/// What has been touched since a batch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChangedPaths {
    /// The newest settled batch, 0 where there is none: the argument of the next call.
    pub newest: u64,
    /// Every file and folder that was touched, once, sorted; a folder stands for all that is below it.
    pub paths: Vec<MemoryPath>,
    /// Whether the paths are not all: one is forgotten, they are too many, or the history is not the one that was asked
    /// the last time. Then every file has to be looked at.
    pub is_everything: bool,
}

impl Vault {
    /// Lists what batches newer than `batch` have touched, also those that were given back. One query where nothing is new.
    ///
    /// # Errors
    ///
    /// [`VaultError::Damaged`], and those of the database.
    pub fn changed_since(&self, batch: u64) -> Result<ChangedPaths, VaultError> {
        let core = self.known_core()?;
        let newest = match core.as_ref() {
            Some(core) => core.journal.newest()?,
            None => None,
        };
        let (last, newest) = match newest {
            // Only the newest can be unsettled: a later writer finishes it first.
            Some((last, State::Applied | State::Aborted)) => (last, last),
            Some((last, State::Open | State::Committed | State::Aborting)) => (last, last.saturating_sub(1)),
            None => (0, 0),
        };
        let everything = ChangedPaths { newest, paths: Vec::new(), is_everything: true };
        match core.as_ref() {
            _ if batch > newest => Ok(everything),
            Some(core) if last > batch => Ok(match touched(&core.journal, batch)? {
                Some(paths) => ChangedPaths { newest, paths, is_everything: false },
                None => everything,
            }),
            _ => Ok(ChangedPaths { newest, ..ChangedPaths::default() }),
        }
    }

    /// The random identifier of the history, by which an index derived from another one is recognized; `None` where there is no
    /// history.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn history_id(&self) -> Result<Option<Vec<u8>>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(None) };
        core.journal.id()
    }
}

impl Journal {
    /// The random identifier of the history.
    pub(super) fn id(&self) -> Result<Option<Vec<u8>>, VaultError> {
        let mut statement = self.db.prepare_cached("SELECT value FROM meta WHERE key = 'id'")?;
        Ok(statement.query_row([], |row| row.get(0)).optional()?)
    }
}

/// The paths in the steps of all newer batches, sorted; `None` where they are not known or too many.
fn touched(journal: &Journal, batch: u64) -> Result<Option<Vec<MemoryPath>>, VaultError> {
    let sql = "SELECT path FROM step WHERE batch > ?1
               UNION SELECT new_path FROM step WHERE batch > ?1 AND (new_path IS NOT NULL OR kind IN (2, 3))
               ORDER BY 1 LIMIT ?2";
    let mut statement = journal.db.prepare_cached(sql)?;
    let mut rows = statement.query((batch, MOST_PATHS + 1))?;
    let mut paths = Vec::new();
    while let Some(row) = rows.next()? {
        let Some(path) = row.get::<_, Option<String>>(0)? else { return Ok(None) };
        let path = MemoryPath::parse(&path);
        paths.push(path.map_err(|error| VaultError::Damaged(format!("a step's path {error}")))?);
    }
    Ok(Some(paths).filter(|paths| paths.len() <= MOST_PATHS))
}
