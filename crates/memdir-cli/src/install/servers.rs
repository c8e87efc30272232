//! The servers that assistants keep, read as values: for `tools import`. Nothing is changed.

use std::path::Path;

use serde_json::Value;

use super::assistants::{ASSISTANTS, Assistant};
use super::change::{Format, split_mark};
use super::disk::Target;
use super::edit::Trouble;
use super::{NAME, json, places, toml, yaml};
use memdir_core::report::{Code, Failure};

/// Under which names programs keep their servers, where it is not known which program it is.
const LISTS: &[&str] = &["mcpServers", "mcp_servers", "servers", "context_servers", "mcp", "extensions"];

/// The servers of one file, as it has them.
#[derive(Debug)]
pub(crate) struct ServerList {
    /// An object of them by their names, or a list.
    pub(crate) servers: Value,
    /// Whether an address without a kind is one for server-sent events.
    pub(crate) is_sse_by_default: bool,
}

/// The lists of servers of the assistant of this name; `None` where there is no such assistant.
pub(crate) fn servers_of(name: &str) -> Option<Result<Vec<ServerList>, Failure>> {
    let assistant = ASSISTANTS.iter().find(|assistant| assistant.name == name)?;
    Some(of_assistant(assistant))
}

fn of_assistant(assistant: &Assistant) -> Result<Vec<ServerList>, Failure> {
    let list = match &assistant.format {
        Format::Json(form) => form.list,
        Format::Toml => toml::LIST,
        Format::Yaml => yaml::LIST,
        Format::Hooks(_) | Format::Line => return Ok(Vec::new()),
    };
    let own = assistant.servers.file()?;
    // Of some programs each file of a folder counts, and the one that is written by `install` is one of those.
    let files = match own.parent() {
        Some(folder) if assistant.has_folder => {
            places::names_in(folder).into_iter().filter(|path| path.is_file()).collect()
        }
        _ => vec![own],
    };
    let mut lists = Vec::new();
    for file in files {
        if let Some(value) = read(&file)? {
            lists.extend(value.get(list).cloned().map(|servers| ServerList { servers, ..ServerList::of(assistant) }));
        }
    }
    Ok(lists)
}

impl ServerList {
    fn of(assistant: &Assistant) -> Self {
        Self { servers: Value::Null, is_sse_by_default: assistant.is_sse_by_default }
    }
}

/// Whether an assistant has an entry of our name that is switched off there.
pub(super) fn is_off(assistant: &Assistant) -> bool {
    let lists = of_assistant(assistant).unwrap_or_default();
    lists.iter().filter_map(|list| list.servers.get(NAME)).any(|entry| !is_enabled(entry))
}

/// Whether an entry is in use, as far as it says so itself.
pub(crate) fn is_enabled(entry: &Value) -> bool {
    let is = |name: &str, wanted: bool| match entry.get(name) {
        Some(Value::Bool(value)) => *value == wanted,
        Some(Value::String(text)) => *text == wanted.to_string(),
        _ => false,
    };
    !is("disabled", true) && !is("enabled", false)
}

/// The list of servers in a file, whoever's it is.
///
/// # Errors
///
/// `not_found` where there is no file, or no servers in it; `config` where it cannot be read.
pub(crate) fn servers_in(file: &Path) -> Result<ServerList, Failure> {
    let path = file.display();
    let missing = |what: String| Failure::new(Code::NotFound, what);
    let value = read(file)?.ok_or_else(|| {
        let names = ASSISTANTS.iter().map(|assistant| assistant.name).collect::<Vec<_>>().join(", ");
        missing(format!("there is no file {path}, and no assistant of this name"))
            .with_hint(format!("name a file, or one of {names}"))
    })?;
    let list = LISTS.iter().find_map(|name| value.get(*name).filter(|list| list.is_object() || list.is_array()));
    // VS Code has had its servers below `mcp` in its settings.
    let list = list.map(|list| list.get("servers").filter(|servers| servers.is_object()).unwrap_or(list));
    let servers = list.cloned().ok_or_else(|| {
        missing(format!("{path} holds no servers")).with_hint(format!("they stand below one of {}", LISTS.join(", ")))
    })?;
    Ok(ServerList { servers, is_sse_by_default: false })
}

/// What a file holds, by the form that its name tells; `None` where it is not there.
fn read(path: &Path) -> Result<Option<Value>, Failure> {
    let Some(text) = Target::read(path)?.text else { return Ok(None) };
    let body = split_mark(&text).1;
    let value = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => toml::value(body),
        Some("yaml" | "yml") => yaml::value(body),
        _ => json::value(body),
    };
    let unread = |trouble: Trouble| Failure::new(Code::Config, format!("{}: {trouble}", path.display()));
    value.map(Some).map_err(|trouble| unread(trouble).with_hint("nothing was added; mend the file"))
}
