//! Pins: by which it is seen that a tool is still what was approved.

use serde::Serialize;
use serde_json::{Map, Value};

use memdir_core::digest::Digest;

/// Whether a tool is what the person approved.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PinState {
    /// Its definition is the approved one.
    Approved,
    /// Its definition is another than was approved.
    Changed,
    /// Its server had no tool of this name when its tools were approved.
    New,
}

/// What of a tool's definition is pinned: all that a model or a program goes by.
const PINNED: &[&str] = &["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// The digest of a tool's definition: of those members that a model or a program goes by, in canonical JSON (RFC 8785's order
/// of keys; numbers as they are written).
#[must_use]
pub fn digest_of(definition: &Map<String, Value>) -> Digest {
    let pinned = definition.iter().filter(|(key, _)| PINNED.contains(&key.as_str()));
    let mut text = String::new();
    write_object(pinned.collect(), &mut text);
    Digest::of(text.as_bytes())
}

fn write_object(mut members: Vec<(&String, &Value)>, text: &mut String) {
    // By UTF-16 code units, as RFC 8785 orders them.
    members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    text.push('{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(key.as_str()).to_string());
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => write_object(members.iter().collect(), text),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}
