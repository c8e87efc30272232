use proptest::prelude::*;
use serde_json::json;

use super::{Redaction, finds, hiding, parts, split, withhold};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Closest, Code, Failure, Outcome, Report, Value, Variables};
use memdir_dialect as dialect;
use memdir_policy::Filter;

#[track_caller]
fn check_split(message: &str, left: &str, filters: &[&str], is_unclosed: bool) {
    let split = split(message);
    let found: Vec<&str> = split.filters.iter().map(String::as_str).collect();
    assert_eq!(
        (split.message.as_str(), found.as_slice(), split.is_unclosed),
        (left, filters, is_unclosed),
        "{message}"
    );
}

#[test]
fn filters_are_taken_out_of_a_message() {
    check_split("Who is Ada?", "Who is Ada?", &[], false);
    check_split("Who is Ada?\n<filter> no phone </filter>", "Who is Ada?", &["no phone"], false);
    check_split("<FILTER>a</Filter>Hi<filter>b</filter>", "Hi", &["a", "b"], false);
    check_split("Hi <filter>no phone, no email", "Hi", &["no phone, no email"], true);
    check_split("Hi <filter>a <filter>b</filter> c</filter> you", "Hi  you", &["a b c"], false);
    check_split("Hi <filter>a <filter>b</filter> c", "Hi", &["a b c"], true);
    check_split("Hi </filter> you", "Hi </filter> you", &[], false);
    check_split("Hi <filter> </filter>", "Hi", &[], false);
    check_split("Hi <filters>a</filters>", "Hi <filters>a</filters>", &[], false);
    check_split("What is `<filter>` for?", "What is `<filter>` for?", &[], false);
    check_split("What is ``<filter>` x`` ?<filter>b</filter>", "What is ``<filter>` x`` ?", &["b"], false);
    check_split("A ` b <filter>c</filter>", "A ` b", &["c"], false);
    check_split("A ` b\n` <filter>c</filter>", "A ` b\n`", &["c"], false);
    check_split("```\n<filter>a</filter>\n```\nHi", "```\n<filter>a</filter>\n```\nHi", &[], false);
    // A block that is never closed protects nothing.
    check_split("```\n<filter>a</filter>\nHi", "```\n\nHi", &["a"], false);
    // In a filter, all is the filter's.
    check_split("<filter>no `x</filter> y`</filter>", "y`</filter>", &["no `x"], false);
}

fn filters(texts: &[&str]) -> Vec<Filter> {
    texts.iter().map(|text| Filter::compile(text)).collect()
}

#[track_caller]
fn check_reply(filter: &str, reply: &str, expected: &str) {
    let filters = filters(&[filter]);
    let left = withhold(reply, &filters);
    assert_eq!(left, expected);
    assert!(!finds(&filters, &left), "{left}");
}

#[test]
fn what_is_filtered_is_not_said() {
    let phone = "Do not reveal phone numbers.";
    check_reply(phone, "She lives in London. ", "She lives in London. ");
    check_reply(
        phone,
        "She lives in London. Call her at +49 30 1234567! She likes tea.",
        "She lives in London. (withheld by a filter) She likes tea.",
    );
    check_reply(
        phone,
        "- city: London\n- phone: +49 30 1234567\n- tea",
        "- city: London\n(withheld by a filter)\n- tea",
    );
    check_reply(phone, "Hi.\nPhone:\n+49 30 1234567\n\nBye.", "Hi.\n(withheld by a filter)\n\nBye.");
    check_reply("Do not mention \"withheld\".", "It is withheld.", "…");
}

proptest! {
    #[test]
    fn in_what_is_left_nothing_is_found(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "phone", ":", " ", "\n", "+49 30 1234567", "030", "1234567", "- ", ". ", "# Health", "## Phone\n", "age", "34",
            "she is 34 years old", "a@b.example", "a@", "b.example", "withheld", "| a | b |\n", "tel", "…", "\u{a0}", "```", "\"",
        ]), 0..24),
        chosen in prop::collection::vec(prop::sample::select(vec![
            "Do not reveal phone numbers.", "No email addresses, no ages.", "Only ages.", "Do not mention \"withheld\".", "Do not mention \"a\".", "Do not mention \"…\" or \"withheld\".",
            "Nothing about her health", "no secrets", "Do not reveal anything in private/.",
        ]), 0..3),
    ) {
        let filters = filters(&chosen);
        let left = withhold(&pieces.concat(), &filters);
        prop_assert!(!finds(&filters, &left), "{left:?}");
    }
}

const ADA: &str =
    "# Ada\n- city: London\n\n## Health\n- asthma since 2019\n- pollen\n\n## Home\n- phone: +49 30 1234567\n- tea\n";
const HEALTH: &str = "Do not reveal her health. Do not reveal phone numbers.";

/// What a model is told of one result.
#[track_caller]
fn redacted(action: &str, call: &str, path: Option<&str>, result: Result<Value, Failure>) -> Outcome {
    let parsed = dialect::parse(format!("<actions>[{call}]</actions>").as_bytes());
    let outcome = Outcome {
        index: 1,
        action: Some(action.to_owned()),
        path: path.map(str::to_owned),
        result,
        total: None,
        cursor: None,
        label: Some("x".to_owned()),
        shown: None,
    };
    let mut report = Report::of(vec![outcome]);
    let read = |path: &MemoryPath| (path.as_str() == "ada.md").then(|| ADA.to_owned());
    let filters = filters(&[HEALTH]);
    Redaction::new(&filters, &read).report(&mut report, parts(&parsed));
    let outcome = report.actions.remove(0);
    if let Ok(value) = &outcome.result {
        assert_eq!(report.variables, Variables::new([("x".to_owned(), value.clone())]));
    }
    outcome
}

#[track_caller]
fn check_text(call: &str, text: &str, expected: &str) {
    let action = if call.contains("go_to_link") { "go_to_link" } else { "read_file" };
    let outcome = redacted(action, call, Some("ada.md"), Ok(Value::Text(text.to_owned())));
    assert_eq!(outcome.result, Ok(Value::Text(expected.to_owned())));
}

#[test]
fn a_part_of_a_note_is_hidden_as_in_the_whole() {
    let whole = r#"{"action":"read_file","path":"ada.md"}"#;
    check_text(whole, ADA, "# Ada\n- city: London\n\n## Home\n- tea\n(5 more: withheld by a filter)\n");
    let lines = |first: usize, last: usize| {
        format!(r#"{{"action":"read_file","path":"ada.md","start_line":{first},"end_line":{last}}}"#)
    };
    check_text(&lines(5, 6), "- asthma since 2019\n- pollen\n", "(withheld by a filter)");
    check_text(&lines(6, 8), "- pollen\n\n## Home\n", "## Home\n(2 more: withheld by a filter)\n");
    check_text(&lines(1, 2), "# Ada\n- city: London\n", "# Ada\n- city: London\n");
    // Another note by now: nobody knows what stood above these lines.
    check_text(&lines(5, 6), "- hay fever\n- pollen\n", "(withheld by a filter)");
    let link = r###"{"action":"go_to_link","link":"[[ada#Health]]"}"###;
    check_text(link, "## Health\n- asthma since 2019\n- pollen\n", "(withheld by a filter)");
    check_text(link, "## Home\n- tea\n", "## Home\n- tea\n");
    check_text(link, "- something else\n", "(withheld by a filter)");
    // Read whole before it was changed: a note by itself.
    check_text(whole, "# Ada\n- phone: +49 30 7654321\n- new\n", "# Ada\n- new\n(1 more: withheld by a filter)\n");
}

#[test]
fn what_a_search_found_is_hidden_with_its_lines() {
    let hit = |lines: [usize; 2], snippet: &str, heading: &str| json!({"path": "ada.md", "lines": lines, "snippet": snippet, "heading": heading});
    let value = |lines, snippet: &str, heading: &str| {
        Value::Search(memdir_core::report::Search {
            query: "ada".to_owned(),
            hits: vec![memdir_core::report::Hit {
                path: MemoryPath::parse("ada.md").unwrap(),
                heading: Some(heading.to_owned()),
                lines,
                snippet: snippet.to_owned(),
                score: None,
                why: Vec::new(),
                state: None,
            }],
            total: 1,
            ..Default::default()
        })
    };
    let check = |lines, snippet: &str, heading: &str, expected: serde_json::Value| {
        let outcome = redacted("search_files", "", None, Ok(value(lines, snippet, heading)));
        let Ok(Value::Search(search)) = outcome.result else { panic!("{outcome:?}") };
        let found = &search.hits[0];
        let found =
            json!({"path": found.path, "lines": found.lines, "snippet": found.snippet, "heading": found.heading});
        assert_eq!(found, expected);
    };
    check([2, 2], "- city: London", "Ada", hit([2, 2], "- city: London", "Ada"));
    let mut hidden = hit([5, 5], "(withheld by a filter)", "");
    hidden["heading"] = serde_json::Value::Null;
    check([5, 5], "…asthma since 2019", "Health", hidden);
}

#[test]
fn a_failure_quotes_nothing_that_is_hidden() {
    let mut failure = Failure::new(Code::ContentNotFound, "`old_content` is not in `ada.md`")
        .with_hint("the note has the headings `Health`, `Home`");
    failure.details.closest =
        Some(Closest { lines: [5, 5], text: "- asthma since 2019".to_owned(), diff: "x".to_owned() });
    let outcome = redacted("update_file", "", Some("ada.md"), Err(failure));
    let failure = outcome.result.unwrap_err();
    assert_eq!((failure.message.as_str(), failure.hint), ("`old_content` is not in `ada.md`", None));
    assert_eq!(failure.details.closest, None);

    let mut failure = Failure::new(Code::Conflict, "`ada.md` has changed").with_hint("read it again");
    failure.details.text = Some(ADA.to_owned());
    let failure = redacted("write_file", "", Some("ada.md"), Err(failure)).result.unwrap_err();
    assert_eq!(failure.details.text.as_deref(), Some("# Ada\n- city: London\n\n## Home\n- tea\n"));
    assert_eq!(failure.hint.as_deref(), Some("read it again"));
}

#[test]
fn what_a_script_made_of_a_hidden_text_is_hidden() {
    let outcome = |name: &str, text: &str| Outcome {
        index: 1,
        action: Some("read_file".to_owned()),
        path: Some("ada.md".to_owned()),
        result: Ok(Value::Text(text.to_owned())),
        total: None,
        cursor: None,
        label: Some(name.to_owned()),
        shown: None,
    };
    let mut report = Report::of(vec![outcome("note", ADA)]);
    let made = Value::Text(format!("All: {ADA}"));
    let tree = Value::Text("ada.md".to_owned());
    report.variables = Variables::new([("made".to_owned(), made), ("tree".to_owned(), tree.clone())]);
    let read = |_: &MemoryPath| Some(ADA.to_owned());
    let filters = filters(&[HEALTH]);
    Redaction::new(&filters, &read).report(&mut report, parts(&dialect::parse(b"")));
    let hidden = Value::Text("(withheld by a filter)".to_owned());
    assert_eq!(report.variables, Variables::new([("made".to_owned(), hidden), ("tree".to_owned(), tree)]));
}

#[test]
fn a_note_is_not_replaced_by_who_sees_only_a_part_of_it() {
    let call = r#"<actions>[{"action":"write_file","path":"ada.md","content":"x"},{"action":"write_file","path":"new.md","content":"x"}]</actions>"#;
    let mut parsed = dialect::parse(call.as_bytes());
    let filters = filters(&[HEALTH]);
    let read = |path: &MemoryPath| (path.as_str() == "ada.md").then(|| ADA.to_owned());
    Redaction::new(&filters, &read).refuse(&mut parsed);
    let [dialect::Entry::Unread(unread), dialect::Entry::Call(_)] = parsed.entries.as_slice() else {
        panic!("{parsed:?}")
    };
    assert_eq!(unread.failure.code, Code::Denied);
}

#[test]
fn places_that_filters_name_are_not_there() {
    let path = |path: &str| MemoryPath::parse(path).unwrap();
    assert_eq!(hiding(None, &filters(&[HEALTH])).unwrap(), None);
    let grant = hiding(None, &filters(&["Do not reveal anything in private/."])).unwrap().unwrap();
    assert!(grant.is_restricted() && grant.shows(&path("user.md")) && grant.lets_write(&path("user.md")));
    assert!(!grant.shows(&path("private/a.md")) && !grant.lets_write(&path("Private/a.md")));
    let kept = serde_json::to_value(&grant).unwrap();
    assert_eq!(serde_json::from_value::<memdir_policy::Grant>(kept).unwrap(), grant);
}
