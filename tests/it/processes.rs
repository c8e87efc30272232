//! Many at once: processes, threads, and an editor that knows nothing of memdir. No update is lost.
//!
//! `MEMDIR_PROCESS_UPDATES` sets how many updates each process makes.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Env, engine, number, said};

/// How many processes write at the same time.
const PROCESSES: u64 = 8;

fn append(line: &str) -> Value {
    json!([{"action": "append_file", "path": "log.md", "content": line}])
}

fn count(env: &Env, line: &str) -> usize {
    env.read("log.md").lines().filter(|found| *found == line).count()
}

#[test]
fn eight_processes_lose_no_update() {
    let updates = number("MEMDIR_PROCESS_UPDATES", 25);
    let env = Env::with(&[("log.md", "# Log\n")]).set("MEMDIR_LIMITS_LOCK_SECONDS", "120");
    let started = Instant::now();
    std::thread::scope(|scope| {
        for process in 0..PROCESSES {
            let env = &env;
            scope.spawn(move || {
                for update in 0..updates {
                    let ran = env.say(&said(&append(&format!("- {process}.{update}"))), &[]);
                    assert_eq!(ran.code, 0, "{ran:?}");
                }
            });
        }
    });
    eprintln!("{PROCESSES} × {updates} updates: {:?}", started.elapsed());
    for process in 0..PROCESSES {
        for update in 0..updates {
            assert_eq!(count(&env, &format!("- {process}.{update}")), 1, "update {update} of process {process}");
        }
    }
    assert_eq!(env.read("log.md").lines().count() as u64, 1 + PROCESSES * updates);
    let log = env.ask(&["log", "--limit", "100000"]).exits(0);
    let batches: Vec<u64> =
        log["entries"].as_array().unwrap().iter().map(|entry| entry["batch"].as_u64().unwrap()).collect();
    assert_eq!(batches.len() as u64, PROCESSES * updates, "each has its entry");
    assert!(batches.is_sorted_by(|newer, older| newer > older), "and its own number");
    assert_eq!(env.files().len(), 1, "nothing is left behind: {:?}", env.files().keys());
}

#[test]
fn a_hundred_appends_in_flight_are_all_there() {
    let env = Env::with(&[("log.md", "# Log\n")]);
    let engine = engine::open(env.memory());
    std::thread::scope(|scope| {
        for at in 0..100 {
            let engine = &engine;
            scope.spawn(move || {
                let report = engine::exec(engine, &append(&format!("- {at}")));
                assert_eq!(report["actions"][0]["ok"], json!(true), "{report}");
            });
        }
    });
    for at in 0..100 {
        assert_eq!(count(&env, &format!("- {at}")), 1, "{at}");
    }
}

/// Everybody is the first to write: `.memdir` is made by several at once.
#[test]
fn the_first_write_may_come_from_many_sides() {
    for _ in 0..60 {
        let env = Env::with(&[("log.md", "# Log\n")]).quick();
        std::thread::scope(|scope| {
            for at in 0..8 {
                let env = &env;
                scope.spawn(move || {
                    let report = engine::exec(&engine::open(env.memory()), &append(&format!("- {at}")));
                    assert_eq!(report["actions"][0]["ok"], json!(true), "{report}");
                });
            }
        });
        assert_eq!(env.read("log.md").lines().count(), 9);
        assert_eq!(fs::read_to_string(env.at(".memdir/.gitignore")).unwrap(), "*\n");
        let names = fs::read_dir(env.at(".memdir")).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.count(), 3, "the lock, the folder of this machine, the file for git");
    }
}

/// A proposal that has gone stale is planned once more, under the lock, with everything that planning may ask.
#[test]
fn a_proposal_that_has_gone_stale_is_planned_again() {
    let env = Env::with(&[("log.md", "# Log\n")]);
    let engine = engine::open(env.memory());
    engine::exec(&engine, &append("- first"));
    let mut actions = append("- second").as_array().unwrap().clone();
    actions.push(json!({"action": "get_history", "path": "log.md"}));
    actions.push(json!({"action": "get_size"}));
    let proposal = engine::propose(&engine, &Value::Array(actions));
    env.write("log.md", "# Log\n- editor\n");
    let report = serde_json::to_value(engine.conclude(proposal)).unwrap();
    assert!(report["actions"].as_array().unwrap().iter().all(|outcome| outcome["ok"] == json!(true)), "{report}");
    assert_eq!(env.read("log.md"), "# Log\n- editor\n- second\n");
}

#[test]
fn updates_of_one_line_from_many_sides_are_applied_or_refused() {
    let env = Env::with(&[("log.md", "- n: 0;\n")]).quick();
    let engines = [engine::open(env.memory()), engine::open(env.memory())];
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for engine in &engines {
            let done = &done;
            scope.spawn(move || {
                for _ in 0..50 {
                    let text = engine::exec(engine, &json!([{"action": "read_file", "path": "log.md"}]));
                    let old = text["actions"][0]["value"].as_str().unwrap().trim_end().to_owned();
                    let next = old.trim_start_matches("- n: ").trim_end_matches(';').parse::<u64>().unwrap() + 1;
                    let report = engine::exec(
                        engine,
                        &json!([{"action": "update_file", "path": "log.md", "old_content": old, "new_content": format!("- n: {next};")}]),
                    );
                    let outcome = &report["actions"][0];
                    let code = outcome["error"]["code"].as_str();
                    assert!(matches!(code, None | Some("content_not_found" | "conflict")), "{outcome}");
                    done.fetch_add(u64::from(code.is_none()), Ordering::Relaxed);
                }
            });
        }
    });
    // An edit that somebody else made first is not found, so no number is counted twice.
    assert_eq!(env.read("log.md"), format!("- n: {};\n", done.load(Ordering::Relaxed)));
}

#[test]
fn commits_and_undos_at_once_keep_the_history_straight() {
    let env =
        Env::with(&[("log.md", "# Log\n"), ("other.md", "# Other\n")]).quick().set("MEMDIR_LIMITS_LOCK_SECONDS", "120");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0..20 {
                env.say(&said(&append(&format!("- kept {at}"))), &[]).exits(0);
            }
        });
        scope.spawn(|| {
            for at in 0..20 {
                let text =
                    said(&json!([{"action": "append_file", "path": "other.md", "content": format!("- gone {at}")}]));
                let batch = env.say(&text, &[]).exits(0)["batch"].to_string();
                env.ask(&["undo", &batch]).exits(0);
            }
        });
    });
    assert_eq!(env.read("other.md"), "# Other\n");
    for at in 0..20 {
        assert_eq!(count(&env, &format!("- kept {at}")), 1);
    }
    let log = env.ask(&["log", "--limit", "1000"]).exits(0);
    let entries = log["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 60);
    assert_eq!(entries.iter().filter(|entry| entry["undoes"].is_u64()).count(), 20);
    assert_eq!(entries.iter().filter(|entry| entry["undone_by"].is_u64()).count(), 20);
}

#[test]
fn two_who_undo_the_same_batch_undo_it_once() {
    let env = Env::with(&[("log.md", "# Log\n")]).quick();
    for round in 1..=5 {
        let batch = env.exec(&append("- line"))["batch"].to_string();
        let codes: Vec<i32> = std::thread::scope(|scope| {
            let undos: Vec<_> = (0..3).map(|_| scope.spawn(|| env.ask(&["undo", &batch]).code)).collect();
            undos.into_iter().map(|undo| undo.join().unwrap()).collect()
        });
        assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "round {round}: {codes:?}");
        assert_eq!(env.read("log.md"), "# Log\n");
    }
}

/// How an editor saves.
type Save = fn(&Env, &str);

/// By a new file that takes the name of the old one.
fn by_rename(env: &Env, text: &str) {
    let aside = env.base().join("editor.tmp");
    fs::write(&aside, text).unwrap();
    fs::rename(&aside, env.at("log.md")).unwrap();
}

/// In place, and shorter or longer than before in one step each.
fn in_place(env: &Env, text: &str) {
    let mut file = fs::File::options().write(true).open(env.at("log.md")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.set_len(text.len() as u64).unwrap();
}

/// In place, emptied first, as many editors do.
fn emptied_first(env: &Env, text: &str) {
    fs::write(env.at("log.md"), text).unwrap();
}

/// Lets an editor save its own text over a note while memdir appends to it from two sides.
#[track_caller]
fn edit_beside(save: Save) {
    let env = Env::with(&[("log.md", "# Log\n")]).quick();
    let rounds = number("MEMDIR_PROCESS_UPDATES", 25) * 4;
    let is_over = AtomicBool::new(false);
    let mut lost = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let engine = engine::open(env.memory());
            let mut at = 0;
            while !is_over.load(Ordering::Relaxed) {
                engine::exec(&engine, &append(&format!("- model: {at}")));
                at += 1;
            }
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                env.say(&said(&append("- model: process")), &[]);
            }
        });
        for round in 0..rounds {
            let line = format!("- editor: {round}");
            save(&env, &format!("# Log\n{line}\n"));
            if !is_somewhere(&env, &line) {
                lost.push(line);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let line = format!("- editor: {}", rounds - 1);
    assert!(lost.is_empty() && is_somewhere(&env, &line), "lost: {lost:?} {:?}", env.files());
    assert_eq!(env.ask(&["doctor"]).code, 0);
}

#[test]
fn what_an_editor_saves_by_a_rename_is_not_lost() {
    edit_beside(by_rename);
}

#[test]
fn what_an_editor_saves_in_place_is_not_lost() {
    edit_beside(in_place);
}

#[test]
fn what_an_editor_saves_in_place_emptied_first_is_not_lost() {
    edit_beside(emptied_first);
}

/// Whether a line is in the note, in a copy beside it, or in a file that a batch has just displaced.
fn is_somewhere(env: &Env, line: &str) -> bool {
    // A name can be on its way from one place to another while a folder is listed.
    (0..50).any(|_| {
        fs::read_dir(env.memory()).unwrap().flatten().any(|entry| {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            text.lines().any(|found| found == line)
        })
    })
}
