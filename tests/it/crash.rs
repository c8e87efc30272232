//! A batch that is killed, or that the system fails, at any of its system calls: all of it or nothing, through the
//! built binary. Linux only, since the tracer is.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::contract::account::{files_with, jane};
use crate::support::trace::{Traced, Tracer, Which};
use crate::support::{Env, number, said};

const NO_SPACE: i32 = 28;
const IO_ERROR: i32 = 5;

/// A memory that has been written to before.
fn memory() -> Env {
    let env = Env::with(&[("a.md", "a before\n"), ("gone.md", "gone before\n"), ("dir/c.md", "c before\n")]);
    env.exec(&json!([{"action": "create_file", "path": "first.md", "content": "first\n"}]));
    env
}

/// Replaces one note, makes one in another folder, deletes one.
fn three() -> Value {
    json!([
        {"action": "update_file", "path": "a.md", "old_content": "before", "new_content": "after"},
        {"action": "create_file", "path": "dir/new.md", "content": "new\n"},
        {"action": "delete_file", "path": "gone.md"},
    ])
}

/// Moves a folder, changes what is in it, and makes another one.
fn moved() -> Value {
    json!([
        {"action": "rename_file", "path": "dir", "new_path": "moved"},
        {"action": "update_file", "path": "moved/c.md", "old_content": "before", "new_content": "after"},
        {"action": "create_file", "path": "made/d.md", "content": "d\n"},
    ])
}

/// A command that runs `actions` as a model's turn.
fn turn(env: &Env, actions: &Value) -> Command {
    let text = env.base().join("turn.txt");
    std::fs::write(&text, said(actions)).unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" --memory \"$1\" exec --json <\"$2\""]);
    command.arg(env!("CARGO_BIN_EXE_memdir")).arg(env.memory()).arg(text);
    command.env("HOME", env.home()).env_remove("MEMDIR").env_remove("MEMDIR_CRASH_STEP");
    command
}

/// The notes of a memory after the next writer has come by.
fn after_the_next_writer(env: &Env) -> BTreeMap<String, String> {
    let report = env.exec(&json!([{"action": "append_file", "path": "first.md", "content": "next"}]));
    assert_eq!(report["actions"][0]["ok"], true, "{report}");
    let mut files = env.files();
    assert_eq!(files.remove("first.md").as_deref(), Some("first\nnext\n"));
    assert!(!files.keys().any(|path| path.contains(".memdir-")), "{files:?}");
    files
}

fn before_and_after(actions: &Value) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let untouched = after_the_next_writer(&memory());
    let env = memory();
    env.exec(actions);
    (untouched, after_the_next_writer(&env))
}

#[track_caller]
fn kill_at_every_call(actions: &Value, name: &str) {
    let tracer = Tracer::build();
    let (before, after) = before_and_after(actions);
    let total = {
        let env = memory();
        tracer.count(&turn(&env, actions)).total
    };
    let (mut undone, mut done) = (0, 0);
    for at in 1..=total {
        let env = memory();
        let killed = tracer.kill(&turn(&env, actions), at);
        let was_said = killed.output.contains("\"durable\":true");
        let files = after_the_next_writer(&env);
        if files == before && !was_said {
            undone += 1;
        } else {
            assert_eq!(files, after, "{name}: killed at call {at}, answered: {was_said}");
            done += 1;
        }
    }
    println!("{name}: killed at each of {total} system calls: {undone} as before, {done} as after");
    assert!(undone > 0 && done > 0);
}

#[test]
fn a_batch_of_three_killed_at_every_system_call_is_there_or_not() {
    kill_at_every_call(&three(), "three notes");
}

#[test]
fn a_moved_folder_killed_at_every_system_call_is_there_or_not() {
    kill_at_every_call(&moved(), "a moved folder");
}

/// What the history tells of is in the notes, whoever looks first.
#[test]
fn after_a_crash_no_command_tells_of_a_change_that_is_not_in_the_notes() {
    let tracer = Tracer::build();
    let notes = |env: &Env| {
        let mut files = env.files();
        files.retain(|path, _| !path.contains(".memdir-"));
        files
    };
    let before = notes(&memory());
    let total = tracer.count(&turn(&memory(), &three())).total;
    let step = usize::try_from(number("MEMDIR_CRASH_STEP", 3)).unwrap();
    let looks = [&["log"][..], &["doctor"], &["diff"], &["audit", "verify"], &["audit", "head"], &["pending"]];
    let (mut undone, mut done) = (0, 0);
    for at in (1..=total).step_by(step) {
        let env = memory();
        tracer.kill(&turn(&env, &three()), at);
        let look = looks[at / step % looks.len()];
        let told = env.ask(look).exits(0);
        let found = notes(&env);
        let newest = env.ask(&["log", "-n", "1"]).exits(0)["entries"][0]["batch"].clone();
        assert_eq!(newest == json!(2), found != before, "killed at call {at}, {look:?}: {told}");
        assert_eq!(notes(&env), found, "killed at call {at}, {look:?}");
        undone += usize::from(found == before);
        done += usize::from(found != before);
    }
    println!("looked after a crash at every {step}th of {total} system calls: {undone} as before, {done} as after");
    assert!(undone > 0 && done > 0);
}

/// Whether the report says that the batch was made, was not, or may be finished later.
fn promised(traced: &Traced) -> Option<bool> {
    if traced.output.contains("neither finished nor given back") {
        return None;
    }
    Some(traced.output.contains("\"batch\":2"))
}

#[track_caller]
fn fail_every(errno: i32, names: &[&str], which: fn(usize) -> Which) {
    let tracer = Tracer::build();
    let (before, after) = before_and_after(&three());
    let counted = {
        let env = memory();
        tracer.count(&turn(&env, &three()))
    };
    let (mut tried, mut unsettled) = (0, 0);
    for name in names {
        for at in 1..=counted.calls(name) {
            let env = memory();
            let traced = tracer.fail(&turn(&env, &three()), name, which(at), errno);
            tried += 1;
            let files = after_the_next_writer(&env);
            match promised(&traced) {
                Some(true) => assert_eq!(files, after, "{name} {at}: said to be made: {}", traced.output),
                Some(false) => assert_eq!(files, before, "{name} {at}: said to have failed: {}", traced.output),
                None => {
                    unsettled += 1;
                    assert!(files == before || files == after, "{name} {at}: {files:?}");
                }
            }
        }
    }
    println!("error {errno}: {tried} system calls failed, {unsettled} batches said to be unsettled");
    assert!(tried > 0);
}

#[test]
fn a_full_disk_at_any_write_is_said_and_changes_nothing() {
    fail_every(NO_SPACE, &["write", "pwrite64", "fdatasync", "fsync", "renameat2"], Which::Only);
}

#[test]
fn a_disk_that_stays_full_changes_nothing_half() {
    fail_every(NO_SPACE, &["pwrite64", "fdatasync", "fsync"], Which::From);
}

#[test]
fn a_disk_that_fails_once_changes_nothing_half() {
    fail_every(IO_ERROR, &["pwrite64", "fdatasync", "fsync", "renameat2", "unlinkat"], Which::Only);
}

/// Files that nobody could remove are told of by the journal, however many batches come before they can be.
#[test]
fn what_could_not_be_removed_is_removed_by_a_later_batch() {
    let tracer = Tracer::build();
    let env = memory();
    let left = |env: &Env| {
        let mut names: Vec<String> = env.seen().into_keys().filter(|name| name.contains(".memdir-")).collect();
        names.retain(|name| name.ends_with(".tmp"));
        names
    };
    let update = |number: u32| {
        let (old, new) = (format!("first {number}"), format!("first {}", number + 1));
        json!([{"action": "write_file", "path": "first.md", "content": new}, {"action": "write_file", "path": "dir/c.md", "content": old}])
    };
    for number in 0..4 {
        let traced = tracer.fail(&turn(&env, &update(number)), "unlinkat", Which::From(1), IO_ERROR);
        assert_eq!(traced.status, Some(0), "{}", traced.output);
    }
    assert!(left(&env).len() > 4, "{:?}", left(&env));
    after_the_next_writer_of(&env);
    assert_eq!(left(&env), [""; 0]);
}

/// Lets another writer come by.
fn after_the_next_writer_of(env: &Env) {
    let report = env.exec(&json!([{"action": "append_file", "path": "a.md", "content": "next"}]));
    assert_eq!(report["actions"][0]["ok"], true, "{report}");
}

/// Two waves, whatever the size: one flush for the journal, one for each file, one for each folder.
#[test]
fn flushes_are_one_a_file_one_a_folder_and_one_for_the_journal() {
    let tracer = Tracer::build();
    let flushes = |actions: &Value, batch: &str| {
        let env = memory();
        for number in 0..10 {
            env.write(&format!("n{number}.md"), "before\n");
        }
        let traced = tracer.count(&turn(&env, actions));
        assert!(traced.output.contains(&format!("\"batch\":{batch}")), "{}", traced.output);
        traced.flushes()
    };
    let update =
        |path: String| json!({"action": "update_file", "path": path, "old_content": "before", "new_content": "x"});
    assert_eq!(flushes(&json!([update("a.md".into())]), "2"), 1 + 1 + 1);
    let ten: Vec<Value> = (0..10).map(|number| update(format!("n{number}.md"))).collect();
    assert_eq!(flushes(&Value::Array(ten), "2"), 1 + 10 + 1);
    // Two files with new contents, two folders; a deletion has nothing to flush but its folder.
    assert_eq!(flushes(&three(), "2"), 1 + 2 + 2);
    assert_eq!(flushes(&json!([{"action": "read_file", "path": "a.md"}]), "null"), 0);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &to)
        } else {
            assert!(std::fs::copy(&path, &to).is_ok());
        }
    }
}

/// Kills `forget` at system calls, all of them when `MEMDIR_CRASH_STEP` is 1, and runs it once more.
#[track_caller]
fn forget_killed(what: &[&str], texts: &[&str]) {
    let tracer = Tracer::build();
    let prepared = jane();
    let fresh = || {
        let env = Env::new();
        copy(prepared.memory(), env.memory());
        env
    };
    let forget = |env: &Env| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.arg("--memory").arg(env.memory()).args(["--json", "forget", "--yes"]).args(what);
        command.env("HOME", env.home()).env_remove("MEMDIR").env_remove("MEMDIR_CRASH_STEP");
        command
    };
    let counted = tracer.count(&forget(&fresh()));
    assert_eq!(counted.status, Some(0), "{}", counted.output);
    let total = counted.total;
    let step = usize::try_from(number("MEMDIR_CRASH_STEP", 7)).unwrap();
    let mut again = 0;
    for at in (1..=total).step_by(step) {
        let env = fresh();
        tracer.kill(&forget(&env), at);
        let arguments: Vec<&str> = ["forget", "--yes"].iter().chain(what).copied().collect();
        let ran = env.ask(&arguments);
        assert!(ran.code == 0 || ran.json()["error"]["code"] == "not_found", "killed at {at}: {ran:?}");
        again += usize::from(ran.code == 0);
        for text in texts {
            assert_eq!(files_with(&env, text), [""; 0], "{text}: killed at {at} of {total}");
        }
        let verified = env.ask(&["audit", "verify"]).exits(0);
        assert!(verified["forgotten"].as_u64().unwrap() > 0, "{verified}");
    }
    println!("{what:?}: killed at every {step}th of {total} system calls, {again} times finished by the next run");
}

#[test]
fn a_note_is_forgotten_however_often_it_is_killed() {
    forget_killed(&["entities/jane_doe.md"], &["Zanzibar", "xylophone", "jane", "Jane"]);
}

#[test]
fn a_text_is_forgotten_however_often_it_is_killed() {
    forget_killed(&["--text", "xylophone"], &["xylophone"]);
}
