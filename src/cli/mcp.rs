//! `memdir mcp`: the memory for any client of the Model Context Protocol.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use clap::Args;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::args::{Global, Permission, ToolSet};
use super::exit::{Stop, usage};
use super::{client, open};
use crate::mcp::{HttpOptions, Names, Options, Server, listen, serve_http, serve_stdio};
use crate::report::{Code, Failure};

/// What can be typed behind `memdir mcp`.
#[derive(Args, Debug)]
pub(super) struct Asked {
    /// Which tools to offer
    #[arg(long, value_enum, value_name = "SET", default_value_t = ToolSet::Compact)]
    pub(super) tools: ToolSet,
    /// Refuse every action that writes
    #[arg(long)]
    pub(super) read_only: bool,
    /// What becomes of personal facts and active content: off notes them, flag wants the model to say that the person agreed, ask keeps them until the person decides, all keeps every change until then
    #[arg(long, value_name = "MODE")]
    pub(super) permission: Option<Permission>,
    /// Show only what this registered client was granted; this is configuration, not security
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
    /// Serve over HTTP at this address of this machine, for registered clients; a port alone is enough
    #[arg(long, value_name = "ADDR", conflicts_with = "client")]
    pub(super) http: Option<String>,
    /// Answer also under this name, for whoever comes through a proxy
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(super) allow_host: Vec<String>,
    /// Answer also pages from this origin
    #[arg(long, value_name = "URL", requires = "http")]
    pub(super) allow_origin: Vec<String>,
}

pub(super) fn run(global: &Global, options: &Asked) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
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
    stop_on_signal(&runtime, stop.clone()).map_err(broken)?;
    match &options.http {
        Some(address) => {
            let (listener, options) = (listen_at(address)?, reached(options)?);
            writeln!(io::stderr(), "serving at http://{}/mcp", listener.local_addr().map_err(broken)?)?;
            runtime.block_on(serve_http(listener, Arc::clone(&server), options, stop)).map_err(broken)?;
        }
        None => runtime.block_on(serve_stdio(Arc::clone(&server), options.client.clone(), stop)),
    }
    // Whoever reads the standard input may be waiting for more of it.
    runtime.shutdown_background();
    server.finish();
    Ok(0)
}

/// Under which names the person wants the server to be reached.
fn reached(options: &Asked) -> Result<HttpOptions, Failure> {
    let names = Names::new(&options.allow_host, &options.allow_origin);
    let names = names.map_err(|error| usage(error.to_string(), error.hint()))?;
    Ok(HttpOptions { names, ..HttpOptions::default() })
}

/// Listens where the person wants it: at a port of this machine, or at an address of it.
fn listen_at(address: &str) -> Result<TcpListener, Failure> {
    const EXAMPLE: &str = "send one such as `--http 127.0.0.1:8765`, or the port alone";
    let of_port = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let port = address.strip_prefix("localhost:").unwrap_or(address);
    let parsed = port.parse().map(of_port).or_else(|_| address.parse());
    let parsed = parsed.map_err(|_| usage(format!("`{}` is no address", address.escape_debug()), EXAMPLE))?;
    listen(parsed).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => usage(
            format!(
                "`{parsed}` can be reached from outside, and what goes there over plain HTTP can be read by others"
            ),
            format!("send `--http {}`, and let a tunnel or a proxy with HTTPS lead there", of_port(parsed.port())),
        ),
        kind => {
            usage(format!("nothing can come in at `{parsed}`: {kind}"), "name another port, or 0 for any that is free")
        }
    })
}

/// Cancels `stop` when the person or the system wants the program to end. It listens at once, before anything is served.
fn stop_on_signal(runtime: &Runtime, stop: CancellationToken) -> io::Result<()> {
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
