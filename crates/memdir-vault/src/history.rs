//! The history: the log, the contents of a batch, a note as it was, and how long contents are kept.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{OptionalExtension, Transaction, params};
use serde::Serialize;

use super::journal::{self, Flush, Journal};
use super::moves::{self, moves_in, name_after, newest_at, newest_at_or_above, oldest_at_or_above, origin, step_back};
use super::pruned::PrunedMarks;
use super::recent::changed;
use super::undone::{IN_FORCE, undone_by};
use super::{Core, INIT, Vault, VaultError, Writer, contents, payload};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Log, LogAction, LogEntry};
use memdir_core::time::Timestamp;
use memdir_plan::{Image, PastBatch, Since, Step};

/// Which part of the log is wanted.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Only batches that changed this note, under whatever names it had.
    pub path: Option<MemoryPath>,
    /// Only batches of this client.
    pub client: Option<String>,
    /// Only batches of this time or later ones.
    pub since: Option<Timestamp>,
    /// Only batches before this time.
    pub until: Option<Timestamp>,
    /// How many batches at most.
    pub limit: usize,
    /// Only batches older than this one: the `cursor` of the page before.
    pub before: Option<u64>,
}

/// The change that has recorded what a note held at some moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Recorded {
    /// It left the note so.
    After(u64),
    /// It found the note so.
    Before(u64),
}

/// Of a span of time, so many batches are told of.
const MOST_BATCHES: usize = 1_000;

impl Vault {
    /// Reads a page of the log, the newest batch first. The entries have no `diff`.
    ///
    /// # Errors
    ///
    /// Those of the database. A memory without a history has an empty log.
    pub fn log(&self, page: &LogQuery) -> Result<Log, VaultError> {
        Self::log_of(self.known_core()?.as_ref(), page)
    }

    /// As [`Vault::log`], for a caller that holds the lock.
    pub(super) fn log_of(core: Option<&Core>, page: &LogQuery) -> Result<Log, VaultError> {
        let Some(core) = core else { return Ok(Log::default()) };
        let journal = &core.journal;
        let _snapshot = journal.snapshot()?;
        let mut batches = match &page.path {
            Some(path) => batches_of(journal, path, page)?,
            None => newest(journal, page, page.limit.saturating_add(1))?,
        };
        let is_cut = batches.len() > page.limit;
        batches.truncate(page.limit);
        let cursor = if is_cut { batches.last().map(u64::to_string) } else { None };
        let entries = batches.iter().map(|&batch| entry(journal, batch)).collect::<Result<_, _>>()?;
        Ok(Log { entries, cursor })
    }

    /// As [`Tree::batches`](memdir_plan::Tree::batches), for a caller that may hold the lock.
    pub(super) fn batches_of(
        core: Option<&Core>,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<PastBatch>, VaultError> {
        let span = LogQuery { since: Some(since), until: Some(until), limit: MOST_BATCHES, ..LogQuery::default() };
        let entries = Self::log_of(core, &span)?.entries.into_iter();
        let standing = entries.filter(|entry| entry.undoes.is_none() && entry.undone_by.is_none());
        let batch = |entry: LogEntry| {
            let time = Timestamp::parse(&entry.time).ok()?;
            Some(PastBatch { number: entry.batch?, time, changed: entry.changed })
        };
        Ok(standing.filter_map(batch).collect())
    }

    /// As [`Tree::steps`](memdir_plan::Tree::steps), for a caller that may hold the lock.
    pub(super) fn steps_of(core: Option<&Core>, batch: u64) -> Result<Option<Vec<Step>>, VaultError> {
        let Some(core) = core else { return Ok(None) };
        match core.journal.steps(batch) {
            Ok(steps) => Ok(Some(steps.into_iter().map(|step| step.step).collect())),
            Err(VaultError::Pruned(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The newest batch, of those before `before`, that is neither undone nor itself an undo, nor the one that began the memory.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn newest_to_undo(&self, before: Option<u64>) -> Result<Option<u64>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(None) };
        let sql = format!(
            "SELECT id FROM batch WHERE {IN_FORCE} AND id < ?1 AND undoes IS NULL AND NOT (door = 'cli' AND message IS '{INIT}')
             ORDER BY id DESC"
        );
        let mut statement = core.journal.db.prepare_cached(&sql)?;
        let mut rows = statement.query([before.unwrap_or(i64::MAX.unsigned_abs())])?;
        while let Some(row) = rows.next()? {
            let batch = row.get(0)?;
            if undone_by(&core.journal, batch)?.is_none() {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The newest batch.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn newest(&self) -> Result<Option<u64>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(None) };
        Ok(newest(&core.journal, &LogQuery::default(), 1)?.first().copied())
    }

    /// When a batch was committed, to the microsecond; `None` where there is no such batch.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn time_of(&self, batch: u64) -> Result<Option<Timestamp>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(None) };
        let sql = format!("SELECT time FROM batch WHERE {IN_FORCE} AND id = ?1");
        let mut statement = core.journal.db.prepare_cached(&sql)?;
        Ok(statement.query_row([batch], |row| row.get(0)).optional()?.map(Timestamp::from_micros))
    }

    /// The moment from which age is counted, for contents, proposals and sessions: the start of the older of the two newest days
    /// (in UTC) on which batches were committed, or `now` where that is earlier. `None` where all batches are of one day, or there
    /// are none: nothing is old then.
    ///
    /// So a clock that jumps once makes nothing old: batches of two days have to agree with it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn settled_time(&self, now: Timestamp) -> Result<Option<Timestamp>, VaultError> {
        let core = self.known_core()?;
        core.as_ref().map_or(Ok(None), |core| core.journal.settled_time(now))
    }

    /// The batch that undid this one, if one did and has not been undone itself.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn undone_by(&self, batch: u64) -> Result<Option<u64>, VaultError> {
        let core = self.known_core()?;
        core.as_ref().map_or(Ok(None), |core| undone_by(&core.journal, batch))
    }

    /// The steps of a batch, with every content before and after.
    ///
    /// # Errors
    ///
    /// [`VaultError::UnknownBatch`], and [`VaultError::Pruned`] when a content is no longer kept.
    pub fn steps(&self, batch: u64) -> Result<Vec<Step>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Err(VaultError::UnknownBatch(batch)) };
        check_known(&core.journal, batch)?;
        Ok(core.journal.steps(batch)?.into_iter().map(|step| step.step).collect())
    }

    /// What became of what a batch changed under this name, which may be the one that it had before.
    ///
    /// # Errors
    ///
    /// As [`Vault::since`].
    pub fn since_change(&self, path: &MemoryPath, batch: u64) -> Result<Since, VaultError> {
        let core = self.known_core()?;
        let core = core.as_ref().ok_or(VaultError::UnknownBatch(batch))?;
        moves::since_change(&core.journal, path, batch)
    }

    /// What became of what was called `path` after a batch, once the `undone` batches are undone.
    ///
    /// # Errors
    ///
    /// [`VaultError::UnknownBatch`], and those of the database.
    pub fn since(&self, path: &MemoryPath, batch: u64, undone: &[u64]) -> Result<Since, VaultError> {
        let core = self.known_core()?;
        let core = core.as_ref().ok_or(VaultError::UnknownBatch(batch))?;
        moves::since(&core.journal, path, batch, undone)
    }

    /// The note that is called `path` now, as it was right after a batch, whatever its name was then; an inner `None` says that
    /// it did not exist.
    ///
    /// An outer `None` says that no batch holds its content, so that the history does not know it.
    ///
    /// # Errors
    ///
    /// [`VaultError::UnknownBatch`], and [`VaultError::Pruned`] when the content is no longer kept.
    pub fn image_at(&self, path: &MemoryPath, batch: u64) -> Result<Option<Option<Image>>, VaultError> {
        Ok(self.recorded_at(path, batch)?.map(|(image, _)| image))
    }

    /// As [`Vault::image_at`], with the change that has recorded it: not the one that is asked about, where that did not write the
    /// note. What another program wrote between the two is not known.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn recorded_at(&self, path: &MemoryPath, batch: u64) -> Result<Option<(Option<Image>, Recorded)>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Err(VaultError::UnknownBatch(batch)) };
        let journal = &core.journal;
        let Some(name) = name_after_batch(journal, path, batch)? else {
            return Ok(Some((None, Recorded::After(batch))));
        };
        match image_behind(journal, &name, batch)? {
            Some((image, batch)) => Ok(Some((image, Recorded::After(batch)))),
            None => Ok(image_ahead(journal, &name, batch)?.map(|(image, batch)| (image, Recorded::Before(batch)))),
        }
    }

    /// What a batch found in the note that is called `path` now. An outer `None` says that it did not write the note, an inner one
    /// that the note did not exist.
    ///
    /// # Errors
    ///
    /// As [`Vault::image_at`].
    pub fn image_found_by(&self, batch: u64, path: &MemoryPath) -> Result<Option<Option<Image>>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Err(VaultError::UnknownBatch(batch)) };
        let Some(name) = name_after_batch(&core.journal, path, batch)? else { return Ok(Some(None)) };
        put_in(&core.journal, batch, &name, "before")
    }
}

impl Writer<'_> {
    /// As [`Vault::settled_time`].
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn settled_time(&mut self, now: Timestamp) -> Result<Option<Timestamp>, VaultError> {
        self.core()?.journal.settled_time(now)
    }

    /// Deletes contents that are older than the history keeps them, counted from [`Vault::settled_time`]; entries and chain stay, and
    /// of the newest version of each note what tells who wrote its lines.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn prune(&mut self, now: Timestamp) -> Result<(), VaultError> {
        let (keep_for, keep_bytes) = (self.vault.options.keep_for, self.vault.options.keep_bytes);
        let vault = self.vault;
        let journal = &mut self.core()?.journal;
        let kept = journal.sum("content_bytes")?.unwrap_or(0);
        let notes = match journal.sum("note_bytes")? {
            Some(sum) => sum,
            // Where the notes cannot be measured nothing is too much.
            None if kept > keep_bytes => vault.measure().unwrap_or(u64::MAX),
            None => 0,
        };
        let excess = kept.saturating_sub(keep_bytes.max(notes.saturating_mul(3)));
        let aged = match journal.newest_before(now.minus(keep_for))? {
            Some(_) => {
                journal.settled_time(now)?.map(|time| journal.newest_before(time.minus(keep_for))).transpose()?
            }
            None => None,
        };
        let aged = aged.flatten();
        if excess == 0 && aged.is_none() {
            return Ok(());
        }
        let (doomed, freed) = journal.doomed(aged, excess)?;
        let marks = PrunedMarks::of(journal, &doomed)?;
        journal.transaction(Flush::No, |transaction| {
            marks.write(transaction)?;
            for id in &doomed {
                transaction.prepare_cached("DELETE FROM content WHERE id = ?1")?.execute([id])?;
            }
            journal::add(transaction, "content_bytes", -freed)
        })
    }
}

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

impl Journal {
    /// Lets all queries until it is dropped read one state of the history, under one lock of the file instead of one each. `None` inside a
    /// transaction, which already does.
    pub(super) fn snapshot(&self) -> Result<Option<Transaction<'_>>, VaultError> {
        Ok(self.db.is_autocommit().then(|| self.db.unchecked_transaction()).transpose()?)
    }

    /// As [`Vault::settled_time`].
    fn settled_time(&self, now: Timestamp) -> Result<Option<Timestamp>, VaultError> {
        let sql = format!("SELECT time FROM batch WHERE {IN_FORCE} ORDER BY id DESC");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        let mut newest = None;
        while let Some(row) = rows.next()? {
            let day = row.get::<_, i64>(0)?.div_euclid(DAY);
            let other = *newest.get_or_insert(day);
            if other != day {
                let start = Timestamp::from_micros(day.min(other).saturating_mul(DAY));
                return Ok(Some(start.min(now)));
            }
        }
        Ok(None)
    }

    /// The contents that are pruned, the oldest first: those up to a batch, and others until `excess` bytes are freed; and how many
    /// bytes that are.
    fn doomed(&self, aged: Option<i64>, excess: u64) -> Result<(BTreeSet<i64>, i64), VaultError> {
        // The newest batch can be unfinished, and has to stay whole.
        let sql = "SELECT id, length(body), batch FROM content
                   WHERE batch < (SELECT max(id) FROM batch) ORDER BY batch, id";
        let (mut doomed, mut freed) = (BTreeSet::new(), 0);
        let mut statement = self.db.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let is_aged = aged.is_some_and(|aged| row.get::<_, i64>(2).is_ok_and(|batch| batch <= aged));
            if !is_aged && u64::try_from(freed).unwrap_or(0) >= excess {
                break;
            }
            freed += row.get::<_, i64>(1)?;
            doomed.insert(row.get(0)?);
        }
        Ok((doomed, freed))
    }

    /// The newest batch before the first that is as young as `oldest`, if a content of it or an older one is kept: a clock that
    /// once stood in 1970 makes nothing before it old.
    fn newest_before(&self, oldest: Timestamp) -> Result<Option<i64>, VaultError> {
        let sql = "SELECT max(id) FROM batch WHERE id >= (SELECT min(batch) FROM content)
                   AND id < ifnull((SELECT min(id) FROM batch WHERE time >= ?1), 9223372036854775807)";
        Ok(self.db.prepare_cached(sql)?.query_row([oldest.micros()], |row| row.get(0))?)
    }
}

fn check_known(journal: &Journal, batch: u64) -> Result<(), VaultError> {
    let sql = format!("SELECT 1 FROM batch WHERE id = ?1 AND {IN_FORCE}");
    let known = journal.db.prepare_cached(&sql)?.query_row([batch], |_| Ok(())).optional()?;
    known.ok_or(VaultError::UnknownBatch(batch))
}

fn newest(journal: &Journal, page: &LogQuery, limit: usize) -> Result<Vec<u64>, VaultError> {
    let sql = format!(
        "SELECT id FROM batch WHERE {IN_FORCE} AND id < ?1 AND (?3 IS NULL OR client = ?3) AND (?4 IS NULL OR time >= ?4)
         AND (?5 IS NULL OR time < ?5) ORDER BY id DESC LIMIT ?2"
    );
    let mut statement = journal.db.prepare_cached(&sql)?;
    let before = page.before.unwrap_or(i64::MAX.unsigned_abs());
    let (since, until) = (page.since.map(Timestamp::micros), page.until.map(Timestamp::micros));
    // No number of SQLite's is greater.
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![before, limit, page.client, since, until], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The batches that changed what is at `path` now, followed back through its renames.
fn batches_of(journal: &Journal, path: &MemoryPath, page: &LogQuery) -> Result<Vec<u64>, VaultError> {
    let (mut name, mut before) = (path.clone(), i64::MAX.unsigned_abs());
    let mut batches = Vec::new();
    while batches.len() <= page.limit {
        let Some(batch) = newest_at(journal, &name, before)? else { break };
        let (time, client) = author_of(journal, batch)?;
        let is_within = page.since.is_none_or(|since| time >= since.micros())
            && page.until.is_none_or(|until| time < until.micros());
        let is_on_page = page.before.is_none_or(|before| batch < before);
        if is_on_page && is_within && (page.client.is_none() || client == page.client) {
            batches.push(batch);
        }
        let Some(earlier) = step_back(journal, batch, &name)? else { break };
        (name, before) = earlier;
    }
    Ok(batches)
}

fn author_of(journal: &Journal, batch: u64) -> Result<(i64, Option<String>), VaultError> {
    let sql = "SELECT time, client FROM batch WHERE id = ?1";
    Ok(journal.db.prepare_cached(sql)?.query_row([batch], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// The name that what is called `path` now had right after a batch; `None` where it was made later, or had been deleted then and was brought back later.
fn name_after_batch(journal: &Journal, path: &MemoryPath, batch: u64) -> Result<Option<MemoryPath>, VaultError> {
    check_known(journal, batch)?;
    let (mut name, mut before) = (path.clone(), i64::MAX.unsigned_abs());
    while let Some(later) = newest_at(journal, &name, before)?.filter(|later| *later > batch) {
        match step_back(journal, later, &name)? {
            Some(earlier) if earlier.1 > batch => (name, before) = earlier,
            _ => return Ok(None),
        }
    }
    Ok(Some(name))
}

/// What a note held, and the batch that recorded it.
type DatedImage = Option<(Option<Image>, u64)>;

/// The file called `name` right after a batch, by what that batch and those before it did; `None` when they tell
/// nothing of its content.
fn image_behind(journal: &Journal, name: &MemoryPath, batch: u64) -> Result<DatedImage, VaultError> {
    let mut name = name.clone();
    let mut before = batch.saturating_add(1);
    loop {
        let Some(batch) = newest_at_or_above(journal, &name, before)? else { return Ok(None) };
        // Within a batch files are put under the names that they have after its moves.
        if let Some(image) = put_in(journal, batch, &name, "after")? {
            return Ok(Some((image, batch)));
        }
        match origin(&moves_in(journal, batch)?, &name) {
            Some(earlier) => name = earlier,
            None => return Ok(Some((None, batch))),
        }
        before = batch;
    }
}

/// The same by what the batches after it found there.
fn image_ahead(journal: &Journal, name: &MemoryPath, batch: u64) -> Result<DatedImage, VaultError> {
    let mut name = name.clone();
    let mut after = batch;
    loop {
        let Some(batch) = oldest_at_or_above(journal, &name, after)? else { return Ok(None) };
        let moves = moves_in(journal, batch)?;
        let later = name_after(&moves, &name);
        if later == name && origin(&moves, &name).as_ref() != Some(&name) {
            // Something came to this name, so nothing had it.
            return Ok(Some((None, batch)));
        }
        if let Some(image) = put_in(journal, batch, &later, "before")? {
            return Ok(Some((image, batch)));
        }
        name = later;
        after = batch;
    }
}

/// What a batch has put under a name, or found under it; `None` when it did neither.
fn put_in(journal: &Journal, batch: u64, name: &MemoryPath, side: &str) -> Result<Option<Option<Image>>, VaultError> {
    let sql = format!("SELECT {side}, {side}_mode FROM step WHERE batch = ?1 AND path = ?2 AND kind = 4");
    let mut statement = journal.db.prepare_cached(&sql)?;
    let row = statement.query_row(params![batch, name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    let (content, mode): (Option<i64>, _) = match row.optional()? {
        Some(row) => row,
        None => return Ok(None),
    };
    let Some(content) = content else { return Ok(Some(None)) };
    let content = contents::load(&journal.db, content)?.ok_or(VaultError::Pruned(batch))?;
    Ok(Some(Some(Image { content, mode })))
}

/// The batches of a conversation that are in force and not undone, and that neither the person wrote nor is one an undoing.
pub(super) fn batches_in(journal: &Journal, client: Option<&str>, session: &str) -> Result<Vec<u64>, VaultError> {
    let sql = format!(
        "SELECT id FROM batch WHERE session = ?1 AND client IS ?2 AND undoes IS NULL AND {IN_FORCE}
         AND (SELECT origin FROM entry WHERE batch = batch.id ORDER BY seq LIMIT 1) IS NOT 'person'"
    );
    let mut statement = journal.db.prepare_cached(&sql)?;
    let found = statement.query_map(params![session, client], |row| row.get(0))?.collect::<Result<Vec<u64>, _>>()?;
    let standing = found.into_iter().map(|batch| Ok((batch, undone_by(journal, batch)?)));
    let standing: Vec<_> = standing.collect::<Result<_, VaultError>>()?;
    Ok(standing.into_iter().filter(|(_, undone)| undone.is_none()).map(|(batch, _)| batch).collect())
}

/// One entry of the log.
fn entry(journal: &Journal, batch: u64) -> Result<LogEntry, VaultError> {
    let sql = "SELECT time, door, client, session, undoes FROM batch WHERE id = ?1";
    let (time, door, client, session, undoes) = journal
        .db
        .prepare_cached(sql)?
        .query_row([batch], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
    Ok(LogEntry {
        batch: Some(batch),
        time: Timestamp::from_micros(time).to_string(),
        door,
        client,
        tool: tool(journal, batch)?,
        session,
        undoes,
        also_undoes: if undoes.is_some() { also_undone_in(journal, batch)? } else { Vec::new() },
        undone_by: undone_by(journal, batch)?,
        changed: changed(journal, batch)?,
        actions: actions(journal, batch)?,
        diff: None,
    })
}

/// The batches that an undoing took back besides the newest of them, by its entries in the audit.
fn also_undone_in(journal: &Journal, batch: u64) -> Result<Vec<u64>, VaultError> {
    let sql = "SELECT payload FROM entry WHERE batch = ?1 AND code IS NULL AND payload IS NOT NULL ORDER BY seq";
    let mut statement = journal.db.prepare_cached(sql)?;
    let payloads = statement.query_map([batch], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(payloads.iter().skip(1).filter_map(|payload| payload::changed_in(payload)).collect())
}

/// The tool on whose behalf a batch was made.
fn tool(journal: &Journal, batch: u64) -> Result<Option<String>, VaultError> {
    let sql = "SELECT origin FROM entry WHERE batch = ?1 AND code IS NULL ORDER BY seq LIMIT 1";
    let origin = journal.db.prepare_cached(sql)?.query_row([batch], |row| row.get::<_, String>(0)).optional()?;
    Ok(origin.as_deref().and_then(|origin| origin.strip_prefix("tool:")).map(str::to_owned))
}

fn actions(journal: &Journal, batch: u64) -> Result<Vec<LogAction>, VaultError> {
    let sql = "SELECT number, action, payload, code, micros FROM entry WHERE batch = ?1 ORDER BY seq";
    let mut statement = journal.db.prepare_cached(sql)?;
    let rows = statement.query_map([batch], |row| {
        let payload: Option<String> = row.get(2)?;
        let code: Option<String> = row.get(3)?;
        let micros = u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0);
        Ok(LogAction {
            index: row.get(0)?,
            action: row.get(1)?,
            path: payload.and_then(|payload| payload::path_in(&payload)),
            ok: code.is_none(),
            code,
            ms: u32::try_from(micros)
                .map_or_else(|_| Duration::from_micros(micros).as_secs_f64() * 1e3, |micros| f64::from(micros) / 1e3),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
