//! A sweep names what a scan names, and says of each file what the system says.

use super::{Env, commit, path, put, rename};
use crate::{Sweep, Vault};
use memdir_core::report::Kind;
use memdir_plan::{Scan, Swept, Tree, TreeError};

fn swept(vault: &Vault) -> Vec<Swept> {
    let Sweep { files: swept, unknown } = vault.sweep(&|| false).unwrap();
    assert!(unknown.is_empty());
    let scan = Scan { folder: None, limit: 0, wants: &|_| false, stop: &|| false };
    let scanned: Vec<_> = vault.scan(&scan, &|_, _| ()).unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(swept.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), scanned);
    for file in &swept {
        assert_eq!(vault.stamp(&file.path).unwrap().as_ref(), Some(file));
    }
    swept
}

#[test]
fn a_sweep_names_what_a_scan_names() {
    let names: Vec<String> = (0..1000).map(|number| format!("f{}/n{number}.md", number % 7)).collect();
    let mut notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    notes.extend([("a.png", "x"), (".hidden.md", "x"), (".memdir-1-0.tmp", "x"), ("a/.git/x.md", "x"), ("a/b.md", "")]);
    let env = Env::new(&notes);
    assert_eq!(swept(&env.vault()).len(), 1002);
}

#[cfg(unix)]
#[test]
fn a_sweep_says_what_the_system_says() {
    use std::os::unix::fs::{MetadataExt, symlink};

    let env = Env::new(&[("a.md", "four"), ("dir/b.md", "b"), (".hidden/c.md", "c")]);
    let links = [("a.md", "link.md"), ("dir", "linked"), ("nowhere", "dangling.md"), (".hidden/c.md", "hidden.md")];
    for (target, name) in links {
        symlink(target, env.path().join(name)).unwrap();
    }
    std::fs::OpenOptions::new()
        .write(true)
        .open(env.path().join("a.md"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH - std::time::Duration::from_nanos(1_500_000_001))
        .unwrap();
    let vault = env.vault();
    let swept = swept(&vault);
    let seen: Vec<(&str, bool)> = swept.iter().map(|file| (file.path.as_str(), file.is_link)).collect();
    assert_eq!(seen, [("a.md", false), ("dir/b.md", false), ("link.md", true)]);
    for file in &swept {
        let metadata = std::fs::metadata(env.path().join(file.path.as_str())).unwrap();
        assert_eq!(file.stamp.size, metadata.len());
        assert_eq!(file.stamp.modified, metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec());
        assert_eq!(file.stamp.changed, metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec());
        assert_eq!(file.stamp.inode, metadata.ino());
    }
    assert_eq!(swept.first().unwrap().stamp.modified, -1_500_000_001);
    assert_eq!(swept.first().unwrap().stamp, swept.last().unwrap().stamp, "the stamp of a link is that of its target");
    for nothing in ["dir", "linked", "linked/b.md", "dangling.md", "hidden.md", "a.md/x.md", "gone.md", "gone/x.md"] {
        assert_eq!(vault.stamp(&path(nothing)), Ok(None), "{nothing}");
    }
}

#[test]
fn every_commit_changes_a_stamp() {
    let env = Env::new(&[("a.md", "old"), ("b/c.md", "c")]);
    let vault = env.vault();
    let before = vault.stamp(&path("a.md")).unwrap();
    commit(&vault, &[put("a.md", Some("old"), Some("new")), rename("b", "d", Kind::Directory)], None).unwrap();
    assert_ne!(vault.stamp(&path("a.md")).unwrap(), before);
    assert_eq!(vault.stamp(&path("b/c.md")), Ok(None));
    assert_eq!(swept(&vault).len(), 2);
}

#[test]
fn a_sweep_stops_when_it_is_told_to() {
    let env = Env::new(&[("a.md", "a")]);
    assert_eq!(env.vault().sweep(&|| true), Err(TreeError::Stopped));
}

/// The number of open files holds for a whole process, so this test is run once more, alone, in one of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_opened_just_now_is_not_empty() {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    const ALONE: &str = "MEMDIR_TEST_ALONE";
    const NAME: &str = "tests::sweep::a_folder_that_cannot_be_opened_just_now_is_not_empty";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let ran = alone.args(["--exact", NAME, "--test-threads", "1"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&ran.stderr));
        return;
    }
    // Files of a folder are looked at before the next one is opened, so no run sees all folders before the limit.
    let names: Vec<String> = (1..=50).map(|depth| format!("{}n.md", "f/".repeat(depth))).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let env = Env::new(&notes);
    let vault = env.vault();
    let before = getrlimit(Resource::Nofile);
    let is_limited = AtomicBool::new(false);
    let limit = || {
        if !is_limited.swap(true, Ordering::Relaxed) {
            setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..before }).unwrap();
        }
        false
    };
    let swept = vault.sweep(&limit);
    let measured = vault.measure();
    setrlimit(Resource::Nofile, before).unwrap();
    assert!(matches!(measured, Err(TreeError::Io(_))), "an unknown number of notes has no sum: {measured:?}");
    let Sweep { files, unknown } = swept.unwrap();
    assert!(!unknown.is_empty(), "the limit was felt");
    let seen: BTreeSet<_> = files.into_iter().map(|file| file.path).collect();
    for note in names.iter().map(|name| path(name)) {
        assert!(seen.contains(&note) || note.ancestors().any(|above| unknown.contains(&above)), "{note}");
    }
    assert_eq!(vault.sweep(&|| false).unwrap().files.len(), 50);
}

#[cfg(unix)]
#[test]
fn a_folder_that_nobody_lets_us_list_has_nothing_for_us() {
    use std::os::unix::fs::PermissionsExt;

    if rustix::process::geteuid().is_root() {
        return;
    }
    let env = Env::new(&[("a.md", "a"), ("closed/b.md", "b")]);
    let closed = env.path().join("closed");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let vault = env.vault();
    let (swept, sum) = (vault.sweep(&|| false).unwrap(), vault.note_bytes());
    let told = vault.closed_folders();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((swept.files.len(), swept.unknown.len(), sum), (1, 0, Ok(1)));
    assert_eq!(told, [path("closed")]);
    assert_eq!(vault.sweep(&|| false).unwrap().files.len(), 2);
    assert_eq!(vault.closed_folders(), []);
}

/// What may lie in a folder of notes and is no note.
#[cfg(unix)]
#[test]
fn what_is_no_note_stops_no_commit_in_a_fresh_memory() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    let check = |name: &str, make: &dyn Fn(&std::path::Path)| {
        let env = Env::new(&[("a.md", "four"), ("dir/b.md", "b")]);
        make(&env.path().join("odd.md"));
        make(&env.path().join("dir/odd"));
        let vault = env.vault();
        assert_eq!(vault.note_bytes(), Ok(5), "{name}");
        let swept = vault.sweep(&|| false).unwrap();
        assert!(swept.unknown.is_empty(), "{name}: {swept:?}");
        commit(&vault, &[put("new.md", None, Some("new"))], None).unwrap();
        assert_eq!((env.read("new.md").as_deref(), vault.note_bytes()), (Some("new"), Ok(8)), "{name}");
    };
    let (long_name, long_path) = ("n".repeat(300), "n/".repeat(2000));
    let links = [
        ("a link to a name too long", long_name.as_str()),
        ("a link to a path too long", &long_path),
        ("a dangling link", "nowhere"),
        ("a loop of links", "odd.md"),
        ("a link to the folder", "."),
        ("a link out of the memory", "/etc/hostname"),
    ];
    for (name, target) in links {
        check(name, &|place| symlink(target, place).unwrap());
    }
    check("an empty file that nobody may read", &|place| {
        std::fs::write(place, "").unwrap();
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o000)).unwrap();
    });
    check("a pipe", &|place| {
        rustix::fs::mknodat(rustix::fs::CWD, place, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    });
    check("a socket", &|place| drop(UnixListener::bind(place).unwrap()));
}
