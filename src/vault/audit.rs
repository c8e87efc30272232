//! The audit: one entry for each call, chained so that a changed, removed or reordered entry shows.
//!
//! The chain goes over commitments, not over contents: `hash = H(previous, seq, time, columns, H(salt, payload))`.
//! What is personal (names of notes, arguments, results) is in the payload; erasing payload and salt leaves a chain
//! that still verifies, and nothing that could be guessed at. A chain alone shows edits only by somebody who does
//! not compute it anew; that takes a head that was kept elsewhere.

use rusqlite::{OptionalExtension, Transaction, params};

use super::VaultError;
use crate::digest::Digest;
use crate::time::Timestamp;

/// Who a change comes from, and by which way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Author {
    /// The way in: `exec`, `chat`, `ask`, `mcp`, `web` or `cli`.
    pub door: String,
    /// The program that asked.
    pub client: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// The message of the conversation.
    pub message: Option<String>,
    /// Who wrote what was written: `person`, `model`, `tool:NAME` or `import`.
    pub origin: String,
}

/// What the audit keeps of one call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditEntry {
    /// Its place among the calls, from 1.
    pub number: usize,
    /// The action.
    pub action: String,
    /// Why it failed; `None` when it succeeded.
    pub code: Option<String>,
    /// How long planning it took, in microseconds.
    pub micros: u64,
    /// `off`, `claimed`, `approved`, `rule:NAME` or `refused`.
    pub permission: String,
    /// Path, arguments and result as a JSON object; it can be erased later.
    pub payload: String,
}

/// The end of the chain, at which entries are appended.
pub(super) struct Chain<'t> {
    transaction: &'t Transaction<'t>,
    seq: u64,
    previous: [u8; 32],
    /// Random bytes for the salts of all entries to come.
    salts: std::vec::IntoIter<[u8; 16]>,
}

impl<'t> Chain<'t> {
    /// Finds the end of the chain, for `count` entries.
    pub(super) fn open(transaction: &'t Transaction<'t>, count: usize) -> Result<Self, VaultError> {
        let last = "SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1";
        let last = transaction.prepare_cached(last)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (seq, previous) = last.unwrap_or((0, [0; 32]));
        let mut salts = vec![0; count * 16];
        fill(&mut salts)?;
        let salts: Vec<[u8; 16]> = salts.as_chunks().0.to_vec();
        Ok(Self { transaction, seq, previous, salts: salts.into_iter() })
    }

    /// Appends entries of one author and time.
    pub(super) fn append(
        &mut self,
        batch: Option<u64>,
        entries: &[AuditEntry],
        author: &Author,
        time: Timestamp,
    ) -> Result<(), VaultError> {
        let sql = "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
        let mut statement = self.transaction.prepare_cached(sql)?;
        for entry in entries {
            // The database has no larger number; the hash goes over what is kept.
            let entry = &AuditEntry { micros: entry.micros.min(i64::MAX.unsigned_abs()), ..entry.clone() };
            self.seq += 1;
            let salt = self.salts.next().map_or_else(random, Ok)?;
            let commitment = Digest::of_parts(&[&salt, entry.payload.as_bytes()]);
            let hash = chained(&self.previous, self.seq, batch, entry, author, time, commitment);
            statement.execute(params![
                self.seq,
                self.previous.as_slice(),
                hash.as_bytes(),
                commitment.as_bytes(),
                salt.as_slice(),
                entry.payload,
                batch,
                time.micros(),
                author.door,
                author.client,
                author.session,
                author.message,
                author.origin,
                entry.number,
                entry.action,
                entry.code,
                entry.micros,
                entry.permission,
            ])?;
            self.previous = *hash.as_bytes();
        }
        Ok(())
    }
}

/// Appends that a batch whose entries are in the chain has been given back, in the name of whoever made it.
///
/// It bears the batch's own time: a vault has no clock, and what comes after in the chain tells when it was.
pub(super) fn append_given_back(transaction: &Transaction<'_>, batch: u64) -> Result<(), VaultError> {
    let sql = "SELECT time, door, client, session, message,
               (SELECT origin FROM entry WHERE batch = ?1 ORDER BY seq DESC LIMIT 1),
               (SELECT max(number) FROM entry WHERE batch = ?1)
               FROM batch WHERE id = ?1";
    let (time, author, last) = transaction.prepare_cached(sql)?.query_row([batch], |row| {
        let author = Author {
            door: row.get(1)?,
            client: row.get(2)?,
            session: row.get(3)?,
            message: row.get(4)?,
            origin: row.get::<_, Option<String>>(5)?.unwrap_or_else(|| "tool:memdir".to_owned()),
        };
        Ok((row.get(0)?, author, row.get::<_, Option<usize>>(6)?.unwrap_or(0)))
    })?;
    let entry = AuditEntry {
        number: last + 1,
        action: "given_back".to_owned(),
        code: Some("conflict".to_owned()),
        micros: 0,
        permission: "off".to_owned(),
        payload: format!(r#"{{"batch":{batch}}}"#),
    };
    Chain::open(transaction, 1)?.append(Some(batch), &[entry], &author, Timestamp::from_micros(time))
}

/// The hash of an entry: over its predecessor, its place, its plain columns and the commitment to its payload.
fn chained(
    previous: &[u8; 32],
    seq: u64,
    batch: Option<u64>,
    entry: &AuditEntry,
    author: &Author,
    time: Timestamp,
    commitment: Digest,
) -> Digest {
    // An absent column and an empty one have to differ.
    let text = |text: &Option<String>| text.as_ref().map_or_else(Vec::new, |text| [b"=", text.as_bytes()].concat());
    Digest::of_parts(&[
        previous,
        &seq.to_le_bytes(),
        &time.micros().to_le_bytes(),
        &batch.unwrap_or(0).to_le_bytes(),
        author.door.as_bytes(),
        &text(&author.client),
        &text(&author.session),
        &text(&author.message),
        author.origin.as_bytes(),
        &(entry.number as u64).to_le_bytes(),
        entry.action.as_bytes(),
        &text(&entry.code),
        &entry.micros.to_le_bytes(),
        entry.permission.as_bytes(),
        commitment.as_bytes(),
    ])
}

/// Sixteen bytes that nobody can guess.
pub(super) fn random() -> Result<[u8; 16], VaultError> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn fill(bytes: &mut [u8]) -> Result<(), VaultError> {
    getrandom::fill(bytes).map_err(|_| VaultError::Damaged("the system gives no random numbers".to_owned()))
}
