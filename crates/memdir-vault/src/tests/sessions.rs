//! Sessions: who may write, what a crash leaves, and when they go.

use std::time::Duration;

use super::{DAY, Env, commit_on};
use crate::{Options, SessionFile, Vault, VaultError};
use memdir_core::time::Timestamp;

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

fn begun(vault: &Vault, id: &str, lines: &[&str]) -> SessionFile {
    let mut file = vault.begin_session(id, NOW).unwrap();
    lines.iter().for_each(|line| file.append(line.as_bytes()).unwrap());
    file
}

fn names(vault: &Vault) -> Vec<String> {
    let mut names: Vec<_> = vault.sessions().unwrap().into_iter().map(|kept| kept.id).collect();
    names.sort();
    names
}

fn path(env: &Env, name: &str) -> std::path::PathBuf {
    env.path().join(".memdir/local/sessions").join(name)
}

#[test]
fn looking_makes_nothing() {
    let env = Env::new(&[("a.md", "a")]);
    let vault = env.vault();
    assert_eq!(vault.sessions().unwrap(), []);
    assert_eq!(vault.read_session("7f3a").unwrap(), None);
    assert!(matches!(vault.open_session("7f3a"), Err(VaultError::NoSession(_))));
    assert!(matches!(vault.remove_session("7f3a"), Err(VaultError::NoSession(_))));
    assert!(!env.path().join(".memdir").exists());
}

#[test]
fn lines_come_back_and_one_that_is_not_whole_does_not() {
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(begun(&vault, "7f3a", &["one", "two"]));
    assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"one\ntwo\n");
    for cut in 8..12 {
        let file = path(&env, "7f3a.jsonl");
        std::fs::write(&file, b"one\ntwo\nthree\n".get(..cut).unwrap()).unwrap();
        assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"one\ntwo\n");
        let mut opened = vault.open_session("7f3a").unwrap();
        assert_eq!(opened.read().unwrap(), b"one\ntwo\n");
        opened.append(b"four").unwrap();
        drop(opened);
        assert_eq!(std::fs::read(&file).unwrap(), b"one\ntwo\nfour\n");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new(&[]);
    drop(begun(&env.vault(), "7f3a", &["one"]));
    let mode = |name| std::fs::metadata(path(&env, name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("7f3a.jsonl"), mode("")), (0o600, 0o700));
}

#[test]
fn the_second_is_told_to_wait() {
    let env = Env::new(&[]);
    let (vault, other) = (env.vault(), env.vault());
    let file = begun(&vault, "7f3a", &["one"]);
    assert!(matches!(other.open_session("7f3a"), Err(VaultError::InSession(_))));
    assert!(matches!(other.remove_session("7f3a"), Err(VaultError::InSession(_))));
    assert_eq!(other.read_session("7f3a").unwrap().unwrap(), b"one\n", "reading needs no leave");
    drop(begun(&other, "81", &["other"]));
    drop(file);
    other.remove_session("7f3a").unwrap();
    assert_eq!(names(&vault), ["81"]);
}

#[test]
fn whoever_opens_it_again_sees_whether_it_is_as_it_was() {
    let env = Env::new(&[]);
    let (vault, other) = (env.vault(), env.vault());
    let mark = begun(&vault, "7f3a", &["one", "two"]).mark();
    assert_eq!(vault.open_session("7f3a").unwrap().mark(), mark);
    let mut theirs = other.open_session("7f3a").unwrap();
    theirs.append(b"three").unwrap();
    drop(theirs);
    let changed = vault.open_session("7f3a").unwrap();
    assert_ne!(changed.mark(), mark);
    changed.replace(b"one\ntwo\n").unwrap();
    assert_ne!(vault.open_session("7f3a").unwrap().mark(), mark, "of the same length, and another file");
    assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"one\ntwo\n");
    assert_eq!(std::fs::read_dir(path(&env, "")).unwrap().count(), 1);
}

#[test]
fn no_name_leads_elsewhere() {
    let env = Env::new(&[]);
    let vault = env.vault();
    for id in ["", "..", "../history", "7F3A", "a/b", "é", "123456789012345678901234567890123"] {
        assert!(matches!(vault.begin_session(id, NOW), Err(VaultError::NoSession(_))), "{id}");
        assert!(matches!(vault.open_session(id), Err(VaultError::NoSession(_))), "{id}");
        assert!(matches!(vault.read_session(id), Err(VaultError::NoSession(_))), "{id}");
    }
    assert!(!env.path().join(".memdir").exists());
}

#[cfg(unix)]
#[test]
fn a_link_is_no_session() {
    let outside = Env::new(&[("secret.jsonl", "outside\n")]);
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(begun(&vault, "81", &[]));
    std::os::unix::fs::symlink(outside.path().join("secret.jsonl"), path(&env, "7f3a.jsonl")).unwrap();
    assert!(vault.open_session("7f3a").is_err());
    assert_eq!(vault.read_session("7f3a").unwrap(), None);
    assert_eq!(names(&vault), ["81"]);
    std::fs::remove_file(path(&env, "7f3a.jsonl")).unwrap();
    std::fs::hard_link(outside.path().join("secret.jsonl"), path(&env, "7f3a.jsonl")).unwrap();
    assert!(matches!(vault.open_session("7f3a"), Err(VaultError::Untrusted(_))));
    assert_eq!(outside.read("secret.jsonl").as_deref(), Some("outside\n"));
}

#[test]
fn one_that_is_too_large_is_not_gone_on_with() {
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(begun(&vault, "7f3a", &[]));
    std::fs::write(path(&env, "7f3a.jsonl"), vec![b'\n'; (16 << 20) + 1]).unwrap();
    assert!(matches!(vault.open_session("7f3a").unwrap().read(), Err(VaultError::LongSession(_))));
    assert!(matches!(vault.read_session("7f3a"), Err(VaultError::LongSession(_))));
}

#[test]
fn none_becomes_too_large_to_be_read() {
    let env = Env::new(&[]);
    let vault = env.vault();
    let mut file = begun(&vault, "7f3a", &["one"]);
    let line = vec![b'x'; (8 << 20) - 1];
    file.append(&line).unwrap();
    assert!(matches!(file.append(&line), Err(VaultError::LongSession(_))));
    file.append(b"two").unwrap();
    drop(file);
    assert!(vault.read_session("7f3a").unwrap().unwrap().ends_with(b"x\ntwo\n"));
    assert!(vault.open_session("7f3a").unwrap().read().is_ok());
}

/// Makes batches on the next two days after a moment, and gives one after them.
fn agreed(vault: &Vault, time: Timestamp) -> Timestamp {
    let day = time.micros() / DAY;
    for day in [day + 1, day + 2] {
        commit_on(vault, day, &format!("{day}.md"));
    }
    Timestamp::from_micros((day + 3) * DAY)
}

#[test]
fn old_ones_go_when_another_begins() {
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(begun(&vault, "7f3a", &["one"]));
    let changed = vault.sessions().unwrap()[0].changed;
    let day = Duration::from_secs(24 * 60 * 60);
    let keep = Options::default().keep_for;
    drop(vault.begin_session("81", changed.plus(keep)).unwrap());
    assert_eq!(names(&vault), ["7f3a", "81"]);
    let later = agreed(&vault, changed.plus(keep + day));
    drop(vault.begin_session("82", later).unwrap());
    assert_eq!(names(&vault), ["82"]);
}

#[test]
fn an_old_one_in_which_somebody_answers_stays() {
    let env = Env::new(&[]);
    let (vault, other) = (env.vault(), env.vault());
    let mut file = begun(&vault, "7f3a", &["one"]);
    let later = vault.sessions().unwrap()[0].changed.plus(Options::default().keep_for + Duration::from_secs(60));
    let later = agreed(&vault, later);
    drop(other.begin_session("81", later).unwrap());
    file.append(b"two").unwrap();
    drop(file);
    assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"one\ntwo\n");
    drop(other.begin_session("82", later).unwrap());
    assert_eq!(names(&vault), ["82"], "81 is as old, by the time that the test says");
}

#[test]
fn what_killed_processes_have_left_is_swept() {
    let env = Env::new(&[]);
    let vault = env.vault();
    assert!(!vault.sweep_sessions().unwrap());
    drop(begun(&vault, "7f3a", &["one"]));
    let open = begun(&vault, "81", &["two"]);
    let leave = || {
        let names = [".7f3a.tmp", ".81.tmp", ".82.tmp", ".x.tmp"];
        names.iter().for_each(|name| std::fs::write(path(&env, name), "left").unwrap());
    };
    let is_there = |name| path(&env, name).exists();
    leave();
    std::fs::write(path(&env, "7f3a.jsonl"), "one\nhal").unwrap();
    assert!(vault.sweep_sessions().unwrap());
    assert_eq!(std::fs::read(path(&env, "7f3a.jsonl")).unwrap(), b"one\n");
    assert!(!is_there(".7f3a.tmp") && !is_there(".82.tmp"));
    assert!(is_there(".81.tmp") && is_there(".x.tmp"), "somebody answers in the one, and the other is not ours");
    drop(open);
    vault.remove_session("81").unwrap();
    assert!(!is_there(".81.tmp"));
    leave();
    drop(begun(&vault, "83", &[]));
    assert!(!is_there(".7f3a.tmp") && !is_there(".82.tmp"), "another begins");
}

#[test]
#[expect(clippy::disallowed_types, reason = "a test makes a file as old as it likes")]
fn lines_that_take_the_place_of_others_leave_the_time() {
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(begun(&vault, "7f3a", &["one"]));
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    std::fs::File::options().append(true).open(path(&env, "7f3a.jsonl")).unwrap().set_modified(old).unwrap();
    vault.open_session("7f3a").unwrap().replace(b"two\n").unwrap();
    assert_eq!(vault.sessions().unwrap()[0].changed, Timestamp::from(old));
    assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"two\n");
}

#[test]
fn a_name_is_given_once() {
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(begun(&vault, "7f3a", &["one"]));
    assert!(vault.begin_session("7f3a", NOW).is_err());
    assert_eq!(vault.read_session("7f3a").unwrap().unwrap(), b"one\n");
}
