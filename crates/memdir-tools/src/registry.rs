//! The registry: the servers that the person has added, as `tools.toml` keeps them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Permission, ServerName};
use memdir_core::digest::Digest;

/// A server that the person has added.
///
/// Values may hold `${VARIABLE}`, which is read from the environment when the server starts; keys are kept only so.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// What it is called.
    pub name: ServerName,
    /// Whether it is used at all.
    pub enabled: bool,
    /// The longest that an answer may take, in seconds; 60 where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<NonZeroU32>,
    /// How many calls a client may make in a minute; no limit where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<NonZeroU32>,
    /// What holds for its tools, unless their own rule says otherwise.
    #[serde(default)]
    pub permission: Permission,
    /// Whether it may ask memdir's models to write something (sampling); no unless the person said so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sampling: bool,
    /// Folders that it is told of as its roots; none unless the person said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// How it is reached.
    pub transport: Transport,
    /// Its tools by their own names: those that were approved, and those with a rule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolRule>,
}

/// How a server is reached.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Transport {
    /// A program, spoken to on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// What its environment holds beside the little that every program needs.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// The folder it starts in; the person's home folder where it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// What is sent with each request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// HTTP with server-sent events, which the protocol has deprecated.
    Sse {
        /// The address of the stream.
        url: String,
        /// What is sent with each request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

/// What the person said about one tool.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    /// What holds for it; its server's where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The longest that a result is kept and given again, in seconds; results are not kept where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_seconds: Option<NonZeroU32>,
    /// The digest of the definition that was approved ([`digest_of`](super::digest_of)); absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Digest>,
}

impl Server {
    /// What the person said about a tool, by the server's own name for it.
    #[must_use]
    pub fn permission_of(&self, own: &str) -> Permission {
        self.tools.get(own).and_then(|rule| rule.permission).unwrap_or(self.permission)
    }
}
