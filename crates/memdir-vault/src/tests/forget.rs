//! Forgetting: what is replaced and removed by hand, and how a note's names are found.

#[cfg(unix)]
use std::os::unix::fs::symlink;

use rusqlite::Connection;

use super::{Env, author, commit, entry, path, put, rename};
use crate::{AuditEntry, Author, Batch, Payload, Region, Replaced};
use memdir_core::report::Kind;
use memdir_core::time::Timestamp;
use memdir_plan::{Called, Forms, Sought, Step};

#[test]
fn an_edit_that_came_in_between_is_kept() {
    let env = Env::new(&[("a.md", "theirs"), (".trash/b.md", "old")]);
    let vault = env.vault();
    let writer = vault.lock().unwrap();
    assert_eq!(writer.replace_spot("a.md", b"as it was read", b"new").unwrap(), Replaced::ChangedSince);
    assert_eq!(writer.replace_spot("gone/a.md", b"", b"new").unwrap(), Replaced::ChangedSince);
    assert_eq!(env.read("a.md").as_deref(), Some("theirs"));
    assert_eq!(writer.replace_spot(".trash/b.md", b"old", b"new").unwrap(), Replaced::Yes);
    writer.remove_spot("a.md").unwrap();
    writer.remove_spot("a.md").unwrap();
    drop(writer);
    let left = env.snapshot().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(left, [".trash", ".trash/b.md"]);
    assert_eq!(env.read(".trash/b.md").as_deref(), Some("new"));
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_and_no_pipe_is_waited_for() {
    let outside = Env::new(&[("secret.md", "outside")]);
    let env = Env::new(&[("a.md", "a"), (".git/config", "x"), ("dir/.hidden", "h"), (".memdir-4-1.tmp", "t")]);
    symlink(outside.path(), env.path().join("link")).unwrap();
    symlink(outside.path().join("secret.md"), env.path().join("b.md")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, env.path().join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let vault = env.vault();
    let mut seen = Vec::new();
    vault
        .every_file(&mut |spot, file| {
            seen.push((spot.path.clone(), spot.region, file.is_some()));
            Ok(())
        })
        .unwrap();
    let expected = [
        (".git", Region::Hidden, false),
        (".git/config", Region::Hidden, true),
        (".memdir-4-1.tmp", Region::Leftover, true),
        ("a.md", Region::Open, true),
        ("b.md", Region::Open, false),
        ("dir", Region::Open, false),
        ("dir/.hidden", Region::Hidden, true),
        ("link", Region::Open, false),
        ("pipe", Region::Open, false),
    ];
    assert_eq!(seen, expected.map(|(path, region, is_file)| (path.to_owned(), region, is_file)));
    assert_eq!(vault.read_spot("b.md", 9).unwrap(), None);
    assert_eq!(vault.read_spot("link/secret.md", 9).unwrap(), None);
    let writer = vault.lock().unwrap();
    assert_eq!(writer.replace_spot("link/secret.md", b"outside", b"").unwrap(), Replaced::ChangedSince);
    writer.remove_spot("link/secret.md").unwrap();
    assert_eq!(outside.read("secret.md").as_deref(), Some("outside"));
}

#[test]
fn the_names_of_a_note_are_followed_back_and_forth() {
    let env = Env::new(&[("x.md", "1"), ("y.md", "other")]);
    let vault = env.vault();
    commit(&vault, &[rename("x.md", "a.md", Kind::File)], None).unwrap();
    commit(&vault, &[Step::MakeFolder { path: path("d"), mode: None }, rename("a.md", "d/b.md", Kind::File)], None)
        .unwrap();
    commit(&vault, &[rename("d", "e", Kind::Directory)], None).unwrap();
    commit(&vault, &[rename("y.md", "x.md", Kind::File)], None).unwrap();
    let names = |name: &str, is_there| {
        let names = vault.names_of(&path(name), is_there).unwrap();
        let all: std::collections::BTreeSet<String> = names.all.iter().map(|called| called.name.to_string()).collect();
        (names.now.to_string(), all.into_iter().collect::<Vec<_>>())
    };
    let all = ["a.md", "d/b.md", "e/b.md", "x.md"].map(str::to_owned).to_vec();
    assert_eq!(names("e/b.md", true), ("e/b.md".to_owned(), all.clone()));
    assert_eq!(names("d/b.md", false), ("e/b.md".to_owned(), all.clone()));
    assert_eq!(names("a.md", false), ("e/b.md".to_owned(), all));
    assert_eq!(names("x.md", true), ("x.md".to_owned(), vec!["x.md".to_owned(), "y.md".to_owned()]));
    assert_eq!(names("never.md", false), ("never.md".to_owned(), vec!["never.md".to_owned()]));
}

#[test]
fn the_sums_are_right_after_forgetting_and_writing_goes_on() {
    let env = Env::new(&[]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", None, Some("a secret"))], None).unwrap();
    commit(&vault, &[put("b.md", None, Some("plain"))], None).unwrap();
    let sought = Sought::Text(Forms::new("secret").unwrap());
    let mut writer = vault.lock().unwrap();
    assert_eq!(writer.traces(&sought).unwrap().changes.into_iter().collect::<Vec<_>>(), [(Some("a.md".to_owned()), 1)]);
    writer.forget_history(&sought, &author(), Timestamp::from_micros(9)).unwrap();
    assert!(!writer.finish_forgetting().unwrap(), "it is finished");
    assert!(writer.traces(&sought).unwrap().is_empty());
    drop(writer);
    let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    let bytes: (i64, i64) = database
        .query_row(
            "SELECT value, (SELECT sum(length(body)) FROM content) FROM meta WHERE key = 'content_bytes'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(bytes, (5, 5));
    commit(&vault, &[put("b.md", Some("plain"), Some("more"))], None).unwrap();
    assert!(vault.account(None).unwrap().ok);
}

#[test]
fn the_number_of_a_content_that_is_erased_is_given_to_no_other() {
    let env = Env::new(&[]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", None, Some("a secret"))], None).unwrap();
    let mut writer = vault.lock().unwrap();
    let sought = Sought::Text(Forms::new("secret").unwrap());
    writer.forget_history(&sought, &author(), Timestamp::from_micros(9)).unwrap();
    drop(writer);
    commit(&vault, &[put("b.md", None, Some("of another note"))], None).unwrap();
    assert!(matches!(vault.steps(1), Err(crate::VaultError::Pruned(1))), "{:?}", vault.steps(1));
    assert_eq!(vault.steps(2).unwrap(), [put("b.md", None, Some("of another note"))]);
}

/// The state files in which a text stands, and the bytes of all of them.
fn state_with(env: &Env, text: &str) -> Vec<String> {
    let folder = env.path().join(".memdir/local");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    files
        .filter(|file| file.is_file() && holds(&std::fs::read(file).unwrap()))
        .map(|file| file.display().to_string())
        .collect()
}

#[test]
fn what_others_read_before_does_not_come_back_after_it_is_forgotten() {
    let env = Env::new(&[("secret-plan.md", "0"), ("other.md", "x")]);
    let (server, person) = (env.vault(), env.vault());
    commit(&person, &[put("secret-plan.md", Some("0"), Some("1"))], None).unwrap();
    let read = |name: &str| AuditEntry { payload: Payload::of_read(&path(name)), ..entry("read_file") };
    let note = |name: &str, forgets| {
        server.note_reads(vec![read(name)], &author(), Timestamp::from_micros(0), forgets).unwrap();
    };
    server.look_after_crash().unwrap();
    let before = server.forgets();
    note("secret-plan.md", before);
    let sought = Sought::Note(vec![Called::always(path("secret-plan.md"))]);
    let mut writer = person.lock().unwrap();
    writer.forget_history(&sought, &author(), Timestamp::from_micros(1)).unwrap();
    // The note is still there: somebody reads it, and it is written down at once.
    server.look_after_crash().unwrap();
    let between = server.forgets();
    assert!(between > before);
    note("secret-plan.md", between);
    server.settle_reads();
    note("secret-plan.md", between);
    writer.remove_spot("secret-plan.md").unwrap();
    writer.end_forgetting(&sought, &author(), Timestamp::from_micros(2)).unwrap();
    drop(writer);
    server.settle_reads();
    server.look_after_crash().unwrap();
    note("other.md", server.forgets());
    server.settle_reads();
    assert_eq!(state_with(&env, "secret-plan"), [] as [&str; 0]);
    assert!(!state_with(&env, "other.md").is_empty(), "what was read after it is noted whole");
    let account = person.account(None).unwrap();
    assert!(account.ok, "{account:?}");
    let reads = person.records(0).unwrap().into_iter().filter(|record| record.action == "read_file").count();
    assert_eq!(reads, 4, "each call is there");
}

#[test]
fn who_opens_the_history_to_look_knows_how_often_something_was_forgotten() {
    let env = Env::new(&[("a.md", "0")]);
    let person = env.vault();
    commit(&person, &[put("a.md", Some("0"), Some("1"))], None).unwrap();
    let sought = Sought::Note(vec![Called::always(path("b.md"))]);
    person.lock().unwrap().forget_history(&sought, &author(), Timestamp::from_micros(1)).unwrap();
    let root = env.path().canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let vault = crate::Vault::new(dir, root, crate::Options::default());
    vault.undone_by(1).unwrap();
    assert_eq!(vault.forgets(), 1);
}

#[test]
fn the_words_of_a_message_go_with_the_note_and_its_name_stays() {
    let env = Env::new(&[]);
    let vault = env.vault();
    let said = |message: &str| Author { message: Some(message.to_owned()), ..author() };
    for (number, message) in [(1, "my cat is called \"Quixoticus\""), (2, "3a"), (3, &"x".repeat(65))] {
        let name = format!("{number}.md");
        let read = AuditEntry { payload: Payload::of_read(&path(&name)), ..entry("create_file") };
        // The first entry is about another note of the batch.
        let (entries, author) = ([entry("create_file"), read], said(message));
        let (steps, time) = ([put(&name, None, Some("a cat"))], Timestamp::from_micros(0));
        let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
        vault.lock().unwrap().commit(&batch).unwrap();
        vault.note_reads(vec![entry("read_file")], &author, time, 0).unwrap();
    }
    let history = || Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    let payload = "SELECT payload FROM entry WHERE batch = 1 ORDER BY seq LIMIT 1";
    let kept = r#"{"path":"a.md","said":"my cat is called \"Quixoticus\""}"#;
    assert_eq!(history().query_row(payload, [], |row| row.get::<_, String>(0)).unwrap(), kept);
    assert!(vault.account(None).unwrap().ok);
    let names = vault.names_of(&path("1.md"), true).unwrap().all;
    vault.lock().unwrap().forget_history(&Sought::Note(names), &author(), Timestamp::from_micros(1)).unwrap();
    assert!(vault.account(None).unwrap().ok);
    drop(vault);
    let paths = std::fs::read_dir(env.path().join(".memdir/local")).unwrap().map(|entry| entry.unwrap().path());
    for file in paths.filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(10).any(|bytes| bytes == b"Quixoticus"), "{}", file.display());
    }
    let database = history();
    for table in ["batch", "entry"] {
        let mut statement = database.prepare(&format!("SELECT DISTINCT message FROM {table}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        let kept: Vec<_> = rows.map(|row| row.unwrap()).collect();
        assert_eq!(kept, [None, Some("3a".to_owned())], "{table}");
    }
}
