//! How `ask` ends where the model does not answer: one exit code, a hint, no key, and nothing half done.

use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::json;

use super::{MOVES, ada, settings};
use crate::support::standin::{Answered, MODEL, Standin};
use crate::support::{Env, Ran};

const KEY: &str = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz";
/// How it begins: a part of a key is one too.
const START: &str = "sk-test-01234567";

/// A memory whose model wants a key.
fn keyed(standin: &Standin) -> Env {
    Env::ada().quick().settings(&settings("openai::scripted", standin, "")).set("OPENAI_API_KEY", KEY)
}

/// It failed since no model answers, and says what to do and no key.
#[track_caller]
fn check(env: &Env, ran: &Ran, words: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{words}: {ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("memdir: ") && lines[1].starts_with("hint: "), "{words}: {ran:?}");
    assert!(lines[0].contains(words), "{words}: {ran:?}");
    assert!(!ran.stderr.contains(START), "{words}: {ran:?}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
}

#[test]
fn each_kind_of_failure_is_told_in_two_lines() {
    let cases: [(Answered, &str); 8] = [
        (Answered::error(401, &format!("Incorrect API key provided: {KEY}.")), "key"),
        (Answered::error(404, &format!("The model `{MODEL}` does not exist.")), MODEL),
        (Answered::error(429, "Rate limit reached").header("Retry-After", "900"), "limit"),
        (Answered::error(503, &format!("with {KEY}")), "127.0.0.1"),
        (Answered::error(400, "This model's maximum context length is 8192 tokens."), "8192"),
        (Answered::error(400, "Invalid 'messages'."), "Invalid"),
        (Answered::new(200).header("Content-Type", "text/html").piece("<html>Sign in</html>"), "127.0.0.1"),
        (Answered::chat("<reply>You live in London.</reply>").cut_after(3), "127.0.0.1"),
    ];
    for (answer, words) in cases {
        let standin =
            Standin::start(move |asked| if asked.method == "GET" { Answered::new(404) } else { answer.clone() });
        let env = keyed(&standin);
        check(&env, &env.run(&["ask", "Where do I live?"], ""), words);
    }
}

#[test]
fn nobody_there_and_no_key_are_told_apart() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let toml = format!("[model]\nname = \"openai::x\"\naddress = \"http://127.0.0.1:{port}/v1\"\n");
    let env = Env::ada().quick().settings(&toml).set("OPENAI_API_KEY", KEY);
    check(&env, &env.run(&["ask", "Where do I live?"], ""), &format!("127.0.0.1:{port}"));
    let env = Env::ada().quick().settings("[model]\nname = \"openai::x\"\n");
    let ran = env.run(&["ask", "Where do I live?"], "");
    check(&env, &ran, "key");
    assert!(ran.stderr.contains("set `OPENAI_API_KEY` in the environment"), "{ran:?}");
}

#[test]
fn a_program_gets_one_object_with_what_was_done_and_why_it_ended() {
    let standin = Standin::says([Answered::chat(MOVES), Answered::error(400, &format!("no {KEY}"))]);
    let env = keyed(&standin);
    let said = env.ask(&["ask", "I moved to Paris."]).exits(6);
    assert_eq!(said["error"]["code"], "model_unreachable", "{said}");
    assert!(said["error"]["hint"].is_string() && !said.to_string().contains(START), "{said}");
    assert_eq!((&said["reply"], &said["changed"], &said["batches"]), (&json!(null), &json!(["user.md"]), &json!([1])));
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n", "what was done is done");
}

#[test]
fn a_person_hears_what_was_done_before_it_failed() {
    let standin = Standin::says([Answered::chat(MOVES), Answered::error(400, "no")]);
    let env = keyed(&standin);
    let ran = env.run(&["ask", "I moved to Paris."], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{ran:?}");
    assert!(ran.stderr.contains("user.md · undo: memdir undo\n") && ran.stderr.contains("\nhint: "), "{ran:?}");
}

#[test]
fn no_key_is_written_anywhere() {
    let standin = Standin::says([Answered::error(401, KEY), Answered::chat("<reply>Hello.</reply>")]);
    let env = keyed(&standin);
    let log = env.base().join("log");
    let log = log.to_str().unwrap();
    assert_eq!(env.run(&["ask", "Hello", "--log", log], "").code, 6);
    assert_eq!(env.run(&["ask", "Hello", "--log", log], "").code, 0);
    assert!(std::path::Path::new(log).exists());
    for (path, bytes) in crate::support::files(env.base()) {
        assert!(!bytes.windows(16).any(|window| window == START.as_bytes()), "{path}");
    }
    assert!(standin.requests().iter().any(|asked| asked.head.concat().contains(KEY)), "the server got it");
}

/// Runs `ask`, and stops it by Ctrl-C once the model was asked so often.
#[cfg(unix)]
fn stopped(env: &Env, arguments: &[&str], asked: &mpsc::Receiver<usize>, at: usize) -> Ran {
    let child = env.command(arguments).spawn().unwrap();
    while asked.recv_timeout(crate::support::PATIENCE).unwrap() < at {}
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

/// Answers with these, and says on the way how often it was asked.
fn counted(answers: Vec<Answered>) -> (Standin, mpsc::Receiver<usize>) {
    let (sender, asked) = mpsc::channel();
    let mut number = 0;
    let standin = Standin::start(move |_| {
        number += 1;
        let _ = sender.send(number);
        answers[number - 1].clone()
    });
    (standin, asked)
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_whole_batches() {
    let two = r##"<actions>[{"action":"update_file","path":"user.md","old_content":"- city: London","new_content":"- city: Paris"},{"action":"create_file","path":"entities/paris.md","content":"# Paris\n"}]</actions>"##;
    let half = r#"<actions>[{"action":"append_file","path":"user.md","content":"- likes: Paris\n"}]"#;
    for json in [false, true] {
        let answers = vec![Answered::chat(two), Answered::chat(half).keep(10).then_silence()];
        let (standin, asked) = counted(answers);
        let env = ada(&standin);
        let arguments = ["ask", "I moved to Paris.", "--json"];
        let ran = stopped(&env, &arguments[..if json { 3 } else { 2 }], &asked, 2);
        assert_eq!(ran.code, 4, "{ran:?}");
        if json {
            let said = ran.json();
            assert_eq!((&said["error"]["code"], &said["batches"]), (&json!("cancelled"), &json!([1])), "{said}");
        } else {
            assert!(ran.stdout.is_empty() && ran.stderr.contains("undo: memdir undo"), "{ran:?}");
        }
        assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n");
        assert_eq!(env.read("entities/paris.md"), "# Paris\n");
        assert_eq!(env.ask(&["log"]).exits(0)["entries"].as_array().unwrap().len(), 1);
        assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], true);
        assert_eq!(env.run(&["undo"], "").code, 0);
        assert_eq!(env.files(), Env::ada().files());
    }
}
