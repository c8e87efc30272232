//! What operators in a query ask of a note, and how they are told from text.

use serde_json::json;

use super::*;

/// 2026-11-23, 09:30 UTC.
const NOW: i64 = 1_795_426_200;

const NOTES: &[(&str, &str)] = &[
    (
        "projects/shed.md",
        "---\ntags: [project/garden]\ncreated: 2026-05-01\ndate: 2026-11-20\n---\n# Shed\n\n- [ ] buy the green paint\n- [x] order wood\n",
    ),
    (
        "projects/boat.md",
        "---\ntags: Work, boat\nupdated: 2026-10-02T08:00\n---\n# Boat\n\nThe dentist has one.\n\n1. [ ] call the dentist\n* [X] paint it green\n",
    ),
    (
        "old/projects/attic.md",
        "# Attic\n\nGreen paint. #work #project\n\n```\n- [ ] no task #garden\n```\n\n`#garden` and issue #12 and a#garden\n",
    ),
    ("daily/2026-11-22.md", "Rain. Green all over.\n"),
    ("daily/2026-01-05 report 2026-12-31.md", "# 5 January\n\nGreen. #workshop #Café #1🌲\n"),
    ("plain.md", "---\ncreated: soon\n---\n\nGreen is since:soon a colour, says tag:work and 12:30 and foo:bar.\n"),
];

#[track_caller]
fn answer(tree: &MapTree, search: Json) -> Json {
    let mut search = search;
    search["action"] = json!("search_files");
    let mut planner = Planner::new(tree, &Limits::default()).at((NOW, 0));
    serde_json::to_value(planner.answer(&cleared(call(1, &search)))).unwrap()
}

/// Each hit as its path, with the line of a task.
fn hits(tree: &MapTree, query: &str) -> Vec<String> {
    let found = answer(tree, json!({"query": query}));
    let hits = found["value"]["hits"].as_array().unwrap_or_else(|| panic!("{query}: {found}"));
    assert_eq!(found["value"]["total"], json!(hits.len()), "{query}");
    hits.iter().map(|hit| hit["path"].as_str().unwrap().trim_end_matches(".md").to_owned()).collect()
}

/// The hits in the order of their paths.
#[track_caller]
fn check(query: &str, expected: &[&str]) {
    let mut found = hits(&MapTree::of(NOTES.iter().copied()), query);
    found.sort();
    assert_eq!(found, expected, "{query}");
}

#[test]
fn a_tag_is_that_tag_or_one_nested_in_it() {
    check("tag:work", &["old/projects/attic", "projects/boat"]);
    check("#WORK", &["old/projects/attic", "projects/boat"]);
    check("Tag:#work/", &["old/projects/attic", "projects/boat"]);
    check("tag:project", &["old/projects/attic", "projects/shed"]);
    check("tag:project/garden", &["projects/shed"]);
    check("tag:work tag:boat", &["projects/boat"]);
    check("#CAFE\u{301}", &["daily/2026-01-05 report 2026-12-31"]);
    check("#cafe", &[]);
    check("#1🌲", &["daily/2026-01-05 report 2026-12-31"]);
    check("tag:garden", &[]);
    check("tag:12", &[]);
}

#[test]
fn dates_are_those_that_a_note_states() {
    let report = "daily/2026-01-05 report 2026-12-31";
    check("since:2026-11-22", &[report, "daily/2026-11-22"]);
    check("since:yesterday", &[report, "daily/2026-11-22"]);
    check("since:today", &[report]);
    check("since:3d", &[report, "daily/2026-11-22", "projects/shed"]);
    check("since:2d", &[report, "daily/2026-11-22"]);
    check("since:2026-10-02", &[report, "daily/2026-11-22", "projects/boat", "projects/shed"]);
    check("since:2026-10-03 since:2026-01-01", &[report, "daily/2026-11-22", "projects/shed"]);
    check("since:1970-01-02 path:plain", &[]);
    check("since:1970-01-01 path:plain", &["plain"]);
}

#[test]
fn a_moment_with_a_zone_is_of_the_later_of_its_day_and_that_in_utc() {
    for (date, day, next) in [
        ("2026-11-01T23:30:00-02:00", "2026-11-02", "2026-11-03"),
        ("2026-11-01T01:30:00+02:00", "2026-11-01", "2026-11-02"),
        ("2026-11-01 23:30:00.5 -02:00", "2026-11-02", "2026-11-03"),
        ("2026-11-01t23:30:00z", "2026-11-01", "2026-11-02"),
        // Without a zone it is the day that is written, and so is what is no moment.
        ("2026-11-01T23:30:00", "2026-11-01", "2026-11-02"),
        ("2026-11-01 till 2026-11-03", "2026-11-03", "2026-11-04"),
        ("2026-11-01 99:99:99 -02:00", "2026-11-01", "2026-11-02"),
    ] {
        let tree = MapTree::of([("tz.md", format!("---\ndate: {date}\n---\nx\n").as_str())]);
        assert_eq!(hits(&tree, &format!("since:{day}")), ["tz"], "{date}");
        assert!(hits(&tree, &format!("since:{next}")).is_empty(), "{date}");
    }
}

#[test]
fn accents_tell_names_and_tags_apart() {
    let tree = MapTree::of([("Zoë.md", "#schön\n"), ("Zoé.md", "#schon\n"), ("E\u{301}/x.md", "#Straße\n")]);
    for (query, expected) in [
        ("path:zoË", "Zoë"),
        ("path:Zoe\u{301}", "Zoé"),
        ("tag:SCHÖN", "Zoë"),
        ("tag:schon", "Zoé"),
        ("path:/é/", "E\u{301}/x"),
        ("tag:STRASSE", "E\u{301}/x"),
    ] {
        assert_eq!(hits(&tree, query), [expected], "{query}");
    }
}

#[test]
fn a_path_is_a_beginning_of_a_folder_or_a_name() {
    check("path:projects/", &["old/projects/attic", "projects/boat", "projects/shed"]);
    check("path:/Projects/", &["projects/boat", "projects/shed"]);
    check("path:\"2026-01-05 rep\"", &["daily/2026-01-05 report 2026-12-31"]);
    check("path:rojects", &[]);
}

#[test]
fn words_rank_among_the_notes_that_are_left() {
    let tree = MapTree::of(NOTES.iter().copied());
    let all = hits(&tree, "green");
    assert_eq!(all.len(), 6);
    for (operators, expected) in [("path:projects/", 3), ("is:task", 2), ("#work", 2), ("since:2026-11-22", 2)] {
        let left = hits(&tree, operators);
        let ranked: Vec<_> = all.iter().filter(|path| left.contains(path)).cloned().collect();
        let found = hits(&tree, &format!("{operators} green"));
        assert_eq!((&found, found.len()), (&ranked, expected), "{operators}");
        assert_eq!(hits(&tree, &format!("green {operators}")), ranked, "{operators}");
    }
}

#[test]
fn tasks_are_listed_line_by_line() {
    let tree = MapTree::of(NOTES.iter().copied());
    let lines = |query: &str| {
        let found = answer(&tree, json!({"query": query}));
        let hits = found["value"]["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| format!("{}:{}", hit["lines"], hit["snippet"].as_str().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(lines("is:task"), ["[8,8]:- [ ] buy the green paint", "[9,9]:1. [ ] call the dentist"]);
    assert_eq!(lines("is:done"), ["[9,9]:- [x] order wood", "[10,10]:* [X] paint it green"]);
    assert_eq!(lines("is:task is:done path:shed").len(), 2);
    assert_eq!(lines("is:task dentist"), ["[9,9]:1. [ ] call the dentist"], "the task, not the text above it");
    assert_eq!(lines("is:done dentist"), ["[5,7]:The dentist has one."], "where no task says it");
    let first = answer(&tree, json!({"query": "is:task is:done", "limit": 3}));
    let next = answer(&tree, json!({"query": "is:task is:done", "limit": 3, "cursor": first["value"]["cursor"]}));
    assert_eq!((&first["value"]["total"], &next["value"]["total"]), (&json!(4), &json!(4)));
    let lines = |page: &Json| {
        page["value"]["hits"].as_array().unwrap().iter().map(|hit| hit["lines"][0].clone()).collect::<Vec<_>>()
    };
    let all: Vec<Json> = [lines(&first), lines(&next)].concat();
    assert_eq!(all, [8, 9, 9, 10], "a page goes on behind the task that was last");
}

#[test]
fn what_is_no_operator_is_text() {
    for query in [
        "foo:bar",
        "12:30",
        "http://example.org/x",
        "\"tag:work\"",
        "\"a tag:work b\"",
        "tag: is: since: path:",
        "#12",
        "#",
        "a#b",
        "#work?",
    ] {
        let parsed = crate::query::Query::parse(query).unwrap();
        assert!(parsed.operators.is_empty() && parsed.text == query, "{query}: {parsed:?}");
    }
    let words = ["old/projects/attic", "plain", "projects/boat", "projects/shed"];
    check("\"tag:work\"", &words);
    check("foo:bar", &["plain"]);
    let tree = MapTree::of(NOTES.iter().copied());
    for mode in ["text", "regex"] {
        let found = answer(&tree, json!({"query": "tag:work", "mode": mode}));
        assert_eq!(found["value"]["hits"][0]["path"], "plain.md", "{mode}");
    }
    check("tag:work ##", &[]);
    check("path:old ```", &["old/projects/attic"]);
}

#[test]
fn a_value_that_is_not_known_is_said_with_what_is() {
    let tree = MapTree::of(NOTES.iter().copied());
    for (query, hint) in [
        ("since:soon", "write a date, `since:2026-11-01`, or days, `since:7d`; in quotes it is text"),
        ("green since:2026-02-30", "write a date, `since:2026-11-01`, or days, `since:7d`; in quotes it is text"),
        ("is:open", "write `is:task` for what is to do, or `is:done`; in quotes it is text"),
        (" Tag: ", "write a tag, `tag:work`; in quotes it is text"),
        ("is: tag:work", "write `is:task` for what is to do, or `is:done`; in quotes it is text"),
    ] {
        let error = answer(&tree, json!({"query": query}))["error"].clone();
        assert_eq!((&error["code"], &error["hint"]), (&json!("invalid_pattern"), &json!(hint)), "{query}");
    }
    // Beside words it is one of them.
    for query in ["green tag:", "\"tag:\"", "foo:", ":"] {
        assert_eq!(answer(&tree, json!({"query": query}))["error"], Json::Null, "{query}");
    }
}

#[test]
fn a_query_that_was_corrected_keeps_its_operators() {
    let tree = MapTree::of(NOTES.iter().copied());
    let found = answer(&tree, json!({"query": "is:task dentits"}));
    assert_eq!(found["value"]["searched_for"], "is:task dentist");
}

#[test]
fn what_may_not_be_shown_is_not_listed() {
    let tree = MapTree::of(NOTES.iter().copied());
    for query in ["tag:work", "is:task", "since:2026-01-01", "path:projects", "is:task dentist"] {
        let search = json!({"action": "search_files", "query": query});
        let shown = |_: &Call, path: &MemoryPath| path.stem() != "boat";
        let mut planner = Planner::new(&tree, &Limits::default()).at((NOW, 0)).showing(&shown, &|_| true);
        let found = serde_json::to_value(planner.answer(&cleared(call(1, &search)))).unwrap();
        assert!(!found.to_string().contains("boat"), "{found}");
        assert_eq!(found["value"]["total"], json!(found["value"]["hits"].as_array().unwrap().len()));
    }
}
