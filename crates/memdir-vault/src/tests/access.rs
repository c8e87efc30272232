//! What becomes of a change where memdir may not write any more.

use super::{Env, commit, put, rename};
use crate::VaultError;
use memdir_core::report::Kind;

#[test]
fn a_change_to_what_may_not_be_written_any_more_is_refused_before_it_begins() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    if rustix::process::geteuid().is_root() {
        // Nothing is forbidden to root: another user does the test.
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "tests::access::a_change_to_what_may_not_be_written_any_more_is_refused_before_it_begins";
        let ran = again.args([name, "--exact"]).uid(65_534).gid(65_534).current_dir("/").output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        return;
    }
    fn set_all(folder: &std::path::Path, may_write: bool) {
        let mode = |path: &std::path::Path, mode: u32| {
            let mode = if may_write { mode } else { mode & 0o555 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { set_all(&path, may_write) } else { mode(&path, 0o600) }
        }
        mode(folder, 0o700);
    }
    let env = Env::new(&[("a.md", "a"), ("sub/b.md", "b")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("a"), Some("a2"))], None).unwrap();
    let changes = [
        put("a.md", Some("a2"), None),
        put("a.md", Some("a2"), Some("a3")),
        rename("a.md", "c.md", Kind::File),
        rename("a.md", "sub/a.md", Kind::File),
        put("sub/b.md", Some("b"), None),
    ];
    for closed in ["", "sub", ".memdir"] {
        set_all(&env.path().join(closed), false);
        for change in changes.iter().filter(|change| closed != "sub" || format!("{change:?}").contains("sub/")) {
            let before = env.snapshot();
            let result = commit(&vault, std::slice::from_ref(change), None);
            assert!(matches!(result, Err(VaultError::NoWriteAccess(_))), "{closed:?}: {change:?}: {result:?}");
            assert_eq!(env.snapshot(), before, "{closed:?}: {change:?}");
        }
        set_all(env.path(), true);
    }
    for change in &changes[4..] {
        commit(&vault, std::slice::from_ref(change), None).unwrap();
    }
}
