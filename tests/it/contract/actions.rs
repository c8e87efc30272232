//! The table of actions: arguments, and the `value` of each when it succeeds.

use serde_json::{Value, json};

use crate::support::{Env, mask};

/// Runs one action on a small memory; checks its outcome, and one file afterwards.
#[track_caller]
fn check(action: Value, value: Value, file: Option<(&str, &str)>) {
    let env = memory();
    let outcome = env.act(&action);
    assert_eq!(outcome["ok"], json!(true), "{action} {outcome}");
    assert_eq!(mask(outcome["value"].clone()), value, "{action}");
    assert_eq!(outcome["action"], action["action"]);
    assert_eq!(outcome["index"], json!(1));
    if let Some((path, text)) = file {
        assert_eq!(env.files().get(path).map_or("nothing", String::as_str), text, "{action}");
    }
}

fn memory() -> Env {
    let env = Env::with(&[
        ("user.md", "# Ada\n\n- city: London\n- lives with: [[entities/bob]]\n"),
        ("entities/acme.md", "# Acme\n"),
        ("entities/bob.md", "# Bob\n"),
        ("open.md", "one\ntwo"),
        ("picture.png", "not really"),
    ]);
    std::fs::create_dir(env.at("empty")).unwrap();
    env.quick()
}

#[test]
fn actions_that_read_answer_what_the_table_says() {
    let all = "# Ada\n\n- city: London\n- lives with: [[entities/bob]]\n";
    check(json!({"action": "read_file", "path": "user.md"}), json!(all), None);
    let part = json!({"action": "read_file", "path": "user.md", "start_line": 2, "end_line": 3});
    check(part, json!("\n- city: London\n"), None);
    check(json!({"action": "read_file", "path": "open.md", "start_line": 2}), json!("two"), None);
    check(json!({"action": "check_file_exists", "path": "user.md"}), json!(true), None);
    check(json!({"action": "check_file_exists", "path": "entities"}), json!(false), None);
    check(json!({"action": "check_dir_exists", "path": "entities"}), json!(true), None);
    check(json!({"action": "check_dir_exists", "path": "user.md"}), json!(false), None);
    check(json!({"action": "get_size", "path": "open.md"}), json!(7), None);
    check(json!({"action": "get_size", "path": "nowhere.md"}), json!(0), None);
    check(json!({"action": "get_size", "path": "entities"}), json!(13), None);
    check(json!({"action": "get_size"}), json!(all.len() + 7 + 6 + 7 + 10), None);
    let notes = json!(["entities/acme.md", "entities/bob.md", "open.md", "user.md"]);
    check(json!({"action": "list_files"}), notes, None);
    check(json!({"action": "list_files", "path": "entities"}), json!(["entities/acme.md", "entities/bob.md"]), None);
    check(
        json!({"action": "list_directory", "path": "entities"}),
        json!([{"name": "acme.md", "kind": "file", "size": 7}, {"name": "bob.md", "kind": "file", "size": 6}]),
        None,
    );
}

#[test]
fn a_folder_is_listed_and_described_with_all_that_stands_in_it() {
    let entries = json!([
        {"name": "empty", "kind": "directory", "size": 0},
        {"name": "entities", "kind": "directory", "size": 13},
        {"name": "open.md", "kind": "file", "size": 7},
        {"name": "picture.png", "kind": "file", "size": 10},
        {"name": "user.md", "kind": "file", "size": 53},
    ]);
    check(json!({"action": "list_directory"}), entries, None);
    check(
        json!({"action": "get_file_info", "path": "entities"}),
        json!({"path": "entities", "kind": "directory", "size": 13, "lines": null, "modified": "…", "digest": null}),
        None,
    );
    check(
        json!({"action": "get_file_info", "path": "open.md"}),
        json!({"path": "open.md", "kind": "file", "size": 7, "lines": 2, "modified": "…", "digest": "sha256:…"}),
        None,
    );
}

#[test]
fn a_list_that_is_cut_says_how_many_there_are_and_where_to_go_on() {
    let env = memory();
    let first = env.act(&json!({"action": "list_files", "limit": 3}));
    assert_eq!(first["value"], json!(["entities/acme.md", "entities/bob.md", "open.md"]));
    assert_eq!(first["total"], json!(4));
    let second = env.act(&json!({"action": "list_files", "limit": 3, "cursor": first["cursor"]}));
    assert_eq!(second["value"], json!(["user.md"]));
    assert_eq!((&second["total"], &second["cursor"]), (&json!(4), &Value::Null));
}

#[test]
fn a_link_answers_the_note_that_it_led_to() {
    let env = memory();
    for link in ["[[entities/bob]]", "[[bob]]", "[[entities/bob.md]]", "[[bob.md]]", "bob", "[[bob|the neighbour]]"] {
        let outcome = env.act(&json!({"action": "go_to_link", "link": link}));
        assert_eq!(outcome["value"], json!("# Bob\n"), "{link}");
        assert_eq!(outcome["path"], json!("entities/bob.md"), "{link}");
    }
    let outcome = env.act(&json!({"action": "go_to_link", "link": "[[acme]]", "source": "entities/bob.md"}));
    assert_eq!(outcome["path"], json!("entities/acme.md"));
}

#[test]
fn actions_that_write_answer_true() {
    let done = || json!(true);
    check(
        json!({"action": "create_file", "path": "people/new.md", "content": "# New\r\n"}),
        done(),
        Some(("people/new.md", "# New\r\n")),
    );
    check(json!({"action": "write_file", "path": "open.md", "content": "x"}), done(), Some(("open.md", "x")));
    check(json!({"action": "write_file", "path": "fresh.md", "content": ""}), done(), Some(("fresh.md", "")));
    check(
        json!({"action": "append_file", "path": "open.md", "content": "three"}),
        done(),
        Some(("open.md", "one\ntwo\nthree\n")),
    );
    check(
        json!({"action": "insert_text", "path": "open.md", "line": 0, "content": "zero"}),
        done(),
        Some(("open.md", "zero\none\ntwo")),
    );
    check(
        json!({"action": "insert_text", "path": "open.md", "line": 2, "content": "three"}),
        done(),
        Some(("open.md", "one\ntwo\nthree\n")),
    );
    check(
        json!({"action": "update_file", "path": "open.md", "old_content": "one", "new_content": "$& \\1"}),
        done(),
        Some(("open.md", "$& \\1\ntwo")),
    );
    let all = json!({"action": "update_file", "path": "open.md", "old_content": "o", "new_content": "0", "occurrence": "all"});
    check(all, done(), Some(("open.md", "0ne\ntw0")));
    let first = json!({"action": "update_file", "path": "open.md", "old_content": "o", "new_content": "0", "occurrence": "first"});
    check(first, done(), Some(("open.md", "0ne\ntwo")));
}

#[test]
fn actions_that_move_and_remove_answer_true() {
    let done = || json!(true);
    check(json!({"action": "delete_file", "path": "open.md"}), done(), Some(("open.md", "nothing")));
    check(
        json!({"action": "rename_file", "path": "open.md", "new_path": "a/b.md"}),
        done(),
        Some(("a/b.md", "one\ntwo")),
    );
    check(
        json!({"action": "rename_file", "path": "entities", "new_path": "people"}),
        done(),
        Some(("people/bob.md", "# Bob\n")),
    );
    check(
        json!({"action": "copy_file", "path": "picture.png", "new_path": "two.png"}),
        done(),
        Some(("two.png", "not really")),
    );
    check(
        json!({"action": "delete_dir", "path": "entities", "recursive": true}),
        done(),
        Some(("entities/bob.md", "nothing")),
    );
    let env = memory();
    let report = env.exec(&json!([
        {"action": "create_dir", "path": "one/two"}, {"action": "create_dir", "path": "one"},
        {"action": "delete_dir", "path": "empty"},
    ]));
    assert!(report["actions"].as_array().unwrap().iter().all(|outcome| outcome["value"] == json!(true)), "{report}");
    assert!(env.at("one/two").is_dir() && !env.at("empty").exists());
}

#[test]
fn write_file_looks_at_the_digest_it_is_given() {
    let env = memory();
    let info = env.act(&json!({"action": "get_file_info", "path": "open.md"}));
    let digest = info["value"]["digest"].clone();
    let write = json!({"action": "write_file", "path": "open.md", "content": "new", "if_digest": digest});
    assert_eq!(env.act(&write)["ok"], json!(true));
    let again = env.act(&write);
    assert_eq!(again["error"]["code"], json!("conflict"));
    assert_eq!(again["error"]["text"], json!("new"), "the present text comes with it");
    assert_eq!(env.read("open.md"), "new");
}

#[test]
fn the_history_of_a_note_is_the_log_of_the_note() {
    let env = memory();
    env.act(&json!({"action": "append_file", "path": "open.md", "content": "three"}));
    env.act(&json!({"action": "append_file", "path": "user.md", "content": "- pet: cat"}));
    let history = env.act(&json!({"action": "get_history", "path": "open.md", "limit": 5}));
    assert_eq!(history["value"], env.ask(&["log", "open.md"]).exits(0));
    assert_eq!(history["value"]["entries"].as_array().unwrap().len(), 1);
    assert_eq!(history["value"]["entries"][0]["changed"], json!(["open.md"]));
}

#[test]
fn all_take_a_label_and_those_that_write_a_permission() {
    let env = memory();
    let schemas = env.run(&["schema"], "").json();
    for schema in schemas["items"]["oneOf"].as_array().unwrap() {
        let properties = &schema["properties"];
        assert!(properties["assign_to"].is_object(), "{schema}");
        let actions = env.ask(&["actions"]).json();
        let row = actions["actions"].as_array().unwrap().iter().find(|row| row["name"] == schema["title"]).unwrap();
        assert_eq!(properties["has_explicit_permission"].is_object(), row["access"] != "read", "{schema}");
    }
}
