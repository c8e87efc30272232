//! The tools of MCP: what `tools/list` says of each row, of `run_actions`, and of the memory tool.
//!
//! Clients keep the list in a model's context, so it is small on purpose. The schema of the arguments has names, types and words;
//! bounds, and what is too much, are left to [`super::super::decode`], whose answer teaches more than a client's own check. The
//! schema of an answer names the kind of its value, and the description says what is in it.

use serde_json::{Map, Value, json};

use super::super::{Effect, Gives, PERMISSION, Row};
use crate::action::Access;

/// What asks for permission first, where the mode wants it; the words of the argument say the rest.
const ASK: &str = " Ask the user first if it is personal.";
/// What `has_explicit_permission` means.
const CLAIM: &str = "Only after the user agreed.";

/// The tool that runs a list of actions.
pub const RUN_ACTIONS: &str = "run_actions";

/// The tool of one action.
pub(super) fn tool(row: &Row, ask_first: bool) -> Value {
    let asks = if ask_first && row.access > Access::Read { ASK } else { "" };
    let answers = if row.gives == Gives::Flag { String::new() } else { format!(" Answers {}.", row.returns) };
    let mut tool = json!({
        "name": row.name, "title": row.title, "description": format!("{}{asks}{answers}", row.words),
        "inputSchema": input(row), "annotations": annotations(row.access, row.effect),
    });
    if let (Some(schema), Some(tool)) = (output(row), tool.as_object_mut()) {
        tool.insert("outputSchema".to_owned(), schema);
    }
    tool
}

/// The schema of the arguments.
fn input(row: &Row) -> Value {
    let mut properties = Map::new();
    for field in super::arguments(row) {
        let mut schema = field.schema();
        if let Some(schema) = schema.as_object_mut() {
            schema.retain(|keyword, _| matches!(keyword.as_str(), "type" | "items" | "enum" | "description"));
            if field.name == PERMISSION {
                schema.insert("description".to_owned(), CLAIM.into());
            }
        }
        properties.insert(field.name.to_owned(), schema);
    }
    let required: Vec<&str> = row.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if let Some(schema) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// The schema of an answer; `None` for one that is text. An answer that failed has `error` instead of `value`.
fn output(row: &Row) -> Option<Value> {
    let value = match row.gives {
        Gives::Text | Gives::Various => return None,
        Gives::Flag => json!({"type": "boolean"}),
        Gives::Number => json!({"type": "integer"}),
        Gives::Paths => json!({"type": "array", "items": {"type": "string"}}),
        Gives::Entries => json!({"type": "array", "items": {"type": "object"}}),
        Gives::Object => json!({"type": "object"}),
    };
    let mut properties = json!({"value": value});
    if let (Gives::Paths, Some(properties)) = (row.gives, properties.as_object_mut()) {
        properties.insert("total".to_owned(), json!({"type": "integer"}));
        properties.insert("cursor".to_owned(), json!({"type": ["string", "null"]}));
    }
    Some(json!({"type": "object", "properties": properties}))
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
    let more = if more.is_empty() { String::new() } else { format!(" Also takes {}.", more.join(", ")) };
    let asks = if ask_first && access > Access::Read { ASK } else { "" };
    let text = |what: &str| json!({"type": what});
    json!({
        "name": RUN_ACTIONS,
        "title": "Run actions",
        "description": format!(
            "Runs actions in order; what they change is kept or undone together, and later ones see what earlier ones did.\
             {more}{asks}"
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "actions": {
                    "type": "array", "items": text("object"),
                    "description": "Each such as {\"action\":\"read_file\",\"path\":\"user.md\"}.",
                },
                "atomic": {"type": "boolean", "description": "When one fails, nothing is done."},
            },
            "required": ["actions"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "actions": {"type": "array", "items": text("object")},
                "changed": {"type": "array", "items": text("string")},
                "batch": {"type": ["integer", "null"]},
            },
        },
        "annotations": annotations(access, if access > Access::Read { Effect::Changes } else { Effect::None }),
    })
}

/// Anthropic's memory tool, for clients that give no tools of a provider to their model.
#[must_use]
pub fn memory_tool(ask_first: bool, read_only: bool) -> Value {
    if read_only {
        return memory_tool_that_reads();
    }
    let text = |words: &str| json!({"type": "string", "description": words});
    let asks = if ask_first { ASK } else { "" };
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
                    "type": "array", "items": {"type": "integer"},
                    "description": "view: the first and the last line, from 1; -1 is the end.",
                },
                "file_text": text("create: all of the text."),
                "old_str": text("str_replace: what is there now, found only once."),
                "new_str": text("str_replace: what to put in its place; left out, nothing."),
                "insert_line": {
                    "type": "integer",
                    "description": "insert: the line after which to insert; 0 is the top.",
                },
                "insert_text": text("insert: the text."),
                "old_path": text("rename: the path now."),
                "new_path": text("rename: the path then."),
                PERMISSION: {"type": "boolean", "description": CLAIM},
            },
            "required": ["command"],
        },
        "annotations": annotations(Access::Remove, Effect::Changes),
    })
}

/// The one command of the memory tool that changes nothing.
fn memory_tool_that_reads() -> Value {
    json!({
        "name": "memory",
        "title": "Memory",
        "description": "Your memory of the user: text files below /memories, which you can view here and not change. View \
            /memories before you do anything else. Links between notes are written [[name]].",
        "inputSchema": {
            "type": "object",
            "properties": {
                "command": {"type": "string", "enum": ["view"], "description": "view: a folder or a file."},
                "path": {"type": "string", "description": "Where, such as /memories/user.md."},
                "view_range": {
                    "type": "array", "items": {"type": "integer"},
                    "description": "The first and the last line, from 1; -1 is the end.",
                },
            },
            "required": ["command", "path"],
        },
        "annotations": annotations(Access::Read, Effect::None),
    })
}

/// What is said about a tool beside its schema. What it destroys is always said, for some clients take a hint that is left out as the
/// worst, which is also what the protocol says of it; that doing it again does nothing is said only of what writes.
fn annotations(access: Access, effect: Effect) -> Value {
    let mut hints = json!({
        "readOnlyHint": access == Access::Read,
        "destructiveHint": matches!(effect, Effect::Settles | Effect::Changes),
        "openWorldHint": false,
    });
    if let (Effect::Adds | Effect::Settles, Some(hints)) = (effect, hints.as_object_mut()) {
        hints.insert("idempotentHint".to_owned(), true.into());
    }
    hints
}
