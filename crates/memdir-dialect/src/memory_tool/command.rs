//! From the input of a command to the action that it means.
//!
//! Owns the keys of each command.

use serde_json::{Map, Value};

use super::place::{self, ROOT};
use crate::tool_call::{read::memory_call, tree::Tree};
use crate::{Entry, Unread};
use memdir_core::action::{
    Access, Action, CreateFile, DeleteFile, InsertText, ListDirectory, ReadFile, RenameFile, UpdateFile,
};
use memdir_core::catalog::{self, PERMISSION, shorten};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};

/// The key that names the command.
pub(crate) const COMMAND: &str = "command";

/// What the text of the answer repeats of a command.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Asked {
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
pub(super) struct Mistake {
    pub(super) failure: Failure,
    pub(super) said: Option<String>,
}

impl From<Failure> for Mistake {
    fn from(failure: Failure) -> Self {
        Self { failure, said: None }
    }
}

/// Whether the arguments of a tool called `memory` are a command of this tool, not an operation of memdir's own.
pub(crate) fn is_command(arguments: &Map<String, Value>) -> bool {
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
pub(crate) fn read(index: usize, mut input: Map<String, Value>, is_lossy: bool) -> (Asked, Entry) {
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
    let path = Some(asked.path.clone()).filter(|path| !path.is_empty());
    let entry = Unread { index, action: Some("memory".to_owned()), path, label: None, failure, foreign: None };
    (asked, Entry::Unread(entry))
}

fn invalid(index: usize, message: &str, row: Option<&Row>) -> Failure {
    let example = row.or(ROWS.first()).map_or("", |row| row.example);
    let message = match row {
        Some(row) => format!("action {index}, `memory`: `{}`: {message}", row.name),
        None => format!("action {index}, `memory`: {message}"),
    };
    Failure::new(Code::InvalidAction, message).with_hint(format!("send for example {example}"))
}

/// Finds the command that an input names, and the first mistake in its keys.
fn row_of(index: usize, input: &mut Map<String, Value>) -> Result<&'static Row, Failure> {
    let Some(name) = input.shift_remove(COMMAND) else {
        return Err(invalid(index, "missing `command`", None));
    };
    let Some(row) = ROWS.iter().find(|row| Some(row.name) == name.as_str()) else {
        let names: Vec<_> = ROWS.iter().map(|row| format!("`{}`", row.name)).collect();
        let message = format!("action {index}, `memory`: unknown command `{}`", shorten(name.as_str().unwrap_or("")));
        let hint = format!("the commands are {}", names.join(", "));
        return Err(Failure::new(Code::InvalidAction, message).with_hint(hint));
    };
    if let Some(key) = row.required.iter().find(|key| !input.contains_key(**key)) {
        return Err(invalid(index, &format!("missing `{key}`"), Some(row)));
    }
    let takes = |key: &str| row.required.contains(&key) || row.optional.contains(&key);
    if let Some(key) = input.keys().find(|key| !takes(key)) {
        return Err(invalid(index, &format!("unknown argument `{}`", shorten(key)), Some(row)));
    }
    Ok(row)
}

/// The action that an input means; `asked` gets what the answer repeats.
fn action(index: usize, input: &mut Map<String, Value>, asked: &mut Asked) -> Result<Action, Mistake> {
    let row = row_of(index, input)?;
    asked.command = Some(row.command);
    let mut given = Given { index, row, input };
    match row.command {
        Command::View => given.view(asked),
        Command::Create => given.create(asked),
        Command::StrReplace => given.replace(asked),
        Command::Insert => given.insert(asked),
        Command::Delete => given.delete(asked),
        Command::Rename => given.rename(asked),
    }
}

/// The arguments of a command while they are read.
struct Given<'i> {
    index: usize,
    row: &'static Row,
    input: &'i mut Map<String, Value>,
}

impl Given<'_> {
    fn invalid(&self, message: &str) -> Failure {
        invalid(self.index, message, Some(self.row))
    }

    /// A text, empty where it may be left out and is.
    fn text(&mut self, key: &str) -> Result<String, Failure> {
        match self.input.shift_remove(key) {
            Some(Value::String(text)) => Ok(text),
            None => Ok(String::new()),
            Some(_) => Err(self.invalid(&format!("`{key}` has to be a text"))),
        }
    }

    /// The place that a path names, and the path as the answer repeats it.
    fn place(&mut self, key: &str, written: &mut String) -> Result<Option<MemoryPath>, Mistake> {
        let path = self.text(key)?;
        *written = place::echo(&path);
        place::parse(&path)
    }

    /// A place that is not the root; `said` is what is published for the root.
    fn below(&self, place: Option<MemoryPath>, said: Option<String>) -> Result<MemoryPath, Mistake> {
        let failure = || self.invalid(&format!("`{ROOT}` is the memory itself, not a file in it"));
        place.ok_or_else(|| Mistake { failure: failure(), said })
    }

    fn view(&mut self, asked: &mut Asked) -> Result<Action, Mistake> {
        let place = self.place("path", &mut asked.path)?;
        asked.range = self.range()?;
        Ok(match place {
            Some(path) => Action::ReadFile(ReadFile { path, start_line: None, end_line: None, as_of: None }),
            None => Action::ListDirectory(ListDirectory { path: None }),
        })
    }

    /// The lines that a view is to show.
    fn range(&self) -> Result<Option<(u64, Option<u64>)>, Failure> {
        let Some(given) = self.input.get("view_range") else { return Ok(None) };
        let wrong = || self.invalid("`view_range` has to be two whole numbers, the second -1 for the end");
        let numbers: Vec<_> = given.as_array().ok_or_else(wrong)?.iter().map(Value::as_i64).collect();
        match numbers.as_slice() {
            [] => Ok(None),
            [Some(start), Some(end)] if *end >= -1 => {
                Ok(Some((u64::try_from(*start).unwrap_or(1).max(1), u64::try_from(*end).ok())))
            }
            _ => Err(wrong()),
        }
    }

    fn create(&mut self, asked: &mut Asked) -> Result<Action, Mistake> {
        let place = self.place("path", &mut asked.path)?;
        let content = self.text("file_text")?;
        let path = self.below(place, Some(format!("File {} already exists", asked.path)))?;
        Ok(Action::CreateFile(CreateFile { path, content }))
    }

    fn replace(&mut self, asked: &mut Asked) -> Result<Action, Mistake> {
        let place = self.place("path", &mut asked.path)?;
        let (old_content, new_content) = (self.text("old_str")?, self.text("new_str")?);
        let path = self.below(place, Some(format!("The path {} is not a file.", asked.path)))?;
        if old_content.is_empty() {
            return Err(self.invalid("`old_str` is empty").into());
        }
        asked.other.clone_from(&old_content);
        Ok(Action::UpdateFile(UpdateFile { path, old_content, new_content, occurrence: None }))
    }

    fn insert(&mut self, asked: &mut Asked) -> Result<Action, Mistake> {
        let place = self.place("path", &mut asked.path)?;
        let text = self.text("insert_text")?;
        let line = self.input.get("insert_line").and_then(Value::as_i64);
        asked.line = line.ok_or_else(|| self.invalid("`insert_line` has to be a whole number"))?;
        let path = self.below(place, Some(format!("The path {} is not a file.", asked.path)))?;
        // A line that no note has is refused where it is known how many there are.
        let line = u32::try_from(asked.line).unwrap_or(u32::MAX);
        // Whole lines go in, with one line end of their own.
        let content = format!("{}\n", text.trim_end_matches(['\n', '\r']));
        Ok(Action::InsertText(InsertText { path, line, content }))
    }

    fn delete(&mut self, asked: &mut Asked) -> Result<Action, Mistake> {
        let place = self.place("path", &mut asked.path)?;
        let path = self.below(place, Some(format!("Cannot delete the {ROOT} directory itself")))?;
        Ok(Action::DeleteFile(DeleteFile { path }))
    }

    fn rename(&mut self, asked: &mut Asked) -> Result<Action, Mistake> {
        let (old, new) = (self.place("old_path", &mut asked.path)?, self.place("new_path", &mut asked.other)?);
        let new_path = self.below(new, Some(format!("The destination {} already exists", asked.other)))?;
        let path = self.below(old, None)?;
        Ok(Action::RenameFile(RenameFile { path, new_path }))
    }
}
