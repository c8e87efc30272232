//! The hub, against a server that does what it is told. What happened is read in the server's own journal, in its script and in
//! the system's list of processes.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod calls;
mod hostile;
mod lists;
mod processes;
mod starts;
mod support;
