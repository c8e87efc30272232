//! Which batches are in force, and which were undone.
//!
//! Owns how an undoing of several batches is kept: the newest in its own row, and a row of `meta` for each of the others.

use rusqlite::{OptionalExtension, Transaction, params};

use super::VaultError;
use super::journal::Journal;

/// How the key of a row of `meta` begins that has the batch by which the one in its key was undone together with a newer one.
pub(super) const UNDONE: &str = "undone:";

/// Batches that are in force, or will be once they are finished.
pub(super) const IN_FORCE: &str = "state IN (2, 3)";

/// Notes the batches that one undoes, the newest first. Its own row has room for the first.
pub(super) fn note(transaction: &Transaction<'_>, by: u64, undoes: &[u64]) -> Result<(), VaultError> {
    let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    undoes.iter().skip(1).try_for_each(|batch| {
        statement.execute(params![format!("{UNDONE}{batch}"), by])?;
        Ok(())
    })
}

/// The newest batch that undoes this one, be it undone itself or not.
fn newest_undoing(journal: &Journal, batch: u64) -> Result<Option<u64>, VaultError> {
    let sql = format!(
        "SELECT max(id) FROM (SELECT id, state FROM batch WHERE undoes = ?1 UNION ALL SELECT id, state FROM batch
         WHERE id = (SELECT value FROM meta WHERE key = '{UNDONE}' || ?1)) WHERE {IN_FORCE}"
    );
    Ok(journal.db.prepare_cached(&sql)?.query_row([batch], |row| row.get(0))?)
}

/// Follows the undoing of a batch: undone, and the undo undone, and so on. What put a batch in force again is undone too once that
/// batch is: nothing of it is left to undo.
pub(super) fn undone_by(journal: &Journal, batch: u64) -> Result<Option<u64>, VaultError> {
    match undone_itself(journal, batch)? {
        None => put_in_force(journal, batch)?.map_or(Ok(None), |other| undone_itself(journal, other)),
        undone => Ok(undone),
    }
}

/// The batch that one put in force again by undoing its undo, however often that was done.
fn put_in_force(journal: &Journal, batch: u64) -> Result<Option<u64>, VaultError> {
    let undone = |batch: u64| -> Result<Option<u64>, VaultError> {
        let mut statement = journal.db.prepare_cached("SELECT undoes FROM batch WHERE id = ?1")?;
        Ok(statement.query_row([batch], |row| row.get(0)).optional()?.flatten())
    };
    let (mut first, mut is_redo) = (undone(batch)?, false);
    while let Some(found) = first
        && let Some(earlier) = undone(found)?
    {
        (first, is_redo) = (Some(earlier), !is_redo);
    }
    Ok(first.filter(|_| is_redo))
}

/// As [`undone_by`], by what undid the batch itself.
fn undone_itself(journal: &Journal, batch: u64) -> Result<Option<u64>, VaultError> {
    let first = newest_undoing(journal, batch)?;
    let (mut last, mut is_undone) = (first, first.is_some());
    while let Some(undo) = last {
        last = newest_undoing(journal, undo)?;
        is_undone ^= last.is_some();
    }
    Ok(first.filter(|_| is_undone))
}
