//! One task: its messages said to an agent on a copy of its memory, and what came of it.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::checks::{self, Came, Files};
use super::measured::Done;
use super::scratch::{self, Scratch};
use super::suite::{Suite, Task};
use super::transcript::{Log, Recorded};
use crate::stop::Stop;
use crate::{open, talk};
use memdir_agent::{Agent, AgentError, Decision, Edge, Event, Prompts, Said, Settings};
use memdir_core::report::{Code, Outcome};
use memdir_engine::Reviewed;
use memdir_model::{Model, ModelError};

/// A model under test, which goes from task to task: an engine keeps what it has read.
pub(super) struct Subject {
    pub(super) model: Option<Box<dyn Model>>,
    pub(super) log: Log,
    pub(super) prompts: Prompts,
    pub(super) settings: Settings,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Subject").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Subject {
    /// Makes a model ready to be measured: what it is asked and answers is written down.
    pub(super) fn new(model: Box<dyn Model>, prompts: Prompts, settings: Settings) -> Self {
        let log = Log::default();
        let model: Box<dyn Model> = Box::new(Recorded::new(model, log.clone()));
        Self { model: Some(model), log, prompts, settings }
    }
}

/// Where and when a task runs.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) suite: &'a Suite,
    pub(super) places: &'a [PathBuf],
    pub(super) scratch: &'a Scratch,
    pub(super) stop: &'a CancellationToken,
}

/// Runs a task. What was said between model and agent is in the log of the subject afterwards.
///
/// # Errors
///
/// What keeps all other tasks from being run too: a model that is not there, a disk that is full, Ctrl-C.
pub(super) fn run(bench: &Bench<'_>, number: usize, task: &Task, subject: &mut Subject) -> Result<Done, Stop> {
    let start = scratch::start(bench.suite, &task.memory, bench.places)?;
    let memory = bench.scratch.memory(number, &start)?;
    let ran = talk_through(bench, &memory, task, subject);
    let end = scratch::files(&memory);
    Scratch::drop(&memory);
    Ok(judged(task, ran?, start, end?))
}

/// What was said and done in a task.
#[derive(Debug, Default)]
struct Ran {
    said: Vec<Said>,
    /// Why the model did not answer a message.
    error: Option<String>,
}

/// Says all messages of a task in one session.
fn talk_through(bench: &Bench<'_>, memory: &std::path::Path, task: &Task, subject: &mut Subject) -> Result<Ran, Stop> {
    let engine = open::thrown_away(memory)?;
    let Some(model) = subject.model.take() else { return Ok(Ran::default()) };
    let settings = Settings { mode: task.permission, ..subject.settings.clone() };
    let session = talk::new_session()?;
    let mut agent = Agent::new(&engine, model, subject.prompts.clone(), settings, session);
    let mut ran = Ran::default();
    let mut ended = Ok(());
    for message in task.message.all() {
        let mut said = Said::default();
        subject.log.message(message);
        ended = agent.say(message, &mut Alone(&subject.log), bench.stop, &mut said);
        subject.log.said(&said);
        ran.said.push(said);
        if ended.is_err() {
            break;
        }
    }
    subject.model = Some(agent.into_model());
    match ended {
        Ok(()) => Ok(ran),
        Err(error) if concerns_one_task(&error) => {
            ran.error = Some(error.to_string());
            Ok(ran)
        }
        Err(error) => Err(talk::agent_failure(&error).into()),
    }
}

/// Whether a failure says something about this task only, so that the next ones can be tried.
fn concerns_one_task(error: &AgentError) -> bool {
    match error {
        AgentError::Model(error) => matches!(
            error,
            ModelError::TooLong { .. }
                | ModelError::Rejected { .. }
                | ModelError::Garbled { .. }
                | ModelError::Timeout { .. }
                | ModelError::Broken { .. }
        ),
        AgentError::Memory(_) | AgentError::Switches(_) | AgentError::Tokens => false,
    }
}

/// Nobody who could be asked, and what happens is written down.
struct Alone<'a>(&'a Log);

impl Edge for Alone<'_> {
    fn hear(&mut self, event: Event<'_>) {
        if let Event::Acted(report) = event {
            self.0.report(report);
        }
    }

    fn decide(&mut self, _: &Reviewed) -> Decision {
        Decision::Later
    }

    fn is_attended(&self) -> bool {
        false
    }
}

/// What came of a task, by its checks.
fn judged(task: &Task, ran: Ran, start: Files, end: Files) -> Done {
    let all = ran.said.iter().flat_map(|said| &said.actions);
    let mut codes = all.filter_map(|(_, outcome)| Some(outcome.result.as_ref().err()?.code));
    let asks = codes.any(|code| matches!(code, Code::PermissionRequired | Code::AwaitingApproval));
    let came = Came {
        replies: ran.said.iter().map(|said| said.reply.clone().unwrap_or_default()).collect(),
        start,
        end,
        has_asked_leave: asks || ran.said.iter().any(|said| !said.pending.is_empty()),
    };
    let judged = checks::judge(&task.checks, &came);
    let mut failed = judged.failed;
    failed.extend(ran.error.map(|error| format!("no answer: {error}")));
    Done {
        id: task.id.clone(),
        kind: task.kind.clone(),
        passed: failed.is_empty(),
        failed,
        replies: ran.said.iter().map(|said| said.reply.clone()).collect(),
        turns: ran.said.iter().map(|said| said.turns).sum(),
        malformed: ran.said.iter().map(malformed).sum(),
        lost: judged.lost,
        written_unasked: judged.is_written_unasked,
        input_tokens: ran.said.iter().map(|said| said.spent.input_tokens).sum(),
        output_tokens: ran.said.iter().map(|said| said.spent.output_tokens).sum(),
        ms: ran.said.iter().map(|said| said.spent.ms).sum(),
    }
}

/// How many turns for a message were cut off, or held nothing that can be read: neither words nor a call.
fn malformed(said: &Said) -> usize {
    let is_unread = |outcome: &Outcome| {
        outcome.result.as_ref().is_err_and(|failure| matches!(failure.code, Code::InvalidAction | Code::UnknownAction))
    };
    let of_turn = |turn: usize| {
        let mut calls = said.actions.iter().filter(|(number, _)| *number == turn).peekable();
        calls.peek().is_some() && calls.all(|(_, outcome)| is_unread(outcome))
    };
    said.malformed + (1..=said.turns).filter(|turn| of_turn(*turn)).count()
}
