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
use super::exit::Stop;
use memdir_core::report::Failure;
use memdir_hub::Hub;
use memdir_tools::Permission;
use registry::Registry;

pub(super) fn run(global: &Global, command: Option<&ToolsCommand>) -> Result<u8, Stop> {
    let registry = Registry::of(&Sources::read()?)?;
    match command {
        None | Some(ToolsCommand::List) => shown::list(global, &registry),
        Some(ToolsCommand::Add(options)) => add::run(global, &registry, options),
        Some(ToolsCommand::Show { name }) => shown::show(global, &registry, name),
        Some(ToolsCommand::Remove { name }) => settle::remove(global, &registry, name),
        Some(ToolsCommand::Enable { name }) => settle::enable(global, &registry, name, true),
        Some(ToolsCommand::Disable { name }) => settle::enable(global, &registry, name, false),
        Some(ToolsCommand::Allow(names)) => settle::permit(global, &registry, names, Permission::Allow),
        Some(ToolsCommand::Ask(names)) => settle::permit(global, &registry, names, Permission::Ask),
        Some(ToolsCommand::Deny(names)) => settle::permit(global, &registry, names, Permission::Deny),
        Some(ToolsCommand::Approve { names, yes }) => approve::run(global, &registry, names, *yes),
        Some(ToolsCommand::Cache { tool, keep }) => settle::cache(global, &registry, tool, *keep),
        Some(ToolsCommand::Call(options)) => call::run(global, &registry, options),
        Some(ToolsCommand::Logs { name, lines }) => doctor::logs(global, &registry, name, *lines),
        Some(ToolsCommand::Doctor { name }) => doctor::run(global, &registry, name.as_ref()),
        Some(ToolsCommand::Login(options)) => login::login(global, &registry, options),
        Some(ToolsCommand::Logout { name }) => login::logout(global, &registry, name),
        Some(ToolsCommand::Import { from, yes }) => import::run(global, &registry, from, *yes),
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

/// The tools of the servers that the person has added; `None` where there are none, and then nothing is started.
///
/// # Errors
///
/// `config` where the registry cannot be read.
pub(super) fn open_hub(sources: &Sources) -> Result<Option<Arc<Hub>>, Failure> {
    if sources.path().is_none() {
        return Ok(None);
    }
    let registry = Registry::of(sources)?;
    if registry.read()?.is_empty() { Ok(None) } else { Ok(Some(Arc::new(registry.hub()?))) }
}

/// The same where there need not be any yet, for a program that serves those which are added while it runs.
///
/// # Errors
///
/// `config` where the registry cannot be read, or this system names no folder for it.
pub(super) fn start_hub(sources: &Sources) -> Result<Arc<Hub>, Failure> {
    Ok(Arc::new(Registry::of(sources)?.hub()?))
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
