//! The memory as of a day, against what the folder held on that day.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

use super::*;

/// What day it is, counted from the first of 2025; one test at a time changes it.
static TODAY: AtomicI64 = AtomicI64::new(0);
static TURN: Mutex<()> = Mutex::new(());

const START: i64 = 1_735_689_600;

fn now() -> Timestamp {
    Timestamp::from_seconds(START + TODAY.load(Ordering::SeqCst) * 86_400 + 43_200)
}

fn day(number: i64) -> String {
    Timestamp::from_seconds(START + number * 86_400).day()
}

/// A memory and the days that it has seen.
struct World {
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl World {
    fn new(notes: &[(&str, &str)]) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let world = Self { folder: tempfile::tempdir().unwrap(), _turn: turn };
        notes.iter().for_each(|(name, text)| world.write(name, text));
        world
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn engine(&self) -> Engine {
        let mut engine = engine_with(self.folder.path(), Durability::Atomic);
        (engine.settings.clock, engine.settings.batch_actions) = (now, 100);
        engine
    }

    /// Runs actions on a day.
    fn on(&self, day: i64, calls: &Json) -> Json {
        TODAY.store(day, Ordering::SeqCst);
        self.act(caller(), calls)
    }

    fn act(&self, caller: Caller, calls: &Json) -> Json {
        act(&self.engine(), caller, calls)
    }

    /// Files with their texts and folders, as the folder holds them.
    fn snapshot(&self) -> BTreeMap<String, Option<String>> {
        fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Option<String>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                if name.starts_with(".memdir") {
                    continue;
                }
                let text = path.is_file().then(|| std::fs::read_to_string(&path).unwrap());
                if text.is_none() {
                    walk(root, &path, found);
                }
                found.insert(name, text);
            }
        }
        let mut found = BTreeMap::new();
        walk(self.folder.path(), self.folder.path(), &mut found);
        found
    }

    /// The same as of a day, as the engine tells it.
    fn as_of(&self, when: &str) -> Result<BTreeMap<String, Option<String>>, (Code, Option<String>)> {
        let seen = self.engine().view(Some(when), |view| {
            let listed = view.tree(None, usize::MAX, None)?;
            let text = |path: &MemoryPath| view.read(path, &Caller::person("cli")).map(|(text, _)| text);
            Ok(listed
                .entries
                .iter()
                .map(|entry| {
                    let is_file = entry.kind == memdir_core::report::Kind::File;
                    let text = if is_file { Some(text(&entry.path).unwrap()) } else { None };
                    assert_eq!(entry.size, text.as_ref().map_or(0, |text| text.len() as u64), "{}", entry.path);
                    (entry.path.to_string(), text)
                })
                .collect())
        });
        seen.map_err(|failure| (failure.code, failure.hint))
    }

    fn text_as_of(&self, name: &str, when: i64) -> Option<String> {
        self.as_of(&day(when)).unwrap().remove(name).flatten()
    }
}

fn act(engine: &Engine, caller: Caller, calls: &Json) -> Json {
    let text = format!("<actions>{calls}</actions>");
    serde_json::to_value(run(engine, text, caller)).unwrap()
}

/// What somebody is told by one action as of a day.
fn told(engine: &Engine, caller: &Caller, action: &str, arguments: &Json, when: i64) -> Json {
    let mut call = arguments.clone();
    (call["action"], call["as_of"]) = (json!(action), json!(day(when)));
    act(engine, caller.clone(), &json!([call]))["actions"][0].clone()
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn name(&mut self) -> String {
        let part = |random: &mut Self| ["a", "b", "c"][usize::try_from(random.below(3)).unwrap()];
        let depth = self.below(3);
        (0..depth).map(|_| format!("{}/", part(self))).collect::<String>() + part(self)
    }

    fn call(&mut self) -> Json {
        let (one, other, text) = (self.name(), self.name(), format!("text {}\n", self.below(1_000_000)));
        match self.below(10) {
            0..=2 => json!({"action": "write_file", "path": format!("{one}.md"), "content": text}),
            3 => json!({"action": "append_file", "path": format!("{one}.md"), "content": text}),
            4 => json!({"action": "delete_file", "path": format!("{one}.md")}),
            5 | 6 => {
                json!({"action": "rename_file", "path": format!("{one}.md"), "new_path": format!("{other}.md")})
            }
            7 => json!({"action": "rename_file", "path": one, "new_path": other}),
            8 => json!({"action": "create_dir", "path": one}),
            _ => json!({"action": "delete_dir", "path": one, "recursive": true}),
        }
    }
}

#[test]
fn each_day_is_as_the_folder_was_on_it() {
    let (mut days, mut moved) = (0, 0);
    for seed in 0..6 {
        let mut random = Random(seed);
        let world = World::new(&[("a.md", "first\n"), ("b/c.md", "second\n"), ("c/a/b.md", "third\n")]);
        let mut was = Vec::new();
        for number in 0..40 {
            let calls: Vec<Json> = (0..=random.below(4)).map(|_| random.call()).collect();
            let report = world.on(number, &Json::from(calls));
            moved += report["actions"].as_array().unwrap().iter().filter(|call| call["ok"] == true).count();
            if random.below(6) == 0
                && let Ok(change) = world.engine().propose_undo(None)
            {
                world.engine().conclude_change(change, &Caller::person("cli")).unwrap();
            }
            was.push((number, report["batch"].is_u64(), world.snapshot()));
        }
        TODAY.store(100, Ordering::SeqCst);
        let first = was.iter().position(|(_, is_changed, _)| *is_changed).unwrap();
        for (number, _, snapshot) in &was[first..] {
            assert_eq!(world.as_of(&day(*number)).as_ref(), Ok(snapshot), "seed {seed}, day {number}");
            days += 1;
        }
    }
    assert!(days > 200 && moved > 300, "{days} days, {moved} calls");
}

#[expect(clippy::disallowed_types, reason = "the test is the system that says when a file was written")]
#[test]
fn what_comes_from_outside_counts_from_the_change_that_met_it() {
    let world = World::new(&[("a.md", "one\n"), ("by_hand.md", "x\n")]);
    world.on(1, &json!([{"action": "write_file", "path": "a.md", "content": "two\n"}]));
    world.write("a.md", "by hand\n");
    world.on(5, &json!([{"action": "append_file", "path": "a.md", "content": "four\n"}]));
    world.write("a.md", "by hand again\n");
    std::fs::remove_file(world.folder.path().join("by_hand.md")).unwrap();
    world.write("later/new.md", "y\n");
    TODAY.store(9, Ordering::SeqCst);
    let text = |name: &str, when| world.text_as_of(name, when);
    assert_eq!(text("a.md", 1).as_deref(), Some("two\n"));
    assert_eq!(text("a.md", 4).as_deref(), Some("two\n"), "nobody knows when it was edited");
    assert_eq!(text("a.md", 5).as_deref(), Some("by hand\nfour\n"));
    // The file says that it was last written long after that day.
    assert_eq!(text("a.md", 8).as_deref(), Some("by hand\nfour\n"));
    assert_eq!(text("later/new.md", 8).as_deref(), Some("y\n"), "of what no change touched, nobody knows better");
    assert_eq!(text("by_hand.md", 2), None, "what it held is nowhere");
    // By now the day of today has an end that is still to come.
    assert_eq!(text("a.md", 9).as_deref(), Some("by hand again\n"));
    let file = std::fs::File::options().write(true).open(world.folder.path().join("a.md")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(u64::try_from(START).unwrap() + 6 * 86_400)).unwrap();
    assert_eq!(text("a.md", 5).as_deref(), Some("by hand\nfour\n"));
    assert_eq!(text("a.md", 6).as_deref(), Some("by hand again\n"), "the file has not changed since that day");
}

#[test]
fn a_note_is_found_by_the_name_it_had_and_by_the_one_it_has() {
    let world = World::new(&[("a.md", "# Ada\n\n- city: Faro\n")]);
    let set = |city: &str, path: &str| json!({"action": "set_fact", "path": path, "key": "city", "value": city});
    world.on(1, &json!([set("Porto", "a.md")]));
    world.on(3, &json!([{"action": "rename_file", "path": "a.md", "new_path": "people/ada.md"}]));
    world.on(4, &json!([set("Braga", "people/ada.md")]));
    TODAY.store(9, Ordering::SeqCst);
    for name in ["a", "a.md", "Ada", "people/ada.md"] {
        let engine = world.engine();
        let (path, (text, _)) = engine
            .view(Some(&day(2)), |view| {
                let path = view.note_named(name)?;
                let read = view.read(&path, &Caller::person("cli"))?;
                Ok((path, read))
            })
            .unwrap();
        assert_eq!(text, "# Ada\n\n- city: Porto\n", "{name}: {path}");
        let facts = engine.view(Some(&day(4)), |view| view.facts(&crate::FactsQuery::current())).unwrap().facts;
        assert_eq!((facts[0].path.as_str(), facts[0].value.as_str()), ("people/ada.md", "Braga"));
    }
    let engine = world.engine();
    let found = told(&engine, &caller(), "search_files", &json!({"query": "which city"}), 1);
    assert_eq!(found["value"]["hits"][0]["path"], "a.md", "{found}");
    assert!(found["value"]["hits"][0]["snippet"].as_str().unwrap().contains("Porto"), "{found}");
    let context = told(&engine, &caller(), "get_context", &json!({"query": "which city"}), 1);
    assert!(context["value"]["parts"][0]["text"].as_str().unwrap().contains("Porto"), "{context}");
    assert_eq!(told(&engine, &caller(), "list_files", &json!({}), 3)["value"], json!(["people/ada.md"]));
    let wrong = act(&engine, caller(), &json!([{"action": "list_files", "as_of": "last week"}]));
    assert_eq!(wrong["actions"][0]["error"]["code"], "invalid_action");
}

#[test]
fn what_is_hidden_now_was_never_there_under_any_name() {
    let world = World::new(&[]);
    let write = |name: &str| json!({"action": "write_file", "path": name, "content": format!("# {name}\n\nsecret\n")});
    let rename = |from: &str, to: &str| json!({"action": "rename_file", "path": from, "new_path": to});
    world.on(
        1,
        &json!([
            write("open/a.md"),
            write("open/b.md"),
            write("private/c.md"),
            write("open/dir/d.md"),
            write("open/e.md")
        ]),
    );
    world.on(
        2,
        &json!([
            rename("open/a.md", "private/a.md"),
            rename("private/c.md", "open/c.md"),
            rename("open/dir", "private/dir"),
            rename("open/e.md", "private/e.md")
        ]),
    );
    // One that is gone by hand was hidden when it was last seen.
    std::fs::remove_file(world.folder.path().join("private/e.md")).unwrap();
    TODAY.store(9, Ordering::SeqCst);
    let grant = Grant::new(&["open/**".to_owned()], &[], None).unwrap();
    let part = Caller { grant: Some(Arc::new(grant)), ..caller() };
    let mut ruled = world.engine();
    let rule = Rule {
        action: None,
        path: Some("private/**".to_owned()),
        client: None,
        detector: None,
        verdict: Verdict::Deny,
    };
    ruled.set_rules(Rules::new(vec![rule]).unwrap());
    for (engine, who) in [(&world.engine(), &part), (&ruled, &caller())] {
        assert_eq!(told(engine, who, "list_files", &json!({}), 1)["value"], json!(["open/b.md"]));
        for action in ["search_files", "get_context"] {
            let found = told(engine, who, action, &json!({"query": "secret"}), 1).to_string();
            let shown = ["open/a", "open/b", "private", "open/dir", "open/e"].map(|name| found.contains(name));
            assert_eq!(shown, [false, true, false, false, false], "{found}");
        }
        for name in ["open/a.md", "private/a.md", "private/c.md", "open/c.md", "open/dir/d.md", "open/e.md"] {
            let read = told(engine, who, "read_file", &json!({"path": name}), 1);
            assert_eq!(read["ok"], false, "{name}: {read}");
            assert!(!read.to_string().contains("secret"), "{read}");
        }
        assert_eq!(told(engine, who, "read_file", &json!({"path": "open/c.md"}), 2)["ok"], true);
    }
    let all = told(&world.engine(), &caller(), "list_files", &json!({}), 1);
    assert_eq!(all["value"].as_array().unwrap().len(), 5, "the owner sees all of it");
}

#[test]
fn days_are_counted_back_from_today_in_calls_too() {
    let world = World::new(&[]);
    for number in [3, 5, 6] {
        world.on(number, &json!([{"action": "write_file", "path": "a.md", "content": format!("day {number}\n")}]));
    }
    for (asked, text) in [("3d", "day 3\n"), ("yesterday", "day 5\n"), ("today", "day 6\n")] {
        let read = world.act(caller(), &json!([{"action": "read_file", "path": "a.md", "as_of": asked}]));
        assert_eq!(read["actions"][0]["value"], text, "{asked}: {read}");
        assert_eq!(world.as_of(asked).unwrap().get("a.md"), Some(&Some(text.to_owned())), "{asked}");
    }
    let read = world.act(caller(), &json!([{"action": "read_file", "path": "a.md", "as_of": "tomorrow"}]));
    assert_eq!(read["actions"][0]["error"]["code"], "invalid_action", "{read}");
}

#[test]
fn before_what_is_known_the_first_day_is_named() {
    let world = World::new(&[("a.md", "one\n")]);
    TODAY.store(3, Ordering::SeqCst);
    assert_eq!(world.as_of(&day(2)).unwrap_err().0, Code::Unavailable, "there is no history");
    assert_eq!(world.as_of(&day(3)), Ok(world.snapshot()));
    world.on(3, &json!([{"action": "write_file", "path": "a.md", "content": "two\n"}]));
    world.on(50, &json!([{"action": "write_file", "path": "a.md", "content": "three\n"}]));
    TODAY.store(60, Ordering::SeqCst);
    let hint = |day: &str| (Code::Unavailable, Some(format!("the first day that can be asked for is {day}")));
    assert_eq!(world.as_of(&day(2)), Err(hint("2025-01-04")));
    assert_eq!(world.as_of("2025-01-04T11:59:59Z"), Err(hint("2025-01-04")));
    assert_eq!(world.text_as_of("a.md", 3).as_deref(), Some("two\n"));
    assert_eq!(world.as_of("tomorrow").unwrap_err().0, Code::Usage);
    // The contents that the change of the third day met are more than 90 days old by then, those of the fiftieth are not.
    for number in [130, 131] {
        world.on(number, &json!([{"action": "write_file", "path": "b.md", "content": format!("{number}\n")}]));
    }
    let vault = world.engine().vault;
    vault.lock().unwrap().prune(now()).unwrap();
    assert_eq!(world.text_as_of("a.md", 3).as_deref(), Some("two\n"), "which the fiftieth met");
    world.on(150, &json!([{"action": "write_file", "path": "b.md", "content": "x\n"}]));
    world.on(151, &json!([{"action": "write_file", "path": "b.md", "content": "y\n"}]));
    world.engine().vault.lock().unwrap().prune(now()).unwrap();
    assert_eq!(world.as_of(&day(49)), Err(hint("2025-02-20")));
    assert_eq!(world.text_as_of("a.md", 50).as_deref(), Some("three\n"));
    assert_eq!(world.text_as_of("b.md", 130).as_deref(), Some("130\n"));
}

#[test]
fn what_was_forgotten_does_not_come_back() {
    let world = World::new(&[]);
    let write = |name: &str, text: &str| json!({"action": "write_file", "path": name, "content": text});
    world.on(
        1,
        &json!([write("a.md", "the old secret\n"), write("b.md", "plain\n"), write("c.md", "the old secret, too\n")]),
    );
    world.on(2, &json!([write("a.md", "nothing\n"), {"action": "rename_file", "path": "c.md", "new_path": "d.md"}]));
    world.on(3, &json!([write("e.md", "z\n")]));
    TODAY.store(9, Ordering::SeqCst);
    let engine = world.engine();
    let target = crate::ForgetTarget::Text("old secret".to_owned());
    engine.forget(&target, crate::RelatedLines::Keep, None, &Caller::person("cli")).unwrap();
    for when in [1, 2] {
        let seen = engine.view(Some(&day(when)), |view| {
            let listed = view.tree(None, usize::MAX, None)?;
            Ok(listed.entries.iter().map(|entry| view.read(&entry.path, &Caller::person("cli"))).collect::<Vec<_>>())
        });
        for read in seen.iter().flatten() {
            match read {
                Ok((text, _)) => assert!(!text.contains("secret"), "{text}"),
                Err(failure) => assert_eq!(failure.code, Code::Unavailable),
            }
        }
        let found = told(&engine, &caller(), "search_files", &json!({"query": "old secret", "mode": "text"}), when);
        assert_ne!(found["value"]["total"], 1, "{found}");
    }
    let search = json!([{"action": "search_files", "query": "old secret", "as_of": day(1)}]);
    let said = &act(&engine, caller(), &search)["issues"][0]["message"];
    assert!(said.as_str().unwrap().contains("what was there then is no longer kept"), "{said}");
}

#[test]
fn a_read_of_the_past_is_forgotten_with_its_note() {
    let world = World::new(&[]);
    world.on(1, &json!([{"action": "write_file", "path": "anna.md", "content": "the old secret\n"}]));
    world.on(2, &json!([{"action": "rename_file", "path": "anna.md", "new_path": "friend.md"}]));
    world.on(3, &json!([{"action": "write_file", "path": "b.md", "content": "x\n"}]));
    TODAY.store(9, Ordering::SeqCst);
    let engine = world.engine();
    assert_eq!(told(&engine, &caller(), "read_file", &json!({"path": "anna.md"}), 1)["value"], "the old secret\n");
    assert_eq!(told(&engine, &caller(), "search_files", &json!({"query": "old secret"}), 1)["value"]["total"], 1);
    let said = || {
        engine.vault.finish();
        serde_json::to_string(&engine.vault.records(0).unwrap().iter().map(|it| it.payload.clone()).collect::<Vec<_>>())
            .unwrap()
    };
    assert!(said().contains("anna.md"), "{}", said());
    let target = crate::ForgetTarget::Note(MemoryPath::parse("friend.md").unwrap());
    engine.forget(&target, crate::RelatedLines::Keep, None, &Caller::person("cli")).unwrap();
    assert!(!said().contains("anna.md"), "{}", said());
    assert_eq!(world.as_of(&day(2)).unwrap_err().0, Code::Unavailable, "nothing else is known of that day");
    assert_eq!(world.as_of(&day(3)), Ok(world.snapshot()));
}
