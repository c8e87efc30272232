//! [`Pool`]: the threads that work for the connections.
//!
//! The engine is synchronous, and a write waits for the lock of the memory. So one thread does all that writes, in the order
//! in which it was asked, and a few others answer what only reads; the connections await them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::{mpsc, oneshot};

/// How much may wait for a thread before those who ask have to wait themselves.
const MOST_WAITING: usize = 256;
/// How many threads answer what only reads.
const READERS: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

/// Which threads a job is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Line {
    /// It may write.
    Write,
    /// It only reads.
    Read,
}

/// The threads. They end once the pool is dropped and what they were given is done.
#[derive(Debug)]
pub(super) struct Pool {
    writes: mpsc::Sender<Job>,
    reads: mpsc::Sender<Job>,
}

/// The thread that had the job is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone;

impl Pool {
    pub(super) fn start() -> io::Result<Self> {
        Ok(Self { writes: line("write", 1)?, reads: line("read", READERS)? })
    }

    /// Does a job on one of the threads. What has begun is finished, also when nobody waits for it any more.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        line: Line,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, Gone> {
        let (tell, told) = oneshot::channel();
        let sender = match line {
            Line::Write => &self.writes,
            Line::Read => &self.reads,
        };
        let job = Box::new(move || drop(tell.send(job())));
        sender.send(job).await.map_err(|_| Gone)?;
        told.await.map_err(|_| Gone)
    }
}

fn line(name: &str, threads: usize) -> io::Result<mpsc::Sender<Job>> {
    let (sender, receiver) = mpsc::channel::<Job>(MOST_WAITING);
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..threads {
        let receiver = Arc::clone(&receiver);
        let next = move || receiver.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let work = move || {
            while let Some(job) = next() {
                job();
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
    }
    Ok(sender)
}
