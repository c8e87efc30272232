//! `log --lines`: who wrote each line of a note.

use serde_json::{Value, json};

use crate::support::{Env, mask, said};

/// The batch of each line; 0 where nobody knows.
#[track_caller]
fn batches(env: &Env, note: &str) -> Vec<u64> {
    let lines = env.ask(&["log", "--lines", note]).exits(0);
    let lines = lines["lines"].as_array().unwrap().clone();
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["line"], json!(at + 1));
        let known: Vec<bool> = ["batch", "time", "door", "origin"].iter().map(|key| line[key].is_null()).collect();
        assert!(known.iter().all(|is_null| *is_null == known[0]), "{line}");
    }
    lines.iter().map(|line| line["batch"].as_u64().unwrap_or(0)).collect()
}

fn append(path: &str, content: &str) -> Value {
    json!([{"action": "append_file", "path": path, "content": content}])
}

#[test]
fn each_line_names_the_batch_that_wrote_it() {
    let env = Env::ada();
    assert_eq!(batches(&env, "user.md"), [0, 0, 0], "a memory without a history");
    env.say(&said(&append("user.md", "- pet: cat")), &["--client", "editor"]).exits(0);
    env.exec(&json!([{"action": "update_file", "path": "user.md", "old_content": "London", "new_content": "Paris"}]));
    let lines = env.ask(&["log", "--lines", "user.md"]).exits(0);
    let outside = json!({"by": "outside", "tool": null, "batch": null, "time": null, "door": null, "client": null,
        "session": null, "message": null});
    let unknown = |line: u64| {
        json!({"line": line, "batch": null, "time": null, "door": null, "client": null, "origin": null,
            "first_written": outside, "last_written": outside, "last_confirmed": null, "trust": "outside",
            "words": null, "replaced": []})
    };
    let known = |line: u64, batch: u64, client: Value, first: Option<&Value>, replaced: Value| {
        let written = json!({"by": "model", "tool": null, "batch": batch, "time": "…", "door": "exec",
            "client": client, "session": null, "message": null});
        json!({"line": line, "batch": batch, "time": "…", "door": "exec", "client": client, "origin": "model",
            "first_written": first.unwrap_or(&written), "last_written": written, "last_confirmed": null,
            "trust": "model", "words": null, "replaced": replaced})
    };
    let mut lines = lines;
    let since = lines["lines"][2]["time"].clone();
    assert_eq!(lines["lines"][2]["replaced"][0]["replaced"].take(), since);
    let former = json!([{"value": "London", "written": null, "replaced": null}]);
    let city = known(3, 2, Value::Null, Some(&outside), former);
    let expected = json!({"lines": [unknown(1), unknown(2), city, known(4, 1, json!("editor"), None, json!([]))]});
    assert_eq!(mask(lines), mask(expected));
    let shown = env.run(&["log", "--lines", "user.md"], "").stdout;
    let rows: Vec<&str> = shown.lines().collect();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].starts_with("outside memdir ") && rows[0].ends_with(" | # Ada"), "{shown}");
    assert!(rows[3].starts_with("1  "), "{shown}");
    assert!(rows[2].contains(" ago  a model (exec) |") || rows[2].contains("  just now  a model (exec) |"), "{shown}");
    assert!(rows[3].split(" | ").next().unwrap().trim_end().ends_with("  editor (exec)"), "{shown}");
}

#[test]
fn an_editor_between_two_batches_leaves_its_lines_unknown() {
    let env = Env::with(&[("a.md", "")]);
    env.exec(&append("a.md", "one\ntwo\nthree"));
    env.write("a.md", "one\nby hand\nthree\n");
    env.exec(&append("a.md", "four"));
    env.write("a.md", "zero\none\nby hand\nthree\nfour");
    assert_eq!(batches(&env, "a.md"), [0, 1, 0, 1, 2]);
    env.exec(&append("a.md", "five"));
    assert_eq!(batches(&env, "a.md"), [0, 1, 0, 1, 2, 3], "who ends an unfinished line has not written it");
}

#[test]
fn a_rename_keeps_the_authors() {
    let env = Env::new();
    env.exec(&json!([{"action": "create_file", "path": "old/a.md", "content": "# A\r\n\r\none"}]));
    env.exec(&json!([{"action": "rename_file", "path": "old", "new_path": "new"}]));
    env.exec(&json!([{"action": "rename_file", "path": "new/a.md", "new_path": "b.md"},
        {"action": "append_file", "path": "b.md", "content": "two"}]));
    assert_eq!(batches(&env, "b.md"), [1, 1, 1, 3]);
    // Another note under the old name has a history of its own.
    env.write("new/a.md", "# A\r\n\r\none");
    assert_eq!(batches(&env, "new/a.md"), [0, 0, 0]);
    env.exec(&json!([{"action": "delete_file", "path": "b.md"}]));
    env.exec(&json!([{"action": "create_file", "path": "b.md", "content": "two\n"}]));
    assert_eq!(batches(&env, "b.md"), [5]);
}

#[test]
fn a_note_that_is_not_there_and_options_that_do_not_go_together() {
    let env = Env::ada();
    assert_eq!(env.ask(&["log", "--lines", "gone.md"]).exits(4)["error"]["code"], json!("not_found"));
    env.write("image.md", b"\xff\xfe");
    assert_eq!(env.ask(&["log", "--lines", "image.md"]).exits(4)["error"]["code"], json!("not_text"));
    let wrong: &[&[&str]] = &[
        &["log", "--lines"],
        &["log", "--lines", "user.md", "-p"],
        &["log", "--lines", "user.md", "--limit", "1"],
        &["log", "--lines", "user.md", "--cursor", "1"],
    ];
    for arguments in wrong {
        assert_eq!(env.ask(arguments).exits(2)["error"]["code"], json!("usage"), "{arguments:?}");
    }
    assert!(!env.at(".memdir").exists());
}
