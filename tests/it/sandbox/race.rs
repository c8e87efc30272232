//! Links that are swapped between check and use.
//!
//! Threads exchange a folder with a link to one outside, and a note with a link to a file outside, as fast as the
//! system can, while others read and write through both names. A plain reader runs beside them as a control: it has
//! to get out, or the race was none. `MEMDIR_RACE_SECONDS` makes it longer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::{CANARY, Guarded};
use crate::support::{engine, number, said};

/// What happened while the links were swapped.
#[derive(Debug, Default)]
struct Counts {
    swaps: AtomicU64,
    reads: AtomicU64,
    reads_done: AtomicU64,
    writes: AtomicU64,
    writes_done: AtomicU64,
    runs: AtomicU64,
    control_out: AtomicU64,
    leaks: AtomicU64,
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn swap(counts: &Counts, one: &Path, other: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        // Fails while a batch has one of them in its hands.
        if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
            add(&counts.swaps, 1);
        }
    }
}

fn reads() -> Value {
    json!([
        {"action": "read_file", "path": "folder/secret.md"},
        {"action": "read_file", "path": "secret.md"},
        {"action": "list_files", "path": "folder"},
        {"action": "list_directory", "path": "folder"},
        {"action": "get_file_info", "path": "folder/secret.md"},
        {"action": "go_to_link", "link": "[[folder/secret]]"},
        {"action": "list_files"},
    ])
}

fn writes(at: u64) -> Value {
    json!([
        {"action": "write_file", "path": "folder/secret.md", "content": format!("inside {at}\n")},
        {"action": "write_file", "path": "secret.md", "content": format!("inside {at}\n")},
        {"action": "append_file", "path": "folder/deep/secret.md", "content": "more"},
        {"action": "create_file", "path": format!("folder/new-{at}.md"), "content": "new"},
        {"action": "copy_file", "path": "folder/secret.md", "new_path": format!("folder/copy-{at}.md")},
        {"action": "rename_file", "path": format!("folder/new-{at}.md"), "new_path": format!("folder/deep/moved-{at}.md")},
        {"action": "delete_file", "path": format!("folder/copy-{at}.md")},
        {"action": "create_dir", "path": format!("folder/made-{at}")},
        {"action": "delete_dir", "path": format!("folder/made-{at}"), "recursive": true},
        {"action": "delete_file", "path": format!("folder/deep/moved-{at}.md")},
    ])
}

fn tally(counts: &Counts, report: &Value, all: &AtomicU64, done: &AtomicU64) {
    let outcomes = report["actions"].as_array().unwrap();
    add(all, outcomes.len() as u64);
    add(done, outcomes.iter().filter(|outcome| outcome["ok"] == json!(true)).count() as u64);
    let text = report.to_string();
    add(&counts.leaks, u64::from(text.contains(CANARY) || text.contains(super::CANARY_NAME) || text.contains("54321")));
}

/// A batch of writes half of which are one action each, so that one conflict does not end all of them.
fn write(counts: &Counts, memory: &Path, is_over: &AtomicBool) {
    let engine = engine::open(memory);
    let mut at = 0;
    while !is_over.load(Ordering::Relaxed) {
        at += 1;
        for action in writes(at).as_array().unwrap() {
            let report = engine::exec(&engine, &json!([action]));
            tally(counts, &report, &counts.writes, &counts.writes_done);
        }
        tally(counts, &engine::exec(&engine, &writes(at + (1 << 40))), &counts.writes, &counts.writes_done);
    }
}

fn read(counts: &Counts, memory: &Path, is_over: &AtomicBool) {
    let engine = engine::open(memory);
    while !is_over.load(Ordering::Relaxed) {
        tally(counts, &engine::exec(&engine, &reads()), &counts.reads, &counts.reads_done);
    }
}

/// The binary, with everything at once.
fn run(counts: &Counts, guarded: &Guarded, is_over: &AtomicBool) {
    let mut at = 1 << 50;
    while !is_over.load(Ordering::Relaxed) {
        at += 1;
        let mut actions = reads().as_array().unwrap().clone();
        actions.extend(writes(at).as_array().unwrap().iter().cloned());
        let ran = guarded.env.say(&said(&Value::Array(actions)), &[]);
        add(&counts.runs, 1);
        add(&counts.leaks, u64::from(ran.stdout.contains(CANARY) || ran.stdout.contains(super::CANARY_NAME)));
    }
}

/// What somebody reads who trusts a path.
fn control(counts: &Counts, memory: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        for name in ["folder/secret.md", "secret.md"] {
            let text = fs::read_to_string(memory.join(name)).unwrap_or_default();
            add(&counts.control_out, u64::from(text.contains(CANARY)));
        }
    }
}

#[test]
fn links_swapped_between_check_and_use_lead_nobody_out() {
    let guarded = Guarded::new();
    let memory = guarded.env.memory().to_owned();
    let outside = guarded.env.base().join("outside");
    guarded.env.write("folder/secret.md", "inside\n");
    guarded.env.write("folder/deep/secret.md", "inside\n");
    guarded.env.write("secret.md", "inside\n");
    symlink(&outside, memory.join("spare")).unwrap();
    symlink(outside.join("secret.md"), memory.join("spare.md")).unwrap();
    let duration = Duration::from_secs(number("MEMDIR_RACE_SECONDS", 5));
    let (counts, is_over) = (Counts::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&counts, &memory.join("folder"), &memory.join("spare"), &is_over));
        scope.spawn(|| swap(&counts, &memory.join("secret.md"), &memory.join("spare.md"), &is_over));
        scope.spawn(|| read(&counts, &memory, &is_over));
        scope.spawn(|| write(&counts, &memory, &is_over));
        scope.spawn(|| run(&counts, &guarded, &is_over));
        scope.spawn(|| control(&counts, &memory, &is_over));
        let end = Instant::now() + duration;
        while Instant::now() < end {
            std::thread::park_timeout(end.saturating_duration_since(Instant::now()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    eprintln!("race of {duration:?}: {counts:?}");
    assert_eq!(counts.leaks.load(Ordering::Relaxed), 0, "{counts:?}");
    guarded.unharmed("the race");
    let some = [&counts.swaps, &counts.reads_done, &counts.writes_done, &counts.runs, &counts.control_out];
    assert!(some.iter().all(|counter| counter.load(Ordering::Relaxed) > 0), "the race was none: {counts:?}");
    guarded.env.ask(&["log"]).exits(0);
}
