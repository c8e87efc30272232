//! `log`, `undo` and the rest: shapes, exit codes, and what they leave in a folder that they only read.

use std::io::Read;

use serde_json::{Value, json};

use crate::support::{Env, finish, mask, said};

#[test]
fn one_object_on_one_line_also_when_it_fails() {
    let env = Env::ada();
    let missing = env.base().join("nowhere");
    let cases: &[(&[&str], i32)] = &[
        (&["tree"], 0),
        (&["read", "user.md"], 0),
        (&["read", "gone.md"], 4),
        (&["read", "../x"], 4),
        (&["log"], 0),
        (&["diff"], 4),
        (&["undo"], 4),
        (&["restore", "user.md", "--at", "7"], 4),
        (&["actions"], 0),
        (&["schema"], 0),
        (&["doctor"], 0),
        (&["exec"], 2),
        (&["exec", "--dialect", "morse"], 2),
        (&["exec", "--no-such-option"], 2),
        (&["nonsense"], 2),
        (&["undo", "one"], 2),
        (&["restore", "user.md"], 2),
        (&["log", "--cursor", "x"], 2),
        (&[], 0),
    ];
    for (arguments, code) in cases {
        let ran = env.ask(arguments);
        assert_eq!(ran.code, *code, "{arguments:?} {ran:?}");
        let value = ran.json();
        if *code != 0 {
            let error = &value["error"];
            assert!(error["code"].is_string() && error["message"].is_string(), "{arguments:?} {value}");
            assert!(error.as_object().unwrap().contains_key("hint"), "{value}");
        }
        if *code == 2 && *arguments != ["exec"] {
            assert_eq!(value["error"]["code"], json!("usage"), "{arguments:?}");
        }
        assert!(
            !ran.stdout.contains(env.base().to_str().unwrap()) || matches!(arguments, [] | ["doctor"]),
            "{arguments:?}"
        );
    }
    let lost = finish(env.bare(&["tree", "--json", "--memory", missing.to_str().unwrap()]), b"");
    assert_eq!(lost.exits(4)["error"]["code"], json!("not_found"));
    assert!(!missing.exists(), "a memory that does not exist is not made");
}

#[test]
fn commands_that_read_create_nothing() {
    let env = Env::ada();
    let before = env.seen();
    let reads =
        said(&json!([{"action": "read_file", "path": "user.md"}, {"action": "get_history", "path": "user.md"}]));
    let commands: &[&[&str]] = &[
        &["tree"],
        &["tree", "entities"],
        &["read", "user.md"],
        &["log"],
        &["log", "user.md", "-p"],
        &["log", "--lines", "user.md"],
        &["links"],
        &["links", "user.md"],
        &["facts"],
        &["check"],
        &["diff"],
        &["undo"],
        &["undo", "--dry-run"],
        &["restore", "user.md", "--at", "1"],
        &["actions"],
        &["schema"],
    ];
    for arguments in commands {
        env.run(arguments, "");
        env.ask(arguments);
        assert_eq!(env.seen(), before, "{arguments:?}");
    }
    for more in [&[][..], &["--dry-run"], &["--atomic"], &["--read-only"]] {
        env.say(&reads, more).exits(0);
        assert_eq!(env.seen(), before, "{more:?}");
    }
    assert!(!env.at(".memdir").exists());
}

#[test]
fn doctor_leaves_no_file_behind() {
    let env = Env::ada();
    let before = env.files();
    let checks = env.ask(&["doctor"]).exits(0);
    for check in checks["checks"].as_array().unwrap() {
        assert!(["ok", "warn", "fail"].contains(&check["status"].as_str().unwrap()), "{check}");
        assert!(check["name"].is_string() && check["message"].is_string(), "{check}");
        assert!(check.as_object().unwrap().contains_key("hint"), "{check}");
    }
    assert_eq!(env.files(), before);
    assert!(!env.at(".memdir").exists());
}

#[test]
fn adopting_a_folder_changes_no_byte() {
    let env = Env::ada();
    env.write("crlf.md", "\u{feff}# A\r\n\r\nno end");
    let before = env.seen();
    let made = env.ask(&["init"]).exits(0);
    let alone = "no link leads to `crlf.md`, and none from it";
    let orphan = json!({"kind": "orphan", "path": "crlf.md", "line": null, "target": null, "message": alone, "action": null, "sides": []});
    assert_eq!(made, json!({"created": [], "notes": 3, "links": 1, "findings": [orphan]}));
    assert_eq!(env.seen(), before);
}

#[test]
fn a_new_memory_is_made_from_the_template_and_can_be_undone() {
    let env = Env::new();
    let folder = env.base().join("fresh");
    let folder = folder.to_str().unwrap();
    let made = finish(env.bare(&["init", "--json", folder]), b"").exits(0);
    assert_eq!(made["created"], json!(["daily/first-day.md", "entities/memdir.md", "user.md"]));
    assert_eq!((&made["notes"], &made["findings"]), (&json!(3), &json!([])));
    assert!(made["links"].as_u64().unwrap() > 0);
    let undone = finish(env.bare(&["undo", "1", "--json", "--memory", folder]), b"").exits(0);
    assert_eq!(undone["undone"], json!(1));
    let tree = finish(env.bare(&["tree", "--json", "--memory", folder]), b"").exits(0);
    assert_eq!(tree, json!({"entries": [], "total": 0, "cursor": null}));
}

#[test]
fn tree_and_read_have_their_shapes() {
    let env = Env::ada();
    let tree = env.ask(&["tree"]).exits(0);
    let expected = json!({"entries": [
        {"path": "entities", "kind": "directory", "size": 0},
        {"path": "entities/acme.md", "kind": "file", "size": 66},
        {"path": "user.md", "kind": "file", "size": 22},
    ], "total": 3, "cursor": null});
    assert_eq!(tree, expected);
    let first = env.ask(&["tree", "--limit", "2"]).exits(0);
    let second = env.ask(&["tree", "--limit", "2", "--cursor", first["cursor"].as_str().unwrap()]).exits(0);
    assert_eq!((&second["entries"][0]["path"], &second["cursor"]), (&json!("user.md"), &Value::Null));
    std::fs::write(env.at("O'Hara it.md"), "- a: 1\n- b: 2\n").unwrap();
    let facts = env.run(&["facts", "O'Hara it", "-n", "1"], "");
    assert!(facts.stderr.contains("go on with --cursor \"O'Hara it.md:1\"\n"), "{}", facts.stderr);
    let read = env.ask(&["read", "user.md"]).exits(0);
    let text = "# Ada\n\n- city: London\n";
    assert_eq!(mask(read), json!({"path": "user.md", "text": text, "digest": "sha256:…"}));
    assert_eq!(env.run(&["read", "user.md"], "").stdout, text, "a file gets the note byte for byte");
}

#[test]
fn the_log_is_newest_first_and_undo_can_be_undone() {
    let env = Env::ada();
    let city = |old: &str, new: &str| json!([{"action": "update_file", "path": "user.md", "old_content": old, "new_content": new}]);
    env.exec(&city("London", "Paris"));
    env.exec(
        &json!([{"action": "delete_file", "path": "entities/acme.md"}, {"action": "read_file", "path": "gone.md"}]),
    );
    assert_eq!(env.ask(&["undo"]).exits(0), json!({"undone": 2, "batch": 3, "changed": ["entities/acme.md"]}));
    let log = mask(env.ask(&["log"]).exits(0));
    let entry = |batch: u64, door: &str, undoes: Value, undone_by: Value, changed: &str, actions: Value| {
        json!({"batch": batch, "time": "…", "door": door, "client": null, "undoes": undoes, "undone_by": undone_by,
            "changed": [changed], "actions": actions})
    };
    let action = |index: u64, action: &str, path: Value, code: Value| json!({"index": index, "action": action, "path": path, "ok": code.is_null(), "code": code, "ms": "…"});
    let acme = json!("entities/acme.md");
    let expected = json!({"entries": [
        entry(3, "cli", json!(2), Value::Null, "entities/acme.md", json!([action(1, "undo", Value::Null, Value::Null)])),
        entry(2, "exec", Value::Null, json!(3), "entities/acme.md", json!([
            action(1, "delete_file", acme, Value::Null), action(2, "read_file", json!("gone.md"), json!("not_found")),
        ])),
        entry(1, "exec", Value::Null, Value::Null, "user.md", json!([action(1, "update_file", json!("user.md"), Value::Null)])),
    ], "cursor": null});
    assert_eq!(log, expected);
    assert_eq!(env.ask(&["undo", "3"]).exits(0)["undone"], json!(3), "an undo can be undone");
    assert!(!env.at("entities/acme.md").exists());
    let undone: Vec<Value> = (0..2).map(|_| env.ask(&["undo"]).exits(0)["undone"].clone()).collect();
    assert_eq!(undone, [2, 1], "batch 2 was brought back by the undo of its undo");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
    assert!(env.at("entities/acme.md").exists());
    assert_eq!(env.ask(&["undo"]).exits(4)["error"]["code"], json!("nothing_to_undo"));
}

#[test]
fn undo_that_meets_a_later_edit_shows_it() {
    let env = Env::ada();
    env.exec(&json!([{"action": "update_file", "path": "user.md", "old_content": "London", "new_content": "Paris"}]));
    env.write("user.md", "# Ada\n\n- city: Rome\n");
    let stopped = env.ask(&["undo"]).exits(4);
    assert_eq!(stopped["error"]["code"], json!("conflict"));
    assert!(stopped["diff"].as_str().unwrap().contains("Rome"), "{stopped}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Rome\n");
}

#[test]
fn diff_restore_and_log_with_diffs() {
    let env = Env::ada();
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: dog"}]));
    let diff = env.ask(&["diff", "1"]).exits(0);
    assert_eq!((&diff["batch"], &diff["changed"]), (&json!(1), &json!(["user.md"])));
    assert!(diff["diff"].as_str().unwrap().contains("+- pet: cat"));
    assert_eq!(env.ask(&["diff"]).exits(0)["batch"], json!(2));
    let log = env.ask(&["log", "-p", "--limit", "1"]).exits(0);
    assert!(log["entries"][0]["diff"].as_str().unwrap().contains("+- pet: dog"), "{log}");
    let older = env.ask(&["log", "--cursor", log["cursor"].as_str().unwrap()]).exits(0);
    assert_eq!(older["entries"][0]["batch"], json!(1));
    let restored = env.ask(&["restore", "user.md", "--at", "1"]).exits(0);
    assert_eq!(restored, json!({"restored": "user.md", "at": 1, "batch": 3, "changed": ["user.md"]}));
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n- pet: cat\n");
    let dry = env.ask(&["undo", "--dry-run"]).exits(0);
    assert_eq!((&dry["dry_run"], &dry["batch"]), (&json!(true), &Value::Null));
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n- pet: cat\n");
}

#[test]
fn a_history_that_is_damaged_exits_seven() {
    let env = Env::ada();
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    let state = std::fs::read_dir(env.at(".memdir")).unwrap().map(|entry| entry.unwrap().path());
    let state = state.into_iter().find(|path| path.is_dir()).unwrap();
    let garbage = vec![b'x'; 8192];
    for name in ["history.sqlite", "history.sqlite-wal"] {
        std::fs::write(state.join(name), &garbage).unwrap();
    }
    let notes = env.files();
    assert_eq!(env.ask(&["log"]).exits(7)["error"]["code"], json!("damaged"));
    assert_eq!(env.files(), notes);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let env = Env::new();
    for note in 0..2_000 {
        env.write(&format!("a-folder-with-a-long-name/and-a-note-with-a-long-name-{note}.md"), "x");
    }
    let commands: &[&[&str]] = &[&["tree"], &["tree", "--json"], &["actions", "--prompt"], &["schema"]];
    for arguments in commands {
        let mut child = env.command(arguments).spawn().unwrap();
        drop(child.stdin.take());
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn the_catalogs_examples_are_valid_by_the_schema_and_bad_calls_are_not() {
    let env = Env::new();
    let schema = env.run(&["schema"], "").json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let actions = env.ask(&["actions"]).exits(0);
    for row in actions["actions"].as_array().unwrap() {
        let example = &row["example"];
        assert!(validator.is_valid(&json!([example])), "{example}");
        let name = row["name"].as_str().unwrap();
        let broken = |change: &dyn Fn(&mut Value)| {
            let mut call = example.clone();
            change(&mut call);
            json!([call])
        };
        let bad = [
            broken(&|call| call["unknown_argument"] = json!(1)),
            broken(&|call| call["action"] = json!(format!("{name}s"))),
            broken(&|call| call["assign_to"] = json!(7)),
            broken(&|call| drop(call.as_object_mut().unwrap().remove("action"))),
            example.clone(),
        ];
        for call in bad {
            assert!(!validator.is_valid(&call), "{call}");
        }
        for required in row["schema"]["required"].as_array().unwrap() {
            let key = required.as_str().unwrap();
            let without = broken(&|call| drop(call.as_object_mut().unwrap().remove(key)));
            let mistyped = broken(&|call| call[key] = json!({}));
            assert!(!validator.is_valid(&without) && !validator.is_valid(&mistyped), "{name} {key}");
        }
    }
}
