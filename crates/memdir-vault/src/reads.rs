//! The audit of reads: entries wait in memory and are written in groups, so that no answer waits for them.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use super::{AuditEntry, Author, CHECKPOINT_BYTES, Core, Vault, VaultError};
use memdir_core::retry;
use memdir_core::time::Timestamp;

/// Entries of reads are written in groups of this size, or when they are this old.
const READ_GROUP: usize = 100;
const READ_AGE: Duration = Duration::from_secs(1);
/// The most entries that wait in memory while another process keeps the history locked; then the next read waits too.
const MOST_READS: usize = 10_000;

/// Past this size a program that rests folds the write-ahead log into the database.
const CHECKPOINT_BYTES_AT_REST: u64 = 128 << 10;
/// Past this size a program that ends does, since the next one reads all of the log before anything else.
const CHECKPOINT_BYTES_AT_END: u64 = 256 << 10;

/// Audit entries of reads that are not written yet.
#[derive(Debug, Default)]
pub(super) struct PendingReads {
    pub(super) batches: Vec<ReadBatch>,
    pub(super) count: usize,
}

/// The entries of one request.
#[derive(Debug)]
pub(super) struct ReadBatch {
    pub(super) entries: Vec<AuditEntry>,
    pub(super) author: Author,
    pub(super) time: Timestamp,
    /// How often something had been forgotten when it was made.
    pub(super) forgets: u64,
}

impl Core {
    /// Folds the write-ahead log into the database, if no other process writes.
    fn checkpoint_alone(&mut self) -> Result<(), VaultError> {
        if self.lock.try_lock().is_err() {
            return Ok(());
        }
        let folded = self.journal.checkpoint();
        // The kernel lets go of it when the process ends, whatever happens here.
        let _ = self.lock.unlock();
        folded
    }
}

/// Whether to wait for other users of the history.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Patience {
    /// No: an answer waits.
    None,
    /// As long as for any write.
    Usual,
}

impl Vault {
    /// Notes calls that changed nothing for the audit. They are written in groups, unflushed: a crash may lose
    /// those of the last second. Without a `.memdir/` they leave no trace.
    ///
    /// `forgets` is what [`Vault::forgets`] said before anything was read. If something was forgotten since, the entries lose
    /// their payload, which may name it. No answer waits for other users of the history: what cannot be written now is written
    /// later.
    ///
    /// # Errors
    ///
    /// Those of the database, when a group is written.
    pub fn note_reads(
        &self,
        entries: Vec<AuditEntry>,
        author: &Author,
        time: Timestamp,
        forgets: u64,
    ) -> Result<(), VaultError> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut reads = self.reads();
        reads.count += entries.len();
        reads.batches.push(ReadBatch { entries, author: author.clone(), time, forgets });
        let is_old = reads.batches.first().is_some_and(|first| time.since(first.time) >= READ_AGE);
        if reads.count < READ_GROUP && !is_old {
            return Ok(());
        }
        let patience = if reads.count < MOST_READS { Patience::None } else { Patience::Usual };
        drop(reads);
        self.write_reads(patience)
    }

    /// Makes the history, where there is none yet: of what is about to happen an entry has to be kept.
    ///
    /// # Errors
    ///
    /// As [`Vault::lock`].
    pub fn begin_history(&self) -> Result<(), VaultError> {
        if self.has_history()? { Ok(()) } else { self.lock().map(drop) }
    }

    /// Writes, unflushed, that something is about to be done elsewhere, and gives the entry's number. It waits for other users of the
    /// history as any write does, and survives the end of the process, also where that is killed.
    ///
    /// # Errors
    ///
    /// [`VaultError::Busy`] when others keep the history for longer than the options say, or there is none; those of the database.
    pub fn note_sent(
        &self,
        entry: AuditEntry,
        author: &Author,
        time: Timestamp,
        forgets: u64,
    ) -> Result<u64, VaultError> {
        // What was read before stands before it.
        self.settle_reads();
        let limit = self.options.lock_timeout;
        let mut core = self.reopened(self.core(limit)?)?;
        let journal = &mut core.as_mut().ok_or(VaultError::Busy)?.journal;
        let sent = ReadBatch { entries: vec![entry], author: author.clone(), time, forgets };
        let sent = PendingReads { batches: vec![sent], count: 1 };
        let written = retry::within(limit, || match journal.at_once(|journal| journal.note_reads(&sent)) {
            Err(VaultError::Busy) => Ok(None),
            written => written.map(Some),
        });
        written?.ok_or(VaultError::Busy)
    }

    /// Notes what became of calls that changed no note but may have changed something elsewhere, and writes it, unflushed, at once where
    /// nobody else uses the history. Else it is written as [`Vault::note_reads`] says, and may be lost with the process.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn note_calls(
        &self,
        entries: Vec<AuditEntry>,
        author: &Author,
        time: Timestamp,
        forgets: u64,
    ) -> Result<(), VaultError> {
        self.note_reads(entries, author, time, forgets)?;
        self.write_reads(Patience::None)
    }

    /// Writes the audit of the last reads, which otherwise waits for the next one. A failure is only logged, since nobody waits
    /// for this. Says whether nothing is left to try again soon: entries stay while others use the history.
    pub fn settle_reads(&self) -> bool {
        self.settle(Patience::None).is_err() || self.reads().count == 0
    }

    /// Folds the write-ahead log into the database, where it has grown a little and nobody uses the history: the next process that
    /// opens it reads all of the log first. For a program that rests: this flushes twice. A failure is only logged.
    pub fn shorten_log(&self) {
        self.fold_log(CHECKPOINT_BYTES_AT_REST);
    }

    /// The same for a program that has given its answer and ends.
    pub(super) fn shorten_log_at_end(&self) {
        self.fold_log(CHECKPOINT_BYTES_AT_END);
    }

    fn fold_log(&self, most: u64) {
        let core = self.core_now().map(|core| self.current(core));
        let Some(mut core) = core else { return };
        let Some(core) = core.as_mut().filter(|core| core.log_exceeds(most)) else { return };
        if let Err(error) = core.checkpoint_alone() {
            tracing::warn!(%error, "the log of the history was not folded");
        }
    }

    pub(super) fn settle(&self, patience: Patience) -> Result<(), VaultError> {
        let written = self.write_reads(patience);
        written.inspect_err(|error| tracing::warn!(%error, "the audit of reads was not written"))
    }

    /// Writes what is noted. Where there is no patience and the history is busy, it stays noted.
    fn write_reads(&self, patience: Patience) -> Result<(), VaultError> {
        let limit = if patience == Patience::None { Duration::ZERO } else { self.options.lock_timeout };
        if self.reads().count == 0 {
            return Ok(());
        }
        let core = self.core(limit).and_then(|core| self.reopened(core));
        let mut core = match core {
            Err(VaultError::Busy) if patience == Patience::None => return Ok(()),
            Err(error) => {
                let mut reads = self.reads();
                if reads.count >= MOST_READS {
                    *reads = PendingReads::default();
                }
                return Err(error);
            }
            Ok(core) => core,
        };
        // Taken only now, so that two threads write one after the other.
        let mut reads = std::mem::take(&mut *self.reads());
        let Some(core) = core.as_mut().filter(|_| reads.count > 0) else { return Ok(()) };
        let journal = &mut core.journal;
        let written = match patience {
            Patience::None => journal.at_once(|journal| journal.note_reads(&reads)),
            Patience::Usual => journal.note_reads(&reads),
        };
        match written {
            Err(VaultError::Busy) if patience == Patience::None => {
                let mut newer = self.reads();
                newer.count += reads.count;
                reads.batches.append(&mut newer.batches);
                newer.batches = reads.batches;
                return Ok(());
            }
            written => written.map(drop)?,
        }
        self.note_forgets(&core.journal)?;
        // A memory that is only read has no writer that keeps the log short.
        if core.log_exceeds(CHECKPOINT_BYTES) { core.checkpoint_alone() } else { Ok(()) }
    }

    fn reads(&self) -> MutexGuard<'_, PendingReads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Env, author};

    #[test]
    fn a_call_that_has_no_entries_leaves_nothing_in_memory() {
        let env = Env::new(&[]);
        let vault = env.vault();
        for _ in 0..3 {
            vault.note_reads(Vec::new(), &author(), Timestamp::from_micros(0), vault.forgets()).unwrap();
        }
        assert!(vault.reads().batches.is_empty());
    }
}
