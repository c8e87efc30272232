//! What holds now and who says so, by the program: `facts`, `log --lines`, and searches that leave out the past.

use serde_json::{Value, json};

use crate::support::{Env, said};

const OLD: &str =
    "---\nsuperseded_by: \"[[new_flat]]\"\n---\n# Old flat\n\n- rent of the flat: 700\n- landlord: [[zoe]]\n";
const NOTES: &[(&str, &str)] = &[
    ("new_flat.md", "# New flat\n\n- rent of the flat: 900\n- before: [[old_flat]]\n"),
    ("old_flat.md", OLD),
    ("zoe.md", "# Zoe\n\n- phone: 555\n- status: superseded\n"),
    ("jane.md", "# Jane\n\n- employer: Initech (2001–2004)\n- employer: Globex (since 2004)\n"),
    ("plan.md", "---\nstatus: deprecated\n---\n# Plan\n\nRepaint the kitchen in ochre.\n"),
    ("offer.md", "---\nvalid_until: 2005\n---\n# Offer\n\nA piano for 3000.\n"),
];

/// The notes that a search finds, and where the answer comes from.
fn found(env: &Env, arguments: &[&str]) -> (Vec<String>, String) {
    let value = env.ask(&[&["search"], arguments].concat()).exits(0);
    let hits = value["hits"].as_array().unwrap().iter();
    let mut paths: Vec<String> = hits.map(|hit| hit["path"].as_str().unwrap().to_owned()).collect();
    assert_eq!(value["total"], json!(paths.len()), "{value}");
    paths.sort();
    (paths, value["source"].as_str().unwrap().to_owned())
}

#[test]
fn nothing_of_the_past_is_found_unasked_with_and_without_an_index() {
    let env = Env::with(NOTES);
    for source in ["scan", "index"] {
        for (query, current, all) in [
            ("rent of the flat", &["new_flat.md"][..], &["new_flat.md", "old_flat.md"][..]),
            ("ochre", &[], &["plan.md"]),
            ("piano", &[], &["offer.md"]),
            ("555", &["zoe.md"], &["zoe.md"]),
        ] {
            let (paths, from) = found(&env, &[query]);
            assert_eq!(paths, current, "{query}");
            // The first search builds the index when it has answered.
            assert!(from == source || source == "scan", "{query} from {from}");
            assert_eq!(found(&env, &[query, "--all"]).0, all, "{query}");
        }
    }
    let ask = |query: &str, past: bool| {
        env.act(&json!({"action": "get_context", "query": query, "include_past": past})).to_string()
    };
    for (query, hidden) in [("rent of the flat", "700"), ("employer jane", "Initech"), ("kitchen ochre", "Repaint")] {
        assert!(!ask(query, false).contains(hidden), "{query}");
        assert!(ask(query, true).contains(hidden), "{query}");
    }
    assert!(ask("rent of the flat", false).contains("900"));
    assert_eq!(env.run(&["read", "old_flat.md"], "").stdout, OLD, "reading shows it as it is");
    let links = env.ask(&["links", "new_flat"]).exits(0);
    assert_eq!(links["links"][0]["resolved"], json!("old_flat.md"), "{links}");
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn facts_say_whether_they_hold_and_where_they_come_from() {
    let env = Env::with(NOTES);
    let model = said(&json!([{"action": "set_fact", "path": "jane.md", "key": "city", "value": "Oslo"}]));
    assert_eq!(env.say(&model, &["--client", "shelf"]).code, 0);
    env.ask(&["set", "jane", "city", "Bergen"]).exits(0);
    let text = env.read("jane.md");
    env.write("jane.md", format!("{text}- pet: cat\n"));
    let facts = env.ask(&["facts", "jane", "--why"]).exits(0);
    let facts = facts["facts"].as_array().unwrap();
    let stated: Vec<&str> = facts.iter().map(|fact| fact["value"].as_str().unwrap()).collect();
    assert_eq!(stated, ["Globex (since 2004)", "Bergen", "cat"]);
    assert_eq!(keys(&facts[0]), ["path", "line", "heading", "key", "value", "state", "since", "until", "why"]);
    let why = &facts[1]["why"];
    assert_eq!(keys(why), ["first_written", "last_written", "last_confirmed", "trust", "words", "replaced"]);
    let last = &why["last_written"];
    assert_eq!(keys(last), ["by", "tool", "batch", "time", "door", "client", "session", "message"]);
    assert_eq!((&last["by"], &last["batch"], &why["trust"]), (&json!("you"), &json!(2), &json!("you")));
    let first = &why["first_written"];
    assert_eq!((&first["by"], &first["batch"], &first["client"]), (&json!("model"), &json!(1), &json!("shelf")));
    assert_eq!((&why["replaced"][0]["value"], &why["replaced"][0]["written"]), (&json!("Oslo"), &first["time"]));
    for outside in [0, 2] {
        assert_eq!(facts[outside]["why"]["last_written"]["by"], json!("outside"), "{outside}");
    }
    let all = env.ask(&["facts", "jane", "--all"]).exits(0);
    assert_eq!((&all["facts"][0]["state"], &all["total"]), (&json!("expired"), &json!(4)), "{all}");
    assert_eq!(all["facts"][0]["until"], json!("2004"));
    let lines = env.ask(&["log", "--lines", "jane"]).exits(0);
    let line = &lines["lines"][4];
    assert_eq!((&line["batch"], &line["first_written"]), (&json!(2), first), "{line}");
    let told = env.run(&["facts", "jane", "--why", "--all"], "").stdout;
    for words in
        ["Initech (2001–2004)  [expired]\n", "    written by you, ", "    replaced: Oslo (written ", "outside memdir\n"]
    {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
}

#[test]
fn settings_name_what_belongs_to_the_past() {
    let env = Env::with(&[
        ("a.md", "---\nstatus: Retired\n---\n# Kettle\n\n- colour of the kettle: red\n"),
        ("archive/b.md", "# Kettle kettle\n\n- colour of the kettle: blue, a kettle\n"),
        ("c.md", "# Things\n\nIn the house there is also a kettle of some colour.\n"),
    ])
    .settings("[facts]\npast_status = [\"retired\"]\n[search]\narchive = [\"archive/**\"]\n");
    for _ in 0..2 {
        let value = env.ask(&["search", "colour of the kettle"]).exits(0);
        let paths: Vec<_> = value["hits"].as_array().unwrap().iter().map(|hit| hit["path"].clone()).collect();
        assert_eq!(paths, [json!("c.md"), json!("archive/b.md")], "the archive comes last and is not hidden");
    }
    let bad = Env::with(&[]).settings("[search]\narchive = [\"../x\"]\n");
    assert_eq!(bad.ask(&["tree"]).json()["error"]["code"], json!("config"));
}
