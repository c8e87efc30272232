//! Servers that mean harm, and a registry that cannot be trusted.

use std::time::{Duration, Instant};

use memdir_core::report::{Code, Failure};
use memdir_tools::{CallError, ServerHealth, ServerName, ToolName, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[test]
fn a_registry_that_cannot_be_read_stops_calls_and_no_server() {
    let fixture = Fixture::new([script("one")]);
    assert_eq!(text(&fixture.call("one__counter", json!({})).unwrap()), "1");
    let unreadable = Failure::new(Code::Config, "others can read or change `tools.toml`").with_hint("close it");
    fixture.registry.fail(Some(unreadable));
    let failure = Failure::from(fixture.call("one__counter", json!({})).unwrap_err());
    assert_eq!(failure.code, Code::Denied);
    assert!(failure.message.contains("others can read or change `tools.toml`"), "{failure}");
    assert_eq!(failure.hint.as_deref(), Some("tell the person: `memdir tools` says what to do"));
    assert_eq!(fixture.times("one", "tools/call counter"), 1);
    fixture.registry.fail(None);
    assert_eq!(text(&fixture.call("one__counter", json!({})).unwrap()), "2", "the same process");
}

#[test]
fn a_server_that_does_not_read_is_ended() {
    let mark = new_mark();
    let fixture = Fixture::new([script("one").env("SCRIPTED_FLOOD", 1).arg(&mark)]);
    let error = fixture.call("one__echo", json!({"text": "x"})).unwrap_err();
    assert!(matches!(error, CallError::Unreachable { may_be_done: true, .. }), "{error:?}");
    assert!(error.to_string().contains("does not read"), "{error}");
    soon("no process", Duration::from_secs(2), || processes(&mark).is_empty());
}

/// What a server writes to its standard error could be an instruction to a model.
#[test]
fn the_last_words_of_a_server_are_for_the_person_alone() {
    for (tool, env, status, words) in [
        ("one__die", ("PLAIN", "1"), "status 3", "`started`"),
        ("one__echo", ("SCRIPTED_DIE_AT_START", "7"), "status 7", "`this server dies at start`"),
    ] {
        let fixture = Fixture::new([script("one").env(env.0, env.1)]);
        let error = fixture.call(tool, json!({})).unwrap_err();
        let CallError::Unreachable { problem, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*problem, format!("it exited with {status}"));
        let health = || fixture.hub().servers()[0].health.clone();
        soon("the end", Duration::from_secs(2), || matches!(health(), ServerHealth::Failed { .. }));
        let ServerHealth::Failed { problem } = health() else { panic!("{:?}", health()) };
        assert_eq!(problem, format!("it exited with {status}; its last words were {words}"));
    }
}

#[test]
fn what_is_no_answer_is_an_error_at_once_and_what_is_beside_answers_is_passed_over() {
    let fixture = Fixture::new([script("one").env("SCRIPTED_NAMES", "line")]);
    for line in [r#"{"jsonrpc":"2.0","id":ID}"#, r#"{"jsonrpc":"2.0","id":ID,"result":{"score":NaN}}"#] {
        let began = Instant::now();
        let error = fixture.call("one__line", json!({"text": line})).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let CallError::Protocol { code: -32700, message, .. } = error else { panic!("{error:?}") };
        assert!(message.contains(r#""jsonrpc":"2.0""#), "{message}");
    }
    let beside = json!({"text": "listening on \u{1b}port 80", "answers": true});
    assert_eq!(text(&fixture.call("one__line", beside).unwrap()), "answered");
    let one = ServerName::parse("one").unwrap();
    let logged = "(standard output) listening on \\u{1b}port 80";
    assert!(fixture.hub().log_lines(&one, 9).iter().any(|line| line == logged));
}

#[test]
fn the_last_lines_are_of_the_last_start_alone() {
    let fixture = Fixture::new([script("one").env("SCRIPTED_DIE_AT_START", 7)]);
    let one = ServerName::parse("one").unwrap();
    for _ in 0..2 {
        fixture.hub().connect_now(&one, &CancellationToken::new()).unwrap_err();
        assert_eq!(fixture.hub().last_lines(&one, 9), ["this server dies at start"]);
    }
    assert!(fixture.hub().log_lines(&one, 9).len() >= 2, "earlier runs stay in the log");
}

#[test]
fn an_error_of_a_server_is_cut() {
    let fixture = Fixture::new([script("one")]);
    for (bytes, letters) in [(0, 9), (1_000_000, 1_000)] {
        let error = fixture.call("one__refuse", json!({"bytes": bytes})).unwrap_err();
        let CallError::Protocol { code, message, data, .. } = error else { panic!("{error:?}") };
        assert_eq!((code, message.chars().count()), (-32050, letters));
        assert!(message.starts_with("not today"));
        match *data.unwrap() {
            Value::String(cut) => assert_eq!((cut.get(..18), cut.len()), (Some("{\"until\":\"tomorrow"), 4_096)),
            whole => assert_eq!((whole, bytes), (json!({"until": "tomorrow"}), 0)),
        }
    }
}

#[test]
fn of_two_tools_with_one_offered_name_the_second_is_left_out_and_said() {
    let one = ServerName::parse("one").unwrap();
    let offered = ToolName::of(&one, "a b");
    let twin = offered.as_str().strip_prefix("one__").unwrap();
    let long = "x".repeat(300);
    let fixture = Fixture::new([script("one").env("SCRIPTED_NAMES", format!("a b\n{twin}\n{long}\nlast"))]);
    let named: Vec<_> = fixture.tools_of("one").into_iter().filter(|tool| tool.name == offered).collect();
    assert_eq!(named.iter().map(|tool| tool.own.as_str()).collect::<Vec<_>>(), ["a b"]);
    assert_eq!(fixture.hub().tools().len(), 16);
    let shown = fixture.hub().definitions(&one).1;
    assert!(!fixture.hub().approve(&one, shown).unwrap().contains_key(twin));
    let examined = fixture.hub().connect_now(&one, &CancellationToken::new()).unwrap();
    let examined = serde_json::to_value(&examined).unwrap();
    let left_out = examined["left_out"].as_array().unwrap();
    assert_eq!((left_out.len(), &left_out[0]), (2, &json!(twin)));
    assert!(left_out[1].as_str().is_some_and(|name| name.starts_with("xxx") && name.len() < 300));
}
