//! What the vault can tell of itself and of the file system it is on.

use super::state::StateFolder;
use super::{Vault, VaultError, disk};

/// What [`Vault::examine`] found.
#[derive(Debug)]
pub struct Exam {
    /// Whether there is a history.
    pub has_history: bool,
    /// How many batches it has.
    pub batches: u64,
    /// Whether files can be made in the memory.
    pub can_write: bool,
    /// Whether two names can change places in one step.
    pub can_exchange: bool,
    /// Whether git leaves `.memdir` alone.
    pub is_ignored_by_git: bool,
    /// Whether a commit is flushed.
    pub is_durable: bool,
    /// Whether the lock is free, and what is wrong if it is not.
    pub lock: Result<(), VaultError>,
}

impl Vault {
    /// Looks at the history, with every content that is kept, and at what this file system can do.
    ///
    /// Makes two hidden files in the memory for a moment, and leaves none.
    ///
    /// # Errors
    ///
    /// Why the history cannot be opened; [`VaultError::Damaged`] when there is a fault in it.
    pub fn examine(&self) -> Result<Exam, VaultError> {
        let core = match self.known_core() {
            // Where nobody may write, there is nothing to write to.
            Err(error) if error.is_no_access() => self.core(self.options.lock_timeout)?,
            core => core?,
        };
        let mut exam = Exam {
            has_history: core.is_some(),
            batches: 0,
            can_write: false,
            can_exchange: false,
            is_ignored_by_git: true,
            is_durable: self.is_durable(),
            lock: Ok(()),
        };
        if let Some(core) = core.as_ref() {
            let fault: String = core.journal.db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            let mut faults = if fault == "ok" { Vec::new() } else { vec![fault] };
            core.journal.check_kept(&mut |fault| faults.push(fault))?;
            if let Some(fault) = faults.into_iter().next() {
                return Err(VaultError::Damaged(fault));
            }
            let sql = "SELECT count(*) FROM batch WHERE state IN (2, 3)";
            exam.batches = core.journal.db.query_row(sql, [], |row| row.get(0))?;
            exam.lock = match core.lock.try_lock() {
                Ok(()) => {
                    let checked = core.folder.check_locks();
                    let unlocked = core.lock.unlock();
                    checked.and(unlocked.map_err(|error| VaultError::io("unlock the memory", None, error)))
                }
                Err(_) => Err(VaultError::Busy),
            };
            exam.is_ignored_by_git = StateFolder::is_ignored_by_git(&self.dir);
        }
        (exam.can_write, exam.can_exchange) = self.try_exchange();
        Ok(exam)
    }

    fn try_exchange(&self) -> (bool, bool) {
        let names = [".memdir-doctor-0.tmp", ".memdir-doctor-1.tmp"];
        let can_write = names.iter().all(|name| disk::create_name(&self.dir, name, 0o600).is_ok());
        let replaced = disk::replace(&self.dir, names[0], &self.dir, names[1]);
        for name in names {
            // One of the two may be gone by now.
            let _ = self.dir.remove_file(name);
        }
        (can_write, can_write && matches!(replaced, Ok(disk::Replaced::Exchanged)))
    }
}
