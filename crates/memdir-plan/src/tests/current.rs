//! What belongs to the past is left out of answers, and told where it is asked for.

use memdir_core::time::Timestamp;
use serde_json::json;

use super::*;

fn tree() -> MapTree {
    MapTree::of([
        ("jane.md", "# Jane\n\n- employer: Initech (2021–2024)\n- employer: Globex (2024–)\n- city: Oslo\n"),
        ("old_flat.md", "---\nsuperseded_by: new_flat.md\n---\n# Old flat\n\n- rent of the flat: 700\n"),
        ("new_flat.md", "# New flat\n\n- rent of the flat: 900\n- before: [[old_flat]]\n"),
        ("offer.md", "---\nvalid_until: 2025-12-31\n---\n# Offer\n\n- price of the piano: 3000\n"),
        ("plan.md", "---\nstatus: deprecated\n---\n# Plan\n\nRepaint the kitchen in ochre.\n"),
    ])
}

/// What a call answers on a day.
#[track_caller]
fn answer(call: Json, day: &str) -> Json {
    let tree = tree();
    let status = ["deprecated".to_owned()];
    let now = Timestamp::parse(day).unwrap().micros() / 1_000_000;
    let planner = Planner::new(&tree, &Limits::default()).at((now, 0)).with_past_status(&status);
    let (outcomes, _) = run_on(planner, &[call]);
    let entry = serde_json::to_value(&outcomes[0]).unwrap();
    assert!(entry["ok"] == json!(true), "{entry}");
    entry["value"].clone()
}

/// The notes that a search finds, with their states.
fn found(query: &str, mode: &str, include_past: bool, day: &str) -> Vec<String> {
    let call = json!({"action": "search_files", "query": query, "mode": mode, "include_past": include_past});
    let value = answer(call, day);
    let hits = value["hits"].as_array().unwrap().iter();
    let shown = hits.map(|hit| {
        let state = hit["state"].as_str().map_or(String::new(), |state| format!(" {state}"));
        format!("{}{state}", hit["path"].as_str().unwrap())
    });
    let mut shown: Vec<String> = shown.collect();
    assert_eq!(value["total"], json!(shown.len()), "{value}");
    shown.sort();
    shown
}

const DAY: &str = "2026-11-24";

#[test]
fn no_search_finds_a_note_that_belongs_to_the_past_unless_it_is_asked_for() {
    for (mode, query) in [("ranked", "rent of the flat"), ("text", "rent of the flat"), ("regex", "rent of .* flat")] {
        assert_eq!(found(query, mode, false, DAY), ["new_flat.md"], "{mode}");
        assert_eq!(found(query, mode, true, DAY), ["new_flat.md", "old_flat.md superseded"], "{mode}");
    }
    assert_eq!(found("old_flat", "name", false, DAY), ["new_flat.md"; 0]);
    assert_eq!(found("old_flat", "name", true, DAY), ["old_flat.md superseded"]);
    assert_eq!(found("ochre", "ranked", false, DAY), [""; 0]);
    assert_eq!(found("ochre", "ranked", true, DAY), ["plan.md superseded"]);
    assert_eq!(found("piano", "ranked", false, DAY), [""; 0]);
    assert_eq!(found("piano", "ranked", true, DAY), ["offer.md expired"]);
    assert_eq!(found("piano", "ranked", false, "2025-12-31"), ["offer.md"], "its last day");
    // A word that stands only in a fact that is over is no reason to show the rest of its note.
    assert_eq!(found("Initech", "ranked", false, DAY), [""; 0]);
    assert_eq!(found("Initech", "ranked", false, DAY), [""; 0]);
    assert_eq!(found("Initech", "ranked", true, DAY).len(), 1);
}

#[test]
fn a_fact_whose_time_is_over_is_left_out_of_what_is_shown() {
    let shown = |include_past: bool, day: &str| {
        let search = json!({"action": "search_files", "query": "employer jane", "include_past": include_past});
        let context = json!({"action": "get_context", "query": "employer jane", "include_past": include_past});
        let snippet = answer(search, day)["hits"][0]["snippet"].as_str().unwrap().to_owned();
        (snippet, answer(context, day)["parts"][0].clone())
    };
    let (snippet, part) = shown(false, DAY);
    let told = |text: &str| (text.contains("Initech"), text.contains("Globex"));
    assert_eq!(told(&snippet), (false, true), "{snippet}");
    let text = part["text"].as_str().unwrap();
    assert_eq!(told(text), (false, true), "{text}");
    // Lines are numbered as they stand in the note.
    let first = part["lines"][0].as_u64().unwrap();
    let place = text.lines().position(|line| line.contains("Globex")).unwrap() as u64;
    assert_eq!(first + place, 4, "{part}");
    let (snippet, part) = shown(true, DAY);
    assert_eq!(told(&snippet), (true, true), "{snippet}");
    assert!(part["text"].as_str().unwrap().contains("(2021–2024) (expired)\n"), "{part}");
    let (snippet, _) = shown(false, "2024-12-31");
    assert_eq!(told(&snippet), (true, true), "its year is not over: {snippet}");
}

#[test]
fn a_note_that_is_named_is_told_and_read_as_it_is() {
    let named = answer(json!({"action": "get_context", "path": "old_flat.md"}), DAY);
    assert_eq!(named["parts"][0]["path"], json!("old_flat.md"), "{named}");
    assert_eq!(named["parts"][0]["state"], json!("superseded"), "{named}");
    let beside = answer(json!({"action": "get_context", "path": "new_flat.md"}), DAY);
    assert!(!beside.to_string().contains("700"), "nothing is followed to it: {beside}");
    let read = answer(json!({"action": "read_file", "path": "jane.md"}), DAY);
    assert!(read.as_str().unwrap().contains("- employer: Initech (2021–2024)\n"));
    let links = answer(json!({"action": "get_links", "path": "new_flat.md"}), DAY);
    assert_eq!(links["links"][0]["resolved"], json!("old_flat.md"), "a link leads where it led");
}
