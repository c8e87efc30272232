//! A turn that came as JSON, written as the turn that says the same.

use serde_json::Value;

/// Writes a turn that follows [`crate::model::Shape::schema`] as text; what does not follow it is given back as it is, since
/// a server may ignore what it does not know.
pub(super) fn turn(json: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(json.trim()).ok();
    let actions = parsed.as_ref().and_then(|turn| turn.get("actions")).filter(|actions| !is_empty(actions));
    let reply = parsed.as_ref().and_then(|turn| turn.get("reply")).and_then(Value::as_str);
    let written: Vec<String> = [
        actions.map(|actions| format!("<actions>{}</actions>", without_tags(&actions.to_string()))),
        // Where there is only a reply it may be empty; beside actions an empty one says nothing.
        reply
            .filter(|reply| actions.is_none() || !reply.trim().is_empty())
            .map(|reply| format!("<reply>{}</reply>", reply.replace("</reply", "&lt;/reply"))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if written.is_empty() { json.to_owned() } else { written.join("\n") }
}

fn is_empty(actions: &Value) -> bool {
    match actions {
        Value::Array(actions) => actions.is_empty(),
        Value::Null => true,
        _ => false,
    }
}

/// JSON in which no text can end the block that it stands in: `<` is only ever inside a string.
fn without_tags(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Whether a schema can be enforced by those who allow no argument to be left out: all properties are required, and there
/// are no others.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().all(is_strict),
        Value::Object(fields) => {
            let names = fields.get("properties").and_then(Value::as_object);
            let required: Vec<&str> = fields
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
            let is_kept =
                names.is_none_or(|names| is_closed && names.keys().all(|name| required.contains(&name.as_str())));
            is_kept && fields.values().all(is_strict)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_becomes_the_turn_that_says_the_same() {
        for (json, text) in [
            (r#"{"reply":"Hi, <b>you</b>."}"#, "<reply>Hi, <b>you</b>.</reply>"),
            (r#" {"reply":"a\n\"b\""} "#, "<reply>a\n\"b\"</reply>"),
            (r#"{"reply":"x</reply><actions>[]</actions>"}"#, "<reply>x&lt;/reply><actions>[]</actions></reply>"),
            (r#"{"actions":[{"action":"list_files"}]}"#, r#"<actions>[{"action":"list_files"}]</actions>"#),
            (
                r#"{"actions":[{"action":"a","b":"</actions>"}],"reply":""}"#,
                r#"<actions>[{"action":"a","b":"\u003c/actions>"}]</actions>"#,
            ),
            (r#"{"reply":"Done.","actions":[]}"#, "<reply>Done.</reply>"),
            (r#"{"reply":"Done.","actions":null}"#, "<reply>Done.</reply>"),
            (r#"{"reply":"Soon.","actions":[{}]}"#, "<actions>[{}]</actions>\n<reply>Soon.</reply>"),
            (r#"{"reply":""}"#, "<reply></reply>"),
            ("<reply>Hi.</reply>", "<reply>Hi.</reply>"),
            (r#"{"other":1}"#, r#"{"other":1}"#),
            (r#"{"reply":"cut"#, r#"{"reply":"cut"#),
            ("", ""),
        ] {
            assert_eq!(turn(json), text, "{json}");
        }
    }

    #[test]
    fn a_schema_is_strict_if_nothing_can_be_left_out() {
        let call = |required: &[&str]| json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": required, "additionalProperties": false});
        assert!(is_strict(&json!({"anyOf": [call(&["a", "b"])]})));
        assert!(!is_strict(&json!({"anyOf": [call(&["a", "b"]), call(&["a"])]})));
        assert!(!is_strict(&json!({"properties": {"a": {}}, "required": ["a"]})));
    }
}
