//! Making a batch true: all of it or nothing, whatever happens in between.
//!
//! The order is the promise. New contents go to temporary files beside their targets; then, in one wave, those are
//! flushed while the journal is; that is the point of no return. Each file then takes its place in one instant, the
//! one it displaces is compared with what was planned on, and a second wave flushes the folders. A displaced file
//! that is not the planned one is an outside edit that came in between: the batch is given back and the caller
//! told. What a crash leaves half done, `recover` finishes or gives back from the journal alone.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use rusqlite::Transaction;

use super::aside::{digest_of, is_temporary, open_old, set_temporary, temporary};
use super::journal::{Flush, State};
use super::place::TempFolders;
use super::{
    Approval, AuditEntry, Author, RecordedBatch, RecordedStep, VaultError, Writer, disk, inbox, sources, undone,
};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_core::time::Timestamp;
use memdir_plan::{Image, Step};

/// How many threads flush: file systems merge flushes that happen at the same time.
const FLUSHERS: usize = 4;

/// How long a note that was read as empty has to stay so: many editors save by emptying a file and writing it again, and what
/// they write into a file that was displaced meanwhile would be lost with it.
const SETTLE: Duration = Duration::from_millis(50);

/// After how many batches old contents are looked for.
const PRUNE_EVERY: u64 = 16;

/// A change to commit.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The changes, in the normal form of [`Step`].
    pub steps: &'a [Step],
    /// What the audit keeps of the calls.
    pub entries: &'a [AuditEntry],
    /// Who asks.
    pub author: &'a Author,
    /// When.
    pub time: Timestamp,
    /// The batches that this one undoes, the newest first.
    pub undoes: &'a [u64],
    /// The proposal that it carries out, once the person has approved it.
    pub approval: Option<Approval<'a>>,
}

/// A batch that is in place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Committed {
    /// Its number.
    pub batch: u64,
    /// Whether it was flushed to the disk.
    pub is_durable: bool,
}

/// How far a commit has come, for tests that watch one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CommitPoint {
    /// The batch has a number. Not flushed.
    Opened,
    /// The temporary file of this step is written. Not flushed.
    Written(usize),
    /// All temporary files and the journal are flushed: the batch is certain.
    Certain,
    /// This step is carried out. Not flushed.
    Done(usize),
    /// The folders are flushed.
    Flushed,
    /// The journal says that the batch is in place. Not flushed.
    Applied,
}

impl Writer<'_> {
    /// Makes a batch true.
    ///
    /// When it returns, the bytes are flushed under their final names (but for `durability = "atomic"`). It costs
    /// two waves of flushes, however many files there are.
    ///
    /// # Errors
    ///
    /// Nothing has changed, and nothing will: [`VaultError::Conflict`], [`VaultError::DiskFull`],
    /// [`VaultError::NoWriteAccess`] and other errors of the system. Only with [`VaultError::Unsettled`] the batch may be
    /// there in part: another program put something in the way of taking a step back, or the system failed so badly that not
    /// even this could be written down; then the next writer finishes the batch or gives it back.
    pub fn commit(&mut self, batch: &Batch<'_>) -> Result<Committed, VaultError> {
        self.commit_watched(batch, &mut |_| ())
    }

    /// As [`Writer::commit`], telling `seen` each point that is reached. For tests of what a power cut leaves.
    ///
    /// # Errors
    ///
    /// As [`Writer::commit`].
    pub fn commit_watched(
        &mut self,
        batch: &Batch<'_>,
        seen: &mut dyn FnMut(CommitPoint),
    ) -> Result<Committed, VaultError> {
        self.sweep_of_others()?;
        self.sweep_strays();
        let steps = self.check(batch.steps)?;
        self.check_access(&steps)?;
        let places = TempFolders::before(&self.vault.dir, &steps)?;
        let number = self.core()?.journal.begin(batch, &places)?;
        let recorded = RecordedBatch { number, steps, places };
        seen(CommitPoint::Opened);
        if let Err(error) = self.write_temporary(&recorded, seen) {
            return Err(self.abandon(&recorded, Flush::No, error));
        }
        if let Err(error) = self.first_wave(batch, &recorded) {
            return Err(self.abandon(&recorded, Flush::Yes, error));
        }
        seen(CommitPoint::Certain);
        // Before anybody is told that it is there, its history has to be, too.
        let placed = self.put_in_place(&recorded, seen).and_then(|()| self.check_history());
        if let Err(error) = placed {
            self.vault.sizes.change();
            return Err(match self.give_back(&recorded) {
                Ok(()) => error,
                Err(failure) => unsettled(number, &error, &failure),
            });
        }
        seen(CommitPoint::Flushed);
        // The batch is in place and flushed; without the mark the next writer finds nothing left to do.
        if let Err(error) = self.core()?.journal.mark(number, State::Applied, Flush::No) {
            tracing::warn!(%error, batch = number, "the batch is in place and not marked so");
        }
        seen(CommitPoint::Applied);
        self.keep_for_sweep(recorded)?;
        self.tidy(number, batch.time);
        Ok(Committed { batch: number, is_durable: self.vault.is_durable() })
    }

    /// Carries out every step and flushes the folders.
    fn put_in_place(&self, batch: &RecordedBatch, seen: &mut dyn FnMut(CommitPoint)) -> Result<(), VaultError> {
        for (index, step) in batch.steps.iter().enumerate() {
            self.carry_out(batch, index, step)?;
            seen(CommitPoint::Done(index));
        }
        self.second_wave(&batch.steps)
    }

    /// Gives up a batch before anything of it is carried out, and passes on why.
    ///
    /// Flushed where the journal may hold the whole batch already, although a temporary file could not be flushed or
    /// the flush of the journal itself failed: a crash after the answer would otherwise finish it.
    fn abandon(&mut self, batch: &RecordedBatch, flush: Flush, error: VaultError) -> VaultError {
        let number = batch.number;
        // First, since on a full disk this makes the room that the mark takes.
        let is_swept = self.remove_temporary(number, &batch.places);
        let Ok(core) = self.core() else { return error };
        let Err(failure) = core.journal.abandon(number, growth(&batch.steps), flush) else {
            if !is_swept {
                core.journal.note_unswept(number);
            }
            return error;
        };
        // An open batch is nothing, marked or not.
        let is_open = matches!(core.journal.newest(), Ok(Some((newest, State::Open))) if newest == number);
        if is_open { error } else { unsettled(number, &error, &failure) }
    }

    /// Keeps the database small, now and then. The batch is in place, so a failure here is only logged.
    fn tidy(&mut self, number: u64, now: Timestamp) {
        let pruned = if number.is_multiple_of(PRUNE_EVERY) { self.prune(now) } else { Ok(()) };
        let tidied = pruned.and_then(|()| self.core()?.checkpoint());
        if let Err(error) = tidied {
            tracing::warn!(%error, "the history was not tidied");
        }
    }

    /// Makes sure that files which were planned on as empty ones are, and not about to be written again.
    fn settle(&self, steps: &[Step], moves: &[(&str, &str)]) -> Result<(), VaultError> {
        let times = || -> Vec<(&MemoryPath, Option<SystemTime>)> {
            let paths = steps.iter().filter_map(planned_empty);
            paths.map(|path| (path, modified(&self.vault.dir, TempFolders::origin(moves, path).as_ref()))).collect()
        };
        let before = times();
        if before.is_empty() {
            return Ok(());
        }
        std::thread::sleep(SETTLE);
        match before.iter().zip(times()).find(|(before, after)| **before != *after) {
            Some(((path, _), _)) => Err(VaultError::Conflict((*path).clone())),
            None => Ok(()),
        }
    }

    /// Compares what the plan expects with what is there, and notes what only the disk knows: modes, identities.
    fn check(&self, steps: &[Step]) -> Result<Vec<RecordedStep>, VaultError> {
        let root = &self.vault.dir;
        let moves = TempFolders::moves(steps);
        self.settle(steps, &moves)?;
        let mut recorded = Vec::with_capacity(steps.len());
        let mut moved = 0;
        for step in steps {
            let conflict = |path: &MemoryPath| VaultError::Conflict(path.clone());
            let mut step = RecordedStep { step: step.clone(), identity: None };
            match &mut step.step {
                Step::Put { path, before: Some(before), after } => {
                    let origin = TempFolders::origin(&moves, path).unwrap_or_else(|| path.clone());
                    let found = digest_and_mode(root, &origin)?.ok_or_else(|| conflict(path))?;
                    if found.0 != before.content.digest() {
                        return Err(conflict(path));
                    }
                    before.mode = found.1;
                    // The mode stays what it is, unless the plan wants another than the one it saw.
                    if let Some(after) = after
                        && after.mode.is_none()
                    {
                        after.mode = found.1;
                    }
                }
                Step::Put { path, before: None, .. } | Step::MakeFolder { path, .. } => {
                    let is_free = TempFolders::origin(&moves, path).is_none_or(|origin| !is_there(root, &origin));
                    if !is_free {
                        return Err(conflict(path));
                    }
                }
                Step::Move { from, .. } => {
                    let origin = moves.get(..moved).and_then(|earlier| TempFolders::origin(earlier, from));
                    let origin = origin.unwrap_or_else(|| from.clone());
                    moved += 1;
                    step.identity = Some(identity(root, &origin)?.ok_or_else(|| conflict(&origin))?);
                }
                Step::RemoveFolder { .. } => {}
            }
            recorded.push(step);
        }
        Ok(recorded)
    }

    /// Checks that the history can be written, and names be changed in each folder that is there. A batch that only takes away or renames
    /// makes no temporary file: it would meet the missing right when it is certain, and could then not even be given back.
    fn check_access(&mut self, steps: &[RecordedStep]) -> Result<(), VaultError> {
        self.core()?.folder.check_writable()?;
        let folders: BTreeSet<_> = steps.iter().flat_map(RecordedStep::paths).map(MemoryPath::parent).collect();
        for folder in folders {
            if let Ok(opened) = disk::open_folder(&self.vault.dir, folder.as_ref()) {
                disk::check_writable(&opened, ".")
                    .map_err(|error| VaultError::io("write to", folder.as_ref(), error))?;
            }
        }
        Ok(())
    }

    fn write_temporary(&self, batch: &RecordedBatch, seen: &mut dyn FnMut(CommitPoint)) -> Result<(), VaultError> {
        let moves = TempFolders::moves(batch.steps.iter().map(|step| &step.step));
        for (index, step) in batch.steps.iter().enumerate() {
            let Step::Put { path, before, after } = &step.step else { continue };
            let folder = disk::open_folder(&self.vault.dir, batch.places.early(index))
                .map_err(|error| VaultError::io("open the folder of", Some(path), error))?;
            let old = before.as_ref().and_then(|_| open_old(&self.vault.dir, &TempFolders::origin(&moves, path)?));
            set_temporary(&folder, &temporary(batch.number, index), after.as_ref(), old.as_ref())
                .map_err(|error| VaultError::io("write", Some(path), error))?;
            if after.is_some() {
                seen(CommitPoint::Written(index));
            }
        }
        Ok(())
    }

    /// Flushes the temporary files and, at the same time, the journal.
    ///
    /// What the last batch displaced is removed meanwhile: each removal can take as long as a flush.
    fn first_wave(&mut self, batch: &Batch<'_>, recorded: &RecordedBatch) -> Result<(), VaultError> {
        let vault = self.vault;
        let RecordedBatch { number, steps, places } = recorded;
        let puts: Vec<(usize, &MemoryPath)> = steps
            .iter()
            .enumerate()
            .filter_map(|(index, step)| match &step.step {
                Step::Put { path, after: Some(_), .. } => Some((index, path)),
                Step::Put { .. } | Step::MakeFolder { .. } | Step::Move { .. } | Step::RemoveFolder { .. } => None,
            })
            .collect();
        let flush = |&(index, path): &(usize, &MemoryPath)| {
            disk::open_folder(&vault.dir, places.early(index))
                .and_then(|folder| disk::open_name(&folder, &temporary(*number, index)))
                .and_then(|file| file.sync_data())
                .map_err(|error| VaultError::io("flush", Some(path), error))
        };
        let core = self.core()?;
        let leftovers = core.leftovers.take();
        core.swept = core.swept.max(leftovers.as_ref().map_or(0, |leftovers| leftovers.number));
        let is_swept = AtomicBool::new(true);
        let sweep = || {
            if let Some(leftovers) = &leftovers {
                is_swept.store(leftovers.sweep(&vault.dir), Ordering::Relaxed);
            }
        };
        let beside = |transaction: &Transaction<'_>| {
            sources::note(transaction, *number, batch.author)?;
            undone::note(transaction, *number, batch.undoes)?;
            batch
                .approval
                .as_ref()
                .map_or(Ok(()), |approval| inbox::note_approved(transaction, approval, *number, batch.time))
        };
        let mut journal = || core.journal.commit(*number, steps, batch, growth(steps), beside);
        let result = if vault.is_durable() {
            std::thread::scope(|scope| {
                flush_beside(&puts, &flush, || {
                    // After the flushes have begun, for which the answer waits.
                    let sweeping = leftovers.is_some().then(|| std::thread::Builder::new().spawn_scoped(scope, sweep));
                    let written = journal();
                    if let Some(Err(_)) = sweeping {
                        sweep();
                    }
                    written
                })
            })
        } else {
            sweep();
            journal()
        };
        if let Some(leftovers) = leftovers.filter(|_| !is_swept.into_inner()) {
            core.journal.note_unswept(leftovers.number);
        }
        result
    }

    /// Flushes every folder in which a name has changed.
    pub(super) fn second_wave(&self, steps: &[RecordedStep]) -> Result<(), VaultError> {
        if !self.vault.is_durable() {
            return Ok(());
        }
        let mut folders: Vec<Option<MemoryPath>> = Vec::new();
        let removed = |path: &MemoryPath| {
            steps.iter().any(|step| matches!(&step.step, Step::RemoveFolder { path: gone, .. } if path.is_within(gone)))
        };
        for step in steps {
            match &step.step {
                Step::Put { path, .. } | Step::MakeFolder { path, .. } | Step::RemoveFolder { path, .. } => {
                    folders.push(path.parent());
                }
                Step::Move { from, to, .. } => folders.extend([from.parent(), to.parent()]),
            }
        }
        folders.sort();
        folders.dedup();
        folders.retain(|folder| !folder.as_ref().is_some_and(&removed));
        let flush = |folder: &Option<MemoryPath>| match disk::open_folder(&self.vault.dir, folder.as_ref()) {
            Ok(opened) => {
                disk::sync_folder(&opened).map_err(|error| VaultError::io("flush the folder", folder.as_ref(), error))
            }
            // Where a folder was moved from inside another moved one, only its new place is left.
            Err(error) if disk::is_gone(&error) => Ok(()),
            Err(error) => Err(VaultError::io("flush the folder", folder.as_ref(), error)),
        };
        match folders.as_slice() {
            [one] => flush(one),
            [first, rest @ ..] => flush_beside(rest, &flush, || flush(first)),
            [] => Ok(()),
        }
    }

    /// Carries out one step of a certain batch, and compares what it displaces with what was planned on.
    pub(super) fn carry_out(&self, batch: &RecordedBatch, index: usize, step: &RecordedStep) -> Result<(), VaultError> {
        let root = &self.vault.dir;
        match &step.step {
            Step::MakeFolder { path, mode } => {
                let folder = parent(root, path)?;
                match folder.create_dir(path.name()) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        Err(VaultError::io("make the folder", Some(path), error))
                    }
                    _ => restrict_folder(root, path, *mode),
                }
            }
            Step::Move { from, to, .. } => {
                let (folder, new_folder) = (parent(root, from)?, parent(root, to)?);
                disk::rename_new(&folder, from.name(), &new_folder, to.name()).map_err(|error| match error {
                    error if error.kind() == io::ErrorKind::NotFound => VaultError::Conflict(from.clone()),
                    error if disk::is_taken(&error) => VaultError::Conflict(to.clone()),
                    error => VaultError::io("rename", Some(from), error),
                })
            }
            Step::Put { path, before, after } => {
                let folder = parent(root, path)?;
                let aside = open_or_conflict(root, batch.places.late(index), path)?;
                put(&folder, path, &aside, &temporary(batch.number, index), before.as_ref(), after.is_some())
            }
            Step::RemoveFolder { path, .. } => remove_folder(&parent(root, path)?, path.name())
                .map_err(|error| VaultError::io("remove the folder", Some(path), error)),
        }
    }

    /// Removes the temporary files of a batch of which nothing was carried out; whether all are gone.
    pub(super) fn remove_temporary(&self, batch: u64, places: &TempFolders) -> bool {
        let is_gone = |(index, folder)| {
            let removed = disk::open_folder(&self.vault.dir, folder)
                .and_then(|folder: Dir| folder.remove_file(temporary(batch, index)));
            removed.is_ok() || removed.is_err_and(|error| disk::is_gone(&error))
        };
        // Each is tried, whatever became of the others.
        places.all().filter(|place| !is_gone(*place)).count() == 0
    }
}

/// The path of a step that replaces or deletes a file which was planned on as an empty one.
fn planned_empty(step: &Step) -> Option<&MemoryPath> {
    match step {
        Step::Put { path, before: Some(before), .. } if before.content.bytes().is_empty() => Some(path),
        Step::Put { .. } | Step::MakeFolder { .. } | Step::Move { .. } | Step::RemoveFolder { .. } => None,
    }
}

/// When the file at `path` was last changed; `None` where that cannot be told.
fn modified(root: &Dir, path: Option<&MemoryPath>) -> Option<SystemTime> {
    let folder = disk::open_folder(root, path?.parent().as_ref()).ok()?;
    Some(folder.symlink_metadata(path?.name()).ok()?.modified().ok()?.into_std())
}

/// Opens the folder that holds `path`.
pub(super) fn parent(root: &Dir, path: &MemoryPath) -> Result<Dir, VaultError> {
    open_or_conflict(root, path.parent().as_ref(), path)
}

/// Opens a folder that `path` needs; that it is gone is an outside edit.
pub(super) fn open_or_conflict(root: &Dir, folder: Option<&MemoryPath>, path: &MemoryPath) -> Result<Dir, VaultError> {
    disk::open_folder(root, folder).map_err(|error| match error {
        error if disk::is_gone(&error) => VaultError::Conflict(path.clone()),
        error => VaultError::io("open the folder of", Some(path), error),
    })
}

/// The error for a batch that could be neither finished nor given back.
fn unsettled(batch: u64, error: &VaultError, failure: &VaultError) -> VaultError {
    tracing::error!(%error, %failure, batch, "a batch could be neither finished nor given back");
    VaultError::Unsettled(batch)
}

/// Removes a folder, unless another program has put something into it.
fn remove_folder(folder: &Dir, name: &str) -> io::Result<()> {
    let remove = || match folder.remove_dir(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        other => other.map(|()| true),
    };
    if !remove()? {
        // Temporary files of an earlier batch do not count.
        let inner = folder.open_dir_nofollow(name)?;
        for entry in inner.entries()?.flatten() {
            if let Some(name) = entry.file_name().to_str().filter(|name| is_temporary(name)) {
                inner.remove_file(name)?;
            }
        }
        remove()?;
    }
    Ok(())
}

/// Lets the file `temporary` and the one at `path` change places, so that what was there is kept aside.
fn put(
    folder: &Dir,
    path: &MemoryPath,
    aside: &Dir,
    temporary: &str,
    before: Option<&Image>,
    has_after: bool,
) -> Result<(), VaultError> {
    let name = path.name();
    let io = |error: io::Error| match error {
        error if disk::is_gone(&error) || disk::is_taken(&error) => VaultError::Conflict(path.clone()),
        error => VaultError::io("put in place", Some(path), error),
    };
    let Some(before) = before else {
        return disk::rename_new(aside, temporary, folder, name).map_err(io);
    };
    // As late as possible, so that an edit since the plan was checked is met before the file changes places.
    let is_planned = |found: io::Result<Option<Digest>>| match found {
        Ok(Some(digest)) if digest == before.content.digest() => Ok(()),
        Ok(_) => Err(VaultError::Conflict(path.clone())),
        Err(error) => Err(VaultError::io("read", Some(path), error)),
    };
    is_planned(digest_of(folder, name))?;
    if has_after {
        match disk::replace(aside, temporary, folder, name).map_err(io)? {
            disk::Replaced::Exchanged => {}
            disk::Replaced::Over => return Ok(()),
        }
    } else {
        disk::rename_new(folder, name, aside, temporary).map_err(io)?;
    }
    is_planned(digest_of(aside, temporary))
}

/// Runs `work` while a few threads run `flush` over `items`; the first error wins, that of `work` before all.
fn flush_beside<T: Sync>(
    items: &[T],
    flush: &(impl Fn(&T) -> Result<(), VaultError> + Sync),
    work: impl FnOnce() -> Result<(), VaultError>,
) -> Result<(), VaultError> {
    let share = items.len().div_ceil(FLUSHERS).max(1);
    std::thread::scope(|scope| {
        let spawn = |items| {
            let flush_all = move || <[T]>::iter(items).try_for_each(flush);
            // Where the system gives no more threads, one after the other will do.
            std::thread::Builder::new().spawn_scoped(scope, flush_all).map_err(|_| items)
        };
        let threads: Vec<_> = items.chunks(share).map(spawn).collect();
        let mut result = work();
        for thread in threads {
            let flushed = match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| {
                    Err(VaultError::io("flush the notes", None, io::Error::other("a flushing thread ended early")))
                }),
                Err(items) => items.iter().try_for_each(flush),
            };
            result = result.and(flushed);
        }
        result
    })
}

/// The digest and the mode of the regular file at `path`; `None` when there is none.
fn digest_and_mode(root: &Dir, path: &MemoryPath) -> Result<Option<(Digest, Option<u32>)>, VaultError> {
    let io = |error| VaultError::io("read", Some(path), error);
    let folder = match disk::open_folder(root, path.parent().as_ref()) {
        Err(error) if disk::is_gone(&error) => return Ok(None),
        folder => folder.map_err(io)?,
    };
    let Some(digest) = digest_of(&folder, path.name()).map_err(io)? else { return Ok(None) };
    let metadata = folder.symlink_metadata(path.name()).map_err(io)?;
    Ok(Some((digest, disk::mode(&metadata))))
}

fn is_there(root: &Dir, path: &MemoryPath) -> bool {
    disk::open_folder(root, path.parent().as_ref()).is_ok_and(|folder| folder.symlink_metadata(path.name()).is_ok())
}

/// What tells the file or folder at `path` from every other; `None` when nothing is there.
///
/// The device is told by whether it is that of the memory itself, for its number can be another after a restart.
/// An error is never taken for nothing: recovery would believe that somebody took the thing away.
pub(super) fn identity(root: &Dir, path: &MemoryPath) -> Result<Option<(u64, u64)>, VaultError> {
    let folder = match disk::open_folder(root, path.parent().as_ref()) {
        Err(error) if disk::is_gone(&error) => return Ok(None),
        folder => folder.map_err(|error| VaultError::io("look at", Some(path), error))?,
    };
    match folder.symlink_metadata(path.name()) {
        Ok(metadata) => {
            let (device, inode) = disk::identity(&metadata);
            let own = root.dir_metadata().map_err(|error| VaultError::io("look at the memory", None, error))?;
            Ok(Some((if device == disk::identity(&own).0 { 0 } else { device }, inode)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(VaultError::io("look at", Some(path), error)),
    }
}

/// Gives a folder that is made again the mode it had.
pub(super) fn restrict_folder(root: &Dir, path: &MemoryPath, mode: Option<u32>) -> Result<(), VaultError> {
    let Some(mode) = mode else { return Ok(()) };
    disk::open_folder(root, Some(path))
        .and_then(|folder| disk::set_folder_mode(&folder, mode))
        .map_err(|error| VaultError::io("set the mode of", Some(path), error))
}

/// By how many bytes the notes grow; `None` where that takes a look at files that are only renamed.
pub(super) fn growth(steps: &[RecordedStep]) -> Option<i64> {
    let bytes = |image: &Option<Image>| {
        image.as_ref().map_or(0, |image| i64::try_from(image.content.bytes().len()).unwrap_or(i64::MAX))
    };
    let grown = |step: &RecordedStep| match &step.step {
        Step::Put { path, before, after } if path.is_note() => Some(bytes(after).saturating_sub(bytes(before))),
        Step::Move { from, to, kind: Kind::File } if from.is_note() != to.is_note() => None,
        Step::Put { .. } | Step::MakeFolder { .. } | Step::Move { .. } | Step::RemoveFolder { .. } => Some(0),
    };
    steps.iter().map(grown).try_fold(0_i64, |sum, grown| Some(sum.saturating_add(grown?)))
}
