//! The register that a server asks who a client is: the file, read again whenever it is another one.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::{self, Entry};
use super::{token, unknown};
use crate::config::Sources;
use crate::file::Stamp;
use crate::private_file::PrivateFile;
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_mcp::{Claim, Client, Register, ToolGrant, Unknown};

/// A client of this memory, with its grant read.
#[derive(Debug)]
struct Known {
    token: Digest,
    expires: Option<Timestamp>,
    client: Client,
}

/// What the file held when it was read last.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// `None` before the first reading.
    stamp: Option<Option<Stamp>>,
    known: Vec<Known>,
}

/// The register of the memory at `root`, a canonical path. Where `name` is given, a client of that name has to be in it.
///
/// A file that cannot be read, or is damaged, lets nobody in.
pub(crate) fn register(root: &Path, name: Option<&str>, clock: fn() -> Timestamp) -> Result<Register, Failure> {
    let clients = file::clients(&Sources::read()?)?;
    let memory = file::memory(root);
    if let Some(name) = name {
        let memory = memory.as_ref().map_err(Clone::clone)?;
        let (entries, _) = clients.read::<Entry>()?;
        let mut known = entries.iter().filter(|entry| entry.is_of(memory)).map(|entry| entry.name.as_str());
        if !known.clone().any(|known| known == name) {
            return Err(unknown(name, &mut known));
        }
    }
    // A path that cannot be kept is the memory of no client.
    let memory = memory.unwrap_or_default();
    let seen = Mutex::new(Seen::default());
    Ok(Register::new(move |claim| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.refresh(&clients, &memory);
        seen.find(claim, clock())
    }))
}

/// The client that a program is at the memory at `root`: the one that is `named`, else the one with the program's own name, if
/// that is registered, else one that sees everything.
///
/// # Errors
///
/// `usage` where the client that is named is not registered; `denied` where it has expired or is revoked; what is wrong with the file.
pub(crate) fn of_program(root: &Path, named: Option<&str>, program: &str, now: Timestamp) -> Result<Client, Failure> {
    let clients = file::clients(&Sources::read()?)?;
    // A path that cannot be kept is the memory of no client.
    let memory = file::memory(root).unwrap_or_default();
    let (mut entries, _) = clients.read::<Entry>()?;
    let name = named.unwrap_or(program);
    if entries.iter().any(|entry| entry.revoked.is_some() && entry.is(&memory, name)) {
        return Err(Failure::new(Code::Denied, format!("client `{name}` is revoked")));
    }
    entries.retain(|entry| entry.is_of(&memory));
    let is_known = entries.iter().any(|entry| entry.name == name);
    match named {
        Some(name) if !is_known => Err(unknown(name, &mut entries.iter().map(|entry| entry.name.as_str()))),
        None if !is_known => Ok(Client {
            name: program.to_owned(),
            grant: None,
            tools: ToolGrant::default(),
            rate: None,
            may_approve: false,
        }),
        _ => Seen::of(entries)?
            .find(Claim::Name(name), now)
            .map_err(|Unknown| Failure::new(Code::Denied, format!("client `{name}` has expired"))),
    }
}

impl Seen {
    /// What a file holds that was not looked at.
    pub(super) fn of(entries: Vec<Entry>) -> Result<Self, Failure> {
        Ok(Self { stamp: None, known: entries.into_iter().map(Known::of).collect::<Result<_, _>>()? })
    }

    fn refresh(&mut self, clients: &PrivateFile, memory: &str) {
        let now = clients.stamp();
        if self.stamp == Some(now) {
            return;
        }
        let read = clients.read::<Entry>().and_then(|(mut entries, stamp)| {
            entries.retain(|entry| entry.is_of(memory));
            Ok(Self { stamp: Some(stamp), ..Self::of(entries)? })
        });
        match read {
            Ok(read) => *self = read,
            Err(error) => {
                tracing::error!(message = error.message, "no client is let in");
                // It may only be that no more files can be opened: the next one who asks tries again.
                *self = Self::default();
            }
        }
    }

    pub(super) fn find(&self, claim: Claim<'_>, now: Timestamp) -> Result<Client, Unknown> {
        let at = match claim {
            Claim::Token(token) => token::position(&token::digest(token), self.known.iter().map(|known| &known.token)),
            Claim::Name(name) => self.known.iter().position(|known| known.client.name == name),
        };
        let known = at.and_then(|at| self.known.get(at)).ok_or(Unknown)?;
        if known.expires.is_some_and(|expires| expires <= now) {
            return Err(Unknown);
        }
        Ok(known.client.clone())
    }
}

impl Known {
    fn of(entry: Entry) -> Result<Self, Failure> {
        let grant = entry.grant()?;
        let client = Client {
            name: entry.name,
            grant: Some(Arc::new(grant)),
            tools: super::tool_grant(&entry.hub)?,
            rate: entry.rate,
            may_approve: entry.may_approve,
        };
        Ok(Self { token: entry.token, expires: entry.expires, client })
    }
}
