//! A link that takes the place of `.memdir` while SQLite opens the history: nothing is made behind it.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;
use crate::vault::journal::Journal;
use crate::vault::state::{Home, StateFolder};

/// Whether this kernel can restrict a thread. Without, what was made is found afterwards, and it is not used.
fn has_landlock() -> bool {
    use landlock::{ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_write(ABI::V3)).and_then(|ruleset| ruleset.create()).is_ok()
}

/// A folder like `.memdir`, somewhere else, and what is in it.
fn outside() -> (tempfile::TempDir, impl Fn() -> Vec<std::ffi::OsString>) {
    let outside = tempfile::tempdir().unwrap();
    let machine = outside.path().join("local");
    std::fs::create_dir(&machine).unwrap();
    (outside, move || std::fs::read_dir(&machine).unwrap().map(|entry| entry.unwrap().file_name()).collect())
}

#[test]
fn nothing_is_made_outside_when_a_link_takes_the_place_of_a_new_history() {
    if !has_landlock() {
        return;
    }
    let (env, (outside, found)) = (Env::new(&[]), outside());
    let root = env.path().canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    let home = Home { root: &dir, root_path: &root, machine: "local", elsewhere: None };
    let folder = StateFolder::create(&home).unwrap();
    let (ask, asked) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let target = outside.path();
    let opened = std::thread::scope(|scope| {
        // Somebody else's doing, so not on the thread that opens.
        scope.spawn(move || {
            asked.recv().unwrap();
            std::fs::rename(root.join(".memdir"), root.join("moved")).unwrap();
            symlink(target, root.join(".memdir")).unwrap();
            tell.send(()).unwrap();
        });
        Journal::open(&folder, None, move || {
            let _ = ask.send(());
            let _ = told.recv();
            Ok(1)
        })
    });
    assert!(opened.is_err());
    assert!(found().is_empty(), "{:?}", found());
}

#[test]
fn nothing_is_made_outside_while_a_link_and_the_state_change_places() {
    if !has_landlock() {
        return;
    }
    let (env, (outside, found)) = (Env::new(&[("a.md", "0")]), outside());
    commit(&env.vault(), &[put("a.md", Some("0"), Some("1"))], None).unwrap();
    let (memdir, spare) = (env.path().join(".memdir"), env.path().join("spare"));
    symlink(outside.path(), &spare).unwrap();
    let is_over = AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &memdir, CWD, &spare, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let opened = (0..400).filter(|_| open(env.path()).is_ok_and(|vault| vault.newest().is_ok())).count();
        is_over.store(true, Ordering::Relaxed);
        opened
    });
    assert!(found().is_empty(), "{:?}, opened {opened} times", found());
}
