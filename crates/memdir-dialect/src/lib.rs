//! Text that a model wrote, read into calls, and the answer to it.
//!
//! Owns the ways in which calls are written and every leniency towards them ([`Repair`]). Touches text, JSON values
//! and the catalog. Never fails, never evaluates anything, and never guesses content: what could change the meaning
//! of a call is refused as an [`Unread`] that says how to write it.

#![warn(clippy::wildcard_enum_match_arm)]

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use memdir_core::action::Call;
use memdir_core::report::{Code, Failure, Issue, Outcome, Report, Variables};

mod block;
mod call;
mod detect;
mod json;
mod lines;
mod mcp_block;
mod memory_tool;
mod native;
mod preview;
mod python;
mod quote;
mod repair;
mod tag;
mod tagged;
mod tool_call;
mod turn;

pub use preview::Preview;
pub use repair::Repair;
pub use tool_call::Answer as ToolAnswer;

/// A way of writing calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// `<think>`, `<actions>` with a JSON list, `<reply>`.
    Native,
    /// The same with three actions on whole lines, for small models.
    Lines,
    /// `<mcp:tool>` blocks in a text.
    McpBlock,
    /// The `<python>` blocks of the tuned mem-agent model, read and never run.
    Python,
    /// Tool calls as the interfaces of OpenAI, Anthropic and Gemini give them.
    ToolCall,
    /// The memory tool of Anthropic.
    MemoryTool,
}

/// What the answer to a text has to repeat of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame {
    /// Of [`Dialect::Native`].
    Native,
    /// Of [`Dialect::Lines`].
    Lines,
    /// Of [`Dialect::McpBlock`].
    McpBlock(mcp_block::Frame),
    /// Of [`Dialect::Python`].
    Python,
    /// Of [`Dialect::ToolCall`].
    ToolCall(tool_call::Frame),
    /// Of [`Dialect::MemoryTool`].
    MemoryTool(memory_tool::Frame),
}

impl Frame {
    /// The dialect whose frame it is.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Native => Dialect::Native,
            Self::Lines => Dialect::Lines,
            Self::McpBlock(_) => Dialect::McpBlock,
            Self::Python => Dialect::Python,
            Self::ToolCall(_) => Dialect::ToolCall,
            Self::MemoryTool(_) => Dialect::MemoryTool,
        }
    }

    /// Whether the text itself asks that one failure undoes all of it.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        matches!(self, Self::ToolCall(frame) if frame.is_atomic())
    }
}

/// What a text says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Parsed {
    /// What the answer has to repeat.
    pub frame: Frame,
    /// Its calls, in the order of the text; each one's `index` is its place in this list, from 1.
    pub entries: Vec<Entry>,
    /// The block whose calls follow, where each depends on what became of those before.
    pub script: Option<python::Script>,
    /// What it says to the person.
    pub reply: Option<String>,
    /// What was mended, noticed or left aside.
    pub issues: Vec<Issue>,
}

/// One call of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Entry {
    /// A call that can be reviewed.
    Call(Call),
    /// A call that cannot be read, or may not run as it stands.
    Unread(Unread),
}

/// A call that cannot be read, or may not run as it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unread {
    /// Its place among the calls of the text, from 1.
    pub index: usize,
    /// The action that it named, if it named one.
    pub action: Option<String>,
    /// Its path as the model wrote it.
    pub path: Option<String>,
    /// The name that its result would get.
    pub label: Option<String>,
    /// What is wrong, and what to send instead.
    pub failure: Failure,
    /// The call itself, where all that is wrong is that no action has its name: a tool of another server may have it.
    pub foreign: Option<Foreign>,
}

/// A whole call of something that is no action.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Foreign {
    /// What it names.
    pub name: String,
    /// Its arguments, without what belongs to every call: `action`, `assign_to` and `has_explicit_permission`.
    pub arguments: Map<String, Value>,
}

impl From<Unread> for Outcome {
    /// What became of it: nothing.
    fn from(unread: Unread) -> Self {
        let Unread { index, action, path, label, failure, foreign: _ } = unread;
        Self { index, action, path, result: Err(failure), total: None, cursor: None, label, shown: None }
    }
}

impl Parsed {
    /// Calls that no text holds, made by the program itself.
    #[must_use]
    pub fn of(calls: impl IntoIterator<Item = Call>) -> Self {
        let entries = calls.into_iter().map(Entry::Call).collect();
        Self { frame: Frame::Native, entries, script: None, reply: None, issues: Vec::new() }
    }

    /// Whether the text holds neither a call nor a reply.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.script.is_none() && self.reply.is_none()
    }

    /// Why a text can do nothing at all: it has no reply, and no call whose action could be read. `None` for every other text.
    #[must_use]
    pub fn nothing_read(&self) -> Option<Failure> {
        let is_named = |entry: &Entry| match entry {
            Entry::Call(_) => true,
            Entry::Unread(unread) => unread.action.is_some(),
        };
        if self.reply.is_some() || self.script.is_some() || self.entries.iter().any(is_named) {
            return None;
        }
        let unread = self.entries.iter().find_map(|entry| match entry {
            Entry::Unread(unread) => Some(&unread.failure),
            Entry::Call(_) => None,
        });
        Some(match unread {
            Some(failure) => Failure { code: Code::NoActions, ..failure.clone() },
            None => Failure::new(Code::NoActions, "the text holds neither actions nor a reply").with_hint(
                match self.dialect() {
                    Dialect::Python => "send <python>…</python> or <reply>…</reply>",
                    Dialect::McpBlock => "send <mcp:tool>…</mcp:tool> or <reply>…</reply>",
                    Dialect::Native | Dialect::Lines | Dialect::ToolCall | Dialect::MemoryTool => {
                        "send <actions>[{\"action\":\"read_file\",\"path\":\"user.md\"}]</actions> or <reply>…</reply>"
                    }
                },
            ),
        })
    }

    /// The same calls, of which none may run for this reason.
    #[must_use]
    pub fn refused(self, failure: &Failure) -> Self {
        let refused = |entry: Entry| match entry {
            Entry::Call(call) => Unread {
                index: call.index,
                action: Some(call.action.name().to_owned()),
                path: call.action.path().map(ToString::to_string),
                label: call.label,
                failure: failure.clone(),
                foreign: None,
            },
            Entry::Unread(unread) => Unread { failure: failure.clone(), foreign: None, ..unread },
        };
        let entries = self.entries.into_iter().map(refused).map(Entry::Unread).collect();
        Self { entries, script: None, ..self }
    }

    /// The dialect in which it was written.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.frame.dialect()
    }

    /// Goes through its calls, from the first.
    #[must_use]
    pub fn turn(&self) -> Turn<'_> {
        Turn { entries: self.entries.iter(), run: self.script.as_ref().map(python::Script::run) }
    }
}

/// The calls of a text one after the other. What comes next may depend on what became of those before.
#[derive(Debug)]
pub struct Turn<'p> {
    entries: std::slice::Iter<'p, Entry>,
    run: Option<python::Run<'p>>,
}

impl<'p> Turn<'p> {
    /// The next call; `None` at the end of the text.
    pub fn next_entry(&mut self) -> Option<Cow<'p, Entry>> {
        match self.entries.next() {
            Some(entry) => Some(Cow::Borrowed(entry)),
            None => self.run.as_mut()?.next_entry().map(Cow::Owned),
        }
    }

    /// Says what became of the call before, or what would.
    pub fn tell(&mut self, outcome: &Outcome) {
        if let Some(run) = &mut self.run {
            run.tell(outcome);
        }
    }

    /// What was noticed on the way.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        let unnoticed = self.run.iter().flat_map(python::Run::unnoticed);
        unnoticed.map(|index| Repair::UnnoticedFailure.issue(Some(index))).collect()
    }

    /// The variables that the text has set by itself; `None` where only `assign_to` names results.
    #[must_use]
    pub fn variables(self) -> Option<Variables> {
        self.run.map(python::Run::variables)
    }
}

/// Reads what a model wrote.
///
/// Never fails: what cannot be read is an [`Unread`] in its place, or an issue. Only calls outside thoughts,
/// replies, quotes and examples count. A call that writes is an [`Entry::Call`] only when the list that holds it is
/// whole and every text in it was closed by the model. Spans count bytes of `input`, or of its lossy decoding
/// where it is no UTF-8; they are empty where the text is JSON of a provider.
///
/// The work is linear in the length of `input`, whatever stands in it.
///
/// # Examples
///
/// ```
/// use memdir_dialect::{Entry, parse};
///
/// let parsed = parse(b"<actions>[{\"action\":\"read_file\",\"path\":\"user.md\"},]</actions><reply>One moment.</reply>");
/// assert!(matches!(parsed.entries.as_slice(), [Entry::Call(call)] if call.action.name() == "read_file"));
/// assert_eq!(parsed.reply.as_deref(), Some("One moment."));
/// assert_eq!(parsed.issues[0].message, "a comma before `]` was ignored");
/// ```
#[must_use]
pub fn parse(input: &[u8]) -> Parsed {
    parse_as(input, None, &Variables::default())
}

/// Reads what a model wrote in one dialect, or by what the text holds for `None`, in a conversation that has set `variables`.
///
/// A text that is not of the dialect holds no calls. `<reply>` belongs to each dialect that has tags.
#[must_use]
pub fn parse_as(input: &[u8], dialect: Option<Dialect>, variables: &Variables) -> Parsed {
    let text = String::from_utf8_lossy(input);
    let is_lossy = matches!(text, Cow::Owned(_));
    detect::parse(&text, is_lossy, dialect, variables)
}

/// Reads a single tool call, as `tools/call` of MCP has it: a tool by its name, with arguments that are JSON already.
///
/// The answer to it is [`answer_tool_call`]'s.
///
/// # Examples
///
/// ```
/// use memdir_dialect::{Entry, parse_tool_call};
///
/// let arguments = serde_json::json!({"path": "user.md"});
/// let parsed = parse_tool_call("read_file", arguments.as_object().cloned().unwrap_or_default());
/// assert!(matches!(parsed.entries.as_slice(), [Entry::Call(call)] if call.action.name() == "read_file"));
/// ```
#[must_use]
pub fn parse_tool_call(name: &str, arguments: Map<String, Value>) -> Parsed {
    tool_call::parse_one(name, arguments)
}

/// Gives the answer to what [`parse_tool_call`] has read.
#[must_use]
pub fn answer_tool_call(frame: &Frame, report: &Report) -> ToolAnswer {
    match frame {
        Frame::ToolCall(frame) => tool_call::answer_one(frame, report),
        Frame::Native | Frame::Lines | Frame::McpBlock(_) | Frame::Python | Frame::MemoryTool(_) => {
            ToolAnswer { text: encode(frame, report), structured: None, is_error: report.error.is_some() }
        }
    }
}

/// Writes the answer to a text in the dialect in which it came.
///
/// The text of a note can neither end the answer nor be taken for actions where the answer is repeated: the `<` of
/// each tag in it is written as `\u003c`, which is the same JSON.
#[must_use]
pub fn encode(frame: &Frame, report: &Report) -> String {
    match frame {
        Frame::Native | Frame::Lines => native::encode(report),
        Frame::McpBlock(frame) => mcp_block::encode(frame, report),
        Frame::Python => python::encode(report),
        Frame::ToolCall(frame) => tool_call::encode(frame, report),
        Frame::MemoryTool(frame) => memory_tool::encode(frame, report),
    }
}

#[cfg(test)]
mod tests;
