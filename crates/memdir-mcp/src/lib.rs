//! The MCP server: one memory for every assistant that speaks the Model Context Protocol.
//!
//! Owns the protocol's types and the two transports. What a tool is comes from the catalog, what it does from the engine;
//! nothing is decided here about notes or permission.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rmcp::model::Tool;
use serde::Deserialize;

use memdir_core::path::MemoryPath;
use memdir_engine::Engine;
use memdir_policy::Mode;
use memdir_vault::WatchEvent;

mod agent;
mod ask;
mod client;
mod complete;
mod connection;
mod connector;
mod http;
mod notices;
mod offered;
mod panics;
mod pool;
mod prompts;
mod rate;
mod resources;
mod server_info;
mod service;
mod stdio;
mod subscriptions;
mod tools;

pub use agent::{AgentAnswer, MemoryAgent};
pub use client::{Claim, Client, Register, Unknown};
pub use http::{HttpLimits, HttpOptions, NameError, Names, http_routes, listen, serve_http};
pub use stdio::{serve_stdio, serve_streams};

use ask::PendingCalls;
use notices::Notices;
use pool::Pool;
use rate::RateLimiter;

/// How a server works, whoever asks.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which tools it offers.
    pub tools: ToolSet,
    /// Only actions that read are allowed.
    pub read_only: bool,
    /// What becomes of calls that somebody should be asked about.
    pub mode: Mode,
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
    options: Options,
    clients: Arc<Register>,
    pool: Pool,
    /// The definitions of the tools.
    tools: Vec<Tool>,
    rates: RateLimiter,
    /// The calls that wait for an answer of a person.
    pending_calls: PendingCalls,
    notices: Notices,
    is_watching: AtomicBool,
    /// Whether the system tells of all changes.
    is_told: AtomicBool,
    /// Whether what was read last is about to be written down.
    is_settling: AtomicBool,
    /// Whether the index is about to be built, or is being built.
    is_building: AtomicBool,
    /// Whether nothing is answered any more.
    is_over: AtomicBool,
    /// What answers where the tools are [`ToolSet::Agent`], and who has the word.
    agent: OnceLock<MemoryAgent>,
    agent_turn: tokio::sync::Mutex<()>,
}

/// How long what was read waits to be written down with what is read next.
const SETTLE: Duration = Duration::from_secs(1);
/// How long the index waits to be built, so that the first answers of a server have the machine for themselves.
const BUILD_AFTER: Duration = Duration::from_millis(200);

impl Server {
    /// Joins an engine with the clients that may ask it, and starts the threads that work for them.
    ///
    /// # Errors
    ///
    /// What the system says when it gives no thread, or no random numbers.
    pub fn new(engine: Engine, options: Options, clients: Arc<Register>) -> std::io::Result<Arc<Self>> {
        let engine = Arc::new(engine.with_background_index());
        let tools = tools::definitions(&options)?;
        let (pool, pending_calls, rates, notices) =
            (Pool::start()?, PendingCalls::new()?, RateLimiter::default(), Notices::default());
        Ok(Arc::new(Self {
            engine,
            options,
            clients,
            pool,
            tools,
            rates,
            pending_calls,
            notices,
            is_watching: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            is_settling: AtomicBool::new(false),
            is_building: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            agent: OnceLock::new(),
            agent_turn: tokio::sync::Mutex::default(),
        }))
    }

    /// Gives the server what answers where the tools are [`ToolSet::Agent`]; the first one counts.
    pub fn set_agent(&self, agent: MemoryAgent) {
        // A second one has nothing to do.
        let _ = self.agent.set(agent);
    }

    /// Writes down soon who has read what: a server may rest for days after it.
    pub(crate) fn settle_soon(self: &Arc<Self>) {
        if self.is_settling.swap(true, Ordering::Relaxed) {
            return;
        }
        let server = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SETTLE).await;
                let Some(server) = server.upgrade() else { return };
                server.is_settling.store(false, Ordering::Relaxed);
                let engine = Arc::clone(&server.engine);
                // A server that has ended has written it down.
                let is_settled = server.pool.run(pool::Lane::Read, move || engine.settle_reads()).await.unwrap_or(true);
                if is_settled || server.is_settling.swap(true, Ordering::Relaxed) {
                    return;
                }
            }
        });
    }

    /// Builds the index soon, or brings it up to date, where a call was answered without one that could have had it. That is
    /// done on a thread of its own, which gives way to all others; nobody waits for it, also not at the end.
    pub(crate) fn build_index_soon(self: &Arc<Self>) {
        if !self.engine.wants_index() || self.is_building.swap(true, Ordering::Relaxed) {
            return;
        }
        let server = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(BUILD_AFTER).await;
            let Some(server) = server.upgrade() else { return };
            let builder = Arc::clone(&server);
            let build = move || {
                give_way();
                builder.engine.build_in_background(&|| builder.is_over.load(Ordering::Relaxed));
                builder.is_building.store(false, Ordering::Relaxed);
            };
            if let Err(error) = thread::Builder::new().name("build the index".to_owned()).spawn(build) {
                server.is_building.store(false, Ordering::Relaxed);
                tracing::warn!(%error, "the index is not built: notes are read instead");
            }
        });
    }

    /// Waits for what the threads have begun, and ends them. Nothing is answered any more.
    pub fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.pool.finish();
        // The one who watches may hold the server for longer than the program lives.
        self.engine.finish();
    }

    /// Begins to watch the memory, on a thread of its own: in a large memory that takes a while, and nobody waits for it.
    /// Only the first call does. Where the system does not let us, everything but notices of changes works without.
    pub(crate) fn watch(self: &Arc<Self>) {
        if self.is_watching.swap(true, Ordering::Relaxed) {
            return;
        }
        let server = Arc::clone(self);
        let watch = move || {
            let told = Arc::downgrade(&server);
            let listen = move |noticed: &WatchEvent| {
                if let Some(server) = told.upgrade() {
                    server.hear(noticed);
                }
            };
            match server.engine.watch(listen) {
                // What has changed until now was told to nobody.
                Ok(()) => {
                    server.is_told.store(true, Ordering::Relaxed);
                    server.hear(&WatchEvent::Rescan);
                }
                Err(failure) => {
                    let hint = failure.hint.unwrap_or_default();
                    tracing::warn!(error = failure.message, hint, "no client hears of changes; all else works, slower");
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("begin to watch".to_owned()).spawn(watch) {
            tracing::warn!(%error, "no client hears of changes; all else works, slower");
        }
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
        // First: who hears of a change may rely on it that nothing is left of what was forgotten.
        self.engine.let_go_of_removed_index();
        self.notices.hear(&self.engine, noticed);
    }
}

/// Locks a mutex, even after a panic: no panic leaves half a change in one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets all others go before this thread, and before those that it starts, where the system knows that of a thread alone.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the index is built with the priority of all else");
    }
}
