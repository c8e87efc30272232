//! A turn that came as JSON, written as the turn that says the same.

use serde_json::Value;

/// What ends a reply, but for its last character.
pub(super) const CLOSING: &str = "</reply";

/// Writes a turn that follows [`memdir_model::Shape::schema`] as text, its parts in their order; what does not follow it is
/// given back as it is, since a server may ignore what it does not know.
pub(super) fn turn(json: &str) -> String {
    let Ok(Value::Object(parts)) = serde_json::from_str(unfenced(json)) else { return json.to_owned() };
    let has_actions = parts.get("actions").is_some_and(|actions| !is_empty(actions));
    let written: Vec<String> = parts
        .iter()
        .filter_map(|(name, part)| match name.as_str() {
            "actions" if has_actions => Some(format!("<actions>{}</actions>", without_tags(&part.to_string()))),
            // The steps of a small model, a line each.
            "steps" => {
                let steps: Vec<&str> = part.as_array()?.iter().filter_map(Value::as_str).collect();
                (!steps.is_empty()).then(|| steps.join("\n"))
            }
            // What a small model takes a sentence for.
            "kind" => Some(part.as_str()?.to_owned()),
            "reply" if parts.contains_key("steps") => Some(format!("say {}", part.as_str()?)),
            // Where there is only a reply it may be empty; beside actions an empty one says nothing.
            "reply" => {
                let reply = part.as_str().filter(|reply| !has_actions || !reply.trim().is_empty())?;
                Some(format!("<reply>{}</reply>", escaped(reply)))
            }
            _ => None,
        })
        .collect();
    if written.is_empty() { json.to_owned() } else { written.join("\n") }
}

/// What stands in a block of code; models that are only asked for JSON like to write one.
fn unfenced(json: &str) -> &str {
    let json = json.trim();
    let inside = json.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inside.map_or(json, |inside| inside.strip_prefix("json").unwrap_or(inside))
}

/// A reply in which nothing ends it.
pub(super) fn escaped(reply: &str) -> String {
    reply.replace(CLOSING, "&lt;/reply")
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
            (r#"{"reply":"Soon.","actions":[{}]}"#, "<reply>Soon.</reply>\n<actions>[{}]</actions>"),
            (r#"{"actions":[{}],"reply":"Soon."}"#, "<actions>[{}]</actions>\n<reply>Soon.</reply>"),
            (r#"{"reply":""}"#, "<reply></reply>"),
            ("```json\n{\"reply\":\"Hi.\"}\n```\n", "<reply>Hi.</reply>"),
            ("<reply>Hi.</reply>", "<reply>Hi.</reply>"),
            (r#"{"kind":"tell"}"#, "tell"),
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
