//! The hub: connections to the MCP servers that the person has added.
//!
//! Owns children, addresses, the kept lists of tools, retries, limits and cached results. Decides nothing: whether a tool may be
//! called is for `memdir_tools`, and who asks the person is for the edges.

mod auth;
mod client;
mod connect;
mod wire;

pub use auth::{RegisteredClient, login, login_as, logout};
pub use connect::Places;
