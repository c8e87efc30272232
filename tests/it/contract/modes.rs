//! The options of `exec`, and the limits.

use serde_json::{Value, json};

use crate::support::{Env, said};

/// One action that works and one that does not.
fn mixed() -> String {
    said(&json!([
        {"action": "append_file", "path": "user.md", "content": "- pet: cat"},
        {"action": "read_file", "path": "user.md"},
        {"action": "read_file", "path": "gone.md"},
    ]))
}

#[track_caller]
fn codes(report: &Value) -> Vec<Value> {
    report["actions"].as_array().unwrap().iter().map(|outcome| outcome["error"]["code"].clone()).collect()
}

#[test]
fn atomic_and_one_failure_is_nothing() {
    let env = Env::ada();
    let before = env.seen();
    let report = env.say(&mixed(), &["--atomic"]).exits(4);
    assert_eq!(codes(&report), [json!("batch_aborted"), json!("batch_aborted"), json!("not_found")]);
    assert_eq!((&report["changed"], &report["batch"]), (&json!([]), &Value::Null));
    assert_eq!(env.seen(), before, "not even `.memdir`");
}

#[test]
fn atomic_exits_by_the_call_that_failed() {
    let env = Env::ada();
    let text = said(&json!([
        {"action": "append_file", "path": "user.md", "content": "- pet: cat"},
        {"action": "append_file", "path": "user.md", "content": "- email: ada@example.com"},
    ]));
    let report = env.say(&text, &["--atomic", "--permission", "flag"]).exits(3);
    assert_eq!(codes(&report), [json!("batch_aborted"), json!("permission_required")]);
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
    assert_eq!(env.say(&said(&json!([{"action": "get_size"}])), &["--atomic"]).code, 0);
}

#[test]
fn a_dry_run_says_what_would_change_and_writes_nothing() {
    let env = Env::ada();
    let before = env.seen();
    let text = said(&json!([
        {"action": "update_file", "path": "user.md", "old_content": "London", "new_content": "Paris"},
        {"action": "rename_file", "path": "entities/acme.md", "new_path": "old/acme.md"},
        {"action": "create_file", "path": "new.md", "content": "hi\n"},
        {"action": "read_file", "path": "new.md"},
    ]));
    let report = env.say(&text, &["--dry-run"]).exits(0);
    assert_eq!((&report["dry_run"], &report["batch"]), (&json!(true), &Value::Null));
    assert_eq!(report["changed"], json!(["entities/acme.md", "new.md", "old/acme.md", "user.md"]));
    assert_eq!(report["actions"][3]["value"], json!("hi\n"));
    let diff = report["diff"].as_str().unwrap();
    for part in ["--- a/user.md", "+++ b/user.md", "-- city: London", "+- city: Paris", "+hi", "rename to old/acme.md"]
    {
        assert!(diff.contains(part), "{part} in {diff}");
    }
    assert_eq!(env.seen(), before, "nothing was written, not even `.memdir`");
}

#[test]
fn read_only_refuses_every_action_that_writes_and_no_other() {
    let env = Env::ada();
    let before = env.seen();
    let actions = env.ask(&["actions"]).json();
    for row in actions["actions"].as_array().unwrap() {
        // Word for word, the examples of the prompt are refused before anything else.
        let call: Value = serde_json::from_str(&row["example"].to_string().replace("example", "sample")).unwrap();
        let outcome = env.say(&said(&json!([call])), &["--read-only"]).json()["actions"][0].clone();
        let is_read_only = outcome["error"]["code"] == json!("read_only");
        assert_eq!(is_read_only, row["access"] != "read", "{outcome}");
    }
    assert_eq!(env.seen(), before);
    let write = said(&json!([{"action": "delete_file", "path": "user.md"}]));
    assert_eq!(env.say(&write, &["--read-only"]).code, 4, "`read_only` is a failure, no refusal");
}

#[test]
fn permission_flag_wants_the_models_word() {
    let env = Env::ada();
    let personal = |claimed: bool| {
        let mut action = json!({"action": "append_file", "path": "user.md", "content": "- email: ada@example.com"});
        if claimed {
            action["has_explicit_permission"] = json!(true);
        }
        said(&json!([action]))
    };
    let before = env.seen();
    let refused = env.say(&personal(false), &["--permission", "flag"]).exits(3);
    assert_eq!(codes(&refused), [json!("permission_required")]);
    assert_eq!(env.seen(), before);
    let done = env.say(&personal(true), &["--permission", "flag"]).exits(0);
    assert_eq!(done["changed"], json!(["user.md"]));
    assert_eq!(env.say(&personal(false), &["--permission", "off"]).code, 0);
    assert_eq!(env.say(&personal(false), &["--permission", "perhaps"]).code, 2);
}

#[test]
fn refused_and_failed_together_is_failed() {
    let env = Env::ada();
    let text = said(&json!([
        {"action": "append_file", "path": "user.md", "content": "- email: ada@example.com"},
        {"action": "read_file", "path": "gone.md"},
        {"action": "append_file", "path": "user.md", "content": "- pet: cat"},
    ]));
    let report = env.say(&text, &["--permission", "flag"]).exits(4);
    assert_eq!(codes(&report), [json!("permission_required"), json!("not_found"), Value::Null]);
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n- pet: cat\n", "the calls that are ok were done");
}

#[test]
fn the_hundred_and_first_action_is_too_many() {
    let env = Env::ada();
    let reads: Vec<Value> = (0..101).map(|_| json!({"action": "get_size", "path": "user.md"})).collect();
    let report = env.say(&said(&json!(reads)), &[]).exits(4);
    let codes = codes(&report);
    assert_eq!(codes.len(), 101);
    assert!(codes[..100].iter().all(Value::is_null));
    assert_eq!(codes[100], json!("too_large"));
    assert_eq!(report["actions"][100]["error"]["message"], json!("a batch holds at most 100 actions"));
    assert_eq!(env.say(&said(&json!(reads[..100])), &[]).code, 0);
}

#[test]
fn a_note_holds_one_mebibyte() {
    let env = Env::ada();
    let fits = "x".repeat(1 << 20);
    let over = format!("{fits}y");
    let report = env.exec(&json!([
        {"action": "create_file", "path": "fits.md", "content": fits},
        {"action": "create_file", "path": "over.md", "content": over},
        {"action": "append_file", "path": "fits.md", "content": "z"},
    ]));
    assert_eq!(codes(&report), [Value::Null, json!("too_large"), json!("too_large")]);
    assert_eq!(env.read("fits.md").len(), 1 << 20);
    assert!(!env.at("over.md").exists());
}

#[test]
fn limits_can_be_set() {
    let env = Env::ada().set("MEMDIR_LIMITS_BATCH_ACTIONS", "1").set("MEMDIR_LIMITS_NOTE_BYTES", "30");
    let report = env.exec(&json!([
        {"action": "append_file", "path": "user.md", "content": "- pet: cat"}, {"action": "get_size"},
    ]));
    assert_eq!(codes(&report), [json!("too_large"), json!("too_large")]);
    let env = Env::ada().set("MEMDIR_LIMITS_MEMORY_BYTES", "90");
    let more = json!({"action": "append_file", "path": "user.md", "content": "- pet: a cat with a long name"});
    assert_eq!(env.act(&more)["error"]["code"], json!("quota_exceeded"));
    let env = Env::ada().set("MEMDIR_LIMITS_OTHER_EXTENSIONS", "true");
    assert_eq!(env.act(&json!({"action": "create_file", "path": "a.txt", "content": "x"}))["ok"], json!(true));
}

#[test]
fn a_batch_that_takes_too_long_is_nothing() {
    let env = Env::ada().set("MEMDIR_LIMITS_BATCH_SECONDS", "0");
    let append = json!({"action": "append_file", "path": "user.md", "content": "- pet: cat"});
    let report = env.exec(&json!(vec![append; 20]));
    assert!(codes(&report).iter().all(|code| *code == json!("timeout")), "{report}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
}
