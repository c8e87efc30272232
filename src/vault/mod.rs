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
mod disk;
mod error;
mod every;
mod examine;
mod feed;
mod forget;
mod history;
mod inbox;
mod journal;
mod place;
mod proof;
mod readers;
mod recover;
mod repair;
mod scan;
mod sessions;
mod state;
mod stats;
mod sweep;
mod tree;
mod walk;
mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cap_std::fs::Dir;

pub use account::{Account, Problem, Record};
pub use audit::{AuditEntry, Author, random};
pub use commit::{Batch, Committed, Point};
pub use error::VaultError;
pub use every::{Region, Spot};
pub use examine::Exam;
pub use feed::Changed;
pub use forget::{Names, Replaced, Traces};
pub use history::Page;
pub use inbox::{Approval, Filed, Inbox, MOST_WAITING, MOST_WAITING_BYTES, Numbers};
pub use readers::Reader;
pub use repair::{Fault, PutAside, Swept, is_put_aside};
pub use sessions::{Kept, MOST_SESSION_BYTES, Mark, SessionFile};
pub use stats::{Stats, Tally, Times};
pub use sweep::Sweep;
pub use watch::{Noticed, Watch};

use crate::path::MemoryPath;
use crate::plan::Step;
use crate::time::Timestamp;
use journal::Journal;
use place::Places;
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

impl RecordedStep {
    fn path(&self) -> &MemoryPath {
        match &self.step {
            Step::MakeFolder { path, .. }
            | Step::Put { path, .. }
            | Step::RemoveFolder { path, .. }
            | Step::Move { from: path, .. } => path,
        }
    }
}

/// A memory on disk.
///
/// Any folder is one; `.memdir/` appears at the first write. Reads go through the handle and need no lock. Several
/// threads may share a vault and several processes a folder: writers take turns.
#[derive(Debug)]
pub struct Vault {
    dir: Dir,
    root: PathBuf,
    options: Options,
    core: Mutex<Option<Core>>,
    reads: Mutex<Reads>,
    /// Bytes of all notes, counted before there was a history to keep the sum.
    measured: Mutex<Option<u64>>,
    /// The folder of [`Options::spare`], once it was needed.
    spare: OnceLock<OpenedFolder>,
}

/// What a vault that has a history keeps open.
#[derive(Debug)]
struct Core {
    folder: StateFolder,
    lock: LockFile,
    journal: Journal,
    /// What the newest batch of this process displaced, to be removed after its answer.
    leftovers: Option<Leftovers>,
    /// The newest batch whose displaced files are removed.
    swept: u64,
    /// What the log was like when the newest batch was last looked at.
    seen: Option<(u64, std::time::SystemTime)>,
}

impl Core {
    /// Folds the write-ahead log into the database when it has grown; only under the lock.
    fn checkpoint(&self) -> Result<(), VaultError> {
        if self.has_long_log() { self.journal.checkpoint() } else { Ok(()) }
    }

    fn has_long_log(&self) -> bool {
        self.folder.log_mark().is_some_and(|(bytes, _)| bytes > CHECKPOINT_BYTES)
    }
}

/// Past this size the write-ahead log is folded into the database. Each process that opens the history reads the whole
/// log first, so a larger one slows every start, and a smaller one costs flushes more often.
const CHECKPOINT_BYTES: u64 = 1 << 20;

/// Displaced files of a batch.
#[derive(Debug)]
struct Leftovers {
    batch: u64,
    steps: Vec<RecordedStep>,
    places: Places,
}

/// Audit entries of reads that are not written yet.
#[derive(Debug, Default)]
struct Reads {
    batches: Vec<(Vec<AuditEntry>, Author, Timestamp)>,
    count: usize,
}

/// How often the state is opened anew that was exchanged meanwhile.
const ATTEMPTS: usize = 3;

/// Entries of reads are written in groups of this size, or when they are this old.
const READ_GROUP: usize = 100;
const READ_AGE: Duration = Duration::from_secs(1);

/// The file that writers lock.
#[expect(clippy::disallowed_types, reason = "only the std file can be locked; it comes from the handle")]
type LockFile = std::fs::File;

impl Vault {
    /// Takes the handle of a memory and the canonical path it was opened by, which SQLite needs.
    ///
    /// Touches nothing: notes can be read whatever became of the history.
    #[must_use]
    pub fn new(dir: Dir, root: PathBuf, options: Options) -> Self {
        let (core, reads, measured) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { dir, root, options, core, reads, measured, spare: OnceLock::new() }
    }

    /// As [`Vault::new`], for somebody who cannot go on without the history.
    ///
    /// Makes nothing. A batch that a crash has left unfinished is finished first, if the lock is free.
    ///
    /// # Errors
    ///
    /// [`VaultError::Untrusted`] for a hostile `.memdir/`, [`VaultError::Damaged`] for a history that cannot be read.
    pub fn open(dir: Dir, root: PathBuf, options: Options) -> Result<Self, VaultError> {
        let vault = Self::new(dir, root, options);
        vault.look_after_crash()?;
        Ok(vault)
    }

    /// Takes the lock of the memory, makes `.memdir/` if it is missing, and finishes what a crash has left.
    ///
    /// # Errors
    ///
    /// [`VaultError::Busy`] when another process keeps the lock for longer than the options say;
    /// [`VaultError::NoWriteAccess`] where the folder cannot be written.
    pub fn lock(&self) -> Result<Writer<'_>, VaultError> {
        let mut core = self.core();
        for _ in 0..ATTEMPTS {
            if core.is_none() {
                *core = Some(self.make_core()?);
            }
            let Some(open) = core.as_ref() else { break };
            acquire(&open.lock, self.options.lock_timeout)?;
            if open.folder.is_current(&self.home()) {
                let mut writer = Writer { vault: self, core };
                writer.recover()?;
                return Ok(writer);
            }
            // The lock goes with its handle.
            *core = None;
        }
        Err(VaultError::Untrusted("it is exchanged while it is used"))
    }

    /// Makes what is missing of the state, and opens it.
    fn make_core(&self) -> Result<Core, VaultError> {
        let made = || self.open_core(StateFolder::create(&self.home())?);
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

    /// Finishes what a crash has left, if another process has written since we last looked and the lock is free.
    ///
    /// # Errors
    ///
    /// As [`Vault::open`].
    pub fn look_after_crash(&self) -> Result<(), VaultError> {
        let mut core = self.current_core();
        if core.is_none() {
            let Some(folder) = StateFolder::open(&self.home())? else { return Ok(()) };
            match self.open_core(folder) {
                Ok(opened) => *core = Some(opened),
                // The notes in what cannot be written, such as a folder on a read-only disk, can still be read.
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
        if !open.journal.is_unfinished()? {
            open.seen = mark;
            return Ok(());
        }
        // Whoever holds the lock is at work on it; should that process die, nothing but the lock will change.
        if open.lock.try_lock().is_err() {
            return Ok(());
        }
        let mut writer = Writer { vault: self, core };
        match writer.recover() {
            Err(VaultError::NoWriteAccess | VaultError::Busy) => Ok(()),
            other => other,
        }
    }

    /// Notes calls that changed nothing for the audit. They are written in groups, unflushed: a crash may lose
    /// those of the last second. Without a `.memdir/` they leave no trace.
    ///
    /// # Errors
    ///
    /// Those of the database, when a group is written.
    pub fn note_reads(&self, entries: Vec<AuditEntry>, author: &Author, time: Timestamp) -> Result<(), VaultError> {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.count += entries.len();
        reads.batches.push((entries, author.clone(), time));
        let is_old = reads.batches.first().is_some_and(|(_, _, first)| time.since(*first) >= READ_AGE);
        if reads.count < READ_GROUP && !is_old {
            return Ok(());
        }
        let group = std::mem::take(&mut *reads);
        drop(reads);
        self.write_reads(&group)
    }

    /// Writes the audit of the last reads, which else waits for the next one. Nobody waits for it, so that it fails is only
    /// logged.
    pub fn settle_reads(&self) {
        let reads = std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        if let Err(error) = self.write_reads(&reads) {
            tracing::warn!(%error, entries = reads.count, "the audit of reads was not written");
        }
    }

    fn write_reads(&self, reads: &Reads) -> Result<(), VaultError> {
        let mut core = self.current_core();
        let Some(core) = core.as_mut().filter(|_| reads.count > 0) else { return Ok(()) };
        core.journal.transaction(journal::Flush::No, |transaction| {
            let mut chain = audit::Chain::open(transaction, reads.count)?;
            reads.batches.iter().try_for_each(|(entries, author, time)| chain.append(None, entries, author, *time))
        })?;
        // A memory that is only read has no writer to keep the log short.
        if core.has_long_log() && core.lock.try_lock().is_ok() {
            let folded = core.journal.checkpoint();
            // The kernel lets go of it when the process ends, whatever happens here.
            let _ = core.lock.unlock();
            folded?;
        }
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

    fn open_core(&self, folder: StateFolder) -> Result<Core, VaultError> {
        if folder.is_emptied() {
            return Err(VaultError::Damaged("it is empty, and the log beside it is not".to_owned()));
        }
        let lock = folder.lock_file()?.into_std();
        let log = if self.is_durable() { Some(folder.log_file()?) } else { None };
        let make = || acquire(&lock, self.options.lock_timeout).and_then(|()| folder.check_locks());
        let opened = Journal::open(&folder, log, make);
        let journal = match opened.map_err(|error| if folder.is_empty() { error.of_drive() } else { error }) {
            Err(VaultError::Unfit) => {
                folder.discard(&self.home());
                return Err(VaultError::Unfit);
            }
            journal => journal?,
        };
        // The kernel lets go of it when the process ends, whatever happens here.
        let _ = lock.unlock();
        Ok(Core { folder, lock, journal, leftovers: None, swept: 0, seen: None })
    }

    /// What is open; `None` only when this machine has written nothing yet. Who asks for the history has to hear why it
    /// cannot be read, and not that it is empty.
    fn known_core(&self) -> Result<MutexGuard<'_, Option<Core>>, VaultError> {
        let mut core = self.current_core();
        if core.is_none()
            && let Some(folder) = StateFolder::open(&self.home())?
        {
            *core = Some(self.open_core(folder)?);
        }
        Ok(core)
    }

    /// What is open, unless something else has its name by now: a history that was moved away is not the memory's any more.
    fn current_core(&self) -> MutexGuard<'_, Option<Core>> {
        let mut core = self.core();
        if core.as_ref().is_some_and(|core| !core.folder.is_current(&self.home())) {
            *core = None;
        }
        core
    }

    fn core(&self) -> MutexGuard<'_, Option<Core>> {
        // A thread that panicked may have left the database in any state but a broken one.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Vault {
    /// Removes displaced files and writes the audit of the last reads: work that no answer waits for. Dropping the vault does
    /// it too; a program that ends while a thread of its still holds the vault never drops it.
    pub fn finish(&self) {
        self.settle_reads();
        if let Some(core) = self.core().as_mut()
            && let Some(leftovers) = core.leftovers.take()
            && !leftovers.sweep(&self.dir)
        {
            core.journal.note_unswept(leftovers.batch);
        }
    }
}

/// The right to write, held by one thread of one process at a time.
#[derive(Debug)]
pub struct Writer<'v> {
    vault: &'v Vault,
    core: MutexGuard<'v, Option<Core>>,
}

impl Writer<'_> {
    fn core(&mut self) -> Result<&mut Core, VaultError> {
        self.core.as_mut().ok_or(VaultError::Busy)
    }

    /// Checks that the history to which a batch was written is still that of the memory.
    fn check_history(&self) -> Result<(), VaultError> {
        match &*self.core {
            Some(core) if core.folder.is_current(&self.vault.home()) => Ok(()),
            _ => Err(VaultError::Untrusted("it was exchanged while it was used")),
        }
    }

    fn keep_for_sweep(&mut self, batch: u64, steps: Vec<RecordedStep>, places: Places) -> Result<(), VaultError> {
        self.core()?.leftovers = Some(Leftovers { batch, steps, places });
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if let Some(core) = self.core.as_mut() {
            core.seen = core.folder.log_mark();
            // The kernel lets go of it when the process ends, whatever happens here.
            let _ = core.lock.unlock();
        }
    }
}

/// Waits for the lock, a little longer each time.
fn acquire(lock: &LockFile, timeout: Duration) -> Result<(), VaultError> {
    let mut waited = Duration::ZERO;
    let mut pause = Duration::from_micros(200);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(std::fs::TryLockError::WouldBlock) if waited < timeout => {
                std::thread::sleep(pause);
                waited += pause;
                pause = (pause * 2).min(Duration::from_millis(10));
            }
            Err(std::fs::TryLockError::WouldBlock) => return Err(VaultError::Busy),
            Err(std::fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(std::fs::TryLockError::Error(error)) => return Err(VaultError::io("lock the memory", None, error)),
        }
    }
}

#[cfg(test)]
mod tests;
