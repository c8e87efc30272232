//! The disk, and the executor: [`Vault`] owns the one handle through which a memory is touched.
//!
//! Owns reading by handle, the lock, the journal, commits, recovery, the history and the audit. Touches the memory's
//! folder and its `.memdir/`, and nothing else; knows no Markdown and no dialect. `.memdir/` has no
//! [`MemoryPath`], so no action can name it.

mod account;
mod aside;
mod audit;
mod blame;
mod commit;
mod confine;
mod confirm;
mod contents;
mod disk;
mod entries;
mod error;
mod every;
mod examine;
mod feed;
mod forget;
mod history;
mod inbox;
mod journal;
mod marks;
mod moves;
mod past;
mod payload;
mod place;
mod proof;
mod pruned;
mod readers;
mod reads;
mod recent;
mod recover;
mod repair;
mod scan;
mod sessions;
mod sizes;
mod sources;
mod state;
mod stats;
mod sweep;
mod tidied;
mod tool_calls;
mod tree;
mod undone;
mod walk;
mod watch;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use cap_std::fs::Dir;

pub use account::{AuditProblem, AuditRecord, AuditReport};
pub use audit::{AuditEntry, Author, is_message_name, random};
pub use commit::{Batch, CommitPoint, Committed};
pub use entries::{AuditLine, AuditPage, AuditQuery};
pub use error::VaultError;
pub use every::{FileEntry, Region};
pub use examine::Examination;
pub use feed::ChangedPaths;
pub use forget::{HistoryTraces, NoteNames, Replaced};
pub use history::{LogQuery, Recorded};
pub use inbox::{Approval, FiledProposal, Inbox, MOST_WAITING, MOST_WAITING_BYTES, Numbers};
pub use past::{Moment, PastTree};
pub use payload::Payload;
pub use readers::Reader;
pub use repair::{Fault, PutAside, SweptTemporary, is_put_aside};
pub use sessions::{MOST_SESSION_BYTES, SessionFile, SessionInfo, SessionKey, SessionMark};
pub use stats::{LastCall, Stats, Tally, Times};
pub use sweep::Sweep;
pub use tidied::Tidied;
pub use tool_calls::{SENT, ToolFilter, WrittenWith};
pub use watch::{Watch, WatchEvent};

use error::REPLACED;
use journal::Journal;
use memdir_core::path::MemoryPath;
use memdir_core::retry;
use memdir_plan::Step;
use place::TempFolders;
use reads::{Patience, PendingReads};
use sizes::FolderSizes;
use state::{Home, StateFolder};

/// When "saved" is said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// After the bytes are flushed under their final names.
    #[default]
    Full,
    /// Without any flush: a crash of memdir loses nothing, a power cut may. For benches and RAM disks.
    Atomic,
}

/// How a vault works.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of this machine's folder in `.memdir/`, so that two machines that share the folder by a sync
    /// program never write one database.
    pub machine: String,
    /// A folder to keep the state in instead of `.memdir/`, with its canonical path; the lock never moves.
    pub state: Option<OpenedFolder>,
    /// Where the state goes when it turns out, as it is made, that the memory's drive cannot hold it.
    pub spare: Option<Spare>,
    /// When "saved" is said.
    pub durability: Durability,
    /// How long to wait for another process that writes.
    pub lock_timeout: Duration,
    /// Contents older than this go.
    pub keep_for: Duration,
    /// The oldest contents go while they exceed this many bytes, or three times the notes if that is more.
    pub keep_bytes: u64,
}

/// A folder that is made when it is needed.
#[derive(Clone, Debug)]
pub struct Spare {
    /// Its path.
    pub path: PathBuf,
    /// Makes and opens it, and gives its canonical path.
    pub make: fn(&Path) -> io::Result<OpenedFolder>,
}

/// An open folder, and its canonical path.
pub type OpenedFolder = (Arc<Dir>, PathBuf);

impl Default for Options {
    fn default() -> Self {
        Self {
            machine: "local".to_owned(),
            state: None,
            spare: None,
            durability: Durability::Full,
            lock_timeout: Duration::from_secs(10),
            keep_for: Duration::from_secs(90 * 24 * 60 * 60),
            keep_bytes: 100 << 20,
        }
    }
}

/// A step, and what only the disk knows of it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedStep {
    pub(crate) step: Step,
    /// Device and inode of what is moved.
    identity: Option<(u64, u64)>,
}

/// A memory on disk.
///
/// Any folder is one; `.memdir/` appears at the first write. Reads go through the handle and need no lock. Several
/// threads may share a vault and several processes a folder: writers take turns, and nobody who only reads waits for one.
#[derive(Debug)]
pub struct Vault {
    dir: Dir,
    root: PathBuf,
    /// The identity of the folder when it was opened.
    identity: Option<(u64, u64)>,
    options: Options,
    /// Held by the thread that writes, also while it waits for another process.
    core: Mutex<Option<Core>>,
    /// For reads while `core` is taken; opened when it is first needed.
    beside: Mutex<Option<Core>>,
    reads: Mutex<PendingReads>,
    /// How often something was forgotten in this memory, when that was last looked for.
    forgets: AtomicU64,
    /// Temporary files that a walk came by, for the next writer.
    strays: Mutex<BTreeSet<String>>,
    /// Folders that we may not list, which the last walks came by.
    closed: Mutex<walk::ClosedFolders>,
    /// Bytes of all notes, counted before there was a history to keep the sum.
    measured: Mutex<Option<u64>>,
    /// Bytes below folders, while the memory is watched.
    sizes: Arc<FolderSizes>,
    /// The folder of [`Options::spare`], once it was needed.
    spare: OnceLock<OpenedFolder>,
}

/// What the batch of `memdir init` has for a message: a person who undoes the last change does not mean it.
pub const INIT: &str = "init";

/// What a vault that has a history keeps open.
#[derive(Debug)]
struct Core {
    folder: StateFolder,
    lock: LockFile,
    journal: Journal,
    /// What the newest batch of this process displaced, to be removed after its answer.
    leftovers: Option<RecordedBatch>,
    /// The newest batch whose displaced files are removed.
    swept: u64,
    /// What the log was like when the newest batch was last looked at.
    seen: Option<(u64, std::time::SystemTime)>,
}

impl Core {
    /// Folds the write-ahead log into the database when it has grown; only under the lock.
    fn checkpoint(&mut self) -> Result<(), VaultError> {
        if self.log_exceeds(CHECKPOINT_BYTES) { self.journal.checkpoint() } else { Ok(()) }
    }

    fn log_exceeds(&self, most: u64) -> bool {
        self.folder.log_mark().is_some_and(|(bytes, _)| bytes > most)
    }
}

/// Past this size the write-ahead log is folded into the database. Each process that opens the history reads the whole
/// log first, so a larger one slows every start, and a smaller one costs flushes more often.
const CHECKPOINT_BYTES: u64 = 1 << 20;

/// A batch as the journal has it.
#[derive(Clone, Debug)]
struct RecordedBatch {
    number: u64,
    steps: Vec<RecordedStep>,
    places: TempFolders,
}

/// How often the state is opened anew that was exchanged meanwhile.
const ATTEMPTS: usize = 3;

/// Whether the tables of a history are made where there are none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tables {
    Make,
    Leave,
}

/// How long a writer waits for threads that read, if it waits at all.
const MOMENT: Duration = Duration::from_secs(1);

/// The file that writers lock.
#[expect(clippy::disallowed_types, reason = "only the std file can be locked; it comes from the handle")]
type LockFile = std::fs::File;

impl Vault {
    /// Takes the handle of a memory and the canonical path it was opened by, which SQLite needs.
    ///
    /// Touches nothing: notes can be read even if the history is damaged.
    #[must_use]
    pub fn new(dir: Dir, root: PathBuf, options: Options) -> Self {
        let identity = dir.dir_metadata().ok().map(|metadata| disk::identity(&metadata));
        Self {
            dir,
            root,
            identity,
            options,
            core: Mutex::default(),
            beside: Mutex::default(),
            reads: Mutex::default(),
            forgets: AtomicU64::default(),
            strays: Mutex::default(),
            closed: Mutex::default(),
            measured: Mutex::default(),
            sizes: Arc::default(),
            spare: OnceLock::new(),
        }
    }

    /// As [`Vault::new`], for a caller that needs the history.
    ///
    /// Makes nothing. A batch that a crash left unfinished is finished first, if the lock is free.
    ///
    /// # Errors
    ///
    /// [`VaultError::Untrusted`] for a hostile `.memdir/`, [`VaultError::Damaged`] for a history that cannot be read.
    pub fn open(dir: Dir, root: PathBuf, options: Options) -> Result<Self, VaultError> {
        let vault = Self::new(dir, root, options);
        vault.look_after_crash()?;
        Ok(vault)
    }

    /// Checks that the path of the memory still leads to the folder that was opened. One that was moved can still be read and written
    /// through the handle, and nobody would find there what is written. It costs one look at the path.
    ///
    /// # Errors
    ///
    /// [`VaultError::Moved`].
    pub fn check_place(&self) -> Result<(), VaultError> {
        #[cfg(unix)]
        {
            use io::ErrorKind::{NotADirectory, NotFound};
            let is_moved = match disk::identity_by_path(&self.root) {
                Ok(found) => self.identity.is_some_and(|opened| opened != found),
                Err(error) => matches!(error.kind(), NotFound | NotADirectory),
            };
            if is_moved {
                return Err(VaultError::Moved);
            }
        }
        // Elsewhere no folder changes its name while it is open.
        Ok(())
    }

    /// Takes the lock of the memory, makes `.memdir/` if it is missing, and finishes what a crash left unfinished.
    ///
    /// # Errors
    ///
    /// [`VaultError::Busy`] when another thread or process keeps the lock for longer than the options say;
    /// [`VaultError::NoWriteAccess`] where the folder cannot be written; [`VaultError::Moved`].
    pub fn lock(&self) -> Result<Writer<'_>, VaultError> {
        let limit = self.options.lock_timeout;
        // A thread that reads holds it only for a moment.
        self.lock_within(limit.max(MOMENT), limit)
    }

    /// As [`Vault::lock`], without waiting.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn lock_now(&self) -> Result<Writer<'_>, VaultError> {
        self.lock_within(Duration::ZERO, Duration::ZERO)
    }

    /// Waits for other threads, and then for other processes, each for at most its limit.
    fn lock_within(&self, threads: Duration, processes: Duration) -> Result<Writer<'_>, VaultError> {
        self.check_place()?;
        let mut core = self.core(threads)?;
        for _ in 0..ATTEMPTS {
            if core.is_none() {
                *core = Some(self.make_core()?);
            }
            let Some(open) = core.as_ref() else { break };
            acquire(&open.lock, processes)?;
            if open.folder.is_current(&self.home()) {
                let mut writer = Writer { vault: self, core, changed: None };
                self.note_forgets(&writer.core()?.journal)?;
                writer.recover()?;
                return Ok(writer);
            }
            // The lock goes with its handle.
            *core = None;
        }
        Err(VaultError::Untrusted(REPLACED))
    }

    /// Makes what is missing of the state folder, and opens it.
    fn make_core(&self) -> Result<Core, VaultError> {
        let made = || self.open_core(StateFolder::create(&self.home())?, Tables::Make)?.ok_or(VaultError::Busy);
        let mut opened = match (made(), &self.options.spare) {
            (Err(VaultError::Unfit), Some(spare)) if self.elsewhere().is_none() => {
                let folder = (spare.make)(&spare.path);
                let folder = folder.map_err(|error| VaultError::io("make the folder for the state", None, error))?;
                tracing::info!("the drive cannot hold the history, which is kept elsewhere");
                self.spare.get_or_init(|| folder);
                made()?
            }
            (opened, _) => opened?,
        };
        if let Some(sum) = self.measured().take() {
            opened.journal.begin_sum("note_bytes", sum)?;
        }
        Ok(opened)
    }

    /// Finishes what a crash left unfinished, if another process has written since we last looked and the lock is free. Never
    /// waits: another writer finishes it before its own batch.
    ///
    /// # Errors
    ///
    /// As [`Vault::open`].
    pub fn look_after_crash(&self) -> Result<(), VaultError> {
        let Some(core) = self.core_now() else { return Ok(()) };
        let mut core = self.current(core);
        if core.is_none() {
            let Some(folder) = StateFolder::open(&self.home())? else { return Ok(()) };
            match self.open_core(folder, Tables::Leave) {
                Ok(opened) => *core = opened,
                // The notes of a folder that cannot be written, such as one on a read-only disk, can still be read.
                Err(error) if error.is_no_access() => {
                    tracing::debug!(%error, "the history cannot be opened");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        let Some(open) = core.as_mut() else { return Ok(()) };
        let mark = open.folder.log_mark();
        if mark.is_some() && mark == open.seen {
            return Ok(());
        }
        self.note_forgets(&open.journal)?;
        if !open.journal.is_unfinished()? {
            open.seen = mark;
            return Ok(());
        }
        // The process that holds the lock is at work on it; should it die, nothing but the lock will change.
        if open.lock.try_lock().is_err() {
            return Ok(());
        }
        let mut writer = Writer { vault: self, core, changed: None };
        match writer.recover() {
            Err(VaultError::NoWriteAccess(_) | VaultError::Busy) => Ok(()),
            other => other,
        }
    }

    /// How often something was forgotten in this memory, as of the last [`Vault::look_after_crash`] or [`Vault::lock`]. A reader
    /// asks before it reads, and passes the answer to [`Vault::note_reads`].
    #[must_use]
    pub fn forgets(&self) -> u64 {
        self.forgets.load(Ordering::Relaxed)
    }

    fn note_forgets(&self, journal: &Journal) -> Result<(), VaultError> {
        self.forgets.store(journal.forgets()?, Ordering::Relaxed);
        Ok(())
    }

    fn measured(&self) -> MutexGuard<'_, Option<u64>> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a commit is flushed.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.options.durability == Durability::Full
    }

    fn home(&self) -> Home<'_> {
        Home {
            root: &self.dir,
            root_path: &self.root,
            machine: &self.options.machine,
            elsewhere: self.elsewhere().map(|(dir, path)| (dir.as_ref(), path.as_path())),
        }
    }

    /// Where the state is instead of in the memory.
    fn elsewhere(&self) -> Option<&OpenedFolder> {
        self.options.state.as_ref().or_else(|| self.spare.get())
    }

    /// Opens the history; `None` where it has no tables and [`Tables::Leave`] asks to make none, which could mean waiting for
    /// the lock.
    fn open_core(&self, folder: StateFolder, tables: Tables) -> Result<Option<Core>, VaultError> {
        if folder.is_emptied() {
            return Err(VaultError::Damaged("it is empty, and what is beside it says that it was not".to_owned()));
        }
        let lock = folder.lock_file()?.into_std();
        let log = if self.is_durable() { Some(folder.log_file()?) } else { None };
        let is_empty = AtomicBool::new(false);
        let make = || match tables {
            Tables::Make => {
                acquire(&lock, self.options.lock_timeout)?;
                folder.check_locks()?;
                self.first_batch()
            }
            Tables::Leave => {
                is_empty.store(true, Ordering::Relaxed);
                Err(VaultError::Busy)
            }
        };
        let opened = Journal::open(&folder, log, make);
        if is_empty.into_inner() {
            return Ok(None);
        }
        let journal = match opened.map_err(|error| if folder.is_empty() { error.of_drive() } else { error }) {
            Err(VaultError::Unfit) => {
                folder.discard(&self.home());
                return Err(VaultError::Unfit);
            }
            opened => opened?,
        };
        self.note_forgets(&journal)?;
        if tables == Tables::Make {
            folder.show_made();
        }
        // The kernel lets go of it when the process ends, whatever happens here.
        let _ = lock.unlock();
        Ok(Some(Core { folder, lock, journal, leftovers: None, swept: 0, seen: None }))
    }

    /// What is open, for a reader; `None` only when this machine has written nothing yet. A history that cannot be read is an
    /// error, and never an empty one. While a thread writes, or waits until it may, readers use another connection, which sees
    /// what is committed.
    fn known_core(&self) -> Result<MutexGuard<'_, Option<Core>>, VaultError> {
        self.reopened(self.core_now().unwrap_or_else(|| self.beside()))
    }

    /// As [`Vault::current`], and opens it where it is closed: nothing was opened yet, a thread panicked while it held it, or
    /// something else has its name by now.
    fn reopened<'c>(&self, core: MutexGuard<'c, Option<Core>>) -> Result<MutexGuard<'c, Option<Core>>, VaultError> {
        let mut core = self.current(core);
        if core.is_none()
            && let Some(folder) = StateFolder::open(&self.home())?
        {
            *core = self.open_core(folder, Tables::Leave)?;
        }
        Ok(core)
    }

    /// What is open, unless something else has its name by now: a history that was moved away no longer belongs to the memory.
    fn current<'c>(&self, mut core: MutexGuard<'c, Option<Core>>) -> MutexGuard<'c, Option<Core>> {
        if core.as_ref().is_some_and(|core| !core.folder.is_current(&self.home())) {
            *core = None;
        }
        core
    }

    /// Waits until no other thread writes, for at most so long.
    fn core(&self, limit: Duration) -> Result<MutexGuard<'_, Option<Core>>, VaultError> {
        retry::within(limit, || Ok::<_, VaultError>(self.core_now()))?.ok_or(VaultError::Busy)
    }

    /// `None` while another thread uses it.
    fn core_now(&self) -> Option<MutexGuard<'_, Option<Core>>> {
        match self.core.try_lock() {
            Ok(core) => Some(core),
            Err(TryLockError::Poisoned(poisoned)) => Some(closed(&self.core, poisoned)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Held for a question only, and never by who waits for something.
    fn beside(&self) -> MutexGuard<'_, Option<Core>> {
        self.beside.lock().unwrap_or_else(|poisoned| closed(&self.beside, poisoned))
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Vault {
    /// Removes displaced files, writes the audit of the last reads and folds a long log: work that no answer waits for.
    /// Dropping the vault does it too; a program that ends while a thread of its still holds the vault never drops it.
    pub fn finish(&self) {
        // What went wrong is logged.
        let _ = self.settle(Patience::Usual);
        self.finish_strays();
        self.sweep_in(self.core(self.options.lock_timeout).ok());
        self.shorten_log_at_end();
    }

    /// Removes what the newest batch of this process displaced, unless a thread is at work just now. For a program that rests: a server may
    /// write nothing more for days.
    pub fn sweep_displaced(&self) {
        self.sweep_in(self.core_now());
    }

    /// Where somebody else is at work, the next writer removes them.
    fn sweep_in(&self, core: Option<MutexGuard<'_, Option<Core>>>) {
        if let Some(mut core) = core
            && let Some(core) = core.as_mut()
            && let Some(leftovers) = core.leftovers.take()
            && !leftovers.sweep(&self.dir)
        {
            core.journal.note_unswept(leftovers.number);
        }
    }
}

/// The right to write, held by one thread of one process at a time.
#[derive(Debug)]
pub struct Writer<'v> {
    vault: &'v Vault,
    core: MutexGuard<'v, Option<Core>>,
    /// The paths that its batches have changed; `None` where it had none, and may have done anything else.
    changed: Option<Vec<MemoryPath>>,
}

impl Writer<'_> {
    fn core(&mut self) -> Result<&mut Core, VaultError> {
        self.core.as_mut().ok_or(VaultError::Busy)
    }

    /// How often something was forgotten in this memory. While the lock is held this does not change.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn forgets(&self) -> Result<u64, VaultError> {
        self.core.as_ref().ok_or(VaultError::Busy)?.journal.forgets()
    }

    /// Checks that the history to which a batch was written is still that of the memory, and the memory where it was.
    fn check_history(&self) -> Result<(), VaultError> {
        self.vault.check_place()?;
        match &*self.core {
            Some(core) if core.folder.is_current(&self.vault.home()) => Ok(()),
            _ => Err(VaultError::Untrusted(REPLACED)),
        }
    }

    /// Notes what is in place now, and what is to be swept.
    fn keep_for_sweep(&mut self, batch: RecordedBatch) -> Result<(), VaultError> {
        let paths = batch.steps.iter().flat_map(|step| step.paths().cloned());
        self.changed.get_or_insert_default().extend(paths);
        self.core()?.leftovers = Some(batch);
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.vault.sizes.change_by(self.changed.as_deref());
        if let Some(core) = self.core.as_mut() {
            // The count of what was forgotten under this lock has to be known before the log counts as seen.
            core.seen = self.vault.note_forgets(&core.journal).ok().and_then(|()| core.folder.log_mark());
            // The kernel lets go of it when the process ends, whatever happens here.
            let _ = core.lock.unlock();
        }
    }
}

/// Closes what was open when a thread panicked; the next one that needs it opens it anew.
fn closed<'c>(
    mutex: &'c Mutex<Option<Core>>,
    poisoned: PoisonError<MutexGuard<'c, Option<Core>>>,
) -> MutexGuard<'c, Option<Core>> {
    let mut core = poisoned.into_inner();
    *core = None;
    mutex.clear_poison();
    core
}

/// Waits for the lock, a little longer each time.
fn acquire(lock: &LockFile, timeout: Duration) -> Result<(), VaultError> {
    let locked = retry::within(timeout, || match lock.try_lock() {
        Ok(()) => Ok(Some(())),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(VaultError::io("lock the memory", None, error)),
    });
    locked?.ok_or(VaultError::Busy)
}

#[cfg(test)]
mod tests;
