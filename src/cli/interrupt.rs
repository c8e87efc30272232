//! The person's Ctrl-C, for work that can stop in good order.

use std::io;

use tokio_util::sync::CancellationToken;

/// A token that Ctrl-C cancels, from now on and for the whole process.
pub(super) fn stop() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    let listen = move || -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(tokio::signal::ctrl_c())?;
        told.cancel();
        Ok(())
    };
    // Where nobody can listen, Ctrl-C ends the process as it always does.
    let _ = std::thread::Builder::new().name("interrupt".to_owned()).spawn(listen);
    stop
}
