//! No short text gets a long answer: beyond the texts that it asked to read, at most twice its own size and 100 KB.

use serde_json::{Value, json};

use crate::support::{Env, said};

const FREE: usize = 100 << 10;

/// Runs a text in both forms of answer; the number of actions in the report.
#[track_caller]
fn check(env: &Env, name: &str, text: &str) -> usize {
    let most = 2 * text.len() + FREE;
    let json = env.run(&["exec", "--json"], text);
    let plain = env.run(&["exec"], text);
    for (form, answer) in [("json", &json.stdout), ("plain", &plain.stdout)] {
        assert!(answer.len() <= most, "{name}, {form}: {} bytes for a turn of {}", answer.len(), text.len());
    }
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(report["actions"].is_array() && report["issues"].is_array(), "{name}");
    report["actions"].as_array().unwrap().len()
}

fn many(action: &Value, count: usize) -> String {
    said(&Value::Array(vec![action.clone(); count]))
}

#[test]
fn an_answer_is_bounded_by_its_turn() {
    let long = "word ".repeat(200);
    let note = (0..30).map(|number| format!("- item {number}: {long}\n")).collect::<String>();
    let env = Env::with(&[("big.md", &note), ("user.md", "# Ada\n")]);
    assert_eq!(
        check(
            &env,
            "unknown actions",
            &format!("<actions>[{}]</actions>", vec![r#"{"action":"x"}"#; 20_000].join(","))
        ),
        101
    );
    check(&env, "no actions", &format!("<actions>[{}]</actions>", vec!["{}"; 9_000].join(",")));
    check(&env, "numbers", &format!("<actions>[{}]</actions>", vec!["1"; 9_000].join(",")));
    check(&env, "commas", &format!("<actions>[{}]</actions>", r#"{"action":"get_size"},,"#.repeat(9_000)));
    check(&env, "blocks", &r#"<actions>[{"action":"x"}]</actions>"#.repeat(9_000));
    let near = format!("- item 7: {long}wrong");
    let edit = |old: &str| json!({"action": "update_file", "path": "big.md", "old_content": old, "new_content": "x"});
    check(&env, "near misses", &many(&edit(&near), 40));
    check(&env, "short misses", &many(&edit("- item 7: wrod"), 100));
    check(&env, "ambiguous", &many(&edit("word"), 100));
    let name = "y".repeat(90_000);
    check(&env, "a long name", &many(&json!({"action": name}), 1));
    check(&env, "a long path", &many(&json!({"action": "read_file", "path": name, "assign_to": "a"}), 1));
    check(
        &env,
        "a long heading",
        &many(&json!({"action": "append_to_section", "path": "user.md", "heading": name, "content": "x"}), 1),
    );
    check(&env, "a long link", &many(&json!({"action": "go_to_link", "link": name}), 1));
    check(&env, "a long pattern", &many(&json!({"action": "search_files", "query": name, "mode": "regex"}), 1));
    check(&env, "unknown keys", &many(&json!({"action": "read_file", "path": "user.md", "zzz": "x"}), 100));
    check(&env, "python", &format!("<python>\n{}</python>", "read_file('nowhere.md')\n".repeat(9_000)));
    check(&env, "doubled", &format!("<python>\nx=\"aaaaaaaaaa\"\n{}</python>", "x=x+x\n".repeat(18)));
    check(
        &env,
        "doubled marks",
        &format!("<python>\nx=\"\\x01\\x01\\x01\\x01\\x01\\x01\"\n{}</python>", "x=x+x\n".repeat(13)),
    );
    let many: String = (0..90).map(|at| format!("y{at}=x\n")).collect();
    let copied = env.run(&["exec"], &format!("<python>\nx=read_file(\"big.md\")\n{many}</python>")).stdout;
    assert!(copied.len() < note.len() * 3 + FREE, "{}", copied.len());
    check(&env, "mcp", &"<mcp:tool>\nname: x\n</mcp:tool>\n".repeat(3_000));
    let call = |number: usize| json!({"id": format!("c{number}"), "type": "function", "function": {"name": "x", "arguments": "{}"}});
    check(
        &env,
        "tool calls",
        &json!({"role": "assistant", "tool_calls": (0..5_000).map(call).collect::<Vec<_>>()}).to_string(),
    );
}

#[test]
fn a_change_of_many_notes_is_told_in_few_words() {
    let notes: Vec<(String, String)> =
        (0..3_000).map(|number| (format!("notes/number-{number}.md"), "[[hub]]\n".to_owned())).collect();
    let mut all: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    all.push(("hub.md", "# Hub\n"));
    let env = Env::with(&all).quick();
    let text = said(&json!([{"action": "rename_file", "path": "hub.md", "new_path": "centre.md"}]));
    let ran = env.run(&["exec", "--json"], &text);
    assert!(ran.stdout.len() <= 2 * text.len() + FREE, "{} bytes", ran.stdout.len());
    let report = ran.exits(0);
    assert_eq!(report["changed_total"], 3_002);
    assert_eq!(env.read("notes/number-2999.md"), "[[centre]]\n");
}

/// The first failures are told in full: a model mends those, and sends the rest again.
#[test]
fn the_first_failures_keep_their_hints() {
    let env = Env::ada();
    let wrong = json!({"action": "update_file", "path": "user.md", "old_content": "- city: Lundon", "new_content": "- city: Rome"});
    let report = env.say(&many(&wrong, 100), &[]).exits(4);
    let actions = report["actions"].as_array().unwrap();
    assert_eq!(actions.len(), 100);
    assert!(actions[0]["error"]["closest"].is_object() && actions[0]["error"]["hint"].is_string());
    assert!(actions[99]["error"]["closest"].is_null() && actions[99]["error"]["code"] == "content_not_found");
}
