//! [`PastTree`]: the memory as it was at a moment, as the history knows it.
//!
//! Owns reading the history for it, in one transaction of a connection of its own. What follows from the steps is
//! [`PastFiles`]'s.

use std::collections::HashMap;
use std::num::NonZero;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::params;

use super::journal::{Journal, State};
use super::state::StateFolder;
use super::walk::Walk;
use super::{Core, Tables, Vault, VaultError, contents, moves};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Kind, Log};
use memdir_core::retry;
use memdir_core::time::Timestamp;
use memdir_plan::{
    Content, Entry, Evidence, Held, Image, Listing, PastFiles, PastStep, Scan, Scanned, Stamp, Stat, Swept, Tree,
    TreeError, name_before, names_after,
};

/// A moment, and who asks about it.
#[derive(Clone, Copy)]
pub struct Moment<'m> {
    /// The moment: all changes of it or before are seen, none that is later.
    pub time: Timestamp,
    /// What time it is. A change that claims to be later is counted with the one before it.
    pub now: Timestamp,
    /// The batch that is the last one seen, of those that carry the same time too; `None` where the time alone says it.
    pub last: Option<u64>,
    /// What may be seen now of files and folders by their names; `None` where that is all. What had any other name since the
    /// moment, or at it, is not seen.
    pub shows: Option<&'m dyn Fn(&MemoryPath) -> bool>,
}

/// A content of the history: its number, and when the file was given it, in microseconds since 1970; 0 where nobody knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Numbered {
    id: i64,
    time: i64,
}

type Step = PastStep<Numbered>;

/// The time of a content that a batch met.
const UNKNOWN: i64 = 0;

/// What is kept of a content.
#[derive(Clone, Copy, Debug)]
struct Kept {
    size: u64,
    /// The newest batch that refers to it.
    batch: u64,
}

/// The memory as it was at a moment.
///
/// What the history says of it does not change any more; files that no later batch has touched are read when they are asked for,
/// so [`PastTree::is_undisturbed`] has to be asked in the end. Links are no files of it.
#[derive(Debug)]
pub struct PastTree<'v> {
    vault: &'v Vault,
    /// The connection, with an open transaction.
    core: Mutex<Core>,
    newest: Option<(u64, State)>,
    past: PastFiles<Numbered>,
    /// What the files are like now that hold what they did.
    stamps: HashMap<MemoryPath, Stamp>,
    kept: HashMap<i64, Kept>,
    /// The steps since.
    later: Vec<Step>,
}

/// How long a batch that another process is at is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the folder is walked until no batch comes meanwhile.
const ATTEMPTS: usize = 3;
/// The most threads that look into files.
const MOST_THREADS: usize = 8;

impl Vault {
    /// The memory as it was at a moment. What was changed outside memdir counts from the batch that met it.
    ///
    /// # Errors
    ///
    /// [`VaultError::NotReached`] before the first batch, and where contents of that time are no longer kept;
    /// [`VaultError::Busy`] while other processes write all the time; those of the database.
    pub fn past(&self, moment: &Moment<'_>) -> Result<PastTree<'_>, VaultError> {
        let folder = StateFolder::open(&self.home())?.ok_or(VaultError::NotReached(None))?;
        let core = self.open_core(folder, Tables::Leave)?.ok_or(VaultError::NotReached(None))?;
        for _ in 0..ATTEMPTS {
            let settled = retry::within(PATIENCE, || Ok::<_, VaultError>(settled(&core.journal)?.map(Some)))?;
            let Some(before) = settled.flatten() else { return Err(VaultError::Busy) };
            let walked = self.walk_stamps(&|| false).map_err(unlisted)?;
            core.journal.db.execute_batch("BEGIN")?;
            let newest = core.journal.newest()?;
            if newest == before {
                return self.past_of(core, newest, walked, moment);
            }
            core.journal.db.execute_batch("COMMIT")?;
        }
        Err(VaultError::Busy)
    }

    fn past_of(
        &self,
        core: Core,
        newest: Option<(u64, State)>,
        walked: Walk<Swept>,
        moment: &Moment<'_>,
    ) -> Result<PastTree<'_>, VaultError> {
        let (rows, kept) = (rows(&core.journal)?, kept(&core.journal)?);
        let first_later = first_later(&core.journal, moment)?;
        let cut = rows.partition_point(|row| first_later.is_none_or(|later| row.batch < later));
        check_reach(&rows, cut, &kept, moment)?;
        let mut earlier: Vec<Step> = rows.into_iter().map(|row| row.step).collect();
        let later = earlier.split_off(cut);
        let files = walked.found.into_iter().filter(|file| !file.is_link);
        let stamps: HashMap<_, _> = files.map(|file| (file.path, file.stamp)).collect();
        let is_old =
            |path: &MemoryPath| stamps.get(path).is_some_and(|now| now.modified / 1_000 <= moment.time.micros());
        let evidence = Evidence { is_kept: &|content: &Numbered| kept.contains_key(&content.id), is_old: &is_old };
        let mut past = PastFiles::between(&earlier, &later, stamps.keys().cloned(), walked.folders, &evidence);
        if let Some(shows) = moment.shows {
            hide(&mut past, &later, shows);
        }
        Ok(PastTree { vault: self, core: Mutex::new(core), newest, past, stamps, kept, later })
    }
}

fn unlisted(error: TreeError) -> VaultError {
    VaultError::io("list the notes", None, std::io::Error::other(error.to_string()))
}

/// The newest batch, unless one is under way; an outer `None` then.
fn settled(journal: &Journal) -> Result<Option<Option<(u64, State)>>, VaultError> {
    let newest = journal.newest()?;
    let is_settled = newest.is_none_or(|(_, state)| matches!(state, State::Applied | State::Aborted));
    Ok(is_settled.then_some(newest))
}

/// The first batch after the moment, if there is one.
fn first_later(journal: &Journal, moment: &Moment<'_>) -> Result<Option<u64>, VaultError> {
    if let Some(last) = moment.last {
        let mut statement = journal.db.prepare_cached("SELECT min(id) FROM batch WHERE state IN (2, 3) AND id > ?1")?;
        return Ok(statement.query_row([last], |row| row.get(0))?);
    }
    let sql = "SELECT min(id) FROM batch WHERE state IN (2, 3) AND time > ?1 AND time <= ?2";
    let mut statement = journal.db.prepare_cached(sql)?;
    Ok(statement.query_row(params![moment.time.micros(), moment.now.micros()], |row| row.get(0))?)
}

/// A step, and the batch that it is of.
struct Recorded {
    batch: u64,
    time: i64,
    step: Step,
}

/// All steps that the history names, in the order in which they happened. What was forgotten has no name.
fn rows(journal: &Journal) -> Result<Vec<Recorded>, VaultError> {
    let sql = "SELECT batch.id, time, kind, path, new_path, before, after FROM batch JOIN step ON batch = batch.id
               WHERE state IN (2, 3) ORDER BY batch.id, number";
    let mut statement = journal.db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (batch, time) = (row.get(0)?, row.get(1)?);
        let content = |column, time| -> Result<Option<Numbered>, VaultError> {
            Ok(row.get::<_, Option<i64>>(column)?.map(|id| Numbered { id, time }))
        };
        let Some(path) = moves::path(row, 3)? else { continue };
        let step = match row.get::<_, i64>(2)? {
            1 => PastStep::MakeFolder(path),
            2 | 3 => match moves::path(row, 4)? {
                Some(to) => PastStep::Move { from: path, to },
                None => continue,
            },
            4 => PastStep::Put { path, before: content(5, UNKNOWN)?, after: content(6, time)? },
            _ => PastStep::RemoveFolder(path),
        };
        found.push(Recorded { batch, time, step });
    }
    Ok(found)
}

/// All contents that are kept.
fn kept(journal: &Journal) -> Result<HashMap<i64, Kept>, VaultError> {
    let mut statement = journal.db.prepare_cached("SELECT id, size, batch FROM content")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, Kept { size: row.get(1)?, batch: row.get(2)? })))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Checks that the history has begun before the moment, and that no batch after it has lost to age what it found. Contents go from
/// the oldest batch on, so one that is missing though older ones are kept was forgotten, and says nothing of the others.
fn check_reach(
    rows: &[Recorded],
    cut: usize,
    kept: &HashMap<i64, Kept>,
    moment: &Moment<'_>,
) -> Result<(), VaultError> {
    let shows = |path: &MemoryPath| moment.shows.is_none_or(|shows| shows(path));
    let seen = |row: &&Recorded| match &row.step {
        PastStep::Move { from, to } => shows(from) && shows(to),
        PastStep::MakeFolder(path) | PastStep::RemoveFolder(path) | PastStep::Put { path, .. } => shows(path),
    };
    let seen: Vec<&Recorded> = rows.iter().filter(seen).collect();
    let contents = |row: &Recorded| match &row.step {
        PastStep::Put { before, after, .. } => [*before, *after],
        PastStep::Move { .. } | PastStep::MakeFolder(_) | PastStep::RemoveFolder(_) => [None, None],
    };
    let all = seen.iter().flat_map(|row| contents(row)).flatten();
    let oldest = all.filter_map(|content| kept.get(&content.id)).map(|kept| kept.batch).min();
    let is_pruned = |row: &&&Recorded| {
        let [before, _] = contents(row);
        oldest.is_none_or(|oldest| row.batch <= oldest) && before.is_some_and(|before| !kept.contains_key(&before.id))
    };
    let first = seen.iter().rev().find(is_pruned).or(seen.first());
    let first = first.ok_or(VaultError::NotReached(None))?;
    let is_reached = rows.get(..cut).and_then(<[_]>::last).is_some_and(|last| last.batch >= first.batch);
    if is_reached { Ok(()) } else { Err(VaultError::NotReached(Some(Timestamp::from_micros(first.time)))) }
}

/// Takes away what has had a name since the moment that may not be seen.
fn hide(past: &mut PastFiles<Numbered>, later: &[Step], shows: &dyn Fn(&MemoryPath) -> bool) {
    let renames = |step: &&Step| matches!(step, PastStep::Move { .. } | PastStep::Put { after: None, .. });
    let renames: Vec<Step> = later.iter().filter(renames).cloned().collect();
    let may_see = |path: &MemoryPath| names_after(path, &renames).iter().all(shows);
    past.files.retain(|path, _| may_see(path));
    past.folders.retain(may_see);
    let above: Vec<_> = past.files.keys().flat_map(MemoryPath::ancestors).collect();
    past.folders.extend(above);
}

impl PastTree<'_> {
    /// Whether no batch has come since this was opened: if one has, files may have been read that it had changed already.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn is_undisturbed(&self) -> Result<bool, VaultError> {
        let core = self.vault.known_core()?;
        let newest = core.as_ref().map_or(Ok(None), |core| core.journal.newest())?;
        Ok(newest == self.newest)
    }

    fn is_there(&self, path: &MemoryPath) -> bool {
        self.past.files.contains_key(path) || self.past.folders.contains(path)
    }

    /// What had this name then, or had another one then and has this now.
    fn find(&self, path: &MemoryPath) -> Option<MemoryPath> {
        let then = || name_before(path, &self.later);
        if self.is_there(path) { Some(path.clone()) } else { Some(then()).filter(|then| self.is_there(then)) }
    }

    fn file_stat(&self, held: &Held<Numbered>) -> Stat {
        let stat = |size, modified| Stat { kind: Kind::File, size, modified, mode: None };
        match held {
            Held::Now(path) => {
                let stamp = self.stamps.get(path).copied().unwrap_or_default();
                stat(stamp.size, moment_of(stamp.modified.div_euclid(1_000)))
            }
            Held::Kept(content) => {
                stat(self.kept.get(&content.id).map_or(0, |kept| kept.size), moment_of(content.time))
            }
        }
    }

    /// What a file held, at most `limit` bytes of it.
    fn content(&self, path: &MemoryPath, held: &Held<Numbered>, limit: u64) -> Result<Content, TreeError> {
        let (id, kept) = match held {
            Held::Now(now) => {
                let read = self.vault.read_bytes(now, limit).map_err(|error| error.about(path))?;
                return Ok(Content::new(read.0));
            }
            Held::Kept(content) => {
                let kept = self.kept.get(&content.id);
                (content.id, kept.ok_or_else(|| TreeError::NotKept(path.clone()))?)
            }
        };
        if kept.size > limit {
            return Err(TreeError::TooLarge { path: path.clone(), size: kept.size, limit });
        }
        let core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        let content = contents::load(&core.journal.db, id).map_err(|error| TreeError::Io(error.to_string()))?;
        content.ok_or_else(|| TreeError::NotKept(path.clone()))
    }

    /// The files below a folder, in the order of their paths.
    fn below(&self, folder: Option<&MemoryPath>) -> impl Iterator<Item = (&MemoryPath, &Held<Numbered>)> {
        let prefix = folder.map_or(String::new(), |folder| format!("{folder}/"));
        let from = (Bound::Included(prefix.clone()), Bound::Unbounded);
        let from = (from.0.as_ref().map(String::as_str), from.1);
        self.past.files.range::<str, _>(from).take_while(move |(path, _)| path.as_str().starts_with(&prefix))
    }

    fn check_folder(&self, folder: Option<&MemoryPath>) -> Result<(), TreeError> {
        match folder {
            Some(path) if self.past.files.contains_key(path) => Err(TreeError::NotDirectory(path.clone())),
            Some(path) if !self.past.folders.contains(path) => Err(TreeError::NotFound(path.clone())),
            _ => Ok(()),
        }
    }
}

/// A time as a file has it.
fn moment_of(micros: i64) -> (i64, u32) {
    (micros.div_euclid(1_000_000), u32::try_from(micros.rem_euclid(1_000_000) * 1_000).unwrap_or(0))
}

impl Tree for PastTree<'_> {
    type Whole = Self;

    fn whole(&self) -> &Self {
        self
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        let folder = Stat { kind: Kind::Directory, size: 0, modified: (0, 0), mode: None };
        let file = self.past.files.get(path).map(|held| self.file_stat(held));
        Ok(file.or_else(|| self.past.folders.contains(path).then_some(folder)))
    }

    /// A link of now leads to what it led to, and a name of now to the one that the same file had.
    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        if let Some(found) = self.find(path) {
            return Ok(found);
        }
        let place = self.vault.resolve(path)?;
        Ok(self.find(&place).unwrap_or(place))
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        let path = &self.resolve(path)?;
        let held = match self.past.files.get(path) {
            Some(held) => held,
            None if self.past.folders.contains(path) => return Err(TreeError::IsDirectory(path.clone())),
            None => return Err(TreeError::NotFound(path.clone())),
        };
        Ok(Image { content: self.content(path, held, limit)?, mode: None })
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        let folder = folder.map(|folder| self.resolve(folder)).transpose()?;
        let folder = folder.as_ref();
        self.check_folder(folder)?;
        let files = self.below(folder).map(|(path, held)| (path, self.file_stat(held)));
        let stat = Stat { kind: Kind::Directory, size: 0, modified: (0, 0), mode: None };
        let folders = self.past.folders.iter().map(|path| (path, stat));
        let here = files.chain(folders).filter(|(path, _)| path.parent().as_ref() == folder);
        let entry = |(path, stat): (&MemoryPath, Stat)| Entry { name: path.name().to_owned(), stat, is_link: false };
        let mut entries: Vec<Entry> = here.map(entry).collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Listing { entries, has_others: false })
    }

    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        let folder = scan.folder.map(|folder| self.resolve(folder)).transpose()?;
        self.check_folder(folder.as_ref())?;
        let files: Vec<_> = self.below(folder.as_ref()).collect();
        let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let run = || {
            let mut found = Vec::new();
            while let Some((path, held)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                if is_stopped.load(Ordering::Relaxed) || (scan.stop)() {
                    is_stopped.store(true, Ordering::Relaxed);
                    break;
                }
                let seen = (scan.wants)(path).then(|| match self.content(path, held, scan.limit) {
                    Ok(content) => look(path, Ok(content.bytes())),
                    Err(error) => look(path, Err(error)),
                });
                found.push(Scanned { path: (*path).clone(), is_link: false, seen });
            }
            found
        };
        let mut found = at_once(&run);
        if is_stopped.into_inner() {
            return Err(TreeError::Stopped);
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn note_bytes(&self) -> Result<u64, TreeError> {
        let notes = self.past.files.iter().filter(|(path, _)| path.is_note());
        Ok(notes.map(|(_, held)| self.file_stat(held).size).sum())
    }

    /// Nobody asks for the history as it was.
    fn history(&self, _path: &MemoryPath, _limit: usize) -> Result<Log, TreeError> {
        Ok(Log::default())
    }
}

/// Runs the same work on as many threads as the system has for it, and gives what all of them found.
fn at_once<R: Send>(run: &(impl Fn() -> Vec<R> + Sync)) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    thread::scope(|scope| {
        // Where the system gives no thread, this one does all the work.
        let others: Vec<_> = (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut found = run();
        for other in others {
            match other.join() {
                Ok(more) => found.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    })
}
