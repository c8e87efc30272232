//! `clients.toml`: the clients of all memories, beside the settings.
//!
//! Only this person may read or write it: it says who may see what. It is replaced whole, under a lock.

use std::num::NonZeroU32;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::config::Sources;
use super::super::private_file::{Listed, PrivateFile};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;

/// What the file starts with.
const HEAD: &str = "# Written by `memdir client`. A token is kept only as its digest.\n\n";
/// The form of the file.
const VERSION: u32 = 1;
/// What to do about a damaged file.
const MEND: &str = "nobody can connect until the file is repaired, or moved away and the clients added again";

/// A client as it is kept.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The memory that it may ask for: its canonical path.
    pub(super) memory: String,
    /// The digest of its token.
    pub(super) token: Digest,
    pub(super) read: Vec<String>,
    pub(super) write: Vec<String>,
    /// What does not exist for it, whatever else it may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hide: Vec<String>,
    /// The actions that it may send; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) actions: Option<Vec<String>>,
    /// The tools of other servers that it may see and call: names of servers, or of tools as they are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hub: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<Timestamp>,
    /// Requests a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<NonZeroU32>,
    pub(super) may_approve: bool,
    pub(super) created: Timestamp,
    /// Since when it is revoked. Its name stays, since the hook of a program that is no client sees everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revoked: Option<Timestamp>,
}

impl Entry {
    /// Whether this is the client of that name of a memory, be it revoked or not.
    pub(super) fn is(&self, memory: &str, name: &str) -> bool {
        self.memory == memory && self.name == name
    }

    /// Whether it is a client of a memory.
    pub(super) fn is_of(&self, memory: &str) -> bool {
        self.memory == memory && self.revoked.is_none()
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    #[serde(default)]
    client: Vec<Entry>,
}

impl Listed for Entry {
    fn read(text: &str) -> Result<Vec<Self>, String> {
        let kept: Kept = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        match kept.version {
            VERSION => Ok(kept.client),
            other => Err(format!("its version is {other}, and this memdir reads version {VERSION}")),
        }
    }

    fn write(list: Vec<Self>) -> Result<String, Failure> {
        let text = toml::to_string(&Kept { version: VERSION, client: list });
        let text = text.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        Ok(format!("{HEAD}{text}"))
    }
}

/// The file, which need not be there. It holds the clients of all memories.
pub(super) fn clients(sources: &Sources) -> Result<PrivateFile, Failure> {
    PrivateFile::of(sources, "clients.toml", MEND)
}

/// The memory of a path as it is kept.
pub(super) fn memory(root: &Path) -> Result<String, Failure> {
    let text = root.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::new(Code::Config, "the memory's path is no UTF-8, so no client can be registered for it")
    })
}

/// The names of the clients of a memory.
pub(crate) fn names(sources: &Sources, root: &Path) -> Result<Vec<String>, Failure> {
    let memory = memory(root)?;
    let (all, _) = clients(sources)?.read::<Entry>()?;
    Ok(all.into_iter().filter(|entry| entry.is_of(&memory)).map(|entry| entry.name).collect())
}
