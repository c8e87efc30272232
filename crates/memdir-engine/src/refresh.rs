//! Keeping the index fresh: what changed since it was last looked at is read again before a question is answered.
//!
//! A sweep tells by size, times and number of each file whether it changed, as git does; where somebody watches the
//! memory, events and the journal tell it. What is put into the index is looked at once more under the index's lock, so
//! that nothing older replaces what another process has read since.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use super::index_pool::{IndexTrouble, NotedChanges};
use super::{Engine, IndexPlace, lock};
use memdir_check::Look;
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_index::{Index, IndexError, NoteRecord, Status, WriteTransaction};
use memdir_note::Note;
use memdir_plan::{Altered, Effort, Stamp, Swept, Tree, TreeError};
use memdir_policy as policy;
use memdir_rank::Source;
use memdir_vault::Sweep;

/// More changed files than this are not read while somebody waits for an answer: all notes are scanned instead.
const MOST_AT_ONCE: usize = 2_000;
/// A file that changed so short a time before it was looked at may change again without showing it.
const YOUNG: Duration = Duration::from_secs(2);
/// How often all files are looked at although somebody watches: not every system tells everything.
const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// What the index has to learn.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files that are new or differ.
    pub(super) differ: Vec<Swept>,
    /// Files that are gone.
    pub(super) gone: Vec<MemoryPath>,
    /// Whether there may be more: not everything could be looked at.
    pub(super) is_partial: bool,
}

/// Asks the index something; may be called twice, the second time when it is fresher.
type Ask<'a> = &'a mut dyn FnMut(&Index) -> Result<(), IndexTrouble>;

impl Engine {
    /// As [`Tree::consult`].
    pub(super) fn consult(
        &self,
        altered: &[Altered],
        effort: Effort,
        is_locked: bool,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        let effort = if self.is_unasked { Effort::Refresh } else { effort };
        let Some(mut index) = self.take_complete_index(effort, is_locked) else { return Ok(false) };
        let mut ask = |index: &Index| ask(index).map_err(IndexTrouble::Asked);
        if self.is_unasked {
            let answered = self.ask_as_it_stands(&mut index, &mut ask);
            return self.return_index(index, answered.map(|()| true));
        }
        let answered = self.ask_fresh(&mut index, altered, is_locked, &mut ask);
        self.return_index(index, answered.map(|()| true))
    }

    /// As [`Engine::consult`], for who has been answered by it a moment ago, from the same index: what has changed since
    /// in the memory is left for the next.
    pub(super) fn consult_again(
        &self,
        altered: &[Altered],
        is_locked: bool,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        let Some(mut index) = self.take_complete_index(Effort::Refresh, is_locked) else { return Ok(false) };
        let mut ask = |index: &Index| ask(index).map_err(IndexTrouble::Asked);
        let answered = ask_altered(&mut index, altered, &mut ask);
        self.return_index(index, answered.map(|()| true))
    }

    /// Whether all threads and processes ask one index.
    pub(super) fn has_shared_index(&self) -> bool {
        matches!(self.settings.index, IndexPlace::File(_))
    }

    /// Looks through the index as it is now, if there is one; answers whether there was.
    pub(super) fn visit(&self, look: &mut dyn FnMut(&Index) -> Result<(), IndexError>) -> bool {
        let Some(mut index) = self.take_complete_index(Effort::Fill, false) else { return false };
        let mut look = |index: &Index| look(index).map_err(IndexTrouble::Index);
        let visited = self.ask_fresh(&mut index, &[], false, &mut look);
        self.return_index(index, visited.map(|()| true)).unwrap_or(false)
    }

    fn ask_fresh(
        &self,
        index: &mut Index,
        altered: &[Altered],
        is_locked: bool,
        ask: Ask<'_>,
    ) -> Result<(), IndexTrouble> {
        let is_told = !is_locked && self.apply_noted_changes(index)?;
        if !is_told && self.ask_and_sweep(index, altered.is_empty(), is_locked, ask)? {
            return Ok(());
        }
        ask_altered(index, altered, ask)
    }

    /// Asks the index as it stands, once what newer batches of the journal changed is in it. What cannot be put into it now is
    /// put by the next who looks at all files.
    fn ask_as_it_stands(&self, index: &mut Index, ask: Ask<'_>) -> Result<(), IndexTrouble> {
        let told = self.changes_from(index, NotedChanges::default());
        let learnt = told.and_then(|told| match told {
            Some((mut changes, seen)) => {
                let known = index.stamps(changes.differ.iter().map(|swept| &swept.path))?;
                // Both are in the order of the paths.
                let is_known = |swept: &Swept| {
                    let at = known.binary_search_by(|known| known.path.cmp(&swept.path));
                    at.is_ok_and(|at| known.get(at) == Some(swept))
                };
                changes.differ.retain(|swept| !is_known(swept));
                self.update(index, &changes, seen)
            }
            None => Ok(false),
        });
        if let Err(error) = learnt {
            tracing::debug!(?error, "the index is asked without what is newer");
        }
        let reading = index.begin_read()?;
        ask(&reading)
    }

    /// Asks while all files are looked at. Answers whether that was enough; else the index is up to date now.
    fn ask_and_sweep(
        &self,
        index: &mut Index,
        is_unaltered: bool,
        is_locked: bool,
        ask: Ask<'_>,
    ) -> Result<bool, IndexTrouble> {
        let (started, takes) = (self.now(), self.index_pool.takes());
        let seen = if is_locked { None } else { self.seen() };
        let (swept, asked) = thread::scope(|scope| {
            let sweep = thread::Builder::new().spawn_scoped(scope, || self.vault.sweep(&|| false));
            let asked = ask_at_once(index, is_unaltered, ask);
            let swept = match sweep {
                Ok(sweep) => sweep.join().unwrap_or_else(|_| Err(TreeError::Io("a thread has died".to_owned()))),
                // Where no thread can be had, this one does it all.
                Err(_) => self.vault.sweep(&|| false),
            };
            (swept, asked)
        });
        let (known, status, is_asked) = asked?;
        let changes = Changes::between(&known, swept?);
        if changes.len() > MOST_AT_ONCE {
            return Err(IndexTrouble::Much);
        }
        let seen = seen.filter(|newest| *newest > status.batch);
        let is_fresh = changes.is_empty() && status.is_complete;
        let is_all = if is_fresh { !changes.is_partial } else { self.update(index, &changes, seen)? };
        if is_all {
            self.index_pool.mark_fresh(index, started, takes);
        }
        Ok(is_fresh && is_asked)
    }

    /// Up to which batch a sweep that starts now will have seen what the journal tells.
    pub(super) fn seen(&self) -> Option<u64> {
        self.vault.changed_since(u64::MAX).ok().map(|feed| feed.newest)
    }

    /// Learns what the watcher and the journal tell; answers whether that is all there is to know. The lock is kept
    /// meanwhile: who comes next must not take for fresh what is not yet in the index.
    fn apply_noted_changes(&self, index: &mut Index) -> Result<bool, IndexTrouble> {
        let watched = lock(&self.index_pool.watched);
        let Some(watched) = watched.as_ref() else { return Ok(false) };
        if self.settings.index == IndexPlace::Process {
            // Each thread may have one of its own, and what is told comes to one of them.
            return Ok(false);
        }
        let noted = watched.take();
        let swept = self.index_pool.begin(index, &noted);
        let swept = swept.filter(|swept| self.now().since(*swept) < SWEEP_EVERY);
        let (Some(swept), false) = (swept, noted.is_everything) else { return Ok(false) };
        let takes = self.index_pool.takes();
        let Some((changes, seen)) = self.changes_from(index, noted)? else { return Ok(false) };
        let is_all = self.update(index, &changes, seen)?;
        if is_all {
            self.index_pool.mark_fresh(index, swept, takes);
        }
        Ok(is_all)
    }

    /// What the watcher noted and the journal adds, as changes; `None` where all files have to be looked at.
    fn changes_from(&self, index: &Index, noted: NotedChanges) -> Result<Option<(Changes, Option<u64>)>, IndexTrouble> {
        let status = index.status()?;
        let feed = self.vault.changed_since(status.batch).ok().filter(|feed| !feed.is_everything);
        let Some(feed) = feed.filter(|_| status.is_complete) else { return Ok(None) };
        let mut changes = Changes::default();
        for path in noted.paths.into_iter().chain(feed.paths).collect::<BTreeSet<_>>() {
            match self.vault.stamp(&path) {
                Ok(Some(swept)) => changes.differ.push(swept),
                // What stands below a folder is not told one by one.
                Ok(None) if self.vault.stat(&path) == Ok(None) => changes.gone.push(path),
                _ => return Ok(None),
            }
        }
        // A name that is a link says what its target says, of which alone is told.
        let links = if changes.is_empty() { Vec::new() } else { index.links()? };
        for known in links {
            match self.vault.stamp(&known.path) {
                Ok(Some(swept)) if swept == known => {}
                Ok(Some(swept)) => changes.differ.push(swept),
                _ => return Ok(None),
            }
        }
        let seen = Some(feed.newest).filter(|newest| *newest > status.batch);
        Ok(Some((changes, seen)).filter(|(changes, _)| changes.len() <= MOST_AT_ONCE))
    }

    /// Puts a few changes into the index, each as it is now; answers whether those were all. What cannot be looked at for
    /// a reason that may pass stays as the index knows it, and differs from it for the next sweep.
    fn update(&self, index: &mut Index, changes: &Changes, seen: Option<u64>) -> Result<bool, IndexTrouble> {
        let mut is_all = !changes.is_partial;
        if changes.is_empty() && seen.is_none() && index.status()?.is_complete {
            return Ok(is_all);
        }
        let mut writing = index.write()?;
        // First what is gone: a folder may stand in its place.
        for path in changes.gone.iter().chain(changes.differ.iter().map(|swept| &swept.path)) {
            let now = self.now();
            match self.read_record(path) {
                Ok(Some((swept, record))) => writing.put(&aged(swept, now), record.as_ref())?,
                Ok(None) => self.take_out(&mut writing, path)?,
                Err(error) => {
                    tracing::warn!(%error, "a changed file could not be looked at");
                    is_all = false;
                }
            }
        }
        if let Some(batch) = seen {
            writing.set_batch(batch)?;
        }
        if is_all {
            writing.set_complete(true)?;
        }
        writing.commit()?;
        Ok(is_all)
    }

    /// Takes a file that is gone out of the index, and what was below it if it was a folder.
    pub(super) fn take_out(&self, writing: &mut WriteTransaction<'_>, path: &MemoryPath) -> Result<(), IndexTrouble> {
        match self.vault.stat(path) {
            // A folder has taken its place; what is below is there.
            Ok(Some(_)) => writing.remove_file(path)?,
            _ => writing.remove(path)?,
        }
        Ok(())
    }

    /// A file as it is now, and what the index keeps of it, which is nothing of one that is no note; `None` where there
    /// is no file. What nobody lets us look at is not there for an index.
    fn read_record(&self, path: &MemoryPath) -> Result<Option<(Swept, Option<NoteRecord>)>, TreeError> {
        let swept = match self.vault.stamp(path) {
            Ok(Some(swept)) => swept,
            Err(error @ TreeError::Io(_)) => return Err(error),
            Ok(None) | Err(_) => return Ok(None),
        };
        if !swept.path.is_note() {
            return Ok(Some((swept, None)));
        }
        let read = self.vault.read_bytes(&swept.path, self.settings.limits.file_bytes);
        let record = record(&swept, read.as_ref().map(|(bytes, _)| bytes.as_slice()).map_err(Clone::clone))?;
        Ok(Some((swept, record)))
    }

    /// Whether a file is gone, as far as it can be told.
    pub(super) fn is_gone(&self, path: &MemoryPath) -> bool {
        match self.vault.stamp(path) {
            Ok(found) => found.is_none(),
            Err(error) => !matches!(error, TreeError::Io(_)),
        }
    }
}

/// Asks the index as a batch would leave it that altered these files.
fn ask_altered(index: &mut Index, altered: &[Altered], ask: Ask<'_>) -> Result<(), IndexTrouble> {
    if altered.is_empty() {
        let reading = index.begin_read()?;
        return ask(&reading);
    }
    // For this question only.
    let mut writing = index.write()?;
    for Altered { path, content } in altered {
        match content {
            Some(content) => {
                let swept = Swept { path: path.clone(), is_link: false, stamp: Stamp::default() };
                writing.put(&swept, record(&swept, Ok(content.bytes()))?.as_ref())?;
            }
            None => writing.remove(path)?,
        }
    }
    ask(&writing)
}

/// A file that was too young to be trusted when it was looked at, not before `now`, is kept without what it was like, so
/// that the next sweep reads it again.
pub(super) fn aged(swept: Swept, now: Timestamp) -> Swept {
    if is_younger(&swept, now, YOUNG) { Swept { stamp: Stamp::default(), ..swept } } else { swept }
}

/// Whether a file has changed so short a time before `now`.
pub(super) fn is_younger(swept: &Swept, now: Timestamp, young: Duration) -> bool {
    // Everybody may set when a file was modified, also to next year; where the system says when it was changed, that alone
    // is sure to move with each change.
    let Stamp { modified, changed, .. } = swept.stamp;
    let last = if changed == 0 { modified } else { changed };
    let age = now.micros().saturating_mul(1_000).saturating_sub(last);
    age < i64::try_from(young.as_nanos()).unwrap_or(i64::MAX)
}

impl Changes {
    /// Compares what the index knows with what there is, both sorted by path.
    pub(super) fn between(known: &[Swept], swept: Sweep) -> Self {
        let Sweep { files, unknown } = swept;
        let mut changes = Self { is_partial: !unknown.is_empty(), ..Self::default() };
        let mut known = known.iter().peekable();
        for swept in files {
            while let Some(gone) = known.next_if(|known| known.path < swept.path) {
                changes.gone.push(gone.path.clone());
            }
            match known.next_if(|known| known.path == swept.path) {
                Some(same) if *same == swept => {}
                _ => changes.differ.push(swept),
            }
        }
        changes.gone.extend(known.map(|gone| gone.path.clone()));
        changes.gone.retain(|path| !unknown.contains(path) && !path.ancestors().any(|above| unknown.contains(&above)));
        changes
    }

    fn len(&self) -> usize {
        self.differ.len() + self.gone.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What the index keeps of a note; `None` for a file that is none. What cannot be read for a reason that may pass is an
/// error.
pub(super) fn record(swept: &Swept, bytes: Result<&[u8], TreeError>) -> Result<Option<NoteRecord>, TreeError> {
    if !swept.path.is_note() {
        return Ok(None);
    }
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(TreeError::TooLarge { size, .. }) => return Ok(Some(NoteRecord::of_look(&Look::of_size(size)))),
        Err(error @ TreeError::Io(_)) => return Err(error),
        Err(error) => return Ok(Some(NoteRecord::of_look(&Look::of_unread(error.to_string())))),
    };
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Some(NoteRecord::of_bytes(bytes))) };
    let active = policy::active_content(text, || Note::parse(text).without_code());
    Ok(Some(NoteRecord::of(&swept.path, text, active)))
}

/// Asks the index as it is, if all was ever put into it, and tells what it knows.
fn ask_at_once(
    index: &mut Index,
    is_unaltered: bool,
    ask: Ask<'_>,
) -> Result<(Vec<Swept>, Status, bool), IndexTrouble> {
    let reading = index.begin_read()?;
    let (known, status) = (reading.known()?, reading.status()?);
    let is_asked = status.is_complete && is_unaltered;
    if is_asked {
        ask(&reading)?;
    }
    Ok((known, status, is_asked))
}
