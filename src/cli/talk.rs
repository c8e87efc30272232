//! What `ask`, `chat` and `eval agent` have in common: a model, its prompts and how it works, from settings and options.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::args::{Global, Permission};
use super::config::{Config, ModelFamily, Sources};
use super::exit::Stop;
use super::model::{error, opening};
use super::{interrupt, open, progress};
use crate::agent::{Actions, AgentError, Family, Prompts, Session, Settings, tokens_left};
use crate::engine::Engine;
use crate::model::{Card, Model, ModelError, Place};
use crate::policy::Mode;
use crate::report::{Code, Failure};

/// How many tokens of notes a model is shown with a message: one that reads on this machine's processor is shown fewer.
const CONTEXT: u32 = 4_000;
const CONTEXT_IN_PROCESS: u32 = 800;

/// What can be typed behind `memdir ask` and `memdir chat` alike.
#[derive(Args, Debug)]
pub(super) struct Conversation {
    /// The model: a name on the shelf, PROVIDER::NAME, or a GGUF file; else the one of the settings
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Go on with this conversation
    #[arg(long, value_name = "ID", conflicts_with = "latest")]
    session: Option<String>,
    /// Go on with the latest conversation
    #[arg(long = "continue")]
    latest: bool,
    /// What becomes of personal facts and active content: off notes them, flag wants the model to say that the person agreed, ask keeps them until the person decides, all keeps every change until then; one that is less strict than the settings' holds for this run alone
    #[arg(long, value_name = "MODE")]
    pub(super) permission: Option<Permission>,
    /// Keep something from the model and out of its replies, also when this conversation goes on: `fact:phone`, `#private`, `health/**`, `note:Tom`, `email`, `only fact:age`, or a plain English sentence
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Let the model only look things up, also when this conversation goes on
    #[arg(long)]
    read_only: bool,
    /// Let the model work in stages: what it perceives, what it decides, what it says
    #[arg(long)]
    pub(super) staged: bool,
}

impl Conversation {
    /// The conversation to go on with, or a new one, with the switches that were typed.
    pub(super) fn session(&self, engine: &Engine) -> Result<Session, Failure> {
        if self.latest {
            return Ok(self.switched(Session::newest(engine)?));
        }
        self.other(engine, self.session.as_deref())
    }

    /// The conversation of this name, or a new one, with the switches that were typed.
    pub(super) fn other(&self, engine: &Engine, id: Option<&str>) -> Result<Session, Failure> {
        Ok(self.switched(id.map_or_else(new_session, |id| Session::load(engine, id))?))
    }

    fn switched(&self, mut session: Session) -> Session {
        if self.read_only && session.switches.actions == Actions::All {
            session.switches.actions = Actions::Read;
        }
        for filter in &self.filter {
            if !session.switches.filters.contains(filter) {
                session.switches.filters.push(filter.clone());
            }
        }
        if let Some(mode) = self.permission {
            session.set_permission(mode.into());
        }
        session
    }

    /// Tells that a conversation has kept another mode of permission than the one of the settings, where none was typed.
    pub(super) fn tell_of_permission(&self, session: &Session, set: Mode) -> Result<(), Stop> {
        let kept = session.switches.permission.filter(|kept| *kept > set && self.permission.is_none());
        let stricter = kept.map(|kept| {
            let (kept, set) = (kept.as_str(), set.as_str());
            format!(
                "permission is {kept} in this conversation and {set} in the settings; `--permission {set}` changes it"
            )
        });
        if let Some(note) = stricter.or_else(|| looser(session, set, "--permission ")) {
            writeln!(io::stderr(), "note: {note}")?;
        }
        Ok(())
    }
}

/// Says that a conversation has kept a mode of permission that does not hold, and by which word it is typed.
pub(super) fn looser(session: &Session, set: Mode, word: &str) -> Option<String> {
    let (kept, set) = (session.looser(set)?.as_str(), set.as_str());
    Some(format!(
        "this conversation was kept with permission {kept}, but the stricter setting {set} holds; `{word}{kept}` overrides it for this run"
    ))
}

/// A new conversation, with a name of its own.
pub(super) fn new_session() -> Result<Session, Failure> {
    let mut bytes = [0; 4];
    let broken = |error| Failure::new(Code::Internal, format!("no random numbers: {error}"));
    getrandom::fill(&mut bytes).map_err(broken)?;
    Ok(Session::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// How an agent works at this door, with the model of this card.
pub(super) fn settings(config: &Config, card: &Card, door: &'static str) -> Settings {
    Settings { context: context(card), ..settings_of(config, family(config, card), door) }
}

/// How the model of this card is talked to.
pub(super) fn family(config: &Config, card: &Card) -> Family {
    match config.model.family {
        ModelFamily::Auto => Family::of(card),
        ModelFamily::Capable => Family::Capable,
        ModelFamily::Small => Family::Small,
        ModelFamily::MemAgent => Family::MemAgent,
    }
}

/// How many tokens of notes it is shown with a message.
pub(super) fn context(card: &Card) -> u32 {
    if card.place == Place::Process { CONTEXT_IN_PROCESS } else { CONTEXT }
}

/// How many tokens the next message may use; `None` for any number.
pub(super) fn tokens(engine: &Engine, config: &Config) -> Result<Option<u64>, Failure> {
    let a_day = Some(config.model.tokens_a_day).filter(|tokens| *tokens > 0);
    tokens_left(engine, a_day, open::now())
}

/// How an agent of this family works at this door.
pub(super) fn settings_of(config: &Config, family: Family, door: &'static str) -> Settings {
    let mode = if door == "chat" { config.permission.chat } else { config.permission.ask };
    let model = &config.model;
    Settings {
        family,
        door,
        mode,
        removals: config.agent.removals,
        turns: model.turns.get(),
        tokens: None,
        context: CONTEXT,
        max_tokens: model.max_tokens.get(),
        temperature: model.temperature,
        staged: false,
        clock: open::now,
    }
}

/// Opens the model of this name, or the one that is set or found, with a bar while a file is read.
pub(super) fn open_model(
    global: &Global,
    config: &Config,
    name: Option<&str>,
    stop: &CancellationToken,
) -> Result<Box<dyn Model>, Stop> {
    let sources = Sources::read()?;
    let prefixes = sources.cache_folder().map(|folder| folder.join("prefixes"));
    let opening = opening::Opening { sources: &sources, config, named: name, prefixes };
    let bar = progress::bar(global, 1_000, "‰ of the model");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1,000")]
    let opened = opening::open(&opening, &mut |part| bar.set_position((part.clamp(0.0, 1.0) * 1_000.0) as u64), stop);
    bar.finish_and_clear();
    Ok(opened?)
}

/// What a person is told of a model that does not answer.
pub(super) fn failure(error: &ModelError) -> Failure {
    error::unreachable(error)
}

/// What a person is told of a message that was not answered.
pub(super) fn agent_failure(error: &AgentError) -> Failure {
    match error {
        AgentError::Model(error) => failure(error),
        AgentError::Memory(failure) => failure.clone(),
        AgentError::Switches(error) => Failure::new(Code::Usage, error.to_string()),
    }
}

/// The prompts, of which some may be the person's own.
#[expect(clippy::disallowed_methods, reason = "the person's own prompts stand in the configuration folder")]
pub(super) fn prompts(config: &Config) -> Result<Prompts, Failure> {
    let folder = Sources::read()?.prompts_folder(&config.model);
    let mut own = BTreeMap::new();
    for name in Prompts::names() {
        let Some(file) = folder.as_ref().map(|folder| folder.join(format!("{name}.md"))) else { continue };
        match std::fs::read_to_string(&file) {
            Ok(text) => drop(own.insert(name.to_owned(), text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let failure =
                    Failure::new(Code::Config, format!("the prompt `{name}` cannot be read: {}", error.kind()));
                return Err(failure.with_hint("prompts are UTF-8 text in the folder `prompts` beside the settings"));
            }
        }
    }
    Ok(Prompts::new(own))
}

/// A token that Ctrl-C cancels, from now on.
pub(super) fn stopped_by_interrupt() -> CancellationToken {
    interrupt::stop()
}
