//! After a crash: finishing what is certain, giving back what cannot be finished, sweeping what was left.
//!
//! Only the newest batch can be unfinished, since each writer finishes it before its own. What to do follows from
//! the journal and from what the disk holds now, never from when anything happened: a step is done if its file has
//! the content after, not done if it has the one before, and an outside edit otherwise, which is kept.

use std::io;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use super::commit::{digest_of, identity, is_temporary, parent, temporary, write_new};
use super::journal::{Flush, State};
use super::place::Places;
use super::{Leftovers, RecordedStep, VaultError, Writer, disk};
use crate::path::MemoryPath;
use crate::plan::{Image, Step};

/// What a step of an interrupted batch has come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Found {
    /// As it was before.
    Before,
    /// As it shall be.
    After,
    /// Somebody else has changed it since; it is theirs.
    Theirs,
    /// It is in place, and what it displaced was an outside edit nobody has seen yet.
    Displaced,
}

impl Writer<'_> {
    /// Brings the newest batch to an end, if a crash has left it without one.
    pub(super) fn recover(&mut self) -> Result<(), VaultError> {
        let core = self.core()?;
        let Some((batch, state)) = core.journal.newest()? else { return Ok(()) };
        match state {
            State::Applied | State::Aborted => Ok(()),
            State::Open => {
                let folders = core.journal.folders(batch)?;
                self.remove_stray(batch, &folders);
                self.core()?.journal.mark(batch, State::Aborted, Flush::No)
            }
            State::Committed => {
                let steps = core.journal.steps(batch)?;
                let places = self.places_now(batch, &steps)?;
                match self.finish(batch, &steps, &places) {
                    Err(VaultError::Conflict(_)) => self.give_back(batch, &steps, &places),
                    other => other,
                }
            }
            State::Aborting => {
                let steps = core.journal.steps(batch)?;
                let places = self.places_now(batch, &steps)?;
                self.give_back(batch, &steps, &places)
            }
        }
    }

    /// Carries out what is left of a certain batch.
    fn finish(&mut self, batch: u64, steps: &[RecordedStep], places: &Places) -> Result<(), VaultError> {
        for (index, step) in steps.iter().enumerate() {
            match self.look(batch, index, steps, places)? {
                Found::After | Found::Theirs => {}
                Found::Displaced => return Err(VaultError::Conflict(step.path().clone())),
                Found::Before => {
                    self.renew_temporary(batch, index, step, places)?;
                    self.carry_out(batch, index, step, places)?;
                }
            }
        }
        self.second_wave(steps)?;
        self.core()?.journal.mark(batch, State::Applied, Flush::No)?;
        self.keep_for_sweep(batch, steps.to_vec(), places.clone())
    }

    /// Takes back every step of a batch that met an outside edit, and keeps that edit.
    ///
    /// The mark comes first and is flushed: from here on a crash leads here again.
    pub(super) fn give_back(&mut self, batch: u64, steps: &[RecordedStep], places: &Places) -> Result<(), VaultError> {
        self.core()?.journal.mark(batch, State::Aborting, Flush::Yes)?;
        for (index, step) in steps.iter().enumerate().rev() {
            self.take_back(batch, index, step, steps, places)?;
        }
        self.second_wave(steps)?;
        self.core()?.journal.mark(batch, State::Aborted, Flush::No)?;
        self.keep_for_sweep(batch, steps.to_vec(), places.clone())?;
        self.sweep_newest()
    }

    fn take_back(
        &self,
        batch: u64,
        index: usize,
        step: &RecordedStep,
        steps: &[RecordedStep],
        places: &Places,
    ) -> Result<(), VaultError> {
        let root = &self.vault.dir;
        let io = |error| VaultError::io("give back", Some(step.path()), error);
        match &step.step {
            Step::RemoveFolder { path, .. } => match parent(root, path)?.create_dir(path.name()) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(io(error)),
                _ => Ok(()),
            },
            Step::MakeFolder { path, .. } => match parent(root, path).map(|folder| folder.remove_dir(path.name())) {
                // Not there, or something new is in it.
                Ok(_) | Err(VaultError::Conflict(_)) => Ok(()),
                Err(error) => Err(error),
            },
            Step::Move { from, to, .. } => {
                if self.look(batch, index, steps, places)? != Found::After || identity(root, to)? != step.identity {
                    return Ok(());
                }
                disk::rename_new(&parent(root, to)?, to.name(), &parent(root, from)?, from.name()).map_err(io)
            }
            Step::Put { path, before, after } => {
                let is_after = matches!(self.look(batch, index, steps, places)?, Found::After | Found::Displaced);
                // Before the folder was made, there is nothing to give back.
                if !is_after {
                    return Ok(());
                }
                let folder = parent(root, path)?;
                let aside = disk::open_folder(root, places.late(index)).map_err(io)?;
                put_back(&folder, path.name(), &aside, &temporary(batch, index), before.as_ref(), after.is_some())
                    .map_err(io)
            }
        }
    }

    /// Looks at what a step has come to.
    fn look(&self, batch: u64, index: usize, steps: &[RecordedStep], places: &Places) -> Result<Found, VaultError> {
        let root = &self.vault.dir;
        let Some(step) = steps.get(index) else { return Ok(Found::Theirs) };
        match &step.step {
            Step::MakeFolder { path, .. } | Step::RemoveFolder { path, .. } => {
                let is_there = disk::open_folder(root, Some(path)).is_ok();
                let is_made = matches!(step.step, Step::MakeFolder { .. });
                Ok(if is_there == is_made { Found::After } else { Found::Before })
            }
            Step::Move { from, to, .. } => {
                if identity(root, to)? == step.identity {
                    return Ok(Found::After);
                }
                if identity(root, from)? == step.identity {
                    return Ok(Found::Before);
                }
                // A later move may have taken it further.
                let later = steps.iter().skip(index + 1).filter(|later| later.identity == step.identity);
                for later in later {
                    if let Step::Move { to, .. } = &later.step
                        && identity(root, to)? == step.identity
                    {
                        return Ok(Found::After);
                    }
                }
                Ok(Found::Theirs)
            }
            Step::Put { path, before, after } => {
                let io = |error| VaultError::io("read", Some(path), error);
                let digest = |image: &Option<Image>| image.as_ref().map(|image| image.content.digest());
                let folder = match parent(root, path) {
                    Ok(folder) => folder,
                    Err(VaultError::Conflict(_)) if before.is_none() => return Ok(Found::Before),
                    Err(VaultError::Conflict(_)) => return Ok(Found::Theirs),
                    Err(error) => return Err(error),
                };
                let now = digest_of(&folder, path.name()).map_err(io)?;
                if now == digest(after) && now != digest(before) {
                    let aside = disk::open_folder(root, places.late(index)).map_err(io)?;
                    let displaced = digest_of(&aside, &temporary(batch, index)).map_err(io)?;
                    let is_ours = displaced.is_none() || displaced == digest(before) || displaced == digest(after);
                    return Ok(if is_ours { Found::After } else { Found::Displaced });
                }
                Ok(if now == digest(before) { Found::Before } else { Found::Theirs })
            }
        }
    }

    /// Writes a temporary file anew from the journal: after a power cut it may be missing, or half there.
    fn renew_temporary(
        &self,
        batch: u64,
        index: usize,
        step: &RecordedStep,
        places: &Places,
    ) -> Result<(), VaultError> {
        let Step::Put { path, after, .. } = &step.step else { return Ok(()) };
        let io = |error| VaultError::io("write", Some(path), error);
        let folder = disk::open_folder(&self.vault.dir, places.late(index)).map_err(io)?;
        let name = temporary(batch, index);
        match after {
            Some(after) => {
                write_new(&folder, &name, after).map_err(io)?;
                if self.vault.is_durable() {
                    disk::open_name(&folder, &name).and_then(|file| file.sync_data()).map_err(io)?;
                }
                Ok(())
            }
            None => match folder.remove_file(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io(error)),
                _ => Ok(()),
            },
        }
    }

    /// Finds out in which folders the temporary files of an interrupted batch lie now.
    fn places_now(&mut self, batch: u64, steps: &[RecordedStep]) -> Result<Places, VaultError> {
        let folders = self.core()?.journal.folders(batch)?;
        let root = &self.vault.dir;
        let find = |folder: &Option<MemoryPath>, index: usize| {
            disk::open_folder(root, folder.as_ref())
                .is_ok_and(|folder| folder.symlink_metadata(temporary(batch, index)).is_ok())
        };
        Ok(Places::found(steps, folders, find))
    }

    /// Removes all temporary files of memdir's from some folders.
    fn remove_stray(&self, batch: u64, folders: &[Option<MemoryPath>]) {
        let prefix = format!(".memdir-{batch}-");
        for folder in folders {
            let Ok(folder) = disk::open_folder(&self.vault.dir, folder.as_ref()) else { continue };
            let Ok(entries) = folder.entries() else { continue };
            for entry in entries.flatten() {
                if let Some(name) = entry.file_name().to_str()
                    && name.starts_with(&prefix)
                    && name.ends_with(".tmp")
                {
                    // Best effort: a stray file is hidden and harmless.
                    let _ = folder.remove_file(name);
                }
            }
        }
    }

    /// Removes every temporary file of memdir's anywhere in the memory, for a cut of the power can leave some that no
    /// journal knows of. It walks all folders, so it is for a server's start and for `doctor`.
    ///
    /// # Errors
    ///
    /// Those of the database. What cannot be looked into is left as it is.
    pub fn sweep_all(&mut self) -> Result<(), VaultError> {
        self.sweep_newest()?;
        sweep_folder(&self.vault.dir);
        Ok(())
    }

    /// Removes what the newest batch has displaced, if another process ended before it could.
    pub(super) fn sweep_newest(&mut self) -> Result<(), VaultError> {
        let vault = self.vault;
        let core = self.core()?;
        let newest = core.journal.newest()?;
        let leftovers = match core.leftovers.take() {
            Some(leftovers) => Some(leftovers),
            None => match newest {
                Some((batch, State::Applied | State::Aborted)) if core.swept < batch => {
                    let folders = core.journal.folders(batch)?;
                    match core.journal.steps(batch) {
                        Ok(steps) => {
                            let places = self.places_now(batch, &steps)?;
                            Some(Leftovers { batch, steps, places })
                        }
                        // Without the contents nothing can be compared, so nothing is removed.
                        Err(VaultError::Pruned(_)) => None,
                        Err(error) => return Err(error),
                    }
                    .filter(|_| !folders.is_empty())
                }
                _ => None,
            },
        };
        if let Some(leftovers) = leftovers {
            leftovers.sweep(&vault.dir);
        }
        self.core()?.swept = newest.map_or(0, |(batch, _)| batch);
        Ok(())
    }
}

impl Leftovers {
    /// Removes displaced files, unless a program that still had one open has written to it: such an edit is kept
    /// as a copy beside the note, under a name that says so.
    pub(super) fn sweep(&self, root: &Dir) {
        for (index, step) in self.steps.iter().enumerate() {
            let Step::Put { path, before, after } = &step.step else { continue };
            let Ok(aside) = disk::open_folder(root, self.places.late(index)) else { continue };
            let name = temporary(self.batch, index);
            let Ok(Some(digest)) = digest_of(&aside, &name) else { continue };
            let is_ours = [before, after].into_iter().flatten().any(|image| image.content.digest() == digest);
            // Best effort, both: the next writer tries again, and nothing is lost by a file that stays.
            if is_ours {
                let _ = aside.remove_file(&name);
            } else if let Ok(folder) = parent(root, path) {
                let copy = format!("{}.sync-conflict-memdir-{}.md", path.stem(), self.batch);
                let _ = disk::rename_new(&aside, &name, &folder, &copy);
            }
        }
    }
}

/// Undoes one exchange, or does without it where there was none.
fn put_back(
    folder: &Dir,
    name: &str,
    aside: &Dir,
    temporary: &str,
    before: Option<&Image>,
    has_after: bool,
) -> io::Result<()> {
    let is_kept = aside.symlink_metadata(temporary).is_ok();
    match (before, has_after) {
        (None, _) => disk::rename_new(folder, name, aside, temporary),
        (Some(before), true) => {
            if !is_kept {
                write_new(aside, temporary, before)?;
            }
            disk::replace(aside, temporary, folder, name).map(|_| ())
        }
        (Some(before), false) => {
            if !is_kept {
                write_new(aside, temporary, before)?;
            }
            disk::rename_new(aside, temporary, folder, name)
        }
    }
}

fn sweep_folder(folder: &Dir) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if is_temporary(name) {
            let _ = folder.remove_file(name);
        } else if name != ".memdir"
            && let Ok(inner) = folder.open_dir_nofollow(name)
        {
            sweep_folder(&inner);
        }
    }
}
