//! Files beside the settings that say who may do what: the register of clients, the registry of servers.
//!
//! Only this person may read or write one. It is replaced whole, under a lock, and what has read it sees by its stamp whether it is
//! another one by now.

use std::fs::Metadata;
use std::path::PathBuf;

use super::config::Sources;
use super::file::{self, Lock, Stamp};
use memdir_core::report::{Code, Failure};

/// A larger file is none of ours.
const MOST_BYTES: u64 = 4 << 20;

/// What such a file lists.
pub(super) trait Listed: Sized {
    /// Reads a list; else says why it is damaged.
    fn read(text: &str) -> Result<Vec<Self>, String>;

    /// Writes a list.
    fn write(list: Vec<Self>) -> Result<String, Failure>;
}

/// Such a file, which need not be there.
#[derive(Clone, Debug)]
pub(super) struct PrivateFile {
    path: PathBuf,
    name: &'static str,
    /// What a person is to do about a damaged one.
    mend: &'static str,
}

impl PrivateFile {
    /// The file of this name beside the settings.
    pub(super) fn of(sources: &Sources, name: &'static str, mend: &'static str) -> Result<Self, Failure> {
        let settings =
            sources.path().ok_or_else(|| Failure::new(Code::Config, "this system names no folder for settings"))?;
        Ok(Self::at(settings.with_file_name(name), name, mend))
    }

    /// The file at this path.
    pub(super) fn at(path: PathBuf, name: &'static str, mend: &'static str) -> Self {
        Self { path, name, mend }
    }

    /// What the file is by now; `None` where none is there.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.path)
    }

    /// Reads the list; an empty one where the file is not there.
    pub(super) fn read<T: Listed>(&self) -> Result<(Vec<T>, Option<Stamp>), Failure> {
        let read = file::read(&self.path, MOST_BYTES);
        let read = read.map_err(|error| wrong(format!("`{}` cannot be read: {}", self.name, error.kind())))?;
        let Some((content, metadata)) = read else { return Ok((Vec::new(), None)) };
        self.check_owner(&metadata)?;
        let text = String::from_utf8(content).map_err(|_| self.damaged("it is no UTF-8"))?;
        let list = T::read(&text).map_err(|why| self.damaged(&why))?;
        Ok((list, Some(Stamp::of(&metadata))))
    }

    /// Changes the list, under a lock: what another process adds in the same instant is not lost.
    pub(super) fn change<T: Listed, R>(
        &self,
        edit: impl FnOnce(&mut Vec<T>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let unwritable = |error: std::io::Error| wrong(format!("`{}` cannot be written: {}", self.name, error.kind()));
        let target = file::follow(&self.path).map_err(unwritable)?;
        let lock = Lock::of(&target).map_err(unwritable)?;
        let (mut list, _) = self.read()?;
        let done = edit(&mut list)?;
        let text = T::write(list)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(wrong(format!("`{}` would be larger than {MOST_BYTES} bytes", self.name)));
        }
        lock.replace(&target, text.as_bytes(), None).map_err(unwritable)?;
        Ok(done)
    }

    /// The failure of a file that cannot be what it should be.
    fn damaged(&self, why: &str) -> Failure {
        let hint = format!("{}: {}", self.mend, self.path.display());
        wrong(format!("`{}` is damaged: {}", self.name, why.trim().replace('\n', " "))).with_hint(hint)
    }

    /// Refuses a file that somebody else may have written, or can read.
    #[cfg(unix)]
    fn check_owner(&self, metadata: &Metadata) -> Result<(), Failure> {
        use std::os::unix::fs::MetadataExt;
        let (path, name) = (self.path.display(), self.name);
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            let hint = format!("look at it, then make it yours: chown \"$USER\" '{path}'");
            return Err(wrong(format!("`{name}` belongs to somebody else")).with_hint(hint));
        }
        if metadata.mode() & 0o077 != 0 {
            let hint = format!("look at it, then close it: chmod 600 '{path}'");
            return Err(wrong(format!("others can read or change `{name}`")).with_hint(hint));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn check_owner(&self, _: &Metadata) -> Result<(), Failure> {
        Ok(())
    }
}

fn wrong(message: String) -> Failure {
    Failure::new(Code::Config, message)
}
