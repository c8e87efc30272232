//! Stands in for what "grants" writes, until it is merged; then this file goes.

use super::{Engine, ListedEntry};
use crate::path::MemoryPath;
use crate::plan::Tree;
use crate::policy::Grant;
use crate::report::Failure;

impl Engine {
    /// Whether somebody with this grant may be told of the note at `path`, whether it is there or not.
    #[must_use]
    pub fn visible(&self, grant: Option<&Grant>, path: &MemoryPath) -> bool {
        grant.is_none_or(|grant| grant.shows(path) && self.vault.resolve(path).is_ok_and(|place| grant.shows(&place)))
    }

    /// A page of the notes that somebody with this grant may see, sorted by path.
    ///
    /// # Errors
    ///
    /// `io`.
    pub fn notes(
        &self,
        grant: Option<&Grant>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<ListedEntry>, Option<String>), Failure> {
        let notes = self.every_note()?.into_iter().filter(|path| self.visible(grant, path));
        let mut notes: Vec<_> = notes.filter(|path| after.is_none_or(|after| path.as_str() > after)).collect();
        let is_cut = notes.len() > limit;
        notes.truncate(limit);
        let next = notes.last().filter(|_| is_cut).map(ToString::to_string);
        let entry = |path: MemoryPath| {
            let stat = self.vault.stat(&path).ok().flatten()?;
            Some(ListedEntry { path, kind: stat.kind, size: stat.size })
        };
        Ok((notes.into_iter().filter_map(entry).collect(), next))
    }
}
