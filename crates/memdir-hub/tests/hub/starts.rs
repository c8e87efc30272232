//! Starting: which version is spoken, what a program gets, and servers that do not start.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use memdir_tools::{CallError, ServerHealth, ServerName, Toolbox, Transport};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::*;

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

#[test]
fn the_newest_version_is_tried_first_and_what_was_spoken_is_remembered() {
    for (era, protocol, first, next) in [
        ("initialize", "2025-11-25", vec!["server/discover", "initialize"], vec!["initialize"]),
        ("newest", "2026-07-28", vec!["server/discover"], vec!["server/discover"]),
        // It ends when it is asked what it does not know.
        ("broken", "2025-11-25", vec!["server/discover", "initialize"], vec!["initialize"]),
    ] {
        let mut fixture = Fixture::new([script("one").env("SCRIPTED_ERA", era)]);
        let opened = |fixture: &Fixture, from: usize| -> Vec<String> {
            let journal = fixture.journal("one");
            let opens = |line: &String| matches!(line.as_str(), "server/discover" | "initialize");
            journal[from..].iter().filter(|line| opens(line)).cloned().collect()
        };
        fixture.tools_of("one");
        assert_eq!(fixture.hub().servers()[0].health, ServerHealth::Ready { protocol: protocol.to_owned() });
        assert_eq!(opened(&fixture, 0), first, "{era}");
        let from = fixture.journal("one").len();
        fixture.start();
        fixture.call("one__echo", json!({"text": "x"})).unwrap();
        assert_eq!(opened(&fixture, from), next, "{era}, the second time");
    }
}

#[test]
fn a_server_of_which_nothing_was_approved_is_not_started_to_be_listed() {
    let unapproved = || script("one").with(|server| server.tools.clear());
    let fixture = Fixture::new([unapproved(), script("two")]);
    fixture.tools_of("two");
    assert_eq!(fixture.hub().servers()[0].health, ServerHealth::Idle);
    assert!(fixture.journal("one").is_empty());
    // The person starts it, to approve what it has.
    fixture.hub().connect_now(&name("one"), &CancellationToken::new()).unwrap();
    assert_eq!(fixture.hub().servers()[0].unapproved, 14);
}

#[test]
fn a_server_is_examined() {
    let fixture = Fixture::new([script("one").with(|server| server.enabled = false)]);
    let examined = fixture.hub().connect_now(&name("one"), &CancellationToken::new()).unwrap();
    assert_eq!((examined.protocol.as_str(), examined.tools), ("2025-11-25", 14));
    assert_eq!((examined.server_name.as_str(), examined.server_version.as_str()), ("scripted", "1.2.3"));
    assert_eq!(examined.stderr, ["started"]);
    assert!(examined.list_bytes > 1_000 && examined.first_answer > Duration::ZERO);
    let unknown = fixture.hub().connect_now(&name("two"), &CancellationToken::new()).unwrap_err();
    assert!(matches!(unknown, CallError::Unreachable { may_be_done: false, .. }));
}

#[test]
fn a_program_gets_little_of_our_environment_and_what_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::default();
    let server = script("one").env("GIVEN", "a-${SECRET}-b").env("PLAIN", "$SECRET").build(folder.path());
    registry.put(vec![server]);
    let mut places = places(folder.path());
    for (name, value) in [("SECRET", "s3cret"), ("OTHER", "x"), ("LC_TIME", "de_DE.UTF-8"), ("OPENAI_API_KEY", "k")] {
        places.environment.insert(name.to_owned(), value.to_owned());
    }
    let hub = memdir_hub::Hub::start(Box::new(registry), places).unwrap();
    let call = call("one__environment", json!({}));
    let answer = hub.call(&call, &mut (), &CancellationToken::new()).unwrap();
    let got = answer.result["structuredContent"].as_object().unwrap();
    assert_eq!(
        (&got["GIVEN"], &got["PLAIN"], &got["LC_TIME"]),
        (&json!("a-s3cret-b"), &json!("$SECRET"), &json!("de_DE.UTF-8"))
    );
    assert!(got.contains_key("PATH"));
    for absent in ["SECRET", "OTHER", "OPENAI_API_KEY", "CARGO", "CARGO_MANIFEST_DIR"] {
        assert!(!got.contains_key(absent), "{absent}");
    }
}

#[test]
fn a_variable_that_is_not_set_is_named() {
    let fixture = Fixture::new([script("one").env("TOKEN", "Bearer ${NO_SUCH_VARIABLE_HERE}")]);
    let error = fixture.call("one__echo", json!({"text": "x"})).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("`NO_SUCH_VARIABLE_HERE` is not set"), "{message}");
    assert!(fixture.journal("one").is_empty(), "it was not started");
}

#[test]
fn a_server_that_does_not_start_costs_its_own_tools_only() {
    let dies = script("dies").env("SCRIPTED_DIE_AT_START", 7);
    let absent = script("absent").with(|_| ());
    let slow = script("slow").env("SCRIPTED_START_MS", 5_000);
    let fixture = Fixture::new([dies, absent, slow, script("well")]);
    let folder = fixture.folder.path();
    let mut servers: Vec<_> = [
        script("dies").env("SCRIPTED_DIE_AT_START", 7),
        script("slow").env("SCRIPTED_START_MS", 5_000),
        script("well"),
    ]
    .into_iter()
    .map(|script| script.build(folder))
    .collect();
    let mut absent = script("absent").build(folder);
    absent.transport = Transport::Stdio {
        command: "no-such-program-here".to_owned(),
        args: vec![],
        env: Default::default(),
        cwd: None,
    };
    servers.push(absent);
    fixture.registry.put(servers);
    let began = Instant::now();
    fixture.hub().tools();
    fixture.hub().servers();
    assert_eq!(text(&fixture.call("well__echo", json!({"text": "x"})).unwrap()), "x");
    assert!(began.elapsed() < Duration::from_millis(4_900), "it does not wait for the slow one: {:?}", began.elapsed());
    let error = fixture.call("dies__echo", json!({"text": "x"})).unwrap_err().to_string();
    assert!(error.contains("it exited with status 7") && !error.contains("this server dies"), "{error}");
    let error = fixture.call("absent__echo", json!({"text": "x"})).unwrap_err().to_string();
    assert!(error.contains("`no-such-program-here` cannot be started: there is no such program on PATH"), "{error}");
    assert_eq!(text(&fixture.call("slow__echo", json!({"text": "x"})).unwrap()), "x");
    let health: Vec<_> = fixture.hub().servers().into_iter().map(|server| server.health).collect();
    assert!(
        matches!(
            &health[..],
            [
                ServerHealth::Failed { .. },
                ServerHealth::Failed { .. },
                ServerHealth::Ready { .. },
                ServerHealth::Ready { .. }
            ]
        ),
        "{health:?}"
    );
    assert_eq!(fixture.hub().log_lines(&name("dies"), 1), ["this server dies at start"]);
}

#[test]
fn why_a_program_is_not_started_names_no_path_of_the_machine() {
    let fixture = Fixture::new([]);
    let mut server = script("one").build(fixture.folder.path());
    let command = fixture.folder.path().join("no-such-program").to_str().unwrap().to_owned();
    server.transport = Transport::Stdio { command, args: Vec::new(), env: Default::default(), cwd: None };
    fixture.registry.put(vec![server]);
    let error = fixture.call("one__echo", json!({"text": "x"})).unwrap_err().to_string();
    assert!(error.contains("`no-such-program` cannot be started: there is no such program"), "{error}");
}

#[test]
fn a_server_that_has_failed_is_not_started_at_each_call() {
    let fixture = Fixture::new([script("dies").env("SCRIPTED_DIE_AT_START", 7)]);
    let first = fixture.call("dies__echo", json!({"text": "x"})).unwrap_err();
    let lines = fixture.hub().log_lines(&name("dies"), 100).len();
    assert_eq!(fixture.call("dies__echo", json!({"text": "x"})).unwrap_err(), first);
    assert_eq!(fixture.hub().log_lines(&name("dies"), 100).len(), lines, "no further try");
}

#[test]
fn calls_that_come_together_start_one_process() {
    let mark = new_mark();
    let fixture = Fixture::new([script("one").arg(&mark).env("SCRIPTED_START_MS", 300)]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| fixture.call("one__counter", json!({})).unwrap());
        }
    });
    assert_eq!(processes(&mark).len(), 1);
    assert_eq!(fixture.times("one", "initialize"), 1);
    assert_eq!(text(&fixture.call("one__counter", json!({})).unwrap()), "9");
}

/// A result that its server has cut within a character.
const CUT: &str = r#"{"content":[{"type":"text","text":"cut \ud83d"}]}"#;

/// A scripted server on a port, until this is dropped.
struct Remote {
    process: Child,
    port: String,
}

impl Remote {
    fn start(port: &str, journal: &Path) -> Self {
        let mut command = Command::new(example("scripted_server"));
        command.args(["--http", port]).env("SCRIPTED_JOURNAL", journal).env("SCRIPTED_ODD", CUT);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("port ").map(str::to_owned));
        Self { process, port: port.unwrap() }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A hub that knows one server, at an address; its journal; and the server.
fn far() -> (Fixture, PathBuf, Remote) {
    let fixture = Fixture::new([]);
    let journal = fixture.folder.path().join("far.journal");
    let remote = Remote::start("0", &journal);
    let mut server = script("far").build(fixture.folder.path());
    let url = format!("http://127.0.0.1:{}/mcp", remote.port);
    server.transport = Transport::Http { url, headers: Default::default() };
    fixture.registry.put(vec![server]);
    (fixture, journal, remote)
}

#[test]
fn a_server_at_an_address_that_comes_back_is_used_again_and_a_call_is_made_once() {
    let (fixture, journal, remote) = far();
    assert_eq!(text(&fixture.call("far__counter", json!({})).unwrap()), "1");
    assert_eq!(text(&fixture.call("far__counter", json!({})).unwrap()), "2");
    let port = remote.port.clone();
    drop(remote);
    // A connection that was open may have taken it along; after that there is none.
    let error = fixture.call("far__counter", json!({})).unwrap_err();
    assert!(matches!(error, CallError::Unreachable { .. }), "{error:?}");
    let error = fixture.call("far__counter", json!({})).unwrap_err();
    assert!(matches!(error, CallError::Unreachable { may_be_done: false, .. }), "{error:?}");
    let _remote = Remote::start(&port, &journal);
    soon("the server", Duration::from_secs(10), || fixture.call("far__counter", json!({})).is_ok());
    assert_eq!(text(&fixture.call("far__counter", json!({})).unwrap()), "2", "a new process");
    assert_eq!(fixture.times("far", "tools/call counter"), 4);
    let error = fixture.call("far__die", json!({})).unwrap_err();
    assert!(matches!(error, CallError::Unreachable { may_be_done: true, .. }), "{error:?}");
    assert_eq!(fixture.times("far", "tools/call die"), 1);
}

#[test]
fn a_result_that_was_cut_within_a_character_is_read() {
    let near = Fixture::new([script("near").env("SCRIPTED_ODD", CUT)]);
    assert_eq!(text(&near.call("near__odd", json!({})).unwrap()), "cut \u{fffd}");
    let (far, _journal, _remote) = far();
    assert_eq!(text(&far.call("far__odd", json!({})).unwrap()), "cut \u{fffd}");
}

#[test]
fn a_session_that_its_server_has_forgotten_is_opened_anew_and_the_last_one_is_ended() {
    let (mut fixture, journal, remote) = far();
    assert_eq!(text(&fixture.call("far__counter", json!({})).unwrap()), "1");
    let port = remote.port.clone();
    drop(remote);
    let _remote = Remote::start(&port, &journal);
    assert_eq!(text(&fixture.call("far__counter", json!({})).unwrap()), "1", "a new process, and no error");
    assert_eq!(fixture.times("far", "tools/call counter"), 2);
    let began = Instant::now();
    fixture.end();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(fixture.times("far", "DELETE"), 1);
}
