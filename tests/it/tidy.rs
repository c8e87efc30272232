//! `memdir tidy`: proposals only, each once, and one change of all that is approved.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::Env;
#[cfg(target_os = "linux")]
use crate::support::{number, trace::Tracer};

/// A memory with something to do, of nearly each kind.
fn untidy() -> Env {
    let words: String = (0..60).map(|number| format!("word{number} ")).collect();
    Env::with(&[
        (
            "user.md",
            "# Ada\n\n- city: London\n- born: 1990\n- job: nurse\n- pet: cat\n- eyes: green\n- shoes: 39\n- height: 170 cm\n- permit: A12 (until 2024-05)\n- at: [[x/acmee]]\n- city: Paris\n\nShe knows the Harbour Club.\n",
        ),
        ("x/acme.md", "# Acme\n\nA firm of [[user]].\n"),
        ("places/harbour.md", "# Harbour Club\n\nBy the sea.\n"),
        ("a.md", &format!("{words}\n\nmore [[user]]\n")),
        ("old/a.md", &format!("{words}\n")),
    ])
}

fn notes(env: &Env) -> BTreeMap<String, String> {
    env.files().into_iter().filter(|(path, _)| !path.starts_with('.')).collect()
}

fn tidy(env: &Env) -> Value {
    env.ask(&["tidy"]).exits(0)
}

fn code(env: &Env) -> String {
    let shown = env.run(&["pending"], "").stdout;
    shown.split("--code ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn the_shape_of_a_run() {
    let env = Env::with(&[("user.md", "# Ada\n- permit: A (until 2024)\n"), ("b.md", "[[user]]\n")]);
    let step = json!({"why": "its time is over", "path": "user.md",
        "actions": [{"action": "update_file", "path": "user.md", "old_content": "- permit: A (until 2024)\n", "new_content": ""}]});
    let dry = env.ask(&["tidy", "--dry-run"]).exits(0);
    assert_eq!(dry, json!({"proposal": null, "waiting": null, "steps": [step], "left": 0}));
    assert!(!env.at(".memdir").exists(), "what is only said leaves nothing");
    assert_eq!(tidy(&env), json!({"proposal": 1, "waiting": null, "steps": [step], "left": 0}));
    assert_eq!(tidy(&env), json!({"proposal": null, "waiting": 1, "steps": [], "left": 0}));
}

#[test]
fn nothing_changes_before_it_is_approved_and_one_undo_takes_all_back() {
    let env = untidy();
    let before = notes(&env);
    let run = tidy(&env);
    assert!(run["steps"].as_array().unwrap().len() >= 5, "{run}");
    assert_eq!(notes(&env), before);
    env.ask(&["approve", "1", "--code", &code(&env)]).exits(0);
    let after = notes(&env);
    assert!(!after.contains_key("old/a.md") && after["user.md"].contains("[[harbour|Harbour Club]]"), "{after:?}");
    assert!(
        !after["user.md"].contains("London")
            && !after["user.md"].contains("permit")
            && after["user.md"].contains("[[x/acme]]")
    );
    assert_eq!(tidy(&env), json!({"proposal": null, "waiting": null, "steps": [], "left": 0}));
    env.ask(&["undo"]).exits(0);
    assert_eq!(notes(&env), before);
    // What was proposed once is not proposed again.
    assert_eq!(tidy(&env)["steps"], json!([]));
}

#[test]
fn what_was_rejected_is_not_proposed_again_and_what_is_new_is() {
    let env = untidy();
    tidy(&env);
    env.ask(&["reject", "1"]).exits(0);
    assert_eq!(tidy(&env), json!({"proposal": null, "waiting": null, "steps": [], "left": 0}));
    env.write("new.md", "# New\n- ticket: B (until 2023)\n\n[[user]]\n");
    let run = tidy(&env);
    assert_eq!((run["proposal"].clone(), run["steps"].as_array().unwrap().len()), (json!(2), 1), "{run}");
    // What is forgotten leaves no trace of what was proposed about it.
    env.ask(&["reject", "2"]).exits(0);
    env.ask(&["forget", "--text", "ticket", "--yes"]).exits(0);
    assert!(tidy(&env)["steps"].as_array().unwrap().len() > 1);
}

#[test]
fn who_may_only_read_proposes_nothing() {
    let env = untidy();
    let text = crate::support::said(&json!([{"action": "read_file", "path": "user.md"}]));
    env.say(&text, &[]).exits(0);
    let before = env.ask(&["pending"]).exits(0);
    env.ask(&["tidy", "--dry-run"]).exits(0);
    assert_eq!(env.ask(&["pending"]).exits(0), before);
}

#[cfg(target_os = "linux")]
fn command(env: &Env, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.arg("--memory").arg(env.memory()).args(arguments);
    command.env("HOME", env.home()).env_remove("MEMDIR").env_remove("MEMDIR_CRASH_STEP");
    command
}

/// All calls when `MEMDIR_CRASH_STEP` is 1.
#[test]
#[cfg(target_os = "linux")]
fn a_run_killed_at_any_system_call_is_proposed_once_or_not_at_all() {
    let tracer = Tracer::build();
    let begun = || {
        let env = untidy();
        env.exec(&json!([{"action": "create_file", "path": "first.md", "content": "[[user]]\n"}]));
        env
    };
    let env = begun();
    let total = tracer.count(&command(&env, &["tidy", "--json"])).total;
    let expected = notes(&env);
    let step = usize::try_from(number("MEMDIR_CRASH_STEP", 23)).unwrap();
    let (mut waited, mut not) = (0, 0);
    for at in (1..=total).step_by(step) {
        let env = begun();
        let killed = tracer.kill(&command(&env, &["tidy", "--json"]), at);
        assert_eq!(notes(&env), expected, "killed at {at}");
        let next = tidy(&env);
        let was_proposed = next["waiting"] == json!(1);
        assert!(was_proposed || next["proposal"].is_u64(), "killed at {at} of {total}: {next}");
        assert!(was_proposed || !killed.output.contains("\"proposal\":"), "killed at {at} of {total}");
        let pending = env.ask(&["pending"]).exits(0);
        assert_eq!(pending["pending"].as_array().unwrap().len(), 1, "killed at {at} of {total}");
        assert_eq!(pending["problems"], json!([]));
        (waited, not) = (waited + usize::from(was_proposed), not + usize::from(!was_proposed));
    }
    println!("killed at every {step}th of {total} system calls: {waited} waited, {not} did not");
    assert!(waited > 0 && not > 0);
}

#[test]
fn a_line_without_indent_goes_with_no_item() {
    let over = "# Car\n\n- permit: A12 (until 2024-05)\n";
    let count = |note: &str| {
        let env = Env::with(&[("car.md", note)]);
        env.ask(&["tidy", "--dry-run"]).exits(0)["steps"].as_array().unwrap().len()
    };
    assert_eq!((count(over), count(&format!("{over}On Mondays the bins go out.\n"))), (1, 0));
}
