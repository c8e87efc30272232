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
    let served = runtime.block_on(serve_stdio(server, options.client.clone(), CancellationToken::new()));
    if let Err(error) = served {
        tracing::info!(%error, "no client was served");
    }
    Ok(0)
}
