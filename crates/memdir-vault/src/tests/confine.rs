//! A link that takes the place of `.memdir` while SQLite opens the history: nothing is made behind it.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;
use crate::confine::confined;

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
fn a_confined_thread_writes_in_its_folders_alone() {
    if !has_landlock() {
        return;
    }
    let (env, (outside, found)) = (Env::new(&[("in/a.md", "a")]), outside());
    let own = Dir::open_ambient_dir(env.path().join("in"), ambient_authority()).unwrap();
    // By whatever path, as SQLite does it.
    symlink(outside.path().join("local"), env.path().join("in/out")).unwrap();
    let write = |name: &str| std::fs::write(env.path().join("in").join(name), "x").is_ok();
    let written = confined(&[&own], || ["b.md", "out/c.md"].map(write));
    assert_eq!((written, found().len()), ([true, false], 0));
    assert!(write("out/c.md"), "no other thread is confined");
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
            let mut pause = 0;
            while !is_over.load(Ordering::Relaxed) {
                // The link is there for a moment only, so that most files are opened beside it.
                for _ in 0..2 {
                    renameat_with(CWD, &memdir, CWD, &spare, RenameFlags::EXCHANGE).unwrap();
                }
                pause = (pause + 977) % 10_000;
                (0..pause).for_each(|_| std::hint::spin_loop());
            }
        });
        let opened = (0..3_000).filter(|_| open(env.path()).is_ok_and(|vault| vault.newest().is_ok())).count();
        is_over.store(true, Ordering::Relaxed);
        opened
    });
    assert!(found().is_empty(), "{:?}, opened {opened} times", found());
}
