//! The memory's own agent behind a tool of the server: the model of the settings.

use crate::args::Global;
use crate::config::Config;
use crate::talk::{self, KeptModel};
use memdir_agent::{Decision, Edge, Event, Said};
use memdir_engine::Reviewed;
use memdir_mcp::{AgentAnswer, MemoryAgent};
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
    let kept = KeptModel::new(global, config);
    MemoryAgent::new(move |engine, caller, message, stop| {
        let mut said = Said::default();
        let ended = kept.with_agent(engine, (DOOR, mode), talk::new_session, stop, |agent| {
            let mut agent = agent.for_client(caller);
            let ended = agent.say(message, &mut Unattended, stop, &mut said);
            (agent, ended)
        })?;
        ended.map_err(|error| talk::agent_failure(&error))?;
        let (notice, receipt) = (said.notice.as_ref().map(said::notice), said.receipt());
        Ok(AgentAnswer { reply: said.reply, notice, receipt, waiting: said.pending.len() })
    })
}
