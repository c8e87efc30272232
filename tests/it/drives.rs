//! Drives that cannot hold a history: found out by trying, when the state is made.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::json;

use crate::support::trace::{Tracer, Which};
use crate::support::{Env, said};

const NO_DEVICE: i32 = 19;
const NOT_SUPPORTED: i32 = 95;

/// A command that appends a line as a model's turn.
fn turn(env: &Env) -> Command {
    let text = env.base().join("turn.txt");
    std::fs::write(&text, said(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}])))
        .unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" --memory \"$1\" exec --json <\"$2\""]);
    command.arg(env!("CARGO_BIN_EXE_memdir")).arg(env.memory()).arg(text);
    command.env("HOME", env.home()).env_remove("MEMDIR");
    command
}

/// The databases with a history below the memory, and below the folder for those that no memory can hold.
fn databases(env: &Env) -> [usize; 2] {
    let count = |found: BTreeMap<String, Vec<u8>>| {
        let is_one = |(path, bytes): &(String, Vec<u8>)| path.ends_with("history.sqlite") && !bytes.is_empty();
        found.into_iter().filter(is_one).count()
    };
    let state = env.home().join(".local/state/memdir");
    [count(crate::support::files(env.memory())), if state.exists() { count(crate::support::files(&state)) } else { 0 }]
}

/// SQLite shares a part of memory among those who have a database open, by a mapping of a file.
#[test]
fn a_drive_without_shared_memory_has_its_history_elsewhere() {
    let tracer = Tracer::build();
    let counted = tracer.count(&turn(&Env::ada()));
    let (mut elsewhere, mut here) = (0, 0);
    for at in 1..=counted.calls("mmap") {
        let env = Env::ada();
        let before = env.files();
        let traced = tracer.fail(&turn(&env), "mmap", Which::Only(at), NO_DEVICE);
        let is_said = traced.output.contains("\"batch\":1");
        assert_eq!(env.files() != before, is_said, "mapping {at}: {}", traced.output);
        match databases(&env) {
            [0, 1] => {
                assert!(is_said, "mapping {at}: {}", traced.output);
                elsewhere += 1;
                // Those who come later find it there.
                let log = env.ask(&["log"]).exits(0);
                assert_eq!(log["entries"].as_array().unwrap().len(), 1);
                env.ask(&["undo"]).exits(0);
                assert_eq!(env.files(), before);
                assert_eq!(databases(&env), [0, 1]);
                let checks = env.ask(&["doctor"]).exits(0);
                let state = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "state").unwrap();
                assert!(state["message"].as_str().unwrap().contains(".local/state/memdir"), "{state}");
            }
            [1, 0] => here += usize::from(is_said),
            other => assert!(!is_said, "mapping {at}: {other:?}: {}", traced.output),
        }
    }
    println!("{} mappings failed: {here} histories here, {elsewhere} elsewhere", counted.calls("mmap"));
    assert!(elsewhere > 0);
}

/// Locks of parts of files: without them two connections would write at once. Until the first call that matters, since later
/// ones are waited for.
#[test]
fn a_drive_without_locks_has_its_history_elsewhere() {
    let tracer = Tracer::build();
    let counted = tracer.count(&turn(&Env::ada()));
    let is_elsewhere = |at: &usize| {
        let env = Env::ada();
        let before = env.files();
        let traced = tracer.fail(&turn(&env), "fcntl", Which::Only(*at), NOT_SUPPORTED);
        let is_said = traced.output.contains("\"batch\":1");
        assert_eq!(env.files() != before, is_said, "call {at}: {}", traced.output);
        is_said && databases(&env) == [0, 1]
    };
    assert!((1..=counted.calls("fcntl")).any(|at| is_elsewhere(&at)));
}
