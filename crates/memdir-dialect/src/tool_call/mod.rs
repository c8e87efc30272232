//! Tool calls in the JSON of OpenAI (Chat Completions and Responses), Anthropic and Gemini.
//!
//! Owns the four shapes: a whole response, its message, its list of calls or parts, or one of them comes in; what the
//! provider wants as results goes out, on one line and in the order of the calls, ready to be sent:
//!
//! | came in as | goes out |
//! | --- | --- |
//! | Chat Completions | a list of `{"role":"tool","tool_call_id","content"}` |
//! | Responses | a list of `{"type":"function_call_output","call_id","output"}` |
//! | Anthropic Messages | one user message, `tool_result` blocks in its `content`, `is_error` on failures |
//! | Gemini | one user content, `functionResponse` parts with `{"output"}` or `{"error"}` as `response` |
//!
//! The content of a result is the text where the value is a note's (`read_file`, `go_to_link`), else `{"value"}` with `path`,
//! `total` and `cursor`, or `{"error"}`. `run_actions` is answered by the object of `exec` for its calls, which have the numbers
//! that they have in the turn; `changed` and `batch` are those of the whole turn, since that is what is undone. A turn that
//! makes no call needs no results: an empty list, or `null` where a message would be empty. What could not be read as a turn at
//! all is answered by `{"error"}`.
//!
//! JSON is read strictly, and a key given twice is refused. Calls are counted by their place, so a missing or repeated id
//! is no failure. Of a turn that ended early no call runs that writes. Text, thoughts and signatures are left alone: the
//! provider's own message is what the caller sends back. Calls of this dialect have no span, for what they say is decoded.

use serde_json::{Map, Value};

use super::Parsed;
use memdir_core::report::Report;
use shape::{Found, Shape};
use tree::Tree;

mod answer;
pub(super) mod read;
pub(super) mod shape;
pub(super) mod tree;

/// The tool that runs a list of actions.
const RUN_ACTIONS: &str = "run_actions";

/// What the answer has to repeat of the text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frame {
    shape: Shape,
    slots: Vec<Slot>,
    is_atomic: bool,
}

/// A call, and where its entries are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Slot {
    /// What the result is addressed to.
    id: Option<String>,
    /// The tool, as the model wrote it.
    name: String,
    kind: Kind,
    /// The place of its first entry, from 0.
    first: usize,
    /// How many entries it has.
    count: usize,
}

/// What a call is answered by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// What became of one action.
    Action,
    /// The object of `exec`.
    Actions,
    /// The text of the memory tool.
    Memory(Box<super::memory_tool::Asked>),
}

impl Frame {
    /// What has to be repeated of a turn in one of the shapes.
    pub(super) fn of(shape: Shape, slots: Vec<Slot>, is_atomic: bool) -> Self {
        Self { shape, slots, is_atomic }
    }

    /// Whether one failure is to undo all of the turn.
    pub(super) fn is_atomic(&self) -> bool {
        self.is_atomic
    }
}

/// What a single tool call is answered by.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer as a text; for a value, its JSON.
    pub text: String,
    /// The answer as a value; `None` where it is the text of a note, or a text of the memory tool.
    pub structured: Option<Value>,
    /// Whether the call has failed, or one of its actions.
    pub is_error: bool,
}

/// Reads a single call whose JSON is read already.
pub(super) fn parse_one(name: &str, arguments: Map<String, Value>) -> Parsed {
    // Keys are there once: whoever read the JSON has seen to it.
    let arguments = Tree::from(Value::Object(arguments));
    let call = shape::Asked { id: None, name: Some(name), arguments: Some(&arguments), defect: None };
    parsed(&Found::one(call), false)
}

/// The answer to a single call.
pub(super) fn answer_one(frame: &Frame, report: &Report) -> Answer {
    answer::one(frame, report)
}

pub(super) fn parse(text: &str, is_lossy: bool) -> Option<Parsed> {
    let json = match json(text)? {
        Ok(json) => json,
        Err(error) => return says_calls(text).then(|| unreadable(&error)),
    };
    let found = shape::find(&json)?;
    (!found.is_empty()).then(|| parsed(&found, is_lossy))
}

/// Reads a text that is JSON by its start; `None` for any other.
pub(super) fn json(text: &str) -> Option<Result<Tree, serde_json::Error>> {
    let text = text.trim_start_matches('\u{feff}');
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text))
}

/// What is said of a text that should be JSON and is not.
pub(super) fn unreadable(error: &serde_json::Error) -> Parsed {
    let hint = if error.is_eof() {
        "it was cut off; send the whole response"
    } else {
        "send the response as the provider gave it"
    };
    let entries = vec![read::refused(format!("the response is not JSON: {error}"), hint)];
    let frame = super::Frame::ToolCall(Frame::default());
    Parsed { frame, entries, script: None, reply: None, issues: Vec::new() }
}

fn parsed(found: &Found<'_>, is_lossy: bool) -> Parsed {
    let reply = Some(found.reply.trim().to_owned()).filter(|reply| !reply.is_empty());
    if let Some(broken) = &found.broken {
        let entries = vec![read::refused(broken.message.clone(), broken.hint)];
        let frame = super::Frame::ToolCall(Frame { shape: found.shape, ..Frame::default() });
        return Parsed { frame, entries, script: None, reply: None, issues: Vec::new() };
    }
    let read::Gathered { slots, entries, issues, is_atomic } = read::gather(found, is_lossy);
    let frame = super::Frame::ToolCall(Frame::of(found.shape, slots, is_atomic));
    Parsed { frame, entries, script: None, reply, issues }
}

/// Whether a text that cannot be read as JSON names calls of a provider, and no action before them.
fn says_calls(text: &str) -> bool {
    const SIGNS: &[&str] = &["\"tool_calls\"", "\"tool_use\"", "\"function_call\"", "\"functionCall\"", "\"function\""];
    let first = SIGNS.iter().filter_map(|sign| text.find(sign)).min();
    first.is_some_and(|first| text.find("\"action\"").is_none_or(|action| first < action))
}

pub(super) fn encode(frame: &Frame, report: &Report) -> String {
    let answer: Value = answer::answer(frame, report);
    answer.to_string()
}

#[cfg(test)]
mod tests;
