//! `memdir tools import`: servers that another program knows, written into `tools.toml`.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

mod entry;

use super::approve::Asking;
use super::registry::Registry;
use crate::args::Global;
use crate::install::{self, ServerList};
use crate::output::say;
use crate::stop::{Stop, usage};
use crate::{question, term};
use entry::Found;
use memdir_core::report::{Code, Failure};
use memdir_engine::ChangeError;
use memdir_plan::{count, unified};
use memdir_policy as policy;
use memdir_tools::{Server, ServerName, write_registry};

/// What an import comes to.
#[derive(Debug, Default, Serialize)]
struct Import {
    /// The servers that are added, under the names that they get.
    added: Vec<ServerName>,
    /// Those that are not, and why.
    skipped: Vec<Skipped>,
    /// The variables that have to be set: a key was written out, or the other program asks for it.
    variables: Vec<String>,
    /// Whether anything was written.
    changed: bool,
    diff: String,
    #[serde(skip)]
    servers: Vec<Server>,
}

/// A server that is left where it is.
#[derive(Debug, Serialize)]
struct Skipped {
    name: String,
    reason: String,
}

pub(super) fn run(global: &Global, registry: &Registry, from: &str, yes: bool) -> Result<u8, Stop> {
    let lists = lists(from)?;
    let known = registry.read()?;
    let mut import = Import::default();
    for list in &lists {
        for found in entry::read(list) {
            import.take(found, &known);
        }
    }
    if import.servers.is_empty() {
        return import.answer(global);
    }
    let all = known.iter().chain(&import.servers).cloned().collect();
    let text = |servers| write_registry(servers).map_err(|error| Failure::new(Code::Usage, error.to_string()));
    import.diff = unified("tools.toml", Some(text(known)?.as_bytes()), "tools.toml", Some(text(all)?.as_bytes()));
    if !agrees(global, &import, yes)? {
        return Ok(0);
    }
    registry.change(|servers| {
        let is_taken = |server: &Server| servers.iter().any(|known| known.name == server.name);
        if let Some(taken) = import.servers.iter().find(|server| is_taken(server)) {
            let failure = Failure::new(Code::Conflict, format!("a server `{}` was added meanwhile", taken.name));
            return Err(failure.with_hint("send the same again"));
        }
        servers.append(&mut import.servers);
        Ok(())
    })?;
    Import { changed: true, ..import }.answer(global)
}

/// The lists of servers of an assistant, or in a file.
fn lists(from: &str) -> Result<Vec<ServerList>, Stop> {
    let lists = match install::servers_of(from) {
        Some(lists) => lists?,
        None => vec![install::servers_in(&PathBuf::from(from))?],
    };
    if lists.is_empty() {
        let failure = Failure::new(Code::NotFound, format!("{from} keeps no servers here"));
        return Err(failure.with_hint("name its file: `memdir tools import FILE`").into());
    }
    Ok(lists)
}

fn agrees(global: &Global, import: &Import, yes: bool) -> Result<bool, Stop> {
    match Asking::of(global, yes) {
        Asking::Agreed => Ok(true),
        Asking::Nobody => {
            let failure =
                usage("there is no terminal to ask on, so nothing is added", "look at the change, then send `--yes`");
            Err(ChangeError { failure, diff: Some(import.diff.clone()) }.into())
        }
        Asking::Ask => {
            import.say_rest()?;
            writeln!(io::stderr(), "{}", term::diff(&import.diff, &io::stderr()))?;
            let what = count(import.added.len(), "server");
            question::agrees_or(&format!("add {what}?"), "nothing was added")
        }
    }
}

impl Import {
    /// Takes one server over, or says why not.
    fn take(&mut self, found: Found, known: &[Server]) {
        let Found { name, enabled, transport, asked } = found;
        let mut transport = match transport {
            Ok(transport) => transport,
            Err(reason) => return self.skipped.push(Skipped { name, reason }),
        };
        let is_same = |server: &&Server| server.transport == transport;
        if let Some(same) = known.iter().chain(&self.servers).find(is_same) {
            let reason = format!("`{}` is the same", same.name);
            return self.skipped.push(Skipped { name, reason });
        }
        // With its keys taken out it may be one that was imported before.
        if let Some(same) =
            known.iter().find(|server| entry::is_without_keys(server, &transport, &policy::holds_secret))
        {
            let reason = format!("`{}` is the same", same.name);
            return self.skipped.push(Skipped { name, reason });
        }
        let Some(own) = self.name(&name, known) else {
            return self.skipped.push(Skipped { name, reason: "no name is left for it".to_owned() });
        };
        let variables = match entry::without_secrets(&own, &mut transport, &policy::holds_secret) {
            Ok(variables) => variables,
            Err(reason) => return self.skipped.push(Skipped { name, reason }),
        };
        let server = Server { enabled, ..Server::new(own.clone(), transport) };
        if let Err(error) = write_registry(vec![server.clone()]) {
            return self.skipped.push(Skipped { name, reason: error.to_string() });
        }
        for name in variables.into_iter().chain(asked) {
            if !self.variables.contains(&name) {
                self.variables.push(name);
            }
        }
        self.added.push(own);
        self.servers.push(server);
    }

    /// A name for a server that another program calls `name`: one that no other has.
    fn name(&self, name: &str, known: &[Server]) -> Option<ServerName> {
        let is_free = |name: &ServerName| known.iter().chain(&self.servers).all(|server| server.name != *name);
        (1..=known.len() + self.servers.len() + 1)
            .filter_map(|number| entry::server_name(name, number).ok())
            .find(is_free)
    }

    fn answer(&self, global: &Global) -> Result<u8, Stop> {
        global.answer(self, |_| {
            self.say_rest()?;
            match self.added.as_slice() {
                [] => say("nothing to add")?,
                _ if !self.changed => {}
                added => {
                    let names: Vec<&str> = added.iter().map(ServerName::as_str).collect();
                    say(format!("added: {}", names.join(", ")))?;
                    say("`memdir tools approve` starts them, shows their tools and asks")?;
                }
            }
            Ok(())
        })
    }

    /// Says what is not taken over, and what has to be set.
    fn say_rest(&self) -> io::Result<()> {
        self.skipped.iter().try_for_each(|Skipped { name, reason }| say(format!("not {name}: {reason}")))?;
        self.variables
            .iter()
            .try_for_each(|name| say(format!("set {name} in the environment of memdir: its value is not taken over")))
    }
}
