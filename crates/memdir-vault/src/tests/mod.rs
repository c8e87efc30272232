#![expect(clippy::disallowed_methods, reason = "tests play the person and the editor, who use paths")]

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::{AuditEntry, Author, Batch, LogQuery, Options, Payload, Vault, VaultError};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_core::time::Timestamp;
use memdir_plan::{Content, Image, Step, Tree};

#[cfg(unix)]
mod access;
mod account;
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod attributes;
mod busy;
mod clock;
#[cfg(target_os = "linux")]
mod confine;
mod exchange;
mod feed;
mod forget;
mod inbox;
mod journal;
mod lines;
mod outside;
mod recent;
mod recovery;
mod repair;
mod scan;
mod sessions;
mod sweep;
mod watch;

/// A memory in a temporary folder.
pub(super) struct Env {
    folder: tempfile::TempDir,
}

impl Env {
    pub(super) fn new(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = Self { folder };
        for (path, text) in notes {
            env.write(path, text);
        }
        env
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path().join(path)).ok()
    }

    pub(super) fn vault(&self) -> Vault {
        open(self.path()).unwrap()
    }

    /// All files and folders but `.memdir`, with their contents.
    fn snapshot(&self) -> Vec<(String, Option<Vec<u8>>)> {
        snapshot(self.path())
    }
}

fn open(path: &Path) -> Result<Vault, VaultError> {
    open_with(path, Options::default())
}

fn open_with(path: &Path, options: Options) -> Result<Vault, VaultError> {
    let path = path.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&path, ambient_authority()).unwrap();
    Vault::open(dir, path, options)
}

fn snapshot(root: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, Option<Vec<u8>>)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if name == ".memdir" {
                continue;
            }
            if path.is_dir() {
                found.push((name, None));
                walk(root, &path, found);
            } else {
                found.push((name, Some(std::fs::read(&path).unwrap())));
            }
        }
    }
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort();
    found
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn image(text: &str) -> Option<Image> {
    Some(Image { content: Content::new(text.as_bytes()), mode: None })
}

fn put(name: &str, before: Option<&str>, after: Option<&str>) -> Step {
    Step::Put { path: path(name), before: before.and_then(image), after: after.and_then(image) }
}

fn rename(from: &str, to: &str, kind: Kind) -> Step {
    Step::Move { from: path(from), to: path(to), kind }
}

pub(super) fn author() -> Author {
    Author { door: "exec".into(), client: None, session: None, message: None, origin: "model".into() }
}

fn entry(action: &str) -> AuditEntry {
    AuditEntry {
        number: 1,
        action: action.into(),
        code: None,
        micros: 5,
        permission: "off".into(),
        payload: Payload::of_read(&path("a.md")),
    }
}

fn commit(vault: &Vault, steps: &[Step], undoes: Option<u64>) -> Result<u64, VaultError> {
    let entries = [entry("update_file")];
    let author = author();
    let batch = Batch {
        steps,
        entries: &entries,
        author: &author,
        time: Timestamp::from_micros(0),
        undoes: undoes.as_slice(),
        approval: None,
    };
    Ok(vault.lock()?.commit(&batch)?.batch)
}

const DAY: i64 = 86_400_000_000;

/// Makes a note on a day, counted from 1970.
fn commit_on(vault: &Vault, day: i64, name: &str) -> u64 {
    let (steps, entries, author) = ([put(name, None, Some(name))], [entry("create_file")], author());
    let time = Timestamp::from_micros(day * DAY + DAY / 2);
    let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    vault.lock().unwrap().commit(&batch).unwrap().batch
}

#[test]
fn a_batch_changes_every_kind_of_thing() {
    let env =
        Env::new(&[("a.md", "old"), ("gone.md", "x"), ("dir/b.md", "b"), ("dir/sub/c.md", "c"), ("move.md", "m")]);
    let vault = env.vault();
    let steps = [
        rename("dir", "new", Kind::Directory),
        Step::MakeFolder { path: path("fresh"), mode: None },
        rename("move.md", "fresh/moved.md", Kind::File),
        put("a.md", Some("old"), Some("new")),
        put("fresh/d.md", None, Some("d")),
        put("gone.md", Some("x"), None),
        put("new/b.md", Some("b"), Some("b2")),
        put("new/sub/c.md", Some("c"), None),
        Step::RemoveFolder { path: path("new/sub"), mode: None },
    ];
    assert_eq!(commit(&vault, &steps, None).unwrap(), 1);
    drop(vault);
    let expected: Vec<(String, Option<Vec<u8>>)> = [
        ("a.md", Some("new")),
        ("fresh", None),
        ("fresh/d.md", Some("d")),
        ("fresh/moved.md", Some("m")),
        ("new", None),
        ("new/b.md", Some("b2")),
    ]
    .map(|(name, text): (&str, Option<&str>)| (name.to_owned(), text.map(|text| text.as_bytes().to_vec())))
    .into();
    assert_eq!(env.snapshot(), expected);
}

#[test]
fn what_changed_since_it_was_planned_is_a_conflict_and_nothing_happens() {
    let env = Env::new(&[("a.md", "theirs"), ("b.md", "b")]);
    let vault = env.vault();
    let before = env.snapshot();
    let result = commit(&vault, &[put("b.md", Some("b"), Some("b2")), put("a.md", Some("old"), Some("new"))], None);
    assert!(matches!(result, Err(VaultError::Conflict(found)) if found == path("a.md")));
    let result = commit(&vault, &[put("b.md", None, Some("b2"))], None);
    assert!(matches!(result, Err(VaultError::Conflict(found)) if found == path("b.md")));
    drop(vault);
    assert_eq!(env.snapshot(), before);
}

#[test]
fn an_edit_between_check_and_exchange_is_kept() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b")]);
    let vault = env.vault();
    let steps = [put("a.md", Some("a"), Some("a2")), put("b.md", Some("b"), Some("b2"))];
    let entries = [entry("update_file")];
    let author = author();
    let batch = Batch {
        steps: &steps,
        entries: &entries,
        author: &author,
        time: Timestamp::from_micros(0),
        undoes: &[],
        approval: None,
    };
    let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
        if point == super::CommitPoint::Done(0) {
            env.write("b.md", "an editor's");
        }
    });
    assert!(matches!(result, Err(VaultError::Conflict(found)) if found == path("b.md")));
    drop(vault);
    let kept = [("a.md".to_owned(), Some(b"a".to_vec())), ("b.md".to_owned(), Some(b"an editor's".to_vec()))];
    assert_eq!(env.snapshot(), kept);
    // The audit, which had said that it succeeded, says so too.
    let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
    let entries: Vec<(String, Option<String>, String)> = database
        .prepare("SELECT action, code, payload FROM entry WHERE batch = 1 ORDER BY seq")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let given_back = ("given_back".to_owned(), Some("conflict".to_owned()), r#"{"batch":1}"#.to_owned());
    assert_eq!(entries.last(), Some(&given_back));
    assert_eq!(entries.len(), 2);
    drop(database);
    assert_eq!(env.vault().log(&LogQuery { limit: 9, ..LogQuery::default() }).unwrap().entries, []);
}

/// A file that changes places has another time of change then, whatever is in it.
#[cfg(unix)]
#[test]
fn an_edit_before_the_exchange_is_met_without_one() {
    use std::os::unix::fs::MetadataExt;
    let changed = |env: &Env, name: &str| {
        let found = std::fs::metadata(env.path().join(name)).unwrap();
        (found.ino(), found.ctime(), found.ctime_nsec())
    };
    for after in [Some("b2"), None] {
        let env = Env::new(&[("a.md", "a"), ("b.md", "b")]);
        let vault = env.vault();
        let steps = [put("a.md", Some("a"), Some("a2")), put("b.md", Some("b"), after)];
        let (entries, author) = ([entry("update_file")], author());
        let time = Timestamp::from_micros(0);
        let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
        let mut edited = None;
        let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
            if point == super::CommitPoint::Done(0) {
                env.write("b.md", "an editor's");
                edited = Some(changed(&env, "b.md"));
            }
        });
        assert!(matches!(result, Err(VaultError::Conflict(found)) if found == path("b.md")));
        assert_eq!(Some(changed(&env, "b.md")), edited, "it was never anywhere else");
        assert_eq!(env.read("b.md").as_deref(), Some("an editor's"));
    }
}

#[test]
fn an_approval_that_met_an_editor_can_be_tried_again_and_is_carried_out_once() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b")]);
    let vault = env.vault();
    let (entries, author, time) = ([entry("update_file")], author(), Timestamp::from_micros(0));
    let mut writer = vault.lock().unwrap();
    writer
        .file_proposal(super::Numbers { number: 1, own: None }, Some(b"it waits"), (&entries, &[]), &author, time)
        .unwrap();
    let mut approve = |after_b: &str, edit: &dyn Fn()| {
        let steps = [put("a.md", Some("a"), Some("a2")), put("b.md", Some(after_b), Some("b2"))];
        let approval = Some(super::Approval { proposal: 1, by: &author });
        let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval };
        let watch = &mut |point| {
            if point == super::CommitPoint::Done(0) {
                edit();
            }
        };
        writer.commit_watched(&batch, watch).map(|committed| committed.batch)
    };
    let result = approve("b", &|| env.write("b.md", "an editor's"));
    assert!(matches!(result, Err(VaultError::Conflict(found)) if found == path("b.md")));
    assert_eq!(approve("an editor's", &|| ()).unwrap(), 2);
    env.write("a.md", "a");
    env.write("b.md", "b");
    assert!(matches!(approve("b", &|| ()), Err(VaultError::Decided(1))));
    drop(writer);
    assert_eq!(vault.inbox().unwrap().filed.len(), 0);
}

#[test]
fn what_cannot_be_taken_back_is_told() {
    let env = Env::new(&[("a.md", "a"), ("b.md", "b")]);
    let vault = env.vault();
    let steps = [rename("a.md", "c.md", Kind::File), put("b.md", Some("b"), Some("b2"))];
    let (entries, author) = ([entry("update_file")], author());
    let batch = Batch {
        steps: &steps,
        entries: &entries,
        author: &author,
        time: Timestamp::from_micros(0),
        undoes: &[],
        approval: None,
    };
    let result = vault.lock().unwrap().commit_watched(&batch, &mut |point| {
        if point == super::CommitPoint::Done(0) {
            env.write("a.md", "in the way");
            env.write("b.md", "an editor's");
        }
    });
    assert!(matches!(result, Err(VaultError::Unsettled(1))), "{result:?}");
    // The memory stays open, and every text is there.
    commit(&vault, &[put("later.md", None, Some("later"))], None).unwrap();
    drop(vault);
    let texts = ["a.md", "b.md", "c.md"].map(|name| env.read(name).unwrap());
    assert_eq!(texts, ["in the way", "an editor's", "a"]);
}

#[test]
fn a_write_to_the_displaced_file_is_kept_beside_the_note() {
    for (name, copy) in [
        ("a.md", "a.sync-conflict-memdir-1.md"),
        ("a.b.csv", "a.b.sync-conflict-memdir-1.csv"),
        ("plain", "plain.sync-conflict-memdir-1"),
    ] {
        let env = Env::new(&[(name, "a")]);
        let vault = env.vault();
        let mut open = std::fs::OpenOptions::new().append(true).open(env.path().join(name)).unwrap();
        commit(&vault, &[put(name, Some("a"), Some("a2"))], None).unwrap();
        std::io::Write::write_all(&mut open, b" and more").unwrap();
        drop(vault);
        assert_eq!(env.read(name).as_deref(), Some("a2"));
        assert_eq!(env.read(copy).as_deref(), Some("a and more"));
    }
}

#[test]
fn what_the_last_two_batches_displaced_is_removed_by_the_next_process() {
    let env = Env::new(&[("a.md", "one")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("one"), Some("two"))], None).unwrap();
    commit(&vault, &[put("a.md", Some("two"), Some("three"))], None).unwrap();
    assert_eq!(env.read(".memdir-1-0.tmp"), None, "removed while the second batch was flushed");
    assert_eq!(env.read(".memdir-2-0.tmp").as_deref(), Some("two"));
    vault.sweep_displaced();
    assert_eq!(env.read(".memdir-2-0.tmp"), None, "removed while the program rests");
    drop(vault);
    // As a process leaves it that is killed while it flushes its second batch, or right after.
    env.write(".memdir-1-0.tmp", "one");
    env.write(".memdir-2-0.tmp", "two, and an edit by a program that still had it open");
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("three"), Some("four"))], None).unwrap();
    assert_eq!(env.read(".memdir-1-0.tmp"), None);
    assert_eq!(env.read(".memdir-2-0.tmp"), None);
    let kept = env.read("a.sync-conflict-memdir-2.md");
    assert_eq!(kept.as_deref(), Some("two, and an edit by a program that still had it open"));
}

#[cfg(unix)]
#[test]
fn modes_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new(&[("a.md", "a")]);
    let file = env.path().join("a.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("a"), Some("a2"))], None).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    commit(&vault, &[put("a.md", Some("a2"), None)], None).unwrap();
    let Some(Some(image)) = vault.image_at(&path("a.md"), 1).unwrap() else { panic!("the history lost it") };
    assert_eq!((image.content.text(), image.mode), (Some("a2"), Some(0o600)));
}

#[test]
fn the_log_follows_a_note_through_its_names() {
    let env = Env::new(&[("a.md", "1"), ("other.md", "x")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("1"), Some("2"))], None).unwrap();
    commit(&vault, &[put("other.md", Some("x"), Some("y"))], None).unwrap();
    commit(&vault, &[Step::MakeFolder { path: path("d"), mode: None }, rename("a.md", "d/b.md", Kind::File)], None)
        .unwrap();
    commit(&vault, &[rename("d", "e", Kind::Directory)], None).unwrap();
    commit(&vault, &[put("e/b.md", Some("2"), Some("3"))], None).unwrap();
    let log = |limit, before| {
        let log = vault.log(&LogQuery { path: Some(path("e/b.md")), limit, before, ..LogQuery::default() }).unwrap();
        (log.entries.iter().filter_map(|entry| entry.batch).collect::<Vec<_>>(), log.cursor)
    };
    assert_eq!(log(9, None), (vec![5, 4, 3, 1], None));
    assert_eq!(log(2, None), (vec![5, 4], Some("4".to_owned())));
    assert_eq!(log(9, Some(4)), (vec![3, 1], None));
    for limit in [9, usize::MAX] {
        assert_eq!(vault.log(&LogQuery { limit, ..LogQuery::default() }).unwrap().entries.len(), 5);
    }
    let image = vault.image_at(&path("a.md"), 2).unwrap().unwrap().unwrap();
    assert_eq!(image.content.text(), Some("2"));
}

#[test]
fn the_log_begins_at_a_time() {
    let env = Env::new(&[]);
    let vault = env.vault();
    // A clock that was set back for a day hides nothing that is later.
    for (day, name) in [(10, "a.md"), (20, "b.md"), (5, "c.md"), (30, "d.md")] {
        commit_on(&vault, day, name);
    }
    let log = |path: Option<&str>, day: i64| {
        let (path, since) = (path.map(self::path), Some(Timestamp::from_micros(day * DAY)));
        let log = vault.log(&LogQuery { path, since, limit: 9, ..LogQuery::default() }).unwrap();
        log.entries.iter().filter_map(|entry| entry.batch).collect::<Vec<_>>()
    };
    assert_eq!(log(None, 0), [4, 3, 2, 1]);
    assert_eq!(log(None, 15), [4, 2]);
    assert_eq!(log(None, 31), [0; 0]);
    assert_eq!((log(Some("b.md"), 15), log(Some("b.md"), 21)), (vec![2], vec![]));
}

#[test]
fn a_note_as_it_was_is_found_under_the_name_it_had_then() {
    let env = Env::new(&[("only.md", "only renamed"), ("dir/late.md", "1"), ("never.md", "n")]);
    let vault = env.vault();
    commit(&vault, &[put("b.md", None, Some("B"))], None).unwrap();
    commit(&vault, &[put("a.md", None, Some("A"))], None).unwrap();
    commit(&vault, &[rename("b.md", "c.md", Kind::File)], None).unwrap();
    commit(&vault, &[rename("a.md", "b.md", Kind::File)], None).unwrap();
    let text = |name: &str, batch| {
        let image = vault.image_at(&path(name), batch).unwrap();
        image.map(|image| image.map(|image| image.content.text().unwrap().to_owned()))
    };
    let is = |text: &str| Some(Some(text.to_owned()));
    assert_eq!([text("b.md", 1), text("b.md", 3), text("b.md", 4)], [Some(None), is("A"), is("A")]);
    assert_eq!([text("c.md", 1), text("c.md", 2), text("c.md", 4)], [is("B"), is("B"), is("B")]);
    // What has left a name is found by it as long as nothing else has taken the name.
    assert_eq!([text("a.md", 3), text("a.md", 4)], [is("A"), Some(None)]);
    // What was there before the history began is known from the batch that changed it, whatever it was called.
    commit(&vault, &[rename("dir", "new", Kind::Directory)], None).unwrap();
    commit(&vault, &[rename("new/late.md", "late.md", Kind::File), put("late.md", Some("1"), Some("2"))], None)
        .unwrap();
    commit(&vault, &[rename("only.md", "other.md", Kind::File)], None).unwrap();
    assert_eq!([text("late.md", 1), text("late.md", 5), text("late.md", 6)], [is("1"), is("1"), is("2")]);
    assert_eq!([text("dir/late.md", 4), text("dir/late.md", 5)], [is("1"), Some(None)]);
    assert_eq!([text("other.md", 7), text("other.md", 1), text("never.md", 1)], [None, None, None]);
}

#[test]
fn undoing_an_undo_puts_a_batch_in_force_again() {
    let env = Env::new(&[("a.md", "1")]);
    let vault = env.vault();
    let first = commit(&vault, &[put("a.md", Some("1"), Some("2"))], None).unwrap();
    assert_eq!(vault.newest_to_undo(None).unwrap(), Some(first));
    let undo = commit(&vault, &[put("a.md", Some("2"), Some("1"))], Some(first)).unwrap();
    assert_eq!((vault.undone_by(first).unwrap(), vault.newest_to_undo(None).unwrap()), (Some(undo), None));
    let again = commit(&vault, &[put("a.md", Some("1"), Some("2"))], Some(undo)).unwrap();
    assert_eq!((vault.undone_by(first).unwrap(), vault.undone_by(undo).unwrap()), (None, Some(again)));
    assert_eq!(vault.newest_to_undo(None).unwrap(), Some(first));
    let last = commit(&vault, &[put("a.md", Some("2"), Some("1"))], Some(first)).unwrap();
    let undone = |batches: &[u64]| batches.iter().map(|batch| vault.undone_by(*batch).unwrap()).collect::<Vec<_>>();
    assert_eq!(
        undone(&[first, undo, again, last]),
        [Some(last), Some(again), Some(last), None],
        "nothing is left of it"
    );
    let back = commit(&vault, &[put("a.md", Some("1"), Some("2"))], Some(last)).unwrap();
    assert_eq!(undone(&[first, undo, again, last, back]), [None, Some(again), None, Some(back), None]);
}

#[test]
fn old_contents_go_and_the_entries_stay() {
    let env = Env::new(&[("a.md", "1")]);
    let canonical = env.path().canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).unwrap();
    let options = Options { keep_bytes: 40_000, ..Options::default() };
    let vault = Vault::open(dir, canonical, options).unwrap();
    // Text that does not compress, 3 KB each.
    let text = |number: u32| {
        (0..3_000).map(|at| char::from(33 + ((at * 7919 + number * 104_729) % 90) as u8)).collect::<String>()
    };
    let mut before = "1".to_owned();
    for number in 0..40 {
        let after = text(number);
        commit(&vault, &[put("a.md", Some(&before), Some(&after))], None).unwrap();
        before = after;
    }
    vault.lock().unwrap().prune(Timestamp::from_micros(1)).unwrap();
    assert!(matches!(vault.steps(1), Err(VaultError::Pruned(1))));
    assert!(vault.steps(40).is_ok());
    assert_eq!(vault.log(&LogQuery { limit: 99, ..LogQuery::default() }).unwrap().entries.len(), 40);
    // A day later than what is kept, only what is younger is whole.
    let young = [91, 92].map(|day| commit_on(&vault, day, &format!("{day}.md")));
    vault.lock().unwrap().prune(Timestamp::from_micros(92 * DAY)).unwrap();
    assert!((1..=40).all(|batch| matches!(vault.steps(batch), Err(VaultError::Pruned(_)))));
    assert!(young.iter().all(|batch| vault.steps(*batch).is_ok()));
}

#[test]
fn notes_can_be_read_where_the_history_cannot_be_opened_and_it_is_not_said_to_be_empty() {
    let env = Env::new(&[("a.md", "a")]);
    commit(&env.vault(), &[put("a.md", Some("a"), Some("a2"))], None).unwrap();
    let dir = Dir::open_ambient_dir(env.path(), ambient_authority()).unwrap();
    // SQLite cannot open the database by this path, as on a read-only disk without its shared file.
    let vault = Vault::open(dir, "/nowhere".into(), Options::default()).unwrap();
    assert_eq!(vault.read(&path("a.md"), 99).unwrap().content.text(), Some("a2"));
    assert!(vault.log(&LogQuery { limit: 9, ..LogQuery::default() }).is_err());
    assert!(vault.history(&path("a.md"), 9).is_err());
    assert!(vault.newest().is_err() && vault.newest_to_undo(None).is_err() && vault.undone_by(1).is_err());
    let unknown = |error| matches!(error, VaultError::UnknownBatch(_));
    assert!(!unknown(vault.steps(1).unwrap_err()) && !unknown(vault.image_at(&path("a.md"), 1).unwrap_err()));
}

#[test]
fn many_can_be_the_first_to_write() {
    for _ in 0..50 {
        let env = Env::new(&[]);
        let start = std::sync::Barrier::new(4);
        let write = |number: usize| {
            start.wait();
            commit(&env.vault(), &[put(&format!("{number}.md"), None, Some("x"))], None).unwrap();
        };
        std::thread::scope(|scope| {
            let write = &write;
            for number in 0..4 {
                scope.spawn(move || write(number));
            }
        });
        assert_eq!(env.vault().log(&LogQuery { limit: 9, ..LogQuery::default() }).unwrap().entries.len(), 4);
        let mut state: Vec<_> = std::fs::read_dir(env.path().join(".memdir")).unwrap().collect();
        state.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
        let names: Vec<_> = state.iter().map(|entry| entry.as_ref().unwrap().file_name()).collect();
        assert_eq!(names, [".gitignore", "local", "lock"]);
    }
}

#[test]
fn the_log_names_what_changed_as_a_report_does_and_holds_any_duration() {
    let env = Env::new(&[]);
    let vault = env.vault();
    let steps = [Step::MakeFolder { path: path("d"), mode: None }, put("d/a.md", None, Some("a"))];
    let entries = [5, 1 << 40, u64::MAX].map(|micros| AuditEntry { micros, ..entry("create_file") });
    let author = author();
    let batch = Batch {
        steps: &steps,
        entries: &entries,
        author: &author,
        time: Timestamp::from_micros(0),
        undoes: &[],
        approval: None,
    };
    vault.lock().unwrap().commit(&batch).unwrap();
    let log = vault.log(&LogQuery { limit: 9, ..LogQuery::default() }).unwrap();
    assert_eq!(log.entries[0].changed, memdir_plan::changed(&steps));
    assert_eq!(log.entries[0].changed, [path("d/a.md")]);
    let ms: Vec<f64> = log.entries[0].actions.iter().map(|action| action.ms).collect();
    assert!(ms[0] < 0.01 && ms[1] > 1e9 && ms[2] > ms[1], "{ms:?}");
}

#[test]
fn the_sum_of_all_notes_counts_what_becomes_one_by_its_name_and_what_others_add() {
    let env = Env::new(&[("a.txt", "12345"), ("b.md", "1")]);
    let vault = env.vault();
    assert_eq!(vault.note_bytes().unwrap(), 1);
    commit(&vault, &[rename("a.txt", "a.md", Kind::File)], None).unwrap();
    assert_eq!(vault.note_bytes().unwrap(), 6);
    commit(&vault, &[put("b.md", Some("1"), Some("123"))], None).unwrap();
    assert_eq!(vault.note_bytes().unwrap(), 8);
    // Another process that has counted before these must not set the sum back.
    vault.lock().unwrap().core().unwrap().journal.begin_sum("note_bytes", 1).unwrap();
    assert_eq!(vault.note_bytes().unwrap(), 8);
}

#[test]
fn a_hostile_state_folder_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let hostile = |make: &dyn Fn(&Path)| {
        let env = Env::new(&[("a.md", "a")]);
        make(env.path());
        let vault = open(env.path());
        let result = vault.and_then(|vault| commit(&vault, &[put("a.md", Some("a"), Some("b"))], None));
        assert!(matches!(result, Err(VaultError::Untrusted(_))), "{result:?}");
        assert_eq!(env.read("a.md").as_deref(), Some("a"));
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        hostile(&|memory| symlink(outside.path(), memory.join(".memdir")).unwrap());
        hostile(&|memory| {
            std::fs::create_dir(memory.join(".memdir")).unwrap();
            symlink(outside.path(), memory.join(".memdir/local")).unwrap();
        });
        hostile(&|memory| {
            std::fs::create_dir_all(memory.join(".memdir/local")).unwrap();
            symlink(outside.path().join("x"), memory.join(".memdir/local/history.sqlite")).unwrap();
        });
        hostile(&|memory| {
            std::fs::create_dir_all(memory.join(".memdir/local")).unwrap();
            std::fs::write(outside.path().join("file"), "").unwrap();
            std::fs::hard_link(outside.path().join("file"), memory.join(".memdir/local/history.sqlite-wal")).unwrap();
        });
    }
    hostile(&|memory| std::fs::write(memory.join(".memdir"), "").unwrap());
    hostile(&|memory| std::fs::create_dir_all(memory.join(".memdir/local/history.sqlite")).unwrap());
    assert_eq!(
        std::fs::read_dir(outside.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name() != "file")
            .count(),
        0
    );
}

#[test]
fn a_database_of_somebody_else_is_damaged_and_kept() {
    let env =
        Env::new(&[("a.md", "a"), (".memdir/local/history.sqlite", "not a database, but long enough to look at.")]);
    assert!(matches!(open(env.path()), Err(VaultError::Damaged(_))));
    assert!(env.read(".memdir/local/history.sqlite").unwrap().starts_with("not a database"));
}

#[cfg(unix)]
#[test]
fn reading_goes_through_links_inside_and_no_other() {
    use memdir_plan::TreeError;
    use std::os::unix::fs::symlink;
    let env = Env::new(&[("dir/a.md", "a"), (".hidden/x.md", "secret")]);
    let at = |name: &str| env.path().join(name);
    symlink("dir/a.md", at("in.md")).unwrap();
    symlink("dir", at("in")).unwrap();
    symlink("/etc", at("out")).unwrap();
    symlink("../..", at("up")).unwrap();
    symlink(".hidden/x.md", at("hidden.md")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("nothing.md", at("dead.md")).unwrap();
    let vault = env.vault();
    let read = |name: &str| vault.read(&path(name), 100).map(|image| image.content.text().unwrap().to_owned());
    assert_eq!(read("in.md").unwrap(), "a");
    assert_eq!(read("in/a.md").unwrap(), "a");
    assert_eq!(vault.resolve(&path("in/a.md")).unwrap(), path("dir/a.md"));
    assert_eq!(vault.resolve(&path("in/new.md")).unwrap(), path("dir/new.md"));
    assert_eq!(read("out/passwd"), Err(TreeError::Outside(path("out/passwd"))));
    assert_eq!(read("up/x"), Err(TreeError::Outside(path("up/x"))));
    assert_eq!(read("hidden.md"), Err(TreeError::Outside(path("hidden.md"))));
    assert_eq!(read("loop"), Err(TreeError::Outside(path("loop"))));
    assert_eq!(read("dead.md"), Err(TreeError::NotFound(path("dead.md"))));
    assert_eq!(read("dir"), Err(TreeError::IsDirectory(path("dir"))));
    assert_eq!(read("dir/a.md/b.md"), Err(TreeError::NotDirectory(path("dir/a.md/b.md"))));
    assert_eq!(vault.stat(&path("out/passwd")), Err(TreeError::Outside(path("out/passwd"))));
    assert_eq!(vault.stat(&path("dir/a.md/b.md")), Ok(None));
    let listing = vault.list(None).unwrap();
    let names: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.is_link)).collect();
    assert_eq!(names, [("dir", false), ("in", true), ("in.md", true)]);
    assert!(listing.has_others);
    assert_eq!(vault.note_bytes().unwrap(), 1);
}

#[cfg(unix)]
#[test]
fn pipes_and_huge_files_answer_at_once() {
    use memdir_plan::TreeError;
    let env = Env::new(&[("big.md", "0123456789")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        env.path().join("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let vault = env.vault();
    assert_eq!(vault.read(&path("pipe.md"), 10), Err(TreeError::Unsupported(path("pipe.md"))));
    let too_large = TreeError::TooLarge { path: path("big.md"), size: 10, limit: 9 };
    assert_eq!(vault.read(&path("big.md"), 9), Err(too_large));
    assert!(vault.list(None).unwrap().has_others);
}
