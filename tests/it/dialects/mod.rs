//! Every dialect says the same: each action becomes the same one, and one scenario ends in the same memory.

use std::fmt::Write;
use std::fs;

use memdir_core::action::Action;
use memdir_core::catalog::{self, ROWS};
use memdir_core::report::Variables;
use memdir_dialect::{Dialect, Entry, Parsed, parse, parse_as};
use serde_json::{Value, json};

use crate::docs;
use crate::support::Env;
use say::{Call, MCP_BLOCK, NATIVE, TONGUES, Tongue};

mod say;

fn call(json: &Value) -> Call {
    json.as_object().unwrap().clone()
}

/// The one call of a text.
#[track_caller]
fn only(parsed: &Parsed) -> memdir_core::action::Call {
    let mut turn = parsed.turn();
    let Some(Entry::Call(call)) = turn.next_entry().map(std::borrow::Cow::into_owned) else { panic!("{parsed:?}") };
    call
}

/// The action that a call is, as the dialect means it.
fn meant(tongue: &Tongue, mut call: Call) -> Action {
    let name = call["action"].as_str().unwrap().to_owned();
    for key in ["action", "assign_to"] {
        call.shift_remove(key);
    }
    if (tongue.dialect, name.as_str()) == (Dialect::MemoryTool, "insert_text") {
        // The memory tool inserts whole lines.
        call["content"] = json!(format!("{}\n", call["content"].as_str().unwrap()));
    }
    catalog::decode(1, &name, call).unwrap()
}

/// Each row's example through every dialect that can say it.
#[test]
fn an_action_is_the_same_in_every_dialect() {
    for tongue in TONGUES {
        let mut said = 0;
        for row in ROWS {
            // The examples themselves are not run.
            let example = call(&serde_json::from_str(&row.example.replace("example", "sample")).unwrap());
            let Some(text) = (tongue.say)(&example) else { continue };
            said += 1;
            let detected = parse(text.as_bytes());
            assert_eq!(detected.dialect(), tongue.dialect, "{text}");
            let forced = parse_as(text.as_bytes(), Some(tongue.dialect), &Variables::default());
            let found = only(&detected);
            assert_eq!(found, only(&forced), "{text}");
            assert_eq!(found.action, meant(tongue, example), "{text}");
            let issues: Vec<_> = detected.issues.iter().map(|issue| issue.code).collect();
            assert!(issues.is_empty(), "{text}: {issues:?}");
        }
        assert!(said >= 2, "{} says {said} actions", tongue.name);
    }
}

/// What the scenario does, in terms of the catalog, and how it exits.
fn scenario() -> [(&'static str, Call, i32); 6] {
    let city = |path: &str, old: &str, new: &str| {
        call(&json!({"action": "update_file", "path": path, "old_content": old, "new_content": new}))
    };
    let make = json!({"action": "create_file", "path": "entities/bob.md", "content": "# Bob\n\n- friend: [[user]]\n"});
    let rename = json!({"action": "rename_file", "path": "entities/bob.md", "new_path": "entities/robert.md"});
    [
        ("create", call(&make), 0),
        ("link", city("user.md", "- city: London", "- city: London\n- friend: [[entities/bob]]"), 0),
        ("update", city("user.md", "- city: London", "- city: Paris"), 0),
        ("fail", city("user.md", "- town: Rome", "- town: Oslo"), 4),
        ("recover", city("user.md", "- city: Paris", "- city: Oslo"), 0),
        ("rename", call(&rename), 0),
    ]
}

/// What a dialect has no words for is done in the native one, by whoever runs the model.
#[test]
fn one_scenario_ends_in_the_same_memory_in_every_dialect() {
    let robert = "# Bob\n\n- friend: [[user]]\n";
    for tongue in TONGUES {
        for forced in ["detect", tongue.name] {
            let env = Env::ada().quick();
            for (step, call, exit) in scenario() {
                let (text, dialect) = match (tongue.say)(&call) {
                    Some(text) => (text, forced),
                    None => ((NATIVE.say)(&call).unwrap(), "native"),
                };
                let ran = env.say(&text, &["--dialect", dialect]);
                let report = ran.exits(exit);
                assert_eq!(report["actions"].as_array().unwrap().len(), 1, "{}, {step}", tongue.name);
                let has_answer = !matches!(tongue.name, "native" | "lines") && dialect == forced;
                assert_eq!(report["answer"].is_string(), has_answer, "{}, {step}: {report}", tongue.name);
                if exit != 0 {
                    assert_eq!(report["actions"][0]["error"]["code"], "content_not_found", "{}", tongue.name);
                }
            }
            let user = "# Ada\n\n- city: Oslo\n- friend: [[entities/robert]]\n";
            assert_eq!(env.read("user.md"), user, "{}", tongue.name);
            assert_eq!(env.read("entities/robert.md"), robert, "{}", tongue.name);
            assert_eq!(env.files().len(), 3);
        }
    }
}

#[test]
fn a_line_in_another_note_is_changed_there_as_far_as_the_rules_go() {
    let say = |env: &Env, old: &str| {
        let text = (say::LINES.say)(&call(
            &json!({"action": "update_file", "path": "user.md", "old_content": old, "new_content": "- kind: shop"}),
        ));
        env.say(&text.unwrap(), &[])
    };
    let env = Env::ada().quick();
    let report = say(&env, "- kind: company").exits(0);
    assert_eq!(
        (&report["actions"][0]["path"], &report["changed"]),
        (&json!("entities/acme.md"), &json!(["entities/acme.md"]))
    );
    assert_eq!(report["issues"][0]["code"], "other_note");
    assert_eq!(env.read("entities/acme.md"), "# Acme\n\n## Basic Information\n\n- kind: shop\n- founder: [[user]]\n");
    for verdict in ["deny", "ask"] {
        let rule = format!("[[rule]]\npath = \"entities/**\"\nverdict = \"{verdict}\"\n");
        let env = Env::ada().quick().settings(&rule);
        let before = env.files();
        let text = (say::LINES.say)(&call(
            &json!({"action": "update_file", "path": "user.md", "old_content": "- kind: company", "new_content": ""}),
        ));
        let report = env.say(&text.unwrap(), &["--permission", "flag"]).exits(4);
        assert_eq!(report["actions"][0]["error"]["code"], "content_not_found", "{report}");
        assert!(!report.to_string().contains("acme"), "{report}");
        assert_eq!(env.files(), before);
    }
    let rule = "[[rule]]\npath = \"private/**\"\nverdict = \"deny\"\n";
    let env = Env::ada().quick().settings(rule);
    say(&env, "- kind: company").exits(0);
    assert!(env.read("entities/acme.md").contains("- kind: shop"));
}

#[test]
fn blocks_are_answered_in_their_place() {
    let env = Env::ada();
    let text = "Let me look.\n<mcp:tool>\nname: read_file\nparameters: {\"path\":\"user.md\"}\n</mcp:tool>\n<mcp:tool>\nname: calculator\nparameters:\n  expression: 1+1\n</mcp:tool>\n<mcp:tool>\nname: memory\nparameters: {\n  operation: store\n  key: food\n  content: User likes chocolate\n  has_explicit_permission: true\n}\n</mcp:tool>\n";
    let ran = env.run(&["exec"], text);
    assert_eq!(ran.code, 4, "{ran:?}");
    let results: Vec<&str> = ran
        .stdout
        .split("<mcp:tool_result>\n")
        .skip(1)
        .map(|rest| rest.split("\n</mcp:tool_result>").next().unwrap())
        .collect();
    let results: Vec<Value> = results.into_iter().map(|json| serde_json::from_str(json).unwrap()).collect();
    assert_eq!(
        results[0],
        json!({"action": "read_file", "path": "user.md", "ok": true, "value": "# Ada\n\n- city: London\n"})
    );
    assert_eq!((&results[1]["ok"], &results[1]["error"]["code"]), (&json!(false), &json!("unknown_action")));
    assert_eq!((&results[2]["ok"], &results[2]["path"]), (&json!(true), &json!("memories/food.md")));
    assert_eq!(env.read("memories/food.md"), "User likes chocolate\n");
    // Nothing of the text itself is lost.
    let (mut rest, mut kept) = (ran.stdout.as_str(), String::new());
    while let Some((before, after)) = rest.split_once("\n\n<mcp:tool_result>") {
        kept.push_str(before);
        rest = after.split_once("</mcp:tool_result>").unwrap().1;
    }
    assert_eq!(format!("{kept}{rest}"), format!("{text}\n"));
    let ran = env.say("<mcp:tool>\nparameters: {}\n</mcp:tool>", &[]).exits(2);
    assert!(ran["answer"].as_str().unwrap().contains("\"no_actions\""), "{ran}");
    assert_eq!(MCP_BLOCK.dialect, Dialect::McpBlock);
}

/// One action in every dialect, request and answer.
fn examples() -> String {
    let update = json!({"action": "update_file", "path": "user.md", "old_content": "- city: London", "new_content": "- city: Paris"});
    let mut page = String::new();
    for tongue in TONGUES {
        let Some(text) = (tongue.say)(&call(&update)) else { continue };
        let ran = Env::ada().run(&["exec", "--dialect", tongue.name], &text);
        assert_eq!(ran.code, 0, "{ran:?}");
        writeln!(page, "### {}\n\n```text\n{text}\n```\n\n```text\n{}\n```\n", tongue.name, ran.stdout.trim_end())
            .unwrap();
    }
    page
}

/// A table with a mark for what each dialect can say.
fn table<'r>(title: &str, rows: impl Iterator<Item = (&'r str, Call)>) -> String {
    let names: Vec<String> = TONGUES.iter().map(|tongue| format!("`{}`", tongue.name)).collect();
    let mut page = format!("| {title} | {} |\n| --- |{}\n", names.join(" | "), " --- |".repeat(names.len()));
    for (name, call) in rows {
        let mark = |tongue: &Tongue| if (tongue.say)(&call).is_some() { "yes" } else { "–" };
        writeln!(page, "| {name} | {} |", TONGUES.iter().map(mark).collect::<Vec<_>>().join(" | ")).unwrap();
    }
    page
}

#[test]
fn the_page_of_dialects_is_made_from_what_they_say() {
    let examples_of_rows = ROWS.iter().map(|row| (row.name, call(&serde_json::from_str(row.example).unwrap())));
    let parts = [
        ("actions", table("action", examples_of_rows)),
        ("examples", examples()),
        ("scenario", table("step", scenario().iter().map(|(step, call, _)| (*step, call.clone())))),
    ];
    let path = "docs/dialects.md";
    let mut page = fs::read_to_string(docs::root().join(path)).unwrap().replace("\r\n", "\n");
    for (name, made) in parts {
        let (start, end) = (format!("<!-- made: {name} -->\n"), format!("<!-- end of {name} -->\n"));
        let (before, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{path} has no place for {name}"));
        let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{path} has no end of {name}"));
        page = format!("{before}{start}\n{}\n\n{end}{after}", made.trim_end());
    }
    docs::check(path, &page);
}
