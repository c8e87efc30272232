//! [`Indexed`]: a tree that lets an index be asked, and the freshness of its answers.

use super::Engine;
use super::lens::Lens;
use crate::path::MemoryPath;
use crate::plan::{Altered, Effort, Image, Listing, Scan, Scanned, Stat, Tree, TreeError};
use crate::policy::Grant;
use crate::rank::{Point, Source};
use crate::report::Log;

/// The memory as somebody sees it, with the index of the engine for who sees all of it.
pub(super) struct Indexed<'e, T> {
    pub(super) engine: &'e Engine,
    /// The vault, or its writer.
    pub(super) tree: &'e T,
    /// What is shown of it, where that is not all.
    pub(super) grant: Option<&'e Grant>,
    /// Whether this thread holds the lock of the vault, which must not be asked for its history then.
    pub(super) is_locked: bool,
}

impl<'e, T: Tree> Indexed<'e, T> {
    /// The memory as somebody with this grant sees it.
    pub(super) fn new(engine: &'e Engine, tree: &'e T, grant: Option<&'e Grant>, is_locked: bool) -> Self {
        Self { engine, tree, grant: grant.filter(|grant| grant.is_restricted()), is_locked }
    }

    fn lens(&self) -> Option<Lens<'e, T>> {
        self.grant.map(|grant| Lens { tree: self.tree, grant })
    }
}

impl<T: Tree> Tree for Indexed<'_, T> {
    type Whole = T::Whole;

    fn whole(&self) -> &T::Whole {
        self.tree.whole()
    }

    fn is_part(&self) -> bool {
        self.grant.is_some()
    }

    fn shows(&self, path: &MemoryPath) -> bool {
        self.grant.is_none_or(|grant| grant.shows(path))
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        self.lens().map_or_else(|| self.tree.stat(path), |lens| lens.stat(path))
    }

    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        self.lens().map_or_else(|| self.tree.resolve(path), |lens| Ok(lens.resolve(path)))
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        self.lens().map_or_else(|| self.tree.read(path, limit), |lens| lens.read(path, limit))
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        self.lens().map_or_else(|| self.tree.list(folder), |lens| lens.list(folder))
    }

    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        self.lens().map_or_else(|| self.tree.scan(scan, look), |lens| lens.scan(scan, look))
    }

    /// An index counts the words of all notes, so it is for who may see all.
    fn consult(
        &self,
        altered: &[Altered],
        effort: Effort,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        if self.is_part() { Ok(false) } else { self.engine.consult(altered, effort, self.is_locked, ask) }
    }

    /// As with [`Tree::consult`].
    fn point(&self, question: &str) -> Option<Point> {
        if self.is_part() { None } else { self.engine.point(question, self.is_locked) }
    }

    /// The limit on all notes holds for everybody, so all of them count.
    fn note_bytes(&self) -> Result<u64, TreeError> {
        self.tree.note_bytes()
    }

    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        self.lens().map_or_else(|| self.tree.history(path, limit), |lens| lens.history(path, limit))
    }
}
