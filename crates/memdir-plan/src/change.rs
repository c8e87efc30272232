//! [`Plan`]: the whole change as a value, and how it reads as a diff, as counts and as a list of paths.
//!
//! Owns the order of steps. Touches nothing but the values given to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::diff;
use crate::overlay::{Overlay, name_after};
use crate::seen::Seen;
use crate::step::{Image, Step};
use crate::tree::Tree;
use memdir_core::path::MemoryPath;
use memdir_core::report::Issue;

/// What a batch would change: every before and every after. Nothing is done yet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    steps: Vec<Step>,
    issues: Vec<Issue>,
    seen: Option<Seen>,
    /// Whether a note belongs to the past after it that did not before.
    pub(crate) sets_aside: bool,
}

/// What a receipt says of a change.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Files that are made, changed or deleted, sorted by path.
    pub files: Vec<FileCount>,
    /// Files and folders that are renamed: both names.
    pub moved: Vec<(MemoryPath, MemoryPath)>,
    /// Folders that are made.
    pub made_folders: Vec<MemoryPath>,
    /// Folders that are removed.
    pub removed_folders: Vec<MemoryPath>,
}

/// What happens to one file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileCount {
    /// Its name after the change; the one before it where the file is gone.
    pub path: MemoryPath,
    /// Whether it is made, changed or deleted.
    pub fate: Fate,
    /// Lines that are new; 0 for a file that is no text.
    pub added: usize,
    /// Lines that are gone; 0 for a file that is no text.
    pub removed: usize,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It is new.
    Made,
    /// It differs.
    Changed,
    /// It is gone.
    Deleted,
}

impl Plan {
    pub(crate) fn of<T: Tree>(overlay: Overlay<'_, T>, issues: Vec<Issue>, mut seen: Option<Seen>) -> Self {
        let tree = overlay.tree();
        let parts = overlay.into_parts();
        let mut steps = parts.structure;
        let puts = parts.files.into_iter();
        steps.extend(puts.map(|(path, change)| Step::Put { path, before: change.before, after: change.after }));
        // A folder sorts before what stands in it, so the reverse is the deepest first.
        let removed = parts.removed.into_iter().rev();
        steps.extend(removed.map(|(path, mode)| Step::RemoveFolder { path, mode }));
        if let Some(seen) = &mut seen {
            seen.follow(&steps, |path| tree.shows(path));
        }
        Self { steps, issues, seen, sets_aside: false }
    }

    /// The change as far as somebody may be told of it who is shown these paths alone. It cannot be carried out.
    #[must_use]
    pub fn shown(&self, shows: impl Fn(&MemoryPath) -> bool) -> Self {
        let is_shown = |step: &&Step| match step {
            Step::Move { from, to, .. } => shows(from) && shows(to),
            Step::Put { path, .. } | Step::MakeFolder { path, .. } | Step::RemoveFolder { path, .. } => shows(path),
        };
        let steps = self.steps.iter().filter(is_shown).cloned().collect();
        Self { steps, issues: self.issues.clone(), seen: self.seen.clone(), sets_aside: self.sets_aside }
    }

    /// Leaves other files as they are than these, and gives those that were to change.
    pub fn keep_puts(&mut self, keeps: impl Fn(&MemoryPath) -> bool) -> Vec<MemoryPath> {
        let mut left = Vec::new();
        self.steps.retain(|step| match step {
            Step::Put { path, .. } if !keeps(path) => {
                left.push(path.clone());
                false
            }
            Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => true,
        });
        left
    }

    /// The steps, in normal form (see [`Step`]).
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What was noticed while planning, such as a loose match.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// What the conversation knows after it, where there is one.
    #[must_use]
    pub fn seen(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    /// What the notes hold after it that who asked for it may know of.
    #[must_use]
    pub fn leaves(&self, shows: impl Fn(&MemoryPath) -> bool) -> Seen {
        let mut seen = Seen::default();
        seen.follow(&self.steps, shows);
        seen
    }

    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Every path that would differ, sorted: both names of a rename, deleted files too.
    ///
    /// A folder that is made or removed is named only where no other path in it is.
    #[must_use]
    pub fn changed(&self) -> Vec<MemoryPath> {
        changed(&self.steps)
    }

    /// The change as a unified diff over all files, in the order of their paths.
    #[must_use]
    pub fn diff(&self) -> String {
        diff_of(&self.steps)
    }

    /// What a receipt says of it.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { moved: renames(&self.steps), ..Counts::default() };
        for (step, name) in self.steps.iter().zip(names(&self.steps)) {
            match (step, name) {
                (Step::MakeFolder { .. }, Some(name)) => counts.made_folders.push(name),
                (Step::RemoveFolder { .. }, Some(name)) => counts.removed_folders.push(name),
                (Step::Put { before, after, .. }, Some(name)) => {
                    counts.files.push(count(name, before.as_ref(), after.as_ref()));
                }
                (Step::Move { .. }, _) | (_, None) => {}
            }
        }
        counts
    }
}

/// The paths that steps change, as [`Plan::changed`] gives them.
#[must_use]
pub fn changed(steps: &[Step]) -> Vec<MemoryPath> {
    let mut paths: BTreeSet<MemoryPath> = renames(steps).into_iter().flat_map(<[MemoryPath; 2]>::from).collect();
    let mut folders = BTreeSet::new();
    for (step, name) in steps.iter().zip(names(steps)) {
        let is_folder = matches!(step, Step::MakeFolder { .. } | Step::RemoveFolder { .. });
        if is_folder { folders.extend(name) } else { paths.extend(name) }
    }
    if paths.is_empty() && folders.is_empty() {
        // What was moved is back where it was.
        paths.extend(moves(steps).into_iter().flat_map(|(from, to)| [from.clone(), to.clone()]));
    }
    // The deepest first, so that a folder with a named folder in it is not named itself.
    for folder in folders.into_iter().rev() {
        let prefix = format!("{folder}/");
        let below = paths.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded)).next();
        if !below.is_some_and(|path| path.as_str().starts_with(&prefix)) {
            paths.insert(folder);
        }
    }
    paths.into_iter().collect()
}

/// The change that steps make as a unified diff, as [`Plan::diff`] gives it.
#[must_use]
pub fn diff_of(steps: &[Step]) -> String {
    // By path, and at one path the rename before the content.
    let mut parts = BTreeMap::<MemoryPath, String>::new();
    for (from, to) in renames(steps) {
        let text = format!("rename from {from}\nrename to {to}\n");
        parts.entry(to).or_default().push_str(&text);
    }
    let moves = moves(steps);
    for (step, name) in steps.iter().zip(names(steps)) {
        match step {
            Step::Put { path, before, after } => {
                let text = put_diff(&moves, path, before.as_ref(), after.as_ref());
                parts.entry(path.clone()).or_default().push_str(&text);
            }
            Step::MakeFolder { .. } | Step::RemoveFolder { .. } => {
                let Some(name) = name else { continue };
                let what = if matches!(step, Step::MakeFolder { .. }) { "new" } else { "deleted" };
                let text = format!("{what} folder {name}\n");
                parts.entry(name).or_default().push_str(&text);
            }
            Step::Move { .. } => {}
        }
    }
    parts.into_values().collect()
}

fn put_diff(moves: &[Moved<'_>], path: &MemoryPath, before: Option<&Image>, after: Option<&Image>) -> String {
    let old_name = name_before(moves, path);
    let mut text = match (before.and_then(|image| image.mode), after.and_then(|image| image.mode)) {
        (Some(old), Some(new)) if old != new => format!("old mode {old:o}\nnew mode {new:o}\n"),
        _ => String::new(),
    };
    let old = before.map(|image| image.content.bytes());
    let new = after.map(|image| image.content.bytes());
    text.push_str(&diff::unified(old_name.as_str(), old, path.as_str(), new));
    text
}

fn count(path: MemoryPath, before: Option<&Image>, after: Option<&Image>) -> FileCount {
    let counted =
        before.map_or(Some(""), |image| image.content.text()).zip(after.map_or(Some(""), |image| image.content.text()));
    let counted = counted.map(|(before, after)| diff::counts(before, after));
    let (added, removed) = counted.unwrap_or_default();
    let fate = match (before, after) {
        (None, _) => Fate::Made,
        (_, None) => Fate::Deleted,
        _ => Fate::Changed,
    };
    FileCount { path, fate, added, removed }
}

/// Both names of something that is moved.
type Moved<'a> = (&'a MemoryPath, &'a MemoryPath);

/// The moves among steps, in their order.
fn moves(steps: &[Step]) -> Vec<Moved<'_>> {
    let moves = steps.iter().filter_map(|step| match step {
        Step::Move { from, to, .. } => Some((from, to)),
        Step::MakeFolder { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => None,
    });
    moves.collect()
}

/// The name that a path of the time after some moves had before them all.
fn name_before(moves: &[Moved<'_>], path: &MemoryPath) -> MemoryPath {
    moves.iter().rev().fold(path.clone(), |path, (from, to)| path.rebased(to, from).unwrap_or(path))
}

/// The name by which each step is told: the one after all moves, or the one before them of what is gone. `None` for a move, and
/// for a folder that is made and removed.
pub(super) fn names(steps: &[Step]) -> Vec<Option<MemoryPath>> {
    let (moves, gone) = (moves(steps), gone(steps));
    let made: Vec<Option<MemoryPath>> = (0..)
        .zip(steps)
        .map(|(at, step)| match step {
            Step::MakeFolder { path, .. } => Some(name_after(steps.get(at..).unwrap_or_default(), path.clone())),
            Step::Move { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => None,
        })
        .collect();
    let new: BTreeSet<&MemoryPath> = made.iter().flatten().collect();
    let name = |(step, made): (&Step, &Option<MemoryPath>)| match step {
        Step::Move { .. } => None,
        Step::MakeFolder { .. } => made.clone().filter(|made| !gone.contains(made)),
        Step::RemoveFolder { path, .. } => (!new.contains(path)).then(|| name_before(&moves, path)),
        Step::Put { path, .. } if gone.contains(path) => Some(name_before(&moves, path)),
        Step::Put { path, .. } => Some(path.clone()),
    };
    steps.iter().zip(&made).map(name).collect()
}

/// What is gone in the end, by the names after all moves.
fn gone(steps: &[Step]) -> BTreeSet<&MemoryPath> {
    let gone = steps.iter().filter_map(|step| match step {
        Step::RemoveFolder { path, .. } | Step::Put { path, before: Some(_), after: None } => Some(path),
        Step::Move { .. } | Step::MakeFolder { .. } | Step::Put { .. } => None,
    });
    gone.collect()
}

/// What is called differently in the end: both names, without what only moved along with its folder, and what is gone.
pub(super) fn renames(steps: &[Step]) -> Vec<(MemoryPath, MemoryPath)> {
    let mut pairs = BTreeMap::new();
    let gone = gone(steps);
    let moves = moves(steps);
    for (at, (from, to)) in moves.iter().enumerate() {
        let later = moves.iter().skip(at + 1);
        let name = later.fold((*to).clone(), |name, (from, to)| name.rebased(from, to).unwrap_or(name));
        pairs.insert(name_before(moves.get(..at).unwrap_or_default(), from), name);
    }
    let along = |from: &MemoryPath, to: &MemoryPath| {
        from.ancestors().any(|folder| {
            let above = pairs.get(&folder);
            above.is_some_and(|above| from.rebased(&folder, above).as_ref() == Some(to))
        })
    };
    let is_told = |from: &MemoryPath, to: &MemoryPath| from != to && !gone.contains(to) && !along(from, to);
    pairs.iter().filter(|(from, to)| is_told(from, to)).map(|(a, b)| (a.clone(), b.clone())).collect()
}
