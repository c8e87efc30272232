//! `eval retrieval`: what it prints, that it writes nothing, and that the set of our own is answered.

use std::fs;

use serde_json::json;

use crate::support::Env;

/// The folder of this repository's examples.
fn examples() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

#[test]
fn our_own_questions_are_answered() {
    let env = Env::new();
    let set = examples().join("questions/household.jsonl");
    let measured = env.ask(&["eval", "retrieval", set.to_str().unwrap()]).exits(0);
    let kinds = measured["sets"][0]["kinds"].as_array().unwrap();
    let all = kinds.last().unwrap();
    assert_eq!((&all["kind"], &all["questions"]), (&json!("all"), &json!(46)));
    let score = |who: &str, which: &str| all[who][which].as_f64().unwrap();
    assert!(score("memdir", "hit_at_1") >= 0.95, "{all}");
    assert!(score("memdir", "recall_at_5") >= 0.99, "{all}");
    assert!(score("memdir", "mrr") > score("bm25", "mrr") + 0.15, "{all}");
    assert!(!examples().join("household/.memdir").exists(), "nothing is written");
    assert!(!env.home().join(".cache").exists());
}

#[test]
fn the_measures_are_what_they_say() {
    let env = Env::with(&[("notes/a.md", "# Amber\n"), ("notes/b.md", "# Basalt\n"), ("notes/c.md", "amber basalt\n")]);
    let question = |question: &str, gold: &[&str], any: bool, kind: &str| {
        json!({"memory": "notes", "question": question, "gold": gold, "any": any, "kind": kind, "answer": null})
            .to_string()
    };
    let set = env.base().join("set.jsonl");
    let lines = [
        question("amber", &["a.md"], false, "first"),
        question("amber", &["a.md", "zzz.md"], false, "half"),
        question("amber", &["c.md", "zzz.md"], true, "second"),
        question("wolframite", &["a.md"], false, "nothing"),
    ];
    fs::write(&set, lines.join("\n\n")).unwrap();
    let measured =
        env.ask(&["eval", "retrieval", set.to_str().unwrap(), "--memories", env.memory().to_str().unwrap()]).exits(0);
    let scores = |at: usize| measured["sets"][0]["kinds"][at]["memdir"].clone();
    let expected = |one: f64, three: f64, mrr: f64, recall: f64| json!({"hit_at_1": one, "hit_at_3": three, "mrr": mrr, "recall_at_5": recall});
    assert_eq!(scores(0), expected(1.0, 1.0, 1.0, 1.0));
    assert_eq!(scores(1), expected(1.0, 1.0, 1.0, 0.5));
    assert_eq!(scores(2), expected(0.0, 1.0, 0.5, 1.0));
    assert_eq!(scores(3), expected(0.0, 0.0, 0.0, 0.0));
    assert_eq!(scores(4), expected(0.5, 0.75, 0.625, 0.625), "all of them");
}

#[test]
fn a_set_that_cannot_be_read_is_said() {
    let env = Env::ada();
    let set = env.base().join("set.jsonl");
    let error = |set: &str| env.ask(&["eval", "retrieval", set]).exits(2)["error"].clone();
    assert_eq!(error("gone.jsonl")["code"], "usage");
    fs::write(&set, "{\"memory\": \"x\"}\n").unwrap();
    let said = error(set.to_str().unwrap());
    assert!(said["message"].as_str().unwrap().contains("line 1"), "{said}");
    assert!(said["hint"].as_str().unwrap().contains("docs/questions.md"), "{said}");
    fs::write(&set, "{\"memory\":\"gone\",\"question\":\"x\",\"gold\":[],\"kind\":\"k\"}").unwrap();
    assert_eq!(env.ask(&["eval", "retrieval", set.to_str().unwrap()]).exits(4)["error"]["code"], "not_found");
}
