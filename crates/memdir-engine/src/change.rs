//! Changes that a person asks for by batch: undo and restore.

use super::failure::forgotten_meanwhile;
use super::{Caller, Engine, audit, failure};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Outcome};
use memdir_core::time::Timestamp;
use memdir_plan::{self as plan, LaterLinks, Plan, Seen, Step, Tree, UndoError};
use memdir_vault::{AuditEntry, Batch, Committed, Payload, Recorded, VaultError};

/// The action of an entry that says that a batch was undone.
pub(super) const UNDO: &str = "undo";

/// A change that would give back an earlier state; nothing is done yet.
#[derive(Debug)]
pub struct Change {
    pub(super) plan: Plan,
    pub(super) action: &'static str,
    pub(super) batch: u64,
    pub(super) path: Option<MemoryPath>,
    /// The change that has recorded the text that is given back.
    pub(super) recorded: Option<Recorded>,
    /// The batches that it undoes, the newest first.
    pub(super) undoes: Vec<u64>,
    pub(super) started: Timestamp,
    /// How often something had been forgotten then.
    pub(super) forgets: u64,
}

/// A change that is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// The number of the new batch; `None` when nothing had to change.
    pub batch: Option<u64>,
    /// What is different now.
    pub changed: Vec<MemoryPath>,
    /// One line for the person.
    pub receipt: Option<String>,
    /// The notes that the client who proposed it does not see, and whose links to what is renamed stay as they were: the notes cannot
    /// be written. For the owner, never for the client.
    pub left: Vec<MemoryPath>,
    /// What a conversation knows after it that asked for it.
    pub seen: Seen,
    /// What its calls are answered by, where it was a proposal.
    pub outcomes: Vec<Outcome>,
}

impl Done {
    /// What a call that waited for this is answered by: as if nobody had been asked. What only read is to be sent again, since by now
    /// there may be something else.
    #[must_use]
    pub fn outcome_of(&self, waited: &Outcome) -> Outcome {
        match self.outcomes.iter().find(|outcome| outcome.index == waited.index) {
            Some(outcome) => Outcome { label: waited.label.clone(), ..outcome.clone() },
            None => {
                let failure = Failure::new(Code::Conflict, "an earlier call on it was waiting for the person");
                Outcome { result: Err(failure.with_hint("send it again")), ..waited.clone() }
            }
        }
    }

    /// The line for the owner, who may see every note: with those whose links were left as they were.
    #[must_use]
    pub fn receipt_for_owner(&self) -> String {
        let receipt = self.receipt.as_deref().unwrap_or("nothing had to change");
        if self.left.is_empty() {
            return receipt.to_owned();
        }
        let notes: Vec<String> = self.left.iter().map(|path| format!("`{path}`")).collect();
        let (what, undo) = receipt.strip_suffix(plan::UNDO).map_or((receipt, ""), |what| (what, plan::UNDO));
        format!(
            "{what}; links to it stay as they were in {}, since not all of these notes could be written{undo}",
            notes.join(", ")
        )
    }
}

/// Why a change cannot be made, with the diff that it wanted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangeError {
    /// What is in the way.
    pub failure: Failure,
    /// From what is there now to what was wanted, where that is the trouble.
    pub diff: Option<String>,
}

impl std::fmt::Display for ChangeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.failure.fmt(formatter)
    }
}

impl std::error::Error for ChangeError {}

impl From<Failure> for ChangeError {
    fn from(failure: Failure) -> Self {
        Self { failure, diff: None }
    }
}

impl From<VaultError> for ChangeError {
    fn from(error: VaultError) -> Self {
        failure(&error).into()
    }
}

impl From<UndoError> for ChangeError {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Conflict { path, diff } => {
                let failure =
                    Failure::new(Code::Conflict, format!("note `{path}` was changed in the same place since"))
                        .with_hint("undo the later change first, or edit the note by hand");
                Self { failure, diff: Some(diff).filter(|diff| !diff.is_empty()) }
            }
            UndoError::Elsewhere { path, batch, did } => {
                let mut failure = Failure::new(Code::Conflict, format!("change {batch} {did} `{path}` since"))
                    .with_hint(format!("`memdir undo {batch}` undoes that one first"));
                failure.details.batch = Some(batch);
                failure.into()
            }
            UndoError::Taken(path) => Failure::new(Code::Conflict, format!("the name `{path}` was taken since"))
                .with_hint("rename or remove what has the name now")
                .into(),
            UndoError::Blocked(path) => Failure::new(Code::Conflict, format!("`{path}` is in the way"))
                .with_hint("undo the later change first")
                .into(),
            UndoError::Tree(error) => Failure::new(Code::Io, error.to_string()).into(),
        }
    }
}

impl Change {
    /// The batch that it gives back or goes back to.
    #[must_use]
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// The batches that it undoes, the newest first.
    #[must_use]
    pub fn undoes(&self) -> &[u64] {
        &self.undoes
    }

    /// The newer changes that count as undone with this one: another program has taken them back, and nothing is left of them. The newest
    /// first; none where the change that is to be undone was named.
    #[must_use]
    pub fn passed_over(&self) -> &[u64] {
        self.undoes.split(|batch| *batch == self.batch).next().unwrap_or_default()
    }

    /// Of a restored note, the change that has recorded the text: not the one that was asked for, where that did not write the note.
    #[must_use]
    pub fn recorded(&self) -> Option<Recorded> {
        self.recorded
    }

    /// What would change.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl Engine {
    /// Plans to undo a batch; without a number the latest that is neither undone nor itself an undo, and of which something is left.
    ///
    /// # Errors
    ///
    /// `nothing_to_undo`, `not_found`, `unavailable` for a batch whose contents are no longer kept, and `conflict`
    /// with a diff where a later edit is in the same place.
    pub fn propose_undo(&self, batch: Option<u64>) -> Result<Change, ChangeError> {
        let nothing = |message: String| {
            Failure::new(Code::NothingToUndo, message).with_hint("`memdir log` shows what was changed")
        };
        self.vault.look_after_crash()?;
        let forgets = self.vault.forgets();
        let (batch, mut undoes) = match batch {
            Some(batch) => (Some(batch), Vec::new()),
            None => self.latest_to_undo()?,
        };
        let batch = batch.ok_or_else(|| nothing("there is nothing to undo".to_owned()))?;
        undoes.push(batch);
        if let Some(undo) = self.vault.undone_by(batch)? {
            let failure = nothing(format!("change {batch} has already been undone by change {undo}"));
            return Err(failure.with_hint(format!("`memdir undo {undo}` brings it back")).into());
        }
        let steps = self.steps_to_undo(batch, &[])?;
        let made = self.vault.time_of(batch)?;
        let then = |path: &MemoryPath| self.vault.image_at(path, batch).ok().flatten().flatten();
        let changed = |path: &MemoryPath| match then(path) {
            Some(then) => {
                let now = self.vault.read(path, self.settings.limits.file_bytes);
                now.is_ok_and(|now| now.content != then.content)
            }
            // The history does not know the note: what was written later than the batch, was so by another program.
            None => {
                let edited = self.vault.stamp(path).ok().flatten().map(|file| file.stamp.modified);
                made.zip(edited).is_some_and(|(made, edited)| edited / 1_000 > made.micros())
            }
        };
        let said = |path: &MemoryPath| then(path).and_then(|image| image.content.text().map(str::to_owned));
        let later = LaterLinks { changed: &changed, said: &said };
        let undone = plan::undo_with_later(&steps, &self.vault, &self.settings.limits, &later);
        let plan = undone.map_err(|error| self.refused(batch, &steps, error))?;
        let started = self.now();
        Ok(Change { plan, action: UNDO, batch, path: None, recorded: None, undoes, started, forgets })
    }

    /// The newest batch of which something is left, and those after it that another program has taken back: to undo one of these would be a
    /// conflict, each time again. They count as undone with the first, for later nobody can tell.
    fn latest_to_undo(&self) -> Result<(Option<u64>, Vec<u64>), ChangeError> {
        let mut passed_over = Vec::new();
        loop {
            let newest = self.vault.newest_to_undo(passed_over.last().copied())?;
            let Some(batch) = newest else { return Ok((None, passed_over)) };
            let is_taken_back = match self.vault.steps(batch) {
                Ok(steps) => plan::is_taken_back(&steps, &self.vault, &self.settings.limits),
                Err(VaultError::Pruned(_)) => false,
                Err(error) => return Err(error.into()),
            };
            if !is_taken_back {
                return Ok((newest, passed_over));
            }
            passed_over.push(batch);
        }
    }

    /// What a batch did, under the names that its notes have once the `undone` batches are undone.
    pub(super) fn steps_to_undo(&self, batch: u64, undone: &[u64]) -> Result<Vec<Step>, ChangeError> {
        let steps = self.vault.steps(batch).map_err(|error| {
            let said = failure(&error);
            if matches!(error, VaultError::Pruned(_)) {
                return said.with_hint("`memdir undo NUMBER` takes another change back; `memdir log` lists them");
            }
            said
        })?;
        plan::followed(steps, |path| Ok(self.vault.since(path, batch, undone)?))
    }

    /// Plans to put a note back to what it was right after a batch, as far as the history knows; see [`Change::recorded`].
    ///
    /// # Errors
    ///
    /// `not_found` for a batch or a note that the history does not know, `unavailable` for contents that are no
    /// longer kept.
    pub fn propose_restore(&self, path: &MemoryPath, batch: u64) -> Result<Change, ChangeError> {
        self.vault.look_after_crash()?;
        let forgets = self.vault.forgets();
        let path = &self.vault.resolve(path).unwrap_or_else(|_| path.clone());
        let (image, recorded) = self.vault.recorded_at(path, batch)?.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("no change has recorded the text of `{path}`"))
                .with_hint("`memdir log NOTE` shows the changes of a note; one that only renames it records no text")
        })?;
        if image.is_none() && self.vault.stamp(path).map_err(UndoError::Tree)?.is_some() {
            let failure = Failure::new(Code::NotFound, format!("the note `{path}` was not there after change {batch}"));
            return Err(failure.with_hint("`memdir rm NOTE` deletes it; `memdir log NOTE` shows its changes").into());
        }
        let plan = plan::restore(path, image, &self.vault, &self.settings.limits).map_err(UndoError::Tree)?;
        let started = self.now();
        let (path, recorded) = (Some(path.clone()), Some(recorded));
        Ok(Change { plan, action: "restore", batch, path, recorded, undoes: Vec::new(), started, forgets })
    }

    /// Makes a change true.
    ///
    /// # Errors
    ///
    /// `read_only` for a caller who may only read; `conflict` when a note has changed or something was forgotten since the change
    /// was planned, and what the vault says.
    pub fn conclude_change(&self, change: Change, caller: &Caller) -> Result<Done, ChangeError> {
        caller.check_write(change.action)?;
        if change.plan.is_empty() && change.undoes.is_empty() {
            return Ok(Done::default());
        }
        let micros = audit::micros(self.now().since(change.started));
        let batches = if change.undoes.is_empty() { std::slice::from_ref(&change.batch) } else { &change.undoes };
        let entry = |(number, batch): (usize, &u64)| {
            let payload = Payload::of_change(change.path.as_ref(), *batch);
            AuditEntry { number, micros, ..audit::owner(change.action, payload) }
        };
        let entries: Vec<AuditEntry> = (1..).zip(batches).map(entry).collect();
        let batch = Batch {
            steps: change.plan.steps(),
            entries: &entries,
            author: &caller.author,
            time: change.started,
            undoes: &change.undoes,
            approval: None,
        };
        let committed = match self.commit_change(&batch, change.forgets) {
            Ok(committed) => committed,
            Err(error) => {
                let failed = |entry| AuditEntry { code: Some(error.failure.code.to_string()), ..entry };
                let entries = entries.into_iter().map(failed).collect();
                if let Err(error) = self.vault.note_reads(entries, &caller.author, change.started, change.forgets) {
                    tracing::warn!(%error, "the audit was not written");
                }
                return Err(error);
            }
        };
        let (changed, receipt) = (change.plan.changed(), Some(change.plan.receipt()));
        Ok(Done { batch: Some(committed.batch), changed, receipt, ..Done::default() })
    }

    /// Commits a change, unless something was forgotten since it was planned: that would come back with it.
    fn commit_change(&self, batch: &Batch<'_>, forgets: u64) -> Result<Committed, ChangeError> {
        let mut writer = self.vault.lock()?;
        if forgets != writer.forgets()? {
            return Err(forgotten_meanwhile().into());
        }
        Ok(writer.commit(batch)?)
    }
}
