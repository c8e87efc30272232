use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::{Format, definitions};
use crate::action::Access;
use crate::catalog::{ACTION, Gives, LABEL, PERMISSION, ROWS, Row, decode};

const ALL: &[Format] = &[
    Format::OpenAi,
    Format::OpenAiStrict,
    Format::OpenAiResponses,
    Format::OpenAiResponsesStrict,
    Format::Anthropic,
    Format::Gemini,
    Format::Mcp,
];

/// The definitions in the order of the rows, each without what the shape of its provider wraps around it.
fn tools(format: Format, ask_first: bool) -> Vec<Map<String, Value>> {
    let all = definitions(format, ROWS.iter(), ask_first);
    let tools = if format == Format::Gemini { &all["tools"][0]["functionDeclarations"] } else { &all["tools"] };
    let tools = tools.as_array().unwrap().iter().map(|tool| match format {
        Format::OpenAi | Format::OpenAiStrict => {
            assert_eq!(tool["type"], "function");
            assert_eq!(tool.as_object().unwrap().len(), 2);
            tool["function"].as_object().unwrap().clone()
        }
        Format::OpenAiResponses | Format::OpenAiResponsesStrict | Format::Anthropic | Format::Gemini | Format::Mcp => {
            tool.as_object().unwrap().clone()
        }
    });
    tools.collect()
}

/// The schema of a definition as one of JSON Schema.
fn schema(format: Format, tool: &Map<String, Value>) -> Value {
    match format {
        Format::Anthropic => tool["input_schema"].clone(),
        Format::Mcp => tool["inputSchema"].clone(),
        Format::Gemini => lower_types(&tool["parameters"]),
        Format::OpenAi | Format::OpenAiStrict | Format::OpenAiResponses | Format::OpenAiResponsesStrict => {
            tool["parameters"].clone()
        }
    }
}

fn lower_types(schema: &Value) -> Value {
    let Some(map) = schema.as_object() else { return schema.clone() };
    let lower = |(key, value): (&String, &Value)| match value.as_str() {
        Some(text) if key == "type" => (key.clone(), json!(text.to_lowercase())),
        _ => (key.clone(), lower_types(value)),
    };
    Value::Object(map.iter().map(lower).collect())
}

fn validator(schema: &Value) -> Validator {
    assert!(jsonschema::meta::is_valid(schema), "{schema}");
    jsonschema::validator_for(schema).unwrap()
}

fn is_strict(format: Format) -> bool {
    matches!(format, Format::OpenAiStrict | Format::OpenAiResponsesStrict)
}

/// The example of a row as a model sends it in this format.
fn example(format: Format, row: &Row) -> Map<String, Value> {
    let mut call: Map<String, Value> = serde_json::from_str(row.example).unwrap();
    call.remove(ACTION);
    call.remove(LABEL);
    if is_strict(format) {
        let left_out = row.fields.iter().map(|field| field.name).filter(|name| !call.contains_key(*name));
        let mut nulls: Vec<&str> = left_out.collect();
        nulls.extend((row.access > Access::Read).then_some(PERMISSION));
        call.extend(nulls.into_iter().map(|name| (name.to_owned(), Value::Null)));
    }
    call
}

#[test]
fn every_format_has_every_row_with_its_words_and_a_name_that_all_take() {
    for &format in ALL {
        for ask_first in [false, true] {
            let tools = tools(format, ask_first);
            assert_eq!(tools.len(), ROWS.len());
            for (tool, row) in tools.iter().zip(ROWS) {
                assert_eq!(tool["name"], row.name);
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
                assert!((1..=64).contains(&row.name.len()) && row.name.bytes().all(is_plain), "{}", row.name);
                let words = tool["description"].as_str().unwrap();
                if format == Format::Mcp {
                    let (place, rest) = words.split_once(": ").unwrap();
                    assert_eq!(place, "In the user's long-term memory");
                    assert!(rest.to_lowercase().starts_with(&row.words.to_lowercase()), "{words}");
                } else {
                    assert!(words.starts_with(row.words), "{words}");
                }
                let says = format != Format::Mcp || !super::mcp::says_itself(row.gives);
                assert_eq!(words.contains(&format!(" Answers {}.", row.returns)), says, "{words}");
                assert_eq!(words.contains("Ask the user"), ask_first && row.access > Access::Read, "{words}");
            }
        }
    }
}

#[test]
fn each_example_is_valid_and_decodes() {
    for &format in ALL {
        for (tool, row) in tools(format, false).iter().zip(ROWS) {
            let call = example(format, row);
            let validator = validator(&schema(format, tool));
            assert!(validator.is_valid(&Value::Object(call.clone())), "{format:?} {call:?}");
            let mut arguments = call;
            arguments.remove(PERMISSION);
            decode(1, row.name, arguments).unwrap_or_else(|failure| panic!("{format:?} {}: {failure:?}", row.name));
        }
    }
}

#[test]
fn wrong_calls_are_not_valid() {
    for &format in ALL {
        for (tool, row) in tools(format, false).iter().zip(ROWS) {
            let call = example(format, row);
            let validator = validator(&schema(format, tool));
            let is_valid = |call: &Map<String, Value>| validator.is_valid(&Value::Object(call.clone()));
            for field in row.fields {
                let mut other = call.clone();
                other.insert(field.name.to_owned(), json!({"x": 1}));
                assert!(!is_valid(&other), "{format:?} {} takes an object for {}", row.name, field.name);
                other.remove(field.name);
                let must_be_there = field.required || is_strict(format);
                assert_eq!(is_valid(&other), !must_be_there, "{format:?} {} without {}", row.name, field.name);
                other.insert(field.name.to_owned(), Value::Null);
                assert_eq!(is_valid(&other), is_strict(format) && !field.required, "{} null", field.name);
            }
            // Gemini has no word for it, and to a client of MCP the answer says more.
            let mut more = call.clone();
            more.insert("colour".to_owned(), json!("red"));
            assert_eq!(is_valid(&more), matches!(format, Format::Gemini | Format::Mcp), "{format:?} {}", row.name);
        }
    }
}

/// All keywords of a schema, and all schemas in it.
fn walk<'s>(schema: &'s Value, schemas: &mut Vec<&'s Map<String, Value>>) {
    let map = schema.as_object().unwrap();
    schemas.push(map);
    if let Some(properties) = map.get("properties") {
        properties.as_object().unwrap().values().for_each(|property| walk(property, schemas));
    }
    if let Some(items) = map.get("items") {
        walk(items, schemas);
    }
}

#[track_caller]
fn keywords_are_among(format: Format, known: &[&str]) {
    for tool in tools(format, true) {
        let parameters = tool["parameters"].clone();
        let mut schemas = Vec::new();
        walk(&parameters, &mut schemas);
        for schema in schemas {
            for keyword in schema.keys() {
                assert!(known.contains(&keyword.as_str()), "{format:?} {} has {keyword}", tool["name"]);
            }
        }
    }
}

#[test]
fn strict_schemas_are_closed_and_have_no_bounds() {
    for format in [Format::OpenAiStrict, Format::OpenAiResponsesStrict] {
        keywords_are_among(
            format,
            &["type", "description", "properties", "required", "additionalProperties", "items", "enum"],
        );
        let all = definitions(format, ROWS.iter(), false);
        assert_eq!(all["parallel_tool_calls"], false);
        for tool in tools(format, false) {
            assert_eq!(tool["strict"], true);
            let parameters = &tool["parameters"];
            let names: Vec<_> = parameters["properties"].as_object().unwrap().keys().collect();
            assert_eq!(parameters["required"], json!(names));
            assert_eq!(parameters["additionalProperties"], false);
        }
    }
}

#[test]
fn the_subset_of_gemini_is_kept() {
    keywords_are_among(Format::Gemini, &["type", "description", "properties", "required", "items", "enum", "minimum"]);
    for tool in tools(Format::Gemini, false) {
        let parameters = &tool["parameters"];
        assert!(!parameters["properties"].as_object().unwrap().is_empty());
        assert!(parameters.get("required").is_none_or(|names| !names.as_array().unwrap().is_empty()));
        let text = parameters.to_string();
        for word in text.split("\"type\":\"").skip(1) {
            assert!(word.starts_with(|first: char| first.is_ascii_uppercase()), "{text}");
        }
    }
}

#[test]
fn responses_is_flat_and_says_whether_it_is_strict() {
    for (format, is_strict) in [(Format::OpenAiResponses, false), (Format::OpenAiResponsesStrict, true)] {
        for tool in tools(format, false) {
            assert_eq!((&tool["type"], &tool["strict"]), (&json!("function"), &json!(is_strict)));
            assert!(!tool.contains_key("function"));
        }
    }
}

#[track_caller]
fn hints(name: &str, read_only: bool, destructive: bool, idempotent: bool) {
    let tools = tools(Format::Mcp, false);
    let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
    let mut expected = json!({"readOnlyHint": read_only, "destructiveHint": destructive, "openWorldHint": false});
    if idempotent && !read_only {
        expected["idempotentHint"] = json!(true);
    }
    assert_eq!(tool["annotations"], expected, "{name}");
}

#[test]
fn clients_of_mcp_are_told_what_a_tool_may_do() {
    hints("read_file", true, false, true);
    hints("create_file", false, false, true);
    hints("append_file", false, false, false);
    hints("update_file", false, true, false);
    hints("set_fact", false, true, true);
    hints("delete_dir", false, true, true);
    hints("memory", false, true, false);
    for row in ROWS {
        assert_eq!(row.access == Access::Read, row.effect == crate::catalog::Effect::None, "{}", row.name);
        assert!(row.access != Access::Remove || row.effect == crate::catalog::Effect::Settles, "{}", row.name);
    }
}

#[test]
fn an_answer_to_a_client_of_mcp_has_a_schema_where_that_says_something() {
    for (tool, row) in tools(Format::Mcp, false).iter().zip(ROWS) {
        assert_eq!(tool.get("outputSchema").is_some(), row.gives == Gives::Paths, "{}", row.name);
        let Some(schema) = tool.get("outputSchema") else { continue };
        let validator = validator(schema);
        assert!(
            validator.is_valid(&json!({"error": {"code": "busy"}})) && !validator.is_valid(&json!({"value": null}))
        );
    }
}
