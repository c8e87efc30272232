//! The person's Ctrl-C, for work that can stop in good order.

use std::io;

use tokio::runtime::Builder;
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
