//! May a tool be called: [`Permission`], what a conversation has switched on, what a client was granted.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{NameError, PinState, ServerName, Tool, ToolName};
use memdir_core::report::{Code, Failure};

/// What the person said about a server or a tool. What a server says of its own tools never widens it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It is called without a question.
    Allow,
    /// The person is asked, with the arguments as they will be sent.
    #[default]
    Ask,
    /// It is never called.
    Deny,
}

impl Permission {
    /// The name, as it is typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Which servers a conversation may use, and to which of their tools the person has said yes for all of it.
///
/// Nothing is switched on when a conversation begins.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Switched {
    /// The servers that are switched on.
    pub servers: BTreeSet<ServerName>,
    /// The tools, by the names under which they are offered, that need no further question here.
    pub allowed: BTreeSet<String>,
}

/// Which foreign tools a client may see and call: names of servers, or of tools as they are offered. None by default.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ToolGrant {
    /// `calendar` for all tools of a server, `calendar__list_events` for one.
    names: BTreeSet<String>,
}

impl ToolGrant {
    /// A grant of these servers and tools.
    ///
    /// # Errors
    ///
    /// [`NameError`] for a name that is neither a server's nor `server__tool`.
    pub fn new(names: impl IntoIterator<Item = String>) -> Result<Self, NameError> {
        let check = |name: String| match ServerName::parse(&name).is_ok() || ToolName::server_in(&name).is_some() {
            true => Ok(name),
            false => Err(NameError),
        };
        Ok(Self { names: names.into_iter().map(check).collect::<Result<_, _>>()? })
    }

    /// Whether it grants anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a client with this grant may see and call the tool.
    #[must_use]
    pub fn shows(&self, tool: &Tool) -> bool {
        self.names.contains(tool.server.as_str()) || self.names.contains(tool.name.as_str())
    }

    /// Whether it grants any tool of a server.
    #[must_use]
    pub fn reaches(&self, server: &ServerName) -> bool {
        self.names.iter().any(|name| name == server.as_str() || ToolName::server_in(name).as_ref() == Some(server))
    }

    /// What was granted, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It may.
    Allow,
    /// The person has to be asked first.
    Ask,
    /// It may not, and this is why.
    Refuse(Failure),
}

impl Verdict {
    /// What becomes of a call of `tool` in a conversation: whether its server is switched on, the tool is as it was approved,
    /// and the person allows it.
    #[must_use]
    pub fn of(tool: &Tool, switched: &Switched) -> Self {
        if !switched.servers.contains(&tool.server) {
            let failure = Failure::new(Code::Denied, format!("the tools of `{}` are switched off here", tool.server));
            return Self::Refuse(failure.with_hint("tell the person, who can switch them on"));
        }
        if tool.pin != PinState::Approved {
            let message = format!("`{}` is not the tool that was approved", tool.name);
            let hint =
                format!("tell the person, who can look at the change with `memdir tools approve {}`", tool.server);
            return Self::Refuse(Failure::new(Code::Denied, message).with_hint(hint));
        }
        match tool.permission {
            Permission::Allow => Self::Allow,
            Permission::Ask if switched.allowed.contains(tool.name.as_str()) => Self::Allow,
            Permission::Ask => Self::Ask,
            Permission::Deny => {
                let failure = Failure::new(Code::Denied, format!("the user has denied `{}`", tool.name));
                Self::Refuse(failure.with_hint("leave it, and say so"))
            }
        }
    }
}
