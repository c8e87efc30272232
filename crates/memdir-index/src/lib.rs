//! What the notes of a memory say, in one SQLite file: words, names, links, cards, points.
//!
//! Owns that file, which can be thrown away at any time and made again from the notes. It is given texts and paths and
//! never touches the memory: its caller fills it and records how far that has come ([`Status`]). Several processes share
//! the file; each [`Index`] is one connection to it.

#![warn(clippy::wildcard_enum_match_arm)]

use std::cell::Cell;
use std::ops::Deref;
use std::path::Path;

use rusqlite::{Connection, Row};

use memdir_check::Look;
use memdir_core::path::MemoryPath;
use memdir_note::Seen;
use memdir_plan::{Stamp, Swept};

mod around;
mod error;
mod file;
mod looks;
mod points;
mod record;
mod sealed;
mod source;
mod write;

pub use error::IndexError;
pub use file::{BuildLock, Number as FileNumber};
pub use looks::LooksOf;
pub use points::{Pointed, Unpointed};
pub use record::NoteRecord;
pub use write::WriteTransaction;

/// One connection to an index. Answers the questions of [`Source`](memdir_rank::Source).
#[derive(Debug)]
pub struct Index {
    db: Connection,
    /// `None` for one that is in memory.
    place: Option<file::IndexFile>,
    is_damaged: Cell<bool>,
}

/// How far an index has come, and how much is in it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// Whether all files of the memory were put.
    pub is_complete: bool,
    /// The newest batch of the journal that is in it.
    pub batch: u64,
    /// How many files it knows.
    pub files: usize,
    /// How many of them are notes, without those whose name is a link to another.
    pub notes: usize,
}

/// A file as an index keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedFile {
    /// Where it is.
    pub path: MemoryPath,
    /// Whether its name is a link to a file elsewhere in the memory.
    pub is_link: bool,
    /// Its links, and what in it can be linked to; `None` for what is no note, or no text.
    pub seen: Option<Seen>,
    /// What a check looks at, if that was asked for; `None` for what is no note.
    pub look: Option<Look>,
}

/// One state of an index: all answers agree, whatever other connections write meanwhile.
#[derive(Debug)]
pub struct ReadTransaction<'i>(&'i Index);

impl Index {
    /// Opens the index at `file`, whose folder is there and has no link in its path, or makes it.
    ///
    /// `history` names the history whose batches it counts. A file that cannot be used is replaced by an empty index: one of another
    /// version or another history, a damaged one, or no index at all. Other connections to it are not disturbed. Only the user can
    /// read the file.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] when others keep it from being opened for 0.2 s, and what the system says where nothing can
    /// be written.
    pub fn open(file: &Path, history: Option<&[u8]>) -> Result<Self, IndexError> {
        let (db, place) = file::open(file, history)?;
        Ok(Self { db, place: Some(place), is_damaged: Cell::new(false) })
    }

    /// Makes an index in memory, which ends with its connection.
    ///
    /// # Errors
    ///
    /// [`IndexError::Failed`] when there is no room for it.
    pub fn in_memory() -> Result<Self, IndexError> {
        Ok(Self { db: file::in_memory()?, place: None, is_damaged: Cell::new(false) })
    }

    /// Whether the file that was opened still has its name. Another process may have removed it; what is written to it then is
    /// lost.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.place.as_ref().is_none_or(file::IndexFile::is_current)
    }

    /// The device and number of its file; `None` for an index in memory, and where the system has no numbers.
    #[must_use]
    pub fn file_number(&self) -> Option<FileNumber> {
        self.place.as_ref().and_then(file::IndexFile::number)
    }

    /// Whether an answer was [`IndexError::Damaged`], also where ranking asked. Remove it, and fill a new one.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    /// Keeps little of the file in memory from now on, at the cost of more reading: for filling it in the background.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn spare_memory(&self) -> Result<(), IndexError> {
        self.checked(|db| Ok(db.execute_batch("PRAGMA cache_size = -4096")?))
    }

    /// How far it has come.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn status(&self) -> Result<Status, IndexError> {
        self.checked(|db| {
            let sql = "SELECT is_complete, batch, files, notes FROM state";
            Ok(db.prepare_cached(sql)?.query_row([], |row| {
                Ok(Status { is_complete: row.get(0)?, batch: row.get(1)?, files: row.get(2)?, notes: row.get(3)? })
            })?)
        })
    }

    /// Every file as it was when it was put, sorted by path.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn known(&self) -> Result<Vec<Swept>, IndexError> {
        let mut known = self.checked(|db| {
            let sql = "SELECT path, is_link, size, modified, changed, inode, (SELECT files FROM state) FROM file";
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let (mut known, mut files) = (Vec::new(), None);
            while let Some(row) = rows.next()? {
                files = Some(row.get(6)?);
                known.push(swept(row)?);
            }
            whole(files, known.len())?;
            Ok(known)
        })?;
        // Mostly sorted already, since a first run puts them in order.
        known.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(known)
    }

    /// What is known of some files, those of which nothing is known left out.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn stamps<'p>(&self, paths: impl IntoIterator<Item = &'p MemoryPath>) -> Result<Vec<Swept>, IndexError> {
        self.checked(|db| {
            let sql = "SELECT path, is_link, size, modified, changed, inode FROM file WHERE path = ?1";
            let mut statement = db.prepare_cached(sql)?;
            let mut known = Vec::new();
            for path in paths {
                let mut rows = statement.query([path.as_str()])?;
                known.extend(rows.next()?.map(swept).transpose()?);
            }
            Ok(known)
        })
    }

    /// The files whose names are links to others, as they were when they were put.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn links(&self) -> Result<Vec<Swept>, IndexError> {
        self.checked(|db| {
            let sql = "SELECT path, is_link, size, modified, changed, inode FROM file WHERE is_link";
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut links = Vec::new();
            while let Some(row) = rows.next()? {
                links.push(swept(row)?);
            }
            Ok(links)
        })
    }

    /// Visits every file with its links, sorted by path; `looks` says whether what a check looks at is read as well.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn each(&self, looks: bool, visit: &mut dyn FnMut(IndexedFile)) -> Result<(), IndexError> {
        self.checked(|db| {
            let sql = "SELECT path, is_link, card, look, note.file IS NOT NULL,
                              (SELECT files FROM state), (SELECT notes FROM state)
                       FROM file LEFT JOIN note ON note.file = file.id ORDER BY path";
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let (mut expected, mut files, mut notes) = ((None, None), 0, 0);
            while let Some(row) = rows.next()? {
                let kept = kept(row, looks)?;
                expected = (Some(row.get(5)?), Some(row.get(6)?));
                files += 1;
                notes += usize::from(row.get(4)? && !kept.is_link);
                visit(kept);
            }
            whole(expected.0, files)?;
            whole(expected.1, notes)
        })
    }

    /// Starts to read one state of it.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn begin_read(&mut self) -> Result<ReadTransaction<'_>, IndexError> {
        self.checked(|db| Ok(db.prepare_cached("BEGIN")?.execute([])?))?;
        let reading = ReadTransaction(self);
        // The state is the one at the first question.
        reading.status()?;
        Ok(reading)
    }

    /// Runs what asks the database, and remembers whether it found damage.
    fn checked<T>(&self, ask: impl FnOnce(&Connection) -> Result<T, IndexError>) -> Result<T, IndexError> {
        let answer = ask(&self.db);
        if matches!(answer, Err(IndexError::Damaged(_))) {
            self.is_damaged.set(true);
        }
        answer
    }
}

impl Deref for ReadTransaction<'_> {
    type Target = Index;

    fn deref(&self) -> &Index {
        self.0
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        // Where this fails the transaction is over already.
        let _ = self.0.db.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
    }
}

/// Where a page is lost, rows are missing and SQLite reports nothing, so they are counted.
fn whole(expected: Option<usize>, found: usize) -> Result<(), IndexError> {
    match expected {
        Some(expected) if expected != found => Err(IndexError::damaged("not all files are there that it knows")),
        _ => Ok(()),
    }
}

fn swept(row: &Row<'_>) -> Result<Swept, IndexError> {
    let stamp = Stamp {
        size: row.get::<_, i64>(2)?.cast_unsigned(),
        modified: row.get(3)?,
        changed: row.get(4)?,
        inode: row.get::<_, i64>(5)?.cast_unsigned(),
    };
    Ok(Swept { path: sealed::path(text(row, 0)?)?, is_link: row.get(1)?, stamp })
}

fn kept(row: &Row<'_>, looks: bool) -> Result<IndexedFile, IndexError> {
    let path = sealed::path(text(row, 0)?)?;
    let seen = blob(row, 2)?.map(|card| sealed::open_first(&path, card)).transpose()?;
    let look = if looks { blob(row, 3)? } else { None };
    let look = look.map(|look| sealed::open(&path, look)).transpose()?;
    Ok(IndexedFile { is_link: row.get(1)?, seen, look, path })
}

/// A column of text, not copied.
fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, IndexError> {
    row.get_ref(column)?.as_str().map_err(|_| IndexError::damaged("a column of text holds something else"))
}

/// A column of bytes, not copied.
fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<Option<&'r [u8]>, IndexError> {
    let found = row.get_ref(column)?.as_blob_or_null();
    found.map_err(|_| IndexError::damaged("a column of bytes holds something else"))
}

#[cfg(test)]
mod tests;
