//! `memdir chat` through pipes: each line is a message or a command, and nobody is asked.

use std::path::PathBuf;

use regex::Regex;
use serde_json::json;

use super::{MOVES, ada, last};
use crate::support::Env;
use crate::support::standin::Standin;

/// The file of the one session that is kept.
fn session_file(env: &Env) -> PathBuf {
    let found = crate::support::files(&env.at(".memdir"));
    let mut found = found.keys().filter(|path| path.ends_with(".jsonl"));
    let file = env.at(".memdir").join(found.next().unwrap());
    assert_eq!(found.next(), None);
    file
}

#[test]
fn a_conversation_with_its_commands() {
    let rome = MOVES.replace("Paris", "Rome");
    let standin = Standin::answers([
        MOVES,
        "<reply>Paris it is.</reply>",
        "<reply>In Paris [user].</reply>",
        &rome,
        "<reply>I can only read now.</reply>",
        "<reply>You work there.</reply>",
    ]);
    let env = ada(&standin);
    let lines = [
        "I moved to Paris.",
        "Where do I live?",
        "/why",
        "/undo",
        "/actions read",
        "I moved to Rome.",
        "/filter no birthdays",
        "/filter",
        "Where do I work?",
        "/session",
        "/sesion",
    ];
    let ran = env.run(&["chat"], &format!("{}\n", lines.join("\n")));
    let id = session_file(&env).file_stem().unwrap().to_str().unwrap().to_owned();
    let masked = |text: &str| {
        let text = Regex::new(r"\d+ tokens").unwrap().replace_all(text, "[N] tokens").into_owned();
        Regex::new(r"127\.0\.0\.1:\d+")
            .unwrap()
            .replace_all(&text.replace(&id, "[ID]"), "127.0.0.1:[PORT]")
            .into_owned()
    };
    let shown = format!("--- stdout\n{}--- stderr\n{}--- exit {}", masked(&ran.stdout), masked(&ran.stderr), ran.code);
    insta::assert_snapshot!(shown);
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n", "undone, and then only read");
    let asked = standin.asked();
    assert!(last(&asked[4]).contains("read_only"), "the model hears why: {}", last(&asked[4]));
    let system = asked[3]["messages"][0]["content"].as_str().unwrap();
    assert!(!system.contains("`update_file`"), "{system}");
    let log = env.ask(&["log"]).exits(0);
    let doors: Vec<_> = log["entries"].as_array().unwrap().iter().map(|entry| &entry["door"]).collect();
    assert_eq!(doors, ["chat", "chat"], "{log}");
}

#[test]
fn what_is_filtered_does_not_leave_the_machine() {
    let standin = Standin::answers(["<reply>Acme is a company.</reply>"]);
    let env = ada(&standin);
    env.write("entities/acme.md", "# Acme\n\n- kind: company\n- phone: +44 20 7946 0958\n");
    let ran = env.run(&["chat"], "/filter no phone numbers\nWhat do you know of Acme?\n");
    assert_eq!((ran.code, ran.stdout.lines().last()), (0, Some("Acme is a company.")), "{ran:?}");
    let asked = standin.asked();
    assert!(last(&asked[0]).contains("- kind: company"), "{}", asked[0]);
    assert!(!asked[0].to_string().contains("7946"), "{}", asked[0]);
}

#[test]
fn switches_stay_with_the_session() {
    let standin = Standin::answers(["<reply>Hello.</reply>", MOVES, "<reply>I can only read.</reply>"]);
    let env = ada(&standin);
    assert_eq!(env.run(&["chat"], "/actions read\nHello\n").code, 0);
    let said = env.ask(&["ask", "--continue", "I moved to Paris."]).exits(0);
    assert_eq!(said["actions"][0]["error"]["code"], "read_only", "{said}");
}

#[test]
fn a_looser_mode_of_permission_holds_only_while_it_is_typed() {
    let keeps = |number: u8| {
        format!(
            r#"<actions>[{{"action":"append_file","path":"user.md","content":"- phone: +44 20 7946 095{number}\n"}}]</actions>"#
        )
    };
    let (first, second) = (keeps(1), keeps(2));
    let standin = Standin::answers([
        &first,
        "<reply>Kept.</reply>",
        &second,
        "<reply>It waits.</reply>",
        &second,
        "<reply>Kept.</reply>",
        "<reply>Hello.</reply>",
        &first,
        "<reply>Kept.</reply>",
    ]);
    let env = ada(&standin);
    let ran = env.run(&["chat"], "/permission off\nMy phone is +44 20 7946 0951.\n");
    assert!(ran.stdout.contains("Kept.") && !ran.stderr.contains("waits"), "{ran:?}");
    let note = "note: this conversation was kept with permission off, but the stricter setting ask holds; `--permission off` overrides it for this run\n";
    let ran = env.run(&["ask", "--continue", "My other phone is +44 20 7946 0952."], "");
    assert_eq!(ran.stderr, format!("{note}nothing was stored\nproposal 1 waits for you: memdir pending\n"), "{ran:?}");
    let ran = env.run(&["ask", "--continue", "--permission", "off", "My other phone is +44 20 7946 0952."], "");
    assert!(!ran.stderr.contains("kept with permission") && !ran.stderr.contains("waits"), "{ran:?}");
    let ran = env.run(&["ask", "--continue", "--permission", "flag", "Hello"], "");
    assert_eq!(ran.stderr, "nothing was stored\n", "who has typed it need not be told");
    // What was typed holds for every conversation that is held then.
    let ran = env.run(&["chat", "--permission", "off"], "/session new\nMy phone is +44 20 7946 0951.\n");
    assert!(ran.stdout.contains("Kept.") && !ran.stderr.contains("waits"), "{ran:?}");
    let ran = env.run(&["chat", "--continue"], "");
    assert!(ran.stderr.contains("this conversation was kept with permission off"), "{ran:?}");
}

#[test]
fn a_kept_conversation_is_listed_and_done_again() {
    let standin = Standin::answers([
        MOVES,
        "<reply>Paris it is.</reply>",
        r##"<actions>[{"action":"create_file","path":"entities/ida.md","content":"# Ida\n\n- sister of [[user]]\n"}]</actions>"##,
        "<reply>Ida is noted.</reply>",
    ]);
    let env = ada(&standin);
    assert_eq!(env.run(&["chat"], "I moved to Paris.\nMy sister is called Ida.\n").code, 0);
    let file = session_file(&env);
    let id = file.file_stem().unwrap().to_str().unwrap();
    let listed = env.ask(&["session", "list"]).exits(0);
    assert_eq!(listed["sessions"][0]["session"], id);
    let other = Env::ada().quick();
    let replayed = other.ask(&["session", "replay", file.to_str().unwrap()]).exits(0);
    let expected =
        json!({"session": id, "messages": 2, "turns": 4, "changed": ["entities/ida.md", "user.md"], "differences": []});
    assert_eq!(replayed, expected);
    assert_eq!(other.files(), env.files());
    assert_eq!(standin.asked().len(), 4, "no model is asked again");
}

#[test]
fn the_exit_code_is_that_of_the_last_message_that_failed() {
    let standin = Standin::answers(["<reply>Hello.</reply>"]);
    let env = ada(&standin);
    let ran = env.run(&["chat"], "Hello\nAnd now?\n/session\n");
    assert_eq!((ran.code, ran.stdout.lines().next()), (6, Some("Hello.")), "{ran:?}");
    assert!(ran.stderr.contains("hint: "), "{ran:?}");
}
