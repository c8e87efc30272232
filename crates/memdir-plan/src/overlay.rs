//! [`Overlay`]: the memory as a batch has left it so far, and the owner of the normal form of a change.
//!
//! Three layers lie over the tree: folders made and things moved, in order (`structure`); files that differ
//! (`files`); folders that go (`removed`). The tree with `structure` alone is what a disk holds when the files are
//! put; it is called the *shaped* tree below. What always holds:
//!
//! * Keys of `files` and `removed` are names after all of `structure`; `before` is what the shaped tree holds there.
//! * A step of `structure` acts on the shaped tree of the steps before it: its target is free there, the parent
//!   of its target exists there.
//! * A folder in `removed` is one in the shaped tree, and every file of the shaped tree below it is in `files`
//!   without an `after`; every folder below it is in `removed`.
//! * No folder is made where the batch moved anything away; no file where it moved a folder away, nor where it
//!   moved a file away after it moved any folder. So the inverse of a change has a normal form too. (A change
//!   that is an inverse itself need not keep this: its own inverse may then be refused.)
//!
//! What would break this is not done: it is [`Trouble::Mixed`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::step::{Image, Step};
use crate::tree::{Entry, Listing, Stat, Tree, TreeError};
use memdir_core::path::{self, MemoryPath, is_same_form};
use memdir_core::report::Kind;

/// Why the overlay cannot answer or do something.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Trouble {
    /// The tree said so.
    Tree(TreeError),
    /// It cannot be put in order with what the batch did to this path before.
    Mixed(MemoryPath),
}

impl From<TreeError> for Trouble {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

/// A file that differs from the shaped tree.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) before: Option<Image>,
    pub(crate) after: Option<Image>,
}

/// Where something in the shaped tree comes from.
enum Origin {
    Tree(MemoryPath),
    Made(Option<u32>),
    Nothing,
}

/// What has to be done so that a folder exists.
#[derive(Debug)]
pub(crate) enum Missing {
    /// It has to be made.
    Make(MemoryPath),
    /// The batch removed it; it stays after all.
    Keep(MemoryPath),
    /// It is there, and whoever looks could not know: what comes into it shows it.
    Show(MemoryPath),
}

impl Missing {
    pub(crate) fn path(&self) -> &MemoryPath {
        let (Self::Make(path) | Self::Keep(path) | Self::Show(path)) = self;
        path
    }
}

#[derive(Debug)]
pub(crate) struct Overlay<'t, T> {
    pub(super) tree: &'t T,
    now: (i64, u32),
    /// Whether what could not be undone is refused; not so for what is an undoing itself.
    undoable: bool,
    pub(super) structure: Vec<Step>,
    pub(super) files: BTreeMap<MemoryPath, Change>,
    removed: BTreeMap<MemoryPath, Option<u32>>,
    /// Folders that are there for the owner alone, until the batch puts something into them.
    shown: BTreeSet<MemoryPath>,
    /// By how much the notes grew, in bytes.
    growth: i128,
}

/// The parts of a finished overlay.
pub(crate) struct Parts {
    pub(crate) structure: Vec<Step>,
    pub(crate) files: BTreeMap<MemoryPath, Change>,
    pub(crate) removed: BTreeMap<MemoryPath, Option<u32>>,
}

/// Questions.
impl<'t, T: Tree> Overlay<'t, T> {
    pub(crate) fn new(tree: &'t T) -> Self {
        let (structure, files, removed) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { tree, now: (0, 0), undoable: true, structure, files, removed, shown: BTreeSet::new(), growth: 0 }
    }

    /// The memory as its owner would see it after the batch.
    pub(crate) fn whole(&self) -> Overlay<'t, T::Whole> {
        let (structure, files, removed) = (self.structure.clone(), self.files.clone(), self.removed.clone());
        Overlay { structure, files, removed, growth: self.growth, ..Overlay::new(self.tree.whole()) }
    }

    /// What the batch has put at a path, if whoever looks may know of it.
    fn change(&self, path: &MemoryPath) -> Option<&Change> {
        self.files.get(path).filter(|_| self.tree.shows(path))
    }

    /// An overlay for undoing: it does all that can be expressed, even what could in turn not be undone.
    pub(crate) fn for_undo(tree: &'t T) -> Self {
        Self { undoable: false, ..Self::new(tree) }
    }

    /// Sets the time that files of this batch show.
    pub(crate) fn set_now(&mut self, now: (i64, u32)) {
        self.now = now;
    }

    /// The time that files of this batch show, in seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now.0
    }

    pub(crate) fn tree(&self) -> &'t T {
        self.tree
    }

    /// The bytes of all notes as the batch leaves them.
    pub(crate) fn note_bytes(&self) -> Result<i128, Trouble> {
        Ok(i128::from(self.tree.note_bytes()?) + self.growth)
    }

    /// Follows links and finds names in another Unicode form, as [`Tree::resolve`] does.
    pub(crate) fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, Trouble> {
        let place = match self.origin(path) {
            Origin::Tree(origin) if origin == *path => {
                let place = self.tree.resolve(path)?;
                if self.is_unchanged() || place.as_str().is_ascii() || self.stat(&place)?.is_some() {
                    return Ok(place);
                }
                place
            }
            // A link that moved with its folder may lead elsewhere by then.
            Origin::Tree(origin) => {
                let target = self.tree.resolve(&origin)?;
                if !is_same_form(target.as_str(), origin.as_str()) {
                    return Err(Trouble::Mixed(path.clone()));
                }
                path.clone()
            }
            Origin::Made(_) | Origin::Nothing => path.clone(),
        };
        Ok(if place.as_str().is_ascii() { place } else { self.in_another_form(&place) })
    }

    /// The path under the names that its components have in the folders that the batch has left, where only their Unicode
    /// form is another one.
    fn in_another_form(&self, path: &MemoryPath) -> MemoryPath {
        let mut place: Option<MemoryPath> = None;
        for name in path.components() {
            let entries = if name.is_ascii() { None } else { self.list(place.as_ref()).ok() };
            let entries = entries.map(|listing| listing.entries).unwrap_or_default();
            let mut names = entries.iter().map(|entry| entry.name.as_str());
            let is_there = names.clone().any(|other| other == name);
            let found = if is_there { None } else { path::in_another_form(name, &mut names) };
            match MemoryPath::in_folder(place.as_ref(), found.unwrap_or(name)) {
                Ok(path) => place = Some(path),
                Err(_) => return path.clone(),
            }
        }
        place.unwrap_or_else(|| path.clone())
    }

    /// Whether the last component of `path` is a link, given what `path` resolves to.
    pub(crate) fn is_link(&self, path: &MemoryPath, resolved: &MemoryPath) -> Result<bool, Trouble> {
        if path == resolved {
            return Ok(false);
        }
        let folder = path.parent().map(|parent| self.resolve(&parent)).transpose()?;
        let place = MemoryPath::in_folder(folder.as_ref(), path.name());
        if place.as_ref() == Ok(resolved) {
            return Ok(false);
        }
        let is_other_form = resolved.parent() == folder && is_same_form(resolved.name(), path.name());
        let is_named =
            || self.list(folder.as_ref()).map(|listing| listing.entries.iter().any(|entry| entry.name == path.name()));
        Ok(!is_other_form || is_named()?)
    }

    /// Whether `path` is `source` in another case or Unicode form, and is no entry of its own.
    pub(crate) fn is_respelled(&self, source: &MemoryPath, path: &MemoryPath) -> bool {
        let is_twin = source.parent() == path.parent()
            && source != path
            && memdir_note::folded(source.name()) == memdir_note::folded(path.name());
        let listed = || {
            let listing = self.list(path.parent().as_ref());
            listing.is_ok_and(|listing| listing.entries.iter().any(|entry| entry.name == path.name()))
        };
        is_twin && !listed()
    }

    /// Tells what is at a path that is resolved.
    pub(crate) fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, Trouble> {
        if self.shown.contains(path) {
            return Ok(Some(Stat { kind: Kind::Directory, size: 0, modified: self.now, mode: None }));
        }
        if let Some(change) = self.change(path) {
            return Ok(change.after.as_ref().map(|image| Stat {
                kind: Kind::File,
                size: image.content.bytes().len() as u64,
                modified: self.now,
                mode: image.mode,
            }));
        }
        if self.removed.contains_key(path) { Ok(None) } else { self.shaped_stat(path) }
    }

    fn shaped_stat(&self, path: &MemoryPath) -> Result<Option<Stat>, Trouble> {
        match self.origin(path) {
            Origin::Made(mode) => Ok(Some(Stat { kind: Kind::Directory, size: 0, modified: self.now, mode })),
            Origin::Nothing => Ok(None),
            Origin::Tree(origin) => match self.tree.stat(&origin) {
                Err(TreeError::NotFound(_) | TreeError::NotDirectory(_)) => Ok(None),
                other => Ok(other?),
            },
        }
    }

    /// Reads a file at a path that is resolved.
    pub(crate) fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, Trouble> {
        let missing = || Trouble::Tree(TreeError::NotFound(path.clone()));
        if let Some(change) = self.change(path) {
            return change.after.clone().ok_or_else(missing);
        }
        match self.origin(path) {
            Origin::Tree(origin) => Ok(self.tree.read(&origin, limit)?),
            Origin::Made(_) => Err(Trouble::Tree(TreeError::IsDirectory(path.clone()))),
            Origin::Nothing => Err(missing()),
        }
    }

    /// The tree, where the batch has changed nothing of it.
    pub(crate) fn as_it_was(&self) -> Option<&'t T> {
        (self.is_unchanged() && self.shown.is_empty()).then_some(self.tree)
    }

    /// Lists a folder at a path that is resolved.
    pub(crate) fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, Trouble> {
        let (origin, listing) = match folder.map(|folder| (folder, self.origin(folder))) {
            None => (None, self.tree.list(None)?),
            Some((folder, _)) if self.shown.contains(folder) => (None, Listing::default()),
            Some((_, Origin::Tree(origin))) => {
                let listing = self.tree.list(Some(&origin))?;
                (Some(origin), listing)
            }
            Some((_, Origin::Made(_))) => (None, Listing::default()),
            Some((folder, Origin::Nothing)) => return Err(TreeError::NotFound(folder.clone()).into()),
        };
        if self.is_unchanged() {
            return Ok(listing);
        }
        let mut entries = BTreeMap::new();
        for entry in listing.entries {
            let here = MemoryPath::in_folder(folder, &entry.name).ok();
            let there = MemoryPath::in_folder(origin.as_ref(), &entry.name).ok();
            let stays = match here.map(|here| self.origin(&here)) {
                Some(Origin::Tree(place)) => there.as_ref() == Some(&place),
                Some(Origin::Made(_) | Origin::Nothing) => false,
                None => true,
            };
            if stays {
                entries.insert(entry.name.clone(), entry);
            }
        }
        for path in self.touched_in(folder) {
            match self.stat(&path)? {
                Some(stat) => {
                    let name = path.name().to_owned();
                    entries.insert(name.clone(), Entry { name, stat, is_link: false });
                }
                None => drop(entries.remove(path.name())),
            }
        }
        Ok(Listing { entries: entries.into_values().collect(), has_others: listing.has_others })
    }

    /// The paths right in `folder` that the batch has changed.
    fn touched_in(&self, folder: Option<&MemoryPath>) -> BTreeSet<MemoryPath> {
        let is_here = |path: &MemoryPath| path.parent().as_ref() == folder;
        let structure = self.structure.iter().enumerate().filter_map(|(at, step)| match step {
            Step::MakeFolder { path, .. } | Step::Move { to: path, .. } => Some(self.name_after(at + 1, path.clone())),
            Step::Put { .. } | Step::RemoveFolder { .. } => None,
        });
        let prefix = folder.map_or(String::new(), |folder| format!("{folder}/"));
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let below = |path: &&MemoryPath| path.as_str().starts_with(&prefix);
        let files = self.files.range::<str, _>(from).map(|(path, _)| path).take_while(below);
        let files = files.chain(&self.shown);
        let removed = self.removed.range::<str, _>(from).map(|(path, _)| path).take_while(below);
        structure.chain(files.cloned()).chain(removed.cloned()).filter(is_here).collect()
    }

    /// The name that a path of the time before step `from` has after all steps.
    fn name_after(&self, from: usize, path: MemoryPath) -> MemoryPath {
        name_after(self.structure.get(from..).unwrap_or_default(), path)
    }

    /// Whether a folder is there only since the batch put something into it, for whoever looks.
    pub(super) fn shows_only(&self, folder: &MemoryPath) -> bool {
        self.shown.contains(folder)
    }

    /// Whether the batch has put a file at a path that is resolved.
    pub(super) fn is_put(&self, path: &MemoryPath) -> bool {
        self.files.contains_key(path)
    }

    /// The name that something had before the batch; `None` where the batch made it.
    pub(super) fn name_before(&self, path: &MemoryPath) -> Option<MemoryPath> {
        match self.origin(path) {
            Origin::Tree(origin) => Some(origin),
            Origin::Made(_) | Origin::Nothing => None,
        }
    }

    /// Whether the batch has changed nothing so far.
    pub(super) fn is_unchanged(&self) -> bool {
        self.structure.is_empty() && self.files.is_empty() && self.removed.is_empty()
    }

    fn origin(&self, path: &MemoryPath) -> Origin {
        let mut path = path.clone();
        for step in self.structure.iter().rev() {
            match step {
                Step::Move { from, to, .. } => {
                    if let Some(earlier) = path.rebased(to, from) {
                        path = earlier;
                    } else if path.is_within(from) {
                        return Origin::Nothing;
                    }
                }
                Step::MakeFolder { path: made, mode } => {
                    if path == *made {
                        return Origin::Made(*mode);
                    } else if path.is_within(made) {
                        return Origin::Nothing;
                    }
                }
                Step::Put { .. } | Step::RemoveFolder { .. } => {}
            }
        }
        Origin::Tree(path)
    }

    /// What the batch moved away from exactly this path, which is free since.
    ///
    /// Nothing counts where the change need not be undoable.
    fn moved_away(&self, path: &MemoryPath) -> Option<Kind> {
        if !self.undoable {
            return None;
        }
        let mut path = path.clone();
        for step in self.structure.iter().rev() {
            if let Step::Move { from, to, kind } = step {
                if let Some(earlier) = path.rebased(to, from) {
                    path = earlier;
                } else if path == *from {
                    return Some(*kind);
                }
            }
        }
        None
    }
}

/// Changes. Each is checked first and cannot fail halfway.
impl<T: Tree> Overlay<'_, T> {
    /// Checks that a file can be put at a path where nothing is now.
    pub(crate) fn check_room_for_file(&self, path: &MemoryPath) -> Result<(), Trouble> {
        // The inverse would rename by content and leave the name taken that a folder has to go back to.
        let moved_folders =
            || self.structure.iter().any(|step| matches!(step, Step::Move { kind: Kind::Directory, .. }));
        let blocked = match self.moved_away(path) {
            Some(Kind::Directory) => true,
            Some(Kind::File) => moved_folders(),
            None => self.removed.contains_key(path),
        };
        if blocked { Err(Trouble::Mixed(path.clone())) } else { Ok(()) }
    }

    /// Lists the folders that have to be made so that `folder` exists, the outermost first.
    pub(crate) fn missing(&self, folder: Option<MemoryPath>) -> Result<Vec<Missing>, Trouble> {
        let Some(folder) = folder else { return Ok(Vec::new()) };
        let mut missing = Vec::new();
        // A copy of all that the batch has done: made once, however deep the folder is.
        let mut whole = None;
        for path in folder.ancestors().chain([folder.clone()]) {
            match self.stat(&path)?.map(|stat| stat.kind) {
                Some(Kind::Directory) => {}
                Some(Kind::File) => return Err(TreeError::NotDirectory(path).into()),
                None if self.removed.contains_key(&path) => missing.push(Missing::Keep(path)),
                None if self.change(&path).is_some() || self.moved_away(&path).is_some() => {
                    return Err(Trouble::Mixed(path));
                }
                None if self.tree.is_part()
                    && whole.get_or_insert_with(|| self.whole()).stat(&path)?.is_some_and(is_folder) =>
                {
                    missing.push(Missing::Show(path));
                }
                None => missing.push(Missing::Make(path)),
            }
        }
        Ok(missing)
    }

    /// Whether something can be made at a path where nothing is for whoever looks: neither there nor on the way may be what
    /// they do not see, but for folders.
    pub(crate) fn is_free_for_owner(&self, path: &MemoryPath) -> bool {
        if !self.tree.is_part() {
            return true;
        }
        let whole = self.whole();
        let kind = |path: &MemoryPath| whole.stat(path).map(|stat| stat.map(|stat| stat.kind));
        whole.resolve(path).as_ref() == Ok(path)
            && kind(path) == Ok(None)
            && path.ancestors().all(|folder| matches!(kind(&folder), Ok(None | Some(Kind::Directory))))
    }

    /// Makes what [`Overlay::missing`] found.
    pub(crate) fn make(&mut self, missing: Vec<Missing>) {
        for folder in missing {
            match folder {
                Missing::Make(path) => self.make_folder(path, None),
                Missing::Keep(path) => drop(self.removed.remove(&path)),
                Missing::Show(path) => drop(self.shown.insert(path)),
            }
        }
    }

    pub(crate) fn make_folder(&mut self, path: MemoryPath, mode: Option<u32>) {
        self.structure.push(Step::MakeFolder { path, mode });
    }

    /// Puts a file, or removes it; `now` is what [`Overlay::read`] gave for it, `None` where nothing is.
    pub(crate) fn put(&mut self, path: MemoryPath, now: Option<Image>, after: Option<Image>) {
        let bytes = |image: &Option<Image>| image.as_ref().map_or(0, |image| image.content.bytes().len() as i128);
        if path.is_note() {
            self.growth += bytes(&after) - bytes(&now);
        }
        let change = self.files.entry(path.clone()).or_insert(Change { before: now, after: None });
        change.after = after;
        // A file that is made again where the batch deleted it replaces that one.
        if let (Some(before), Some(after)) = (&change.before, &mut change.after) {
            after.mode = after.mode.or(before.mode);
        }
        if change.after == change.before {
            self.files.remove(&path);
        }
    }

    /// Notes that a folder goes whose files were all put to nothing and whose folders were all removed.
    pub(crate) fn remove_folder(&mut self, path: MemoryPath, mode: Option<u32>) {
        self.removed.insert(path, mode);
    }

    /// Whether something can only be renamed by content: it was made in this batch, or its new name is not yet free.
    ///
    /// Nothing may be at `to`, and the folder of `to` may be one that is still to be made.
    pub(crate) fn moves_by_content(&self, kind: Kind, from: &MemoryPath, to: &MemoryPath) -> Result<bool, Trouble> {
        if self.removed.contains_key(to) {
            return Err(Trouble::Mixed(to.clone()));
        }
        let is_taken = self.files.contains_key(to);
        match kind {
            Kind::Directory if is_taken || self.is_made_and_moved_into(from) => Err(Trouble::Mixed(to.clone())),
            // It would be made under a name to which something else has to go back.
            Kind::Directory if self.made_as(from).is_some() && self.moved_away(to).is_some() => {
                Err(Trouble::Mixed(to.clone()))
            }
            Kind::Directory => Ok(false),
            Kind::File => {
                let made_here = self.files.get(from).is_some_and(|change| change.before.is_none());
                if made_here || is_taken {
                    self.check_room_for_file(to)?;
                }
                Ok(made_here || is_taken)
            }
        }
    }

    /// Renames by a step of its own. The target is free and its folder exists, see [`Overlay::moves_by_content`].
    pub(crate) fn rename(&mut self, kind: Kind, from: &MemoryPath, to: &MemoryPath, size: u64) {
        if kind == Kind::File {
            let bytes = |path: &MemoryPath| if path.is_note() { i128::from(size) } else { 0 };
            self.growth += bytes(to) - bytes(from);
        }
        self.files = rekeyed(std::mem::take(&mut self.files), from, to);
        self.removed = rekeyed(std::mem::take(&mut self.removed), from, to);
        if self.made_as(from).is_some() {
            self.make_under(from, to);
            return;
        }
        // Two renames of the same thing in a row are one.
        let mut origin = from.clone();
        if let Some(Step::Move { from: first, to: second, .. }) = self.structure.last()
            && second == from
        {
            origin = first.clone();
            self.structure.pop();
        }
        if origin != *to {
            self.structure.push(Step::Move { from: origin, to: to.clone(), kind });
        }
    }

    /// The steps that make a folder, which is called `now`, and the folders in it; `None` where it was there before.
    fn made_as(&self, now: &MemoryPath) -> Option<Vec<usize>> {
        let mut made = Vec::new();
        let mut is_made = false;
        for (at, step) in self.structure.iter().enumerate() {
            let Step::MakeFolder { path, .. } = step else { continue };
            let name = self.name_after(at + 1, path.clone());
            if name.is_within(now) && matches!(self.origin(&name), Origin::Made(_)) {
                is_made |= name == *now;
                made.push(at);
            }
        }
        is_made.then_some(made)
    }

    /// Whether the batch made this folder and moved something into it. What moves has to be there before the batch,
    /// so such a folder cannot be renamed by making it under its new name.
    fn is_made_and_moved_into(&self, now: &MemoryPath) -> bool {
        let moved_into = |at: usize, to: &MemoryPath| {
            let name = self.name_after(at + 1, to.clone());
            name.is_within(now) && name != *now
        };
        self.made_as(now).is_some()
            && self.structure.iter().enumerate().any(|(at, step)| match step {
                Step::Move { to, .. } => moved_into(at, to),
                Step::MakeFolder { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => false,
            })
    }

    /// Makes a folder of this batch under another name instead, with the folders in it.
    fn make_under(&mut self, from: &MemoryPath, to: &MemoryPath) {
        let made = self.made_as(from).unwrap_or_default();
        let again: Vec<Step> = made
            .iter()
            .filter_map(|&at| {
                let Some(Step::MakeFolder { path, mode }) = self.structure.get(at) else { return None };
                let path = self.name_after(at + 1, path.clone()).rebased(from, to)?;
                Some(Step::MakeFolder { path, mode: *mode })
            })
            .collect();
        let mut at = 0;
        self.structure.retain(|_| {
            at += 1;
            !made.contains(&(at - 1))
        });
        self.structure.extend(again);
    }

    pub(crate) fn into_parts(self) -> Parts {
        let Self { mut structure, files, mut removed, .. } = self;
        // A folder that was made and is gone again, and that nothing moved through, never was.
        let is_idle = |folder: &MemoryPath, structure: &[Step]| {
            structure.iter().all(|step| match step {
                Step::Move { from, to, .. } => {
                    !from.is_within(folder) && !to.is_within(folder) && !folder.is_within(from) && !folder.is_within(to)
                }
                Step::MakeFolder { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => true,
            })
        };
        let made = structure.iter().filter_map(|step| match step {
            Step::MakeFolder { path, .. } => Some(path),
            Step::Move { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => None,
        });
        let idle: BTreeSet<MemoryPath> =
            made.filter(|path| removed.contains_key(*path) && is_idle(path, &structure)).cloned().collect();
        structure.retain(|step| !matches!(step, Step::MakeFolder { path, .. } if idle.contains(path)));
        removed.retain(|path, _| !idle.contains(path));
        Parts { structure, files, removed }
    }
}

fn is_folder(stat: Stat) -> bool {
    stat.kind == Kind::Directory
}

/// The name that a path of the time before some steps has after them.
pub(super) fn name_after(steps: &[Step], mut path: MemoryPath) -> MemoryPath {
    for step in steps {
        if let Step::Move { from, to, .. } = step
            && let Some(moved) = path.rebased(from, to)
        {
            path = moved;
        }
    }
    path
}

fn rekeyed<V>(map: BTreeMap<MemoryPath, V>, from: &MemoryPath, to: &MemoryPath) -> BTreeMap<MemoryPath, V> {
    map.into_iter().map(|(path, value)| (path.rebased(from, to).unwrap_or(path), value)).collect()
}
