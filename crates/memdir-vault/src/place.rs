//! The folders of temporary files while a batch with moves is carried out: before the moves, and after them.

use cap_std::fs::Dir;

use super::{RecordedStep, VaultError, disk};
use memdir_core::path::MemoryPath;
use memdir_plan::Step;

/// For each step, the folder of its temporary file: before all moves, and after them.
///
/// The journal keeps them: after a crash the disk no longer tells which folders were there before the batch.
#[derive(Clone, Debug, Default, serde::Deserialize, serde::Serialize)]
pub(super) struct TempFolders {
    early: Vec<Option<MemoryPath>>,
    late: Vec<Option<MemoryPath>>,
}

/// Moves in the order in which they happen, from and to.
pub(super) type Moves<'a> = Vec<(&'a str, &'a str)>;

impl TempFolders {
    /// Finds the places on a disk on which nothing has been carried out yet.
    ///
    /// A temporary file lies beside its target, so that one instant can put it in place; where that folder has yet
    /// to be made, or is to be removed, in the nearest one above it that is there and stays.
    pub(super) fn before(root: &Dir, steps: &[RecordedStep]) -> Result<Self, VaultError> {
        let plain = || steps.iter().map(|step| &step.step);
        let moves = Self::moves(plain());
        let mut places = Self::default();
        for step in plain() {
            let Step::Put { path, .. } = step else {
                places.early.push(None);
                places.late.push(None);
                continue;
            };
            let mut early = Self::origin(&moves, path).unwrap_or_else(|| path.clone()).parent();
            let late = loop {
                let late = early.as_ref().map(|folder| Self::destination(&moves, folder));
                let goes = |late: &MemoryPath| {
                    let is_within =
                        |step: &Step| matches!(step, Step::RemoveFolder { path, .. } if late.is_within(path));
                    plain().any(is_within)
                };
                let stays = !late.as_ref().is_some_and(goes) && disk::open_folder(root, early.as_ref()).is_ok();
                if early.is_none() || stays {
                    break late;
                }
                early = early.and_then(|folder| folder.parent());
            };
            places.early.push(early);
            places.late.push(late);
        }
        Ok(places)
    }

    /// The folder of a step's temporary file before the moves.
    pub(super) fn early(&self, index: usize) -> Option<&MemoryPath> {
        self.early.get(index).and_then(Option::as_ref)
    }

    /// The folder of a step's temporary file after the moves.
    pub(super) fn late(&self, index: usize) -> Option<&MemoryPath> {
        self.late.get(index).and_then(Option::as_ref)
    }

    /// Each place in which a temporary file may lie, with the number of its step.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, Option<&MemoryPath>)> {
        let late = self.late.iter().enumerate().filter(|(index, folder)| self.early.get(*index) != Some(folder));
        self.early.iter().enumerate().chain(late).map(|(index, folder)| (index, folder.as_ref()))
    }

    /// The moves among `steps`.
    pub(super) fn moves<'s>(steps: impl IntoIterator<Item = &'s Step>) -> Moves<'s> {
        let moves = steps.into_iter().filter_map(|step| match step {
            Step::Move { from, to, .. } => Some((from.as_str(), to.as_str())),
            Step::MakeFolder { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => None,
        });
        moves.collect()
    }

    /// Where what is at `path` after the moves was before them; `None` when something else was there.
    pub(super) fn origin(moves: &[(&str, &str)], path: &MemoryPath) -> Option<MemoryPath> {
        let mut path = path.as_str().to_owned();
        for (from, to) in moves.iter().rev() {
            if let Some(rest) = within(&path, to) {
                path = format!("{from}{rest}");
            } else if within(&path, from).is_some() {
                return None;
            }
        }
        MemoryPath::parse(&path).ok()
    }

    /// Where the folder at `path` is after the moves.
    fn destination(moves: &[(&str, &str)], path: &MemoryPath) -> MemoryPath {
        let mut now = path.as_str().to_owned();
        for (from, to) in moves {
            if let Some(rest) = within(&now, from) {
                now = format!("{to}{rest}");
            }
        }
        MemoryPath::parse(&now).unwrap_or_else(|_| path.clone())
    }
}

impl RecordedStep {
    /// What differs after it.
    pub(super) fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        let new = match &self.step {
            Step::Move { to, .. } => Some(to),
            Step::MakeFolder { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => None,
        };
        std::iter::once(self.path()).chain(new)
    }

    pub(super) fn path(&self) -> &MemoryPath {
        match &self.step {
            Step::MakeFolder { path, .. }
            | Step::Put { path, .. }
            | Step::RemoveFolder { path, .. }
            | Step::Move { from: path, .. } => path,
        }
    }
}

fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
