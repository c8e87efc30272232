//! [`PersonFiles`]: what the person keeps beside the memory, which the program that serves the page reads and writes for it.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_core::time::Timestamp;
use memdir_engine::{ForgetTarget, ForgottenPlace};
use memdir_policy::{Grant, Rule};
use memdir_tools::ToolGrant;

use crate::SettingsShown;

/// The person's rules, clients and drafts. Any thread may ask at any time; each answer is as of now.
pub trait PersonFiles: Send + Sync {
    /// What is settled for this memory, and where each comes from; no secret is among it.
    ///
    /// # Errors
    ///
    /// `config` where the settings cannot be read.
    fn settings(&self) -> Result<SettingsShown, Failure>;

    /// Adds a rule for this memory and gives its number; one that is there already keeps its own.
    ///
    /// # Errors
    ///
    /// `config` where the settings cannot be read or written, or the rule is none.
    fn add_rule(&self, rule: &Rule) -> Result<usize, Failure>;

    /// The clients that are registered for this memory.
    ///
    /// # Errors
    ///
    /// `config` where the register cannot be read.
    fn clients(&self) -> Result<Vec<RegisteredClient>, Failure>;

    /// Registers a client, and gives its token. Only a digest of that is kept.
    ///
    /// # Errors
    ///
    /// `usage` for what cannot be granted, `already_exists`, `config`.
    fn add_client(&self, wanted: NewClient) -> Result<ClientToken, Failure>;

    /// Takes a client out of the register, in running servers too.
    ///
    /// # Errors
    ///
    /// `not_found`, `config`.
    fn revoke_client(&self, name: &str) -> Result<(), Failure>;

    /// Opens a note in the program that the person's desktop has for it.
    ///
    /// # Errors
    ///
    /// `unavailable` where there is no desktop or it starts nothing.
    fn open_note(&self, note: &MemoryPath) -> Result<(), Failure>;

    /// The drafts of an editor that hold what is to be forgotten.
    ///
    /// # Errors
    ///
    /// `io`.
    fn drafts_holding(&self, target: &ForgetTarget) -> Result<Vec<ForgottenPlace>, Failure>;

    /// Removes them.
    ///
    /// # Errors
    ///
    /// `io`.
    fn remove_drafts_holding(&self, target: &ForgetTarget) -> Result<(), Failure>;
}

/// A client as it is registered.
#[derive(Clone, Debug)]
pub struct RegisteredClient {
    /// Its name.
    pub name: String,
    /// What it may read, as globs.
    pub read: Vec<String>,
    /// What it may write, and read too.
    pub write: Vec<String>,
    /// What does not exist for it, whatever else it may read, as globs.
    pub hide: Vec<String>,
    /// The actions that it may send; `None` for all.
    pub actions: Option<Vec<String>>,
    /// The tools of other servers that it may see and call.
    pub tools: ToolGrant,
    /// When its access ends.
    pub expires: Option<Timestamp>,
    /// Whether it has ended.
    pub is_expired: bool,
    /// How many requests it may make in a minute.
    pub rate: Option<NonZeroU32>,
    /// Whether the answers of the person who uses it count as the owner's.
    pub may_approve: bool,
    /// When it was registered.
    pub created: Timestamp,
    /// The same as what it is held to.
    pub grant: Arc<Grant>,
}

/// A client that the person wants to register.
#[derive(Clone, Debug, Default)]
pub struct NewClient {
    /// Its name.
    pub name: String,
    /// Globs of what it may read; none for everything.
    pub read: Vec<String>,
    /// Globs of what it may write, and read too.
    pub write: Vec<String>,
    /// Globs of what does not exist for it, whatever else it may read.
    pub hide: Vec<String>,
    /// The actions that it may send, or `read` for all that only read; none for every one.
    pub tools: Vec<String>,
    /// When its access ends: after some days, such as `30d`, or at the start of a date in UTC.
    pub expires: Option<String>,
    /// How many requests it may make in a minute.
    pub rate: Option<NonZeroU32>,
    /// Whether the answers of the person who uses it count as the owner's.
    pub may_approve: bool,
}

/// The secret of a new client, to be shown once.
pub struct ClientToken(String);

impl ClientToken {
    /// A token for the one page that shows it.
    #[must_use]
    pub fn new(token: String) -> Self {
        Self(token)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClientToken")
    }
}
