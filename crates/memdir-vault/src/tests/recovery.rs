//! What a power cut leaves, and what becomes of it.
//!
//! A batch is committed once and watched; from what is seen, every state of the disk is built that a cut could have
//! left: what was flushed before the cut is there, and each operation that was not is there or not, independently of
//! all others. A real file system loses less. Each state is then recovered, twice, and written to.

#![expect(clippy::print_stdout, reason = "the figures are for a person who runs it with --nocapture")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::super::aside::is_temporary;
use super::super::place::TempFolders;
use super::super::{Batch, CommitPoint, Durability, LogQuery, Options, RecordedStep, Vault, VaultError};
use super::{Env, author, commit, entry, path, put, rename, snapshot};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_core::time::Timestamp;
use memdir_plan::Step;

/// Every file with its content and every folder.
pub(super) type Files = BTreeMap<String, Option<Vec<u8>>>;

/// A batch in a memory that is in use.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    notes: &'static [(&'static str, &'static str)],
    pub(super) steps: Vec<Step>,
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let notes = &[("a.md", "a, as it was"), ("b.md", "b, as it was"), ("dir/c.md", "c, as it was"), ("dir/d.md", "d")];
    let replace = |name, before, after| put(name, Some(before), Some(after));
    let folder = |name: &str| Step::MakeFolder { path: path(name), mode: None };
    vec![
        Scenario {
            name: "replace, create, delete",
            notes,
            steps: vec![
                replace("a.md", "a, as it was", "a, as it shall be"),
                put("dir/new.md", None, Some("new, as it shall be")),
                put("dir/c.md", Some("c, as it was"), None),
            ],
        },
        Scenario {
            name: "three replaced",
            notes,
            steps: vec![
                replace("a.md", "a, as it was", "a, as it shall be"),
                replace("b.md", "b, as it was", "b, as it shall be"),
                replace("dir/c.md", "c, as it was", "c, as it shall be"),
            ],
        },
        Scenario {
            name: "folder moved, replaced inside, created",
            notes,
            steps: vec![
                rename("dir", "moved", Kind::Directory),
                replace("moved/c.md", "c, as it was", "c, as it shall be"),
                put("moved/new.md", None, Some("new, as it shall be")),
            ],
        },
        Scenario {
            name: "folder made, note moved into it and changed, folder removed",
            notes: &[("a.md", "a, as it was"), ("dir/c.md", "c, as it was")],
            steps: vec![
                folder("fresh"),
                rename("a.md", "fresh/a.md", Kind::File),
                replace("fresh/a.md", "a, as it was", "a, as it shall be"),
                put("dir/c.md", Some("c, as it was"), None),
                Step::RemoveFolder { path: path("dir"), mode: None },
            ],
        },
    ]
}

/// How much of a new file a cut has left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rest {
    Missing,
    Empty,
    Half,
    Whole,
}

/// What a cut has left of a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    /// Not carried out; this much of its temporary file is there.
    Undone(Rest),
    /// Carried out; what it displaced lies aside.
    Done,
    /// Carried out, and what it displaced is removed.
    Swept,
}

/// A commit that was watched.
pub(super) struct Recording {
    pub(super) env: Env,
    pub(super) scenario: Scenario,
    pub(super) before: Files,
    pub(super) after: Files,
    /// Where the temporary file of each step lies before any move.
    aside: Vec<String>,
    /// Inode numbers of what is moved, by step.
    moved: BTreeMap<usize, u64>,
    /// Holds what is moved while a state is laid out: folders themselves, and a second name of each file.
    held: tempfile::TempDir,
    pub(super) database: Vec<u8>,
    pub(super) log: Vec<u8>,
    pub(super) marks: Marks,
}

/// Lengths of the write-ahead log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// Flushed before the batch began.
    pub(super) flushed: usize,
    /// With the row that names the batch.
    pub(super) opened: usize,
    /// With the batch.
    pub(super) certain: usize,
    /// With the mark that it is in place, or has been given back.
    pub(super) applied: usize,
    /// With the mark that it is being given back; 0 when it is not.
    aborting: usize,
}

pub(super) fn files(root: &Path) -> Files {
    snapshot(root).into_iter().collect()
}

pub(super) fn without_temporary(files: &Files) -> Files {
    let is_ours = |name: &str| is_temporary(name.rsplit('/').next().unwrap());
    files.iter().filter(|(name, _)| !is_ours(name)).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
}

pub(super) fn state_file(root: &Path, suffix: &str) -> PathBuf {
    root.join(format!(".memdir/local/history.sqlite{suffix}"))
}

/// Where the transactions in a write-ahead log end: at the frames that say how large the database is then.
fn transactions(log: &[u8]) -> Vec<usize> {
    let frames =
        (32..log.len()).step_by(24 + 4096).filter(|at| log.get(at + 4..at + 8).is_some_and(|size| size != [0; 4]));
    frames.map(|at| at + 24 + 4096).collect()
}

pub(super) fn log_bytes(root: &Path) -> Vec<u8> {
    std::fs::read(state_file(root, "-wal")).unwrap()
}

/// Opens a vault that flushes nothing: what is flushed is the model's concern here.
pub(super) fn open_quick(root: &Path) -> Result<Vault, VaultError> {
    let root = root.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    Vault::open(dir, root, Options { durability: Durability::Atomic, ..Options::default() })
}

impl Recording {
    /// Commits the batch of a scenario in a memory that has a history, and notes how far each thing got when.
    ///
    /// With an `edit`, an editor changes a note when the batch is certain, so that it is given back.
    pub(super) fn new(scenario: Scenario, edit: Option<(&str, &str)>) -> Self {
        let env = Env::new(scenario.notes);
        env.write("first.md", "1");
        let mut marks = Marks::default();
        let vault = env.vault();
        let watched = |vault: &Vault, steps: &[Step], seen: &mut dyn FnMut(CommitPoint)| {
            let (entries, author) = ([entry("update_file")], author());
            let time = Timestamp::from_micros(0);
            let batch = Batch { steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
            vault.lock().unwrap().commit_watched(&batch, seen)
        };
        watched(&vault, &[put("first.md", Some("1"), Some("2"))], &mut |point| {
            if point == CommitPoint::Certain {
                marks.flushed = log_bytes(env.path()).len();
            }
        })
        .unwrap();
        drop(vault);
        let (mut before, database) = (files(env.path()), std::fs::read(state_file(env.path(), "")).unwrap());
        let held = tempfile::tempdir().unwrap();
        let aside = asides(env.path(), &scenario.steps);
        let moved = hold(env.path(), held.path(), &scenario.steps);
        let (mut certain, mut flushed) = (Files::new(), Files::new());
        let vault = env.vault();
        let result = watched(&vault, &scenario.steps, &mut |point| {
            let length = log_bytes(env.path()).len();
            match point {
                CommitPoint::Opened => marks.opened = length,
                CommitPoint::Certain => {
                    if let Some((name, text)) = edit {
                        std::fs::write(env.path().join(name), text).unwrap();
                        before.insert(name.to_owned(), Some(text.as_bytes().to_vec()));
                    }
                    (marks.certain, certain) = (length, files(env.path()));
                }
                CommitPoint::Flushed => flushed = files(env.path()),
                CommitPoint::Applied => marks.applied = length,
                CommitPoint::Written(_) | CommitPoint::Done(_) => {}
            }
        });
        assert_eq!(result.is_err(), edit.is_some(), "{result:?}");
        let log = log_bytes(env.path());
        drop(vault);
        if edit.is_some() {
            // The mark that it is being given back, flushed, and the one that it has been.
            let later = transactions(&log).into_iter().filter(|end| *end > marks.certain).collect::<Vec<_>>();
            [marks.aborting, marks.applied] = later.try_into().unwrap();
        }
        assert!(marks.flushed < marks.opened && marks.opened < marks.certain && marks.certain < marks.applied);
        let after = files(env.path());
        let recording = Self { env, scenario, before, after, aside, moved, held, database, log, marks };
        // The model has to agree with what was seen.
        let all = |fate: Fate| vec![fate; recording.scenario.steps.len()];
        assert_eq!(recording.tree(&all(Fate::Undone(Rest::Whole))), Some(certain));
        if edit.is_some() {
            assert_eq!(recording.after, recording.before);
            return recording;
        }
        assert_eq!(recording.tree(&all(Fate::Done)), Some(flushed));
        assert_eq!(recording.tree(&all(Fate::Swept)), Some(recording.after.clone()));
        recording
    }

    /// The tree that a cut has left; `None` where these fates cannot come together.
    pub(super) fn tree(&self, fates: &[Fate]) -> Option<Files> {
        let mut files = self.before.clone();
        let has_parent = |files: &Files, name: &str| match name.rsplit_once('/') {
            Some((folder, _)) => files.get(folder) == Some(&None),
            None => true,
        };
        let steps = || self.scenario.steps.iter().zip(fates).enumerate();
        // Contents go with the folder or file that holds them: first everything under its old name, then the moves.
        for (index, (step, fate)) in steps() {
            match (step, fate) {
                (Step::MakeFolder { path, .. }, Fate::Done | Fate::Swept) => {
                    files.insert(path.to_string(), None);
                }
                (Step::Put { path, before, after }, fate) => {
                    let name = self.origin(path.as_str());
                    let bytes =
                        |image: &Option<memdir_plan::Image>| image.as_ref().map(|image| image.content.bytes().to_vec());
                    // What is displaced may be an editor's.
                    let (before, after) =
                        (files.get(&name).cloned().flatten().filter(|_| before.is_some()), bytes(after));
                    let (now, aside) = match fate {
                        Fate::Undone(rest) => (before.clone(), after.and_then(|bytes| rest.of(bytes))),
                        Fate::Done => (after, before),
                        Fate::Swept => (after, None),
                    };
                    set(&mut files, &name, now);
                    set(&mut files, &self.aside[index], aside);
                }
                _ => {}
            }
        }
        for (index, (step, fate)) in steps() {
            // A file is moved by its name alone, so that whatever takes that name over comes after.
            if let (Step::Move { kind: Kind::File, .. }, Fate::Undone(_)) = (step, fate)
                && self.replaced(index).is_some_and(|put| !matches!(fates[put], Fate::Undone(_)))
            {
                return None;
            }
            if let (Step::Move { from, to, .. }, Fate::Done | Fate::Swept) = (step, fate) {
                if !has_parent(&files, to.as_str()) {
                    return None;
                }
                files = files
                    .into_iter()
                    .map(|(name, bytes)| (rebased(&name, from.as_str(), to.as_str()), bytes))
                    .collect();
            }
        }
        for (_, (step, fate)) in steps() {
            if let (Step::RemoveFolder { path, .. }, Fate::Done | Fate::Swept) = (step, fate) {
                files.remove(path.as_str());
            }
        }
        files.keys().all(|name| has_parent(&files, name)).then_some(files)
    }

    /// Where what is at `name` after the moves was before them.
    pub(super) fn origin(&self, name: &str) -> String {
        self.scenario.steps.iter().rev().fold(name.to_owned(), |name, step| match step {
            Step::Move { from, to, .. } => rebased(&name, to.as_str(), from.as_str()),
            Step::MakeFolder { .. } | Step::Put { .. } | Step::RemoveFolder { .. } => name,
        })
    }

    /// Puts a state on the disk. What is moved keeps its inode number, by which recovery knows it.
    pub(super) fn lay_out(&self, files: &Files, fates: &[Fate], log: &[u8]) {
        let root = self.env.path();
        for (index, inode) in &self.moved {
            let held = self.held.path().join(index.to_string());
            if !held.exists() {
                std::fs::rename(find_inode(root, *inode).unwrap(), &held).unwrap();
                clear(&held);
            }
        }
        clear(root);
        let places: BTreeMap<String, usize> =
            self.moved.keys().filter_map(|index| Some((self.place(*index, fates)?, *index))).collect();
        for (name, bytes) in files {
            let path = root.join(name);
            if let Some(index) = places.get(name) {
                let held = self.held.path().join(index.to_string());
                if held.is_dir() { std::fs::rename(held, &path) } else { std::fs::hard_link(held, &path) }.unwrap();
            }
            match bytes {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::create_dir_all(&path).unwrap(),
            }
        }
        for (suffix, bytes) in [("", Some(self.database.as_slice())), ("-wal", Some(log)), ("-shm", None)] {
            // Removed first: some systems flush a file that is written over.
            let _ = std::fs::remove_file(state_file(root, suffix));
            if let Some(bytes) = bytes {
                std::fs::write(state_file(root, suffix), bytes).unwrap();
            }
        }
    }

    /// Where what a step moves is now; `None` when another file has taken its place for good.
    fn place(&self, index: usize, fates: &[Fate]) -> Option<String> {
        let Step::Move { from, to, .. } = &self.scenario.steps[index] else { return None };
        match self.replaced(index).map(|put| (put, fates[put])) {
            Some((_, Fate::Swept)) => None,
            Some((put, Fate::Done)) => Some(self.aside[put].clone()),
            _ if matches!(fates[index], Fate::Undone(_)) => Some(from.to_string()),
            _ => Some(to.to_string()),
        }
    }

    /// The step that replaces what another one moves.
    fn replaced(&self, index: usize) -> Option<usize> {
        let Step::Move { to, .. } = &self.scenario.steps[index] else { return None };
        self.scenario.steps.iter().position(|step| matches!(step, Step::Put { path, .. } if path == to))
    }

    /// Recovers what was laid out and writes to it; gives what has become of the tree.
    pub(super) fn recover(&self, is_row_lost: bool) -> Result<Files, String> {
        let root = self.env.path();
        let recover = || {
            let vault = open_quick(root).map_err(|error| format!("open: {error}"))?;
            drop(vault.lock().map_err(|error| format!("lock: {error}"))?);
            if let Some(newest) = vault.newest().unwrap() {
                vault.steps(newest).map_err(|error| format!("steps: {error}"))?;
            }
            drop(vault);
            Ok::<_, String>(without_temporary(&files(root)))
        };
        let once = recover()?;
        same("recovered twice", &recover()?, &once)?;
        let vault = open_quick(root).unwrap();
        commit(&vault, &[put("later.md", None, Some("later"))], None).map_err(|error| format!("later: {error}"))?;
        drop(vault);
        let mut later = files(root);
        later.remove("later.md").ok_or("the later note is missing")?;
        // A cut that lost even the row that named the batch leaves strays, which are hidden.
        same("written to", &if is_row_lost { without_temporary(&later) } else { later }, &once)?;
        Ok(once)
    }

    /// Checks one state against what has to become of it; false where there is no such state.
    fn check(&self, fates: &[Fate], length: usize) -> Result<bool, String> {
        self.check_against(fates, length, if length < self.marks.certain { &self.before } else { &self.after })
    }

    fn check_against(&self, fates: &[Fate], length: usize, expected: &Files) -> Result<bool, String> {
        let Some(tree) = self.tree(fates) else { return Ok(false) };
        self.lay_out(&tree, fates, &self.log[..length]);
        let recovered = self.recover(length < self.marks.opened);
        let result = recovered.and_then(|recovered| same("recovered", &recovered, expected));
        result.map(|()| true).map_err(|error| format!("{fates:?}, log {length} of {:?}: {error}", self.marks))
    }

    /// Tries every state of a batch that met an edit of `note`, which is displaced by the last step carried out.
    fn run_given_back(&self, last: usize) {
        let Marks { certain, aborting, applied, .. } = self.marks;
        let ends = |index| {
            let rests: &[Rest] = if self.is_written(index) { &[Rest::Missing, Rest::Whole] } else { &[Rest::Missing] };
            let undone = rests.iter().map(|rest| Fate::Undone(*rest));
            undone.chain((index <= last).then_some(Fate::Done)).collect()
        };
        let mut tally = Tally::default();
        for fates in self.all(ends) {
            // The mark that it has been given back follows a wave of flushes.
            let is_back = fates.iter().all(|fate| matches!(fate, Fate::Undone(_)));
            for cut in self.cuts(aborting, if is_back { applied } else { applied - 1 }) {
                tally.add(self.check_against(&fates, cut, &self.before));
            }
            // Before the mark the edit alone tells that the batch has to be given back.
            tally.add(self.check_against(&fates, certain, &self.before));
        }
        tally.finish(&format!("{}, given back", self.scenario.name));
    }

    pub(super) fn target(&self, index: usize) -> &MemoryPath {
        match &self.scenario.steps[index] {
            Step::MakeFolder { path, .. } | Step::Put { path, .. } | Step::RemoveFolder { path, .. } => path,
            Step::Move { to, .. } => to,
        }
    }

    /// Lengths at which the log can be cut: at each frame and inside it.
    fn cuts(&self, from: usize, to: usize) -> BTreeSet<usize> {
        let frames = (0..).map(|frame| 32 + frame * (24 + 4096)).take_while(|cut| *cut <= to);
        frames.flat_map(|cut| [cut, cut + 1000]).filter(|cut| (from..=to).contains(cut)).chain([from, to]).collect()
    }

    pub(super) fn is_written(&self, index: usize) -> bool {
        matches!(&self.scenario.steps[index], Step::Put { after: Some(_), .. })
    }

    /// All ways in which `fates` says each step can have ended.
    pub(super) fn all(&self, fates: impl Fn(usize) -> Vec<Fate>) -> Vec<Vec<Fate>> {
        (0..self.scenario.steps.len()).fold(vec![vec![]], |found, index| {
            let longer = |found: &Vec<Fate>| {
                let found = found.clone();
                fates(index).into_iter().map(move |fate| found.iter().copied().chain([fate]).collect())
            };
            found.iter().flat_map(longer).collect()
        })
    }

    /// Tries every state at every point.
    fn run(&self) {
        let rests = [Rest::Missing, Rest::Empty, Rest::Half, Rest::Whole];
        let undone = |index, rests: &[Rest]| -> Vec<Fate> {
            let rests = if self.is_written(index) { rests } else { &[Rest::Missing] };
            rests.iter().map(|rest| Fate::Undone(*rest)).collect()
        };
        let Marks { flushed, certain, applied, .. } = self.marks;
        let mut tally = Tally::default();
        let mut check = |fates: &[Vec<Fate>], cuts: &BTreeSet<usize>| {
            for fates in fates {
                cuts.iter().for_each(|cut| tally.add(self.check(fates, *cut)));
            }
        };
        // From the first row to the end of the first wave; the states at the points before it are among those.
        check(&self.all(|index| undone(index, &rests)), &self.cuts(flushed, certain));
        for last in 0..self.scenario.steps.len() {
            let ends = |index| {
                let mut ends = undone(index, &[Rest::Missing, Rest::Whole]);
                ends.extend((index <= last).then_some(Fate::Done));
                ends
            };
            check(&self.all(ends), &[certain].into());
        }
        check(&self.all(|_| vec![Fate::Done, Fate::Swept]), &self.cuts(certain, applied));
        tally.finish(self.scenario.name);
    }
}

/// How many states were tried, and what went wrong with which.
#[derive(Default)]
pub(super) struct Tally {
    tried: usize,
    failures: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, result: Result<bool, String>) {
        match result {
            Ok(is_state) => self.tried += usize::from(is_state),
            Err(failure) => self.failures.push(failure),
        }
    }

    #[track_caller]
    pub(super) fn finish(self, name: &str) {
        let Self { tried, failures } = self;
        println!("{name}: {tried} states recovered");
        let some = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(failures.is_empty() && tried > 0, "{name}: {} of {tried} failed\n{some}", failures.len());
    }
}

/// Says which files differ.
pub(super) fn same(what: &str, found: &Files, expected: &Files) -> Result<(), String> {
    let text = |files: &Files, name: &String| match files.get(name) {
        Some(Some(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(None) => "a folder".to_owned(),
        None => "nothing".to_owned(),
    };
    let names: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let differences: Vec<String> = names
        .into_iter()
        .filter(|name| found.get(*name) != expected.get(*name))
        .map(|name| format!("`{name}` is {:?} and not {:?}", text(found, name), text(expected, name)))
        .collect();
    if differences.is_empty() { Ok(()) } else { Err(format!("{what}: {}", differences.join(", "))) }
}

impl Rest {
    fn of(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Missing => return None,
            Self::Empty => bytes.clear(),
            Self::Half => bytes.truncate(bytes.len() / 2),
            Self::Whole => {}
        }
        Some(bytes)
    }
}

fn set(files: &mut Files, name: &str, bytes: Option<Vec<u8>>) {
    match bytes {
        Some(bytes) => files.insert(name.to_owned(), Some(bytes)),
        None => files.remove(name),
    };
}

fn rebased(name: &str, from: &str, to: &str) -> String {
    match name.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
        _ => name.to_owned(),
    }
}

/// Where the temporary files of batch 2 will lie before any move; what is seen at each point confirms it.
fn asides(root: &Path, steps: &[Step]) -> Vec<String> {
    let dir = Dir::open_ambient_dir(root, ambient_authority()).unwrap();
    let steps: Vec<_> = steps.iter().map(|step| RecordedStep { step: step.clone(), identity: None }).collect();
    let places = TempFolders::before(&dir, &steps).unwrap();
    let name = |index: usize| match places.early(index) {
        Some(folder) => format!("{folder}/.memdir-2-{index}.tmp"),
        None => format!(".memdir-2-{index}.tmp"),
    };
    (0..steps.len()).map(name).collect()
}

fn hold(root: &Path, held: &Path, steps: &[Step]) -> BTreeMap<usize, u64> {
    use std::os::unix::fs::MetadataExt;
    let hold = |(index, step): (usize, &Step)| {
        let Step::Move { from, kind, .. } = step else { return None };
        let from = root.join(from.as_str());
        if *kind == Kind::File {
            std::fs::hard_link(&from, held.join(index.to_string())).unwrap();
        }
        Some((index, std::fs::metadata(from).unwrap().ino()))
    };
    steps.iter().enumerate().filter_map(hold).collect()
}

fn find_inode(folder: &Path, inode: u64) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| !path.ends_with(".memdir")).find_map(|path| {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.ino() == inode {
            return Some(path);
        }
        if metadata.is_dir() { find_inode(&path, inode) } else { None }
    })
}

/// Removes all that is in a folder but `.memdir`.
fn clear(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".memdir") {
            continue;
        }
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    }
}

#[track_caller]
fn cut_power(scenario: usize) {
    Recording::new(scenarios().swap_remove(scenario), None).run();
}

#[test]
fn a_power_cut_leaves_all_or_nothing_of_a_replace_a_create_and_a_delete() {
    cut_power(0);
}

#[test]
fn a_power_cut_leaves_all_or_nothing_of_three_replaced() {
    cut_power(1);
}

#[test]
fn a_power_cut_leaves_all_or_nothing_of_a_moved_folder_with_changes() {
    cut_power(2);
}

#[test]
fn a_power_cut_leaves_all_or_nothing_of_made_and_removed_folders() {
    cut_power(3);
}

/// A batch that met an edit of `note` in step `last`.
#[track_caller]
fn cut_power_while_giving_back(scenario: usize, note: &str, last: usize) {
    Recording::new(scenarios().swap_remove(scenario), Some((note, "an editor's"))).run_given_back(last);
}

#[test]
fn a_power_cut_while_a_batch_is_given_back_keeps_the_edit() {
    cut_power_while_giving_back(0, "a.md", 0);
    cut_power_while_giving_back(0, "dir/c.md", 2);
    cut_power_while_giving_back(1, "dir/c.md", 2);
}

#[test]
fn a_power_cut_while_a_moved_folder_is_given_back_keeps_the_edit() {
    cut_power_while_giving_back(2, "dir/c.md", 1);
}

#[test]
fn a_power_cut_while_made_and_removed_folders_are_given_back_keeps_the_edit() {
    cut_power_while_giving_back(3, "a.md", 2);
    cut_power_while_giving_back(3, "dir/c.md", 3);
}

/// Leaves a batch of two without the mark that it is in place, lets somebody edit, and recovers.
#[track_caller]
fn edit_after_a_crash(lay_out: &dyn Fn(&Env), steps: &[Step]) -> (Files, usize) {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]);
    let vault = env.vault();
    commit(&vault, steps, None).unwrap();
    drop(vault);
    let database = rusqlite::Connection::open(state_file(env.path(), "")).unwrap();
    database.execute("UPDATE batch SET state = 2", []).unwrap();
    drop(database);
    lay_out(&env);
    let vault = env.vault();
    let entries = vault.log(&LogQuery { limit: 9, ..LogQuery::default() }).unwrap().entries.len();
    drop(vault);
    let mut files = files(env.path());
    files.remove("c.md");
    (files, entries)
}

fn texts(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(name, text)| ((*name).to_owned(), Some(text.as_bytes().to_vec()))).collect()
}

#[test]
fn a_batch_that_an_edit_overtook_is_given_back_and_the_edit_stays() {
    let replaced = [put("a.md", Some("a"), Some("a2")), put("b.md", Some("b"), Some("b2"))];
    let nothing = (texts(&[("a.md", "a"), ("b.md", "theirs")]), 0);
    // Killed before the first rename, and the first note edited.
    let found = edit_after_a_crash(
        &|env| {
            env.write("a.md", "theirs");
            env.write("b.md", "b");
            env.write(".memdir-1-0.tmp", "a2");
            env.write(".memdir-1-1.tmp", "b2");
        },
        &replaced,
    );
    assert_eq!(found, (texts(&[("a.md", "theirs"), ("b.md", "b")]), 0));
    // Killed after the first rename, and the second note edited.
    let found = edit_after_a_crash(
        &|env| {
            env.write("b.md", "theirs");
            env.write(".memdir-1-0.tmp", "a");
            env.write(".memdir-1-1.tmp", "b2");
        },
        &replaced,
    );
    assert_eq!(found, nothing);
    // Killed after the first rename, and the first note edited: what was put there is under the edit, and stays.
    let found = edit_after_a_crash(
        &|env| {
            env.write("a.md", "theirs");
            env.write("b.md", "b");
            env.write(".memdir-1-0.tmp", "a");
            env.write(".memdir-1-1.tmp", "b2");
        },
        &replaced,
    );
    assert_eq!(found, (texts(&[("a.md", "theirs"), ("b.md", "b")]), 0));
    // The second one was to be removed.
    let found = edit_after_a_crash(
        &|env| {
            env.write("b.md", "theirs");
            env.write(".memdir-1-0.tmp", "a");
        },
        &[put("a.md", Some("a"), Some("a2")), put("b.md", Some("b"), None)],
    );
    assert_eq!(found, nothing);
}

#[test]
fn a_batch_that_was_in_place_stays_when_a_note_is_edited_afterwards() {
    let steps = [put("a.md", Some("a"), Some("a2")), put("b.md", Some("b"), Some("b2")), put("n.md", None, Some("n"))];
    let kept = (texts(&[("a.md", "theirs"), ("b.md", "b2"), ("n.md", "theirs, too")]), 1);
    let edit = |env: &Env| {
        env.write("a.md", "theirs");
        env.write("n.md", "theirs, too");
    };
    assert_eq!(edit_after_a_crash(&edit, &steps), kept, "displaced files removed");
    let found = edit_after_a_crash(
        &|env| {
            edit(env);
            env.write(".memdir-1-0.tmp", "a");
            env.write(".memdir-1-1.tmp", "b");
        },
        &steps,
    );
    assert_eq!(found, kept, "displaced files still there");
}
