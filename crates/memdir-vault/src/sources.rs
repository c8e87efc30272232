//! The batches that came from an import or a tool, whose notes a person should confirm.
//!
//! Owns how these batches are found without reading the audit: by a row of `meta` for each, with its number in the key.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params};

use super::journal::Journal;
use super::{Author, Vault, VaultError, moves};
use memdir_core::path::MemoryPath;
use memdir_core::report::WrittenBy;

/// How the key of such a row begins.
const SOURCE: &str = "source:";

/// Notes a batch that comes from an import or a tool.
pub(super) fn note(transaction: &Transaction<'_>, batch: u64, author: &Author) -> Result<(), VaultError> {
    if WrittenBy::of_origin(&author.origin).needs_confirmation() {
        let sql = "INSERT INTO meta VALUES (?1, 1) ON CONFLICT (key) DO NOTHING";
        transaction.prepare_cached(sql)?.execute([format!("{SOURCE}{batch}")])?;
    }
    Ok(())
}

impl Journal {
    /// Whether no batch comes from an import or a tool.
    pub(super) fn has_no_sources(&self) -> Result<bool, VaultError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM meta WHERE key > ?1 AND key < ?1 || 'a')";
        Ok(self.db.prepare_cached(sql)?.query_row([SOURCE], |row| row.get(0))?)
    }
}

impl Vault {
    /// The notes, by the names that they have now, of which an import or a tool has written something at any time.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn sourced_notes(&self) -> Result<BTreeSet<MemoryPath>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(BTreeSet::new()) };
        let sql = "SELECT DISTINCT path, batch FROM meta JOIN step ON batch = CAST(substr(key, ?2) AS INTEGER)
                   WHERE key > ?1 AND key < ?1 || 'a' AND kind = 4 AND path IS NOT NULL";
        let renames = moves::all_moves(&core.journal)?;
        let mut statement = core.journal.db.prepare_cached(sql)?;
        let mut rows = statement.query(params![SOURCE, SOURCE.len() + 1])?;
        let mut found = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let Ok(path) = MemoryPath::parse(&row.get::<_, String>(0)?) else { continue };
            let batch: u64 = row.get(1)?;
            let later = renames.get(renames.partition_point(|(number, _)| *number <= batch)..).unwrap_or_default();
            found.insert(later.iter().fold(path, |name, (_, moves)| moves::name_after(moves, &name)));
        }
        Ok(found)
    }
}
