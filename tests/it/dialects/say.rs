//! One action, written in every dialect that can say it.

use memdir_dialect::Dialect;
use serde_json::{Map, Value, json};

pub(crate) type Call = Map<String, Value>;

/// A dialect, and how a model that knows it writes a call.
pub(crate) struct Tongue {
    pub(crate) name: &'static str,
    pub(crate) dialect: Dialect,
    /// Writes a call of the catalog; `None` where the dialect has no words for it.
    pub(crate) say: fn(&Call) -> Option<String>,
}

/// The dialects that are read.
pub(crate) const TONGUES: &[Tongue] = &[NATIVE, LINES, MCP_BLOCK, PYTHON, TOOL_CALL, MEMORY_TOOL];

pub(crate) const NATIVE: Tongue = Tongue { name: "native", dialect: Dialect::Native, say: native };
pub(crate) const LINES: Tongue = Tongue { name: "lines", dialect: Dialect::Lines, say: lines };
pub(crate) const MCP_BLOCK: Tongue = Tongue { name: "mcp_block", dialect: Dialect::McpBlock, say: mcp_block };
pub(crate) const PYTHON: Tongue = Tongue { name: "python", dialect: Dialect::Python, say: python };
pub(crate) const TOOL_CALL: Tongue = Tongue { name: "tool_call", dialect: Dialect::ToolCall, say: tool_call };
pub(crate) const MEMORY_TOOL: Tongue = Tongue { name: "memory_tool", dialect: Dialect::MemoryTool, say: memory_tool };

/// The name of the action, and its arguments without what every action takes.
fn parts(call: &Call) -> (&str, Call) {
    let mut arguments = call.clone();
    for key in ["action", "assign_to", "has_explicit_permission"] {
        arguments.shift_remove(key);
    }
    (call["action"].as_str().unwrap(), arguments)
}

fn text<'c>(call: &'c Call, key: &str) -> Option<&'c str> {
    call.get(key)?.as_str()
}

fn native(call: &Call) -> Option<String> {
    Some(format!("<actions>[{}]</actions>", Value::from(call.clone())))
}

fn lines(call: &Call) -> Option<String> {
    let (name, arguments) = parts(call);
    let is_line = |line: &&str| !line.trim().is_empty() && !line.contains('\n');
    let said = match name {
        "append_file" => {
            json!({"action": "append_line", "path": call["path"], "line": text(call, "content").filter(is_line)?})
        }
        "update_file" if !arguments.contains_key("occurrence") => {
            let old = text(call, "old_content").filter(is_line)?;
            match text(call, "new_content")? {
                "" => json!({"action": "delete_line", "line": old, "path": call["path"]}),
                new => json!({"action": "replace_text", "old": old, "new": new, "path": call["path"]}),
            }
        }
        _ => return None,
    };
    Some(format!("<actions>[{said}]</actions>"))
}

fn mcp_block(call: &Call) -> Option<String> {
    let (name, arguments) = parts(call);
    Some(format!("<mcp:tool>\nname: {name}\nparameters: {:#}\n</mcp:tool>", Value::from(arguments)))
}

fn python(call: &Call) -> Option<String> {
    let (name, arguments) = parts(call);
    let (function, names): (&str, &[&str]) = match name {
        "read_file" => ("read_file", &["path"]),
        "create_file" => ("create_file", &["path", "content"]),
        "update_file" => ("update_file", &["path", "old_content", "new_content"]),
        "delete_file" => ("delete_file", &["path"]),
        "check_file_exists" => ("check_if_file_exists", &["path"]),
        "create_dir" => ("create_dir", &["path"]),
        "check_dir_exists" => ("check_if_dir_exists", &["path"]),
        "list_files" => ("list_files", &[]),
        "get_size" => ("get_size", &["path"]),
        "go_to_link" => ("go_to_link", &["link"]),
        _ => return None,
    };
    if arguments.keys().any(|key| !names.contains(&key.as_str())) {
        return None;
    }
    // A text of JSON is one of Python.
    let given: Vec<String> = names.iter().filter_map(|name| arguments.get(*name)).map(Value::to_string).collect();
    Some(format!("<python>\nresult = {function}({})\n</python>", given.join(", ")))
}

fn tool_call(call: &Call) -> Option<String> {
    let (name, arguments) = parts(call);
    let function = json!({"name": name, "arguments": Value::from(arguments).to_string()});
    let calls = json!([{"id": "call_1", "type": "function", "function": function}]);
    Some(json!({"role": "assistant", "content": null, "tool_calls": calls}).to_string())
}

fn memory_tool(call: &Call) -> Option<String> {
    let (name, arguments) = parts(call);
    let at = |key: &str| format!("/memories/{}", text(call, key).unwrap_or_default());
    let said = match name {
        "read_file" => {
            let mut view = json!({"command": "view", "path": at("path")});
            if let Some(start) = arguments.get("start_line") {
                view["view_range"] = json!([start, arguments.get("end_line").cloned().unwrap_or_else(|| json!(-1))]);
            }
            view
        }
        "create_file" => json!({"command": "create", "path": at("path"), "file_text": call["content"]}),
        "update_file" if !arguments.contains_key("occurrence") => {
            json!({"command": "str_replace", "path": at("path"), "old_str": call["old_content"], "new_str": call["new_content"]})
        }
        "insert_text" => {
            json!({"command": "insert", "path": at("path"), "insert_line": call["line"], "insert_text": call["content"]})
        }
        "delete_file" => json!({"command": "delete", "path": at("path")}),
        "rename_file" => json!({"command": "rename", "old_path": at("path"), "new_path": at("new_path")}),
        _ => return None,
    };
    Some(said.to_string())
}
