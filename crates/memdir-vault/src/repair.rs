//! A damaged history: what is wrong with it, and putting it aside so that a new one can begin.
//!
//! The folder of this machine is renamed as a whole, so that a crash leaves the old one or the new one. No note is
//! touched, and nothing is deleted: the person may still read something in the damaged files.

use std::collections::BTreeSet;
use std::io;
use std::sync::{MutexGuard, PoisonError};

use rusqlite::params;

use super::aside::{batch_of, digest_of};
use super::error::GONE;
use super::every::{Region, open_parent};
use super::journal::{Journal, State};
use super::state::{FOLDER, SESSIONS, open_lock, open_own_folder};
use super::{Examination, Vault, VaultError, Writer, acquire, disk};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;

/// What stands between the name of a machine and a number in the name of a folder that was put aside.
const MARK: &str = "-damaged-";
/// No history has so many batches: memdir did not write a temporary file with a larger number.
const MOST_BATCHES: u64 = 1 << 40;
/// The most temporary files that are noted for the next writer.
#[cfg(target_os = "linux")]
const MOST_STRAYS: usize = 1_000;
/// How many of them one sweep looks at, and how large they may be, in bytes.
const MOST_SWEPT: usize = 16;
const MOST_STRAY_BYTES: u64 = 8 << 20;
/// The most histories of a machine that are put aside.
const MOST: usize = 1_000;

/// What is wrong with a history.
#[derive(Debug)]
pub struct Fault {
    /// Why it cannot be used.
    pub error: VaultError,
    /// The identity of the folder, so that no other one is put aside.
    identity: (u64, u64),
}

/// What became of a damaged history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PutAside {
    /// The name that its folder has now.
    pub name: String,
    /// Whether the conversations of the machine moved to its new folder. They can be read but not continued, since their keys stay
    /// behind.
    pub has_sessions: bool,
    /// Temporary files of a batch that cannot be finished now; their text may be in no note.
    pub temporary: Vec<String>,
}

/// What became of temporary files that were left over.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SweptTemporary {
    /// How many are gone.
    pub removed: usize,
    /// Those whose text may be nowhere else.
    pub left: Vec<String>,
}

impl Vault {
    /// The temporary files in the memory. While nobody writes there are none, unless the power was cut, or a folder was moved or
    /// closed to us while it held one.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn temporary_files(&self) -> Result<Vec<String>, VaultError> {
        let mut found = Vec::new();
        self.every_file(&mut |spot, _| {
            found.extend((spot.region == Region::Leftover).then(|| spot.path.clone()));
            Ok(())
        })?;
        Ok(found)
    }

    /// Removes temporary files that no batch needs: those whose text the history has, and those of batches of which nothing was
    /// carried out.
    ///
    /// # Errors
    ///
    /// As [`Vault::lock`]; those of the database and the system.
    pub fn sweep_temporary_files(&self) -> Result<SweptTemporary, VaultError> {
        if self.temporary_files()?.is_empty() {
            return Ok(SweptTemporary::default());
        }
        let mut writer = self.lock()?;
        writer.sweep_leftovers()?;
        let mut swept = SweptTemporary::default();
        let is_needless = |journal: &Journal, digest, batch| -> Result<bool, VaultError> {
            Ok(journal.has_content(digest)? || journal.is_given_up(batch)?)
        };
        for path in self.temporary_files()? {
            match writer.remove_temporary_file(&path, is_needless)? {
                Some(true) => swept.removed += 1,
                Some(false) => swept.left.push(path),
                None => {}
            }
        }
        Ok(swept)
    }

    /// Notes a temporary file that a walk found. Mostly it belongs to a batch that is just being written.
    #[cfg(target_os = "linux")]
    pub(super) fn note_stray(&self, folder: Option<&MemoryPath>, name: &str) {
        let mut strays = self.strays();
        if strays.len() < MOST_STRAYS {
            strays.insert(folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}")));
        }
    }

    /// Removes the temporary files that walks found, unless another process holds the lock.
    pub(super) fn finish_strays(&self) {
        if self.strays().is_empty() || !self.known_core().is_ok_and(|core| core.is_some()) {
            return;
        }
        if let Ok(mut writer) = self.lock_now()
            && writer.sweep_leftovers().is_ok()
        {
            writer.sweep_strays();
        }
    }

    fn strays(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.strays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the first batch of a new history. Where one was put aside, temporary files of its batches may be left,
    /// whose text may be nowhere else: no new batch may take them for its own.
    pub(super) fn first_batch(&self) -> Result<u64, VaultError> {
        if self.put_aside_before()?.is_empty() {
            return Ok(1);
        }
        let files = self.temporary_files()?;
        let names = files.iter().map(|path| path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name));
        Ok(names.map(batch_of).filter(|batch| *batch < MOST_BATCHES).max().map_or(1, |batch| batch + 1))
    }

    /// Looks for what is wrong with the history, through all that is kept; `None` where nothing is, or there is none.
    ///
    /// # Errors
    ///
    /// Errors that are no fault of the history, or may pass: [`VaultError::Busy`], [`VaultError::DiskFull`],
    /// [`VaultError::NoWriteAccess`], [`VaultError::Newer`], [`VaultError::History`];
    /// [`VaultError::Untrusted`] where there is an [obstacle](Vault::obstacle).
    pub fn fault(&self) -> Result<Option<Fault>, VaultError> {
        let Some(identity) = self.machine_identity()? else { return Ok(None) };
        match self.examine() {
            Ok(Examination { closed: Some(error), .. }) => Err(error),
            // The newest batch may be one that cannot be finished or given back.
            Ok(_) => match self.lock_now().map(drop) {
                Err(error) if error.is_lasting_fault() => Ok(Some(Fault { error, identity })),
                Ok(()) | Err(_) => Ok(None),
            },
            // A new history would meet the same.
            Err(error @ VaultError::Untrusted(_)) if self.obstacle().is_some() => Err(error),
            Err(error) if error.is_lasting_fault() => Ok(Some(Fault { error, identity })),
            Err(error) => Err(error),
        }
    }

    /// Puts a damaged history aside and begins a new one. The conversations move to it; the inbox, the log, undo and the audit
    /// stay behind.
    ///
    /// # Errors
    ///
    /// [`VaultError::Busy`] while another process writes, or where it has put the folder aside meanwhile; what the system says.
    pub fn put_aside(&self, fault: &Fault) -> Result<PutAside, VaultError> {
        let temporary = self.temporary_files()?;
        let name = self.rename_machine(fault)?;
        let mut writer = self.lock()?;
        let new = writer.core()?.folder.machine();
        let has_sessions = self.with_parent(|parent| {
            // In the place of the folder there may have been a link, a file or another user's folder.
            let Ok(Some(old)) = open_own_folder(parent, &name) else { return Ok(false) };
            match disk::rename_new(&old, SESSIONS, new, SESSIONS) {
                Err(error) if disk::is_gone(&error) => Ok(false),
                Err(error) => Err(VaultError::io("keep the sessions", None, error)),
                Ok(()) => {
                    let flushed = disk::sync_folder(new).and_then(|()| disk::sync_folder(&old));
                    flushed.map(|()| true).map_err(|error| VaultError::io("flush the sessions", None, error))
                }
            }
        })?;
        Ok(PutAside { name, has_sessions: has_sessions.unwrap_or(false), temporary })
    }

    /// The damaged histories of all machines that were put aside.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn put_aside_before(&self) -> Result<Vec<String>, VaultError> {
        let names = self.with_parent(|parent| {
            let entries = parent.entries().map_err(|error| VaultError::io("look into `.memdir`", None, error))?;
            let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            let mut names: Vec<String> = names.filter(|name| is_put_aside(name)).collect();
            names.sort();
            Ok(names)
        })?;
        Ok(names.unwrap_or_default())
    }

    /// Renames the folder of this machine, under the lock, and gives its new name.
    fn rename_machine(&self, fault: &Fault) -> Result<String, VaultError> {
        (*self.core(self.options.lock_timeout)?, *self.beside()) = (None, None);
        let missing = VaultError::Untrusted(GONE);
        let Some(memdir) = open_own_folder(&self.dir, FOLDER)? else { return Err(missing) };
        let lock = open_lock(&memdir)?.into_std();
        acquire(&lock, self.options.lock_timeout)?;
        if self.machine_identity()? != Some(fault.identity) {
            return Err(VaultError::Busy);
        }
        let io = |error| VaultError::io("put the history aside", None, error);
        let machine = &self.options.machine;
        // The lock goes with its handle.
        let renamed = self.with_parent(|parent| {
            for number in 1..=MOST {
                let name = format!("{machine}{MARK}{number}");
                match disk::rename_new(parent, machine, parent, &name) {
                    Err(error) if disk::is_taken(&error) => {}
                    other => {
                        other.and_then(|()| disk::sync_folder(parent)).map_err(io)?;
                        return Ok(name);
                    }
                }
            }
            Err(io(io::ErrorKind::AlreadyExists.into()))
        });
        renamed?.ok_or(missing)
    }

    /// The identity of whatever has the name of this machine's folder.
    fn machine_identity(&self) -> Result<Option<(u64, u64)>, VaultError> {
        let found = self.with_parent(|parent| match parent.symlink_metadata(&self.options.machine) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(VaultError::io("look at `.memdir`", None, error)),
            Ok(metadata) => Ok(Some(disk::identity(&metadata))),
        });
        found.map(Option::flatten)
    }

    /// Does something with the folder that holds this machine's; `None` where there is none.
    fn with_parent<T>(
        &self,
        work: impl FnOnce(&cap_std::fs::Dir) -> Result<T, VaultError>,
    ) -> Result<Option<T>, VaultError> {
        let Some(memdir) = open_own_folder(&self.dir, FOLDER)? else { return Ok(None) };
        work(self.home().parent(&memdir).0).map(Some)
    }
}

impl Writer<'_> {
    /// Removes the temporary files that walks found, if their text is in the history. Best effort: `doctor` reports the others.
    pub(super) fn sweep_strays(&mut self) {
        let strays = std::mem::take(&mut *self.vault.strays());
        for path in strays.into_iter().take(MOST_SWEPT) {
            // A larger file is left to `doctor`: reading it would hold the lock for long.
            let size = self.vault.dir.symlink_metadata(&path).map_or(0, |found| found.len());
            if size > MOST_STRAY_BYTES {
                continue;
            }
            // Its number alone is no proof that it is of this history: another machine may share the folder.
            if let Err(error) = self.remove_temporary_file(&path, |journal, digest, _| journal.has_content(digest)) {
                tracing::warn!(%error, "a temporary file was not removed");
            }
        }
    }

    /// Removes a temporary file if it `is_needless` by its text and its batch, and says whether it was. `None` where it is gone.
    fn remove_temporary_file(
        &mut self,
        path: &str,
        is_needless: impl Fn(&Journal, Digest, u64) -> Result<bool, VaultError>,
    ) -> Result<Option<bool>, VaultError> {
        let io = |error| VaultError::io("remove a temporary file", None, error);
        let (folder, name) = match open_parent(&self.vault.dir, path) {
            Err(error) if disk::is_gone(&error) => return Ok(None),
            opened => opened.map_err(io)?,
        };
        let Some(digest) = digest_of(&folder, name).map_err(io)? else { return Ok(None) };
        let is_needless = is_needless(&self.core()?.journal, digest, batch_of(name))?;
        if is_needless {
            folder.remove_file(name).map_err(io)?;
        }
        Ok(Some(is_needless))
    }
}

impl Journal {
    /// Whether a content is kept.
    fn has_content(&self, digest: Digest) -> Result<bool, VaultError> {
        let mut statement = self.db.prepare_cached("SELECT 1 FROM content WHERE digest = ?1")?;
        Ok(statement.exists([digest.as_bytes()])?)
    }

    /// Whether nothing of a batch was carried out.
    fn is_given_up(&self, batch: u64) -> Result<bool, VaultError> {
        let sql = "SELECT 1 FROM batch WHERE id = ?1 AND state = ?2 AND id NOT IN (SELECT batch FROM step)";
        let mut statement = self.db.prepare_cached(sql)?;
        Ok(statement.exists(params![batch, State::Aborted.code()])?)
    }
}

/// Whether a folder beside those of machines is a damaged history that was put aside, by its name.
#[must_use]
pub fn is_put_aside(name: &str) -> bool {
    name.rsplit_once(MARK).is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
