//! `memdir ask`: one message to a model that uses the memory, for people in a hurry and for pipes.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::args::Global;
use super::output::{Lines, print_json, say};
use super::stop::{Stop, usage};
use super::talk::Conversation;
use super::{exit, file, index, interrupt, open, talk, term};
use memdir_agent::{Agent, Decision, Edge, Event, Notice, Said};
use memdir_core::report::{Code, Failure, Issue, Report};
use memdir_engine::{Engine, ProposedCall, Reviewed};
use memdir_policy::Ground;
use memdir_words::said;

/// The longest message, in bytes.
const MAX_MESSAGE: u64 = 1 << 20;

/// Options of `ask`.
#[derive(Args, Debug)]
pub(super) struct AskArgs {
    /// The message; `-` reads it from standard input
    pub(super) text: String,
    #[command(flatten)]
    pub(super) conversation: Conversation,
}

pub(super) fn run(global: &Global, options: &AskArgs) -> Result<u8, Stop> {
    let message = message(&options.text)?;
    let opened = open::open_for_one_turn(global)?;
    let conversation = &options.conversation;
    let session = conversation.session(&opened.engine)?;
    let stop = interrupt::stop();
    let is_filtered = !session.switches.filters.is_empty() || message.to_ascii_lowercase().contains("<filter");
    index::embed(global, &opened, is_filtered, &|| stop.is_cancelled())?;
    let model = talk::open_model(global, &opened.config, conversation.model.as_deref(), &stop)?;
    let name = model.card().name.clone();
    let mut settings = talk::settings(&opened.config, model.card(), "ask");
    settings.staged = conversation.staged;
    settings.tokens = talk::tokens(&opened.engine, &opened.config)?;
    conversation.tell_of_permission(&session, settings.mode)?;
    let agent = Agent::new(&opened.engine, model, talk::prompts(&opened.config)?, settings, session).kept();
    let mut agent = talk::with_tools(agent, conversation, false)?;
    let mut said = Said::default();
    let mut pipe = Pipe { is_json: global.json };
    let ended = agent.say(&message, &mut pipe, &stop, &mut said);
    let id = agent.session().id.clone();
    index::say_trouble(&opened)?;
    let failure = ended.err().map(|error| talk::agent_failure(&error));
    if global.json {
        let mut object = shape(&opened.engine, &said, &id, &name)?;
        if let Some(failure) = &failure {
            object.insert("error".to_owned(), value(failure)?);
        }
        print_json(&object)?;
        return Ok(failure.map_or_else(|| code(&said), |failure| exit::code(failure.code)));
    }
    show(&said, failure.is_none())?;
    failure.map_or_else(|| Ok(code(&said)), |failure| Err(failure.into()))
}

/// The exit code of a message that was answered, or left without a reply: by its worst call then, and never a success.
pub(super) fn code(said: &Said) -> u8 {
    if said.reply.is_some() {
        return 0;
    }
    let outcomes = said.actions.iter().map(|(_, outcome)| outcome.clone()).collect();
    exit::of_report(&Report::of(outcomes)).max(exit::UNANSWERED)
}

/// A pipe: there is nobody to ask.
struct Pipe {
    is_json: bool,
}

impl Edge for Pipe {
    fn hear(&mut self, event: Event<'_>) {
        if self.is_json {
            return;
        }
        // If standard error is closed, `--json` still prints these.
        match event {
            Event::Noticed(issues) => issues.iter().for_each(|issue| drop(say(format!("note: {}", issue.message)))),
            Event::ToolCalled(called) => drop(say(talk::called(called))),
            _ => {}
        }
    }

    fn decide(&mut self, _: &Reviewed) -> Decision {
        Decision::Later
    }

    fn is_attended(&self) -> bool {
        false
    }
}

/// The message that was typed, or comes in.
fn message(text: &str) -> Result<String, Stop> {
    let message = match text {
        "-" => String::from_utf8(file::read_input("message", MAX_MESSAGE)?)
            .map_err(|_| usage("standard input cannot be read: it is not UTF-8", "pipe a text into it"))?,
        text => text.to_owned(),
    };
    if message.trim().is_empty() {
        return Err(usage("the message is empty", "say `memdir ask \"…\"`").into());
    }
    if message.len() as u64 > MAX_MESSAGE {
        return Err(usage(format!("the message has more than {MAX_MESSAGE} bytes"), "send less at once").into());
    }
    Ok(message)
}

/// The object of the contract. What the program says beside the reply is the last of the issues.
fn shape(engine: &Engine, said: &Said, session: &str, model: &str) -> Result<Map<String, Value>, Stop> {
    let mut actions = Vec::new();
    for (turn, outcome) in &said.actions {
        let mut action = Map::from_iter([("turn".to_owned(), json!(turn))]);
        if let Value::Object(more) = value(outcome)? {
            action.extend(more);
        }
        actions.push(Value::Object(action));
    }
    let mut pending = Vec::new();
    for id in &said.pending {
        let Ok(reviewed) = engine.review_proposal(*id) else { continue };
        let calls =
            reviewed.waiting.calls.iter().map(|held| value(&held.call.action)).collect::<Result<Vec<_>, _>>()?;
        pending.push(json!({"id": id, "actions": calls, "reason": codes(&reviewed.waiting.calls)}));
    }
    let notice =
        said.notice.iter().map(|notice| Issue { code: kind(notice), index: None, message: said::notice(notice) });
    let issues: Vec<Issue> = said.issues.iter().cloned().chain(notice).collect();
    let Value::Object(object) = json!({
        "reply": said.reply,
        "actions": actions,
        "tool_calls": value(&said.tool_calls)?,
        "variables": value(&said.variables)?,
        "changed": value(&said.changed)?,
        "batches": said.batches,
        "receipt": said.receipt(),
        "pending": pending,
        "issues": value(&issues)?,
        "session": session,
        "turns": said.turns,
        "model": {
            "name": model,
            "input_tokens": said.spent.input_tokens,
            "output_tokens": said.spent.output_tokens,
            "ms": said.spent.ms,
        },
    }) else {
        return Err(Failure::new(Code::Internal, "what was said is no object").into());
    };
    Ok(object)
}

/// Why the person is asked about calls, as a program reads it: the code of each ground, once.
fn codes(calls: &[ProposedCall]) -> String {
    let mut codes: Vec<&str> = Vec::new();
    for code in calls.iter().flat_map(|held| &held.grounds).map(Ground::code) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes.join(", ")
}

/// A value as JSON.
fn value(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new(Code::Internal, error.to_string()))
}

/// Prints the reply, and what the person should know beside it.
fn show(said: &Said, is_answered: bool) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    if let Some(reply) = &said.reply {
        let shown = if stdout.is_terminal() { term::escape(reply) } else { reply.as_str().into() };
        writeln!(stdout, "{shown}")?;
        stdout.flush()?;
    }
    let mut stderr = io::stderr().lock();
    if let Some(notice) = &said.notice {
        stderr.line(format!("note: {}", said::notice(notice)))?;
    }
    for issue in said.noticed() {
        stderr.line(format!("note: {}", issue.message))?;
    }
    if is_answered || said.receipt().is_some() {
        writeln!(stderr, "{}", term::escape(&said::stored(said)))?;
    }
    for id in &said.pending {
        writeln!(stderr, "proposal {id} waits for you: memdir pending")?;
    }
    Ok(())
}

/// The code by which a program knows a notice.
fn kind(notice: &Notice) -> &'static str {
    match notice {
        Notice::Turns(_) => "out_of_turns",
        Notice::Tokens => "out_of_tokens",
        Notice::Missed(_) => "not_stored",
        Notice::NotInNotes(_) => "not_in_notes",
        Notice::Stuck => "stuck",
        Notice::Cut => "turn_cut",
        Notice::ReplyCut => "reply_cut",
        Notice::Nothing => "nothing_read",
    }
}
