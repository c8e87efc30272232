//! The index tells what the notes say, whoever changed them: never something old, and never an error.
//!
//! `MEMDIR_INDEX_EDITS` sets how many random edits are made, `MEMDIR_SEARCH_SECONDS` how long two processes write and
//! search at the same time.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use memdir_core::path::MemoryPath;
use memdir_engine::{Engine, IndexPlace};
use memdir_index::{Index, NoteRecord};
use memdir_plan::{Stamp, Swept};
use memdir_rank::Source;
use serde_json::{Value, json};

use crate::support::{Env, PATIENCE, engine, number, said};

/// The words that the notes of these tests are made of.
const WORDS: [&str; 24] = [
    "amber", "basalt", "cedar", "dune", "ember", "fjord", "granite", "harbor", "island", "juniper", "kelp", "lagoon",
    "meadow", "nectar", "orchid", "pebble", "quartz", "reef", "saffron", "thistle", "umber", "violet", "willow",
    "zinc",
];

/// Numbers that look drawn, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    fn path(&mut self) -> String {
        let folder = ["", "a/", "a/b/", "people/"][self.below(4)];
        format!("{folder}{}.md", self.word())
    }

    fn text(&mut self) -> String {
        let words: Vec<_> = (0..3 + self.below(20)).map(|_| self.word()).collect();
        let (key, link, tag) = (self.word(), self.word(), self.word());
        format!("# {}\n\n- {key}: [[{link}]]\n\n{} #{tag}\n", self.word(), words.join(" "))
    }
}

/// The file of the index of a test's memory.
fn file(env: &Env) -> PathBuf {
    let found = fs::read_dir(env.home().join(".cache/memdir")).unwrap().next().unwrap().unwrap();
    found.path().join("index.sqlite")
}

/// All that an index answers, by path.
fn dump(index: &Index) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    index
        .each(true, &mut |kept| {
            let card = index.number(&kept.path).unwrap().map(|number| index.card(number).unwrap());
            all.insert(kept.path.to_string(), format!("{kept:?} {card:?}"));
        })
        .unwrap();
    let path = |note| index.path(note).unwrap().unwrap().to_string();
    for word in WORDS {
        let stems = memdir_note::stem::Stem::forms(word);
        let mut found: Vec<_> =
            index.matching(&stems).unwrap().into_iter().map(|(note, much)| (path(note), much)).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(found.len(), index.holding(&stems).unwrap(), "{word}");
        all.insert(format!("word {word}"), format!("{found:.9?}"));
        for (what, notes) in
            [("called", index.called(word, 99).unwrap()), ("linking", index.linking(word, 99).unwrap())]
        {
            let mut paths: Vec<_> = notes.into_iter().map(path).collect();
            paths.sort();
            all.insert(format!("{what} {word}"), format!("{paths:?}"));
        }
    }
    all
}

/// An index of what is in the memory now, made by hand.
fn rebuilt(env: &Env) -> Index {
    let mut index = Index::in_memory().unwrap();
    let mut writing = index.write().unwrap();
    for (path, text) in env.files() {
        // What a write displaced lies beside the note for a moment.
        let Ok(path) = MemoryPath::parse(&path) else { continue };
        let record = NoteRecord::of(&path, &text, Vec::new());
        let swept = Swept { path, is_link: false, stamp: Stamp::default() };
        writing.put(&swept, Some(&record)).unwrap();
    }
    writing.commit().unwrap();
    index
}

/// Opens the index that the processes share, beside them.
fn shared(env: &Env) -> Index {
    let vault = engine::vault(env.memory());
    Index::open(&file(env), vault.history_id().unwrap().as_deref()).unwrap()
}

/// Searches through an engine, which makes the index fresh.
#[track_caller]
fn found(engine: &Engine, query: &str) -> Vec<String> {
    let report = engine::exec(engine, &json!([{"action": "search_files", "query": query, "limit": 1000}]));
    let value = &report["actions"][0]["value"];
    assert_eq!(value["source"], "index", "{report}");
    value["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

/// One edit: through memdir in this process or another, or by a program that knows nothing of it.
fn edit(env: &Env, engine: &Engine, chance: &mut Chance) {
    let (path, other, text) = (chance.path(), chance.path(), chance.text());
    let is_there = env.at(&path).is_file();
    let action = match chance.below(5) {
        0 if is_there => json!({"action": "delete_file", "path": path}),
        1 if is_there && !env.at(&other).exists() => json!({"action": "rename_file", "path": path, "new_path": other}),
        2 if is_there => json!({"action": "append_file", "path": path, "content": text}),
        _ => json!({"action": "write_file", "path": path, "content": text}),
    };
    match chance.below(6) {
        0 => assert_eq!(env.say(&said(&json!([action])), &[]).code, 0, "{action}"),
        1 | 2 => {
            let report = engine::exec(engine, &json!([action]));
            assert_eq!(report["actions"][0]["ok"], true, "{report}");
        }
        3 if is_there => fs::remove_file(env.at(&path)).unwrap(),
        4 if is_there && !env.at(&other).exists() => {
            fs::create_dir_all(env.at(&other).parent().unwrap()).unwrap();
            fs::rename(env.at(&path), env.at(&other)).unwrap();
        }
        _ => env.write(&path, text),
    }
}

/// Edits, and compares the index with a rebuilt one at each pause. Another process takes part in both.
fn stays_fresh(is_watched: bool) {
    let edits = number("MEMDIR_INDEX_EDITS", 200);
    let env = Env::new().quick();
    let mut chance = Chance(edits + u64::from(is_watched));
    (0..60).for_each(|_| env.write(&chance.path(), chance.text()));
    // The history comes first: both processes write the same one.
    env.act(&json!({"action": "write_file", "path": "amber.md", "content": "amber"}));
    assert_eq!(env.ask(&["search", "amber"]).exits(0)["source"], "index", "few notes are indexed at once");
    let engine = engine::indexed(env.memory(), IndexPlace::File(file(&env)));
    if is_watched {
        engine.watch(|_| ()).unwrap();
    }
    for at in 0..edits {
        edit(&env, &engine, &mut chance);
        if chance.below(8) == 0 {
            let word = chance.word();
            // A watcher hears of outside edits a moment later; a process of its own looks at all files.
            let mut expected: Vec<String> = hits(&env.ask(&["search", word, "--limit", "1000"]).exits(0));
            expected.sort();
            let ours = dump(&shared(&env));
            for (key, value) in dump(&rebuilt(&env)) {
                assert_eq!(ours.get(&key), Some(&value), "{key} after {at} edits");
            }
            let mut again = found(&engine, word);
            again.sort();
            assert_eq!(again, expected, "{word} after {at} edits");
        }
    }
}

fn hits(found: &Value) -> Vec<String> {
    assert_eq!(found["source"], "index", "{found}");
    found["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_index_equals_a_rebuilt_one_after_edits_from_everywhere() {
    stays_fresh(false);
}

#[test]
fn a_watched_index_equals_a_rebuilt_one_too() {
    stays_fresh(true);
}

#[test]
fn two_processes_write_and_search_and_nothing_is_stale() {
    let time = Duration::from_secs(number("MEMDIR_SEARCH_SECONDS", 2));
    let env = Env::with(&[("user.md", "# Ada\n")]).quick().set("MEMDIR_LIMITS_LOCK_SECONDS", "120");
    let (started, count) = (Instant::now(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (env, count) = (&env, &count);
            scope.spawn(move || {
                let mut turn = 0;
                while started.elapsed() < time {
                    let word = format!("word{writer}x{turn}");
                    let path = format!("notes/{writer}_{}.md", turn % 20);
                    let write = json!([{"action": "write_file", "path": path, "content": format!("- key: {word}\n")}]);
                    assert_eq!(env.say(&said(&write), &[]).code, 0);
                    let found = env.ask(&["search", &word]);
                    assert_eq!((found.code, found.stderr.as_str()), (0, ""), "{found:?}");
                    assert_eq!(hits(&found.json()), [path], "{word}");
                    turn += 1;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{} writes, each found by the next search", count.load(Ordering::Relaxed));
}

/// In one process, threads of a server: all share the index while an editor changes notes.
#[test]
fn threads_search_while_notes_change() {
    let env = Env::new().quick();
    let mut chance = Chance(7);
    (0..40).for_each(|_| env.write(&chance.path(), chance.text()));
    env.ask(&["search", "amber"]).exits(0);
    let engine = engine::indexed(env.memory(), IndexPlace::File(file(&env)));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..3 {
            let (engine, is_over) = (&engine, &is_over);
            scope.spawn(move || {
                let mut chance = Chance(number);
                while !is_over.load(Ordering::Relaxed) {
                    found(engine, chance.word());
                }
            });
        }
        for turn in 0..40 {
            let word = format!("unheard{turn}");
            let path = format!("turn/{turn}.md");
            let write = json!([{"action": "write_file", "path": path, "content": word},
                {"action": "search_files", "query": word}]);
            let report = engine::exec(&engine, &write);
            let hit = &report["actions"][1]["value"]["hits"][0]["path"];
            assert_eq!(*hit, json!(path), "a batch finds what it wrote itself: {report}");
            assert_eq!(found(&engine, &word), [path], "{word}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_batch_that_fails_leaves_nothing_in_the_index() {
    let env = Env::with(&[("user.md", "# Ada\n")]);
    let actions = json!([
        {"action": "write_file", "path": "a.md", "content": "wolframite"},
        {"action": "search_files", "query": "wolframite"},
        {"action": "read_file", "path": "missing.md"},
    ]);
    let report = env.say(&said(&actions), &["--dry-run"]).json();
    assert_eq!(report["actions"][1]["value"]["hits"][0]["path"], "a.md", "{report}");
    assert_eq!(env.ask(&["search", "wolframite"]).exits(0)["hits"], json!([]));
}

/// Whatever is in the place of the index, search answers and says nothing of it.
#[test]
fn a_damaged_index_is_no_news() {
    let env = Env::ada();
    let search = || env.ask(&["search", "company"]);
    assert_eq!(hits(&search().exits(0)), ["entities/acme.md"]);
    let file = file(&env);
    let whole = fs::read(&file).unwrap();
    let log = file.with_extension("sqlite-wal");
    for damage in 0..6 {
        match damage {
            0 => fs::write(&file, b"no database").unwrap(),
            1 => fs::write(&file, &whole[..whole.len() / 2]).unwrap(),
            2 => fs::write(&file, b"").unwrap(),
            3 => fs::write(&log, vec![7; 5000]).unwrap(),
            4 => {
                fs::remove_file(&file).unwrap();
                fs::create_dir(&file).unwrap();
            }
            _ => fs::remove_dir_all(file.parent().unwrap()).unwrap(),
        }
        let found = search();
        assert_eq!((found.code, found.stderr.as_str()), (0, ""), "damage {damage}: {found:?}");
        let found = found.json();
        assert_eq!(found["hits"][0]["path"], "entities/acme.md", "damage {damage}: {found}");
    }
}

#[test]
fn without_a_cache_folder_search_still_answers() {
    let env = Env::ada();
    fs::write(env.home().join(".cache"), "in the way").unwrap();
    let found = env.ask(&["search", "company"]).exits(0);
    assert_eq!((&found["hits"][0]["path"], &found["source"]), (&json!("entities/acme.md"), &json!("scan")));
}

#[test]
fn the_index_is_for_the_user_alone_and_not_in_the_memory() {
    let env = Env::ada();
    let before = env.seen();
    env.ask(&["search", "company"]).exits(0);
    assert_eq!(env.seen(), before, "searching leaves nothing in a memory");
    #[cfg(unix)]
    for path in [file(&env), file(&env).parent().unwrap().to_owned()] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn what_is_forgotten_is_not_in_the_index() {
    let env = Env::with(&[("a.md", "the wolframite is here\n"), ("b.md", "another\n")]);
    env.ask(&["search", "wolframite"]).exits(0);
    let holds = |word: &str| {
        let files = fs::read_dir(file(&env).parent().unwrap()).unwrap();
        files
            .filter_map(|file| fs::read(file.unwrap().path()).ok())
            .any(|bytes| bytes.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes())))
    };
    assert!(holds("wolframit"), "the words are there, so the search below can find something");
    let listed = env.ask(&["forget", "a.md", "--dry-run"]).exits(0);
    assert!(
        listed["places"].as_array().unwrap().contains(&json!({"where": "index", "path": null, "count": 1})),
        "{listed}"
    );
    env.ask(&["forget", "a.md", "--yes"]).exits(0);
    assert!(!holds("wolframit"));
    assert_eq!(env.ask(&["search", "wolframite"]).exits(0)["hits"], json!([]));
    assert!(!holds("wolframit"));
}

/// A person who may not see a note does not hear of it through the index either.
#[test]
fn rules_about_places_hold_for_an_index() {
    let env = Env::with(&[("private/a.md", "# Wolframite\n\n[[b]]\n"), ("b.md", "# B\n\nwolframite\n")])
        .settings("[[rule]]\naction = \"read_file\"\npath = \"private/**\"\nverdict = \"deny\"\n");
    let search = json!({"action": "search_files", "query": "wolframite"});
    let value = env.act(&search)["value"].clone();
    assert_eq!((&value["total"], &value["source"]), (&json!(1), &json!("scan")), "{value}");
    let context = env.act(&json!({"action": "get_context", "query": "wolframite"}));
    assert!(!context.to_string().contains("private"), "{context}");
    let links = env.act(&json!({"action": "get_backlinks", "path": "b.md"}));
    assert!(!links.to_string().contains("private"), "{links}");
}

/// More notes than a search reads while somebody waits: they come into the index all the same.
#[test]
fn many_changes_are_in_the_index_after_a_search_or_two() {
    let env = Env::new();
    let search = |query: &str| env.ask(&["search", query]).exits(0);
    for round in ["amber", "basalt"] {
        for number in 0..2_001 {
            env.write(&format!("n{number}.md"), round);
        }
        let first = search(round);
        assert_eq!((&first["source"], &first["total"]), (&json!("scan"), &json!(2_001)), "{round}");
        // Files that are young are read once more, until they are not.
        assert!((0..100).any(|_| search(round)["source"] == json!("index")), "{round}");
    }
}

#[test]
fn a_memory_that_takes_too_long_to_read_gets_its_index() {
    let env = Env::with(&[("a.md", "amber\n")]).settings("[limits]\nbatch_seconds = 0\n");
    assert_eq!(env.ask(&["search", "amber"]).exits(4)["error"]["code"], json!("timeout"));
    let checks = env.ask(&["doctor"]).exits(0);
    let index = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "index").unwrap();
    assert!(index["message"].as_str().unwrap().starts_with("holds 1 note"), "{index}");
}

/// A note with links of all kinds to notes that may be there.
fn linked_text(chance: &mut Chance) -> String {
    let links: Vec<_> = (0..3 + chance.below(4))
        .map(|_| {
            let (path, word) = (chance.path(), chance.word());
            match chance.below(8) {
                0 => format!("[[{path}]]"),
                1 => format!("[[{word}]]"),
                2 => format!("[[{}|so]]", path.trim_end_matches(".md")),
                3 => format!("[so](../{path})"),
                4 => format!("[so](./{word}.md)"),
                5 => format!("![[{word}.md#part]]"),
                6 => format!("[so](../{})", ["a/", "people", "moved/in/"][chance.below(3)]),
                _ => format!("[so](</{path}>)"),
            }
        })
        .collect();
    format!("# {}\n\n{}\n", chance.word(), links.join("\n\n"))
}

/// With an index a rename looks only into the notes that may have such links; without, into all.
#[test]
fn a_rename_writes_the_same_links_anew_with_an_index_as_without() {
    let (env, other) = (Env::new().quick(), Env::new().quick());
    let mut chance = Chance(number("MEMDIR_INDEX_EDITS", 200));
    for _ in 0..120 {
        let (path, text) = (chance.path(), linked_text(&mut chance));
        env.write(&path, &text);
        other.write(&path, &text);
    }
    env.ask(&["search", "amber"]).exits(0);
    let (with, without) = (engine::indexed(env.memory(), IndexPlace::File(file(&env))), engine::open(other.memory()));
    let mut relinked = 0;
    for at in 0..80 {
        let (old, new) = match chance.below(8) {
            0 => (
                ["a", "people", "moved"][chance.below(3)].to_owned(),
                ["moved/in", "a", "people"][chance.below(3)].to_owned(),
            ),
            1 => (chance.path(), format!("{}.md.md", chance.word())),
            _ => (chance.path(), chance.path()),
        };
        let rename = json!([{"action": "rename_file", "path": old, "new_path": new}]);
        let (ours, theirs) = (engine::exec(&with, &rename), engine::exec(&without, &rename));
        assert_eq!(ours["actions"][0]["ok"], theirs["actions"][0]["ok"], "{at}: {ours} {theirs}");
        assert_eq!(ours["changed"], theirs["changed"], "{rename} after {at}");
        assert_eq!(env.files(), other.files(), "{rename} after {at}");
        relinked += usize::from(ours["changed"].as_array().unwrap().len() > 2);
    }
    assert!(relinked > 10, "{relinked} wrote links anew");
}

/// What an index says that is wrong shows that it was asked, and that no other note was read.
#[test]
fn a_rename_reads_no_notes_but_those_that_the_index_names() {
    let env = Env::with(&[("a.md", "a\n"), ("b.md", "[[a]]\n"), ("c.md", "[[a]]\n")]).quick();
    env.act(&json!({"action": "create_file", "path": "d.md", "content": "d\n"}));
    let rename = |from: &str, to: &str| env.act(&json!({"action": "rename_file", "path": from, "new_path": to}));
    assert_eq!(rename("a.md", "e.md")["ok"], true);
    let links = || [env.read("b.md"), env.read("c.md")];
    assert_eq!(links(), ["[[e]]\n", "[[e]]\n"], "without an index, which a rename does not build");
    assert!(!env.home().join(".cache/memdir").exists() || !file(&env).exists());
    // Files that are young are not believed, and read once more by each search.
    let started = Instant::now();
    let (mut index, known) = loop {
        env.ask(&["search", "amber"]).exits(0);
        let index = shared(&env);
        let known = index.known().unwrap();
        if known.iter().all(|swept| swept.stamp != Stamp::default()) {
            break (index, known);
        }
        assert!(started.elapsed() < PATIENCE, "{known:?}");
    };
    let swept = known.iter().find(|swept| swept.path.as_str() == "c.md").unwrap();
    let mut writing = index.write().unwrap();
    writing.put(swept, Some(&NoteRecord::of(&swept.path, "nothing\n", Vec::new()))).unwrap();
    writing.commit().unwrap();
    assert_eq!(rename("e.md", "f.md")["ok"], true);
    assert_eq!(links(), ["[[f]]\n", "[[e]]\n"]);
}
