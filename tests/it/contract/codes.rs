//! The table of codes, with the words that teach.

use serde_json::{Value, json};

use crate::support::{Env, said};

fn memory() -> Env {
    let env = Env::with(&[
        ("user.md", "# Ada\n\n- city: Paris\n- town: Rome\n"),
        ("a.md", "same\nother\nsame\n"),
        ("x/twin.md", "1\n"),
        ("y/twin.md", "2\n"),
        ("full/note.md", "1\n"),
    ]);
    env.write("bytes.md", b"\xff\xfe\x00");
    env.quick()
}

/// Checks the code, the words and the hint of one action that fails.
#[track_caller]
fn check(action: Value, code: &str, message: &str, hint: &str) -> Value {
    let env = memory();
    let before = env.files();
    let ran = env.say(&said(&json!([action])), &[]);
    let error = ran.exits(4)["actions"][0]["error"].clone();
    let said = (error["code"].as_str(), error["message"].as_str(), error["hint"].as_str().unwrap_or("null"));
    assert_eq!(said, (Some(code), Some(message), hint), "{action}");
    assert_eq!(env.files(), before, "nothing was done");
    error
}

#[test]
fn content_not_found_proposes_the_closest() {
    let action = json!({"action": "update_file", "path": "user.md", "old_content": "- city: Pariss", "new_content": "- city: Nice"});
    let error = check(
        action,
        "content_not_found",
        "no place in `user.md` matches `old_content`",
        "the closest is line 3; send `\"old_content\":\"- city: Paris\"`",
    );
    assert_eq!(error["closest"]["lines"], json!([3, 3]));
    assert_eq!(error["closest"]["text"], json!("- city: Paris"));
    assert!(error["closest"]["diff"].as_str().unwrap().contains("- city: Pariss"), "{error}");
    assert!(error["digest"].as_str().unwrap().starts_with("sha256:"));
    let env = memory();
    assert_eq!(env.act(&error["action"])["ok"], json!(true), "the action that it proposes can be sent as it is");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Nice\n- town: Rome\n");
}

#[test]
fn ambiguous_match_names_all_lines() {
    let error = check(
        json!({"action": "update_file", "path": "a.md", "old_content": "same", "new_content": "new"}),
        "ambiguous_match",
        "`old_content` occurs on lines 1, 3",
        "add a line of context, or `\"occurrence\":\"all\"`",
    );
    assert_eq!(error["lines"], json!([1, 3]));
}

#[test]
fn calls_that_are_no_calls() {
    let error = check(
        json!({"action": "creat_file", "path": "a.md"}),
        "unknown_action",
        "action 1: unknown action `creat_file`",
        "did you mean `create_file`?",
    );
    assert!(error.get("closest").is_none());
    let env = memory();
    let report = env.exec(&json!([{"action": "get_size"}, {"action": "create_file", "path": "n.md"}]));
    let error = &report["actions"][1]["error"];
    assert_eq!(error["code"], json!("invalid_action"));
    assert_eq!(error["message"], json!("action 2, `create_file`: missing `content`"));
    for (action, word) in [
        (json!({"action": "update_file", "path": "a.md", "old_content": "", "new_content": "x"}), "old_content"),
        (json!({"action": "read_file", "path": 7}), "path"),
        (json!({"action": "read_file", "path": "a.md", "lines": 3}), "lines"),
        (json!({"action": "read_file", "path": "a.md", "start_line": 0}), "start_line"),
        (json!({"action": "read_file", "path": "a.md", "start_line": 99}), "start_line"),
        (json!({"action": "insert_text", "path": "a.md", "line": 99, "content": "x"}), "line"),
        (json!({"action": "list_files", "cursor": "../x"}), "cursor"),
    ] {
        let error = env.act(&action)["error"].clone();
        assert_eq!(error["code"], json!("invalid_action"), "{action} {error}");
        assert!(error["message"].as_str().unwrap().contains(&format!("`{word}`")), "{error}");
    }
}

#[test]
fn nothing_is_replaced() {
    check(
        json!({"action": "create_file", "path": "a.md", "content": "x"}),
        "already_exists",
        "note `a.md` exists",
        "use `update_file`, or `write_file` to replace it",
    );
    for action in ["rename_file", "copy_file"] {
        let env = memory();
        let outcome = env.act(&json!({"action": action, "path": "user.md", "new_path": "a.md"}));
        assert_eq!(outcome["error"]["code"], json!("already_exists"), "{outcome}");
        assert_eq!(env.read("a.md"), "same\nother\nsame\n");
    }
}

#[test]
fn paths_that_lead_elsewhere() {
    let climbs = json!({"action": "read_file", "path": "../x.md"});
    check(climbs, "invalid_path", "path `../x.md` climbs out", "send a path such as `entities/x.md`");
    check(
        json!({"action": "read_file", "path": ".memdir/lock"}),
        "invalid_path",
        "path `.memdir/lock` names something hidden",
        "names that start with a dot are out of reach",
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_is_named() {
    let env = memory();
    std::fs::write(env.base().join("secret"), "outside").unwrap();
    std::os::unix::fs::symlink(env.base().join("secret"), env.at("link.md")).unwrap();
    let error = env.act(&json!({"action": "read_file", "path": "link.md"}))["error"].clone();
    assert_eq!(error["code"], json!("outside_memory"));
    assert_eq!(error["message"], json!("link `link.md` leads out of the memory"));
}

#[test]
fn permission_is_asked_for_in_these_words() {
    let env = memory();
    let fact = said(&json!([{"action": "append_file", "path": "user.md", "content": "- diagnosis: diabetes"}]));
    let error = env.say(&fact, &["--permission", "flag"]).exits(3)["actions"][0]["error"].clone();
    assert_eq!(error["code"], json!("permission_required"));
    assert_eq!(error["message"], json!("this is personal: a health fact"));
    assert_eq!(error["hint"], json!("ask the user first, then repeat with \"has_explicit_permission\":true"));
}

#[test]
fn a_rule_that_denies_is_named() {
    let env = memory().settings("[[rule]]\naction = \"delete_file\"\nverdict = \"deny\"\n");
    let delete = said(&json!([{"action": "delete_file", "path": "a.md"}]));
    let error = env.say(&delete, &[]).exits(3)["actions"][0]["error"].clone();
    assert_eq!((&error["code"], &error["message"]), (&json!("denied"), &json!("rule 1 denies `delete_file`")));
}

#[test]
fn the_other_codes_of_actions() {
    let cases = [
        (json!({"action": "read_file", "path": "none.md"}), "not_found"),
        (json!({"action": "append_file", "path": "none.md", "content": "x"}), "not_found"),
        (json!({"action": "read_file", "path": "full"}), "is_a_directory"),
        (json!({"action": "delete_file", "path": "full"}), "is_a_directory"),
        (json!({"action": "list_files", "path": "a.md"}), "not_a_directory"),
        (json!({"action": "create_file", "path": "a.md/b.md", "content": "x"}), "not_a_directory"),
        (json!({"action": "delete_dir", "path": "a.md"}), "not_a_directory"),
        (json!({"action": "read_file", "path": "bytes.md"}), "not_text"),
        (json!({"action": "update_file", "path": "bytes.md", "old_content": "a", "new_content": "b"}), "not_text"),
        (json!({"action": "create_file", "path": "a.txt", "content": "x"}), "unsupported_file"),
        (json!({"action": "delete_dir", "path": "full"}), "not_empty"),
        (json!({"action": "go_to_link", "link": "[[nobody at all]]"}), "link_not_found"),
        (json!({"action": "go_to_link", "link": "[[twin]]"}), "ambiguous_link"),
        (json!({"action": "create_file", "path": "A.md", "content": "x"}), "invalid_path"),
        (json!({"action": "create_file", "path": "nul.md", "content": "x"}), "invalid_path"),
        (json!({"action": "rename_file", "path": "full", "new_path": "full/in"}), "invalid_path"),
    ];
    let env = memory();
    let before = env.files();
    for (action, code) in cases {
        let error = env.act(&action)["error"].clone();
        assert_eq!(error["code"], json!(code), "{action} {error}");
        assert!(error["hint"].is_string(), "{action} {error}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.ends_with('.') && !message.starts_with(char::is_uppercase), "{message}");
    }
    assert_eq!(env.files(), before);
}
