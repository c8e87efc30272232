//! A conversation as a program keeps it: lines of JSON, of which what a person and a model said is taken, whole.

use memdir_core::json::without_halves;
use serde_json::Value;

/// Something that was said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Said {
    pub(super) by_user: bool,
    pub(super) text: String,
    /// When, if the line says so, as it is written there.
    pub(super) time: Option<String>,
}

/// Reads a conversation. Lines that are no JSON, and those of tools and of the program itself, say nothing.
///
/// Each of the programs has a form of its own: who speaks is named by `role` or the beginning of `type`, beside the text or
/// above it, and a text is whole or in pieces.
pub(super) fn read(text: &str) -> Vec<Said> {
    text.lines().filter_map(said).collect()
}

fn said(line: &str) -> Option<Said> {
    let line: Value = serde_json::from_slice(&without_halves(line.as_bytes())).ok()?;
    let is_program = |key: &str| line.get(key).and_then(Value::as_bool) == Some(true);
    // Claude Code marks so what it adds itself, and what an agent below was told.
    if is_program("isMeta") || is_program("isSidechain") {
        return None;
    }
    let inner = ["message", "payload", "data"].iter().find_map(|key| line.get(*key).filter(|inner| inner.is_object()));
    let levels = [inner, Some(&line)];
    let find = |key: &str| levels.iter().flatten().find_map(|level| level.get(key));
    let role = find("role").and_then(Value::as_str).or_else(|| {
        let kind = line.get("type")?.as_str()?;
        kind.strip_suffix(".message").or(Some(kind))
    })?;
    let by_user = match role {
        "user" => true,
        "assistant" => false,
        _ => return None,
    };
    let text = whole(find("content")?);
    let time = line.get("timestamp").and_then(Value::as_str).map(str::to_owned);
    (!text.trim().is_empty()).then_some(Said { by_user, text, time })
}

/// A text, or the pieces of one that are text.
fn whole(content: &Value) -> String {
    let piece = |piece: &Value| {
        let is_text = piece.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("text"));
        piece.get("text").and_then(Value::as_str).filter(|_| is_text).map(str::to_owned)
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces.iter().filter_map(piece).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(bool, &str)>) {
        let found = said(line);
        assert_eq!(found.as_ref().map(|said| (said.by_user, said.text.as_str())), expected, "{line}");
    }

    #[test]
    fn the_lines_of_every_program() {
        // Claude Code.
        check(
            r#"{"type":"user","message":{"role":"user","content":"Hello"},"timestamp":"2026-11-24T09:00:00.000Z"}"#,
            Some((true, "Hello")),
        );
        check(
            r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"Hi"},{"type":"tool_use","input":{}}]}}"#,
            Some((false, "Hi")),
        );
        check(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"ls"}]}}"#, None);
        check(r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat"}}"#, None);
        check(r#"{"role":"user","content":"cut \ud83d"}"#, Some((true, "cut \u{fffd}")));
        // Codex.
        check(
            r#"{"timestamp":"…","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}"#,
            Some((true, "Hello")),
        );
        check(
            r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}"#,
            Some((false, "Hi")),
        );
        check(r#"{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}"#, None);
        check(r#"{"type":"event_msg","payload":{"type":"user_message","message":"Hello"}}"#, None);
        check(r#"{"type":"response_item","payload":{"type":"message","role":"developer","content":[]}}"#, None);
        // Cursor.
        check(r#"{"role":"user","message":{"content":[{"type":"text","text":"Hello"}]}}"#, Some((true, "Hello")));
        // Copilot CLI.
        check(r#"{"type":"user.message","data":{"content":"Hello"},"timestamp":"…"}"#, Some((true, "Hello")));
        check(r#"{"type":"assistant.message","data":{"content":"Hi"}}"#, Some((false, "Hi")));
        check(r#"{"type":"tool.execution_start","data":{"toolName":"bash"}}"#, None);
        for other in ["", "no JSON", "[]", "7", r#"{"type":"user"}"#, r#"{"role":"user","content":" "}"#] {
            check(other, None);
        }
    }
}
