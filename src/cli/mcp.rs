//! `memdir mcp`: the memory for any client of the Model Context Protocol.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::args::{Global, Mcp};
use super::exit::Stop;
use super::{client, open};
use crate::mcp::{Options, Server, serve_stdio};
use crate::report::{Code, Failure};

pub(super) fn run(global: &Global, options: &Mcp) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let settled = Options {
        tools: options.tools.into(),
        read_only: options.read_only,
        mode: options.permission.map_or(opened.config.permission.mcp, Into::into),
    };
    let clients = Arc::new(client::register(&opened.root, options.client.as_deref(), open::now)?);
    let broken = |error: std::io::Error| Failure::new(Code::Internal, format!("the server cannot start: {error}"));
    let server = Server::new(opened.engine, settled, clients).map_err(broken)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let stop = CancellationToken::new();
    runtime.spawn(stop_on_signal(stop.clone()));
    runtime.block_on(serve_stdio(Arc::clone(&server), options.client.clone(), stop));
    // Whoever reads the standard input may be waiting for more of it.
    runtime.shutdown_background();
    server.finish();
    Ok(0)
}

/// Cancels `stop` when the person or the system wants the program to end.
async fn stop_on_signal(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            stop.cancel();
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
    stop.cancel();
}
