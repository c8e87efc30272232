//! What `doctor` says of the assistants on this machine: whether each starts memdir, was seen, and shows its tools to models.

use std::path::Path;

use super::{Check, Status};
use crate::install::{self, Connection, Loaded};
use memdir_vault::LastCall;
use memdir_words::ago;

/// The way in of hooks, as the audit names it.
const HOOK: &str = "hook";

/// One check for each assistant that is here, as it stands to the memory at `root`, and one for each memory that one keeps itself.
pub(super) fn checks(root: &Path, calls: &[LastCall]) -> Vec<Check> {
    let connections = install::look();
    let memories = install::other_memories();
    let memories = memories.into_iter().map(|memory| {
        let message = format!("keeps a memory of its own, in {}", memory.place);
        Check { hint: Some(memory.advice.to_owned()), ..Check::ok(memory.name, message) }
    });
    connections.iter().map(|connection| check(connection, root, calls)).chain(memories).collect()
}

fn check(connection: &Connection, root: &Path, calls: &[LastCall]) -> Check {
    let name = connection.name;
    if let Some((message, hint)) = connection.fault(Some(root)) {
        // What is somebody else's may be as the person wants it.
        let status = if hint.is_some() { Status::Warn } else { Status::Ok };
        return Check { name, status, message, hint };
    }
    let Some(loaded) = connection.loaded() else {
        if connection.has_plugin {
            return Check::ok(name, format!("its plugin starts memdir; {}", last(connection, calls, false)));
        }
        let hint = format!("`memdir install {name}` sets it up");
        return Check { hint: Some(hint), ..Check::ok(name, "installed, but not set up to start memdir") };
    };
    if connection.has_plugin {
        let hint = format!("`memdir install {name} --remove` removes the entry, so that only the plugin starts memdir");
        return Check::warn(name, "starts memdir twice, by its plugin and by an entry", &hint);
    }
    let (tools, hint) = tools(connection, loaded);
    let hooks = match connection.hooks {
        Some(true) if connection.are_hooks_off => "; its hooks are switched off by `disableAllHooks`".to_owned(),
        Some(true) => format!("; hooks: {}", last(connection, calls, true)),
        Some(false) => "; no hooks".to_owned(),
        None => String::new(),
    };
    let message = format!("starts memdir; {tools}; {}{hooks}", last(connection, calls, false));
    let status = if loaded == Loaded::NotYet { Status::Warn } else { Status::Ok };
    Check { name, status, message, hint }
}

/// Whether models see the tools, and what the person can do about it.
fn tools(connection: &Connection, loaded: Loaded) -> (&'static str, Option<String>) {
    let name = connection.name;
    let hooks = (connection.hooks == Some(false))
        .then(|| format!("`memdir install {name} --hooks` shows models what fits each prompt, without a search"));
    match loaded {
        Loaded::Yes => ("its tools are loaded", None),
        Loaded::NotYet => {
            let hint = format!("`memdir install {name}` adds the key that loads them");
            ("models have to search for its tools", Some(hint))
        }
        Loaded::TurnedOff => ("models have to search for its tools, as its entry says", hooks),
        Loaded::Searched => ("models have to search for its tools, as for all servers", hooks),
        Loaded::Undecided => ("the program decides whether its tools are loaded", hooks),
    }
}

/// When the assistant was last seen: through its hooks, or otherwise.
fn last(connection: &Connection, calls: &[LastCall], by_hook: bool) -> String {
    let mut own = calls.iter().filter(|call| (call.door == HOOK) == by_hook && connection.is_client(&call.client));
    match own.next() {
        Some(call) => format!("last used {}", ago::words(&call.time.to_string(), memdir_host::now())),
        None => "not seen yet".to_owned(),
    }
}
