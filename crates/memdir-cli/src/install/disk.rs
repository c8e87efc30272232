//! The configuration file of an assistant on the disk: read, kept beside, replaced.

use std::io;
use std::path::{Path, PathBuf};

use super::super::file::{self, Lock};
use memdir_core::report::{Code, Failure};
use memdir_plan as plan;

/// A larger file is no configuration.
const MOST_BYTES: u64 = 64 << 20;
/// What is put behind the name of a file for the one that keeps it as it was.
const BACKUP: &str = ".memdir-backup";

/// More copies than this are not kept, nor looked for: names that cannot be read would be looked at without end.
const MOST_BACKUPS: u32 = 1_000;

/// A configuration file as it was read.
#[derive(Debug)]
pub(super) struct Target {
    /// The file itself, where its name is a link to it.
    pub(super) path: PathBuf,
    /// What it holds; `None` where it is not there.
    pub(super) text: Option<String>,
    /// What the file held before earlier changes of ours, the newest first.
    pub(super) backups: Vec<String>,
}

impl Target {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let unreadable = |error: io::Error| {
            let failure = Failure::new(Code::Config, format!("{} cannot be read: {}", path.display(), error.kind()));
            failure.with_hint("nothing was changed; see that it is a file, or a link to one, that you can read")
        };
        let path = file::follow(path).map_err(unreadable)?;
        let text = match file::read(&path, MOST_BYTES).map_err(unreadable)? {
            Some((content, _)) => Some(String::from_utf8(content).map_err(|_| {
                let failure = Failure::new(Code::Config, format!("{} is no UTF-8", path.display()));
                failure.with_hint("nothing was changed; save it as UTF-8")
            })?),
            None => None,
        };
        let mut backups = Vec::new();
        for number in 1..=MOST_BACKUPS {
            match file::read(&backup(&path, number), MOST_BYTES) {
                Ok(Some((content, _))) => backups.extend(String::from_utf8(content)),
                Ok(None) => break,
                // One that cannot be read is somebody else's, and no help.
                Err(_) => {}
            }
        }
        backups.reverse();
        Ok(Self { path, text, backups })
    }

    /// What a change would change, as a unified diff.
    pub(super) fn diff(&self, new: Option<&str>) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let (old, new) = (self.text.as_deref().map(str::as_bytes), new.map(str::as_bytes));
        if old == new { String::new() } else { plan::unified(&name, old, &name, new) }
    }

    /// Replaces the file, or removes it where nothing is to be left, and says where it is kept as it was. What else was changed before is for
    /// the caller to say.
    pub(super) fn replace(&self, new: Option<&str>) -> Result<Option<PathBuf>, Failure> {
        let unwritable = |error: io::Error| {
            let failure =
                Failure::new(Code::Config, format!("{} cannot be changed: {}", self.path.display(), error.kind()));
            failure.with_hint("see that you can write it and its folder")
        };
        let lock = Lock::of(&self.path).map_err(unwritable)?;
        let read = file::read(&self.path, MOST_BYTES).map_err(unwritable)?;
        if read.as_ref().map(|(content, _)| content.as_slice()) != self.text.as_deref().map(str::as_bytes) {
            let failure = Failure::new(Code::Conflict, format!("{} has changed meanwhile", self.path.display()));
            return Err(failure.with_hint("send the same again"));
        }
        let mode = read.as_ref().map(|(_, metadata)| metadata.permissions());
        if mode.as_ref().is_some_and(std::fs::Permissions::readonly) {
            return Err(unwritable(io::ErrorKind::PermissionDenied.into()));
        }
        let kept = match &self.text {
            Some(text) => Some(self.keep(&lock, text, mode.clone()).map_err(unwritable)?),
            None => None,
        };
        match new {
            Some(new) => lock.replace(&self.path, new.as_bytes(), mode).map_err(unwritable)?,
            None => lock.remove(&self.path).map_err(unwritable)?,
        }
        Ok(kept)
    }

    /// Keeps the file beside itself, unless one that is there holds the same already. None is ever written over.
    fn keep(&self, lock: &Lock, text: &str, mode: Option<std::fs::Permissions>) -> io::Result<PathBuf> {
        for number in 1..=MOST_BACKUPS {
            let path = backup(&self.path, number);
            match file::read(&path, MOST_BYTES) {
                Ok(Some((content, _))) if content == text.as_bytes() => return Ok(path),
                Ok(None) => return lock.make(&path, text.as_bytes(), mode).map(|()| path),
                Ok(Some(_)) | Err(_) => {}
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn backup(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    if number > 1 {
        name.push(format!("-{number}"));
    }
    path.with_file_name(name)
}
