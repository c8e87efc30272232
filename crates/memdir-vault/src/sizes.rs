//! [`FolderSizes`]: how many bytes stand below a folder, kept while the system tells of every change.
//!
//! To add them up, each file has to be looked at. So what a folder holds itself is kept where somebody watches the memory, and goes with
//! the next thing that is told of it, by the system or by a writer of this process: after a change only the folder in which it was is
//! looked at again. Not every system tells everything, so all of it also goes with time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Vault;
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_plan::{Tree, TreeError};

/// How long after a change at a path nothing is kept of it and what is below it: what comes into a folder that was just made or
/// moved is not always told.
const QUIET: Duration = Duration::from_secs(2);
/// How long what a folder holds is kept.
const KEEP: Duration = Duration::from_secs(600);
/// Of more folders than this nothing is kept, and more changes than this are changes anywhere.
const MOST: usize = 10_000;
/// A batch that changes more paths than this is a change anywhere.
const MOST_AT_ONCE: usize = 100;

/// What is known of folders.
#[derive(Debug, Default)]
pub(super) struct FolderSizes(Mutex<Known>);

/// What a folder holds itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Held {
    /// The bytes of its files.
    bytes: u64,
    /// The folders in it.
    folders: Vec<MemoryPath>,
}

#[derive(Debug, Default)]
struct Known {
    /// Whether the system tells of every change.
    is_told: bool,
    /// How many changes were told of.
    changes: u64,
    /// When something last changed anywhere.
    anywhere: Option<Instant>,
    /// When something last changed at these paths.
    recent: BTreeMap<MemoryPath, Instant>,
    held: BTreeMap<Option<MemoryPath>, (Held, Instant)>,
}

impl FolderSizes {
    /// Notes whether the system tells of every change from now on: also of each folder that is made from now on, so that nothing has to
    /// be waited for.
    pub(super) fn set_told(&self, is_told: bool) {
        let mut known = self.known();
        known.change();
        known.anywhere = None;
        known.is_told = is_told;
    }

    /// Something may have changed anywhere.
    pub(super) fn change(&self) {
        self.known().change();
    }

    /// A batch has changed these paths and nothing else; `None` where something may have changed anywhere.
    pub(super) fn change_by(&self, batch: Option<&[MemoryPath]>) {
        match batch.filter(|paths| paths.len() <= MOST_AT_ONCE) {
            Some(paths) => paths.iter().for_each(|path| self.change_at(path)),
            None => self.change(),
        }
    }

    /// Something has changed at `path`, or below it.
    pub(super) fn change_at(&self, path: &MemoryPath) {
        let now = Instant::now();
        let mut known = self.known();
        known.recent.retain(|_, time| now.saturating_duration_since(*time) < QUIET);
        if known.recent.len() >= MOST {
            return known.change();
        }
        known.changes += 1;
        known.recent.insert(path.clone(), now);
        known.held.remove(&path.parent());
        known.held.retain(|folder, _| !folder.as_ref().is_some_and(|folder| folder == path || folder.is_within(path)));
    }

    /// The bytes of all files below a folder, by what is known and by what `look` finds in the other folders.
    pub(super) fn below(
        &self,
        folder: Option<&MemoryPath>,
        now: Instant,
        look: impl Fn(Option<&MemoryPath>) -> Result<Held, TreeError>,
    ) -> Result<u64, TreeError> {
        match self.add_up(folder, now, &look) {
            // A folder that is kept may be gone, or something else in its place, of which it is not told yet.
            Err(TreeError::NotFound(_) | TreeError::NotDirectory(_) | TreeError::Outside(_)) => {
                self.known().held.clear();
                self.add_up(folder, now, &look)
            }
            added => added,
        }
    }

    fn add_up(
        &self,
        folder: Option<&MemoryPath>,
        now: Instant,
        look: impl Fn(Option<&MemoryPath>) -> Result<Held, TreeError>,
    ) -> Result<u64, TreeError> {
        let (mut folders, mut sum) = (vec![folder.cloned()], 0_u64);
        while let Some(folder) = folders.pop() {
            let known = self.known();
            let kept = known.held.get(&folder).filter(|(_, since)| now.saturating_duration_since(*since) < KEEP);
            let held = match kept {
                Some((held, _)) => held.clone(),
                None => {
                    let before = known.changes;
                    drop(known);
                    let held = look(folder.as_ref())?;
                    self.known().keep(folder, held.clone(), now, before);
                    held
                }
            };
            sum = sum.saturating_add(held.bytes);
            folders.extend(held.folders.into_iter().map(Some));
        }
        Ok(sum)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn change(&mut self) {
        self.changes += 1;
        self.anywhere = Some(Instant::now());
        self.recent.clear();
        self.held.clear();
    }

    /// Keeps what was found in a folder, unless something has changed since `before` that it may not show.
    fn keep(&mut self, folder: Option<MemoryPath>, held: Held, now: Instant, before: u64) {
        let is_quiet = |time: &Instant| now.saturating_duration_since(*time) >= QUIET;
        let is_sure = self.is_told && self.changes == before && self.anywhere.as_ref().is_none_or(is_quiet);
        let at_or_above = folder.iter().cloned().chain(folder.iter().flat_map(MemoryPath::ancestors));
        if is_sure && at_or_above.filter_map(|path| self.recent.get(&path)).all(is_quiet) {
            if self.held.len() >= MOST {
                self.held.clear();
            }
            self.held.insert(folder, (held, now));
        }
    }
}

impl Vault {
    /// Bytes of all files below a folder, as [`Tree::size_below`] says.
    pub(super) fn bytes_below(&self, folder: Option<&MemoryPath>) -> Result<u64, TreeError> {
        self.sizes.below(folder, Instant::now(), |folder| self.held_in(folder))
    }

    /// Looks at what a folder holds itself.
    pub(super) fn held_in(&self, folder: Option<&MemoryPath>) -> Result<Held, TreeError> {
        let mut held = Held::default();
        for entry in self.list(folder)?.entries {
            match entry.stat.kind {
                Kind::File | Kind::Directory if entry.is_link => {}
                Kind::File => held.bytes = held.bytes.saturating_add(entry.stat.size),
                Kind::Directory => held.folders.extend(MemoryPath::in_folder(folder, &entry.name)),
            }
        }
        Ok(held)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// The folders `a`, `a/b`, `a/b/c`, `ab` and `d`, each with one byte of its own, and one in the memory's folder.
    const FOLDERS: [&str; 5] = ["a", "a/b", "a/b/c", "ab", "d"];

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    /// Asks for all bytes, `later`, and gives the folders that were looked at for it.
    fn ask(sizes: &FolderSizes, later: Duration) -> Vec<String> {
        let looked = RefCell::new(Vec::new());
        let look = |folder: Option<&MemoryPath>| {
            looked.borrow_mut().push(folder.map_or("", MemoryPath::as_str).to_owned());
            let folders = FOLDERS.map(path).into_iter().filter(|inner| inner.parent().as_ref() == folder).collect();
            Ok(Held { bytes: 1, folders })
        };
        assert_eq!(sizes.below(None, Instant::now() + later, look), Ok(6));
        let mut looked = looked.into_inner();
        looked.sort();
        looked
    }

    fn told() -> FolderSizes {
        let sizes = FolderSizes::default();
        sizes.set_told(true);
        sizes
    }

    #[test]
    fn what_a_folder_holds_is_kept_while_nothing_is_told_and_never_where_nobody_would_tell() {
        let (sizes, all) = (FolderSizes::default(), 6);
        assert_eq!([0, 1].map(|_| ask(&sizes, QUIET).len()), [all, all], "nobody watches");
        sizes.set_told(true);
        assert_eq!([0, 1].map(|_| ask(&sizes, Duration::ZERO).len()), [all, 0]);
        sizes.change();
        assert_eq!([0, 1].map(|_| ask(&sizes, Duration::ZERO).len()), [all, all], "something was lost just now");
        assert_eq!([0, 1].map(|_| ask(&sizes, QUIET).len()), [all, 0]);
        assert_eq!(ask(&sizes, QUIET + KEEP).len(), all, "not for ever");
        sizes.set_told(false);
        assert_eq!([0, 1].map(|_| ask(&sizes, QUIET).len()), [all, all]);
    }

    #[test]
    fn a_change_takes_what_is_known_of_the_folder_around_it_and_of_all_in_it() {
        let sizes = told();
        let later = 2 * QUIET;
        assert_eq!(ask(&sizes, later).len(), 6);
        sizes.change_at(&path("a/b"));
        assert_eq!([0, 1].map(|_| ask(&sizes, later)), [vec!["a", "a/b", "a/b/c"], vec![]]);
        sizes.change_at(&path("a/b/c/x.md"));
        assert_eq!(ask(&sizes, later), ["a/b/c"]);
        sizes.change_at(&path("new.md"));
        assert_eq!(ask(&sizes, later), [""]);
        sizes.change();
        assert_eq!(ask(&sizes, later).len(), 6);
    }

    #[test]
    fn after_a_change_the_folder_around_it_is_kept_at_once_and_what_is_below_it_later() {
        let sizes = told();
        assert_eq!(ask(&sizes, QUIET).len(), 6);
        // Made, for all that is known; what comes into it now may not be told.
        sizes.change_at(&path("a/b"));
        assert_eq!(ask(&sizes, QUIET / 2), ["a", "a/b", "a/b/c"]);
        assert_eq!(ask(&sizes, QUIET / 2), ["a/b", "a/b/c"]);
        assert_eq!(ask(&sizes, 2 * QUIET), ["a/b", "a/b/c"]);
        assert_eq!(ask(&sizes, 2 * QUIET), [""; 0]);
    }

    #[test]
    fn what_changes_while_it_is_looked_at_is_not_kept() {
        let (sizes, now) = (told(), Instant::now() + 2 * QUIET);
        let looked = RefCell::new(0);
        let ask = |is_changed: bool| {
            let look = |_: Option<&MemoryPath>| {
                *looked.borrow_mut() += 1;
                if is_changed {
                    sizes.change_at(&path("a/x.md"));
                }
                Ok(Held { bytes: 1, folders: Vec::new() })
            };
            sizes.below(Some(&path("a")), now, look)
        };
        assert_eq!([ask(true), ask(false), ask(false)], [Ok(1), Ok(1), Ok(1)]);
        assert_eq!(looked.into_inner(), 2);
    }

    #[test]
    fn a_folder_that_is_gone_before_it_is_told_is_left_out() {
        let (sizes, now) = (told(), Instant::now() + 2 * QUIET);
        assert_eq!(ask(&sizes, 2 * QUIET).len(), 6);
        sizes.change_at(&path("d/x.md"));
        let look = |folder: Option<&MemoryPath>| match folder.map(MemoryPath::as_str) {
            Some("d") => Err(TreeError::NotFound(path("d"))),
            Some(_) => Ok(Held { bytes: 1, folders: Vec::new() }),
            None => Ok(Held { bytes: 1, folders: vec![path("a")] }),
        };
        assert_eq!(sizes.below(None, now, look), Ok(2));
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_not_asked_twice_and_loses_nothing_that_is_known() {
        let sizes = told();
        assert_eq!(ask(&sizes, 2 * QUIET).len(), 6);
        sizes.change_at(&path("d/x.md"));
        let looked = RefCell::new(0);
        let look = |_: Option<&MemoryPath>| {
            *looked.borrow_mut() += 1;
            Err(TreeError::NoAccess(path("d")))
        };
        assert_eq!(sizes.below(None, Instant::now() + 2 * QUIET, look), Err(TreeError::NoAccess(path("d"))));
        assert_eq!((looked.into_inner(), ask(&sizes, 2 * QUIET)), (1, vec!["d".to_owned()]));
    }
}
