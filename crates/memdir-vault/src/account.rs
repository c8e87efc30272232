//! Verifying the audit: its chain computed anew, its head, and its entries for somebody else to check.
//!
//! Reads in pages and holds no transaction between them, so that a long verification does not stop others from folding the
//! log into the database. Problems are reported, never repaired.

use rusqlite::{Row, params};
use serde::Serialize;

use super::audit::{self, Columns};
use super::{Core, Vault, VaultError, payload};
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;

/// The most problems that are reported: a chain that was replaced has as many as there are entries.
const MAX_PROBLEMS: usize = 100;
/// A page ends after so many entries, or so many bytes of payload.
const PAGE_ENTRIES: usize = 1000;
const PAGE_BYTES: usize = 1 << 20;

/// The result of verifying the audit.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct AuditReport {
    /// Whether no problem was found.
    pub ok: bool,
    /// How many entries there are.
    pub entries: u64,
    /// How many of them have lost their payload to `forget`.
    pub forgotten: u64,
    /// The hash of the last entry, which stands for all of them; 32 zero bytes where there is none.
    pub head: Digest,
    /// Where a head was given: how many entries came after it; `None` when it is not in this chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// What does not fit together, in order; at most a hundred, and a last one that says that there are more.
    pub problems: Vec<AuditProblem>,
}

/// Something in the audit that memdir did not write.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct AuditProblem {
    /// The entry at which it shows; `None` where it concerns no single entry.
    pub seq: Option<i64>,
    /// What is wrong.
    pub message: String,
}

/// One entry, with all that is kept of it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the columns of `schema.sql`, which has the words")]
pub struct AuditRecord {
    pub seq: i64,
    pub previous: Digest,
    pub hash: Digest,
    pub commitment: Digest,
    /// Hex digits; `None` once it is forgotten.
    pub salt: Option<String>,
    /// An object whose compact form is the text that was committed to; where it has another form, that text as a
    /// string. `None` once it is forgotten.
    pub payload: Option<serde_json::Value>,
    pub batch: Option<i64>,
    /// In whole seconds.
    pub time: String,
    pub time_micros: i64,
    pub door: String,
    pub client: Option<String>,
    pub session: Option<String>,
    pub message: Option<String>,
    pub origin: String,
    pub number: i64,
    pub action: String,
    pub code: Option<String>,
    pub micros: i64,
    pub permission: String,
}

/// An entry as it stands in the database.
#[derive(Debug)]
struct StoredEntry {
    previous: Vec<u8>,
    hash: Vec<u8>,
    commitment: Vec<u8>,
    salt: Option<Vec<u8>>,
    payload: Option<String>,
    columns: Columns<String>,
}

/// A row of the audit: its number, its hash where that can be read, and all of it if it is one of ours.
type EntryRow = (i64, Option<Vec<u8>>, rusqlite::Result<StoredEntry>);

impl Vault {
    /// Computes the chain anew, entry by entry, looks for `head` among its hashes, and reads every content that is kept. Only
    /// this decides whether a history is damaged.
    ///
    /// Finds entries that were changed, removed, inserted or put into another order, and batches whose entries are gone. It
    /// cannot find that the newest entries were removed together with their batches, or that the whole chain was computed
    /// anew, unless a head that was kept elsewhere is given. A memory without a history has an empty chain.
    ///
    /// # Errors
    ///
    /// [`VaultError::Damaged`] for a database without the tables of memdir.
    pub fn account(&self, head: Option<Digest>) -> Result<AuditReport, VaultError> {
        let mut walk = ChainWalk::new(head);
        let mut from = Some(i64::MIN);
        while let Some(first) = from {
            let page = self.page(first)?;
            from = page.last().and_then(|(seq, ..)| seq.checked_add(1));
            for (seq, hash, raw) in page {
                walk.step(seq, hash, raw);
            }
        }
        if let Some(core) = self.known_core()?.as_ref() {
            let fault: String = core.journal.db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if fault != "ok" {
                walk.report(None, fault);
            }
            walk.compare_batches(core)?;
            core.journal.check_kept(&mut |fault| walk.report(None, fault))?;
        }
        Ok(walk.end())
    }

    /// The number and the hash of the last entry.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn head(&self) -> Result<(i64, Digest), VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok((0, Digest::from_bytes([0; 32]))) };
        let mut statement = core.journal.db.prepare_cached("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1")?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else { return Ok((0, Digest::from_bytes([0; 32]))) };
        Ok((row.get(0)?, Digest::from_bytes(row.get(1)?)))
    }

    /// Reads a page of entries that come after `seq`, in order; an empty one is the end.
    ///
    /// # Errors
    ///
    /// [`VaultError::Damaged`] for an entry that memdir has not written.
    pub fn records(&self, seq: i64) -> Result<Vec<AuditRecord>, VaultError> {
        let Some(first) = seq.checked_add(1) else { return Ok(Vec::new()) };
        self.page(first)?.into_iter().map(|(_, _, entry)| entry?.record()).collect()
    }

    fn page(&self, first: i64) -> Result<Vec<EntryRow>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Vec::new()) };
        let sql = "SELECT seq, previous, hash, commitment, salt, payload, batch, time, door, client, session, message,
                   origin, number, action, code, micros, permission FROM entry WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
        let mut statement = core.journal.db.prepare_cached(sql)?;
        let mut rows = statement.query(params![first, PAGE_ENTRIES])?;
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let raw = StoredEntry::of(row);
            bytes += raw.as_ref().ok().and_then(|raw| raw.payload.as_ref()).map_or(0, String::len);
            page.push((row.get(0)?, row.get(2).ok(), raw));
            if bytes > PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }
}

impl StoredEntry {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            previous: row.get(1)?,
            hash: row.get(2)?,
            commitment: row.get(3)?,
            salt: row.get(4)?,
            payload: row.get(5)?,
            columns: Columns {
                seq: row.get(0)?,
                batch: row.get(6)?,
                time: row.get(7)?,
                door: row.get(8)?,
                client: row.get(9)?,
                session: row.get(10)?,
                message: row.get(11)?,
                origin: row.get(12)?,
                number: row.get(13)?,
                action: row.get(14)?,
                code: row.get(15)?,
                micros: row.get(16)?,
                permission: row.get(17)?,
            },
        })
    }

    fn record(self) -> Result<AuditRecord, VaultError> {
        let Columns {
            seq,
            time,
            batch,
            door,
            client,
            session,
            message,
            origin,
            number,
            action,
            code,
            micros,
            permission,
        } = self.columns;
        let digest = |bytes: Vec<u8>| {
            let bytes = bytes.try_into().map_err(|_| VaultError::Damaged(format!("a digest of entry {seq}")));
            bytes.map(Digest::from_bytes)
        };
        Ok(AuditRecord {
            seq,
            previous: digest(self.previous)?,
            hash: digest(self.hash)?,
            commitment: digest(self.commitment)?,
            salt: self.salt.map(|salt| salt.iter().map(|byte| format!("{byte:02x}")).collect()),
            payload: self.payload.map(payload::as_object),
            batch,
            time: Timestamp::from_micros(time).to_string(),
            time_micros: time,
            door,
            client,
            session,
            message,
            origin,
            number,
            action,
            code,
            micros,
            permission,
        })
    }
}

/// A verification under way, from entry to entry.
#[derive(Debug)]
struct ChainWalk {
    account: AuditReport,
    wanted: Option<Digest>,
    /// The number that the next entry has to have.
    next: i64,
    /// What the next entry has to name as its predecessor; `None` after an entry that has no hash.
    previous: Option<Vec<u8>>,
    /// The first entry without a payload since the last one that says that something was forgotten.
    erased: Option<i64>,
}

impl ChainWalk {
    fn new(wanted: Option<Digest>) -> Self {
        let head = Digest::from_bytes([0; 32]);
        let since = wanted.filter(|wanted| *wanted == head).map(|_| 0);
        let account = AuditReport { ok: true, entries: 0, forgotten: 0, head, since, problems: Vec::new() };
        Self { account, wanted, next: 1, previous: Some(vec![0; 32]), erased: None }
    }

    fn report(&mut self, seq: Option<i64>, message: impl Into<String>) {
        self.account.ok = false;
        match self.account.problems.len() {
            ..MAX_PROBLEMS => self.account.problems.push(AuditProblem { seq, message: message.into() }),
            MAX_PROBLEMS => {
                self.account
                    .problems
                    .push(AuditProblem { seq, message: "this one and what follows is not listed".into() });
            }
            _ => {}
        }
    }

    fn step(&mut self, seq: i64, hash: Option<Vec<u8>>, raw: rusqlite::Result<StoredEntry>) {
        let account = &mut self.account;
        account.entries += 1;
        account.since = account.since.map(|since| since + 1);
        if seq != self.next {
            let message = match seq.saturating_sub(1) {
                _ if seq < self.next => "no entry has this number".to_owned(),
                last if last == self.next => format!("entry {last} is missing before it"),
                last => format!("entries {} to {last} are missing before it", self.next),
            };
            self.report(Some(seq), message);
        }
        self.next = seq.saturating_add(1).max(1);
        match raw {
            Ok(raw) => self.compare(seq, &raw),
            Err(_) => self.report(Some(seq), "it holds a value that memdir never writes"),
        }
        if let Some(bytes) = hash.as_deref().and_then(|hash| <[u8; 32]>::try_from(hash).ok()) {
            self.account.head = Digest::from_bytes(bytes);
            if self.wanted == Some(self.account.head) {
                self.account.since = Some(0);
            }
        }
        self.previous = hash;
    }

    fn compare(&mut self, seq: i64, raw: &StoredEntry) {
        if self.previous.as_ref().is_some_and(|previous| *previous != raw.previous) {
            self.report(Some(seq), "it does not follow the entry before it: one was changed, removed or put between");
        }
        if raw.hash != raw.columns.hash(&raw.previous, &raw.commitment).as_bytes() {
            self.report(Some(seq), "it was changed: its hash is not that of its columns");
        }
        if raw.columns.batch.is_some_and(|batch| batch < 1) {
            self.report(Some(seq), "it was changed: no batch has such a number");
        }
        if raw.columns.action == audit::FORGET {
            self.erased = None;
        }
        match (&raw.salt, &raw.payload) {
            (None, None) => {
                self.account.forgotten += 1;
                self.erased = self.erased.or(Some(seq));
            }
            (Some(salt), Some(payload)) => {
                if raw.commitment != audit::commitment(salt, payload.as_bytes()).as_bytes() {
                    self.report(Some(seq), "its payload was changed: it is not what was committed to");
                }
            }
            _ => self.report(Some(seq), "its payload or its salt was removed alone; forgetting removes both"),
        }
    }

    /// Compares the chain with the batches that it accounts for.
    fn compare_batches(&mut self, core: &Core) -> Result<(), VaultError> {
        let sql = "SELECT id FROM batch WHERE state IN (2, 3) AND id NOT IN
                   (SELECT batch FROM entry WHERE batch IS NOT NULL) ORDER BY id LIMIT ?1";
        let mut statement = core.journal.db.prepare(sql)?;
        let mut rows = statement.query([MAX_PROBLEMS + 1])?;
        while let Some(row) = rows.next()? {
            self.report(None, format!("batch {} has no entry", row.get::<_, i64>(0)?));
        }
        let sql = "SELECT min(seq), batch FROM entry WHERE batch IS NOT NULL AND batch NOT IN (SELECT id FROM batch)
                   GROUP BY batch LIMIT ?1";
        let mut statement = core.journal.db.prepare(sql)?;
        let mut rows = statement.query([MAX_PROBLEMS + 1])?;
        while let Some(row) = rows.next()? {
            self.report(row.get(0)?, format!("batch {} of this entry is not in the history", row.get::<_, i64>(1)?));
        }
        // A batch has no entries before it is certain, and one more once it is given back, or is to be.
        let sql = "SELECT min(seq), batch.id FROM entry JOIN batch ON batch.id = entry.batch GROUP BY batch.id
                   HAVING state = 1 OR (state IN (4, 5)) <> max(action = ?2) OR max(entry.time IS NOT batch.time
                   OR entry.door IS NOT batch.door OR entry.client IS NOT batch.client
                   OR entry.session IS NOT batch.session OR entry.message IS NOT batch.message) LIMIT ?1";
        let mut statement = core.journal.db.prepare(sql)?;
        let mut rows = statement.query(params![MAX_PROBLEMS + 1, audit::GIVEN_BACK])?;
        while let Some(row) = rows.next()? {
            let batch: i64 = row.get(1)?;
            self.report(row.get(0)?, format!("batch {batch} has another time, author or outcome in the history"));
        }
        Ok(())
    }

    fn end(mut self) -> AuditReport {
        if let Some(seq) = self.erased {
            self.report(Some(seq), "its payload was removed, and nothing was forgotten after that");
        }
        if self.wanted.is_some() && self.account.since.is_none() {
            self.report(None, "no entry has the head that was given: entries were removed or written anew since");
        }
        self.account
    }
}
