//! [`ServedEngine`]: an engine that a server keeps open, and the work that has to be done beside its requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use memdir_engine::Engine;
use memdir_vault::WatchEvent;

use crate::pool::{JobError, Lane, Pool};

/// How long what was read waits to be written down with what is read next.
const SETTLE: Duration = Duration::from_secs(1);
/// How long watching the memory and building its index wait, so that the first answers of a server have the machine for
/// themselves.
const BEGIN_AFTER: Duration = Duration::from_millis(200);

/// An engine with the threads that work for the connections. Nothing of it runs on a thread of theirs but what is done in a
/// moment.
#[derive(Debug)]
pub struct ServedEngine {
    engine: Arc<Engine>,
    pool: Pool,
    is_watching: AtomicBool,
    /// Whether what was read last is about to be written down.
    is_settling: AtomicBool,
    /// Whether the index is about to be built, or is being built.
    is_building: AtomicBool,
    /// Whether nothing is answered any more.
    is_over: AtomicBool,
}

impl ServedEngine {
    /// The threads start when there is work for them. The index is built in the background.
    #[must_use]
    pub fn new(engine: Engine) -> Arc<Self> {
        Arc::new(Self {
            engine: Arc::new(engine.with_background_index()),
            pool: Pool::default(),
            is_watching: AtomicBool::new(false),
            is_settling: AtomicBool::new(false),
            is_building: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        })
    }

    /// The engine, for work that is on a thread of its own already.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Does a job on one of the threads, if the memory is where it was. Once it has begun it is finished, also when nobody waits for
    /// it any more; before that it is dropped.
    ///
    /// # Errors
    ///
    /// [`JobError`], where it has no result.
    pub async fn run<R: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, JobError> {
        self.pool.run(lane, self.in_place(job)).await?
    }

    /// Hands over a job that nobody waits for: it is done after those that came before it, even if the server ends meanwhile.
    /// To be called in a runtime.
    ///
    /// # Errors
    ///
    /// [`JobError::Gone`], where no thread can do it.
    pub fn hand_over(&self, lane: Lane, job: impl FnOnce() + Send + 'static) -> Result<(), JobError> {
        self.pool.hand_over(lane, job)
    }

    /// Does a job that reads a little and is done in a moment: where all threads rest, at once and on this one.
    ///
    /// # Errors
    ///
    /// As [`ServedEngine::run`].
    pub async fn run_short<R: Send + 'static>(&self, job: impl FnOnce() -> R + Send + 'static) -> Result<R, JobError> {
        self.pool.run_short(self.in_place(job)).await?
    }

    /// The job, which is not done where the memory was moved, deleted or replaced.
    fn in_place<R>(
        &self,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> impl FnOnce() -> Result<R, JobError> + Send + 'static {
        let engine = Arc::clone(&self.engine);
        move || if engine.check_place().is_ok() { Ok(job()) } else { Err(JobError::Moved) }
    }

    /// Whether all threads rest, so that a short job would be done at once.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.pool.rests()
    }

    /// Writes down soon who has read what, and removes what a change displaced: a server may rest for days after it.
    pub fn settle_soon(self: &Arc<Self>) {
        if self.is_settling.swap(true, Ordering::Relaxed) {
            return;
        }
        let served = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SETTLE).await;
                let Some(served) = served.upgrade() else { return };
                served.is_settling.store(false, Ordering::Relaxed);
                let settling = Arc::clone(&served);
                let settle = move || {
                    let is_settled = settling.engine.clean_up();
                    if is_settled && settling.pool.is_alone() {
                        settling.engine.rest();
                    }
                    is_settled
                };
                // A server that has ended has written it down.
                let is_settled = served.run(Lane::Read, settle).await.unwrap_or(true);
                if is_settled || served.is_settling.swap(true, Ordering::Relaxed) {
                    return;
                }
            }
        });
    }

    /// Builds the index soon, or brings it up to date, where a call was answered without one that could have had it. That is
    /// done on a thread of its own, which gives way to all others; nobody waits for it, also not at the end.
    pub fn build_index_soon(self: &Arc<Self>) {
        if !self.engine.wants_index() || self.is_building.swap(true, Ordering::Relaxed) {
            return;
        }
        let served = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(BEGIN_AFTER).await;
            let Some(served) = served.upgrade() else { return };
            let builder = Arc::clone(&served);
            let build = move || {
                give_way();
                builder.engine.build_in_background(&|| builder.is_over.load(Ordering::Relaxed));
                builder.is_building.store(false, Ordering::Relaxed);
            };
            if let Err(error) = thread::Builder::new().name("build the index".to_owned()).spawn(build) {
                served.is_building.store(false, Ordering::Relaxed);
                tracing::warn!(%error, "the index is not built: notes are read instead");
            }
        });
    }

    /// Begins to watch the memory soon, on a thread of its own: in a large memory that takes a while, and nobody waits for it.
    /// Only the first call does. `begun` is called once the system tells of all changes, which `hear` is given from then on;
    /// what has changed until then was told to nobody. Where the system does not let us, neither is called.
    pub fn watch(self: &Arc<Self>, begun: impl FnOnce() + Send + 'static, hear: impl Fn(&WatchEvent) + Send + 'static) {
        if self.is_watching.swap(true, Ordering::Relaxed) {
            return;
        }
        let served = Arc::downgrade(self);
        let watch = move |served: Arc<Self>| {
            let told = Arc::downgrade(&served);
            let listen = move |noticed: &WatchEvent| {
                let Some(served) = told.upgrade() else { return };
                // First: who hears of a change may rely on it that nothing is left of what was forgotten.
                served.engine.let_go_of_removed_index();
                hear(noticed);
            };
            match served.engine.watch(listen) {
                Ok(()) => begun(),
                Err(failure) => {
                    let hint = failure.hint.unwrap_or_default();
                    tracing::warn!(error = failure.message, hint, "no client hears of changes; all else works, slower");
                }
            }
        };
        tokio::spawn(async move {
            tokio::time::sleep(BEGIN_AFTER).await;
            let Some(served) = served.upgrade() else { return };
            if let Err(error) = thread::Builder::new().name("begin to watch".to_owned()).spawn(|| watch(served)) {
                tracing::warn!(%error, "no client hears of changes; all else works, slower");
            }
        });
    }

    /// Waits for what the threads have begun, and ends them. Nothing is answered any more.
    pub fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.pool.finish();
        // The one who watches may hold the engine for longer than the program lives.
        self.engine.finish();
    }
}

/// Lets all others go before this thread, and before those that it starts, where the system knows that of a thread alone.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the index is built with the priority of all else");
    }
}
