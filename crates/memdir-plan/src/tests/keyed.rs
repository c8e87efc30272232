//! `memory`: keys, names, and what an entry looks like as a note.

use serde_json::json;

use super::*;

fn entries() -> MapTree {
    MapTree::of([
        ("memories/favorite-color.md", "---\ntags: [colors]\nkey: \"Favorite Color\"\n---\nblue\n"),
        ("memories/pet.md", "a cat\n"),
    ])
}

fn act(operation: &str, more: Json) -> Json {
    let mut json = json!({"action": "memory", "operation": operation});
    for (key, value) in more.as_object().unwrap() {
        json[key] = value.clone();
    }
    json
}

/// The note that storing under a key makes, and its text.
#[track_caller]
fn stored(more: Json) -> (String, String) {
    let (entry, after) = one(&MapTree::of([("memories/taken.md", "x\n")]), act("store", more));
    assert_eq!(entry["value"], true, "{entry}");
    let path = entry["path"].as_str().unwrap().to_owned();
    let text = String::from_utf8(after.get(&path).unwrap().to_vec()).unwrap();
    (path, text)
}

#[track_caller]
fn failure(tree: &MapTree, json: Json) -> [String; 3] {
    let (entry, after) = one(tree, json);
    assert_eq!(after, *tree);
    ["code", "message", "hint"].map(|key| entry["error"][key].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_key_becomes_a_name() {
    let long = "word ".repeat(40);
    let cases = [
        ("Favorite Color", "favorite-color"),
        ("../x", "x"),
        ("a/b\\c.md", "a-b-c-md"),
        ("  --Mein   Schlüssel!! ", "mein-schlüssel"),
        ("Cafe\u{301}", "café"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("記憶2", "記憶2"),
        ("CON", "entry"),
        ("lpt1", "entry"),
        ("???", "entry"),
        ("\u{3164}", "entry"),
        ("📌 note", "note"),
        (long.as_str(), "word-word-word-word-word-word-word-word-word-word-word-word-word-word-word-word"),
        (&"é".repeat(60), &"é".repeat(40)),
    ];
    for (key, name) in cases {
        let (path, text) = stored(json!({"key": key, "content": "x"}));
        assert_eq!(path, format!("memories/{name}.md"), "{key:?}");
        assert_eq!(text.contains("key: "), key != name, "{key:?} {text:?}");
    }
}

#[test]
fn an_entry_without_a_key_is_named_by_its_first_words() {
    let name = |content: &str| stored(json!({"content": content}));
    assert_eq!(
        name("# The cat's name is Mia, and more"),
        ("memories/the-cat-s-name-is-mia-and.md".into(), "# The cat's name is Mia, and more\n".into())
    );
    assert_eq!(name("Taken!").0, "memories/taken-2.md");
    assert_eq!(name("- !\n").0, "memories/entry.md");
    assert_eq!(name("").1, "");
    let tree = MapTree::of([("memories/a.md", "x\n")]);
    let store = |content: &str| act("store", json!({"content": content}));
    let (outcomes, plan) = run(&tree, &[store("a"), store("A."), store("a")]);
    let paths: Vec<_> = outcomes.iter().map(|outcome| outcome.path.clone().unwrap()).collect();
    assert_eq!(paths, ["memories/a-2.md", "memories/a-3.md", "memories/a-4.md"]);
    assert_eq!(plan.steps().len(), 3);
}

#[test]
fn the_front_matter_says_what_the_name_does_not() {
    let text = |more: Json| stored(more).1;
    assert_eq!(text(json!({"key": "pet", "content": "a cat"})), "a cat\n");
    assert_eq!(text(json!({"key": "Pet", "content": "a cat\n"})), "---\nkey: Pet\n---\na cat\n");
    assert_eq!(
        text(json!({"key": "x: y", "content": "", "tags": ["a/b", "two words", "yes", "\"#1\n", " ", "7"]})),
        "---\ntags: [a/b, \"two words\", \"yes\", \"\\\"#1\", \"7\"]\nkey: \"x: y\"\n---\n"
    );
    let own = "---\ntags: [mine]\n---\nbody\n";
    assert_eq!(text(json!({"key": "own", "content": own})), format!("---\nkey: own\n---\n{own}"));
}

#[test]
fn what_is_stored_is_read_back() {
    let contents = ["a cat\n", "a\r\nb", "---\nkey: other\n---\nx\n", "---\nno end", "", "\n\n# x\n"];
    for (content, key) in contents.iter().flat_map(|content| ["k", "K: 1", "true"].map(|key| (content, key))) {
        let calls = [
            act("store", json!({"key": key, "content": content, "tags": ["t 1", "t2"]})),
            act("retrieve", json!({"key": key})),
            act("list", json!({})),
        ];
        let (outcomes, _) = run(&MapTree::default(), &calls);
        let read = serde_json::to_value(&outcomes[1]).unwrap();
        let end = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
        assert_eq!(read["value"], format!("{content}{end}"), "{key}");
        let list = serde_json::to_value(&outcomes[2]).unwrap();
        assert_eq!(list["value"], json!([{"key": key, "path": read["path"], "tags": ["t 1", "t2"]}]));
    }
}

#[test]
fn storing_under_a_key_replaces_and_deleting_can_be_undone() {
    let (entry, after) = one(&entries(), act("store", json!({"key": "PET", "content": "a dog", "tags": ["home"]})));
    assert_eq!(entry["path"], "memories/pet.md");
    assert_eq!(after.get("memories/pet.md").unwrap(), b"---\ntags: [home]\nkey: PET\n---\na dog\n");
    let (entry, after) = one(&entries(), act("delete", json!({"key": "favorite color"})));
    assert_eq!((&entry["value"], &entry["path"]), (&json!(true), &json!("memories/favorite-color.md")));
    assert!(after.get("memories/favorite-color.md").is_none());
}

#[test]
fn keys_that_differ_are_entries_of_their_own() {
    let long = "word ".repeat(40);
    let longer = format!("{long}!");
    let keys = ["C++", "C#", "C", "c-2", "a/b", "a-b", "../b", "!", "?", "CON", &long, &longer, " x", "x"];
    let store = |(at, key): (usize, &&str)| act("store", json!({"key": key, "content": format!("{at}")}));
    let mut calls: Vec<Json> = keys.iter().enumerate().map(store).collect();
    // The first of each name is gone, and the others are found all the same.
    calls.extend(["C++", "a/b", "!"].map(|key| act("delete", json!({"key": key}))));
    let mut tree = MapTree::default();
    let limits = Limits::default();
    let mut planner = Planner::new(&tree, &limits);
    for json in &calls {
        // What rules are asked about is what is written.
        let call = call(1, json);
        let place = planner.place_of(&call).map(|path| path.to_string());
        let outcome = planner.answer(&cleared(call));
        assert!(outcome.result.is_ok() && outcome.path == place, "{place:?} {outcome:?}");
    }
    let plan = planner.finish();
    tree.apply(plan.steps()).unwrap();
    for (at, key) in keys.iter().enumerate() {
        let retrieve = act("retrieve", json!({"key": key}));
        if ["C++", "a/b", "!"].contains(key) {
            assert_eq!(failure(&tree, retrieve)[0], "not_found", "{key}");
            continue;
        }
        let (read, _) = one(&tree, retrieve);
        assert_eq!(read["value"], format!("{at}\n"), "{key}");
        let (again, after) = one(&tree, act("store", json!({"key": key, "content": "new"})));
        assert_eq!(again["path"], read["path"], "{key}");
        assert_eq!(one(&after, act("retrieve", json!({"key": key}))).0["value"], "new\n", "{key}");
    }
    // A free name is used again.
    let (entry, _) = one(&tree, act("store", json!({"key": "C++", "content": "back"})));
    assert_eq!(entry["path"], "memories/c.md");
    assert_eq!(failure(&tree, act("retrieve", json!({"key": "C+"})))[0], "not_found");
}

#[test]
fn list_and_search() {
    let (entry, _) = one(&entries(), act("list", json!({})));
    let expected = json!([
        {"key": "Favorite Color", "path": "memories/favorite-color.md", "tags": ["colors"]},
        {"key": "pet", "path": "memories/pet.md", "tags": []},
    ]);
    assert_eq!(entry["value"], expected);
    let empty = MapTree::of([("user.md", "blue\n")]);
    assert_eq!(one(&empty, act("list", json!({}))).0["value"], json!([]));
    let found = one(&empty, act("search", json!({"query": "blue"}))).0["value"].clone();
    assert_eq!((&found["query"], &found["hits"], &found["total"]), (&json!("blue"), &json!([]), &json!(0)));
    let mut hidden = Planner::new(&empty, &Limits::default());
    let tree = entries();
    let shows = |_: &Call, path: &MemoryPath| path.as_str() != "memories/pet.md";
    let mut planner = Planner::new(&tree, &Limits::default()).showing(&shows, &|_| true);
    let listed = planner.answer(&cleared(call(1, &act("list", json!({})))));
    assert_eq!(serde_json::to_value(&listed).unwrap()["value"].as_array().unwrap().len(), 1);
    assert!(hidden.answer(&cleared(call(1, &act("list", json!({}))))).result.is_ok());
}

#[test]
fn failures_teach() {
    let check = |json: Json, expected: [&str; 3]| assert_eq!(failure(&entries(), json), expected.map(str::to_owned));
    check(
        act("retrieve", json!({"key": "Favourite colour"})),
        ["not_found", "there is no entry `Favourite colour`", "the nearest is `Favorite Color`"],
    );
    check(
        act("delete", json!({"key": "zebra"})),
        ["not_found", "there is no entry `zebra`", "send `\"operation\":\"list\"` to see the keys"],
    );
    check(
        act("store", json!({"key": "x"})),
        [
            "invalid_action",
            "action 1, `memory`: `store` needs `content`",
            "send `\"content\":\"what to remember\"` with it",
        ],
    );
    check(
        act("retrieve", json!({})),
        ["invalid_action", "action 1, `memory`: `retrieve` needs `key`", "send `\"key\":\"favorite color\"` with it"],
    );
    check(
        act("search", json!({"key": "x"})),
        ["invalid_action", "action 1, `memory`: `search` needs `query`", "send `\"query\":\"color\"` with it"],
    );
    let [code, _, hint] = failure(&entries(), act("store_conversation", json!({})));
    assert_eq!((code.as_str(), hint.contains("store")), ("unavailable", true));
    let twin = MapTree::of([("memories/Pet.md", "x\n")]);
    assert_eq!(failure(&twin, act("store", json!({"key": "pet", "content": "y"})))[0], "invalid_path");
}
