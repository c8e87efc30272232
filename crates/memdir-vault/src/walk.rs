//! A walk over all files below a folder, by several threads: what a scan and a sweep have in common.
//!
//! Each folder is opened and listed once, and what is done to its files is done by name below its handle. A folder's
//! handle is open while files of it are looked at and no longer, so a walk holds two descriptors a thread whatever the
//! memory looks like.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cap_std::fs::Dir;

use super::Vault;
#[cfg(target_os = "linux")]
use super::{aside::is_temporary, disk};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_plan::{Tree, TreeError};

/// The most threads that work at the same time.
const MAX_THREADS: usize = 8;
/// How many files of a folder are one piece of work.
const CHUNK: usize = 128;
/// How many bytes of a listing are asked for at once.
#[cfg(target_os = "linux")]
const LISTING_BUFFER: usize = 32 << 10;

/// A file that a folder holds.
pub(super) struct WalkedFile {
    pub(super) path: MemoryPath,
    pub(super) is_link: bool,
}

/// What a walk makes of a file.
pub(super) trait Walked: Send {
    /// Where the file is.
    fn path(&self) -> &MemoryPath;
}

/// Some files of one folder.
struct Chunk {
    folder: Arc<Dir>,
    files: Vec<WalkedFile>,
}

/// What a walk found.
pub(super) struct Walk<R> {
    /// What came of each file, in the order of their paths.
    pub(super) found: Vec<R>,
    /// The folders that were listed, without the one that was walked, in no order.
    pub(super) folders: Vec<MemoryPath>,
    /// Folders that could not be listed, for a reason that may pass.
    pub(super) unlisted: Vec<MemoryPath>,
    /// Files that could not be looked at, for a reason that may pass.
    pub(super) unknown: Vec<MemoryPath>,
}

/// The folders that the last walks came by and that we may not list.
pub(super) type ClosedFolders = BTreeSet<MemoryPath>;

/// A file that could not be looked at, for a reason that may pass.
pub(super) struct Unknown(pub(super) MemoryPath);

/// What is still to be done, and what was found.
struct State<R> {
    /// Taken first, so that no folder is opened while files of others wait.
    chunks: VecDeque<Chunk>,
    folders: Vec<MemoryPath>,
    /// Threads that may still add work.
    busy: usize,
    /// What came of each chunk.
    found: Vec<Vec<R>>,
    listed: Vec<MemoryPath>,
    unlisted: Vec<MemoryPath>,
    closed: ClosedFolders,
    unknown: Vec<MemoryPath>,
}

struct Work<'w, R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    stop: &'w (dyn Fn() -> bool + Sync),
    is_stopped: AtomicBool,
}

enum Job {
    Chunk(Chunk),
    Folder(MemoryPath),
}

/// Passes each file below a folder, with the open folder that holds it, to a function that `worker` makes once for each thread,
/// and collects the results. Folders that we may not list are left out; [`Tree::closed_folders`] tells them.
pub(super) fn walk<R: Walked, W: FnMut(&Dir, WalkedFile) -> Result<Option<R>, Unknown>>(
    vault: &Vault,
    folder: Option<&MemoryPath>,
    stop: &(dyn Fn() -> bool + Sync),
    worker: &(impl Fn() -> W + Sync),
) -> Result<Walk<R>, TreeError> {
    let (chunks, folders) = open(vault, folder)?;
    // One chunk is done before a thread has started.
    let is_short = folders.is_empty() && chunks.len() < 2;
    let (listed, unlisted, closed, unknown) = (Vec::new(), Vec::new(), BTreeSet::new(), Vec::new());
    let state = State { chunks: chunks.into(), folders, busy: 0, found: Vec::new(), listed, unlisted, closed, unknown };
    let work = Work { state: Mutex::new(state), changed: Condvar::new(), stop, is_stopped: AtomicBool::new(false) };
    let run = || run(vault, &work, worker());
    let threads = if is_short { 1 } else { thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS) };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system gives no thread, this one does all the work.
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    if work.is_stopped.load(Ordering::Relaxed) {
        return Err(TreeError::Stopped);
    }
    let State { found: mut chunks, listed, unlisted, closed, unknown, .. } =
        work.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    vault.note_closed(folder, closed);
    // Runs in order are what sorting is fast at, and each chunk is one.
    chunks.sort_by(|one, other| one.first().map(R::path).cmp(&other.first().map(R::path)));
    let mut found = Vec::with_capacity(chunks.iter().map(Vec::len).sum());
    chunks.into_iter().for_each(|chunk| found.extend(chunk));
    found.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(Walk { found, folders: listed, unlisted, unknown })
}

/// Ends the walk for all threads when one of them panics: otherwise they would wait for its job for ever.
struct Ends<'w, R>(&'w Work<'w, R>);

impl<R> Drop for Ends<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.is_stopped.store(true, Ordering::Relaxed);
            // With the lock held, no thread is between its check and its wait.
            drop(self.0.state());
            self.0.changed.notify_all();
        }
    }
}

/// Does jobs until none is left.
fn run<R: Walked>(
    vault: &Vault,
    work: &Work<'_, R>,
    mut look: impl FnMut(&Dir, WalkedFile) -> Result<Option<R>, Unknown>,
) {
    let _ends = Ends(work);
    while let Some(job) = work.next() {
        match job {
            Job::Folder(path) => {
                let opened = open(vault, Some(&path));
                let unlisted = matches!(opened, Err(TreeError::Io(_))).then(|| path.clone());
                let closed = matches!(opened, Err(TreeError::NoAccess(_))).then(|| path.clone());
                let listed = opened.is_ok().then_some(path);
                let (chunks, folders) = opened.unwrap_or_default();
                work.done(|state| {
                    state.chunks.extend(chunks);
                    state.folders.extend(folders);
                    state.listed.extend(listed);
                    state.unlisted.extend(unlisted);
                    state.closed.extend(closed);
                });
            }
            Job::Chunk(chunk) => {
                let (mut found, mut unknown) = (Vec::with_capacity(chunk.files.len()), Vec::new());
                for file in chunk.files {
                    if work.is_stopped.load(Ordering::Relaxed) || (work.stop)() {
                        work.is_stopped.store(true, Ordering::Relaxed);
                        break;
                    }
                    match look(&chunk.folder, file) {
                        Ok(seen) => found.extend(seen),
                        Err(Unknown(path)) => unknown.push(path),
                    }
                }
                drop(chunk.folder);
                found.sort_unstable_by(|one, other| one.path().cmp(other.path()));
                work.done(|state| {
                    state.found.push(found);
                    state.unknown.extend(unknown);
                });
            }
        }
    }
}

impl<R> Work<'_, R> {
    /// Waits for a job; `None` when all are done or the walk was stopped.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return None;
            }
            let chunk = state.chunks.pop_front().map(Job::Chunk);
            if let Some(job) = chunk.or_else(|| state.folders.pop().map(Job::Folder)) {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends a job and adds its results.
    fn done(&self, add: impl FnOnce(&mut State<R>)) {
        let mut state = self.state();
        add(&mut state);
        state.busy -= 1;
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Vault {
    /// Notes the folders below one that we may not list.
    fn note_closed(&self, below: Option<&MemoryPath>, closed: ClosedFolders) {
        let mut known = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|folder| below.is_some_and(|below| !folder.is_within(below)));
        known.extend(closed);
    }

    /// The folders that we may not list, as far as scans and sweeps came by them: what is in them is unknown.
    pub(super) fn known_closed(&self) -> Vec<MemoryPath> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Lists a folder: its files in chunks, in the order of the system, in which they are found the fastest, and the folders
/// in it.
fn open(vault: &Vault, folder: Option<&MemoryPath>) -> Result<(Vec<Chunk>, Vec<MemoryPath>), TreeError> {
    let opened = vault.open_folder(folder)?;
    let (files, folders) = entries(vault, &opened, folder)?;
    let opened = Arc::new(opened);
    let mut chunks = Vec::with_capacity(files.len() / CHUNK + 1);
    let mut files = files.into_iter();
    while !files.as_slice().is_empty() {
        chunks.push(Chunk { folder: Arc::clone(&opened), files: files.by_ref().take(CHUNK).collect() });
    }
    Ok((chunks, folders))
}

/// The files and the folders that a listing of the folder would show, linked folders left out.
#[cfg(target_os = "linux")]
fn entries(
    vault: &Vault,
    opened: &Dir,
    folder: Option<&MemoryPath>,
) -> Result<(Vec<WalkedFile>, Vec<MemoryPath>), TreeError> {
    use rustix::fs::{FileType, RawDir};

    let io = |error: rustix::io::Errno| match folder {
        Some(path) => disk::unreadable(path, &error.into()),
        None => TreeError::Io(std::io::Error::from(error).kind().to_string()),
    };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    let opened_to_list = disk::reopen(opened).map_err(io)?;
    let mut buffer = Vec::with_capacity(LISTING_BUFFER);
    let mut listed = RawDir::new(opened_to_list, buffer.spare_capacity_mut());
    while let Some(entry) = listed.next() {
        let entry = entry.map_err(io)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if is_temporary(name) {
            vault.note_stray(folder, name);
        }
        let Ok(path) = MemoryPath::in_folder(folder, name) else { continue };
        match entry.file_type() {
            FileType::RegularFile => files.push(WalkedFile { path, is_link: false }),
            FileType::Directory => folders.push(path),
            // What it is, and what it leads to, the careful way.
            FileType::Symlink | FileType::Unknown => {
                let is_link = opened.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink());
                match vault.stat(&path).map(|stat| stat.map(|stat| stat.kind)) {
                    // What it is shows when it is looked at, or it cannot be found out.
                    Ok(Some(Kind::File)) | Err(TreeError::Io(_)) => files.push(WalkedFile { path, is_link }),
                    Ok(Some(Kind::Directory)) if !is_link => folders.push(path),
                    Ok(Some(Kind::Directory) | None) | Err(_) => {}
                }
            }
            _ => {}
        }
    }
    Ok((files, folders))
}

#[cfg(not(target_os = "linux"))]
fn entries(
    vault: &Vault,
    _opened: &Dir,
    folder: Option<&MemoryPath>,
) -> Result<(Vec<WalkedFile>, Vec<MemoryPath>), TreeError> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in vault.list(folder)?.entries {
        let Ok(path) = MemoryPath::in_folder(folder, &entry.name) else { continue };
        match entry.stat.kind {
            Kind::File => files.push(WalkedFile { path, is_link: entry.is_link }),
            Kind::Directory if !entry.is_link => folders.push(path),
            Kind::Directory => {}
        }
    }
    Ok((files, folders))
}
