//! [`Pool`]: the threads that work for the connections.
//!
//! The engine is synchronous, and a write waits for the lock of the memory. So one thread does all that writes, in the order
//! in which it was asked, and a few others answer what only reads; the connections await them. A job that panics ends alone.
//! What is done in a moment needs no thread of its own while these rest: to wake one and be woken takes longer.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::lock;
use crate::panics::{Panicked, catch_panic};

/// How much may wait for a thread before those who ask have to wait themselves.
const MOST_WAITING: usize = 256;
/// How many threads answer what only reads.
const READERS: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

/// Which threads a job is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lane {
    /// It may write.
    Write,
    /// It only reads.
    Read,
}

/// The threads, from the first job for them until [`Pool::finish`].
#[derive(Debug, Default)]
pub(crate) struct Pool {
    threads: Mutex<Threads>,
    /// How many jobs wait or are being done.
    open: Arc<AtomicUsize>,
}

/// A job that is not done yet, counted until this is dropped.
struct OpenJob(Arc<AtomicUsize>);

impl OpenJob {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for OpenJob {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
enum Threads {
    #[default]
    Unneeded,
    Running(Lanes),
    Over,
}

#[derive(Debug)]
struct Lanes {
    writes: mpsc::Sender<Job>,
    reads: mpsc::Sender<Job>,
    threads: Vec<JoinHandle<()>>,
}

/// Why a job has no result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JobError {
    /// The threads are gone, or the system gives none.
    Gone,
    /// It has panicked.
    Panicked,
    /// It was not done: the path of the memory leads to its folder no more.
    Moved,
}

impl From<Panicked> for JobError {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}

impl Pool {
    /// Where a job for these threads goes; starts them where nobody has asked for one yet.
    fn sender(&self, lane: Lane) -> Result<mpsc::Sender<Job>, JobError> {
        let mut threads = lock(&self.threads);
        if matches!(*threads, Threads::Unneeded) {
            let started = Lanes::start().inspect_err(|error| tracing::error!(%error, "no thread can be started"));
            *threads = Threads::Running(started.map_err(|_| JobError::Gone)?);
        }
        match (&*threads, lane) {
            (Threads::Running(lanes), Lane::Write) => Ok(lanes.writes.clone()),
            (Threads::Running(lanes), Lane::Read) => Ok(lanes.reads.clone()),
            (Threads::Unneeded | Threads::Over, _) => Err(JobError::Gone),
        }
    }

    /// Does a job on one of the threads. Once it has begun it is finished, also when nobody waits for it any more; before
    /// that it is dropped.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, JobError> {
        let (tell, told) = oneshot::channel();
        let open = OpenJob::new(&self.open);
        let job = Box::new(move || {
            if !tell.is_closed() {
                let done = catch_panic(job);
                // First: who has the answer may ask for the next.
                drop(open);
                drop(tell.send(done));
            }
        });
        // The sender is not kept while the answer is waited for: the threads end when the last one is dropped.
        self.sender(lane)?.send(job).await.map_err(|_| JobError::Gone)?;
        Ok(told.await.map_err(|_| JobError::Gone)??)
    }

    /// Hands over a job that nobody waits for. It is done even if the threads are told to end before its turn, unless so many
    /// jobs wait that it finds no place among them first. To be called in a runtime.
    pub(crate) fn hand_over(&self, lane: Lane, job: impl FnOnce() + Send + 'static) -> Result<(), JobError> {
        let sender = self.sender(lane)?;
        let open = OpenJob::new(&self.open);
        let job = Box::new(move || {
            let _open = open;
            // Nobody is told that it has panicked; the log is.
            let _ = catch_panic(job);
        });
        match sender.try_send(job) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(job)) => {
                tokio::spawn(async move { sender.send(job).await.is_ok() });
                Ok(())
            }
            Err(TrySendError::Closed(_)) => Err(JobError::Gone),
        }
    }

    /// Does a job that reads a little, at once and on the thread of who asks, where all threads rest: then nobody else is kept
    /// waiting by it, and it waits for none of their locks. Else as [`Pool::run`].
    pub(crate) async fn run_short<R: Send + 'static>(
        &self,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, JobError> {
        if self.rests() && !matches!(*lock(&self.threads), Threads::Over) {
            return Ok(catch_panic(job)?);
        }
        self.run(Lane::Read, job).await
    }

    /// Whether no job waits or is being done.
    pub(crate) fn rests(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }

    /// Whether no other job waits or is being done than the one that asks.
    pub(crate) fn is_alone(&self) -> bool {
        self.open.load(Ordering::Relaxed) <= 1
    }

    /// Waits for what has begun, and ends the threads.
    pub(crate) fn finish(&self) {
        let ended = std::mem::replace(&mut *lock(&self.threads), Threads::Over);
        let Threads::Running(Lanes { writes, reads, threads }) = ended else { return };
        drop((writes, reads));
        for thread in threads {
            // One that has panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Lanes {
    fn start() -> io::Result<Self> {
        let mut threads = Vec::new();
        Ok(Self { writes: start("write", 1, &mut threads)?, reads: start("read", READERS, &mut threads)?, threads })
    }
}

fn start(name: &str, count: usize, threads: &mut Vec<JoinHandle<()>>) -> io::Result<mpsc::Sender<Job>> {
    let (sender, receiver) = mpsc::channel::<Job>(MOST_WAITING);
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..count {
        let receiver = Arc::clone(&receiver);
        let next = move || lock(&receiver).blocking_recv();
        let work = move || {
            while let Some(job) = next() {
                job();
            }
        };
        threads.push(thread::Builder::new().name(name.to_owned()).spawn(work)?);
    }
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// A job that says that it has begun, waits for leave, and says that it is done.
    fn job(word: &'static str, said: &mpsc::Sender<&'static str>, leave: mpsc::Receiver<()>) -> impl FnOnce() + use<> {
        let said = said.clone();
        move || {
            said.send("begun").unwrap();
            leave.recv().unwrap();
            said.send(word).unwrap();
        }
    }

    #[tokio::test]
    async fn what_has_begun_is_finished_and_what_waits_is_dropped_when_nobody_wants_it() {
        let pool = Pool::default();
        let (said, heard) = mpsc::channel();
        let (leave, waits) = mpsc::channel();
        let (_never, never) = mpsc::channel();
        {
            let first = pool.run(Lane::Write, job("first", &said, waits));
            let second = pool.run(Lane::Write, job("second", &said, never));
            tokio::pin!(first, second);
            // Both are asked for once, and then given up.
            assert!(tokio::time::timeout(Duration::ZERO, &mut first).await.is_err());
            assert!(tokio::time::timeout(Duration::ZERO, &mut second).await.is_err());
            assert_eq!(heard.recv(), Ok("begun"));
        }
        leave.send(()).unwrap();
        pool.finish();
        drop(said);
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["first"]);
        assert!(pool.run(Lane::Read, || ()).await.is_err(), "nothing is begun any more");
    }

    #[tokio::test]
    async fn the_threads_end_though_somebody_still_waits_for_an_answer() {
        let pool = Arc::new(Pool::default());
        let (said, heard) = mpsc::channel();
        let (leave, waits) = mpsc::channel();
        let answer = pool.run(Lane::Read, job("done", &said, waits));
        tokio::pin!(answer);
        assert!(tokio::time::timeout(Duration::ZERO, &mut answer).await.is_err());
        leave.send(()).unwrap();
        let (ended, end) = mpsc::channel();
        let ending = Arc::clone(&pool);
        thread::spawn(move || {
            ending.finish();
            ended.send(()).unwrap();
        });
        assert_eq!(end.recv_timeout(Duration::from_secs(20)), Ok(()), "the threads do not end");
        drop(said);
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["begun", "done"]);
        assert_eq!(answer.await, Ok(()));
    }

    #[tokio::test]
    async fn what_was_handed_over_is_done_before_the_threads_end() {
        let pool = Pool::default();
        let (said, heard) = mpsc::channel();
        let (leave, waits) = mpsc::channel();
        let (again, waits_again) = mpsc::channel();
        pool.hand_over(Lane::Write, job("first", &said, waits)).unwrap();
        pool.hand_over(Lane::Write, job("second", &said, waits_again)).unwrap();
        assert!(!pool.rests());
        leave.send(()).unwrap();
        again.send(()).unwrap();
        pool.finish();
        drop(said);
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["begun", "first", "begun", "second"]);
        assert!(pool.rests());
        assert_eq!(pool.hand_over(Lane::Write, || ()), Err(JobError::Gone));
    }

    /// Which thread does a short job.
    async fn doer(pool: &Pool) -> thread::ThreadId {
        pool.run_short(|| thread::current().id()).await.unwrap()
    }

    #[tokio::test]
    async fn a_short_job_is_done_where_it_is_asked_for_while_nothing_else_is_done() {
        let (pool, here) = (Pool::default(), thread::current().id());
        assert_eq!(doer(&pool).await, here);
        for lane in [Lane::Write, Lane::Read] {
            assert_ne!(pool.run(lane, || thread::current().id()).await.unwrap(), here);
            assert_eq!(doer(&pool).await, here, "what was done keeps nobody away");
            let (said, heard) = mpsc::channel();
            let (leave, waits) = mpsc::channel();
            let busy = pool.run(lane, job("done", &said, waits));
            tokio::pin!(busy);
            assert!(tokio::time::timeout(Duration::ZERO, &mut busy).await.is_err());
            assert_eq!(heard.recv(), Ok("begun"));
            assert_ne!(doer(&pool).await, here, "another thread may hold what this one would wait for");
            leave.send(()).unwrap();
            busy.await.unwrap();
            assert_eq!(doer(&pool).await, here);
        }
        let broken = pool.run_short(|| assert!(std::hint::black_box(false), "as it is written in this test")).await;
        assert_eq!(broken, Err(JobError::Panicked));
        pool.finish();
        assert_eq!(pool.run_short(|| 7).await, Err(JobError::Gone));
    }

    #[tokio::test]
    async fn a_job_that_panics_ends_alone() {
        let pool = Pool::default();
        for line in [Lane::Write, Lane::Read, Lane::Write, Lane::Read, Lane::Read] {
            let broken = pool.run(line, || assert!(std::hint::black_box(false), "as it is written in this test")).await;
            assert_eq!(broken, Err(JobError::Panicked));
            assert_eq!(pool.run(line, || 7).await, Ok(7));
        }
        pool.finish();
        assert_eq!(pool.run(Lane::Read, || 7).await, Err(JobError::Gone));
    }
}
