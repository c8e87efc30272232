//! The agent: a model that uses the memory, and a person who talks with it.
//!
//! Owns the loop around [`Run`], what the model is shown, and the session. Talks to a [`Model`] and to the [`Engine`]; knows
//! no provider and no terminal: whoever starts it hears of what happens through an [`Edge`], and answers for the person.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::action::Access;
use crate::catalog;
use crate::dialect::{Dialect, Parsed};
use crate::engine::{Engine, Leave, Manner, Reviewed};
use crate::model::{Answer, Heard, Message, Model, ModelError, Request, Role};
use crate::path::MemoryPath;
use crate::policy::{Filter, GrantError, Mode};
use crate::report::{Code, Failure, Issue, Outcome, Report, Variables};
use crate::time::Timestamp;
use crate::vault::Author;
use stream::Stream;

mod claim;
mod context;
mod filter;
mod prompt;
mod run;
mod session;
pub mod small;
mod stream;
mod switches;

pub use prompt::{Family, Prompts};
pub use run::{Decided, Finish, Limits, Manners, Notice, Run, Step, Turn};
pub use session::{Exchange, Session};
pub use stream::Written;
pub use switches::{Actions, Switches};

/// How an agent works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The family of the model.
    pub family: Family,
    /// The way in, for the history: `chat` or `ask`.
    pub door: &'static str,
    /// What becomes of calls that somebody should be asked about, unless the session says otherwise.
    pub mode: Mode,
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

    /// Whether the reply is shown while it is written, by [`Event::Written`]. Then the reply that is given back begins with what
    /// was shown, whatever becomes of the turn in which it was written.
    fn is_listening(&self) -> bool {
        false
    }
}

/// What happens while a message is answered.
#[derive(Debug)]
pub enum Event<'a> {
    /// These notes are shown to the model with the message.
    Shown(&'a [(MemoryPath, String)]),
    /// The model is heard.
    Model(Heard<'a>),
    /// Something of what it writes may be shown.
    Written(Written<'a>),
    /// A turn of the model is over.
    Turned(&'a Answer),
    /// What became of the calls of a turn.
    Acted(&'a Report),
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
    /// The lines that it said it answers from.
    pub grounds: Vec<String>,
    /// How many turns it took.
    pub turns: usize,
    /// What the model has read and written.
    pub spent: Spent,
}

/// What a model has used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spent {
    /// Tokens that it was given.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Milliseconds that it took.
    pub ms: u64,
}

/// Why a message was not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
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
}

/// What is known of a message before the model is asked.
struct Asked {
    /// The message without its filters.
    message: String,
    filters: Vec<Filter>,
    notes: Vec<(MemoryPath, String)>,
    manner: Manner,
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
        Self { engine, model, prompts, settings, session }
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

    /// Goes on with another model.
    pub fn set_model(&mut self, model: Box<dyn Model>, family: Family) {
        self.model = model;
        self.settings.family = family;
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
        let asked = self.asked(message)?;
        edge.hear(Event::Shown(&asked.notes));
        said.number = self.session.next_number();
        said.shown = asked.notes.iter().map(|(path, _)| path.clone()).collect();
        let limits = Limits { turns: self.settings.turns, tokens: self.settings.tokens };
        let mut run = Run::new(limits, self.manners(), self.session.variables.clone());
        let mut stream = Stream::new(&asked.filters, edge.is_listening());
        let ended = self.drive(&mut run, &asked, edge, stop, &mut stream, &mut said.spent);
        gather(&run, said);
        let finish = ended?;
        let reply = finish.reply.map(|reply| filter::withhold(&reply, &asked.filters));
        let reply = stream.whole(reply);
        said.reply.clone_from(&reply);
        said.notice = finish.notice;
        self.session.variables = run.variables().clone();
        let receipt = (!said.receipts.is_empty()).then(|| said.receipts.join("\n"));
        self.session.exchanges.push(Exchange { number: said.number, message: asked.message, reply, receipt });
        Ok(())
    }

    /// Does what the run says until it is done.
    fn drive(
        &mut self,
        run: &mut Run,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        stream: &mut Stream<'_>,
        spent: &mut Spent,
    ) -> Result<Finish, AgentError> {
        loop {
            match run.next_step() {
                Step::CallModel => {
                    let request = self.request(run, asked);
                    let started = (self.settings.clock)();
                    stream.begin(run.has_saved());
                    let mut hear = |heard: Heard<'_>| {
                        edge.hear(Event::Model(heard));
                        stream.hear(heard, &mut |written| edge.hear(Event::Written(written)));
                    };
                    let mut answer = self.model.answer(&request, &mut hear, stop)?;
                    stream::end_with_reply(&mut answer);
                    if stream.has_spoken() {
                        run.heard();
                    }
                    let took = (self.settings.clock)().since(started).as_millis();
                    spent.input_tokens += answer.input_tokens;
                    spent.output_tokens += answer.output_tokens;
                    spent.ms += u64::try_from(took).unwrap_or(u64::MAX);
                    edge.hear(Event::Turned(&answer));
                    run.answered(answer);
                }
                Step::Propose(parsed) => self.act(run, *parsed, asked, edge),
                Step::AskPerson(id) => {
                    let decided = self.ask(id, edge);
                    run.decided(&decided);
                }
                Step::Done(finish) => return Ok(finish),
            }
            if stop.is_cancelled() {
                return Err(ModelError::Cancelled.into());
            }
        }
    }

    /// Proposes and concludes the calls of a turn.
    fn act(&mut self, run: &mut Run, parsed: Parsed, asked: &Asked, edge: &mut dyn Edge) {
        let frame = parsed.frame.clone();
        let manner = Manner { seen: Some(self.session.seen.clone()), ..asked.manner.clone() };
        let (mut report, keep) = self.engine.conclude_in_conversation(self.engine.propose(parsed, manner));
        if let Some(seen) = keep.seen {
            self.session.seen.extend(seen);
        }
        if !keep.variables {
            report.variables = Variables::default();
        }
        filter::redact(&mut report, &asked.filters);
        edge.hear(Event::Acted(&report));
        run.concluded(frame, report, edge.is_attended());
    }

    /// Asks the person about a proposal, and does what they say.
    fn ask(&self, id: u64, edge: &mut dyn Edge) -> Decided {
        let reviewed = match self.engine.review_proposal(id) {
            Ok(reviewed) => reviewed,
            Err(failure) => return Decided::Failed(failure),
        };
        let person = Author { origin: "person".to_owned(), ..self.author(None) };
        match edge.decide(&reviewed) {
            Decision::Later => Decided::Later,
            Decision::Yes => match self.engine.approve(id, Leave::Shown(reviewed.waiting.digest), &person) {
                Ok(done) => Decided::Done { batch: done.batch, changed: done.changed, receipt: done.receipt },
                Err(error) => Decided::Failed(error.failure),
            },
            Decision::No => self.reject(id, None, &person),
            Decision::Instead(words) => self.reject(id, Some(words), &person),
        }
    }

    fn reject(&self, id: u64, instead: Option<String>, person: &Author) -> Decided {
        match self.engine.reject(id, person) {
            Ok(()) => Decided::No(instead),
            Err(failure) => Decided::Failed(failure),
        }
    }

    fn author(&self, number: Option<u64>) -> Author {
        Author {
            door: self.settings.door.to_owned(),
            client: None,
            session: Some(self.session.id.clone()),
            message: number.map(|number| number.to_string()),
            origin: "model".to_owned(),
        }
    }

    /// Reads a message: what is asked, what is kept from the model, what it is shown.
    fn asked(&self, message: &str) -> Result<Asked, AgentError> {
        let (message, own) = filter::split(message);
        let switches = &self.session.switches;
        let filters = switches.filters.iter().chain(&own).map(|filter| Filter::compile(filter)).collect::<Vec<_>>();
        let manner = Manner {
            author: self.author(Some(self.session.next_number())),
            grant: switches.grant()?.map(Arc::new),
            mode: switches.permission.unwrap_or(self.settings.mode),
            read_only: switches.actions != Actions::All,
            atomic: false,
            seen: None,
        };
        let notes = match switches.actions {
            Actions::Off => Vec::new(),
            Actions::Read | Actions::All => {
                // What the person said just before helps to find what they mean now.
                let before = self.session.exchanges.last().map_or("", |exchange| exchange.message.as_str());
                let query = format!("{message}\n{before}");
                context::gather(
                    self.engine,
                    &Manner { grant: None, ..manner.clone() },
                    &query,
                    &filters,
                    self.settings.context,
                )?
            }
        };
        Ok(Asked { message, filters, notes, manner })
    }

    fn manners(&self) -> Manners {
        match self.settings.family {
            Family::Capable => Manners { dialect: None, program_replies: false },
            Family::Small => Manners { dialect: None, program_replies: true },
            Family::MemAgent => Manners { dialect: Some(Dialect::Python), program_replies: false },
        }
    }

    /// What the model is asked now.
    fn request(&self, run: &Run, asked: &Asked) -> Request {
        let rest: Vec<String> = asked.filters.iter().filter_map(|filter| filter.rest().map(str::to_owned)).collect();
        let switches = &self.session.switches;
        let ask_first = asked.manner.mode == Mode::Flag;
        if self.settings.family == Family::Small {
            let turn =
                small::Turn { notes: &asked.notes, message: &asked.message, session: &self.session, rest: &rest };
            return Request { temperature: self.settings.temperature, ..small::request(&turn, run.transcript()) };
        }
        let system = match self.settings.family {
            Family::MemAgent => format!("{}{}", self.prompts.text("mem_agent"), prompt::wishes(&rest)),
            Family::Capable | Family::Small => self.prompts.system(switches, ask_first, &rest),
        };
        let mut messages: Vec<Message> = self.session.exchanges.iter().flat_map(told).collect();
        let stable = messages.len();
        messages.push(Message { role: Role::User, text: prompt::message(&asked.notes, &asked.message) });
        messages.extend(run.transcript().iter().cloned());
        Request {
            system,
            messages,
            stable,
            shape: None,
            max_tokens: self.settings.max_tokens,
            temperature: self.settings.temperature,
            stop: vec!["</reply>".to_owned(), "</actions>".to_owned(), "</python>".to_owned()],
        }
    }
}

/// An exchange as a model is told of it later.
fn told(exchange: &Exchange) -> [Message; 2] {
    let reply = exchange.reply.as_deref().unwrap_or("(no reply)");
    [
        Message { role: Role::User, text: format!("<message>\n{}\n</message>", prompt::fenced(&exchange.message)) },
        Message { role: Role::Assistant, text: format!("<reply>{}</reply>", prompt::fenced(reply)) },
    ]
}

/// Takes out of a run what was said and done.
fn gather(run: &Run, said: &mut Said) {
    said.turns = run.turns().len();
    said.variables = run.variables().clone();
    for (turn, number) in run.turns().iter().zip(1..) {
        said.grounds.extend(small::grounds(&turn.answer.text));
        let Some(report) = &turn.report else { continue };
        said.actions.extend(report.actions.iter().map(|outcome| (number, outcome.clone())));
        said.changed.extend(report.changed.iter().cloned());
        said.batches.extend(report.batch);
        said.issues.extend(report.issues.iter().cloned());
        said.receipts.extend(report.receipt.clone());
        if let Some((batch, receipt)) = &turn.agreed {
            said.batches.extend(*batch);
            said.receipts.extend(receipt.clone());
        }
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

/// What the program says itself about calls that wrote.
fn acknowledge(report: &Report) -> String {
    let mut lines = Vec::new();
    if let Some(receipt) = &report.receipt {
        lines.push(format!("Done: {}.", receipt.split(" · ").next().unwrap_or(receipt)));
    }
    for failure in report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err()) {
        lines.push(if failure.code == Code::AwaitingApproval {
            "That is personal, so it waits until you say yes. May I keep it?".to_owned()
        } else if failure.code == Code::PermissionRequired {
            "That is personal. May I keep it?".to_owned()
        } else {
            format!("I could not do that: {}.", failure.message)
        });
    }
    if lines.is_empty() { "Nothing had to change.".to_owned() } else { lines.join("\n") }
}
