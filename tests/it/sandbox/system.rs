//! What the system denies: descriptors, writing, the lock.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Env, Ran, finish, said};

/// Runs `exec --json` by a script of the shell in which `"$@"` is the program with its arguments.
fn by_shell(env: &Env, script: &str, text: &str) -> Ran {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_memdir"), "exec", "--json", "--memory"]);
    command.arg(env.memory()).env_clear().env("HOME", env.home()).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("MEMDIR_DURABILITY", "full");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command, text.as_bytes())
}

#[test]
fn sixty_four_descriptors_are_enough() {
    let env = Env::new().quick();
    for folder in 0..40 {
        for note in 0..10 {
            env.write(&format!("folder-{folder}/note-{note}.md"), "one\n");
        }
    }
    let mut actions = vec![json!({"action": "list_files"}), json!({"action": "get_size"})];
    for folder in 0..40 {
        actions.push(json!({"action": "append_file", "path": format!("folder-{folder}/note-1.md"), "content": "two"}));
        actions.push(json!({"action": "create_file", "path": format!("new-{folder}/deep/x.md"), "content": "x"}));
    }
    actions.push(json!({"action": "delete_dir", "path": "folder-7", "recursive": true}));
    let ran = by_shell(&env, "ulimit -n 64; exec \"$@\"", &said(&Value::Array(actions)));
    let report = ran.exits(0);
    assert_eq!(report["actions"][0]["value"].as_array().unwrap().len(), 400);
    assert_eq!(env.read("folder-39/note-1.md"), "one\ntwo\n");
    assert_eq!(env.read("new-39/deep/x.md"), "x");
}

/// A script that mounts the memory read-only for one program, where the system lets us; else one that takes the
/// program's right to write by modes, which bind everybody but a superuser.
fn read_only(env: &Env, text: &str) -> Option<Ran> {
    let memory = env.memory().to_str().unwrap();
    let mount = format!("mount --bind '{memory}' '{memory}' && mount -o remount,ro,bind '{memory}'");
    let script = format!("exec unshare -rm sh -c \"{mount} && exec \\\"\\$@\\\"\" sh \"$@\"");
    let probe = by_shell(env, &script.replace("exec \\\"\\$@\\\"", "true"), "");
    if probe.code == 0 {
        return Some(by_shell(env, &script, text));
    }
    use std::os::unix::fs::PermissionsExt;
    let set = |mode: u32| fs::set_permissions(env.memory(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    let binds = fs::write(env.at("probe"), "").is_err();
    let ran = binds.then(|| by_shell(env, "exec \"$@\"", text));
    set(0o755);
    ran
}

#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    for has_history in [false, true] {
        let env = Env::ada();
        if has_history {
            env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
        }
        let before = env.seen();
        let text = said(&json!([
            {"action": "read_file", "path": "user.md"},
            {"action": "append_file", "path": "user.md", "content": "- pet: dog"},
            {"action": "create_file", "path": "new.md", "content": "x"},
            {"action": "get_history", "path": "user.md"},
        ]));
        let Some(ran) = read_only(&env, &text) else {
            eprintln!("not tried: neither a mount nor a mode keeps this user from writing");
            return;
        };
        let report = ran.exits(4);
        let code = |at: usize| report["actions"][at]["error"]["code"].clone();
        assert_eq!(
            [code(0), code(1), code(2)],
            [Value::Null, json!("no_write_access"), json!("no_write_access")],
            "{report}"
        );
        assert_eq!(code(3), Value::Null, "{report}");
        assert_eq!(env.seen(), before);
    }
}

#[test]
fn a_lock_that_another_process_holds_is_busy() {
    let env = Env::ada().set("MEMDIR_LIMITS_LOCK_SECONDS", "0");
    let append = |text: &str| said(&json!([{"action": "append_file", "path": "user.md", "content": text}]));
    env.say(&append("- pet: cat"), &[]).exits(0);
    let lock = fs::File::options().write(true).open(env.at(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let before = env.files();
    let report = env.say(&append("- pet: dog"), &[]).exits(4);
    assert_eq!(report["actions"][0]["error"]["code"], json!("busy"), "{report}");
    assert_eq!((&report["batch"], &report["changed"]), (&Value::Null, &json!([])));
    assert_eq!(env.ask(&["undo"]).exits(4)["error"]["code"], json!("busy"));
    assert_eq!(env.files(), before);
    env.say(&said(&json!([{"action": "read_file", "path": "user.md"}])), &[]).exits(0);
    env.ask(&["log"]).exits(0);
    lock.unlock().unwrap();
    env.say(&append("- pet: dog"), &[]).exits(0);
}
