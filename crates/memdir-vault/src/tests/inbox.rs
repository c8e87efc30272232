//! Files of the inbox that the history knows nothing of.

use super::*;
use crate::Numbers;

/// Files a proposal, as the engine does: what waits is looked at first.
fn file(vault: &Vault, content: &str) -> u64 {
    let mut writer = vault.lock().unwrap();
    writer.inbox().unwrap();
    let number = writer.next_proposal().unwrap();
    let (entries, time) = ([entry("update_file")], Timestamp::from_micros(0));
    let numbers = Numbers { number, own: None };
    writer.file_proposal(numbers, Some(content.as_bytes()), (&entries, &[]), &author(), time).unwrap();
    number
}

/// What waits, as who reads is told.
fn waiting(vault: &Vault) -> Vec<(u64, String)> {
    let filed = vault.inbox().unwrap().filed.into_iter();
    filed.map(|filed| (filed.number, String::from_utf8(filed.content.unwrap()).unwrap())).collect()
}

fn told(waiting: &[(u64, &str)]) -> Vec<(u64, String)> {
    waiting.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
}

/// A memory whose history was put back from a copy that is older than what waits.
fn put_back() -> Env {
    let env = Env::new(&[]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", None, Some("a"))], None).unwrap();
    file(&vault, "decided");
    let (by, time) = (author(), Timestamp::from_micros(0));
    vault.lock().unwrap().drop_proposals(&[1], &[entry("reject")], &by, time).unwrap();
    vault.lock().unwrap().core().unwrap().journal.checkpoint().unwrap();
    let database = env.path().join(".memdir/local/history.sqlite");
    let copy = std::fs::read(&database).unwrap();
    file(&vault, "it waits");
    drop(vault);
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(env.path().join(format!(".memdir/local/history.sqlite{ending}")));
    }
    std::fs::write(&database, copy).unwrap();
    env
}

#[test]
fn what_waits_is_kept_where_an_older_history_does_not_know_it() {
    let env = put_back();
    let vault = env.vault();
    assert_eq!(waiting(&vault), told(&[(2, "it waits")]));
    assert!(!vault.inbox().unwrap().is_untidy);
    assert_eq!(vault.lock().unwrap().inbox().unwrap().filed.len(), 1, "who writes removes nothing either");
    // The next one has a number of its own, and both wait on.
    assert_eq!(file(&vault, "later"), 3);
    vault.lock().unwrap().inbox().unwrap();
    assert_eq!(waiting(&vault), told(&[(2, "it waits"), (3, "later")]));
    // It is decided like any other, and its number is not given again.
    let (by, time) = (author(), Timestamp::from_micros(0));
    vault.lock().unwrap().drop_proposals(&[2, 3], &[entry("reject")], &by, time).unwrap();
    assert_eq!(waiting(&vault), []);
    assert_eq!(file(&vault, "last"), 4);
}

#[test]
fn a_file_that_was_decided_and_one_that_memdir_cannot_have_named_do_not_wait() {
    let env = put_back();
    let vault = env.vault();
    let inbox = env.path().join(".memdir/local/inbox");
    // As a program that syncs brings it back.
    std::fs::write(inbox.join("1.json"), "decided").unwrap();
    let foreign = ["18446744073709551615.json", "9223372036854775807.json", "x.json"];
    foreign.iter().for_each(|name| std::fs::write(inbox.join(name), "planted").unwrap());
    std::fs::create_dir(inbox.join("7.json")).unwrap();
    assert_eq!(waiting(&vault), told(&[(2, "it waits")]));
    assert_eq!(vault.lock().unwrap().inbox().unwrap().filed.len(), 1);
    assert!(!inbox.join("1.json").exists());
    foreign.iter().for_each(|name| assert!(inbox.join(name).exists(), "{name}"));
    assert_eq!(file(&vault, "later"), 3);
}
