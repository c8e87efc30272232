//! The agent: a model that uses the memory, and a person who talks with it.
//!
//! Owns the loop around [`Run`], what the model is shown, and the session. Talks to a [`Model`] and to the [`Engine`]; knows
//! no provider and no terminal: whoever starts it hears of what happens through an [`Edge`], and answers for the person.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Map;
use tokio_util::sync::CancellationToken;

use crate::action::Access;
use crate::catalog;
use crate::dialect::{Dialect, Parsed};
use crate::engine::{Engine, Guard, Leave, Manner, Reviewed};
use crate::model::{Answer, End, Heard, Message, Model, ModelError, Request, Role};
use crate::path::MemoryPath;
use crate::policy::{Filter, GrantError, Mode};
use crate::report::{Code, Failure, Issue, Outcome, Report, Variables};
use crate::time::Timestamp;
use crate::vault::Author;
use stream::Stream;

mod bound;
mod budget;
mod claim;
mod context;
mod filter;
mod guard;
mod line;
mod prompt;
mod recorder;
mod replay;
mod run;
#[cfg(test)]
mod script;
mod sentence;
mod session;
pub mod small;
mod staged;
mod stream;
mod switches;

pub use budget::{spent_today, tokens_left};
pub use prompt::{Family, Prompts};
pub use recorder::UNKEPT;
pub use replay::{Replayed, replay};
pub use run::{Decided, Finish, Limits, Manners, Notice, Run, Step, Turn};
pub use session::{Exchange, Session};
pub use staged::{Stage, Staged};
pub use stream::Written;
pub use switches::{Actions, Switches};

use line::{Act, Line, Voice, Word};
use recorder::Recorder;
use staged::Stages;

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
    /// A stage of the model is over.
    Staged(&'a Staged),
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
    /// The stages, where the model works in such.
    pub stages: Vec<Staged>,
    /// How many turns it took.
    pub turns: usize,
    /// How many of them were cut off, or held nothing that could be read.
    pub malformed: usize,
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

/// Under so many millions of parameters a model says anything rather than that it does not know.
const TINY: u64 = 1_000;

/// A model, a memory, and a conversation.
pub struct Agent<'e> {
    engine: &'e Engine,
    model: Box<dyn Model>,
    prompts: Prompts,
    settings: Settings,
    session: Session,
    /// Whether the session is kept in the memory.
    is_kept: bool,
    recorder: Recorder,
}

/// What is known of a message before the model is asked.
struct Asked {
    /// The message without its filters.
    message: String,
    filters: Vec<Filter>,
    /// The filters of the message alone, in its words.
    own: Vec<String>,
    notes: Vec<(MemoryPath, String)>,
    manner: Manner,
    /// The conversation as it is told again: what was said before passes the filters of now.
    before: Session,
    /// What was noticed about the message itself.
    issues: Vec<Issue>,
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
        Self { engine, model, prompts, settings, session, is_kept: false, recorder: Recorder::default() }
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

    /// Goes on with another model.
    pub fn set_model(&mut self, model: Box<dyn Model>, family: Family) {
        self.model = model;
        self.settings.family = family;
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
        let asked = self.asked(message)?;
        edge.hear(Event::Shown(&asked.notes));
        said.number = number;
        said.shown = asked.notes.iter().map(|(path, _)| path.clone()).collect();
        said.issues.extend(asked.issues.iter().cloned());
        self.begin_exchange(&asked, said);
        let limits =
            Limits { turns: self.settings.turns, tokens: self.settings.tokens, result_bytes: self.most_bytes() };
        let mut run = Run::new(limits, self.manners(), asked.before.variables.clone());
        let mut stream = Stream::new(&asked.filters, edge.is_listening());
        let ended = self.drive(&mut run, &asked, edge, stop, &mut stream, said);
        gather(&run, said);
        let finish = match ended {
            Ok(finish) => finish,
            Err(error) => {
                self.end_exchange(&asked, said, None, false);
                return Err(error);
            }
        };
        let reply = finish.reply.map(|reply| filter::withhold(&reply, &asked.filters));
        said.reply = stream.whole(reply);
        said.notice = finish.notice;
        let is_unclear = run.turns().last().is_some_and(|turn| small::is_unclear(&turn.answer.text));
        self.end_exchange(&asked, said, Some(run.variables().clone()), is_unclear);
        Ok(())
    }

    fn begin_exchange(&mut self, asked: &Asked, said: &Said) {
        // Its number is taken, whatever becomes of it.
        self.session.last = said.number;
        self.recorder.write(&Line::Message {
            message: said.number,
            time: (self.settings.clock)(),
            door: self.settings.door.to_owned(),
            permission: asked.manner.mode,
            text: asked.message.clone(),
            filters: asked.own.clone(),
            shown: said.shown.clone(),
        });
        tracing::info!(notes = asked.notes.len(), filters = asked.filters.len(), "notes are shown");
    }

    /// The message becomes a part of the conversation, with the variables that its turns have set if it was answered to its end.
    fn end_exchange(&mut self, asked: &Asked, said: &Said, variables: Option<Variables>, is_unclear: bool) {
        let receipt = (!said.receipts.is_empty()).then(|| said.receipts.join("\n"));
        let (message, reply) = (asked.message.clone(), said.reply.clone());
        self.session.exchanges.push(Exchange { number: said.number, message, is_unclear, reply, receipt });
        let failed = variables.is_none();
        let new = variables.map_or_else(Map::new, |variables| {
            let before = std::mem::replace(&mut self.session.variables, variables);
            line::new_values(&before, &self.session.variables)
        });
        self.recorder.write(&Line::Reply {
            message: said.number,
            reply: said.reply.clone(),
            is_unclear,
            notice: said.notice.clone(),
            failed,
            variables: new,
        });
        let Spent { input_tokens, output_tokens, ms } = said.spent;
        let (turns, changed) = (said.turns, said.changed.len());
        tracing::info!(turns, changed, failed, input_tokens, output_tokens, ms, "message is over");
    }

    /// Does what the run says until it is done.
    fn drive(
        &mut self,
        run: &mut Run,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        stream: &mut Stream<'_>,
        said: &mut Said,
    ) -> Result<Finish, AgentError> {
        let is_staged = self.is_staged();
        let mut stages = is_staged.then(|| Stages::new(!asked.notes.is_empty()));
        loop {
            match run.next_step() {
                Step::CallModel => match &mut stages {
                    Some(now) => {
                        if !self.stage(now, run, asked, edge, stop, said)? {
                            stages = None;
                        }
                    }
                    None => {
                        let answer = self.turn(run, asked, edge, stop, stream, &mut said.spent)?;
                        run.answered(answer);
                    }
                },
                Step::Propose(parsed) => self.act(run, *parsed, asked, edge),
                Step::AskPerson(id) => {
                    let mut decided = self.ask(run, id, edge);
                    if let Decided::Failed(failure) = &mut decided {
                        filter::failure(failure, &asked.filters);
                    }
                    run.decided(&decided);
                }
                Step::Done(finish) => return Ok(finish),
            }
            if stop.is_cancelled() {
                return Err(ModelError::Cancelled.into());
            }
        }
    }

    /// Asks the model, and counts what it used: the answer, and the milliseconds that it took. What it writes is heard as it comes
    /// only where nothing in it may have to be withheld.
    fn ask_model(
        &mut self,
        request: &Request,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        spent: &mut Spent,
        mut stream: Option<&mut Stream<'_>>,
    ) -> Result<(Answer, u64), AgentError> {
        let is_open = asked.filters.is_empty() && stream.is_some();
        let mut hear = |heard: Heard<'_>| {
            if is_open || matches!(heard, Heard::Reading { .. } | Heard::Again(_)) {
                edge.hear(Event::Model(heard));
            }
            if let Some(stream) = &mut stream {
                stream.hear(heard, &mut |written| edge.hear(Event::Written(written)));
            }
        };
        let started = (self.settings.clock)();
        let answer = self.model.answer(request, &mut hear, stop);
        let took = (self.settings.clock)().since(started).as_millis();
        let ms = u64::try_from(took).unwrap_or(u64::MAX);
        let answer = answer.inspect_err(|_| tracing::info!(ms, "the model has not answered"))?;
        let Answer { input_tokens, output_tokens, reused_tokens, .. } = answer;
        tracing::info!(
            ms,
            input_tokens,
            output_tokens,
            reused_tokens,
            is_cut = answer.end == End::Cut,
            "asked the model"
        );
        spent.input_tokens += input_tokens;
        spent.output_tokens += output_tokens;
        spent.ms = spent.ms.saturating_add(ms);
        Ok((answer, ms))
    }

    /// Has the model write a turn.
    fn turn(
        &mut self,
        run: &mut Run,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        stream: &mut Stream<'_>,
        spent: &mut Spent,
    ) -> Result<Answer, AgentError> {
        let request = self.request(run, asked);
        stream.begin(run.may_claim());
        let (mut answer, ms) = self.ask_model(&request, asked, edge, stop, spent, Some(stream))?;
        stream::end_with_reply(&mut answer);
        if stream.has_spoken() {
            run.heard();
        }
        self.record_turn(run, &answer, ms);
        edge.hear(Event::Turned(&withheld(&answer, &asked.filters)));
        Ok(answer)
    }

    /// Writes down a turn that the run is given.
    fn record_turn(&mut self, run: &Run, answer: &Answer, ms: u64) {
        let Answer { input_tokens, output_tokens, reused_tokens, .. } = *answer;
        self.recorder.write(&Line::Turn {
            message: self.session.last,
            turn: run.turns().len() as u64 + 1,
            time: (self.settings.clock)(),
            text: answer.text.clone(),
            is_cut: answer.end == End::Cut,
            input_tokens,
            output_tokens,
            reused_tokens,
            ms,
        });
    }

    /// Proposes and concludes the calls of a turn.
    fn act(&mut self, run: &mut Run, mut parsed: Parsed, asked: &Asked, edge: &mut dyn Edge) {
        let frame = parsed.frame.clone();
        let engine = self.engine;
        let read = |path: &MemoryPath| engine.text_of(path);
        let parts = filter::parts(&parsed);
        if !asked.filters.is_empty() {
            filter::Redaction::new(&asked.filters, &read).refuse(&mut parsed);
        }
        let manner = Manner { seen: Some(self.session.seen.clone()), ..asked.manner.clone() };
        let guard = self.guard(run, asked);
        let proposal = self.engine.propose_guarded(parsed, manner, Some(guard));
        let (mut report, keep) = self.engine.conclude_in_conversation(proposal);
        let seen = keep.seen.unwrap_or_default().since(&self.session.seen);
        self.session.seen.extend(seen.clone());
        if !keep.variables {
            report.variables = Variables::default();
        }
        report.batch = report.batch.or(keep.batch);
        self.recorder.write(&Line::Acted {
            message: self.session.last,
            turn: run.turns().len() as u64,
            actions: report.actions.iter().map(Act::of).collect(),
            changed: report.changed.clone(),
            batch: report.batch,
            receipt: report.receipt.clone(),
            seen,
        });
        // The notes are read again: they may have been changed just now.
        filter::Redaction::new(&asked.filters, &read).report(&mut report, parts);
        edge.hear(Event::Acted(&report));
        run.concluded(frame, report, edge.is_attended());
    }

    /// Who refuses what nobody has asked for.
    fn guard(&self, run: &Run, asked: &Asked) -> Guard {
        let notes = asked.notes.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]);
        let results = run.transcript().iter().filter(|message| message.role == Role::User);
        let shown = notes.chain(results.map(|message| message.text.as_str()));
        let words = guard::Words::of(&asked.message, &self.session.exchanges, shown);
        Guard::new(move |action| words.refusal(action))
    }

    /// Asks the person about a proposal, and does what they say.
    fn ask(&mut self, run: &Run, id: u64, edge: &mut dyn Edge) -> Decided {
        let reviewed = match self.engine.review_proposal(id) {
            Ok(reviewed) => reviewed,
            Err(failure) => return Decided::Failed(failure),
        };
        let person = Author { origin: "person".to_owned(), ..self.author(None) };
        let decision = edge.decide(&reviewed);
        let (word, instead) = match &decision {
            Decision::Later => (Word::Later, None),
            Decision::Yes => (Word::Yes, None),
            Decision::No => (Word::No, None),
            Decision::Instead(words) => (Word::Instead, Some(words.clone())),
        };
        let decided = match decision {
            Decision::Later => Decided::Later,
            Decision::Yes => match self.engine.approve(id, Leave::Shown(reviewed.waiting.digest), &person) {
                Ok(done) => Decided::Done { batch: done.batch, changed: done.changed, receipt: done.receipt },
                Err(error) => Decided::Failed(error.failure),
            },
            Decision::No => self.reject(id, None, &person),
            Decision::Instead(words) => self.reject(id, Some(words), &person),
        };
        let (batch, receipt) = match &decided {
            Decided::Done { batch, receipt, .. } => (*batch, receipt.clone()),
            Decided::No(_) | Decided::Later | Decided::Failed(_) => (None, None),
        };
        tracing::info!(proposal = id, ?word, failed = matches!(decided, Decided::Failed(_)), "decided");
        let (message, turn) = (self.session.last, run.turns().len() as u64);
        self.recorder.write(&Line::Decided { message, turn, proposal: id, decision: word, instead, batch, receipt });
        decided
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
        let split = filter::split(message);
        let message = split.message;
        let switches = &self.session.switches;
        let filters = switches.filters.iter().chain(&split.filters).map(|filter| Filter::compile(filter));
        let filters = filters.collect::<Vec<_>>();
        let manner = Manner {
            author: self.author(Some(self.session.next_number())),
            grant: filter::hiding(switches.grant()?, &filters)?.map(Arc::new),
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
                    &Manner { grant: filter::hiding(None, &filters)?.map(Arc::new), ..manner.clone() },
                    &query,
                    &filters,
                    self.settings.context,
                )?
            }
        };
        let before = filter::conversation(&self.session, &filters);
        let issues = split.is_unclosed.then(|| Issue {
            code: "unclosed_filter",
            index: None,
            message: "the last `<filter>` has no `</filter>`: all that follows it was taken as the filter".to_owned(),
        });
        Ok(Asked { message, filters, own: split.filters, notes, manner, before, issues: issues.into_iter().collect() })
    }

    /// How many bytes of results go back to the model at once: a quarter of what it can take, at four bytes a token.
    fn most_bytes(&self) -> usize {
        const UNKNOWN: u32 = 32 << 10;
        let tokens = self.model.card().context_tokens.unwrap_or(UNKNOWN);
        (tokens as usize / 4 * context::TOKEN_BYTES).clamp(1 << 10, 64 << 10)
    }

    fn manners(&self) -> Manners {
        if self.is_staged() {
            return Manners { dialect: None, program_replies: false };
        }
        match self.settings.family {
            Family::Capable => Manners { dialect: None, program_replies: false },
            Family::Small => Manners { dialect: None, program_replies: true },
            Family::MemAgent => Manners { dialect: Some(Dialect::Python), program_replies: false },
        }
    }

    /// What the model is asked now.
    fn request(&self, run: &Run, asked: &Asked) -> Request {
        let rest = wishes(&asked.filters);
        let switches = &self.session.switches;
        let ask_first = asked.manner.mode == Mode::Flag;
        if self.settings.family == Family::Small {
            let turn = small::Turn {
                prompt: self.prompts.text("small"),
                notes: &asked.notes,
                message: &asked.message,
                session: &asked.before,
                rest: &rest,
                writes: switches.actions == Actions::All,
                tiny: self.model.card().million_parameters.is_some_and(|millions| millions < TINY),
            };
            return Request { temperature: self.settings.temperature, ..small::request(&turn, run.transcript()) };
        }
        let system = match self.settings.family {
            Family::MemAgent => self.prompts.mem_agent(switches, &rest),
            Family::Capable | Family::Small => self.prompts.system(switches, ask_first, &rest),
        };
        let mut messages: Vec<Message> = asked.before.exchanges.iter().flat_map(told).collect();
        messages.push(Message { role: Role::User, text: prompt::message(&asked.notes, &asked.message) });
        messages.extend(run.transcript().iter().cloned());
        Request {
            system,
            messages,
            // Of what somebody said nothing is kept beyond the process.
            stable: 0,
            shape: None,
            max_tokens: self.settings.max_tokens,
            temperature: self.settings.temperature,
            stop: stops(self.settings.family),
        }
    }
}

/// What filters ask for that only the model can see to.
fn wishes(filters: &[Filter]) -> Vec<String> {
    filters.iter().filter_map(|filter| filter.rest().map(str::to_owned)).collect()
}

/// A turn as it may be shown.
fn withheld<'a>(answer: &'a Answer, filters: &[Filter]) -> Cow<'a, Answer> {
    if filters.is_empty() {
        return Cow::Borrowed(answer);
    }
    let thought = answer.thought.as_deref().map(|thought| filter::withhold(thought, filters));
    Cow::Owned(Answer { text: filter::withhold(&answer.text, filters), thought, ..answer.clone() })
}

/// The texts that end a turn. The tuned model writes a `<python>` block in each, an empty one before a reply.
fn stops(family: Family) -> Vec<String> {
    let ends: &[&str] = match family {
        Family::MemAgent => &["</reply>"],
        Family::Capable | Family::Small => &["</reply>", "</actions>", "</mcp:tool>"],
    };
    ends.iter().map(|end| (*end).to_owned()).collect()
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
    said.malformed = run.malformed();
    said.batches.extend_from_slice(run.batches());
    said.receipts.extend_from_slice(run.receipts());
    said.variables = run.variables().clone();
    for (turn, number) in run.turns().iter().zip(1..) {
        said.grounds.extend(small::grounds(&turn.answer.text));
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

/// What the program says itself about calls that wrote.
fn acknowledge(report: &Report) -> String {
    let mut lines = Vec::new();
    for receipt in report.receipt.iter().flat_map(|receipt| receipt.lines()) {
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

#[cfg(test)]
mod tests;
