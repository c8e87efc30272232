//! What a function of mem-agent answers, to the letter where that model was trained on it.

use serde_json::{Map, Value as Json};

use super::function::Function;
use super::script::Value;
use super::tree;
use memdir_core::report::{self, Code, Failure, Outcome, Shown};

/// How many characters of a text are shown that was not found.
const PREVIEW_CHARACTERS: usize = 50;

/// A call that waits for its answer.
#[derive(Debug)]
pub(super) struct Asked {
    function: Function,
    /// The path or link as the model wrote it.
    path: String,
    /// For `update_file`, the text that is to be replaced.
    old: String,
    /// For `update_file`, whether nothing else is to take its place.
    is_same: bool,
}

impl Asked {
    /// What has to be known of a call when its answer comes, and the action that it is, for which `map` is made ready.
    ///
    /// To put a text in its own place changes nothing, so it only reads.
    pub(super) fn of(function: Function, map: &mut Map<String, Json>) -> (Self, &'static str) {
        let text = |key: &str| map.get(key).and_then(Json::as_str).unwrap_or_default();
        let path = if function == Function::GoToLink { text("link") } else { text("path") }.to_owned();
        let is_same = function == Function::UpdateFile && map.get("old_content") == map.get("new_content");
        let kept = if is_same { usize::MAX } else { PREVIEW_CHARACTERS + 1 };
        let old = text("old_content").chars().take(kept).collect();
        let mut action = function.action();
        if is_same && map.get("old_content").is_some_and(Json::is_string) {
            action = Function::ReadFile.action();
            map.retain(|key, _| key == "path");
        }
        (Self { function, path, old, is_same }, action)
    }

    /// The value that the function gives back.
    pub(super) fn answer(&self, outcome: &Outcome) -> Value {
        match &outcome.result {
            Ok(report::Value::Text(text)) if self.is_same => {
                let is_found = memchr::memmem::find(text.as_bytes(), self.old.as_bytes()).is_some();
                error(if is_found { "No changes were made to the file".to_owned() } else { self.not_found() })
            }
            Ok(report::Value::Paths(_)) => match &outcome.shown {
                Some(Shown::Tree(entries)) => Value::Text(tree::render(entries).into()),
                _ => Value::Text("./".into()),
            },
            Ok(value) => Value::of(value).unwrap_or(Value::None),
            Err(failure) if failure.code == Code::AwaitingApproval => {
                Value::Waits(format!("Error: {}", failure.message).into())
            }
            Err(failure) => self.failed(failure),
        }
    }

    fn failed(&self, failure: &Failure) -> Value {
        let path = &self.path;
        let is_absent = matches!(failure.code, Code::NotFound | Code::NotADirectory);
        match (self.function, failure.code) {
            (Function::DeleteFile, Code::IsADirectory) => Value::Bool(false),
            (Function::DeleteFile, _) if is_absent => Value::Bool(false),
            // Whatever went wrong: a text would be true.
            (Function::CheckIfFileExists | Function::CheckIfDirExists, _) => Value::Bool(false),
            (Function::CreateDir, Code::AlreadyExists) => Value::Bool(false),
            (Function::GetSize, _) if is_absent => Value::Number(0),
            (Function::ReadFile, _) if is_absent => error(format!("File {path} does not exist")),
            (Function::UpdateFile, _) if is_absent => error(format!("File '{path}' does not exist")),
            (Function::UpdateFile, Code::IsADirectory) => error(format!("'{path}' is not a file")),
            (Function::UpdateFile, Code::ContentNotFound) => error(self.not_found()),
            (Function::UpdateFile, Code::AmbiguousMatch) => {
                error(format!("{}; add a line of context", failure.message))
            }
            (Function::UpdateFile, Code::NoWriteAccess) => error(format!("Permission denied writing to '{path}'")),
            (Function::ReadFile, Code::IsADirectory) => error(format!("{path} is not a file")),
            (Function::GoToLink, Code::IsADirectory) => error(format!("{} is not a file", linked(path))),
            (Function::GoToLink, _) if is_absent || failure.code == Code::LinkNotFound => {
                error(format!("File {} not found", linked(path)))
            }
            _ => error(&failure.message),
        }
    }

    fn not_found(&self) -> String {
        let mut preview: String = self.old.chars().take(PREVIEW_CHARACTERS).collect();
        if self.old.chars().nth(PREVIEW_CHARACTERS).is_some() {
            preview.push_str("...");
        }
        format!("Could not find the specified content in the file. Looking for: '{preview}'")
    }
}

/// The path that a link names: without its brackets, and then with `.md`.
fn linked(link: &str) -> String {
    match link.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")) {
        Some(path) if path.ends_with(".md") => path.to_owned(),
        Some(path) => format!("{path}.md"),
        None => link.to_owned(),
    }
}

fn error(words: impl AsRef<str>) -> Value {
    Value::Text(format!("Error: {}", words.as_ref()).into())
}
