//! `audit` and `forget` through the binary: what they print, and that what is forgotten is nowhere.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Env, see};

/// A memory in which a person is known under two names, in notes, links, the trash and the history.
pub(crate) fn jane() -> Env {
    let env = Env::with(&[
        ("user.md", "# Ada\n\n- friend: [[jane_doe|Jane]]\n- city: London\n"),
        ("other.md", "nothing of note\n"),
        (".trash/jane_doe.md", "Jane, thrown away\n"),
        (".trash/people/jane.md", "Jane, thrown away earlier\n"),
    ]);
    env.exec(
        &json!([{"action": "create_file", "path": "people/jane.md", "content": "# Zanzibar\n\n- secret: xylophone\n"}]),
    );
    env.exec(&json!([{"action": "create_dir", "path": "entities"}]));
    env.exec(&json!([{"action": "rename_file", "path": "people/jane.md", "new_path": "entities/jane_doe.md"}]));
    let long = "long xylophone ".repeat(1000);
    env.exec(&json!([
        {"action": "append_file", "path": "entities/jane_doe.md", "content": long},
        {"action": "append_file", "path": "user.md", "content": "- met [[entities/jane_doe.md]] again"},
        {"action": "read_file", "path": "entities/jane_doe.md"},
    ]));
    env.exec(&json!([{"action": "append_file", "path": "other.md", "content": "more"}]));
    env
}

/// The files below the memory, every one, in which a text stands.
pub(crate) fn files_with(env: &Env, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let seen = see(env.memory()).into_iter();
    seen.filter(|(path, seen)| path.contains(text) || seen.bytes.as_deref().is_some_and(holds))
        .map(|(path, _)| path)
        .collect()
}

fn places(found: &Value) -> BTreeMap<String, u64> {
    let places = found["places"].as_array().unwrap().iter();
    let counted = places.map(|place| {
        let path = place["path"].as_str().unwrap_or("-");
        (format!("{} {path}", place["where"].as_str().unwrap()), place["count"].as_u64().unwrap())
    });
    counted.collect()
}

#[test]
fn an_empty_chain_is_whole() {
    let env = Env::ada();
    let before = env.seen();
    let zeros = format!("sha256:{}", "0".repeat(64));
    assert_eq!(env.ask(&["audit", "head"]).exits(0), json!({"seq": 0, "head": zeros}));
    let expected = json!({"ok": true, "entries": 0, "forgotten": 0, "head": zeros, "problems": []});
    assert_eq!(env.ask(&["audit", "verify"]).exits(0), expected);
    assert_eq!(env.run(&["audit", "export", "--jsonl"], "").stdout, "");
    assert_eq!(env.seen(), before);
}

#[test]
fn a_chain_is_verified_exported_and_compared_with_a_head() {
    let env = jane();
    let head = env.ask(&["audit", "head"]).exits(0);
    let verified = env.ask(&["audit", "verify"]).exits(0);
    assert_eq!((&verified["ok"], &verified["head"], &verified["entries"]), (&json!(true), &head["head"], &head["seq"]));
    let exported = env.run(&["audit", "export", "--jsonl"], "");
    let lines: Vec<Value> = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len() as u64, head["seq"].as_u64().unwrap());
    assert_eq!(lines.last().unwrap()["hash"], head["head"]);
    assert_eq!(lines[0]["payload"]["path"], "people/jane.md");
    assert!(lines.windows(2).all(|pair| pair[1]["previous"] == pair[0]["hash"]));
    assert_eq!(env.run(&["audit", "export"], "").stdout, exported.stdout);
    env.exec(&json!([{"action": "append_file", "path": "other.md", "content": "later"}]));
    let hex = head["head"].as_str().unwrap().trim_start_matches("sha256:");
    for given in [hex, head["head"].as_str().unwrap()] {
        let later = env.ask(&["audit", "verify", "--head", given]).exits(0);
        assert_eq!(later["since"], json!(1), "{later}");
    }
    let unknown = env.ask(&["audit", "verify", "--head", &"ab".repeat(32)]).exits(7);
    assert_eq!(
        (&unknown["ok"], &unknown["problems"][0]["seq"], unknown.get("error")),
        (&json!(false), &json!(null), None)
    );
    assert_eq!(env.ask(&["audit", "verify", "--head", "abc"]).exits(2)["error"]["code"], "usage");
}

#[test]
fn a_forgotten_note_is_nowhere() {
    let env = jane();
    let listed = env.ask(&["forget", "entities/jane_doe.md", "--dry-run"]).exits(0);
    assert_eq!(listed["erased"], json!(false));
    assert!(!files_with(&env, "Zanzibar").is_empty());
    let forgotten = env.ask(&["forget", "entities/jane_doe.md", "--yes"]).exits(0);
    assert_eq!(forgotten["erased"], json!(true));
    assert_eq!(forgotten["places"], listed["places"]);
    assert_eq!(forgotten["left"], json!([]));
    let places = places(&forgotten);
    for place in ["note entities/jane_doe.md", "link user.md", "trash .trash/jane_doe.md", "audit -", "history user.md"]
    {
        assert!(places.contains_key(place), "{place}: {places:?}");
    }
    for text in ["Zanzibar", "xylophone", "jane", "Jane", "thrown"] {
        assert_eq!(files_with(&env, text), [""; 0], "{text}");
    }
    assert_eq!(env.read("user.md"), "# Ada\n\n- friend: \n- city: London\n- met  again\n");
    let verified = env.ask(&["audit", "verify"]).exits(0);
    assert!(verified["forgotten"].as_u64().unwrap() >= 4, "{verified}");
    // What is left of the history still answers.
    let log = env.ask(&["log", "-p"]).exits(0);
    assert!(log["entries"].as_array().unwrap().iter().any(|entry| entry["actions"][0]["path"].is_null()), "{log}");
    assert_eq!(env.ask(&["undo", "4"]).exits(4)["error"]["code"], "unavailable");
    assert_eq!(env.ask(&["restore", "user.md", "--at", "4"]).exits(4)["error"]["code"], "unavailable");
    env.ask(&["undo", "5"]).exits(0);
    env.exec(&json!([{"action": "append_file", "path": "other.md", "content": "and on"}]));
    assert_eq!(env.ask(&["forget", "entities/jane_doe.md", "--yes"]).exits(4)["error"]["code"], "not_found");
    assert_eq!(env.ask(&["doctor"]).exits(0)["checks"][0]["status"], "ok");
}

#[test]
fn nothing_is_erased_where_nobody_can_be_asked() {
    let env = jane();
    let before = env.files();
    for target in [&["entities/jane_doe.md"][..], &["--text", "xylophone"], &["entities/jane_doe.md", "--lines"]] {
        let listed = env.ask(&[&["forget", "--dry-run"], target].concat()).exits(0);
        let refused = env.ask(&[&["forget"], target].concat()).exits(2);
        assert_eq!(refused["error"]["code"], "usage", "{refused}");
        assert_eq!((&refused["places"], &refused["lines"]), (&listed["places"], &listed["lines"]));
        let piped = env.run(&[&["forget"], target].concat(), "y\n");
        assert_eq!((piped.code, piped.stdout.lines().count() >= listed["places"].as_array().unwrap().len()), (2, true));
        assert!(piped.stderr.contains("nothing was erased") && piped.stderr.contains("--yes"), "{}", piped.stderr);
        assert!(env.files() == before);
    }
}

/// What a line says of somebody would still be told if only the link in it went.
#[test]
fn the_lines_that_speak_of_a_note_are_listed_and_go_where_that_is_wanted() {
    let notes = [
        ("ex.md", "---\naliases: [Robin Hart]\n---\n# Ex\n\nsecret\n"),
        ("user.md", "# Ada\n\n- dated: [[ex]]\n- city: London\n- Robin Hart's number is gone\n- robins sing\n"),
        ("diary.md", "met [him](ex.md) in June\nand then it rained\n"),
    ];
    let lines = |listed: &Value| -> Vec<(String, u64)> {
        let lines = listed["lines"].as_array().unwrap().iter();
        lines.map(|line| (line["path"].as_str().unwrap().to_owned(), line["line"].as_u64().unwrap())).collect()
    };
    let told = [("diary.md".to_owned(), 1), ("user.md".to_owned(), 3), ("user.md".to_owned(), 5)];
    let env = Env::with(&notes);
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- tea: green"}]));
    assert_eq!(lines(&env.ask(&["forget", "ex.md", "--dry-run"]).exits(0)), told);
    let kept = env.ask(&["forget", "ex.md", "--yes"]).exits(0);
    assert_eq!(lines(&kept), told);
    let left = "# Ada\n\n- dated: \n- city: London\n- Robin Hart's number is gone\n- robins sing\n- tea: green\n";
    assert_eq!(env.read("user.md"), left);

    let env = Env::with(&notes);
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- tea: green"}]));
    assert_eq!(lines(&env.ask(&["forget", "ex.md", "--lines", "--yes"]).exits(0)), told);
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n- robins sing\n- tea: green\n");
    assert_eq!(env.read("diary.md"), "and then it rained\n");
    for text in ["dated:", "Robin", "June"] {
        assert_eq!(files_with(&env, text), [""; 0], "{text}");
    }
    env.ask(&["audit", "verify"]).exits(0);
}

#[test]
fn a_text_that_begins_like_an_option_can_be_forgotten() {
    let env = Env::with(&[("a.md", "- xylophone\n- other\n")]);
    env.ask(&["forget", "--text", "- xylophone", "--yes"]).exits(0);
    assert_eq!(env.read("a.md"), "- other\n");
}

/// What is refused as a secret is nowhere, as a name neither.
#[test]
fn a_secret_in_a_path_that_is_refused_is_not_kept() {
    let env = jane();
    let secret = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    for action in ["create_file", "read_file", "delete_file"] {
        env.say(
            &crate::support::said(&json!([{"action": action, "path": format!("{secret}.md"), "content": "x"}])),
            &[],
        );
        env.say(
            &crate::support::said(&json!([{"action": action, "path": format!("{secret}.md")}])),
            &["--permission", "all"],
        );
    }
    assert_eq!(files_with(&env, &secret), [""; 0]);
    env.ask(&["audit", "verify"]).exits(0);
}

#[test]
fn a_longer_name_is_not_said_to_be_left() {
    let env = Env::with(&[("data.md", "# Data\n"), ("x/a.md", "# X\n")]);
    for path in ["data.md", "x/a.md"] {
        env.exec(&json!([{"action": "append_file", "path": path, "content": "more"}]));
    }
    env.exec(&json!([{"action": "create_file", "path": "a.md", "content": "one"}]));
    assert_eq!(env.ask(&["forget", "a.md", "--yes"]).exits(0)["left"], json!([]));
}

#[test]
fn links_go_by_where_they_lead() {
    let env = jane();
    env.write("deep/other/jane_doe.md", "another one\n");
    env.write(
        "deep/notes.md",
        "[[other/jane_doe]] [[jane_doe]] [j](../entities/jane_doe.md) `[[entities/jane_doe]]`\n",
    );
    env.write("deep/old.md", "- [[people/jane]]\n");
    let forgotten = env.ask(&["forget", "entities/jane_doe.md", "--yes"]).exits(0);
    assert_eq!(env.read("deep/notes.md"), "[[other/jane_doe]] [[jane_doe]]  `[[entities/jane_doe]]`\n");
    assert_eq!(env.read("deep/old.md"), "");
    assert_eq!(env.read("deep/other/jane_doe.md"), "another one\n");
    assert_eq!(places(&forgotten).get("link deep/notes.md"), Some(&1));
}

#[test]
fn a_history_that_was_pruned_keeps_nothing_in_its_free_pages() {
    let env = Env::new().quick().settings("[history]\nkeep_bytes = 0\n");
    for number in 0..40 {
        env.exec(&json!([{"action": "write_file", "path": format!("n{number}.md"), "content": format!("xylophone {number}")}]));
        env.exec(&json!([{"action": "write_file", "path": format!("n{number}.md"), "content": "nothing"}]));
    }
    env.ask(&["forget", "--text", "xylophone", "--yes"]).exits(0);
    assert_eq!(files_with(&env, "xylophone"), [""; 0]);
}

#[test]
fn a_note_that_is_gone_or_was_renamed_is_found_in_the_history() {
    let env = jane();
    let renamed = env.ask(&["forget", "people/jane.md", "--yes"]).exits(4);
    assert!(renamed["error"]["message"].as_str().unwrap().contains("`entities/jane_doe.md` now"), "{renamed}");
    env.exec(&json!([{"action": "delete_file", "path": "entities/jane_doe.md"}]));
    env.ask(&["forget", "people/jane.md", "--yes"]).exits(0);
    for text in ["Zanzibar", "xylophone", "jane"] {
        assert_eq!(files_with(&env, text), [""; 0], "{text}");
    }
}

#[test]
fn another_note_that_has_or_had_the_name_keeps_its_history() {
    let two_called_a = || {
        let env = Env::new();
        env.exec(&json!([{"action": "create_file", "path": "a.md", "content": "first xylophone\n"}]));
        env.exec(&json!([{"action": "rename_file", "path": "a.md", "new_path": "b.md"}]));
        env.exec(&json!([{"action": "create_file", "path": "a.md", "content": "second zither\n"}]));
        env.exec(&json!([{"action": "append_file", "path": "a.md", "content": "more"}]));
        env.exec(&json!([{"action": "append_file", "path": "b.md", "content": "more"}]));
        env
    };
    let batches = |env: &Env, note: &str| -> Vec<u64> {
        let log = env.ask(&["log", note]).exits(0);
        log["entries"].as_array().unwrap().iter().map(|entry| entry["batch"].as_u64().unwrap()).collect()
    };
    let paths =
        |env: &Env, batch: usize| env.ask(&["log"]).exits(0)["entries"][5 - batch]["actions"][0]["path"].clone();

    let env = two_called_a();
    env.ask(&["forget", "b.md", "--yes"]).exits(0);
    assert_eq!(files_with(&env, "xylophone"), [""; 0]);
    assert_eq!(batches(&env, "a.md"), [4, 3]);
    assert_eq!([1, 3, 4, 5].map(|batch| paths(&env, batch)), [json!(null), json!("a.md"), json!("a.md"), json!(null)]);
    env.ask(&["undo", "4"]).exits(0);
    assert_eq!(env.read("a.md"), "second zither\n");

    let env = two_called_a();
    env.ask(&["forget", "a.md", "--yes"]).exits(0);
    assert_eq!(files_with(&env, "zither"), [""; 0]);
    assert_eq!(batches(&env, "b.md"), [5, 2, 1]);
    assert_eq!([1, 3, 4, 5].map(|batch| paths(&env, batch)), [json!("a.md"), json!(null), json!(null), json!("b.md")]);
    env.ask(&["undo", "5"]).exits(0);
    assert_eq!(env.read("b.md"), "first xylophone\n");
}

#[test]
fn a_forgotten_text_is_nowhere() {
    let env = jane();
    env.write("data.csv", "a,xylophone\n");
    env.write(".trash/old.md", "- xylophone\nrest\n");
    env.write(".git/packed", b"\xff\x00xylophone");
    env.write(".memdir/0123456789abcdef/history.sqlite", b"...xylophone...");
    env.write(".memdir-3-0.tmp", "a xylophone that a crash has left");
    let forgotten = env.ask(&["forget", "--text", "xylophone", "--yes"]).exits(0);
    let places = places(&forgotten);
    let expected = [
        ("note entities/jane_doe.md", 1001),
        ("file data.csv", 1),
        ("file .git/packed", 1),
        ("file .memdir-3-0.tmp", 1),
        ("trash .trash/old.md", 1),
        ("state .memdir/0123456789abcdef/history.sqlite", 1),
    ];
    for (place, count) in expected {
        assert_eq!(places.get(place), Some(&count), "{place}: {places:?}");
    }
    assert!(places.keys().any(|place| place.starts_with("history ")) && places.contains_key("audit -"), "{places:?}");
    assert_eq!(files_with(&env, "xylophone"), [".git/packed", ".memdir/0123456789abcdef/history.sqlite"]);
    assert_eq!(forgotten["left"].as_array().unwrap().len(), 2, "{forgotten}");
    assert_eq!(env.read("data.csv"), "a,\n");
    assert_eq!(env.read(".trash/old.md"), "rest\n");
    let verified = env.ask(&["audit", "verify"]).exits(0);
    assert!(verified["forgotten"].as_u64().unwrap() >= 2, "{verified}");
    assert_eq!(env.ask(&["forget", "--text", "glockenspiel", "--yes"]).exits(4)["error"]["code"], "not_found");
}

#[test]
fn a_text_in_a_name_or_in_a_binary_file_is_refused_before_anything_is_erased() {
    for (name, content) in [("xylophone.md", &b"x"[..]), ("image.bin", b"\xff\xfexylophone"), ("xylophone/a.md", b"")] {
        let env = jane();
        env.write(name, content);
        let before = env.files();
        let refused = env.ask(&["forget", "--text", "xylophone", "--yes"]).exits(4);
        assert_eq!(refused["error"]["code"], "conflict", "{refused}");
        let said = name.split('/').next().unwrap();
        assert!(refused["error"]["message"].as_str().unwrap().contains(&format!("`{said}`")), "{refused}");
        assert_eq!(env.files(), before);
        assert!(!files_with(&env, "xylophone").is_empty());
    }
}

/// The name of the folder is no text, and the file of another folder has what it looks like.
#[cfg(target_os = "linux")]
#[test]
fn a_file_below_a_folder_without_a_name_is_not_taken_for_another() {
    use std::os::unix::ffi::OsStrExt;
    let env = Env::with(&[("x\u{fffd}/a.md", "theirs\n")]);
    let folder = env.memory().join(std::ffi::OsStr::from_bytes(b"x\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.md"), "a xylophone\n").unwrap();
    assert_eq!(env.ask(&["forget", "--text", "xylophone", "--yes"]).exits(4)["error"]["code"], "conflict");
    assert_eq!(env.ask(&["forget", "x\u{fffd}/a.md", "--yes"]).exits(0)["places"].as_array().unwrap().len(), 1);
    assert_eq!(std::fs::read_to_string(folder.join("a.md")).unwrap(), "a xylophone\n");
}

#[test]
fn a_history_from_before_the_state_lay_elsewhere_is_told() {
    let env = Env::with(&[("a.md", "one\n")]);
    env.exec(&json!([{"action": "append_file", "path": "a.md", "content": "xylophone"}]));
    let state = env.base().join("elsewhere");
    std::fs::create_dir(&state).unwrap();
    let forgotten = env.ask(&["forget", "--text", "xylophone", "--state", state.to_str().unwrap(), "--yes"]).exits(0);
    assert_eq!(forgotten["left"][0]["where"], "state", "{forgotten}");
    env.ask(&["forget", "--text", "xylophone", "--yes"]).exits(0);
    assert_eq!(files_with(&env, "xylophone"), [""; 0]);
}

#[test]
fn no_digest_of_a_text_that_was_not_written_is_kept() {
    let env = jane();
    let long = "a long text about a theremin ".repeat(20);
    env.exec(&json!([
        {"action": "create_file", "path": "other.md", "content": long},
        {"action": "append_file", "path": "other.md", "content": long},
    ]));
    let content = |code: Value| {
        let exported = env.run(&["audit", "export"], "").stdout;
        let mut entries = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.find(|entry| entry["batch"] == 6 && entry["code"] == code).unwrap()["payload"]["arguments"]["content"]
            .clone()
    };
    assert_eq!(content(json!("already_exists")), json!({"bytes": 580}));
    assert!(content(json!(null))["digest"].is_string());
    env.ask(&["forget", "--text", "theremin", "--yes"]).exits(0);
    assert_eq!(content(json!(null)), json!(null));
}

/// Notes that begin empty have that content in common, and no more.
#[test]
fn that_a_note_was_empty_is_not_forgotten_for_others() {
    let env = Env::new();
    for note in ["x.md", "y.md"] {
        env.exec(&json!([{"action": "create_file", "path": note, "content": ""}]));
        env.exec(&json!([{"action": "append_file", "path": note, "content": note}]));
    }
    env.ask(&["forget", "x.md", "--yes"]).exits(0);
    assert_eq!(env.ask(&["log", "--lines", "y.md"]).exits(0)["lines"][0]["batch"], json!(4));
    env.ask(&["undo", "4"]).exits(0);
    assert_eq!(env.read("y.md"), "");
}

#[test]
fn what_cannot_be_forgotten_is_said_and_nothing_is_made() {
    let env = Env::ada();
    let before = env.seen();
    for (arguments, code, word) in [
        (&["forget", "--text", "on"][..], 2, "usage"),
        (&["forget", "--text", "健"], 2, "usage"),
        (&["forget", "--text", ""], 2, "usage"),
        (&["forget"], 2, "usage"),
        (&["forget", "user.md", "--text", "abc"], 2, "usage"),
        (&["forget", "entities"], 4, "is_a_directory"),
        (&["forget", "gone.md"], 4, "not_found"),
        (&["forget", "gone.md", "--dry-run"], 4, "not_found"),
        (&["forget", "../x.md"], 4, "invalid_path"),
        (&["forget", "--text", "nowhere"], 4, "not_found"),
    ] {
        assert_eq!(env.ask(arguments).exits(code)["error"]["code"], word, "{arguments:?}");
        assert_eq!(env.seen(), before, "{arguments:?}");
    }
}
