//! What is said *about* an action, read from its row.
//!
//! Owns how that is said: JSON schemas, the action list of the prompt, `memdir actions`
//! and the mistakes a call can make are all read from its [`Row`]. Decides nothing about files or permission.

use serde_json::{Map, Value, json};

use crate::action::{Access, Action, Operation};
use crate::digest::Digest;
use crate::path::{MAX_PATH_BYTES, MemoryPath, PathError};
use crate::report::{Code, Failure};

pub mod format;

pub use crate::action::{Effect, Field, Gives, ROWS, Row, Takes};

/// The key that names the action of a call.
pub const ACTION: &str = "action";
/// The key that names the result of a call; every action takes it.
pub const LABEL: &str = "assign_to";
/// The key by which a model says that the person agreed; every writing action takes it.
pub const PERMISSION: &str = "has_explicit_permission";

/// What [`PERMISSION`] means.
const PERMISSION_WORDS: &str = "True only after the user has agreed to store this.";

/// The sentence that asks for permission first, where the mode wants it.
pub const ASK_FIRST: &str =
    "Ask the user before you store anything personal, and set has_explicit_permission only after a yes.";

/// Finds the row of an action.
#[must_use]
pub fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// What an action does to the memory.
#[must_use]
pub fn access(action: &Action) -> Access {
    if let Action::Memory(memory) = action {
        return match memory.operation {
            Operation::Retrieve | Operation::Search | Operation::List => Access::Read,
            Operation::Store | Operation::StoreConversation => Access::Write,
            Operation::Delete => Access::Remove,
        };
    }
    // Every action has a row; one without would be the most dangerous kind.
    row(action.name()).map_or(Access::Remove, |row| row.access)
}

/// The failure for a name that no action has.
///
/// `index` is the place of the call among the calls of its text, from 1.
#[must_use]
pub fn unknown_action(index: usize, name: &str) -> Failure {
    let failure = Failure::new(Code::UnknownAction, format!("action {index}: unknown action `{}`", shorten(name)));
    match nearest(name, ROWS.iter().map(|row| row.name)) {
        Some(nearest) => failure.with_hint(format!("did you mean `{nearest}`?")),
        None => failure.with_hint(format!("the actions are {}", list(ROWS.iter().map(|row| row.name)))),
    }
}

/// Reads a call whose envelope (`action`, `assign_to`, `has_explicit_permission`) is taken off already.
///
/// This is the second of the two steps in which every dialect reads a call. `index` is its place among the calls
/// of its text, from 1. A `null` for an optional argument, and a path that means the root where a folder may be
/// left out, count as left out.
///
/// # Errors
///
/// `unknown_action`, `invalid_action` or `invalid_path`, with the words that teach.
pub fn decode(index: usize, name: &str, mut arguments: Map<String, Value>) -> Result<Action, Failure> {
    let row = row(name).ok_or_else(|| unknown_action(index, name))?;
    row.check(index, &arguments)?;
    for field in row.fields.iter().filter(|field| !field.required) {
        let is_absent = |value: &Value| match value {
            Value::Null => true,
            Value::String(path) => field.takes == Takes::Folder && is_root(path),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        };
        if arguments.get(field.name).is_some_and(is_absent) {
            arguments.remove(field.name);
        }
    }
    let unfit = |error: String| Failure::new(Code::InvalidAction, format!("action {index}, `{name}`: {error}"));
    match Action::decode(name, Value::Object(arguments)) {
        Some(decoded) => decoded.map_err(|error| unfit(error.to_string())),
        None => Err(unknown_action(index, name)),
    }
}

impl Row {
    /// Finds the first mistake in the arguments of a call: what is unknown, missing, or of the wrong type.
    ///
    /// `arguments` is the call without `action`, `assign_to` and `has_explicit_permission`. `index` is its place
    /// among the calls, from 1.
    ///
    /// # Errors
    ///
    /// `invalid_action`, or `invalid_path` for a path that [`MemoryPath::parse`] refuses, with the words that
    /// teach. Arguments that pass here decode.
    pub fn check(&self, index: usize, arguments: &Map<String, Value>) -> Result<(), Failure> {
        let invalid =
            |message: String| Failure::new(Code::InvalidAction, format!("action {index}, `{}`: {message}", self.name));
        if let Some(field) = self.fields.iter().find(|field| field.required && !arguments.contains_key(field.name)) {
            let failure = invalid(format!("missing `{}`", field.name));
            let unknown = arguments.keys().filter(|key| !self.takes(key));
            let hint = match nearest(field.name, unknown.map(String::as_str)) {
                Some(written) => format!("`{}` is called `{}`", shorten(&written), field.name),
                None => format!("send for example {}", self.example),
            };
            return Err(failure.with_hint(hint));
        }
        for (key, value) in arguments {
            let Some(field) = self.fields.iter().find(|field| field.name == key) else {
                let failure = invalid(format!("unknown argument `{}`", shorten(key)));
                let names = || self.fields.iter().map(|field| field.name);
                return Err(failure.with_hint(match nearest(key, names()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("it takes {}", list(names())),
                }));
            };
            field.check(value, &invalid)?;
        }
        Ok(())
    }

    fn takes(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.name == key)
    }

    /// The JSON schema of the arguments, without the envelope, as MCP and the providers take it.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        for field in self.fields {
            properties.insert(field.name.to_owned(), field.schema());
        }
        if self.access > Access::Read {
            properties.insert(PERMISSION.to_owned(), json!({"type": "boolean", "description": PERMISSION_WORDS}));
        }
        let required: Vec<&str> = self.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// The JSON schema of one call inside `<actions>`.
    #[must_use]
    pub fn call_schema(&self, ask_first: bool) -> Value {
        let mut schema = self.schema();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            let rest = std::mem::take(properties);
            properties.insert(ACTION.to_owned(), json!({"const": self.name}));
            properties.extend(rest);
            let words = "A name for the result.";
            properties.insert(LABEL.to_owned(), json!({"type": "string", "description": words}));
        }
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.insert(0, json!(ACTION));
        }
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("title".to_owned(), json!(self.name));
            schema.insert("description".to_owned(), json!(self.words(ask_first)));
        }
        schema
    }

    /// What it does; for writing actions with [`ASK_FIRST`] where the mode of permission wants it.
    #[must_use]
    pub fn words(&self, ask_first: bool) -> String {
        if ask_first && self.access > Access::Read {
            format!("{} {ASK_FIRST}", self.words)
        } else {
            self.words.to_owned()
        }
    }

    /// Its name and arguments as one line, optional ones in brackets: `read_file(path, [start_line])`.
    #[must_use]
    pub fn signature(&self) -> String {
        let fields = self
            .fields
            .iter()
            .map(|field| if field.required { field.name.to_owned() } else { format!("[{}]", field.name) });
        format!("{}({})", self.name, fields.collect::<Vec<_>>().join(", "))
    }
}

impl Field {
    fn check(&self, value: &Value, invalid: &impl Fn(String) -> Failure) -> Result<(), Failure> {
        if value.is_null() && !self.required {
            return Ok(());
        }
        let fits = match self.takes {
            Takes::Path | Takes::Folder => match value.as_str() {
                Some(path) => return self.check_path(path),
                None => false,
            },
            Takes::Text => value.is_string(),
            Takes::FullText => match value.as_str() {
                Some("") => return Err(invalid(format!("`{}` is empty", self.name)).with_hint(self.words)),
                other => other.is_some(),
            },
            Takes::Digest => value.as_str().is_some_and(|text| Digest::parse(text).is_ok()),
            Takes::Number(least) => {
                value.as_u64().is_some_and(|number| number >= least.into() && number <= u32::MAX.into())
            }
            Takes::Flag => value.is_boolean(),
            Takes::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string)),
            Takes::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        };
        if fits {
            return Ok(());
        }
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => format!("`{flag}`"),
            Value::Number(number) => format!("`{number}`"),
            Value::String(text) => format!("the text \"{}\"", shorten(text)),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        Err(invalid(format!("`{}` has to be {}, not {found}", self.name, self.takes.words())).with_hint(self.words))
    }

    fn check_path(&self, path: &str) -> Result<(), Failure> {
        if self.takes == Takes::Folder && is_root(path) {
            return Ok(());
        }
        MemoryPath::parse(path).map(|_| ()).map_err(|error| invalid_path(path, error))
    }

    fn schema(&self) -> Value {
        let mut schema = match self.takes {
            Takes::Path => json!({"type": "string", "minLength": 1, "maxLength": MAX_PATH_BYTES}),
            Takes::Folder | Takes::Text => json!({"type": "string"}),
            Takes::FullText => json!({"type": "string", "minLength": 1}),
            Takes::Digest => json!({"type": "string", "pattern": "^sha256:[0-9a-fA-F]{64}$"}),
            Takes::Number(least) => json!({"type": "integer", "minimum": least}),
            Takes::Flag => json!({"type": "boolean"}),
            Takes::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Takes::OneOf(words) => json!({"type": "string", "enum": words}),
        };
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), json!(self.words));
        }
        schema
    }
}

impl Takes {
    fn words(self) -> String {
        match self {
            Self::Path | Self::Folder => "a path".to_owned(),
            Self::Text | Self::FullText => "a text".to_owned(),
            Self::Digest => "a digest such as `sha256:…`".to_owned(),
            Self::Number(least) => format!("a whole number from {least}"),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::OneOf(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// Whether a path argument that may be the root means it.
fn is_root(path: &str) -> bool {
    matches!(path.trim(), "" | "." | "./" | "/")
}

/// What a prompt has in the place of the list of actions.
const LIST_START: &str = "<!-- actions: made from the catalog -->\n";
const LIST_END: &str = "<!-- end of actions -->\n";

/// Puts the list of actions into a prompt, between its two marks; the marks go.
///
/// `read_only` leaves out what writes; `ask_first` tells the model to ask before it stores something personal. A
/// prompt without the marks stays as it is.
#[must_use]
pub fn prompt(prompt: &str, ask_first: bool, read_only: bool) -> String {
    let parts = prompt.split_once(LIST_START);
    let parts = parts.and_then(|(before, rest)| rest.split_once(LIST_END).map(|(_, after)| (before, after)));
    let Some((before, after)) = parts else { return prompt.to_owned() };
    let mut text = before.to_owned();
    text.push_str(&actions_list(read_only));
    if ask_first {
        text.push_str(&format!("\n{ASK_FIRST}\n"));
    }
    text.push_str(after);
    text
}

/// The list of actions as a prompt has it: a line each.
#[must_use]
pub fn actions_list(read_only: bool) -> String {
    let rows = ROWS.iter().filter(|row| !read_only || row.access == Access::Read);
    rows.map(|row| format!("- `{}`: {}\n", row.signature(), row.words)).collect()
}

/// The failure for a path that [`MemoryPath::parse`] refuses.
#[must_use]
pub fn invalid_path(path: &str, error: PathError) -> Failure {
    let name = path.trim().rsplit('/').find(|name| !name.is_empty() && !name.starts_with('.')).unwrap_or("x.md");
    let hint = match error {
        PathError::Reserved => "names that start with a dot are out of reach".to_owned(),
        PathError::TooLong => format!("at most {MAX_PATH_BYTES} bytes, and 255 between two slashes"),
        PathError::Absolute | PathError::Climbs | PathError::Character | PathError::Empty => {
            let name: String = name.chars().filter(|character| !character.is_control()).take(60).collect();
            format!("send a path such as `entities/{name}`")
        }
    };
    Failure::new(Code::InvalidPath, format!("path `{}` {error}", shorten(path))).with_hint(hint)
}

/// Cuts a name that a model wrote to what fits a sentence, and makes control characters visible.
#[must_use]
pub fn shorten(text: &str) -> String {
    let mut short = String::new();
    for character in text.chars().take(80) {
        if character.is_control() { short.extend(character.escape_default()) } else { short.push(character) }
    }
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    short
}

/// The candidate that is most like `written`, if one is like it at all.
pub fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let written: String = written.chars().take(64).collect::<String>().to_lowercase();
    candidates
        .map(|candidate| (strsim::jaro_winkler(&written, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate.to_owned())
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
