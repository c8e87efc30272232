//! What `ask`, `chat` and `eval agent` have in common: a model, its prompts and how it works, from settings and options.

use clap::Args;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

use super::args::{self, Global};
use super::config::{Config, ModelFamily, Sources};
use super::model::{error, opening};
use super::output::say;
use super::stop::{Stop, usage};
use super::{file, progress, tools};
use memdir_agent::{Actions, Agent, AgentError, Family, Prompts, Session, Settings, ToolCalled, tokens_left};
use memdir_core::catalog;
use memdir_core::report::{Code, Failure};
use memdir_engine::Engine;
use memdir_model::{Card, Model, ModelError, Place};
use memdir_policy::Mode;
use memdir_tools::{ServerName, ServerState, Toolbox};

/// How many tokens of notes a model is shown with a message: one that reads on this machine's processor is shown fewer.
const CONTEXT: u32 = 4_000;
const CONTEXT_IN_PROCESS: u32 = 800;

/// What can be typed behind `memdir ask` and `memdir chat` alike.
#[derive(Args, Debug)]
pub(super) struct Conversation {
    /// The model: a name on the shelf, PROVIDER::NAME, or a GGUF file; else the one of the settings
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Continue this conversation
    #[arg(long, value_name = "ID", conflicts_with = "latest")]
    session: Option<String>,
    /// Continue the latest conversation
    #[arg(long = "continue")]
    latest: bool,
    /// How to treat personal facts and active content: off only reports them, flag requires the model to state that
    /// the person agreed, ask holds them for the person's approval, all holds every change; a mode less strict than
    /// the one in the settings applies to this run only
    #[arg(long, value_name = "MODE", value_parser = args::one_of(args::MODES))]
    pub(super) permission: Option<Mode>,
    /// Hide something from the model and its replies, also when this conversation is continued: `fact:phone`,
    /// `#private`, `health/**`, `note:Tom`, `email`, `only fact:age`, or a sentence in any language, which the model
    /// turns into such names
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Let the model only look things up, also when this conversation is continued
    #[arg(long)]
    read_only: bool,
    /// Let the model use the tools of these servers, by the names `memdir tools list` shows, also when this conversation is
    /// continued: NAME, or several with commas between them
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = ServerName::parse)]
    tools: Vec<ServerName>,
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
            session.set_permission(mode);
        }
        self.tools.iter().for_each(|server| session.switch_tools_on(server.clone()));
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
            say(format!("note: {note}"))?;
        }
        Ok(())
    }
}

/// Joins an agent with the servers that there are, and says what is not as its conversation has it: a server that is not there, a
/// model that is given no tools. Without `is_open` nothing is started for a conversation that has none switched on.
///
/// # Errors
///
/// `usage` for a server that was typed and is not registered; what the registry says.
pub(super) fn with_tools<'e>(agent: Agent<'e>, typed: &Conversation, is_open: bool) -> Result<Agent<'e>, Stop> {
    if !is_open && agent.session().switches.tools.is_empty() {
        return Ok(agent);
    }
    let toolbox = open_toolbox()?;
    let servers = toolbox.as_ref().map(|toolbox| toolbox.servers()).unwrap_or_default();
    if let Some(unknown) = typed.tools.iter().find(|name| servers.iter().all(|server| server.name != **name)) {
        return Err(no_server(unknown.as_str(), &servers).into());
    }
    let agent = match toolbox {
        Some(toolbox) => agent.with_tools(toolbox),
        None => agent,
    };
    if let Some(trouble) = agent.tools_trouble().filter(|_| !agent.session().switches.tools.is_empty()) {
        say(format!("note: {trouble}"))?;
    }
    Ok(agent)
}

/// The tools of other servers, also of those that are added later; `None` where this system names no folder for settings.
fn open_toolbox() -> Result<Option<Arc<dyn Toolbox>>, Stop> {
    let sources = Sources::read()?;
    if sources.path().is_none() {
        return Ok(None);
    }
    Ok(Some(tools::start_hub(&sources)?))
}

/// The failure for a server that is not registered.
pub(super) fn no_server(name: &str, servers: &[ServerState]) -> Failure {
    let hint = match catalog::nearest(name, servers.iter().map(|server| server.name.as_str())) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`memdir tools list` shows those that there are, and `memdir tools add` adds one".to_owned(),
    };
    usage(format!("there is no server `{}`", catalog::shorten(name)), hint)
}

/// A call of a tool of another server, in a line for the person.
pub(super) fn called(called: &ToolCalled) -> String {
    let cached = if called.is_cached { " · kept from before" } else { "" };
    format!("{} · {} · {} ms{cached}", called.tool, called.summary, called.ms)
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
    Ok(Session::new(file::random_name(4)?))
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
    tokens_left(engine, a_day, memdir_host::now())
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
        clock: memdir_host::now,
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
    let prefixes = memdir_host::cache_folder().map(|folder| folder.join("prefixes"));
    let opening = opening::Opening { sources: &sources, config, named: name, prefixes };
    let bar = progress::bar(global, 1_000, "‰ of the model");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1,000")]
    let opened = opening::open(&opening, &mut |part| bar.set_position((part.clamp(0.0, 1.0) * 1_000.0) as u64), stop);
    bar.finish_and_clear();
    Ok(opened?)
}

/// The model of the settings for a program that stays: opened with the first message, and kept for the next.
pub(super) struct KeptModel {
    global: Global,
    pub(super) config: Config,
    open: Mutex<Option<Box<dyn Model>>>,
}

impl KeptModel {
    pub(super) fn new(global: &Global, config: &Config) -> Self {
        Self { global: global.clone(), config: config.clone(), open: Mutex::new(None) }
    }

    /// Lets an agent with this model work at a door, no less strictly than `least`, and gives what `work` does.
    pub(super) fn with_agent<'e, W>(
        &self,
        engine: &'e Engine,
        (door, least): (&'static str, Mode),
        session: impl FnOnce() -> Result<Session, Failure>,
        stop: &CancellationToken,
        work: impl FnOnce(Agent<'e>) -> (Agent<'e>, W),
    ) -> Result<W, Failure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = || open_model(&self.global, &self.config, None, stop);
        let model = open.take().map_or_else(opened, Ok);
        let model = model.map_err(|stop| stop.failure_or(Code::Io, "the model cannot be opened"))?;
        let mut settings = settings(&self.config, model.card(), door);
        settings.mode = settings.mode.max(least);
        let begun = tokens(engine, &self.config).and_then(|tokens| {
            settings.tokens = tokens;
            let session = session()?;
            Ok((prompts(&self.config)?, session))
        });
        let (prompts, session) = match begun {
            Ok(begun) => begun,
            Err(failure) => {
                *open = Some(model);
                return Err(failure);
            }
        };
        let (agent, worked) = work(Agent::new(engine, model, prompts, settings, session));
        *open = Some(agent.into_model());
        Ok(worked)
    }
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
        AgentError::Switches(_) | AgentError::Tokens => Failure::new(Code::Usage, error.to_string()),
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
