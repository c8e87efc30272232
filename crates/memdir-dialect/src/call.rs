//! From the items of blocks to [`Entry`]s: the envelope of a call, and what may not run.
//!
//! Owns the keys that every call has, and the refusals that depend on where a call stands. Arguments are read by
//! [`catalog::decode`].

use serde_json::{Map, Value};

use super::block::{Block, Body, Break, Cause, Item, Place};
use super::json::Defect;
use super::repair::Repair;
use super::{Entry, Foreign, Unread, lines};
use memdir_core::action::{Access, Action, Call, Meaning};
use memdir_core::catalog::{self, ACTION, LABEL, PERMISSION, Row, nearest, row, shorten};
use memdir_core::path::MAX_PATH_BYTES;
use memdir_core::report::{Code, Failure, Issue};

/// Keys under which other dialects name the action.
const OTHER_NAMES: &[&str] = &["name", "tool", "tool_name", "function", "type", "command", "operation"];

/// Why no call of a block may write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Hold {
    /// The text ended in the block.
    Cut,
    /// The list of the block does not end.
    Unclosed,
    /// The block cannot be read to its end.
    Broken,
    /// A block before it has no certain end.
    Doubt,
}

/// Whose names the calls of a text have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Names {
    /// Those of the catalog.
    Native,
    /// Those of [`lines`].
    Lines,
}

/// Entries while they are gathered.
#[derive(Debug)]
pub(super) struct Entries<'t> {
    text: &'t str,
    names: Names,
    /// Whether the bytes that came in were no UTF-8.
    is_lossy: bool,
    pub(super) entries: Vec<Entry>,
    pub(super) issues: Vec<Issue>,
}

impl<'t> Entries<'t> {
    pub(super) fn new(text: &'t str, is_lossy: bool) -> Self {
        Self { text, names: Names::Native, is_lossy, entries: Vec::new(), issues: Vec::new() }
    }

    /// The same for calls that have other names than those of the catalog.
    pub(super) fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Adds the calls of a block that starts at `start`; after a block in doubt none of them may write.
    pub(super) fn add(&mut self, block: Block, start: usize, is_after_doubt: bool) {
        let hold = match &block.broken {
            Some(Break { cause: Cause::Cut, .. }) => Some(Hold::Cut),
            Some(Break { cause: Cause::Unclosed, .. }) => Some(Hold::Unclosed),
            Some(Break { cause: Cause::Broken { .. }, .. }) => Some(Hold::Broken),
            None => is_after_doubt.then_some(Hold::Doubt),
        };
        let mut place = Place::start(start);
        let has_items = !block.items.is_empty();
        for item in block.items {
            let entry = self.entry(item, &mut place, hold);
            self.entries.push(entry);
        }
        let Some(broken) = block.broken else { return };
        // A list that ends between two calls has lost none that could be named; the calls before it say so.
        let is_between = broken.partial.is_none() && has_items;
        if !(is_between && matches!(broken.cause, Cause::Cut | Cause::Unclosed)) {
            let entry = self.broken(broken);
            self.entries.push(Entry::Unread(entry));
        }
    }

    /// Says that a block was not run which repeats the one whose calls were added last.
    pub(super) fn echo(&mut self) {
        let issue = Repair::EchoedBlock.issue(Some(self.entries.len()));
        if self.issues.last() != Some(&issue) {
            self.issues.push(issue);
        }
    }

    fn index(&self) -> usize {
        self.entries.len() + 1
    }

    /// The entry for the place where a block breaks off.
    fn broken(&self, broken: Break) -> Unread {
        let index = self.index();
        let head = match &broken.partial {
            Some(Item { body: Body::Object(map), .. }) => Head::of(map),
            _ => Head::default(),
        };
        let what = subject(index, head.action.as_deref());
        let failure = match broken.cause {
            Cause::Cut => invalid(format!("{what}: the text was cut off here, so nothing of it was done"))
                .with_hint("send the whole block again, in several blocks if it is too long"),
            Cause::Unclosed => invalid(format!("{what}: the list of actions ends here, so nothing of it was done"))
                .with_hint("end the list with `]` before `</actions>`, and send it again"),
            Cause::Broken { message, hint } => invalid(format!("{what}: {message}")).with_hint(hint),
        };
        head.fails(index, failure)
    }

    fn entry(&mut self, item: Item, place: &mut Place, hold: Option<Hold>) -> Entry {
        let index = self.index();
        let map = match item.body {
            Body::Object(map) => map,
            Body::Other(value) => {
                let failure = invalid(format!("action {index}: has to be an object, not {}", kind(&value)));
                return Entry::Unread(Head::default().fails(index, failure.with_hint(form())));
            }
        };
        let head = Head::of(&map);
        let foreign = if item.defect.is_none() { self.foreign(&map, hold) } else { None };
        let call = match item.defect {
            Some(defect) => Err(self.defect(&subject(index, head.action.as_deref()), place, &defect)),
            None => self.call(index, map, hold),
        };
        match call {
            Ok((action, label, claimed)) => {
                let meaning = match self.names {
                    Names::Native => Meaning::Plain,
                    Names::Lines => Meaning::WholeLine,
                };
                Entry::Call(Call { label, claimed, span: item.span, meaning, ..Call::plain(index, action) })
            }
            Err(failure) => Entry::Unread(Unread { foreign, ..head.fails(index, failure) }),
        }
    }

    /// A call as one of something that is no action, where all of it is there and nothing else is wrong with it.
    fn foreign(&self, map: &Map<String, Value>, hold: Option<Hold>) -> Option<Foreign> {
        let name = map.get(ACTION).and_then(Value::as_str).filter(|name| !name.is_empty())?;
        if hold.is_some() || self.is_lossy || row(name).is_some() || lines::row(name).is_some() {
            return None;
        }
        let mut arguments = map.clone();
        arguments.retain(|key, _| ![ACTION, LABEL, PERMISSION].contains(&key.as_str()));
        Some(Foreign { name: name.to_owned(), arguments })
    }

    fn defect(&self, what: &str, place: &mut Place, defect: &Defect) -> Failure {
        match defect {
            Defect::Duplicate(key) => {
                let failure = invalid(format!("{what}: `{}` is given twice", shorten(key)));
                failure.with_hint("give it once; several changes are several actions")
            }
            Defect::Escape { at } => {
                let rest = self.text.get(*at..).unwrap_or_default();
                let place = place.name(self.text, *at);
                let half = rest.get(..6).filter(|half| half.bytes().skip(2).all(|digit| digit.is_ascii_hexdigit()));
                if let Some(half) = half.filter(|half| half.starts_with("\\u")) {
                    let failure = invalid(format!("{what}: `{half}` at {place} is half of a character"));
                    return failure.with_hint("write the character itself instead of its numbers");
                }
                let escape: String = rest.chars().take(2).collect();
                let failure = invalid(format!("{what}: `{}` at {place} is no escape of JSON", shorten(&escape)));
                failure.with_hint("write a backslash in a text as `\\\\`")
            }
            Defect::Number { at } => {
                let failure = invalid(format!("{what}: no number at {}", place.name(self.text, *at)));
                failure.with_hint("write a number such as `12`")
            }
        }
    }

    /// The row of an action, by the names that count here.
    fn row(&self, index: usize, name: &str) -> Result<&'static Row, Failure> {
        match (self.names, row(name), lines::row(name)) {
            (Names::Native, Some(row), _) | (Names::Lines, _, Some(row)) => Ok(row),
            (Names::Native, None, Some(row)) => Err(lines::beside_others(index, row)),
            (Names::Native, None, None) => Err(catalog::unknown_action(index, name)),
            (Names::Lines, _, None) => Err(lines::unknown_action(index, name)),
        }
    }

    /// Reads the arguments of an action that writes.
    fn action(&mut self, index: usize, row: &Row, arguments: Map<String, Value>) -> Result<Action, Failure> {
        match self.names {
            Names::Native => catalog::decode(index, row.name, arguments),
            Names::Lines => {
                let (action, is_trimmed) = lines::decode(index, row, arguments)?;
                if is_trimmed {
                    self.issues.push(Repair::LineBreakAtEnd.issue(Some(index)));
                }
                Ok(action)
            }
        }
    }

    /// Takes the envelope off and decides whether the call may run.
    fn call(
        &mut self,
        index: usize,
        mut map: Map<String, Value>,
        hold: Option<Hold>,
    ) -> Result<(Action, Option<String>, bool), Failure> {
        let name = match map.shift_remove(ACTION) {
            Some(Value::String(name)) => name,
            Some(other) => {
                let failure = invalid(format!("action {index}: `{ACTION}` has to be a text, not {}", kind(&other)));
                return Err(failure.with_hint(form()));
            }
            None => return Err(nameless(index, &map)),
        };
        let row = self.row(index, &name)?;
        let what = subject(index, Some(&name));
        let label = label(&what, map.shift_remove(LABEL))?;
        let claimed = map.shift_remove(PERMISSION);
        if row.access == Access::Read {
            if claimed.is_some_and(|claimed| !claimed.is_null()) {
                self.issues.push(Repair::IgnoredPermission.issue(Some(index)));
            }
            return Ok((catalog::decode(index, &name, map)?, label, false));
        }
        let claimed = match claimed {
            None | Some(Value::Null) => false,
            Some(Value::Bool(claimed)) => claimed,
            Some(other) => {
                let failure =
                    invalid(format!("{what}: `{PERMISSION}` has to be `true` or `false`, not {}", kind(&other)));
                return Err(failure.with_hint("set it to `true` only after the user has agreed"));
            }
        };
        let is_example = is_example(row, &map);
        let is_damaged = self.is_lossy && map.values().any(is_damaged);
        let action = self.action(index, row, map)?;
        if is_example {
            let failure = invalid(format!("{what}: this is the example of the prompt, word for word"));
            return Err(failure.with_hint("send what you mean to change, or nothing"));
        }
        if is_damaged {
            let failure = invalid(format!("{what}: its text was damaged on the way: it holds bytes that are no UTF-8"));
            return Err(failure.with_hint("send it again as UTF-8"));
        }
        match hold {
            Some(hold) => Err(hold.failure(&what)),
            None => Ok((action, label, claimed)),
        }
    }
}

/// What an [`Unread`] keeps of its call.
#[derive(Debug, Default)]
struct Head {
    action: Option<String>,
    path: Option<String>,
    label: Option<String>,
}

impl Head {
    fn of(map: &Map<String, Value>) -> Self {
        let text = |key: &str| map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let cap = |text: &str| if text.len() > MAX_PATH_BYTES { shorten(text) } else { text.to_owned() };
        Self { action: text(ACTION).map(shorten), path: text("path").map(cap), label: text(LABEL).map(cap) }
    }

    fn fails(self, index: usize, failure: Failure) -> Unread {
        let Self { action, path, label } = self;
        Unread { index, action, path, label, failure, foreign: None }
    }
}

impl Hold {
    fn failure(self, what: &str) -> Failure {
        let again = "send the whole block again";
        match self {
            Self::Cut => {
                invalid(format!("{what}: the text was cut off after this call, so it was not run")).with_hint(again)
            }
            Self::Unclosed => {
                let failure = invalid(format!("{what}: the list of actions does not end, so it was not run"));
                failure.with_hint("end the list with `]` before `</actions>`, and send it again")
            }
            Self::Broken => {
                let failure = invalid(format!("{what}: the block cannot be read to its end, so it was not run"));
                failure.with_hint("mend the place named below, then send the whole block again")
            }
            Self::Doubt => {
                let failure = invalid(format!("{what}: the block before has no certain end, so it was not run"));
                failure.with_hint("send both blocks again, with `\"` inside a text as `\\\"`")
            }
        }
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidAction, message)
}

/// How messages name a call.
fn subject(index: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("action {index}, `{}`", shorten(name)),
        None => format!("action {index}"),
    }
}

fn label(what: &str, value: Option<Value>) -> Result<Option<String>, Failure> {
    let found = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(label)) if !label.trim().is_empty() => return Ok(Some(label)),
        Some(Value::String(_)) => "an empty one",
        Some(other) => kind(&other),
    };
    let failure = invalid(format!("{what}: `{LABEL}` has to be a text, not {found}"));
    Err(failure.with_hint("name the result, such as `\"assign_to\":\"user\"`"))
}

/// The failure for a call that names no action under the right key.
fn nameless(index: usize, map: &Map<String, Value>) -> Failure {
    let failure = invalid(format!("action {index}: missing `{ACTION}`"));
    let names = |(key, value): (&String, &Value)| {
        OTHER_NAMES.contains(&key.as_str()).then(|| value.as_str().and_then(row)).flatten()
    };
    let meant = map.iter().find_map(names).or_else(|| map.keys().find_map(|key| row(key)));
    if let Some(row) = meant {
        return failure.with_hint(format!("send for example {}", row.example));
    }
    let key = nearest(ACTION, map.keys().take(32).map(String::as_str));
    failure.with_hint(match key {
        Some(key) => format!("`{}` is called `{ACTION}`", shorten(&key)),
        None => form(),
    })
}

fn form() -> String {
    let example = row("read_file").map_or("", |row| row.example);
    format!("send for example {example}")
}

/// Whether a call is the example that the prompt shows for its action.
fn is_example(row: &Row, arguments: &Map<String, Value>) -> bool {
    let Ok(mut example) = serde_json::from_str::<Map<String, Value>>(row.example) else { return false };
    for key in [ACTION, LABEL, PERMISSION] {
        example.shift_remove(key);
    }
    example == *arguments
}

/// Whether a value holds the sign that stands for bytes that are no UTF-8.
fn is_damaged(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(char::REPLACEMENT_CHARACTER),
        Value::Array(values) => values.iter().any(is_damaged),
        Value::Object(map) => {
            map.iter().any(|(key, value)| key.contains(char::REPLACEMENT_CHARACTER) || is_damaged(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
