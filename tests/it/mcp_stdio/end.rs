//! How it ends: by the end of the input, by a signal, because nobody reads; and what is in hand then.

use std::fs::File;

use serde_json::{Value, json};

use crate::support::Env;
use crate::support::rpc::{Client, LEGACY, MODERN};

fn append(line: &str) -> Value {
    json!({"name": "run_actions", "arguments": {"actions": [{"action": "append_file", "path": "log.md", "content": line}]}})
}

/// A memory whose writers wait, until the file is dropped.
fn locked() -> (Env, File) {
    let env = Env::with(&[("log.md", "# Log\n")]).quick().set("MEMDIR_LIMITS_LOCK_SECONDS", "60");
    env.act(&json!({"action": "create_file", "path": "other.md", "content": "x\n"}));
    let lock = File::options().write(true).open(env.at(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    (env, lock)
}

/// Waits until the server has taken up all that was sent to it.
#[track_caller]
fn settle(client: &mut Client) {
    client.result("tools/list", json!({}));
}

#[test]
fn a_hundred_calls_in_flight_are_all_answered_and_nothing_is_lost() {
    for version in [MODERN, LEGACY[2]] {
        let env = Env::with(&[("log.md", "# Log\n")]).quick();
        let mut client = Client::open(&env, version, &[]);
        let asked: Vec<u64> = (0..100).map(|number| client.ask("tools/call", append(&format!("- {number}")))).collect();
        for id in asked {
            let answer = client.answer(id);
            assert_eq!(answer["result"]["structuredContent"]["actions"][0]["ok"], json!(true), "{answer}");
        }
        assert_eq!(client.close().code, 0);
        let mut lines: Vec<u32> =
            env.read("log.md").lines().skip(1).map(|line| line.trim_start_matches("- ").parse().unwrap()).collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..100).collect::<Vec<u32>>());
    }
}

#[test]
fn at_the_end_of_the_input_what_is_in_hand_is_finished_and_answered() {
    let (env, lock) = locked();
    let mut client = Client::open(&env, MODERN, &[]);
    for number in 0..3 {
        client.ask("tools/call", append(&format!("- {number}")));
    }
    settle(&mut client);
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| client.close());
        drop(lock);
        let ended = ended.join().unwrap();
        assert_eq!((ended.code, ended.rest.len()), (0, 3), "{ended:?}");
    });
    assert_eq!(env.read("log.md"), "# Log\n- 0\n- 1\n- 2\n");
}

#[cfg(unix)]
#[test]
fn at_a_signal_too() {
    use rustix::process::Signal;
    for signal in [Signal::TERM, Signal::INT] {
        for version in [MODERN, LEGACY[0]] {
            let (env, lock) = locked();
            let mut client = Client::open(&env, version, &[]);
            client.ask("tools/call", append("- 1"));
            settle(&mut client);
            client.signal(signal);
            drop(lock);
            let ended = client.end();
            assert_eq!((ended.code, ended.rest.len()), (0, 1), "{ended:?}");
            assert_eq!(env.read("log.md"), "# Log\n- 1\n");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_signal_before_anything_is_said_ends_it_also_where_the_input_is_no_pipe() {
    use std::os::unix::net::UnixStream;
    use std::process::Stdio;
    let env = Env::ada();
    // What programs of Node give to their children.
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = env.command(&["mcp"]);
    command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs.try_clone().unwrap())));
    command.stdout(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    let mut child = command.spawn().unwrap();
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    std::io::Write::write_all(&mut &ours, format!("{ask}\n").as_bytes()).unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(&ours), &mut line).unwrap();
    assert!(line.contains("\"id\":1"), "{line}");
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_waits_and_is_not_wanted_any_more_is_not_begun() {
    for version in [MODERN, LEGACY[0]] {
        let (env, lock) = locked();
        let mut client = Client::open(&env, version, &[]);
        client.ask("tools/call", append("- first"));
        let second = client.ask("tools/call", append("- second"));
        let third = client.ask("tools/call", append("- third"));
        let params = json!({"requestId": second, "reason": "not wanted"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
        settle(&mut client);
        drop(lock);
        assert_eq!(client.answer(third)["result"]["isError"], json!(false));
        let ended = client.close();
        assert_eq!((ended.code, ended.rest.len()), (0, 1), "the first alone: {ended:?}");
        assert_eq!(env.read("log.md"), "# Log\n- first\n- third\n", "{version}");
    }
}

#[test]
fn it_ends_when_nobody_reads_it_any_more() {
    let env = Env::ada().quick();
    let mut client = Client::open(&env, MODERN, &["--tools", "full"]);
    client.stop_reading();
    for _ in 0..50 {
        client.ask("tools/call", json!({"name": "create_file", "arguments": {"path": "a.md", "content": "x\n"}}));
    }
    assert_eq!(client.end().code, 0, "with its input still open");
}

#[test]
fn the_end_before_anything_was_said_is_no_failure() {
    let env = Env::ada();
    assert_eq!(Client::start(&env, &[]).close().code, 0);
    let mut client = Client::start(&env, &[]);
    client.send_text("{\"jsonrpc\":\"2.0\"");
    assert_eq!(client.close().code, 0);
}
