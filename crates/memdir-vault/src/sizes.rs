//! [`FolderSizes`]: how many bytes stand below a folder, kept while the system tells of every change.
//!
//! To add them up, each file has to be looked at. A sum is kept only where somebody watches the memory and nothing has changed
//! for a while, and goes with the next thing that is told, by the system or by a writer of this process. Not every system tells
//! everything, so it also goes with time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Vault;
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_plan::{Tree, TreeError};

/// How long nothing must have changed before a sum is kept: what comes into a folder that was just made is not always told.
const QUIET: Duration = Duration::from_secs(2);
/// How long a sum is kept.
const KEEP: Duration = Duration::from_secs(600);
/// More sums than this are not kept.
const MOST: usize = 10_000;

/// The sums that are known.
#[derive(Debug, Default)]
pub(super) struct FolderSizes(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Whether the system tells of every change.
    is_told: bool,
    /// How many changes were told of, and when the last one was.
    changes: u64,
    last: Option<Instant>,
    sums: BTreeMap<Option<MemoryPath>, (u64, Instant)>,
}

impl FolderSizes {
    /// Notes whether the system tells of every change from now on.
    pub(super) fn set_told(&self, is_told: bool) {
        let mut known = self.known();
        known.change();
        known.is_told = is_told;
    }

    /// Something may have changed anywhere.
    pub(super) fn change(&self) {
        self.known().change();
    }

    /// Something has changed at `path`, or below it.
    pub(super) fn change_at(&self, path: &MemoryPath) {
        let mut known = self.known();
        known.note();
        known.sums.remove(&None);
        for above in path.ancestors() {
            known.sums.remove(&Some(above));
        }
        known.sums.retain(|folder, _| !folder.as_ref().is_some_and(|folder| folder == path || folder.is_within(path)));
    }

    /// The sum of a folder, as it is known or as `add_up` finds it.
    pub(super) fn get(
        &self,
        folder: Option<&MemoryPath>,
        now: Instant,
        add_up: impl FnOnce() -> Result<u64, TreeError>,
    ) -> Result<u64, TreeError> {
        let folder = folder.cloned();
        let known = self.known();
        if let Some((sum, since)) = known.sums.get(&folder)
            && now.saturating_duration_since(*since) < KEEP
        {
            return Ok(*sum);
        }
        let is_quiet = known.last.is_none_or(|last| now.saturating_duration_since(last) >= QUIET);
        let (before, is_sure) = (known.changes, known.is_told && is_quiet);
        drop(known);
        let sum = add_up()?;
        let mut known = self.known();
        // What has changed meanwhile may have been looked at before.
        if is_sure && known.changes == before {
            if known.sums.len() >= MOST {
                known.sums.clear();
            }
            known.sums.insert(folder, (sum, now));
        }
        Ok(sum)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn note(&mut self) {
        self.changes += 1;
        self.last = Some(Instant::now());
    }

    fn change(&mut self) {
        self.note();
        self.sums.clear();
    }
}

impl Vault {
    /// Bytes of all files below a folder, as [`Tree::size_below`] says.
    pub(super) fn bytes_below(&self, folder: Option<&MemoryPath>) -> Result<u64, TreeError> {
        self.sizes.get(folder, Instant::now(), || self.add_up(folder))
    }

    pub(super) fn add_up(&self, folder: Option<&MemoryPath>) -> Result<u64, TreeError> {
        let (mut folders, mut sum) = (vec![folder.cloned()], 0_u64);
        while let Some(folder) = folders.pop() {
            for entry in self.list(folder.as_ref())?.entries {
                match entry.stat.kind {
                    Kind::File | Kind::Directory if entry.is_link => {}
                    Kind::File => sum = sum.saturating_add(entry.stat.size),
                    Kind::Directory => {
                        folders.extend(MemoryPath::in_folder(folder.as_ref(), &entry.name).ok().map(Some))
                    }
                }
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    /// What is answered for a folder `later`, where adding up would find `sum`.
    fn ask(sizes: &FolderSizes, folder: Option<&str>, later: Duration, sum: u64) -> u64 {
        let folder = folder.map(path);
        sizes.get(folder.as_ref(), Instant::now() + later, || Ok(sum)).unwrap()
    }

    #[test]
    fn a_sum_is_kept_while_nothing_is_told_and_never_where_nobody_would_tell() {
        let (sizes, quiet) = (FolderSizes::default(), QUIET);
        assert_eq!([1, 2].map(|sum| ask(&sizes, None, quiet, sum)), [1, 2], "nobody watches");
        sizes.set_told(true);
        assert_eq!([3, 4].map(|sum| ask(&sizes, None, Duration::ZERO, sum)), [3, 4], "it has just begun");
        assert_eq!([5, 6].map(|sum| ask(&sizes, None, quiet, sum)), [5, 5]);
        assert_eq!(ask(&sizes, None, quiet + KEEP, 7), 7, "not for ever");
        sizes.set_told(false);
        assert_eq!([8, 9].map(|sum| ask(&sizes, None, quiet, sum)), [8, 9]);
    }

    #[test]
    fn a_change_takes_the_sums_of_all_folders_around_it_and_in_it() {
        let sizes = FolderSizes::default();
        sizes.set_told(true);
        let folders = [None, Some("a"), Some("a/b"), Some("a/b/c"), Some("ab"), Some("d")];
        let ask_all = |sum| folders.map(|folder| ask(&sizes, folder, 2 * QUIET, sum));
        assert_eq!(ask_all(1), [1; 6]);
        sizes.change_at(&path("a/b"));
        assert_eq!(ask_all(2), [2, 2, 2, 2, 1, 1]);
        sizes.change_at(&path("a/b/c/x.md"));
        assert_eq!(ask_all(3), [3, 3, 3, 3, 1, 1]);
        sizes.change_at(&path("a/new.md"));
        assert_eq!(ask_all(4), [4, 4, 3, 3, 1, 1]);
        sizes.change();
        assert_eq!(ask_all(5), [5; 6]);
    }

    #[test]
    fn what_changes_while_it_is_added_up_is_not_kept() {
        let sizes = FolderSizes::default();
        sizes.set_told(true);
        let (folder, now) = (path("a"), Instant::now() + QUIET);
        let sum = sizes.get(Some(&folder), now, || {
            sizes.change_at(&path("a/x.md"));
            Ok(1)
        });
        assert_eq!(sum, Ok(1));
        assert_eq!(ask(&sizes, Some("a"), 2 * QUIET, 2), 2);
    }
}
