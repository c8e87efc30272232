//! The MCP server: one memory for every assistant that speaks the Model Context Protocol.
//!
//! Owns the protocol's types and the two transports. What a tool is comes from the catalog, what it does from the engine;
//! nothing is decided here about notes or permission.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rmcp::model::Tool;
use serde::Deserialize;

use memdir_core::action::Access;
use memdir_core::catalog::Row;
use memdir_core::path::MemoryPath;
use memdir_engine::Engine;
use memdir_policy::Mode;
use memdir_server::{ServedEngine, lock};
use memdir_vault::WatchEvent;

mod address;
mod agent;
mod app;
mod ask;
mod client;
mod complete;
mod connection;
mod connector;
mod handler;
mod http;
mod hub;
mod incoming;
mod notices;
mod offered;
mod panics;
mod prompts;
mod rate;
mod resources;
mod server_info;
mod service;
mod stdio;
mod subscriptions;
mod tool_words;
mod tools;
mod verbatim;
mod whole;

pub use agent::{AgentAnswer, MemoryAgent};
pub use client::{Claim, Client, Register, Unknown};
pub use http::{HttpLimits, HttpOptions, http_routes, serve_http};
pub use hub::{HubOffer, HubOptions};
pub use memdir_server::{NameError, Names, listen};
pub use memdir_tools::ToolGrant;
pub use stdio::{serve_stdio, serve_streams};

use ask::PendingCalls;
use notices::Notices;
use rate::RateLimiter;
use tool_words::KnownWords;

/// How a server works, whoever asks.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which tools it offers.
    pub tools: ToolSet,
    /// Only actions that read are allowed.
    pub read_only: bool,
    /// What becomes of calls that somebody should be asked about.
    pub mode: Mode,
    /// The tools of other servers, where the person has switched them on.
    pub hub: Option<HubOptions>,
}

impl Options {
    /// Whether a client is offered only what reads.
    fn only_reads(&self, client: Option<&Client>) -> bool {
        self.read_only || client.is_some_and(Client::only_reads)
    }

    /// Whether a client is told of an action.
    fn offers(&self, client: Option<&Client>, row: &Row) -> bool {
        (row.access == Access::Read || !self.only_reads(client))
            && client.is_none_or(|client| client.lets_send(row.name))
    }
}

/// A set of tools.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ToolSet {
    /// The few that do nearly everything.
    #[default]
    Compact,
    /// One for each action, and `run_actions`.
    Full,
    /// The memory tool of Anthropic.
    Memory,
    /// `search` and `fetch`, as a connector of ChatGPT has them.
    Chatgpt,
    /// One tool that asks the memory's own agent.
    Agent,
}

/// A memory that is served. Connections share it.
#[derive(Debug)]
pub struct Server {
    engine: Arc<Engine>,
    /// The same engine, with the threads that work for the connections.
    served: Arc<ServedEngine>,
    options: Options,
    clients: Arc<Register>,
    /// The definitions of the tools.
    tools: Vec<Tool>,
    rates: RateLimiter,
    /// The calls that wait for an answer of a person.
    pending_calls: PendingCalls,
    notices: Notices,
    tool_words: KnownWords,
    /// Whether the system tells of all changes.
    is_told: AtomicBool,
    /// What answers where the tools are [`ToolSet::Agent`], and who has the word.
    agent: OnceLock<MemoryAgent>,
    agent_turn: tokio::sync::Mutex<()>,
}

impl Server {
    /// Joins an engine with the clients that may ask it.
    ///
    /// # Errors
    ///
    /// What the system says when it gives no random numbers.
    pub fn new(engine: Engine, options: Options, clients: Arc<Register>) -> std::io::Result<Arc<Self>> {
        let served = ServedEngine::new(engine);
        let tools = tools::definitions(&options, None)?;
        let (pending_calls, rates, notices) = (PendingCalls::new()?, RateLimiter::default(), Notices::default());
        let server = Arc::new(Self {
            engine: Arc::clone(served.engine()),
            served,
            options,
            clients,
            tools,
            rates,
            pending_calls,
            notices,
            tool_words: KnownWords::default(),
            is_told: AtomicBool::new(false),
            agent: OnceLock::new(),
            agent_turn: tokio::sync::Mutex::default(),
        });
        if let Some(hub) = &server.options.hub {
            let told = Arc::downgrade(&server);
            hub.toolbox.on_change(Box::new(move || {
                if let Some(server) = told.upgrade() {
                    server.notices.tools_changed();
                }
            }));
        }
        Ok(server)
    }

    /// Gives the server what answers where the tools are [`ToolSet::Agent`]; the first one counts.
    pub fn set_agent(&self, agent: MemoryAgent) {
        // A second one has nothing to do.
        let _ = self.agent.set(agent);
    }

    /// Waits for what the threads have begun, and ends them. Nothing is answered any more.
    pub fn finish(&self) {
        self.served.finish();
    }

    /// Begins to watch the memory. Only the first call does. Where the system does not let us, everything but notices of
    /// changes works without.
    pub(crate) fn watch(self: &Arc<Self>) {
        let (server, told) = (Arc::downgrade(self), Arc::downgrade(self));
        let begun = move || {
            if let Some(server) = server.upgrade() {
                server.is_told.store(true, Ordering::Relaxed);
                // What has changed until now was told to nobody.
                server.hear(&WatchEvent::Rescan);
            }
        };
        let hear = move |noticed: &WatchEvent| {
            if let Some(server) = told.upgrade() {
                server.hear(noticed);
            }
        };
        self.served.watch(begun, hear);
    }

    /// Tells of what a call has changed where the system does not. Of what a rename wrote beyond the grant of who asked,
    /// nothing is told here.
    pub(crate) fn wrote(&self, changed: &[MemoryPath]) {
        if !changed.is_empty() && !self.is_told() {
            self.hear(&WatchEvent::Changed(changed.to_vec()));
        }
    }

    /// Whether the system tells of all changes, a moment after they are made.
    fn is_told(&self) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }

    fn hear(&self, noticed: &WatchEvent) {
        if *noticed == WatchEvent::Blind {
            self.is_told.store(false, Ordering::Relaxed);
            tracing::warn!(
                "the system watches no more folders: clients may not hear of all changes, and searches are slower"
            );
        }
        self.notices.hear(&self.engine, noticed);
    }
}
