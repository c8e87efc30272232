//! The mode `all`: nothing changes before the person has seen it and said yes, and one yes does for a batch.

use serde_json::{Value, json};

use super::{code, codes, ids};
use crate::support::{Env, files, said};

/// A call of each kind that changes something; none of it says anything that a detector knows.
fn changes() -> Value {
    json!([
        {"action": "create_file", "path": "new.md", "content": "Prefers the window seat.\n"},
        {"action": "append_file", "path": "user.md", "content": "- tea: green"},
        {"action": "set_fact", "path": "user.md", "key": "city", "value": "Ulm"},
        {"action": "update_file", "path": "new.md", "old_content": "window", "new_content": "aisle"},
        {"action": "create_dir", "path": "later"},
        {"action": "copy_file", "path": "entities/acme.md", "new_path": "copy.md"},
        {"action": "rename_file", "path": "entities/acme.md", "new_path": "acme.md"},
        {"action": "delete_file", "path": "copy.md"},
        {"action": "memory", "operation": "store", "key": "hobby", "content": "chess"},
    ])
}

/// All notes of the memory, without its state.
fn notes(env: &Env) -> Vec<(String, Vec<u8>)> {
    files(env.memory()).into_iter().filter(|(path, _)| !path.contains(".memdir")).collect()
}

#[test]
fn every_change_waits_as_one_proposal_and_one_yes_does_all_of_it() {
    let env = Env::ada();
    let before = notes(&env);
    let report = env.say(&said(&changes()), &["--permission", "all"]).exits(3);
    assert_eq!(codes(&report), ["awaiting_approval"; 9], "{report}");
    assert_eq!(report["changed"], json!([]));
    assert_eq!(notes(&env), before);
    assert_eq!(ids(&env), [1]);
    let pending = env.ask(&["pending"]).exits(0);
    assert_eq!(pending["pending"][0]["reason"], json!("every change is asked about here"));
    assert_eq!(pending["pending"][0]["actions"].as_array().unwrap().len(), 9);
    env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0);
    assert_eq!(env.read("new.md"), "Prefers the aisle seat.\n");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Ulm\n- tea: green\n");
    assert!(env.at("acme.md").exists() && !env.at("copy.md").exists() && env.at("later").is_dir());
    assert_eq!(ids(&env), [0; 0]);
}

#[test]
fn what_waits_is_shown_without_control_characters_also_in_a_pipe() {
    let env = Env::ada();
    let content = "<b> \u{1b}[2J \u{202e} x";
    let text = said(&json!([{"action": "append_file", "path": "user.md", "content": content}]));
    env.say(&text, &["--permission", "all"]).exits(3);
    let shown = env.run(&["pending"], "").stdout;
    assert!(!shown.contains(['\u{1b}', '\u{202e}']) && shown.contains("+<b> \\u{1b}[2J \\u{202e} x"), "{shown}");
}

#[test]
fn what_the_model_claims_changes_nothing_and_what_does_not_fit_says_why() {
    let env = Env::ada();
    let report = env.say(
        &said(&json!([
            {"action": "create_file", "path": "new.md", "content": "x\n", "has_explicit_permission": true},
            {"action": "update_file", "path": "user.md", "old_content": "- city: Londno", "new_content": "- city: Ulm"},
            {"action": "read_file", "path": "entities/acme.md"},
        ])),
        &["--permission", "all"],
    );
    let report = report.exits(4);
    assert_eq!(codes(&report), ["awaiting_approval", "content_not_found", "ok"], "{report}");
    assert!(report["actions"][1]["error"]["closest"]["text"].as_str().unwrap().contains("London"), "{report}");
    assert_eq!(ids(&env), [1]);
}

#[test]
fn only_a_rule_lets_a_change_through_and_only_where_it_leads() {
    let env = Env::ada().settings("[permission]\nexec = \"all\"\n[[rule]]\npath = \"inbox/**\"\nverdict = \"allow\"\n");
    env.write("inbox/a.md", "# A\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../user.md", env.at("inbox/link.md")).unwrap();
    let add = |path: &str| json!([{"action": "append_file", "path": path, "content": "- tea: green"}]);
    env.say(&said(&add("inbox/a.md")), &[]).exits(0);
    assert_eq!(env.read("inbox/a.md"), "# A\n- tea: green\n");
    let before = env.read("user.md");
    env.say(&said(&add("user.md")), &[]).exits(3);
    #[cfg(unix)]
    env.say(&said(&add("inbox/link.md")), &[]).exits(3);
    assert_eq!(env.read("user.md"), before);
}

#[test]
fn an_answer_for_always_is_a_rule_that_the_mode_goes_by() {
    let env = Env::ada();
    let add = json!([{"action": "append_file", "path": "user.md", "content": "- tea: green"}]);
    env.say(&said(&add), &["--permission", "all"]).exits(3);
    env.ask(&["approve", "1", "--always", "--code", &code(&env, 1)]).exits(0);
    let rules = env.ask(&["rules"]).exits(0);
    let [rule] = rules["rules"].as_array().unwrap().as_slice() else { panic!("{rules}") };
    assert_eq!(
        (&rule["action"], &rule["path"], &rule["verdict"]),
        (&json!("append_file"), &json!("user.md"), &json!("allow"))
    );
    env.say(&said(&add), &["--permission", "all"]).exits(0);
}

#[test]
fn an_atomic_batch_waits_as_a_whole_or_not_at_all() {
    let env = Env::ada();
    let batch = |old: &str| {
        said(&json!([
            {"action": "create_file", "path": "new.md", "content": "x\n"},
            {"action": "update_file", "path": "user.md", "old_content": old, "new_content": "- city: Ulm"},
        ]))
    };
    let report = env.say(&batch("- town: Bonn"), &["--permission", "all", "--atomic"]).exits(4);
    assert_eq!(codes(&report), ["batch_aborted", "content_not_found"], "{report}");
    assert_eq!(ids(&env), [0; 0]);
    let report = env.say(&batch("- city: London"), &["--permission", "all", "--atomic"]).exits(3);
    assert_eq!(codes(&report), ["awaiting_approval"; 2], "{report}");
    assert_eq!((ids(&env).len(), env.at("new.md").exists()), (1, false));
    let id = ids(&env)[0];
    env.ask(&["approve", &id.to_string(), "--code", &code(&env, id)]).exits(0);
    assert_eq!((env.read("new.md").as_str(), env.read("user.md").as_str()), ("x\n", "# Ada\n\n- city: Ulm\n"));
}

#[test]
fn what_waits_beside_what_is_done_fails_with_an_atomic_batch_and_says_so() {
    let env = Env::ada();
    let batch = json!([{"action": "create_file", "path": "new.md", "content": "x\n"}, super::personal("user.md")]);
    let report = env.say(&said(&batch), &["--permission", "ask", "--atomic"]).json();
    assert_eq!(codes(&report), ["batch_aborted", "awaiting_approval"], "{report}");
    let hint = report["actions"][1]["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("without `atomic`"), "{report}");
    assert_eq!((ids(&env).len(), env.at("new.md").exists()), (0, false));
}
