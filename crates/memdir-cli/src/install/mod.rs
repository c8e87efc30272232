//! `memdir install`: sets up an assistant so that it starts memdir by itself.
//!
//! Owns where each assistant keeps its configuration and how what is ours is put into it. All else in such a file is
//! the person's: it stays byte for byte, and a file that cannot be read as what it should be is not touched.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

mod apply;
mod args;
mod assistants;
mod change;
mod disk;
mod edit;
mod json;
mod line;
mod places;
mod servers;
mod state;
mod toml;
mod yaml;

pub(super) use args::{InstallArgs, LONG};
pub(super) use edit::is_memdir;
pub(super) use servers::{ServerList, is_enabled, servers_in, servers_of};
pub(super) use state::{Connection, Here, Loaded, here, look, other_memories};

use super::args::{Global, TOOL_SETS};
use super::config::Sources;
use super::exit;
use super::output::{Lines, say, say_failure};
use super::stop::{Stop, usage};
use super::{client, open, question};
use apply::{Done, Part};
use assistants::{ASSISTANTS, Assistant};
use change::{Format, Wanted};
use memdir_core::report::{Code, Failure};
use memdir_mcp::ToolSet;

/// The name of our entry.
const NAME: &str = "memdir";

/// The options of what is started that `install` writes.
const MEMORY: &str = "--memory";
const STATE: &str = "--state";
const CLIENT: &str = "--client";
const TOOLS: &str = "--tools";

/// What an assistant starts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Entry {
    command: String,
    args: Vec<String>,
}

pub(super) fn run(global: &Global, options: &InstallArgs) -> Result<u8, Stop> {
    if let Some(file) = &options.agents_md {
        return write_line(global, options, file);
    }
    let Some(assistant) = options.assistant else { return all(global, options) };
    if options.print {
        return print(global, options, assistant);
    }
    let Some(done) = set_up(global, options, assistant)? else { return Ok(0) };
    global.answer(&done, |stdout| {
        done.show(stdout)?;
        match assistant.instructions.filter(|_| !options.remove && done.has_changed()) {
            Some(file) => {
                Ok(say(format!("`memdir install --agents-md {file}` adds a line to a project that reminds it"))?)
            }
            None => Ok(()),
        }
    })
}

/// Sets up one assistant, or takes memdir out of it; `None` where the person wants nothing changed.
fn set_up(global: &Global, options: &InstallArgs, assistant: &Assistant) -> Result<Option<Done>, Stop> {
    if options.remove {
        let parts = taken_out(options, assistant)?;
        return apply::apply(global, options, assistant.name, parts, assistant.restart.to_owned());
    }
    let (parts, hint) = put_in(global, options, assistant)?;
    let next = match servers::is_off(assistant) {
        true => format!("its entry is switched off there: switch it on, then {}", assistant.next()),
        false => assistant.next(),
    };
    let mut done = apply::apply(global, options, assistant.name, parts, next)?;
    if let Some(done) = &mut done {
        done.hint = hint;
    }
    Ok(done)
}

/// What is put into the files of an assistant, and what the person may have meant beside it.
fn put_in(global: &Global, options: &InstallArgs, assistant: &Assistant) -> Result<(Vec<Part>, Option<String>), Stop> {
    if !assistant.is_here() {
        let name = assistant.name;
        let failure = Failure::new(Code::NotFound, format!("{name} is not found on this machine"));
        let hint = format!("start it once; or `memdir install {name} --print` prints the entry for you to add");
        return Err(failure.with_hint(hint).into());
    }
    let entry = entry(global, options, assistant)?;
    let program = &entry.server.command;
    if !is_memdir(program) {
        let message = format!("this program is {program}, and an entry is known as memdir's by the name `memdir`");
        let hint = "call it by that name, such as by a link; `memdir install NAME --print` prints the entry for any";
        return Err(usage(message, hint).into());
    }
    let hint = entry.hint.clone();
    let mut parts = Vec::new();
    if options.hooks {
        let (place, format) = hooks_of(assistant)?;
        parts.push(Part::new(place, format, Wanted::There(entry.for_hooks(assistant)))?);
    }
    let server = Part::new(assistant.servers.file()?, assistant.format, Wanted::There(entry.server))?;
    parts.insert(0, server);
    Ok((parts, hint))
}

/// What is taken out of them: with `--hooks` the hooks alone.
fn taken_out(options: &InstallArgs, assistant: &Assistant) -> Result<Vec<Part>, Stop> {
    let mut parts = Vec::new();
    if !options.hooks {
        parts.push(Part::new(assistant.servers.file()?, assistant.format, Wanted::Gone)?);
    }
    if options.hooks || state::has_hooks(assistant) {
        let (place, format) = hooks_of(assistant)?;
        parts.push(Part::new(place, format, Wanted::Gone)?);
    }
    Ok(parts)
}

/// Where an assistant keeps hooks, and how.
fn hooks_of(assistant: &Assistant) -> Result<(PathBuf, Format), Failure> {
    let Some((place, form)) = &assistant.hooks else {
        let with = ASSISTANTS.iter().filter(|assistant| assistant.hooks.is_some()).map(|assistant| assistant.name);
        let hint = format!("supported: {}", with.collect::<Vec<_>>().join(", "));
        return Err(usage(format!("memdir has no hooks for {}", assistant.name), hint));
    };
    Ok((place.file()?, Format::Hooks(*form)))
}

/// Prints what a person can add by hand.
fn print(global: &Global, options: &InstallArgs, assistant: &Assistant) -> Result<u8, Stop> {
    let entry = entry(global, options, assistant)?;
    let (path, snippet) = match options.hooks {
        true => {
            let (path, format) = hooks_of(assistant)?;
            (path, format.snippet(&entry.for_hooks(assistant)))
        }
        false => (assistant.servers.file()?, assistant.format.snippet(&entry.server)),
    };
    let file = path.display().to_string();
    global.answer(&json!({"client": assistant.name, "file": file, "entry": snippet}), |stdout| {
        say(format!("for {file}:"))?;
        Ok(write!(stdout, "{snippet}")?)
    })
}

/// Writes the line for coding agents, or takes it out.
fn write_line(global: &Global, options: &InstallArgs, file: &Path) -> Result<u8, Stop> {
    let wanted = if options.remove { Wanted::Gone } else { Wanted::There(Entry::default()) };
    let parts = vec![Part::new(file.to_owned(), Format::Line, wanted)?];
    let next = "agents read it when they start in this folder".to_owned();
    match apply::apply(global, options, "agents", parts, next)? {
        Some(done) => global.answer(&done, |stdout| done.show(stdout)),
        None => Ok(0),
    }
}

/// Lists the assistants that are here, and sets all up, or takes memdir out of all, where the person says so.
fn all(global: &Global, options: &InstallArgs) -> Result<u8, Stop> {
    let here = here(None);
    let is_asked = !global.json && question::can_ask();
    let connections = look();
    let meant = || connections.iter().filter(|connection| is_meant(options, connection)).map(Connection::assistant);
    if (options.remove || options.hooks) && !options.yes && !options.dry_run && !is_asked && meant().next().is_some() {
        return Err(usage("there is no terminal to ask on, so nothing is changed", "send `--yes`").into());
    }
    if !options.yes && !options.dry_run && (!is_asked || here.is_empty()) {
        return list(global, &here);
    }
    if is_asked {
        list(global, &here)?;
    }
    let (mut all, mut code) = (Vec::new(), 0);
    for assistant in meant() {
        match set_up(global, options, assistant) {
            Ok(done) => all.extend(done.map(Ended::Done)),
            // One whose file cannot be changed is no reason to leave the others.
            Err(stop) if matches!(stop, Stop::Failed(_)) => {
                let Some(error) = stop.failure() else { continue };
                code = if code == 0 { exit::code(error.code) } else { code };
                all.push(Ended::Failed { client: assistant.name, error });
            }
            Err(stop) => return Err(stop),
        }
    }
    global.answer(&json!({ "assistants": all }), |stdout| {
        all.iter().try_for_each(|ended| match ended {
            Ended::Done(done) => done.show(stdout),
            Ended::Failed { client, error } => Ok(say_failure(client, error)?),
        })
    })?;
    Ok(code)
}

/// Whether there is something to do for an assistant, where none is named.
fn is_meant(options: &InstallArgs, connection: &Connection) -> bool {
    match (options.remove, options.hooks) {
        (false, false) => !connection.is_set_up(),
        (false, true) => connection.hooks.is_some_and(|has_hooks| !has_hooks || !connection.is_set_up()),
        (true, false) => connection.is_set_up() || connection.hooks == Some(true),
        (true, true) => connection.hooks == Some(true),
    }
}

/// How it ended for one of several assistants.
#[derive(Serialize)]
#[serde(untagged)]
enum Ended {
    Done(Done),
    Failed { client: &'static str, error: Failure },
}

/// Lists the assistants that are here.
fn list(global: &Global, here: &Here) -> Result<u8, Stop> {
    global.answer(here, |stdout| {
        for name in &here.set_up {
            writeln!(stdout, "{name}  starts memdir; `memdir install {name} --remove` takes it out")?;
        }
        for name in &here.others {
            writeln!(stdout, "{name}  is here; `memdir install {name}` sets it up")?;
        }
        for (name, fault) in &here.faults {
            stdout.line(format!("{name}  {fault}"))?;
        }
        if here.is_empty() {
            writeln!(stdout, "no assistant is found here; `memdir install --help` lists those that memdir knows")?;
        }
        if here.others.len() > 1 {
            say("`memdir install --yes` sets up all of them")?;
        }
        Ok(())
    })
}

/// What assistants shall start.
struct Entries {
    server: Entry,
    /// What says which memory it is, and as whom it is asked.
    which: Vec<String>,
    /// What the person may have meant beside it.
    hint: Option<String>,
}

impl Entries {
    fn for_hooks(&self, assistant: &Assistant) -> Entry {
        let mut args = ["hook", assistant.name].map(str::to_owned).to_vec();
        args.extend(self.which.iter().cloned());
        // Hooks that a client was named for are not let to see more.
        if let (None, Some(client)) = (option(&args, CLIENT), option(&state::hook_args(assistant), CLIENT)) {
            args.extend([CLIENT.to_owned(), client]);
        }
        Entry { command: self.server.command.clone(), args }
    }
}

/// What an assistant shall start: this program, on the memory that the options name. What an entry of ours says already, and the
/// options do not, stays: above all as which client it asks.
fn entry(global: &Global, options: &InstallArgs, assistant: &Assistant) -> Result<Entries, Stop> {
    let mut args = state::kept_args(assistant);
    let mut global = global.clone();
    for (flag, folder) in [(MEMORY, &mut global.memory), (STATE, &mut global.state)] {
        match folder {
            Some(_) => drop_option(&mut args, flag),
            None => *folder = option(&args, flag).map(PathBuf::from),
        }
    }
    let client = options.client.clone().or_else(|| option(&args, CLIENT));
    let sources = Sources::read()?;
    let root = open::locate_named(&global, &sources)?.folder.root().to_owned();
    let hint = if client.is_none() { unnamed_client(&sources, &root, assistant) } else { None };
    // Says at once what the assistant would otherwise say when it starts.
    client::register(&root, client.as_deref(), memdir_host::now)?;
    let own = memdir_host::own_program();
    let own = own.map_err(|error| Failure::new(Code::Internal, format!("memdir cannot find its own path: {error}")))?;
    let mut which = vec![MEMORY.to_owned(), text(&root)?];
    if let Some(state) = &global.state {
        let state = memdir_host::make_folder(state).map_err(|error| usage(error.to_string(), "name another folder"))?;
        which.extend([STATE.to_owned(), text(&state)?]);
    }
    if let Some(client) = client {
        which.extend([CLIENT.to_owned(), client]);
    }
    [MEMORY, STATE, CLIENT].iter().for_each(|flag| drop_option(&mut args, flag));
    let tools = options.tools.and_then(|tools| TOOL_SETS.iter().find(|(_, set, _)| *set == tools));
    if let Some((name, set, _)) = tools {
        drop_option(&mut args, TOOLS);
        if *set != ToolSet::Compact {
            args.extend([TOOLS.to_owned(), (*name).to_owned()]);
        }
    }
    let args = ["mcp".to_owned()].into_iter().chain(which.iter().cloned()).chain(args).collect();
    Ok(Entries { server: Entry { command: text(&own)?, args }, which, hint })
}

/// Tells of a client that is called like the assistant: its grant does not hold for an entry that does not name it.
fn unnamed_client(sources: &Sources, root: &Path, assistant: &Assistant) -> Option<String> {
    // Where they cannot be read, `register` says so.
    let client = client::names(sources, root).unwrap_or_default().into_iter().find(|name| assistant.is_client(name))?;
    let name = assistant.name;
    let command = format!("`memdir install {name} --client {client}`");
    Some(format!("this entry may see and change everything; {command} gives it what the client `{client}` was granted"))
}

/// The value of an option among arguments: of two, the last counts.
fn option(args: &[String], flag: &str) -> Option<String> {
    let joined = |arg: &String| arg.strip_prefix(flag)?.strip_prefix('=').map(str::to_owned);
    let apart = |at: usize, arg: &String| if arg == flag { args.get(at + 1).cloned() } else { None };
    args.iter().enumerate().rev().find_map(|(at, arg)| joined(arg).or_else(|| apart(at, arg)))
}

/// Takes an option and its value out of arguments.
fn drop_option(args: &mut Vec<String>, flag: &str) {
    let mut is_value = false;
    args.retain(|arg| {
        if std::mem::take(&mut is_value) {
            return false;
        }
        is_value = arg == flag;
        !is_value && !arg.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
    });
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| usage(format!("{} is no UTF-8, so no configuration can name it", path.display()), "rename it"))
}

#[cfg(test)]
mod tests;
