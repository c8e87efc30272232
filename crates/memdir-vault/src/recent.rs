//! What changed lately: batches with the paths that they changed, and nothing else of the log.

use rusqlite::{Row, params};

use super::journal::Journal;
use super::moves::path;
use super::undone::IN_FORCE;
use super::{Vault, VaultError};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_core::time::Timestamp;
use memdir_plan::{self as plan, Content, Image, PastBatch, Step};

impl Vault {
    /// The batches since `since`, the newest first: at most `limit` of those before `before`. Undone ones and undoings are among them.
    ///
    /// One query for all of them: a memory that has had many changes to few notes is asked for thousands.
    ///
    /// # Errors
    ///
    /// Those of the database. A memory without a history has no batches.
    pub fn batches_since(&self, since: Timestamp, before: u64, limit: usize) -> Result<Vec<PastBatch>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT path, new_path, kind, before IS NULL, after IS NULL, id, time
             FROM (SELECT id, time FROM batch WHERE {IN_FORCE} AND id < ?1 AND time >= ?2 ORDER BY id DESC LIMIT ?3)
             LEFT JOIN step ON step.batch = id ORDER BY id DESC, number"
        );
        // No number of SQLite's is greater.
        let (before, limit) = (before.min(i64::MAX.unsigned_abs()), i64::try_from(limit).unwrap_or(i64::MAX));
        let mut statement = core.journal.db.prepare_cached(&sql)?;
        let mut rows = statement.query(params![before, since.micros(), limit])?;
        let mut batches: Vec<(u64, Timestamp, Vec<Step>)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (number, step) = (row.get(5)?, bare_step(row)?);
            match batches.last_mut().filter(|(last, ..)| *last == number) {
                Some((_, _, steps)) => steps.extend(step),
                None => batches.push((number, Timestamp::from_micros(row.get(6)?), step.into_iter().collect())),
            }
        }
        let batch = |(number, time, steps): (u64, Timestamp, Vec<Step>)| PastBatch {
            number,
            time,
            changed: plan::changed(&steps),
        };
        Ok(batches.into_iter().map(batch).collect())
    }
}

/// The paths that a batch changed, by the rule of [`plan::changed`]. What a file held does not matter for it, only whether there was one.
pub(super) fn changed(journal: &Journal, batch: u64) -> Result<Vec<MemoryPath>, VaultError> {
    let sql = "SELECT path, new_path, kind, before IS NULL, after IS NULL FROM step WHERE batch = ?1 ORDER BY number";
    let mut statement = journal.db.prepare_cached(sql)?;
    let mut rows = statement.query([batch])?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        steps.extend(bare_step(row)?);
    }
    Ok(plan::changed(&steps))
}

/// A step without its contents, from a row that begins with path, new path, kind, and whether nothing was there before and after;
/// `None` when it was forgotten.
fn bare_step(row: &Row<'_>) -> Result<Option<Step>, VaultError> {
    let Some(from) = path(row, 0)? else { return Ok(None) };
    let image = |is_nothing: bool| (!is_nothing).then(|| Image { content: Content::new([]), mode: None });
    Ok(Some(match (path(row, 1)?, row.get::<_, i64>(2)?) {
        (Some(to), _) => Step::Move { from, to, kind: Kind::File },
        (None, 1) => Step::MakeFolder { path: from, mode: None },
        (None, 5) => Step::RemoveFolder { path: from, mode: None },
        (None, _) => Step::Put { path: from, before: image(row.get(3)?), after: image(row.get(4)?) },
    }))
}
