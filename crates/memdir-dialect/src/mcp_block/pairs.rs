//! Parameters as `key: value` lines, which models write that take the JSON for YAML.
//!
//! Owns what a value may be without quotes: all that stands in its line. What could be a part of the text as well as a
//! mark around it, such as a comma or a brace at its end, is refused.

use serde_json::{Map, Value};

use crate::json::{Defect, Reader, Stop, line_end};
use crate::repair::Repair;
use crate::tag::{Kind, tag_at};
use memdir_core::catalog::{Field, PERMISSION, Row, Takes};

/// Whether lines without quotes stand where the reader is, perhaps in braces, rather than JSON.
pub(super) fn stand_here(text: &str, reader: &Reader<'_>) -> bool {
    let rest = reader.rest();
    let has_braces = rest.starts_with('{');
    let lines = match rest.strip_prefix('{') {
        Some(inside) => match inside.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n') {
            Some(lines) => lines,
            // Braces on one line are JSON.
            None => return false,
        },
        None => rest,
    };
    let mut at = text.len() - lines.len();
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let line = rest.trim_start();
        at += rest.len() - line.len();
        if !line.starts_with("//") && !line.starts_with('#') {
            let is_json = |value: &str| has_braces && value.starts_with(['"', '\'', '[', '{', '“', '‘']);
            return pair(line).is_some_and(|(_, value)| !is_json(value));
        }
        at = line_end(text, at).unwrap_or(text.len());
        if tag_at(text, at).is_some() {
            return false;
        }
    }
}

/// The key of a line, and what follows its colon.
fn pair(line: &str) -> Option<(&str, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (key, rest) = line.split_at_checked(line.bytes().take_while(is_part).count())?;
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    (!key.is_empty()).then_some((key, value.trim_start_matches([' ', '\t'])))
}

/// Reads lines into `parameters`, up to the end of the block or of the braces.
pub(super) fn read(
    text: &str,
    reader: &mut Reader<'_>,
    row: Option<&Row>,
    parameters: &mut Map<String, Value>,
) -> Result<(), Stop> {
    reader.repairs.add(Repair::KeyValueLines);
    let has_braces = reader.eat(b'{');
    let mut is_after_text = false;
    loop {
        let rest = reader.rest();
        reader.at += rest.len() - rest.trim_start().len();
        match reader.peek() {
            Some(b'}') if has_braces => {
                reader.at += 1;
                return Ok(());
            }
            Some(b'<') if !has_braces && ends_block(text, reader.at) => return Ok(()),
            // In Markdown it could be a heading of the text above.
            Some(b'#') if is_after_text => return Err(reader.broken("`key: value`")),
            Some(b'#') => skip_line(text, reader),
            Some(b'/') if reader.rest().starts_with("//") => skip_line(text, reader),
            _ => {
                let Some((key, value)) = pair(reader.rest()) else { return Err(reader.broken("`key: value`")) };
                let (key, field) =
                    (key.to_owned(), row.and_then(|row| row.fields.iter().find(|field| field.name == key)));
                is_after_text = field.is_some_and(|field| field.takes == Takes::Text);
                reader.at = text.len() - value.len();
                let value = self::value(text, reader, &key, field, has_braces)?;
                if parameters.contains_key(&key) {
                    reader.defect.get_or_insert(Defect::Duplicate(key));
                } else {
                    parameters.insert(key, value);
                }
            }
        }
    }
}

fn skip_line(text: &str, reader: &mut Reader<'_>) {
    reader.repairs.add(Repair::Comment);
    reader.at = line_end(text, reader.at).unwrap_or(text.len());
}

/// Whether a tag of a block starts here: it ends these lines, or shows that they have no end.
fn ends_block(text: &str, at: usize) -> bool {
    tag_at(text, at).is_some_and(|tag| matches!(tag.kind, Kind::Tool | Kind::ToolResult))
}

fn value(
    text: &str,
    reader: &mut Reader<'_>,
    key: &str,
    field: Option<&Field>,
    has_braces: bool,
) -> Result<Value, Stop> {
    let takes = field.map(|field| field.takes);
    let first = reader.rest().chars().next();
    let is_list = first == Some('[') && takes == Some(Takes::Texts);
    if is_list || matches!(first, Some('"' | '\'' | '“' | '‘')) {
        let value = reader.value()?;
        reader.eat(b',');
        let rest = reader.rest().trim_start_matches([' ', '\t', '\r']);
        let is_end = rest.is_empty() || rest.starts_with('\n') || ends_block(text, text.len() - rest.len());
        return if is_end { Ok(value) } else { Err(reader.broken("the end of the line")) };
    }
    let start = reader.at;
    let end = end_of_value(text, start);
    if end == text.len() {
        reader.at = end;
        return Err(Stop::Cut);
    }
    let mut line = text.get(start..end).unwrap_or_default().trim_end();
    let is_text = takes.is_none_or(|takes| matches!(takes, Takes::Text | Takes::FullText)) && key != PERMISSION;
    if has_braces && line.ends_with('}') || has_braces && is_text && line.ends_with(',') {
        reader.at = start + line.len() - 1;
        return Err(reader.broken("quotes around a text that ends so"));
    }
    if has_braces {
        line = line.strip_suffix(',').unwrap_or(line);
    }
    reader.at = end;
    let is_flag = takes == Some(Takes::Flag) || key == PERMISSION;
    Ok(match (line, takes) {
        ("true" | "True", _) if is_flag => Value::Bool(true),
        ("false" | "False", _) if is_flag => Value::Bool(false),
        (digits, Some(Takes::Number(_))) => digits.parse::<u32>().map_or_else(|_| line.into(), Value::from),
        _ => line.into(),
    })
}

/// Where the value ends that starts at `at`: with its line, or before a tag of a block.
fn end_of_value(text: &str, mut at: usize) -> usize {
    while let Some(offset) = memchr::memchr2(b'\n', b'<', text.as_bytes().get(at..).unwrap_or_default()) {
        at += offset;
        if text.as_bytes().get(at) == Some(&b'\n') || ends_block(text, at) {
            return at;
        }
        at += 1;
    }
    text.len()
}
