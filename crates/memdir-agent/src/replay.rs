//! Replay: a kept session on another copy of the memory, without a model.
//!
//! The turns of the file are what the model says, its decisions are what the person says; everything between is done anew, by
//! the same loop. So the notes come out as they did, byte for byte, if they began as they did.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::line::{Act, Line, Word, answer, lines, with_filters};
use super::prompt::{Family, Prompts};
use super::session::Session;
use super::switches::Switches;
use super::tools::Hands;
use super::{Agent, AgentError, Decision, Edge, Event, Said, Settings};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::{Engine, Reviewed};
use memdir_model::{Answer, Card, Heard, Model, ModelError, Place, Request};
use memdir_policy::Mode;

/// What came of a replay.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Replayed {
    /// The session.
    pub session: String,
    /// How many messages were answered anew.
    pub messages: usize,
    /// How many turns of the model were read.
    pub turns: usize,
    /// Every path that is different now, sorted.
    pub changed: Vec<MemoryPath>,
    /// What came out otherwise than it did, turn by turn.
    pub differences: Vec<String>,
    /// The calls of tools of other servers that were made then: a replay makes none, and what they said is not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_called: Vec<String>,
}

/// A message of a session, with all that the model and the person said to it.
#[derive(Debug)]
struct Told {
    number: u64,
    text: String,
    door: String,
    permission: Mode,
    switches: Switches,
    family: Family,
    answers: Vec<Answer>,
    /// What the person decided, each with its turn.
    decisions: VecDeque<(u64, Decision)>,
    acts: Vec<Acts>,
    /// The tools of other servers that were called, each with its turn.
    called: Vec<(u64, String)>,
    /// Whether it was answered to its end.
    is_answered: bool,
}

/// What became of the calls of a turn: its number, the calls, the paths that were different then.
type Acts = (u64, Vec<Act>, Vec<MemoryPath>);

/// Does what a session has done on the memory of this engine. `settings` counts for what the lines do not say.
///
/// What the person did between messages, such as an undo, is not in the lines of a session. The permission mode, and what the
/// person has agreed to, are those in the lines.
///
/// # Errors
///
/// `damaged` for lines that this program does not know, `unavailable` where a message was forgotten, `usage` in a memory that keeps
/// the session itself: there it was done.
pub fn replay(engine: &Engine, bytes: &[u8], settings: &Settings) -> Result<Replayed, Failure> {
    let (id, messages) = read(bytes)?;
    if engine.sessions()?.iter().any(|kept| kept.id == id) {
        let failure = Failure::new(Code::Usage, format!("this memory keeps the session `{id}`: here it was done"));
        return Err(failure.with_hint("replay it on a copy of the notes, without `.memdir`, as they were before"));
    }
    let model = Box::new(Written::new(Vec::new()));
    let session = Session::new(id.clone());
    let settings = Settings { tokens: None, ..settings.clone() };
    let mut agent = Agent::new(engine, model, Prompts::default(), settings, session);
    agent.tools.hands = Hands::Replay(BTreeSet::new());
    let mut replayed = Replayed { session: id, ..Replayed::default() };
    for told in messages {
        say_again(&mut agent, told, &mut replayed)?;
    }
    replayed.changed.sort();
    replayed.changed.dedup();
    Ok(replayed)
}

/// Says one message again.
fn say_again(agent: &mut Agent<'_>, told: Told, replayed: &mut Replayed) -> Result<(), Failure> {
    agent.settings.family = told.family;
    agent.settings.mode = told.permission;
    agent.settings.door = if told.door == "chat" { "chat" } else { "ask" };
    // One that ran out of turns runs out of them again; one that was not answered to its end waits for a turn that never comes.
    let most = if told.is_answered { told.answers.len() } else { told.answers.len() + 1 };
    agent.settings.turns = u32::try_from(most).unwrap_or(u32::MAX);
    agent.session.switches = told.switches;
    agent.session.last = told.number.saturating_sub(1);
    if let Hands::Replay(names) = &mut agent.tools.hands {
        names.extend(told.called.iter().map(|(_, tool)| tool.clone()));
    }
    for (turn, tool) in &told.called {
        agent.session.tools.words.forget(tool);
        replayed.not_called.push(format!("message {}, turn {turn}: `{tool}`", told.number));
    }
    agent.model = Box::new(Written::new(told.answers));
    let mut edge = AsThen { decisions: told.decisions, turn: 0, acts: Vec::new() };
    let mut said = Said::default();
    match agent.say(&told.text, &mut edge, &CancellationToken::new(), &mut said) {
        Ok(()) | Err(AgentError::Model(_)) => {}
        Err(AgentError::Memory(failure)) => return Err(failure),
        Err(error @ AgentError::Tokens) => return Err(Failure::new(Code::Internal, error.to_string())),
        Err(AgentError::Switches(error)) => return Err(Failure::new(Code::Usage, error.to_string())),
    }
    replayed.messages += 1;
    replayed.turns += said.turns;
    replayed.changed.append(&mut said.changed);
    compare(told.number, &told.acts, &edge.acts, &mut replayed.differences);
    Ok(())
}

/// Tells what came out otherwise.
fn compare(message: u64, then: &[Acts], now: &[Acts], differences: &mut Vec<String>) {
    if then.len() != now.len() {
        let (then, now) = (then.len(), now.len());
        differences.push(format!("message {message}: {then} turns had calls then, and {now} have now"));
    }
    for ((turn, then, changed_then), (_, now, changed_now)) in then.iter().zip(now) {
        for (then, now) in then.iter().zip(now).filter(|(then, now)| then != now) {
            let word = |act: &Act| act.code.clone().unwrap_or_else(|| "done".to_owned());
            let action = then.action.as_deref().unwrap_or("a call");
            differences.push(format!(
                "message {message}, turn {turn}: `{action}` was {} and is {}",
                word(then),
                word(now)
            ));
        }
        if changed_then != changed_now {
            differences.push(format!("message {message}, turn {turn}: other notes were changed"));
        }
    }
}

/// Reads the messages of a session, and its name.
fn read(bytes: &[u8]) -> Result<(String, Vec<Told>), Failure> {
    let mut id = String::new();
    let (mut switches, mut family) = (Switches::default(), Family::Capable);
    let mut messages = Vec::<Told>::new();
    for line in lines(bytes) {
        match (line?, messages.last_mut()) {
            (Line::Begin { session, model, .. }, _) => (id, family) = (session, model.family),
            (Line::Model { model }, _) => family = model.family,
            (Line::Switches { switches: new }, _) => switches = new,
            (Line::Message { message, door, permission, text, filters, .. }, _) => messages.push(Told {
                number: message,
                text: with_filters(&text, &filters),
                door,
                permission,
                switches: switches.clone(),
                family,
                answers: Vec::new(),
                decisions: VecDeque::new(),
                acts: Vec::new(),
                called: Vec::new(),
                is_answered: false,
            }),
            (Line::Turn { text, is_cut, input_tokens, output_tokens, reused_tokens, .. }, Some(told)) => {
                told.answers.push(answer(text, is_cut, [input_tokens, output_tokens, reused_tokens]));
            }
            // The turns that came of stages are read as the stages wrote them, whatever the family.
            (Line::Stage { .. }, Some(told)) => told.family = Family::Capable,
            (Line::Acted { turn, actions, changed, .. }, Some(told)) => told.acts.push((turn, actions, changed)),
            (Line::Called { turn, tool, .. }, Some(told)) => told.called.push((turn, tool)),
            (Line::Decided { turn, decision, instead, .. }, Some(told)) => {
                told.decisions.push_back((turn, decided(decision, instead)));
            }
            (Line::Reply { failed, .. }, Some(told)) => told.is_answered = !failed,
            (Line::Forgotten { message }, _) => {
                let failure =
                    Failure::new(Code::Unavailable, format!("message {message} of the session was forgotten"));
                return Err(failure.with_hint("what came after it cannot be done again"));
            }
            (Line::Used { .. }, _)
            | (
                Line::Turn { .. }
                | Line::Stage { .. }
                | Line::Acted { .. }
                | Line::Called { .. }
                | Line::Decided { .. }
                | Line::Reply { .. },
                None,
            ) => {}
        }
    }
    Ok((id, messages))
}

fn decided(word: Word, instead: Option<String>) -> Decision {
    match word {
        Word::Yes => Decision::Yes,
        Word::No => Decision::No,
        Word::Instead => Decision::Instead(instead.unwrap_or_default()),
        Word::Later => Decision::Later,
    }
}

/// A model that says what was written.
#[derive(Debug)]
struct Written {
    card: Card,
    answers: VecDeque<Answer>,
}

impl Written {
    fn new(answers: Vec<Answer>) -> Self {
        let card = Card {
            name: "replay".to_owned(),
            place: Place::Process,
            million_parameters: None,
            context_tokens: None,
            is_constrained: false,
        };
        Self { card, answers: answers.into() }
    }
}

impl Model for Written {
    fn card(&self) -> &Card {
        &self.card
    }

    fn answer(
        &mut self,
        _: &Request,
        _: &mut dyn FnMut(Heard<'_>),
        _: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.answers.pop_front().ok_or(ModelError::Cancelled)
    }
}

/// A person who decides as they did.
#[derive(Debug)]
struct AsThen {
    decisions: VecDeque<(u64, Decision)>,
    turn: u64,
    acts: Vec<Acts>,
}

impl Edge for AsThen {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::Turned(_) => self.turn += 1,
            Event::Acted(report) => {
                let acts = report.actions.iter().map(Act::of).collect();
                self.acts.push((self.turn, acts, report.changed.clone()));
            }
            Event::Noticed(_)
            | Event::Shown(_)
            | Event::Model(_)
            | Event::Staged(_)
            | Event::Written(_)
            | Event::ToolProgress(_)
            | Event::ToolCalled(_) => {}
        }
    }

    fn decide(&mut self, _: &Reviewed) -> Decision {
        self.decisions.pop_front().map_or(Decision::Later, |(_, decision)| decision)
    }

    fn is_attended(&self) -> bool {
        self.decisions.front().is_some_and(|(turn, _)| *turn == self.turn)
    }
}
