//! What `update_file` changes and leaves alone, and what it says where nothing matches.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use memdir_core::digest::Digest;

#[track_caller]
fn update(text: &str, old: &str, new: &str) -> (Json, String, Vec<Issue>) {
    let tree = MapTree::of([("n.md", text)]);
    let json = json!({"action": "update_file", "path": "n.md", "old_content": old, "new_content": new});
    let (outcomes, plan) = run(&tree, &[json]);
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    let text = String::from_utf8(after.get("n.md").unwrap().to_vec()).unwrap();
    (serde_json::to_value(&outcomes[0]).unwrap(), text, plan.issues().to_vec())
}

#[track_caller]
fn check(text: &str, old: &str, new: &str, expected: &str, issue: Option<&str>) {
    let (entry, after, issues) = update(text, old, new);
    assert_eq!(entry["value"], true, "{entry}");
    assert_eq!(after, expected);
    assert_eq!(issues.first().map(|issue| issue.message.as_str()), issue);
}

#[test]
fn a_place_is_replaced() {
    check("a b c\n", "b", "$& \\1", "a $& \\1 c\n", None);
    check("\u{feff}a\r\nb", "b", "x\ny", "\u{feff}a\r\nx\r\ny", None);
    check("a\nb\r\n", "b", "x\ny", "a\nx\ny\r\n", None);
    check("a\nb\n", "b\n", "", "a\n", None);
}

#[test]
fn a_place_that_differs_in_what_nobody_sees_is_replaced_and_reported() {
    let ends = "`old_content` matched line 1 but for line endings";
    check("a\r\nb\r\nc", "a\nb", "x\ny", "x\r\ny\r\nc", Some(ends));
    let blanks = "`old_content` matched line 1 but for trailing blanks";
    check("a  \nb\nc\n", "a\nb", "x", "x\nc\n", Some(blanks));
    check("a\nb\nc\n", "a  \nb  ", "x", "x\nc\n", Some(blanks));
    let form = "`old_content` matched line 2 but for the Unicode form of characters";
    check("-\ncafe\u{301} noir\n", "caf\u{e9}", "tea", "-\ntea noir\n", Some(form));
    check("-\n\u{1100}\u{1161}\n", "\u{ac00}", "x", "-\nx\n", Some(form));
    // Nothing looser: half a character, blanks inside a line, two places.
    for (text, old) in [
        ("cafe\u{301}\n", "cafe\u{300}"),
        ("cafe\u{301}\n", "cafe"),
        ("e\u{301}\u{323}\n", "\u{1eb9}"),
        ("a  b\n", "a b"),
        ("a \nb\na\t\nb\n", "a\nb"),
    ] {
        let (entry, after, _) = update(text, old, "x");
        assert_eq!((&entry["error"]["code"], after.as_str()), (&json!("content_not_found"), text));
    }
    // A place that would cut a line end in two is none.
    check("a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n", Some(ends));
}

#[test]
fn several_places_are_named() {
    let text = "x\na\nx\n";
    let (entry, _, _) = update(text, "x", "y");
    let error = &entry["error"];
    assert_eq!(error["message"], "`old_content` occurs on lines 1, 3");
    assert_eq!(error["hint"], "add a line of context, or `\"occurrence\":\"all\"`");
    assert_eq!((&error["code"], &error["lines"]), (&json!("ambiguous_match"), &json!([1, 3])));
    let (entry, _, _) = update("aaa\n", "aa", "y");
    assert_eq!(entry["error"]["message"], "`old_content` occurs several times on line 1");
    let with = |occurrence: &str| {
        let tree = MapTree::of([("n.md", "aaaa b aa\n")]);
        let json = json!({"action": "update_file", "path": "n.md", "old_content": "aa", "new_content": "x", "occurrence": occurrence});
        String::from_utf8(one(&tree, json).1.get("n.md").unwrap().to_vec()).unwrap()
    };
    assert_eq!((with("first").as_str(), with("all").as_str()), ("xaa b aa\n", "xx b x\n"));
}

#[test]
fn the_closest_place_is_proposed() {
    let note = "# Ada\n\n- city: London\n- age: 36\n";
    let hint = |old: &str, new: &str| update(note, old, new).0["error"]["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint("city: Londn", "city: Paris"), "the closest is line 3; send `\"old_content\":\"city: London\"`");
    assert_eq!(
        hint("- city: Londom", "- city: Paris"),
        "the closest is line 3; send `\"old_content\":\"- city: London\"`"
    );
    assert_eq!(hint("- city: Berlin", "- age: 36"), "`new_content` is already there, on line 4");
    assert_eq!(hint("xyzzy", "x"), "nothing in it is close; read the note again");
    let (entry, _, _) = update(note, "- city: Londom", "- city: Paris");
    let error = &entry["error"];
    assert_eq!(error["message"], "no place in `n.md` matches `old_content`");
    assert_eq!(error["closest"]["lines"], json!([3, 3]));
    assert_eq!(error["closest"]["text"], "- city: London");
    assert!(error["closest"]["diff"].as_str().unwrap().contains("-- city: Londom"));
    assert_eq!(error["digest"], json!(memdir_core::digest::Digest::of(note.as_bytes())));
    let expected = json!({"action": "update_file", "path": "n.md", "old_content": "- city: London", "new_content": "- city: Paris"});
    assert_eq!(error["action"], expected);
    let twins = "- tea: green\n- tee: green\n";
    let (entry, _, _) = update(twins, "- te: green", "- x");
    assert_eq!(entry["error"]["hint"], "lines 1 and 2 are about equally close; read the note again");
    assert!(entry["error"].get("action").is_none());
}

#[test]
fn new_content_that_stands_there_by_chance_does_not_hide_the_closest_line() {
    let hint =
        |note: &str, old: &str, new: &str| update(note, old, new).0["error"]["hint"].as_str().unwrap().to_owned();
    let lisboa = "the closest is line 3; send `\"old_content\":\"Lisboa\"`";
    assert_eq!(hint("# Jer\n\n- city: Lisboa\n- born in: Rome\n", "Lisbon", "Rome"), lisboa);
    assert_eq!(hint("# Jer\n\n- city: Lisboa\n- rooms: 0\n", "Lisbon", "0"), lisboa);
    // A whole line by chance, too: that of another section.
    let bo = "# Jer\n\n- city: Lisboa\n\n## Bo\n\n- city: Rome\n";
    let line = "the closest is line 3; send `\"old_content\":\"- city: Lisboa\"`";
    assert_eq!(hint(bo, "- city: Lisbon", "- city: Rome"), line);
    // One of several lines that are the same says nothing of this edit.
    let twice = hint("- a: x\n- done\n- b: y\n- done\n", "- write to Bo", "- done");
    assert!(!twice.contains("already there"), "{twice}");
    // The edit was made before: of a part of a line, and of lines that nothing is like now.
    let there = |line: usize| format!("`new_content` is already there, on line {line}");
    assert_eq!(hint("# Jer\n\n- lives in Rome since 2020\n", "in Lisbon since 2020", "in Rome since 2020"), there(3));
    assert_eq!(hint("# Jer\n\n- a nurse\n", "- job: baker", "  - a nurse\n"), there(3));
}

#[test]
fn a_large_note_is_searched_in_bounded_time() {
    let note = "- a line of text that is much like the others\n".repeat(20_000);
    let old = "- a line of text that is mvch like the others\n".repeat(60);
    assert_eq!(update(&note, &old, "x").0["error"]["code"], "content_not_found");
    let long = "word ".repeat(200_000);
    assert_eq!(update(&long, &"wrod ".repeat(700), "x").0["error"]["code"], "content_not_found");
    assert_eq!(update(&"a".repeat(1 << 20), &("a".repeat(1 << 18) + "b"), "x").0["error"]["code"], "content_not_found");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes outside the place stay as they are, and so does everything when old and new are the same.
    #[test]
    fn bytes_outside_the_place_stay(head in "[a-c\r\n\u{feff}\u{301}é$& ]{0,20}", tail in "([a-c\r\né$& ][a-c\r\n\u{301}é$& ]{0,19})?") {
        let note = format!("{head}|X|{tail}");
        let (entry, after, _) = update(&note, "|X|", "$&Y");
        prop_assert_eq!(&entry["value"], &json!(true));
        prop_assert_eq!(after, format!("{head}$&Y{tail}"));
        let (_, _, plan) = { let tree = MapTree::of([("n.md", note.as_str())]);
            let json = json!({"action": "update_file", "path": "n.md", "old_content": "|X|", "new_content": "|X|"});
            let (outcomes, plan) = run(&tree, &[json]); (tree, outcomes, plan) };
        prop_assert!(plan.is_empty());
    }

    /// Lines that are added change nothing before and after them but an unfinished line's end.
    #[test]
    fn lines_are_added_between(text in "[ab\r\n\u{301}é]{0,20}", line in 0u32..6) {
        let tree = MapTree::of([("n.md", text.as_str())]);
        let json = json!({"action": "insert_text", "path": "n.md", "line": line, "content": "NEW"});
        let (entry, after) = one(&tree, json);
        prop_assert_eq!(entry["ok"] == true, line as usize <= text.lines().count());
        if entry["ok"] == true {
            let after = str::from_utf8(after.get("n.md").unwrap()).unwrap().to_owned();
            let (head, tail) = after.split_once("NEW").unwrap();
            let tail = tail.strip_prefix("\r\n").or(tail.strip_prefix(['\n', '\r'])).unwrap();
            prop_assert!(text.ends_with(tail));
            prop_assert!(head.starts_with(text.strip_suffix(tail).unwrap()));
        }
    }

    /// Hostile text does no harm.
    #[test]
    fn nothing_panics(text in "\\PC{0,60}[\r\n\t *`\\[-]{0,5}\\PC{0,60}", old in "\\PC{1,30}[\r\n\\\\n]{0,2}\\PC{0,9}", new in "\\PC{0,9}") {
        let _ = update(&text, &old, &new);
        let broken: String = text.chars().enumerate().filter(|(at, _)| at % 7 != 3).map(|(_, letter)| letter).collect();
        if !broken.is_empty() {
            let _ = update(&text, &broken, &new);
        }
    }
}

/// What a conversation knows that has seen `a.md` and `dir/b.md` as they were, while `a.md` and `dir/b.md` are other ones now.
#[track_caller]
fn in_conversation(calls: &[Json]) -> Vec<String> {
    let tree = MapTree::of([("a.md", "# A\n\n- x\n- new\n"), ("dir/b.md", "b\nnew\n"), ("dir/c.md", "c\n")]);
    let mut seen = Seen::default();
    for (name, text) in [("a.md", "# A\n\n- x\n"), ("dir/b.md", "b\n"), ("dir/c.md", "c\n")] {
        seen.note(path(name), Digest::of(text.as_bytes()));
    }
    let (outcomes, _) = run_on(Planner::new(&tree, &Limits::default()).in_conversation(Some(seen)), calls);
    let code = |outcome: &Outcome| match &outcome.result {
        Ok(_) => "ok".to_owned(),
        Err(failure) => serde_json::to_value(failure.code).unwrap().as_str().unwrap().to_owned(),
    };
    outcomes.iter().map(code).collect()
}

#[test]
fn text_that_no_call_quotes_does_not_go_from_a_note_that_changed_unseen() {
    let section = || json!({"action": "replace_section", "path": "a.md", "heading": "A", "content": "- y\n"});
    let delete = |path: &str| json!({"action": "delete_file", "path": path});
    let read = |path: &str| json!({"action": "read_file", "path": path});
    let dir = || json!({"action": "delete_dir", "path": "dir", "recursive": true});
    let rename = json!({"action": "rename_file", "path": "a.md", "new_path": "z.md"});
    let conflict = |calls: &[Json]| assert_eq!(in_conversation(calls).last().unwrap(), "conflict", "{calls:?}");
    conflict(&[section()]);
    conflict(&[delete("a.md")]);
    conflict(&[dir()]);
    conflict(&[rename, delete("z.md")]);
    let done = |calls: &[Json]| assert_eq!(in_conversation(calls).last().unwrap(), "ok", "{calls:?}");
    done(&[read("a.md"), section()]);
    done(&[delete("a.md"), delete("a.md")]);
    done(&[read("dir/b.md"), dir()]);
    done(&[delete("dir/c.md")]);
    for quoting in [
        json!({"action": "append_file", "path": "a.md", "content": "- z"}),
        json!({"action": "append_to_section", "path": "a.md", "heading": "A", "content": "- z"}),
        json!({"action": "update_file", "path": "a.md", "old_content": "- x", "new_content": "- y"}),
        json!({"action": "rename_file", "path": "dir", "new_path": "other"}),
    ] {
        done(&[quoting]);
    }
}
