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
mod registry;
pub mod script;
mod toolbox;

pub use account::{CallRecord, Decided};
pub use bound::{Kept, Part, told};
pub use call::{CallError, CallEvents, Elicitation, ElicitationAnswer, Progress, ToolAnswer, ToolCall};
pub use find::find;
pub use meta::{META_TOOLS, MetaCall, meta_schema};
pub use name::{NameError, ServerName, ToolName};
pub use permission::{Permission, Switched, ToolGrant, Verdict};
pub use pin::{PinState, digest_of};
pub use registry::{Server, ToolRule, Transport};
pub use toolbox::{ServerHealth, ServerState, Tool, Toolbox};
