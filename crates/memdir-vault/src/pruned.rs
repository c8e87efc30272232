//! What has to be kept of the versions of notes when contents are pruned.

use std::collections::BTreeSet;

use rusqlite::Transaction;

use super::blame::{self, Authors, Version};
use super::journal::Journal;
use super::{VaultError, marks};
use memdir_core::path::MemoryPath;

/// What has to be written when contents are pruned.
#[derive(Debug, Default)]
pub(super) struct PrunedMarks {
    /// The packed lines of versions, each a step of a batch.
    new: Vec<(u64, u64, Vec<u8>)>,
    old: Vec<(u64, u64)>,
}

impl PrunedMarks {
    /// Finds the newest version of each note that loses a content, and follows its lines up to there.
    pub(super) fn of(journal: &Journal, doomed: &BTreeSet<i64>) -> Result<Self, VaultError> {
        let sql = "SELECT batch, number, path, before, after FROM step
                   WHERE kind = 4 AND path IS NOT NULL ORDER BY batch DESC, number DESC";
        let mut statement = journal.db.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut kept = Self::default();
        let mut done = BTreeSet::new();
        let mut authors = Authors::new(journal);
        while let Some(row) = rows.next()? {
            let (batch, number, after): (u64, u64, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(4)?);
            let is_pruned = |content: Option<i64>| content.is_some_and(|id| doomed.contains(&id));
            if !(is_pruned(row.get(3)?) || is_pruned(after)) || done.contains(&(batch, number)) {
                continue;
            }
            let Ok(path) = MemoryPath::parse(&row.get::<_, String>(2)?) else { continue };
            let versions = blame::versions_before(journal, &path, batch.saturating_add(1))?;
            done.extend(versions.iter().map(|version| (version.batch, version.number)));
            if after.is_some() {
                kept.add(journal, &versions, &mut authors)?;
            }
        }
        Ok(kept)
    }

    fn add(&mut self, journal: &Journal, versions: &[Version], authors: &mut Authors<'_>) -> Result<(), VaultError> {
        let Some((first, last)) = versions.first().zip(versions.last()) else { return Ok(()) };
        let lineage = blame::follow(journal, versions, authors)?;
        let Some(lines) = lineage.and_then(|lineage| lineage.marked()) else { return Ok(()) };
        if first.batch < last.batch && marks::are_kept(journal, first.batch, first.number)? {
            self.old.push((first.batch, first.number));
        }
        self.new.push((last.batch, last.number, marks::packed(&lines)));
        Ok(())
    }

    /// Writes what is kept, in the transaction that deletes the contents.
    pub(super) fn write(&self, transaction: &Transaction<'_>) -> Result<(), VaultError> {
        for (batch, number, packed) in &self.new {
            marks::keep(transaction, *batch, *number, packed)?;
        }
        self.old.iter().try_for_each(|(batch, number)| marks::forget(transaction, *batch, *number))
    }
}
