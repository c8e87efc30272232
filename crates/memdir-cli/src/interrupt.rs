//! The person's Ctrl-C, and the system's word to end, for work that can stop in good order.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// A token that Ctrl-C cancels, from now on and for the whole process.
pub(super) fn stop() -> CancellationToken {
    let stop = CancellationToken::new();
    let cancelled = stop.clone();
    // Where nobody can listen, Ctrl-C ends the process as it always does.
    let _ = listen(move || cancelled.cancel());
    stop
}

/// Calls `then` at each Ctrl-C from now on, in a thread of its own.
pub(super) fn listen(then: impl Fn() + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut interrupt = {
        let _inside = runtime.enter();
        #[cfg(unix)]
        let interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        #[cfg(windows)]
        let interrupt = tokio::signal::windows::ctrl_c()?;
        interrupt
    };
    let wait = move || {
        while runtime.block_on(interrupt.recv()).is_some() {
            then();
            if let Some(end) = waiting().as_ref() {
                end();
            }
        }
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

/// Ends the wait for [`unless_interrupted`], where somebody waits.
static WAITING: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);

fn waiting() -> MutexGuard<'static, Option<Box<dyn Fn() + Send>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does work that blocks and cannot be stopped, such as reading what is typed, in a thread of its own. `None` where Ctrl-C is
/// pressed meanwhile and something listens for it ([`listen`]): the work then goes on, and nobody hears what comes of it. Where
/// nothing listens, Ctrl-C ends the process. One waits at a time.
pub(super) fn unless_interrupted<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (done, waits) = mpsc::channel();
    let interrupted = done.clone();
    *waiting() = Some(Box::new(move || drop(interrupted.send(None))));
    let started = std::thread::Builder::new().name("question".to_owned()).spawn(move || done.send(Some(work())));
    let came = started.map(|_| waits.recv().ok().flatten());
    *waiting() = None;
    came
}

/// Cancels `stop` when the person or the system wants the program to end. It listens at once, before anything is served.
pub(super) fn stop_on_signal(runtime: &Runtime, stop: CancellationToken) -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _inside = runtime.enter();
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        runtime.spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            stop.cancel();
        });
    }
    #[cfg(not(unix))]
    runtime.spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        stop.cancel();
    });
    Ok(())
}
