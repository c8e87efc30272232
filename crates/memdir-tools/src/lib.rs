//! The tools of other MCP servers, as memdir sees them: what they are called, who may call them, and what was approved.
//!
//! Owns the registry's form, names, permissions, pins and the trait [`Toolbox`]. Touches neither network nor files: those who
//! answer are in `memdir_hub`.

#![warn(clippy::wildcard_enum_match_arm)]

mod account;
mod bound;
mod call;
mod find;
mod meta;
mod name;
mod permission;
mod pin;
mod question;
mod registry;
pub mod script;
mod toolbox;
mod transport;

pub use account::{CallRecord, Decided};
pub use bound::{Kept, MOST_KEPT_BYTES, Part, kept_of, texts, told};
pub use call::{CallError, CallEvents, Elicitation, ElicitationAnswer, Progress, ToolAnswer, ToolCall};
pub use find::{find, unknown_tool};
pub use meta::{META_TOOLS, MetaCall, meta_schema};
pub use name::{NameError, ServerName, ToolName};
pub use permission::{Permission, Switched, ToolGrant, Verdict};
pub use pin::{DefinitionChange, PinState, definition_changes, definition_text, digest_of};
pub use question::CallQuestion;
pub use registry::{RegistryError, Server, ServerProblem, ToolRule, Transport, read_registry, write_registry};
pub use toolbox::{ServerHealth, ServerState, Tool, Toolbox};
pub use transport::{PlainSecret, references};
