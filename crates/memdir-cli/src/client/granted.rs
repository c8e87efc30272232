//! The tools of other servers that clients were granted.

use std::collections::BTreeSet;

use super::file::{self, Entry};
use crate::config::Sources;
use memdir_core::report::Failure;
use memdir_tools::{ServerName, ToolName};

/// Takes a server of tools, and each tool of it, out of what clients of any memory were granted; gives the names of those clients.
///
/// # Errors
///
/// `config` where the register cannot be read or written.
pub(crate) fn ungrant(sources: &Sources, server: &ServerName) -> Result<Vec<String>, Failure> {
    let clients = file::clients(sources)?;
    if reached(&clients.read()?.0, server).is_empty() {
        return Ok(Vec::new());
    }
    clients.change(|all: &mut Vec<Entry>| {
        let names = reached(all, server);
        all.iter_mut().for_each(|entry| entry.hub.retain(|name| !is_of(name, server)));
        Ok(names)
    })
}

/// The names of the clients of any memory that were granted a server of tools, or a tool of it.
///
/// # Errors
///
/// `config` where the register cannot be read.
pub(crate) fn granted(sources: &Sources, server: &ServerName) -> Result<Vec<String>, Failure> {
    Ok(reached(&file::clients(sources)?.read()?.0, server))
}

fn reached(all: &[Entry], server: &ServerName) -> Vec<String> {
    let reaches = |entry: &&Entry| entry.revoked.is_none() && entry.hub.iter().any(|name| is_of(name, server));
    let names: BTreeSet<String> = all.iter().filter(reaches).map(|entry| entry.name.clone()).collect();
    names.into_iter().collect()
}

/// Whether a grant names this server, or a tool of it.
fn is_of(name: &str, server: &ServerName) -> bool {
    name == server.as_str() || ToolName::server_in(name).as_ref() == Some(server)
}
