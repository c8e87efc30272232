//! The index that the server builds in the background: questions are answered meanwhile, and by it once it is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use memdir_index::Index;
use serde_json::{Value, json};

use crate::support::rpc::{Client, LEGACY, MODERN};
use crate::support::{Env, PATIENCE};

/// More than a question would put into an index.
const MANY: usize = 2_050;

/// A memory of many notes, every hundredth of which holds a word that no other has.
fn memory(count: usize) -> Env {
    let env = Env::new().quick();
    for number in 0..count {
        let word = if number % 100 == 7 { "wolframite" } else { "feldspar" };
        env.write(&format!("n{}/{number}.md", number % 20), format!("# Note {number}\n\n- holds: {word}\n"));
    }
    env
}

/// The notes that hold a word, as their texts say.
fn holding(env: &Env, word: &str) -> BTreeSet<String> {
    env.files().into_iter().filter(|(_, text)| text.contains(word)).map(|(path, _)| path).collect()
}

/// What the server finds, and whether by the index.
#[track_caller]
fn found(client: &mut Client, word: &str) -> (BTreeSet<String>, String) {
    let answer = client.call("search_files", json!({"query": word, "limit": 100}))["structuredContent"].clone();
    let value = &answer["value"];
    let hits = value["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let paths = hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect();
    (paths, value["source"].as_str().unwrap().to_owned())
}

/// Asks until something holds.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what}");
    }
}

/// Searches until the index answers; whatever answers finds what is there.
#[track_caller]
fn until_indexed(env: &Env, client: &mut Client) {
    let expected = holding(env, "wolframite");
    until("the index is not built", || {
        let (paths, source) = found(client, "wolframite");
        assert_eq!(paths, expected, "{source}");
        source == "index"
    });
}

/// The file of the index, where there is one.
fn file(env: &Env) -> Option<PathBuf> {
    let mut folders = fs::read_dir(env.home().join(".cache/memdir")).ok()?;
    folders.next().map(|folder| folder.unwrap().path().join("index.sqlite"))
}

#[test]
fn questions_are_answered_by_an_index_once_the_server_has_built_it() {
    let env = memory(MANY);
    let mut client = Client::open(&env, MODERN, &[]);
    assert_eq!(found(&mut client, "wolframite"), (holding(&env, "wolframite"), "scan".to_owned()));
    // While it is being built, whatever comes first.
    env.write("n3/103.md", "now of scheelite\n");
    assert_eq!(found(&mut client, "scheelite").0, holding(&env, "scheelite"));
    until_indexed(&env, &mut client);
    assert_eq!(found(&mut client, "scheelite").0, holding(&env, "scheelite"));
    // The system tells of an edit a moment after it is made.
    env.write("n4/104.md", "cassiterite\n");
    until("an outside edit is not found", || {
        found(&mut client, "cassiterite") == (holding(&env, "cassiterite"), "index".to_owned())
    });
    client.call("remember", json!({"note": "own.md", "text": "columbite"}));
    assert_eq!(found(&mut client, "columbite").0, holding(&env, "columbite"), "its own are found at once");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_small_memory_gets_its_index_too_and_exec_uses_it() {
    let env = memory(30);
    let mut client = Client::open(&env, MODERN, &[]);
    until_indexed(&env, &mut client);
    assert_eq!(client.close().code, 0);
    let value = env.act(&json!({"action": "search_files", "query": "wolframite"}))["value"].clone();
    assert_eq!((&value["source"], &value["total"]), (&json!("index"), &json!(1)), "{value}");
}

#[cfg(unix)]
#[test]
fn a_build_that_is_killed_is_gone_on_with_by_the_next_server() {
    let env = memory(MANY);
    let mut client = Client::open(&env, MODERN, &[]);
    found(&mut client, "wolframite");
    until("no index is begun", || {
        client.result("tools/list", json!({}));
        file(&env).is_some_and(|file| file.is_file())
    });
    client.signal(rustix::process::Signal::KILL);
    client.end();
    let checks = env.ask(&["doctor"]).json()["checks"].clone();
    let index = checks.as_array().unwrap().iter().find(|check| check["name"] == "index").unwrap();
    assert!(index["message"].as_str().unwrap().starts_with("is half built"), "{index}");
    let mut client = Client::open(&env, MODERN, &[]);
    until_indexed(&env, &mut client);
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_server_that_ends_does_not_wait_for_the_index() {
    let env = memory(MANY);
    let mut client = Client::open(&env, MODERN, &[]);
    found(&mut client, "wolframite");
    until("no index is begun", || {
        client.result("tools/list", json!({}));
        file(&env).is_some_and(|file| file.is_file())
    });
    let ended = client.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let mut client = Client::open(&env, MODERN, &[]);
    until_indexed(&env, &mut client);
}

#[test]
fn where_no_index_can_be_kept_notes_are_read_and_the_log_says_so_once() {
    let env = memory(120);
    fs::write(env.home().join(".cache"), "in the way").unwrap();
    let log = env.base().join("memdir.log");
    let mut client = Client::open(&env, MODERN, &["--log", log.to_str().unwrap()]);
    let told = || fs::read_to_string(&log).unwrap().lines().filter(|line| line.contains("the index")).count();
    until("nothing was told", || {
        assert_eq!(found(&mut client, "wolframite"), (holding(&env, "wolframite"), "scan".to_owned()));
        told() > 0
    });
    (0..20).for_each(|_| assert_eq!(found(&mut client, "wolframite").1, "scan"));
    assert_eq!(client.close().code, 0);
    assert_eq!(told(), 1, "{}", fs::read_to_string(&log).unwrap());
}

#[test]
fn while_another_process_builds_the_index_the_server_does_not() {
    let env = memory(120);
    env.ask(&["search", "wolframite"]).exits(0);
    let file = file(&env).unwrap();
    let lock = Index::lock_build(&file).unwrap().expect("nobody builds");
    Index::remove(&file).unwrap();
    let log = env.base().join("memdir.log");
    let mut one = Client::open(&env, MODERN, &["--log", log.to_str().unwrap()]);
    until("it does not try", || {
        assert_eq!(found(&mut one, "wolframite").1, "scan");
        fs::read_to_string(&log).unwrap().contains("another process builds the index")
    });
    assert!(!file.exists());
    drop(lock);
    let mut other = Client::open(&env, LEGACY[1], &[]);
    until_indexed(&env, &mut one);
    until_indexed(&env, &mut other);
    // What one writes, the other finds.
    one.call("remember", json!({"note": "own.md", "text": "columbite"}));
    assert_eq!(found(&mut other, "columbite"), (holding(&env, "columbite"), "index".to_owned()));
    assert_eq!((one.close().code, other.close().code), (0, 0));
}

#[test]
fn who_was_granted_a_part_is_answered_without_an_index() {
    let env = memory(120);
    env.ask(&["search", "wolframite"]).exits(0);
    env.ask(&["client", "add", "desk", "--read", "n7/**"]).exits(0);
    let mut client = Client::open(&env, MODERN, &["--client", "desk"]);
    let expected: BTreeSet<_> =
        holding(&env, "wolframite").into_iter().filter(|path| path.starts_with("n7/")).collect();
    (0..5).for_each(|_| assert_eq!(found(&mut client, "wolframite"), (expected.clone(), "scan".to_owned())));
    let none: Value = client.call("search_files", json!({"query": "columbite"}))["structuredContent"].clone();
    assert_eq!(none["value"]["hits"], json!([]));
}
