//! `exec --conversation`: what one call leaves for the next.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Env, Ran, said};

fn turn(env: &Env, actions: &Value, more: &[&str]) -> Ran {
    env.say(&said(actions), &[&["--conversation", "talk.jsonl"], more].concat())
}

fn file(env: &Env) -> String {
    fs::read_to_string(env.base().join("talk.jsonl")).unwrap()
}

fn write(path: &str) -> Value {
    json!([{"action": "write_file", "path": path, "content": "# New\n"}])
}

#[track_caller]
fn conflict(ran: &Ran) -> Value {
    let error = ran.exits(4)["actions"][0]["error"].clone();
    assert_eq!(error["code"], json!("conflict"), "{error}");
    error
}

#[test]
fn a_note_that_was_never_read_is_not_replaced_unseen() {
    let env = Env::ada();
    let error = conflict(&turn(&env, &write("user.md"), &[]));
    assert_eq!(error["text"], json!("# Ada\n\n- city: London\n"));
    assert_eq!(error["message"], json!("note `user.md` is not as this conversation knows it"));
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
    turn(&env, &write("user.md"), &[]).exits(0);
    assert_eq!(env.read("user.md"), "# New\n", "the error has shown it");
    env.say(&said(&write("entities/acme.md")), &[]).exits(0);
}

#[test]
fn what_was_read_or_written_in_an_earlier_call_may_be_replaced_until_it_changes() {
    let env = Env::ada();
    turn(&env, &json!([{"action": "read_file", "path": "user.md"}]), &[]).exits(0);
    turn(&env, &write("user.md"), &[]).exits(0);
    turn(&env, &write("user.md"), &[]).exits(0);
    turn(&env, &json!([{"action": "rename_file", "path": "user.md", "new_path": "me.md"}]), &[]).exits(0);
    turn(&env, &write("me.md"), &[]).exits(0);
    env.write("me.md", "# Edited by hand\n");
    conflict(&turn(&env, &write("me.md"), &[]));
    assert_eq!(env.read("me.md"), "# Edited by hand\n");
    let both = json!([{"action": "read_file", "path": "entities/acme.md"}, write("entities/acme.md")[0]]);
    turn(&env, &both, &[]).exits(0);
}

#[test]
fn a_note_that_changed_meanwhile_loses_no_text_that_a_call_does_not_quote() {
    let env = Env::ada();
    let read = json!([{"action": "read_file", "path": "user.md"}]);
    let section =
        json!([{"action": "replace_section", "path": "user.md", "heading": "Ada", "content": "- city: Porto"}]);
    turn(&env, &read, &[]).exits(0);
    env.write("user.md", "# Ada\n\n- city: London\n- by hand\n");
    assert_eq!(conflict(&turn(&env, &section, &[]))["text"], json!("# Ada\n\n- city: London\n- by hand\n"));
    turn(&env, &section, &[]).exits(0);
    env.write("user.md", "# Ada\n\n- by hand again\n");
    conflict(&turn(&env, &json!([{"action": "delete_file", "path": "user.md"}]), &[]));
    assert_eq!(env.read("user.md"), "# Ada\n\n- by hand again\n");
}

#[test]
fn a_call_that_is_asked_for_again_after_others_is_made_again() {
    let env = Env::ada();
    let make = said(&json!([{"action": "create_file", "path": "draft.md", "content": "v1\n"}]));
    let drop = said(&json!([{"action": "delete_file", "path": "draft.md"}]));
    let report = env.say(&format!("{make}{drop}{make}{make}"), &[]).exits(0);
    assert_eq!((report["actions"].as_array().unwrap().len(), env.read("draft.md").as_str()), (3, "v1\n"));
    let issue = &report["issues"][0];
    assert_eq!((&issue["code"], &issue["index"]), (&json!("echoed_block"), &json!(3)));
}

#[test]
fn a_batch_that_is_not_done_teaches_the_conversation_nothing_it_wrote() {
    let env = Env::ada();
    let both = json!([{"action": "create_file", "path": "new.md", "content": "a"}, {"action": "read_file", "path": "gone.md"}]);
    turn(&env, &both, &["--atomic"]).exits(4);
    env.write("new.md", "a");
    conflict(&turn(&env, &write("new.md"), &[]));
    let before = file(&env);
    turn(&env, &json!([{"action": "read_file", "path": "user.md"}]), &["--dry-run"]).exits(0);
    assert_eq!(file(&env), before, "a dry run is no turn");
}

#[test]
fn each_turn_is_a_line_with_its_version_and_what_it_set() {
    let env = Env::ada();
    turn(&env, &json!([{"action": "get_size", "path": "user.md", "assign_to": "size"}]), &[]).exits(0);
    turn(&env, &json!([{"action": "read_file", "path": "user.md", "assign_to": "me"}]), &[]).exits(0);
    let lines: Vec<Value> = file(&env).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| &line["version"]).collect::<Vec<_>>(), [&json!(1), &json!(1)]);
    assert_eq!(lines[0]["variables"], json!({"size": 22}));
    assert_eq!(lines[1]["seen"].as_object().unwrap().keys().collect::<Vec<_>>(), ["user.md"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(env.base().join("talk.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_line_that_a_crash_cut_off_is_dropped_and_what_is_no_turn_is_said() {
    let env = Env::ada();
    turn(&env, &json!([{"action": "read_file", "path": "user.md"}]), &[]).exits(0);
    let whole = file(&env);
    for cut in [1, whole.len() / 2, whole.len() - 1] {
        fs::write(env.base().join("talk.jsonl"), format!("{whole}{}", whole.get(..cut).unwrap())).unwrap();
        turn(&env, &json!([{"action": "get_size"}]), &[]).exits(0);
        assert_eq!(file(&env).lines().count(), 2);
        assert!(file(&env).starts_with(&whole));
    }
    for (line, code) in [("{\"version\":9}\n", 7), ("hello\n", 7), ("{\"version\":1}\n", 7)] {
        fs::write(env.base().join("talk.jsonl"), line).unwrap();
        let error =
            turn(&env, &json!([{"action": "delete_file", "path": "user.md"}]), &[]).exits(code)["error"].clone();
        assert!(error["message"].as_str().unwrap().starts_with("the conversation, line 1: "), "{error}");
        assert_eq!(file(&env), line);
        assert!(env.at("user.md").exists());
    }
    for other in ["my only copy of the pass phrase", "{\"version\":99}", "{}"] {
        fs::write(env.base().join("talk.jsonl"), other).unwrap();
        turn(&env, &json!([{"action": "get_size"}]), &[]).exits(7);
        assert_eq!(file(&env), other, "a line that does not begin as a turn is nobody's unfinished one");
    }
}

#[test]
fn turns_of_one_conversation_at_the_same_time_follow_each_other() {
    let env = Env::ada().quick();
    std::thread::scope(|scope| {
        for at in 0..8 {
            let env = &env;
            let read = json!([{"action": "read_file", "path": "user.md", "assign_to": format!("v{at}")}]);
            scope.spawn(move || turn(env, &read, &[]).exits(0));
        }
    });
    assert_eq!(file(&env).lines().count(), 8);
}

#[test]
fn what_a_block_has_set_is_not_kept_where_a_call_of_it_has_no_leave() {
    let run = |env: &Env, code: &str, more: &[&str]| {
        env.say(&format!("<python>\n{code}\n</python>"), &[&["--conversation", "talk.jsonl"], more].concat())
    };
    let variables = |env: &Env| {
        let lines = file(env);
        serde_json::from_str::<Value>(lines.lines().last().unwrap()).unwrap()["variables"].clone()
    };
    let writes = "fact = '- phone: +49 170 1234567'\nr = update_file('user.md', '- city: London', fact)";
    for (mode, settings) in
        [("ask", ""), ("flag", ""), ("off", "[[rule]]\naction = \"update_file\"\nverdict = \"deny\"\n")]
    {
        let env = Env::ada().settings(settings);
        let report = run(&env, writes, &["--permission", mode]).exits(3);
        assert_eq!(report["variables"]["fact"], json!("- phone: +49 170 1234567"), "the model knows its own text");
        assert!(!file(&env).contains("1234567"), "{mode}: {}", file(&env));
        assert_eq!(variables(&env), json!({}));
    }
    let env = Env::ada();
    let report = run(&env, &format!("{writes}\ns = read_file('user.md')"), &["--permission", "ask"]).exits(3);
    assert_eq!(report["variables"]["r"], json!("Error: proposal 1 waits for the person"));
    assert_eq!(report["variables"]["s"], json!("Error: proposal 1 waits for the person"));
    // What may be done, or only is not read, is no reason to forget.
    let env = Env::ada().settings("[[rule]]\naction = \"read_file\"\npath = \"entities/**\"\nverdict = \"deny\"\n");
    run(&env, "city = 'Paris'\nr = read_file('entities/acme.md')", &[]).exits(3);
    assert_eq!(variables(&env)["city"], json!("Paris"));
    run(&env, "r = update_file('user.md', 'London', city)", &["--permission", "ask"]).exits(0);
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n");
    let kept = file(&env);
    run(&env, "x = 'a'", &["--dry-run"]).exits(0);
    assert_eq!(file(&env), kept);
}

#[test]
fn a_turn_waits_for_another_one_only_so_long() {
    let env = Env::ada().set("MEMDIR_LIMITS_LOCK_SECONDS", "0");
    turn(&env, &write("new.md"), &[]).exits(0);
    let before = (env.files(), file(&env));
    let held = fs::OpenOptions::new().append(true).open(env.base().join("talk.jsonl")).unwrap();
    held.lock().unwrap();
    let ran = turn(&env, &write("newer.md"), &[]);
    assert_eq!(ran.exits(4)["error"]["code"], json!("busy"));
    assert!(ran.exits(4)["error"]["hint"].is_string());
    held.unlock().unwrap();
    assert_eq!((env.files(), file(&env)), before);
    turn(&env, &write("newer.md"), &[]).exits(0);
}
