//! The MCP server: one memory for every assistant that speaks the Model Context Protocol.
//!
//! Owns the protocol's types and the two transports. What a tool is comes from the catalog, what it does from the engine;
//! nothing is decided here about notes or permission.

use std::sync::Arc;

use rmcp::model::Tool;
use serde::Deserialize;

use crate::engine::Engine;
use crate::policy::Mode;

mod ask;
mod client;
mod connection;
mod http;
mod pool;
mod rate;
mod service;
mod stdio;
mod tools;

pub use client::{Claim, Client, Register, Unknown};
pub use http::{HttpLimits, HttpOptions, NameError, Names, listen, serve_http};
pub use stdio::serve_stdio;

use ask::Asks;
use pool::Pool;
use rate::Rates;

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
    /// The eight that do nearly everything.
    #[default]
    Compact,
    /// One for each action, and `run_actions`.
    Full,
    /// The memory tool of Anthropic.
    Memory,
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
    rates: Rates,
    /// The calls that wait for an answer of a person.
    asks: Asks,
}

impl Server {
    /// Joins an engine with the clients that may ask it, and starts the threads that work for them.
    ///
    /// # Errors
    ///
    /// What the system says when it gives no thread, or no random numbers.
    pub fn new(engine: Engine, options: Options, clients: Arc<Register>) -> std::io::Result<Arc<Self>> {
        let engine = Arc::new(engine);
        let tools = tools::definitions(&options)?;
        let (pool, asks, rates) = (Pool::start()?, Asks::new()?, Rates::default());
        Ok(Arc::new(Self { pool, engine, options, clients, tools, rates, asks }))
    }

    /// Waits for what the threads have begun, and ends them. Nothing is answered any more.
    pub fn finish(&self) {
        self.pool.finish();
    }
}
