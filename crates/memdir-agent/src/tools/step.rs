//! A step before the answer, for models that cannot hold a list of tools beside the shape they answer in: small ones, and the tuned one.
//!
//! Owns what such a model is asked and what its decision means: one call, which becomes a turn of its own, or none. What a tool said is
//! shown with the message when it answers.

use tokio_util::sync::CancellationToken;

use super::call::{MOST_FIRST, words};
use super::{callable, prompt};
use crate::asked::{Asked, wishes};
use crate::prompt::examples;
use crate::run::{Run, Turn};
use crate::{Agent, AgentError, Edge, Family, Said, small, staged};
use memdir_core::catalog;
use memdir_core::report::{Outcome, Value};
use memdir_dialect::{self as dialect, Entry};
use memdir_model::{Answer, Message, Request, Role};
use memdir_tools::Tool;

/// How many tokens a decision may have.
const MAX_TOKENS: u32 = 500;

impl Agent<'_> {
    /// Whether the model decides about a call before it answers.
    pub(in crate::tools) fn decides_first(&self) -> bool {
        !self.is_staged() && matches!(self.settings.family, Family::Small | Family::MemAgent)
    }

    /// The few of these tools that fit a message best, and the one before it.
    pub(in crate::tools) fn fitting(&self, offered: &[Tool], asked: &Asked) -> Vec<Tool> {
        let before = asked.before.exchanges.last().map_or("", |exchange| exchange.message.as_str());
        prompt::fitting(offered, &format!("{}\n{before}", asked.message))
    }

    /// Has the model decide whether a tool is called before it answers: the turn that calls it, or an answer without text where none is; and
    /// the milliseconds that it took. `None` where there is nothing to decide.
    pub(crate) fn decide_tool(
        &mut self,
        run: &Run,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        said: &mut Said,
    ) -> Result<Option<(Answer, u64)>, AgentError> {
        let has_begun = run.turns().iter().any(|turn| called(turn).is_none());
        if !self.decides_first() || has_begun || run.is_at_last_turn() || said.tool_calls.len() >= MOST_FIRST {
            return Ok(None);
        }
        let tools = self.fitting(&self.offered(), asked);
        if tools.is_empty() {
            return Ok(None);
        }
        let request = self.decision(&tools, run, asked);
        let (answer, ms) = self.ask_model(&request, asked, edge, stop, &mut said.spent, None)?;
        // What was called so before is known.
        let is_new = |text: &String| run.turns().iter().all(|turn| turn.answer.text != *text);
        let text = staged::decided(&answer).filter(|text| self.is_call(text)).filter(is_new).unwrap_or_default();
        Ok(Some((Answer { text, ..answer }, ms)))
    }

    /// What the model is asked.
    fn decision(&self, tools: &[Tool], run: &Run, asked: &Asked) -> Request {
        let (system, mut messages) = examples(self.prompts.text("tools"));
        let stable = messages.len();
        let lines: String = tools.iter().map(prompt::line).collect();
        let (rest, results) = (wishes(&asked.filters), results(run));
        let sorted = small::Sorted::default();
        let told = small::told_of(&self.turn_of(asked, &asked.notes, &sorted, &rest, &results), &asked.message);
        let today = small::today((self.settings.clock)());
        messages.push(Message { role: Role::User, text: format!("Today: {today}\nTools:\n{lines}{told}") });
        Request {
            system: system.to_owned(),
            messages,
            stable,
            shape: Some(staged::tool_shape(&callable(tools))),
            max_tokens: MAX_TOKENS,
            temperature: self.settings.temperature,
            stop: Vec::new(),
        }
    }

    /// Whether a turn calls tools and does nothing else.
    fn is_call(&self, text: &str) -> bool {
        let parsed = dialect::parse(text.as_bytes());
        let is_tool = |entry: &Entry| match entry {
            Entry::Unread(unread) => unread.foreign.as_ref().is_some_and(|foreign| self.is_tool(&foreign.name)),
            Entry::Call(_) => false,
        };
        calls(text).is_some() && !parsed.entries.is_empty() && parsed.entries.iter().all(is_tool)
    }
}

/// The calls in a text that holds nothing else.
fn calls(text: &str) -> Option<&str> {
    text.strip_prefix("<actions>[")?.strip_suffix("]</actions>")
}

/// The calls of a turn that only called tools, and what came of them.
fn called(turn: &Turn) -> Option<(&str, &[Outcome])> {
    let outcomes = turn.report.as_ref()?.actions.as_slice();
    let is_own = |outcome: &Outcome| outcome.action.as_deref().is_some_and(|name| catalog::row(name).is_some());
    Some((calls(&turn.answer.text)?, outcomes)).filter(|_| !outcomes.iter().any(is_own))
}

/// The calls that were made before the answer, each with what came of it.
pub(crate) fn results(run: &Run) -> Vec<(String, String)> {
    let said = |outcome: &Outcome| match &outcome.result {
        Ok(Value::Foreign(value)) if outcome.cursor.is_some() => format!("{} …", words(value)),
        Ok(Value::Foreign(value)) => words(value).into_owned(),
        Ok(_) => String::new(),
        Err(failure) => format!("failed: {}", failure.message),
    };
    let result = |(call, outcomes): (&str, &[Outcome])| {
        let call = call.split_whitespace().collect::<Vec<_>>().join(" ");
        (call, outcomes.iter().map(said).collect::<Vec<_>>().join("\n"))
    };
    run.turns().iter().filter_map(called).map(result).collect()
}
