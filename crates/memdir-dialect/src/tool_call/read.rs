//! From the calls of a turn to [`Entry`]s: names, arguments, and what may not run.

use serde_json::{Map, Value};

use super::shape::{Asked, Found, Shape};
use super::tree::Tree;
use super::{Kind, RUN_ACTIONS, Slot};
use crate::block::{Block, Body, Item, MAX_CALLS};
use crate::call::Entries;
use crate::memory_tool::command;
use crate::repair::{Repair, Repairs};
use crate::tag::next_tag;
use crate::{Entry, Foreign, Unread};
use memdir_core::action::{Access, Call, Meaning, Span};
use memdir_core::catalog::{self, ACTION, LABEL, shorten};
use memdir_core::path::MAX_PATH_BYTES;
use memdir_core::report::{Code, Failure, Issue};

/// The calls of a turn, read.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) slots: Vec<Slot>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) issues: Vec<Issue>,
    /// Whether one failure is to undo all.
    pub(crate) is_atomic: bool,
}

/// Reads all calls of a turn.
pub(crate) fn gather(found: &Found<'_>, is_lossy: bool) -> Gathered {
    let mut turn = Turn { found, is_lossy, is_atomic: false, entries: Entries::new("", is_lossy) };
    let mut slots = Vec::with_capacity(found.calls.len());
    for asked in &found.calls {
        let before = turn.entries.entries.len();
        let kind = if before > MAX_CALLS { Kind::Action } else { turn.add(asked) };
        turn.hold(before);
        let count = turn.entries.entries.len() - before;
        slots.push(Slot { id: asked.id.map(str::to_owned), name: name_of(asked), kind, first: before, count });
    }
    let Turn { entries: Entries { mut entries, mut issues, .. }, is_atomic, .. } = turn;
    if entries.len() > MAX_CALLS {
        entries = vec![refused(format!("the turn holds more than {MAX_CALLS} calls"), "send fewer calls in one turn")];
        issues.clear();
        slots.iter_mut().for_each(|slot| (slot.kind, slot.first, slot.count) = (Kind::Action, 0, 1));
    }
    if is_lossy {
        issues.insert(0, Repair::InvalidUtf8.issue(None));
    }
    if found.has_others {
        issues.push(Repair::OtherAnswers.issue(None));
    }
    if holds_block(&found.reply) {
        issues.push(Repair::OtherDialect.issue(None));
    }
    name_ids(&mut slots, found.shape, &mut issues);
    Gathered { slots, entries, issues, is_atomic }
}

/// Whether calls in tags stand in what is said to the person, as servers leave them that do not know a model's way.
fn holds_block(reply: &str) -> bool {
    let mut at = 0;
    while let Some(tag) = next_tag(reply, at) {
        if tag.opens_calls() {
            return true;
        }
        at = tag.end;
    }
    false
}

/// The one entry of a turn that cannot be read at all.
pub(crate) fn refused(message: String, hint: &str) -> Entry {
    let failure = Failure::new(Code::InvalidAction, message).with_hint(hint);
    Entry::Unread(Unread { index: 1, action: None, path: None, label: None, failure, foreign: None })
}

/// Gives each call the id that the answer to it needs.
///
/// Calls are answered by their place, so an id that is missing or there twice changes nothing; where the provider's
/// shape of a result wants one, it is made of the place.
fn name_ids(slots: &mut [Slot], shape: Shape, issues: &mut Vec<Issue>) {
    let mut seen = std::collections::HashSet::new();
    for slot in slots.iter().filter(|slot| slot.id.is_some()) {
        if !seen.insert(slot.id.clone().unwrap_or_default()) {
            issues.push(Repair::RepeatedId.issue(Some(slot.first + 1)));
        }
    }
    if matches!(shape, Shape::Gemini | Shape::Mcp) {
        return;
    }
    for (at, slot) in slots.iter_mut().enumerate().filter(|(_, slot)| slot.id.is_none()) {
        let mut id = format!("call_{}", at + 1);
        while !seen.insert(id.clone()) {
            id.push('_');
        }
        slot.id = Some(id);
        issues.push(Repair::MissingId.issue(Some(slot.first + 1)));
    }
}

fn name_of(asked: &Asked<'_>) -> String {
    asked.name.unwrap_or_default().to_owned()
}

/// A turn while its calls are read.
struct Turn<'f, 't> {
    found: &'f Found<'t>,
    is_lossy: bool,
    is_atomic: bool,
    entries: Entries<'static>,
}

impl Turn<'_, '_> {
    /// Adds the entries of a call.
    fn add(&mut self, asked: &Asked<'_>) -> Kind {
        if let Some(defect) = &asked.defect {
            let hint = "send a call as the provider defines it, with the name of a tool and its arguments once";
            self.unread(asked, None, defect, hint);
            return Kind::Action;
        }
        let Some(name) = asked.name else {
            self.unread(asked, None, "it names no tool", "send the `name` of one of the tools");
            return Kind::Action;
        };
        if name != RUN_ACTIONS && name != "memory" && catalog::row(name).is_none() {
            let mut failure = catalog::unknown_action(self.index(), name);
            if catalog::nearest(name, std::iter::once(RUN_ACTIONS)).is_some() {
                failure = failure.with_hint(format!("did you mean `{RUN_ACTIONS}`?"));
            }
            let foreign = || Some(Foreign { name: name.to_owned(), arguments: arguments(asked.arguments).ok()? });
            let foreign = (!self.is_lossy).then(foreign).flatten();
            self.push(asked, None, failure, foreign);
            return Kind::Action;
        }
        let arguments = match arguments(asked.arguments) {
            Ok(arguments) => arguments,
            Err((message, hint)) => {
                let message = format!("`{}` {message}", self.found.shape.arguments());
                self.unread(asked, None, &message, &hint);
                return Kind::Action;
            }
        };
        match name {
            RUN_ACTIONS => self.actions(asked, arguments),
            "memory" if command::is_command(&arguments) => {
                let (asked, entry) = command::read(self.index(), arguments, self.is_lossy);
                self.entries.entries.push(entry);
                Kind::Memory(Box::new(asked))
            }
            _ => {
                self.action(asked, name, arguments);
                Kind::Action
            }
        }
    }

    fn action(&mut self, asked: &Asked<'_>, name: &str, arguments: Map<String, Value>) {
        if let Some(key) = [ACTION, LABEL].into_iter().find(|key| arguments.contains_key(*key)) {
            let hint = "leave it out; the result is the answer to this call";
            self.unread(asked, Some(&arguments), &format!("`{key}` is no argument of a tool"), hint);
            return;
        }
        let mut call = Map::with_capacity(arguments.len() + 1);
        call.insert(ACTION.to_owned(), name.into());
        call.extend(arguments);
        let first = self.entries.entries.len();
        self.block(vec![Value::Object(call)]);
        for entry in self.entries.entries.iter_mut().skip(first) {
            if let Entry::Unread(Unread { failure: Failure { hint: Some(hint), .. }, .. }) = entry {
                *hint = as_arguments(hint);
            }
        }
    }

    /// Adds the actions of a `run_actions`.
    fn actions(&mut self, asked: &Asked<'_>, mut arguments: Map<String, Value>) -> Kind {
        let (actions, atomic) = (arguments.shift_remove("actions"), arguments.shift_remove("atomic"));
        let form = "send {\"actions\":[{\"action\":\"read_file\",\"path\":\"user.md\"}]}";
        let problem = match (&actions, &atomic) {
            _ if !arguments.is_empty() => Some(("it takes `actions` and `atomic`, and nothing else".to_owned(), form)),
            (None, _) => Some(("missing `actions`".to_owned(), form)),
            (Some(Value::Array(actions)), _) if actions.is_empty() => Some(("`actions` is empty".to_owned(), form)),
            (Some(Value::Array(_)), None | Some(Value::Null | Value::Bool(false))) => None,
            (Some(Value::Array(_)), Some(Value::Bool(true))) if self.found.calls.len() > 1 => Some((
                "with `atomic` it has to be the only call of its turn".to_owned(),
                "send it alone, with all that belongs together in its `actions`",
            )),
            (Some(Value::Array(_)), Some(Value::Bool(true))) => None,
            (Some(Value::Array(_)), Some(_)) => Some(("`atomic` has to be `true` or `false`".to_owned(), form)),
            (Some(_), _) => Some(("`actions` has to be a list".to_owned(), form)),
        };
        if let Some((message, hint)) = problem {
            self.unread(asked, None, &message, hint);
            return Kind::Action;
        }
        self.is_atomic |= atomic == Some(Value::Bool(true));
        if let Some(Value::Array(actions)) = actions {
            self.block(actions);
        }
        Kind::Actions
    }

    /// Adds calls as the native dialect reads them.
    fn block(&mut self, calls: Vec<Value>) {
        let body = |value| match value {
            Value::Object(map) => Body::Object(map),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                Body::Other(other)
            }
        };
        let item = |value| Item { span: Span::default(), body: body(value), defect: None };
        let items = calls.into_iter().take(MAX_CALLS + 1).map(item).collect();
        self.entries.add(Block { items, broken: None, repairs: Repairs::default(), next: 0 }, 0, false);
    }

    fn index(&self) -> usize {
        self.entries.entries.len() + 1
    }

    fn unread(&mut self, asked: &Asked<'_>, arguments: Option<&Map<String, Value>>, message: &str, hint: &str) {
        let index = self.index();
        let what = match asked.name {
            Some(name) => format!("action {index}, `{}`", shorten(name)),
            None => format!("action {index}"),
        };
        let failure = Failure::new(Code::InvalidAction, format!("{what}: {message}")).with_hint(hint);
        self.push(asked, arguments, failure, None);
    }

    fn push(
        &mut self,
        asked: &Asked<'_>,
        arguments: Option<&Map<String, Value>>,
        failure: Failure,
        foreign: Option<Foreign>,
    ) {
        let index = self.index();
        let cap = |path: &str| if path.len() > MAX_PATH_BYTES { shorten(path) } else { path.to_owned() };
        let path = arguments.and_then(|arguments| arguments.get("path")).and_then(Value::as_str).map(cap);
        let action = asked.name.map(shorten);
        self.entries.entries.push(Entry::Unread(Unread { index, action, path, label: None, failure, foreign }));
    }

    /// Lets no call from `first` on write, or go to another server, when the turn was cut off: what stands there may not be all of it.
    fn hold(&mut self, first: usize) {
        let Some(word) = self.found.stopped else { return };
        for entry in self.entries.entries.iter_mut().skip(first) {
            let call = match entry {
                Entry::Call(call) => call,
                Entry::Unread(unread) => {
                    unread.foreign = None;
                    continue;
                }
            };
            if catalog::access(&call.action) == Access::Read {
                continue;
            }
            let Call { index, action, label, .. } = call;
            let message = format!(
                "action {index}, `{}`: the turn ended early (`{}`), so it was not run",
                action.name(),
                shorten(word)
            );
            let hint = "send it again, in smaller parts if it is too long";
            let failure = Failure::new(Code::InvalidAction, message).with_hint(hint);
            let (name, path) = (Some(action.name().to_owned()), action.path().map(ToString::to_string));
            let label = label.take();
            *entry = Entry::Unread(Unread { index: *index, action: name, path, label, failure, foreign: None });
        }
    }
}

/// The arguments of a call, which are an object or a text that holds one; the error says what is wrong, and what to send.
fn arguments(given: Option<&Tree>) -> Result<Map<String, Value>, (String, String)> {
    let parsed;
    let object = match given.map(|given| (given, given.text())) {
        None => return Ok(Map::new()),
        Some((_, Some(text))) if text.trim().is_empty() => return Ok(Map::new()),
        Some((_, Some(text))) => {
            parsed = serde_json::from_str::<Tree>(text).map_err(|error| not_json(&error))?;
            &parsed
        }
        Some((given, None)) => given,
    };
    if object.is_null() {
        return Ok(Map::new());
    }
    if !object.is_object() {
        return Err(("has to be an object".to_owned(), "send the arguments by their names, in `{` and `}`".to_owned()));
    }
    match object.value() {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Ok(Map::new()),
        Err(key) => Err((
            format!("has `{}` twice", shorten(&key)),
            "give it once; several changes are several calls".to_owned(),
        )),
    }
}

/// A hint with the example of an action as the arguments of a tool, which are without its name.
fn as_arguments(hint: &str) -> String {
    let rest = hint.find("{\"").and_then(|at| hint.split_at_checked(at));
    let Some((words, Ok(mut example))) = rest.map(|(words, json)| (words, serde_json::from_str::<Map<_, _>>(json)))
    else {
        return hint.to_owned();
    };
    for key in [ACTION, LABEL] {
        example.shift_remove(key);
    }
    format!("{words}{}", Value::Object(example))
}

fn not_json(error: &serde_json::Error) -> (String, String) {
    let message = format!("is not JSON: {error}");
    let hint = if error.is_eof() {
        "it was cut off; send the call again, in smaller parts if it is too long"
    } else {
        "send it again, with `\"` inside a text as `\\\"` and a line break as `\\n`"
    };
    (message, hint.to_owned())
}

/// A call of the memory tool that can be reviewed.
pub(crate) fn memory_call(index: usize, action: memdir_core::action::Action, claimed: bool) -> Entry {
    Entry::Call(Call { claimed, meaning: Meaning::MemoryTool, ..Call::plain(index, action) })
}
