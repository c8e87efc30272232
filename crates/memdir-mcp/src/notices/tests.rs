#![expect(clippy::disallowed_methods, reason = "tests play the person and the editor, who use paths")]

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::*;
use memdir_core::time::Timestamp;
use memdir_engine::{InboxPlace, IndexPlace, Settings};
use memdir_plan::Limits;
use memdir_policy::{Grant, Rules};
use memdir_vault::{Options, Vault};

/// A memory, and the notices of a server for it.
struct Env {
    folder: tempfile::TempDir,
    engine: Engine,
    notices: Notices,
}

impl Env {
    fn new(notes: &[&str]) -> Self {
        // A year on: no file is young.
        Self::at_time(notes, || Timestamp::from_micros(now().micros() + 31_536_000_000_000))
    }

    fn at_time(notes: &[&str], clock: fn() -> Timestamp) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
        let settings = Settings {
            limits: Limits::default(),
            batch_actions: 3,
            batch_time: Duration::from_secs(30),
            rules: Rules::default(),
            index: IndexPlace::Nowhere,
            inbox: InboxPlace::Process,
            past_status: Vec::new(),
            archive: Vec::new(),
            pinned: Vec::new(),
            keep_proposals: Duration::from_secs(60),
            clock,
        };
        let engine = Engine::new(Vault::open(dir, root, Options::default()).unwrap(), settings);
        let env = Self { folder, engine, notices: Notices::default() };
        notes.iter().for_each(|note| env.write(note, "old"));
        env
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.at(path).parent().unwrap_or(Path::new(""))).unwrap();
        std::fs::write(self.at(path), text).unwrap();
    }

    /// Somebody who has subscribed to lists and to these notes.
    fn listener(&self, read: Option<&str>, notes: &[&str]) -> Arc<Listener> {
        let grant = read.map(|glob| Arc::new(Grant::new(&[glob.to_owned()], &[], None).unwrap()));
        let listener = Listener::new();
        listener.begin(&self.engine, move || Some(client(grant.clone())));
        listener.want_lists();
        self.notices.know_lists(&self.engine);
        for note in notes {
            listener.subscribe(format!("memdir:///{note}"), path(note)).unwrap();
            self.notices.know(&self.engine, &path(note));
        }
        self.notices.add(&listener);
        listener
    }

    fn changed(&self, paths: &[&str]) {
        let mut paths: Vec<_> = paths.iter().map(|text| path(text)).collect();
        paths.sort();
        self.notices.hear(&self.engine, &WatchEvent::Changed(paths));
    }
}

#[test]
fn where_the_system_tells_nothing_own_writes_are_told_and_else_once() {
    let env = Env::new(&["a.md"]);
    let Env { engine, folder, .. } = env;
    let options =
        crate::Options { tools: crate::ToolSet::Full, read_only: false, mode: memdir_policy::Mode::Off, hub: None };
    let nobody = crate::Register::new(|_| Err(crate::Unknown));
    let server = crate::Server::new(engine, options, Arc::new(nobody)).unwrap();
    let listener = Listener::new();
    listener.begin(&server.engine, || Some(client(None)));
    listener.want_lists();
    listener.subscribe("memdir:///a.md".to_owned(), path("a.md")).unwrap();
    server.notices.know_lists(&server.engine);
    server.notices.know(&server.engine, &path("a.md"));
    server.notices.add(&listener);
    std::fs::write(folder.path().join("a.md"), "another").unwrap();
    std::fs::write(folder.path().join("b.md"), "new").unwrap();
    server.wrote(&[path("a.md"), path("b.md")]);
    check(&listener, &["a.md"], true);
    server.is_told.store(true, Ordering::Relaxed);
    std::fs::write(folder.path().join("a.md"), "another one").unwrap();
    server.wrote(&[path("a.md")]);
    // The system tells it.
    check(&listener, &[], false);
    server.finish();
}

fn now() -> Timestamp {
    std::time::SystemTime::now().into()
}

fn client(grant: Option<Arc<Grant>>) -> Caller {
    Caller { grant, ..Caller::model("mcp").for_client(Some("test".into())) }
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

/// What is due at once: the addresses without their beginning, and whether there are other notes.
#[track_caller]
fn check(listener: &Listener, updated: &[&str], listed: bool) {
    let due = match pin!(listener.due()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(due) => due.expect("the listener may be told"),
        Poll::Pending => DueNotices::default(),
    };
    let said: Vec<_> = due.updated.iter().map(|address| address.trim_start_matches("memdir:///")).collect();
    assert_eq!((said.as_slice(), due.listed), (updated, listed));
}

#[test]
fn a_change_is_told_once_however_often_it_is_noticed() {
    let env = Env::new(&["a.md", "b.md"]);
    let listener = env.listener(None, &["a.md"]);
    env.changed(&["a.md", "b.md"]);
    check(&listener, &[], false);
    env.write("a.md", "new!");
    env.write("b.md", "new!");
    for _ in 0..2 {
        env.changed(&["a.md", "b.md"]);
    }
    check(&listener, &["a.md"], false);
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&listener, &[], false);
    env.write("a.md", "newer");
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&listener, &["a.md"], false);
    listener.unsubscribe("memdir:///a.md");
    env.write("a.md", "newest");
    env.changed(&["a.md"]);
    check(&listener, &[], false);
}

#[test]
fn lists_are_told_of_when_there_are_other_notes() {
    let env = Env::new(&["a.md", "d/b.md", "d/e/c.md", "d x.md"]);
    let listener = env.listener(None, &[]);
    env.write("a.md", "new!");
    env.write("x.png", "x");
    env.changed(&["a.md", "x.png", "gone.tmp"]);
    check(&listener, &[], false);
    env.write("new.md", "x");
    env.changed(&["new.md"]);
    check(&listener, &[], true);
    std::fs::remove_file(env.at("new.md")).unwrap();
    env.changed(&["new.md"]);
    check(&listener, &[], true);
    // A folder stands for all that is below it.
    std::fs::rename(env.at("d"), env.at("moved")).unwrap();
    env.changed(&["d", "moved"]);
    check(&listener, &[], true);
    env.changed(&["d", "moved"]);
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&listener, &[], false);
    std::fs::create_dir(env.at("empty")).unwrap();
    env.changed(&["empty"]);
    check(&listener, &[], false);
    std::fs::remove_dir_all(env.at("moved")).unwrap();
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&listener, &[], true);
}

#[test]
fn what_is_hidden_from_somebody_is_not_told() {
    let env = Env::new(&["open/a.md", "private/b.md", "private/d/c.md"]);
    let all = env.listener(None, &["private/b.md"]);
    let some = env.listener(Some("open/**"), &["open/a.md", "private/b.md", "private/new.md"]);
    env.write("private/b.md", "new!");
    env.write("private/new.md", "new!");
    env.changed(&["private/b.md", "private/new.md"]);
    check(&some, &[], false);
    check(&all, &["private/b.md"], true);
    std::fs::rename(env.at("private/d"), env.at("private/e")).unwrap();
    env.changed(&["private/d", "private/e"]);
    std::fs::remove_dir_all(env.at("private/e")).unwrap();
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&some, &[], false);
    check(&all, &[], true);
    std::fs::rename(env.at("private/b.md"), env.at("open/b.md")).unwrap();
    env.write("open/a.md", "new!");
    env.changed(&["open/a.md", "open/b.md", "private/b.md"]);
    check(&some, &["open/a.md"], true);
}

#[cfg(unix)]
#[test]
fn a_link_says_what_its_target_says_to_those_who_may_see_both() {
    let env = Env::new(&["open/a.md", "private/b.md"]);
    std::os::unix::fs::symlink("a.md", env.at("open/l.md")).unwrap();
    std::os::unix::fs::symlink("../private/b.md", env.at("open/m.md")).unwrap();
    let some = env.listener(Some("open/**"), &["open/l.md", "open/m.md"]);
    env.write("private/b.md", "new!");
    env.write("open/a.md", "new!");
    env.changed(&["open/a.md", "private/b.md"]);
    check(&some, &["open/l.md"], false);
}

#[cfg(unix)]
#[test]
fn a_link_that_may_have_changed_unseen_is_told_of_by_what_is_said_of_its_target_alone() {
    // As if each file had changed just now.
    let env = Env::at_time(&["open/a.md", "private/b.md"], || Timestamp::from_micros(0));
    std::os::unix::fs::symlink("a.md", env.at("open/l.md")).unwrap();
    let some = env.listener(Some("open/**"), &["open/l.md"]);
    env.changed(&["private/b.md"]);
    check(&some, &[], false);
    env.changed(&["open/a.md"]);
    check(&some, &["open/l.md"], false);
}

#[test]
fn somebody_who_was_revoked_is_told_nothing_more() {
    let env = Env::new(&["a.md"]);
    let is_known = Arc::new(AtomicBool::new(true));
    let known = Arc::clone(&is_known);
    let listener = Listener::new();
    listener.begin(&env.engine, move || known.load(Ordering::Relaxed).then(|| client(None)));
    listener.want_lists();
    env.notices.know_lists(&env.engine);
    env.notices.add(&listener);
    let due = || match pin!(listener.due()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(due) => due,
        Poll::Pending => Some(DueNotices::default()),
    };
    env.write("b.md", "b");
    env.changed(&["b.md"]);
    is_known.store(false, Ordering::Relaxed);
    assert_eq!(due(), None, "what was due is not told either");
    env.write("c.md", "c");
    env.changed(&["c.md"]);
    is_known.store(true, Ordering::Relaxed);
    assert_eq!(due(), None);
}

#[test]
fn a_client_that_does_not_read_costs_no_more_than_its_subscriptions() {
    let env = Env::new(&["a.md"]);
    let listener = env.listener(None, &["a.md"]);
    for number in 2..MOST_SUBSCRIPTIONS {
        listener.subscribe(number.to_string(), path("a.md")).unwrap();
    }
    listener.subscribe("one more".to_owned(), path("a.md")).unwrap();
    assert!(listener.subscribe("too many".to_owned(), path("a.md")).is_err());
    listener.subscribe("2".to_owned(), path("a.md")).unwrap();
    for text in ["one", "three", "fifteen"] {
        env.write("a.md", text);
        env.changed(&["a.md"]);
    }
    assert_eq!(lock(&listener.wishes).due.updated.len(), MOST_SUBSCRIPTIONS);
    drop(listener);
    env.changed(&["a.md"]);
    assert!(lock(&env.notices.looked).is_empty());
}

#[test]
fn what_changes_before_it_is_known_who_listens_is_told_then() {
    let env = Env::new(&["open/a.md", "private/b.md"]);
    let listener = Listener::new();
    env.notices.add(&listener);
    for note in ["open/a.md", "private/b.md"] {
        listener.subscribe(format!("memdir:///{note}"), path(note)).unwrap();
        env.notices.know(&env.engine, &path(note));
    }
    listener.want_lists();
    env.notices.know_lists(&env.engine);
    env.write("open/a.md", "new!");
    env.write("private/b.md", "new!");
    env.write("private/c.md", "new!");
    env.changed(&["open/a.md", "private/b.md", "private/c.md"]);
    check(&listener, &[], false);
    let grant = Arc::new(Grant::new(&["open/**".to_owned()], &[], None).unwrap());
    listener.begin(&env.engine, move || Some(client(Some(Arc::clone(&grant)))));
    check(&listener, &["open/a.md"], false);
}

#[test]
fn a_change_that_the_system_gives_the_same_time_is_told_too() {
    // As if each file had changed just now.
    let env = Env::at_time(&["a.md"], || Timestamp::from_micros(0));
    let listener = env.listener(None, &["a.md"]);
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&listener, &[], false);
    env.changed(&["a.md"]);
    check(&listener, &["a.md"], false);
    env.write("a.md", "newer");
    env.notices.hear(&env.engine, &WatchEvent::Rescan);
    check(&listener, &["a.md"], false);
}
