//! Undoing a recorded batch on the memory as it is now, and putting one file back.
//!
//! Owns what is given back, what is merged and what is a conflict. Never overwrites a later edit.

use crate::change::Plan;
use crate::overlay::{Overlay, Trouble};
use crate::relink::{Later, LaterLinks};
use crate::step::{Content, Image, Step};
use crate::tree::{Tree, TreeError};
use crate::{Limits, diff, merge};
use memdir_core::path::{MemoryPath, is_same_form};
use memdir_core::report::Kind;
use memdir_note::{Note, Syntax};

/// Why a batch cannot be undone.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UndoError {
    /// Something was changed since in the same place.
    #[error("`{path}` was changed since")]
    Conflict {
        /// What was changed.
        path: MemoryPath,
        /// A unified diff from what is there now to what undoing wanted.
        diff: String,
    },
    /// What it did stands in a note that a later batch deleted or renamed, or found deleted, so that another may have the name now.
    #[error("a later change {did} `{path}`")]
    Elsewhere {
        /// The name that the note had then.
        path: MemoryPath,
        /// The later batch.
        batch: u64,
        /// What that did.
        did: &'static str,
    },
    /// Something else has taken a name that undoing needs.
    #[error("the name `{0}` was taken since")]
    Taken(MemoryPath),
    /// It cannot be put in order with the rest. A batch that was planned can always be undone; an undoing of one that
    /// renamed things in a circle may not.
    #[error("`{0}` is in the way")]
    Blocked(MemoryPath),
    /// The memory could not be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

impl From<Trouble> for UndoError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Tree(error) => Self::Tree(error),
            Trouble::Mixed(path) => Self::Blocked(path),
        }
    }
}

/// Plans the inverse of the steps of a batch, on the memory as it is now.
///
/// Files that are as the batch left them get back what they were, and their mode where the batch changed it. A
/// text that was edited since in other places is merged line by line. Renames go back, folders that the batch made
/// go if they are empty, folders that it removed come back.
///
/// # Errors
///
/// [`UndoError::Conflict`] where a later change overlaps or touches what the batch did, or took its place away; [`UndoError::Taken`]
/// where something else has the name that is to come back.
pub fn undo<T: Tree>(steps: &[Step], tree: &T, limits: &Limits) -> Result<Plan, UndoError> {
    undo_with_later(steps, tree, limits, &LaterLinks { changed: &|_| false, said: &|_| None })
}

/// As [`undo`]. Where the batch renamed one thing, the links that were written since and lead to its new name go back with it; all others
/// say what they said before the batch.
///
/// # Errors
///
/// The same.
pub fn undo_with_later<T: Tree>(
    steps: &[Step],
    tree: &T,
    limits: &Limits,
    later: &LaterLinks<'_>,
) -> Result<Plan, UndoError> {
    let mut overlay = Overlay::for_undo(tree);
    let links = match renames(steps).as_slice() {
        [(from, to)] => {
            let said = |path: &MemoryPath| said_before(steps, path).or_else(|| (later.said)(path));
            let known = LaterLinks { changed: later.changed, said: &said };
            Some(Later::look(&overlay, (*to, *from), limits.file_bytes, &known)?)
        }
        _ => None,
    };
    give_back(&mut overlay, steps, limits)?;
    if let Some(links) = links {
        links.mend(&mut overlay, limits.file_bytes);
    }
    Ok(Plan::of(overlay, Vec::new(), None))
}

/// As [`undo`], for several batches, the newest first, as one plan.
///
/// # Errors
///
/// The first batch that cannot be undone, by its place among them, and why.
pub fn undo_all<'s, T: Tree>(
    batches: impl IntoIterator<Item = &'s [Step]>,
    tree: &T,
    limits: &Limits,
) -> Result<Plan, (usize, UndoError)> {
    let mut overlay = Overlay::for_undo(tree);
    for (at, steps) in batches.into_iter().enumerate() {
        give_back(&mut overlay, steps, limits).map_err(|error| (at, error))?;
    }
    Ok(Plan::of(overlay, Vec::new(), None))
}

/// What a note said before the steps of a batch, where they put it.
fn said_before(steps: &[Step], path: &MemoryPath) -> Option<String> {
    steps.iter().find_map(|step| match step {
        Step::Put { path: put, before: Some(before), .. } if put == path => before.content.text().map(str::to_owned),
        Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    })
}

/// What the steps of a batch renamed.
fn renames(steps: &[Step]) -> Vec<(&MemoryPath, &MemoryPath)> {
    let renames = steps.iter().filter_map(|step| match step {
        Step::Move { from, to, .. } => Some((from, to)),
        Step::Put { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    });
    renames.collect()
}

/// Does the inverse of the steps of a batch.
fn give_back<T: Tree>(overlay: &mut Overlay<'_, T>, steps: &[Step], limits: &Limits) -> Result<(), UndoError> {
    let removed = steps.iter().rev().filter_map(|step| match step {
        Step::RemoveFolder { path, mode } => Some((path, *mode)),
        Step::MakeFolder { .. } | Step::Move { .. } | Step::Put { .. } => None,
    });
    for (path, mode) in removed {
        make_again(overlay, path, mode)?;
    }
    for step in steps {
        if let Step::Put { path, before, after } = step {
            put_back(overlay, path, before.as_ref(), after.as_ref(), limits)?;
        }
    }
    for step in steps.iter().rev() {
        match step {
            Step::Move { from, to, kind } => move_back(overlay, from, to, *kind, limits)?,
            Step::MakeFolder { path, .. } => take_away(overlay, path)?,
            Step::Put { .. } | Step::RemoveFolder { .. } => {}
        }
    }
    Ok(())
}

/// What became of a note since a batch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Since {
    /// The name that it has now, or had when it was deleted.
    pub name: MemoryPath,
    /// The last batch that renamed it and is not undone, if any.
    pub renamed: Option<u64>,
    /// What ended it, if it was not brought back since.
    pub gone: Option<Gone>,
}

/// Why a note is not there any more, with the batch that tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Gone {
    /// It was deleted.
    Deleted(u64),
    /// Another note was made of its name, so that something else had deleted it before.
    Replaced(u64),
}

/// The steps of a batch with the names that the notes it edited have now. `since` tells what became of the note that had a name right after it.
///
/// # Errors
///
/// [`UndoError::Elsewhere`] where a note was deleted since, and where it has another name and the step cannot follow it: a step of a batch that
/// renamed something itself, one that made the note, and one whose note came to another folder, where links of Markdown would be given back that
/// were written for the old folder. Those of `since`.
pub fn followed<E: From<UndoError>>(
    mut steps: Vec<Step>,
    since: impl Fn(&MemoryPath) -> Result<Since, E>,
) -> Result<Vec<Step>, E> {
    let has_renamed = steps.iter().any(|step| matches!(step, Step::Move { .. }));
    for step in &mut steps {
        let (path, edit) = match step {
            Step::Put { path, before, after: Some(after) } => (path, before.as_ref().zip(Some(&*after))),
            Step::Move { to, .. } => (to, None),
            Step::Put { after: None, .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => continue,
        };
        let Since { name, renamed, gone } = since(path)?;
        let ended = match gone {
            Some(Gone::Deleted(batch)) => Some((batch, "deleted note")),
            Some(Gone::Replaced(batch)) => Some((batch, "made another note")),
            None => None,
        };
        if let Some((batch, did)) = ended {
            return Err(UndoError::Elsewhere { path: name, batch, did }.into());
        }
        if name == *path {
            continue;
        }
        let is_same_folder = name.parent() == path.parent();
        let follows = |(before, after)| !has_renamed && (is_same_folder || says_same_links(before, after));
        match renamed {
            Some(batch) if !edit.is_some_and(follows) => {
                return Err(UndoError::Elsewhere { path: path.clone(), batch, did: "renamed note" }.into());
            }
            _ => *path = name,
        }
    }
    Ok(steps)
}

/// Whether two texts have the same links of Markdown, which are read from the folder of their note.
fn says_same_links(one: &Image, other: &Image) -> bool {
    let links = |image: &Image| {
        let links = image.content.text().map(|text| Note::parse(text).links()).unwrap_or_default();
        let joined = links.into_iter().filter(|link| !matches!(link.syntax, Syntax::Wiki | Syntax::Root));
        joined.map(|link| link.path).collect::<Vec<_>>()
    };
    links(one) == links(other)
}

/// Plans to give one file an earlier content back; `None` removes it.
///
/// # Errors
///
/// Any [`TreeError`]; [`TreeError::IsDirectory`] where a folder has taken its name.
pub fn restore<T: Tree>(path: &MemoryPath, image: Option<Image>, tree: &T, limits: &Limits) -> Result<Plan, TreeError> {
    let mut overlay = Overlay::new(tree);
    let tree_error = |trouble| match trouble {
        Trouble::Tree(error) => error,
        Trouble::Mixed(path) => TreeError::Unsupported(path),
    };
    let path = overlay.resolve(path).map_err(tree_error)?;
    let now = read(&overlay, &path, limits).map_err(tree_error)?;
    if image.is_some() {
        let missing = overlay.missing(path.parent()).map_err(tree_error)?;
        overlay.make(missing);
    }
    overlay.put(path, now, image);
    Ok(Plan::of(overlay, Vec::new(), None))
}

fn read<T: Tree>(overlay: &Overlay<'_, T>, path: &MemoryPath, limits: &Limits) -> Result<Option<Image>, Trouble> {
    match overlay.stat(path)?.map(|stat| stat.kind) {
        None => Ok(None),
        Some(Kind::Directory) => Err(TreeError::IsDirectory(path.clone()).into()),
        Some(Kind::File) => overlay.read(path, limits.file_bytes).map(Some),
    }
}

fn conflict(path: &MemoryPath, now: Option<&Image>, wanted: Option<&Image>) -> UndoError {
    let bytes = |image: Option<&Image>| image.map(|image| image.content.bytes().to_vec());
    let (now, wanted) = (bytes(now), bytes(wanted));
    let diff = diff::unified(path.as_str(), now.as_deref(), path.as_str(), wanted.as_deref());
    UndoError::Conflict { path: path.clone(), diff }
}

fn make_again<T: Tree>(overlay: &mut Overlay<'_, T>, path: &MemoryPath, mode: Option<u32>) -> Result<(), UndoError> {
    match overlay.stat(path)?.map(|stat| stat.kind) {
        Some(Kind::Directory) => Ok(()),
        Some(Kind::File) => Err(UndoError::Taken(path.clone())),
        None => {
            let missing = overlay.missing(path.parent())?;
            overlay.make(missing);
            overlay.make_folder(path.clone(), mode);
            Ok(())
        }
    }
}

fn put_back<T: Tree>(
    overlay: &mut Overlay<'_, T>,
    path: &MemoryPath,
    before: Option<&Image>,
    after: Option<&Image>,
    limits: &Limits,
) -> Result<(), UndoError> {
    let place = in_present_form(overlay, path)?;
    let now = match read(overlay, &place, limits) {
        Err(Trouble::Tree(TreeError::IsDirectory(_))) => return Err(UndoError::Taken(path.clone())),
        other => other?,
    };
    let wanted = wanted(before, after, now.as_ref()).ok_or_else(|| conflict(path, now.as_ref(), before))?;
    if wanted.is_some() && now.is_none() {
        let missing = overlay.missing(place.parent())?;
        overlay.make(missing);
        overlay.check_room_for_file(&place)?;
    }
    overlay.put(place, now, wanted);
    Ok(())
}

/// What a file that a batch has put would be without that; `None` where a later change overlaps or touches what the batch did.
fn wanted(before: Option<&Image>, after: Option<&Image>, now: Option<&Image>) -> Option<Option<Image>> {
    let left_alone = match (now, after) {
        (Some(now), Some(after)) => now.content == after.content,
        (None, None) => true,
        _ => false,
    };
    if left_alone {
        return Some(
            before.map(|before| Image { content: before.content.clone(), mode: mode_back(before, after, now) }),
        );
    }
    merged(before, after, now).map(Some)
}

/// Whether undoing the steps of a batch would be a conflict if the file at `path`, which they put there or moved, were as `now`;
/// `None` where they did neither.
#[must_use]
pub fn would_conflict(steps: &[Step], path: &MemoryPath, now: Option<&Image>) -> Option<bool> {
    steps.iter().find_map(|step| match step {
        Step::Put { path: put, before, after } if put == path => {
            Some(wanted(before.as_ref(), after.as_ref(), now).is_none())
        }
        Step::Move { from, .. } if from == path => Some(now.is_some()),
        Step::Move { to, .. } if to == path => Some(now.is_none()),
        Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    })
}

/// Whether undoing the steps of a batch would be a conflict if nothing had been done to the file at `path` since but one change, from `before`
/// to `after`; not where that builds upon what others did.
#[must_use]
pub fn would_conflict_after(steps: &[Step], path: &MemoryPath, before: Option<&Image>, after: Option<&Image>) -> bool {
    let done = steps.iter().find_map(|step| match step {
        Step::Put { path: put, after, .. } if put == path => Some(after.as_ref()),
        Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    });
    // To do the change again is to undo its undoing.
    let again = done.and_then(|done| wanted(after, before, done));
    again.is_some_and(|again| would_conflict(steps, path, again.as_ref()) == Some(true))
}

/// Whether nothing is left of what the steps of a batch did, since another program has taken all of it back.
///
/// By the names that the batch knew: what another program took elsewhere is not followed. A note that the batch made and that is not there
/// may have another name, and what cannot be read may say anything: neither is taken back.
#[must_use]
pub fn is_taken_back<T: Tree>(steps: &[Step], tree: &T, limits: &Limits) -> bool {
    let kind = |path: &MemoryPath| tree.stat(path).map(|stat| stat.map(|stat| stat.kind));
    let is_there = |path: &MemoryPath, wanted: Kind| kind(path).is_ok_and(|kind| kind == Some(wanted));
    let is_gone = |path: &MemoryPath| kind(path).is_ok_and(|kind| kind.is_none());
    steps.iter().all(|step| match step {
        Step::MakeFolder { path, .. } => is_gone(path),
        Step::RemoveFolder { path, .. } => is_there(path, Kind::Directory),
        Step::Move { from, to, kind } => is_there(from, *kind) && is_gone(to),
        Step::Put { path, before, after } => {
            let content = |image: &Option<Image>| image.as_ref().map(|image| image.content.digest());
            let place = renames(steps).iter().rev().fold(path.clone(), |place, (from, to)| {
                let earlier = place.rebased(to, from);
                earlier.unwrap_or(place)
            });
            let is_as_before = match before {
                None => false,
                Some(before) => tree.read(&place, limits.file_bytes).is_ok_and(|now| now.content == before.content),
            };
            // Where the batch changed the mode alone, the content tells nothing.
            content(before) != content(after) && is_as_before
        }
    })
}

/// The mode from before where the batch changed it; else the one it has now, which a person may have changed since.
fn mode_back(before: &Image, after: Option<&Image>, now: Option<&Image>) -> Option<u32> {
    match (after, now) {
        (Some(after), Some(now)) if after.mode == before.mode => now.mode,
        _ => before.mode,
    }
}

fn merged(before: Option<&Image>, after: Option<&Image>, now: Option<&Image>) -> Option<Image> {
    let (before, after, now) = (before?, after?, now?);
    let text = merge::three_way(after.content.text()?, now.content.text()?, before.content.text()?)?;
    Some(Image { content: Content::new(text.into_bytes()), mode: mode_back(before, Some(after), Some(now)) })
}

fn move_back<T: Tree>(
    overlay: &mut Overlay<'_, T>,
    from: &MemoryPath,
    to: &MemoryPath,
    kind: Kind,
    limits: &Limits,
) -> Result<(), UndoError> {
    let place = in_present_form(overlay, to)?;
    let there = overlay.stat(&place)?;
    let Some(stat) = there.filter(|stat| stat.kind == kind) else { return Err(conflict(to, None, None)) };
    let folder = from.parent().map(|folder| in_present_form(overlay, &folder)).transpose()?;
    let back = MemoryPath::in_folder(folder.as_ref(), from.name()).unwrap_or_else(|_| from.clone());
    if place == back {
        return Ok(());
    }
    // Where only the form of the name changed, what is to be moved answers to its old name, too.
    if overlay.stat(&back)?.is_some() && !overlay.is_respelled(&place, &back) {
        return Err(UndoError::Taken(from.clone()));
    }
    let missing = overlay.missing(folder)?;
    let by_content = overlay.moves_by_content(kind, &place, &back)?;
    let image = if by_content { Some(overlay.read(&place, limits.file_bytes)?) } else { None };
    overlay.make(missing);
    match image {
        Some(image) => {
            overlay.put(place, Some(image.clone()), None);
            overlay.put(back, None, Some(image));
        }
        None => overlay.rename(kind, &place, &back, stat.size),
    }
    Ok(())
}

/// The path with the names in the Unicode form that they have now: a program that syncs may have changed it.
fn in_present_form<T: Tree>(overlay: &Overlay<'_, T>, path: &MemoryPath) -> Result<MemoryPath, Trouble> {
    if path.as_str().is_ascii() {
        return Ok(path.clone());
    }
    // A link leads to another file, which the batch did not touch.
    let place = overlay.resolve(path)?;
    Ok(if is_same_form(place.as_str(), path.as_str()) { place } else { path.clone() })
}

fn take_away<T: Tree>(overlay: &mut Overlay<'_, T>, path: &MemoryPath) -> Result<(), UndoError> {
    let place = in_present_form(overlay, path)?;
    let Some(stat) = overlay.stat(&place)?.filter(|stat| stat.kind == Kind::Directory) else { return Ok(()) };
    let listing = overlay.list(Some(&place))?;
    if listing.entries.is_empty() && !listing.has_others {
        overlay.remove_folder(place, stat.mode);
    }
    Ok(())
}
