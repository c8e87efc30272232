//! Folders that somebody has prepared: links, pipes, devices, names and sizes that no note has.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::Guarded;
use crate::support::Env;

/// The code of each action that failed, the value of each that did not.
fn codes(report: &Value) -> Vec<String> {
    let code = |outcome: &Value| match outcome["error"]["code"].as_str() {
        Some(code) => code.to_owned(),
        None => outcome["value"].to_string(),
    };
    report["actions"].as_array().unwrap().iter().map(code).collect()
}

#[track_caller]
fn code(guarded: &Guarded, action: Value) -> String {
    codes(&guarded.env.exec(&json!([action]))).remove(0)
}

fn pipe(guarded: &Guarded, path: &str) {
    mknodat(CWD, guarded.env.at(path), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn links_with_targets_too_long_stop_nothing_else() {
    let env = Env::ada();
    symlink("n".repeat(300), env.at("long.md")).unwrap();
    symlink("n/".repeat(2_000), env.at("entities/long")).unwrap();
    let made = env.act(&json!({"action": "create_file", "path": "new.md", "content": "new\n"}));
    assert_eq!(made["ok"], json!(true), "{made}");
    env.run(&["remember", "Likes green tea.", "--json"], "").exits(0);
    assert_eq!(env.act(&json!({"action": "read_file", "path": "long.md"}))["error"]["code"], json!("outside_memory"));
    assert_eq!(env.read("new.md"), "new\n");
}

#[test]
fn links_that_lead_out_are_neither_read_nor_written_nor_listed() {
    let guarded = Guarded::new();
    let outside = guarded.env.base().join("outside");
    symlink(outside.join("secret.md"), guarded.env.at("file.md")).unwrap();
    symlink("../outside/secret.md", guarded.env.at("relative.md")).unwrap();
    symlink(&outside, guarded.env.at("folder")).unwrap();
    symlink("../../outside", guarded.env.at("entities/up")).unwrap();
    symlink("folder/deep", guarded.env.at("through")).unwrap();
    symlink("/", guarded.env.at("root")).unwrap();
    symlink("/proc/self/environ", guarded.env.at("environ.md")).unwrap();
    let base = guarded.env.base().strip_prefix("/").unwrap().to_str().unwrap().to_owned();
    let paths = [
        "file.md",
        "relative.md",
        "folder",
        "folder/secret.md",
        "folder/new.md",
        "folder/deep/secret.md",
        "entities/up",
        "entities/up/secret.md",
        "through",
        "through/secret.md",
        "root/etc/passwd",
        &format!("root/{base}/outside/secret.md"),
        "environ.md",
    ];
    let before = guarded.env.seen();
    for path in paths {
        let report = guarded.poke(path);
        for outcome in report["actions"].as_array().unwrap() {
            // A cursor is a name that was answered once, whatever has become of it.
            let is_cursor = outcome["action"] == json!("list_files") && outcome.get("path").is_none();
            assert!(outcome["ok"] == json!(false) || is_cursor, "{path}: {outcome}");
        }
        assert_eq!(code(&guarded, json!({"action": "read_file", "path": path})), "outside_memory", "{path}");
        let ran = guarded.env.ask(&["read", path]);
        guarded.check(path, &ran);
        assert_eq!(ran.exits(4)["error"]["code"], json!("outside_memory"), "{path}");
        assert_eq!(guarded.env.seen(), before, "{path}");
    }
    let ran = guarded.env.ask(&["tree"]);
    guarded.check("tree", &ran);
    assert_eq!(ran.json()["total"], json!(4), "links that lead out are not listed: {ran:?}");
    guarded.check("doctor", &guarded.env.ask(&["doctor"]));
    guarded.check("init", &guarded.env.ask(&["init"]));
}

#[test]
fn a_batch_cannot_make_its_own_way_out() {
    let guarded = Guarded::new();
    symlink(guarded.env.base().join("outside"), guarded.env.at("entities/out")).unwrap();
    let report = guarded.env.exec(&json!([
        {"action": "rename_file", "path": "entities", "new_path": "moved"},
        {"action": "read_file", "path": "moved/out/secret.md"},
        {"action": "create_file", "path": "moved/out/new.md", "content": "x"},
        {"action": "delete_dir", "path": "moved", "recursive": true},
        {"action": "rename_file", "path": "moved/out", "new_path": "out"},
        {"action": "copy_file", "path": "moved/out/secret.md", "new_path": "copy.md"},
    ]));
    guarded.unharmed("a batch");
    assert!(codes(&report)[1..].iter().all(|code| code != "true"), "{report}");
    let link = guarded.env.at("moved/out");
    assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "the link moves as it is");
}

#[test]
fn links_that_stay_inside_can_be_read() {
    let guarded = Guarded::new();
    symlink("user.md", guarded.env.at("me.md")).unwrap();
    symlink("entities", guarded.env.at("people")).unwrap();
    assert_eq!(code(&guarded, json!({"action": "read_file", "path": "people/acme.md"})), "\"# Acme\\n\"");
    let edit = json!({"action": "update_file", "path": "me.md", "old_content": "London", "new_content": "Paris"});
    assert_eq!(code(&guarded, edit), "true");
    assert_eq!(guarded.env.read("user.md"), "# Ada\n\n- city: Paris\n");
    assert!(fs::symlink_metadata(guarded.env.at("me.md")).unwrap().is_symlink(), "the link stays a link");
    // It leads inside, but by a path that names the host: the handle knows no such place.
    symlink(guarded.env.at("user.md"), guarded.env.at("absolute.md")).unwrap();
    assert_eq!(code(&guarded, json!({"action": "read_file", "path": "absolute.md"})), "outside_memory");
    guarded.unharmed("links inside");
}

#[test]
fn links_to_nothing_to_each_other_and_to_what_is_hidden() {
    let guarded = Guarded::new();
    guarded.env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    symlink("nowhere.md", guarded.env.at("dangling.md")).unwrap();
    symlink(guarded.env.base().join("outside/new.md"), guarded.env.at("dangling-out.md")).unwrap();
    symlink("loop-b.md", guarded.env.at("loop-a.md")).unwrap();
    symlink("loop-a.md", guarded.env.at("loop-b.md")).unwrap();
    symlink(".", guarded.env.at("self")).unwrap();
    symlink(".memdir", guarded.env.at("state")).unwrap();
    symlink(".memdir/lock", guarded.env.at("lock.md")).unwrap();
    let before = guarded.env.files();
    for path in ["dangling.md", "dangling-out.md", "loop-a.md", "state", "state/lock", "lock.md", "loop-a.md/x.md"] {
        let report = guarded.poke(path);
        assert!(!codes(&report).contains(&"true".to_owned()), "{path}: {report}");
    }
    assert_eq!(guarded.env.files(), before);
    let listed = guarded.env.act(&json!({"action": "list_files"}));
    assert_eq!(listed["value"], json!(["entities/acme.md", "inside.md", "user.md"]), "a linked folder is not entered");
    guarded.poke("self/self/self/user.md");
}

#[test]
fn pipes_sockets_and_devices_answer_at_once() {
    let guarded = Guarded::new();
    pipe(&guarded, "pipe.md");
    pipe(&guarded, "entities/pipe.md");
    let _socket = UnixListener::bind(guarded.env.at("socket.md")).unwrap();
    symlink("/dev/zero", guarded.env.at("zero.md")).unwrap();
    symlink("/dev/stdin", guarded.env.at("stdin.md")).unwrap();
    // Making a device takes a privilege; with it, one inside the memory has to be refused as well.
    let device = mknodat(
        CWD,
        guarded.env.at("device.md"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o666),
        rustix::fs::makedev(1, 5),
    );
    for path in ["pipe.md", "entities/pipe.md", "socket.md", "zero.md", "stdin.md", "device.md"] {
        if path == "device.md" && device.is_err() {
            continue;
        }
        let report = guarded.poke(path);
        assert!(!codes(&report).contains(&"true".to_owned()), "{path}: {report}");
        // Reads without looking first, so that opening alone has to be harmless.
        let ran = guarded.env.ask(&["read", path]);
        guarded.check(path, &ran);
        assert_eq!(ran.code, 4, "{path}: {ran:?}");
    }
    assert_eq!(code(&guarded, json!({"action": "read_file", "path": "pipe.md"})), "unsupported_file");
    let rest = json!([
        {"action": "read_file", "path": "user.md"}, {"action": "list_files"}, {"action": "get_size"},
        {"action": "list_directory"}, {"action": "go_to_link", "link": "[[user]]"},
        {"action": "append_file", "path": "user.md", "content": "- pet: cat"},
    ]);
    let report = guarded.env.exec(&rest);
    assert!(report["actions"].as_array().unwrap().iter().all(|outcome| outcome["ok"] == json!(true)), "{report}");
    assert_eq!(code(&guarded, json!({"action": "delete_dir", "path": "entities", "recursive": true})), "not_empty");
    guarded.unharmed("pipes");
}

#[test]
fn a_file_of_two_gibibytes_is_not_read() {
    let guarded = Guarded::new();
    let size = 2u64 << 30;
    fs::File::create(guarded.env.at("sparse.md")).unwrap().set_len(size).unwrap();
    for (action, expected) in [
        (json!({"action": "read_file", "path": "sparse.md"}), "too_large"),
        (json!({"action": "read_file", "path": "sparse.md", "start_line": 1, "end_line": 1}), "too_large"),
        (json!({"action": "append_file", "path": "sparse.md", "content": "x"}), "too_large"),
        (json!({"action": "copy_file", "path": "sparse.md", "new_path": "two.md"}), "too_large"),
        (json!({"action": "delete_file", "path": "sparse.md"}), "too_large"),
    ] {
        assert_eq!(code(&guarded, action.clone()), expected, "{action}");
    }
    assert_eq!(code(&guarded, json!({"action": "get_size", "path": "sparse.md"})), size.to_string());
    let info = guarded.env.act(&json!({"action": "get_file_info", "path": "sparse.md"}));
    assert_eq!((&info["value"]["size"], &info["value"]["digest"]), (&json!(size), &Value::Null));
    assert_eq!(code(&guarded, json!({"action": "rename_file", "path": "inside.md", "new_path": "still.md"})), "true");
}

#[test]
fn a_file_that_may_not_be_read_says_so() {
    let guarded = Guarded::new();
    fs::set_permissions(guarded.env.at("inside.md"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(guarded.env.at("entities"), fs::Permissions::from_mode(0o000)).unwrap();
    let binds = fs::read(guarded.env.at("inside.md")).is_err();
    let report = guarded.env.exec(&json!([
        {"action": "read_file", "path": "inside.md"}, {"action": "list_files", "path": "entities"},
        {"action": "read_file", "path": "user.md"},
    ]));
    fs::set_permissions(guarded.env.at("entities"), fs::Permissions::from_mode(0o700)).unwrap();
    // Modes do not bind a superuser.
    let expected = if binds { ["io", "io"] } else { ["\"inside\\n\"", "[\"entities/acme.md\"]"] };
    assert_eq!(codes(&report)[..2], expected, "{report}");
    assert_eq!(report["actions"][2]["ok"], json!(true));
}

#[test]
fn a_second_name_outside_keeps_what_it_had() {
    let guarded = Guarded::new();
    let outside = guarded.env.base().join("outside/secret.md");
    fs::hard_link(&outside, guarded.env.at("hard.md")).unwrap();
    let number = fs::metadata(&outside).unwrap().ino();
    // The file is inside as much as outside, so it can be read; writing makes a file of its own.
    let edit = json!({"action": "update_file", "path": "hard.md", "old_content": "CANARY-7f3a", "new_content": "mine"});
    assert_eq!(code(&guarded, edit), "true");
    assert!(guarded.env.read("hard.md").starts_with("mine\n"));
    guarded.unharmed("an update of a second name");
    assert_ne!(fs::metadata(guarded.env.at("hard.md")).unwrap().ino(), number);
    assert_eq!(fs::metadata(&outside).unwrap().ino(), number);
    assert_eq!(code(&guarded, json!({"action": "delete_file", "path": "hard.md"})), "true");
    guarded.env.ask(&["undo"]).exits(0);
    guarded.unharmed("an undo");
}

#[test]
fn names_and_contents_that_are_no_utf_8() {
    let guarded = Guarded::new();
    let name = std::ffi::OsString::from_vec(b"entities/caf\xe9.md".to_vec());
    fs::write(guarded.env.memory().join(&name), "latin\n").unwrap();
    guarded.env.write("bytes.md", b"\xff\xfeab\r\n\x00");
    for (action, expected) in [
        (json!({"action": "read_file", "path": "bytes.md"}), "not_text"),
        (json!({"action": "update_file", "path": "bytes.md", "old_content": "a", "new_content": "b"}), "not_text"),
        (json!({"action": "append_file", "path": "bytes.md", "content": "x"}), "not_text"),
        (json!({"action": "get_size", "path": "bytes.md"}), "7"),
        (json!({"action": "copy_file", "path": "bytes.md", "new_path": "copy.md"}), "true"),
        (json!({"action": "rename_file", "path": "bytes.md", "new_path": "moved.md"}), "true"),
        (json!({"action": "read_file", "path": "entities/caf\u{fffd}.md"}), "not_found"),
        (json!({"action": "delete_dir", "path": "entities", "recursive": true}), "not_empty"),
    ] {
        assert_eq!(code(&guarded, action.clone()), expected, "{action}");
    }
    assert_eq!(fs::read(guarded.env.at("copy.md")).unwrap(), b"\xff\xfeab\r\n\x00");
    assert_eq!(fs::read(guarded.env.at("moved.md")).unwrap(), b"\xff\xfeab\r\n\x00");
    let rename = json!({"action": "rename_file", "path": "entities", "new_path": "people"});
    assert_eq!(code(&guarded, rename), "true", "a folder takes along what cannot be named");
    assert!(guarded.env.at("people").read_dir().unwrap().count() == 2);
}

#[test]
fn twins_that_an_adopted_folder_holds_stay_usable() {
    let guarded = Guarded::new();
    for name in ["Note.md", "note.md", "caf\u{e9}.md", "cafe\u{301}.md"] {
        guarded.env.write(name, name);
    }
    for name in ["Note.md", "note.md", "caf\u{e9}.md", "cafe\u{301}.md"] {
        let append = json!({"action": "append_file", "path": name, "content": "more"});
        assert_eq!(code(&guarded, append), "true", "{name}");
        assert_eq!(guarded.env.read(name), format!("{name}\nmore\n"), "each its own");
    }
    for name in ["NOTE.md", "User.md", "us\u{435}r.md", "ENTITIES/x.md"] {
        let create = json!({"action": "create_file", "path": name, "content": "x"});
        assert_eq!(code(&guarded, create), "invalid_path", "{name}: no twin is made");
    }
}

#[test]
fn two_hundred_folders_deep() {
    let guarded = Guarded::new();
    let folder = vec!["d"; 200].join("/");
    let note = format!("{folder}/n.md");
    let report = guarded.env.exec(&json!([
        {"action": "create_file", "path": note, "content": "deep\n"},
        {"action": "append_file", "path": note, "content": "er"},
        {"action": "list_files", "path": "d"},
        {"action": "get_size", "path": "d"},
    ]));
    assert_eq!(codes(&report), ["true", "true", &json!([note]).to_string(), "8"]);
    assert_eq!(guarded.env.read(&note), "deep\ner\n");
    let moved = json!({"action": "rename_file", "path": format!("{folder}/n.md"), "new_path": "up.md"});
    assert_eq!(code(&guarded, moved), "true");
    assert_eq!(code(&guarded, json!({"action": "delete_dir", "path": "d", "recursive": true})), "true");
    assert!(!guarded.env.at("d").exists());
    guarded.env.ask(&["undo"]).exits(0);
    assert!(guarded.env.at(&folder).is_dir());
    guarded.unharmed("deep folders");
}
