//! The action `memory` through the binary: values, paths, undo, rules.

use serde_json::{Value, json};

use crate::support::Env;

fn memory(operation: &str, more: &Value) -> Value {
    let mut json = json!({"action": "memory", "operation": operation});
    for (key, value) in more.as_object().unwrap() {
        json[key] = value.clone();
    }
    json
}

#[test]
fn an_entry_is_stored_read_listed_found_and_deleted() {
    let env = Env::ada();
    let report = env.exec(&json!([
        memory("store", &json!({"key": "Favorite Color", "content": "blue", "tags": ["colors"]})),
        memory("store", &json!({"content": "The cat is called Mia."})),
        memory("retrieve", &json!({"key": "favorite color"})),
        memory("list", &json!({})),
    ]));
    let actions = report["actions"].as_array().unwrap();
    let seen: Vec<(&Value, &Value)> = actions.iter().map(|action| (&action["path"], &action["value"])).collect();
    let (color, cat) = (json!("memories/favorite-color.md"), json!("memories/the-cat-is-called-mia.md"));
    let list = json!([
        {"key": "Favorite Color", "path": color, "tags": ["colors"]},
        {"key": "the-cat-is-called-mia", "path": cat, "tags": []},
    ]);
    let yes = json!(true);
    assert_eq!(seen, [(&color, &yes), (&cat, &yes), (&color, &json!("blue\n")), (&Value::Null, &list)]);
    assert_eq!(report["changed"], json!([color, cat]));
    assert_eq!(env.read("memories/favorite-color.md"), "---\ntags: [colors]\nkey: \"Favorite Color\"\n---\nblue\n");
    assert_eq!(env.read("memories/the-cat-is-called-mia.md"), "The cat is called Mia.\n");
    let found = env.act(&memory("search", &json!({"query": "cat"})));
    assert_eq!(found["value"]["hits"][0]["path"], cat, "{found}");
    assert_eq!(env.act(&memory("delete", &json!({"key": "favorite color"})))["value"], json!(true));
    assert!(!env.at("memories/favorite-color.md").exists());
    env.ask(&["undo"]).exits(0);
    assert!(env.at("memories/favorite-color.md").exists());
}

#[test]
fn a_key_is_never_a_path() {
    let env = Env::ada();
    for key in ["../../escape", "/etc/passwd", ".memdir/lock", "a\u{0}b"] {
        let stored = env.act(&memory("store", &json!({"key": key, "content": "x"})));
        let path = stored["path"].as_str().unwrap();
        assert!(path.starts_with("memories/") && path.matches('/').count() == 1, "{stored}");
    }
    assert!(!env.base().join("escape.md").exists());
}

#[test]
fn rules_about_places_hold_for_entries() {
    let rules = "[[rule]]\npath = \"memories/secret*\"\nverdict = \"deny\"\n";
    let env = Env::with(&[("memories/secret-plan.md", "x\n"), ("memories/open.md", "y\n")]).settings(rules);
    let refused = [
        memory("retrieve", &json!({"key": "Secret Plan"})),
        memory("store", &json!({"key": "secret plan", "content": "z"})),
        memory("store", &json!({"content": "secret plan"})),
        memory("delete", &json!({"key": "secret plan"})),
    ];
    for action in &refused {
        assert_eq!(env.act(action)["error"]["code"], json!("denied"), "{action}");
    }
    let list = env.act(&memory("list", &json!({})));
    assert_eq!(list["value"], json!([{"key": "open", "path": "memories/open.md", "tags": []}]));
    let missing = env.act(&memory("retrieve", &json!({"key": "sekret plan"})));
    assert!(!missing["error"].to_string().contains("secret"), "{missing}");
    assert_eq!(env.read("memories/secret-plan.md"), "x\n");
}

#[test]
fn reading_is_no_writing() {
    let env = Env::with(&[("memories/pet.md", "a cat\n")]);
    let before = env.seen();
    for (operation, more) in
        [("retrieve", json!({"key": "pet"})), ("list", json!({})), ("search", json!({"query": "cat"}))]
    {
        let text = crate::support::said(&json!([memory(operation, &more)]));
        env.say(&text, &["--read-only"]).exits(0);
    }
    assert_eq!(env.seen(), before);
    let text = crate::support::said(&json!([memory("store", &json!({"content": "x"}))]));
    assert_eq!(env.say(&text, &["--read-only"]).exits(4)["actions"][0]["error"]["code"], json!("read_only"));
}
