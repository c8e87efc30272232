//! What people see: words on a terminal, on standard output and on standard error.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::support::{Env, Ran, finish, mask_text, said};

/// All that a run has said, in one text.
fn heard(env: &Env, ran: &Ran) -> String {
    let text = format!("exit {}\n--- stdout\n{}--- stderr\n{}", ran.code, ran.stdout, ran.stderr);
    mask_text(env, &text)
}

/// Runs commands one after the other, and gives all that they have said.
fn session(env: &Env, commands: &[(&[&str], &str)]) -> String {
    let mut heard_all = String::new();
    for (arguments, stdin) in commands {
        let ran = env.run(arguments, stdin);
        heard_all.push_str(&format!("$ memdir {}\n{}\n", arguments.join(" "), heard(env, &ran)));
    }
    heard_all
}

fn move_to_paris() -> String {
    said(&json!([
        {"action": "update_file", "path": "user.md", "old_content": "- city: London", "new_content": "- city: Paris"},
        {"action": "create_file", "path": "entities/paris.md", "content": "# Paris\n"},
    ]))
}

/// Who sees only that the command failed would send the same again.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_after_a_stored_batch_says_that_it_is_stored() {
    let env = Env::ada();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let append = json!([{"action": "append_file", "path": "user.md", "content": "- tea: green"}]);
    for (number, arguments) in [(1, vec!["exec"]), (2, vec!["exec", "--json"]), (3, vec!["undo", "--json"])] {
        let mut command = env.command(&arguments);
        command.stdout(full());
        let ran = finish(command, said(&append).as_bytes());
        assert_eq!(ran.code, 1, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(&format!("change {number} is stored")), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(env.read("user.md").matches("- tea: green").count(), 1);
}

/// A relative `HOME` names a folder below the current one, which may be the memory.
#[test]
fn a_relative_home_puts_nothing_into_the_current_folder() {
    let env = Env::ada();
    let before = env.seen();
    for arguments in [&["search", "London"][..], &["links"], &["check"], &["facts"], &["tree"]] {
        let mut command = env.bare(&["--memory", "."]);
        command.args(arguments).env("HOME", "here").current_dir(env.memory());
        let ran = finish(command, b"");
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    }
    assert_eq!(env.seen(), before);
}

#[test]
fn a_first_hour() {
    let env = Env::ada();
    let text = move_to_paris();
    let said = session(
        &env,
        &[
            (&["tree"], ""),
            (&["exec"], &text),
            (&["log"], ""),
            (&["log", "-p", "user.md"], ""),
            (&["diff"], ""),
            (&["undo", "--dry-run"], ""),
            (&["undo"], ""),
            (&["undo"], ""),
            (&["restore", "user.md", "--at", "1"], ""),
            (&["read", "user.md"], ""),
        ],
    );
    assert_snapshot!(said);
}

#[test]
fn init_says_what_it_found() {
    let env = Env::new();
    let fresh = env.base().join("fresh");
    let made = finish(env.bare(&["init", fresh.to_str().unwrap()]), b"");
    let adopted = finish(env.bare(&["init", fresh.to_str().unwrap()]), b"");
    assert_snapshot!(format!("{}\n{}", heard(&env, &made), heard(&env, &adopted)));
}

#[test]
fn doctor_says_how_things_are() {
    let env = Env::ada();
    let before = heard(&env, &env.run(&["doctor"], ""));
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    let after = heard(&env, &env.run(&["doctor"], ""));
    assert_snapshot!(format!("{before}\n{after}"));
}

#[test]
fn what_is_damaged_beside_the_settings_is_named_and_the_status_goes_on() {
    let env = Env::ada();
    env.ask(&["client", "add", "a"]).exits(0);
    for file in ["clients.toml", "tools.toml"] {
        let path = env.home().join(".config/memdir").join(file);
        std::fs::write(&path, "damaged").unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let status = env.run(&["status"], "");
        assert_eq!(status.code, 0, "{status:?}");
        assert!(status.stderr.contains(&format!("note: `{file}`")), "{status:?}");
        assert!(status.stdout.contains("next:     `memdir doctor` says what is wrong"), "{status:?}");
        assert_eq!(env.ask(&["doctor"]).code, 4);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn the_doctor_does_not_call_settings_right_that_have_a_wrong_value() {
    let env = Env::ada().settings("durability = \"no\"\n");
    let checks = env.ask(&["doctor"]).exits(4);
    assert_eq!(checks["checks"].as_array().unwrap().len(), 1, "{checks}");
    let settings = &checks["checks"][0];
    assert_eq!((&settings["name"], &settings["status"]), (&serde_json::json!("settings"), &serde_json::json!("fail")));
    assert!(settings["hint"].as_str().unwrap().contains(".config/memdir/config.toml"), "{settings}");
}

#[test]
fn errors_teach_people_too() {
    let env = Env::ada();
    let text = said(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    let said = session(
        &env,
        &[
            (&["read", "gone.md"], ""),
            (&["read", "../x.md"], ""),
            (&["exec"], "no actions at all"),
            (&["exec", "--dry-run"], &text),
            (&["undo"], ""),
            (&["undo", "7"], ""),
            (&["restore", "user.md", "--at", "7"], ""),
            (&["log", "--limit", "0"], ""),
            (&["exce"], ""),
        ],
    );
    assert_snapshot!(said);
}

#[test]
fn settings_that_are_wrong_are_shown() {
    let env = Env::ada().settings("[limits]\nnote_byts = 3\n");
    assert_snapshot!(session(&env, &[(&["tree"], ""), (&["doctor"], "")]));
}

#[test]
fn a_conflict_shows_what_is_there_now() {
    let env = Env::ada();
    env.run(&["exec"], &move_to_paris());
    env.write("user.md", "# Ada\n\n- city: Rome\n");
    assert_snapshot!(session(&env, &[(&["undo"], "")]));
}

/// A note cannot speak to the terminal, nor can a name. Diffs are escaped on a terminal only: in a pipe a patch has to
/// be the change itself.
#[cfg(unix)]
#[test]
fn control_characters_are_shown_and_not_sent() {
    let env = Env::with(&[("bell\u{9b}31m.md", "x\n"), ("user.md", "\u{1b}]0;title\u{7}\n")]);
    env.write("evil\u{202e}dm.md", "x\n");
    let text = said(&json!([{"action": "append_file", "path": "user.md", "content": "\u{1b}[2J"}]));
    for (arguments, stdin) in [(&["tree"][..], ""), (&["exec"], &text), (&["log"], "")] {
        let ran = env.run(arguments, stdin);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let harmful = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
        assert!(!said.contains(harmful), "{arguments:?}: {said:?}");
    }
}

#[test]
fn completions_name_every_command() {
    let env = Env::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = env.run(&["completions", shell], "").stdout;
        for command in ["init", "exec", "tree", "read", "log", "diff", "undo", "restore", "actions", "schema", "doctor"]
        {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn help_and_version_are_no_failure() {
    let env = Env::new();
    for arguments in [&["--help"][..], &["-h"], &["--version"], &["exec", "--help"]] {
        let ran = finish(env.bare(arguments), b"");
        assert!(ran.code == 0 && ran.stderr.is_empty() && !ran.stdout.is_empty(), "{arguments:?} {ran:?}");
    }
    let version = finish(env.bare(&["--version"]), b"").stdout;
    assert_eq!(version, format!("memdir {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_log_file_holds_no_contents() {
    let env = Env::ada();
    let log = env.base().join("trace.log");
    let text = said(&json!([
        {"action": "append_file", "path": "user.md", "content": "- a very private fact"},
        {"action": "read_file", "path": "entities/nobody-we-know.md"},
        {"action": "no_such_action_name", "path": "user.md"},
    ]));
    env.run(&["exec", "--log", log.to_str().unwrap()], &text);
    #[cfg(unix)]
    {
        let bits = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&log).unwrap().permissions());
        assert_eq!(bits & 0o077, 0, "nobody else reads it");
    }
    let logged = std::fs::read_to_string(log).unwrap();
    assert!(logged.contains("append_file") && logged.contains("NotFound"), "{logged}");
    for private in ["private fact", "London", "nobody-we-know", "no_such_action_name"] {
        assert!(!logged.contains(private), "{private}: {logged}");
    }
}

/// The stack of a thread in another program may be small. Unoptimised code needs the most of it.
#[cfg(target_os = "linux")]
#[test]
fn no_command_needs_a_large_stack() {
    let env = Env::ada();
    let shell = |limit: &str, arguments: &str| {
        let mut command = std::process::Command::new("sh");
        let line = format!("ulimit -s {limit} && exec \"$0\" --memory \"$1\" {arguments}");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_memdir")]).arg(env.memory());
        command.env_clear().env("HOME", env.home()).env("PATH", std::env::var_os("PATH").unwrap());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        command
    };
    let turns = [
        "<actions>[{\"action\":\"append_file\",\"path\":\"user.md\",\"content\":\"- a: b\"}]</actions>",
        "<python>\nx = read_file('user.md')\n</python>",
    ];
    for turn in turns {
        let ran = finish(shell("256", "exec"), turn.as_bytes());
        assert_eq!(ran.code, 0, "{turn}: {ran:?}");
    }
    for arguments in ["read user.md", "search London", "check", "links", "facts", "log -p", "doctor", "--help", "undo"]
    {
        let ran = finish(shell("256", arguments), b"");
        assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
    }
}

/// Where a system starts no more threads, everything is done on the first one.
#[test]
fn a_command_that_can_start_no_thread_works() {
    let env = Env::ada();
    // No system gives a thread so large a stack. The threads of Python blocks ask for a size of their own.
    let env = env.set("RUST_MIN_STACK", "70368744177664");
    let report = env.exec(&json!([
        {"action": "append_file", "path": "user.md", "content": "- tea: green"},
        {"action": "create_file", "path": "a.md", "content": "[[user]]"},
        {"action": "create_file", "path": "b.md", "content": "[[a]]"},
    ]));
    assert_eq!(report["changed"], json!(["a.md", "b.md", "user.md"]));
    assert_eq!(env.ask(&["search", "tea"]).exits(0)["hits"][0]["path"], "user.md");
    for arguments in [&["check"][..], &["links"], &["facts"], &["log"], &["undo"]] {
        env.ask(arguments).exits(0);
    }
}

/// No value is taken after which no command works any more, `config set` among them.
#[test]
fn a_place_for_the_history_that_cannot_be_one_is_not_set() {
    let env = Env::ada();
    let inside = env.at("x");
    for value in ["", "a/b", inside.to_str().unwrap(), "/dev/null"] {
        assert_ne!(env.ask(&["config", "set", "state", value]).code, 0, "{value}");
        env.ask(&["log"]).exits(0);
    }
    for key in ["limits.batch_actions", "limits.batch_seconds", "limits.note_bytes"] {
        assert_eq!(env.ask(&["config", "set", key, "0"]).code, 5, "{key}");
    }
    let days = env.run(&["config", "set", "history.keep_days", "abc"], "").stderr;
    assert!(days.contains("expected a whole number from 0 on") && !days.contains("settings file is"), "{days}");
    // What an editor wrote there can be mended.
    let folder = env.home().join(".config/memdir");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "state = \"\"\n").unwrap();
    assert_eq!(env.ask(&["log"]).code, 5);
    env.ask(&["config", "set", "state", env.home().join("history").to_str().unwrap()]).exits(0);
    env.ask(&["log"]).exits(0);
}

/// A history of another machine, as after a new installation, is not passed over in silence.
#[test]
fn the_log_tells_of_a_history_that_is_not_ours() {
    let env = Env::ada();
    env.ask(&["set", "user", "city", "Oslo"]).exits(0);
    let machine =
        env.at(".memdir").read_dir().unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    fs::rename(&machine, machine.with_file_name("0123456789abcdef")).unwrap();
    let log = env.run(&["log"], "");
    assert!(log.stderr.contains("the history of another machine, or of another user of this one"), "{log:?}");
    let doctor = env.ask(&["doctor"]).exits(0).to_string();
    assert!(doctor.contains("undo is per machine and user"), "{doctor}");
}
