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
        "question": "which one is right: `- city: Paris`, or `- city: London` in line 3 of `user.md`?",
        "other": {"path": "user.md", "line": 3, "text": "- city: London", "by": by("outside", json!({}))},
        "by": by("model", json!({"batch": 1, "door": "exec", "time": "T"})),
    });
    assert_eq!(asked[0], expected);
    let listed = env.run(&["review"], "");
    assert_eq!(
        listed.stdout,
        "user.md:11  which one is right: `- city: Paris`, or `- city: London` in line 3 of `user.md`?\n"
    );
    assert_eq!(Env::with(&[("user.md", ADA)]).ask(&["review"]).exits(0), json!({"questions": []}));
}

/// Where a line holds only the key, the question has the value too; what an item says of another note is asked about.
#[test]
fn a_question_says_both_values() {
    let ada = ADA.replace("- city: London\n", "") + "\nCity\n: London\n";
    let env = Env::with(&[("ada.md", &ada), ("user.md", "# Me\n\n- [[ada]]: city: Paris\n")]);
    let asked = questions(&env);
    assert_eq!(
        asked[0]["question"],
        "which one is right: `- [[ada]]: city: Paris`, or `City: London` in line 11 of `ada.md`?"
    );
    assert_eq!((&asked[0]["key"], &asked[0]["value"]), (&json!("city"), &json!("Paris")));
}

/// Answers as many questions as there are answers, one after the other; gives what was shown.
pub(crate) fn answer_all(env: &Env, answers: &[&str]) -> String {
    let (mut terminal, mut seen) = (Terminal::start(command(env)), String::new());
    for answer in answers {
        seen.push_str(&terminal.until(if *answer == "yes" { "[y/N]" } else { "[q]uit:" }));
        terminal.answer(&format!("{answer}\n"));
    }
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{seen}{rest}");
    seen + &rest
}

#[test]
fn both_may_stay_changes_no_note_and_is_settled() {
    let env = disputed();
    let before = env.read("user.md");
    let conflicts = || env.ask(&["check", "--kind", "conflicting_fact"]).exits(0)["findings"].as_array().unwrap().len();
    assert_eq!(conflicts(), 1);
    // Yes is no answer to which of two.
    let shown = answer_all(&env, &["y", "b"]);
    for words in ["[1] user.md:3  - city: London", "[2] user.md:11  - city: Paris", "which one? type 1 or 2"] {
        assert!(shown.contains(words), "{shown}");
    }
    assert_eq!((env.read("user.md"), questions(&env), conflicts()), (before, vec![], 0));
    // The journal has no batch of it, the audit an entry for each line.
    let log = env.ask(&["log"]).exits(0);
    assert_eq!(log["entries"].as_array().unwrap().len(), 1, "{log}");
    let audit = env.run(&["audit", "export", "--jsonl"], "").stdout;
    assert_eq!(audit.lines().filter(|line| line.contains("\"confirm\"")).count(), 2);
}

#[test]
fn an_answer_that_takes_out_a_line_is_followed_by_the_next_question() {
    let person = |number: usize| {
        let text = format!("# P{number}\n\n- birthday: {number} June\n- city: C{number}\n- shoe size: 4{number}\n");
        (format!("p{number}.md"), text)
    };
    let mut notes: Vec<_> = (1..5).map(person).collect();
    let user = "# Me\n\n- birthday: 12 May\n- birthday: 13 May\n- city: Ghent\n- city: Bruges\n- shoe size: 44\n- shoe size: 45\n";
    notes.push(("user.md".to_owned(), user.to_owned()));
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let env = Env::with(&notes);
    // What may be a value is no answer before it is agreed to.
    let shown = answer_all(&env, &["1", "2", "46", "yes"]);
    assert!(shown.contains("3 of 3") && shown.contains("is `46` the value"), "{shown}");
    assert_eq!(env.read("user.md"), "# Me\n\n- birthday: 12 May\n- city: Bruges\n- shoe size: 46\n");
    assert_eq!(questions(&env), Vec::<Value>::new());
    let said = env.run(&["check"], "");
    assert!(!said.stdout.contains("conflicting fact"), "{}", said.stdout);
}

#[test]
fn a_person_is_told_what_to_type() {
    let env = disputed();
    let said = env.run(&["check"], "").stderr;
    assert!(said.contains("`memdir review`") && said.contains("`memdir tidy`") && !said.contains("exec"), "{said}");
    let said = env.run(&["add", "user.md", "- job: baker"], "").stderr;
    assert!(said.contains("contradicts") && said.contains("`memdir review`") && !said.contains('{'), "{said}");
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
    for typed in ["\n", "s\n", "q\n", "\u{4}"] {
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
