//! What changed lately, beside what the log says of each batch.

use memdir_core::report::Kind;
use memdir_core::time::Timestamp;

use super::{Env, commit, commit_on, path, put, rename};
use crate::{LogQuery, Vault};

/// The batches since `since`, page by page: number, and what it changed.
fn batches(vault: &Vault, since: Timestamp, page: usize) -> Vec<(u64, Vec<String>)> {
    let (mut all, mut before) = (Vec::new(), u64::MAX);
    loop {
        let found = vault.batches_since(since, before, page).unwrap();
        let is_last = found.len() < page;
        for batch in found {
            before = batch.number;
            all.push((batch.number, batch.changed.iter().map(ToString::to_string).collect()));
        }
        if is_last {
            return all;
        }
    }
}

#[test]
fn the_batches_since_a_moment_are_those_of_the_log_newest_first() {
    let env = Env::new(&[("a.md", "1"), ("dir/b.md", "2")]);
    let vault = env.vault();
    assert_eq!(batches(&vault, Timestamp::from_micros(0), 3), [], "no history");
    let old = commit_on(&vault, 1, "old.md");
    let put_two = commit(&vault, &[put("a.md", Some("1"), Some("3")), put("c.md", None, Some("4"))], None).unwrap();
    let moved = commit(&vault, &[rename("dir", "folder", Kind::Directory)], None).unwrap();
    let undone = commit(&vault, &[rename("folder", "dir", Kind::Directory)], Some(moved)).unwrap();
    let names = |names: &[&str]| names.iter().map(|name| path(name).to_string()).collect::<Vec<_>>();
    let all = [
        (undone, names(&["dir", "folder"])),
        (moved, names(&["dir", "folder"])),
        (put_two, names(&["a.md", "c.md"])),
        (old, names(&["old.md"])),
    ];
    // The other batches are of the start of 1970.
    let noon = vault.time_of(old).unwrap().unwrap();
    let logged = vault.log(&LogQuery { limit: 9, ..LogQuery::default() }).unwrap().entries;
    let logged = logged
        .into_iter()
        .map(|entry| (entry.batch.unwrap(), entry.changed.iter().map(ToString::to_string).collect::<Vec<_>>()));
    assert_eq!(logged.collect::<Vec<_>>(), all);
    for page in 1..=5 {
        assert_eq!(batches(&vault, Timestamp::from_micros(0), page), all);
        assert_eq!(batches(&vault, noon, page), all[3..]);
        assert_eq!(batches(&vault, Timestamp::from_micros(noon.micros() + 1), page), []);
    }
}
