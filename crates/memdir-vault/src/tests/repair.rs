//! Histories that are damaged: notes are read, nothing is missed by who looks, and a new history can begin.

use super::*;
use crate::{Durability, Fault};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// A memory with a history of some pages, part of it still in the log.
fn memory() -> Env {
    let env = Env::new(&[("a.md", "0")]);
    let vault = opened(&env);
    let mut before = "0".to_owned();
    for number in 1..12_u32 {
        let after = text(number);
        commit(&vault, &[put("a.md", Some(&before), Some(&after))], None).unwrap();
        if number == 8 {
            vault.lock().unwrap().core().unwrap().journal.checkpoint().unwrap();
        }
        before = after;
    }
    env
}

/// Text of 3 KB that does not compress.
fn text(number: u32) -> String {
    let mut dice = Dice(number.into());
    (0..3_000).map(|_| char::from(33 + u8::try_from(dice.roll(90)).unwrap())).collect()
}

/// A vault as the command line has it: opened whatever became of the history.
fn opened(env: &Env) -> Vault {
    let root = env.path().canonicalize().unwrap();
    let options = Options { durability: Durability::Atomic, ..Options::default() };
    Vault::new(Dir::open_ambient_dir(&root, ambient_authority()).unwrap(), root, options)
}

fn database(env: &Env) -> std::path::PathBuf {
    env.path().join(".memdir/local/history.sqlite")
}

/// Leaves nothing of a history.
fn ruin(env: &Env) {
    std::fs::write(database(env), "x".repeat(9_999)).unwrap();
    std::fs::write(env.path().join(".memdir/local/history.sqlite-wal"), "").unwrap();
}

/// Damages a history, and checks what is promised of any damage; gives what was found.
#[track_caller]
fn check(what: &str, damage: impl FnOnce(&Env)) -> Option<String> {
    let env = memory();
    let note = env.read("a.md").unwrap();
    damage(&env);
    let vault = opened(&env);
    let read = |vault: &Vault| vault.read(&path("a.md"), 9_999).unwrap().content.text().unwrap().to_owned();
    assert_eq!(read(&vault), note, "{what}");
    let fault = vault.fault().unwrap_or_else(|error| panic!("{what}: {error}"));
    let told = fault.as_ref().map(|fault| fault.error.to_string());
    if let Some(fault) = fault {
        let aside = vault.put_aside(&fault).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(env.path().join(".memdir").join(&aside.name).exists(), "{what}");
        assert_eq!(vault.put_aside_before().unwrap(), [aside.name], "{what}");
        assert!(vault.fault().unwrap().is_none(), "{what}");
    }
    assert_eq!(read(&vault), note, "{what}: after the repair");
    let batch = commit(&vault, &[put("a.md", Some(&note), Some("new"))], None).unwrap();
    assert_eq!(vault.steps(batch).unwrap().len(), 1, "{what}: it can be undone");
    commit(&vault, &[put("a.md", Some("new"), Some(&note))], Some(batch)).unwrap();
    assert_eq!(env.read("a.md").unwrap(), note, "{what}");
    assert!(vault.account(None).unwrap().ok, "{what}");
    told
}

#[test]
fn whatever_is_damaged_notes_are_read_and_a_new_history_can_begin() {
    let mut dice = Dice(17);
    let mut found = 0;
    for round in 0..40 {
        let ending = ["", "-wal"][round % 2];
        let told = check(&format!("round {round}"), |env| {
            let file = env.path().join(format!(".memdir/local/history.sqlite{ending}"));
            let mut bytes = std::fs::read(&file).unwrap();
            for _ in 0..=dice.roll(3) {
                let (at, length) = (dice.roll(bytes.len()), [1, 64, 4096][dice.roll(3)]);
                bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = u8::try_from(dice.roll(256)).unwrap());
            }
            if dice.roll(4) == 0 {
                bytes.truncate(dice.roll(bytes.len()));
            }
            std::fs::write(&file, bytes).unwrap();
        });
        found += usize::from(told.is_some());
    }
    assert!(found > 10, "{found}");
}

#[test]
fn a_history_that_is_empty_zeroed_replaced_or_gone_is_one_that_can_be_put_aside() {
    for (what, bytes) in [("empty", vec![]), ("zeros", vec![0; 40_960]), ("text", b"some text\n".repeat(999))] {
        let told = check(what, |env| {
            std::fs::write(database(env), bytes).unwrap();
            // What is in the log would make up for it.
            if what != "empty" {
                std::fs::write(env.path().join(".memdir/local/history.sqlite-wal"), "").unwrap();
            }
        });
        assert!(told.is_some(), "{what}");
    }
    let told = check("a folder", |env| {
        std::fs::remove_file(database(env)).unwrap();
        std::fs::create_dir(database(env)).unwrap();
    });
    assert!(told.unwrap().contains("cannot be trusted"));
    let other = check("a database of somebody else's", |env| {
        for ending in ["", "-wal", "-shm"] {
            std::fs::remove_file(env.path().join(format!(".memdir/local/history.sqlite{ending}"))).unwrap();
        }
        let other = rusqlite::Connection::open(database(env)).unwrap();
        other
            .execute_batch("PRAGMA application_id = 5; CREATE TABLE other (x); INSERT INTO other VALUES (1);")
            .unwrap();
    });
    assert!(other.is_some());
}

/// The byte that is flipped is in the text of one version alone, which neither tables nor chain are about.
#[test]
fn a_version_that_is_damaged_is_told_by_doctor_and_by_the_audit() {
    let env = memory();
    let vault = opened(&env);
    assert!(vault.account(None).unwrap().ok && vault.examine().is_ok());
    vault.lock().unwrap().core().unwrap().journal.checkpoint().unwrap();
    drop(vault);
    let mut bytes = std::fs::read(database(&env)).unwrap();
    let sought = &text(5).into_bytes()[100..160];
    let places: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(sought)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at] ^= 1);
    std::fs::write(database(&env), bytes).unwrap();
    let vault = opened(&env);
    let account = vault.account(None).unwrap();
    assert_eq!(
        account.problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>(),
        ["a content of batch 6 is not what was stored"]
    );
    assert!(!account.ok);
    assert!(matches!(vault.examine(), Err(VaultError::Damaged(_))));
    assert!(matches!(vault.fault(), Ok(Some(Fault { error: VaultError::Damaged(_), .. }))));
}

/// Room for a content is made before it is read, so a size that is wrong must not be believed.
#[test]
fn a_size_that_is_damaged_costs_no_memory() {
    let env = Env::new(&[("a.md", "a")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("a"), Some(&"long ".repeat(9_999)))], None).unwrap();
    let database = rusqlite::Connection::open(database(&env)).unwrap();
    database.execute("UPDATE content SET size = ?1 WHERE packed = 1", [i64::MAX / 2]).unwrap();
    assert!(matches!(vault.steps(1), Err(VaultError::Damaged(_))));
    assert!(!vault.account(None).unwrap().ok);
}

#[test]
fn what_another_process_has_put_aside_is_not_put_aside_again() {
    let env = memory();
    ruin(&env);
    let (vault, other) = (opened(&env), opened(&env));
    let (fault, same) = (vault.fault().unwrap().unwrap(), other.fault().unwrap().unwrap());
    assert_eq!(vault.put_aside(&fault).unwrap().name, "local-damaged-1");
    assert!(matches!(other.put_aside(&same), Err(VaultError::Busy)));
    commit(&other, &[put("b.md", None, Some("b"))], None).unwrap();
    ruin(&env);
    let vault = opened(&env);
    let fault = vault.fault().unwrap().unwrap();
    assert_eq!(vault.put_aside(&fault).unwrap().name, "local-damaged-2");
}

#[test]
fn conversations_are_kept_and_what_an_unfinished_batch_has_left_is_told() {
    let env = memory();
    let vault = env.vault();
    vault.begin_session("7f3a", Timestamp::from_micros(0)).unwrap().append(b"{}").unwrap();
    drop(vault);
    ruin(&env);
    env.write("dir/.memdir-12-0.tmp", "an editor's words");
    let vault = opened(&env);
    let aside = vault.put_aside(&vault.fault().unwrap().unwrap()).unwrap();
    assert!(aside.has_sessions);
    assert_eq!(aside.temporary, ["dir/.memdir-12-0.tmp"]);
    assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"{}\n");
    assert_eq!(env.read("dir/.memdir-12-0.tmp").as_deref(), Some("an editor's words"));
}

#[test]
fn what_a_batch_of_a_history_that_was_put_aside_has_left_is_never_taken_for_that_of_a_new_one() {
    let env = memory();
    ruin(&env);
    let left = [".memdir-1-0.tmp", "dir/.memdir-12-0.tmp"];
    left.iter().for_each(|name| env.write(name, "an editor's words"));
    let foreign = format!(".memdir-{}-0.tmp", i64::MAX);
    env.write(&foreign, "of nobody");
    let vault = opened(&env);
    vault.put_aside(&vault.fault().unwrap().unwrap()).unwrap();
    assert_eq!(commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap(), 13, "above all that are left");
    // Of one that is given up, too, nothing of the old history is removed.
    env.write("c.md", "theirs");
    assert!(commit(&vault, &[put("c.md", None, Some("c"))], None).is_err());
    drop(vault);
    let vault = opened(&env);
    commit(&vault, &[put("d.md", None, Some("d"))], None).unwrap();
    assert_eq!(vault.sweep_temporary_files().unwrap().removed, 0);
    for name in left {
        assert_eq!(env.read(name).as_deref(), Some("an editor's words"), "{name}");
    }
    assert!(env.read(&foreign).is_some() && vault.account(None).unwrap().ok);
}

#[test]
fn a_history_of_a_newer_memdir_and_what_may_pass_is_not_put_aside() {
    let env = memory();
    let other = rusqlite::Connection::open(database(&env)).unwrap();
    other.pragma_update(None, "user_version", 2).unwrap();
    drop(other);
    let vault = opened(&env);
    assert!(matches!(vault.fault(), Err(VaultError::Newer(2))));
    assert!(matches!(vault.lock().map(drop), Err(VaultError::Newer(2))));
    let io = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_READ);
    for (error, is_lasting) in [
        (VaultError::from(rusqlite::Error::SqliteFailure(io, None)), false),
        (VaultError::Untrusted(crate::error::EXCHANGED), false),
        (VaultError::Untrusted(crate::error::REPLACED), false),
        (VaultError::Untrusted("it belongs to somebody else"), true),
        (VaultError::Damaged(String::new()), true),
    ] {
        assert_eq!(error.is_lasting_fault(), is_lasting, "{error}");
    }
}

#[test]
fn a_file_in_the_place_of_the_history_is_put_aside() {
    let env = memory();
    std::fs::remove_dir_all(env.path().join(".memdir/local")).unwrap();
    env.write(".memdir/local", "no folder");
    let vault = opened(&env);
    let aside = vault.put_aside(&vault.fault().unwrap().unwrap()).unwrap();
    assert!(!aside.has_sessions);
    assert_eq!(env.read(&format!(".memdir/{}", aside.name)).as_deref(), Some("no folder"));
}

/// Whoever sent the folder has written the row and the content.
#[test]
fn a_size_on_which_row_and_content_agree_costs_no_memory_either() {
    let env = Env::new(&[("a.md", "a")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("a"), Some(&"long ".repeat(9_999)))], None).unwrap();
    let size = 1_u64 << 46;
    // The head of a frame with a size of eight bytes, and one empty block, the last.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &size.to_le_bytes(), &[1, 0, 0]].concat();
    assert_eq!(zstd::zstd_safe::get_frame_content_size(&frame).unwrap(), Some(size));
    let database = rusqlite::Connection::open(database(&env)).unwrap();
    database.execute("UPDATE content SET size = ?1, body = ?2 WHERE packed = 1", (size, frame)).unwrap();
    assert!(matches!(vault.steps(1), Err(VaultError::Damaged(_))));
}

/// Else every write would send to a repair that finds nothing.
#[test]
fn a_newest_batch_that_cannot_be_finished_is_damage() {
    let env = memory();
    let database = rusqlite::Connection::open(database(&env)).unwrap();
    let garbage = "UPDATE batch SET places = 'garbage', state = 0 WHERE id = (SELECT max(id) FROM batch)";
    assert_eq!(database.execute(garbage, []).unwrap(), 1);
    drop(database);
    let vault = opened(&env);
    assert!(vault.lock().is_err());
    let fault = vault.fault().unwrap().unwrap();
    vault.put_aside(&fault).unwrap();
    let before = env.read("a.md").unwrap();
    commit(&vault, &[put("a.md", Some(&before), Some("after"))], None).unwrap();
    assert_eq!(env.read("a.md").unwrap(), "after");
}

#[test]
fn what_a_damaged_batch_has_left_keeps_nobody_from_writing() {
    let env = memory();
    let vault = opened(&env);
    vault.lock().unwrap().core().unwrap().journal.note_unswept(1);
    drop(vault);
    let database = rusqlite::Connection::open(database(&env)).unwrap();
    database.execute("UPDATE batch SET places = 'x' WHERE id = 1", []).unwrap();
    drop(database);
    let vault = opened(&env);
    commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap();
    assert!(vault.sweep_temporary_files().is_ok());
    vault.lock().unwrap().sweep_leftovers().unwrap();
}

#[test]
fn temporary_files_go_if_their_text_is_kept_and_are_told_else() {
    let env = memory();
    let vault = opened(&env);
    assert_eq!(vault.sweep_temporary_files().unwrap(), crate::SweptTemporary::default());
    // One that a folder took along, one of a batch that was given up, and one of a batch that no row names any more.
    env.write("moved/.memdir-5-0.tmp", &text(3));
    // The second cannot be written, for its folder goes once the first is.
    env.write("gone/b.md", "b");
    let steps = [put("b.md", None, Some("b")), put("gone/b.md", Some("b"), Some("b2"))];
    let (entries, author) = ([entry("update_file")], author());
    let time = Timestamp::from_micros(0);
    let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
        if point == crate::CommitPoint::Written(0) {
            std::fs::remove_dir_all(env.path().join("gone")).unwrap();
        }
    });
    assert!(result.is_err());
    let taken = 12;
    env.write(&format!("moved/.memdir-{taken}-0.tmp"), "half of a no");
    env.write("moved/.memdir-999-0.tmp", "an editor's words");
    let swept = vault.sweep_temporary_files().unwrap();
    assert_eq!((swept.removed, swept.left), (2, vec!["moved/.memdir-999-0.tmp".to_owned()]));
    assert_eq!(vault.temporary_files().unwrap(), ["moved/.memdir-999-0.tmp"]);
}

/// One number that somebody changed takes nothing back of what was said to be saved, and is told.
#[test]
fn a_state_on_which_the_audit_does_not_agree_takes_nothing_back() {
    for state in [1, 4, 5] {
        let env = memory();
        let note = env.read("a.md").unwrap();
        let database = rusqlite::Connection::open(database(&env)).unwrap();
        let changed = "UPDATE batch SET state = ?1 WHERE id = (SELECT max(id) FROM batch)";
        assert_eq!(database.execute(changed, [state]).unwrap(), 1);
        drop(database);
        let vault = opened(&env);
        let _ = vault.look_after_crash();
        if state != 5 {
            assert!(matches!(vault.lock().map(drop), Err(VaultError::Damaged(_))), "{state}");
        }
        assert_eq!(env.read("a.md").unwrap(), note, "{state}");
        let account = vault.account(None).unwrap();
        assert_eq!(account.problems.len(), 1, "{state}: {account:?}");
        assert!(matches!(vault.examine(), Err(VaultError::Damaged(_))), "{state}");
        vault.put_aside(&vault.fault().unwrap().unwrap()).unwrap();
        assert!(vault.account(None).unwrap().ok && env.read("a.md").unwrap() == note, "{state}");
    }
}

/// What `audit verify` finds is what `doctor` finds, and what can be put aside.
#[test]
fn one_look_decides_what_is_a_damage() {
    for (damage, is_damaged) in [
        ("UPDATE entry SET action = 'read_file' WHERE seq = 2", true),
        ("DELETE FROM entry WHERE batch = 3", true),
        ("UPDATE batch SET time = time + 1 WHERE id = 4", true),
        ("UPDATE content SET body = x'00' WHERE id = (SELECT min(id) FROM content)", true),
        ("UPDATE step SET kind = 9 WHERE batch = 2", true),
        ("UPDATE meta SET value = 0 WHERE key = 'content_bytes'", false),
    ] {
        let env = memory();
        rusqlite::Connection::open(database(&env)).unwrap().execute_batch(damage).unwrap();
        let vault = opened(&env);
        let found = (!vault.account(None).unwrap().ok, vault.examine().is_err(), vault.fault().unwrap().is_some());
        assert_eq!(found, (is_damaged, is_damaged, is_damaged), "{damage}");
    }
}

/// Other programs bring the log into the database and remove it.
#[test]
fn a_history_that_is_emptied_is_told_also_without_its_log() {
    let env = memory();
    let vault = opened(&env);
    vault.lock().unwrap().core().unwrap().journal.checkpoint().unwrap();
    drop(vault);
    for ending in ["-wal", "-shm"] {
        std::fs::remove_file(env.path().join(format!(".memdir/local/history.sqlite{ending}"))).unwrap();
    }
    std::fs::write(database(&env), "").unwrap();
    let vault = opened(&env);
    assert!(matches!(vault.lock().map(drop), Err(VaultError::Damaged(_))));
    assert!(matches!(vault.examine(), Err(VaultError::Damaged(_))));
    vault.put_aside(&vault.fault().unwrap().unwrap()).unwrap();
    commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap();
}

/// Reads have to say what a write would say: that the history is gone, and not that nothing was ever done.
#[test]
fn a_history_that_is_gone_is_told_by_who_reads_as_by_who_writes() {
    for left in [&["history.sqlite-wal", "history.sqlite-shm", "inbox"][..], &["history.sqlite-wal"], &["inbox"]] {
        let env = memory();
        let folder = env.path().join(".memdir/local");
        for name in ["history.sqlite", "history.sqlite-wal", "history.sqlite-shm"] {
            if !left.contains(&name) {
                std::fs::remove_file(folder.join(name)).unwrap();
            }
        }
        if !left.contains(&"inbox") {
            std::fs::remove_dir(folder.join("inbox")).unwrap();
        }
        let before = env.snapshot();
        let vault = opened(&env);
        let is_damaged = |result: Result<(), VaultError>| matches!(result, Err(VaultError::Damaged(_)));
        assert!(is_damaged(vault.log(&LogQuery::default()).map(drop)), "{left:?}");
        assert!(is_damaged(vault.account(None).map(drop)), "{left:?}");
        assert!(is_damaged(vault.inbox().map(drop)), "{left:?}");
        assert!(is_damaged(vault.examine().map(drop)), "{left:?}");
        assert!(is_damaged(vault.look_after_crash()), "{left:?}");
        assert!(vault.sessions().unwrap().is_empty(), "{left:?}: conversations can be read without the database");
        assert_eq!(env.snapshot(), before, "{left:?}: who only looks makes nothing");
        assert!(is_damaged(vault.lock().map(drop)), "{left:?}");
        vault.put_aside(&vault.fault().unwrap().unwrap()).unwrap();
        commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_history_that_nobody_may_read_is_told_as_that() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return;
    }
    let env = memory();
    assert!(opened(&env).examine().unwrap().closed.is_none());
    std::fs::set_permissions(database(&env), std::fs::Permissions::from_mode(0o000)).unwrap();
    let exam = opened(&env).examine().unwrap();
    assert!(exam.closed.is_some() && exam.can_write, "{exam:?}");
    assert!(matches!(opened(&env).fault(), Err(VaultError::History(_))));
}

#[cfg(unix)]
#[test]
fn what_stands_in_the_place_of_something_of_ours_is_named() {
    use std::os::unix::fs::symlink;
    for (name, is_folder) in [(".memdir", true), (".memdir/lock", false), (".memdir/local/inbox", true)] {
        for is_link in [true, false] {
            let env = memory();
            assert_eq!(opened(&env).obstacle(), None);
            let (place, moved) = (env.path().join(name), env.path().join("moved"));
            std::fs::rename(&place, &moved).unwrap();
            match (is_link, is_folder) {
                (true, _) => symlink(&moved, &place).unwrap(),
                (false, true) => std::fs::write(&place, "").unwrap(),
                (false, false) => std::fs::create_dir(&place).unwrap(),
            }
            let vault = opened(&env);
            assert_eq!(vault.obstacle().as_deref(), Some(name), "{is_link}");
            // A new history would meet the same.
            assert!(!matches!(vault.fault(), Ok(Some(_))), "{name}, {is_link}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn temporary_files_that_a_sweep_comes_by_go_with_the_next_change_if_their_text_is_kept() {
    let env = memory();
    let kept = "moved/.memdir-999-0.tmp";
    env.write(kept, "an editor's words");
    let stray = || env.write("moved/.memdir-5-0.tmp", &text(3));
    let left = || opened(&env).temporary_files().unwrap();
    stray();
    let vault = opened(&env);
    vault.sweep(&|| false).unwrap();
    assert_eq!(left().len(), 2, "who only reads waits for nobody");
    commit(&vault, &[put("b.md", None, Some("b"))], None).unwrap();
    assert_eq!(left(), [kept]);
    // Who changes nothing does it at the end, unless somebody is at work.
    stray();
    vault.sweep(&|| false).unwrap();
    let other = opened(&env);
    let writer = other.lock().unwrap();
    vault.finish();
    assert_eq!(left().len(), 2);
    drop(writer);
    vault.finish();
    assert_eq!(left(), [kept]);
}
