//! Anthropic's memory tool, `memory_20250818`: six commands on files below `/memories`, which is the root of the memory.
//!
//! Owns its commands and its texts. They are those of the file store in Anthropic's Python SDK (snapshot of 2026-08-07), not
//! those of the documentation, because only the SDK publishes a text for every case. Where the documentation differs:
//!
//! | case | here (SDK) | documentation |
//! | --- | --- | --- |
//! | head of a listing | ends `excluding hidden items:`; folders end in `/`; `node_modules` is shown | `… hidden items and node_modules:` |
//! | `str_replace` | `… edited. Here is the snippet showing the change (with line numbers):`, two lines around | `… edited.` and a snippet |
//! | errors of `create`, `str_replace`, `insert`, `delete`, `rename` | without `Error: ` | with it |
//! | no such path for `insert` | `… does not exist. Please provide a valid path.` | `Error: The path … does not exist` |
//! | `insert_line` out of range | `within the range [0, 3].` | `within the range of lines of the file: [0, 3]` |
//!
//! Deliberately other than the SDK: the size of a folder is that of the files in it; `delete` keeps what it takes away for
//! undo; `rename` rewrites links; line ends and a missing last one stay as they are in the note; a line on which `old_str`
//! stands twice is named once; a path that holds `..` is refused even where it would stay inside, and so is one that spells
//! it with `\` or `%2e`. A view is never truncated: what is larger than a note may be fails instead. What no text is
//! published for, such as a refusal, is memdir's own message and hint.
//!
//! The answer to `tool_use` blocks is a user message, to one bare input (`{"command":"view",…}`) its text, to a list of bare
//! inputs a list of texts.

use serde_json::Value;

use super::block::MAX_CALLS;
use super::tool_call::{self, read, shape, tree::Tree};
use super::{Entry, Parsed};
use memdir_core::report::{Outcome, Report};

pub(super) mod command;
mod place;
mod text;

pub(super) use command::Asked;
pub(super) use text::answer;

/// What the answer has to repeat of the text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frame {
    form: Form,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Form {
    /// Blocks of Anthropic's messages.
    Blocks(tool_call::Frame),
    /// One input by itself.
    One(Box<Asked>),
    /// A list of inputs.
    List(Vec<Asked>),
}

impl Default for Form {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

pub(super) fn parse(text: &str, is_lossy: bool) -> Option<Parsed> {
    let json = match tool_call::json(text)? {
        Ok(json) => json,
        Err(error) => {
            let is_ours = text.contains("\"/memories") && text.contains("\"command\"");
            return is_ours.then(|| tool_call::unreadable(&error));
        }
    };
    let frame = |form| super::Frame::MemoryTool(Frame { form });
    if let Some((form, entries)) = inputs(&json, is_lossy) {
        return Some(Parsed { frame: frame(form), entries, script: None, reply: None, issues: Vec::new() });
    }
    let found = shape::find(&json)?;
    let is_command = |call: &shape::Asked<'_>| {
        call.name == Some("memory") && call.arguments.is_some_and(|input| input.has(command::COMMAND))
    };
    if found.shape != shape::Shape::Anthropic || found.broken.is_some() || found.calls.is_empty() {
        return None;
    }
    if !found.calls.iter().all(is_command) {
        return None;
    }
    let read::Gathered { slots, entries, issues, is_atomic } = read::gather(&found, is_lossy);
    let reply = Some(found.reply.trim().to_owned()).filter(|reply| !reply.is_empty());
    let form = Form::Blocks(tool_call::Frame::of(found.shape, slots, is_atomic));
    Some(Parsed { frame: frame(form), entries, script: None, reply, issues })
}

/// Inputs that stand by themselves: one, or a list of nothing else.
fn inputs(json: &Tree, is_lossy: bool) -> Option<(Form, Vec<Entry>)> {
    if command::is_input(json) {
        let (asked, entry) = command::read_tree(1, json, is_lossy);
        return Some((Form::One(Box::new(asked)), vec![entry]));
    }
    let inputs = json.list().filter(|inputs| (1..=MAX_CALLS).contains(&inputs.len()))?;
    if !inputs.iter().all(command::is_input) {
        return None;
    }
    let read = |(at, input): (usize, &Tree)| command::read_tree(at + 1, input, is_lossy);
    let (asked, entries) = inputs.iter().enumerate().map(read).unzip();
    Some((Form::List(asked), entries))
}

pub(super) fn encode(frame: &Frame, report: &Report) -> String {
    let text = |asked: &Asked, outcome: Option<&Outcome>| match (outcome, &report.error) {
        (Some(outcome), _) => answer(asked, outcome).unwrap_or_else(|error| error),
        (None, Some(failure)) => asked.said.clone().unwrap_or_else(|| text::words(failure)),
        (None, None) => String::new(),
    };
    match &frame.form {
        Form::Blocks(frame) => tool_call::encode(frame, report),
        Form::One(asked) => text(asked, report.actions.first()),
        Form::List(asked) => {
            let texts = asked.iter().enumerate().map(|(at, asked)| text(asked, report.actions.get(at)).into());
            Value::Array(texts.collect()).to_string()
        }
    }
}

#[cfg(test)]
mod tests;
