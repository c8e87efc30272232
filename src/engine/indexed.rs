//! [`Indexed`]: a tree that lets an index be asked, and the freshness of its answers.

use crate::path::MemoryPath;
use crate::plan::{Altered, Image, Listing, Scan, Scanned, Stat, Tree, TreeError};
use crate::rank::Source;
use crate::report::Log;

use super::Engine;

/// The memory, with the index of the engine.
pub(super) struct Indexed<'e, T> {
    pub(super) engine: &'e Engine,
    /// The vault, or its writer.
    pub(super) tree: &'e T,
    /// Whether this thread holds the lock of the vault, which must not be asked for its history then.
    pub(super) is_locked: bool,
}

impl<T: Tree> Tree for Indexed<'_, T> {
    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        self.tree.stat(path)
    }

    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        self.tree.resolve(path)
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        self.tree.read(path, limit)
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        self.tree.list(folder)
    }

    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        self.tree.scan(scan, look)
    }

    fn consult(
        &self,
        altered: &[Altered],
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        self.engine.consult(altered, self.is_locked, ask)
    }

    fn note_bytes(&self) -> Result<u64, TreeError> {
        self.tree.note_bytes()
    }

    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        self.tree.history(path, limit)
    }
}
