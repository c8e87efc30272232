//! Where the lines of a note come from: its versions in the history, the oldest first.
//!
//! Owns the walk: the batches that touched the note under all its names, and what is kept of a version when its contents are
//! pruned. Which lines stay from one version to the next is [`Lineage`]'s.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use super::confirm::{self, ConfirmedLine};
use super::journal::Journal;
use super::{Core, Vault, VaultError, contents, marks, moves, payload};
use memdir_core::action::Access;
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{FormerValue, Line, Provenance, Writing, WrittenBy};
use memdir_core::time::Timestamp;
use memdir_plan::{Content, LineOrigin, Lineage, VersionAuthor};

/// What one batch made of the note: the numbers of the contents; `None` where the note was not there.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) batch: u64,
    /// The step of the batch.
    pub(super) number: u64,
    pub(super) before: Option<i64>,
    pub(super) after: Option<i64>,
}

/// What is known of a batch.
#[derive(Clone, Debug)]
struct BatchAuthor {
    writing: Writing,
    origin: Option<String>,
    restores: bool,
    moves: bool,
}

impl Vault {
    /// Tells for each line of `now`, which `path` holds, who wrote it.
    ///
    /// A line of a note that the history knows and that no batch wrote comes from another program. Nothing is known of a note
    /// without a history, and of lines that are older than contents which an older memdir pruned. At most three versions are in
    /// memory at once.
    ///
    /// # Errors
    ///
    /// Those of the database. In a memory without a history no line has an author.
    pub fn lines(&self, path: &MemoryPath, now: &Content) -> Result<Vec<Line>, VaultError> {
        Self::lines_of(self.known_core()?.as_ref(), path, now)
    }

    /// As [`Vault::lines`], for a caller that may hold the lock.
    fn lines_of(core: Option<&Core>, path: &MemoryPath, now: &Content) -> Result<Vec<Line>, VaultError> {
        let text = now.text().unwrap_or_default();
        let Some(core) = core else {
            return Ok((1..=text.lines().count()).map(|line| Line { line, ..Line::default() }).collect());
        };
        let journal = &core.journal;
        let _snapshot = journal.snapshot()?;
        let mut authors = Authors::new(journal);
        let versions = versions(journal, path)?;
        let mut lineage = follow(journal, &versions, &mut authors)?;
        let is_known = lineage.is_some();
        if let Some(lineage) = &mut lineage {
            lineage.follow(now, VersionAuthor::OUTSIDE);
        }
        let names = moves::names_before(journal, path)?;
        let confirmed = confirm::of_note(journal, &names)?;
        let unknown = authors.least_source(&versions)?;
        let mut lines = Vec::new();
        for (at, text) in text.lines().enumerate() {
            let origin = lineage.as_ref().and_then(|lineage| lineage.origins().get(at)).filter(|_| is_known);
            let mut line = authors.line(at + 1, text, origin.and_then(Option::as_ref), &confirmed)?;
            // Its version is forgotten, and any author of the note may have written it.
            let is_confirmed = line.provenance.last_confirmed.is_some();
            line.provenance.trust = line.provenance.trust.or(unknown.filter(|_| !is_confirmed));
            lines.push(line);
        }
        Ok(lines)
    }
}

impl Vault {
    /// As [`Tree::unconfirmed`](memdir_plan::Tree::unconfirmed), for a caller that may hold the lock. Where no import or tool has
    /// ever written anything, nothing is read for it.
    pub(super) fn unconfirmed_of(
        core: Option<&Core>,
        path: &MemoryPath,
        now: &Content,
    ) -> Result<Vec<(usize, String)>, VaultError> {
        if core.map_or(Ok(true), |core| core.journal.has_no_sources())? {
            return Ok(Vec::new());
        }
        let lines = Self::lines_of(core, path, now)?.into_iter();
        let source = |line: &Line| {
            let provenance = &line.provenance;
            let by = provenance.trust.filter(|_| provenance.is_unconfirmed())?;
            // Who wrote it last may be somebody else, who made it from what the source says.
            let writings = [&provenance.last_written, &provenance.first_written].into_iter().flatten();
            let tool = writings.filter(|writing| writing.by == by).find_map(|writing| writing.tool.as_ref());
            Some(tool.map_or_else(|| by.to_string(), |tool| format!("tool:{tool}")))
        };
        Ok(lines.filter_map(|line| Some((line.line, source(&line)?))).collect())
    }
}

/// Goes through the versions to the last one; `None` where there is none.
pub(super) fn follow(
    journal: &Journal,
    versions: &[Version],
    authors: &mut Authors<'_>,
) -> Result<Option<Lineage>, VaultError> {
    let salt = journal.id()?.unwrap_or_default();
    let Some(first) = versions.first() else { return Ok(None) };
    let (mut lineage, mut last, rest) = match marks::load(journal, first.batch, first.number)? {
        Some(lines) => {
            let mut lineage = Lineage::resume(salt, lines);
            let text = first.after.map(|id| contents::load(&journal.db, id)).transpose()?.flatten();
            text.into_iter().for_each(|text| lineage.know(text));
            (lineage, first.after, versions.get(1..).unwrap_or_default())
        }
        None => (Lineage::new(salt), None, versions),
    };
    lineage.suspect(authors.least_source(versions)?);
    for version in rest {
        // Contents are stored once, so the same number is the same text. Another one was written by an editor.
        if version.before != last {
            take(journal, &mut lineage, version.before, VersionAuthor::OUTSIDE)?;
        }
        take(journal, &mut lineage, version.after, authors.of(version.batch)?)?;
        last = version.after;
    }
    Ok(Some(lineage))
}

fn take(
    journal: &Journal,
    lineage: &mut Lineage,
    content: Option<i64>,
    author: VersionAuthor,
) -> Result<(), VaultError> {
    match content.map(|id| contents::load(&journal.db, id)).transpose()? {
        // Pruned or forgotten.
        Some(None) => lineage.lose(),
        Some(Some(content)) => lineage.follow(&content, author),
        None => lineage.delete(),
    }
    Ok(())
}

/// The versions of what is called `path` now, the oldest first, followed back through its renames to the first one, or to the one
/// of which only marks are kept.
pub(super) fn versions(journal: &Journal, path: &MemoryPath) -> Result<Vec<Version>, VaultError> {
    versions_before(journal, path, i64::MAX.unsigned_abs())
}

/// As [`versions`], of what is called `path` right before a batch.
pub(super) fn versions_before(
    journal: &Journal,
    path: &MemoryPath,
    mut before: u64,
) -> Result<Vec<Version>, VaultError> {
    let mut name = path.clone();
    let mut versions = Vec::new();
    loop {
        let Some(batch) = moves::newest_at(journal, &name, before)? else { break };
        // Within a batch files are put under the names that they have after its moves.
        let sql = "SELECT number, before, after FROM step WHERE batch = ?1 AND path = ?2 AND kind = 4";
        let row = journal
            .db
            .prepare_cached(sql)?
            .query_row(params![batch, name.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        if let Some((number, before, after)) = row.optional()? {
            let version = Version { batch, number, before, after };
            let is_marked = marks::are_kept(journal, batch, number)?;
            versions.push(version);
            if is_marked {
                break;
            }
        }
        // What had the name before may have left it, and is another note's history then.
        if moves::origin(&moves::moves_in(journal, batch)?, &name).is_none() {
            break;
        }
        let Some(earlier) = moves::step_back(journal, batch, &name)? else { break };
        (name, before) = earlier;
    }
    versions.reverse();
    Ok(versions)
}

/// What is known of batches, each asked for once.
pub(super) struct Authors<'j> {
    journal: &'j Journal,
    known: BTreeMap<u64, BatchAuthor>,
}

impl<'j> Authors<'j> {
    pub(super) fn new(journal: &'j Journal) -> Self {
        Self { journal, known: BTreeMap::new() }
    }

    fn batch(&mut self, batch: u64) -> Result<&BatchAuthor, VaultError> {
        match self.known.entry(batch) {
            std::collections::btree_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(place) => Ok(place.insert(read(self.journal, batch)?)),
        }
    }

    pub(super) fn of(&mut self, batch: u64) -> Result<VersionAuthor, VaultError> {
        let known = self.batch(batch)?;
        Ok(VersionAuthor { batch: Some(batch), by: known.writing.by, restores: known.restores, moves: known.moves })
    }

    /// The least trusted author of versions, if it is one whose lines a person has to confirm.
    fn least_source(&mut self, versions: &[Version]) -> Result<Option<WrittenBy>, VaultError> {
        if self.journal.has_no_sources()? {
            return Ok(None);
        }
        let authors = versions.iter().map(|version| Ok(self.of(version.batch)?.by));
        let authors = authors.collect::<Result<Vec<_>, VaultError>>()?;
        Ok(authors.into_iter().min().filter(|least| least.needs_confirmation()))
    }

    fn writing(&mut self, batch: Option<u64>, by: WrittenBy) -> Result<Writing, VaultError> {
        let outside =
            Writing { by, tool: None, batch: None, time: None, door: None, client: None, session: None, message: None };
        batch.map_or(Ok(outside), |batch| Ok(self.batch(batch)?.writing.clone()))
    }

    fn time(&mut self, batch: Option<u64>) -> Result<Option<String>, VaultError> {
        batch.map_or(Ok(None), |batch| Ok(self.batch(batch)?.writing.time.clone()))
    }

    /// What is told of a line.
    fn line(
        &mut self,
        line: usize,
        text: &str,
        origin: Option<&LineOrigin>,
        confirmed: &[ConfirmedLine],
    ) -> Result<Line, VaultError> {
        let Some(origin) = origin else {
            let provenance =
                Provenance { last_confirmed: confirmation(text, confirmed, None), ..Provenance::default() };
            return Ok(Line { line, provenance, ..Line::default() });
        };
        let last = self.writing(origin.last, origin.by)?;
        let confirmation = confirmation(text, confirmed, last.time.as_deref());
        let mut replaced = Vec::new();
        for former in origin.former.iter().rev() {
            let (written, at) = (self.time(former.written)?, self.time(former.replaced)?);
            replaced.push(FormerValue { value: former.value.clone(), written, replaced: at });
        }
        let provenance = Provenance {
            first_written: Some(self.writing(origin.first, origin.first_by)?),
            trust: Some(if confirmation.is_some() { WrittenBy::You } else { origin.least }),
            last_confirmed: confirmation,
            last_written: Some(last.clone()),
            words: None,
            replaced,
        };
        let origin = match origin.last {
            Some(batch) => self.batch(batch)?.origin.clone(),
            None => None,
        };
        let Writing { batch, time, door, client, .. } = last;
        Ok(Line { line, batch, time, door, client, origin, provenance })
    }
}

/// The newest confirmation of a line since it was written.
fn confirmation(
    text: &str,
    confirmed: &[ConfirmedLine],
    written: Option<&str>,
) -> Option<memdir_core::report::Confirmation> {
    // Times have one form, so their order is that of their texts.
    let is_since = |one: &&ConfirmedLine| written.is_none_or(|written| one.confirmation.time.as_str() >= written);
    let found = confirmed.iter().rev().filter(|one| one.text == text.trim()).find(is_since);
    found.map(|one| one.confirmation.clone())
}

/// Who a batch is by: its author, and whether the person approved its calls.
fn read(journal: &Journal, batch: u64) -> Result<BatchAuthor, VaultError> {
    let sql = "SELECT time, door, client, session, message, undoes FROM batch WHERE id = ?1";
    let mut writing = Writing {
        by: WrittenBy::Model,
        tool: None,
        batch: Some(batch),
        time: None,
        door: None,
        client: None,
        session: None,
        message: None,
    };
    let mut restores = journal.db.prepare_cached(sql)?.query_row([batch], |row| {
        writing.time = Some(Timestamp::from_micros(row.get(0)?).to_string());
        (writing.door, writing.client) = (Some(row.get(1)?), row.get(2)?);
        (writing.session, writing.message) = (row.get(3)?, row.get(4)?);
        Ok(row.get::<_, Option<i64>>(5)?.is_some())
    })?;
    if writing.message.is_none() {
        let sql = "SELECT payload FROM entry WHERE batch = ?1 ORDER BY seq LIMIT 1";
        let first = journal.db.prepare_cached(sql)?.query_row([batch], |row| row.get::<_, Option<String>>(0));
        writing.message = first.optional()?.flatten().and_then(|first| payload::said_in(&first));
    }
    let sql = "SELECT origin, action, permission FROM entry WHERE batch = ?1 AND code IS NULL ORDER BY seq";
    let mut statement = journal.db.prepare_cached(sql)?;
    let mut rows = statement.query([batch])?;
    let (mut first, mut is_approved) = (None, None);
    while let Some(row) = rows.next()? {
        let (origin, action): (String, String) = (row.get(0)?, row.get(1)?);
        first.get_or_insert(origin);
        restores |= action == "restore";
        if catalog::row(&action).is_some_and(|row| row.access != Access::Read) {
            let is_this = row.get::<_, String>(2)? == "approved";
            is_approved = Some(is_approved.unwrap_or(true) && is_this);
        }
    }
    let origin: Option<String> = first;
    let by = origin.as_deref().map_or(WrittenBy::Tool, WrittenBy::of_origin);
    writing.by = if by < WrittenBy::Approved && is_approved == Some(true) { WrittenBy::Approved } else { by };
    writing.tool = origin.as_deref().and_then(|origin| origin.strip_prefix("tool:")).map(str::to_owned);
    let sql = "SELECT EXISTS (SELECT 1 FROM step WHERE batch = ?1 AND kind IN (2, 3))";
    let moves = journal.db.prepare_cached(sql)?.query_row([batch], |row| row.get(0))?;
    Ok(BatchAuthor { writing, origin, restores, moves })
}
