//! The names that notes had: the renames of the batches, followed forth and back, over the times when a note was deleted and brought back.

use rusqlite::{OptionalExtension, Row, params};

use super::VaultError;
use super::journal::Journal;
use super::place::TempFolders;
use super::undone::{IN_FORCE, UNDONE, undone_by};
use memdir_core::path::MemoryPath;
use memdir_plan::{Called, Gone, Since};

/// The renames of a batch, in the order in which they happened.
type Moves = Vec<(MemoryPath, MemoryPath)>;

pub(super) fn moves_since(journal: &Journal, batch: u64) -> Result<Vec<u64>, VaultError> {
    let sql = format!(
        "SELECT DISTINCT batch FROM step JOIN batch ON batch.id = step.batch
         WHERE kind IN (2, 3) AND batch >= ?1 AND {IN_FORCE} ORDER BY batch DESC"
    );
    let mut statement = journal.db.prepare_cached(&sql)?;
    let rows = statement.query_map([batch], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The newest batch before `before` that touched what has this name, or moved a folder above it to where it is.
pub(super) fn newest_at(journal: &Journal, name: &MemoryPath, before: u64) -> Result<Option<u64>, VaultError> {
    let mut found = newest_touching(journal, name.as_str(), before)?;
    for folder in name.ancestors() {
        found = found.max(newest_moving(journal, folder.as_str(), before)?);
    }
    Ok(found)
}

/// The newest batch before `before` that touched what has this name, or a folder above it.
pub(super) fn newest_at_or_above(journal: &Journal, name: &MemoryPath, before: u64) -> Result<Option<u64>, VaultError> {
    let mut found = None;
    for name in std::iter::once(name.clone()).chain(name.ancestors()) {
        found = found.max(newest_touching(journal, name.as_str(), before)?);
    }
    Ok(found)
}

fn newest_touching(journal: &Journal, path: &str, before: u64) -> Result<Option<u64>, VaultError> {
    let sql = format!("SELECT max(batch) FROM ({} UNION ALL {})", nearest("path", "<"), nearest("new_path", "<"));
    Ok(journal.db.prepare_cached(&sql)?.query_row(params![path, before], |row| row.get(0))?)
}

fn oldest_touching(journal: &Journal, path: &str, after: u64) -> Result<Option<u64>, VaultError> {
    let sql = format!("SELECT min(batch) FROM ({} UNION ALL {})", nearest("path", ">"), nearest("new_path", ">"));
    Ok(journal.db.prepare_cached(&sql)?.query_row(params![path, after], |row| row.get(0))?)
}

fn newest_moving(journal: &Journal, folder: &str, before: u64) -> Result<Option<u64>, VaultError> {
    let sql = format!("SELECT max(batch) FROM ({})", nearest("new_path", "<"));
    Ok(journal.db.prepare_cached(&sql)?.query_row(params![folder, before], |row| row.get(0))?)
}

/// Asks for the last batch before `?2`, or the first one after it, with a step that has `?1` in a column: one look into
/// its index, however many such batches there are.
fn nearest(column: &str, side: &str) -> String {
    let order = if side == "<" { "DESC" } else { "ASC" };
    format!(
        "SELECT * FROM (SELECT batch FROM step WHERE {column} = ?1 AND batch {side} ?2
         AND EXISTS (SELECT 1 FROM batch WHERE id = step.batch AND {IN_FORCE}) ORDER BY batch {order} LIMIT 1)"
    )
}

/// The name that what is called `name` after a batch had before it.
pub(super) fn name_before(journal: &Journal, batch: u64, name: &MemoryPath) -> Result<MemoryPath, VaultError> {
    let moves = moves_in(journal, batch)?;
    Ok(moves.iter().rev().fold(name.clone(), |name, (from, to)| name.rebased(to, from).unwrap_or(name)))
}

/// Whether a batch is a restore, which brings a note back whatever its text.
fn restores(journal: &Journal, batch: u64) -> Result<bool, VaultError> {
    let sql = "SELECT 1 FROM entry WHERE batch = ?1 AND action = 'restore' AND code IS NULL";
    Ok(journal.db.prepare_cached(sql)?.exists([batch])?)
}

/// The batch that removed what is called `name`, if `batch` brought it back: by undoing that one, by a restore, or with the text that it removed.
fn removed_by(journal: &Journal, batch: u64, name: &MemoryPath) -> Result<Option<u64>, VaultError> {
    let sql = format!(
        "SELECT max(step.batch) FROM step JOIN step AS made ON made.path = step.path AND made.batch = ?2 AND made.kind = 4
         WHERE step.path = ?1 AND step.kind = 4 AND step.after IS NULL AND step.batch < ?2
         AND made.before IS NULL AND made.after IS NOT NULL
         AND ((?3 OR step.before = made.after)
              AND NOT EXISTS (SELECT 1 FROM step AS put WHERE put.path = ?1 AND put.kind = 4 AND put.after IS NOT NULL
                              AND put.batch > step.batch AND put.batch < ?2)
              OR (SELECT undoes FROM batch WHERE id = ?2) = step.batch
              OR (SELECT value FROM meta WHERE key = '{UNDONE}' || step.batch) = ?2)"
    );
    let restores = restores(journal, batch)?;
    Ok(journal.db.prepare_cached(&sql)?.query_row(params![name.as_str(), batch, restores], |row| row.get(0))?)
}

/// Whether a batch made a file of this name where none was.
fn makes(journal: &Journal, batch: u64, name: &MemoryPath) -> Result<bool, VaultError> {
    let sql = "SELECT 1 FROM step WHERE batch = ?1 AND path = ?2 AND kind = 4 AND before IS NULL AND after IS NOT NULL";
    Ok(journal.db.prepare_cached(sql)?.exists(params![batch, name.as_str()])?)
}

/// Where a file came from that a batch moved by its content, as names of two Unicode forms are.
fn moved_by_content(journal: &Journal, batch: u64, to: &MemoryPath) -> Result<Option<MemoryPath>, VaultError> {
    let sql = "SELECT step.path FROM step JOIN step AS made ON made.batch = step.batch AND made.after = step.before
               WHERE step.batch = ?1 AND step.kind = 4 AND step.after IS NULL AND step.path IS NOT NULL
               AND made.kind = 4 AND made.before IS NULL AND made.path = ?2 ORDER BY step.number LIMIT 1";
    let mut statement = journal.db.prepare_cached(sql)?;
    statement
        .query_row(params![batch, to.as_str()], |row| Ok(path(row, 0)))
        .optional()?
        .transpose()
        .map(Option::flatten)
}

/// The name that what is called `name` after a batch had before it, and the batch before which it is to be followed on: the next one,
/// or where the batch brought a note back, the one that removed it and all before that. `None` where the batch made it.
pub(super) fn step_back(
    journal: &Journal,
    batch: u64,
    name: &MemoryPath,
) -> Result<Option<(MemoryPath, u64)>, VaultError> {
    if let Some(removed) = removed_by(journal, batch, name)? {
        return Ok(Some((name.clone(), removed + 1)));
    }
    if makes(journal, batch, name)? && !restores(journal, batch)? {
        return Ok(moved_by_content(journal, batch, name)?.map(|earlier| (earlier, batch)));
    }
    Ok(Some((name_before(journal, batch, name)?, batch)))
}

/// What became of what is called `name` after a batch, once the `undone` batches are undone. What was done to it and undone is passed over, with
/// all between: another note may have had the name meanwhile.
pub(super) fn since(journal: &Journal, name: &MemoryPath, batch: u64, undone: &[u64]) -> Result<Since, VaultError> {
    let mut now = Since { name: name.clone(), renamed: None, gone: None };
    let mut after = batch;
    while let Some(later) = oldest_at_or_above(journal, &now.name, after)? {
        after = later;
        let name = name_after(&moves_in(journal, later)?, &now.name);
        let gone = match () {
            () if removes(journal, later, &name)? => Some(Gone::Deleted(later)),
            // Another program had deleted it.
            () if name == now.name && makes(journal, later, &name)? && !restores(journal, later)? => {
                Some(Gone::Replaced(later))
            }
            () => None,
        };
        if name == now.name && gone.is_none() {
            continue;
        }
        if undone.contains(&later) {
            break;
        }
        match undone_by(journal, later)? {
            Some(undo) => after = undo,
            None if gone.is_some() => match brought_back(journal, later, &name)? {
                Some(back) => after = back,
                None => return Ok(Since { name, gone, ..now }),
            },
            None => now = Since { name, renamed: Some(later), gone: None },
        }
    }
    Ok(now)
}

/// The first batch after one that removed a file that made it again with the same text, or restored it.
fn brought_back(journal: &Journal, removed: u64, name: &MemoryPath) -> Result<Option<u64>, VaultError> {
    let sql = format!(
        "SELECT min(made.batch) FROM step JOIN step AS made ON made.path = step.path
         WHERE (made.after = step.before
                OR EXISTS (SELECT 1 FROM entry WHERE batch = made.batch AND action = 'restore' AND code IS NULL))
         AND step.batch = ?1 AND step.path = ?2 AND step.kind = 4 AND step.after IS NULL
         AND made.kind = 4 AND made.before IS NULL AND made.after IS NOT NULL AND made.batch > ?1
         AND EXISTS (SELECT 1 FROM batch WHERE id = made.batch AND {IN_FORCE})"
    );
    Ok(journal.db.prepare_cached(&sql)?.query_row(params![removed, name.as_str()], |row| row.get(0))?)
}

/// What became of the note that a batch changed under this name, which may be the one that it had before.
pub(super) fn since_change(journal: &Journal, name: &MemoryPath, batch: u64) -> Result<Since, VaultError> {
    let name = name_after(&moves_in(journal, batch)?, name);
    if removes(journal, batch, &name)? {
        return Ok(Since { name, renamed: None, gone: Some(Gone::Deleted(batch)) });
    }
    since(journal, &name, batch, &[])
}

/// The oldest batch after `after` that touched what has this name, or a folder above it.
pub(super) fn oldest_at_or_above(journal: &Journal, name: &MemoryPath, after: u64) -> Result<Option<u64>, VaultError> {
    let mut found: Option<u64> = None;
    for name in std::iter::once(name.clone()).chain(name.ancestors()) {
        found = found.into_iter().chain(oldest_touching(journal, name.as_str(), after)?).min();
    }
    Ok(found)
}

fn removes(journal: &Journal, batch: u64, name: &MemoryPath) -> Result<bool, VaultError> {
    let sql = "SELECT 1 FROM step WHERE batch = ?1 AND path = ?2 AND kind = 4 AND after IS NULL";
    Ok(journal.db.prepare_cached(sql)?.exists(params![batch, name.as_str()])?)
}

/// The name that what is called `name` before some moves has after them.
pub(super) fn name_after(moves: &[(MemoryPath, MemoryPath)], name: &MemoryPath) -> MemoryPath {
    moves.iter().fold(name.clone(), |name, (from, to)| name.rebased(from, to).unwrap_or(name))
}

/// The name that what is called `path` has now, or had when it was deleted: where it has left that name and nothing has
/// taken it since, the one that the later renames gave it.
pub(super) fn name_now(journal: &Journal, path: &MemoryPath) -> Result<MemoryPath, VaultError> {
    // A folder that was made or removed around it took nothing along.
    let sql = format!(
        "SELECT max(batch) FROM step WHERE path = ?1 AND kind IN (2, 3)
         AND EXISTS (SELECT 1 FROM batch WHERE id = step.batch AND {IN_FORCE})"
    );
    let mut left = newest_touching(journal, path.as_str(), i64::MAX.unsigned_abs())?;
    for folder in path.ancestors() {
        left = left.max(journal.db.prepare_cached(&sql)?.query_row([folder.as_str()], |row| row.get(0))?);
    }
    Ok(match left {
        Some(left) => since_change(journal, path, left)?.name,
        None => path.clone(),
    })
}

/// The renames of all batches, the oldest first.
pub(super) fn all_moves(journal: &Journal) -> Result<Vec<(u64, Moves)>, VaultError> {
    let mut batches = moves_since(journal, 0)?;
    batches.reverse();
    batches.into_iter().map(|batch| Ok((batch, moves_in(journal, batch)?))).collect()
}

/// The names that what is called `name` now has had, this one included, and when: what has left a name took its
/// history along, and what took a name later has one of its own.
pub(super) fn names_before(journal: &Journal, name: &MemoryPath) -> Result<Vec<Called>, VaultError> {
    let (mut name, mut until, mut before) = (name.clone(), u64::MAX, i64::MAX.unsigned_abs());
    let mut names = Vec::new();
    loop {
        let found = newest_at(journal, &name, before)?;
        let removed = found.map_or(Ok(None), |batch| removed_by(journal, batch, &name))?;
        let earlier = match found {
            Some(_) if removed.is_some() => Some(name.clone()),
            Some(batch) => origin(&moves_in(journal, batch)?, &name),
            None => None,
        };
        before = found.unwrap_or(0);
        if earlier.as_ref() == Some(&name) && removed.is_none() {
            continue;
        }
        let taken = if until == u64::MAX { None } else { oldest_touching(journal, name.as_str(), until)? };
        let alone = (newest_touching(journal, name.as_str(), before)?.unwrap_or(0), taken.unwrap_or(u64::MAX));
        names.push(Called { name, since: before, until, alone });
        match earlier {
            Some(earlier) => name = earlier,
            None => return Ok(names),
        }
        before = removed.map_or(before, |removed| removed + 1);
        until = before;
    }
}

/// The renames of a batch, in the order in which they happened; those that were forgotten are left out.
pub(super) fn moves_in(journal: &Journal, batch: u64) -> Result<Moves, VaultError> {
    let sql = "SELECT path, new_path FROM step WHERE batch = ?1 AND kind IN (2, 3) ORDER BY number";
    let mut statement = journal.db.prepare_cached(sql)?;
    let mut rows = statement.query([batch])?;
    let mut moves = Vec::new();
    while let Some(row) = rows.next()? {
        moves.extend(path(row, 0)?.zip(path(row, 1)?));
    }
    Ok(moves)
}

/// Where what is called `name` after the moves was before them; `None` when what had the name has left it.
pub(super) fn origin(moves: &[(MemoryPath, MemoryPath)], name: &MemoryPath) -> Option<MemoryPath> {
    let moves: Vec<_> = moves.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    TempFolders::origin(&moves, name)
}

/// A path in a row; `None` when it was forgotten.
pub(super) fn path(row: &Row<'_>, column: usize) -> Result<Option<MemoryPath>, VaultError> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| MemoryPath::parse(&text).map_err(|error| VaultError::Damaged(format!("a step's path {error}"))))
        .transpose()
}
