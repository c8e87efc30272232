//! What a file system keeps beside the content of a note: extended attributes and access lists.

use rustix::fs::{XattrFlags, getxattr, listxattr, setxattr};

use super::*;
use crate::CommitPoint;

/// Whether the file system of temporary folders can keep such an attribute; the others are tried where it can.
fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    match setxattr(path, name, value, XattrFlags::empty()) {
        Err(rustix::io::Errno::NOTSUP) => false,
        other => other.map(|()| true).unwrap(),
    }
}

fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1 << 16];
    let length = getxattr(path, name, value.as_mut_slice()).ok()?;
    value.truncate(length);
    Some(value)
}

/// An access list that lets the user 12345 read, in the form that Linux keeps it in.
#[cfg(target_os = "linux")]
fn access_list() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 12_345), (4, 0, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permission, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(permission.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

#[test]
fn attributes_survive_every_way_in_which_a_note_is_changed() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]);
    let long = vec![b'x'; 3_000];
    for name in ["a.md", "b.md", "c.md"] {
        if !set(&env.path().join(name), "user.tags", name.as_bytes()) {
            return;
        }
        set(&env.path().join(name), "user.empty", b"");
    }
    set(&env.path().join("a.md"), "user.long", &long);
    let vault = env.vault();
    let steps = [
        rename("b.md", "moved.md", Kind::File),
        put("a.md", Some("a"), Some("a2")),
        put("moved.md", Some("b"), Some("b2")),
    ];
    let batch = commit(&vault, &steps, None).unwrap();
    let writer = vault.lock().unwrap();
    assert_eq!(writer.replace_spot("c.md", b"c", b"c2").unwrap(), crate::Replaced::Yes);
    drop(writer);
    let check = |name: &str, was: &str| {
        assert_eq!(get(&env.path().join(name), "user.tags").as_deref(), Some(was.as_bytes()), "{name}");
        assert_eq!(get(&env.path().join(name), "user.empty").as_deref(), Some(&b""[..]), "{name}");
    };
    check("a.md", "a.md");
    check("moved.md", "b.md");
    check("c.md", "c.md");
    assert_eq!(get(&env.path().join("a.md"), "user.long"), Some(long));
    // Undone, they are still there.
    let back = [
        rename("moved.md", "b.md", Kind::File),
        put("a.md", Some("a2"), Some("a")),
        put("b.md", Some("b2"), Some("b")),
    ];
    commit(&vault, &back, Some(batch)).unwrap();
    check("a.md", "a.md");
    check("b.md", "b.md");
    // A new file has none of another's.
    commit(&vault, &[put("new.md", None, Some("new"))], None).unwrap();
    let mut names = vec![0; 1 << 16];
    let length = listxattr(env.path().join("new.md"), names.as_mut_slice()).unwrap();
    assert!(!String::from_utf8_lossy(&names[..length]).contains("user."));
}

#[test]
fn attributes_survive_a_batch_that_is_given_back_and_one_that_is_finished_later() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b")]);
    if !set(&env.path().join("a.md"), "user.tags", b"mine") {
        return;
    }
    let vault = env.vault();
    let steps = [put("a.md", Some("a"), Some("a2")), put("b.md", Some("b"), Some("b2"))];
    let (entries, author) = ([entry("update_file")], author());
    let time = Timestamp::from_micros(0);
    let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
        if point == CommitPoint::Done(0) {
            env.write("b.md", "an editor's");
            // As after a crash: the displaced file is no longer there, and is written anew.
            std::fs::remove_file(env.path().join(".memdir-1-0.tmp")).unwrap();
        }
    });
    assert!(matches!(result, Err(VaultError::Conflict(_))), "{result:?}");
    assert_eq!(env.read("a.md").as_deref(), Some("a"));
    assert_eq!(get(&env.path().join("a.md"), "user.tags").as_deref(), Some(&b"mine"[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn access_lists_survive_with_the_mode() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new(&[("a.md", "a")]);
    let file = env.path().join("a.md");
    if !set(&file, "system.posix_acl_access", &access_list()) {
        return;
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let before = (mode(&file), get(&file, "system.posix_acl_access"));
    assert!(before.1.is_some());
    commit(&env.vault(), &[put("a.md", Some("a"), Some("b"))], None).unwrap();
    assert_eq!(env.read("a.md").as_deref(), Some("b"));
    assert_eq!((mode(&file), get(&file, "system.posix_acl_access")), before);
}
