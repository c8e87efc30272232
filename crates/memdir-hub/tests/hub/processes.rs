//! What is left of the servers' processes: nothing, by the system's list.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::*;

/// How many rounds: twenty, or as many as `MEMDIR_HUB_ROUNDS` says.
fn rounds() -> usize {
    std::env::var("MEMDIR_HUB_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20)
}

#[test]
fn nothing_is_left_when_the_hub_ends() {
    let mark = new_mark();
    for script_of in [
        || script("one"),
        // It does not mind that its input ends.
        || script("one").arg("--stubborn"),
    ] {
        let mut fixture = Fixture::new([script_of().arg(&mark)]);
        fixture.call("one__orphan", json!({})).unwrap();
        assert_eq!(processes(&mark).len(), 2, "the server, and what it started");
        let began = Instant::now();
        fixture.end();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        soon("no process", Duration::from_secs(1), || processes(&mark).is_empty());
    }
}

#[test]
fn nothing_is_left_of_a_server_that_is_taken_out() {
    let mark = new_mark();
    let fixture = Fixture::new([script("one").arg(&mark).arg("--stubborn")]);
    fixture.call("one__orphan", json!({})).unwrap();
    assert_eq!(processes(&mark).len(), 2);
    fixture.put([]);
    soon("no process", Duration::from_secs(4), || processes(&mark).is_empty());
}

#[test]
fn nothing_is_left_of_a_server_that_dies_in_mid_call() {
    let mark = new_mark();
    let fixture = Fixture::new([script("one").arg(&mark), script("two")]);
    fixture.call("two__counter", json!({})).unwrap();
    for round in 0..rounds() {
        fixture.call("one__orphan", json!({})).unwrap();
        let server = processes(&mark);
        let victim = server.iter().min().copied().unwrap();
        std::thread::scope(|scope| {
            let calls = fixture.times("one", "tools/call slow");
            let called = scope.spawn(|| fixture.call("one__slow", json!({"seconds": 60})));
            soon("the call", Duration::from_secs(5), || fixture.times("one", "tools/call slow") == calls + 1);
            let began = Instant::now();
            kill(victim);
            let error = called.join().unwrap().unwrap_err();
            assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
            assert!(error.to_string().contains("signal: 9"), "{error}");
        });
        soon("no process", Duration::from_secs(2), || processes(&mark).is_empty());
        let counted = fixture.call("two__counter", json!({})).unwrap();
        assert_eq!(text(&counted), (round + 2).to_string(), "the other server is the same process");
    }
}

#[test]
fn nothing_is_left_when_memdir_is_killed() {
    for round in 0..rounds() {
        let mark = new_mark();
        let folder = tempfile::tempdir().unwrap();
        let mut holder = Command::new(example("hub_holder"));
        holder.arg(example("scripted_server")).arg(folder.path()).arg(&mark);
        let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let children = processes(&mark).len() - 1;
        assert_eq!(children, 2 * 2, "two servers, each with one that it has started; round {round}");
        kill(holder.id());
        holder.wait().unwrap();
        soon("no process", Duration::from_secs(2), || processes(&mark).is_empty());
    }
}

fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}
