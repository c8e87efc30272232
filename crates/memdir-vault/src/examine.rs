//! Examining the vault and the file system it is on, for `doctor`.

use std::path::Path;

use cap_fs_ext::DirExt;

use super::contents::load;
use super::journal::{Journal, State};
use super::state::{FOLDER, HISTORY, INBOX, LOCK, StateFolder, check_own_file, open_own_folder};
use super::{Vault, VaultError, disk};
use memdir_plan::Content;

/// What [`Vault::examine`] found.
#[derive(Debug)]
pub struct Examination {
    /// Whether there is a history.
    pub has_history: bool,
    /// Why it cannot be opened, where a permission is missing.
    pub closed: Option<VaultError>,
    /// How many batches it has.
    pub batches: u64,
    /// The newest batch, where a crash has left it unfinished and nobody is at work on it.
    pub unfinished: Option<u64>,
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
    /// Looks at the history, with all that [`Vault::account`] looks at, and at what this file system can do.
    ///
    /// Makes two hidden files in the memory for a moment, and leaves none.
    ///
    /// # Errors
    ///
    /// Why the history cannot be opened; [`VaultError::Damaged`] when there is a fault in it.
    pub fn examine(&self) -> Result<Examination, VaultError> {
        let (is_there, closed) = match self.known_core() {
            // The notes can still be read where the history may not be opened.
            Err(error) if error.is_no_access() => (false, Some(error)),
            core => (core?.is_some(), None),
        };
        let mut exam = Examination {
            has_history: is_there,
            closed,
            batches: 0,
            unfinished: None,
            can_write: false,
            can_exchange: false,
            is_ignored_by_git: true,
            is_durable: self.is_durable(),
            lock: Ok(()),
        };
        if is_there && let Some(problem) = self.account(None)?.problems.into_iter().next() {
            let place = problem.seq.map_or_else(String::new, |seq| format!("entry {seq}: "));
            return Err(VaultError::Damaged(format!("{place}{}", problem.message)));
        }
        let core = if is_there { Some(self.known_core()?) } else { None };
        if let Some(core) = core.as_ref().and_then(|core| core.as_ref()) {
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
            let is_cut = |state| matches!(state, State::Committed | State::Aborting);
            let newest = if exam.lock.is_ok() { core.journal.newest()? } else { None };
            exam.unfinished = newest.filter(|(_, state)| is_cut(*state)).map(|(batch, _)| batch);
            exam.is_ignored_by_git = StateFolder::is_ignored_by_git(&self.dir);
        }
        (exam.can_write, exam.can_exchange) = self.try_exchange();
        Ok(exam)
    }

    /// The path of something foreign in the place of `.memdir`, its lock or the inbox, which a new history would not help with.
    /// The person has to remove it.
    #[must_use]
    pub fn obstacle(&self) -> Option<String> {
        let is_untrusted = |opened: Result<(), VaultError>| matches!(opened, Err(VaultError::Untrusted(_)));
        let memdir = open_own_folder(&self.dir, FOLDER);
        let Ok(memdir) = memdir else { return is_untrusted(memdir.map(drop)).then(|| FOLDER.to_owned()) };
        let memdir = memdir?;
        // Nothing is made here: a missing lock is no obstacle.
        if let Ok(lock) = memdir.symlink_metadata(LOCK)
            && is_untrusted(check_own_file(&lock))
        {
            return Some(format!("{FOLDER}/{LOCK}"));
        }
        let (home, machine) = (self.home(), &self.options.machine);
        let (parent, path) = home.parent(&memdir);
        let folder = open_own_folder(parent, machine).ok().flatten()?;
        let is_inside = self.elsewhere().is_none();
        let inbox = if is_inside { Path::new(FOLDER).join(machine) } else { path.join(machine) }.join(INBOX);
        is_untrusted(open_own_folder(&folder, INBOX).map(drop)).then(|| inbox.display().to_string())
    }

    /// The histories of other machines, of other users of this one, and those put aside, by their paths in the memory: nothing here undoes
    /// what they hold.
    #[must_use]
    pub fn other_histories(&self) -> Vec<String> {
        let Ok(Some(memdir)) = open_own_folder(&self.dir, FOLDER) else { return Vec::new() };
        let Ok(entries) = memdir.entries() else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let is_here = self.elsewhere().is_none();
        let others = names.filter(|name| !is_here || *name != self.options.machine);
        let holds_one =
            |name: &String| memdir.open_dir_nofollow(name).is_ok_and(|folder| folder.symlink_metadata(HISTORY).is_ok());
        others.filter(holds_one).map(|name| format!("{FOLDER}/{name}/{HISTORY}")).collect()
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

impl Journal {
    /// Reads every content that is kept, each once, and every step, and reports what is not as it was written.
    pub(super) fn check_kept(&self, report: &mut dyn FnMut(String)) -> Result<(), VaultError> {
        let mut statement = self.db.prepare("SELECT id, batch FROM content ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match load(&self.db, row.get(0)?) {
                Err(VaultError::Damaged(_)) => {
                    report(format!("a content of batch {} is not what was stored", row.get::<_, i64>(1)?));
                }
                other => drop(other?),
            }
        }
        let nothing = Content::new(&b""[..]);
        let mut statement = self.db.prepare("SELECT id FROM batch WHERE state IN (2, 3) ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let batch = row.get(0)?;
            match self.steps_with(batch, &|_| Ok(nothing.clone())) {
                Err(VaultError::Damaged(fault)) => report(format!("batch {batch}: {fault}")),
                Err(VaultError::Pruned(_)) => {}
                other => drop(other?),
            }
        }
        Ok(())
    }
}
