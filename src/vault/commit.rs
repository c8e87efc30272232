//! Making a batch true: all of it or nothing, whatever happens in between.
//!
//! The order is the promise. New contents go to temporary files beside their targets; then, in one wave, those are
//! flushed while the journal is; that is the point of no return. Each file then takes its place in one instant, the
//! one it displaces is compared with what was planned on, and a second wave flushes the folders. A displaced file
//! that is not the planned one is an outside edit that came in between: the batch is given back and the caller
//! told. What a crash leaves half done, `recover` finishes or gives back from the journal alone.

use std::io::{self, Write};

use cap_std::fs::Dir;

use super::journal::{Flush, State};
use super::place::Places;
use super::{AuditEntry, Author, RecordedStep, VaultError, Writer, disk};
use crate::digest::Digest;
use crate::path::MemoryPath;
use crate::plan::{Content, Image, Step};
use crate::time::Timestamp;

/// How many threads flush: file systems merge flushes that come at the same time.
const FLUSHERS: usize = 4;

/// After how many batches the history looks for what it need not keep.
const PRUNE_EVERY: u64 = 16;

/// What is to be made true.
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
    /// The batch that this one undoes.
    pub undoes: Option<u64>,
}

/// A batch that is in place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Committed {
    /// Its number.
    pub batch: u64,
    /// Whether it was flushed to the disk.
    pub is_durable: bool,
}

/// How far a commit has come, for those who watch one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Point {
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
    /// With [`VaultError::Conflict`], [`VaultError::DiskFull`], [`VaultError::NoWriteAccess`] and errors of the
    /// system nothing has changed. If the system fails so badly that not even that can be written down, the batch
    /// is finished or given back by the next process that writes.
    pub fn commit(&mut self, batch: &Batch<'_>) -> Result<Committed, VaultError> {
        self.commit_watched(batch, &mut |_| ())
    }

    /// As [`Writer::commit`], telling `seen` each point that is reached. For tests of what a power cut leaves.
    ///
    /// # Errors
    ///
    /// As [`Writer::commit`].
    pub fn commit_watched(&mut self, batch: &Batch<'_>, seen: &mut dyn FnMut(Point)) -> Result<Committed, VaultError> {
        self.sweep_newest()?;
        let steps = self.check(batch.steps)?;
        let places = Places::before(&self.vault.dir, &steps)?;
        let number = self.core()?.journal.begin(batch, places.folders())?;
        seen(Point::Opened);
        let written = self
            .write_temporary(number, &steps, &places, seen)
            .and_then(|()| self.first_wave(number, batch, &steps, &places));
        if let Err(error) = written {
            self.remove_temporary(number, &steps, &places);
            // Unflushed where the journal failed too: an open batch is nothing.
            self.core()?.journal.mark(number, State::Aborted, Flush::Yes)?;
            return Err(error);
        }
        seen(Point::Certain);
        for (index, step) in steps.iter().enumerate() {
            if let Err(error) = self.carry_out(number, index, step, &places) {
                self.give_back(number, &steps, &places)?;
                return Err(error);
            }
            seen(Point::Done(index));
        }
        self.second_wave(&steps)?;
        seen(Point::Flushed);
        self.core()?.journal.mark(number, State::Applied, Flush::No)?;
        seen(Point::Applied);
        self.keep_for_sweep(number, steps, places)?;
        self.tidy(number, batch.time);
        Ok(Committed { batch: number, is_durable: self.vault.is_durable() })
    }

    /// Keeps the database small, now and then. The batch is in place: whatever goes wrong here is for next time.
    fn tidy(&mut self, number: u64, now: Timestamp) {
        let pruned = if number.is_multiple_of(PRUNE_EVERY) { self.prune(now) } else { Ok(()) };
        let tidied = pruned.and_then(|()| self.core()?.checkpoint());
        if let Err(error) = tidied {
            tracing::warn!(%error, "the history was not tidied");
        }
    }

    /// Compares what the plan expects with what is there, and notes what only the disk knows: modes, identities.
    fn check(&self, steps: &[Step]) -> Result<Vec<RecordedStep>, VaultError> {
        let root = &self.vault.dir;
        let moves = Places::moves(steps);
        let mut recorded = Vec::with_capacity(steps.len());
        let mut moved = 0;
        for step in steps {
            let conflict = |path: &MemoryPath| VaultError::Conflict(path.clone());
            let mut step = RecordedStep { step: step.clone(), identity: None };
            match &mut step.step {
                Step::Put { path, before: Some(before), after } => {
                    let origin = Places::origin(&moves, path).unwrap_or_else(|| path.clone());
                    let found = found(root, &origin)?.ok_or_else(|| conflict(path))?;
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
                    let is_free = Places::origin(&moves, path).is_none_or(|origin| !is_there(root, &origin));
                    if !is_free {
                        return Err(conflict(path));
                    }
                }
                Step::Move { from, .. } => {
                    let origin = moves.get(..moved).and_then(|earlier| Places::origin(earlier, from));
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

    fn write_temporary(
        &self,
        batch: u64,
        steps: &[RecordedStep],
        places: &Places,
        seen: &mut dyn FnMut(Point),
    ) -> Result<(), VaultError> {
        for (index, step) in steps.iter().enumerate() {
            if let Step::Put { path, after: Some(after), .. } = &step.step {
                let folder = disk::open_folder(&self.vault.dir, places.early(index))
                    .map_err(|error| VaultError::io("open the folder of", Some(path), error))?;
                write_new(&folder, &temporary(batch, index), after)
                    .map_err(|error| VaultError::io("write", Some(path), error))?;
                seen(Point::Written(index));
            }
        }
        Ok(())
    }

    /// Flushes the temporary files and, at the same time, the journal.
    fn first_wave(
        &mut self,
        number: u64,
        batch: &Batch<'_>,
        steps: &[RecordedStep],
        places: &Places,
    ) -> Result<(), VaultError> {
        let vault = self.vault;
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
                .and_then(|folder| disk::open_name(&folder, &temporary(number, index)))
                .and_then(|file| file.sync_data())
                .map_err(|error| VaultError::io("flush", Some(path), error))
        };
        let core = self.core()?;
        let mut journal = || core.journal.commit(number, steps, batch, growth(steps));
        if vault.is_durable() { beside(&puts, &flush, journal) } else { journal() }
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
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(VaultError::io("flush the folder", folder.as_ref(), error)),
        };
        match folders.as_slice() {
            [one] => flush(one),
            [first, rest @ ..] => beside(rest, &flush, || flush(first)),
            [] => Ok(()),
        }
    }

    /// Carries out one step of a certain batch, and compares what it displaces with what was planned on.
    pub(super) fn carry_out(
        &self,
        batch: u64,
        index: usize,
        step: &RecordedStep,
        places: &Places,
    ) -> Result<(), VaultError> {
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
                disk::rename_new(&folder, from.name(), &new_folder, to.name()).map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => VaultError::Conflict(from.clone()),
                    io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => VaultError::Conflict(to.clone()),
                    _ => VaultError::io("rename", Some(from), error),
                })
            }
            Step::Put { path, before, after } => {
                let folder = parent(root, path)?;
                let aside = disk::open_folder(root, places.late(index))
                    .map_err(|error| VaultError::io("open the folder of", Some(path), error))?;
                put(&folder, path, &aside, &temporary(batch, index), before.as_ref(), after.is_some())
            }
            Step::RemoveFolder { path, .. } => match parent(root, path)?.remove_dir(path.name()) {
                // Something new in it is somebody's; the folder stays for it.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other.map_err(|error| VaultError::io("remove the folder", Some(path), error)),
            },
        }
    }

    /// Removes the temporary files of a batch that never became certain.
    fn remove_temporary(&self, batch: u64, steps: &[RecordedStep], places: &Places) {
        for index in 0..steps.len() {
            if let Ok(folder) = disk::open_folder(&self.vault.dir, places.early(index)) {
                // Best effort: the next sweep knows the names too.
                let _ = folder.remove_file(temporary(batch, index));
            }
        }
    }
}

/// The name of the temporary file of a step.
pub(super) fn temporary(batch: u64, index: usize) -> String {
    format!(".memdir-{batch}-{index}.tmp")
}

/// Whether a name is that of a temporary file of ours.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(".memdir-") && name.ends_with(".tmp")
}

/// Opens the folder that holds `path`.
pub(super) fn parent(root: &Dir, path: &MemoryPath) -> Result<Dir, VaultError> {
    disk::open_folder(root, path.parent().as_ref()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => VaultError::Conflict(path.clone()),
        _ => VaultError::io("open the folder of", Some(path), error),
    })
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
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => VaultError::Conflict(path.clone()),
        _ => VaultError::io("put in place", Some(path), error),
    };
    let Some(before) = before else {
        return disk::rename_new(aside, temporary, folder, name).map_err(io);
    };
    if has_after {
        match disk::replace(aside, temporary, folder, name).map_err(io)? {
            disk::Replaced::Exchanged => {}
            disk::Replaced::Over => return Ok(()),
        }
    } else {
        disk::rename_new(folder, name, aside, temporary).map_err(io)?;
    }
    match digest_of(aside, temporary) {
        Ok(Some(digest)) if digest == before.content.digest() => Ok(()),
        Ok(_) => Err(VaultError::Conflict(path.clone())),
        Err(error) => Err(VaultError::io("read", Some(path), error)),
    }
}

/// Runs `work` while a few threads run `flush` over `items`; the first error wins, that of `work` before all.
fn beside<T: Sync>(
    items: &[T],
    flush: &(impl Fn(&T) -> Result<(), VaultError> + Sync),
    work: impl FnOnce() -> Result<(), VaultError>,
) -> Result<(), VaultError> {
    let share = items.len().div_ceil(FLUSHERS).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            items.chunks(share).map(|items| scope.spawn(move || items.iter().try_for_each(flush))).collect();
        let mut result = work();
        for thread in threads {
            let flushed = thread.join().unwrap_or_else(|_| {
                Err(VaultError::io("flush", None, io::Error::other("a flushing thread ended early")))
            });
            result = result.and(flushed);
        }
        result
    })
}

/// Writes a new file with the image's content and mode; a stale one of the same name gives way.
pub(super) fn write_new(folder: &Dir, name: &str, image: &Image) -> io::Result<()> {
    let mode = image.mode.map_or(0o666, |mode| mode & 0o700);
    let mut file = match disk::create_name(folder, name, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            folder.remove_file(name)?;
            disk::create_name(folder, name, mode)?
        }
        other => other?,
    };
    file.write_all(image.content.bytes())?;
    match image.mode {
        Some(mode) => disk::set_mode(&file, mode),
        None => Ok(()),
    }
}

/// Digests a regular file in an open folder; `None` when nothing or something else is there.
pub(super) fn digest_of(folder: &Dir, name: &str) -> io::Result<Option<Digest>> {
    let file = match disk::open_name(folder, name) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound || disk::is_link_error(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut &file, &mut bytes)?;
    Ok(Some(Content::new(bytes).digest()))
}

/// The digest and the mode of the regular file at `path`; `None` when there is none.
fn found(root: &Dir, path: &MemoryPath) -> Result<Option<(Digest, Option<u32>)>, VaultError> {
    let io = |error| VaultError::io("read", Some(path), error);
    let Ok(folder) = disk::open_folder(root, path.parent().as_ref()) else { return Ok(None) };
    let Some(digest) = digest_of(&folder, path.name()).map_err(io)? else { return Ok(None) };
    let metadata = folder.symlink_metadata(path.name()).map_err(io)?;
    Ok(Some((digest, disk::mode(&metadata))))
}

fn is_there(root: &Dir, path: &MemoryPath) -> bool {
    disk::open_folder(root, path.parent().as_ref()).is_ok_and(|folder| folder.symlink_metadata(path.name()).is_ok())
}

/// What tells the file or folder at `path` from every other; `None` when nothing is there.
pub(super) fn identity(root: &Dir, path: &MemoryPath) -> Result<Option<(u64, u64)>, VaultError> {
    let Ok(folder) = disk::open_folder(root, path.parent().as_ref()) else { return Ok(None) };
    match folder.symlink_metadata(path.name()) {
        Ok(metadata) => Ok(Some(disk::identity(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(VaultError::io("look at", Some(path), error)),
    }
}

/// Gives a folder that is made again the mode it had.
fn restrict_folder(root: &Dir, path: &MemoryPath, mode: Option<u32>) -> Result<(), VaultError> {
    let Some(mode) = mode else { return Ok(()) };
    disk::open_folder(root, Some(path))
        .and_then(|folder| disk::set_folder_mode(&folder, mode))
        .map_err(|error| VaultError::io("set the mode of", Some(path), error))
}

/// By how many bytes the notes grow.
fn growth(steps: &[RecordedStep]) -> i64 {
    let bytes = |image: &Option<Image>| {
        image.as_ref().map_or(0, |image| i64::try_from(image.content.bytes().len()).unwrap_or(i64::MAX))
    };
    let grown = steps.iter().map(|step| match &step.step {
        Step::Put { path, before, after } if path.is_note() => bytes(after).saturating_sub(bytes(before)),
        Step::Put { .. } | Step::MakeFolder { .. } | Step::Move { .. } | Step::RemoveFolder { .. } => 0,
    });
    grown.fold(0, i64::saturating_add)
}
