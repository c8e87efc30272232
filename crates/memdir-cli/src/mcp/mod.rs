//! `memdir mcp`: the memory for any client of the Model Context Protocol.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::args::{self, Global};
use super::config::Sources;
use super::stop::{Stop, usage};
use super::{client, interrupt, open, tools};
use memdir_core::report::{Code, Failure};
use memdir_mcp::{HttpOptions, HubOffer, HubOptions, Names, Options, Server, ToolSet, listen, serve_http, serve_stdio};
use memdir_policy::Mode;
use memdir_tools::Toolbox;

mod agent;

/// Options of `mcp`.
#[derive(Args, Debug)]
pub(super) struct McpArgs {
    /// Which tools to offer
    #[arg(long, value_name = "SET", default_value = "compact", value_parser = args::one_of(args::TOOL_SETS))]
    pub(super) tools: ToolSet,
    /// Refuse every action that writes
    #[arg(long)]
    pub(super) read_only: bool,
    /// How to treat personal facts and active content: off only reports them, flag requires the model to state that
    /// the person agreed, ask holds them for the person's approval, all holds every change
    #[arg(long, value_name = "MODE", value_parser = args::one_of(args::MODES))]
    pub(super) permission: Option<Mode>,
    /// Also offer the tools of the servers that `memdir tools add` has added; to a registered client those that it was granted
    /// with `client add --hub`
    #[arg(long, value_name = "TOOLS", num_args = 0..=1, require_equals = true, default_missing_value = "few",
        value_parser = args::one_of(args::HUB_OFFERS))]
    pub(super) hub: Option<HubOffer>,
    /// Show only what this registered client may see; this is configuration, not security
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
    /// Serve registered clients over HTTP at this local address; a port alone is enough
    #[arg(long, value_name = "ADDR", conflicts_with = "client")]
    pub(super) http: Option<String>,
    /// Also answer requests for this host name, such as those that a proxy passes on
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(super) allow_host: Vec<String>,
    /// Also answer web pages from this origin
    #[arg(long, value_name = "URL", requires = "http")]
    pub(super) allow_origin: Vec<String>,
}

pub(super) fn run(global: &Global, options: &McpArgs) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let settled = Options {
        tools: options.tools,
        read_only: options.read_only,
        mode: options.permission.unwrap_or(opened.config.permission.mcp),
        hub: options.hub.map(hub).transpose()?,
    };
    let agent = agent::agent(global, &opened.config, settled.mode);
    let clients = Arc::new(client::register(&opened.root, options.client.as_deref(), memdir_host::now)?);
    let broken = |error: std::io::Error| Failure::new(Code::Internal, format!("the server cannot start: {error}"));
    let server = Server::new(opened.engine, settled, clients).map_err(broken)?;
    server.set_agent(agent);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let stop = CancellationToken::new();
    interrupt::stop_on_signal(&runtime, stop.clone()).map_err(broken)?;
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

/// The tools of other servers. There need not be any yet: one that is added later is told of.
fn hub(offered: HubOffer) -> Result<HubOptions, Failure> {
    let toolbox: Arc<dyn Toolbox> = tools::start_hub(&Sources::read()?)?;
    Ok(HubOptions { toolbox, offered })
}

/// Under which names the person wants the server to be reached.
fn reached(options: &McpArgs) -> Result<HttpOptions, Failure> {
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
