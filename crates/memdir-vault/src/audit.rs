//! The audit: one entry for each call, chained so that a changed, removed or reordered entry shows.
//!
//! The chain goes over commitments, not over contents: `hash = H(previous, seq, time, columns, H(salt, payload))`.
//! What is personal (names of notes, arguments, results) is in the payload; erasing payload and salt leaves a chain
//! that still verifies, and nothing that could be guessed at. A chain alone shows edits only by somebody who does
//! not compute it anew; that takes a head that was kept elsewhere.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Payload, VaultError};
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;

/// The action of an entry that says that something was forgotten.
pub(super) const FORGET: &str = "forget";
/// The action of an entry that says that a person confirmed a line of a note.
pub(super) const CONFIRM: &str = "confirm";
/// The action of an entry that says that its batch was given back.
pub(super) const GIVEN_BACK: &str = "given_back";

/// Who a change comes from, and by which way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Author {
    /// The way in: `cli`, `exec`, `chat`, `ask`, `mcp` or `library`.
    pub door: String,
    /// The program that asked.
    pub client: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// The message of the conversation: its number or name, or its words, which are kept where they can be erased; see
    /// [`is_message_name`].
    pub message: Option<String>,
    /// Who wrote what was written: `person`, `model`, `program`, `tool:NAME` or `import`.
    pub origin: String,
}

/// The longest name of a message, in bytes.
const MOST_MESSAGE: usize = 64;

/// Whether a text names a message: at most 64 letters and digits of ASCII, `-`, `_`, `.` and `:`.
///
/// The hash of an entry goes over this column, so that it outlives every `forget`. The words of a message are kept in the payload of
/// the first entry of the batch instead.
#[must_use]
pub fn is_message_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':');
    text.len() <= MOST_MESSAGE && text.chars().all(is_plain)
}

impl Author {
    /// The name of the message.
    pub(super) fn message_name(&self) -> Option<&str> {
        self.message.as_deref().filter(|message| is_message_name(message))
    }

    /// The words of the message, where it has no name.
    fn words(&self) -> Option<&str> {
        self.message.as_deref().filter(|message| !is_message_name(message))
    }
}

/// What the audit keeps of one call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditEntry {
    /// Its place among the calls, from 1. Of a call of another server's tool: the number in the chain of the entry that says that it was
    /// sent, or 0.
    pub number: usize,
    /// The action.
    pub action: String,
    /// Why it failed; `None` when it succeeded.
    pub code: Option<String>,
    /// How long planning it took, in microseconds.
    pub micros: u64,
    /// `off`, `claimed`, `approved`, `rule:NAME` or `refused`.
    pub permission: String,
    /// What is personal in it, which can be erased later.
    pub payload: Payload,
}

/// The end of the chain, where entries are appended.
pub(super) struct Chain<'t> {
    transaction: &'t Transaction<'t>,
    seq: u64,
    previous: [u8; 32],
    /// Random bytes for the salts of all entries to come.
    salts: std::vec::IntoIter<[u8; 16]>,
}

impl<'t> Chain<'t> {
    /// Finds the end of the chain, to append `count` entries.
    pub(super) fn open(transaction: &'t Transaction<'t>, count: usize) -> Result<Self, VaultError> {
        let last = "SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1";
        let last = transaction.prepare_cached(last)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (seq, previous) = last.unwrap_or((0, [0; 32]));
        let mut salts = vec![0; count * 16];
        fill(&mut salts)?;
        let salts: Vec<[u8; 16]> = salts.as_chunks().0.to_vec();
        Ok(Self { transaction, seq, previous, salts: salts.into_iter() })
    }

    /// The number of the last entry.
    pub(super) fn last(&self) -> u64 {
        self.seq
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
        let mut words = author.words().filter(|_| batch.is_some());
        for entry in entries {
            self.seq += 1;
            let salt = self.salts.next().map_or_else(random, Ok)?;
            let payload = match words.take() {
                Some(words) => &entry.payload.saying(words),
                None => &entry.payload,
            };
            let commitment = commitment(&salt, payload.as_str().as_bytes());
            let columns = Columns {
                seq: kept(self.seq),
                time: time.micros(),
                batch: batch.map(kept),
                door: author.door.as_str(),
                client: author.client.as_deref(),
                session: author.session.as_deref(),
                message: author.message_name(),
                origin: &author.origin,
                number: i64::try_from(entry.number).unwrap_or(i64::MAX),
                action: &entry.action,
                code: entry.code.as_deref(),
                micros: kept(entry.micros),
                permission: &entry.permission,
            };
            let hash = columns.hash(&self.previous, commitment.as_bytes());
            statement.execute(params![
                columns.seq,
                self.previous.as_slice(),
                hash.as_bytes(),
                commitment.as_bytes(),
                salt.as_slice(),
                payload.as_str(),
                columns.batch,
                columns.time,
                columns.door,
                columns.client,
                columns.session,
                columns.message,
                columns.origin,
                columns.number,
                columns.action,
                columns.code,
                columns.micros,
                columns.permission,
            ])?;
            self.previous = *hash.as_bytes();
        }
        Ok(())
    }
}

/// Appends an entry that says that a batch is given back, in the name of its author, unless there is one already.
///
/// It bears the batch's own time, since a vault has no clock; the entries around it tell when it was written.
pub(super) fn append_given_back(transaction: &Transaction<'_>, batch: u64) -> Result<(), VaultError> {
    if Outcome::of(transaction, batch)? == Outcome::GivenBack {
        return Ok(());
    }
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
        action: GIVEN_BACK.to_owned(),
        code: Some("conflict".to_owned()),
        micros: 0,
        permission: "off".to_owned(),
        payload: Payload::of_given_back(batch),
    };
    Chain::open(transaction, 1)?.append(Some(batch), &[entry], &author, Timestamp::from_micros(time))
}

/// What became of a batch, by the chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    /// The chain does not mention it: it never became certain.
    Unknown,
    /// It became certain.
    Certain,
    /// It became certain, and then it was given back, or was to be.
    GivenBack,
}

impl Outcome {
    pub(super) fn of(db: &Connection, batch: u64) -> Result<Self, VaultError> {
        let sql = "SELECT max(action = ?2) FROM entry WHERE batch = ?1";
        let found: Option<bool> = db.prepare_cached(sql)?.query_row(params![batch, GIVEN_BACK], |row| row.get(0))?;
        Ok(found.map_or(Self::Unknown, |is_given_back| if is_given_back { Self::GivenBack } else { Self::Certain }))
    }
}

/// What the hash of an entry goes over besides its predecessor and the commitment to its payload: the columns that
/// are never erased.
#[derive(Debug)]
pub(super) struct Columns<T> {
    pub(super) seq: i64,
    pub(super) time: i64,
    pub(super) batch: Option<i64>,
    pub(super) door: T,
    pub(super) client: Option<T>,
    pub(super) session: Option<T>,
    pub(super) message: Option<T>,
    pub(super) origin: T,
    pub(super) number: i64,
    pub(super) action: T,
    pub(super) code: Option<T>,
    pub(super) micros: i64,
    pub(super) permission: T,
}

impl<T: AsRef<str>> Columns<T> {
    /// The hash. It is part of the format, which ARCHITECTURE.md describes for those who compute it without memdir.
    pub(super) fn hash(&self, previous: &[u8], commitment: &[u8]) -> Digest {
        // An absent column and an empty one have to differ.
        let text =
            |text: &Option<T>| text.as_ref().map_or_else(Vec::new, |text| [b"=", text.as_ref().as_bytes()].concat());
        Digest::of_parts(&[
            previous,
            &self.seq.to_le_bytes(),
            &self.time.to_le_bytes(),
            // No batch has the number 0.
            &self.batch.unwrap_or(0).to_le_bytes(),
            self.door.as_ref().as_bytes(),
            &text(&self.client),
            &text(&self.session),
            &text(&self.message),
            self.origin.as_ref().as_bytes(),
            &self.number.to_le_bytes(),
            self.action.as_ref().as_bytes(),
            &text(&self.code),
            &self.micros.to_le_bytes(),
            self.permission.as_ref().as_bytes(),
            commitment,
        ])
    }
}

/// The commitment to a payload, which can be erased together with its salt.
pub(super) fn commitment(salt: &[u8], payload: &[u8]) -> Digest {
    Digest::of_parts(&[salt, payload])
}

/// A number as the database keeps it, which has no larger one; the hash goes over what is kept.
fn kept(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Sixteen random bytes that nobody can guess.
///
/// # Errors
///
/// [`VaultError::Damaged`] when the system gives none.
pub fn random() -> Result<[u8; 16], VaultError> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn fill(bytes: &mut [u8]) -> Result<(), VaultError> {
    getrandom::fill(bytes).map_err(|_| VaultError::Damaged("the system gives no random numbers".to_owned()))
}
