//! Calls that no action has: kept whole in every form, and answered as the providers' interfaces say.

use serde_json::{Map, Value as Json, json};

use crate::{Dialect, Entry, Foreign, Parsed, answer_tool_call, encode, parse, parse_as, parse_tool_call};
use memdir_core::catalog;
use memdir_core::report::{Code, Failure, Outcome, Report, Value, Variables};

const NAME: &str = "calendar__list_events";

fn day() -> Map<String, Json> {
    json!({"day": "2026-11-24", "limit": 3}).as_object().unwrap().clone()
}

/// The foreign calls of a text, each with its place.
fn foreign(parsed: &Parsed) -> Vec<(usize, Foreign)> {
    let of = |entry: &Entry| match entry {
        Entry::Unread(unread) => Some((unread.index, unread.foreign.clone()?)),
        Entry::Call(_) => None,
    };
    parsed.entries.iter().filter_map(of).collect()
}

/// What became of the calls of a text, if the foreign ones are answered with this.
fn report(parsed: &Parsed, result: &Result<Value, Failure>) -> Report {
    let outcome = |entry: &Entry| match entry {
        Entry::Unread(unread) if unread.foreign.is_some() => {
            Outcome { result: result.clone(), ..unread.clone().into() }
        }
        Entry::Unread(unread) => unread.clone().into(),
        Entry::Call(call) => Outcome::failed(call, Failure::new(Code::NotFound, "it is not there")),
    };
    Report::of(parsed.entries.iter().map(outcome).collect())
}

/// A whole response, what is sent back for a text, and whether that says of a failure that it is one.
type Form = (Json, Json, fn(&Json) -> bool);

/// The forms of the providers, as their documentation shows them.
fn providers() -> Vec<Form> {
    let arguments = Json::from(Json::Object(day()).to_string());
    vec![
        (
            json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": arguments}}]}}]}),
            json!([{"role": "tool", "tool_call_id": "call_1", "content": "3 events"}]),
            |sent| sent[0]["content"].as_str().is_some_and(|text| text.contains("tool_failed")),
        ),
        (
            json!({"status": "completed", "output": [
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": NAME, "arguments": arguments, "status": "completed"}]}),
            json!([{"type": "function_call_output", "call_id": "call_1", "output": "3 events"}]),
            |sent| sent[0]["output"].as_str().is_some_and(|text| text.contains("tool_failed")),
        ),
        (
            json!({"role": "assistant", "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": day()}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 events"}]}),
            |sent| sent["content"][0]["is_error"] == true,
        ),
        (
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {"functionCall": {"name": NAME, "args": day()}}]}}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": NAME, "response": {"output": "3 events"}}}]}),
            |sent| sent["parts"][0]["functionResponse"]["response"]["error"]["code"] == "tool_failed",
        ),
    ]
}

#[test]
fn each_providers_call_is_kept_and_answered_in_kind() {
    let failed = Err(Failure::new(Code::ToolFailed, "the calendar is closed"));
    for (response, expected, says_failure) in providers() {
        let parsed = parse(response.to_string().as_bytes());
        let expected_call = Foreign { name: NAME.to_owned(), arguments: day() };
        assert_eq!(foreign(&parsed), [(1, expected_call)], "{response}");
        let said = Ok(Value::Foreign("3 events".into()));
        let sent: Json = serde_json::from_str(&encode(&parsed.frame, &report(&parsed, &said))).unwrap();
        assert_eq!(sent, expected);
        let sent: Json = serde_json::from_str(&encode(&parsed.frame, &report(&parsed, &failed))).unwrap();
        assert!(says_failure(&sent), "{sent}");
    }
}

#[test]
fn a_structured_result_is_json_in_each_form() {
    let events = json!({"events": [{"title": "Dentist"}]});
    for (response, ..) in providers() {
        let parsed = parse(response.to_string().as_bytes());
        let sent = encode(&parsed.frame, &report(&parsed, &Ok(Value::Foreign(events.clone()))));
        let sent: Json = serde_json::from_str(&sent).unwrap();
        let texts =
            ["/0/content", "/0/output", "/content/0/content"].iter().filter_map(|at| sent.pointer(at)?.as_str());
        let found = texts.map(|text| serde_json::from_str::<Json>(text).unwrap()).next();
        let found = found.or_else(|| sent.pointer("/parts/0/functionResponse/response/output").cloned());
        assert_eq!(found, Some(events.clone()), "{sent}");
    }
    let parsed = parse_tool_call(NAME, day());
    let answer = answer_tool_call(&parsed.frame, &report(&parsed, &Ok(Value::Foreign(events.clone()))));
    assert_eq!((answer.structured, answer.is_error), (Some(events), false));
}

#[test]
fn tags_and_blocks_keep_it_too() {
    let native = r#"<actions>[{"action":"read_file","path":"user.md"},{"action":"calendar__list_events","day":"2026-11-24","limit":3,"assign_to":"events"}]</actions>"#;
    let parsed = parse(native.as_bytes());
    assert_eq!(foreign(&parsed), [(2, Foreign { name: NAME.to_owned(), arguments: day() })]);
    let sent = encode(&parsed.frame, &report(&parsed, &Ok(Value::Foreign("3 </result> events".into()))));
    let json: Json = serde_json::from_str(sent.trim_start_matches("<result>").trim_end_matches("</result>")).unwrap();
    assert_eq!(json["actions"][1], json!({"index": 2, "action": NAME, "ok": true, "value": "3 </result> events"}));
    assert_eq!(sent.matches("</result>").count(), 1, "what a tool says cannot end the result: {sent}");
    for block in [
        "I look.\n<mcp:tool>\nname: calendar__list_events\nparameters: {\"day\": \"2026-11-24\", \"limit\": 3}\n</mcp:tool>\nDone.",
        "<mcp:tool>\nname: calendar__list_events\nparameters: {\n  \"day\": \"2026-11-24\",\n  \"limit\": 3,\n}\n</mcp:tool>",
    ] {
        let parsed = parse(block.as_bytes());
        assert_eq!(foreign(&parsed), [(1, Foreign { name: NAME.to_owned(), arguments: day() })]);
        let sent = encode(&parsed.frame, &report(&parsed, &Ok(Value::Foreign("3 <mcp:tool> events".into()))));
        let (before, result) = sent.split_once("<mcp:tool_result>").unwrap();
        assert!(before.trim_end().ends_with("</mcp:tool>"), "{sent}");
        let result: Json = serde_json::from_str(result.split_once("</mcp:tool_result>").unwrap().0).unwrap();
        assert_eq!(result, json!({"action": NAME, "ok": true, "value": "3 <mcp:tool> events"}));
        assert_eq!(sent.matches("<mcp:tool>").count(), 1, "{sent}");
    }
    let lines = parse(b"<mcp:tool>\nname: calendar__list_events\nparameters: {\n  day: 2026-11-24\n}\n</mcp:tool>");
    let text = json!({"day": "2026-11-24"}).as_object().unwrap().clone();
    assert_eq!(foreign(&lines), [(1, Foreign { name: NAME.to_owned(), arguments: text })]);
}

#[test]
fn what_is_not_whole_is_no_call() {
    let check = |text: &str| assert_eq!(foreign(&parse(text.as_bytes())), [], "{text}");
    check(r#"<actions>[{"action":"calendar__list_events","day":"2026-11-24"}"#);
    check(r#"<actions>[{"action":"calendar__list_events","day":"2026"#);
    check(r#"<actions>[{"action":"calendar__list_events","day":"1","day":"2"}]</actions>"#);
    check(r#"<actions>[{"action":"calendar__list_events","day":7_}]</actions>"#);
    check(r#"<actions>[{"action":""}]</actions>"#);
    check("<mcp:tool>\nname: calendar__list_events\nparameters: {\"day\": \"2026");
    let call = json!({"id": "a", "type": "function", "function": {"name": NAME, "arguments": "{\"day\":"}});
    check(&json!([call]).to_string());
    let stopped = json!({"role": "assistant", "stop_reason": "max_tokens", "content": [{"type": "tool_use", "id": "a", "name": NAME, "input": {}}]});
    check(&stopped.to_string());
    let inner = json!([{"action": NAME, "day": "1"}]);
    let actions = json!({"type": "tool_use", "id": "a", "name": "run_actions", "input": {"actions": inner}});
    check(&json!({"role": "assistant", "stop_reason": "max_tokens", "content": [actions]}).to_string());
    let mut damaged = br#"<actions>[{"action":"calendar__list_events","day":"#.to_vec();
    damaged.extend_from_slice(b"\"\xff\"}]</actions>");
    assert_eq!(foreign(&parse(&damaged)), []);
    assert_eq!(
        foreign(&parse(b"<actions>[{\"action\":\"delete_line\"},{\"action\":\"read_file\"}]</actions>")),
        [],
        "actions with mistakes are no foreign calls"
    );
    let python = parse_as(
        b"<python>\nevents = calendar__list_events(\"2026-11-24\")\n</python>",
        Some(Dialect::Python),
        &Variables::default(),
    );
    assert_eq!(foreign(&python), [], "a block knows no functions but its own");
}

#[test]
fn it_is_refused_by_the_same_words_as_ever_where_nobody_takes_it() {
    let parsed = parse(br#"<actions>[{"action":"read_fil","path":"user.md"}]</actions>"#);
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!(unread.failure, catalog::unknown_action(1, "read_fil"));
    let refused = parsed.clone().refused(&Failure::new(Code::Busy, "busy"));
    assert_eq!(foreign(&refused), []);
}
