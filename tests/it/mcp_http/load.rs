//! Many at once, and a stop in the middle.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::Instant;

use super::*;
use crate::support::rpc::{Client, MODERN};

#[test]
fn fifty_callers_lose_nothing() {
    let site = Site::start();
    let start = Barrier::new(50);
    std::thread::scope(|scope| {
        for number in 0..50 {
            let (site, start) = (&site, &start);
            scope.spawn(move || {
                start.wait();
                let token = if number % 2 == 0 { "desk" } else { "phone" };
                let note = json!({"path": format!("notes/{number}.md"), "content": format!("number {number}\n")});
                let made = site.call(token, "create_file", note);
                assert_eq!(made["isError"], json!(false), "{made}");
                let read = site.call(token, "read_file", json!({"path": format!("notes/{number}.md")}));
                assert_eq!(read["content"][0]["text"], format!("number {number}\n"));
            });
        }
    });
    for number in 0..50 {
        assert_eq!(site.env.read(&format!("notes/{number}.md")), format!("number {number}\n"));
    }
}

#[test]
fn a_hundred_calls_in_flight_in_one_session_are_all_answered() {
    let site = Site::start();
    site.env.write("log.md", "# Log\n");
    let session = open(&site, "desk", "2025-11-25");
    let mut wires: Vec<Wire> = (0..100)
        .map(|number| {
            let append = call("append_file", json!({"path": "log.md", "content": format!("line {number}.\n")}));
            let mut wire = site.connect();
            wire.write(legacy("desk", "2025-11-25", Some(&session), &message(100 + number, "tools/call", append)));
            wire
        })
        .collect();
    for (number, wire) in wires.iter_mut().enumerate() {
        let answer = wire.answer().json();
        assert_eq!(answer["id"], 100 + number, "{answer}");
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    }
    let log = site.env.read("log.md");
    assert!((0..100).all(|number| log.contains(&format!("line {number}.\n"))), "{log}");
}

/// Sends a call and waits until the server is at it, but not yet done.
fn in_hand(site: &Site, text: &str) -> Wire {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut wire = site.connect();
    wire.write(format!("{head}\r\nExpect: 100-continue\r\n\r\n"));
    assert_eq!(wire.head().status, 100);
    wire.write(body);
    wire
}

#[test]
fn a_stop_finishes_what_is_in_hand_and_ends_what_has_no_end() {
    let mut site = Site::start();
    let session = open(&site, "desk", "2025-06-18");
    let mut stream = site.connect();
    let headers =
        [("Authorization", "Bearer desk"), ("Mcp-Session-Id", session.as_str()), ("Accept", "text/event-stream")];
    stream.write(request("GET", &headers, ""));
    assert_eq!(stream.head().status, 200);
    let mut idle = site.connect();
    idle.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    idle.answer();
    let vault = engine::vault(site.env.memory());
    let locked = vault.lock().unwrap();
    let make = |path: &str| call("create_file", json!({"path": path, "content": "whole\n"}));
    let mut new = in_hand(&site, &modern("phone", "tools/call", make("new.md")));
    let old = legacy("desk", "2025-06-18", Some(&session), &message(3, "tools/call", make("old.md")));
    let mut old = in_hand(&site, &old);
    site.stop.cancel();
    stream.rest();
    idle.rest();
    drop(locked);
    for wire in [&mut new, &mut old] {
        let answer = wire.answer();
        assert_eq!((answer.status, &answer.json()["result"]["isError"]), (200, &json!(false)), "{answer:?}");
    }
    site.stop();
    assert_eq!((site.env.read("new.md"), site.env.read("old.md")), ("whole\n".to_owned(), "whole\n".to_owned()));
    assert!(TcpStream::connect(site.address).is_err());
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let mut site = Site::limited(HttpLimits { stop_time: Duration::from_millis(100), ..HttpLimits::default() });
    let vault = engine::vault(site.env.memory());
    let locked = vault.lock().unwrap();
    let make = call("create_file", json!({"path": "new.md", "content": "whole\n"}));
    let mut wire = in_hand(&site, &modern("desk", "tools/call", make));
    site.stop.cancel();
    // The connection is cut, since the time is over.
    let cut = wire.rest();
    drop(locked);
    site.stop();
    assert!(!cut.contains("\"result\""), "{cut}");
    // All of it, or nothing where it had not begun.
    assert!(!site.env.at("new.md").exists() || site.env.read("new.md") == "whole\n");
}

#[cfg(unix)]
#[test]
fn the_program_serves_who_is_registered_until_it_is_told_to_stop() {
    let env = Env::ada();
    let token = |name: &str, more: &[&str]| {
        let arguments: Vec<&str> = ["client", "add", name].iter().chain(more).copied().collect();
        env.ask(&arguments).exits(0)["token"].as_str().unwrap().to_owned()
    };
    let (desk, phone) = (token("desk", &["--write", "**"]), token("phone", &[]));
    let mut child = env.command(&["mcp", "--http", "0", "--tools", "full"]).spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    let address = line.trim().strip_prefix("serving at http://").unwrap().strip_suffix("/mcp").unwrap();
    let send = |text: String| {
        let mut wire = Wire::to(address);
        wire.write(text);
        wire.answer()
    };
    let make = |path: &str| call("create_file", json!({"path": path, "content": "made\n"}));
    let made = send(modern(&desk, "tools/call", make("desk.md")));
    assert_eq!(made.json()["result"]["isError"], json!(false), "{made:?}");
    check_refused(&send(modern("desk", "tools/call", make("other.md"))), 401);
    assert_eq!(send(modern(&phone, "tools/list", json!({}))).status, 200);
    assert_eq!(env.ask(&["client", "revoke", "phone"]).code, 0);
    check_refused(&send(modern(&phone, "tools/list", json!({}))), 401);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(env.read("desk.md"), "made\n");
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "");
}

/// What a client does in one round, and whether the answer may be an honest no: another client was there first.
fn round(who: usize, round: usize) -> Vec<(&'static str, Value, bool)> {
    let own = format!("clients/{who}/{round}.md");
    let renamed = format!("clients/{who}/{round}-kept.md");
    let line = format!("- by {who}: {round}.");
    let (old, new) = (format!("- turn: {}", round % 2), format!("- turn: {}", (round + 1) % 2));
    let gone = format!("clients/{who}/gone.md");
    vec![
        ("append_file", json!({"path": "shared.md", "content": line}), false),
        ("create_file", json!({"path": own, "content": format!("# {who}\n\n- seen: no\n- see: [[shared]]\n")}), false),
        ("update_file", json!({"path": own, "old_content": "- seen: no", "new_content": "- seen: yes"}), false),
        ("update_file", json!({"path": "turns.md", "old_content": old, "new_content": new}), true),
        ("rename_file", json!({"path": own, "new_path": renamed}), false),
        (
            "run_actions",
            json!({"actions": [
                {"action": "write_file", "path": gone, "content": "for a while\n"},
                {"action": "delete_file", "path": gone},
            ], "atomic": true}),
            false,
        ),
        ("read_file", json!({"path": renamed}), false),
    ]
}

/// What a client has done: rounds, calls, and how often another was there first.
type Done = (usize, usize, usize);

/// Goes through rounds as long as `goes_on` says; every no has to be an honest one.
fn work(who: usize, goes_on: &dyn Fn(usize) -> bool, ask: &mut dyn FnMut(&str, Value) -> Value) -> Done {
    let (mut rounds, mut calls, mut conflicts) = (0, 0, 0);
    while goes_on(rounds) {
        for (name, arguments, may_conflict) in round(who, rounds) {
            let answer = ask(name, arguments.clone());
            calls += 1;
            if answer["isError"] == json!(true) {
                let code = answer["structuredContent"]["error"]["code"].as_str().unwrap_or_default();
                let is_honest = may_conflict && ["content_not_found", "conflict"].contains(&code);
                assert!(is_honest, "client {who}, {name} {arguments}: {answer}");
                conflicts += 1;
            }
        }
        rounds += 1;
    }
    (rounds, calls, conflicts)
}

/// That every line and every note is there once, and as it was written last.
#[track_caller]
fn check_all_there(env: &Env, done: &[Done]) {
    let shared = env.read("shared.md");
    let mut lines: Vec<&str> = shared.lines().skip(1).collect();
    lines.sort_unstable();
    let said = done.iter().enumerate().flat_map(|(who, done)| (0..done.0).map(move |n| format!("- by {who}: {n}.")));
    let mut said: Vec<String> = said.collect();
    said.sort_unstable();
    assert_eq!(lines, said, "each line is there once");
    for (who, (rounds, ..)) in done.iter().enumerate() {
        for round in 0..*rounds {
            let kept = env.read(&format!("clients/{who}/{round}-kept.md"));
            assert_eq!(kept, format!("# {who}\n\n- seen: yes\n- see: [[shared]]\n"));
        }
    }
    assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], true);
}

/// Eight clients, half of them on their own standard streams and half over HTTP, write at once: for so many seconds as
/// `MEMDIR_LOAD_SECONDS` says, else for a few rounds.
#[cfg(unix)]
#[test]
fn eight_clients_on_both_transports_lose_nothing() {
    let env = Env::ada();
    env.write("shared.md", "# Shared\n");
    env.write("turns.md", "- turn: 0\n");
    let add = ["client", "add", "desk", "--write", "**", "--rate", "1000000"];
    let token = env.ask(&add).exits(0)["token"].as_str().unwrap().to_owned();
    let mut server = env.command(&["mcp", "--http", "0", "--tools", "full"]).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stderr.take().unwrap()), &mut line).unwrap();
    let address = line.trim().strip_prefix("serving at http://").unwrap().strip_suffix("/mcp").unwrap();
    let over_http = |name: &str, arguments: Value| -> Value {
        let mut wire = Wire::to(address);
        wire.write(modern(&token, "tools/call", call(name, arguments)));
        wire.answer().json()["result"].clone()
    };
    let seconds: Option<u64> = std::env::var("MEMDIR_LOAD_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let (start, begin) = (Barrier::new(8), Instant::now());
    let goes_on = |rounds: usize| seconds.map_or(rounds < 6, |seconds| begin.elapsed() < Duration::from_secs(seconds));
    let over_streams = |who: usize| {
        let mut client = Client::open(&env, MODERN, &["--tools", "full"]);
        let done = work(who, &goes_on, &mut |name, arguments| client.call(name, arguments));
        assert_eq!(client.close().code, 0);
        done
    };
    let one = |who: usize| {
        start.wait();
        if who < 4 { work(who, &goes_on, &mut |name, arguments| over_http(name, arguments)) } else { over_streams(who) }
    };
    let done: Vec<Done> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|who| {
                let one = &one;
                scope.spawn(move || one(who))
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let id = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
    check_all_there(&env, &done);
    let (calls, conflicts) = done.iter().fold((0, 0), |sum, done| (sum.0 + done.1, sum.1 + done.2));
    println!("{calls} calls, {conflicts} honest conflicts, {:.1} s", begin.elapsed().as_secs_f64());
}
