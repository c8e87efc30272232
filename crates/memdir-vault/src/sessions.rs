//! Sessions: one file for each kept conversation, as lines.
//!
//! Owns the folder of those files, their names, their locks, and that a line is there whole or not at all. Knows nothing of
//! what the lines say. The journal keeps a key for each session, with which the agent seals its lines. A file is locked while
//! a message is answered, so that two processes never write into one session at once; between messages any process may go on
//! with it, and sees by its [`SessionMark`] that another one did.

use std::io::{self, Read, Write};
use std::time::Duration;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};
use rusqlite::OptionalExtension;

use super::audit::random;
use super::journal::{Flush, Journal};
use super::state::{SESSIONS, StateFolder, check_own_file, create_own_folder};
use super::{LockFile, Vault, VaultError, disk};
use memdir_core::time::Timestamp;

/// How the names of the files end.
const ENDING: &str = ".jsonl";
/// How the names of files end that are about to replace a session; they begin with a dot.
const TEMPORARY: &str = ".tmp";
/// A session with more bytes cannot be continued.
pub const MOST_SESSION_BYTES: u64 = 16 << 20;
/// The longest name of a session, in hexadecimal digits.
const MAX_ID: usize = 32;
/// How the names of session keys begin in the journal's `meta`.
const SESSION: &str = "session:";
/// How often a file is opened anew that is replaced meanwhile.
const ATTEMPTS: usize = 3;

/// A session that is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionInfo {
    /// Its name.
    pub id: String,
    /// When something was last written to it.
    pub changed: Timestamp,
    /// How large its file is.
    pub bytes: u64,
}

/// Shows whether the file of a session has changed since it was last open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionMark {
    identity: (u64, u64),
    bytes: u64,
}

/// The secret key of a session, which only the journal and the agent know.
pub type SessionKey = [u8; 16];

/// How long to wait for a session: a program that this one starts holds its files for a moment too.
const PATIENCE: Duration = Duration::from_millis(300);

/// The file of a session, locked as long as this lives.
#[derive(Debug)]
pub struct SessionFile {
    folder: Dir,
    name: String,
    file: LockFile,
    mark: SessionMark,
    is_durable: bool,
}

impl Vault {
    /// Makes the file of a session, and `.memdir/` where it is missing. Removes sessions that nobody has continued for as long as
    /// contents are kept, counted from [`Vault::settled_time`].
    ///
    /// # Errors
    ///
    /// [`VaultError::NoWriteAccess`] and others of the system, also where a session of this name exists.
    pub fn begin_session(&self, id: &str, now: Timestamp) -> Result<SessionFile, VaultError> {
        check_id(id)?;
        let io = |error| VaultError::io("begin a session", None, error);
        if self.known_core()?.is_none() {
            // Taking the lock makes what is missing.
            drop(self.lock()?);
        }
        let state = StateFolder::create(&self.home())?;
        let folder = create_own_folder(state.machine(), SESSIONS)?;
        self.prune_sessions(&folder, now);
        let name = format!("{id}{ENDING}");
        disk::create_name(&folder, &name, 0o600).map_err(io)?;
        self.note_session(id).inspect_err(|_| {
            // Best effort: without a key nobody continues it.
            let _ = folder.remove_file(&name);
        })?;
        if self.is_durable() {
            disk::sync_folder(&folder).map_err(io)?;
        }
        self.lock_session(folder, id, PATIENCE)
    }

    /// The key of a session that this history has begun and not removed; `None` for any other.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn session_key(&self, id: &str) -> Result<Option<SessionKey>, VaultError> {
        check_id(id)?;
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(None) };
        let mut statement = core.journal.db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        Ok(statement.query_row([key_of(id)], |row| row.get(0)).optional()?)
    }

    /// Makes a key for a session that begins.
    fn note_session(&self, id: &str) -> Result<(), VaultError> {
        let key: SessionKey = random()?;
        self.with_journal(|journal| {
            journal.transaction(Flush::Yes, |transaction| {
                let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
                transaction.execute(sql, (key_of(id), key))?;
                Ok(())
            })
        })
    }

    /// Deletes the key of a session that was removed: a later file of its name is another session.
    fn forget_session(&self, id: &str) {
        let forgotten = self.with_journal(|journal| {
            journal.transaction(Flush::No, |transaction| {
                transaction.execute("DELETE FROM meta WHERE key = ?1", [key_of(id)])?;
                Ok(())
            })
        });
        if let Err(error) = forgotten {
            tracing::warn!(%error, "the key of a session that was removed stays");
        }
    }

    fn with_journal<T>(&self, work: impl FnOnce(&mut Journal) -> Result<T, VaultError>) -> Result<T, VaultError> {
        let mut core = self.reopened(self.core(self.options.lock_timeout)?)?;
        work(&mut core.as_mut().ok_or(VaultError::NoWriteAccess(None))?.journal)
    }

    /// Opens a session to go on with it.
    ///
    /// # Errors
    ///
    /// [`VaultError::NoSession`], [`VaultError::InSession`] while another process answers in it.
    pub fn open_session(&self, id: &str) -> Result<SessionFile, VaultError> {
        check_id(id)?;
        let folder = self.session_folder()?.ok_or_else(|| VaultError::NoSession(id.to_owned()))?;
        self.lock_session(folder, id, PATIENCE)
    }

    /// Reads the whole lines of a session, and takes no lock; `None` where there is no such session.
    ///
    /// # Errors
    ///
    /// [`VaultError::LongSession`], what the system says.
    pub fn read_session(&self, id: &str) -> Result<Option<Vec<u8>>, VaultError> {
        let bytes = self.session_bytes(id)?;
        Ok(bytes.map(|mut bytes| {
            bytes.truncate(whole(&bytes));
            bytes
        }))
    }

    /// As [`Vault::read_session`], with an unfinished line that a crash has left.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn session_bytes(&self, id: &str) -> Result<Option<Vec<u8>>, VaultError> {
        check_id(id)?;
        let io = |error| VaultError::io("read a session", None, error);
        let Some(folder) = self.session_folder()? else { return Ok(None) };
        let file = match disk::open_name(&folder, &format!("{id}{ENDING}")) {
            Err(error) if disk::is_gone(&error) => return Ok(None),
            file => file.map_err(io)?,
        };
        check_own_file(&file.metadata().map_err(io)?)?;
        read_whole(&mut file.into_std(), id).map(Some)
    }

    /// The sessions that are kept, the newest first. Makes nothing.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>, VaultError> {
        let io = |error| VaultError::io("look into the sessions", None, error);
        match self.session_folder()? {
            Some(folder) => list(&folder).map_err(io),
            None => Ok(Vec::new()),
        }
    }

    /// Removes a session.
    ///
    /// # Errors
    ///
    /// As [`Vault::open_session`], but for the length.
    pub fn remove_session(&self, id: &str) -> Result<(), VaultError> {
        self.open_session(id)?.remove()?;
        self.forget_session(id);
        Ok(())
    }

    /// Removes what killed processes have left in the folder of sessions: unfinished lines, and files that should have replaced
    /// others. A session that is in use is passed over. Says whether there was anything.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn sweep_sessions(&self) -> Result<bool, VaultError> {
        let io = |error| VaultError::io("look into the sessions", None, error);
        let Some(folder) = self.session_folder()? else { return Ok(false) };
        let mut is_swept = self.sweep_temporaries(&folder).map_err(io)?;
        for kept in list(&folder).map_err(io)? {
            let locked = self.lock_session(folder.try_clone().map_err(io)?, &kept.id, Duration::ZERO);
            if let Ok(mut session) = locked {
                let before = session.mark().bytes;
                is_swept |= session.read().is_ok_and(|lines| (lines.len() as u64) < before);
            }
        }
        Ok(is_swept)
    }

    /// Removes files that should have replaced sessions, and says whether there were any.
    fn sweep_temporaries(&self, folder: &Dir) -> io::Result<bool> {
        let mut is_swept = false;
        for entry in folder.entries()? {
            let name = entry?.file_name();
            let beside = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(TEMPORARY));
            let Some(id) = beside.filter(|id| is_id(id)) else { continue };
            // Only the holder of a session writes beside it.
            if let Ok(_) | Err(VaultError::NoSession(_)) = self.lock_session(folder.try_clone()?, id, Duration::ZERO) {
                folder.remove_file(&name)?;
                is_swept = true;
            }
        }
        Ok(is_swept)
    }

    /// The folder, opened without the database: a caller that holds the lock of the memory looks into it, too.
    fn session_folder(&self) -> Result<Option<Dir>, VaultError> {
        StateFolder::sessions(&self.home())
    }

    /// Opens a file by its name and locks it; opens it anew where it was replaced before it was locked.
    fn lock_session(&self, folder: Dir, id: &str, patience: Duration) -> Result<SessionFile, VaultError> {
        let io = |error: io::Error| match disk::is_link_error(&error) {
            true => VaultError::Untrusted("it holds a link where a file belongs"),
            false => VaultError::io("open a session", None, error),
        };
        let name = format!("{id}{ENDING}");
        for _ in 0..ATTEMPTS {
            let file = match open_to_append(&folder, &name) {
                Err(error) if disk::is_gone(&error) => return Err(VaultError::NoSession(id.to_owned())),
                file => file.map_err(io)?,
            };
            let metadata = file.metadata().map_err(io)?;
            check_own_file(&metadata)?;
            let file = file.into_std();
            super::acquire(&file, patience).map_err(|error| match error {
                VaultError::Busy => VaultError::InSession(id.to_owned()),
                other => other,
            })?;
            let identity = disk::identity(&metadata);
            let is_it = folder.symlink_metadata(&name).is_ok_and(|now| disk::identity(&now) == identity);
            if is_it {
                let bytes = file.metadata().map_err(io)?.len();
                let mark = SessionMark { identity, bytes };
                return Ok(SessionFile { folder, name, file, mark, is_durable: self.is_durable() });
            }
        }
        Err(VaultError::InSession(id.to_owned()))
    }

    /// Removes sessions that are too old and not in use. A failure is only logged; the next session that begins tries again.
    fn prune_sessions(&self, folder: &Dir, now: Timestamp) {
        if let Err(error) = self.sweep_temporaries(folder) {
            tracing::warn!(%error, "what was left beside sessions was not removed");
        }
        let mut kept = list(folder).unwrap_or_default();
        let keep_for = self.options.keep_for;
        kept.retain(|kept| kept.changed < now.minus(keep_for));
        if kept.is_empty() {
            return;
        }
        let settled = self.settled_time(now).unwrap_or_else(|error| {
            tracing::warn!(%error, "old sessions were not removed");
            None
        });
        let Some(oldest) = settled.map(|time| time.minus(keep_for)) else { return };
        for kept in kept.into_iter().filter(|kept| kept.changed < oldest) {
            if let Err(error) = self.prune_session(folder, &kept.id, oldest) {
                tracing::warn!(%error, "an old session was not removed");
            }
        }
    }

    /// Removes a session if it is still too old once it is locked.
    fn prune_session(&self, folder: &Dir, id: &str, oldest: Timestamp) -> Result<(), VaultError> {
        let io = |error| VaultError::io("look at an old session", None, error);
        let session = self.lock_session(folder.try_clone().map_err(io)?, id, Duration::ZERO)?;
        let changed = session.file.metadata().and_then(|metadata| metadata.modified()).map_err(io)?;
        if Timestamp::from(changed) >= oldest {
            return Ok(());
        }
        session.remove()?;
        self.forget_session(id);
        Ok(())
    }
}

impl SessionFile {
    /// What the file is now, to be compared when it is opened the next time.
    #[must_use]
    pub fn mark(&self) -> SessionMark {
        self.mark
    }

    /// Reads the lines, and cuts off one that a crash has left unfinished.
    ///
    /// # Errors
    ///
    /// [`VaultError::LongSession`], what the system says.
    pub fn read(&mut self) -> Result<Vec<u8>, VaultError> {
        let io = |error| VaultError::io("read a session", None, error);
        io::Seek::rewind(&mut self.file).map_err(io)?;
        let id = self.id().to_owned();
        let mut bytes = read_whole(&mut self.file, &id)?;
        let whole = whole(&bytes);
        if whole < bytes.len() {
            self.file.set_len(whole as u64).map_err(io)?;
            bytes.truncate(whole);
        }
        self.mark.bytes = whole as u64;
        Ok(bytes)
    }

    /// Adds a line, flushed. `line` has no line break.
    ///
    /// # Errors
    ///
    /// [`VaultError::LongSession`] where it would be too long to be read again, and what the system says; the line is not there
    /// then.
    pub fn append(&mut self, line: &[u8]) -> Result<(), VaultError> {
        let mut ended = line.to_vec();
        ended.push(b'\n');
        if self.mark.bytes.saturating_add(ended.len() as u64) > MOST_SESSION_BYTES {
            return Err(VaultError::LongSession(self.id().to_owned()));
        }
        let write = |file: &mut LockFile| {
            file.write_all(&ended)?;
            if self.is_durable { file.sync_data() } else { Ok(()) }
        };
        if let Err(error) = write(&mut self.file) {
            // Best effort: the next reader drops an unfinished line.
            let _ = self.file.set_len(self.mark.bytes);
            return Err(VaultError::io("write to a session", None, error));
        }
        self.mark.bytes += ended.len() as u64;
        Ok(())
    }

    /// Replaces all lines in one instant, flushed. Nothing of the old ones is kept.
    ///
    /// # Errors
    ///
    /// What the system says; the lines are then as they were or as they shall be.
    pub fn replace(self, lines: &[u8]) -> Result<(), VaultError> {
        let temporary = self.temporary();
        let write = || {
            self.remove_temporary()?;
            // The time of the last message stays.
            let modified = self.file.metadata()?.modified()?;
            let mut file = disk::create_name(&self.folder, &temporary, 0o600)?.into_std();
            file.write_all(lines)?;
            file.set_modified(modified)?;
            if self.is_durable {
                file.sync_all()?;
            }
            self.folder.rename(&temporary, &self.folder, &self.name)?;
            if self.is_durable { disk::sync_folder(&self.folder) } else { Ok(()) }
        };
        write().map_err(|error| {
            // Best effort: the next replacement or `forget` removes it first.
            let _ = self.remove_temporary();
            VaultError::io("change a session", None, error)
        })
    }

    /// Removes the session.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn remove(self) -> Result<(), VaultError> {
        let remove = || {
            self.remove_temporary()?;
            self.folder.remove_file(&self.name)?;
            if self.is_durable { disk::sync_folder(&self.folder) } else { Ok(()) }
        };
        remove().map_err(|error| VaultError::io("remove a session", None, error))
    }

    /// The name of the file that is about to replace it.
    fn temporary(&self) -> String {
        format!(".{}{TEMPORARY}", self.id())
    }

    /// Removes that file, if a killed process has left it.
    fn remove_temporary(&self) -> io::Result<()> {
        match self.folder.remove_file(self.temporary()) {
            Err(error) if !disk::is_gone(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn id(&self) -> &str {
        self.name.strip_suffix(ENDING).unwrap_or(&self.name)
    }
}

/// Whether a name can be that of a session: hexadecimal digits.
fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn check_id(id: &str) -> Result<(), VaultError> {
    if is_id(id) { Ok(()) } else { Err(VaultError::NoSession(id.chars().take(MAX_ID).collect())) }
}

fn key_of(id: &str) -> String {
    format!("{SESSION}{id}")
}

fn list(folder: &Dir) -> io::Result<Vec<SessionInfo>> {
    let mut kept = Vec::new();
    for entry in folder.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_suffix(ENDING)).filter(|id| is_id(id)) else {
            continue;
        };
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => {
                let changed = Timestamp::from(metadata.modified()?.into_std());
                kept.push(SessionInfo { id: id.to_owned(), changed, bytes: metadata.len() });
            }
            Ok(_) => {}
            // A file may be removed meanwhile.
            Err(error) if disk::is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    kept.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.id.cmp(&b.id)));
    Ok(kept)
}

fn open_to_append(folder: &Dir, name: &str) -> io::Result<cap_std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).follow(FollowSymlinks::No);
    folder.open_with(name, &options)
}

/// The length of the finished lines, in bytes.
fn whole(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn read_whole(file: &mut LockFile, id: &str) -> Result<Vec<u8>, VaultError> {
    let mut bytes = Vec::new();
    let read = Read::take(file, MOST_SESSION_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| VaultError::io("read a session", None, error))?;
    if bytes.len() as u64 > MOST_SESSION_BYTES { Err(VaultError::LongSession(id.to_owned())) } else { Ok(bytes) }
}
