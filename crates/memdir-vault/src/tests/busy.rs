//! Who waits for whom while others write.

use std::sync::mpsc;
use std::time::Duration;

use rusqlite::Connection;

use super::{Env, author, commit, entry, open_with, path, put};
use crate::journal::Journal;
use crate::state::{Home, StateFolder};
use crate::{Batch, CommitPoint, LogQuery, Options, Vault, VaultError};
use memdir_core::time::Timestamp;
use memdir_plan::{Scan, Tree};

/// One that waits long for other processes.
fn patient(env: &Env) -> Vault {
    open_with(env.path(), Options { lock_timeout: Duration::from_secs(20), ..Options::default() }).unwrap()
}

fn page() -> LogQuery {
    LogQuery { limit: 9, ..LogQuery::default() }
}

/// Makes every kind of read.
fn read(vault: &Vault, entries: u64) {
    vault.look_after_crash().unwrap();
    assert_eq!(vault.log(&page()).unwrap().entries.len() as u64, entries);
    assert_eq!(vault.history(&path("a.md"), 9).unwrap().entries.len() as u64, entries);
    assert!(vault.read(&path("a.md"), 99).is_ok());
    assert!(vault.note_bytes().unwrap() > 0);
    assert!(vault.inbox().unwrap().filed.is_empty());
    assert_eq!(vault.last_proposal().unwrap(), 0);
    assert_eq!(vault.changed_since(0).unwrap().newest, entries);
    vault.note_reads(vec![entry("read_file"); 200], &author(), Timestamp::from_micros(0), vault.forgets()).unwrap();
    vault.settle_reads();
}

#[test]
fn who_reads_does_not_wait_for_a_writer_that_waits() {
    let env = Env::new(&[("a.md", "0")]);
    let (vault, other) = (patient(&env), env.vault());
    commit(&other, &[put("a.md", Some("0"), Some("1"))], None).unwrap();
    vault.look_after_crash().unwrap();
    let held = other.lock().unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let committed = commit(&vault, &[put("a.md", Some("1"), Some("2"))], None);
            tell.send(committed.is_ok()).unwrap();
        });
        while vault.core_now().is_some() {
            std::thread::yield_now();
        }
        read(&vault, 1);
        assert!(told.try_recv().is_err(), "the writer still waits");
        drop(held);
        assert_eq!(told.recv(), Ok(true));
    });
    read(&vault, 2);
    drop(vault);
    let account = other.account(None).unwrap();
    assert!(account.ok && account.entries == 2 + 2 * 200, "{account:?}");
}

#[test]
fn who_reads_does_not_wait_where_nothing_was_written_yet() {
    let env = Env::new(&[("a.md", "0")]);
    std::fs::create_dir(env.path().join(".memdir")).unwrap();
    let lock = std::fs::OpenOptions::new().write(true).create_new(true).open(env.path().join(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let vault = patient(&env);
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let committed = commit(&vault, &[put("a.md", Some("0"), Some("1"))], None);
            tell.send(committed.is_ok()).unwrap();
        });
        // The database is there before its tables are.
        while !env.path().join(".memdir/local/history.sqlite").exists() || vault.core_now().is_some() {
            std::thread::yield_now();
        }
        read(&vault, 0);
        read(&patient(&env), 0);
        assert!(told.try_recv().is_err(), "the writer still waits");
        lock.unlock().unwrap();
        assert_eq!(told.recv(), Ok(true));
    });
    read(&vault, 1);
}

#[test]
fn what_was_read_is_noted_later_where_another_process_keeps_the_database() {
    let env = Env::new(&[("a.md", "0")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("0"), Some("1"))], None).unwrap();
    let mut other = Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    let kept = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        let vault = &vault;
        scope.spawn(move || {
            read(vault, 1);
            assert!(!vault.settle_reads(), "something is left");
            tell.send(()).unwrap();
            read(vault, 1);
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(8)), Ok(()), "it waits for the other process");
        kept.rollback().unwrap();
    });
    assert!(vault.settle_reads());
    let account = vault.account(None).unwrap();
    assert!(account.ok && account.entries == 1 + 2 * 200, "{account:?}");
}

#[test]
fn threads_that_write_wait_for_each_other_as_long_as_for_other_processes() {
    let env = Env::new(&[("a.md", "0")]);
    let vault = open_with(env.path(), Options { lock_timeout: Duration::ZERO, ..Options::default() }).unwrap();
    let held = vault.lock().unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| vault.lock().map(drop));
        assert!(matches!(other.join().unwrap(), Err(VaultError::Busy)));
        let other = scope.spawn(|| vault.lock_now().map(drop));
        assert!(matches!(other.join().unwrap(), Err(VaultError::Busy)));
    });
    drop(held);
    vault.lock_now().map(drop).unwrap();
}

#[test]
fn after_a_panic_a_batch_is_finished_or_given_back_by_the_next_who_looks() {
    for (point, expected) in [
        (CommitPoint::Opened, "0"),
        (CommitPoint::Written(0), "0"),
        (CommitPoint::Certain, "1"),
        (CommitPoint::Flushed, "1"),
    ] {
        let env = Env::new(&[("a.md", "0")]);
        let vault = env.vault();
        commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap();
        let (steps, entries, author) = ([put("a.md", Some("0"), Some("1"))], [entry("update_file")], author());
        let time = Timestamp::from_micros(0);
        let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut writer = vault.lock().unwrap();
            let _ = writer.commit_watched(&batch, &mut |at| assert!(at != point, "as it is written in this test"));
        }));
        assert!(broken.is_err());
        let unfinished = if expected == "1" { Some(2) } else { None };
        assert_eq!(vault.examine().unwrap().unfinished, unfinished, "{point:?}: who only looks changes nothing");
        vault.look_after_crash().unwrap();
        assert_eq!(vault.examine().unwrap().unfinished, None, "{point:?}");
        assert_eq!(env.read("a.md").as_deref(), Some(expected), "{point:?}");
        commit(&vault, &[put("b.md", Some("b"), Some("c"))], None).unwrap();
        assert!(vault.account(None).unwrap().ok, "{point:?}");
        drop(vault);
        let names: Vec<_> = env.snapshot().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.md", "b.md"], "{point:?}");
    }
}

#[test]
fn a_panic_in_a_walk_does_not_keep_the_other_threads_waiting() {
    let names: Vec<String> = (0..300).map(|number| format!("{}/{number}.md", number % 30)).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let env = Env::new(&notes);
    let vault = std::sync::Arc::new(env.vault());
    let scanned = std::sync::Arc::clone(&vault);
    let (tell, told) = mpsc::channel();
    // Not within a scope, which would wait for it for ever.
    std::thread::spawn(move || {
        let scan = Scan { folder: None, limit: 99, wants: &|_| true, stop: &|| false };
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scanned.scan(&scan, &|path, _| assert!(path.as_str() != "17/77.md", "as it is written in this test"))
        }));
        tell.send(broken.is_err()).unwrap();
    });
    assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(true));
    let scan = Scan { folder: None, limit: 99, wants: &|_| true, stop: &|| false };
    assert_eq!(vault.scan(&scan, &|_, _| ()).unwrap().len(), 300);
}

/// As after a panic, or when another has looked through all files of the state.
#[test]
fn what_was_closed_meanwhile_is_opened_again() {
    let env = Env::new(&[("a.md", "0")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("0"), Some("1"))], None).unwrap();
    drop(vault.begin_session("7f3a", Timestamp::from_micros(0)).unwrap());
    vault.note_reads(vec![entry("read_file")], &author(), Timestamp::from_micros(0), vault.forgets()).unwrap();
    *vault.core_now().unwrap() = None;
    assert!(vault.settle_reads());
    let account = vault.account(None).unwrap();
    assert!(account.ok && account.entries == 2, "{account:?}");
    *vault.core_now().unwrap() = None;
    vault.remove_session("7f3a").unwrap();
    assert_eq!(vault.session_key("7f3a").unwrap(), None);
}

#[test]
fn tables_that_another_made_while_one_waited_are_taken_as_they_are() {
    let env = Env::new(&[("a.md", "0")]);
    let root = env.path().canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let home = Home { root: &dir, root_path: &root, machine: "local", elsewhere: None };
    let folder = StateFolder::create(&home).unwrap();
    let (ask, asked) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let env = &env;
    let journal = std::thread::scope(|scope| {
        // The thread that opens a history may write to nothing else.
        scope.spawn(move || {
            asked.recv().unwrap();
            commit(&env.vault(), &[put("a.md", Some("0"), Some("1"))], None).unwrap();
            tell.send(()).unwrap();
        });
        Journal::open(&folder, None, move || {
            let _ = ask.send(());
            let _ = told.recv();
            Ok(7)
        })
    });
    assert_eq!(journal.unwrap().newest().unwrap().map(|(batch, _)| batch), Some(1));
}

#[test]
fn a_log_is_shortened_only_while_nobody_writes() {
    let env = Env::new(&[("a.md", "0")]);
    let vault = env.vault();
    // Nothing is there before the first commit.
    let log = env.path().join(".memdir/local/history.sqlite-wal");
    let log_bytes = || std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    let mut last = 0;
    while log_bytes() < 200_000 {
        let (before, after) = (last.to_string(), (last + 1).to_string());
        commit(&vault, &[put("a.md", Some(&before), Some(&after))], None).unwrap();
        last += 1;
    }
    let other = env.vault();
    let held = other.lock().unwrap();
    vault.shorten_log();
    assert!(log_bytes() >= 200_000, "another process is at work");
    drop(held);
    vault.shorten_log();
    assert_eq!(log_bytes(), 0);
    commit(&vault, &[put("a.md", Some(&last.to_string()), Some("end"))], None).unwrap();
    let few = log_bytes();
    vault.shorten_log();
    assert_eq!(log_bytes(), few, "it is short already");
    let account = other.account(None).unwrap();
    assert!(account.ok && account.entries == last + 1, "{account:?}");
}

#[test]
fn all_queries_below_a_snapshot_see_one_state() {
    let env = Env::new(&[("a.md", "0")]);
    let (vault, other) = (env.vault(), env.vault());
    commit(&vault, &[put("a.md", Some("0"), Some("1"))], None).unwrap();
    let core = vault.known_core().unwrap();
    let journal = &core.as_ref().unwrap().journal;
    let newest = || journal.newest().unwrap().map(|(batch, _)| batch);
    let snapshot = journal.snapshot().unwrap();
    assert_eq!((snapshot.is_some(), newest()), (true, Some(1)));
    assert!(journal.snapshot().unwrap().is_none());
    commit(&other, &[put("a.md", Some("1"), Some("2"))], None).unwrap();
    assert_eq!(newest(), Some(1));
    drop(snapshot);
    assert_eq!(newest(), Some(2));
}
