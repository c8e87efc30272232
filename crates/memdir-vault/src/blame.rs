//! Who wrote the lines of a note: its versions in the history, the oldest first.
//!
//! Owns the walk: the batches that touched the note under all its names. Which lines stay from one version to the next
//! is [`Lineage`]'s.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, params};

use super::journal::{self, Journal};
use super::{Vault, VaultError, history};
use memdir_core::path::MemoryPath;
use memdir_core::report::Line;
use memdir_core::time::Timestamp;
use memdir_plan::{Content, Lineage};

/// What one batch made of the note: the numbers of the contents; `None` where the note was not there.
struct Version {
    batch: u64,
    before: Option<i64>,
    after: Option<i64>,
}

impl Vault {
    /// Tells for each line of `now`, which `path` holds, who wrote it.
    ///
    /// A line that no batch wrote, that an editor has changed since, or that is older than the contents that are kept,
    /// has no author. At most three versions are in memory at once.
    ///
    /// # Errors
    ///
    /// Those of the database. In a memory without a history no line has an author.
    pub fn lines(&self, path: &MemoryPath, now: &Content) -> Result<Vec<Line>, VaultError> {
        let core = self.known_core()?;
        let (versions, lineage) = match core.as_ref() {
            Some(core) => {
                let versions = versions(&core.journal, path)?;
                let lineage = follow(&core.journal, &versions, now)?;
                (versions, lineage)
            }
            None => (Vec::new(), only(now)),
        };
        let mut known = BTreeMap::new();
        if let Some(core) = core.as_ref() {
            for author in lineage.authors().iter().flatten().copied().collect::<BTreeSet<_>>() {
                if let Some(version) = versions.get(author) {
                    known.insert(author, of_batch(&core.journal, version.batch)?);
                }
            }
        }
        let line = |(at, author): (usize, &Option<usize>)| {
            let found = author.and_then(|author| known.get(&author)).cloned();
            Line { line: at + 1, ..found.unwrap_or_default() }
        };
        Ok(lineage.authors().iter().enumerate().map(line).collect())
    }
}

/// A text of which the history knows nothing.
fn only(now: &Content) -> Lineage<usize> {
    let mut lineage = Lineage::default();
    lineage.follow(now, None);
    lineage
}

/// Goes through the versions to what is there now; authors are indices into `versions`.
fn follow(journal: &Journal, versions: &[Version], now: &Content) -> Result<Lineage<usize>, VaultError> {
    let mut lineage = Lineage::default();
    let mut last = None;
    for (author, version) in versions.iter().enumerate() {
        // Contents are stored once, so the same number is the same text. Another one was written by an editor.
        if version.before != last {
            take(journal, &mut lineage, version.before, None)?;
        }
        take(journal, &mut lineage, version.after, Some(author))?;
        last = version.after;
    }
    lineage.follow(now, None);
    Ok(lineage)
}

fn take(
    journal: &Journal,
    lineage: &mut Lineage<usize>,
    content: Option<i64>,
    author: Option<usize>,
) -> Result<(), VaultError> {
    match content.map(|id| journal::load(&journal.db, id)).transpose()? {
        // Pruned or forgotten.
        Some(None) => lineage.lose(),
        Some(Some(content)) => lineage.follow(&content, author),
        None => *lineage = Lineage::default(),
    }
    Ok(())
}

/// The versions of what is called `path` now, the oldest first, followed back through its renames.
fn versions(journal: &Journal, path: &MemoryPath) -> Result<Vec<Version>, VaultError> {
    let mut name = path.clone();
    let mut before = i64::MAX.unsigned_abs();
    let mut versions = Vec::new();
    loop {
        let Some(batch) = history::newest_at(journal, &name, before)? else { break };
        // Within a batch files are put under the names that they have after its moves.
        let sql = "SELECT before, after FROM step WHERE batch = ?1 AND path = ?2 AND kind = 4";
        let row = journal
            .db
            .prepare_cached(sql)?
            .query_row(params![batch, name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
        if let Some((before, after)) = row.optional()? {
            versions.push(Version { batch, before, after });
        }
        // What had the name before may have left it, and is another note's history then.
        match history::origin(&history::moves_in(journal, batch)?, &name) {
            Some(earlier) => name = earlier,
            None => break,
        }
        before = batch;
    }
    versions.reverse();
    Ok(versions)
}

/// What a line says whose author is this batch, but for its number.
fn of_batch(journal: &Journal, batch: u64) -> Result<Line, VaultError> {
    let sql = "SELECT time, door, client, (SELECT origin FROM entry WHERE batch = ?1 ORDER BY seq LIMIT 1)
               FROM batch WHERE id = ?1";
    let mut statement = journal.db.prepare_cached(sql)?;
    Ok(statement.query_row([batch], |row| {
        Ok(Line {
            line: 0,
            batch: Some(batch),
            time: Some(Timestamp::from_micros(row.get(0)?).to_string()),
            door: Some(row.get(1)?),
            client: row.get(2)?,
            origin: row.get(3)?,
        })
    })?)
}
