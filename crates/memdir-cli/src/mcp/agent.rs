//! The memory's own agent behind a tool of the server: the model of the settings, which is opened with the first message.

use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::args::Global;
use crate::config::Config;
use crate::exit::Stop;
use crate::talk;
use memdir_agent::{Agent, Decision, Edge, Event, Said};
use memdir_core::report::{Code, Failure};
use memdir_engine::{Caller, Engine, Reviewed};
use memdir_mcp::{AgentAnswer, MemoryAgent};
use memdir_model::Model;
use memdir_policy::Mode;
use memdir_words::said;

/// How the history calls the door.
const DOOR: &str = "mcp";

/// Nobody is there to be asked: what waits becomes a proposal.
struct Unattended;

impl Edge for Unattended {
    fn hear(&mut self, _: Event<'_>) {}

    fn decide(&mut self, _: &Reviewed) -> Decision {
        Decision::Later
    }

    fn is_attended(&self) -> bool {
        false
    }
}

/// An agent that works as the settings say, and no less strictly than `mode`.
pub(super) fn agent(global: &Global, config: &Config, mode: Mode) -> MemoryAgent {
    let (global, config, kept) = (global.clone(), config.clone(), Mutex::new(None));
    MemoryAgent::new(move |engine, caller, message, stop| {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let model = match kept.take() {
            Some(model) => model,
            None => talk::open_model(&global, &config, None, stop).map_err(failure)?,
        };
        let (answer, model) = answer((&config, mode), engine, caller, message, model, stop);
        *kept = model;
        answer
    })
}

/// Has a model answer a message, and gives it back for the next one.
fn answer(
    (config, mode): (&Config, Mode),
    engine: &Engine,
    caller: Caller,
    message: &str,
    model: Box<dyn Model>,
    stop: &CancellationToken,
) -> (Result<AgentAnswer, Failure>, Option<Box<dyn Model>>) {
    let mut settings = talk::settings(config, model.card(), DOOR);
    settings.mode = settings.mode.max(mode);
    let begun = talk::tokens(engine, config).and_then(|tokens| {
        settings.tokens = tokens;
        Ok((talk::prompts(config)?, talk::new_session()?))
    });
    let (prompts, session) = match begun {
        Ok(begun) => begun,
        Err(failure) => return (Err(failure), Some(model)),
    };
    let mut agent = Agent::new(engine, model, prompts, settings, session).for_client(caller);
    let mut said = Said::default();
    let ended = agent.say(message, &mut Unattended, stop, &mut said);
    let model = Some(agent.into_model());
    if let Err(error) = ended {
        return (Err(talk::agent_failure(&error)), model);
    }
    let reply = said.reply.clone().or_else(|| said.notice.as_ref().map(said::notice));
    (Ok(AgentAnswer { reply, receipt: said.receipt(), waiting: said.pending.len() }), model)
}

/// What a client is told of a command that could not go on.
fn failure(stop: Stop) -> Failure {
    stop.failure().unwrap_or_else(|| Failure::new(Code::Io, "the model cannot be opened"))
}
