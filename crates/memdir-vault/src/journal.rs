//! The journal: batches, their steps and their contents, in one SQLite file.
//!
//! Owns what a row means. A batch goes from [`State::Open`] (temporary files may lie about) over
//! [`State::Committed`] (it will be finished, whatever happens) to [`State::Applied`]; or it is given back by way of
//! [`State::Aborting`]. Only `Committed` and `Aborting` are flushed: each is a promise, the others only save work.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use super::audit::Outcome;
use super::confine::confined;
use super::error::EXCHANGED;
use super::place::TempFolders;
use super::proof::Proof;
use super::state::{LogFile, StateFolder};
use super::{Batch, RecordedStep, VaultError, audit, contents};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_core::retry;
use memdir_plan::{Content, Image, Step};

/// The tables.
const SCHEMA: &str = include_str!("schema.sql");
/// The version of the tables; another one is refused.
const VERSION: i64 = 1;
/// "memd", so that `file` and we can tell the database from any other.
const APPLICATION: i64 = 0x6d65_6d64;
/// The key of the number of the first batch, where that is not 1.
const FIRST_BATCH: &str = "first_batch";
/// How long to wait for another connection.
const BUSY: Duration = Duration::from_secs(10);
/// How often the database is opened until what was opened is what the folder holds.
const ATTEMPTS: usize = 3;
/// How it is opened. SQLite refuses links in its path, as long as nobody puts one there at the same time.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_NOFOLLOW)
    .union(OpenFlags::SQLITE_OPEN_EXRESCODE);
/// How far a batch has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// Its temporary files are being written. Nothing has changed.
    Open,
    /// All of it is in the journal. It is done, or will be finished.
    Committed,
    /// Every file is in its place.
    Applied,
    /// It met an outside edit and is being given back.
    Aborting,
    /// Nothing of it is left.
    Aborted,
}

impl State {
    pub(super) fn code(self) -> i64 {
        match self {
            Self::Open => 1,
            Self::Committed => 2,
            Self::Applied => 3,
            Self::Aborting => 4,
            Self::Aborted => 5,
        }
    }

    fn decode(code: i64) -> Result<Self, VaultError> {
        [Self::Open, Self::Committed, Self::Applied, Self::Aborting, Self::Aborted]
            .into_iter()
            .find(|state| state.code() == code)
            .ok_or_else(|| VaultError::Damaged(format!("a batch has the unknown state {code}")))
    }
}

/// Whether a commit waits until the disk has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flush {
    /// It waits.
    Yes,
    /// It does not; the next flush makes it durable.
    No,
}

/// The database.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) db: Connection,
    /// What is flushed for [`Flush::Yes`]; nothing ever is under `durability = "atomic"`.
    log: Option<LogFile>,
}

impl Journal {
    /// Opens the database of a folder, and makes its tables when it is new, once `lock` has taken the lock that keeps others
    /// from doing so and given the number of the first batch. Without a `log` nothing is ever flushed.
    pub(super) fn open(
        folder: &StateFolder,
        mut log: Option<LogFile>,
        lock: impl Fn() -> Result<u64, VaultError> + Send,
    ) -> Result<Self, VaultError> {
        confined(&folder.folders(), move || {
            let mut attempt = 0;
            loop {
                attempt += 1;
                let proof = Proof::begin(folder);
                let db = Connection::open_with_flags(folder.history_path(), FLAGS)?;
                let mut journal = Self { db, log: log.take() };
                match journal.ready(proof, &lock) {
                    // It may have been exchanged for a moment, or something else of this process has opened such a file.
                    Err(error) if error.may_be_of_exchange() && attempt < ATTEMPTS => log = journal.log,
                    result => return result.map(|()| journal),
                }
            }
        })
    }

    /// Readies a connection that was opened: proves what it opened, then lets it do its work.
    fn ready(&mut self, proof: Proof<'_>, lock: impl Fn() -> Result<u64, VaultError>) -> Result<(), VaultError> {
        proof.check_database()?;
        self.settle()?;
        match self.version()? {
            (VERSION, APPLICATION, _) => {
                self.check_mode()?;
                proof.check_beside()?;
            }
            (0, 0, 0) => {
                let folder = proof.end();
                let first = lock()?;
                // Another process may have made the tables, and filled them, while we waited.
                if self.version()? == (0, 0, 0) {
                    self.create_patiently(folder, first).map_err(VaultError::of_drive)?;
                } else {
                    return Err(VaultError::Untrusted(EXCHANGED));
                }
            }
            (version, APPLICATION, _) if version > VERSION => return Err(VaultError::Newer(version)),
            (version, APPLICATION, _) => {
                return Err(VaultError::Damaged(format!("it has version {version}, and this program knows {VERSION}")));
            }
            _ => return Err(VaultError::Damaged("it is a database of another program".to_owned())),
        }
        self.check_tables()
    }

    /// Sets up a connection. The file may come from anyone, so nothing in it is run.
    fn settle(&self) -> Result<(), VaultError> {
        let db = &self.db;
        db.busy_timeout(BUSY)?;
        db.set_prepared_statement_cache_capacity(48);
        for (option, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
            // Else a statement is planned anew for each value of a column with a partial index.
            (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
        ] {
            db.set_db_config(option, value)?;
        }
        db.execute_batch("PRAGMA cell_size_check = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL;")?;
        #[cfg(target_vendor = "apple")]
        db.execute_batch("PRAGMA fullfsync = ON;")?;
        Ok(())
    }

    /// Checks that writes go to the log beside the database, whose identity is proved, and to no other file.
    fn check_mode(&self) -> Result<(), VaultError> {
        let mode: String = self.db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode.eq_ignore_ascii_case("wal") {
            return Ok(());
        }
        Err(VaultError::Damaged("its journal mode is not WAL".to_owned()))
    }

    /// Checks that the tables are ours and that there is nothing else: the sender of the folder may have added something that acts
    /// when rows are written.
    fn check_tables(&self) -> Result<(), VaultError> {
        // The tables of `ANALYZE` do nothing.
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_stat[0-9]'";
        let mut statement = self.db.prepare(sql)?;
        let mut found = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        found.sort_unstable();
        let lines: Vec<&str> = SCHEMA.lines().filter(|line| !line.starts_with("--")).collect();
        let schema = lines.join("\n");
        let mut ours: Vec<&str> = schema.split(';').map(str::trim).filter(|statement| !statement.is_empty()).collect();
        ours.sort_unstable();
        if found == ours { Ok(()) } else { Err(VaultError::Damaged("its tables are not those of memdir".to_owned())) }
    }

    /// The version, whose database it is, and how much is in it.
    fn version(&self) -> Result<(i64, i64, i64), VaultError> {
        // In one look: another process may be making the tables.
        let sql = "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
                   FROM pragma_user_version, pragma_application_id";
        Ok(self.db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
    }

    /// As [`Journal::create`], while others look at the file: turning the log on does not wait for them by itself.
    fn create_patiently(&mut self, folder: &StateFolder, first: u64) -> Result<(), VaultError> {
        let created = retry::within(BUSY, || match self.create(folder, first) {
            Err(VaultError::Busy) => Ok(None),
            other => other.map(Some),
        });
        created?.ok_or(VaultError::Busy)
    }

    fn create(&mut self, folder: &StateFolder, first: u64) -> Result<(), VaultError> {
        let proof = Proof::begin(folder);
        let mode: String = self.db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(VaultError::Unfit);
        }
        // The log is opened by whoever reads first.
        self.version()?;
        proof.check_beside()?;
        drop(proof);
        self.transaction(Flush::Yes, |transaction| {
            // Another process may have been first.
            let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version != 0 {
                return Ok(());
            }
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            let id = audit::random()?;
            transaction.execute("INSERT INTO meta VALUES ('id', ?1)", [id.as_slice()])?;
            if first > 1 {
                transaction.execute("INSERT INTO meta VALUES (?1, ?2)", params![FIRST_BATCH, first])?;
            }
            Ok(())
        })
    }

    /// Runs `work` in one transaction.
    pub(super) fn transaction<T>(
        &mut self,
        flush: Flush,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        match &mut self.log {
            Some(log) if flush == Flush::Yes => log.flush()?,
            _ => {}
        }
        Ok(result)
    }

    /// Does work without waiting for other connections: where one is in the way, it fails with [`VaultError::Busy`].
    pub(super) fn at_once<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        self.db.busy_timeout(Duration::ZERO)?;
        let done = work(self);
        self.db.busy_timeout(BUSY)?;
        done
    }

    /// The newest batch and how far it has come.
    pub(super) fn newest(&self) -> Result<Option<(u64, State)>, VaultError> {
        let mut statement = self.db.prepare_cached("SELECT id, state FROM batch ORDER BY id DESC LIMIT 1")?;
        let row = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        row.map(|(id, state)| Ok((id, State::decode(state)?))).transpose()
    }

    /// Names a new batch and the places in which its temporary files will lie, unflushed.
    pub(super) fn begin(&mut self, batch: &Batch<'_>, places: &TempFolders) -> Result<u64, VaultError> {
        #[expect(clippy::expect_used, reason = "lists of paths are always JSON")]
        let places = serde_json::to_string(places).expect("places are JSON");
        let author = batch.author;
        self.transaction(Flush::No, |transaction| {
            let sql = "INSERT INTO batch (id, state, time, door, client, session, message, undoes, places)
                       VALUES (ifnull((SELECT 1 + max(id) FROM batch), ?9), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            let first = sum(transaction, FIRST_BATCH)?.unwrap_or(1);
            let row = params![
                State::Open.code(),
                batch.time.micros(),
                author.door,
                author.client,
                author.session,
                author.message_name(),
                batch.undoes.first(),
                places,
                first
            ];
            transaction.prepare_cached(sql)?.execute(row)?;
            Ok(transaction.last_insert_rowid().cast_unsigned())
        })
    }

    /// Whether a crash has left the newest batch without an end.
    pub(super) fn is_unfinished(&self) -> Result<bool, VaultError> {
        let state = self.newest()?.map(|(_, state)| state);
        Ok(matches!(state, Some(State::Open | State::Committed | State::Aborting)))
    }

    /// The places in which the temporary files of a batch may lie.
    pub(super) fn places(&self, batch: u64) -> Result<TempFolders, VaultError> {
        let mut statement = self.db.prepare_cached("SELECT places FROM batch WHERE id = ?1")?;
        let places: String = statement.query_row([batch], |row| row.get(0))?;
        serde_json::from_str(&places).map_err(|error| VaultError::Damaged(format!("places of batch {batch}: {error}")))
    }

    /// Makes a batch certain: its steps, all contents, its audit entries and what is noted `beside` them, in one flushed transaction.
    pub(super) fn commit(
        &mut self,
        batch: u64,
        steps: &[RecordedStep],
        content: &Batch<'_>,
        growth: Option<i64>,
        beside: impl Fn(&Transaction<'_>) -> Result<(), VaultError>,
    ) -> Result<(), VaultError> {
        self.transaction(Flush::Yes, |transaction| {
            for (number, step) in steps.iter().enumerate() {
                insert_step(transaction, batch, number, step)?;
            }
            audit::Chain::open(transaction, content.entries.len())?.append(
                Some(batch),
                content.entries,
                content.author,
                content.time,
            )?;
            beside(transaction)?;
            grow(transaction, growth)?;
            set_state(transaction, batch, State::Committed)
        })
    }

    /// Gives up a batch of which nothing was carried out, whether it had become certain or not.
    ///
    /// Its steps are deleted, so that its temporary files, which may be half written, are not taken for outside edits.
    pub(super) fn abandon(&mut self, batch: u64, growth: Option<i64>, flush: Flush) -> Result<(), VaultError> {
        self.transaction(flush, |transaction| {
            let sql = "SELECT state FROM batch WHERE id = ?1";
            let state: i64 = transaction.prepare_cached(sql)?.query_row([batch], |row| row.get(0))?;
            if state == State::Committed.code() {
                grow(transaction, growth.map(i64::saturating_neg))?;
                // Its entries say that its calls succeeded, and stay in the chain.
                audit::append_given_back(transaction, batch)?;
            }
            transaction.prepare_cached("DELETE FROM step WHERE batch = ?1")?.execute([batch])?;
            set_state(transaction, batch, State::Aborted)
        })
    }

    /// Notes that a certain batch is to be given back, in the chain too: anybody could have written the state alone.
    pub(super) fn give_back(&mut self, batch: u64) -> Result<(), VaultError> {
        self.transaction(Flush::Yes, |transaction| {
            audit::append_given_back(transaction, batch)?;
            set_state(transaction, batch, State::Aborting)
        })
    }

    /// Checks that the chain agrees with the state of an unfinished batch. A batch that was reported as saved is never taken back
    /// because of a number in the database alone.
    pub(super) fn check_outcome(&self, batch: u64, state: State) -> Result<(), VaultError> {
        let outcome = Outcome::of(&self.db, batch)?;
        let agrees = match state {
            State::Open => outcome == Outcome::Unknown,
            State::Committed => outcome != Outcome::GivenBack,
            State::Aborting => outcome == Outcome::GivenBack,
            State::Applied | State::Aborted => true,
        };
        if agrees {
            return Ok(());
        }
        Err(VaultError::Damaged(format!("what it says of batch {batch} is not what the audit says")))
    }

    /// Marks a certain batch as given back, unflushed.
    pub(super) fn given_back(&mut self, batch: u64, growth: Option<i64>) -> Result<(), VaultError> {
        self.transaction(Flush::No, |transaction| {
            grow(transaction, growth.map(i64::saturating_neg))?;
            set_state(transaction, batch, State::Aborted)
        })
    }

    /// Sets how far a batch has come.
    pub(super) fn mark(&mut self, batch: u64, state: State, flush: Flush) -> Result<(), VaultError> {
        self.transaction(flush, |transaction| set_state(transaction, batch, state))
    }

    /// Reads the steps of a batch with their contents.
    pub(super) fn steps(&self, batch: u64) -> Result<Vec<RecordedStep>, VaultError> {
        self.steps_with(batch, &|id| contents::load(&self.db, id)?.ok_or(VaultError::Pruned(batch)))
    }

    /// As [`Journal::steps`], with contents from somewhere.
    pub(super) fn steps_with(
        &self,
        batch: u64,
        content: &dyn Fn(i64) -> Result<Content, VaultError>,
    ) -> Result<Vec<RecordedStep>, VaultError> {
        let mut statement = self.db.prepare_cached(
            "SELECT kind, path, new_path, before, before_mode, after, after_mode, device, inode
             FROM step WHERE batch = ?1 ORDER BY number",
        )?;
        let mut rows = statement.query([batch])?;
        let mut steps = Vec::new();
        while let Some(row) = rows.next()? {
            let path = |column| -> Result<MemoryPath, VaultError> {
                let text: Option<String> = row.get(column)?;
                let text = text.ok_or(VaultError::Pruned(batch))?;
                MemoryPath::parse(&text).map_err(|error| VaultError::Damaged(format!("a step's path {error}")))
            };
            let image = |id: usize, mode: usize| -> Result<Option<Image>, VaultError> {
                let Some(id) = row.get::<_, Option<i64>>(id)? else { return Ok(None) };
                Ok(Some(Image { content: content(id)?, mode: row.get(mode)? }))
            };
            let step = match row.get::<_, i64>(0)? {
                1 => Step::MakeFolder { path: path(1)?, mode: row.get(6)? },
                2 => Step::Move { from: path(1)?, to: path(2)?, kind: Kind::File },
                3 => Step::Move { from: path(1)?, to: path(2)?, kind: Kind::Directory },
                4 => Step::Put { path: path(1)?, before: image(3, 4)?, after: image(5, 6)? },
                5 => Step::RemoveFolder { path: path(1)?, mode: row.get(4)? },
                kind => return Err(VaultError::Damaged(format!("a step has the unknown kind {kind}"))),
            };
            let number = |column| row.get::<_, Option<i64>>(column).map(|id| id.map(i64::cast_unsigned));
            steps.push(RecordedStep { step, identity: number(7)?.zip(number(8)?) });
        }
        Ok(steps)
    }

    /// Reads a running sum; `None` when it was never taken.
    pub(super) fn sum(&self, key: &str) -> Result<Option<u64>, VaultError> {
        sum(&self.db, key)
    }

    /// The number of the first batch. It is above those of temporary files that an earlier history has left.
    pub(super) fn first_batch(&self) -> Result<u64, VaultError> {
        Ok(self.sum(FIRST_BATCH)?.unwrap_or(1))
    }

    /// Begins a running sum, unflushed. One that is there stays: another process may have added to it since.
    pub(super) fn begin_sum(&mut self, key: &str, value: u64) -> Result<(), VaultError> {
        self.transaction(Flush::No, |transaction| {
            let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING";
            transaction.prepare_cached(sql)?.execute(params![key, value])?;
            Ok(())
        })
    }

    /// Folds the write-ahead log into the database. Where another connection is in the way, a later call does it.
    pub(super) fn checkpoint(&mut self) -> Result<(), VaultError> {
        let folded =
            |journal: &mut Self| Ok(journal.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?);
        match self.at_once(folded) {
            Err(VaultError::Busy) => Ok(()),
            other => other,
        }
    }
}

fn set_state(transaction: &Transaction<'_>, batch: u64, state: State) -> Result<(), VaultError> {
    let sql = "UPDATE batch SET state = ?2 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![batch, state.code()])?;
    Ok(())
}

/// As [`Journal::sum`], also within a transaction.
pub(super) fn sum(db: &Connection, key: &str) -> Result<Option<u64>, VaultError> {
    let mut statement = db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    let value: Option<i64> = statement.query_row([key], |row| row.get(0)).optional()?;
    Ok(value.map(|value| u64::try_from(value).unwrap_or(0)))
}

/// Adds to a running sum that was taken before; one that was not stays unknown.
pub(super) fn add(transaction: &Transaction<'_>, key: &str, difference: i64) -> Result<(), VaultError> {
    let sql = "UPDATE meta SET value = max(0, value + ?2) WHERE key = ?1";
    transaction.prepare_cached(sql)?.execute(params![key, difference])?;
    Ok(())
}

/// Adds to the sum of all notes; where the growth is not known, the sum is deleted, to be counted anew.
fn grow(transaction: &Transaction<'_>, growth: Option<i64>) -> Result<(), VaultError> {
    let Some(growth) = growth else {
        transaction.prepare_cached("DELETE FROM meta WHERE key = 'note_bytes'")?.execute([])?;
        return Ok(());
    };
    add(transaction, "note_bytes", growth)
}

fn insert_step(
    transaction: &Transaction<'_>,
    batch: u64,
    number: usize,
    step: &RecordedStep,
) -> Result<(), VaultError> {
    let store = |image: &Option<Image>| -> Result<(Option<i64>, Option<u32>), VaultError> {
        let Some(image) = image else { return Ok((None, None)) };
        Ok((Some(contents::store(transaction, batch, &image.content)?), image.mode))
    };
    let nothing = (None, None);
    let (kind, path, new_path, before, after) = match &step.step {
        Step::MakeFolder { path, mode } => (1, path, None, nothing, (None, *mode)),
        Step::Move { from, to, kind: Kind::File } => (2, from, Some(to), nothing, nothing),
        Step::Move { from, to, kind: Kind::Directory } => (3, from, Some(to), nothing, nothing),
        Step::Put { path, before, after } => (4, path, None, store(before)?, store(after)?),
        Step::RemoveFolder { path, mode } => (5, path, None, (None, *mode), nothing),
    };
    let (device, inode) = step.identity.unzip();
    let sql = "INSERT INTO step VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    transaction.prepare_cached(sql)?.execute(params![
        batch,
        number,
        kind,
        path.as_str(),
        new_path.map(MemoryPath::as_str),
        before.0,
        before.1,
        after.0,
        after.1,
        device.map(u64::cast_signed),
        inode.map(u64::cast_signed),
    ])?;
    Ok(())
}
