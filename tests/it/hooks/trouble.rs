//! Whatever is wrong with the memory, the settings or the command: the program goes on at once, with an answer or without.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{EVENTS, command, hook, index, input, memory, told};
use crate::support::{Env, finish};

/// Longer than any hook may take, with room for a machine that is busy.
const LONG: Duration = Duration::from_secs(60);
const MESSAGE: &str = "write a text to my dentist";

/// With the time that a hook has where nobody has set another one.
fn as_shipped(env: Env) -> Env {
    env.set("MEMDIR_HOOKS_MILLISECONDS", "1000")
}

/// Runs every hook, of which none may fail; gives how many told something.
#[track_caller]
fn every(env: &Env) -> usize {
    let mut count = 0;
    for (program, events) in EVENTS {
        for event in events {
            let started = Instant::now();
            let ran = hook(env, program, event, MESSAGE, &[]);
            assert!(started.elapsed() < LONG, "{program} {event}: {:?}", started.elapsed());
            count += usize::from(told(program, event, &ran).is_some());
        }
    }
    count
}

/// Start and message of four programs.
const ALL: usize = 8;

#[test]
fn a_memory_that_another_process_has_locked_is_read_all_the_same() {
    let env = memory();
    env.exec(&serde_json::json!([{"action": "append_file", "path": "cars.md", "content": "It is old."}]));
    let state = env.at(".memdir");
    let mut folders = vec![state];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == "lock" {
                let lock = OpenOptions::new().write(true).open(entry.path()).unwrap();
                lock.lock().unwrap();
                assert_eq!(every(&env), ALL);
                return;
            }
        }
    }
    panic!("there is no lock");
}

#[test]
fn databases_that_other_processes_have_locked_delay_nothing() {
    let env = as_shipped(memory()).settings("[hooks]\nconversations = true\n");
    env.exec(&serde_json::json!([{"action": "append_file", "path": "cars.md", "content": "It is old."}]));
    fs::write(env.base().join("transcript.jsonl"), r#"{"role":"user","message":{"content":"Hello"}}"#).unwrap();
    let mut held = Vec::new();
    for (path, _) in crate::support::files(env.base()) {
        if path.ends_with(".sqlite") {
            let held_one = rusqlite::Connection::open(env.base().join(&path)).unwrap();
            held_one.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
            held.push(held_one);
        }
    }
    assert_eq!(held.len(), 2);
    // No process of memdir's keeps a database so; who is told nothing goes on at once.
    every(&env);
}

#[test]
fn a_damaged_memory_stands_in_nobodys_way() {
    let env = memory();
    env.exec(&serde_json::json!([{"action": "append_file", "path": "cars.md", "content": "It is old."}]));
    for (path, bytes) in crate::support::files(env.base()) {
        if path.contains(".sqlite") {
            fs::write(env.base().join(&path), vec![0x5a; bytes.len()]).unwrap();
        }
    }
    assert_eq!(every(&env), ALL);
}

#[test]
fn a_memory_that_is_missing_or_no_folder_is_told_nothing_of() {
    let env = memory();
    fs::rename(env.memory(), env.base().join("away")).unwrap();
    assert_eq!(every(&env), 0);
    fs::write(env.memory(), "no folder").unwrap();
    assert_eq!(every(&env), 0);
    fs::remove_file(env.memory()).unwrap();
    fs::create_dir(env.memory()).unwrap();
    assert_eq!(every(&env), 0);
    assert_eq!(fs::read_dir(env.memory()).unwrap().count(), 0, "nothing is made");
}

#[test]
fn a_full_memory_is_read_and_not_written() {
    let env = memory().settings("[hooks]\nconversations = true\n[limits]\nmemory_bytes = 10\n");
    fs::write(env.base().join("transcript.jsonl"), r#"{"role":"user","message":{"content":"Hello"}}"#).unwrap();
    assert_eq!(every(&env), ALL);
    assert!(!env.at("conversations").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stands_in_nobodys_way() {
    let env = memory();
    // Every write to a file fails at its first byte, as where the disk has no room left.
    for (program, events) in EVENTS {
        for event in events {
            let mut command = std::process::Command::new("sh");
            let line = "ulimit -f 0; trap '' XFSZ; exec \"$0\" \"$@\"";
            command.args(["-c", line]).arg(env!("CARGO_BIN_EXE_memdir")).args(["hook", program, event, "--memory"]);
            command.arg(env.memory()).env_clear().env("HOME", env.home()).current_dir(env.base());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let ran = finish(command, input(program, event, MESSAGE, "").as_bytes());
            let _ = told(program, event, &ran);
        }
    }
}

#[test]
fn settings_and_commands_that_are_wrong_do_not_block_the_program() {
    for settings in ["no TOML [", "[hooks]\nconversation = true\n", "state = \"relative\"\n"] {
        assert_eq!(every(&memory().settings(settings)), 0, "{settings}");
    }
    let env = memory();
    fs::write(env.home().join(".config/memdir/clients.toml"), "damaged").unwrap_or_else(|_| {
        fs::create_dir_all(env.home().join(".config/memdir")).unwrap();
        fs::write(env.home().join(".config/memdir/clients.toml"), "damaged").unwrap();
    });
    assert_eq!(every(&env), 0, "who may see what cannot be told");
    let env = memory();
    for arguments in
        [&["hook"][..], &["hook", "emacs", "Start"], &["hook", "codex", "SessionStart", "--bogus"], &["hook", "codex"]]
    {
        let ran = finish(env.bare(arguments), b"{}");
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{arguments:?}");
        assert!(!ran.stderr.is_empty());
    }
    let ran = hook_named(&env, "SessionBegin");
    assert!(ran.stderr.contains("SessionStart, UserPromptSubmit, PreCompact, SessionEnd"), "{ran:?}");
    for sent in ["", "no JSON", "[]", "null", "{", "{\"prompt\": 7}"] {
        let ran = finish(command(&env, "codex", "UserPromptSubmit", &[]), sent.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{sent}");
    }
}

fn hook_named(env: &Env, event: &str) -> crate::support::Ran {
    let ran = finish(command(env, "claude-code", event, &[]), b"{}");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    ran
}

#[test]
fn a_program_that_never_ends_its_message_waits_for_nothing() {
    let env = as_shipped(memory());
    index(&env);
    for (event, most) in [("SessionStart", 1), ("UserPromptSubmit", 1), ("SessionEnd", 4)] {
        let started = Instant::now();
        let mut child = command(&env, "codex", event, &[]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"{\"prompt\": \"write to").unwrap();
        // Standard input stays open until the program has ended.
        let ended = child.wait_with_output().unwrap();
        let took = started.elapsed();
        assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(0), &b""[..]));
        assert!(took >= Duration::from_secs(most) && took < LONG, "{event}: {took:?}");
        drop(stdin);
    }
}
