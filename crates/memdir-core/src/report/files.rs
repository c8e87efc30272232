//! Files and folders, as they are listed.

use serde::Serialize;

use crate::digest::Digest;
use crate::path::MemoryPath;

/// A file or a folder below another folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TreeEntry {
    /// Where it is.
    pub path: MemoryPath,
    /// What it is.
    pub kind: Kind,
    /// Bytes: of the file, or of all files below the folder.
    pub size: u64,
}

/// What a path is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
}

/// One entry of a folder.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DirectoryEntry {
    /// Its name in the folder.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Bytes: of the file, or of all files below the folder.
    pub size: u64,
}

/// A file or a folder.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FileInfo {
    /// Where it is.
    pub path: MemoryPath,
    /// What it is.
    pub kind: Kind,
    /// Bytes: of the file, or of all files below the folder.
    pub size: u64,
    /// Lines of a text file; an unfinished last line counts.
    pub lines: Option<usize>,
    /// When it was last changed, RFC 3339 in UTC.
    pub modified: String,
    /// The digest of a file.
    pub digest: Option<Digest>,
}
