//! The person's Ctrl-C, for work that can stop in good order.

use std::io;

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

/// A token that Ctrl-C cancels, from now on and for the whole process.
pub(super) fn stop() -> CancellationToken {
    let stop = CancellationToken::new();
    // Where nobody can listen, Ctrl-C ends the process as it always does.
    let _ = listen(stop.clone());
    stop
}

fn listen(stop: CancellationToken) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    #[cfg(unix)]
    let mut interrupt = {
        use tokio::signal::unix::{SignalKind, signal};
        let _inside = runtime.enter();
        signal(SignalKind::interrupt())?
    };
    #[cfg(windows)]
    let mut interrupt = {
        let _inside = runtime.enter();
        tokio::signal::windows::ctrl_c()?
    };
    let wait = move || {
        runtime.block_on(interrupt.recv());
        stop.cancel();
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}
