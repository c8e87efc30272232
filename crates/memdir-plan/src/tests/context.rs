//! What `get_context` gathers, in which order, and what it leaves out.

use serde_json::json;

use super::*;

fn tree() -> MapTree {
    MapTree::of([
        ("user.md", "# Ada\n\n- city: London\n- wife: [[jane_doe]]\n\n## Work\n\n- employer: [[acme]]\n"),
        (
            "people/jane_doe.md",
            "# Jane Doe\n\n## Basics\n\n- age: 39\n- job: violinist\n\n## Garden\n\nRoses and beans grow by the wall.\n",
        ),
        ("companies/acme.md", "---\ntags: [work]\n---\n# Acme\n\n- kind: company\n- ceo: [[boss]]\n"),
        ("companies/boss.md", "# The Boss\n\n- hobby: sailing\n"),
        ("other.md", "# Other\n\nNothing of interest.\n"),
    ])
}

#[track_caller]
fn context(asked: Json) -> Json {
    let (entry, _) = one(&tree(), with_action(asked));
    assert_eq!(entry["ok"], json!(true), "{entry}");
    entry["value"].clone()
}

fn with_action(mut asked: Json) -> Json {
    asked["action"] = json!("get_context");
    asked
}

/// Each part as `path:first-last`.
fn places(context: &Json) -> Vec<String> {
    let parts = context["parts"].as_array().unwrap();
    let place = |part: &Json| format!("{}:{}-{}", part["path"].as_str().unwrap(), part["lines"][0], part["lines"][1]);
    parts.iter().map(place).collect()
}

#[test]
fn sections_that_match_come_first_and_then_linked_notes() {
    let found = context(json!({"query": "who grows beans and roses?"}));
    let first = &found["parts"][0];
    let expected = json!({"path": "people/jane_doe.md", "heading": "Garden", "lines": [8, 10],
        "text": "## Garden\n\nRoses and beans grow by the wall.\n", "state": null});
    assert_eq!((first, &found["left_out"]), (&expected, &json!(0)), "{found}");
    assert!(!places(&found).iter().any(|place| place.starts_with("other.md")), "{found}");
}

#[test]
fn around_a_note_its_own_sections_come_first_and_then_the_nearest() {
    let found = context(json!({"path": "user.md"}));
    assert_eq!(
        places(&found),
        ["user.md:1-4", "user.md:6-8", "people/jane_doe.md:3-6", "companies/acme.md:4-7", "companies/boss.md:1-3"]
    );
    assert_eq!(found["parts"][1]["text"], "## Work\n\n- employer: [[acme]]\n");
    assert_eq!(found["parts"][1]["heading"], "Work");
}

#[test]
fn a_question_about_a_note_puts_what_matches_first_among_its_links() {
    let found = context(json!({"path": "user.md", "query": "employer"}));
    let places = places(&found);
    let at = |path: &str| places.iter().position(|place| place.starts_with(path));
    assert!(at("companies/acme.md") < at("people/jane_doe.md"), "{places:?}");
}

#[test]
fn a_budget_is_kept_and_what_has_no_room_is_counted() {
    let all = context(json!({"path": "user.md"}));
    for budget in [1, 5, 12, 20, 40, 1000] {
        let found = context(json!({"path": "user.md", "budget": budget}));
        let parts = found["parts"].as_array().unwrap();
        let bytes: usize = parts
            .iter()
            .flat_map(|part| ["path", "heading", "text"].map(|key| part[key].as_str().unwrap_or_default().len()))
            .sum();
        assert!(bytes <= budget * 4, "{budget}: {found}");
        let given = parts.len() + usize::try_from(found["left_out"].as_u64().unwrap()).unwrap();
        assert_eq!(given, all["parts"].as_array().unwrap().len(), "{budget}");
    }
    let cut = context(json!({"path": "user.md", "budget": 9}));
    assert_eq!(cut["parts"][0]["lines"], json!([1, 3]), "whole lines of the first one: {cut}");
}

#[test]
fn a_long_section_is_cut_to_what_matches() {
    let lines: Vec<String> = (0..500).map(|line| format!("line {line} says little")).collect();
    let text = format!("# Long\n\n{}\nthe wolframite is here\n{}\n", lines.join("\n"), lines.join("\n"));
    let tree = MapTree::of([("long.md", text.as_str())]);
    let (entry, _) = one(&tree, json!({"action": "get_context", "query": "wolframite"}));
    let part = &entry["value"]["parts"][0];
    assert!(part["text"].as_str().unwrap().contains("wolframite"), "{entry}");
    let [first, last] = [0, 1].map(|at| usize::try_from(part["lines"][at].as_u64().unwrap()).unwrap());
    let shown: String = text.split_inclusive('\n').skip(first - 1).take(last + 1 - first).collect();
    assert_eq!(part["text"], json!(shown), "the lines are the ones that it names");
    assert!(shown.len() < 2_200 && first < 503 && 503 < last, "{first}-{last}");
}

#[test]
fn a_short_section_with_a_link_comes_along() {
    let long = "It says little.\n".repeat(20);
    let text = format!(
        "---\nkind: none\n---\n# Long\n\nThe wolframite is here.\n\n## Else\n\n{long}\n## See\n\n- at: [[other]]\n"
    );
    let tree = MapTree::of([("long.md", text.as_str())]);
    let (entry, _) = one(&tree, json!({"action": "get_context", "query": "wolframite"}));
    assert_eq!(places(&entry["value"]), ["long.md:4-6", "long.md:31-33"], "{entry}");
}

#[test]
fn what_is_missing_is_said() {
    let fails = |asked: Json| one(&tree(), with_action(asked)).0["error"].clone();
    let error = fails(json!({}));
    assert_eq!(error["code"], "invalid_action", "{error}");
    assert_eq!(error["hint"], "send the message as `query`, or a note as `path`");
    assert_eq!(fails(json!({"query": "   "}))["code"], "invalid_action");
    let error = fails(json!({"path": "people/jane.md"}));
    assert_eq!((&error["code"], &error["hint"]), (&json!("not_found"), &json!("the nearest is `people/jane_doe.md`")));
    assert_eq!(
        context(json!({"query": "…"})),
        json!({"parts": [], "left_out": 0, "nothing_known": false, "missing": []})
    );
}

#[test]
fn what_no_note_says_is_told_with_the_words_that_are_missing() {
    let found = context(json!({"query": "what is the blood type of Jane Doe?"}));
    assert_eq!((&found["nothing_known"], &found["missing"]), (&json!(true), &json!(["blood", "type"])), "{found}");
    assert!(places(&found)[0].starts_with("people/jane_doe.md"), "what is named still comes along: {found}");
    let found = context(json!({"query": "who grows beans and roses?"}));
    assert_eq!((&found["nothing_known"], &found["missing"]), (&json!(false), &json!([])), "{found}");
}

#[test]
fn a_pinned_note_comes_along_within_its_share() {
    let (tree, limits) = (tree(), crate::Limits::default());
    let pinned = [MemoryPath::parse("companies/boss.md").unwrap(), MemoryPath::parse("gone.md").unwrap()];
    let ask = |budget: u32| {
        let mut planner = crate::Planner::new(&tree, &limits).pinning(&pinned);
        let get = memdir_core::action::GetContext {
            query: Some("who grows beans and roses?".to_owned()),
            path: None,
            budget: Some(budget),
            include_past: None,
            as_of: None,
        };
        let call = memdir_core::action::Call::plain(1, memdir_core::action::Action::GetContext(get.clone()));
        let Value::Context(context) = planner.get_context(&call, &get).unwrap().value else { panic!("no context") };
        context.parts.into_iter().map(|part| part.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ask(2_000)[..2], ["companies/boss.md", "people/jane_doe.md"]);
    assert!(!ask(20).contains(&"companies/boss.md".to_owned()), "a quarter of 20 tokens has no room for it");
}
