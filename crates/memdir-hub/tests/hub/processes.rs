//! What is left of the servers' processes: nothing, by the system's list.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
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
        for leaves in [true, false] {
            fixture.call("one__orphan", json!({"leaves": leaves})).unwrap();
        }
        soon("the server, and what it started", Duration::from_secs(5), || processes(&mark).len() == 3);
        let began = Instant::now();
        fixture.end();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        soon("no process", Duration::from_secs(2), || processes(&mark).is_empty());
    }
}

#[test]
fn nothing_is_left_of_a_server_that_is_taken_out() {
    let mark = new_mark();
    let fixture = Fixture::new([script("one").arg(&mark).arg("--stubborn")]);
    for leaves in [true, false] {
        fixture.call("one__orphan", json!({"leaves": leaves})).unwrap();
    }
    soon("the server, and what it started", Duration::from_secs(5), || processes(&mark).len() == 3);
    fixture.put([]);
    soon("no process", Duration::from_secs(4), || processes(&mark).is_empty());
}

#[test]
#[expect(clippy::print_stderr, reason = "a figure of a test that is run for it")]
fn nothing_is_left_of_a_server_that_dies_in_mid_call() {
    let mark = new_mark();
    let fixture = Fixture::new([script("one").arg(&mark), script("two")]);
    fixture.call("two__counter", json!({})).unwrap();
    let mut longest = Duration::ZERO;
    for round in 0..rounds() {
        fixture.call("one__orphan", json!({"leaves": round % 2 == 0})).unwrap();
        let server = processes(&mark);
        let victim = server.iter().min().copied().unwrap();
        std::thread::scope(|scope| {
            let calls = fixture.times("one", "tools/call slow");
            let called = scope.spawn(|| fixture.call("one__slow", json!({"seconds": 60})));
            soon("the call", Duration::from_secs(5), || fixture.times("one", "tools/call slow") == calls + 1);
            let began = Instant::now();
            kill(victim);
            let error = called.join().unwrap().unwrap_err();
            longest = longest.max(began.elapsed());
            assert!(longest < Duration::from_secs(10), "{longest:?}");
            assert!(error.to_string().contains("signal: 9"), "{error}");
        });
        soon("no process", Duration::from_secs(2), || processes(&mark).is_empty());
        let counted = fixture.call("two__counter", json!({})).unwrap();
        assert_eq!(text(&counted), (round + 2).to_string(), "the other server is the same process");
    }
    eprintln!("{} rounds; the longest time from the kill to the error: {longest:?}", rounds());
}

#[test]
fn nothing_is_left_when_memdir_is_killed() {
    for _ in 0..rounds() {
        let mark = new_mark();
        let folder = tempfile::tempdir().unwrap();
        let mut holder = Command::new(example("hub_holder"));
        holder.arg(example("scripted_server")).arg(folder.path()).arg(&mark);
        let mut holder = Holder(holder.stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(holder.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // Two servers, each with two that it has started, and the program itself.
        soon("all processes", Duration::from_secs(5), || processes(&mark).len() == 2 * 3 + 1);
        drop(holder);
        soon("no process", Duration::from_secs(2), || processes(&mark).is_empty());
    }
}

/// A process that is killed when this is dropped.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        kill(self.0.id());
        self.0.wait().unwrap();
    }
}
