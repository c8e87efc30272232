//! `.memdir` that is exchanged for a link while batches run, and databases with more in them than memdir puts there.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::Durability;

/// How many batches each race has.
const ROUNDS: usize = 600;

fn quick(root: &Path) -> Vault {
    let root = root.canonicalize().unwrap();
    let options = Options { durability: Durability::Atomic, ..Options::default() };
    Vault::new(Dir::open_ambient_dir(&root, ambient_authority()).unwrap(), root, options)
}

/// All bytes below a folder, however deep.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let more = if path.is_dir() { bytes_below(&path) } else { std::fs::read(&path).unwrap() };
        found.extend(more);
    }
    found
}

/// Runs batches while a thread lets `.memdir` and a link to a folder outside change places, which holds a history that memdir
/// made for other notes.
#[cfg(target_os = "linux")]
#[track_caller]
fn race(what: &str, one: &dyn Fn(&Env, Option<&Vault>, usize) -> bool, is_kept: bool) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let env = Env::new(&[]);
    commit(&quick(env.path()), &[put("first.md", None, Some("first"))], None).unwrap();
    let outside = Env::new(&[]);
    commit(&quick(outside.path()), &[put("b.md", None, Some("b"))], None).unwrap();
    let (memdir, link) = (env.path().join(".memdir"), env.path().join(".link"));
    std::os::unix::fs::symlink(outside.path().join(".memdir"), &link).unwrap();
    let (is_over, exchanges) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut said = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) || exchanges.load(Ordering::Relaxed) % 2 == 1 {
                renameat_with(CWD, &memdir, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                let count = exchanges.fetch_add(1, Ordering::Relaxed);
                // Sometimes many in one batch, sometimes none; the link stays for a moment only, in which many batches fail.
                let pauses = if count % 2 == 0 { [0, 1, 20, 50, 100] } else { [0, 100, 1_000, 3_000, 9_000] };
                std::thread::sleep(Duration::from_micros(pauses[count / 2 % 5]));
            }
        });
        let kept = is_kept.then(|| quick(env.path()));
        said.extend((0..ROUNDS).filter(|round| one(&env, kept.as_ref(), *round)));
        is_over.store(true, Ordering::Relaxed);
    });
    let outside = bytes_below(outside.path());
    assert!(!outside.windows(6).any(|window| window == b"secret"), "{what}: note text outside");
    let vault = quick(env.path());
    let log = vault.log(&LogQuery { limit: 2 * ROUNDS, ..LogQuery::default() }).unwrap();
    let is_there = |round: &usize| {
        let name = path(&format!("n{round}.md"));
        log.entries.iter().any(|entry| entry.changed.contains(&name)) && env.read(name.as_str()).is_some()
    };
    assert!(said.iter().all(is_there), "{what}: a batch without its history");
    assert!(exchanges.load(Ordering::Relaxed) > 0, "{what}: nothing was exchanged");
}

#[cfg(target_os = "linux")]
fn secret(vault: &Vault, round: usize) -> bool {
    let (name, text) = (format!("n{round}.md"), format!("secret {round} {}", "x".repeat(2_000)));
    commit(vault, &[put(&name, None, Some(&text))], None).is_ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_state_folder_that_is_exchanged_while_processes_come_and_go_gets_nothing_out() {
    race("a vault a batch", &|env, _, round| secret(&quick(env.path()), round), false);
}

#[cfg(target_os = "linux")]
#[test]
fn a_state_folder_that_is_exchanged_under_a_server_gets_nothing_out() {
    race("one vault", &|_, vault, round| secret(vault.unwrap(), round), true);
}

#[test]
fn a_history_that_was_moved_away_is_not_written_to_any_more() {
    let env = Env::new(&[]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", None, Some("a"))], None).unwrap();
    std::fs::rename(env.path().join(".memdir"), env.path().join(".old")).unwrap();
    assert_eq!(vault.log(&LogQuery { limit: 9, ..LogQuery::default() }).unwrap().entries, []);
    assert_eq!(commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap(), 1, "a new one has begun");
    let author = author();
    let (steps, entries) = ([put("c.md", None, Some("c"))], [entry("create_file")]);
    let time = Timestamp::from_micros(0);
    let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
        if point == crate::CommitPoint::Done(0) {
            std::fs::rename(env.path().join(".memdir"), env.path().join(".older")).unwrap();
        }
    });
    assert!(matches!(result, Err(VaultError::Untrusted(_))), "{result:?}");
    assert_eq!(env.read("c.md"), None, "it was given back");
}

#[test]
fn a_folder_that_was_moved_gets_nothing_more_until_it_is_back() {
    let env = Env::new(&[]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", None, Some("a"))], None).unwrap();
    let (here, away) = (env.path().to_owned(), env.path().with_extension("away"));
    std::fs::rename(&here, &away).unwrap();
    let refused = |name: &str| {
        let result = commit(&vault, &[put(name, None, Some("b"))], None);
        assert!(matches!(result, Err(VaultError::Moved)), "{name}: {result:?}");
        assert!(!away.join(name).exists() && !here.join(name).exists(), "{name}");
    };
    refused("gone.md");
    std::fs::create_dir(&here).unwrap();
    refused("replaced.md");
    std::fs::remove_dir(&here).unwrap();
    std::fs::rename(&away, &here).unwrap();
    commit(&vault, &[put("back.md", None, Some("c"))], None).unwrap();
    let author = author();
    let (steps, entries) = ([put("c.md", None, Some("c"))], [entry("create_file")]);
    let time = Timestamp::from_micros(0);
    let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
        if point == crate::CommitPoint::Done(0) {
            std::fs::rename(&here, &away).unwrap();
        }
    });
    std::fs::rename(&away, &here).unwrap();
    assert!(matches!(result, Err(VaultError::Moved)), "{result:?}");
    assert_eq!(env.read("c.md"), None, "it was given back");
}

#[test]
fn what_somebody_has_added_to_the_database_is_refused() {
    for planted in [
        "CREATE TRIGGER planted AFTER INSERT ON batch BEGIN INSERT INTO meta VALUES ('planted', 1); END",
        "CREATE VIEW planted AS SELECT * FROM content",
        "CREATE TABLE planted (x)",
        "CREATE INDEX planted ON batch (time)",
        "DROP INDEX content_batch",
        "ALTER TABLE step ADD COLUMN planted TEXT",
        "CREATE VIRTUAL TABLE planted USING fts5(x)",
    ] {
        let env = Env::new(&[("a.md", "a")]);
        commit(&env.vault(), &[put("a.md", Some("a"), Some("b"))], None).unwrap();
        let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
        database.execute_batch(planted).unwrap();
        drop(database);
        assert!(matches!(open(env.path()), Err(VaultError::Damaged(_))), "{planted}");
        let result = commit(&quick(env.path()), &[put("a.md", Some("b"), Some("c"))], None);
        assert!(matches!(result, Err(VaultError::Damaged(_))), "{planted}: {result:?}");
        assert_eq!(env.read("a.md").as_deref(), Some("b"), "{planted}");
    }
    let env = Env::new(&[("a.md", "a")]);
    commit(&env.vault(), &[put("a.md", Some("a"), Some("b"))], None).unwrap();
    let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    database.execute_batch("ANALYZE").unwrap();
    drop(database);
    commit(&env.vault(), &[put("a.md", Some("b"), Some("c"))], None).unwrap();
}

/// Another journal would put texts into a file that is not looked at.
#[test]
fn a_database_with_another_journal_is_refused() {
    let env = Env::new(&[("a.md", "a")]);
    commit(&env.vault(), &[put("a.md", Some("a"), Some("b"))], None).unwrap();
    let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    database.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(database);
    assert!(matches!(open(env.path()), Err(VaultError::Damaged(_))));
}
