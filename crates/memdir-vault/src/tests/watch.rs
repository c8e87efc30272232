//! What the system says of real edits.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::{Env, commit, path, put};
use crate::{Watch, WatchEvent};
use memdir_core::path::MemoryPath;

/// Long enough for any machine; no test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

fn watch(env: &Env) -> (Watch, Receiver<WatchEvent>) {
    let (sender, receiver) = channel();
    let watch = env.vault().watch(move |noticed| sender.send(noticed).unwrap_or_default()).unwrap();
    (watch, receiver)
}

/// Collects what is told until all of `expected` was, and gives all of it.
#[track_caller]
fn wait_for(receiver: &Receiver<WatchEvent>, expected: &[&str]) -> BTreeSet<MemoryPath> {
    let expected: BTreeSet<MemoryPath> = expected.iter().map(|text| path(text)).collect();
    let mut told = BTreeSet::new();
    while !expected.is_subset(&told) {
        match receiver.recv_timeout(PATIENCE) {
            Ok(WatchEvent::Changed(paths)) => told.extend(paths),
            other => panic!("{other:?} after {told:?}"),
        }
    }
    told
}

#[test]
fn edits_of_others_are_told_by_their_paths() {
    let env = Env::new(&[("a.md", "a"), ("dir/b.md", "b"), (".git/x", "x"), ("gone.md", "x")]);
    let (_watch, receiver) = watch(&env);
    env.write("a.md", "new");
    wait_for(&receiver, &["a.md"]);
    env.write("dir/new.md", "new");
    env.write("gone.md", "y");
    wait_for(&receiver, &["dir/new.md", "gone.md"]);
    std::fs::remove_file(env.path().join("gone.md")).unwrap();
    wait_for(&receiver, &["gone.md"]);
    std::fs::rename(env.path().join("a.md"), env.path().join("dir/moved.md")).unwrap();
    wait_for(&receiver, &["a.md", "dir/moved.md"]);
    std::fs::rename(env.path().join("dir"), env.path().join("other")).unwrap();
    wait_for(&receiver, &["dir", "other"]);
    // What was moved is still watched.
    env.write("other/deep/er/x.md", "x");
    wait_for(&receiver, &["other/deep"]);
    std::fs::remove_dir_all(env.path().join("other/deep")).unwrap();
    wait_for(&receiver, &["other/deep"]);
}

#[test]
fn hidden_names_and_looks_are_not_told_and_our_own_commits_are() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b"), (".git/x", "x")]);
    let vault = env.vault();
    let (_watch, receiver) = watch(&env);
    env.write(".git/x", "y");
    env.write(".memdir-1-0.tmp", "y");
    env.write(".obsidian/workspace.json", "{}");
    assert_eq!(env.read("b.md").as_deref(), Some("b"));
    commit(&vault, &[put("a.md", Some("a"), Some("a2"))], None).unwrap();
    env.write("last.md", "x");
    let told = wait_for(&receiver, &["a.md", "last.md"]);
    assert_eq!(told.into_iter().collect::<Vec<_>>(), [path("a.md"), path("last.md")]);
}

#[test]
fn a_memory_that_is_taken_away_is_a_rescan() {
    let env = Env::new(&[]);
    let (_watch, receiver) = watch(&env);
    std::fs::remove_dir(env.path()).unwrap();
    assert_eq!(receiver.recv_timeout(PATIENCE), Ok(WatchEvent::Rescan));
    std::fs::create_dir(env.path()).unwrap();
}

#[test]
fn a_watch_ends_when_it_is_dropped() {
    let env = Env::new(&[]);
    let (watch, receiver) = watch(&env);
    drop(watch);
    env.write("a.md", "a");
    // The sender goes with the thread that tells.
    assert_eq!(receiver.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}

#[cfg(unix)]
#[test]
fn a_linked_folder_is_not_watched() {
    let env = Env::new(&[("a.md", "a")]);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), env.path().join("linked")).unwrap();
    let (_watch, receiver) = watch(&env);
    std::fs::write(outside.path().join("x.md"), "x").unwrap();
    env.write("last.md", "x");
    assert_eq!(wait_for(&receiver, &["last.md"]).len(), 1);
}

#[test]
fn the_bytes_below_a_folder_are_kept_until_something_changes_there() {
    let env = Env::new(&[("a.md", "1"), ("dir/b.md", "22"), ("dir/deep/c.txt", "333"), ("dir/.hidden", "4444")]);
    let vault = env.vault();
    let (sender, receiver) = channel();
    let watch = vault.watch(move |noticed| sender.send(noticed).unwrap_or_default()).unwrap();
    let (dir, deep) = (path("dir"), path("dir/deep"));
    // Long after the last change, with the number of folders that were looked at.
    let sums = || {
        let looked = Cell::new(0);
        let sums = [None, Some(&dir), Some(&deep)].map(|folder| {
            let look = |folder: Option<&MemoryPath>| {
                looked.set(looked.get() + 1);
                vault.held_in(folder)
            };
            vault.sizes.below(folder, Instant::now() + Duration::from_secs(60), look).unwrap()
        });
        (sums, looked.get())
    };
    assert_eq!(sums(), ([6, 5, 3], 3));
    assert_eq!(sums(), ([6, 5, 3], 0));
    env.write("dir/deep/c.txt", "55555");
    wait_for(&receiver, &["dir/deep/c.txt"]);
    assert_eq!(sums(), ([8, 7, 5], 1));
    env.write("dir/new.md", "1");
    wait_for(&receiver, &["dir/new.md"]);
    assert_eq!(sums().0, [9, 8, 5]);
    commit(&vault, &[put("dir/deep/mine.md", None, Some("1"))], None).unwrap();
    assert_eq!(sums().0, [10, 9, 6], "at once, whatever the system has told by then");
    drop(watch);
    assert_eq!([sums(), sums()], [([10, 9, 6], 6); 2], "nobody would tell of a change");
}
