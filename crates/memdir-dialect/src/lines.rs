//! Three small actions on whole lines, for models under 4B: `replace_text`, `append_line`, `delete_line`.
//!
//! Owns their names and arguments, and what they are in terms of the catalog: calls of `update_file` and `append_file`
//! that mean whole lines. How a line is found is for `plan`.

use serde_json::{Map, Value};

use super::block::{Body, Item};
use super::call::Names;
use super::turn::{Found, What};
use memdir_core::action::{Access, Action};
use memdir_core::catalog::{self, ACTION, Effect, Field, Gives, Row, Takes};
use memdir_core::report::{Code, Failure};

const PATH: Field =
    Field { name: "path", takes: Takes::Path, required: true, words: "The note, such as `entities/jane_doe.md`." };

/// The three actions.
pub(super) const ROWS: [Row; 3] = [
    Row {
        name: "replace_text",
        title: "Replace a line",
        access: Access::Write,
        effect: Effect::Changes,
        words: "Replaces the one line of a note that is exactly old.",
        returns: "true",
        gives: Gives::Flag,
        fields: &[
            Field { name: "old", takes: Takes::FullText, required: true, words: "The whole line as it stands there." },
            Field { name: "new", takes: Takes::FullText, required: true, words: "The line to put in its place." },
            PATH,
        ],
        example: r#"{"action":"replace_text","old":"- example_fact: before","new":"- example_fact: after","path":"user.md"}"#,
    },
    Row {
        name: "append_line",
        title: "Add a line",
        access: Access::Write,
        effect: Effect::AddsAgain,
        words: "Adds a line at the end of an existing note.",
        returns: "true",
        gives: Gives::Flag,
        fields: &[PATH, Field { name: "line", takes: Takes::FullText, required: true, words: "The line to add." }],
        example: r#"{"action":"append_line","path":"example_list.md","line":"- another example item"}"#,
    },
    Row {
        name: "delete_line",
        title: "Delete a line",
        access: Access::Write,
        effect: Effect::Changes,
        words: "Deletes the one line of a note that is exactly line.",
        returns: "true",
        gives: Gives::Flag,
        fields: &[
            Field { name: "line", takes: Takes::FullText, required: true, words: "The whole line as it stands there." },
            PATH,
        ],
        example: r#"{"action":"delete_line","line":"- example_fact: before","path":"user.md"}"#,
    },
];

/// The row of one of the three.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    const { &ROWS }.iter().find(|row| row.name == name)
}

/// Whose names the calls of some blocks have: [`Names::Lines`] where each that has a name has one of the three.
pub(super) fn names_of(blocks: &[Found]) -> Names {
    let mut names = blocks.iter().flat_map(named).peekable();
    if names.peek().is_some() && names.all(|name| row(name).is_some()) { Names::Lines } else { Names::Native }
}

/// The names of the calls of a block, the one in which it breaks off included.
fn named(found: &Found) -> impl Iterator<Item = &str> {
    let block = if let What::Actions(block) = &found.what { Some(block) } else { None };
    let partial = block.and_then(|block| block.broken.as_ref()).and_then(|broken| broken.partial.as_ref());
    block.into_iter().flat_map(|block| &block.items).chain(partial).filter_map(name)
}

fn name(item: &Item) -> Option<&str> {
    match &item.body {
        Body::Object(map) => map.get(ACTION).and_then(Value::as_str),
        Body::Other(_) => None,
    }
}

/// The failure for a name that none of the three has.
pub(super) fn unknown_action(index: usize, name: &str) -> Failure {
    let failure =
        Failure::new(Code::UnknownAction, format!("action {index}: unknown action `{}`", catalog::shorten(name)));
    failure.with_hint("the actions are `replace_text`, `append_line` and `delete_line`")
}

/// The failure for one of the three where other actions are sent too.
pub(super) fn beside_others(index: usize, row: &Row) -> Failure {
    let plain = if row.name == "append_line" { "append_file" } else { "update_file" };
    let example = catalog::row(plain).map_or("", |row| row.example);
    let failure = Failure::new(Code::UnknownAction, format!("action {index}: unknown action `{}`", row.name));
    failure.with_hint(format!("beside other actions it is `{plain}`: send for example {example}"))
}

/// What one of the three is in terms of the catalog, and whether a line break was left out at the end of a line.
pub(super) fn decode(index: usize, row: &Row, mut arguments: Map<String, Value>) -> Result<(Action, bool), Failure> {
    row.check(index, &arguments)?;
    let mut is_trimmed = false;
    for field in row.fields.iter().filter(|field| field.name != PATH.name) {
        let Some(Value::String(line)) = arguments.get_mut(field.name) else { continue };
        is_trimmed |= trim_end(line);
        let invalid = |what: &str| {
            let message = format!("action {index}, `{}`: `{}` {what}", row.name, field.name);
            Failure::new(Code::InvalidAction, message)
        };
        if line.trim().is_empty() {
            return Err(invalid("is empty").with_hint(field.words));
        }
        if line.contains(['\n', '\r']) && field.name != "new" {
            return Err(invalid("has to be one line").with_hint("send one action for each line"));
        }
    }
    let (name, renamed) = match row.name {
        "append_line" => ("append_file", [("line", "content")].as_slice()),
        "delete_line" => ("update_file", [("line", "old_content")].as_slice()),
        _ => ("update_file", [("old", "old_content"), ("new", "new_content")].as_slice()),
    };
    for (from, to) in renamed {
        let value = arguments.shift_remove(*from).unwrap_or_default();
        arguments.insert((*to).to_owned(), value);
    }
    if row.name == "delete_line" {
        arguments.insert("new_content".to_owned(), Value::String(String::new()));
    }
    Ok((catalog::decode(index, name, arguments)?, is_trimmed))
}

/// Takes one line break off the end of a line; true where there was one.
fn trim_end(line: &mut String) -> bool {
    let end = line.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let Some(end) = end.or_else(|| line.strip_suffix('\r')).map(str::len) else { return false };
    line.truncate(end);
    true
}
