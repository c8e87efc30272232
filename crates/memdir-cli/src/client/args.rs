//! What can be typed behind `memdir client`.

use std::num::NonZeroU32;

use clap::{Args, Subcommand};

/// What `memdir client --help` says.
pub(crate) const LONG: &str = "Register the programs that may use the memory, and what each may see and do.

Over HTTP a client has to send its token. On standard input and output `memdir mcp --client NAME` is configuration, \
not security: \
a program that can start memdir can read the folder itself. What is hidden from a client does not appear in its lists, \
searches, counts or errors. Clients are kept in clients.toml beside the settings file; only you may read it.";

/// What can be done with clients.
#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Register a client; its token is shown only once
    Add(Add),
    /// List the clients of this memory
    List,
    /// Revoke a client's access, immediately and in running servers too
    Revoke {
        /// Its name
        name: String,
    },
}

/// Options of `client add`.
#[derive(Args, Debug)]
pub(crate) struct Add {
    /// Its name, such as claude-desktop
    pub(super) name: String,
    /// What it may read: a path or a glob, such as work/**; else everything
    #[arg(long, value_name = "GLOB")]
    pub(super) read: Vec<String>,
    /// What it may write, and read too; else nothing
    #[arg(long, value_name = "GLOB")]
    pub(super) write: Vec<String>,
    /// What does not exist for it, whatever else it may read: such as health/**
    #[arg(long, value_name = "GLOB")]
    pub(super) hide: Vec<String>,
    /// The actions that it may send, or read for all that only read; else every one
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) tools: Vec<String>,
    /// Tools of other servers that it may see and call where `mcp --hub` serves it: all of a server, such as calendar, or one, such as
    /// calendar__list_events; else none
    #[arg(long, value_name = "NAME")]
    pub(super) hub: Vec<String>,
    /// When its access ends: after some days, such as 30d, or at the start of a date in UTC, such as 2027-01-01
    #[arg(long, value_name = "WHEN")]
    pub(super) expires: Option<String>,
    /// How many requests it may make in a minute
    #[arg(long, value_name = "N")]
    pub(super) rate: Option<NonZeroU32>,
    /// Let the answers of the person who uses it count as yours
    #[arg(long)]
    pub(super) may_approve: bool,
}
