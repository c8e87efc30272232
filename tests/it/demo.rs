//! The first minute: `demo`, and the assistants that `init` and `status` find.

use std::fs;

use serde_json::json;

use crate::support::{Env, Ran, finish};

/// `memdir demo` without `--memory`, which it refuses.
fn demo(env: &Env, arguments: &[&str]) -> Ran {
    finish(env.bare(&[&["demo"], arguments].concat()), b"")
}

#[test]
fn a_demo_has_a_story_and_touches_nothing_else() {
    let env = Env::new();
    let made = demo(&env, &["--json"]).exits(0);
    let folder = env.home().join("memdir-demo");
    assert_eq!((&made["notes"], &made["batches"], &made["waiting"]), (&json!(4), &json!([2, 3, 4]), &json!(1)));
    assert!(folder.join("people/tomas_reis.md").exists() && !env.home().join("memdir").exists());
    let user = fs::read_to_string(folder.join("user.md")).unwrap();
    assert!(user.contains("- city: Porto") && !user.contains("+351"), "{user}");
    fs::write(folder.join("mine.md"), "# Mine\n").unwrap();
    let again = demo(&env, &["--json"]).exits(2);
    assert_eq!(again["error"]["hint"], "name another folder, `memdir demo DIR`, or remove this one");
    assert!(folder.join("mine.md").exists());
    let elsewhere = env.home().join("else");
    demo(&env, &["--json", elsewhere.to_str().unwrap()]).exits(0);
    // The newest of the story goes, never the notes it begins with.
    for _ in 0..3 {
        env.ask(&["undo", "--memory", elsewhere.to_str().unwrap()]).exits(0);
    }
    let last = env.ask(&["undo", "--memory", elsewhere.to_str().unwrap()]).exits(4);
    assert_eq!(last["error"]["code"], "nothing_to_undo");
}

#[test]
fn a_demo_is_made_in_a_folder_of_its_own() {
    let env = Env::new();
    let refused = env.ask(&["demo", "--memory", "/nowhere"]).exits(2);
    assert_eq!(refused["error"]["hint"], "give the folder itself: `memdir demo DIR`");
    let folder = env.home().join("Mira's notes");
    let told = demo(&env, &[folder.to_str().unwrap()]).stdout;
    let typed = told.lines().find_map(|line| line.strip_prefix("    export ")).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("export {typed}; printf %s \"$MEMDIR\"")]);
    let named = shell.output().unwrap().stdout;
    assert_eq!(std::str::from_utf8(&named).unwrap(), fs::canonicalize(&folder).unwrap().to_str().unwrap());
}

#[test]
fn a_demo_says_which_calls_a_rule_of_the_user_stops() {
    let env = Env::new().settings("[[rule]]\naction = \"update_file\"\nverdict = \"deny\"\n");
    let told = demo(&env, &[]).stdout;
    assert!(told.contains("    nothing changed\n    3 of 4 calls failed, the first because "), "{told}");
}

#[test]
fn assistants_that_are_here_are_named_until_they_are_set_up() {
    let env = Env::new();
    fs::create_dir_all(env.home().join(".cursor")).unwrap();
    let made = env.run(&["init"], "").stdout;
    assert!(made.contains("next: `memdir install cursor` sets up an assistant; found here: cursor\n"), "{made}");
    assert_eq!(env.ask(&["status"]).exits(0)["assistants"], json!({"set_up": [], "others": ["cursor"]}));
    assert_eq!(env.run(&["install"], "").stdout, "cursor  is here; `memdir install cursor` sets it up\n");
    env.ask(&["install", "cursor", "--yes"]).exits(0);
    let status = env.ask(&["status"]).exits(0);
    assert_eq!(status["assistants"], json!({"set_up": ["cursor"], "others": []}));
    assert!(!status["next"].as_str().unwrap().contains("install"), "{status}");
}
