//! After a crash: finishing what is certain, giving back what cannot be finished, removing temporary files.
//!
//! Only the newest batch can be unfinished, since each writer finishes it before its own. What to do follows from
//! the journal and from what the disk holds now, never from when anything happened: a step is done if its file has
//! the content after, not done if it has the one before, and an outside edit otherwise, which is kept.

use std::io;

use cap_std::fs::Dir;
use rusqlite::params;

use super::aside::{digest_of, open_old_name, set_temporary, temporary, write_new};
use super::commit::{growth, identity, open_or_conflict, parent, restrict_folder};
use super::journal::{Flush, Journal, State};
use super::place::TempFolders;
use super::{RecordedBatch, RecordedStep, VaultError, Writer, disk};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_plan::{Image, Step};

/// How far a step of an interrupted batch came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum StepState {
    /// The file is as before the step.
    Before,
    /// The file is as after the step.
    After,
    /// Another program has changed the file after the step was carried out, or may have.
    Theirs,
    /// Another program has changed the file before the step was carried out.
    Overtaken,
    /// The step was carried out, and what it displaced was an outside edit that nobody has seen yet.
    Displaced,
}

impl Writer<'_> {
    /// Brings the newest batch to an end, if a crash has left it without one.
    pub(super) fn recover(&mut self) -> Result<(), VaultError> {
        let core = self.core()?;
        let Some((batch, state)) = core.journal.newest()? else { return Ok(()) };
        core.journal.check_outcome(batch, state)?;
        match state {
            State::Applied | State::Aborted => Ok(()),
            State::Open => {
                let places = core.journal.places(batch)?;
                let is_swept = self.remove_temporary(batch, &places);
                let journal = &mut self.core()?.journal;
                journal.mark(batch, State::Aborted, Flush::No)?;
                if !is_swept {
                    journal.note_unswept(batch);
                }
                Ok(())
            }
            State::Committed => {
                let batch = unfinished(&core.journal, batch)?;
                self.vault.sizes.change();
                match self.finish(&batch) {
                    Err(VaultError::Conflict(_)) => self.give_back_later(&batch),
                    other => other,
                }
            }
            State::Aborting => {
                let batch = unfinished(&core.journal, batch)?;
                self.vault.sizes.change();
                self.give_back_later(&batch)
            }
        }
    }

    /// Carries out what is left of a certain batch.
    ///
    /// An outside edit is one of two things. Either it came after the whole batch, of which only the unflushed mark was
    /// lost in a power cut: "saved" has been said, so the batch stays, and so does the edit. Or it came into a batch
    /// that was half done: then all or nothing means nothing, as when a commit meets one itself. Where no step is left
    /// to be done all had been done, unless what lies aside tells that a step was overtaken by the edit.
    ///
    /// Folders are made and things moved first: only then every file has the name by which its step knows it. All files
    /// are looked at before any is touched, so that a second crash finds the same. That a removed folder is there says
    /// nothing, for it stays where something new is in it.
    fn finish(&mut self, batch: &RecordedBatch) -> Result<(), VaultError> {
        let mut left_to_do = false;
        let mut theirs = None;
        for (index, step) in batch.steps.iter().enumerate() {
            if matches!(step.step, Step::RemoveFolder { .. }) {
                continue;
            }
            match self.look(batch, index)? {
                StepState::After => {}
                // What another step of the batch has changed since is not where its move left it.
                StepState::Theirs if matches!(step.step, Step::Move { .. }) => {}
                StepState::Theirs => theirs = theirs.or_else(|| Some(step.path().clone())),
                StepState::Displaced | StepState::Overtaken => return Err(VaultError::Conflict(step.path().clone())),
                StepState::Before => {
                    left_to_do = true;
                    if !matches!(step.step, Step::Put { .. }) {
                        self.carry_out(batch, index, step)?;
                    }
                }
            }
        }
        if let Some(path) = theirs.filter(|_| left_to_do) {
            return Err(VaultError::Conflict(path));
        }
        for (index, step) in batch.steps.iter().enumerate() {
            match self.look(batch, index)? {
                StepState::After | StepState::Theirs => {}
                StepState::Displaced | StepState::Overtaken => return Err(VaultError::Conflict(step.path().clone())),
                StepState::Before => {
                    self.renew_temporary(batch, index, step)?;
                    self.carry_out(batch, index, step)?;
                }
            }
        }
        self.second_wave(&batch.steps)?;
        self.core()?.journal.mark(batch.number, State::Applied, Flush::No)?;
        self.keep_for_sweep(batch.clone())
    }

    /// Gives back a batch whose caller never got an answer. A step that cannot be taken back must not keep the memory closed for
    /// ever, and no call of this process is at fault.
    fn give_back_later(&mut self, batch: &RecordedBatch) -> Result<(), VaultError> {
        match self.give_back(batch) {
            Err(VaultError::Unsettled(_)) => Ok(()),
            other => other,
        }
    }

    /// Takes back every step of a batch that met an outside edit, and keeps that edit.
    ///
    /// The mark comes first and is flushed: from here on a crash leads here again.
    ///
    /// # Errors
    ///
    /// [`VaultError::Unsettled`] when something is in the way of a step, or gone: that step stays as it is, and all
    /// others are taken back. The batch has come to its end all the same.
    pub(super) fn give_back(&mut self, batch: &RecordedBatch) -> Result<(), VaultError> {
        self.core()?.journal.give_back(batch.number)?;
        let mut result = Ok(());
        for index in (0..batch.steps.len()).rev() {
            match self.take_back(batch, index) {
                // What is in the way, or gone, is somebody's doing.
                Err(VaultError::Conflict(path)) => {
                    tracing::error!(batch = batch.number, %path, "a change could not be taken back");
                    result = Err(VaultError::Unsettled(batch.number));
                }
                other => other?,
            }
        }
        self.second_wave(&batch.steps)?;
        self.core()?.journal.given_back(batch.number, growth(&batch.steps))?;
        self.keep_for_sweep(batch.clone())?;
        self.sweep_leftovers()?;
        result
    }

    fn take_back(&self, batch: &RecordedBatch, index: usize) -> Result<(), VaultError> {
        let root = &self.vault.dir;
        let steps = batch.steps.as_slice();
        let Some((step, earlier)) = steps.get(index).zip(steps.get(..index)) else { return Ok(()) };
        match &step.step {
            Step::RemoveFolder { path, mode } => {
                let path = self.present(steps, path)?;
                match parent(root, &path)?.create_dir(path.name()) {
                    Err(error) => Err(in_the_way(&path, error)),
                    Ok(()) => restrict_folder(root, &path, *mode),
                }
            }
            Step::MakeFolder { path, .. } => {
                let path = self.present(earlier, path)?;
                // Not there, or something new is in it.
                let _ = parent(root, &path)?.remove_dir(path.name());
                Ok(())
            }
            Step::Move { from, to, .. } => {
                if identity(root, to)? != step.identity {
                    return Ok(());
                }
                let from = self.present(earlier, from)?;
                disk::rename_new(&parent(root, to)?, to.name(), &parent(root, &from)?, from.name())
                    .map_err(|error| in_the_way(&from, error))
            }
            Step::Put { path, before, after } => {
                if !matches!(self.look(batch, index)?, StepState::After | StepState::Displaced) {
                    return Ok(());
                }
                let path = self.present(steps, path)?;
                let folder = parent(root, &path)?;
                let aside = self.aside(batch, index, &path)?;
                self.put_back(
                    &folder,
                    path.name(),
                    &aside,
                    &temporary(batch.number, index),
                    before.as_ref(),
                    after.is_some(),
                )
                .map_err(|error| in_the_way(&path, error))
            }
        }
    }

    /// Undoes one exchange, or does without it where there was none.
    fn put_back(
        &self,
        folder: &Dir,
        name: &str,
        aside: &Dir,
        temporary: &str,
        before: Option<&Image>,
        has_after: bool,
    ) -> io::Result<()> {
        let is_kept = aside.symlink_metadata(temporary).is_ok();
        let Some(before) = before else {
            // With the temporary file still aside, what has the name is not ours.
            return if is_kept { Ok(()) } else { disk::rename_new(folder, name, aside, temporary) };
        };
        if !is_kept {
            // What is there has taken over the attributes of what was.
            let old = if has_after { open_old_name(folder, name) } else { None };
            write_new(aside, temporary, before, old.as_ref())?;
            self.flush(aside, temporary)?;
        }
        if has_after {
            disk::replace(aside, temporary, folder, name).map(|_| ())
        } else {
            disk::rename_new(aside, temporary, folder, name)
        }
    }

    /// Where the file at `path` after the moves among `steps` is now: some moves may not be made yet, or be taken back.
    fn present(&self, steps: &[RecordedStep], path: &MemoryPath) -> Result<MemoryPath, VaultError> {
        let mut now = path.clone();
        for (index, step) in steps.iter().enumerate().rev() {
            if let Step::Move { from, to, .. } = &step.step
                && now.is_within(to)
            {
                let source = self.present(steps.get(..index).unwrap_or_default(), from)?;
                let is_made = identity(&self.vault.dir, &source)? != step.identity;
                now = now.rebased(to, from).filter(|_| !is_made).unwrap_or(now);
            }
        }
        Ok(now)
    }

    /// Opens the folder with the temporary file of a step; the one of its target where that is gone.
    fn aside(&self, batch: &RecordedBatch, index: usize, path: &MemoryPath) -> Result<Dir, VaultError> {
        let root = &self.vault.dir;
        let late = batch.places.late(index).map(|folder| self.present(&batch.steps, folder)).transpose()?;
        match open_or_conflict(root, late.as_ref(), path) {
            Err(VaultError::Conflict(_)) => parent(root, path),
            other => other,
        }
    }

    /// Looks how far a step came.
    fn look(&self, batch: &RecordedBatch, index: usize) -> Result<StepState, VaultError> {
        let root = &self.vault.dir;
        let steps = batch.steps.as_slice();
        let Some(step) = steps.get(index) else { return Ok(StepState::Theirs) };
        match &step.step {
            Step::MakeFolder { path, .. } | Step::RemoveFolder { path, .. } => {
                let is_there = match disk::open_folder(root, Some(path)) {
                    Err(error) if disk::is_gone(&error) => false,
                    folder => folder.map(|_| true).map_err(|error| VaultError::io("look at", Some(path), error))?,
                };
                let is_made = matches!(step.step, Step::MakeFolder { .. });
                Ok(if is_there == is_made { StepState::After } else { StepState::Before })
            }
            Step::Move { from, to, .. } => {
                let is_at = |path| identity(root, path).map(|found| found == step.identity);
                if is_at(to)? {
                    return Ok(StepState::After);
                }
                if is_at(from)? {
                    return Ok(StepState::Before);
                }
                // A program has saved a new file over it before it was moved; after that, the new file is at `to`.
                let is_else = |path| identity(root, path).map(|found| found.is_some());
                let is_reused = |other: &RecordedStep| match &other.step {
                    Step::Move { to, .. } => to == from,
                    Step::Put { path, .. } | Step::MakeFolder { path, .. } => path == from,
                    Step::RemoveFolder { .. } => false,
                };
                let is_overtaken = is_else(from)? && !is_else(to)? && !steps.iter().any(is_reused);
                Ok(if is_overtaken { StepState::Overtaken } else { StepState::Theirs })
            }
            Step::Put { path, before, after } => {
                let path = self.present(steps, path)?;
                let folder = match parent(root, &path) {
                    Ok(folder) => folder,
                    // Where nothing is to be left, a folder that is gone is as good.
                    Err(VaultError::Conflict(_)) if after.is_none() => return Ok(StepState::After),
                    Err(VaultError::Conflict(_)) if before.is_none() => return Ok(StepState::Before),
                    Err(VaultError::Conflict(_)) => return Ok(StepState::Theirs),
                    Err(error) => return Err(error),
                };
                let now = state_of(&folder, &path)?;
                let [before, after] = [before, after].map(|image| image.as_ref().map(state_in));
                let is_same = |one, other| is_same(one, other, before, after);
                if is_same(now, before) {
                    return Ok(StepState::Before);
                }
                if !is_same(now, after) {
                    return self.whose(batch, index);
                }
                let aside = self.aside(batch, index, &path)?;
                let displaced = digest_of(&aside, &temporary(batch.number, index))
                    .map_err(|error| VaultError::io("read", Some(&path), error))?;
                let is_ours = |digest| [before, after].into_iter().flatten().any(|(ours, _)| ours == digest);
                Ok(if displaced.is_none_or(is_ours) { StepState::After } else { StepState::Displaced })
            }
        }
    }

    /// Tells an edit that came after a file was put in place from one that came before, by what lies aside.
    fn whose(&self, batch: &RecordedBatch, index: usize) -> Result<StepState, VaultError> {
        // What the file of another step has come to: its digest aside, and the ones before and after.
        let aside = |index: usize| -> Result<Option<[Option<Digest>; 3]>, VaultError> {
            let Some(Step::Put { path, before, after }) = batch.steps.get(index).map(|step| &step.step) else {
                return Ok(None);
            };
            let digest = |image: &Option<Image>| image.as_ref().map(|image| image.content.digest());
            let target = self.present(&batch.steps, path)?;
            let folder = match self.aside(batch, index, &target) {
                Err(VaultError::Conflict(_)) => return Ok(None),
                folder => folder?,
            };
            let aside = digest_of(&folder, &temporary(batch.number, index))
                .map_err(|error| VaultError::io("read", Some(path), error))?;
            Ok(Some([aside, digest(before), digest(after)]))
        };
        let Some([found, before, after]) = aside(index)? else { return Ok(StepState::Theirs) };
        if found.is_some() {
            let is_waiting = found == after && found != before;
            return Ok(if is_waiting { StepState::Overtaken } else { StepState::Theirs });
        }
        if before.is_none() {
            return Ok(StepState::Theirs);
        }
        // Nothing lies aside: it was swept, or never put there. A sweep would have taken what others displaced, too.
        for other in (0..batch.steps.len()).filter(|other| *other != index) {
            if let Some([found @ Some(_), before, other_after]) = aside(other)?
                && found == before
                && found != other_after
                // Where names cannot be exchanged only removed files are ever put aside.
                && (after.is_none() || other_after.is_some())
            {
                return Ok(StepState::Overtaken);
            }
        }
        Ok(StepState::Theirs)
    }

    /// Writes a temporary file anew from the journal: after a power cut it may be missing, or half there.
    fn renew_temporary(&self, batch: &RecordedBatch, index: usize, step: &RecordedStep) -> Result<(), VaultError> {
        let Step::Put { path, before, after } = &step.step else { return Ok(()) };
        let folder = open_or_conflict(&self.vault.dir, batch.places.late(index), path)?;
        let name = temporary(batch.number, index);
        let old = match before {
            Some(_) => open_old_name(&parent(&self.vault.dir, path)?, path.name()),
            None => None,
        };
        set_temporary(&folder, &name, after.as_ref(), old.as_ref())
            .and_then(|()| if after.is_some() { self.flush(&folder, &name) } else { Ok(()) })
            .map_err(|error| VaultError::io("write", Some(path), error))
    }

    fn flush(&self, folder: &Dir, name: &str) -> io::Result<()> {
        if self.vault.is_durable() { disk::open_name(folder, name)?.sync_data() } else { Ok(()) }
    }

    /// Removes the temporary files of the newest batches.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn sweep_leftovers(&mut self) -> Result<(), VaultError> {
        let vault = self.vault;
        let core = self.core()?;
        if let Some(leftovers) = core.leftovers.take() {
            if !leftovers.sweep(&vault.dir) {
                core.journal.note_unswept(leftovers.number);
            }
            core.swept = core.swept.max(leftovers.number);
        }
        self.sweep_of_others()
    }

    /// Removes what the newest batches of other processes have displaced, if those ended before they could.
    ///
    /// The newest two: a process that makes one batch after the other removes what the last displaced while it flushes
    /// the next. And those before them of which something could not be removed, such as in a folder that was closed to us.
    pub(super) fn sweep_of_others(&mut self) -> Result<(), VaultError> {
        for batch in self.core()?.journal.unswept()? {
            match self.sweep_batch(batch) {
                // The next batch does not need it; `doctor` reports it.
                Err(error @ VaultError::Damaged(_)) => {
                    tracing::warn!(%error, batch, "what a batch has left was not removed");
                }
                other => other?,
            }
        }
        let core = self.core()?;
        let Some((newest, state)) = core.journal.newest()? else { return Ok(()) };
        let first = core.journal.first_batch()?;
        let own = core.leftovers.as_ref().map_or(0, |leftovers| leftovers.number);
        let swept = core.swept.max(own);
        if swept >= newest || !matches!(state, State::Applied | State::Aborted) {
            return Ok(());
        }
        for batch in newest.saturating_sub(1).max(swept + 1).max(first)..=newest {
            self.sweep_batch(batch)?;
        }
        Ok(())
    }

    fn sweep_batch(&mut self, batch: u64) -> Result<(), VaultError> {
        let vault = self.vault;
        let core = self.core()?;
        let places = core.journal.places(batch)?;
        if !has_leftovers(&vault.dir, batch, &places) {
            core.swept = core.swept.max(batch);
            return core.journal.note_swept(batch);
        }
        let is_swept = match core.journal.steps(batch) {
            // Nothing of it was ever carried out.
            Ok(steps) if steps.is_empty() => self.remove_temporary(batch, &places),
            Ok(steps) => RecordedBatch { number: batch, steps, places }.sweep(&vault.dir),
            // Without the contents nothing can be compared, so nothing is removed.
            Err(VaultError::Pruned(_)) => true,
            Err(error) => return Err(error),
        };
        let core = self.core()?;
        core.swept = core.swept.max(batch);
        if is_swept {
            return core.journal.note_swept(batch);
        }
        core.journal.note_unswept(batch);
        Ok(())
    }
}

/// What the keys of batches begin with of which a temporary file could not be removed.
const UNSWEPT: &str = "unswept:";

impl Journal {
    /// Notes for the next writers that temporary files of a batch are left. Best effort: a failure is only logged.
    pub(super) fn note_unswept(&mut self, batch: u64) {
        let noted = self.transaction(Flush::No, |transaction| {
            let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING";
            transaction.prepare_cached(sql)?.execute(params![format!("{UNSWEPT}{batch}"), batch])?;
            Ok(())
        });
        if let Err(error) = noted {
            tracing::warn!(%error, batch, "temporary files are left, and it was not noted");
        }
    }

    /// Notes that nothing of a batch is left, if that was said before.
    fn note_swept(&mut self, batch: u64) -> Result<(), VaultError> {
        if !self.unswept()?.contains(&batch) {
            return Ok(());
        }
        self.transaction(Flush::No, |transaction| {
            let sql = "DELETE FROM meta WHERE key = ?1";
            transaction.prepare_cached(sql)?.execute([format!("{UNSWEPT}{batch}")])?;
            Ok(())
        })
    }

    /// The batches of which a temporary file could not be removed.
    fn unswept(&self) -> Result<Vec<u64>, VaultError> {
        let mut statement = self.db.prepare_cached("SELECT value FROM meta WHERE key > ?1 AND key < ?1 || 'a'")?;
        let rows = statement.query_map([UNSWEPT], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Whether a temporary file of a batch lies about, or may. Mostly the process that wrote the batch has removed all of them,
/// and its contents need not be read.
fn has_leftovers(root: &Dir, batch: u64, places: &TempFolders) -> bool {
    places.all().any(|(index, folder)| {
        let found = disk::open_folder(root, folder).and_then(|folder| folder.symlink_metadata(temporary(batch, index)));
        !found.is_err_and(|error| disk::is_gone(&error))
    })
}

impl RecordedBatch {
    /// Removes displaced files, unless a program that still had one open has written to it: such an edit is kept
    /// as a copy beside the note, under a name that says so. Whether nothing is left.
    pub(super) fn sweep(&self, root: &Dir) -> bool {
        // In a batch that was given back the moves are, too. Each is tried, whatever became of the others.
        self.places.all().filter(|(index, aside)| self.sweep_one(root, *index, *aside).is_err()).count() == 0
    }

    fn sweep_one(&self, root: &Dir, index: usize, aside: Option<&MemoryPath>) -> io::Result<()> {
        let Some(Step::Put { path, before, after }) = self.steps.get(index).map(|step| &step.step) else {
            return Ok(());
        };
        let aside = match disk::open_folder(root, aside) {
            Err(error) if disk::is_gone(&error) => return Ok(()),
            aside => aside?,
        };
        let name = temporary(self.number, index);
        let Some(digest) = digest_of(&aside, &name)? else { return Ok(()) };
        if [before, after].into_iter().flatten().any(|image| image.content.digest() == digest) {
            return aside.remove_file(&name);
        }
        let folder = disk::open_folder(root, path.parent().as_ref())?;
        disk::rename_new(&aside, &name, &folder, &conflict_copy(path, self.number))
    }
}

/// The name of a copy beside a file: with the file's own ending, so that it stays what it is.
fn conflict_copy(path: &MemoryPath, batch: u64) -> String {
    let mark = format!(".sync-conflict-memdir-{batch}");
    match path.name().rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, ending)) => format!("{stem}{mark}.{ending}"),
        None => format!("{}{mark}", path.name()),
    }
}

/// A batch that has to be brought to an end. The history never lets its contents go.
fn unfinished(journal: &Journal, number: u64) -> Result<RecordedBatch, VaultError> {
    let steps = journal.steps(number).map_err(|error| match error {
        VaultError::Pruned(_) => VaultError::Damaged(format!("contents of the unfinished batch {number} are missing")),
        other => other,
    })?;
    Ok(RecordedBatch { number, steps, places: journal.places(number)? })
}

/// What tells a file before a step from the same after it: the content or, where that stays, the mode.
type FileState = (Digest, Option<u32>);

fn state_of(folder: &Dir, path: &MemoryPath) -> Result<Option<FileState>, VaultError> {
    let io = |error| VaultError::io("read", Some(path), error);
    let Some(digest) = digest_of(folder, path.name()).map_err(io)? else { return Ok(None) };
    let mode = folder.symlink_metadata(path.name()).ok().and_then(|metadata| disk::mode(&metadata));
    Ok(Some((digest, mode)))
}

fn state_in(image: &Image) -> FileState {
    (image.content.digest(), image.mode)
}

/// Compares two states of a file by what a step from `before` to `after` changes.
fn is_same(
    one: Option<FileState>,
    other: Option<FileState>,
    before: Option<FileState>,
    after: Option<FileState>,
) -> bool {
    let digest = |state: Option<FileState>| state.map(|(digest, _)| digest);
    if digest(before) == digest(after) { one == other } else { digest(one) == digest(other) }
}

/// A file that another program has put in the way, or has taken away, is an outside edit.
fn in_the_way(path: &MemoryPath, error: io::Error) -> VaultError {
    if disk::is_taken(&error) || disk::is_gone(&error) {
        return VaultError::Conflict(path.clone());
    }
    VaultError::io("give back", Some(path), error)
}
