//! What is in the way of an undo, and how the person gets it out of the way.

use super::{ChangeError, Engine};
use memdir_core::path::MemoryPath;
use memdir_core::report::LogEntry;
use memdir_plan::{self as plan, Image, Step, Tree, UndoError};
use memdir_vault::LogQuery;

/// How many of the newest changes of a note are searched for the one that is in the way.
const MOST_LATER: usize = 100;
/// How many changes are followed of which each is in the way of undoing the one before it.
const MOST_LINKS: usize = 8;

/// What is in the way of an undo.
enum Blocking {
    /// A later change.
    Change(u64),
    /// What another program did to the note.
    Outside,
    /// Another program deleted the note.
    DeletedOutside,
}

impl Engine {
    /// Why a batch cannot be undone, with what has to go first, where the history tells that. Where it does not, that is no reason for
    /// another failure.
    pub(super) fn refused(&self, batch: u64, steps: &[Step], error: UndoError) -> ChangeError {
        let (path, way) = match &error {
            UndoError::Conflict { path, .. } => (path.clone(), "edit the note by hand"),
            UndoError::Taken(path) => (path.clone(), "rename or remove what has the name now"),
            UndoError::Elsewhere { .. } | UndoError::Blocked(_) | UndoError::Tree(_) => return error.into(),
        };
        let ChangeError { mut failure, diff } = error.into();
        let mut hint = match self.blocking(batch, steps, &path) {
            Some(Blocking::Change(later)) => {
                failure.message.push_str(&format!(": change {later}"));
                failure.details.batch = Some(later);
                format!("`memdir undo {later}` undoes that one first; or {way}")
            }
            Some(Blocking::Outside) => {
                failure.message.push_str(", outside memdir");
                way.to_owned()
            }
            Some(Blocking::DeletedOutside) => {
                failure.message.push_str(": it was deleted outside memdir");
                "`memdir log NOTE` shows its changes, `memdir restore NOTE --at NUMBER` brings it back".to_owned()
            }
            None => format!("undo the later change first, or {way}"),
        };
        if diff.is_some() {
            hint.push_str(&format!("; the diff leads from the note as it is to what it was before change {batch}"));
        }
        ChangeError { failure: failure.with_hint(hint), diff }
    }

    /// What is in the way of undoing a batch at this note. Of several changes it is the newest, which can be undone first.
    fn blocking(&self, batch: u64, steps: &[Step], path: &MemoryPath) -> Option<Blocking> {
        let page = LogQuery { path: Some(path.clone()), limit: MOST_LATER, ..LogQuery::default() };
        let entries = self.vault.log(&page).ok()?.entries;
        if self.is_folder(path) {
            let stands = |entry: &&LogEntry| entry.undone_by.is_none() && entry.undoes.is_none();
            let later = entries.iter().find(stands).and_then(|entry| entry.batch).filter(|later| *later > batch);
            return Some(later.map_or(Blocking::Outside, Blocking::Change));
        }
        let now = self.vault.read(path, self.settings.limits.file_bytes).ok();
        let (mut batch, mut steps) = (batch, steps.to_vec());
        for _ in 1..MOST_LINKS {
            let found = self.last_to_block(batch, &steps, (path, now.as_ref()), &entries)?;
            let Blocking::Change(later) = found else { return Some(found) };
            let Ok(its_steps) = self.steps_to_undo(later, &[]) else { return Some(found) };
            (batch, steps) = (later, its_steps);
            if plan::would_conflict(&steps, path, now.as_ref()) != Some(true) {
                return Some(found);
            }
        }
        Some(Blocking::Change(batch))
    }

    /// What stands in the way of undoing a batch at this note: the last change, or edit by another program, with which the undoing
    /// became a conflict; or a newer change that conflicts with it by itself.
    fn last_to_block(
        &self,
        batch: u64,
        steps: &[Step],
        (path, now): (&MemoryPath, Option<&Image>),
        entries: &[LogEntry],
    ) -> Option<Blocking> {
        let outside = |left: Option<&Image>| left.map_or(Blocking::DeletedOutside, |_| Blocking::Outside);
        let mut found = outside(now);
        // Several changes can each be enough.
        let mut newest = None;
        let mut left = now.cloned();
        for entry in entries {
            let Some(later) = entry.batch else { continue };
            let then = self.vault.image_at(path, later).ok()??;
            if later <= batch || !plan::would_conflict(steps, path, then.as_ref())? {
                return Some(outside(left.as_ref()));
            }
            left = self.vault.image_found_by(later, path).ok()?.unwrap_or_else(|| then.clone());
            let is_first = !plan::would_conflict(steps, path, left.as_ref())?;
            let is_enough = plan::would_conflict_after(steps, path, left.as_ref(), then.as_ref());
            // What was undone is in nobody's way, nor is its undoing, unless that brought back what is.
            let is_change = entry.undoes.is_none_or(|undone| undone <= batch);
            if entry.undone_by.is_none() && (is_change || is_first || is_enough) {
                newest = newest.or(is_enough.then_some(later));
                found = Blocking::Change(later);
            }
            if is_first {
                return Some(newest.map_or(found, Blocking::Change));
            }
        }
        None
    }
}
