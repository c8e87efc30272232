//! What a person confirmed: an entry of the audit for each line, and nothing in the note.
//!
//! Owns how these entries are found again without reading all others: by a row of `meta` for each, which has the entry's number in
//! its key, and the newest batch of its time as its value.

use rusqlite::params;

use super::audit::{self, Chain};
use super::journal::{Flush, Journal};
use super::undone::undone_by;
use super::{AuditEntry, Author, Payload, VaultError, Writer, payload};
use memdir_core::path::MemoryPath;
use memdir_core::report::Confirmation;
use memdir_core::time::Timestamp;
use memdir_plan::Called;

/// How the key of such a row begins.
const CONFIRMED: &str = "confirmed:";

/// A line that a person confirmed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ConfirmedLine {
    /// Without blanks around it.
    pub(super) text: String,
    pub(super) confirmation: Confirmation,
}

impl Writer<'_> {
    /// Notes in the audit, flushed, that `author` confirmed a line of a note, which is given without blanks around it. Where the same
    /// answer also made a batch, the confirmation counts no longer while that is undone.
    ///
    /// # Errors
    ///
    /// Those of the database: then nothing is noted.
    pub fn confirm(
        &mut self,
        path: &MemoryPath,
        line: &str,
        batch: Option<u64>,
        author: &Author,
        time: Timestamp,
    ) -> Result<(), VaultError> {
        let entry = AuditEntry {
            number: 1,
            action: audit::CONFIRM.to_owned(),
            code: None,
            micros: 0,
            permission: "off".to_owned(),
            payload: Payload::of_confirmation(path, line, batch),
        };
        self.core()?.journal.transaction(Flush::Yes, |transaction| {
            let mut chain = Chain::open(transaction, 1)?;
            chain.append(None, &[entry], author, time)?;
            let sql = "INSERT INTO meta VALUES (?1, ifnull((SELECT max(id) FROM batch), 0))";
            transaction.prepare_cached(sql)?.execute([format!("{CONFIRMED}{}", chain.last())])?;
            Ok(())
        })
    }
}

/// What was confirmed of a note under the names that it had, the oldest first. What was forgotten is left out, and what was confirmed
/// with a batch that is undone.
pub(super) fn of_note(journal: &Journal, names: &[Called]) -> Result<Vec<ConfirmedLine>, VaultError> {
    let sql = "SELECT payload, time, door, client, meta.value
               FROM meta JOIN entry ON seq = CAST(substr(key, ?2) AS INTEGER)
               WHERE key > ?1 AND key < ?1 || 'a' AND action = ?3 AND payload IS NOT NULL ORDER BY seq";
    let mut statement = journal.db.prepare_cached(sql)?;
    let mut rows = statement.query(params![CONFIRMED, CONFIRMED.len() + 1, audit::CONFIRM])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let batch: u64 = row.get(4)?;
        let had = |path: &str| {
            names.iter().any(|called| called.name.as_str() == path && called.since <= batch && batch < called.until)
        };
        let Some((path, text, with)) = payload::confirmed_in(&row.get::<_, String>(0)?) else { continue };
        if had(&path) && with.map_or(Ok(None), |with| undone_by(journal, with))?.is_none() {
            let time = Timestamp::from_micros(row.get(1)?).to_string();
            found.push(ConfirmedLine {
                text,
                confirmation: Confirmation { time, door: row.get(2)?, client: row.get(3)? },
            });
        }
    }
    Ok(found)
}
