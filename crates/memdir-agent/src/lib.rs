//! The agent: a model that uses the memory, and a person who talks with it.
//!
//! Owns the loop around [`Run`], what the model is shown, and the session. Talks to a [`Model`] and to the [`Engine`]; knows
//! no provider and no terminal: whoever starts it hears of what happens through an [`Edge`], and answers for the person.

#![warn(clippy::wildcard_enum_match_arm)]

use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;

use memdir_core::action::Access;
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Issue, Outcome, Report, Variables};
use memdir_core::time::Timestamp;
use memdir_engine::{Caller, Engine, Reviewed, ToolConsent};
use memdir_model::{Answer, Heard, Model, ModelError};
use memdir_policy::{GrantError, Mode};
use memdir_tools::{Elicitation, ElicitationAnswer, Progress, ServerName, Tool};
use stream::Stream;

mod asked;
mod bound;
mod budget;
mod context;
mod drive;
mod filter;
mod forget;
mod keep;
mod kept;
mod line;
mod origin;
mod prompt;
mod recorder;
mod replay;
mod run;
mod sentence;
mod session;
pub mod small;
mod stage;
mod staged;
mod stream;
mod switches;
mod tool_state;
mod tools;

pub use budget::{spent_today, tokens_left};
pub use forget::cut_session;
pub use kept::{KeptMessage, KeptToolCall, supporting};
pub use origin::Removals;
pub use prompt::{Family, Prompts};
pub use recorder::UNKEPT;
pub use replay::{Replayed, replay};
pub use run::{Decided, Finish, Limits, Manners, Notice, Run, Step, Turn};
pub use session::{Exchange, Session};
pub use stage::Stage;
pub use staged::Staged;
pub use stream::Written;
pub use switches::{Actions, Switches};
pub use tools::ToolCalled;

use asked::Asked;
use line::{Line, Voice};
use recorder::Recorder;

/// How an agent works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The family of the model.
    pub family: Family,
    /// The way in, for the history: `chat` or `ask`.
    pub door: &'static str,
    /// What becomes of calls that somebody should be asked about, unless the session says otherwise.
    pub mode: Mode,
    /// What becomes of a turn that takes something away.
    pub removals: Removals,
    /// How many turns the model has for a message.
    pub turns: u32,
    /// How many tokens it may use for a message; `None` for as many as it likes.
    pub tokens: Option<u64>,
    /// How many tokens of notes are shown with a message.
    pub context: u32,
    /// How many tokens a turn may have.
    pub max_tokens: u32,
    /// How freely the model chooses.
    pub temperature: f32,
    /// Whether the model works in stages: perception, decision, response.
    pub staged: bool,
    /// What time it is.
    pub clock: fn() -> Timestamp,
}

/// The one who talks with an agent for the person: a terminal, a pipe.
pub trait Edge {
    /// Something has happened.
    fn hear(&mut self, event: Event<'_>);

    /// Asks the person about a proposal.
    fn decide(&mut self, proposal: &Reviewed) -> Decision;

    /// Whether somebody is there to be asked.
    fn is_attended(&self) -> bool;

    /// Asks the person about a call of another server's tool, with the arguments as they will be sent.
    fn decide_tool(&mut self, _tool: &Tool, _arguments: &Map<String, Json>) -> ToolConsent {
        ToolConsent::NobodyThere
    }

    /// Asks the person what a server wants to know before it answers a call.
    fn elicit(&mut self, _server: &ServerName, _elicitation: &Elicitation) -> ElicitationAnswer {
        ElicitationAnswer::Decline
    }

    /// Whether the reply is shown while it is written, by [`Event::Written`]. Then the reply that is given back begins with what
    /// was shown, whatever becomes of the turn in which it was written.
    fn is_listening(&self) -> bool {
        false
    }
}

/// What happens while a message is answered.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something was noticed about the message, before the model is asked.
    Noticed(&'a [Issue]),
    /// These notes are shown to the model with the message.
    Shown(&'a [(MemoryPath, String)]),
    /// The model is heard.
    Model(Heard<'a>),
    /// Something of what it writes may be shown.
    Written(Written<'a>),
    /// A turn of the model is over.
    Turned(&'a Answer),
    /// A stage of the model is over.
    Staged(&'a Staged),
    /// What became of the calls of a turn.
    Acted(&'a Report),
    /// A tool of another server tells how far it is.
    ToolProgress(&'a Progress),
    /// A tool of another server was called, or was not.
    ToolCalled(&'a ToolCalled),
}

/// What a person says to a proposal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Decision {
    /// It may be carried out, as it was shown.
    Yes,
    /// It may not.
    No,
    /// It may not, and this is what they want instead.
    Instead(String),
    /// Not now: it waits.
    Later,
}

/// What was said to a message, and done for it.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The number of the message in its session.
    pub number: u64,
    /// The reply.
    pub reply: Option<String>,
    /// What the program has to say about it.
    pub notice: Option<Notice>,
    /// What became of all calls, each with the number of its turn, from 1.
    pub actions: Vec<(usize, Outcome)>,
    /// The calls of tools of other servers, in their order.
    pub tool_calls: Vec<ToolCalled>,
    /// What the turns have set.
    pub variables: Variables,
    /// Every path that is different now, sorted.
    pub changed: Vec<MemoryPath>,
    /// The batches to undo, in their order.
    pub batches: Vec<u64>,
    /// The proposals that wait for the person.
    pub pending: Vec<u64>,
    /// What was repaired, noticed or left aside.
    pub issues: Vec<Issue>,
    /// One line for the person for each batch.
    pub receipts: Vec<String>,
    /// The notes that the model was shown with the message.
    pub shown: Vec<MemoryPath>,
    /// The lines that the answer of a small model tells of.
    pub grounds: Vec<String>,
    /// The stages, where the model works in such.
    pub stages: Vec<Staged>,
    /// How many turns it took.
    pub turns: usize,
    /// How many of them were cut off, or held nothing that could be read.
    pub malformed: usize,
    /// What the model has read and written.
    pub spent: Spent,
}

impl Said {
    /// What was noticed that the person is to hear of beside the reply: what was found in changes that were carried out, and what of
    /// the conversation is not kept.
    pub fn noticed(&self) -> impl Iterator<Item = &Issue> {
        self.issues.iter().filter(|issue| issue.code == UNKEPT || memdir_policy::is_finding(issue.code))
    }

    /// What was stored: a line for each batch; `None` where nothing was.
    #[must_use]
    pub fn receipt(&self) -> Option<String> {
        (!self.receipts.is_empty()).then(|| self.receipts.join("\n"))
    }
}

/// What a model has used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spent {
    /// Tokens that it was given.
    pub input_tokens: u64,
    /// How many of these it knew from before.
    pub reused_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Milliseconds that it took.
    pub ms: u64,
}

impl Spent {
    /// Counts an answer.
    fn add(&mut self, answer: &Answer) {
        // A server, or the file of a session, may say any number.
        self.input_tokens = self.input_tokens.saturating_add(answer.input_tokens);
        self.reused_tokens = self.reused_tokens.saturating_add(answer.reused_tokens);
        self.output_tokens = self.output_tokens.saturating_add(answer.output_tokens);
    }

    /// The tokens that count for a limit: read, as far as they were not known from before, and written.
    fn counted(&self) -> u64 {
        self.input_tokens.saturating_sub(self.reused_tokens).saturating_add(self.output_tokens)
    }
}

/// Why a message was not answered.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AgentError {
    /// The model did not answer. What was done before it is done, and in what is said.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The memory could not be read.
    #[error("{}", .0.message)]
    Memory(Failure),
    /// The session's list of actions names one that there is not.
    #[error(transparent)]
    Switches(#[from] GrantError),
    /// What the model would have to read is more than may still be used. [`Agent::say`] gives [`Notice::Tokens`] instead.
    #[error("too few tokens are left for today")]
    Tokens,
}

impl From<Failure> for AgentError {
    fn from(failure: Failure) -> Self {
        Self::Memory(failure)
    }
}

/// A model, a memory, and a conversation.
pub struct Agent<'e> {
    engine: &'e Engine,
    model: Box<dyn Model>,
    prompts: Prompts,
    settings: Settings,
    session: Session,
    /// The program for which it works, with what that was granted; `None` for the owner of the memory.
    client: Option<Caller>,
    /// The tools of other servers.
    tools: tools::Tools,
    /// Whether the session is kept in the memory.
    is_kept: bool,
    recorder: Recorder,
    /// What the lines of the message that is answered say was used.
    recorded: Spent,
    /// What is known of the last turn of a small model, beside its text.
    expanded: small::Expanded,
}

impl<'e> Agent<'e> {
    /// Joins a model with a memory, in a session.
    #[must_use]
    pub fn new(
        engine: &'e Engine,
        model: Box<dyn Model>,
        prompts: Prompts,
        settings: Settings,
        session: Session,
    ) -> Self {
        Self {
            engine,
            model,
            prompts,
            settings,
            session,
            client: None,
            tools: tools::Tools::default(),
            is_kept: false,
            recorder: Recorder::default(),
            recorded: Spent::default(),
            expanded: small::Expanded::default(),
        }
    }

    /// Works for a client: its calls are made in that name, and see and do no more than it may.
    #[must_use]
    pub fn for_client(self, client: Caller) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Keeps the session in the memory from the next message on.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }

    /// The conversation.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The conversation, whose switches the person may change.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The model again, when the conversation is over.
    #[must_use]
    pub fn into_model(self) -> Box<dyn Model> {
        self.model
    }

    /// Goes on with another model, which is shown so many tokens of notes with a message.
    pub fn set_model(&mut self, model: Box<dyn Model>, family: Family, context: u32) {
        self.model = model;
        (self.settings.family, self.settings.context) = (family, context);
    }

    /// Sets how many tokens the next messages may use, each.
    pub fn set_tokens(&mut self, tokens: Option<u64>) {
        self.settings.tokens = tokens;
    }

    /// Answers a message. What was done is done, also where an error ends it: `said` is filled as far as it went.
    ///
    /// # Errors
    ///
    /// [`AgentError`]: the model did not answer, the memory cannot be read, or `stop` was cancelled.
    pub fn say(
        &mut self,
        message: &str,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        said: &mut Said,
    ) -> Result<(), AgentError> {
        self.understand_filters(message, stop, &mut said.spent)?;
        if self.is_kept {
            let voice = Voice { name: self.model.card().name.clone(), family: self.settings.family };
            self.recorder = Recorder::open(self.engine, &mut self.session, voice, (self.settings.clock)())?;
        }
        let answered = self.answer(message, edge, stop, said);
        said.issues.extend(std::mem::take(&mut self.recorder).close(&mut self.session));
        answered
    }

    /// Answers a message, and writes down what happens.
    fn answer(
        &mut self,
        message: &str,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        said: &mut Said,
    ) -> Result<(), AgentError> {
        let number = self.session.next_number();
        let _span = tracing::info_span!("message", session = %self.session.id, number).entered();
        let asked = self.asked(message, stop, &mut said.spent)?;
        edge.hear(Event::Noticed(&asked.issues));
        edge.hear(Event::Shown(&asked.notes));
        said.number = number;
        said.shown = asked.notes.iter().map(|(path, _)| path.clone()).collect();
        said.issues.extend(asked.issues.iter().cloned());
        self.begin_exchange(&asked, said);
        let limits =
            Limits { turns: self.settings.turns, tokens: self.settings.tokens, result_bytes: self.most_bytes() };
        let mut run = Run::new(limits, self.manners(), asked.before.variables.clone());
        let mut stream = Stream::new(&asked.filters, edge.is_listening());
        let mut at = drive::Answering { asked: &asked, edge, stop, said: &mut *said };
        let ended = self.drive(&mut run, &mut at, &mut stream);
        gather(&run, said);
        let finish = match ended {
            Ok(finish) => finish,
            Err(AgentError::Tokens) => Finish { reply: None, notice: Some(Notice::Tokens) },
            Err(error) => {
                self.end_exchange(&asked, said, None);
                return Err(error);
            }
        };
        let reply = finish.reply.map(|reply| filter::withhold(&reply, &asked.filters));
        said.reply = stream.whole(reply);
        said.notice = noticed(finish.notice, std::mem::take(&mut self.expanded));
        self.end_exchange(&asked, said, Some(run.variables().clone()));
        Ok(())
    }

    /// Writes down what was used beside what the turns and stages say.
    fn record_rest(&mut self, said: &Said) {
        let (all, told) = (said.spent, self.recorded);
        let [input_tokens, output_tokens, reused_tokens] = [
            all.input_tokens.saturating_sub(told.input_tokens),
            all.output_tokens.saturating_sub(told.output_tokens),
            all.reused_tokens.saturating_sub(told.reused_tokens),
        ];
        if input_tokens > 0 || output_tokens > 0 {
            let (message, time) = (said.number, (self.settings.clock)());
            self.recorder.write(&Line::Used { message, time, input_tokens, output_tokens, reused_tokens });
        }
    }

    fn begin_exchange(&mut self, asked: &Asked, said: &Said) {
        // Its number is taken, whatever becomes of it.
        self.session.last = said.number;
        self.recorded = Spent::default();
        self.recorder.write(&Line::Message {
            message: said.number,
            time: (self.settings.clock)(),
            door: self.settings.door.to_owned(),
            permission: asked.caller.mode,
            text: asked.message.clone(),
            filters: asked.own.clone(),
            shown: said.shown.clone(),
        });
        tracing::info!(notes = asked.notes.len(), filters = asked.filters.len(), "notes are shown");
    }

    /// The message becomes a part of the conversation, with the variables that its turns have set if it was answered to its end.
    fn end_exchange(&mut self, asked: &Asked, said: &Said, variables: Option<Variables>) {
        let receipt = said.receipt();
        let (message, reply, batches) = (asked.message.clone(), said.reply.clone(), said.batches.clone());
        let filters = [self.session.switches.filters.as_slice(), &asked.own].concat();
        self.session.exchanges.push(Exchange { number: said.number, message, reply, receipt, batches, filters });
        self.record_rest(said);
        let failed = variables.is_none();
        let new = variables.map_or_else(Map::new, |variables| {
            // What filters kept from the model is still there when they are off.
            let old = self.session.variables.iter().map(|(name, value)| (name.to_owned(), value.clone()));
            let is_set =
                |new: &(&str, &memdir_core::report::Value)| asked.before.variables.iter().all(|old| old != *new);
            let set = variables.iter().filter(is_set).map(|(name, value)| (name.to_owned(), value.clone()));
            self.session.variables = Variables::new(old.chain(set).collect::<Vec<_>>());
            line::new_values(&asked.before.variables, &variables)
        });
        self.recorder.write(&Line::Reply {
            message: said.number,
            reply: said.reply.clone(),
            notice: said.notice.clone(),
            failed,
            variables: new,
        });
        let Spent { input_tokens, output_tokens, ms, .. } = said.spent;
        let (turns, changed) = (said.turns, said.changed.len());
        tracing::info!(turns, changed, failed, input_tokens, output_tokens, ms, "message is over");
    }
}

/// The notice of a run, with what is known of the last turn of a small model: the changes of which no call was made, or else what
/// was asked and no line answers.
fn noticed(notice: Option<Notice>, expanded: small::Expanded) -> Option<Notice> {
    let unkept = expanded.unkept.iter().map(|change| format!("`{change}`"));
    match notice {
        Some(Notice::Missed(missed)) => Some(Notice::Missed(missed.into_iter().chain(unkept).collect())),
        Some(other) => Some(other),
        None if !expanded.unkept.is_empty() => Some(Notice::Missed(unkept.collect())),
        None => expanded.missing.map(|asked| Notice::NotInNotes(vec![asked])),
    }
}

/// Takes out of a run what was said and done.
fn gather(run: &Run, said: &mut Said) {
    said.turns = run.turns().len();
    said.malformed = run.malformed();
    said.batches.extend_from_slice(run.batches());
    said.receipts.extend_from_slice(run.receipts());
    said.variables = run.variables().clone();
    for (turn, number) in run.turns().iter().zip(1..) {
        let Some(report) = &turn.report else { continue };
        said.actions.extend(report.actions.iter().map(|outcome| (number, outcome.clone())));
        said.changed.extend(report.changed.iter().cloned());
        said.issues.extend(report.issues.iter().cloned());
        let waiting = report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err()?.details.proposal);
        said.pending.extend(waiting);
    }
    said.changed.sort();
    said.changed.dedup();
    said.pending.sort_unstable();
    said.pending.dedup();
}

/// Whether an action of this name changes something.
fn writes(action: &str) -> bool {
    catalog::row(action).is_some_and(|row| row.access != Access::Read)
}

#[cfg(test)]
pub(crate) mod tests;
