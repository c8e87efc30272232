//! [`Toolbox`]: the tools that there are, wherever they run.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{CallError, CallEvents, Permission, PinState, ServerName, ToolAnswer, ToolCall, ToolName};

/// A tool of another server.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name under which it is offered.
    pub name: ToolName,
    /// Its server.
    pub server: ServerName,
    /// What its server calls it.
    pub own: String,
    /// Its definition as the server sent it, all members kept.
    pub definition: Map<String, Value>,
    /// What the person said about it.
    pub permission: Permission,
    /// Whether it is what was approved.
    pub pin: PinState,
}

impl Tool {
    /// What its server says it does; empty where it says nothing.
    #[must_use]
    pub fn description(&self) -> &str {
        self.definition.get("description").and_then(Value::as_str).unwrap_or_default()
    }
}

/// What is known of a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerState {
    /// What it is called.
    pub name: ServerName,
    /// Whether the person has it switched on at all.
    pub enabled: bool,
    /// Whether the person has ever approved a tool of it.
    pub approved: bool,
    /// How it is.
    pub health: ServerHealth,
    /// How many tools it has, as far as that is known.
    pub tools: usize,
    /// How many of them are not as they were approved.
    pub unapproved: usize,
}

/// How a server is.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ServerHealth {
    /// Nobody has needed it yet.
    Idle,
    /// It is being started or connected to.
    Starting,
    /// It answers.
    Ready {
        /// The version of the protocol that is spoken.
        protocol: String,
    },
    /// It cannot be reached; it is tried again when it is needed.
    Failed {
        /// Why.
        problem: String,
    },
}

/// The tools of other servers. Every function returns soon but [`Toolbox::call`].
///
/// A server that is slow, wrong or dead costs its own tools and nothing else.
pub trait Toolbox: Send + Sync + fmt::Debug {
    /// What is known of the servers, in the order of their names.
    fn servers(&self) -> Vec<ServerState>;

    /// The tools of all servers that are enabled, in the order of their names, as far as they are known: from what was kept of
    /// earlier lists, at once. The list is a new one whenever something about it has changed.
    fn tools(&self) -> Arc<[Tool]>;

    /// Whether a call could be made now, as far as is known without its server: asked before the person is, and counts as nothing.
    ///
    /// # Errors
    ///
    /// [`CallError::Registry`] where what the person allows cannot be read, [`CallError::TooSoon`] where the client has made too
    /// many.
    fn may_call(&self, _call: &ToolCall) -> Result<(), CallError> {
        Ok(())
    }

    /// Calls a tool, and blocks until it has answered. Whether it may be called was decided before ([`Verdict`](super::Verdict)).
    ///
    /// A call is sent at most once, unless the tool says that it only reads and the person lets it be called without a question,
    /// and then only where the connection was lost before an answer.
    ///
    /// # Errors
    ///
    /// [`CallError`], by what went wrong: the wire, the protocol, a limit. What the tool says of its own failure is an answer.
    fn call(
        &self,
        call: &ToolCall,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError>;

    /// Runs `heard` whenever the list of tools has become another one, until the toolbox is dropped.
    fn on_change(&self, heard: Box<dyn Fn() + Send + Sync>);
}
