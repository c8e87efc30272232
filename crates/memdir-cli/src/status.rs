//! `memdir status`, and `memdir` alone: where the memory is, what is in it, what waits, and one thing to do next.

use std::io::Write;

use serde::Serialize;

use super::args::Global;
use super::config::Sources;
use super::install::{self, Here};
use super::output::{Lines, say};
use super::stop::Stop;
use super::{client, open, tools};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, LogEntry};
use memdir_plan::count;
use memdir_vault::LogQuery;
use memdir_words::{ago, who};

/// What is known at a glance.
#[derive(Default, Serialize)]
struct Status {
    /// The folder; `null` where there is none yet.
    memory: Option<String>,
    /// Where it would be; `null` where there is one.
    missing: Option<String>,
    notes: usize,
    links: usize,
    /// The assistants on this machine, and whether they start memdir.
    assistants: Here,
    /// The clients that may ask for it.
    clients: Vec<String>,
    /// How many servers of other tools are added.
    servers: usize,
    /// How many proposals wait for the person.
    waiting: usize,
    /// The newest change.
    last: Option<LogEntry>,
    /// What to do next.
    next: String,
}

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let status = look(global)?;
    global.answer(&status, |stdout| show(&status, stdout))
}

fn look(global: &Global) -> Result<Status, Stop> {
    let opened = match open::open_to_read(global) {
        Err(stop) if stop.is(Code::NotFound) => {
            let missing = open::named(global, &Sources::read()?)?.to_string_lossy().into_owned();
            let next = "`memdir init` makes a memory; `memdir init DIR` takes a folder of notes as it is".to_owned();
            return Ok(Status { missing: Some(missing), assistants: install::here(None), next, ..Status::default() });
        }
        opened => opened?,
    };
    let (engine, sources) = (&opened.engine, Sources::read()?);
    let (clients, servers) = (client::names(&sources, &opened.root), tools::count(&sources));
    let troubles = [clients.as_ref().err(), servers.as_ref().err()];
    for trouble in troubles.into_iter().flatten() {
        say(format!("note: {}", trouble.message))?;
    }
    let has_trouble = clients.is_err() || servers.is_err() || engine.history_trouble().is_some();
    let log = engine.log(&LogQuery { limit: 1, ..LogQuery::default() }, false);
    let status = Status {
        memory: Some(opened.root.to_string_lossy().into_owned()),
        notes: engine.every_note()?.len(),
        links: engine.links()?.links.len(),
        assistants: install::here(Some(&opened.root)),
        clients: clients.unwrap_or_default(),
        servers: servers.map_or(0, |(all, _)| all),
        // Where the history cannot be used, `open_to_read` has said so.
        waiting: engine.waiting().map_or(0, |(waiting, _)| waiting.len()),
        last: log.ok().and_then(|mut log| log.entries.pop()),
        ..Status::default()
    };
    let next = next(&status, has_trouble);
    Ok(Status { next, ..status })
}

fn next(status: &Status, has_trouble: bool) -> String {
    let Status { notes, assistants, clients, waiting, .. } = status;
    let next = if has_trouble {
        "`memdir doctor` says what is wrong"
    } else if *waiting > 0 {
        "`memdir pending` shows the proposals that wait for your approval"
    } else if *notes == 0 {
        "`memdir remember I live in Porto` writes the first line"
    } else if !clients.is_empty() || !assistants.set_up.is_empty() {
        "`memdir search \"where do I live\"` asks it something"
    } else if !assistants.faults.is_empty() {
        "`memdir doctor` says why these assistants do not start memdir"
    } else if let Some(name) = assistants.others.first() {
        return format!("`memdir install {name}` sets it up");
    } else {
        "`memdir install NAME` sets up an assistant, such as claude-code or cursor"
    };
    next.to_owned()
}

fn show(status: &Status, output: &mut impl Write) -> Result<(), Stop> {
    let Status { memory, missing, assistants, clients, servers, waiting, last, next, .. } = status;
    if let Some(missing) = missing {
        output.line(format!("There is no memory in {missing} yet."))?;
        return Ok(writeln!(output, "next: {next}")?);
    }
    if let Some(memory) = memory {
        output.line(format!("memory:   {memory}"))?;
    }
    writeln!(output, "holds:    {}, {}", count(status.notes, "note"), count(status.links, "link"))?;
    let set_up = if assistants.set_up.is_empty() { "none".to_owned() } else { assistants.set_up.join(", ") };
    writeln!(output, "set up:   {set_up}")?;
    for (name, fault) in &assistants.faults {
        output.line(format!("broken:   {name}: {fault}"))?;
    }
    if !clients.is_empty() {
        output.line(format!("clients:  {}", clients.join(", ")))?;
    }
    if *servers > 0 {
        writeln!(output, "tools:    {}", count(*servers, "server"))?;
    }
    if *waiting > 0 {
        writeln!(output, "waiting:  {}", count(*waiting, "proposal"))?;
    }
    if let Some(last) = last {
        let by = who::made(last);
        let changed: Vec<&str> = last.changed.iter().take(3).map(MemoryPath::as_str).collect();
        let when = ago::words(&last.time, memdir_host::now());
        output.line(format!("changed:  {when} by {by}: {}", changed.join(", ")))?;
    }
    Ok(writeln!(output, "next:     {next}")?)
}
