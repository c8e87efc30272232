//! A name in one Unicode form on the disk is reached by another form of it, by every action and command that names a path.

use std::fs;

use serde_json::{Value, json};

use crate::support::Env;

/// `Café/Zoë.md` as macOS stores it, and as a model writes it.
const STORED: &str = "Cafe\u{301}/Zoe\u{308}.md";
const SAID: &str = "Caf\u{e9}/Zo\u{eb}.md";
const TEXT: &str = "# Zo\u{eb}\n\n- city: Bonn\n- owner: [[user]]\n\n## Work\n\nbakes\n";

fn env() -> Env {
    Env::with(&[(STORED, TEXT), ("user.md", "# Me\n\n[z](Caf%C3%A9/Zo%C3%AB.md) [[Zo\u{eb}]]\n")]).quick()
}

/// Does one action on a fresh memory; answers its outcome and the note under the name that it has on the disk.
#[track_caller]
fn act(action: &Value) -> (Value, Option<String>) {
    let env = env();
    let outcome = env.act(action);
    assert_eq!(outcome["ok"], true, "{action}: {outcome}");
    assert!(!env.at(SAID).exists(), "{action}: nothing is made beside it");
    (outcome, fs::read_to_string(env.at(STORED)).ok())
}

#[test]
fn every_action_that_reads_reaches_it() {
    assert_eq!(act(&json!({"action": "read_file", "path": SAID})).0["value"], TEXT);
    assert_eq!(act(&json!({"action": "check_file_exists", "path": SAID})).0["value"], true);
    assert_eq!(act(&json!({"action": "check_dir_exists", "path": "Caf\u{e9}"})).0["value"], true);
    assert_eq!(act(&json!({"action": "list_directory", "path": "Caf\u{e9}"})).0["value"][0]["name"], "Zoe\u{308}.md");
    assert!(act(&json!({"action": "list_files", "path": "Caf\u{e9}"})).0.to_string().contains("Zoe\u{308}.md"));
    assert_eq!(act(&json!({"action": "get_size", "path": SAID})).0["value"], TEXT.len());
    assert_eq!(act(&json!({"action": "get_file_info", "path": SAID})).0["value"]["size"], TEXT.len());
    for path in [SAID, "Caf\u{e9}"] {
        let found = act(&json!({"action": "search_files", "query": "bakes", "path": path})).0;
        assert_eq!(found["value"]["hits"].as_array().unwrap().len(), 1, "{found}");
    }
    let links = act(&json!({"action": "get_links", "path": SAID})).0;
    assert_eq!(links["value"]["links"][0]["resolved"], "user.md", "{links}");
    let links = act(&json!({"action": "get_backlinks", "path": SAID})).0;
    assert_eq!(links["value"]["links"].as_array().unwrap().len(), 2, "{links}");
    let context = act(&json!({"action": "get_context", "path": SAID})).0;
    assert!(context.to_string().contains("bakes"), "{context}");
}

#[test]
fn every_action_that_writes_changes_it_and_makes_no_other() {
    let changes = [
        (json!({"action": "update_file", "old_content": "Bonn", "new_content": "Ulm"}), TEXT.replace("Bonn", "Ulm")),
        (json!({"action": "append_file", "content": "end\n"}), format!("{TEXT}end\n")),
        (json!({"action": "set_fact", "key": "city", "value": "Ulm"}), TEXT.replace("Bonn", "Ulm")),
        (json!({"action": "replace_section", "heading": "Work", "content": "sells\n"}), TEXT.replace("bakes", "sells")),
        (json!({"action": "append_to_section", "heading": "Work", "content": "sells\n"}), format!("{TEXT}sells\n")),
        (json!({"action": "insert_text", "line": 0, "content": "top\n"}), format!("top\n{TEXT}")),
        (json!({"action": "write_file", "content": "new\n"}), "new\n".to_owned()),
    ];
    for (mut action, expected) in changes {
        action["path"] = json!(SAID);
        assert_eq!(act(&action).1, Some(expected), "{action}");
    }
    assert_eq!(act(&json!({"action": "delete_file", "path": SAID})).1, None);
    assert_eq!(act(&json!({"action": "delete_dir", "path": "Caf\u{e9}", "recursive": true})).1, None);
    assert_eq!(act(&json!({"action": "copy_file", "path": SAID, "new_path": "copy.md"})).1, Some(TEXT.to_owned()));
}

#[test]
fn a_note_is_not_made_again_under_the_other_form() {
    let env = env();
    let refused = env.act(&json!({"action": "create_file", "path": SAID, "content": "x"}));
    assert_eq!(refused["error"]["code"], "already_exists", "{refused}");
    // A new note beside it comes into the same folder.
    assert_eq!(
        env.act(&json!({"action": "create_file", "path": "Caf\u{e9}/Noe\u{308}l.md", "content": "n"}))["ok"],
        true
    );
    assert!(env.at("Cafe\u{301}/Noe\u{308}l.md").exists() && !env.at("Caf\u{e9}").exists());
    assert_eq!(env.act(&json!({"action": "create_dir", "path": "Caf\u{e9}"}))["ok"], true);
    assert!(!env.at("Caf\u{e9}").exists());
}

#[test]
fn it_is_renamed_with_the_links_to_it_and_into_the_other_form() {
    let env = env();
    assert_eq!(env.act(&json!({"action": "rename_file", "path": SAID, "new_path": "zoe.md"}))["ok"], true);
    assert_eq!(env.read("zoe.md"), TEXT);
    assert_eq!(env.read("user.md"), "# Me\n\n[z](zoe.md) [[zoe]]\n");
    let env = self::env();
    let composed = "Cafe\u{301}/Zo\u{eb}.md";
    assert_eq!(env.act(&json!({"action": "rename_file", "path": STORED, "new_path": SAID}))["ok"], true);
    assert_eq!(env.read(composed), TEXT);
    assert!(!env.at(STORED).exists());
    assert_eq!(env.act(&json!({"action": "rename_file", "path": "Caf\u{e9}", "new_path": "Bar"}))["ok"], true);
    assert_eq!(env.read("Bar/Zo\u{eb}.md"), TEXT);
}

#[test]
fn in_one_batch_the_names_that_it_made_are_reached_too() {
    let env = env();
    let report = env.exec(&json!([
        {"action": "create_file", "path": "u\u{308}.md", "content": "one\n"},
        {"action": "append_file", "path": "\u{fc}.md", "content": "two\n"},
        {"action": "rename_file", "path": "Caf\u{e9}", "new_path": "Bar"},
        {"action": "append_file", "path": "Bar/Zo\u{eb}.md", "content": "three\n"},
        {"action": "check_file_exists", "path": SAID},
    ]));
    assert!(report["actions"].as_array().unwrap().iter().all(|action| action["ok"] == true), "{report}");
    assert_eq!(report["actions"][4]["value"], false);
    assert_eq!(env.read("u\u{308}.md"), "one\ntwo\n");
    assert_eq!(env.read("Bar/Zoe\u{308}.md"), format!("{TEXT}three\n"));
}

#[test]
fn every_command_that_names_a_path_reaches_it() {
    let env = env();
    env.act(&json!({"action": "append_file", "path": SAID, "content": "more\n"}));
    assert_eq!(env.ask(&["read", SAID]).exits(0)["text"], format!("{TEXT}more\n"));
    assert_eq!(env.ask(&["facts", SAID]).exits(0)["facts"].as_array().unwrap().len(), 2);
    assert_eq!(env.ask(&["links", SAID]).exits(0)["links"].as_array().unwrap().len(), 1);
    assert_eq!(env.ask(&["tree", "Caf\u{e9}"]).exits(0)["entries"].as_array().unwrap().len(), 1);
    assert_eq!(env.ask(&["search", "bakes", "--path", SAID]).exits(0)["hits"].as_array().unwrap().len(), 1);
    assert_eq!(env.ask(&["log", SAID]).exits(0)["entries"].as_array().unwrap().len(), 1);
    let history = env.act(&json!({"action": "get_history", "path": SAID}));
    assert_eq!(history["value"]["entries"].as_array().unwrap().len(), 1, "{history}");
    assert_eq!(env.ask(&["log", "--lines", SAID]).exits(0)["lines"].as_array().unwrap().len(), 9);
    env.ask(&["audit", "readers", SAID]).exits(0);
    env.act(&json!({"action": "append_file", "path": SAID, "content": "again\n"}));
    env.ask(&["restore", SAID, "--at", "1"]).exits(0);
    assert_eq!(env.read(STORED), format!("{TEXT}more\n"));
    env.ask(&["forget", SAID, "--yes"]).exits(0);
    assert!(!env.at(STORED).exists());
}

#[test]
fn a_rule_judges_the_note_that_is_reached() {
    for glob in [STORED, SAID, "Caf\u{e9}/**"] {
        let env = env();
        env.ask(&["rules", "add", "deny", "--path", glob]).exits(0);
        for path in [STORED, SAID] {
            let refused = env.act(&json!({"action": "read_file", "path": path}));
            assert_eq!(refused["error"]["code"], "denied", "{glob}: {refused}");
        }
    }
}

#[test]
fn two_names_that_only_their_form_tells_apart_are_each_itself_alone() {
    let env = Env::with(&[("e\u{301}.md", "stored apart\n"), ("\u{e9}.md", "in one\n")]).quick();
    assert_eq!(env.act(&json!({"action": "read_file", "path": "\u{e9}.md"}))["value"], "in one\n");
    assert_eq!(env.act(&json!({"action": "read_file", "path": "e\u{301}.md"}))["value"], "stored apart\n");
    // Case is no form.
    assert_eq!(env.act(&json!({"action": "read_file", "path": "\u{c9}.md"}))["error"]["code"], "not_found");
}
