//! Sections and facts: what is replaced, what stays, and what is said where it cannot be done.

use serde_json::json;

use super::*;

#[track_caller]
fn check(text: &str, mut json: Json, expected: &str) {
    json["path"] = json!("n.md");
    let (entry, after) = one(&MapTree::of([("n.md", text)]), json);
    assert_eq!(entry["value"], true, "{entry}");
    assert_eq!(std::str::from_utf8(after.get("n.md").unwrap()).unwrap(), expected);
}

#[track_caller]
fn check_failure(text: &str, mut json: Json, code: &str, message: &str, hint: &str) {
    json["path"] = json!("n.md");
    let tree = MapTree::of([("n.md", text)]);
    let (entry, after) = one(&tree, json);
    assert_eq!(after, tree);
    let error = &entry["error"];
    assert_eq!((&error["code"], &error["message"], &error["hint"]), (&json!(code), &json!(message), &json!(hint)));
}

fn replace(heading: &str, content: &str) -> Json {
    json!({"action": "replace_section", "heading": heading, "content": content})
}

fn append(heading: &str, content: &str) -> Json {
    json!({"action": "append_to_section", "heading": heading, "content": content})
}

fn set(key: &str, value: &str) -> Json {
    json!({"action": "set_fact", "key": key, "value": value})
}

#[test]
fn a_section_is_replaced_up_to_the_next_heading_of_its_level() {
    check("# A\n\nold\n\n## B\nx\n\n# C\ny\n", replace("A", "new"), "# A\n\nnew\n\n# C\ny\n");
    check("# A\r\nold\r\n# C\r\n", replace("a", "1\n2"), "# A\r\n1\r\n2\r\n# C\r\n");
    check("# A\n## B\nx\n", replace("A#B", "y\n"), "# A\n## B\ny\n");
    check("# A", replace("A", "y"), "# A\ny\n");
    check("# A\n# B\n", replace("A", "y"), "# A\ny\n# B\n");
    check("# A\n\nold\n\n# B\n", replace("A", ""), "# A\n\n# B\n");
    check("# A\nold\nB\n===\n", replace("A", "y"), "# A\ny\n\nold\nB\n===\n");
    check("# A\nold\n\nB\n===\n", replace("A", "y"), "# A\ny\n\nB\n===\n");
    check("---\nk: v\n---\n# A\n```\n# no\n```\n# B\n", replace("A", "y"), "---\nk: v\n---\n# A\ny\n# B\n");
}

#[test]
fn lines_are_added_before_the_first_subheading() {
    check("# A\n- a\n\n## B\nx\n", append("A", "- b"), "# A\n- a\n- b\n\n## B\nx\n");
    check("# A\n\n# B\n", append("A", "- b"), "# A\n- b\n\n# B\n");
    check("# A", append("A", "- b"), "# A\n- b\n");
    check("# A\nx", append("A", "- b\n- c\n"), "# A\nx\n- b\n- c\n");
    check("# A\n\nB\n---\n", append("A", "text"), "# A\ntext\n\nB\n---\n");
    check("# A\nB\n---\n", append("A", "text"), "# A\ntext\n\nB\n---\n");
    check("# A\r\nx\r\n# B\r\n", append("A", "b\nc"), "# A\r\nx\r\nb\r\nc\r\n# B\r\n");
}

#[test]
fn a_heading_that_is_not_clear_is_said_to_be_so() {
    let text = "# Work\n## Plans\n# Home\n## Plans\n";
    check_failure(
        text,
        replace("Plans", "x"),
        "ambiguous_heading",
        "heading `Plans` stands on lines 2, 4",
        "name the heading above it too, as in `Work#Plans`",
    );
    check_failure(
        "# Log\n# Log\n",
        append("Log", "x"),
        "ambiguous_heading",
        "heading `Log` stands on lines 1, 2",
        "use `update_file` or `insert_text` at the line that is meant",
    );
    check(text, append("Home#Plans", "x"), "# Work\n## Plans\n# Home\n## Plans\nx\n");
    check_failure(
        text,
        append("Plan", "x"),
        "heading_not_found",
        "note `n.md` has no heading `Plan`",
        "did you mean `Plans`?",
    );
    check_failure(
        text,
        append("zzz", "x"),
        "heading_not_found",
        "note `n.md` has no heading `zzz`",
        "its headings are `Work`, `Plans`, `Home`, `Plans`",
    );
    check_failure(
        "x",
        append("A", "x"),
        "heading_not_found",
        "note `n.md` has no heading `A`",
        "it has no headings; use `append_file`",
    );
}

#[test]
fn a_fact_is_set() {
    check("# A\n- city: London\n", set("city", "Paris"), "# A\n- city: Paris\n");
    check(
        "# A\r\n- **City**: London\r\n\r\ntext\r\n",
        set("age", "36"),
        "# A\r\n- **City**: London\r\n- **age**: 36\r\n\r\ntext\r\n",
    );
    check("# A", set("city", "Paris"), "# A\n- city: Paris\n");
    check("", set("city", " Paris "), "- city: Paris\n");
    check("---\ncity: London\n---\nx", set("City", "true: no"), "---\ncity: \"true: no\"\n---\nx");
    check_failure(
        "- a: 1\n\n- a: 2\n",
        set("a", "3"),
        "ambiguous_match",
        "`a` is set on lines 1, 3 of `n.md`",
        "use `update_file` with the whole line that is meant",
    );
    check_failure(
        "x",
        set("a", "1\n2"),
        "invalid_action",
        "action 1, `set_fact`: a fact is one line",
        "use `append_to_section` or `update_file` for more",
    );
    check_failure(
        "x",
        set("see: this", "1"),
        "invalid_action",
        "action 1, `set_fact`: `see: this` cannot be the name of a fact",
        "it has a letter or a digit, at most 6 words, none of [ ] ` < > | \" * { } = ; in it, and no `: `, `. ` or `, `; `see this` can be one",
    );
    check_failure(
        "---\ntags: [a]\n---\n",
        set("tags", "b"),
        "invalid_action",
        "`tags` on line 2 of `n.md` is a list, takes several lines or holds other facts",
        "use `update_file` to change it",
    );
    let hint = "use `update_file` to change what stands there, or `insert_text` to add a line of its own";
    check_failure(
        "Age: 36, which\nis not old.\n",
        set("age", "37"),
        "ambiguous_match",
        "line 1 of `n.md` has `age` in a form that cannot be set",
        hint,
    );
    check_failure(
        "- `age`: 36\n- `age`: 37\n",
        set("age", "37"),
        "ambiguous_match",
        "lines 1, 2 of `n.md` have `age` in a form that cannot be set",
        hint,
    );
}

#[test]
fn a_fact_of_a_note_that_is_not_there_is_answered_with_the_call_that_makes_it() {
    let tree = MapTree::of([("user.md", "# Ada\n"), ("people/tom.md", "# Tom\n")]);
    let set = json!({"action": "set_fact", "path": "pets/rex.md", "key": "breed", "value": "a \"mix\""});
    let link = |target: &str| json!({"action": "append_file", "path": "user.md", "content": format!("- {target}")});
    let (outcomes, _) = run(&tree, &[set.clone(), link("[[pets/rex]]"), link("[rex](pets/rex.md)"), link("[[rox]]")]);
    let said = serde_json::to_value(&outcomes).unwrap();
    assert_eq!(said[0]["error"]["code"], json!("not_found"));
    let hint = said[0]["error"]["hint"].as_str().unwrap();
    let make: Json = serde_json::from_str(hint.strip_prefix("to make it, send ").unwrap()).unwrap();
    assert_eq!(said[0]["error"]["action"], make);
    // A link that the batch has written before is told of.
    let (outcomes, _) = run(&tree, &[link("[[rex]]"), link("[[pets]]"), set.clone()]);
    let said_then = serde_json::to_value(&outcomes[2]).unwrap();
    let hint = said_then["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("`user.md` now has a link to nothing; to make it, send {"), "{hint}");
    let codes: Vec<_> = said.as_array().unwrap().iter().map(|entry| entry["error"]["code"].as_str()).collect();
    assert_eq!(codes, [Some("not_found"), Some("link_not_found"), Some("link_not_found"), None]);
    // What the hint says makes the note, and then it can be linked to.
    let (outcomes, plan) = run(&tree, &[set.clone(), make, link("[[pets/rex]]")]);
    assert_eq!(outcomes.iter().map(|outcome| outcome.result.is_ok()).collect::<Vec<_>>(), [false, true, true]);
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!(std::str::from_utf8(after.get("pets/rex.md").unwrap()).unwrap(), "# rex\n\n- breed: a \"mix\"\n");
    // A path that is nearly that of a note is told so.
    let near = json!({"action": "set_fact", "path": "people/tomm.md", "key": "age", "value": "3"});
    let said = serde_json::to_value(&run(&tree, &[near]).0[0]).unwrap();
    let hint = said["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("the nearest is `people/tom.md`; to make it, send {"), "{hint}");
}
