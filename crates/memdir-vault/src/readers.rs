//! Who has read a note: the entries of the audit whose answers held something of its text.

use std::ops::RangeInclusive;

use rusqlite::{OptionalExtension, Row};
use serde::Serialize;

use super::{Core, NoteNames, Vault, VaultError, payload};
use memdir_core::time::Timestamp;
use memdir_plan::Called;

/// A call that showed something of a note.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Reader {
    /// When.
    pub time: Timestamp,
    /// The way in.
    pub door: String,
    /// The program that asked.
    pub client: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// What it did.
    pub action: String,
    /// The number of the entry.
    pub seq: i64,
}

/// A name, and between which times it meant the note.
#[derive(Debug)]
pub(super) struct DatedName {
    name: String,
    times: RangeInclusive<i64>,
}

impl Vault {
    /// The newest calls before the entry `before` that showed something of a note, under the name that it had then; at most
    /// `limit`.
    ///
    /// Calls without a batch are matched to names by their times: at the very moment of a rename, both names count.
    ///
    /// # Errors
    ///
    /// Those of the database. A memory without a history has no readers.
    pub fn readers(&self, names: &NoteNames, limit: usize, before: Option<i64>) -> Result<Vec<Reader>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Vec::new()) };
        let names = names.all.iter().map(|called| DatedName::of(core, called)).collect::<Result<Vec<_>, _>>()?;
        let sql = "SELECT seq, time, door, client, session, action, code, payload FROM entry
                   WHERE seq < ?1 AND payload IS NOT NULL ORDER BY seq DESC";
        let mut statement = core.journal.db.prepare_cached(sql)?;
        let mut rows = statement.query([before.unwrap_or(i64::MAX)])?;
        let mut readers = Vec::new();
        while let Some(row) = rows.next()? {
            if readers.len() == limit {
                break;
            }
            if shows(row, &names)? {
                readers.push(reader(row)?);
            }
        }
        Ok(readers)
    }
}

impl DatedName {
    /// Whether the note had this name then.
    pub(super) fn is(&self, name: &str, micros: i64) -> bool {
        self.name == name && self.times.contains(&micros)
    }

    pub(super) fn of(core: &Core, called: &Called) -> Result<Self, VaultError> {
        let time = |batch: u64| {
            let sql = "SELECT time FROM batch WHERE id = ?1";
            core.journal.db.prepare_cached(sql)?.query_row([batch], |row| row.get(0)).optional()
        };
        let from = if called.since == 0 { None } else { time(called.since)? };
        let to = if called.until == u64::MAX { None } else { time(called.until)? };
        let name = called.name.as_str().to_owned();
        Ok(Self { name, times: from.unwrap_or(i64::MIN)..=to.unwrap_or(i64::MAX) })
    }
}

fn reader(row: &Row<'_>) -> Result<Reader, VaultError> {
    Ok(Reader {
        seq: row.get(0)?,
        time: Timestamp::from_micros(row.get(1)?),
        door: row.get(2)?,
        client: row.get(3)?,
        session: row.get(4)?,
        action: row.get(5)?,
    })
}

/// Whether an entry's answer held text of a note that had one of these names then.
fn shows(row: &Row<'_>, names: &[DatedName]) -> Result<bool, VaultError> {
    let (time, action): (i64, String) = (row.get(1)?, row.get(5)?);
    let (code, payload): (Option<String>, String) = (row.get(6)?, row.get(7)?);
    let is_named = |path: &String| names.iter().any(|named| named.is(path, time));
    Ok(payload::notes_shown_in(&payload, &action, code.is_none()).iter().any(is_named))
}
