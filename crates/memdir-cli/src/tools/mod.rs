//! `memdir tools`: the tools of other MCP servers, and what may be done with them.
//!
//! Owns the file `tools.toml`, the words about servers and tools, and the person's own calls. Connections are `memdir_hub`'s, and
//! whether a call may be made is decided by `memdir_tools` and the engine.

use std::ffi::OsString;
use std::sync::Arc;

mod add;
mod approve;
mod args;
mod call;
mod doctor;
pub(super) mod elicit;
mod import;
mod login;
mod registry;
mod settle;
mod shown;

pub(super) use args::{LONG, ToolsCommand};

use super::args::Global;
use super::config::Sources;
use super::stop::Stop;
use args::{ServersCommand, SettleCommand, UseCommand};
use memdir_core::report::Failure;
use memdir_hub::Hub;
use memdir_tools::{Permission, ToolName};
use registry::Registry;

pub(super) fn run(global: &Global, command: Option<&ToolsCommand>) -> Result<u8, Stop> {
    let registry = Registry::of(&Sources::read()?)?;
    match command {
        None => shown::list(global, &registry),
        Some(ToolsCommand::Servers(command)) => run_servers(global, &registry, command),
        Some(ToolsCommand::Settle(command)) => run_settle(global, &registry, command),
        Some(ToolsCommand::Use(command)) => run_use(global, &registry, command),
    }
}

fn run_servers(global: &Global, registry: &Registry, command: &ServersCommand) -> Result<u8, Stop> {
    match command {
        ServersCommand::Add(options) => add::run(global, registry, options),
        ServersCommand::List => shown::list(global, registry),
        ServersCommand::Show(named) => shown::show(global, registry, &named.name),
        ServersCommand::Remove(named) => settle::remove(global, registry, &named.name),
        ServersCommand::Enable(named) => settle::enable(global, registry, &named.name, true),
        ServersCommand::Disable(named) => settle::enable(global, registry, &named.name, false),
        ServersCommand::Import(options) => import::run(global, registry, &options.from, options.yes),
    }
}

fn run_settle(global: &Global, registry: &Registry, command: &SettleCommand) -> Result<u8, Stop> {
    match command {
        SettleCommand::Allow(names) => settle::permit(global, registry, names, Permission::Allow),
        SettleCommand::Ask(names) => settle::permit(global, registry, names, Permission::Ask),
        SettleCommand::Deny(names) => settle::permit(global, registry, names, Permission::Deny),
        SettleCommand::Approve(options) => approve::run(global, registry, &options.names, options.yes),
        SettleCommand::Cache(options) => settle::cache(global, registry, options),
    }
}

fn run_use(global: &Global, registry: &Registry, command: &UseCommand) -> Result<u8, Stop> {
    match command {
        UseCommand::Call(options) => call::run(global, registry, options),
        UseCommand::Logs(options) => doctor::logs(global, registry, &options.name, options.lines),
        UseCommand::Doctor(options) => doctor::run(global, registry, options.name.as_ref()),
        UseCommand::Login(options) => login::login(global, registry, options),
        UseCommand::Logout(named) => login::logout(global, registry, &named.name),
    }
}

/// Whether this process was started as the guard of the servers of another one; then it is that, and ends with it.
pub(super) fn was_guard(arguments: &[OsString]) -> bool {
    let [_, word, mark] = arguments else { return false };
    let is_guard = word == registry::GUARD;
    if let Some(mark) = mark.to_str().filter(|_| is_guard) {
        memdir_hub::guard(mark);
    }
    is_guard
}

/// The tools of the servers that the person has added, and of those that are added while the program runs.
///
/// # Errors
///
/// `config` where the registry cannot be read, or this system names no folder for it.
pub(super) fn start_hub(sources: &Sources) -> Result<Arc<Hub>, Failure> {
    Ok(Arc::new(Registry::of(sources)?.hub()?))
}

/// The names among these that no server has, and no tool of one, as far as its tools are known.
///
/// # Errors
///
/// `config` where the registry cannot be read.
pub(super) fn unknown_names(sources: &Sources, names: &[String]) -> Result<Vec<String>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let all = Registry::of(sources)?.read()?;
    let is_there = |name: &str| {
        all.iter().any(|server| {
            let mut known = server.tools.keys().map(|own| ToolName::of(&server.name, own));
            let is_open = || server.tools.is_empty() && ToolName::server_in(name).as_ref() == Some(&server.name);
            server.name.as_str() == name || known.any(|tool| tool.as_str() == name) || is_open()
        })
    };
    Ok(names.iter().filter(|name| !is_there(name)).cloned().collect())
}

/// How many servers are added, and how many of them are in use.
///
/// # Errors
///
/// `config` where the registry cannot be read.
pub(super) fn count(sources: &Sources) -> Result<(usize, usize), Failure> {
    if sources.path().is_none() {
        return Ok((0, 0));
    }
    let all = Registry::of(sources)?.read()?;
    Ok((all.len(), all.iter().filter(|server| server.enabled).count()))
}
