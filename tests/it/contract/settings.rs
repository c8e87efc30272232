//! Settings and the environment: where they come from, and what is wrong with them.

use std::path::Path;

use serde_json::json;

use crate::support::{Env, finish, said};

#[track_caller]
fn refused(env: &Env, message: &str, hint: &str) {
    let error = env.ask(&["tree"]).exits(5)["error"].clone();
    assert_eq!((error["code"].as_str(), error["message"].as_str()), (Some("config"), Some(message)));
    assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
}

#[test]
fn an_unknown_key_is_an_error_that_names_the_nearest() {
    refused(&Env::ada().settings("durabilty = \"full\""), "unknown key `durabilty` in the settings", "`durability`");
    refused(
        &Env::ada().settings("[limits]\nnote_byte = 3"),
        "unknown key `note_byte` in [limits] in the settings",
        "`note_bytes`",
    );
    refused(
        &Env::ada().set("MEMDIR_LIMITS_NOTE_BYTE", "3"),
        "unknown setting `MEMDIR_LIMITS_NOTE_BYTE` in the environment",
        "`MEMDIR_LIMITS_NOTE_BYTES`",
    );
    let env = Env::ada().settings("[memory.\"/somewhere\"]\npermision = 3");
    refused(&env, "unknown key `permision` in the settings", "`permission`");
}

#[test]
fn a_value_that_does_not_fit_is_an_error() {
    for toml in [
        "durability = \"sometimes\"",
        "durability = ",
        "[limits]\nnote_bytes = \"many\"",
        "[permission]\nexec = \"ask me\"",
    ] {
        let env = Env::ada().settings(toml);
        let ran = env.ask(&["tree"]);
        assert_eq!(ran.exits(5)["error"]["code"], json!("config"), "{toml}");
    }
}

#[test]
fn settings_of_one_memory_come_before_those_of_all_and_the_environment_before_both() {
    let env = Env::ada();
    let toml = format!(
        "[limits]\nbatch_actions = 50\n[memory.\"{}\".limits]\nbatch_actions = 2\n",
        env.memory().canonicalize().unwrap().display()
    );
    let env = env.settings(&toml);
    let three = said(&json!([{"action": "get_size"}, {"action": "get_size"}, {"action": "get_size"}]));
    let failed = |env: &Env| {
        env.say(&three, &[]).json()["actions"].as_array().unwrap().last().unwrap()["error"]["message"].clone()
    };
    assert_eq!(failed(&env), json!("a batch holds at most 2 actions"));
    let env = env.set("MEMDIR_LIMITS_BATCH_ACTIONS", "1");
    assert_eq!(failed(&env), json!("a batch holds at most 1 actions; this one and the 1 after it were not run"));
}

#[test]
fn nothing_inside_the_memory_is_read_as_settings() {
    let env = Env::ada();
    for path in [".memdir/config.toml", "config.toml", ".config/memdir/config.toml", "memdir.toml"] {
        env.write(path, "nonsense = [");
    }
    env.ask(&["tree"]).exits(0);
}

#[test]
fn the_memory_is_found_by_option_then_environment_then_settings_then_home() {
    let env = Env::ada();
    let tree = |env: &Env, arguments: &[&str]| finish(env.bare(arguments), b"").json()["total"].clone();
    let other = env.base().join("other");
    let home = env.home().join("memdir");
    for folder in [&other, &home] {
        std::fs::create_dir(folder).unwrap();
    }
    std::fs::write(home.join("one.md"), "1").unwrap();
    assert_eq!(tree(&env, &["tree", "--json"]), json!(1), "~/memdir");
    let toml = format!("[memory.\"{}\"]\ndefault = true\n", other.display());
    let env = env.settings(&toml);
    assert_eq!(tree(&env, &["tree", "--json"]), json!(0), "the settings' default");
    let memory = env.memory().to_str().unwrap().to_owned();
    let env = env.set("MEMDIR", &memory);
    assert_eq!(tree(&env, &["tree", "--json"]), json!(3), "MEMDIR");
    assert_eq!(tree(&env, &["tree", "--json", "--memory", home.to_str().unwrap()]), json!(1), "--memory");
}

#[test]
fn the_root_a_home_and_an_empty_name_are_refused() {
    let env = Env::ada();
    let home = env.home();
    std::fs::create_dir(home.join("sub")).unwrap();
    let spelled = home.join("sub/..");
    for name in [Path::new("/"), Path::new(""), home.as_path(), spelled.as_path(), Path::new("//"), Path::new("/./")] {
        for command in ["tree", "init", "doctor"] {
            let ran = finish(env.bare(&[command, "--json", "--memory", name.to_str().unwrap()]), b"");
            if command == "doctor" && !name.as_os_str().is_empty() {
                assert_eq!(ran.code, 4, "{name:?} {ran:?}");
                continue;
            }
            assert_eq!(ran.exits(2)["error"]["code"], json!("usage"), "{command} {name:?}");
        }
    }
    // Set and empty is not set, as with HOME.
    let empty = finish(Env::ada().set("MEMDIR", "").bare(&["tree", "--json"]), b"").exits(4);
    assert!(empty["error"]["message"].as_str().unwrap().ends_with("/memdir"), "{empty}");
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1, "nothing was made there");
}

#[test]
fn a_memory_may_be_a_link_to_a_folder() {
    let env = Env::ada();
    let link = env.base().join("link");
    #[cfg(unix)]
    std::os::unix::fs::symlink(env.memory(), &link).unwrap();
    let append = said(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    let ran = finish(env.bare(&["exec", "--json", "--memory", link.to_str().unwrap()]), append.as_bytes());
    assert_eq!(ran.exits(0)["changed"], json!(["user.md"]));
    assert!(env.read("user.md").ends_with("- pet: cat\n"));
}

#[test]
fn state_may_live_elsewhere_and_the_lock_stays() {
    let env = Env::ada();
    let state = env.base().join("state");
    let append = said(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    env.say(&append, &["--state", state.to_str().unwrap()]).exits(0);
    assert!(env.at(".memdir/lock").is_file());
    let inside = env.seen();
    assert!(!inside.keys().any(|path| path.ends_with(".sqlite")), "{:?}", inside.keys());
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
    let log = env.ask(&["log", "--state", state.to_str().unwrap()]).exits(0);
    assert_eq!(log["entries"][0]["batch"], json!(1));
}
