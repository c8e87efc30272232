//! Names: copies that programs leave, and names that not every system can store.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Finding, Kind, finding};
use memdir_core::action::{Action, RenameFile};
use memdir_core::path::MemoryPath;
use memdir_note::name::{self, Twin};

/// The folder of the entries that the action `memory` keeps.
const ENTRIES: &str = "memories";
/// How many names are tried for one that is free.
const MOST_NAMES: usize = 100;

/// Whether a note is found without any link to it: it is where a reader starts, a day by its date, or an entry by its key.
pub(super) fn is_found(path: &MemoryPath) -> bool {
    let stem = path.stem().to_lowercase();
    match path.parent() {
        None => matches!(stem.as_str(), "user" | "index" | "readme" | "home") || is_day(&stem),
        Some(folder) => folder.as_str() == ENTRIES || is_day(&stem),
    }
}

/// Whether a name begins with a date: `2026-05-03`, `20260503`, `2026-05` or `2026-W18`.
pub(super) fn is_day(stem: &str) -> bool {
    let bytes = stem.as_bytes();
    let digits = |bytes: &[u8]| bytes.len() == 2 && bytes.iter().all(u8::is_ascii_digit);
    let Some((century, rest)) = bytes.split_at_checked(2) else { return false };
    let Some((year, rest)) = rest.split_at_checked(2) else { return false };
    let rest =
        rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b".")).or_else(|| rest.strip_prefix(b"_")).unwrap_or(rest);
    let rest = rest.strip_prefix(b"w").or_else(|| rest.strip_prefix(b"W")).unwrap_or(rest);
    matches!(century, b"19" | b"20") && digits(year) && rest.get(..2).is_some_and(digits)
}

/// Copies that a program made when two devices changed the same file.
pub(super) fn sync_conflicts(files: &[File]) -> Vec<Finding> {
    let paths: BTreeSet<&MemoryPath> = files.iter().map(|file| &file.path).collect();
    let finding = |file: &File| {
        let (original, is_sure) = original(file.path.name())?;
        let original = MemoryPath::in_folder(file.path.parent().as_ref(), &original).ok()?;
        let is_there = paths.contains(&original);
        if !is_sure && !is_there {
            return None;
        }
        let gone = if is_there { "" } else { ", which is gone" };
        Some(Finding {
            target: Some(original.to_string()),
            message: format!(
                "a program kept another version of `{original}`{gone}; compare the two, keep what is right"
            ),
            ..finding(Kind::SyncConflict, &file.path)
        })
    };
    files.iter().filter_map(finding).collect()
}

/// Whether the name of a file says that a program made it as a copy.
pub(super) fn is_copy(path: &MemoryPath) -> bool {
    original(path.name()).is_some_and(|(_, is_sure)| is_sure)
}

/// The name of the file that a copy was made of, and whether its name alone says so.
///
/// Syncthing: `a.sync-conflict-20260503-101500-ABCDEFG.md`; memdir itself: `a.sync-conflict-memdir-12.md`; Dropbox:
/// `a (Ada's conflicted copy 2026-05-03).md`, `a (Case Conflict).md`; Obsidian Sync: `a (Conflicted copy phone 202605031015).md`;
/// Nextcloud: `a (conflicted copy 2026-05-03 101500).md`; ownCloud: `a_conflict-20260503-101500.md`; OneDrive:
/// `a-LAPTOP-ABCD1234.md` beside `a.md`. What iCloud and others do, `a 2.md`, says nothing for sure.
fn original(name: &str) -> Option<(String, bool)> {
    let (stem, extension) = name.rfind('.').filter(|at| *at > 0).map_or((name, ""), |at| name.split_at(at));
    let whole = |stem: &str| (!stem.is_empty()).then(|| format!("{stem}{extension}"));
    if let Some((before, mark)) = stem.split_once(".sync-conflict-") {
        let is_mark = match mark.strip_prefix("memdir-") {
            Some(batch) => !batch.is_empty() && batch.bytes().all(|byte| byte.is_ascii_digit()),
            None => mark.get(..15).is_some_and(is_moment),
        };
        return whole(before).filter(|_| is_mark).map(|original| (original, true));
    }
    // A file without an extension has the whole mark after its last dot.
    if let Some(batch) = extension.strip_prefix(".sync-conflict-") {
        let is_mark = batch
            .strip_prefix("memdir-")
            .is_some_and(|batch| !batch.is_empty() && batch.bytes().all(|byte| byte.is_ascii_digit()));
        return is_mark.then(|| (stem.to_owned(), true));
    }
    if let Some((before, mark)) = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once(" (")) {
        let mark = mark.to_lowercase();
        let is_mark = mark.contains("conflicted copy")
            || ["case conflict", "selective sync conflict", "unicode encoding conflict"]
                .iter()
                .any(|end| mark.ends_with(end));
        return whole(before).filter(|_| is_mark).map(|original| (original, true));
    }
    if let Some((before, moment)) = stem.rsplit_once("_conflict-") {
        return whole(before).filter(|_| is_moment(moment)).map(|original| (original, true));
    }
    let device = stem.rfind("-DESKTOP-").or_else(|| stem.rfind("-LAPTOP-"))?;
    let (before, mark) = stem.split_at(device);
    let number = mark.rsplit('-').next()?;
    let is_device = (7..=8).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    whole(before).filter(|_| is_device).map(|original| (original, false))
}

/// `20260503-101500`.
fn is_moment(text: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('-').is_some_and(|(day, time)| digits(day, 8) && (digits(time, 6) || digits(time, 4)))
}

/// Files and folders whose names not every system can store, or that some systems take for their siblings'.
pub(super) fn unportable(files: &[File]) -> Vec<Finding> {
    let mut folders: BTreeMap<Option<MemoryPath>, BTreeSet<&str>> = BTreeMap::new();
    let ancestors: BTreeSet<MemoryPath> = files.iter().flat_map(|file| file.path.ancestors()).collect();
    for path in files.iter().map(|file| &file.path).chain(&ancestors) {
        folders.entry(path.parent()).or_default().insert(path.name());
    }
    let mut found = Vec::new();
    for (folder, names) in &folders {
        let names: Vec<&str> = names.iter().copied().collect();
        let mut taken = Taken::of(&names);
        for name in &names {
            if let Err(error) = name::check_portable(name) {
                let mended = name::mended(name);
                let message = format!("the name `{name}` {error}");
                found.extend(of_name(folder.as_ref(), name, None, message, taken.free(&mended)));
            }
        }
        for (name, sibling, twin) in name::twins(&names) {
            let how = match twin {
                Twin::SameName => "differs only in upper and lower case or in Unicode form from",
                Twin::LookAlike => "looks the same as",
            };
            let message = format!("the name `{name}` {how} `{sibling}`");
            if name::check_portable(name).is_ok() {
                found.extend(of_name(folder.as_ref(), name, Some(sibling), message, taken.free(name)));
            }
        }
    }
    found
}

fn of_name(
    folder: Option<&MemoryPath>,
    name: &str,
    sibling: Option<&str>,
    message: String,
    free: Option<String>,
) -> Option<Finding> {
    let path = MemoryPath::in_folder(folder, name).ok()?;
    let new_path = free.and_then(|free| MemoryPath::in_folder(folder, &free).ok());
    let target = sibling.and_then(|sibling| MemoryPath::in_folder(folder, sibling).ok());
    Some(Finding {
        target: target.map(String::from),
        message,
        action: new_path.map(|new_path| Action::RenameFile(RenameFile { path: path.clone(), new_path })),
        ..finding(Kind::UnportableName, &path)
    })
}

/// The names of a folder as twins are told.
struct Taken(BTreeSet<String>);

impl Taken {
    fn of(names: &[&str]) -> Self {
        Self(names.iter().flat_map(|name| name::forms(name)).collect())
    }

    /// The name, or with a number before its extension, that is no twin of any; it is taken then.
    fn free(&mut self, name: &str) -> Option<String> {
        let (stem, extension) = name.rfind('.').filter(|at| *at > 0).map_or((name, ""), |at| name.split_at(at));
        let numbered = (2..MOST_NAMES).map(|number| format!("{stem}-{number}{extension}"));
        let is_free = |name: &String| {
            name::check_portable(name).is_ok() && !name::forms(name).iter().any(|form| self.0.contains(form))
        };
        let found = std::iter::once(name.to_owned()).chain(numbered).find(is_free)?;
        self.0.extend(name::forms(&found));
        Some(found)
    }
}
