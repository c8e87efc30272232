//! [`PastFiles`]: what was where at a moment of the past, from what is there now and what the batches of the history did.
//!
//! Owns the rules by which names are followed back and contents are chosen. Contents are numbers or whatever stands for them
//! here; who reads them is the vault.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use memdir_core::path::MemoryPath;

/// A step of a batch, with something that stands for each content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PastStep<C> {
    /// A folder was made.
    MakeFolder(MemoryPath),
    /// A file or a folder was renamed.
    Move {
        /// What it was called.
        from: MemoryPath,
        /// What it was called then.
        to: MemoryPath,
    },
    /// A file was made, replaced or deleted.
    Put {
        /// Where.
        path: MemoryPath,
        /// What stood there.
        before: Option<C>,
        /// What stood there then.
        after: Option<C>,
    },
    /// A folder was deleted.
    RemoveFolder(MemoryPath),
}

/// What a file held.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Held<C> {
    /// What the file of this name holds now.
    Now(MemoryPath),
    /// This.
    Kept(C),
}

/// The files and folders of a memory at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PastFiles<C> {
    /// What each file held.
    pub files: BTreeMap<MemoryPath, Held<C>>,
    /// The folders, also those that held nothing.
    pub folders: BTreeSet<MemoryPath>,
}

/// What of the contents and of the files as they are can be used.
pub struct Evidence<'e, C> {
    /// Whether a content is still kept.
    pub is_kept: &'e dyn Fn(&C) -> bool,
    /// Whether a file of now has held what it holds since before the moment.
    pub is_old: &'e dyn Fn(&MemoryPath) -> bool,
}

impl<C: Clone> PastFiles<C> {
    /// Finds what was there between the steps of `earlier` and those of `later`, which are in the order in which they happened;
    /// `files` and `folders` are there now.
    ///
    /// A file that steps touched holds what the last of `earlier` left in it, or where that is not kept or there is none, what the
    /// first of `later` found in it. So what was changed outside the history counts from the step that found it; only a file that
    /// no step of `later` touched, and that has not changed since before the moment, holds what it holds now. What no step
    /// touched is as it is now, unless it is in a folder that was made later.
    #[must_use]
    pub fn between(
        earlier: &[PastStep<C>],
        later: &[PastStep<C>],
        files: impl IntoIterator<Item = MemoryPath>,
        folders: impl IntoIterator<Item = MemoryPath>,
        evidence: &Evidence<'_, C>,
    ) -> Self {
        let files = files.into_iter().map(|path| (path.clone(), Held::Now(path))).collect();
        let mut past = Self { files, folders: folders.into_iter().collect() };
        for step in later.iter().rev() {
            past.take_back(step);
        }
        past.settle(left_by(earlier), evidence);
        let above: Vec<_> = past.files.keys().flat_map(MemoryPath::ancestors).collect();
        past.folders.extend(above);
        past
    }

    fn take_back(&mut self, step: &PastStep<C>) {
        match step {
            PastStep::MakeFolder(path) => {
                take(&mut self.files, path);
                self.folders.retain(|folder| !folder.is_within(path));
            }
            PastStep::RemoveFolder(path) => {
                self.folders.insert(path.clone());
            }
            PastStep::Move { from, to } => {
                rename(&mut self.files, to, from);
                let folders = std::mem::take(&mut self.folders).into_iter();
                self.folders = folders.map(|folder| folder.rebased(to, from).unwrap_or(folder)).collect();
            }
            PastStep::Put { path, before: Some(content), .. } => {
                self.files.insert(path.clone(), Held::Kept(content.clone()));
            }
            PastStep::Put { path, before: None, .. } => {
                self.files.remove(path);
            }
        }
    }

    /// Puts what the steps before the moment left over what those after it found.
    fn settle(&mut self, left: BTreeMap<MemoryPath, Option<C>>, evidence: &Evidence<'_, C>) {
        for (path, content) in left {
            let is_as_now = matches!(self.files.get(&path), Some(Held::Now(now)) if (evidence.is_old)(now));
            match content {
                _ if is_as_now => {}
                None => drop(self.files.remove(&path)),
                Some(content) if (evidence.is_kept)(&content) => drop(self.files.insert(path, Held::Kept(content))),
                Some(_) => {}
            }
        }
    }
}

/// What steps left under each name that they touched; `None` where nothing was.
fn left_by<C: Clone>(steps: &[PastStep<C>]) -> BTreeMap<MemoryPath, Option<C>> {
    let mut left = BTreeMap::new();
    for step in steps {
        match step {
            PastStep::Put { path, after, .. } => drop(left.insert(path.clone(), after.clone())),
            PastStep::Move { from, to } => {
                rename(&mut left, from, to);
                left.insert(from.clone(), None);
            }
            PastStep::MakeFolder(_) | PastStep::RemoveFolder(_) => {}
        }
    }
    left
}

/// The names that what is called `name` before some steps has after them, this one included, until it is deleted.
#[must_use]
pub fn names_after<C>(name: &MemoryPath, steps: &[PastStep<C>]) -> Vec<MemoryPath> {
    let mut names = vec![name.clone()];
    for step in steps {
        let Some(last) = names.last() else { break };
        match step {
            PastStep::Move { from, to } => names.extend(last.rebased(from, to)),
            PastStep::Put { path, after: None, .. } if path == last => break,
            PastStep::Put { .. } | PastStep::MakeFolder(_) | PastStep::RemoveFolder(_) => {}
        }
    }
    names
}

/// The name that what is called `name` after some steps had before them.
#[must_use]
pub fn name_before<C>(name: &MemoryPath, steps: &[PastStep<C>]) -> MemoryPath {
    steps.iter().rev().fold(name.clone(), |name, step| match step {
        PastStep::Move { from, to } => name.rebased(to, from).unwrap_or(name),
        PastStep::Put { .. } | PastStep::MakeFolder(_) | PastStep::RemoveFolder(_) => name,
    })
}

/// Gives what is at `from` and below it the names that it has when that is called `to`; what had these is gone.
fn rename<V>(map: &mut BTreeMap<MemoryPath, V>, from: &MemoryPath, to: &MemoryPath) {
    let moved = take(map, from);
    take(map, to);
    map.extend(moved.into_iter().map(|(path, value)| (path.rebased(from, to).unwrap_or(path), value)));
}

/// Takes out what is at a path and below it.
fn take<V>(map: &mut BTreeMap<MemoryPath, V>, path: &MemoryPath) -> Vec<(MemoryPath, V)> {
    let prefix = format!("{path}/");
    let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    let below = map.range::<str, _>(from).map(|(path, _)| path).take_while(|path| path.as_str().starts_with(&prefix));
    let paths: Vec<_> = below.cloned().chain([path.clone()]).collect();
    paths.into_iter().filter_map(|path| map.remove_entry(&path)).collect()
}
