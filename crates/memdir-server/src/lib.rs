//! What the servers of memdir share: [`ServedEngine`], an engine with the threads that work for its connections, and
//! [`serve`], connections on loopback.
//!
//! Owns how much may come in, how long it may take and how it ends; knows no protocol and no page. The two edges that serve,
//! `memdir-mcp` and `memdir-web`, stand on it and never use each other.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod connections;
mod names;
mod panics;
mod pool;
mod serve;
mod served_engine;
mod write_timeout;

pub use connections::OpenConnection;
pub use names::{NameError, Names, only};
pub use panics::{Panicked, catch_panic, catch_panic_async};
pub use pool::{JobError, Lane};
pub use serve::{Limits, listen, serve};
pub use served_engine::ServedEngine;

/// Locks a mutex, even after a panic: no panic leaves half a change in one.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
