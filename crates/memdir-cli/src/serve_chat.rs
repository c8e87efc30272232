//! The model behind the chat of the page: that of the settings, which is opened with the first message and kept for the next.

use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::config::Config;
use super::exit::Stop;
use super::model::{error, used};
use super::talk;
use memdir_agent::{Agent, AgentError, Edge, Said, Session};
use memdir_core::report::{Code, Failure};
use memdir_engine::Engine;
use memdir_model::{Model, ModelError};
use memdir_web::ChatModel;

/// How the history calls a conversation, wherever it is held.
const DOOR: &str = "chat";

/// A model that is opened when it is needed.
pub(super) struct ChatOf {
    global: Global,
    config: Config,
    open: Mutex<Option<Box<dyn Model>>>,
}

impl ChatOf {
    pub(super) fn new(global: &Global, config: &Config) -> Self {
        Self { global: global.clone(), config: config.clone(), open: Mutex::new(None) }
    }
}

impl ChatModel for ChatOf {
    fn described(&self) -> Result<String, Failure> {
        let listed = used::shelf()?.list().map_err(error::unkept)?;
        let choice = used::chosen(None, &self.config, &listed, &mut used::servers).map_err(error::unreachable)?;
        let used = used::used(&choice).map_err(error::unreachable)?;
        Ok(format!("{}; {}", used.name, used.leaves()))
    }

    fn answer(
        &self,
        engine: &Engine,
        session: Option<&str>,
        message: &str,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        said: &mut Said,
    ) -> Result<String, Failure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let model = match open.take() {
            Some(model) => model,
            None => talk::open_model(&self.global, &self.config, None, stop).map_err(unopened)?,
        };
        let mut settings = talk::settings(&self.config, model.card(), DOOR);
        let begun = talk::tokens(engine, &self.config).and_then(|tokens| {
            settings.tokens = tokens;
            let session = session.map_or_else(talk::new_session, |id| Session::load(engine, id))?;
            Ok((talk::prompts(&self.config)?, session))
        });
        let (prompts, session) = match begun {
            Ok(begun) => begun,
            Err(failure) => {
                *open = Some(model);
                return Err(failure);
            }
        };
        let mut agent = Agent::new(engine, model, prompts, settings, session).kept();
        let ended = agent.say(message, edge, stop, said);
        let id = agent.session().id.clone();
        *open = Some(agent.into_model());
        match ended {
            // What was said until then is kept, and shown.
            Ok(()) | Err(AgentError::Model(ModelError::Cancelled)) => Ok(id),
            Err(error) => Err(talk::agent_failure(&error)),
        }
    }
}

fn unopened(stop: Stop) -> Failure {
    stop.failure().unwrap_or_else(|| Failure::new(Code::Io, "the model cannot be opened"))
}
