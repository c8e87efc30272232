//! The tools of MCP: what `tools/list` says of each row, of `run_actions`, and of the memory tool.
//!
//! Clients keep the list in a model's context, so it is small on purpose. The schema of the arguments has names, types and words;
//! bounds, and what is too much, are left to [`super::super::decode`], whose answer teaches more than a client's own check. The
//! schema of an answer names the kind of its value, and the description says what is in it.

use serde_json::{Map, Value, json};

use super::super::{Effect, Gives, PERMISSION, Row};
use crate::action::Access;

/// What asks for permission first, where the mode wants it; the words of the argument say the rest.
const ASK: &str = " Ask the user first if personal.";
/// What `has_explicit_permission` means.
const CLAIM: &str = "The user agreed.";

/// What tells a tool from one of the client's own, whose name may be the same: each first sentence says it.
const PLACE: &str = "In the user's long-term memory";

/// The tool that runs a list of actions.
pub const RUN_ACTIONS: &str = "run_actions";

/// The tool of one action.
pub(super) fn tool(row: &Row, ask_first: bool) -> Value {
    let asks = if ask_first && row.access > Access::Read { ASK } else { "" };
    let answers = if says_itself(row.gives) { String::new() } else { format!(" Answers {}.", row.returns) };
    let mut tool = json!({
        "name": row.name, "title": row.title, "description": format!("{}{asks}{answers}", placed(row.words)),
        "inputSchema": input(row), "annotations": annotations(row.access, row.effect),
    });
    if let (Some(schema), Some(tool)) = (output(row), tool.as_object_mut()) {
        tool.insert("outputSchema".to_owned(), schema);
    }
    tool
}

/// Whether an answer shows by itself what it is.
pub(super) fn says_itself(gives: Gives) -> bool {
    !matches!(gives, Gives::Number | Gives::Various)
}

/// The words of a row, which say first where that is.
fn placed(words: &str) -> String {
    let mut rest = words.chars();
    let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    format!("{PLACE}: {first}{}", rest.as_str())
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

/// The schema of an answer; `None` where it would say no more than that there is a value, which is in the description. An answer
/// that failed has `error` instead of `value`.
fn output(row: &Row) -> Option<Value> {
    (row.gives == Gives::Paths).then(|| {
        json!({"type": "object", "properties": {
            "value": {"type": "array", "items": {"type": "string"}},
            "total": {"type": "integer"}, "cursor": {"type": ["string", "null"]},
        }})
    })
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
    let more = signatures(rows.filter(|row| !is_shown(row)));
    let more = if more.is_empty() { more } else { format!(" Also takes {more}.") };
    let asks = if ask_first && access > Access::Read { ASK } else { "" };
    let text = |what: &str| json!({"type": what});
    json!({
        "name": RUN_ACTIONS,
        "title": "Run actions",
        "description": format!(
            "{PLACE}: runs actions in order; what they change is kept or undone together.{more}{asks}"
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
        "annotations": annotations(access, if access > Access::Read { Effect::Changes } else { Effect::None }),
    })
}

/// Names and arguments of actions, those together that take the same; an argument that may be left out is told only where there
/// is no other.
fn signatures<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        let required: Vec<&str> = row.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        let takes = match (required.as_slice(), row.fields.first()) {
            ([], Some(first)) => format!("([{}])", first.name),
            (required, _) => format!("({})", required.join(", ")),
        };
        match kinds.iter_mut().find(|(other, _)| *other == takes) {
            Some((_, names)) => names.push(row.name),
            None => kinds.push((takes, vec![row.name])),
        }
    }
    kinds.iter().map(|(takes, names)| format!("{}{takes}", names.join("/"))).collect::<Vec<_>>().join(", ")
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
            "The user's long-term memory: text files below /memories that outlast this conversation. View /memories before \
             you do anything else, and save what is worth keeping at once. Links between notes are written [[name]].{asks}"
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
        "description": "The user's long-term memory: text files below /memories, which you can view here and not change. View \
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
