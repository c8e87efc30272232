//! Calls of tools of other servers: whatever follows the grammar is a call that the tool's own schema takes, as another program reads it.

use memdir_core::catalog::ROWS;
use memdir_dialect::{Entry, parse};
use memdir_model::grammar::{Callable, decision};
use serde_json::{Map, Value, json};

use super::{Both, Dice, mutated};

/// Definitions as servers send them: arguments of all kinds, references, nothing, and what no grammar says.
fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "required": ["timezone"], "properties": {
            "timezone": {"type": "string", "description": "IANA"}, "days": {"type": "integer"}}}),
        json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "boolean"}, "c<d": {"type": "null"}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
            "required": ["entities", "mode"], "properties": {
                "mode": {"enum": ["fast", "sl\"ow", 3, null]},
                "entities": {"type": "array", "items": {"$ref": "#/$defs/entity"}}},
            "$defs": {"entity": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
                "parent": {"anyOf": [{"$ref": "#/$defs/entity"}, {"type": "null"}]}}}}}),
        json!({"type": "object", "properties": {"any": {}, "free": {"type": "object"}, "both": {"type": ["string", "integer"]}}}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "properties": {"</actions>": {"const": "</actions>"}}, "required": ["</actions>"]}),
    ]
}

/// The arguments of the one call of a decision, which is read as it is meant; `None` where there is none.
#[track_caller]
fn called(decided: &str, name: &str) -> Option<Value> {
    let object: Map<String, Value> = serde_json::from_str(decided).unwrap_or_else(|error| panic!("{error}: {decided}"));
    let Some(calls) = object.get("actions") else {
        assert_eq!(object["action"], "final_answer");
        return None;
    };
    let turn =
        format!("<actions>{}</actions>", decided.strip_prefix(r#"{"actions":"#).unwrap().strip_suffix('}').unwrap());
    let parsed = parse(turn.as_bytes());
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    let Some(foreign) = &unread.foreign else {
        // No grammar keeps an object of free names from having one twice.
        assert!(unread.failure.message.contains("is given twice"), "{unread:?}");
        return None;
    };
    assert_eq!((foreign.name.as_str(), &foreign.arguments["name"]), ("call_tool", &json!(name)));
    assert_eq!(foreign.arguments["arguments"], calls[0]["arguments"]);
    Some(calls[0]["arguments"].clone())
}

#[test]
fn whatever_follows_the_grammar_is_a_call_that_the_tool_takes() {
    for (schema, number) in schemas().iter().zip(0..) {
        let oracle = jsonschema::validator_for(schema).unwrap();
        let callable = Callable::These(vec![("lab__do", schema)]);
        let sent = jsonschema::validator_for(&callable.schemas()[0]).unwrap();
        let both = Both::of(&decision(ROWS.iter().take(0), &callable, 1));
        let mut made = 0;
        for seed in 0..150 {
            let mut dice = Dice(seed * 31 + number);
            let decided = both.gbnf.make(&mut dice);
            assert!(both.takes(&decided), "{decided}");
            for decided in [mutated(&decided, &mut dice), decided] {
                if !both.takes(&decided) {
                    continue;
                }
                let Some(arguments) = called(&decided, "lab__do") else { continue };
                assert!(oracle.is_valid(&arguments), "{schema}\n{arguments}");
                let call = json!({"action": "call_tool", "name": "lab__do", "arguments": arguments});
                assert!(sent.is_valid(&call), "{}\n{call}", callable.schemas()[0]);
                made += 1;
            }
        }
        assert!(made > 20, "{schema}: {made}");
    }
}

#[test]
fn it_takes_calls_as_they_should_be_and_no_others() {
    let (first, second) = (&schemas()[0], &schemas()[3]);
    let both =
        Both::of(&decision(ROWS.iter().take(0), &Callable::These(vec![("time__at", first), ("a__b", second)]), 1));
    let call = |name: &str, arguments: &str| {
        format!(r#"{{"actions":[{{"action":"call_tool","name":"{name}","arguments":{arguments}}}]}}"#)
    };
    for arguments in [r#"{"timezone":"Europe/Paris"}"#, r#"{"timezone":"","days":-12}"#] {
        assert!(both.takes(&call("time__at", arguments)), "{arguments}");
    }
    for arguments in
        ["{}", r#"{"days":1}"#, r#"{"timezone":7}"#, r#"{"timezone":"x","days":1.5}"#, r#"{"timezone":"x","more":1}"#]
    {
        assert!(!both.takes(&call("time__at", arguments)), "{arguments}");
    }
    for arguments in ["{}", r#"{"any":[1,"x",null]}"#, r#"{"free":{"a":{"b":true}},"both":"x"}"#, r#"{"both":3}"#] {
        assert!(both.takes(&call("a__b", arguments)), "{arguments}");
    }
    let one = call("a__b", "{}");
    let two = one.replace("}]}", r#"},{"action":"call_tool","name":"a__b","arguments":{}}]}"#);
    assert!(both.takes(&one) && !both.takes(&two) && !both.takes(&call("c__d", "{}")));
    assert!(!both.takes(r#"{"actions":[{"action":"list_files"}]}"#));
}

#[test]
fn among_actions_any_tool_that_was_found_can_be_called() {
    let both = Both::of(&decision(ROWS.iter().take(3), &Callable::Any, 8));
    for seed in 0..150 {
        let decided = both.gbnf.make(&mut Dice(seed));
        assert!(both.takes(&decided), "{decided}");
        assert!(serde_json::from_str::<Map<String, Value>>(&decided).is_ok(), "{decided}");
    }
    for call in [
        r#"{"action":"call_tool","name":"lab__do","arguments":{"a":{"b":"c"},"d":[1,-2.5,null,true]}}"#,
        r#"{"action":"call_tool","cursor":"1:256"}"#,
    ] {
        assert!(both.takes(&format!(r#"{{"actions":[{call}]}}"#)), "{call}");
    }
    assert!(!both.takes(r#"{"actions":[{"action":"call_tool","name":"lab__do","arguments":7}]}"#));
}
