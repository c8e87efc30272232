//! The hub: connections to the MCP servers that the person has added.
//!
//! Owns children, addresses, the kept lists of tools, retries, limits and cached results. Decides nothing: whether a tool may be
//! called is for `memdir_tools`, and who asks the person is for the edges.

mod auth;
mod client;
mod connect;
mod forget;
mod guard;
mod hub;
mod kept;
mod link;
mod log;
mod rate;
mod results;
mod server;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use auth::{LoginPage, RegisteredClient, TokenPlace, Tokens, login, login_as, logout};
pub use connect::Places;
pub use forget::forget;
pub use guard::guard;
pub use hub::{Definition, Examined, Hub, RegistrySource};

/// What a mutex guards. A panic of another thread leaves values here that are whole.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
