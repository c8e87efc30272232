//! Building the index: all files that it does not know are read by several threads, and put into it by one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::Engine;
use super::index_pool::IndexTrouble;
use super::refresh::{Changes, aged, record};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_index::{Index, IndexError, NoteRecord, WriteTransaction};
use memdir_plan::{self as plan, Scan, Swept, Tree, TreeError};

/// How much is put into the index by one transaction, while others cannot write to it. As many notes may have been read that
/// are not in it yet: so many are read while a transaction is written.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) files: usize,
    /// A transaction ends early when what is kept of its files has so many bytes.
    pub(super) bytes: usize,
    /// Begins a transaction, and waits for other processes or does not.
    pub(super) write: Write,
}

/// Begins a change of the index.
pub(super) type Write = fn(&mut Index) -> Result<WriteTransaction<'_>, IndexError>;

/// For somebody who waits.
const FAST: Pace = Pace { files: 4_000, bytes: 32 << 20, write: Index::write };

/// A file, and what is kept of it.
type Ready = (Swept, Option<NoteRecord>);

/// How files are put into the index.
struct Putting<'b> {
    /// A time before any of them was looked at.
    started: Timestamp,
    pace: Pace,
    /// Called with how many are done.
    told: &'b (dyn Fn(usize) + Sync),
    stop: &'b (dyn Fn() -> bool + Sync),
}

impl Engine {
    /// Brings the index up to date, or builds it; `told` hears how many of how many files are done.
    ///
    /// What was done stays when `stop` ends it or the process dies, and the next run goes on from there.
    ///
    /// # Errors
    ///
    /// `timeout` when `stop` ended it, `io`; the memory itself is not touched.
    pub fn refresh(
        &self,
        told: &(dyn Fn(usize, usize) + Sync),
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Failure> {
        let Some(mut index) = self.take_index(false) else { return Ok(()) };
        let built = self.build(&mut index, FAST, told, stop);
        // Questions are answered without an index; a caller who asked for the index is told why there is none.
        let unwritten = match &built {
            Err(IndexTrouble::Index(error)) => Some(Failure::new(Code::Io, error.to_string())),
            _ => None,
        };
        self.return_index(index, built).map_err(plan::failure)?;
        unwritten.map_or(Ok(()), Err)
    }

    /// Puts all that differs into the index. What is there when it ends early, stays.
    pub(super) fn build(
        &self,
        index: &mut Index,
        pace: Pace,
        told: &(dyn Fn(usize, usize) + Sync),
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool, IndexTrouble> {
        let (started, seen) = (self.now(), self.seen());
        let swept = self.vault.sweep(stop)?;
        let changes = Changes::between(&index.known()?, swept);
        let total = changes.differ.len();
        told(0, total);
        if total > pace.files {
            let mut writing = (pace.write)(index)?;
            writing.set_filling(true)?;
            writing.commit()?;
        }
        let (notes, others): (Vec<_>, Vec<_>) = changes.differ.into_iter().partition(|swept| swept.path.is_note());
        let notes: HashMap<MemoryPath, Swept> = notes.into_iter().map(|swept| (swept.path.clone(), swept)).collect();
        let (sender, receiver) = sync_channel::<Ready>(pace.files);
        let has_failed = AtomicBool::new(false);
        let (read, written) = thread::scope(|scope| {
            let write = || {
                let others = others.into_iter().map(|swept| (swept, None));
                let putting = Putting { started, pace, told: &|done| told(done, total), stop };
                let put = self.put_all(index, others.chain(receiver), &putting);
                // Nothing need be read any more.
                has_failed.store(put.is_err(), Ordering::Relaxed);
                put
            };
            let writer =
                thread::Builder::new().spawn_scoped(scope, write).map_err(|error| TreeError::Io(error.to_string()))?;
            let read = self.read_all(&notes, sender, &|| has_failed.load(Ordering::Relaxed) || stop());
            Ok::<_, TreeError>((read, writer.join()))
        })?;
        written.unwrap_or_else(|_| Err(TreeError::Io("a thread has died".to_owned()).into()))?;
        read?;
        let mut writing = (pace.write)(index)?;
        for path in &changes.gone {
            if self.is_gone(path) {
                self.take_out(&mut writing, path)?;
            }
        }
        if let Some(batch) = seen {
            writing.set_batch(batch)?;
        }
        writing.set_filling(false)?;
        writing.set_complete(true)?;
        writing.commit()?;
        Ok(true)
    }

    /// Reads notes, and sends what is kept of each.
    fn read_all(
        &self,
        notes: &HashMap<MemoryPath, Swept>,
        sender: SyncSender<Ready>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), IndexTrouble> {
        if notes.is_empty() {
            return Ok(());
        }
        let wants = |path: &MemoryPath| notes.contains_key(path);
        let scan = Scan { folder: None, limit: self.settings.limits.file_bytes, wants: &wants, stop };
        let look = |path: &MemoryPath, bytes: Result<&[u8], TreeError>| {
            // What detectors cannot look at is found again by the next sweep.
            let Some(swept) = notes.get(path) else { return };
            if let Ok(record) = record(swept, bytes) {
                // Nobody receives any more when writing has failed, which is said there.
                let _ = sender.send((swept.clone(), record));
            }
        };
        self.vault.scan(&scan, &look)?;
        Ok(())
    }

    fn put_all(
        &self,
        index: &mut Index,
        ready: impl Iterator<Item = Ready>,
        putting: &Putting<'_>,
    ) -> Result<(), IndexTrouble> {
        let mut chunk = Vec::with_capacity(putting.pace.files);
        let mut done = 0;
        let mut ready = ready.fuse();
        loop {
            let mut bytes = 0;
            while bytes < putting.pace.bytes
                && chunk.len() < putting.pace.files
                && let Some((swept, record)) = ready.next()
            {
                bytes += record.as_ref().map_or(0, NoteRecord::bytes);
                chunk.push((swept, record));
            }
            if chunk.is_empty() {
                return Ok(());
            }
            // What is written to a file that another process has removed, nobody finds.
            if (putting.stop)() || !index.is_current() {
                return Err(TreeError::Stopped.into());
            }
            done += chunk.len();
            // Notes that answer a question equally well come in the order of their numbers, which must not depend on which thread was faster.
            chunk.sort_unstable_by(|(one, _), (other, _)| one.path.cmp(&other.path));
            let mut writing = (putting.pace.write)(index)?;
            chunk.drain(..).try_for_each(|ready| self.put(&mut writing, ready, putting.started))?;
            writing.commit()?;
            (putting.told)(done);
        }
    }

    /// Puts a file that is still what it was before it was read; any other is found again by the next sweep. How old it
    /// was counts from before it was looked at: it may have changed since it was read.
    fn put(
        &self,
        writing: &mut WriteTransaction<'_>,
        (swept, record): Ready,
        started: Timestamp,
    ) -> Result<(), IndexTrouble> {
        if self.vault.stamp(&swept.path).ok().flatten().as_ref() == Some(&swept) {
            writing.put(&aged(swept, started), record.as_ref())?;
        }
        Ok(())
    }
}
