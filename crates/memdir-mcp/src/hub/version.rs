//! What other servers send, in the version of the protocol that a client speaks: unchanged, but for what that version does not know.

use rmcp::model::ProtocolVersion;
use serde_json::{Map, Value, json};

use memdir_tools::Tool;

/// Where a result says what kind of result it is.
const RESULT_TYPE: &str = "resultType";
const STRUCTURED: &str = "structuredContent";
const OUTPUT_SCHEMA: &str = "outputSchema";

/// The definition of a tool, under the name by which it is offered.
pub(super) fn definition(tool: &Tool, is_newest: bool) -> Map<String, Value> {
    let mut definition = tool.definition.clone();
    definition.insert("name".to_owned(), json!(tool.name));
    let gives_object =
        definition.get(OUTPUT_SCHEMA).and_then(|schema| schema.get("type")).is_some_and(|kind| kind == "object");
    if !is_newest && !gives_object {
        definition.shift_remove(OUTPUT_SCHEMA);
    }
    definition
}

/// The result of a call, for a client of this version; of the oldest where it is not known.
pub(super) fn result(mut result: Map<String, Value>, version: Option<&ProtocolVersion>) -> Map<String, Value> {
    let is_since = |since: &ProtocolVersion| version.is_some_and(|version| version >= since);
    result.entry("content").or_insert_with(|| json!([]));
    if is_since(&ProtocolVersion::V_2026_07_28) {
        result.entry(RESULT_TYPE).or_insert_with(|| json!("complete"));
        return result;
    }
    result.shift_remove(RESULT_TYPE);
    let knows_objects = is_since(&ProtocolVersion::V_2025_06_18);
    if result.get(STRUCTURED).is_some_and(|structured| !knows_objects || !structured.is_object())
        && let Some(structured) = result.shift_remove(STRUCTURED)
    {
        say(&mut result, &structured);
    }
    if !knows_objects {
        blocks(&mut result).into_iter().flatten().for_each(link_as_text);
    }
    result
}

fn blocks(result: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    result.get_mut("content").and_then(Value::as_array_mut)
}

/// Says as a text what was structured, unless a text says it already.
fn say(result: &mut Map<String, Value>, structured: &Value) {
    let Some(blocks) = blocks(result) else { return };
    let says_it = |block: &Value| {
        let text = block.get("text").and_then(Value::as_str);
        text.is_some_and(|text| serde_json::from_str::<Value>(text).is_ok_and(|said| said == *structured))
    };
    if !blocks.iter().any(says_it) {
        blocks.insert(0, json!({"type": "text", "text": structured.to_string()}));
    }
}

/// Says a link to a resource as a text: the oldest version has none.
fn link_as_text(block: &mut Value) {
    if block.get("type").is_some_and(|kind| kind == "resource_link") {
        let said = ["name", "uri"].iter().filter_map(|key| block.get(key)?.as_str()).collect::<Vec<_>>().join(" ");
        *block = json!({"type": "text", "text": said});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sent: &Value, version: ProtocolVersion) -> Value {
        Value::Object(result(sent.as_object().unwrap().clone(), Some(&version)))
    }

    #[test]
    fn each_version_gets_what_it_knows() {
        let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a", "x": 1});
        let sent =
            json!({"resultType": "complete", "content": [link], "structuredContent": {"a": 1}, "z": {"y": [1.5]}});
        assert_eq!(of(&sent, ProtocolVersion::V_2026_07_28), sent);
        let kept = json!({"content": [link], "structuredContent": {"a": 1}, "z": {"y": [1.5]}});
        assert_eq!(of(&sent, ProtocolVersion::V_2025_11_25), kept);
        assert_eq!(of(&sent, ProtocolVersion::V_2025_06_18), kept);
        let (structured, link) =
            (json!({"type": "text", "text": "{\"a\":1}"}), json!({"type": "text", "text": "a file:///a"}));
        assert_eq!(of(&sent, ProtocolVersion::V_2025_03_26), json!({"content": [structured, link], "z": {"y": [1.5]}}));
    }

    #[test]
    fn what_is_no_object_is_structured_only_in_the_newest() {
        let sent = json!({"content": [{"type": "text", "text": "[1, 2]"}], "structuredContent": [1, 2]});
        assert_eq!(of(&sent, ProtocolVersion::V_2026_07_28)["structuredContent"], json!([1, 2]));
        assert_eq!(of(&sent, ProtocolVersion::V_2025_11_25), json!({"content": [{"type": "text", "text": "[1, 2]"}]}));
        let bare = json!({"structuredContent": null});
        assert_eq!(of(&bare, ProtocolVersion::V_2025_11_25), json!({"content": [{"type": "text", "text": "null"}]}));
    }
}
