//! Rendering account: the chain of the audit computed anew, its head, and its entries for somebody else to check.
//!
//! Reads in pages and holds no transaction between them, so that a long look keeps nobody from folding the log into
//! the database. What is found is told, never mended.

use rusqlite::{Row, params};
use serde::Serialize;

use super::audit::{self, Columns};
use super::{Core, Vault, VaultError};
use crate::digest::Digest;
use crate::time::Timestamp;

/// How many problems are told: who has replaced the chain has made as many as there are entries.
const MAX_PROBLEMS: usize = 100;
/// A page ends after so many entries, or so many bytes of payload.
const PAGE_ENTRIES: usize = 1000;
const PAGE_BYTES: usize = 1 << 20;

/// What the audit says of itself.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Account {
    /// Whether no problem was found.
    pub ok: bool,
    /// How many entries there are.
    pub entries: u64,
    /// How many of them have lost their payload to `forget`.
    pub forgotten: u64,
    /// The hash of the last entry, which stands for all of them; 32 zero bytes where there is none.
    pub head: Digest,
    /// Where a head was given: how many entries came after it; `None` when it is none of this chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// What does not fit together, in order; at most a hundred, and a last one that says that there are more.
    pub problems: Vec<Problem>,
}

/// Something in the audit that memdir has not written so.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// The entry at which it shows; `None` where it is not about one.
    pub seq: Option<i64>,
    /// What is wrong.
    pub message: String,
}

/// One entry, with all that is kept of it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the columns of `schema.sql`, which has the words")]
pub struct Record {
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
struct Raw {
    previous: Vec<u8>,
    hash: Vec<u8>,
    commitment: Vec<u8>,
    salt: Option<Vec<u8>>,
    payload: Option<String>,
    batch: Option<i64>,
    time: i64,
    door: String,
    client: Option<String>,
    session: Option<String>,
    message: Option<String>,
    origin: String,
    number: i64,
    action: String,
    code: Option<String>,
    micros: i64,
    permission: String,
}

/// A row of the audit: its number, its hash where that can be read, and all of it if it is one of ours.
type Found = (i64, Option<Vec<u8>>, rusqlite::Result<Raw>);

impl Vault {
    /// Computes the chain anew, entry by entry, looks whether `head` is one of its hashes, and reads every content that is
    /// kept. What is a damage of the history is decided here alone.
    ///
    /// Finds what was changed, removed, inserted or put into another order, and batches whose entries are gone. It does
    /// not find that the newest entries were removed together with their batches, or that the whole chain was computed
    /// anew, unless a head that was kept elsewhere is given. A memory without a history has an empty chain.
    ///
    /// # Errors
    ///
    /// [`VaultError::Damaged`] for a database without the tables of memdir.
    pub fn account(&self, head: Option<Digest>) -> Result<Account, VaultError> {
        let mut walk = Walk::new(head);
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
                walk.tell(None, fault);
            }
            walk.compare_batches(core)?;
            core.journal.check_kept(&mut |fault| walk.tell(None, fault))?;
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
    pub fn records(&self, seq: i64) -> Result<Vec<Record>, VaultError> {
        let Some(first) = seq.checked_add(1) else { return Ok(Vec::new()) };
        self.page(first)?.into_iter().map(|(seq, _, raw)| raw?.record(seq)).collect()
    }

    fn page(&self, first: i64) -> Result<Vec<Found>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Vec::new()) };
        let sql = "SELECT seq, previous, hash, commitment, salt, payload, batch, time, door, client, session, message,
                   origin, number, action, code, micros, permission FROM entry WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
        let mut statement = core.journal.db.prepare_cached(sql)?;
        let mut rows = statement.query(params![first, PAGE_ENTRIES])?;
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let raw = Raw::of(row);
            bytes += raw.as_ref().ok().and_then(|raw| raw.payload.as_ref()).map_or(0, String::len);
            page.push((row.get(0)?, row.get(2).ok(), raw));
            if bytes > PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }
}

impl Raw {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            previous: row.get(1)?,
            hash: row.get(2)?,
            commitment: row.get(3)?,
            salt: row.get(4)?,
            payload: row.get(5)?,
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
        })
    }

    fn chained(&self, seq: i64) -> Digest {
        let columns = Columns {
            seq,
            time: self.time,
            batch: self.batch,
            door: &self.door,
            client: self.client.as_deref(),
            session: self.session.as_deref(),
            message: self.message.as_deref(),
            origin: &self.origin,
            number: self.number,
            action: &self.action,
            code: self.code.as_deref(),
            micros: self.micros,
            permission: &self.permission,
        };
        columns.hash(&self.previous, &self.commitment)
    }

    fn record(self, seq: i64) -> Result<Record, VaultError> {
        let digest = |bytes: Vec<u8>| {
            let bytes = bytes.try_into().map_err(|_| VaultError::Damaged(format!("a digest of entry {seq}")));
            bytes.map(Digest::from_bytes)
        };
        Ok(Record {
            seq,
            previous: digest(self.previous)?,
            hash: digest(self.hash)?,
            commitment: digest(self.commitment)?,
            salt: self.salt.map(|salt| salt.iter().map(|byte| format!("{byte:02x}")).collect()),
            payload: self.payload.map(as_object),
            batch: self.batch,
            time: Timestamp::from_micros(self.time).to_string(),
            time_micros: self.time,
            door: self.door,
            client: self.client,
            session: self.session,
            message: self.message,
            origin: self.origin,
            number: self.number,
            action: self.action,
            code: self.code,
            micros: self.micros,
            permission: self.permission,
        })
    }
}

/// A payload as the object that it is, if its compact form is the payload again, byte for byte.
fn as_object(payload: String) -> serde_json::Value {
    match serde_json::from_str::<serde_json::Value>(&payload) {
        Ok(object) if object.is_object() && serde_json::to_string(&object).is_ok_and(|text| text == payload) => object,
        _ => serde_json::Value::String(payload),
    }
}

/// A walk along the chain.
#[derive(Debug)]
struct Walk {
    account: Account,
    wanted: Option<Digest>,
    /// The number that the next entry has to have.
    next: i64,
    /// What the next entry has to name as its predecessor; `None` after an entry that has no hash.
    previous: Option<Vec<u8>>,
    /// The first entry without a payload since the last one that says that something was forgotten.
    erased: Option<i64>,
}

impl Walk {
    fn new(wanted: Option<Digest>) -> Self {
        let head = Digest::from_bytes([0; 32]);
        let since = wanted.filter(|wanted| *wanted == head).map(|_| 0);
        let account = Account { ok: true, entries: 0, forgotten: 0, head, since, problems: Vec::new() };
        Self { account, wanted, next: 1, previous: Some(vec![0; 32]), erased: None }
    }

    fn tell(&mut self, seq: Option<i64>, message: impl Into<String>) {
        self.account.ok = false;
        match self.account.problems.len() {
            ..MAX_PROBLEMS => self.account.problems.push(Problem { seq, message: message.into() }),
            MAX_PROBLEMS => {
                self.account.problems.push(Problem { seq, message: "this one and what follows is not listed".into() });
            }
            _ => {}
        }
    }

    fn step(&mut self, seq: i64, hash: Option<Vec<u8>>, raw: rusqlite::Result<Raw>) {
        let account = &mut self.account;
        account.entries += 1;
        account.since = account.since.map(|since| since + 1);
        if seq != self.next {
            let message = match seq.saturating_sub(1) {
                _ if seq < self.next => "no entry has this number".to_owned(),
                last if last == self.next => format!("entry {last} is missing before it"),
                last => format!("entries {} to {last} are missing before it", self.next),
            };
            self.tell(Some(seq), message);
        }
        self.next = seq.saturating_add(1).max(1);
        match raw {
            Ok(raw) => self.compare(seq, &raw),
            Err(_) => self.tell(Some(seq), "it holds a value that memdir never writes"),
        }
        if let Some(bytes) = hash.as_deref().and_then(|hash| <[u8; 32]>::try_from(hash).ok()) {
            self.account.head = Digest::from_bytes(bytes);
            if self.wanted == Some(self.account.head) {
                self.account.since = Some(0);
            }
        }
        self.previous = hash;
    }

    fn compare(&mut self, seq: i64, raw: &Raw) {
        if self.previous.as_ref().is_some_and(|previous| *previous != raw.previous) {
            self.tell(Some(seq), "it does not follow the entry before it: one was changed, removed or put between");
        }
        if raw.hash != raw.chained(seq).as_bytes() {
            self.tell(Some(seq), "it was changed: its hash is not that of its columns");
        }
        if raw.batch.is_some_and(|batch| batch < 1) {
            self.tell(Some(seq), "it was changed: no batch has such a number");
        }
        if raw.action == audit::FORGET {
            self.erased = None;
        }
        match (&raw.salt, &raw.payload) {
            (None, None) => {
                self.account.forgotten += 1;
                self.erased = self.erased.or(Some(seq));
            }
            (Some(salt), Some(payload)) => {
                if raw.commitment != audit::commitment(salt, payload.as_bytes()).as_bytes() {
                    self.tell(Some(seq), "its payload was changed: it is not what was committed to");
                }
            }
            _ => self.tell(Some(seq), "its payload or its salt was removed alone; forgetting removes both"),
        }
    }

    /// Compares the chain with the batches that it accounts for.
    fn compare_batches(&mut self, core: &Core) -> Result<(), VaultError> {
        let sql = "SELECT id FROM batch WHERE state IN (2, 3) AND id NOT IN
                   (SELECT batch FROM entry WHERE batch IS NOT NULL) ORDER BY id LIMIT ?1";
        let mut statement = core.journal.db.prepare(sql)?;
        let mut rows = statement.query([MAX_PROBLEMS + 1])?;
        while let Some(row) = rows.next()? {
            self.tell(None, format!("batch {} has no entry", row.get::<_, i64>(0)?));
        }
        let sql = "SELECT min(seq), batch FROM entry WHERE batch IS NOT NULL AND batch NOT IN (SELECT id FROM batch)
                   GROUP BY batch LIMIT ?1";
        let mut statement = core.journal.db.prepare(sql)?;
        let mut rows = statement.query([MAX_PROBLEMS + 1])?;
        while let Some(row) = rows.next()? {
            self.tell(row.get(0)?, format!("batch {} of this entry is not in the history", row.get::<_, i64>(1)?));
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
            self.tell(row.get(0)?, format!("batch {batch} has another time, author or outcome in the history"));
        }
        Ok(())
    }

    fn end(mut self) -> Account {
        if let Some(seq) = self.erased {
            self.tell(Some(seq), "its payload was removed, and nothing was forgotten after that");
        }
        if self.wanted.is_some() && self.account.since.is_none() {
            self.tell(None, "no entry has the head that was given: entries were removed or written anew since");
        }
        self.account
    }
}
