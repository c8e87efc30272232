//! The file of an index: opened, checked, removed, made anew.
//!
//! Several processes share it, and any of them may find that it has to be removed. SQLite opens a database and its log one
//! after the other, by their names, so neither may be removed or made in between: everything here is done under a lock on
//! a file beside it. A connection that was open before goes on with a file without a name, and can find that out
//! ([`IndexFile::is_current`]).

use std::fs::{Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{Index, IndexError};
use memdir_core::retry;

/// The version of what is in the file. Raise it with every change of the tables and of what a
/// [`NoteRecord`](super::NoteRecord) takes of a note: words, stems, names, cards, looks, and of how notes are cut into
/// [pieces](memdir_note::pieces), which have points.
pub(super) const VERSION: i64 = 18;
/// "memi", so that `file` and we can tell the database from any other.
const APPLICATION: i64 = 0x6d65_6d69;
/// How long a question waits for other processes. Without the index the notes are read.
pub(super) const MOMENT: Duration = Duration::from_millis(200);
/// How long work waits for them if no question waits for it.
pub(super) const LONG: Duration = Duration::from_secs(10);

/// The device and the number of a file.
pub type Number = (u64, u64);

/// Where an index is, and which of the files that were there under this name.
#[derive(Debug)]
pub(super) struct IndexFile {
    file: PathBuf,
    number: Option<Number>,
}

impl IndexFile {
    /// Whether the file of this name is still the one that was opened.
    pub(super) fn is_current(&self) -> bool {
        number(&self.file) == self.number
    }

    pub(super) fn number(&self) -> Option<Number> {
        self.number
    }
}

/// Opens the index of a history, or makes it when there is none that can be used.
pub(super) fn open(file: &Path, history: Option<&[u8]>) -> Result<(Connection, IndexFile), IndexError> {
    let file = &placed(file)?;
    let _lock = lock(file, MOMENT)?;
    let db = match existing(file, history) {
        Ok(Some(db)) => db,
        Err(IndexError::Busy) => return Err(IndexError::Busy),
        // Whatever it is, it can be made again.
        Ok(None) | Err(_) => {
            remove_all(file)?;
            made(file, history)?
        }
    };
    Ok((db, IndexFile { file: file.to_owned(), number: number(file) }))
}

/// One that nobody else sees, and that goes with its connection.
pub(super) fn in_memory() -> Result<Connection, IndexError> {
    let mut db = Connection::open_in_memory()?;
    settle(&db)?;
    create(&mut db, None)?;
    Ok(db)
}

impl Index {
    /// Removes the file of an index and what SQLite put beside it. Connections that are open notice that the file is no longer
    /// current.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] when others keep opening it for 10 s, and what the system says.
    pub fn remove(file: &Path) -> Result<(), IndexError> {
        if !Self::is_there(file) {
            return Ok(());
        }
        let file = &placed(file)?;
        let _lock = lock(file, LONG)?;
        remove_all(file)
    }

    /// Whether there is anything at the place of an index.
    #[must_use]
    pub fn is_there(file: &Path) -> bool {
        [file.to_owned(), beside(file, "-wal")].iter().any(|file| std::fs::symlink_metadata(file).is_ok())
    }

    /// Takes the lock that one process at a time holds while it fills the index at `file`; `None` where another holds it.
    /// Putting only what has changed into an index needs no lock.
    ///
    /// # Errors
    ///
    /// [`IndexError::NoWriteAccess`] where the index cannot be written, and what the system says.
    pub fn lock_build(file: &Path) -> Result<Option<BuildLock>, IndexError> {
        let held = lock_file(&placed(file)?, ".build")?;
        Ok(try_lock(&held)?.then_some(BuildLock(held)))
    }
}

/// The path of a file by way of no link, which SQLite would refuse; its folder is made if it is not there.
#[expect(clippy::disallowed_methods, reason = "the index owns this folder, which is in no memory")]
fn placed(file: &Path) -> Result<PathBuf, IndexError> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(IndexError::io("place", io::ErrorKind::InvalidInput.into()));
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| IndexError::io("make the folder of", error))?;
    let folder = std::fs::canonicalize(folder).map_err(|error| IndexError::io("find the folder of", error))?;
    if !std::fs::symlink_metadata(&folder).is_ok_and(|found| is_own(&found)) {
        return Err(IndexError::NoWriteAccess);
    }
    Ok(folder.join(name))
}

/// Whether nobody else can have put there what is there.
#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Opens what is there; `None` when it is somebody else's, of another version, or about another history.
fn existing(file: &Path, history: Option<&[u8]>) -> Result<Option<Connection>, IndexError> {
    match std::fs::symlink_metadata(file) {
        Ok(found) if found.is_file() && is_own(&found) => {}
        _ => return Ok(None),
    }
    let db = connect(file)?;
    let sql = "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id";
    let found: (i64, i64) = db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if found != (VERSION, APPLICATION) {
        return Ok(None);
    }
    let known: Option<Vec<u8>> = db.query_row("SELECT history FROM state", [], |row| row.get(0))?;
    match (known.as_deref(), history) {
        (known, history) if known == history => Ok(Some(db)),
        // The memory got its history since; which of its batches are in the index nobody knows.
        (None, Some(history)) => {
            db.execute("UPDATE state SET history = ?1, batch = 0", [history])?;
            Ok(Some(db))
        }
        _ => Ok(None),
    }
}

fn made(file: &Path, history: Option<&[u8]>) -> Result<Connection, IndexError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // It holds words of private notes. SQLite gives its log the same mode.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map_err(|error| IndexError::io("make", error))?;
    let mut db = connect(file)?;
    // What is kept of a note fills half a page of 4 KB and more, so that the other half would be lost.
    db.pragma_update(None, "page_size", 8192)?;
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(IndexError::io("share", io::ErrorKind::Unsupported.into()));
    }
    create(&mut db, history)?;
    Ok(db)
}

fn create(db: &mut Connection, history: Option<&[u8]>) -> Result<(), IndexError> {
    let transaction = db.transaction()?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    transaction.execute("INSERT INTO state VALUES (1, ?1, 0, 0, 0, 0, 0, NULL, 0)", [history])?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

fn connect(file: &Path) -> Result<Connection, IndexError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let db = Connection::open_with_flags(file, flags)?;
    settle(&db)?;
    Ok(db)
}

/// What holds for every connection. The file may be anyone's, so nothing in it is run.
fn settle(db: &Connection) -> Result<(), IndexError> {
    db.busy_timeout(MOMENT)?;
    db.set_prepared_statement_cache_capacity(64);
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        // The last one to close removes the log by its name, which may be that of another file by then.
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        // Else a statement is planned anew for each value of a column with a partial index.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        db.set_db_config(option, value)?;
    }
    // No `mmap_size`: a file that another program cuts would end this one.
    db.execute_batch(
        "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 8388608;",
    )?;
    Ok(())
}

/// Brings the log into the database and empties it, if nobody else is reading or writing.
pub(super) fn shorten_log(db: &Connection) {
    // Where this fails, a later change does it.
    let _ = db.busy_timeout(Duration::ZERO);
    let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    let _ = db.busy_timeout(MOMENT);
}

/// Begins a change, if no other connection is making one, and says whether it began. Never waits.
pub(super) fn begin_at_once(db: &Connection) -> Result<bool, IndexError> {
    // SQLite would pause for longer and longer, so that later connections would be served first.
    db.busy_timeout(Duration::ZERO)?;
    let begun = db.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map_err(IndexError::from);
    db.busy_timeout(MOMENT)?;
    match begun {
        Err(IndexError::Busy) => Ok(false),
        begun => begun.map(|_| true),
    }
}

/// Takes the lock that keeps others from opening, making and removing the index; it goes with what is returned.
#[expect(clippy::disallowed_types, reason = "the index owns this file, which is in no memory")]
fn lock(file: &Path, limit: Duration) -> Result<std::fs::File, IndexError> {
    let held = lock_file(file, ".lock")?;
    let locked = retry::within(limit, || Ok::<_, IndexError>(try_lock(&held)?.then_some(())));
    locked?.ok_or(IndexError::Busy)?;
    Ok(held)
}

/// The right to fill the index alone, until it is dropped or the process ends.
#[derive(Debug)]
#[expect(clippy::disallowed_types, reason = "the index owns this file, which is in no memory")]
pub struct BuildLock(#[expect(dead_code, reason = "the lock is held as long as the file is open")] std::fs::File);

/// Opens a file beside the index that nothing is written to, to hold a lock on it.
#[expect(clippy::disallowed_types, reason = "the index owns this file, which is in no memory")]
fn lock_file(file: &Path, ending: &str) -> Result<std::fs::File, IndexError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(beside(file, ending)).map_err(|error| IndexError::io("lock", error))
}

/// Takes the lock on a file; `false` where another has it.
#[expect(clippy::disallowed_types, reason = "the index owns this file, which is in no memory")]
fn try_lock(held: &std::fs::File) -> Result<bool, IndexError> {
    match held.try_lock().map_err(io::Error::from) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(IndexError::io("lock", error)),
    }
}

#[expect(clippy::disallowed_methods, reason = "the index owns this file, which is in no memory")]
fn remove_all(file: &Path) -> Result<(), IndexError> {
    // The log goes last: without its database it says nothing, and another database must not find it.
    for name in [file.to_owned(), beside(file, "-shm"), beside(file, "-journal"), beside(file, "-wal")] {
        let removed = match std::fs::symlink_metadata(&name) {
            Ok(found) if found.is_dir() => std::fs::remove_dir(&name),
            Ok(_) => std::fs::remove_file(&name),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(IndexError::io("remove", error)),
            _ => {}
        }
    }
    Ok(())
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// What tells a file from another one of the same name.
#[cfg(unix)]
fn number(file: &Path) -> Option<Number> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(file).ok().map(|found| (found.dev(), found.ino()))
}

/// A file that is open cannot be removed here, so that there is no other one.
#[cfg(not(unix))]
fn number(_: &Path) -> Option<Number> {
    None
}
