//! Proof that SQLite has opened the files that the vault's handles hold.
//!
//! SQLite opens by path, and any program that may write in the memory can put a link in the place of `.memdir` between our
//! check and that. So the files that a connection has opened are compared with those below the handle: the database before
//! anything is read, and all three files before anything is written. On Linux the system lists the files that a process
//! has open; elsewhere the path is compared again, which proves less.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::VaultError;
use super::error::EXCHANGED;
use super::state::{FILES, HISTORY, SHARED, StateFolder, WRITE_AHEAD_LOG};

/// Device and number of a file.
type Identity = (u64, u64);

/// Connections of this process are opened one after the other, so that the files of each are recognized.
static OPENING: Mutex<()> = Mutex::new(());

/// The files that were open before SQLite opens a database; meanwhile no other connection of this process is opened.
#[derive(Debug)]
pub(super) struct Proof<'f> {
    folder: &'f StateFolder,
    before: Vec<Open>,
    _alone: MutexGuard<'static, ()>,
}

/// An open file whose name is that of one of ours.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Open {
    /// By what the process knows it.
    number: String,
    /// The last component of its path.
    name: &'static str,
    identity: Identity,
}

impl<'f> Proof<'f> {
    /// Notes what is open.
    pub(super) fn begin(folder: &'f StateFolder) -> Self {
        let alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        Self { folder, before: open_files().unwrap_or_default(), _alone: alone }
    }

    /// Checks the database once it is open, before anything is read: only that file is open yet.
    pub(super) fn check_database(&self) -> Result<(), VaultError> {
        self.check(&[HISTORY])
    }

    /// Checks the log and the shared memory, after a first read and before anything is written.
    pub(super) fn check_beside(&self) -> Result<(), VaultError> {
        self.check(&[WRITE_AHEAD_LOG, SHARED])
    }

    /// Lets others open connections.
    pub(super) fn end(self) -> &'f StateFolder {
        self.folder
    }

    fn check(&self, names: &[&'static str]) -> Result<(), VaultError> {
        let open = open_files();
        let is_held = |name: &&'static str| match (self.folder.identity_of(name), &open) {
            (Some(held), Some(open)) => self.is_proved(name, held, open),
            (Some(held), None) => self.folder.identity_by_path(name).is_none_or(|found| found == held),
            (None, _) => false,
        };
        if names.iter().all(is_held) {
            return Ok(());
        }
        Err(VaultError::Untrusted(EXCHANGED))
    }

    /// Whether the connection has the file `held` open under this name. A connection may take over a handle that an earlier one
    /// of the same file left open; then no new file of that name is open.
    fn is_proved(&self, name: &str, held: Identity, open: &[Open]) -> bool {
        let of_name = || open.iter().filter(|open| open.name == name);
        let mut fresh = of_name().filter(|open| !self.before.contains(open)).peekable();
        match fresh.peek() {
            Some(_) => fresh.any(|open| open.identity == held),
            None => of_name().any(|open| open.identity == held),
        }
    }
}

/// The open files of this process that have names of ours; `None` where the system does not say.
#[cfg(target_os = "linux")]
fn open_files() -> Option<Vec<Open>> {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, openat, readlinkat, statat};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, c"/proc/self/fd", flags, Mode::empty()).ok()?;
    let mut buffer = Vec::with_capacity(4 << 10);
    let mut listed = RawDir::new(&folder, buffer.spare_capacity_mut());
    let mut open = Vec::new();
    let mut target = Vec::with_capacity(256);
    while let Some(entry) = listed.next() {
        let entry = entry.ok()?;
        let number = entry.file_name();
        // One may be closed while we look.
        let Ok(link) = readlinkat(&folder, number, std::mem::take(&mut target)) else { continue };
        target = link.into_bytes();
        let last = target.rsplit(|byte| *byte == b'/').next();
        let Some(name) = FILES.into_iter().find(|name| last == Some(name.as_bytes())) else { continue };
        // The link leads to the open file, whatever has its name by now.
        let Ok(found) = statat(&folder, number, AtFlags::empty()) else { continue };
        open.push(Open { number: number.to_string_lossy().into_owned(), name, identity: (found.st_dev, found.st_ino) });
    }
    Some(open)
}

#[cfg(not(target_os = "linux"))]
fn open_files() -> Option<Vec<Open>> {
    None
}
