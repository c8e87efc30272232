//! Values as Python's `repr` writes them.

use memdir_core::report::Value;

/// Writes a value.
pub(super) fn value(out: &mut String, value: &Value) {
    match value {
        Value::Text(text) => quote(out, text),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Bytes(bytes) => out.push_str(&bytes.to_string()),
        Value::Nothing => out.push_str("None"),
        // No block sets any of these.
        Value::Paths(_)
        | Value::Directory(_)
        | Value::File(_)
        | Value::History(_)
        | Value::Search(_)
        | Value::Context(_)
        | Value::Links(_)
        | Value::Entries(_)
        | Value::Remembered(_)
        | Value::Recent(_)
        | Value::Foreign(_)
        | Value::Config(_) => quote(out, &serde_json::to_string(value).unwrap_or_default()),
    }
}

/// Writes a text in single quotes, or in double ones where that saves escapes.
pub(super) fn quote(out: &mut String, text: &str) {
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(mark);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if character == mark => out.extend(['\\', character]),
            _ if is_printable(character) => out.push(character),
            _ => match u32::from(character) {
                code @ ..=0xFF => out.push_str(&format!("\\x{code:02x}")),
                code @ ..=0xFFFF => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push(mark);
}

/// Whether Python shows a character as it is.
///
/// Rust escapes the same categories of Unicode for debugging, and besides those characters that join what stands before
/// them, but only at the start of a text.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    let mut bytes = [b'a'; 5];
    let length = bytes.get_mut(1..).map_or(0, |rest| character.encode_utf8(rest).len());
    let text = bytes.get(..=length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    text.escape_debug().nth(2).is_none()
}
