//! The tools of MCP: what `tools/list` says of each row, of `run_actions`, and of the memory tool.
//!
//! The lists that clients keep in a model's context are small on purpose: an output schema names the keys of an answer and the
//! kind of its value, and the description says what is in it.

use serde_json::{Value, json};

use super::super::{ASK_FIRST, Effect, Gives, PERMISSION, PERMISSION_WORDS, Row};
use crate::action::Access;

/// The tool that runs a list of actions.
pub const RUN_ACTIONS: &str = "run_actions";

/// The tool of one action.
pub(super) fn tool(row: &Row, words: &str) -> Value {
    let mut tool = json!({
        "name": row.name, "title": row.title, "description": words,
        "inputSchema": row.schema(), "annotations": annotations(row.access, row.effect),
    });
    if let (Some(schema), Some(tool)) = (output(row), tool.as_object_mut()) {
        tool.insert("outputSchema".to_owned(), schema);
    }
    tool
}

/// The tool that runs several actions at once.
///
/// `rows` are those that it may run; of those that `is_shown` says are tools themselves, the arguments are not told again.
#[must_use]
pub fn run_actions<'r>(
    rows: impl Iterator<Item = &'r Row> + Clone,
    is_shown: impl Fn(&Row) -> bool,
    ask_first: bool,
) -> Value {
    let access = rows.clone().map(|row| row.access).max().unwrap_or(Access::Read);
    let more: Vec<String> = rows.filter(|row| !is_shown(row)).map(Row::signature).collect();
    let more = if more.is_empty() { String::new() } else { format!(" Beside the tools it takes {}.", more.join(", ")) };
    let asks = if ask_first && access > Access::Read { format!(" {ASK_FIRST}") } else { String::new() };
    let text = |what: &str| json!({"type": what});
    json!({
        "name": RUN_ACTIONS,
        "title": "Run several actions",
        "description": format!(
            "Runs actions in order; what they change is kept or undone together, and later ones see what earlier ones \
             did.{more}{asks} Answers actions with ok and value or error for each, changed, batch, receipt."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "actions": {
                    "type": "array", "minItems": 1,
                    "items": {"type": "object", "properties": {"action": text("string")}, "required": ["action"]},
                    "description": "Each `{\"action\":\"read_file\",\"path\":\"user.md\"}`: the name and its arguments.",
                },
                "atomic": {"type": "boolean", "description": "When one fails, nothing is done."},
            },
            "required": ["actions"], "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "actions": {"type": "array", "items": text("object")},
                "changed": {"type": "array", "items": text("string")},
                "batch": {"type": ["integer", "null"]},
                "receipt": {"type": ["string", "null"]},
                "error": text("object"),
            },
        },
        "annotations": annotations(access, if access > Access::Read { Effect::Changes } else { Effect::None }),
    })
}

/// Anthropic's memory tool, for clients that give no tools of a provider to their model.
#[must_use]
pub fn memory_tool(ask_first: bool) -> Value {
    let text = |words: &str| json!({"type": "string", "description": words});
    let asks = if ask_first { format!(" {ASK_FIRST}") } else { String::new() };
    json!({
        "name": "memory",
        "title": "Memory",
        "description": format!(
            "Your memory of the user: text files below /memories that outlast this conversation. View /memories before you do \
             anything else, and save what is worth keeping at once. Links between notes are written [[name]].{asks}"
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "command": {
                    "type": "string",
                    "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                    "description": "What to do. view: a folder or a file; create: a new file; str_replace: the one place \
                        that is old_str; insert: after a line; delete, rename: a file or a folder.",
                },
                "path": text("Where, such as /memories/user.md; for all but rename."),
                "view_range": {
                    "type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2,
                    "description": "view: the first and the last line, from 1; -1 is the end.",
                },
                "file_text": text("create: all of the text."),
                "old_str": text("str_replace: what is there now, found only once."),
                "new_str": text("str_replace: what to put in its place; left out, nothing."),
                "insert_line": {
                    "type": "integer", "minimum": 0,
                    "description": "insert: the line after which to insert; 0 is the top.",
                },
                "insert_text": text("insert: the text."),
                "old_path": text("rename: the path now."),
                "new_path": text("rename: the path then."),
                PERMISSION: {"type": "boolean", "description": PERMISSION_WORDS},
            },
            "required": ["command"], "additionalProperties": false,
        },
        "annotations": annotations(Access::Remove, Effect::Changes),
    })
}

/// The schema of an answer; `None` for one that is text.
fn output(row: &Row) -> Option<Value> {
    let value = match row.gives {
        Gives::Text | Gives::Various => return None,
        Gives::Flag => json!({"type": "boolean"}),
        Gives::Number => json!({"type": "integer"}),
        Gives::Paths => json!({"type": "array", "items": {"type": "string"}}),
        Gives::Entries => json!({"type": "array", "items": {"type": "object"}}),
        Gives::Object => json!({"type": "object"}),
    };
    let mut properties = json!({"value": value, "path": {"type": "string"}, "error": {"type": "object"}});
    if let (Gives::Paths, Some(properties)) = (row.gives, properties.as_object_mut()) {
        properties.insert("total".to_owned(), json!({"type": "integer"}));
        properties.insert("cursor".to_owned(), json!({"type": ["string", "null"]}));
    }
    let either = json!([{"required": ["value"]}, {"required": ["error"]}]);
    Some(json!({"type": "object", "properties": properties, "oneOf": either}))
}

/// What is said about a tool beside its schema. All four are said, for some clients take a hint that is left out as the worst.
fn annotations(access: Access, effect: Effect) -> Value {
    json!({
        "readOnlyHint": access == Access::Read,
        "destructiveHint": matches!(effect, Effect::Settles | Effect::Changes),
        "idempotentHint": matches!(effect, Effect::None | Effect::Adds | Effect::Settles),
        "openWorldHint": false,
    })
}
