//! `.memdir/`: the lock and the folder of this machine's state, checked before anything in it is used.
//!
//! A folder that somebody sent may hold any `.memdir/`. SQLite opens by path, so a link planted here would be the
//! one way out of the memory: every component is opened by handle first, has to be a real folder or file of the
//! user's own, and SQLite is told to refuse links on top. `proof` compares what it opened.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, DirBuilder, File, Metadata};

use super::audit::random;
use super::error::GONE;
use super::{VaultError, disk};

/// The folder beside the notes.
pub(super) const FOLDER: &str = ".memdir";
/// What keeps deleted sentences out of a repository.
const IGNORE: &str = ".gitignore";
/// The file that writers lock.
pub(super) const LOCK: &str = "lock";
/// The database of the journal, the history and the audit.
pub(super) const HISTORY: &str = "history.sqlite";
/// What SQLite writes beside it.
pub(super) const WRITE_AHEAD_LOG: &str = "history.sqlite-wal";
/// What connections share.
pub(super) const SHARED: &str = "history.sqlite-shm";
/// The files that a connection has open, the database first.
pub(super) const FILES: [&str; 3] = [HISTORY, WRITE_AHEAD_LOG, SHARED];

/// The folder of the proposals that wait.
pub(super) const INBOX: &str = "inbox";
/// The folder of the conversations that are kept.
pub(super) const SESSIONS: &str = "sessions";

/// Where the state of a machine belongs.
#[derive(Debug)]
pub(super) struct Home<'v> {
    /// The memory.
    pub(super) root: &'v Dir,
    /// The canonical path of the memory, for SQLite alone.
    pub(super) root_path: &'v Path,
    /// The name of this machine's folder.
    pub(super) machine: &'v str,
    /// A folder to use instead of `.memdir` for all but the lock, and its canonical path.
    pub(super) elsewhere: Option<(&'v Dir, &'v Path)>,
}

/// The state of this machine, opened.
#[derive(Debug)]
pub(super) struct StateFolder {
    /// `.memdir`, which holds the lock.
    memdir: Dir,
    /// The folder with the database.
    machine: Dir,
    /// The path of `machine`, for SQLite alone.
    path: PathBuf,
    /// The identities of `.memdir`, the machine's folder and the database when they were opened.
    identities: [Option<(u64, u64)>; 3],
}

impl Home<'_> {
    /// The folder that holds the one of this machine, and its path.
    pub(super) fn parent<'a>(&'a self, memdir: &'a Dir) -> (&'a Dir, PathBuf) {
        match self.elsewhere {
            Some((folder, path)) => (folder, path.to_owned()),
            None => (memdir, self.root_path.join(FOLDER)),
        }
    }
}

impl StateFolder {
    /// Opens the state folder; `None` when this machine has written nothing yet.
    ///
    /// # Errors
    ///
    /// [`VaultError::Damaged`] where the database is gone and what it had beside it is not, [`VaultError::Untrusted`], and those of the
    /// system.
    pub(super) fn open(home: &Home<'_>) -> Result<Option<Self>, VaultError> {
        let Some((memdir, folder, path)) = own_folders(home)? else { return Ok(None) };
        Ok(has_database(&folder)?.then(|| Self::of(memdir, folder, path)))
    }

    /// Opens the folder of the conversations, whatever became of the database; `None` where there is none.
    pub(super) fn sessions(home: &Home<'_>) -> Result<Option<Dir>, VaultError> {
        let Some((_, folder, _)) = own_folders(home)? else { return Ok(None) };
        check_own_files(&folder)?;
        open_own_folder(&folder, SESSIONS)
    }

    /// Opens the state folder, and makes what is missing of it.
    pub(super) fn create(home: &Home<'_>) -> Result<Self, VaultError> {
        let io = |error| VaultError::io("make `.memdir`", None, error);
        let memdir = create_own_folder(home.root, FOLDER)?;
        if memdir.symlink_metadata(IGNORE).is_err() {
            write_ignore(&memdir)?;
        }
        let (parent, parent_path) = home.parent(&memdir);
        let folder = create_own_folder(parent, home.machine)?;
        if !has_database(&folder)? {
            // SQLite gives its other files the mode of this one.
            match disk::create_name(&folder, HISTORY, 0o600).and_then(|file| file.sync_all()) {
                // Another process was first; its files are checked like any others.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => drop(check_own_files(&folder)?),
                other => other.map_err(io)?,
            }
            disk::sync_folder(&folder).map_err(io)?;
            disk::sync_folder(parent).map_err(io)?;
            disk::sync_folder(&memdir).map_err(io)?;
            disk::sync_folder(home.root).map_err(io)?;
        }
        let path = parent_path.join(home.machine);
        Ok(Self::of(memdir, folder, path))
    }

    fn of(memdir: Dir, machine: Dir, path: PathBuf) -> Self {
        let of_folder = |folder: &Dir| folder.dir_metadata().ok().map(|metadata| disk::identity(&metadata));
        let identities = [of_folder(&memdir), of_folder(&machine), identity_in(&machine, HISTORY)];
        Self { memdir, machine, path, identities }
    }

    /// Whether the names in the memory still lead to what was opened.
    pub(super) fn is_current(&self, home: &Home<'_>) -> bool {
        let parent = home.elsewhere.map_or(&self.memdir, |(folder, _)| folder);
        let now =
            [identity_in(home.root, FOLDER), identity_in(parent, home.machine), identity_in(&self.machine, HISTORY)];
        now == self.identities
    }

    /// The identity of one of [`FILES`] below the handle.
    pub(super) fn identity_of(&self, name: &str) -> Option<(u64, u64)> {
        identity_in(&self.machine, name)
    }

    /// The identity of the file to which its path leads; `None` where the system cannot say.
    pub(super) fn identity_by_path(&self, name: &str) -> Option<(u64, u64)> {
        #[cfg(unix)]
        {
            // A missing file has an identity that no file has.
            Some(disk::identity_by_path(&self.path.join(name)).unwrap_or((0, 0)))
        }
        #[cfg(not(unix))]
        {
            // No folder changes its name here while a file below it is open.
            let _ = name;
            None
        }
    }

    /// The folders in which its files are.
    pub(super) fn folders(&self) -> [&Dir; 2] {
        [&self.memdir, &self.machine]
    }

    /// Checks that the history can be written: a connection that is open goes on where that was forbidden since, and what it writes
    /// cannot be flushed.
    pub(super) fn check_writable(&self) -> Result<(), VaultError> {
        disk::check_writable(&self.machine, HISTORY).map_err(|error| VaultError::io("write the history", None, error))
    }

    /// The folder of this machine.
    pub(super) fn machine(&self) -> &Dir {
        &self.machine
    }

    /// Whether git leaves the state of a memory alone.
    pub(super) fn is_ignored_by_git(root: &Dir) -> bool {
        let read = root.open_dir_nofollow(FOLDER).and_then(|memdir| memdir.read_to_string(".gitignore"));
        read.is_ok_and(|text| text.lines().any(|line| line.trim() == "*"))
    }

    /// Whether the database was emptied: one that is being made has no log and no folders beside it yet. SQLite would begin a new
    /// one without a word.
    pub(super) fn is_emptied(&self) -> bool {
        // These are looked at first, for another process may be making all of it.
        has_traces(&self.machine) && self.is_empty()
    }

    /// Makes the folder of the inbox, which shows that the history has its tables. Best effort.
    pub(super) fn show_made(&self) {
        if self.machine.symlink_metadata(INBOX).is_err() {
            let _ = create_own_folder(&self.machine, INBOX);
        }
    }

    /// Whether nothing was ever written to the database.
    pub(super) fn is_empty(&self) -> bool {
        self.machine.symlink_metadata(HISTORY).is_ok_and(|metadata| metadata.len() == 0)
    }

    /// The path of the database, which SQLite opens without following links.
    pub(super) fn history_path(&self) -> PathBuf {
        self.path.join(HISTORY)
    }

    /// The write-ahead log, to be flushed.
    pub(super) fn log_file(&self) -> Result<LogFile, VaultError> {
        let folder = self.machine.try_clone().map_err(|error| VaultError::io("open `.memdir`", None, error))?;
        Ok(LogFile { folder, name: WRITE_AHEAD_LOG, is_new: self.log_mark().is_none() })
    }

    /// The size and time of the write-ahead log, which change when another connection writes.
    pub(super) fn log_mark(&self) -> Option<(u64, std::time::SystemTime)> {
        let metadata = self.machine.symlink_metadata(WRITE_AHEAD_LOG).ok()?;
        Some((metadata.len(), metadata.modified().ok()?.into_std()))
    }

    /// Opens the file that writers lock.
    pub(super) fn lock_file(&self) -> Result<File, VaultError> {
        open_lock(&self.memdir)
    }

    /// Checks that the lock, while it is held, cannot be taken again, as another process would try to.
    pub(super) fn check_locks(&self) -> Result<(), VaultError> {
        let other = self.lock_file()?.into_std();
        if other.try_lock().is_ok() { Err(VaultError::NoLocks) } else { Ok(()) }
    }

    /// Removes the files of a database that this drive cannot hold. Best effort: it is empty.
    pub(super) fn discard(&self, home: &Home<'_>) {
        let _ = self.machine.remove_file("history.sqlite-journal");
        FILES.iter().rev().for_each(|name| drop(self.machine.remove_file(name)));
        let _ = home.elsewhere.map_or(&self.memdir, |(folder, _)| folder).remove_dir(home.machine);
    }
}

/// Opens the file in `.memdir` that writers lock.
pub(super) fn open_lock(memdir: &Dir) -> Result<File, VaultError> {
    let io = |error: io::Error| match disk::is_link_error(&error) {
        true => VaultError::Untrusted("it holds a link, a pipe or a folder where a file belongs"),
        false => VaultError::io("open the lock", None, error),
    };
    match disk::create_name(memdir, LOCK, 0o600) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let file = disk::open_name(memdir, LOCK).map_err(io)?;
            check_own_file(&file.metadata().map_err(io)?)?;
            Ok(file)
        }
        other => other.map_err(io),
    }
}

fn identity_in(folder: &Dir, name: &str) -> Option<(u64, u64)> {
    folder.symlink_metadata(name).ok().map(|metadata| disk::identity(&metadata))
}

/// Makes [`IGNORE`] in one instant: an empty one that a crash left would never be filled.
fn write_ignore(memdir: &Dir) -> Result<(), VaultError> {
    // A name of its own, so that no other process takes the file away while it is written.
    let name = format!(".gitignore-{:032x}.tmp", u128::from_le_bytes(random()?));
    let write = || {
        let mut ignore = disk::create_name(memdir, &name, 0o600)?;
        ignore.write_all(b"*\n")?;
        ignore.sync_all()?;
        match disk::rename_new(memdir, &name, memdir, IGNORE) {
            // Another process was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => memdir.remove_file(&name),
            other => other,
        }
    };
    write().map_err(|error| VaultError::io("make `.memdir`", None, error))
}

pub(super) fn open_own_folder(parent: &Dir, name: &str) -> Result<Option<Dir>, VaultError> {
    let folder = match parent.open_dir_nofollow(name) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if disk::is_link_error(&error) || error.kind() == io::ErrorKind::NotADirectory => {
            return Err(VaultError::Untrusted("it is a link or a file where a folder belongs"));
        }
        Err(error) => return Err(VaultError::io("open `.memdir`", None, error)),
    };
    let metadata = folder.dir_metadata().map_err(|error| VaultError::io("look at `.memdir`", None, error))?;
    if !is_own(&metadata) {
        return Err(VaultError::Untrusted("it belongs to somebody else"));
    }
    Ok(Some(folder))
}

pub(super) fn create_own_folder(parent: &Dir, name: &str) -> Result<Dir, VaultError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use cap_std::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match parent.create_dir_with(name, &builder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(VaultError::io("make `.memdir`", None, error));
        }
        _ => {}
    }
    open_own_folder(parent, name)?.ok_or(VaultError::Untrusted(GONE))
}

/// Opens `.memdir` and the folder of this machine in it, or elsewhere, and gives the path of that.
fn own_folders(home: &Home<'_>) -> Result<Option<(Dir, Dir, PathBuf)>, VaultError> {
    let Some(memdir) = open_own_folder(home.root, FOLDER)? else { return Ok(None) };
    let (parent, path) = home.parent(&memdir);
    let path = path.join(home.machine);
    Ok(open_own_folder(parent, home.machine)?.map(|folder| (memdir, folder, path)))
}

/// Whether something is there that is made beside a database with tables, and not before it.
fn has_traces(folder: &Dir) -> bool {
    [WRITE_AHEAD_LOG, INBOX, SESSIONS].into_iter().any(|name| folder.symlink_metadata(name).is_ok())
}

/// Checks the files that SQLite will open; false when there is no database yet, and an error where there was one.
fn has_database(folder: &Dir) -> Result<bool, VaultError> {
    // Before and after: another process may be making all of it, or removing what a drive cannot hold.
    let had_traces = has_traces(folder);
    if check_own_files(folder)? {
        return Ok(true);
    }
    if had_traces && has_traces(folder) {
        return Err(VaultError::Damaged("it is gone, and what is beside it says that it was there".to_owned()));
    }
    Ok(false)
}

/// Checks the files that SQLite will open, and says whether there is a database.
fn check_own_files(folder: &Dir) -> Result<bool, VaultError> {
    let mut is_there = false;
    for name in FILES.into_iter().chain(["history.sqlite-journal"]) {
        match folder.symlink_metadata(name) {
            Ok(metadata) => {
                check_own_file(&metadata)?;
                is_there |= name == HISTORY;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(VaultError::io("look at `.memdir`", None, error)),
        }
    }
    Ok(is_there)
}

pub(super) fn check_own_file(metadata: &Metadata) -> Result<(), VaultError> {
    if !metadata.is_file() {
        return Err(VaultError::Untrusted("it holds a link, a pipe or a folder where a file belongs"));
    }
    // A second name of the same file could lie anywhere.
    if cap_fs_ext::MetadataExt::nlink(metadata) > 1 {
        return Err(VaultError::Untrusted("it holds a file that has a second name elsewhere"));
    }
    if is_own(metadata) { Ok(()) } else { Err(VaultError::Untrusted("it holds a file that belongs to somebody else")) }
}

fn is_own(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        metadata.uid() == rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        true
    }
}

/// The write-ahead log as a file.
///
/// It is flushed by its own handle and not by SQLite, which flushes the log's folder too with the first commit of
/// every connection: one more flush, and one more wave, in each process.
#[derive(Debug)]
pub(super) struct LogFile {
    /// The folder it is in.
    folder: Dir,
    /// Its name.
    name: &'static str,
    /// Whether its name may not be on the disk yet.
    is_new: bool,
}

impl LogFile {
    pub(super) fn flush(&mut self) -> Result<(), VaultError> {
        let io = |error| VaultError::io("flush the history", None, error);
        disk::open_to_flush(&self.folder, self.name).and_then(|file| file.sync_data()).map_err(io)?;
        if self.is_new {
            disk::sync_folder(&self.folder).map_err(io)?;
            self.is_new = false;
        }
        Ok(())
    }
}
