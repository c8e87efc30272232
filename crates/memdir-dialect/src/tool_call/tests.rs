use std::time::Instant;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::{Dialect, Entry, Frame, Parsed, encode, parse_as};
use memdir_core::catalog::{ROWS, row};
use memdir_core::report::{Code, Failure, Outcome, Report, Value, Variables};

fn parse(text: &str) -> Parsed {
    parse_as(text.as_bytes(), Some(Dialect::ToolCall), &Variables::default())
}

/// Writes a turn's calls, refusals, reply and issues as lines.
fn show(parsed: &Parsed) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, entry) in parsed.entries.iter().enumerate() {
        lines.push(match entry {
            Entry::Call(call) => {
                assert_eq!(call.index, place + 1);
                let mut line = serde_json::to_string(&call.action).unwrap();
                line += if call.claimed { " claimed" } else { "" };
                line
            }
            Entry::Unread(unread) => {
                assert_eq!(unread.index, place + 1);
                assert!(unread.failure.hint.is_some(), "{unread:?}");
                format!("! {}", unread.failure.message)
            }
        });
    }
    lines.extend(parsed.reply.iter().map(|reply| format!("reply {reply}")));
    lines.extend(parsed.issues.iter().map(|issue| format!("~ {} {:?}", issue.code, issue.index)));
    lines
}

#[track_caller]
fn check(turn: &Json, expected: &[&str]) {
    assert_eq!(show(&parse(&turn.to_string())), expected, "{turn}");
}

/// A report as an engine could make it: calls succeed with a text, all else fails.
fn report(parsed: &Parsed) -> Report {
    let outcome = |entry: &Entry| match entry {
        Entry::Call(call) => {
            let mut outcome = Outcome::failed(call, Failure::new(Code::Io, ""));
            outcome.result = Ok(Value::Text("<made up> \"\u{1}\u{2028}".to_owned()));
            outcome
        }
        Entry::Unread(unread) => Outcome {
            index: unread.index,
            action: unread.action.clone(),
            path: unread.path.clone(),
            result: Err(unread.failure.clone()),
            total: None,
            cursor: None,
            label: unread.label.clone(),
            shown: None,
        },
    };
    let actions = parsed.entries.iter().map(outcome).collect();
    Report { issues: parsed.issues.clone(), variables: Variables::default(), ..Report::of(actions) }
}

fn answer(parsed: &Parsed) -> Json {
    let answer = encode(&parsed.frame, &report(parsed));
    assert!(!answer.contains('\n'));
    serde_json::from_str(&answer).unwrap()
}

fn chat(name: &str, arguments: &Json) -> Json {
    json!([{"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}])
}

#[test]
fn arguments_come_as_text_or_object_and_are_strict() {
    let size = r#"{"action":"get_size"}"#;
    for none in [json!(""), json!("  \n"), json!("{}"), json!({}), json!(null), json!("null"), json!({"path": null})] {
        check(&chat("get_size", &none), &[size]);
    }
    let sized = r#"{"action":"get_size","path":"a.md"}"#;
    for one in [json!({"path": "a.md"}), json!("{\"path\":\"a.md\"}"), json!(" {\"path\": \"a.md\"}\n")] {
        check(&chat("get_size", &one), &[sized]);
    }
    let says = |message: &str| format!("! action 1, `create_file`: `arguments` {message}");
    for (arguments, message) in [
        (json!("{\"path\":\"a.md\",\"content\":\"x"), "is not JSON: EOF while parsing a string at line 1 column 27"),
        (json!("{\"path\":\"a.md\"\n\"content\":1}"), "is not JSON: expected `,` or `}` at line 2 column 1"),
        (json!("{'path': 'a.md'}"), "is not JSON: key must be a string at line 1 column 2"),
        (json!("{\"path\":\"a.md\",}"), "is not JSON: trailing comma at line 1 column 16"),
        (json!("{} {}"), "is not JSON: trailing characters at line 1 column 4"),
        (json!("[]"), "has to be an object"),
        (json!("\"{}\""), "has to be an object"),
        (json!(7), "has to be an object"),
        (json!("{\"path\":\"a.md\",\"path\":\"b.md\",\"content\":\"\"}"), "has `path` twice"),
    ] {
        check(&chat("create_file", &arguments), &[&says(message)]);
    }
}

#[test]
fn what_is_wrong_with_a_call_is_said_in_its_place() {
    let read = json!({"type": "tool_use", "id": "b", "name": "read_file", "input": {"path": "a.md"}});
    let wrong = |call: Json, message: &str| {
        check(&json!([call, read]), &[&format!("! {message}"), r#"{"action":"read_file","path":"a.md"}"#]);
    };
    let call = |name: &str, input: Json| json!({"type": "tool_use", "id": "a", "name": name, "input": input});
    wrong(json!({"type": "tool_use", "id": "a", "input": {}}), "action 1: it names no tool");
    wrong(call("", json!({})), "action 1: it names no tool");
    wrong(call("read_fiel", json!({"path": "a.md"})), "action 1: unknown action `read_fiel`");
    wrong(call("read_file", json!({"path": "../a.md"})), "path `../a.md` climbs out");
    wrong(call("read_file", json!({})), "action 1, `read_file`: missing `path`");
    let label = json!({"path": "a.md", "assign_to": "x"});
    wrong(call("read_file", label), "action 1, `read_file`: `assign_to` is no argument of a tool");
    let action = json!({"path": "a.md", "action": "delete_file"});
    wrong(call("read_file", action), "action 1, `read_file`: `action` is no argument of a tool");
    let flag = json!({"path": "a.md", "content": "", "has_explicit_permission": "yes"});
    wrong(
        call("create_file", flag),
        "action 1, `create_file`: `has_explicit_permission` has to be `true` or `false`, not a text",
    );
    let function = json!({"id": "a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}});
    check(
        &json!([read, function]),
        &[
            r#"{"action":"read_file","path":"a.md"}"#,
            "! action 2, `read_file`: a call of OpenAI Chat Completions in a turn of Anthropic Messages",
        ],
    );
    let custom = json!({"type": "custom", "id": "a", "custom": {"name": "shell", "input": "ls"}});
    check(&json!([custom]), &["! action 1, `shell`: a custom tool with free text is none of memdir's"]);
    check(&json!({"tool_calls": [7]}), &["! action 1: it has no function", "~ missing_id Some(1)"]);
    let text = r#"[{"type":"tool_use","id":"a","name":"read_file","name":"delete_file","input":{"path":"a.md"}}]"#;
    assert_eq!(show(&parse(text)), ["! action 1, `read_file`: `name` is given twice"]);
    let text = r#"{"tool_calls":[],"tool_calls":[{"id":"a","function":{"name":"get_size","arguments":""}}]}"#;
    assert_eq!(show(&parse(text)), ["! `tool_calls` is given twice"]);
}

#[test]
fn the_flag_of_permission_is_an_argument_of_what_writes() {
    let arguments = json!({"path": "a.md", "content": "x", "has_explicit_permission": true});
    check(&chat("create_file", &arguments), &[r#"{"action":"create_file","path":"a.md","content":"x"} claimed"#]);
    let arguments = json!({"path": "a.md", "has_explicit_permission": true});
    let read = r#"{"action":"read_file","path":"a.md"}"#;
    check(&chat("read_file", &arguments), &[read, "~ ignored_permission Some(1)"]);
    let arguments = json!({"command": "delete", "path": "/memories/a.md", "has_explicit_permission": true});
    check(&chat("memory", &arguments), &[r#"{"action":"delete_file","path":"a.md"} claimed"#]);
}

#[test]
fn ids_are_repeated_and_made_only_where_they_are_needed() {
    let call = |id: Json| json!({"id": id, "function": {"name": "get_size", "arguments": ""}});
    let turn = json!([call(json!("call_2")), call(json!("")), call(json!("x")), call(json!("x")), call(json!(5))]);
    let parsed = parse(&turn.to_string());
    let issues: Vec<_> = parsed.issues.iter().map(|issue| (issue.code, issue.index)).collect();
    assert_eq!(issues, [("repeated_id", Some(4)), ("missing_id", Some(2)), ("missing_id", Some(5))]);
    let answered = answer(&parsed);
    let ids: Vec<_> = answered.as_array().unwrap().iter().map(|result| &result["tool_call_id"]).collect();
    assert_eq!(ids, ["call_2", "call_2_", "x", "x", "call_5"]);
    check(&json!([{"functionCall": {"name": "get_size"}}]), &[r#"{"action":"get_size"}"#]);
    let item = json!({"type": "function_call", "id": "fc_1", "name": "get_size", "arguments": "{}"});
    let parsed = parse(&item.to_string());
    assert_eq!(answer(&parsed)[0]["call_id"], "fc_1");
}

#[test]
fn a_turn_without_calls_is_a_reply() {
    let text = json!({"type": "text", "text": "One."});
    let output = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]});
    let turns = [
        (
            json!({"choices": [{"message": {"role": "assistant", "content": "One."}, "finish_reason": "stop"}]}),
            json!([]),
        ),
        (json!({"role": "assistant", "content": "One."}), json!([])),
        (json!({"role": "assistant", "content": [text, {"type": "thinking", "thinking": "hm"}]}), Json::Null),
        (json!([text]), Json::Null),
        (json!({"output": [{"type": "reasoning"}, output], "status": "completed"}), json!([])),
        (output, json!([])),
        (json!({"candidates": [{"content": {"parts": [{"text": "On"}, {"text": "e."}]}}]}), Json::Null),
    ];
    for (turn, answered) in turns {
        let parsed = parse(&turn.to_string());
        assert_eq!((show(&parsed), answer(&parsed)), (vec!["reply One.".to_owned()], answered), "{turn}");
    }
    for other in [
        json!({"role": "user", "content": "hello"}),
        json!({"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "get_size", "input": {}}]}),
        json!({"role": "assistant", "content": ""}),
        json!([{"action": "get_size", "text": "x"}]),
        json!({"actions": [], "content": [{"type": "text", "text": "x"}]}),
        json!([]),
        json!({}),
        json!([1, "a", null]),
        json!("text"),
    ] {
        assert!(parse(&other.to_string()).is_empty(), "{other}");
    }
}

#[test]
fn what_is_no_whole_turn_by_itself() {
    let message = |path: &str| json!({"message": {"tool_calls": [{"id": "a", "function": {"name": "get_size", "arguments": {"path": path}}}]}});
    let turn = json!({"choices": [message("a.md"), message("b.md")]});
    check(&turn, &[r#"{"action":"get_size","path":"a.md"}"#, "~ other_answers None"]);
    let item = json!({"type": "function_call", "call_id": "a", "name": "get_size", "arguments": ""});
    let made = "! it holds results of calls, so some of its calls were made before";
    check(&json!([item, {"type": "function_call_output", "call_id": "a", "output": "0"}]), &[made]);
    check(&json!([{"functionCall": {"name": "get_size"}}, {"functionResponse": {"name": "get_size"}}]), &[made]);
    check(&json!({"choices": [{"delta": {"tool_calls": []}}]}), &["! this is a piece of a stream"]);
}

#[test]
fn damaged_text_is_not_written() {
    let text = b"[{\"id\":\"a\",\"function\":{\"name\":\"create_file\",\"arguments\":{\"path\":\"a.md\",\"content\":\"\xff\"}}},
        {\"id\":\"b\",\"function\":{\"name\":\"memory\",\"arguments\":{\"command\":\"create\",\"path\":\"/memories/a\",\"file_text\":\"\xff\"}}}]";
    let parsed = parse_as(text, None, &Variables::default());
    assert_eq!(
        show(&parsed),
        [
            "! action 1, `create_file`: its text was damaged on the way: it holds bytes that are no UTF-8",
            "! action 2, `memory`: its text was damaged on the way: it holds bytes that are no UTF-8",
            "~ invalid_utf8 None",
        ]
    );
}

#[test]
fn every_action_can_be_called_in_every_shape() {
    for row in ROWS {
        let example = row.example.replace("example", "sample").replace("An example.", "A sample.");
        let mut arguments: serde_json::Map<String, Json> = serde_json::from_str(&example).unwrap();
        arguments.remove("action");
        arguments.remove("assign_to");
        let name = row.name;
        let turns = [
            chat(name, &json!(Json::Object(arguments.clone()).to_string())),
            json!({"type": "function_call", "call_id": "a", "name": name, "arguments": Json::Object(arguments.clone()).to_string()}),
            json!({"type": "tool_use", "id": "a", "name": name, "input": arguments}),
            json!({"functionCall": {"name": name, "args": arguments}}),
            json!({"type": "tool_use", "id": "a", "name": "run_actions", "input": {"actions": [serde_json::from_str::<Json>(&example).unwrap()]}}),
        ];
        for turn in turns {
            let parsed = parse(&turn.to_string());
            let [Entry::Call(call)] = parsed.entries.as_slice() else { panic!("{turn}: {parsed:?}") };
            assert_eq!(call.action.name(), name);
        }
    }
}

#[test]
fn large_and_deep_json_costs_linear_time() {
    let many = |count: usize| vec![json!({"id": "a", "function": {"name": "get_size", "arguments": ""}}); count];
    let started = Instant::now();
    let parsed = parse(&json!(many(10_000)).to_string());
    assert_eq!((parsed.entries.len(), answer(&parsed).as_array().unwrap().len()), (10_000, 10_000));
    let parsed = parse(&json!(many(100_000)).to_string());
    assert_eq!(show(&parsed)[0], "! the turn holds more than 10000 calls");
    assert_eq!(answer(&parsed).as_array().unwrap().len(), 100_000, "each call is answered");
    let list = vec![json!({"action": "get_size"}); 100_000];
    let parsed = parse(&chat("run_actions", &json!({"actions": list})).to_string());
    assert_eq!(parsed.entries.len(), 1);
    let missing = vec![json!({"function": {"name": "get_size"}, "type": "function"}); 9_000];
    assert_eq!(parse(&json!(missing).to_string()).issues.len(), 9_000);
    let keys: String = (0..100_000).map(|key| format!("\"k{key}\":0,")).collect();
    let text = format!("[{{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"get_size\",\"input\":{{{keys}\"k0\":1}}}}]");
    assert_eq!(show(&parse(&text)), ["! action 1, `get_size`: `input` has `k0` twice"]);
    for deep in
        ["[".repeat(100_000), "{\"tool_calls\":".repeat(100_000), format!("{{\"tool_calls\":{}", "[".repeat(1_000_000))]
    {
        assert!(parse(&deep).entries.len() <= 1);
        let text = chat("get_size", &json!(deep)).to_string();
        assert!(show(&parse(&text))[0].starts_with("! action 1, `get_size`: `arguments` is not JSON: "));
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

const WORDS: &str = "tool_use function function_call text message assistant model memory run_actions get_size read_file \
    create_file view delete rename /memories /memories/a.md /memories/../x a.md {} {\"path\":\"a.md\"} max_tokens \
    {\"command\":\"view\",\"path\":\"/memories\"}";
const KEYS: &str = "choices message tool_calls id type function name arguments output call_id status content role input \
    stop_reason candidates parts functionCall args text thought path command operation actions atomic action view_range \
    old_path new_path file_text delta";

/// JSON that has much to do with calls.
fn anything() -> impl Strategy<Value = Json> {
    let words: Vec<&str> = WORDS.split(' ').filter(|word| !word.is_empty()).collect();
    let keys: Vec<&str> = KEYS.split(' ').filter(|word| !word.is_empty()).collect();
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3i64..9).prop_map(Json::from),
        prop::sample::select(words).prop_map(Json::from),
        ".{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        let key = prop::sample::select(keys.clone());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Json>()),
        ]
    })
}

#[test]
fn a_block_in_what_is_said_is_told_of() {
    let actions = r#"<actions>[{"action":"get_size"}]</actions>"#;
    let turn = json!({"choices": [{"message": {"role": "assistant", "content": actions}, "finish_reason": "stop"}]});
    let parsed = parse(&turn.to_string());
    assert!(parsed.entries.is_empty());
    assert_eq!(parsed.issues.iter().map(|issue| issue.code).collect::<Vec<_>>(), ["other_dialect"]);
    for plain in ["a < b", "<b>bold</b>", "</actions>", "<reply>hi</reply>"] {
        let turn = json!({"role": "assistant", "content": plain, "tool_calls": []});
        assert_eq!(parse(&turn.to_string()).issues, []);
    }
}

#[test]
fn a_whole_number_may_be_written_as_a_float() {
    let turn = r#"{"functionCall":{"name":"insert_text","args":{"path":"a.md","line":2.0,"content":"x"}}}"#;
    assert_eq!(show(&parse(turn)), [r#"{"action":"insert_text","path":"a.md","line":2,"content":"x"}"#]);
    for number in ["1.5", "1e300", "-1.0"] {
        let turn = turn.replace("2.0", number);
        assert!(show(&parse(&turn))[0].starts_with("! action 1, `insert_text`: `line` has to be a whole number"));
    }
    // Also where the JSON was read before, as over MCP.
    let arguments = json!({"path": "a.md", "line": 2.0, "content": "x"});
    let one = crate::parse_tool_call("insert_text", arguments.as_object().cloned().unwrap());
    assert_eq!(show(&one), show(&parse(turn)));
    let command = r#"{"command":"view","path":"/memories/a.md","view_range":[1.0,-1.0]}"#;
    let parsed = parse_as(command.as_bytes(), None, &Variables::default());
    assert!(matches!(parsed.entries.as_slice(), [Entry::Call(_)]), "{parsed:?}");
}

#[test]
fn the_hint_of_a_tool_is_a_call_that_is_taken() {
    let hint = |name: &str, arguments: &Json| {
        let parsed = parse(&json!([{"type": "tool_use", "id": "a", "name": name, "input": arguments}]).to_string());
        let Some(Entry::Unread(unread)) = parsed.entries.first() else { panic!("{parsed:?}") };
        unread.failure.hint.clone().unwrap()
    };
    assert_eq!(hint("read_file", &json!({})), r#"send for example {"path":"user.md"}"#);
    // Nothing in a hint is what a tool refuses.
    for row in memdir_core::catalog::ROWS.iter().filter(|row| row.fields.iter().any(|field| field.required)) {
        let hint = hint(row.name, &json!({}));
        let example: Json = serde_json::from_str(hint.strip_prefix("send for example ").unwrap()).unwrap();
        let turn = json!([{"type": "tool_use", "id": "a", "name": row.name, "input": example}]).to_string();
        let refused = parse(&turn).entries.iter().find_map(|entry| {
            if let Entry::Unread(unread) = entry { Some(unread.failure.message.clone()) } else { None }
        });
        assert!(refused.is_none_or(|message| message.contains("the example of the prompt")), "{turn}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_read_and_answered_in_json(turn in anything(), end in 0usize..400) {
        let whole = turn.to_string();
        let cut: String = whole.chars().take(end).collect();
        for text in [&whole, &cut] {
            for dialect in [None, Some(Dialect::ToolCall), Some(Dialect::MemoryTool)] {
                let parsed = parse_as(text.as_bytes(), dialect, &Variables::default());
                prop_assert_eq!(&parsed, &parse_as(text.as_bytes(), dialect, &Variables::default()));
                for (place, entry) in parsed.entries.iter().enumerate() {
                    if let Entry::Call(call) = entry {
                        prop_assert_eq!(call.index, place + 1);
                        prop_assert!(row(call.action.name()).is_some());
                    }
                }
                let text = encode(&parsed.frame, &report(&parsed));
                if matches!(parsed.frame, Frame::ToolCall(_)) {
                    prop_assert!(serde_json::from_str::<Json>(&text).is_ok(), "{}", text);
                }
                let failed = Report { actions: Vec::new(), error: Some(Failure::new(Code::NoActions, "x")), ..report(&parsed) };
                prop_assert!(parsed.is_empty() || !encode(&parsed.frame, &failed).is_empty());
            }
        }
    }
}
