//! From the input of a command to the action that it means.
//!
//! Owns the keys of each command and the rules of its paths.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::action::{
    Access, Action, CreateFile, DeleteFile, InsertText, ListDirectory, ReadFile, RenameFile, UpdateFile,
};
use crate::catalog::{self, PERMISSION, shorten};
use crate::dialect::tool_call::{read::memory_call, tree::Tree};
use crate::dialect::{Entry, Unread};
use crate::path::{MAX_PATH_BYTES, MemoryPath, PathError};
use crate::report::{Code, Failure};

/// The key that names the command.
pub(in crate::dialect) const COMMAND: &str = "command";

/// What every path starts with.
pub(super) const ROOT: &str = "/memories";

/// What the text of the answer repeats of a command.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::dialect) struct Asked {
    pub(super) command: Option<Command>,
    /// The path as the model wrote it, or the old one.
    pub(super) path: String,
    /// The new path, or what was to be replaced.
    pub(super) other: String,
    /// The first and the last line wanted, from 1; the last is `None` for the end.
    pub(super) range: Option<(u64, Option<u64>)>,
    /// The line after which to insert, as the model wrote it.
    pub(super) line: i64,
    /// What is answered, where the input says it already.
    pub(super) said: Option<String>,
}

/// The commands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Command {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

/// A command: its name, its keys, and an input that shows them.
struct Row {
    name: &'static str,
    command: Command,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    example: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        name: "view",
        command: Command::View,
        required: &["path"],
        optional: &["view_range"],
        example: r#"{"command":"view","path":"/memories"}"#,
    },
    Row {
        name: "create",
        command: Command::Create,
        required: &["path", "file_text"],
        optional: &[],
        example: r#"{"command":"create","path":"/memories/notes.md","file_text":"- likes: tea\n"}"#,
    },
    Row {
        name: "str_replace",
        command: Command::StrReplace,
        required: &["path", "old_str"],
        optional: &["new_str"],
        example: r#"{"command":"str_replace","path":"/memories/notes.md","old_str":"tea","new_str":"coffee"}"#,
    },
    Row {
        name: "insert",
        command: Command::Insert,
        required: &["path", "insert_line", "insert_text"],
        optional: &[],
        example: r#"{"command":"insert","path":"/memories/notes.md","insert_line":0,"insert_text":"- likes: tea\n"}"#,
    },
    Row {
        name: "delete",
        command: Command::Delete,
        required: &["path"],
        optional: &[],
        example: r#"{"command":"delete","path":"/memories/notes.md"}"#,
    },
    Row {
        name: "rename",
        command: Command::Rename,
        required: &["old_path", "new_path"],
        optional: &[],
        example: r#"{"command":"rename","old_path":"/memories/notes.md","new_path":"/memories/tea.md"}"#,
    },
];

/// Why a command cannot be run: the failure, and what the tool publishes for it.
struct Mistake {
    failure: Failure,
    said: Option<String>,
}

impl From<Failure> for Mistake {
    fn from(failure: Failure) -> Self {
        Self { failure, said: None }
    }
}

/// Whether the arguments of a tool called `memory` are a command of this tool, not an operation of memdir's own.
pub(in crate::dialect) fn is_command(arguments: &Map<String, Value>) -> bool {
    arguments.contains_key(COMMAND) && !arguments.contains_key("operation")
}

/// Whether some JSON is the input of a command by itself.
pub(super) fn is_input(json: &Tree) -> bool {
    let Some(command) = json.text_of(COMMAND) else { return false };
    let is_known = ROWS.iter().any(|row| row.name == command);
    let has_path = ["path", "old_path"].iter().any(|key| json.text_of(key).is_some_and(|path| path.starts_with(ROOT)));
    (is_known || has_path) && !["action", "operation", "name", "type"].iter().any(|key| json.has(key))
}

/// Reads an input that stands by itself.
pub(super) fn read_tree(index: usize, json: &Tree, is_lossy: bool) -> (Asked, Entry) {
    match json.value() {
        Ok(Value::Object(input)) => read(index, input, is_lossy),
        Ok(_) => unread(index, Asked::default(), invalid(index, "has to be an object", None).into()),
        Err(key) => {
            let message = format!("`{}` is given twice", shorten(&key));
            unread(index, Asked::default(), invalid(index, &message, None).into())
        }
    }
}

/// Reads the input of one command.
pub(in crate::dialect) fn read(index: usize, mut input: Map<String, Value>, is_lossy: bool) -> (Asked, Entry) {
    let is_damaged = is_lossy && Value::Object(input.clone()).to_string().contains(char::REPLACEMENT_CHARACTER);
    input.retain(|_, value| !value.is_null());
    let claimed = input.shift_remove(PERMISSION);
    let mut asked = Asked::default();
    let claimed = match claimed {
        None => false,
        Some(Value::Bool(claimed)) => claimed,
        Some(_) => {
            let message = format!("`{PERMISSION}` has to be `true` or `false`");
            return unread(index, asked, invalid(index, &message, None).into());
        }
    };
    match action(index, &mut input, &mut asked) {
        Ok(action) if is_damaged && catalog::access(&action) > Access::Read => {
            let message =
                format!("action {index}, `memory`: its text was damaged on the way: it holds bytes that are no UTF-8");
            unread(index, asked, Failure::new(Code::InvalidAction, message).with_hint("send it again as UTF-8").into())
        }
        Ok(action) => (asked, memory_call(index, action, claimed)),
        Err(mistake) => unread(index, asked, mistake),
    }
}

fn unread(index: usize, mut asked: Asked, mistake: Mistake) -> (Asked, Entry) {
    let Mistake { failure, said } = mistake;
    asked.said = said;
    let path = Some(echo(&asked.path)).filter(|path| !path.is_empty());
    let entry = Unread { index, action: Some("memory".to_owned()), path, label: None, failure };
    (asked, Entry::Unread(entry))
}

/// A path as an answer repeats it.
fn echo(path: &str) -> String {
    if path.len() > MAX_PATH_BYTES { shorten(path) } else { path.to_owned() }
}

fn invalid(index: usize, message: &str, row: Option<&Row>) -> Failure {
    let example = row.or(ROWS.first()).map_or("", |row| row.example);
    let message = match row {
        Some(row) => format!("action {index}, `memory`: `{}`: {message}", row.name),
        None => format!("action {index}, `memory`: {message}"),
    };
    Failure::new(Code::InvalidAction, message).with_hint(format!("send for example {example}"))
}

/// The action that an input means; `asked` gets what the answer repeats.
fn action(index: usize, input: &mut Map<String, Value>, asked: &mut Asked) -> Result<Action, Mistake> {
    let Some(name) = input.shift_remove(COMMAND) else {
        return Err(invalid(index, "missing `command`", None).into());
    };
    let Some(row) = ROWS.iter().find(|row| Some(row.name) == name.as_str()) else {
        let names: Vec<_> = ROWS.iter().map(|row| format!("`{}`", row.name)).collect();
        let message = format!("action {index}, `memory`: unknown command `{}`", shorten(name.as_str().unwrap_or("")));
        let hint = format!("the commands are {}", names.join(", "));
        return Err(Failure::new(Code::InvalidAction, message).with_hint(hint).into());
    };
    asked.command = Some(row.command);
    if let Some(key) = row.required.iter().find(|key| !input.contains_key(**key)) {
        return Err(invalid(index, &format!("missing `{key}`"), Some(row)).into());
    }
    let takes = |key: &str| row.required.contains(&key) || row.optional.contains(&key);
    if let Some(key) = input.keys().find(|key| !takes(key)) {
        return Err(invalid(index, &format!("unknown argument `{}`", shorten(key)), Some(row)).into());
    }
    let mut text = |key: &str| match input.shift_remove(key) {
        Some(Value::String(text)) => Ok(text),
        None => Ok(String::new()),
        Some(_) => Err(invalid(index, &format!("`{key}` has to be a text"), Some(row))),
    };
    if row.command == Command::Rename {
        (asked.path, asked.other) = (text("old_path")?, text("new_path")?);
    } else {
        asked.path = text("path")?;
    }
    let path = place(&asked.path)?;
    asked.path = echo(&asked.path);
    let root = || format!("`{ROOT}` is the memory itself, not a file in it");
    let file = |path: Option<MemoryPath>, said: String| {
        let failure = invalid(index, &root(), Some(row));
        path.ok_or(Mistake { failure, said: Some(said) })
    };
    Ok(match row.command {
        Command::View => {
            asked.range = range(index, row, input.get("view_range"))?;
            match path {
                Some(path) => Action::ReadFile(ReadFile { path, start_line: None, end_line: None }),
                None => Action::ListDirectory(ListDirectory { path: None }),
            }
        }
        Command::Create => {
            let content = text("file_text")?;
            let path = file(path, format!("File {} already exists", asked.path))?;
            Action::CreateFile(CreateFile { path, content })
        }
        Command::StrReplace => {
            let (old_content, new_content) = (text("old_str")?, text("new_str")?);
            let path = file(path, format!("The path {} is not a file.", asked.path))?;
            asked.other.clone_from(&old_content);
            Action::UpdateFile(UpdateFile { path, old_content, new_content, occurrence: None })
        }
        Command::Insert => {
            let content = text("insert_text")?;
            asked.line = input
                .get("insert_line")
                .and_then(Value::as_i64)
                .ok_or_else(|| invalid(index, "`insert_line` has to be a whole number", Some(row)))?;
            let path = file(path, format!("The path {} is not a file.", asked.path))?;
            // A line that no note has is refused where it is known how many there are.
            let line = u32::try_from(asked.line).unwrap_or(u32::MAX);
            // Whole lines go in, with one line end of their own.
            let content = format!("{}\n", content.trim_end_matches(['\n', '\r']));
            Action::InsertText(InsertText { path, line, content })
        }
        Command::Delete => {
            let path = file(path, format!("Cannot delete the {ROOT} directory itself"))?;
            Action::DeleteFile(DeleteFile { path })
        }
        Command::Rename => {
            let new = place(&asked.other)?;
            asked.other = echo(&asked.other);
            let new_path = file(new, format!("The destination {} already exists", asked.other))?;
            let path = path.ok_or_else(|| invalid(index, &root(), Some(row)))?;
            Action::RenameFile(RenameFile { path, new_path })
        }
    })
}

/// The lines that a view is to show.
fn range(index: usize, row: &Row, given: Option<&Value>) -> Result<Option<(u64, Option<u64>)>, Failure> {
    let Some(given) = given else { return Ok(None) };
    let wrong = || invalid(index, "`view_range` has to be two whole numbers, the second -1 for the end", Some(row));
    let numbers: Vec<_> = given.as_array().ok_or_else(wrong)?.iter().map(Value::as_i64).collect();
    match numbers.as_slice() {
        [] => Ok(None),
        [Some(start), Some(end)] if *end >= -1 => {
            Ok(Some((u64::try_from(*start).unwrap_or(1).max(1), u64::try_from(*end).ok())))
        }
        _ => Err(wrong()),
    }
}

/// The place that a path of the tool names; `None` is the root.
fn place(path: &str) -> Result<Option<MemoryPath>, Mistake> {
    let rest = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
    let Some(rest) = rest else {
        let said = Some(format!("Path must start with {ROOT}, got: {}", echo(path)));
        let message = format!("path `{}` does not start with `{ROOT}`", shorten(path));
        let hint = format!("send a path such as `{ROOT}/notes.md`");
        return Err(Mistake { failure: Failure::new(Code::InvalidPath, message).with_hint(hint), said });
    };
    if climbs(rest) {
        let said = Some(format!("Path {} would escape {ROOT} directory", echo(path)));
        let failure = catalog::invalid_path(path, PathError::Climbs);
        let failure = failure.with_hint(format!("send a path such as `{ROOT}/notes.md`"));
        return Err(Mistake { failure, said });
    }
    match MemoryPath::parse(rest.trim_start_matches('/')) {
        Ok(path) => Ok(Some(path)),
        Err(PathError::Empty) => Ok(None),
        Err(error) => Err(catalog::invalid_path(path, error).into()),
    }
}

/// Whether a path climbs, in whatever way it is spelled: with `\`, or encoded as in a URL, once or twice.
fn climbs(path: &str) -> bool {
    let once = percent_decode_str(path).decode_utf8_lossy();
    let twice = percent_decode_str(&once).decode_utf8_lossy();
    [path, &once, &twice].iter().any(|path| path.split(['/', '\\']).any(|name| name.trim() == ".."))
}
