//! What can be typed behind `memdir tools`.

use std::num::NonZeroU32;

use clap::{Args, Subcommand};

use memdir_tools::ServerName;

/// What `memdir tools --help` says.
pub(crate) const LONG: &str = "Add the tools of other MCP servers: a calendar, files, mail, the web.

The servers are kept in tools.toml beside the settings file; only you may read it. Nothing in a memory configures one. \
A server's tools are approved as they are when you add it: one that changes its description or its arguments is refused until \
you have seen the difference and agreed. In every conversation the tools are off until you switch them on, and each call is asked \
about unless you allow it. Without a command, the servers are listed.";

const ADD: &str = "Add a server, and approve the tools that it has now.

Keys are kept only as ${VARIABLE}, which is read from the environment when the server is started: write \
--env KEY for KEY=${KEY}, and quote the rest, as in --header 'Authorization: Bearer ${TOKEN}'. The server is started at once, its \
tools are shown, and you are asked to approve them. If it cannot be reached it is kept, and none of its tools can be called \
before `memdir tools approve`.";

const IMPORT: &str = "Take servers over from an assistant, or from a file in JSON, TOML or YAML.

Shows what would be added to tools.toml, and asks. The file of the assistant is only read. Keys that are written out in it are not \
taken over: the variable to set is named. Nothing is started; `memdir tools approve` then shows what the servers offer.";

const CALL: &str = "Call a tool.

The arguments are a JSON object; `-` reads it from standard input. A tool that you deny is not called; one that is asked about is \
asked about here, or needs --yes. Prints the text of the result, or with --json the result as the server sent it. Exit status: 0 \
done; 3 not allowed; 4 failed, or the tool says that it failed. Each call is an entry of the memory's audit.";

/// What can be done with the tools of other servers. Grouped, because the parser that clap makes of an enum needs stack for every
/// variant in it.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Which servers there are.
    #[command(flatten)]
    Servers(ServersCommand),
    /// What holds for their tools.
    #[command(flatten)]
    Settle(SettleCommand),
    /// Calling tools, and looking after servers.
    #[command(flatten)]
    Use(UseCommand),
}

/// Commands about which servers there are.
#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// Add a server, and approve the tools that it has now
    #[command(long_about = ADD)]
    Add(AddServer),
    /// List the servers: how they are reached, how many tools they have, and what holds for them
    List,
    /// Show a server's tools: what each does, whether it may be called, whether it is as you approved it
    Show(Named),
    /// Remove a server, with what was approved, its login, its lists and its log
    Remove(Named),
    /// Use a server again
    Enable(Named),
    /// Stop using a server, at once and in running programs too; it stays on the list
    Disable(Named),
    /// Take servers over from an assistant, or from a file in JSON, TOML or YAML
    #[command(long_about = IMPORT)]
    Import(ImportServers),
}

/// Commands about what holds for tools.
#[derive(Debug, Subcommand)]
pub(crate) enum SettleCommand {
    /// Call tools without a question
    Allow(Names),
    /// Ask before each call, which is the default
    Ask(Names),
    /// Never call tools
    Deny(Names),
    /// Approve what servers have changed in their tools, once you have seen it
    Approve(ApproveTools),
    /// Keep a tool's results, and give them again for the same arguments
    Cache(CacheResults),
}

/// Commands that call tools, and look after servers.
#[derive(Debug, Subcommand)]
pub(crate) enum UseCommand {
    /// Call a tool
    #[command(long_about = CALL)]
    Call(CallTool),
    /// Show the last lines that a server wrote to its standard error
    Logs(Logs),
    /// Connect to servers: which protocol they speak, how many tools they have, how fast they answer
    Doctor(Examine),
    /// Log in to a server, in your browser
    Login(Login),
    /// Forget a login
    Logout(Named),
}

/// One server.
#[derive(Args, Debug)]
pub(crate) struct Named {
    /// The server
    #[arg(value_parser = server)]
    pub(super) name: ServerName,
}

/// Options of `tools import`.
#[derive(Args, Debug)]
pub(crate) struct ImportServers {
    /// An assistant that `memdir install` knows, such as claude-code, or a file
    #[arg(value_name = "ASSISTANT|FILE")]
    pub(super) from: String,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

/// Options of `tools approve`.
#[derive(Args, Debug)]
pub(crate) struct ApproveTools {
    /// The servers; else all that are in use
    #[arg(value_parser = server, value_name = "NAME")]
    pub(super) names: Vec<ServerName>,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

/// Options of `tools cache`.
#[derive(Args, Debug)]
pub(crate) struct CacheResults {
    /// The tool, such as time__convert_time
    pub(super) tool: String,
    /// For how many seconds; `off` ends it
    #[arg(value_name = "SECONDS|off", value_parser = seconds)]
    pub(super) keep: Keep,
}

/// Options of `tools logs`.
#[derive(Args, Debug)]
pub(crate) struct Logs {
    /// The server
    #[arg(value_parser = server)]
    pub(super) name: ServerName,
    /// How many lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 40)]
    pub(super) lines: usize,
}

/// Options of `tools doctor`.
#[derive(Args, Debug)]
pub(crate) struct Examine {
    /// Only this one
    #[arg(value_parser = server)]
    pub(super) name: Option<ServerName>,
}

/// Options of `tools add`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("place").required(true))]
pub(crate) struct AddServer {
    /// What to call it: up to 24 of a-z, 0-9 and -, such as calendar
    #[arg(value_parser = server)]
    pub(super) name: ServerName,
    /// The program that is the server, and its arguments
    #[arg(last = true, group = "place", value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// The address of a server that is reached over HTTP
    #[arg(long, group = "place")]
    pub(super) url: Option<String>,
    /// It speaks the older form with server-sent events
    #[arg(long, requires = "url")]
    pub(super) sse: bool,
    /// A header of each request, such as 'Authorization: Bearer ${TOKEN}'
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    pub(super) header: Vec<String>,
    /// A variable that the program gets; KEY alone stands for KEY=${KEY}
    #[arg(long, value_name = "KEY[=VALUE]", conflicts_with = "url")]
    pub(super) env: Vec<String>,
    /// The folder that the program starts in; else your home folder
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(super) cwd: Option<String>,
    /// The longest that an answer may take; else 60
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<NonZeroU32>,
    /// How many calls a client may make in a minute
    #[arg(long, value_name = "N")]
    pub(super) rate: Option<NonZeroU32>,
    /// Approve its tools without asking
    #[arg(long)]
    pub(super) yes: bool,
}

/// Options of `tools login`.
#[derive(Args, Debug)]
pub(crate) struct Login {
    /// The server
    #[arg(value_parser = server)]
    pub(super) name: ServerName,
    /// The id of a client that you have registered there yourself; else memdir registers one
    #[arg(long, value_name = "ID")]
    pub(super) client_id: Option<String>,
    /// The variable of the environment that holds that client's secret
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    pub(super) client_secret: Option<String>,
    /// The authorisation server that knows that client; else the one that the server names
    #[arg(long, value_name = "URL", requires = "client_id")]
    pub(super) issuer: Option<String>,
}

/// Servers and tools.
#[derive(Args, Debug)]
pub(crate) struct Names {
    /// A server, such as time, or one of its tools, such as time__convert_time
    #[arg(required = true, value_name = "NAME")]
    pub(super) names: Vec<String>,
}

/// Options of `tools call`.
#[derive(Args, Debug)]
pub(crate) struct CallTool {
    /// The tool, such as time__convert_time
    pub(super) name: String,
    /// Its arguments as a JSON object; `-` reads them from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(super) arguments: String,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

/// How long results are kept; `None` for not at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep(pub(super) Option<NonZeroU32>);

fn server(text: &str) -> Result<ServerName, String> {
    ServerName::parse(text).map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<Keep, String> {
    match text {
        "off" => Ok(Keep(None)),
        text => text.parse().map(|seconds| Keep(Some(seconds))).map_err(|_| "a number of seconds, or `off`".to_owned()),
    }
}
