//! [`Step`]: one physical change, and what it is expected to find; [`Image`]: a file before or after it.
//!
//! Owns the normal form of a change, in which the vault can carry it out and, after a crash, tell what is already
//! done. Touches nothing but the values given to it.

use std::sync::{Arc, OnceLock};

use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;

/// The bytes of a file and their digest, which is made when it is first asked for. Cloning shares the bytes.
#[derive(Clone, Eq)]
pub struct Content {
    bytes: Arc<[u8]>,
    digest: OnceLock<Digest>,
}

impl Content {
    /// Holds `bytes`.
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { bytes: bytes.into(), digest: OnceLock::new() }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of(&self.bytes))
    }

    /// The bytes as text, when they are UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Content({} bytes, {})", self.bytes.len(), self.digest())
    }
}

/// A regular file as it was or will be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Image {
    /// What it holds.
    pub content: Content,
    /// The permission bits of its mode; `None` for those a new file gets.
    pub mode: Option<u32>,
}

/// One physical change.
///
/// The steps of a plan are in normal form: first folders are made and things are moved, in the order given; then
/// each file that differs is put or removed, under the name it has after the moves, each name once; last, folders
/// are removed, the deepest first. So each step can be recognized as done or not done by looking at the disk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// Makes a folder whose parent exists.
    MakeFolder {
        /// The folder.
        path: MemoryPath,
        /// Permission bits; `None` for those a new folder gets.
        mode: Option<u32>,
    },
    /// Renames a file or a folder to a name that is free.
    Move {
        /// Where it is.
        from: MemoryPath,
        /// Where it goes.
        to: MemoryPath,
        /// What it is.
        kind: Kind,
    },
    /// Makes, replaces or removes a file.
    Put {
        /// The file.
        path: MemoryPath,
        /// What is expected there; `None` is nothing.
        before: Option<Image>,
        /// What is there then; `None` is nothing.
        after: Option<Image>,
    },
    /// Removes a folder that is empty by then.
    RemoveFolder {
        /// The folder.
        path: MemoryPath,
        /// The permission bits it had.
        mode: Option<u32>,
    },
}
