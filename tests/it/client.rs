//! Clients: who is registered, what is kept of them, and that a token is nowhere but in the one line that shows it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Env, Ran, files};

fn register(env: &Env) -> PathBuf {
    env.home().join(".config/memdir/clients.toml")
}

fn add(env: &Env, arguments: &[&str]) -> Ran {
    env.ask(&[&["client", "add"], arguments].concat())
}

#[test]
fn a_client_is_added_listed_and_revoked() {
    let env = Env::ada();
    let before = env.seen();
    let added = add(
        &env,
        &[
            "cursor",
            "--read",
            "work/**",
            "--write",
            "work/log.md",
            "--tools",
            "read,append_file",
            "--expires",
            "30d",
            "--rate",
            "60",
        ],
    );
    let added = added.exits(0);
    let token = added["token"].as_str().unwrap();
    assert!(token.strip_prefix("memdir_").is_some_and(|hex| hex.len() == 64), "{token}");
    assert_eq!(added["header"], format!("Authorization: Bearer {token}"));
    let client = &added["client"];
    assert_eq!(
        (&client["name"], &client["read"], &client["write"]),
        (&json!("cursor"), &json!(["work/**"]), &json!(["work/log.md"]))
    );
    assert_eq!(
        (&client["rate"], &client["may_approve"], &client["expired"]),
        (&json!(60), &json!(false), &json!(false))
    );
    let actions: Vec<&str> = client["actions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(actions.contains(&"read_file") && actions.contains(&"append_file") && !actions.contains(&"delete_file"));
    add(&env, &["plain"]).exits(0);
    let listed = env.ask(&["client", "list"]).exits(0);
    assert_eq!(listed["clients"][0], *client);
    assert_eq!((&listed["clients"][1]["read"], &listed["clients"][1]["write"]), (&json!(["**"]), &json!([])));
    assert_eq!((&listed["clients"][1]["actions"], &listed["clients"][1]["expires"]), (&json!(null), &json!(null)));
    assert_eq!(env.ask(&["client", "revoke", "cursor"]).exits(0), json!({"revoked": "cursor"}));
    let listed = env.ask(&["client", "list"]).exits(0);
    assert_eq!(listed["clients"].as_array().unwrap().len(), 1);
    // A memory is not changed by who may ask for it.
    assert_eq!(env.seen(), before);
}

/// Nobody could ever use a client whose token was not shown.
#[cfg(target_os = "linux")]
#[test]
fn a_client_whose_token_was_not_shown_is_not_registered() {
    let env = Env::ada();
    for more in [&["client", "add", "shelf"][..], &["client", "add", "shelf", "--json"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(env.command(more).stdout(full).status().unwrap().code(), Some(1), "{more:?}");
        assert_eq!(env.ask(&["client", "list"]).exits(0)["clients"], json!([]), "{more:?}");
    }
    add(&env, &["shelf"]).exits(0);
}

#[test]
fn what_a_client_may_do_is_said_in_words() {
    let env = Env::ada();
    let ran = env.run(
        &["client", "add", "desk", "--read", "a/**", "--write", "b/**", "--expires", "2999-01-01", "--may-approve"],
        "",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("Authorization: Bearer memdir_") && ran.stdout.lines().count() == 1, "{ran:?}");
    assert!(!ran.stderr.contains("memdir_"), "{ran:?}");
    for words in [
        "desk may read a/** and write b/**, until 2999-01-01T00:00:00Z, and its person may approve",
        "it may read too: b/**",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    }
    let all = env.run(&["client", "add", "all", "--write", "**"], "");
    assert!(
        all.stderr.contains("all may read everything and write everything") && !all.stderr.contains("note:"),
        "{all:?}"
    );
}

#[test]
fn mistakes_teach() {
    let env = Env::ada();
    add(&env, &["cursor"]).exits(0);
    for (arguments, code, message, hint) in [
        (&["cursor"][..], 4, "client `cursor` is registered", "memdir client revoke cursor"),
        (&["Cursor"], 2, "`Cursor` cannot be the name", "a-z"),
        (&[""], 2, "cannot be the name", "a-z"),
        (&["x", "--read", "/etc/**"], 2, "`/etc/**` can match no path", "work/**"),
        (&["x", "--write", "a**"], 2, "`a**` has `**`", "work/**"),
        (&["x", "--tools", "raed_file"], 2, "unknown action `raed_file`", "`read_file`"),
        (&["x", "--tools", "reed"], 2, "unknown action `reed`", "`read`"),
        (&["x", "--expires", "soon"], 2, "`soon` is no time", "30d"),
        (&["x", "--expires", "2027-02-30"], 2, "is no time", "2027-01-01"),
        (&["x", "--expires", "2020-01-01"], 2, "is over already", "to come"),
        (&["x", "--expires", "0d"], 2, "is over already", "to come"),
        (&["x", "--expires", "4000000000d"], 2, "is no time", "30d"),
        (&["x", "--rate", "0"], 2, "", ""),
    ] {
        let said = add(&env, arguments).exits(code);
        assert!(said["error"]["message"].as_str().unwrap().contains(message), "{arguments:?}: {said}");
        assert!(said["error"]["hint"].as_str().unwrap().contains(hint), "{arguments:?}: {said}");
    }
    for (command, name, hint) in [("revoke", "curser", "`cursor`"), ("revoke", "zzz", "there is cursor")] {
        let said = env.ask(&["client", command, name]).exits(4);
        assert_eq!(said["error"]["code"], "not_found");
        assert!(said["error"]["hint"].as_str().unwrap().contains(hint), "{said}");
    }
    let served = env.ask(&["mcp", "--client", "curser"]).exits(4);
    assert_eq!(served["error"]["hint"], "did you mean `cursor`?");
    assert_eq!(env.ask(&["client", "list"]).exits(0)["clients"].as_array().unwrap().len(), 1);
}

#[test]
fn a_client_belongs_to_one_memory() {
    let env = Env::ada();
    let other = env.base().join("other");
    fs::create_dir(&other).unwrap();
    add(&env, &["one"]).exits(0);
    let there = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
        let mut command = env.bare(&arguments);
        command.arg("--memory").arg(&other);
        crate::support::finish(command, b"")
    };
    assert_eq!(there(&["client", "list"]).exits(0), json!({"clients": []}));
    there(&["client", "add", "one"]).exits(0);
    there(&["client", "revoke", "one"]).exits(0);
    assert_eq!(there(&["mcp", "--client", "one"]).exits(4)["error"]["code"], "not_found");
    assert_eq!(env.ask(&["client", "list"]).exits(0)["clients"][0]["name"], "one");
}

/// In the one line that shows it, and nowhere on the disk: not in the register, the memory, its history or a log.
#[test]
fn a_token_is_nowhere() {
    let env = Env::ada();
    let log = env.base().join("log");
    let added = add(&env, &["cursor", "--log", log.to_str().unwrap()]).exits(0);
    let token = added["token"].as_str().unwrap().trim_start_matches("memdir_").to_owned();
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "more"}]));
    env.ask(&["client", "list"]).exits(0);
    env.ask(&["client", "revoke", "cursor"]).exits(0);
    let found = |text: &str| -> Vec<String> {
        let has = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        files(env.base()).into_iter().filter(|(_, bytes)| has(bytes)).map(|(name, _)| name).collect()
    };
    assert_eq!(found(&token), [""; 0]);
    // The search itself finds what is there.
    assert!(!found("Ada").is_empty());
}

#[cfg(unix)]
#[test]
fn only_the_person_may_read_the_register() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::ada();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    add(&env, &["cursor"]).exits(0);
    let file = register(&env);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    for open in [0o640, 0o604, 0o620, 0o602] {
        fs::set_permissions(&file, fs::Permissions::from_mode(open)).unwrap();
        let before = fs::read(&file).unwrap();
        for arguments in [
            &["client", "list"][..],
            &["client", "add", "x"],
            &["client", "revoke", "cursor"],
            &["mcp", "--client", "cursor"],
        ] {
            let said = env.ask(arguments).exits(5);
            assert!(said["error"]["hint"].as_str().unwrap().contains("chmod 600 '"), "{said}");
        }
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

#[test]
fn a_damaged_register_lets_nobody_in_and_is_kept() {
    let env = Env::ada();
    add(&env, &["cursor"]).exits(0);
    let whole = fs::read_to_string(register(&env)).unwrap();
    assert!(whole.starts_with("# Written by `memdir client`"), "{whole}");
    for damaged in
        ["x", "version = 2\n", &whole.replace("sha256:", "sha256:z"), &whole.replace("read =", "reed ="), "client = 7"]
    {
        fs::write(register(&env), damaged).unwrap();
        for arguments in [&["client", "list"][..], &["client", "add", "x"], &["mcp", "--client", "cursor"]] {
            let said = env.ask(arguments).exits(5);
            assert!(said["error"]["message"].as_str().unwrap().contains("`clients.toml` is damaged"), "{said}");
        }
        assert_eq!(fs::read_to_string(register(&env)).unwrap(), damaged);
    }
}

#[test]
fn of_clients_that_are_added_at_once_none_is_lost() {
    let env = Env::ada();
    let running: Vec<_> = (0..8)
        .map(|number| {
            let mut command = env.command(&["client", "add", &format!("c{number}"), "--json"]);
            command.spawn().unwrap()
        })
        .collect();
    for child in running {
        Ran::of(child.wait_with_output().unwrap()).exits(0);
    }
    let listed = env.ask(&["client", "list"]).exits(0);
    let mut names: Vec<&str> =
        listed["clients"].as_array().unwrap().iter().filter_map(|client| client["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"]);
    let left: Vec<String> = files(&env.home().join(".config/memdir")).into_keys().collect();
    assert_eq!(left, ["clients.toml"]);
}

#[test]
fn a_grant_that_looks_narrower_than_it_is_is_refused() {
    let env = Env::ada();
    let refused = env.ask(&["client", "add", "shelf", "--read", "**", "--read", "!entities/**"]).exits(2);
    assert!(refused["error"]["hint"].as_str().unwrap().contains("`--hide 'entities/**'` does"), "{refused}");
    assert_eq!(env.ask(&["client", "list"]).exits(0)["clients"], json!([]));
    let ran = env.run(&["client", "add", "shelf", "--read", "entities"], "");
    assert!(ran.stderr.contains("match no note now"), "{ran:?}");
    let ran = env.run(&["client", "add", "other", "--read", "entities/"], "");
    assert!(ran.stderr.contains("it sees 1 note now"), "{ran:?}");
    let ran = env.run(&["client", "add", "third", "--hide", "acme", "--hide", "entities/"], "");
    assert!(ran.stderr.contains("`--hide acme` hides no note now"), "{ran:?}");
    assert!(!ran.stderr.contains("`--hide entities/`"), "{ran:?}");
}
