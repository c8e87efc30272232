//! Keeping the index fresh: what changed since it was last looked at is read again before a question is answered.
//!
//! A sweep tells by size, times and number of each file whether it changed, as git does; where somebody watches the
//! memory, events and the journal tell it. What is put into the index is looked at once more under the index's lock, so
//! that nothing older replaces what another process has read since.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Engine, failure};
use crate::check::Look;
use crate::index::{Index, IndexError, Record, Status};
use crate::path::MemoryPath;
use crate::plan::{self, Altered, Stamp, Swept, Tree, TreeError};
use crate::policy;
use crate::rank::Source;
use crate::report::Failure;
use crate::time::Timestamp;
use crate::vault::{Noticed, Watch};

/// More changed files than this are not read while somebody waits for an answer: all notes are scanned instead.
const MOST_AT_ONCE: usize = 2_000;
/// A file that changed so short a time before it was looked at may change again without showing it.
const YOUNG: Duration = Duration::from_secs(2);
/// How often all files are looked at although somebody watches: not every system tells everything.
const SWEEP_EVERY: Duration = Duration::from_secs(600);
/// No more lines of each kind of active content are kept of one note.
pub(super) const MOST_ACTIVE: usize = 20;

/// Where the index of a memory is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum IndexPlace {
    /// Nowhere: every search reads the notes.
    #[default]
    Nowhere,
    /// In this process, as long as it lives.
    Process,
    /// In this file, with others.
    File(PathBuf),
}

/// The connections to the index, and what is known of changes.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    idle: Mutex<Vec<Index>>,
    watched: Mutex<Option<Watched>>,
}

/// What the watcher has told.
#[derive(Debug)]
struct Watched {
    _watch: Watch,
    noticed: Arc<Mutex<Noted>>,
    swept: Option<Timestamp>,
}

/// Changes that are not in the index yet.
#[derive(Debug, Default)]
struct Noted {
    paths: BTreeSet<MemoryPath>,
    is_everything: bool,
}

/// Why an index could not be asked or written.
pub(super) enum Trouble {
    Index(IndexError),
    Tree(TreeError),
    /// The question could not be answered.
    Asked(TreeError),
    /// So much has changed that reading all notes is quicker.
    Much,
}

impl From<IndexError> for Trouble {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<TreeError> for Trouble {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

/// What the index has to learn.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files that are new or differ.
    pub(super) differ: Vec<Swept>,
    /// Files that are gone.
    pub(super) gone: Vec<MemoryPath>,
}

/// Asks the index something; may be called twice, the second time when it is fresher.
type Ask<'a> = &'a mut dyn FnMut(&Index) -> Result<(), Trouble>;

impl Engine {
    /// Watches the memory from now on, so that searches need not look at all files. Sweeps go on, every ten minutes.
    ///
    /// # Errors
    ///
    /// What the system says, such as that no more folders can be watched; everything works without, slower.
    pub fn watch(&self) -> Result<(), Failure> {
        let noticed = Arc::new(Mutex::new(Noted { is_everything: true, ..Noted::default() }));
        let notes = Arc::clone(&noticed);
        let told = move |event| {
            let mut noted = notes.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Noticed::Changed(paths) => noted.paths.extend(paths),
                Noticed::Rescan => noted.is_everything = true,
            }
        };
        let watch = self.vault.watch(told).map_err(|error| failure(&error))?;
        *self.keeper.watched() = Some(Watched { _watch: watch, noticed, swept: None });
        Ok(())
    }

    /// Brings the index up to date, or builds it; `told` hears how many of how many files are done.
    ///
    /// What was done stays when `stop` ends it or the process dies, and the next run goes on from there.
    ///
    /// # Errors
    ///
    /// `cancelled`, `io`, `disk_full`; the memory itself is not touched.
    pub fn refresh(
        &self,
        told: &(dyn Fn(usize, usize) + Sync),
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Failure> {
        let Some(mut index) = self.taken(false) else { return Ok(()) };
        let built = self.build(&mut index, told, stop);
        match self.settled(index, built) {
            Ok(_) => Ok(()),
            Err(error) => Err(plan::failure(error)),
        }
    }

    /// Whether an index is kept, and everything is in it that was there when it was last looked at.
    #[must_use]
    pub fn has_index(&self) -> bool {
        let Some(index) = self.taken(false) else { return false };
        let status = index.status();
        self.settled(index, status.map_err(Trouble::from).map(|status| status.is_complete)).unwrap_or_default()
    }

    /// As [`Tree::consult`].
    pub(super) fn consult(
        &self,
        altered: &[Altered],
        is_locked: bool,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        let Some(mut index) = self.taken(is_locked) else { return Ok(false) };
        let mut ask = |index: &Index| ask(index).map_err(Trouble::Asked);
        let answered = self.ask_fresh(&mut index, altered, is_locked, &mut ask);
        self.settled(index, answered.map(|()| true))
    }

    /// Looks through the index as it is now, if there is one; answers whether there was.
    pub(super) fn visit(&self, look: &mut dyn FnMut(&Index) -> Result<(), IndexError>) -> bool {
        let Some(mut index) = self.taken(false) else { return false };
        let mut look = |index: &Index| look(index).map_err(Trouble::Index);
        let visited = self.ask_fresh(&mut index, &[], false, &mut look);
        self.settled(index, visited.map(|()| true)).unwrap_or(false)
    }

    /// Opens the index, or takes a connection that nobody uses. Who holds the lock of the vault cannot ask it for the name
    /// of its history, and has an index only where somebody asked before.
    fn taken(&self, is_locked: bool) -> Option<Index> {
        let idle = self.keeper.idle().pop().filter(Index::is_current);
        let opened = match (&self.settings.index, idle) {
            (IndexPlace::Nowhere, _) => return None,
            (_, Some(index)) => return Some(index),
            (IndexPlace::File(_), None) if is_locked => return None,
            (IndexPlace::Process, None) => Index::in_memory(),
            (IndexPlace::File(file), None) => Index::open(file, self.vault.history_id().ok()?.as_deref()),
        };
        opened.inspect_err(|error| tracing::warn!(%error, "the index cannot be opened")).ok()
    }

    /// Keeps the connection for the next question. What goes wrong with an index is no news for who asks: it is made
    /// anew, and the notes are read.
    fn settled(&self, index: Index, result: Result<bool, Trouble>) -> Result<bool, TreeError> {
        if result.is_err()
            && let Some(watched) = self.keeper.watched().as_mut()
        {
            // What the watcher told may not have come to the index.
            watched.swept = None;
        }
        if index.is_damaged() {
            tracing::warn!("the index is damaged and is made anew");
            drop(index);
            if let Err(error) = self.drop_index() {
                tracing::warn!(%error, "the index was not removed");
            }
        } else {
            self.keeper.idle().push(index);
        }
        match result {
            Ok(is_answered) => Ok(is_answered),
            Err(Trouble::Tree(error)) => Err(error),
            Err(Trouble::Asked(TreeError::Stopped)) => Err(TreeError::Stopped),
            Err(Trouble::Index(error)) => {
                tracing::warn!(%error, "the index was not used");
                Ok(false)
            }
            Err(Trouble::Asked(_) | Trouble::Much) => Ok(false),
        }
    }

    /// Removes the index; it is built anew when it is needed.
    pub(super) fn drop_index(&self) -> Result<(), IndexError> {
        self.keeper.idle().clear();
        match &self.settings.index {
            IndexPlace::File(file) => Index::remove(file),
            IndexPlace::Process | IndexPlace::Nowhere => Ok(()),
        }
    }

    /// Whether there is a file with an index in it, fresh or not.
    pub(super) fn has_index_file(&self) -> bool {
        matches!(&self.settings.index, IndexPlace::File(file) if Index::is_there(file))
    }

    fn ask_fresh(&self, index: &mut Index, altered: &[Altered], is_locked: bool, ask: Ask<'_>) -> Result<(), Trouble> {
        let is_told = !is_locked && self.learn_what_was_told(index)?;
        if !is_told && self.ask_and_sweep(index, altered.is_empty(), is_locked, ask)? {
            return Ok(());
        }
        if altered.is_empty() {
            let reading = index.begin_read()?;
            return ask(&reading);
        }
        // The index as the batch would leave it, for this question only.
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

    /// Asks while all files are looked at. Answers whether that was enough; else the index is up to date now.
    fn ask_and_sweep(
        &self,
        index: &mut Index,
        is_unaltered: bool,
        is_locked: bool,
        ask: Ask<'_>,
    ) -> Result<bool, Trouble> {
        let started = (self.settings.clock)();
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
            return Err(Trouble::Much);
        }
        let is_fresh = changes.is_empty() && status.is_complete;
        if !is_fresh {
            self.update(index, &changes, seen)?;
        }
        if let Some(watched) = self.keeper.watched().as_mut() {
            watched.swept = Some(started);
        }
        Ok(is_fresh && is_asked)
    }

    /// Up to which batch a sweep that starts now will have seen what the journal tells; where nobody watches it does not
    /// matter.
    fn seen(&self) -> Option<u64> {
        self.keeper.watched().as_ref()?;
        self.vault.changed_since(u64::MAX).ok().map(|feed| feed.newest)
    }

    /// Learns what the watcher and the journal tell; answers whether that is all there is to know. The lock is kept
    /// meanwhile: who comes next must not take for fresh what is not yet in the index.
    fn learn_what_was_told(&self, index: &mut Index) -> Result<bool, Trouble> {
        let mut watched = self.keeper.watched();
        let Some(watched) = watched.as_mut() else { return Ok(false) };
        let noted = std::mem::take(&mut *watched.noticed.lock().unwrap_or_else(PoisonError::into_inner));
        let status = index.status()?;
        let is_fresh = watched.swept.is_some_and(|swept| (self.settings.clock)().since(swept) < SWEEP_EVERY);
        let told =
            if is_fresh && !noted.is_everything && status.is_complete { self.told(noted, &status) } else { None };
        // Until what was taken is in the index nobody else may rely on it.
        let swept = watched.swept.take();
        let Some((changes, seen)) = told else { return Ok(false) };
        self.update(index, &changes, seen)?;
        watched.swept = swept;
        Ok(true)
    }

    /// What the watcher noted and the journal adds, as changes; `None` where all files have to be looked at.
    fn told(&self, noted: Noted, status: &Status) -> Option<(Changes, Option<u64>)> {
        let feed = self.vault.changed_since(status.batch).ok().filter(|feed| !feed.is_everything)?;
        let mut changes = Changes::default();
        for path in noted.paths.into_iter().chain(feed.paths).collect::<BTreeSet<_>>() {
            match self.vault.stamp(&path).ok()? {
                Some(swept) => changes.differ.push(swept),
                // What stands below a folder is not told one by one.
                None if self.vault.stat(&path).ok()?.is_some() => return None,
                None => changes.gone.push(path),
            }
        }
        Some((changes, Some(feed.newest).filter(|newest| *newest > status.batch)))
    }

    /// Puts a few changes into the index, each as it is now.
    fn update(&self, index: &mut Index, changes: &Changes, seen: Option<u64>) -> Result<(), Trouble> {
        if changes.is_empty() && seen.is_none() && index.status()?.is_complete {
            return Ok(());
        }
        let mut writing = index.write()?;
        for path in changes.differ.iter().map(|swept| &swept.path).chain(&changes.gone) {
            // What cannot be looked at any more is not there for an index.
            match self.vault.stamp(path).ok().flatten() {
                Some(swept) => {
                    let record = self.read_record(&swept)?;
                    writing.put(&self.aged(swept), record.as_ref())?;
                }
                None => writing.remove(path)?,
            }
        }
        if let Some(batch) = seen {
            writing.set_batch(batch)?;
        }
        writing.set_complete(true)?;
        Ok(writing.commit()?)
    }

    /// What the index keeps of a file that is read now; `None` for one that is no note.
    fn read_record(&self, swept: &Swept) -> Result<Option<Record>, Trouble> {
        if !swept.path.is_note() {
            return Ok(None);
        }
        let read = self.vault.read_bytes(&swept.path, self.settings.limits.file_bytes);
        record(swept, read.as_ref().map(|(bytes, _)| bytes.as_slice()).map_err(Clone::clone))
    }

    /// A file that is too young to be trusted is kept without what it was like, so that the next sweep reads it again.
    pub(super) fn aged(&self, swept: Swept) -> Swept {
        let last = swept.stamp.modified.max(swept.stamp.changed);
        let now = (self.settings.clock)().micros().saturating_mul(1_000);
        let is_young = now.saturating_sub(last) < i64::try_from(YOUNG.as_nanos()).unwrap_or(i64::MAX);
        if is_young { Swept { stamp: Stamp::default(), ..swept } } else { swept }
    }
}

impl Changes {
    /// Compares what the index knows with what there is, both sorted by path.
    pub(super) fn between(known: &[Swept], swept: Vec<Swept>) -> Self {
        let mut changes = Self::default();
        let mut known = known.iter().peekable();
        for swept in swept {
            while let Some(gone) = known.next_if(|known| known.path < swept.path) {
                changes.gone.push(gone.path.clone());
            }
            match known.next_if(|known| known.path == swept.path) {
                Some(same) if *same == swept => {}
                _ => changes.differ.push(swept),
            }
        }
        changes.gone.extend(known.map(|gone| gone.path.clone()));
        changes
    }

    fn len(&self) -> usize {
        self.differ.len() + self.gone.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Keeper {
    fn idle(&self) -> MutexGuard<'_, Vec<Index>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> MutexGuard<'_, Option<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the index keeps of a note; `None` for a file that is none.
pub(super) fn record(swept: &Swept, bytes: Result<&[u8], TreeError>) -> Result<Option<Record>, Trouble> {
    if !swept.path.is_note() {
        return Ok(None);
    }
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(TreeError::TooLarge { size, .. }) => return Ok(Some(Record::of_look(&Look::of_size(size)))),
        // What cannot be read says nothing.
        Err(_) => return Ok(Some(Record::of_look(&Look::default()))),
    };
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Some(Record::of_bytes(bytes))) };
    let active = policy::active_content(text, MOST_ACTIVE).map_err(|failure| TreeError::Io(failure.message))?;
    let record = Record::of(&swept.path, text, active);
    Ok(Some(if swept.is_link { record.without_words() } else { record }))
}

/// Asks the index as it is, if all was ever put into it, and tells what it knows.
fn ask_at_once(index: &mut Index, is_unaltered: bool, ask: Ask<'_>) -> Result<(Vec<Swept>, Status, bool), Trouble> {
    let reading = index.begin_read()?;
    let (known, status) = (reading.known()?, reading.status()?);
    let is_asked = status.is_complete && is_unaltered;
    if is_asked {
        ask(&reading)?;
    }
    Ok((known, status, is_asked))
}
