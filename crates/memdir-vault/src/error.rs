//! Why the vault could not do something.

use std::io;

use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;

/// Why a connection is not used that was just opened.
pub(super) const EXCHANGED: &str = "it was exchanged while the history was opened";
/// Why a connection is used no more.
pub(super) const REPLACED: &str = "it was replaced while memdir was using it";
/// Why there is nothing to use.
pub(super) const GONE: &str = "it disappears while it is used";

/// Why the vault could not do something, by what the caller does next.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A file is no longer as it was when the change was planned. Plan again.
    #[error("`{0}` has changed since it was planned")]
    Conflict(MemoryPath),
    /// Another process holds the lock. Try again later.
    #[error("another process is writing to this memory")]
    Busy,
    /// No room is left. Nothing was changed.
    #[error("the disk is full")]
    DiskFull,
    /// The system does not let us write this note, or where there is none, to the memory at all.
    #[error("no permission to write {}", .0.as_ref().map_or_else(|| "to this memory".to_owned(), |path| format!("`{path}`")))]
    NoWriteAccess(Option<MemoryPath>),
    /// The drive cannot hold a history: what several connections have to share does not work on it.
    #[error("this drive cannot hold the history")]
    Unfit,
    /// The drive keeps no locks, so that two programs could write at once.
    #[error("this drive does not support file locks, so two programs could write at the same time")]
    NoLocks,
    /// The path of the memory leads to its folder no more. Nothing was done; open the memory anew.
    #[error("the folder of this memory was moved, deleted or replaced")]
    Moved,
    /// `.memdir` is not what memdir made. Nothing in it was used.
    #[error("the folder `.memdir` cannot be trusted: {0}")]
    Untrusted(&'static str),
    /// The history is damaged.
    #[error("the history cannot be read: {0}")]
    Damaged(String),
    /// The history was written by a newer memdir. Nothing is wrong with it; update this one.
    #[error("the history was written by a newer memdir: it has version {0}")]
    Newer(i64),
    /// Contents of this batch are no longer kept.
    #[error("the contents of change {0} are no longer kept")]
    Pruned(u64),
    /// The history does not reach back to the moment that was asked for. Ask for the moment it gives, or a later one; `None`
    /// where it knows of none.
    #[error("what the notes said then is not known")]
    NotReached(Option<Timestamp>),
    /// No batch has this number.
    #[error("no change has the number {0}")]
    UnknownBatch(u64),
    /// The batch failed, and so did giving it back: the system failed twice, and the next writer finishes it or gives it
    /// back; or something of somebody else's is in the way, and stays. It may be there in part. Look at the notes before
    /// the change is tried again.
    #[error("change {0} could be neither finished nor wholly given back")]
    Unsettled(u64),
    /// The proposal was approved, rejected or has expired. Nothing is left to decide.
    #[error("proposal {0} has already been decided")]
    Decided(u64),
    /// Another process answers in this session. Wait for it, or begin another.
    #[error("session `{0}` is in use by another process")]
    InSession(String),
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// The session is too large to be gone on with.
    #[error("session `{0}` has more than 16 MiB")]
    LongSession(String),
    /// The system watches no more folders for this user. Raise the limit, or do without.
    #[error("the system watches no more folders; raise `{0}`")]
    WatchLimit(
        /// The name of the limit.
        &'static str,
    ),
    /// Anything else that the system says.
    #[error("cannot {verb}{}: {source}", place(.path.as_ref()))]
    Io {
        /// What was being done.
        verb: &'static str,
        /// Where; `None` for the memory as a whole.
        path: Option<MemoryPath>,
        /// What the system says.
        source: io::Error,
    },
    /// The database failed.
    #[error("the history cannot be used: {0}")]
    History(rusqlite::Error),
}

fn place(path: Option<&MemoryPath>) -> String {
    path.map_or_else(String::new, |path| format!(" `{path}`"))
}

impl VaultError {
    /// Sorts an error of the system by what the caller does next.
    pub(super) fn io(verb: &'static str, path: Option<&MemoryPath>, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge) {
            Self::DiskFull
        } else if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) {
            Self::NoWriteAccess(path.cloned())
        } else {
            Self::Io { verb, path: path.cloned(), source }
        }
    }

    /// Says of an error that came up when a history was made whether the drive can hold none.
    pub(super) fn of_drive(self) -> Self {
        let code = match &self {
            Self::History(error) => error.sqlite_error().map(|failure| failure.extended_code),
            _ => None,
        };
        if code.is_some_and(|code| UNFIT.contains(&code)) { Self::Unfit } else { self }
    }

    /// Whether it says of the history what stays so, whoever looks and however often.
    #[must_use]
    pub fn is_lasting_fault(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Untrusted(cause) => ![EXCHANGED, REPLACED, GONE].contains(cause),
            _ => false,
        }
    }

    /// Whether something else may have had the name of the history for a moment while it was opened.
    pub(super) fn may_be_of_exchange(&self) -> bool {
        matches!(self, Self::Untrusted(EXCHANGED)) || self.is_no_access()
    }

    /// Whether the history could not be opened for want of the right to write: SQLite shares a file among those who
    /// read, and where that is missing and cannot be made it just says that it cannot open the database.
    pub(super) fn is_no_access(&self) -> bool {
        let code = match self {
            Self::History(error) => error.sqlite_error_code(),
            _ => None,
        };
        matches!(self, Self::NoWriteAccess(_)) || code == Some(rusqlite::ErrorCode::CannotOpen)
    }
}

/// What SQLite says of locks and of shared memory that a drive does not have.
const UNFIT: [i32; 7] = [
    rusqlite::ffi::SQLITE_IOERR_SHMMAP,
    rusqlite::ffi::SQLITE_IOERR_SHMOPEN,
    rusqlite::ffi::SQLITE_IOERR_SHMLOCK,
    rusqlite::ffi::SQLITE_IOERR_LOCK,
    rusqlite::ffi::SQLITE_IOERR_RDLOCK,
    rusqlite::ffi::SQLITE_IOERR_UNLOCK,
    rusqlite::ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
];
/// What SQLite says where the file that connections share cannot grow, for which the system has no other reason.
const NO_ROOM_TO_SHARE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
/// What SQLite says of a file that ends before it should.
const CUT_SHORT: i32 = rusqlite::ffi::SQLITE_IOERR_SHORT_READ;
/// What SQLite says of a statement that names a table or a column which is not there.
const SQL_ERROR: i32 = 1;

impl From<rusqlite::Error> for VaultError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{Error, ErrorCode};
        // Our tables hold nothing else than what we put into them, and have the columns that we ask for.
        let is_foreign = matches!(
            error,
            Error::FromSqlConversionFailure(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::InvalidColumnType(..)
                | Error::Utf8Error(..)
                | Error::QueryReturnedNoRows
                | Error::SqlInputError { .. }
        ) || matches!(error, Error::SqliteFailure(failure, _) if failure.extended_code == SQL_ERROR);
        match error.sqlite_error_code() {
            _ if is_foreign => Self::Damaged(error.to_string()),
            Some(ErrorCode::SystemIoFailure)
                if error.sqlite_error().is_some_and(|failure| failure.extended_code == NO_ROOM_TO_SHARE) =>
            {
                Self::DiskFull
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::SystemIoFailure)
                if error.sqlite_error().is_some_and(|failure| failure.extended_code == CUT_SHORT) =>
            {
                Self::Damaged(error.to_string())
            }
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::NoWriteAccess(None),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            _ => Self::History(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_cannot_be_written_is_named() {
        let path = MemoryPath::parse("work/plan.md").unwrap();
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            let of_note = VaultError::io("put in place", Some(&path), kind.into()).to_string();
            assert_eq!(of_note, "no permission to write `work/plan.md`");
            let of_all = VaultError::io("make `.memdir`", None, kind.into()).to_string();
            assert_eq!(of_all, "no permission to write to this memory");
        }
    }
}
