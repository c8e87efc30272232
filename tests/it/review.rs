//! `memdir review`: five questions, of which yes changes no note and another value is a change like any other.

use std::process::Command;

use serde_json::{Value, json};

use crate::ask::terminal::Terminal;
use crate::support::Env;
#[cfg(target_os = "linux")]
use crate::support::{number, trace::Tracer};

const ADA: &str = "# Ada\n\n- city: London\n- born: 1990\n- job: nurse\n- pet: cat\n- car: none\n- height: 170 cm\n- eyes: green\n- shoes: 39\n";

/// A memory that contradicts itself once.
fn disputed() -> Env {
    let env = Env::with(&[("user.md", ADA)]);
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- city: Paris\n"}]));
    env
}

fn questions(env: &Env) -> Vec<Value> {
    env.ask(&["review"]).exits(0)["questions"].as_array().unwrap().clone()
}

fn command(env: &Env) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.arg("--memory").arg(env.memory()).arg("review");
    command.env("HOME", env.home()).env_remove("MEMDIR").env_remove("MEMDIR_CRASH_STEP");
    command
}

#[test]
fn the_shape_of_the_questions() {
    let env = disputed();
    let mut asked = questions(&env);
    assert_eq!(asked.len(), 1);
    assert!(asked[0]["by"]["time"].is_string());
    asked[0]["by"]["time"] = json!("T");
    let none = json!({"tool": null, "door": null, "client": null, "session": null, "message": null, "time": null});
    let by = |by: &str, more: Value| {
        let mut all = none.clone();
        all["by"] = json!(by);
        for key in ["batch", "door", "time"] {
            all[key] = more[key].clone();
        }
        all
    };
    let expected = json!({
        "kind": "disputed", "path": "user.md", "line": 11, "key": "city", "value": "Paris", "text": "- city: Paris",
        "question": "`- city: Paris`, or as line 3 of `user.md` says, `- city: London`?",
        "other": {"path": "user.md", "line": 3, "text": "- city: London", "by": by("outside", json!({}))},
        "by": by("model", json!({"batch": 1, "door": "exec", "time": "T"})),
    });
    assert_eq!(asked[0], expected);
    let listed = env.run(&["review"], "");
    assert_eq!(listed.stdout, "user.md:11  `- city: Paris`, or as line 3 of `user.md` says, `- city: London`?\n");
    assert_eq!(Env::with(&[("user.md", ADA)]).ask(&["review"]).exits(0), json!({"questions": []}));
}

#[test]
fn yes_changes_no_note_and_is_not_asked_again() {
    let env = disputed();
    let before = env.read("user.md");
    let mut terminal = Terminal::start(command(&env));
    terminal.until("[q]uit:");
    terminal.answer("y\n");
    terminal.until("other line");
    terminal.answer("n\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(env.read("user.md"), before);
    assert_eq!(questions(&env), Vec::<Value>::new());
    // The journal has no batch of it, the audit an entry.
    let log = env.ask(&["log"]).exits(0);
    assert_eq!(log["entries"].as_array().unwrap().len(), 1, "{log}");
    assert!(env.run(&["audit", "export", "--jsonl"], "").stdout.lines().any(|line| line.contains("\"confirm\"")));
}

#[test]
fn another_value_is_a_change_that_undo_takes_back() {
    let env = disputed();
    let before = env.read("user.md");
    let mut terminal = Terminal::start(command(&env));
    terminal.until("[q]uit:");
    terminal.answer("= Rome\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(env.read("user.md"), ADA.replace("- city: London\n", "") + "- city: Rome\n");
    env.ask(&["undo"]).exits(0);
    assert_eq!(env.read("user.md"), before);
}

#[test]
fn skip_and_quit_leave_all_as_it_is() {
    for typed in ["\n", "s\n", "Rome\n", "q\n", "\u{4}"] {
        let env = disputed();
        let before = env.read("user.md");
        let mut terminal = Terminal::start(command(&env));
        terminal.until("[q]uit:");
        terminal.answer(typed);
        assert_eq!(terminal.end().0, 0, "{typed:?}");
        assert_eq!((env.read("user.md"), questions(&env).len()), (before, 1), "{typed:?}");
    }
}

/// All calls when `MEMDIR_CRASH_STEP` is 1.
#[test]
#[cfg(target_os = "linux")]
fn an_answer_killed_at_any_system_call_is_there_whole_or_not() {
    let tracer = Tracer::build();
    let step = usize::try_from(number("MEMDIR_CRASH_STEP", 97)).unwrap();
    let after = ADA.replace("- city: London\n", "") + "- city: Rome\n";
    let (mut done, mut not, mut at) = (0, 0, 1);
    loop {
        let env = disputed();
        let before = env.read("user.md");
        let mut terminal = Terminal::start(tracer.killing(&command(&env), at));
        terminal.answer("= Rome\n");
        let (_, said) = terminal.end();
        // The next writer finishes what was begun, or gives it back.
        env.exec(&json!([{"action": "create_file", "path": "next.md", "content": "[[user]]\n"}]));
        let text = env.read("user.md");
        assert!(text == before || text == after, "killed at {at}: {text}");
        assert!(text == after || !said.contains("undo: memdir undo"), "killed at {at}: {said}");
        (done, not) = (done + usize::from(text == after), not + usize::from(text == before));
        if said.contains("undo: memdir undo") {
            break;
        }
        at += step;
    }
    println!("killed at every {step}th system call up to {at}: {done} done, {not} not");
    assert!(done > 0 && not > 0);
}
