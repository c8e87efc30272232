//! The index is as fresh as it says, whoever works at the same time.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::super::index_pool::NotedChanges;
use super::super::lock;
use super::super::refresh::{Changes, aged};
use super::{EDIT, Engine, IndexPlace, caller, codes, engine, memory, run};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Source, Value};
use memdir_core::time::Timestamp;
use memdir_index::Index;
use memdir_note::stem::Stem;
use memdir_plan::{Effort, Stamp, Swept};
use memdir_vault::{Sweep, WatchEvent};

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// By this clock no file is young.
fn later() -> Timestamp {
    Timestamp::from_micros(now().micros() + 3_600_000_000)
}

fn indexed(root: &Path, cache: &Path, clock: fn() -> Timestamp) -> Engine {
    let mut engine = engine(root);
    engine.settings.index = IndexPlace::File(cache.join("own/index.sqlite"));
    engine.settings.clock = clock;
    engine
}

/// In how many notes a word stands; `None` where the index was not asked.
fn holding(engine: &Engine, word: &str, is_locked: bool) -> Option<usize> {
    let mut found = 0;
    let is_answered = engine.consult(&[], Effort::Fill, is_locked, &mut |source| {
        found = source.holding(&Stem::forms(word)).unwrap();
        Ok(())
    });
    is_answered.unwrap().then_some(found)
}

#[test]
fn what_lies_in_a_folder_that_was_a_file_is_found_at_once() {
    let (folder, cache) = (memory(&[("plans.md", "amber\n"), ("b.md", "basalt\n")]), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), now);
    assert_eq!(holding(&engine, "amber", false), Some(1));
    let plans = folder.path().join("plans.md");
    let replace = || {
        std::fs::remove_file(&plans).unwrap();
        std::fs::create_dir(&plans).unwrap();
        std::fs::write(plans.join("c.md"), "cedar\n").unwrap();
    };
    replace();
    assert_eq!([holding(&engine, "amber", false), holding(&engine, "cedar", false)], [Some(0), Some(1)]);
    // The same when all is built.
    std::fs::remove_dir_all(&plans).unwrap();
    std::fs::write(&plans, "amber\n").unwrap();
    assert_eq!(holding(&engine, "amber", false), Some(1));
    replace();
    engine.refresh(&|_, _| (), &|| false).unwrap();
    let index = engine.take_index(false).unwrap();
    let known: Vec<_> = index.known().unwrap().into_iter().map(|swept| swept.path.to_string()).collect();
    assert_eq!(known, ["b.md", "plans.md/c.md"]);
}

/// Who is told of changes holds what was told, and waits for the vault; who holds the vault must not wait for that.
#[test]
fn who_holds_the_lock_of_the_vault_waits_for_nobody_who_searches() {
    let (folder, cache) = (memory(&[("a.md", "amber\n")]), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), now);
    assert_eq!(holding(&engine, "amber", false), Some(1));
    engine.watch(|_| ()).unwrap();
    let watched = lock(&engine.index_pool.watched);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let _writer = engine.vault.lock().unwrap();
            sender.send(holding(&engine, "amber", true)).unwrap();
        });
        let answered = receiver.recv_timeout(Duration::from_secs(20));
        drop(watched);
        assert_eq!(answered, Ok(Some(1)));
    });
}

#[test]
fn a_sweep_that_began_before_something_was_told_does_not_make_up_for_it() {
    let (folder, cache) = (memory(&[]), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), now);
    let (index_pool, index) = (&engine.index_pool, engine.take_index(false).unwrap());
    let nothing = NotedChanges::default();
    let mut told = NotedChanges::default();
    told.note(&WatchEvent::Changed(vec![MemoryPath::parse("a.md").unwrap()]));
    let before = index_pool.takes();
    index_pool.mark_fresh(&index, now(), before);
    assert!(index_pool.begin(&index, &nothing).is_some());
    assert!(index_pool.begin(&index, &nothing).is_none(), "until it is said again");
    index_pool.begin(&index, &told);
    index_pool.mark_fresh(&index, now(), before);
    assert!(index_pool.begin(&index, &nothing).is_none());
    index_pool.mark_fresh(&index, now(), index_pool.takes());
    assert!(index_pool.begin(&Index::in_memory().unwrap(), &nothing).is_none(), "another index was not told");
}

/// A slow build writes down files long after it has read them.
#[test]
fn how_old_a_file_is_counts_from_before_it_is_looked_at() {
    static AHEAD: AtomicI64 = AtomicI64::new(0);
    fn slow() -> Timestamp {
        Timestamp::from_micros(now().micros() + AHEAD.fetch_add(60_000_000, Ordering::Relaxed))
    }
    let (folder, cache) = (memory(&[("a.md", "one"), ("b.md", "two"), ("c.md", "three")]), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), slow);
    engine.refresh(&|_, _| (), &|| false).unwrap();
    let stamps: Vec<_> =
        engine.take_index(false).unwrap().known().unwrap().into_iter().map(|swept| swept.stamp).collect();
    assert_eq!(stamps, [Stamp::default(); 3]);
}

#[test]
fn a_file_is_young_by_the_time_that_nobody_can_set() {
    let path = MemoryPath::parse("a.md").unwrap();
    let second = 1_000_000_000;
    let is_young = |modified: i64, changed: i64| {
        let stamp = Stamp { size: 1, modified: modified * second, changed: changed * second, inode: 1 };
        let swept = Swept { path: path.clone(), is_link: false, stamp };
        aged(swept.clone(), Timestamp::from_micros(1_000_000_000)) != swept
    };
    assert!(!is_young(998, 998));
    assert!(is_young(10, 999), "an editor has set it back");
    assert!(is_young(10, 5000), "the clock was put back");
    assert!(!is_young(5000, 10), "unpacked from an archive of tomorrow");
    assert!(is_young(999, 0) && is_young(5000, 0) && !is_young(998, 0), "where the system has one time only");
}

#[test]
fn an_index_that_is_far_behind_is_not_asked_until_it_is_refreshed() {
    let (folder, cache) = (memory(&[]), memory(&[]));
    let write = |text: &str| {
        (0..2_001).for_each(|number| std::fs::write(folder.path().join(format!("{number}.md")), text).unwrap());
    };
    let engine = indexed(folder.path(), cache.path(), later);
    write("amber\n");
    assert_eq!(holding(&engine, "amber", false), None);
    engine.refresh(&|_, _| (), &|| false).unwrap();
    assert_eq!(holding(&engine, "amber", false), Some(2_001));
    write("all basalt\n");
    assert_eq!(holding(&engine, "basalt", false), None);
    engine.refresh(&|_, _| (), &|| false).unwrap();
    assert_eq!(holding(&engine, "basalt", false), Some(2_001));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_a_link_says_what_its_target_says_now() {
    let (folder, cache) = (memory(&[("a.md", "one [[b]]\n"), ("b.md", "basalt\n")]), memory(&[]));
    std::os::unix::fs::symlink("a.md", folder.path().join("l.md")).unwrap();
    let engine = indexed(folder.path(), cache.path(), later);
    engine.watch(|_| ()).unwrap();
    let linking = || -> Vec<String> {
        let links = engine.links().unwrap();
        links.links.iter().map(|link| format!("{} {}", link.source, link.target)).collect()
    };
    assert_eq!(linking(), ["a.md b", "l.md b"]);
    let edit = String::from_utf8_lossy(EDIT).replace("one", "one [[b]]");
    assert_eq!(codes(&run(&engine, edit, caller())), [None, None]);
    assert_eq!(linking(), Vec::<String>::new());
}

/// Each thread has an index of its own there, and what the watcher tells comes to one of them.
#[test]
fn no_index_of_a_process_misses_what_another_was_told() {
    let folder = memory(&[("a.md", "amber\n")]);
    let mut engine = engine(folder.path());
    (engine.settings.index, engine.settings.clock) = (IndexPlace::Process, later);
    engine.watch(|_| ()).unwrap();
    let (one, other) = (engine.take_index(false).unwrap(), engine.take_index(false).unwrap());
    for index in [one, other] {
        engine.return_index(index, Ok(true)).unwrap();
        assert_eq!(holding(&engine, "amber", false), Some(1));
    }
    std::fs::write(folder.path().join("a.md"), "all basalt\n").unwrap();
    let one = engine.take_index(false).unwrap();
    assert_eq!(holding(&engine, "basalt", false), Some(1));
    let other = engine.take_index(false).unwrap();
    engine.return_index(one, Ok(true)).unwrap();
    assert_eq!(holding(&engine, "basalt", false), Some(1));
    drop(other);
}

#[test]
fn what_cannot_be_looked_at_just_now_stays_in_the_index() {
    let file = |name: &str| Swept {
        path: MemoryPath::parse(name).unwrap(),
        is_link: false,
        stamp: Stamp { size: 1, ..Stamp::default() },
    };
    let known = ["a.md", "d/b.md", "d/e/c.md", "d2/x.md", "gone.md", "l.md"].map(file);
    let unknown = ["d", "l.md"].map(|name| MemoryPath::parse(name).unwrap()).into();
    let changes = Changes::between(&known, Sweep { files: vec![file("a.md")], unknown });
    let gone: Vec<_> = changes.gone.iter().map(MemoryPath::as_str).collect();
    assert_eq!(gone, ["d2/x.md", "gone.md"]);
    assert!(changes.is_partial && changes.differ.is_empty());
    assert!(!Changes::between(&known, Sweep::default()).is_partial);
}

#[test]
fn who_is_not_told_everything_any_more_never_relies_on_it_again() {
    let path = || MemoryPath::parse("a.md").unwrap();
    let mut noted = NotedChanges::default();
    noted.note(&WatchEvent::Changed(vec![path()]));
    let taken = noted.take();
    assert!(!taken.is_everything && taken.paths.contains(&path()));
    assert!(!noted.take().is_everything);
    noted.note(&WatchEvent::Rescan);
    assert!(noted.take().is_everything && !noted.take().is_everything);
    noted.note(&WatchEvent::Blind);
    noted.note(&WatchEvent::Changed(vec![path()]));
    noted.note(&WatchEvent::Rescan);
    assert!((0..3).all(|_| noted.take().is_everything));
}

#[test]
fn a_panic_while_the_index_is_built_is_no_end_of_building() {
    let (folder, cache) = (memory(&[("a.md", "amber\n"), ("b.md", "basalt\n")]), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), later).with_background_index();
    assert!(engine.wants_index());
    engine
        .build_in_background(&|| std::hint::black_box(true).then(|| panic!("as it is written in this test")).is_some());
    assert_eq!(holding(&engine, "amber", false), None, "the notes are read meanwhile");
    engine.build_in_background(&|| false);
    assert_eq!(holding(&engine, "amber", false), Some(1));
}

#[test]
fn who_listens_to_changes_and_panics_hears_of_the_next() {
    let folder = memory(&[("a.md", "amber\n")]);
    let engine = engine(folder.path());
    let (tell, told) = channel();
    let is_first = std::sync::atomic::AtomicBool::new(true);
    engine
        .watch(move |noticed| {
            tell.send(noticed.clone()).unwrap();
            assert!(!is_first.swap(false, Ordering::Relaxed), "as it is written in this test");
        })
        .unwrap();
    std::fs::write(folder.path().join("b.md"), "basalt\n").unwrap();
    told.recv_timeout(Duration::from_secs(30)).unwrap();
    std::fs::write(folder.path().join("c.md"), "cedar\n").unwrap();
    told.recv_timeout(Duration::from_secs(30)).unwrap();
}

/// The index is a cache: whoever keeps it, a search reads the notes and is right.
#[test]
fn a_search_waits_for_no_other_process_that_has_the_index() {
    let (folder, cache) = (memory(&[("a.md", "amber\n")]), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), later);
    assert_eq!(holding(&engine, "amber", false), Some(1));
    let file = cache.path().join("own/index.sqlite");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(holding(&engine, "amber", false), Some(1), "nothing has to be put into it");
    std::fs::write(folder.path().join("b.md"), "amber\n").unwrap();
    let started = Instant::now();
    assert_eq!(holding(&engine, "amber", false), None, "what it knows is not all");
    let search = br#"<actions>[{"action":"search_files","query":"amber"}]</actions>"#;
    let report = run(&engine, search, caller());
    let Ok(Value::Search(found)) = &report.actions[0].result else { panic!("{report:?}") };
    assert_eq!((found.total, found.source), (2, Source::Scan));
    // As one who opens it, and does not come to an end.
    other.execute_batch("ROLLBACK").unwrap();
    let held = std::fs::OpenOptions::new().read(true).open(cache.path().join("own/index.sqlite.lock")).unwrap();
    held.lock().unwrap();
    assert_eq!(holding(&indexed(folder.path(), cache.path(), later), "amber", false), None);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    drop(held);
    assert_eq!(holding(&engine, "amber", false), Some(2));
}

#[test]
fn notes_are_numbered_in_the_order_of_their_paths() {
    let names: Vec<String> = (0..200).map(|number| format!("{}/{number:03}.md", number % 7)).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "amber\n")).collect();
    let (folder, cache) = (memory(&notes), memory(&[]));
    let engine = indexed(folder.path(), cache.path(), now);
    engine.refresh(&|_, _| (), &|| false).unwrap();
    let mut found = Vec::new();
    let is_answered = engine.consult(&[], Effort::Fill, false, &mut |source| {
        let mut numbers: Vec<_> =
            source.matching(&Stem::forms("amber")).unwrap().into_iter().map(|(note, _)| note).collect();
        numbers.sort_unstable();
        found = numbers.into_iter().map(|note| source.path(note).unwrap().unwrap().to_string()).collect();
        Ok(())
    });
    let mut sorted = names;
    sorted.sort_unstable();
    assert_eq!((is_answered.unwrap(), found), (true, sorted));
}
