//! One run: from a message of the person to the reply, as a state machine that waits for nothing.
//!
//! Owns the order of things and when it ends: turns, tokens, a claim that is not true. It is given what others did and says
//! what is to be done next; so limits and recovery are tables in a test.

use super::claim;
use crate::dialect::{self, Dialect, Frame, Parsed};
use crate::model::{Answer, End, Message, Role};
use crate::report::{Code, Failure, Outcome, Report, Value, Variables};

/// How far a run may go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// How many turns the model may have.
    pub turns: u32,
    /// How many tokens, read and written, it may still use.
    pub tokens: Option<u64>,
}

/// How the turns of a model are read and answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Manners {
    /// The dialect in which its calls are read; `None` goes by the text.
    pub dialect: Option<Dialect>,
    /// After a turn that wrote, the program itself says what became of it: small models say what is not so.
    pub program_replies: bool,
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
    /// It is carried out: the batch, with what it changed.
    Done {
        /// The batch; `None` where nothing had to change.
        batch: Option<u64>,
        /// What is different now.
        changed: Vec<crate::path::MemoryPath>,
        /// One line for the person.
        receipt: Option<String>,
    },
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
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notice {
    /// The model had no turn left.
    Turns(u32),
    /// There are no tokens left for today.
    Tokens,
    /// The reply said that something was saved, and nothing was; the words that said so are not in it any more.
    ClaimRemoved,
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
    /// The batch and the receipt of the proposal that the person agreed to, where the report has those of another batch.
    pub agreed: Option<(Option<u64>, Option<String>)>,
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
    /// Whether the reply was sent back once for a claim that is not true.
    is_warned: bool,
    /// How often in a row nothing could be read.
    unread: u32,
    /// Whether the person has heard the beginning of the reply that the next turn is.
    is_heard: bool,
    variables: Variables,
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
            is_warned: false,
            unread: 0,
            is_heard: false,
            variables,
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

    /// The variables that the run has set, and those from before.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Whether something was changed since the message of the person.
    #[must_use]
    pub fn has_saved(&self) -> bool {
        self.turns.iter().filter_map(|turn| turn.report.as_ref()).any(|report| !report.changed.is_empty())
    }

    /// The person has heard the beginning of the reply that the next turn is: where it is cut off, it is not said anew.
    pub fn heard(&mut self) {
        self.is_heard = true;
    }

    /// The model has written a turn.
    pub fn answered(&mut self, answer: Answer) {
        self.tokens = self.tokens.saturating_add(answer.input_tokens - answer.reused_tokens.min(answer.input_tokens));
        self.tokens = self.tokens.saturating_add(answer.output_tokens);
        self.say(Role::Assistant, answer.text.clone());
        let parsed = dialect::parse_as(answer.text.as_bytes(), self.manners.dialect, &self.variables);
        let (text, is_cut) = (answer.text.clone(), answer.end == End::Cut);
        self.turns.push(Turn { answer, report: None, agreed: None });
        let is_heard = std::mem::take(&mut self.is_heard) && parsed.entries.is_empty() && parsed.script.is_none();
        let cut = parsed.reply.as_ref().filter(|reply| is_cut && is_heard && self.is_true(reply));
        if let Some(reply) = cut {
            let finish = Finish { reply: Some(reply.clone()), notice: Some(Notice::ReplyCut) };
            self.state = State::Done(finish);
        } else if is_cut {
            self.send_back(CUT, Notice::Cut);
        } else if parsed.entries.is_empty() && parsed.script.is_none() {
            match parsed.reply.or_else(|| untagged(&text)) {
                Some(reply) => self.replied(&reply),
                None => self.send_back(NOTHING, Notice::Nothing),
            }
        } else {
            self.unread = 0;
            self.state = State::Propose(Box::new(parsed));
        }
    }

    /// The calls of the last turn were concluded. `asks` tells that a person is there to be asked about one that waits.
    pub fn concluded(&mut self, frame: Frame, report: Report, asks: bool) {
        let waits = |outcome: &Outcome| outcome.result.as_ref().err()?.details.proposal;
        match report.actions.iter().find_map(waits).filter(|_| asks) {
            Some(proposal) => self.state = State::Ask { proposal, frame, report: Box::new(report) },
            None => self.told(&frame, report),
        }
    }

    /// The person was asked about a proposal.
    pub fn decided(&mut self, decided: &Decided) {
        let State::Ask { proposal, frame, report } = std::mem::replace(&mut self.state, State::Model) else { return };
        let mut report = *report;
        for outcome in &mut report.actions {
            let is_it = outcome.result.as_ref().is_err_and(|failure| failure.details.proposal == Some(proposal));
            if is_it {
                decide(outcome, decided);
            }
        }
        if let Decided::Done { batch, changed, receipt } = decided {
            if report.batch.is_none() {
                (report.batch, report.receipt) = (*batch, receipt.clone());
            } else if let Some(turn) = self.turns.last_mut() {
                turn.agreed = Some((*batch, receipt.clone()));
            }
            report.changed.extend(changed.iter().cloned());
            report.changed.sort();
            report.changed.dedup();
        }
        self.told(&frame, report);
    }

    /// The model is told what became of its calls.
    fn told(&mut self, frame: &Frame, report: Report) {
        let variables = self.variables.iter().chain(report.variables.iter());
        self.variables = Variables::new(variables.map(|(name, value)| (name.to_owned(), value.clone())));
        let writes = |outcome: &Outcome| outcome.action.as_deref().is_some_and(super::writes);
        if self.manners.program_replies && !report.actions.is_empty() && report.actions.iter().all(writes) {
            self.state = State::Done(Finish { reply: Some(super::acknowledge(&report)), notice: None });
        } else {
            self.say(Role::User, dialect::encode(frame, &report));
            self.state = State::Model;
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.report = Some(report);
        }
    }

    /// The model replies to the person, and has seen the results of all its calls.
    fn replied(&mut self, reply: &str) {
        match self.is_true(reply) {
            true => self.state = State::Done(Finish { reply: Some(reply.to_owned()), notice: None }),
            false if !self.is_warned && !self.is_out_of_turns() => {
                self.is_warned = true;
                self.say(Role::User, self.receipts());
                self.state = State::Model;
            }
            false => {
                let finish = Finish { reply: claim::remove(reply), notice: Some(Notice::ClaimRemoved) };
                self.state = State::Done(finish);
            }
        }
    }

    /// Whether a reply does not say that something was saved, or something was.
    fn is_true(&self, reply: &str) -> bool {
        self.has_saved() || claim::find(reply).is_none()
    }

    /// What the model is told that says it has saved something, and has not.
    fn receipts(&self) -> String {
        let failures = self.turns.iter().filter_map(|turn| turn.report.as_ref()).flat_map(|report| &report.actions);
        let failures =
            failures.filter_map(|outcome| Some((outcome.action.as_deref()?, outcome.result.as_ref().err()?)));
        let failed: String = failures.map(|(action, failure)| format!("`{action}`: {}\n", failure.message)).collect();
        let what =
            if failed.is_empty() { "No action has changed a note since the message.\n".to_owned() } else { failed };
        format!(
            "<result>\nYour reply says that something was saved or changed. Nothing was.\n{what}Either save it now, or reply \
             without saying so.\n</result>"
        )
    }

    fn send_back(&mut self, words: &str, notice: Notice) {
        self.unread += 1;
        if self.unread > UNREAD || self.is_out_of_turns() {
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

const CUT: &str =
    "<result>\nYour turn was cut off before its end, and nothing of it was done. Say it again, shorter.\n</result>";
const NOTHING: &str =
    "<result>\nNothing could be read from your turn. Send <actions>[…]</actions> or <reply>…</reply>.\n</result>";

/// A turn without any tags, which many models write, is a reply.
fn untagged(text: &str) -> Option<String> {
    const TAGS: [&str; 7] = ["<actions", "<reply", "<think", "<python", "<mcp:", "\"action\"", "<result"];
    let is_plain = !TAGS.iter().any(|tag| text.contains(tag));
    let text = text.trim();
    (is_plain && !text.is_empty()).then(|| text.to_owned())
}

/// What became of a call after the person was asked.
fn decide(outcome: &mut Outcome, decided: &Decided) {
    outcome.result = match decided {
        Decided::Done { .. } => Ok(Value::Bool(true)),
        Decided::Later => return,
        Decided::Failed(failure) => Err(failure.clone()),
        Decided::No(instead) => {
            let failure = Failure::new(Code::Denied, "the person was asked and does not want it");
            Err(match instead {
                Some(instead) => failure.with_hint(format!("the person says: {instead}")),
                None => failure.with_hint("leave it, and do not ask again"),
            })
        }
    };
}
