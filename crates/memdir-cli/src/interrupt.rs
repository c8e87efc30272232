//! The person's Ctrl-C, and the system's word to end, for work that can stop in good order.

use std::io;

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
        }
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
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
