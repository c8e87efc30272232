//! Going through a block once: what it does by itself, and the calls that somebody else has to answer.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::answer::Asked;
use super::script::{Act, Comparison, LineNumber, Script, Site, Value};
use super::source::quoted;
use super::{invalid, refused};
use crate::{Entry, Unread};
use memdir_core::action::{Call, Meaning};
use memdir_core::catalog::{self, shorten};
use memdir_core::path::MAX_PATH_BYTES;
use memdir_core::report::{Code, Failure, Outcome, Variables};

/// The most bytes of one text that a block makes or is given.
const MAX_VALUE_BYTES: usize = 4 << 20;
/// The most bytes of all texts that a block makes, is given, keeps and sends.
const MAX_BYTES: usize = 64 << 20;

/// Where somebody is in a block.
#[derive(Debug)]
pub(crate) struct Run<'s> {
    script: &'s Script,
    at: usize,
    stack: Vec<Value>,
    /// The variables, by their numbers.
    values: Vec<Option<Value>>,
    /// What the block has set, in the order in which each was first set.
    order: Vec<usize>,
    calls: usize,
    /// The call that nobody has answered yet.
    asked: Option<Asked>,
    /// The call that was answered last, where it failed and nothing was done with the answer yet.
    failed: Option<usize>,
    /// The calls that failed and whose answers the block took no notice of.
    unnoticed: Vec<usize>,
    /// How many bytes of text there were so far.
    spent: usize,
    /// Why it cannot go on.
    trouble: Option<Failure>,
    /// Whether it still has to be said that other blocks are not run.
    has_more: bool,
}

impl<'s> Run<'s> {
    pub(super) fn new(script: &'s Script) -> Self {
        Self {
            script,
            at: 0,
            stack: Vec::new(),
            values: script.names.iter().map(|name| name.given.clone()).collect(),
            order: Vec::new(),
            calls: 0,
            asked: None,
            failed: None,
            unnoticed: Vec::new(),
            spent: 0,
            trouble: None,
            has_more: script.has_more,
        }
    }

    /// The next call that the block makes, after what was told; or why it stops, after which there is nothing more.
    pub(crate) fn next_entry(&mut self) -> Option<Entry> {
        if self.asked.take().is_some() {
            self.stack.push(Value::None);
        }
        while let Some(step) = self.script.steps.get(self.at) {
            self.at += 1;
            let failed = self.failed.take().filter(|_| matches!(step.act, Act::Drop));
            self.unnoticed.extend(failed);
            let done = match self.trouble.take() {
                Some(failure) => Err(failure),
                None => self.act(&step.act),
            };
            match done {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(entry),
                Err(failure) => return Some(self.stop(step.line, failure)),
            }
        }
        if !std::mem::take(&mut self.has_more) {
            return None;
        }
        let failure = invalid("only the first block of a turn is run, so the others were not");
        Some(Entry::Unread(refused(self.calls + 1, failure.with_hint("send one block in each turn"))))
    }

    /// Says what became of the call before.
    pub(crate) fn tell(&mut self, outcome: &Outcome) {
        let Some(asked) = self.asked.take() else { return };
        self.failed = outcome.result.is_err().then_some(self.calls);
        let value = asked.answer(outcome);
        if let Err(failure) = self.spend(value.size()) {
            self.trouble = Some(failure);
        }
        self.stack.push(value);
    }

    /// The calls that failed without the block's notice, also the one after which it was not gone on with.
    pub(crate) fn unnoticed(&self) -> Vec<usize> {
        let last = self.asked.is_some().then_some(self.calls);
        self.unnoticed.iter().copied().chain(last).collect()
    }

    /// What the block has set.
    pub(crate) fn variables(mut self) -> Variables {
        let names = &self.script.names;
        let set = self.order.iter().filter_map(|number| {
            let value = self.values.get_mut(*number)?.take()?;
            Some((names.get(*number)?.text.clone(), value.reported()))
        });
        Variables::new(set.collect::<Vec<_>>())
    }

    fn stop(&mut self, line: LineNumber, failure: Failure) -> Entry {
        self.at = self.script.steps.len();
        self.has_more = false;
        let message = format!("line {line}: {}", failure.message);
        let failure = Failure { message, ..failure };
        Entry::Unread(refused(self.calls + 1, failure))
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::None)
    }

    /// The value on top, to work with it.
    fn pop_known(&mut self) -> Result<Value, Failure> {
        let value = self.pop();
        known(std::slice::from_ref(&value))?;
        Ok(value)
    }

    /// Counts bytes of text; what a block can make is bounded.
    fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.spent = self.spent.saturating_add(bytes);
        if bytes <= MAX_VALUE_BYTES && self.spent <= MAX_BYTES {
            return Ok(());
        }
        let message = "the texts of this block are too large";
        Err(Failure::new(Code::TooLarge, message).with_hint("work on less in one turn"))
    }

    /// Takes one step; answers the call that it makes.
    fn act(&mut self, act: &'s Act) -> Result<Option<Entry>, Failure> {
        match act {
            Act::Push(value) => self.stack.push(value.clone()),
            Act::Load(number) => {
                let value = self.values.get(*number).cloned().flatten();
                let name = || self.script.names.get(*number).map_or("", |name| name.text.as_str());
                let unset = || invalid(format!("{} is not set here", quoted(name()))).with_hint("set it first");
                self.stack.push(value.ok_or_else(unset)?);
            }
            Act::Store(number) => self.store(*number)?,
            Act::Drop => {
                self.pop();
            }
            Act::Join(parts) => self.join(*parts)?,
            Act::Add => self.add()?,
            Act::Not => {
                let value = !self.pop_known()?.is_true();
                self.stack.push(Value::Bool(value));
            }
            Act::Compare { how, is_negated } => {
                let (right, left) = (self.pop_known()?, self.pop_known()?);
                let value = compare(*how, &left, &right)? != *is_negated;
                self.stack.push(Value::Bool(value));
            }
            Act::Jump(to) => self.at = *to,
            Act::Unless(to) => {
                if !self.pop_known()?.is_true() {
                    self.at = *to;
                }
            }
            Act::Shortcut { when, to } => {
                let value = self.pop_known()?;
                if value.is_true() == *when {
                    self.stack.push(value);
                    self.at = *to;
                }
            }
            Act::Call(site) => return self.call(site).map(Some),
        }
        Ok(None)
    }

    fn store(&mut self, number: usize) -> Result<(), Failure> {
        let value = self.pop();
        self.spend(value.size())?;
        if !self.order.contains(&number) {
            self.order.push(number);
        }
        if let Some(place) = self.values.get_mut(number) {
            *place = Some(value);
        }
        Ok(())
    }

    fn join(&mut self, parts: usize) -> Result<(), Failure> {
        let parts = self.stack.split_off(self.stack.len().saturating_sub(parts));
        known(&parts)?;
        self.spend(parts.iter().map(|part| part.text().len()).fold(0, usize::saturating_add))?;
        let text: String = parts.iter().map(Value::text).collect();
        self.stack.push(Value::Text(text.into()));
        Ok(())
    }

    fn add(&mut self) -> Result<(), Failure> {
        let (right, left) = (self.pop_known()?, self.pop_known()?);
        let sum = match (&left, &right) {
            (Value::Text(left), Value::Text(right)) => {
                self.spend(left.len().saturating_add(right.len()))?;
                Some(Value::Text(Arc::from([left.as_ref(), right.as_ref()].concat())))
            }
            _ => left.number().zip(right.number()).and_then(|(left, right)| left.checked_add(right)).map(Value::Number),
        };
        let unfit = || {
            let message = format!("`+` does not add {} and {}", left.kind(), right.kind());
            invalid(message).with_hint("join texts; an f-string makes a text of any value")
        };
        self.stack.push(sum.ok_or_else(unfit)?);
        Ok(())
    }

    fn call(&mut self, site: &Site) -> Result<Entry, Failure> {
        let arguments = self.stack.split_off(self.stack.len().saturating_sub(site.given.len()));
        known(&arguments)?;
        arguments.iter().try_for_each(|argument| self.spend(argument.size()))?;
        let parameters = site.function.parameters();
        let mut map = Map::new();
        for (number, parameter) in parameters.iter().enumerate() {
            let given = site.given.iter().position(|given| *given == number).and_then(|place| arguments.get(place));
            map.insert(parameter.key.to_owned(), given.map_or_else(|| Json::from(""), Value::json));
        }
        self.calls += 1;
        let index = self.calls;
        let label = site.label.and_then(|label| self.script.names.get(label)).map(|name| name.text.clone());
        let path = map.get("path").and_then(Json::as_str).map(shown_path);
        let (asked, action) = Asked::of(site.function, &mut map);
        self.asked = Some(asked);
        Ok(match catalog::decode(index, action, map) {
            Ok(action) => {
                let call = Call { label, span: site.span, meaning: Meaning::MemAgent, ..Call::plain(index, action) };
                Entry::Call(call)
            }
            Err(failure) => {
                Entry::Unread(Unread { index, action: Some(action.to_owned()), path, label, failure, foreign: None })
            }
        })
    }
}

/// Refuses to work with what a call will answer that waits: whatever the block did next could be wrong.
fn known(values: &[Value]) -> Result<(), Failure> {
    if !values.iter().any(|value| matches!(value, Value::Waits(_))) {
        return Ok(());
    }
    let message = "this depends on a call that waits for the person, so the block ends here";
    Err(Failure::new(Code::AwaitingApproval, message).with_hint("send the rest when the person has decided"))
}

/// A path as the model wrote it, cut where no path is so long.
fn shown_path(path: &str) -> String {
    if path.len() > MAX_PATH_BYTES { shorten(path) } else { path.to_owned() }
}

fn compare(how: Comparison, left: &Value, right: &Value) -> Result<bool, Failure> {
    match how {
        Comparison::Equal => Ok(left.equals(right)),
        Comparison::Is => Ok(left == right),
        Comparison::In => match (left, right) {
            (Value::Text(part), Value::Text(whole)) => {
                Ok(memchr::memmem::find(whole.as_bytes(), part.as_bytes()).is_some())
            }
            _ => {
                let message = format!("`in` does not look for {} in {}", left.kind(), right.kind());
                Err(invalid(message).with_hint("look for a text in a text"))
            }
        },
    }
}
