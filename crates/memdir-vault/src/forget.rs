//! Forgetting: erases what the history holds of something, from every page of the database.
//!
//! An entry of the audit loses payload and salt, so that the chain still verifies; a content goes whole; a path becomes
//! NULL. Files are replaced and removed by handle and without the journal, which must keep nothing of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rusqlite::{Connection, OptionalExtension, params};

use super::aside::{digest_of, open_old_name, set_temporary};
use super::audit::{Chain, FORGET};
use super::every::open_parent;
use super::journal::{self, Flush, Journal};
use super::reads::PendingReads;
use super::{
    AuditEntry, Author, Core, Payload, Vault, VaultError, Writer, contents, disk, marks, moves, payload, tidied,
};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_plan::{Called, Content, Sought, When};

/// The name of a file that is being put in place here. No batch has the number 0.
const TEMPORARY: &str = ".memdir-0-0.tmp";
/// The key in `meta` while pages of the database may still hold what was forgotten.
const UNFINISHED: &str = "forgetting";
/// The key in `meta` that counts how often something was forgotten.
const FORGETS: &str = "forgets";
/// The `places` of a batch without temporary files.
const NO_PLACES: &str = r#"{"early":[],"late":[]}"#;

/// What the history holds of something.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HistoryTraces {
    /// How many changes there are under each name; `None` stands for contents and folders without one.
    pub changes: BTreeMap<Option<String>, u64>,
    /// How many entries of the audit name it.
    pub entries: u64,
    /// The digests of its contents, by which temporary files are recognized.
    pub digests: BTreeSet<Digest>,
}

impl HistoryTraces {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.entries == 0
    }
}

/// The rows to erase.
#[derive(Debug, Default)]
struct Rows {
    contents: BTreeSet<i64>,
    /// Batch, number, and whether the path itself has to go.
    paths: Vec<(i64, i64)>,
    /// Batches whose folders hold it.
    places: Vec<i64>,
    entries: Vec<i64>,
    traces: HistoryTraces,
}

/// Whether a file was changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Replaced {
    /// It was.
    Yes,
    /// Somebody has changed it since it was read, or it is gone.
    ChangedSince,
}

impl Vault {
    /// All names that a note had; just `path` where the history knows no other. Unless the note `is_there`, it is followed to the
    /// name that it has now, or had when it was deleted.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn names_of(&self, path: &MemoryPath, is_there: bool) -> Result<NoteNames, VaultError> {
        names_of(self.known_core()?.as_ref(), path, is_there)
    }

    /// Whether this machine has a history of this memory.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn has_history(&self) -> Result<bool, VaultError> {
        Ok(self.known_core()?.is_some())
    }

    /// What the history holds of something. Reads every content that is kept.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn traces(&self, sought: &Sought) -> Result<HistoryTraces, VaultError> {
        traces(self.known_core()?.as_ref(), sought)
    }

    /// In how many changes and entries of the audit a text is the name of a client, a conversation or a message. The audit's hashes cover
    /// these names, so that nothing erases them.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn named_authors(&self, sought: &Sought) -> Result<u64, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref().filter(|_| matches!(sought, Sought::Text(_))) else { return Ok(0) };
        let mut names = core.journal.db.prepare(
            "SELECT client, session, message FROM batch UNION ALL SELECT client, session, message FROM entry",
        )?;
        let mut names = names.query([])?;
        let mut count = 0;
        while let Some(row) = names.next()? {
            let [client, session, message] = [row.get::<_, Option<String>>(0)?, row.get(1)?, row.get(2)?];
            let is_in = |name: &String| sought.is_in(name.as_bytes());
            count += u64::from([client, session, message].iter().flatten().any(is_in));
        }
        Ok(count)
    }
}

/// What the history knows of the names of a note.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoteNames {
    /// The name that it has now, or had when it was deleted.
    pub now: MemoryPath,
    /// All of them, and when it had each.
    pub all: Vec<Called>,
}

impl NoteNames {
    /// Adds a name that is not among them.
    pub fn add(&mut self, name: &MemoryPath) {
        if self.all.iter().all(|called| called.name != *name) {
            self.all.push(Called::always(name.clone()));
        }
    }
}

impl Writer<'_> {
    /// As [`Vault::names_of`].
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn names_of(&self, path: &MemoryPath, is_there: bool) -> Result<NoteNames, VaultError> {
        names_of(self.core.as_ref(), path, is_there)
    }

    /// As [`Vault::traces`].
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn traces(&self, sought: &Sought) -> Result<HistoryTraces, VaultError> {
        traces(self.core.as_ref(), sought)
    }

    /// Erases what the history holds of something, and notes in the audit that it was done, without what it was.
    ///
    /// One flushed transaction; then the database is written anew, so that no page keeps what was deleted, now or
    /// earlier, and the log beside it is emptied. A crash in between is made good by
    /// [`Writer::finish_forgetting`], with which the same command begins.
    ///
    /// # Errors
    ///
    /// [`VaultError::Busy`] when a reader keeps the log from being emptied: what is erased stays erased.
    pub fn forget_history(&mut self, sought: &Sought, author: &Author, time: Timestamp) -> Result<(), VaultError> {
        let journal = &mut self.core()?.journal;
        journal.db.execute_batch("PRAGMA secure_delete = ON")?;
        journal.transaction(Flush::Yes, |transaction| {
            let rows = rows(transaction, sought)?;
            erase(transaction, &rows)?;
            let changes: u64 = rows.traces.changes.values().sum();
            let entry = AuditEntry {
                number: 1,
                action: FORGET.to_owned(),
                code: None,
                micros: 0,
                permission: "off".to_owned(),
                payload: Payload::of_forget(changes, rows.traces.entries),
            };
            Chain::open(transaction, 1)?.append(None, &[entry], author, time)?;
            transaction.execute("INSERT INTO meta VALUES (?1, 1) ON CONFLICT (key) DO NOTHING", [UNFINISHED])?;
            count_forget(transaction)
        })?;
        self.finish_forgetting().map(drop)
    }

    /// Called after the notes are changed: erases what other processes have noted in the audit since
    /// [`Writer::forget_history`]. Reads that they note later will not say what was read.
    ///
    /// # Errors
    ///
    /// As [`Writer::forget_history`].
    pub fn end_forgetting(&mut self, sought: &Sought, author: &Author, time: Timestamp) -> Result<(), VaultError> {
        let journal = &mut self.core()?.journal;
        let late = journal.transaction(Flush::No, |transaction| {
            count_forget(transaction)?;
            entries(transaction, sought, &BTreeSet::new())
        })?;
        if late.is_empty() { Ok(()) } else { self.forget_history(sought, author, time) }
    }

    /// Writes the database anew if a crash came between forgetting and that, and says whether it did.
    ///
    /// # Errors
    ///
    /// [`VaultError::Busy`], [`VaultError::DiskFull`].
    pub fn finish_forgetting(&mut self) -> Result<bool, VaultError> {
        let vault = self.vault;
        let journal = &mut self.core()?.journal;
        if journal.sum(UNFINISHED)?.is_none() {
            return Ok(false);
        }
        // The database that SQLite attaches for VACUUM takes the setting over, so that its pages keep nothing either.
        journal.db.execute_batch("PRAGMA secure_delete = ON; VACUUM")?;
        journal.empty_log()?;
        journal.transaction(Flush::No, |transaction| {
            transaction.execute("DELETE FROM meta WHERE key = ?1", [UNFINISHED])?;
            Ok(())
        })?;
        *vault.measured() = None;
        Ok(true)
    }

    /// Replaces a file by another content, if it is still as it was read; flushed, and nothing of it is kept.
    ///
    /// # Errors
    ///
    /// Those of the system; the file is then as it was or as it shall be.
    pub fn replace_spot(&self, path: &str, read: &[u8], new: &[u8]) -> Result<Replaced, VaultError> {
        let io = |error| VaultError::io("change", MemoryPath::parse(path).ok().as_ref(), error);
        let (folder, name) = match open_parent(&self.vault.dir, path) {
            Err(error) if disk::is_gone(&error) => return Ok(Replaced::ChangedSince),
            opened => opened.map_err(io)?,
        };
        let is_as_read = |name: &str| digest_of(&folder, name).map(|found| found == Some(Digest::of(read)));
        if !is_as_read(name).map_err(io)? {
            return Ok(Replaced::ChangedSince);
        }
        let mode = disk::mode(&folder.symlink_metadata(name).map_err(io)?);
        let image = memdir_plan::Image { content: Content::new(new), mode };
        let old = open_old_name(&folder, name);
        let written = set_temporary(&folder, TEMPORARY, Some(&image), old.as_ref());
        written.and_then(|()| self.flush_name(&folder, TEMPORARY)).map_err(|error| {
            // Best effort: the next run removes it, too.
            let _ = folder.remove_file(TEMPORARY);
            io(error)
        })?;
        if disk::replace(&folder, TEMPORARY, &folder, name).map_err(io)? == disk::Replaced::Exchanged {
            if !is_as_read(TEMPORARY).map_err(io)? {
                disk::replace(&folder, TEMPORARY, &folder, name).map_err(io)?;
                folder.remove_file(TEMPORARY).map_err(io)?;
                return Ok(Replaced::ChangedSince);
            }
            folder.remove_file(TEMPORARY).map_err(io)?;
        }
        self.flush_folder(&folder).map_err(io)?;
        Ok(Replaced::Yes)
    }

    /// Removes a file, flushed. That it is gone already is fine.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn remove_spot(&self, path: &str) -> Result<(), VaultError> {
        let remove = || {
            let (folder, name) = open_parent(&self.vault.dir, path)?;
            folder.remove_file(name)?;
            self.flush_folder(&folder)
        };
        match remove() {
            Err(error) if disk::is_gone(&error) => Ok(()),
            other => other.map_err(|error| VaultError::io("remove", MemoryPath::parse(path).ok().as_ref(), error)),
        }
    }

    pub(super) fn flush_name(&self, folder: &cap_std::fs::Dir, name: &str) -> io::Result<()> {
        if !self.vault.is_durable() {
            return Ok(());
        }
        disk::open_to_flush(folder, name)?.sync_all()
    }

    pub(super) fn flush_folder(&self, folder: &cap_std::fs::Dir) -> io::Result<()> {
        if self.vault.is_durable() { disk::sync_folder(folder) } else { Ok(()) }
    }
}

impl Journal {
    /// How often something was forgotten.
    pub(super) fn forgets(&self) -> Result<u64, VaultError> {
        Ok(self.sum(FORGETS)?.unwrap_or(0))
    }

    /// Writes entries of calls that changed nothing, and gives the number of the last.
    pub(super) fn note_reads(&mut self, reads: &PendingReads) -> Result<u64, VaultError> {
        self.transaction(Flush::No, |transaction| {
            let forgets = journal::sum(transaction, FORGETS)?.unwrap_or(0);
            let mut chain = Chain::open(transaction, reads.count)?;
            for noted in &reads.batches {
                let bare: Vec<AuditEntry>;
                let entries = if noted.forgets == forgets {
                    &noted.entries
                } else {
                    let forgotten = |entry: &AuditEntry| AuditEntry { payload: Payload::empty(), ..entry.clone() };
                    bare = noted.entries.iter().map(forgotten).collect();
                    &bare
                };
                chain.append(None, entries, &noted.author, noted.time)?;
            }
            Ok(chain.last())
        })
    }

    /// Empties the write-ahead log, and waits for its readers.
    fn empty_log(&self) -> Result<(), VaultError> {
        // This waits for readers as long as any statement does.
        let is_busy: bool = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if is_busy { Err(VaultError::Busy) } else { Ok(()) }
    }
}

fn names_of(core: Option<&Core>, path: &MemoryPath, is_there: bool) -> Result<NoteNames, VaultError> {
    let Some(core) = core else { return Ok(NoteNames { now: path.clone(), all: vec![Called::always(path.clone())] }) };
    let now = if is_there { path.clone() } else { moves::name_now(&core.journal, path)? };
    let all = moves::names_before(&core.journal, &now)?;
    let mut names = NoteNames { now, all };
    names.add(path);
    Ok(names)
}

fn traces(core: Option<&Core>, sought: &Sought) -> Result<HistoryTraces, VaultError> {
    let Some(core) = core else { return Ok(HistoryTraces::default()) };
    Ok(rows(&core.journal.db, sought)?.traces)
}

/// Finds the rows that have to go.
fn rows(db: &Connection, sought: &Sought) -> Result<Rows, VaultError> {
    let mut rows = Rows::default();
    let mut touched = BTreeSet::new();
    let mut ids = db.prepare("SELECT id, batch FROM content ORDER BY id")?;
    let mut ids = ids.query([])?;
    let named = contents_named(db, sought)?;
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        let Some(content) = contents::load(db, id)? else { continue };
        // An empty content says nothing, and is shared by notes that have nothing else in common.
        let is_named = named.contains(&id) && !content.bytes().is_empty();
        if is_named || sought.is_in(content.bytes()) {
            rows.contents.insert(id);
            // A batch that was given up has no steps that would name it.
            touched.insert(row.get(1)?);
            rows.traces.digests.insert(content.digest());
        }
    }
    find_steps(db, sought, &mut rows, &mut touched)?;
    let mut places = db.prepare("SELECT id, places FROM batch")?;
    let mut places = places.query([])?;
    while let Some(row) = places.next()? {
        // A folder cannot be the note that is to be forgotten.
        if matches!(sought, Sought::Text(_)) && sought.is_in_payload(&row.get::<_, String>(1)?, None) {
            rows.places.push(row.get(0)?);
            *rows.traces.changes.entry(None).or_default() += 1;
        }
    }
    rows.entries = entries(db, sought, &touched)?;
    rows.traces.entries = u64::try_from(rows.entries.len()).unwrap_or(u64::MAX);
    Ok(rows)
}

/// The entries of the audit that have to lose their payload.
fn entries(db: &Connection, sought: &Sought, touched: &BTreeSet<i64>) -> Result<Vec<i64>, VaultError> {
    let mut found = Vec::new();
    let mut entries = db.prepare("SELECT seq, payload, batch FROM entry WHERE payload IS NOT NULL")?;
    let mut entries = entries.query([])?;
    while let Some(row) = entries.next()? {
        let (payload, batch): (String, Option<i64>) = (row.get(1)?, row.get(2)?);
        // Of a long text the payload has only the digest, without salt, and that has to go with the text. What the person said
        // then may be about it in other words.
        let says_more = || payload::has_digest(&payload) || payload::said_in(&payload).is_some();
        let is_touched = batch.is_some_and(|batch| touched.contains(&batch));
        if sought.is_in_payload(&payload, batch.map(i64::unsigned_abs)) || (is_touched && says_more()) {
            found.push(row.get(0)?);
        }
    }
    Ok(found)
}

fn count_forget(transaction: &Connection) -> Result<(), VaultError> {
    let sql = "INSERT INTO meta VALUES (?1, 1) ON CONFLICT (key) DO UPDATE SET value = value + 1";
    transaction.execute(sql, [FORGETS])?;
    Ok(())
}

/// The contents that were ever under a path that has to go.
fn contents_named(db: &Connection, sought: &Sought) -> Result<BTreeSet<i64>, VaultError> {
    let mut found = BTreeSet::new();
    if matches!(sought, Sought::Text(_)) {
        return Ok(found);
    }
    let mut steps = db.prepare("SELECT path, before, after, batch FROM step WHERE kind = 4 AND path IS NOT NULL")?;
    let mut steps = steps.query([])?;
    while let Some(row) = steps.next()? {
        if sought.is_path(&row.get::<_, String>(0)?, When::AfterMoves(row.get(3)?)) {
            found.extend([row.get::<_, Option<i64>>(1)?, row.get(2)?].into_iter().flatten());
        }
    }
    Ok(found)
}

fn find_steps(
    db: &Connection,
    sought: &Sought,
    rows: &mut Rows,
    touched: &mut BTreeSet<i64>,
) -> Result<(), VaultError> {
    let mut shown = BTreeSet::new();
    let mut steps = db.prepare("SELECT batch, number, path, new_path, before, after, kind FROM step")?;
    let mut steps = steps.query([])?;
    while let Some(row) = steps.next()? {
        let (batch, path): (i64, Option<String>) = (row.get(0)?, row.get(2)?);
        let new_path: Option<String> = row.get(3)?;
        let [before, after] = [When::BeforeMoves, When::AfterMoves].map(|when| when(batch.unsigned_abs()));
        let is_move = matches!(row.get(6)?, 2 | 3);
        let named = [(&path, if is_move { before } else { after }), (&new_path, after)];
        let is_named = named.iter().any(|(path, when)| path.as_ref().is_some_and(|path| sought.is_path(path, *when)));
        let contents = [row.get::<_, Option<i64>>(4)?, row.get(5)?];
        let mut held = contents.into_iter().flatten().filter(|id| rows.contents.contains(id)).peekable();
        let is_held = held.peek().is_some();
        shown.extend(held);
        if is_named {
            rows.paths.push((batch, row.get(1)?));
        }
        if is_named || is_held {
            touched.insert(batch);
            *rows.traces.changes.entry(path).or_default() += 1;
        }
    }
    // Contents of batches that were given up.
    let others = rows.contents.difference(&shown).count();
    if others > 0 {
        *rows.traces.changes.entry(None).or_default() += u64::try_from(others).unwrap_or(u64::MAX);
    }
    Ok(())
}

fn erase(transaction: &Connection, rows: &Rows) -> Result<(), VaultError> {
    let mut freed = 0;
    let mut delete = transaction.prepare("DELETE FROM content WHERE id = ?1 RETURNING length(body)")?;
    for id in &rows.contents {
        freed += delete.query_row([id], |row| row.get::<_, i64>(0)).optional()?.unwrap_or(0);
    }
    let sql = "UPDATE meta SET value = max(0, value - ?1) WHERE key = 'content_bytes'";
    transaction.execute(sql, [freed])?;
    let mut forget =
        transaction.prepare("UPDATE step SET path = NULL, new_path = NULL WHERE batch = ?1 AND number = ?2")?;
    for (batch, number) in &rows.paths {
        forget.execute(params![batch, number])?;
        marks::forget(transaction, batch.unsigned_abs(), number.unsigned_abs())?;
    }
    let mut places = transaction.prepare("UPDATE batch SET places = ?2 WHERE id = ?1")?;
    for batch in &rows.places {
        places.execute(params![batch, NO_PLACES])?;
    }
    let mut forget = transaction.prepare("UPDATE entry SET salt = NULL, payload = NULL WHERE seq = ?1")?;
    for seq in &rows.entries {
        forget.execute([seq])?;
    }
    // The notes are about to change without the journal.
    transaction.execute("DELETE FROM meta WHERE key = 'note_bytes'", [])?;
    tidied::forget(transaction)?;
    Ok(())
}
