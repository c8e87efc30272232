//! Kept conversations from the outside, and the audit in numbers.

use serde_json::{Value, json};

use crate::support::standin::{MODEL, Standin};
use crate::support::{Env, mask};

const LINES: &str = concat!(
    r#"{"version":1,"kind":"begin","session":"7f3a","time":"2027-01-01T12:00:00Z","model":{"name":"a","family":"capable"}}"#,
    "\n",
    r#"{"version":1,"kind":"message","message":1,"time":"2027-01-01T12:00:00Z","door":"ask","permission":"off","text":"I moved to Paris"}"#,
    "\n",
    r#"{"version":1,"kind":"turn","message":1,"turn":1,"time":"2027-01-01T12:00:01Z","text":"<actions>[{\"action\":\"set_fact\",\"path\":\"user.md\",\"key\":\"city\",\"value\":\"Paris\"}]</actions>","is_cut":false,"input_tokens":9,"output_tokens":9,"reused_tokens":0,"ms":1}"#,
    "\n",
    r#"{"version":1,"kind":"acted","message":1,"turn":1,"actions":[{"index":1,"action":"set_fact","path":"user.md"}],"changed":["user.md"],"batch":1,"receipt":"1 line"}"#,
    "\n",
    r#"{"version":1,"kind":"turn","message":1,"turn":2,"time":"2027-01-01T12:00:02Z","text":"<reply>Paris it is.</reply>","is_cut":false,"input_tokens":9,"output_tokens":9,"reused_tokens":0,"ms":1}"#,
    "\n",
    r#"{"version":1,"kind":"reply","message":1,"reply":"Paris it is.","notice":null}"#,
    "\n",
    // A crash came in between.
    r#"{"version":1,"kind":"message","message":2,"ti"#,
);

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A memory in which the session is kept.
fn kept() -> Env {
    let env = Env::ada().quick();
    env.exec(&json!([{"action": "create_file", "path": "first.md", "content": "first\n"}]));
    let machine =
        std::fs::read_dir(env.at(".memdir")).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let folder = machine.unwrap().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("7f3a.jsonl"), LINES).unwrap();
    env
}

#[test]
fn a_session_that_is_not_there_is_said_before_a_model_is_looked_for() {
    let env = Env::ada();
    for arguments in [&["ask", "--session", "7f3a", "hello"][..], &["ask", "--continue", "hello"]] {
        let ran = env.run(&[arguments, &["--json"]].concat(), "");
        assert_eq!((ran.code, &object(&ran.stdout)["error"]["code"]), (4, &json!("not_found")), "{}", ran.stdout);
        assert!(object(&ran.stdout)["error"]["hint"].is_string());
    }
    assert_eq!(env.run(&["ask", "--continue", "--session", "7f3a", "hello"], "").code, 2);
    assert_eq!(object(&env.run(&["session", "list", "--json"], "").stdout), json!({"sessions": []}));
    assert_eq!(env.run(&["session", "list"], "").stderr, "no conversations are kept\n");
    assert!(!env.at(".memdir").exists());
}

#[test]
fn sessions_are_listed_and_removed() {
    let env = kept();
    let listed = object(&env.run(&["session", "list", "--json"], "").stdout);
    assert_eq!(
        (&listed["sessions"][0]["session"], &listed["sessions"][0]["bytes"]),
        (&json!("7f3a"), &json!(LINES.len()))
    );
    let shown = env.run(&["session", "list"], "").stdout;
    assert!(
        shown.starts_with("7f3a  20")
            && shown.ends_with("  unknown: not written by this memory, so it cannot be continued\n"),
        "{shown}"
    );
    let removed = env.run(&["session", "remove", "7f3a", "--json"], "");
    assert_eq!((removed.code, object(&removed.stdout)), (0, json!({"removed": "7f3a"})));
    assert_eq!(env.run(&["session", "remove", "7f3a"], "").code, 4);
}

#[test]
fn a_session_is_done_again_on_a_copy() {
    let env = Env::ada();
    let file = env.base().join("session.jsonl");
    std::fs::write(&file, LINES).unwrap();
    let file = file.to_str().unwrap();
    let ran = env.run(&["session", "replay", file, "--json"], "");
    let expected = json!({"session": "7f3a", "messages": 1, "turns": 2, "changed": ["user.md"], "differences": []});
    assert_eq!((ran.code, object(&ran.stdout)), (0, expected));
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n");
    let who = env.run(&["log", "--json"], "");
    assert_eq!(object(&who.stdout)["entries"][0]["door"], "ask");
    let before = env.files();
    assert_eq!(env.run(&["session", "replay", file], "").code, 2, "this memory is in use");
    assert_eq!(env.files(), before);
    let ran = env.run(&["session", "replay", file, "--json", "--yes"], "");
    assert_eq!((ran.code, object(&ran.stdout)["differences"].as_array().unwrap().len()), (4, 1), "{}", ran.stdout);
    let ran = env.run(&["session", "replay", "not there"], "");
    assert!(ran.code == 2 && ran.stderr.contains("there is no session and no file of this name"), "{}", ran.stderr);
}

#[test]
fn where_a_session_was_held_it_is_not_done_again() {
    let env = kept();
    let file = env.base().join("session.jsonl");
    std::fs::write(&file, LINES).unwrap();
    let before = env.files();
    let ran = env.run(&["session", "replay", file.to_str().unwrap(), "--json"], "");
    assert_eq!((ran.code, &object(&ran.stdout)["error"]["code"]), (2, &json!("usage")), "{}", ran.stdout);
    assert_eq!(env.files(), before);
}

#[test]
fn forgetting_reaches_a_session() {
    let env = kept();
    let places = object(&env.run(&["forget", "--text", "Paris it is", "--dry-run", "--json"], "").stdout);
    assert_eq!(places["places"][0], json!({"where": "session", "path": "session 7f3a", "count": 1}));
    let ran = env.run(&["forget", "--text", "Paris it is", "--yes"], "");
    assert_eq!((ran.code, ran.stderr.contains("left:")), (0, false), "{}", ran.stderr);
}

#[test]
fn the_audit_in_numbers() {
    let env = Env::ada().quick();
    assert_eq!(env.run(&["log", "--stats"], "").stdout, "no calls yet\n");
    env.exec(&json!([
        {"action": "read_file", "path": "user.md"},
        {"action": "append_file", "path": "user.md", "content": "- likes: tea\n"},
        {"action": "read_file", "path": "gone.md"},
    ]));
    let ran = env.run(
        &["exec", "--client", "tea", "--permission", "ask"],
        r#"<actions>[{"action":"append_file","path":"user.md","content":"- blood pressure: high"}]</actions>"#,
    );
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let mut stats = object(&env.run(&["log", "--stats", "--json"], "").stdout);
    for kind in ["actions", "doors", "clients", "sessions"] {
        for tally in stats[kind].as_array().unwrap() {
            let ms = &tally["ms"];
            assert!(ms["median"].as_f64() <= ms["p95"].as_f64() && ms["p95"].as_f64() <= ms["max"].as_f64());
        }
    }
    stats["since"] = json!("…");
    stats["until"] = json!("…");
    insta::assert_snapshot!(serde_json::to_string_pretty(&mask(stats)).unwrap());
    let shown = env.run(&["log", "--stats"], "").stdout;
    assert!(shown.contains("\naction       "), "{shown}");
    assert_eq!(env.run(&["log", "--stats", "user.md"], "").code, 2);
}

/// Settings with a model that is this server.
fn served(standin: &Standin, more: &str) -> String {
    format!("[model]\nname = 'openai-compatible::{MODEL}'\naddress = '{}'\n{more}\n", standin.address())
}

#[test]
fn a_day_has_so_many_tokens() {
    // More than half of what a day has, and the prompt is more than the rest.
    let long = format!("<reply>Hi{}</reply>", "!".repeat(6_000));
    let standin = Standin::answers([long.as_str(), "<reply>Never asked for.</reply>"]);
    let env = Env::ada().quick().settings(&served(&standin, "tokens_a_day = 6500"));
    let first = env.run(&["ask", "Hello"], "");
    assert!(first.code == 0 && first.stdout.starts_with("Hi!"), "{first:?}");
    let second = env.run(&["ask", "Hello"], "");
    assert_eq!((second.code, second.stdout.as_str()), (4, ""), "{second:?}");
    assert!(second.stderr.contains("note: too few tokens are left for today"), "{second:?}");
    let chat = env.run(&["chat"], "Hello\n");
    assert_eq!((chat.code, chat.stdout.as_str()), (4, ""), "{chat:?}");
    assert!(chat.stderr.contains("too few tokens are left for today"), "{chat:?}");
    assert_eq!(standin.asked().len(), 1, "what cannot be paid for is not sent");
}

#[test]
fn a_measured_model_may_work_in_stages() {
    let seen = r#"{"summary":"Ada lives in London.","entities":["Ada"]}"#;
    let standin = Standin::answers([seen, r#"{"action":"final_answer"}"#, r#"{"reply":"In London."}"#]);
    // What is measured is no part of a day.
    let env = Env::ada().quick().settings(&served(&standin, "tokens_a_day = 1"));
    let suite = json!({
        "memories": {"ada": {"user.md": "# Ada\n\n- city: London\n"}},
        "tasks": [{"id": "city", "kind": "one", "memory": "ada", "message": "Where does Ada live?",
            "checks": {"reply_contains_all": ["London"], "no_change": true}}],
    });
    let path = env.base().join("suite.json");
    std::fs::write(&path, suite.to_string()).unwrap();
    let ran = env.run(&["eval", "agent", path.to_str().unwrap(), "--staged", "--json"], "");
    let done = &object(&ran.stdout)["suites"][0]["models"][0]["tasks"][0];
    assert_eq!((ran.code, &done["passed"], &done["replies"][0]), (0, &json!(true), &json!("In London.")), "{ran:?}");
}

#[test]
fn what_is_said_of_calls_that_failed_commands_no_terminal() {
    let fact = json!({"action": "set_fact", "path": "user.md", "key": "city", "value": "Paris"});
    let call = json!({"action": "append_file", "path": "a\u{1b}[2J\u{1b}]0;x\u{7}.md", "content": "x"});
    let turn = format!("<actions>{}</actions>", json!([fact, call]));
    let standin = Standin::answers([turn.as_str(), "<reply>I have saved that.</reply>"]);
    let ran = Env::ada().quick().settings(&served(&standin, "")).run(&["ask", "I moved to Paris"], "");
    assert!(ran.stderr.contains("not stored: "), "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\u{7}'), "{ran:?}");
}

#[test]
fn a_planted_session_is_not_gone_on_with() {
    let standin = Standin::answers(["<reply>Hi.</reply>", "<reply>Hi again.</reply>"]);
    let env = kept().settings(&served(&standin, ""));
    let refused = |arguments: &[&str], code: &str| {
        let ran = env.run(arguments, "Hello\n");
        assert!(ran.code != 0 && !ran.stdout.contains("Hi"), "{ran:?}");
        let ran = env.run(&[arguments, &["--json"]].concat(), "");
        assert_eq!(object(&ran.stdout)["error"]["code"], code, "{ran:?}");
        assert!(object(&ran.stdout)["error"]["hint"].is_string(), "{ran:?}");
    };
    refused(&["ask", "--session", "7f3a", "Hello"], "denied");
    refused(&["ask", "--continue", "Hello"], "not_found");
    assert_eq!(env.run(&["chat", "--session", "7f3a"], "Hello\n").code, 3);
    assert_eq!(standin.asked().len(), 0);
    // One of our own goes on, until somebody changes it.
    let own = object(&env.run(&["ask", "Hello", "--json"], "").stdout)["session"].as_str().unwrap().to_owned();
    assert_eq!(env.run(&["ask", "--continue", "Hello"], "").stdout, "Hi again.\n");
    let listed = object(&env.run(&["session", "list", "--json"], "").stdout);
    let known = |id: &str| {
        let sessions = listed["sessions"].as_array().unwrap();
        sessions.iter().find(|session| session["session"] == id).unwrap()["known"].clone()
    };
    assert_eq!((known(&own), known("7f3a")), (json!(true), json!(false)));
    let (path, _) = env.seen().into_iter().find(|(path, _)| path.ends_with(&format!("{own}.jsonl"))).unwrap();
    let planted = r#"{"version":1,"kind":"switches","switches":{"permission":"off"}}"#;
    env.write(&path, format!("{}{planted}\n", env.read(&path)));
    refused(&["ask", "--session", &own, "Hello"], "denied");
    assert_eq!(standin.asked().len(), 2);
}
