//! Why the index could not do something.

use std::io;

use memdir_rank::SourceError;

/// Why the index could not do something, by what the caller does next.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Another process is writing to it. Go on without, or try again later.
    #[error("another process is writing to the index")]
    Busy,
    /// No room is left. What was not committed is not there.
    #[error("the disk is full")]
    DiskFull,
    /// The system does not let us write where the index is.
    #[error("no permission to write the index")]
    NoWriteAccess,
    /// What is in the file is not what was put there. Remove it, and fill a new one.
    #[error("the index is damaged: {0}")]
    Damaged(
        /// In the words of the database.
        String,
    ),
    /// Anything else that the system says.
    #[error("cannot {verb} the index: {source}")]
    Io {
        /// What was being done.
        verb: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The database failed.
    #[error("the index cannot be used: {0}")]
    Failed(rusqlite::Error),
}

impl IndexError {
    /// Sorts an error of the system by what the caller does next.
    pub(super) fn io(verb: &'static str, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge) {
            Self::DiskFull
        } else if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) {
            Self::NoWriteAccess
        } else {
            Self::Io { verb, source }
        }
    }

    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }
}

/// What SQLite says of a statement that names a table or a column which is not there.
const SQL_ERROR: i32 = 1;

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{Error, ErrorCode};
        // Our tables hold nothing else than what we put into them, have the columns that we ask for, and we never put
        // what they do not take.
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
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Self::NoWriteAccess,
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch,
            ) => Self::Damaged(error.to_string()),
            _ => Self::Failed(error),
        }
    }
}

impl From<IndexError> for SourceError {
    fn from(error: IndexError) -> Self {
        Self::Failed(error.to_string())
    }
}
