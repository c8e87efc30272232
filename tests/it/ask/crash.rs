//! Proposing and approving, killed or failed by the system at any of their system calls.
//!
//! All of them when `MEMDIR_CRASH_STEP` is 1.

use std::process::Command;

use serde_json::json;

use super::{FACT, code, folder, ids, personal, waiting};
use crate::support::trace::{Tracer, Which};
use crate::support::{Env, files, number, said};

const NO_SPACE: i32 = 28;

fn step() -> usize {
    usize::try_from(number("MEMDIR_CRASH_STEP", 5)).unwrap()
}

/// A memory that has been written to before, and a command that proposes.
fn proposing() -> (Env, Command) {
    let env = Env::ada();
    env.exec(&json!([{"action": "create_file", "path": "first.md", "content": "first\n"}]));
    let text = env.base().join("turn.txt");
    std::fs::write(&text, said(&json!([personal("user.md")]))).unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" --memory \"$1\" exec --permission ask --json <\"$2\""]);
    command.arg(env!("CARGO_BIN_EXE_memdir")).arg(env.memory()).arg(text);
    command.env("HOME", env.home()).env_remove("MEMDIR").env_remove("MEMDIR_CRASH_STEP");
    (env, command)
}

fn approving() -> (Env, Command) {
    let env = waiting();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.arg("--memory").arg(env.memory()).args(["--json", "approve", "1", "--code", &code(&env, 1)]);
    command.env("HOME", env.home()).env_remove("MEMDIR").env_remove("MEMDIR_CRASH_STEP");
    (env, command)
}

fn facts(env: &Env) -> usize {
    env.read("user.md").lines().filter(|line| *line == FACT).count()
}

/// What waits, and that it can be decided.
#[track_caller]
fn waits(env: &Env, what: &str) -> bool {
    let ids = ids(env);
    assert!(ids.len() <= 1, "{what}: {ids:?}");
    assert!(!files(&folder(env)).keys().any(|name| name.ends_with(".tmp")), "{what}");
    assert_eq!(files(&folder(env)).len(), ids.len(), "{what}");
    ids.len() == 1
}

#[test]
fn a_proposal_killed_at_any_system_call_waits_or_does_not() {
    let tracer = Tracer::build();
    let total = tracer.count(&proposing().1).total;
    let (mut there, mut not) = (0, 0);
    for at in (1..=total).step_by(step()) {
        let (env, command) = proposing();
        let killed = tracer.kill(&command, at);
        let was_said = killed.output.contains("\"proposal\":1");
        if !folder(&env).exists() {
            assert!(!was_said, "killed at {at}");
            not += 1;
            continue;
        }
        let what = format!("killed at {at} of {total}");
        let is_there = waits(&env, &what);
        assert!(is_there || !was_said, "{what}: it was said to wait");
        there += usize::from(is_there);
        not += usize::from(!is_there);
        // The next one works, and gets a number of its own.
        let next = super::asked(&env, &json!([personal("first.md")]))["actions"][0]["error"]["proposal"].clone();
        assert_eq!(next, json!(1 + u64::from(is_there)), "{what}");
    }
    println!("proposing killed at every {}th of {total} system calls: {there} waited, {not} did not", step());
    assert!(there > 0 && not > 0);
}

#[test]
fn an_approval_killed_at_any_system_call_is_carried_out_once_or_waits() {
    let tracer = Tracer::build();
    let total = tracer.count(&approving().1).total;
    let (mut done, mut not) = (0, 0);
    for at in (1..=total).step_by(step()) {
        let (env, command) = approving();
        let killed = tracer.kill(&command, at);
        let was_said = killed.output.contains("\"approved\":true");
        let what = format!("killed at {at} of {total}, answered: {was_said}");
        let is_waiting = waits(&env, &what);
        assert_eq!(facts(&env), usize::from(!is_waiting), "{what}");
        assert!(!(is_waiting && was_said), "{what}");
        if is_waiting {
            not += 1;
            env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0);
        } else {
            done += 1;
            assert_eq!(env.ask(&["approve", "1", "--code", "AAAAAAAA"]).exits(4)["error"]["code"], json!("not_found"));
        }
        assert_eq!(facts(&env), 1, "{what}");
        assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], json!(true));
    }
    println!("approving killed at every {}th of {total} system calls: {done} done, {not} wait", step());
    assert!(done > 0 && not > 0);
}

#[test]
fn a_full_disk_while_proposing_fails_the_call_and_nothing_waits_half() {
    let tracer = Tracer::build();
    let counted = tracer.count(&proposing().1);
    let mut failed = 0;
    for name in ["write", "pwrite64", "fdatasync", "fsync", "renameat2"] {
        for which in [Which::Only as fn(usize) -> Which, Which::From] {
            for at in (1..=counted.calls(name)).step_by(if name == "pwrite64" { step() } else { 1 }) {
                let (env, command) = proposing();
                let traced = tracer.fail(&command, name, which(at), NO_SPACE);
                let what = format!("{name} {at}: {}", traced.output);
                let is_waiting = folder(&env).exists() && waits(&env, &what);
                let was_said = traced.output.contains("\"proposal\":1");
                // What could not be printed was not said.
                assert!(is_waiting == was_said || name == "write", "{what}");
                failed += usize::from(traced.output.contains("disk_full"));
                assert_eq!(facts(&env), 0);
                assert_eq!(env.read("first.md"), "first\n");
            }
        }
    }
    println!("{failed} proposals failed with a full disk");
    assert!(failed > 0);
}
