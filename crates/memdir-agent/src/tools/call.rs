//! A model's calls of tools: found, asked about, made, and told back in the turn's result.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;

use super::{ConversationToolbox, Hands, ToolCalled, withhold};
use crate::asked::Asked;
use crate::line::Line;
use crate::{Agent, Edge, Event};
use memdir_core::catalog;
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure, Outcome, Value};
use memdir_dialect::{Entry, Foreign, Parsed, Unread};
use memdir_tools::{
    CallError, CallEvents, Elicitation, ElicitationAnswer, Kept, MetaCall, Part, Progress, ServerName, Tool,
    ToolAnswer, ToolCall, find, texts, told, unknown_tool,
};

/// So many tools are called in a turn; and for a message by a model that decides about them before it answers.
const MOST_CALLS: usize = 16;
pub(super) const MOST_FIRST: usize = 3;
/// So many bytes of what a tool says of its failure are told.
const MOST_FAILURE: usize = 1_000;
/// So many letters of a result are shown to the person.
const SUMMARY: usize = 60;

/// What came of a call: something to tell, whole or in part.
type Answered = Result<Part, Failure>;

impl Agent<'_> {
    /// Takes the calls out of a turn that go to other servers.
    pub(crate) fn take_foreign(&self, parsed: &mut Parsed) -> Vec<(Unread, Foreign)> {
        let mut taken = Vec::new();
        let mut kept = Vec::with_capacity(parsed.entries.len());
        for entry in std::mem::take(&mut parsed.entries) {
            match entry {
                Entry::Unread(mut unread) => match unread.foreign.take_if(|foreign| self.is_tool(&foreign.name)) {
                    Some(foreign) => taken.push((unread, foreign)),
                    None => kept.push(Entry::Unread(unread)),
                },
                Entry::Call(call) => kept.push(Entry::Call(call)),
            }
        }
        parsed.entries = kept;
        taken
    }

    /// Makes these calls, one after the other, and says what came of each.
    pub(crate) fn call_foreign(
        &mut self,
        foreign: Vec<(Unread, Foreign)>,
        turn: usize,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        called: &mut Vec<ToolCalled>,
    ) -> Vec<Outcome> {
        if matches!(self.tools.hands, Hands::Replay(_)) {
            return Vec::new();
        }
        if self.tools.kept_for != self.session.id {
            (self.tools.kept, self.tools.kept_for) = (Kept::default(), self.session.id.clone());
        }
        let most = self.most_bytes() / 3 / foreign.len().clamp(1, MOST_CALLS);
        let (most_calls, left, of) = match self.decides_first() {
            true => (MOST_FIRST, MOST_FIRST.saturating_sub(called.len()), "message"),
            false => (MOST_CALLS, MOST_CALLS, "turn"),
        };
        let mut outcomes = Vec::with_capacity(foreign.len());
        for (number, (unread, foreign)) in foreign.into_iter().enumerate() {
            let action = Some(catalog::shorten(&foreign.name));
            let answered = if stop.is_cancelled() {
                Err(CallError::Cancelled.into())
            } else if number < left {
                let mut calling =
                    Calling { turn, most, asked, edge: RefCell::new(&mut *edge), stop, called: &mut *called };
                self.answer_foreign(unread.index, foreign, &mut calling)
            } else {
                let failure = Failure::new(Code::RateLimited, format!("a {of} can call {most_calls} tools"));
                Err(failure.with_hint(format!("call it in the next {of}")))
            };
            let (result, total, cursor) = match answered {
                Ok(Part { value, total, cursor }) => (Ok(Value::Foreign(value)), total, cursor),
                Err(failure) => (Err(failure), None, None),
            };
            let (index, label) = (unread.index, unread.label);
            outcomes.push(Outcome { index, action, path: None, result, total, cursor, label, shown: None });
        }
        outcomes
    }

    fn answer_foreign(&mut self, index: usize, foreign: Foreign, calling: &mut Calling<'_, '_>) -> Answered {
        let Foreign { name, arguments } = foreign;
        match MetaCall::read(index, &name, arguments.clone()).transpose()? {
            None => self.call_tool(&name, arguments, calling),
            Some(MetaCall::Call { name, arguments }) => self.call_tool(&name, arguments, calling),
            Some(MetaCall::More(cursor)) => {
                let (tool, part) = self.tools.kept.more(&cursor, calling.most)?;
                self.hear_tool(&tool, &part.value);
                Ok(part)
            }
            Some(MetaCall::Find { query, limit }) => {
                let offered = self.offered();
                let found: Vec<&Tool> = find(&offered, &query, limit);
                let listed: Vec<Json> = found.iter().map(|tool| tool.listed()).collect();
                for (tool, listed) in found.iter().zip(&listed) {
                    self.hear_tool(tool.name.as_str(), listed);
                }
                Ok(self.part("find_tools", Json::Array(listed), calling))
            }
            Some(MetaCall::Describe(name)) => {
                let offered = self.offered();
                let Some(tool) = offered.iter().find(|tool| tool.name.as_str() == name) else {
                    return Err(unknown_tool(&name, &offered));
                };
                let part = self.part(tool.name.as_str(), tool.described(), calling);
                self.hear_tool(tool.name.as_str(), &part.value);
                Ok(part)
            }
        }
    }

    /// Calls one tool, writes it down, and tells the person.
    fn call_tool(&mut self, name: &str, arguments: Map<String, Json>, calling: &mut Calling<'_, '_>) -> Answered {
        let Hands::Toolbox(toolbox) = &self.tools.hands else {
            return Err(CallError::UnknownTool(name.to_owned()).into());
        };
        let tools = toolbox.tools();
        let Some(tool) = tools.iter().find(|tool| tool.name.as_str() == name) else {
            return Err(unknown_tool(name, &self.offered()));
        };
        let client = calling.asked.caller.author.client.clone();
        let call = ToolCall { tool: tool.name.clone(), arguments: plain(tool, arguments), client };
        let started = (self.settings.clock)();
        let mut switched = self.session.switched();
        let answered = {
            let toolbox = ConversationToolbox { toolbox: toolbox.as_ref(), session: &self.session };
            let edge = &calling.edge;
            let mut ask = |tool: &Tool, arguments: &Map<String, Json>| edge.borrow_mut().decide_tool(tool, arguments);
            let mut events = Relay(edge, &tool.server);
            let caller = &calling.asked.caller;
            self.engine.call_tool(&toolbox, caller, &mut switched, &call, &mut ask, &mut events, calling.stop)
        };
        self.session.tools.allowed = switched.allowed;
        let took = match &answered {
            Ok(answer) => answer.took,
            Err(_) => std::time::Duration::from_millis(
                u64::try_from((self.settings.clock)().since(started).as_millis()).unwrap_or(u64::MAX),
            ),
        };
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let is_cached = answered.as_ref().is_ok_and(|answer| answer.is_cached);
        let json = answered.as_ref().ok().map(|answer| Json::Object(answer.result.clone()).to_string());
        let first = answered.as_ref().ok().and_then(first_text).map(str::to_owned);
        let part =
            answered.and_then(|answer| self.said_by(call.tool.as_str(), &answer, calling)).map_err(|mut failure| {
                failure.message.truncate(failure.message.floor_char_boundary(MOST_FAILURE));
                if failure.details.quotes_server {
                    self.hear_tool(name, &Json::from(failure.message.as_str()));
                }
                failure
            });
        let code = part.as_ref().err().map(|failure| failure.code);
        let bytes = json.as_ref().map_or(0, |json| json.len() as u64);
        self.recorder.write(&Line::Called {
            message: self.session.last,
            turn: calling.turn as u64,
            tool: name.to_owned(),
            arguments: Digest::of(Json::Object(call.arguments).to_string().as_bytes()),
            result: json.map(|json| Digest::of(json.as_bytes())),
            bytes,
            ms,
            code: code.map(|code| code.to_string()),
        });
        let summary = summary(&part, first.as_deref());
        let told = ToolCalled { turn: calling.turn, tool: name.to_owned(), code, bytes, ms, is_cached, summary };
        calling.edge.borrow_mut().hear(Event::ToolCalled(&told));
        calling.called.push(told);
        part
    }

    /// What the model is told of an answer.
    fn said_by(&mut self, tool: &str, answer: &ToolAnswer, calling: &Calling<'_, '_>) -> Answered {
        let part = self.part(tool, told(&answer.result), calling);
        self.hear_tool(tool, &part.value);
        if !answer.is_error() {
            return Ok(part);
        }
        let failure =
            Failure::new(Code::ToolFailed, format!("`{tool}` says that it failed: {}", words(&part.value).trim()));
        Err(failure.with_hint(format!("{{\"action\":\"describe_tool\",\"name\":\"{tool}\"}} tells what it takes")))
    }

    /// A value as far as it is told at once, without what filters take out.
    fn part(&mut self, tool: &str, mut value: Json, calling: &Calling<'_, '_>) -> Part {
        if !calling.asked.filters.is_empty() {
            withhold(&mut value, &calling.asked.filters);
        }
        self.tools.kept.begin(tool, value, calling.most)
    }

    /// Notes that the model was shown this, and whose it is.
    fn hear_tool(&mut self, tool: &str, value: &Json) {
        self.session.tools.words.add(tool, &texts(value));
    }
}

/// What is known while the calls of a turn are made.
struct Calling<'c, 'e> {
    turn: usize,
    /// How many bytes of a result are told at once.
    most: usize,
    asked: &'c Asked,
    edge: RefCell<&'c mut (dyn Edge + 'e)>,
    stop: &'c CancellationToken,
    called: &'c mut Vec<ToolCalled>,
}

/// Tells the person of a call while it runs.
struct Relay<'r, 'c, 'e>(&'r RefCell<&'c mut (dyn Edge + 'e)>, &'r ServerName);

impl CallEvents for Relay<'_, '_, '_> {
    fn progress(&mut self, progress: &Progress) {
        self.0.borrow_mut().hear(Event::ToolProgress(progress));
    }

    fn elicit(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        self.0.borrow_mut().elicit(self.1, elicitation)
    }

    fn is_bounded(&self) -> bool {
        true
    }
}

/// A value as a text: the text that it is, or its JSON.
pub(super) fn words(value: &Json) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
}

/// The arguments of a call; models put them into an `arguments` of their own, which a tool seldom takes.
fn plain(tool: &Tool, arguments: Map<String, Json>) -> Map<String, Json> {
    let is_wrapped = arguments.len() == 1 && !tool.arguments().any(|name| name == "arguments");
    match arguments.get("arguments") {
        Some(Json::Object(inner)) if is_wrapped => inner.clone(),
        _ => arguments,
    }
}

/// The first text of an answer.
fn first_text(answer: &ToolAnswer) -> Option<&str> {
    answer.result.get("content")?.as_array()?.iter().find_map(|block| block.get("text")?.as_str())
}

/// The beginning of what a tool said, or why it said nothing, in a line.
fn summary(part: &Answered, first: Option<&str>) -> String {
    let text = match (part, first) {
        (Err(failure), _) => failure.message.as_str().into(),
        (Ok(_), Some(first)) => first.into(),
        (Ok(Part { value, .. }), None) => words(value),
    };
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
