//! `memdir client`: which programs may ask for the memory, and what each may see and do.

use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

mod args;
mod file;
mod granted;
mod page;
mod register;
mod token;

pub(super) use args::{ClientCommand, LONG};
pub(super) use file::names;
pub(super) use granted::{granted, ungrant};
pub(super) use page::{add_from_page, registered, revoke_named};
pub(super) use register::{of_program, register};

use super::args::Global;
use super::config::Sources;
use super::open;
use super::output::{Lines, say};
use super::private_file::PrivateFile;
use super::stop::{Stop, usage};
use super::tools;
use args::Add;
use file::Entry;
use memdir_core::action::Access;
use memdir_core::catalog::{self, ROWS};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_engine as engine;
use memdir_mcp::ToolGrant;
use memdir_plan::count;
use memdir_policy::{Grant, GrantError};

use token::Token;

/// How long a name may be.
const LONGEST_NAME: usize = 64;
/// The word for all actions that only read.
const READ: &str = "read";

/// A client as it is shown: without its token, of which nobody knows more than a digest.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    name: &'a str,
    read: &'a [String],
    write: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hide: &'a [String],
    actions: Option<&'a [String]>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hub: &'a [String],
    expires: Option<Timestamp>,
    expired: bool,
    rate: Option<NonZeroU32>,
    may_approve: bool,
    created: Timestamp,
}

pub(super) fn run(global: &Global, command: &ClientCommand) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let memory = file::memory(open::folder(global, &sources)?.root())?;
    let clients = file::clients(&sources)?;
    match command {
        ClientCommand::Add(options) => add(global, &clients, memory, options),
        ClientCommand::List => list(global, &clients, &memory),
        ClientCommand::Revoke { name } => revoke(global, &clients, &memory, name),
    }
}

fn add(global: &Global, clients: &PrivateFile, memory: String, options: &Add) -> Result<u8, Stop> {
    let now = memdir_host::now();
    let (entry, grant, token) = new_entry(memory, options, now)?;
    let notes = open::open_to_read(global)?.engine.every_note()?;
    let seen = notes.iter().filter(|note| grant.shows(note)).count();
    let idle: Vec<&String> = entry.hide.iter().filter(|glob| !hides(glob, &notes)).collect();
    keep(clients, &entry)?;
    let shown = show(global, &entry, (seen, &idle), &token, now);
    if shown.is_err() {
        // Nobody has seen the token.
        clients.change(|all: &mut Vec<Entry>| {
            all.retain(|known| known.token != entry.token);
            Ok(())
        })?;
    }
    shown
}

/// Whether a path of `--hide` hides any of these notes.
fn hides(glob: &str, notes: &BTreeSet<MemoryPath>) -> bool {
    let all = Grant::new(&["**".to_owned()], &[], None);
    let grant = all.and_then(|all| all.hiding(&[glob.to_owned()]));
    grant.is_ok_and(|grant| notes.iter().any(|note| !grant.shows(note)))
}

/// The entry of a new client, its grant and its token. Nothing is kept yet.
fn new_entry(memory: String, options: &Add, now: Timestamp) -> Result<(Entry, Grant, Token), Failure> {
    check_name(&options.name)?;
    let read = if options.read.is_empty() { vec!["**".to_owned()] } else { options.read.clone() };
    if let Some(glob) = read.iter().chain(&options.write).find(|glob| glob.starts_with('!')) {
        let message = format!("`{}` takes nothing away", catalog::shorten(glob));
        let hint = format!("`--hide '{}'` does", &catalog::shorten(glob.trim_start_matches('!')));
        return Err(usage(message, hint));
    }
    let actions = actions(&options.tools);
    tool_grant(&options.hub)?;
    let token = Token::new().map_err(|error| engine::failure(&error))?;
    let entry = Entry {
        name: options.name.clone(),
        memory,
        token: token.digest(),
        read,
        write: options.write.clone(),
        hide: options.hide.clone(),
        actions,
        hub: options.hub.clone(),
        expires: options.expires.as_deref().map(|text| expires(text, now)).transpose()?,
        rate: options.rate,
        may_approve: options.may_approve,
        created: now,
        revoked: None,
    };
    let grant = entry.grant()?;
    Ok((entry, grant, token))
}

impl Entry {
    /// What it may see and do.
    fn grant(&self) -> Result<Grant, Failure> {
        let grant = Grant::new(&self.read, &self.write, self.actions.as_deref());
        grant.and_then(|grant| grant.hiding(&self.hide)).map_err(wrong_grant)
    }
}

/// The grant of these tools of other servers.
fn tool_grant(names: &[String]) -> Result<ToolGrant, Failure> {
    ToolGrant::new(names.iter().cloned()).map_err(|error| {
        usage(
            error.to_string(),
            "send `--hub calendar` for all tools of a server, or `--hub calendar__list_events` for one",
        )
    })
}

/// Adds a client to the register.
fn keep(clients: &PrivateFile, entry: &Entry) -> Result<(), Failure> {
    clients.change(|all: &mut Vec<Entry>| {
        all.retain(|known| known.revoked.is_none() || !known.is(&entry.memory, &entry.name));
        if all.iter().any(|known| known.is(&entry.memory, &entry.name)) {
            let failure = Failure::new(Code::AlreadyExists, format!("client `{}` is registered", entry.name));
            let hint = format!("`memdir client revoke {}` takes that back, or choose another name", entry.name);
            return Err(failure.with_hint(hint));
        }
        all.push(entry.clone());
        Ok(())
    })
}

/// Prints the token of a new client, this once.
fn show(global: &Global, entry: &Entry, seen: (usize, &[&String]), token: &Token, now: Timestamp) -> Result<u8, Stop> {
    let header = format!("Authorization: Bearer {}", token.reveal());
    let added = json!({"client": Shown::of(entry, now), "token": token.reveal(), "header": header});
    global.answer(&added, |stdout| {
        explain(entry, seen)?;
        Ok(writeln!(stdout, "{header}")?)
    })
}

/// Explains what a new client may do, how many notes it sees as they are now, what of its `--hide` hides none of these, and how it
/// connects.
fn explain(entry: &Entry, (seen, idle): (usize, &[&String])) -> Result<(), Stop> {
    say(words(entry))?;
    match seen {
        0 => say("note: these paths match no note now; a folder is written `people/`")?,
        seen => say(format!("it sees {} now", count(seen, "note")))?,
    }
    for glob in idle {
        let glob = catalog::shorten(glob);
        say(format!("note: `--hide {glob}` hides no note now; a folder is written `people/`, a note `people/ada.md`"))?;
    }
    let reads_all = entry.read.iter().any(|glob| glob == "**");
    let wider: Vec<&String> = entry.write.iter().filter(|glob| !reads_all && !entry.read.contains(glob)).collect();
    if !wider.is_empty() {
        say(format!("note: what it may write it may read too: {}", joined(wider.into_iter(), " and ")))?;
    }
    let name = &entry.name;
    // Where the servers cannot be read, `memdir tools` says so.
    let unknown = Sources::read().and_then(|sources| tools::unknown_names(&sources, &entry.hub)).unwrap_or_default();
    for wanted in &unknown {
        say(format!("note: there is no server or tool `{wanted}` now: `memdir tools` lists the servers"))?;
    }
    say(format!("on standard input and output: memdir mcp --client {name} (configuration, not security)"))?;
    say("over HTTP: the address that `memdir mcp --http` names, such as http://127.0.0.1:PORT/mcp, with the")?;
    Ok(say("header below; it is shown this once, and only a digest of it is kept")?)
}

fn list(global: &Global, clients: &PrivateFile, memory: &str) -> Result<u8, Stop> {
    let now = memdir_host::now();
    let (all, _) = clients.read::<Entry>()?;
    let own: Vec<&Entry> = all.iter().filter(|entry| entry.is_of(memory)).collect();
    let shapes: Vec<Shown> = own.iter().map(|entry| Shown::of(entry, now)).collect();
    global.answer(&json!({ "clients": shapes }), |stdout| {
        for entry in &own {
            let expired = if entry.is_expired(now) { "  (expired)" } else { "" };
            stdout.line(format!("{}{expired}", words(entry)))?;
        }
        if own.is_empty() {
            say("no clients: `memdir client add NAME` registers one")?;
        }
        Ok(())
    })
}

fn revoke(global: &Global, clients: &PrivateFile, memory: &str, name: &str) -> Result<u8, Stop> {
    revoke_entry(clients, memory, name)?;
    global.answer(&json!({ "revoked": name }), |_| {
        Ok(say(format!("client `{name}` is revoked; running servers refuse it from now on"))?)
    })
}

/// Revokes a client; its name stays in the register.
fn revoke_entry(clients: &PrivateFile, memory: &str, name: &str) -> Result<(), Failure> {
    clients.change(|all: &mut Vec<Entry>| {
        let Some(entry) = all.iter_mut().find(|entry| entry.is_of(memory) && entry.name == name) else {
            let own = all.iter().filter(|entry| entry.is_of(memory));
            let failure = unknown(name, &mut own.map(|entry| entry.name.as_str()));
            let is_installed = super::install::look().iter().any(|it| it.name == name && it.is_set_up());
            let remove = format!("`memdir install {name} --remove` takes memdir out of it");
            return Err(if is_installed { failure.with_hint(remove) } else { failure });
        };
        entry.revoked = Some(memdir_host::now());
        Ok(())
    })
}

/// Nobody is registered under this name; the hint names the nearest, or all.
fn unknown(name: &str, known: &mut dyn Iterator<Item = &str>) -> Failure {
    let known: Vec<&str> = known.collect();
    let hint = match catalog::nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "no client is registered for this memory: `memdir client add NAME`".to_owned(),
        None => format!("there is {}", joined(known.iter(), ", ")),
    };
    let message = format!("no client `{}` is registered for this memory", catalog::shorten(name));
    Failure::new(Code::NotFound, message).with_hint(hint)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    // One that starts with `-` would be an option where it is typed.
    if !name.is_empty() && name.len() <= LONGEST_NAME && !name.starts_with('-') && name.bytes().all(is_known) {
        return Ok(());
    }
    let message = format!("`{}` cannot be the name of a client", catalog::shorten(name));
    Err(usage(message, "send up to 64 of a-z, 0-9, `_` and `-`, such as `claude-desktop`"))
}

/// The actions that are meant; all of them where none is named.
fn actions(named: &[String]) -> Option<Vec<String>> {
    let reading = || ROWS.iter().filter(|row| row.access == Access::Read).map(|row| row.name.to_owned());
    let mut actions: Vec<String> = Vec::new();
    for name in named {
        let meant: Vec<String> = if name == READ { reading().collect() } else { vec![name.clone()] };
        for name in meant {
            if !actions.contains(&name) {
                actions.push(name);
            }
        }
    }
    (!actions.is_empty()).then_some(actions)
}

fn wrong_grant(error: GrantError) -> Failure {
    let hint = match &error {
        GrantError::Action(name) => match catalog::nearest(name, ROWS.iter().map(|row| row.name).chain([READ])) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`memdir actions` lists them; `read` means all that only read".to_owned(),
        },
        GrantError::Glob { .. } => "send a path of the memory or a glob, such as `work/**`".to_owned(),
    };
    usage(error.to_string(), hint)
}

/// Reads a span such as `30d`, or a date.
fn expires(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let span = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    let moment = match span {
        Some(days) => Some(now.plus(Duration::from_secs(u64::from(days) * 24 * 60 * 60))),
        None => Timestamp::parse(text).ok(),
    };
    // Years of five digits are written otherwise than they are read.
    let moment = moment.filter(|moment| Timestamp::parse(&moment.to_string()).is_ok()).ok_or_else(|| {
        usage(
            format!("`{}` is no time", catalog::shorten(text)),
            "send a number of days such as `30d`, or a date such as `2027-01-01`",
        )
    })?;
    if moment <= now {
        return Err(usage(format!("`{text}` is over already"), "send a time that is still to come"));
    }
    Ok(moment)
}

/// What a client may do, as one line.
fn words(entry: &Entry) -> String {
    let globs = |globs: &[String]| match globs {
        [] => "nothing".to_owned(),
        [one] if one == "**" => "everything".to_owned(),
        globs => joined(globs.iter(), " and "),
    };
    let actions = entry.actions.as_ref().map(|names| format!(", by {}", joined(names.iter(), ", ")));
    let rate = entry.rate.map(|rate| format!(", {rate} requests a minute"));
    let expires = entry.expires.map(|expires| format!(", until {expires}"));
    let hub = match entry.hub.as_slice() {
        [] => String::new(),
        names => format!(", with the tools of other servers {}", joined(names.iter(), ", ")),
    };
    let approve = if entry.may_approve { ", and its person may approve what waits" } else { "" };
    let (read, write) = (globs(&entry.read), globs(&entry.write));
    let hide = match entry.hide.as_slice() {
        [] => String::new(),
        globs => format!(", but for {}", joined(globs.iter(), " and ")),
    };
    let parts = [actions, rate, expires].into_iter().flatten().collect::<String>();
    format!("{} may read {read} and write {write}{hide}{parts}{hub}{approve}", entry.name)
}

fn joined<T: AsRef<str>>(names: impl Iterator<Item = T>, between: &str) -> String {
    names.map(|name| name.as_ref().to_owned()).collect::<Vec<_>>().join(between)
}

impl Entry {
    fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl<'a> Shown<'a> {
    fn of(entry: &'a Entry, now: Timestamp) -> Self {
        Self {
            name: &entry.name,
            read: &entry.read,
            write: &entry.write,
            hide: &entry.hide,
            actions: entry.actions.as_deref(),
            hub: &entry.hub,
            expires: entry.expires,
            expired: entry.is_expired(now),
            rate: entry.rate,
            may_approve: entry.may_approve,
            created: entry.created,
        }
    }
}

#[cfg(test)]
mod tests;
