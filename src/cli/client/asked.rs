//! What can be typed behind `memdir client`.

use std::num::NonZeroU32;

use clap::{Args, Subcommand};

/// What `memdir client --help` says.
pub(in crate::cli) const LONG: &str = "Say which programs may ask for the memory, and what each may see and do.

Over HTTP a client has to send its token. On standard input and output `memdir mcp --client NAME` is configuration, not security: \
a program that can start memdir can read the folder itself. What is hidden from a client is not there for it, in lists, \
searches, counts and errors alike. The clients are kept in clients.toml beside the settings, which only you may read.";

/// What can be done with clients.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Asked {
    /// Register a client; its token is shown this once
    Add(Add),
    /// List the clients of this memory
    List,
    /// Take back what a client was granted; it holds at once, also in running servers
    Revoke {
        /// Its name
        name: String,
    },
}

/// Options of `client add`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Add {
    /// Its name, such as claude-desktop
    pub(super) name: String,
    /// What it may read: a path or a glob, such as work/**; else everything
    #[arg(long, value_name = "GLOB")]
    pub(super) read: Vec<String>,
    /// What it may write, and read too; else nothing
    #[arg(long, value_name = "GLOB")]
    pub(super) write: Vec<String>,
    /// The actions that it may send, or read for all that only read; else every one
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) tools: Vec<String>,
    /// When it ends: after some days, such as 30d, or on a date, such as 2027-01-01, at its first moment in UTC
    #[arg(long, value_name = "WHEN")]
    pub(super) expires: Option<String>,
    /// How many requests it may make in a minute
    #[arg(long, value_name = "N")]
    pub(super) rate: Option<NonZeroU32>,
    /// Let what its person answers to a question count as yours
    #[arg(long)]
    pub(super) may_approve: bool,
}
