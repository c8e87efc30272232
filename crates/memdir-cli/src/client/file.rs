//! `clients.toml`: the clients of all memories, beside the settings.
//!
//! Only this person may read or write it: it says who may see what. It is replaced whole, under a lock.

use std::fs::Metadata;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::config::Sources;
use super::super::file::{self, Lock, Stamp};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;

/// What the file starts with.
const HEAD: &str = "# Written by `memdir client`. A token is kept only as its digest.\n\n";
/// The form of the file.
const VERSION: u32 = 1;
/// A larger file is none of ours.
const MOST_BYTES: u64 = 4 << 20;

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
    /// The actions that it may send; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) actions: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<Timestamp>,
    /// Requests a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<NonZeroU32>,
    pub(super) may_approve: bool,
    pub(super) created: Timestamp,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    #[serde(default)]
    client: Vec<Entry>,
}

/// The file, which need not be there.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    path: PathBuf,
}

impl Clients {
    pub(super) fn of(sources: &Sources) -> Result<Self, Failure> {
        let settings =
            sources.path().ok_or_else(|| Failure::new(Code::Config, "this system names no folder for settings"))?;
        Ok(Self { path: settings.with_file_name("clients.toml") })
    }

    /// What the file is by now; `None` where none is there.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.path)
    }

    /// Reads the clients of all memories; none where the file is not there.
    pub(super) fn read(&self) -> Result<(Vec<Entry>, Option<Stamp>), Failure> {
        let read = file::read(&self.path, MOST_BYTES);
        let read = read.map_err(|error| wrong(format!("`clients.toml` cannot be read: {}", error.kind())))?;
        let Some((content, metadata)) = read else { return Ok((Vec::new(), None)) };
        self.check_owner(&metadata)?;
        let text = String::from_utf8(content).map_err(|_| damaged("it is no UTF-8"))?;
        let kept: Kept = toml::from_str(&text).map_err(|error| damaged(error.message()))?;
        if kept.version != VERSION {
            return Err(damaged(&format!("its version is {}, and this memdir reads version {VERSION}", kept.version)));
        }
        Ok((kept.client, Some(Stamp::of(&metadata))))
    }

    /// Changes the clients, under a lock: what another process adds in the same instant is not lost.
    pub(super) fn change<R>(&self, edit: impl FnOnce(&mut Vec<Entry>) -> Result<R, Failure>) -> Result<R, Failure> {
        let unwritable = |error: std::io::Error| wrong(format!("`clients.toml` cannot be written: {}", error.kind()));
        let target = file::follow(&self.path).map_err(unwritable)?;
        let lock = Lock::of(&target).map_err(unwritable)?;
        let (mut clients, _) = self.read()?;
        let done = edit(&mut clients)?;
        let text = toml::to_string(&Kept { version: VERSION, client: clients });
        let text = text.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        lock.replace(&target, format!("{HEAD}{text}").as_bytes(), None).map_err(unwritable)?;
        Ok(done)
    }

    /// Refuses a file that somebody else may have written, or can read.
    #[cfg(unix)]
    fn check_owner(&self, metadata: &Metadata) -> Result<(), Failure> {
        use std::os::unix::fs::MetadataExt;
        let path = self.path.display();
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            let hint = format!("look at it, then make it yours: chown \"$USER\" '{path}'");
            return Err(wrong("`clients.toml` belongs to somebody else".to_owned()).with_hint(hint));
        }
        if metadata.mode() & 0o077 != 0 {
            let hint = format!("look at it, then close it: chmod 600 '{path}'");
            return Err(wrong("others can read or change `clients.toml`".to_owned()).with_hint(hint));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn check_owner(&self, _: &Metadata) -> Result<(), Failure> {
        Ok(())
    }
}

/// The memory of a path as it is kept.
pub(super) fn memory(root: &Path) -> Result<String, Failure> {
    let text = root.to_str().map(str::to_owned);
    text.ok_or_else(|| wrong("the memory's path is no UTF-8, so no client can be registered for it".to_owned()))
}

fn wrong(message: String) -> Failure {
    Failure::new(Code::Config, message)
}

fn damaged(why: &str) -> Failure {
    let hint = "nobody is let in by it; mend the file, or move it away and add the clients anew";
    wrong(format!("`clients.toml` is damaged: {}", why.trim().replace('\n', " "))).with_hint(hint)
}
