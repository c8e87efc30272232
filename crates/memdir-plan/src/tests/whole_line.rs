//! What an edit of a whole line changes, which line it means, and in which note.

use serde_json::json;

use super::*;

fn line_call(path: &str, old: &str, new: &str) -> Call {
    let json = json!({"action": "update_file", "path": path, "old_content": old, "new_content": new});
    Call { meaning: Meaning::WholeLine, ..call(1, &json) }
}

#[track_caller]
fn plan(
    tree: &MapTree,
    call: Call,
    may_show: &(dyn Fn(&Call, &MemoryPath) -> bool + Sync),
) -> (Json, MapTree, Vec<Issue>) {
    let mut planner = Planner::new(tree, &Limits::default()).showing(may_show, &|_| true);
    let outcome = planner.answer(&cleared(call));
    let plan = planner.finish();
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!(undone(plan.steps(), &after), *tree, "undo gives the memory back");
    (serde_json::to_value(&outcome).unwrap(), after, plan.issues().to_vec())
}

fn text(tree: &MapTree, path: &str) -> String {
    String::from_utf8(tree.get(path).unwrap().to_vec()).unwrap()
}

#[track_caller]
fn check(before: &str, old: &str, new: &str, expected: &str, issue: Option<&str>) {
    let tree = MapTree::of([("n.md", before), ("other.md", "- else\n")]);
    let (entry, after, issues) = plan(&tree, line_call("n.md", old, new), &|_, _| true);
    assert_eq!(entry["value"], true, "{entry}");
    assert_eq!(entry["path"], "n.md");
    assert_eq!(text(&after, "n.md"), expected);
    assert_eq!(issues.first().map(|issue| issue.message.as_str()), issue);
    assert_eq!(text(&after, "other.md"), "- else\n");
}

#[test]
fn a_line_is_replaced_and_nothing_around_it() {
    check("a\nb\nc\n", "b", "x", "a\nx\nc\n", None);
    check("a\r\nb\r\nc\r\n", "b", "x", "a\r\nx\r\nc\r\n", None);
    check("a\r\nb\nc", "b", "x", "a\r\nx\nc", None);
    check("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n", None);
    check("a\nb", "b", "x", "a\nx", None);
    check("\u{feff}a\nb\n", "a", "x", "\u{feff}x\nb\n", None);
    check("ab\nb\nb c\n", "b", "x", "ab\nx\nb c\n", None);
    check("- a  \n- b\n", "- a", "- x", "- x\n- b\n", Some("the line matched line 1 but for trailing blanks"));
    check(
        "a\n- e\u{301}t\n",
        "- \u{e9}t",
        "x",
        "a\nx\n",
        Some("the line matched line 2 but for the Unicode form of characters"),
    );
    // A line that is there to the letter is meant, whatever else is like it.
    check("- a \n- a\n", "- a", "x", "- a \nx\n", None);
}

#[test]
fn a_line_is_deleted_with_its_end() {
    check("a\nb\nc\n", "b", "", "a\nc\n", None);
    check("a\r\nb\r\nc\r\n", "b", "", "a\r\nc\r\n", None);
    check("a\nb", "b", "", "a\n", None);
    check("a\nb", "a", "", "b", None);
    check("\u{feff}a\r\nb", "a", "", "\u{feff}b", None);
    check("a\n", "a", "", "", None);
    check("a\n\nb\n", "a", "", "\nb\n", None);
    check("a \nb\n", "a", "", "b\n", Some("the line matched line 1 but for trailing blanks"));
}

#[track_caller]
fn refused(before: &str, old: &str, new: &str, code: &str, message: &str, hint: &str) {
    let tree = MapTree::of([("n.md", before)]);
    let (entry, after, _) = plan(&tree, line_call("n.md", old, new), &|_, _| true);
    let error = &entry["error"];
    assert_eq!((&error["code"], &error["message"], &error["hint"]), (&json!(code), &json!(message), &json!(hint)));
    assert_eq!(after, tree);
}

#[test]
fn what_is_no_whole_line_or_several_is_refused() {
    let twice = "lines that are the same cannot be told apart; send `update_file` with a line of context";
    refused("a\nb\na\n", "a", "x", "ambiguous_match", "the line stands in `n.md` on lines 1, 3", twice);
    refused("a \nb\na\t\n", "a", "", "ambiguous_match", "the line stands in `n.md` on lines 1, 3", twice);
    let none = "no line of `n.md` is `city: London`";
    let closest = "the closest is line 2; send `\"old\":\"- city: London\"`";
    refused("# A\n- city: London\n", "city: London", "- city: Paris", "content_not_found", none, closest);
    let closest = "the closest is line 2; send `\"line\":\"- city: London\"`";
    refused("# A\n- city: London\n", "city: London", "", "content_not_found", none, closest);
    let there = "`new` is already there, on line 1";
    refused("- city: Paris\n", "city: London", "- city: Paris", "content_not_found", none, there);
    refused("zzz\n", "city: London", "", "content_not_found", none, "nothing in it is close; read the note again");
    // Part of a line, and two lines, are no whole line.
    let parts = "no line of `n.md` is `b c`";
    refused("a b c\n", "b c", "", "content_not_found", parts, "the closest is line 1; send `\"line\":\"a b c\"`");
}

#[test]
fn a_line_in_one_other_note_is_changed_there() {
    let tree = MapTree::of([
        ("user.md", "# Ada\n"),
        ("entities/tom.md", "- city: Rome\n- age: 3\n"),
        ("x.txt", "- city: Rome\n"),
    ]);
    for asked in ["user.md", "gone.md"] {
        let (entry, after, issues) = plan(&tree, line_call(asked, "- city: Rome", "- city: Oslo"), &|_, _| true);
        assert_eq!((&entry["path"], &entry["value"]), (&json!("entities/tom.md"), &json!(true)));
        assert_eq!(text(&after, "entities/tom.md"), "- city: Oslo\n- age: 3\n");
        assert_eq!(issues.len(), 1);
        let message = format!(
            "the line is not in `{asked}`, and in no other note but `entities/tom.md`, so it was changed there"
        );
        assert_eq!((issues[0].code, issues[0].message.as_str()), ("other_note", message.as_str()));
    }
    let twice = MapTree::of([("user.md", "# Ada\n"), ("a.md", "- city: Rome\n"), ("b.md", "- city: Rome\n")]);
    let (entry, after, issues) = plan(&twice, line_call("user.md", "- city: Rome", ""), &|_, _| true);
    assert_eq!((&entry["error"]["code"], issues.len()), (&json!("content_not_found"), 0));
    assert_eq!(after, twice);
    // Of two, one may not be told of: it is as if it were not there.
    let (entry, after, _) = plan(&twice, line_call("user.md", "- city: Rome", ""), &|_, path| path.as_str() != "a.md");
    assert_eq!((&entry["path"], text(&after, "b.md")), (&json!("b.md"), String::new()));
    let (entry, _, _) = plan(&twice, line_call("user.md", "- city: Rome", ""), &|_, _| false);
    assert_eq!(entry["error"]["code"], "content_not_found");
    let (entry, _, _) = plan(&twice, line_call("gone.md", "- city: Rome", ""), &|_, _| true);
    assert_eq!(entry["error"]["code"], "not_found");
    let several = MapTree::of([("user.md", ""), ("a.md", "- a\n- a\n")]);
    let (entry, _, _) = plan(&several, line_call("user.md", "- a", ""), &|_, _| true);
    assert_eq!(entry["error"]["message"], "the line stands in `a.md` on lines 1, 2");
}

#[test]
fn the_place_of_a_line_is_said_before_it_is_changed() {
    let tree = MapTree::of([("user.md", "- here\n"), ("a.md", "- there\n")]);
    let mut planner = Planner::new(&tree, &Limits::default());
    assert_eq!(planner.place_of(&line_call("user.md", "- there", "x")), Some(path("a.md")));
    assert_eq!(planner.place_of(&line_call("user.md", "- here", "x")), None);
    assert_eq!(planner.place_of(&line_call("user.md", "- nowhere", "x")), None);
    assert_eq!(planner.place_of(&Call { meaning: Meaning::Plain, ..line_call("user.md", "- there", "x") }), None);
}

#[test]
fn hostile_lines_take_no_long_time() {
    let many = "- a\n".repeat(100_000);
    let tree = MapTree::of([("n.md", many.as_str()), ("user.md", "")]);
    let (entry, _, _) = plan(&tree, line_call("user.md", "- a", "x"), &|_, _| true);
    assert_eq!(entry["error"]["code"], "ambiguous_match");
    let (entry, _, _) = plan(&tree, line_call("n.md", &"- ".repeat(50_000), "x"), &|_, _| true);
    assert_eq!(entry["error"]["code"], "content_not_found");
}
