//! A hostile `.memdir`: whoever sent the folder may have planted anything there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::Guarded;
use crate::support::said;

/// The folder of this machine below `.memdir`, as a first write makes it.
fn machine() -> String {
    let guarded = Guarded::new();
    guarded.env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "x"}]));
    let entries = fs::read_dir(guarded.env.at(".memdir")).unwrap().map(|entry| entry.unwrap());
    let folder = entries.into_iter().find(|entry| entry.file_type().unwrap().is_dir()).unwrap();
    folder.file_name().into_string().unwrap()
}

/// Plants something, and checks that a write is refused, that nothing outside is touched, and that nothing hangs.
#[track_caller]
fn refused(what: &str, plant: impl FnOnce(&Guarded, PathBuf)) {
    let guarded = Guarded::new();
    plant(&guarded, guarded.env.at(".memdir"));
    let notes = guarded.env.files();
    let text = said(&json!([
        {"action": "read_file", "path": "user.md"},
        {"action": "append_file", "path": "user.md", "content": "x"},
    ]));
    let ran = guarded.env.say(&text, &[]);
    guarded.check(what, &ran);
    assert_eq!(ran.code, 4, "{what}: {ran:?}");
    let said = ran.json();
    let error = said.get("error").unwrap_or(&said["actions"][1]["error"]);
    assert_eq!(error["code"], json!("no_write_access"), "{what}: {ran:?}");
    assert!(error["message"].as_str().unwrap().contains("cannot be trusted"), "{what}: {error}");
    assert_eq!(guarded.env.files(), notes, "{what}");
    for command in [&["tree"][..], &["log"], &["undo"], &["doctor"], &["read", "user.md"]] {
        guarded.check(what, &guarded.env.ask(command));
    }
}

#[test]
fn the_folder_itself() {
    refused("a link to a folder outside", |guarded, memdir| {
        symlink(guarded.env.base().join("outside"), memdir).unwrap();
    });
    refused("a link to nothing", |guarded, memdir| symlink(guarded.env.base().join("outside/new"), memdir).unwrap());
    refused("a link inside", |guarded, memdir| symlink(guarded.env.at("entities"), memdir).unwrap());
    refused("a file", |_, memdir| fs::write(memdir, "x").unwrap());
    refused("a pipe", |_, memdir| mknodat(CWD, memdir, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap());
}

#[test]
fn the_lock() {
    let with = |plant: fn(&Guarded, PathBuf)| {
        move |guarded: &Guarded, memdir: PathBuf| {
            fs::create_dir(&memdir).unwrap();
            plant(guarded, memdir.join("lock"));
        }
    };
    refused("a link out", with(|guarded, lock| symlink(guarded.env.base().join("outside/secret.md"), lock).unwrap()));
    refused("a link to nothing", with(|guarded, lock| symlink(guarded.env.base().join("outside/new"), lock).unwrap()));
    refused("a folder", with(|_, lock| fs::create_dir(lock).unwrap()));
    refused("a pipe", with(|_, lock| mknodat(CWD, lock, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap()));
    refused(
        "a second name",
        with(|guarded, lock| fs::hard_link(guarded.env.base().join("outside/secret"), lock).unwrap()),
    );
}

#[test]
fn the_machines_folder_and_its_database() {
    let machine = machine();
    let below = |path: &str, plant: fn(&Guarded, PathBuf)| {
        let (machine, path) = (machine.clone(), path.to_owned());
        move |guarded: &Guarded, memdir: PathBuf| {
            let place = memdir.join(machine).join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            plant(guarded, place);
        }
    };
    refused("a link out", {
        let machine = machine.clone();
        move |guarded: &Guarded, memdir: PathBuf| {
            fs::create_dir(&memdir).unwrap();
            symlink(guarded.env.base().join("outside"), memdir.join(machine)).unwrap();
        }
    });
    for name in ["history.sqlite", "history.sqlite-wal", "history.sqlite-shm", "history.sqlite-journal"] {
        refused(name, below(name, |guarded, place| symlink(guarded.env.base().join("outside/secret"), place).unwrap()));
        refused(name, below(name, |guarded, place| symlink(guarded.env.base().join("outside/new"), place).unwrap()));
        refused(
            name,
            below(name, |guarded, place| {
                fs::hard_link(guarded.env.base().join("outside/secret"), place).unwrap();
            }),
        );
        refused(
            name,
            below(name, |_, place| {
                mknodat(CWD, place, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
            }),
        );
        refused(name, below(name, |_, place| fs::create_dir(place).unwrap()));
    }
}

/// A planted `.gitignore` is not written through.
#[test]
fn the_file_for_git() {
    for target in ["outside/secret", "outside/new"] {
        let guarded = Guarded::new();
        fs::create_dir(guarded.env.at(".memdir")).unwrap();
        symlink(guarded.env.base().join(target), guarded.env.at(".memdir/.gitignore")).unwrap();
        let ran = guarded.env.say(&said(&json!([{"action": "append_file", "path": "user.md", "content": "x"}])), &[]);
        guarded.check(target, &ran);
        guarded.check(target, &guarded.env.ask(&["doctor"]));
    }
}

/// Links where a temporary file of the next batch will be.
#[test]
fn temporary_files_that_are_there_already() {
    let guarded = Guarded::new();
    for batch in 1..4 {
        for step in 0..3 {
            let name = guarded.env.at(&format!(".memdir-{batch}-{step}.tmp"));
            symlink(guarded.env.base().join("outside/secret.md"), name).unwrap();
        }
    }
    let ran = guarded.env.say(&said(&json!([{"action": "append_file", "path": "user.md", "content": "x"}])), &[]);
    guarded.check("temporary files", &ran);
    assert_eq!(ran.exits(0)["changed"], json!(["user.md"]));
    assert_eq!(guarded.env.read("user.md"), "# Ada\n\n- city: London\nx\n");
    assert!(!fs::symlink_metadata(guarded.env.at("user.md")).unwrap().is_symlink());
}

/// A database that somebody sent along is damaged or theirs; notes and what lies outside stay as they are.
#[test]
fn a_database_that_is_none() {
    let machine = machine();
    let guarded = Guarded::new();
    let folder = guarded.env.at(".memdir").join(machine);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("history.sqlite"), "CREATE TABLE batch".repeat(400)).unwrap();
    let notes = guarded.env.files();
    let ran = guarded.env.say(&said(&json!([{"action": "append_file", "path": "user.md", "content": "x"}])), &[]);
    guarded.unharmed("a database that is none");
    assert_eq!(ran.code, 7, "{ran:?}");
    assert_eq!(guarded.env.files(), notes);
}
