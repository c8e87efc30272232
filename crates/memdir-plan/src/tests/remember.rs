//! `remember`: which note it is, what is written there and what is told of it.

use serde_json::json;

use super::*;

fn memory() -> MapTree {
    MapTree::of([
        ("user.md", "# Ada\n\n- city: Porto\n- friend: [[jane_doe]]\n\n## Log\n\n- went home\n"),
        ("people/jane_doe.md", "---\naliases: [Janey]\n---\n# Jane Doe\n\n- city: Leeds\n- birthday: 1990-02-01\n"),
        ("people/tom_reed.md", "# Tom Reed\n\n- birthday: 1991-03-04\n"),
        ("work/acme.md", "# Acme\n\nThey make anvils.\n"),
        ("Home.md", "# Home\n"),
        ("x/twin.md", "# Twin One\n"),
        ("y/twin.md", "# Twin Two\n"),
    ])
}

/// The path, what is told, and the text of the note after it.
#[track_caller]
fn remembered(tree: &MapTree, arguments: Json) -> (String, Json, String) {
    let mut call = arguments;
    call["action"] = json!("remember");
    let (entry, after) = one(tree, call);
    assert_eq!(entry["ok"], true, "{entry}");
    let path = entry["path"].as_str().unwrap().to_owned();
    let text = String::from_utf8(after.get(&path).unwrap().to_vec()).unwrap();
    let mut told = entry["value"].clone();
    // Most tests are about the rest.
    if told["similar"] == json!([]) {
        told.as_object_mut().unwrap().remove("similar");
    }
    (path, told, text)
}

#[track_caller]
fn failure(arguments: Json) -> [String; 3] {
    let (mut call, tree) = (arguments, memory());
    call["action"] = json!("remember");
    let (entry, after) = one(&tree, call);
    assert_eq!(after, tree);
    ["code", "message", "hint"].map(|key| entry["error"][key].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_fact_goes_into_the_note_that_is_named_in_any_way() {
    for note in [
        "Jane Doe",
        "jane doe",
        "Janey",
        "jane_doe",
        "people/jane_doe.md",
        "people/jane_doe",
        "jane_doe.md",
        "[[jane_doe]]",
        "[[people/jane_doe|her]]",
    ] {
        let (path, told, text) = remembered(&memory(), json!({"note": note, "key": "City", "value": "York"}));
        assert_eq!(path, "people/jane_doe.md", "{note}");
        let expected = json!({"change": "replaced", "line": 6, "text": "- city: York", "replaced": "- city: Leeds"});
        assert_eq!(told, expected, "{note}");
        assert_eq!(text, "---\naliases: [Janey]\n---\n# Jane Doe\n\n- city: York\n- birthday: 1990-02-01\n", "{note}");
    }
    for arguments in [
        json!({"key": "city", "value": "Faro"}),
        json!({"note": "", "key": "city", "value": "Faro"}),
        json!({"note": "user", "key": "city", "value": "Faro", "text": ""}),
        json!({"note": "Ada", "key": "city", "value": "Faro"}),
    ] {
        let mut call = arguments.clone();
        call.as_object_mut().unwrap().retain(|_, value| value != "");
        let (path, told, _) = remembered(&memory(), call);
        assert_eq!((path.as_str(), &told["replaced"]), ("user.md", &json!("- city: Porto")), "{arguments}");
    }
}

#[test]
fn a_new_fact_is_added_and_one_that_stands_changes_nothing() {
    let (path, told, text) = remembered(&memory(), json!({"key": "tea", "value": "green"}));
    assert_eq!(path, "user.md");
    assert_eq!(told, json!({"change": "added", "line": 5, "text": "- tea: green", "replaced": null}));
    assert!(text.contains("- friend: [[jane_doe]]\n- tea: green\n\n## Log"), "{text}");
    let (_, told, text) = remembered(&memory(), json!({"key": "city", "value": "Porto"}));
    assert_eq!(told, json!({"change": "none", "line": 3, "text": "- city: Porto", "replaced": null}));
    assert!(text.starts_with("# Ada\n\n- city: Porto\n- friend"));
    let (_, told, _) = remembered(&memory(), json!({"text": "went home"}));
    assert_eq!(told, json!({"change": "none", "line": 8, "text": "- went home", "replaced": null}));
}

#[test]
fn a_note_that_is_not_there_is_made_where_such_notes_are() {
    let made = json!({"change": "created", "line": 3, "text": "- birthday: 2001-01-01", "replaced": null});
    let (path, told, text) =
        remembered(&memory(), json!({"note": "Mia O'Neil", "key": "birthday", "value": "2001-01-01"}));
    assert_eq!((path.as_str(), told), ("people/mia_o_neil.md", made.clone()));
    assert_eq!(text, "# Mia O'Neil\n\n- birthday: 2001-01-01\n");
    // No note states this, so it goes beside the notes to which the person's links.
    let (path, ..) = remembered(&memory(), json!({"note": "Mia", "key": "shoe size", "value": "38"}));
    assert_eq!(path, "people/mia.md");
    let bare = MapTree::of([("user.md", "# Me\n"), ("a.md", "# A\n")]);
    let (path, ..) = remembered(&bare, json!({"note": "[[Mia]]", "key": "shoe size", "value": "38"}));
    assert_eq!(path, "entities/mia.md");
    let (path, _, text) = remembered(&bare, json!({"note": "cats/black_tom", "text": "likes fish"}));
    assert_eq!((path.as_str(), text.as_str()), ("cats/black_tom.md", "# Black Tom\n\n- likes fish\n"));
    let vault = MapTree::of([("People/Jane Doe.md", "birthday:: 1990\n"), ("People/Tom Reed.md", "x\n")]);
    let (path, _, text) = remembered(&vault, json!({"note": "Mia Ito", "key": "birthday", "value": "1999"}));
    assert_eq!((path.as_str(), text.as_str()), ("People/Mia Ito.md", "# Mia Ito\n\n- birthday: 1999\n"));
    let (path, told, text) = remembered(&vault, json!({"key": "city", "value": "Rome"}));
    assert_eq!((path.as_str(), text.as_str()), ("user.md", "# Me\n\n- city: Rome\n"));
    assert_eq!(told["change"], "created");
}

#[test]
fn a_text_goes_into_the_note_that_it_names() {
    for (text, path, line) in [
        ("Jane Doe plays the oboe", "people/jane_doe.md", "- Jane Doe plays the oboe"),
        ("Since May Janey works for Acme", "people/jane_doe.md", "- Since May Janey works for Acme"),
        ("Acme hired Jane Doe", "work/acme.md", "- Acme hired Jane Doe"),
        ("[[tom_reed]] met Jane Doe", "people/tom_reed.md", "- [[tom_reed]] met Jane Doe"),
        ("I went home early", "user.md", "- I went home early"),
        ("Nobody\nknows\r\n\n this", "user.md", "- Nobody knows this"),
        ("call [[Nobody]]", "user.md", "- call [[Nobody]]"),
    ] {
        let (found, told, after) = remembered(&memory(), json!({"text": text}));
        assert_eq!((found.as_str(), &told["change"], &told["text"]), (path, &json!("added"), &json!(line)));
        assert_eq!(after.lines().filter(|other| *other == line).count(), 1, "{after}");
    }
    let (path, ..) = remembered(&memory(), json!({"note": "Acme", "text": "Jane Doe left"}));
    assert_eq!(path, "work/acme.md");
}

#[test]
fn a_short_name_counts_where_the_person_links_to_its_note() {
    let notes = [
        ("user.md", "# Me\n\n- brother: [[Bo]]\n- friend: [[健太]]\n"),
        ("Bo.md", "# Bo\n"),
        ("健太.md", "# 健太\n"),
        ("My.md", "# My\n"),
        ("Ju\u{308}rgen.md", "x\n"),
        ("zoe.md", "# Zoë\n"),
    ];
    let tree = MapTree::of(notes);
    for (text, path) in [
        ("Bo likes coffee", "Bo.md"),
        ("健太はお茶が好き", "健太.md"),
        ("My knee hurts", "user.md"),
        ("bo likes coffee", "user.md"),
        ("Jürgen is here", "Ju\u{308}rgen.md"),
        ("Zoe\u{308} is here", "zoe.md"),
    ] {
        let (found, ..) = remembered(&tree, json!({"text": text}));
        assert_eq!(found, path, "{text}");
    }
}

#[test]
fn what_cannot_be_filed_says_what_to_send() {
    let check = |arguments: Json, code: &str, part: &str| {
        let [found, message, hint] = failure(arguments.clone());
        assert_eq!(found, code, "{arguments}: {message}");
        assert!(format!("{message}: {hint}").contains(part), "{arguments}: {message}: {hint}");
    };
    check(json!({}), "invalid_action", "there is nothing to remember");
    check(json!({"note": "Jane Doe"}), "invalid_action", "there is nothing to remember");
    check(json!({"key": "city"}), "invalid_action", "missing `value`");
    check(json!({"value": "York"}), "invalid_action", "missing `key`");
    check(json!({"key": "city", "value": "York", "text": "in York"}), "invalid_action", "send either");
    check(json!({"key": "city", "value": "York\nLeeds"}), "invalid_action", "a fact is one line");
    check(json!({"note": "twin", "key": "a", "value": "b"}), "ambiguous_link", "`x/twin.md`, `y/twin.md`");
    check(json!({"text": "see [[twin]]"}), "ambiguous_link", "such as `x/twin.md`");
    check(json!({"note": "../x", "key": "a", "value": "b"}), "invalid_path", "climbs out");
    check(json!({"note": ".memdir/x", "key": "a", "value": "b"}), "invalid_path", "dot");
    check(json!({"note": "people/jane_doe.md", "key": "a: b", "value": "c"}), "invalid_action", "`remember`");
}

#[test]
fn a_name_that_is_only_like_one_is_asked_about() {
    let tree = MapTree::of([
        ("user.md", "# Me\n"),
        ("people/änne.md", "---\naliases: [Änne]\n---\n# Änne Groß\n\n- job: nurse\n"),
        ("c.md", "# C#\n\n- kind: language\n"),
    ]);
    let fact = |note: &str| json!({"action": "remember", "note": note, "key": "job", "value": "pilot"});
    for note in ["Anne Groß", "Anne", "Anne Gross", "C++", "[[Anne]]"] {
        let (entry, after) = one(&tree, fact(note));
        assert_eq!((&entry["error"]["code"], after == tree), (&json!("ambiguous_link"), true), "{note}: {entry}");
    }
    for (note, path) in [("änne GROSS", "people/änne.md"), ("A\u{308}nne", "people/änne.md"), ("c#", "c.md")] {
        assert_eq!(remembered(&tree, fact(note)).0, path, "{note}");
    }
    let (path, _, text) = remembered(&tree, fact("F#"));
    assert_eq!((path.as_str(), text.as_str()), ("people/f.md", "# F#\n\n- job: pilot\n"));
    assert_eq!(remembered(&tree, fact("entities/c++.md")).2, "# C++\n\n- job: pilot\n");
    for (note, path) in [
        ("c#.md", "c#.md"),
        ("user.md#Facts", "user.md"),
        ("Änne#Änne Groß", "people/änne.md"),
        ("C#Builder", "people/c_builder.md"),
        ("Issue #42", "people/issue_42.md"),
        ("[[Mia#Work]]", "people/mia.md"),
        ("#7", "people/7.md"),
    ] {
        assert_eq!(remembered(&tree, fact(note)).0, path, "{note}");
    }
    let (entry, _) = one(&tree, fact("🐶"));
    assert!(entry["error"]["message"].as_str().unwrap().ends_with("the name of `note` has no letters"), "{entry}");
    assert_eq!(remembered(&tree, json!({"text": "Änne-Marie is nice"})).0, "user.md");
    assert_eq!(remembered(&tree, json!({"text": "Änne - my boss - is nice"})).0, "people/änne.md");
}

#[test]
fn lines_that_may_say_the_same_in_another_form_are_told() {
    let text = "# Pilchard\n\n- breed: lurcher\n- weighs 13.2 kg\n- born 2019, Truro\n\nHe weighed 9 kg as a pup.\n";
    let tree = MapTree::of([("pilchard.md", text)]);
    let fact = |key: &str| remembered(&tree, json!({"note": "Pilchard", "key": key, "value": "14 kg"})).1;
    let told = fact("weighs");
    // The new line stands above those that follow it.
    let added = told["line"].as_u64().unwrap();
    let expected: Vec<u64> = [4, 7].into_iter().map(|line| line + u64::from(added <= line)).collect();
    let found: Vec<u64> = told["similar"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert_eq!(found, expected, "{told}");
    assert_eq!(fact("weight in May").get("similar"), None, "every word counts");
    assert_eq!(fact("breed").get("similar"), None, "what is replaced is told as that");
    let (_, told, _) = remembered(&tree, json!({"note": "Pilchard", "text": "Breed: whippet"}));
    assert_eq!((&told["change"], &told["similar"][0]["text"]), (&json!("added"), &json!("- breed: lurcher")));
}

#[test]
fn a_new_note_is_named_as_those_beside_it() {
    let named = |first: &str, second: &str| {
        let tree = MapTree::of([
            ("user.md", "# Me\n\n- friend: [[entities/x]]\n"),
            (first, "# A\n"),
            (second, "# B\n"),
            ("entities/x.md", "# X\n"),
        ]);
        remembered(&tree, json!({"note": "Idris Pugh", "key": "job", "value": "vet"})).0
    };
    assert_eq!(named("entities/kerensa-pellow.md", "entities/bim-adeyemi.md"), "entities/idris-pugh.md");
    assert_eq!(named("entities/kerensa_pellow.md", "entities/bim_adeyemi.md"), "entities/idris_pugh.md");
    assert_eq!(named("entities/Kerensa Pellow.md", "entities/Bim Adeyemi.md"), "entities/Idris Pugh.md");
    assert_eq!(named("entities/a.md", "entities/b.md"), "entities/idris_pugh.md");
}

#[test]
fn the_label_of_a_link_of_the_person_is_a_name() {
    let user = "# Me\n\n- landlord: [[people/colin|Mr Thripp]]\n- plumber: [[people/tom|Thripp]]\n";
    let tree = MapTree::of([
        ("user.md", user),
        ("people/colin.md", "# Colin\n\n- email: old\n"),
        ("people/tom.md", "# Tom\n"),
    ]);
    let (path, told, _) = remembered(&tree, json!({"note": "mr thripp", "key": "email", "value": "c@thripp.example"}));
    assert_eq!((path.as_str(), &told["change"]), ("people/colin.md", &json!("replaced")));
}
