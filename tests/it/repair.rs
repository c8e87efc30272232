//! A history that is damaged, or on a disk that is full: reading goes on, and `doctor --repair` is the way out.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::rpc::{Client, LEGACY};
use crate::support::{Env, said};

const HISTORY: &str = "history.sqlite";

/// A memory with a history.
fn memory() -> Env {
    let env = Env::ada();
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    env
}

/// The folder of this machine.
fn state(env: &Env) -> PathBuf {
    let entries = fs::read_dir(env.at(".memdir")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir() && !path.to_str().unwrap().contains("damaged")).collect::<Vec<_>>().remove(0)
}

fn ruin(env: &Env) {
    for name in [HISTORY, "history.sqlite-wal"] {
        fs::write(state(env).join(name), vec![b'x'; 8192]).unwrap();
    }
}

/// Checks that whatever reads notes does, that it is said once what is wrong, and that nothing can be changed.
#[track_caller]
fn reads_and_does_not_write(env: &Env, hint: &str) {
    let notes = env.files();
    assert_eq!(env.ask(&["read", "user.md"]).exits(0)["text"], json!("# Ada\n\n- city: London\n- pet: cat\n"));
    for command in [&["tree"][..], &["search", "London"], &["links"], &["links", "user.md"], &["facts"], &["check"]] {
        let ran = env.ask(command);
        assert_eq!((ran.code, ran.stderr.matches("nothing can be changed").count()), (0, 1), "{command:?}: {ran:?}");
        assert!(ran.stderr.contains(hint), "{command:?}: {ran:?}");
        ran.json();
    }
    let text = said(&json!([
        {"action": "read_file", "path": "user.md"},
        {"action": "append_file", "path": "user.md", "content": "x"},
    ]));
    let report = env.say(&text, &[]).json();
    assert_eq!((&report["actions"][0]["ok"], &report["actions"][1]["ok"]), (&json!(true), &json!(false)), "{report}");
    let codes: Vec<&Value> = report["issues"].as_array().unwrap().iter().map(|issue| &issue["code"]).collect();
    assert_eq!(codes, [&json!("history_unusable")], "{report}");
    let mut client = Client::open(env, LEGACY[0], &[]);
    let answer = client.call("read_file", json!({"path": "user.md"}));
    assert_ne!(answer["isError"], json!(true), "{answer}");
    assert_eq!(env.files(), notes);
}

#[test]
fn a_damaged_history_stops_no_reading_and_a_command_is_the_way_out() {
    let env = memory();
    ruin(&env);
    let notes = env.files();
    reads_and_does_not_write(&env, "memdir doctor --repair");
    env.ask(&["session", "list"]).exits(0);
    for command in [&["log"][..], &["undo"], &["audit", "verify"], &["pending"]] {
        let error = env.ask(command).exits(7)["error"].clone();
        assert_eq!(error["code"], json!("damaged"), "{command:?}");
        assert!(error["hint"].as_str().unwrap().contains("`memdir doctor --repair`"), "{error}");
    }
    let checks = env.ask(&["doctor"]).exits(4);
    let history = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "history").unwrap().clone();
    assert_eq!(history["status"], json!("fail"));
    assert!(history["hint"].as_str().unwrap().contains("doctor --repair"), "{history}");

    for arguments in [&["doctor", "--repair"][..], &["doctor", "--repair", "--json"]] {
        let ran = env.run(arguments, "y\n");
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(format!("{ran:?}").contains("--yes") && format!("{ran:?}").contains("undo"), "{ran:?}");
    }
    assert_eq!(env.ask(&["log"]).code, 7, "nothing was done");
    let repaired = env.ask(&["doctor", "--repair", "--yes"]).exits(0);
    assert_eq!(repaired["repaired"], json!(true));
    let aside = repaired["put_aside"].as_str().unwrap();
    assert_eq!(fs::read(env.at(aside).join(HISTORY)).unwrap(), vec![b'x'; 8192]);
    assert_eq!(env.files(), notes);

    assert_eq!(env.ask(&["log"]).exits(0)["entries"], json!([]));
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: dog"}]));
    assert_ne!(env.files(), notes);
    env.ask(&["undo"]).exits(0);
    assert_eq!(env.files(), notes);
    assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], json!(true));
    let checks = env.ask(&["doctor"]).exits(0);
    let aside = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "put aside").unwrap();
    assert_eq!(aside["status"], json!("warn"));
    assert_eq!(env.ask(&["doctor", "--repair", "--yes"]).exits(0)["repaired"], json!(false));
}

#[test]
fn a_history_that_is_gone_is_not_said_to_be_empty() {
    let env = memory();
    fs::remove_file(state(&env).join(HISTORY)).unwrap();
    for command in [&["log"][..], &["diff"], &["undo"], &["audit", "verify"], &["audit", "head"], &["pending"]] {
        let error = env.ask(command).exits(7)["error"].clone();
        assert_eq!(error["code"], json!("damaged"), "{command:?}");
    }
    let checks = env.ask(&["doctor"]).exits(4);
    let history = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "history").unwrap().clone();
    assert_eq!(history["status"], json!("fail"), "{history}");
    assert!(!state(&env).join(HISTORY).exists(), "who only looks makes nothing");
    reads_and_does_not_write(&env, "memdir doctor --repair");
    assert_eq!(env.ask(&["doctor", "--repair", "--yes"]).exits(0)["repaired"], json!(true));
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: dog"}]));
}

#[test]
fn what_waits_outlives_a_history_that_was_put_back_from_an_older_copy() {
    let env = memory();
    let copies = ["history.sqlite", "history.sqlite-wal"].map(|name| (name, fs::read(state(&env).join(name)).unwrap()));
    let text = said(&json!([{"action": "append_file", "path": "user.md", "content": "- important: yes"}]));
    env.say(&text, &["--permission", "all"]);
    for (name, copy) in copies {
        fs::write(state(&env).join(name), copy).unwrap();
    }
    let waits = |checks: &Value| {
        let checks = checks["checks"].as_array().unwrap();
        let inbox = checks.iter().find(|check| check["name"] == "inbox").unwrap();
        inbox["message"].as_str().unwrap().starts_with("1 proposal waits")
    };
    assert!(waits(&env.ask(&["doctor"]).exits(0)));
    env.ask(&["pending"]).exits(0);
    assert!(waits(&env.ask(&["doctor"]).exits(0)));
    assert!(state(&env).join("inbox/1.json").exists());
    // It has kept its number, and is carried out like any other.
    let text = said(&json!([{"action": "append_file", "path": "user.md", "content": "- later: yes"}]));
    env.say(&text, &["--permission", "all"]);
    assert_eq!(crate::ask::ids(&env), [1, 2]);
    env.ask(&["approve", "1", "--code", &crate::ask::code(&env, 1)]).exits(0);
    assert!(env.read("user.md").contains("- important: yes"));
    assert!(!state(&env).join("inbox/1.json").exists() && state(&env).join("inbox/2.json").exists());
}

#[test]
fn a_whole_history_is_not_put_aside() {
    let env = memory();
    assert_eq!(env.ask(&["doctor", "--repair"]).exits(0)["repaired"], json!(false));
    assert_eq!(env.ask(&["log"]).exits(0)["entries"].as_array().unwrap().len(), 1);
    let fresh = Env::ada();
    assert_eq!(fresh.ask(&["doctor", "--repair"]).exits(0)["repaired"], json!(false));
    assert!(!fresh.at(".memdir").exists());
}

/// A state folder that is not ours is used by nobody, and reading needs none.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_state_stops_no_reading() {
    let env = memory();
    fs::rename(env.at(".memdir"), env.base().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(env.base().join("elsewhere"), env.at(".memdir")).unwrap();
    reads_and_does_not_write(&env, "memdir doctor");
    tells_what_is_in_the_way(&env, ".memdir");
    assert!(fs::symlink_metadata(env.at(".memdir")).unwrap().is_symlink());
}

/// Checks that the doctor and its repair name what the person has to take away, and promise no repair.
#[track_caller]
fn tells_what_is_in_the_way(env: &Env, name: &str) {
    let checks = env.ask(&["doctor"]).exits(4);
    let failed: Vec<&Value> =
        checks["checks"].as_array().unwrap().iter().filter(|check| check["status"] == "fail").collect();
    assert!(!failed.is_empty(), "{checks}");
    let repair = env.ask(&["doctor", "--repair", "--yes"]).exits(4);
    assert_eq!(repair["error"]["code"], json!("no_write_access"), "{repair}");
    for hint in [&failed[0]["hint"], &repair["error"]["hint"]] {
        let hint = hint.as_str().unwrap();
        assert!(hint.contains(&format!("take `{name}` away")) && !hint.contains("--repair"), "{hint}");
    }
}

#[cfg(unix)]
#[test]
fn what_no_repair_can_help_is_named() {
    for name in ["lock", "inbox"] {
        let env = memory();
        let place = if name == "lock" { env.at(".memdir/lock") } else { state(&env).join(name) };
        let said = place.strip_prefix(env.memory()).unwrap().to_str().unwrap().to_owned();
        fs::rename(&place, env.base().join("moved")).unwrap();
        std::os::unix::fs::symlink(env.base().join("moved"), &place).unwrap();
        tells_what_is_in_the_way(&env, &said);
        fs::remove_file(&place).unwrap();
        env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "x"}]));
        env.ask(&["doctor"]).exits(0);
    }
}

/// What connections share is made by whoever comes first, and on a full disk nobody can.
#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_reading_goes_on() {
    use crate::support::trace::{Tracer, Which};
    const NO_SPACE: i32 = 28;
    let env = memory();
    let tracer = Tracer::build();
    let full = |arguments: &[&str]| {
        let _ = fs::remove_file(state(&env).join("history.sqlite-shm"));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.arg("--memory").arg(env.memory()).args(arguments).env("HOME", env.home());
        tracer.fail(&command, "pwrite64", Which::From(1), NO_SPACE)
    };
    let read = full(&["read", "user.md"]);
    assert_eq!(read.status, Some(0), "{}", read.output);
    assert!(read.output.contains("- pet: cat") && read.output.contains("the disk is full"), "{}", read.output);
    for arguments in [&["search", "London"][..], &["tree"]] {
        let read = full(arguments);
        assert_eq!(read.status, Some(0), "{arguments:?}: {}", read.output);
        assert!(read.output.contains("user.md"), "{arguments:?}: {}", read.output);
    }
    let log = full(&["log", "--json"]);
    assert_eq!(log.status, Some(4), "{}", log.output);
    assert!(log.output.contains("\"disk_full\""), "{}", log.output);
}
