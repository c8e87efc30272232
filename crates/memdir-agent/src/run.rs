//! One run: from a message of the person to the reply, as a state machine that waits for nothing.
//!
//! Owns the order of things and when it ends: turns, tokens. It is given what others did and says what is to be done next; so
//! limits and recovery are tables in a test. Nothing here judges a reply by its words: receipts say what was stored.

use serde::{Deserialize, Serialize};

use super::bound;
use memdir_core::report::{Code, Failure, Outcome, Report, Variables};
use memdir_dialect::{self as dialect, Dialect, Frame, Parsed};
use memdir_engine::Done;
use memdir_model::{Answer, End, Message, Role};

/// How far a run may go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// How many turns the model may have.
    pub turns: u32,
    /// How many tokens, read and written, it may still use.
    pub tokens: Option<u64>,
    /// How many bytes of results are sent back to the model at once; what is larger is cut.
    pub result_bytes: usize,
}

/// How the turns of a model are read and answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Manners {
    /// The dialect in which its calls are read; `None` goes by the text.
    pub dialect: Option<Dialect>,
    /// The model has one turn, which holds its calls and its reply. Turns that only call tools of other servers may come before it.
    pub is_one_turn: bool,
}

/// What is to be done next.
#[derive(Debug)]
pub enum Step {
    /// The model is asked, with [`Run::transcript`] behind the message.
    CallModel,
    /// These calls are proposed, and concluded as far as they may be: [`Run::concluded`].
    Propose(Box<Parsed>),
    /// The person is asked about the proposal of this number: [`Run::decided`].
    AskPerson(u64),
    /// All is done.
    Done(Finish),
}

/// What the person decided about a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// It is carried out.
    Done(Done),
    /// The person does not want it, and may have said what instead.
    No(Option<String>),
    /// It waits on.
    Later,
    /// It could not be carried out.
    Failed(Failure),
}

/// How a run ended.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Finish {
    /// What is said to the person; `None` where the model has said nothing that may be shown.
    pub reply: Option<String>,
    /// What the program has to say about it.
    pub notice: Option<Notice>,
}

/// What the program says beside a reply, or instead.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The model had no turn left.
    Turns(u32),
    /// There are no tokens left for today.
    Tokens,
    /// Some of the changes that the model tried last were not made: why, call by call.
    Missed(Vec<String>),
    /// This was asked, and no line that the model was shown has a word of its answer: what that says is its own.
    NotInNotes(Vec<String>),
    /// The model has done the same three times in a row, to no end.
    Stuck,
    /// The last turn was cut off, and was not run.
    Cut,
    /// The reply was cut off after its beginning was heard; what there is of it is said.
    ReplyCut,
    /// The model wrote nothing that could be read.
    Nothing,
}

/// A turn of the model, with what became of it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What it wrote.
    pub answer: Answer,
    /// What became of its calls; `None` where it had none that ran.
    pub report: Option<Report>,
}

/// A run.
#[derive(Debug)]
pub struct Run {
    limits: Limits,
    manners: Manners,
    state: State,
    transcript: Vec<Message>,
    turns: Vec<Turn>,
    tokens: u64,
    /// How often in a row nothing could be read.
    unread: u32,
    /// How many turns could not be used: cut off, or nothing to be read in them.
    malformed: usize,
    /// What was tried last to no end, and how often in a row.
    tried: (String, u32),
    /// Whether the person has heard the beginning of the reply that the next turn is.
    is_heard: bool,
    /// Whether the calls of this turn all went to other servers.
    has_only_called: bool,
    /// What is said once the calls of the only turn are concluded.
    reply: Option<String>,
    variables: Variables,
    batches: Vec<u64>,
    receipts: Vec<String>,
    /// What the person said they want instead of what was proposed.
    instead: Vec<String>,
}

#[derive(Debug)]
enum State {
    Model,
    Propose(Box<Parsed>),
    Ask { proposal: u64, frame: Frame, report: Box<Report> },
    Done(Finish),
}

/// How often in a row a turn that cannot be read is sent back.
const UNREAD: u32 = 2;
/// How often in a row the same may be tried to no end.
const TRIES: u32 = 3;

impl Run {
    /// A run that begins.
    #[must_use]
    pub fn new(limits: Limits, manners: Manners, variables: Variables) -> Self {
        Self {
            limits,
            manners,
            state: State::Model,
            transcript: Vec::new(),
            turns: Vec::new(),
            tokens: 0,
            unread: 0,
            malformed: 0,
            tried: (String::new(), 0),
            is_heard: false,
            has_only_called: false,
            reply: None,
            variables,
            batches: Vec::new(),
            receipts: Vec::new(),
            instead: Vec::new(),
        }
    }

    /// What is to be done next. Asked again before it was, it says the same.
    pub fn next_step(&mut self) -> Step {
        match &self.state {
            State::Done(finish) => Step::Done(finish.clone()),
            State::Ask { proposal, .. } => Step::AskPerson(*proposal),
            State::Propose(parsed) => Step::Propose(parsed.clone()),
            State::Model if self.is_out_of_turns() => self.stop(Notice::Turns(self.limits.turns)),
            State::Model if self.is_out_of_tokens() => self.stop(Notice::Tokens),
            State::Model => Step::CallModel,
        }
    }

    /// What was said after the message of the person: turns of the model, and what came back.
    #[must_use]
    pub fn transcript(&self) -> &[Message] {
        &self.transcript
    }

    /// The turns so far.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How many turns were cut off, or held nothing that could be read.
    #[must_use]
    pub fn malformed(&self) -> usize {
        self.malformed
    }

    /// The variables that the run has set, and those from before.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// The batches to undo, in their order.
    #[must_use]
    pub fn batches(&self) -> &[u64] {
        &self.batches
    }

    /// One line for the person for each batch.
    #[must_use]
    pub fn receipts(&self) -> &[String] {
        &self.receipts
    }

    /// What the person said they want instead of what was proposed.
    #[must_use]
    pub fn instead(&self) -> &[String] {
        &self.instead
    }

    /// The model has written something that is no turn of its own, and cost what it cost.
    pub fn spent(&mut self, answer: &Answer) {
        let read = answer.input_tokens.saturating_sub(answer.reused_tokens);
        self.tokens = self.tokens.saturating_add(read).saturating_add(answer.output_tokens);
    }

    /// Whether the model has one turn left.
    #[must_use]
    pub fn is_at_last_turn(&self) -> bool {
        u32::try_from(self.turns.len()).unwrap_or(u32::MAX).saturating_add(1) >= self.limits.turns
    }

    /// The person has heard the beginning of the reply that the next turn is: where it is cut off, it is not said anew.
    pub fn heard(&mut self) {
        self.is_heard = true;
    }

    /// The calls of this turn all go to other servers: a model that has one turn has it still before it.
    pub fn only_called(&mut self) {
        self.has_only_called = true;
    }

    /// The model has written a turn.
    pub fn answered(&mut self, answer: Answer) {
        self.spent(&answer);
        self.say(Role::Assistant, answer.text.clone());
        let parsed = dialect::parse_as(answer.text.as_bytes(), self.manners.dialect, &self.variables);
        let (text, is_cut) = (answer.text.clone(), answer.end == End::Cut);
        self.turns.push(Turn { answer, report: None });
        // The tuned model writes a block in each turn, an empty one before a reply.
        let has_calls = !parsed.entries.is_empty() || parsed.script.as_ref().is_some_and(|script| !script.is_empty());
        let is_heard = std::mem::take(&mut self.is_heard) && !has_calls;
        let cut = parsed.reply.as_ref().filter(|_| is_cut && is_heard);
        if let Some(reply) = cut {
            let finish = Finish { reply: Some(reply.clone()), notice: Some(Notice::ReplyCut) };
            self.state = State::Done(finish);
        } else if is_cut {
            self.send_back(CUT, Notice::Cut);
        } else if !has_calls {
            match parsed.reply.or_else(|| untagged(&text)) {
                Some(reply) => self.replied(Some(reply)),
                None => self.send_back(nothing(self.manners.dialect), Notice::Nothing),
            }
        } else {
            self.unread = 0;
            self.reply = parsed.reply.clone().filter(|_| self.manners.is_one_turn);
            self.state = State::Propose(Box::new(parsed));
        }
    }

    /// The calls of the last turn were concluded. `asks` tells that a person is there to be asked about one that waits.
    pub fn concluded(&mut self, frame: Frame, report: Report, asks: bool) {
        self.committed(report.batch, report.receipt.clone());
        let waits = |outcome: &Outcome| outcome.result.as_ref().err()?.details.proposal;
        match report.actions.iter().find_map(waits).filter(|_| asks) {
            Some(proposal) => self.state = State::Ask { proposal, frame, report: Box::new(report) },
            None => self.told(&frame, report),
        }
    }

    /// The person was asked about a proposal.
    pub fn decided(&mut self, decided: &Decided) {
        let State::Ask { proposal, frame, report } = std::mem::replace(&mut self.state, State::Model) else { return };
        if let Decided::No(Some(words)) = decided {
            self.instead.push(words.clone());
        }
        let mut report = *report;
        for outcome in &mut report.actions {
            let is_it = outcome.result.as_ref().is_err_and(|failure| failure.details.proposal == Some(proposal));
            if is_it {
                decide(outcome, decided);
            }
        }
        if let Decided::Done(done) = decided {
            self.committed(done.batch, done.receipt.clone());
            report.batch = done.batch.or(report.batch);
            report.changed.extend(done.changed.iter().cloned());
            report.changed.sort();
            report.changed.dedup();
            let receipts: Vec<String> = report.receipt.into_iter().chain(done.receipt.clone()).collect();
            report.receipt = (!receipts.is_empty()).then(|| receipts.join("\n"));
        }
        self.told(&frame, report);
    }

    /// The model is told what became of its calls.
    fn told(&mut self, frame: &Frame, report: Report) {
        let variables = self.variables.iter().chain(report.variables.iter());
        self.variables = Variables::new(variables.map(|(name, value)| (name.to_owned(), value.clone())));
        let goes_on = std::mem::take(&mut self.has_only_called) && self.reply.is_none();
        let is_over = self.manners.is_one_turn && !goes_on;
        if !is_over && self.is_stuck(&report) {
            self.state = State::Done(Finish { reply: None, notice: Some(Notice::Stuck) });
        } else if !is_over {
            self.say(Role::User, bound::encode(frame, &report, self.limits.result_bytes));
            self.state = State::Model;
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.report = Some(report);
        }
        if is_over {
            let reply = self.reply.take();
            self.replied(reply);
        }
    }

    fn committed(&mut self, batch: Option<u64>, receipt: Option<String>) {
        self.batches.extend(batch);
        self.receipts.extend(receipt);
    }

    /// Notes what the last turn has tried; whether it has changed nothing and is the same as those before, once too often.
    fn is_stuck(&mut self, report: &Report) -> bool {
        let failure = |outcome: &Outcome| {
            let failure = outcome.result.as_ref().err()?;
            Some(format!("{:?} {:?} {}", outcome.action, outcome.path, failure.message))
        };
        let failures: Option<Vec<String>> = report.actions.iter().map(failure).collect();
        let tried = match failures.filter(|failures| !failures.is_empty()) {
            Some(failures) => failures.join("\n"),
            None if !report.changed.is_empty() => String::new(),
            None => self.turns.last().map_or_else(String::new, |turn| turn.answer.text.clone()),
        };
        let times = if !tried.is_empty() && tried == self.tried.0 { self.tried.1 + 1 } else { 1 };
        self.tried = (tried, times);
        times >= TRIES
    }

    /// The model replies to the person, and has seen the results of all its calls.
    fn replied(&mut self, reply: Option<String>) {
        let missed = self.missed();
        let notice = (!missed.is_empty()).then_some(Notice::Missed(missed));
        self.state = State::Done(Finish { reply, notice });
    }

    fn reports(&self) -> impl DoubleEndedIterator<Item = &Report> {
        self.turns.iter().filter_map(|turn| turn.report.as_ref())
    }

    /// Why changes were not made that the model tried last; those that wait for the person are told by themselves.
    fn missed(&self) -> Vec<String> {
        let last = self.reports().rfind(|report| report.actions.iter().any(is_write));
        let outcomes = last.into_iter().flat_map(|report| &report.actions).filter(|outcome| is_write(outcome));
        let words = |outcome: &Outcome| {
            let path = outcome.path.as_deref().map_or_else(String::new, |path| format!(" `{path}`"));
            let action = outcome.action.as_deref().unwrap_or_default();
            let failure = outcome.result.as_ref().err().filter(|failure| failure.details.proposal.is_none())?;
            Some(format!("`{action}`{path}: {}", failure.message))
        };
        outcomes.filter_map(words).collect()
    }

    fn send_back(&mut self, words: &str, notice: Notice) {
        self.unread += 1;
        self.malformed += 1;
        if self.manners.is_one_turn || self.unread > UNREAD || self.is_out_of_turns() {
            self.state = State::Done(Finish { reply: None, notice: Some(notice) });
        } else {
            self.say(Role::User, words.to_owned());
            self.state = State::Model;
        }
    }

    fn stop(&mut self, notice: Notice) -> Step {
        let finish = Finish { reply: None, notice: Some(notice) };
        self.state = State::Done(finish.clone());
        Step::Done(finish)
    }

    fn is_out_of_turns(&self) -> bool {
        u32::try_from(self.turns.len()).unwrap_or(u32::MAX) >= self.limits.turns
    }

    fn is_out_of_tokens(&self) -> bool {
        self.limits.tokens.is_some_and(|most| self.tokens >= most)
    }

    fn say(&mut self, role: Role, text: String) {
        self.transcript.push(Message { role, text });
    }
}

/// Whether a call was to change something.
fn is_write(outcome: &Outcome) -> bool {
    outcome.action.as_deref().is_some_and(super::writes)
}

const CUT: &str =
    "<result>\nYour turn was cut off before its end, and nothing of it was done. Say it again, shorter.\n</result>";

/// What a model is told of whose turn nothing can be read, in the shape that it knows.
fn nothing(dialect: Option<Dialect>) -> &'static str {
    match dialect {
        Some(Dialect::Python) => {
            "<result>\nNothing could be read from your turn. Send <python>…</python> with calls, or <reply>…</reply>.\n</result>"
        }
        _ => {
            "<result>\nNothing could be read from your turn. Send <actions>[…]</actions> or <reply>…</reply>.\n</result>"
        }
    }
}

/// A turn without any tags, which many models write, is a reply.
fn untagged(text: &str) -> Option<String> {
    const TAGS: [&str; 7] = ["<actions", "<reply", "<think", "<python", "<mcp:", "\"action\"", "<result"];
    let is_plain = !TAGS.iter().any(|tag| text.contains(tag));
    let text = text.trim();
    (is_plain && !text.is_empty()).then(|| text.to_owned())
}

/// What became of a call after the person was asked.
fn decide(outcome: &mut Outcome, decided: &Decided) {
    match decided {
        Decided::Done(done) => *outcome = done.outcome_of(outcome),
        Decided::Later => {}
        Decided::Failed(failure) => outcome.result = Err(failure.clone()),
        Decided::No(instead) => {
            let failure = Failure::new(Code::Denied, "the person was asked and does not want it");
            outcome.result = Err(match instead {
                Some(instead) => failure.with_hint(format!("the person says: {instead}")),
                None => failure.with_hint("leave it, and do not ask again"),
            });
        }
    }
}
