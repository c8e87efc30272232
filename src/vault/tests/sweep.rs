//! A sweep names what a scan names, and says of each file what the system says.

use super::{Env, commit, path, put, rename};
use crate::plan::{Scan, Swept, Tree, TreeError};
use crate::report::Kind;
use crate::vault::Vault;

fn swept(vault: &Vault) -> Vec<Swept> {
    let swept = vault.sweep(&|| false).unwrap();
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
