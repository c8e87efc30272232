//! The feed tells what batches have touched, of this process and of others.

use super::{Env, author, commit, entry, open, path, put, rename};
use crate::{Batch, ChangedPaths, CommitPoint, Vault};
use memdir_core::report::Kind;
use memdir_core::time::Timestamp;
use memdir_plan::Step;

#[track_caller]
fn check(vault: &Vault, since: u64, newest: u64, paths: &[&str]) {
    let paths = paths.iter().map(|text| path(text)).collect();
    assert_eq!(vault.changed_since(since).unwrap(), ChangedPaths { newest, paths, is_everything: false });
}

#[test]
fn a_feed_names_what_newer_batches_touched() {
    let env = Env::new(&[("a.md", "a"), ("dir/b.md", "b")]);
    let vault = env.vault();
    check(&vault, 0, 0, &[]);
    assert_eq!(vault.history_id().unwrap(), None);
    commit(&vault, &[put("a.md", Some("a"), Some("a2")), put("c.md", None, Some("c"))], None).unwrap();
    let id = vault.history_id().unwrap().unwrap();
    assert!(id.len() >= 16 && id.iter().any(|byte| *byte != 0));
    check(&vault, 0, 1, &["a.md", "c.md"]);
    check(&vault, 1, 1, &[]);
    // Another process.
    let other = open(env.path()).unwrap();
    let steps = [rename("dir", "new", Kind::Directory), put("a.md", Some("a2"), Some("a3"))];
    commit(&other, &steps, None).unwrap();
    check(&vault, 1, 2, &["a.md", "dir", "new"]);
    check(&vault, 0, 2, &["a.md", "c.md", "dir", "new"]);
    let undone = [put("a.md", Some("a3"), Some("a2")), rename("new", "dir", Kind::Directory)];
    commit(&other, &undone, Some(2)).unwrap();
    commit(&other, &[Step::MakeFolder { path: path("fresh"), mode: None }], None).unwrap();
    check(&vault, 2, 4, &["a.md", "dir", "fresh", "new"]);
    check(&vault, 3, 4, &["fresh"]);
    assert_eq!(vault.history_id().unwrap(), other.history_id().unwrap());
    let everything = ChangedPaths { newest: 4, paths: Vec::new(), is_everything: true };
    assert_eq!(vault.changed_since(5).unwrap(), everything, "the history is another one");
    let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    for forgotten in ["path = NULL, new_path = NULL WHERE batch = 2 AND kind = 3", "new_path = NULL WHERE batch = 2"] {
        database.execute(&format!("UPDATE step SET {forgotten}"), []).unwrap();
        assert_eq!(vault.changed_since(1).unwrap(), everything);
    }
    check(&vault, 2, 4, &["a.md", "dir", "fresh", "new"]);
}

#[test]
fn a_batch_under_way_is_told_until_it_is_settled() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b")]);
    let (vault, other) = (env.vault(), env.vault());
    commit(&vault, &[put("a.md", Some("a"), Some("a2"))], None).unwrap();
    let steps = [put("a.md", Some("a2"), Some("a3")), put("b.md", Some("b"), Some("b2"))];
    let (author, entries) = (author(), [entry("update_file")]);
    let batch = Batch {
        steps: &steps,
        entries: &entries,
        author: &author,
        time: Timestamp::from_micros(0),
        undoes: &[],
        approval: None,
    };
    let mut seen = Vec::new();
    let result = other.lock().unwrap().commit_watched(&batch, &mut |point| {
        seen.push(vault.changed_since(1).unwrap().newest);
        if point == CommitPoint::Done(0) {
            check(&vault, 1, 1, &["a.md", "b.md"]);
            env.write("b.md", "an editor's");
        }
    });
    assert!(result.is_err());
    assert!(seen.len() > 2 && seen.iter().all(|newest| *newest == 1), "{seen:?}");
    // It was given back, and a look is due once more.
    check(&vault, 1, 2, &["a.md", "b.md"]);
    check(&vault, 2, 2, &[]);
}

#[test]
fn more_paths_than_a_sweep_is_worth_are_not_told() {
    let env = Env::new(&[("a.md", "a")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("a"), Some("a2"))], None).unwrap();
    let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
               INSERT INTO step (batch, number, kind, path) SELECT 1, i, 4, 'n' || i || '.md' FROM n";
    database.execute(sql, [9_999]).unwrap();
    assert_eq!(vault.changed_since(0).unwrap().paths.len(), 10_000);
    database.execute("INSERT INTO step (batch, number, kind, path) VALUES (1, 10000, 4, 'z.md')", []).unwrap();
    assert_eq!(vault.changed_since(0).unwrap(), ChangedPaths { newest: 1, paths: Vec::new(), is_everything: true });
}
