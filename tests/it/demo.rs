//! The first minute: `demo`, and the assistants that `init` and `status` find.

use std::fs;

use serde_json::json;

use crate::support::Env;

#[test]
fn a_demo_has_a_story_and_touches_nothing_else() {
    let env = Env::new();
    let made = env.ask(&["demo"]).exits(0);
    let folder = env.home().join("memdir-demo");
    assert_eq!((&made["notes"], &made["batches"], &made["waiting"]), (&json!(4), &json!([2, 3, 4]), &json!(1)));
    assert!(folder.join("people/tomas_reis.md").exists() && !env.home().join("memdir").exists());
    let user = fs::read_to_string(folder.join("user.md")).unwrap();
    assert!(user.contains("- city: Porto") && !user.contains("+351"), "{user}");
    fs::write(folder.join("mine.md"), "# Mine\n").unwrap();
    let again = env.ask(&["demo"]).exits(2);
    assert_eq!(again["error"]["hint"], "name another folder, `memdir demo DIR`, or remove this one");
    assert!(folder.join("mine.md").exists());
    let elsewhere = env.home().join("else");
    env.ask(&["demo", elsewhere.to_str().unwrap()]).exits(0);
    // The newest of the story goes, never the notes it begins with.
    for _ in 0..3 {
        env.ask(&["undo", "--memory", elsewhere.to_str().unwrap()]).exits(0);
    }
    let last = env.ask(&["undo", "--memory", elsewhere.to_str().unwrap()]).exits(4);
    assert_eq!(last["error"]["code"], "nothing_to_undo");
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
