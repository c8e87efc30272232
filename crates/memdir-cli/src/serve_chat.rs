//! The model behind the chat of the page: that of the settings.

use tokio_util::sync::CancellationToken;

use super::model::{error, used};
use super::talk::{self, KeptModel};
use memdir_agent::{AgentError, Edge, Said, Session};
use memdir_core::report::Failure;
use memdir_engine::Engine;
use memdir_model::ModelError;
use memdir_policy::Mode;
use memdir_web::ChatModel;

/// How the history calls a conversation, wherever it is held.
const DOOR: &str = "chat";

impl ChatModel for KeptModel {
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
        let session = || session.map_or_else(talk::new_session, |id| Session::load(engine, id));
        let (ended, id) = self.with_agent(engine, (DOOR, Mode::Off), session, stop, |agent| {
            let mut agent = agent.kept();
            let ended = agent.say(message, edge, stop, said);
            let id = agent.session().id.clone();
            (agent, (ended, id))
        })?;
        match ended {
            // What was said until then is kept, and shown.
            Ok(()) | Err(AgentError::Model(ModelError::Cancelled)) => Ok(id),
            Err(error) => Err(talk::agent_failure(&error)),
        }
    }
}
