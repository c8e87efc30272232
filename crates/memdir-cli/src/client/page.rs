//! The register as the page reads and changes it.

use std::path::Path;
use std::sync::Arc;

use super::args::Add;
use super::file::{self, Entry};
use super::{keep, new_entry, revoke_entry};
use crate::config::Sources;
use crate::private_file::PrivateFile;
use memdir_core::report::Failure;
use memdir_core::time::Timestamp;
use memdir_tools::ToolGrant;
use memdir_web::{ClientToken, NewClient, RegisteredClient};

/// The clients of the memory at `root`, a canonical path.
///
/// # Errors
///
/// `config` where the register cannot be read.
pub(crate) fn registered(root: &Path) -> Result<Vec<RegisteredClient>, Failure> {
    let (clients, memory) = opened(root)?;
    let now = memdir_host::now();
    let (all, _) = clients.read::<Entry>()?;
    all.into_iter().filter(|entry| entry.is_of(&memory)).map(|entry| shown(entry, now)).collect()
}

/// Registers a client, and gives its token.
///
/// # Errors
///
/// `usage` for what cannot be granted, `already_exists`, `config`.
pub(crate) fn add_from_page(root: &Path, wanted: NewClient) -> Result<ClientToken, Failure> {
    let (clients, memory) = opened(root)?;
    let NewClient { name, read, write, hide, tools, expires, rate, may_approve } = wanted;
    let (entry, _, token) = new_entry(
        memory,
        &Add { name, read, write, hide, tools, hub: Vec::new(), expires, rate, may_approve },
        memdir_host::now(),
    )?;
    keep(&clients, &entry)?;
    Ok(ClientToken::new(token.reveal().to_owned()))
}

/// Revokes a client.
///
/// # Errors
///
/// `not_found`, `config`.
pub(crate) fn revoke_named(root: &Path, name: &str) -> Result<(), Failure> {
    let (clients, memory) = opened(root)?;
    revoke_entry(&clients, &memory, name)
}

fn opened(root: &Path) -> Result<(PrivateFile, String), Failure> {
    Ok((file::clients(&Sources::read()?)?, file::memory(root)?))
}

fn shown(entry: Entry, now: Timestamp) -> Result<RegisteredClient, Failure> {
    let grant = entry.grant()?;
    Ok(RegisteredClient {
        is_expired: entry.is_expired(now),
        name: entry.name,
        read: entry.read,
        write: entry.write,
        hide: entry.hide,
        actions: entry.actions,
        tools: ToolGrant::new(entry.hub).unwrap_or_default(),
        expires: entry.expires,
        rate: entry.rate,
        may_approve: entry.may_approve,
        created: entry.created,
        grant: Arc::new(grant),
    })
}
