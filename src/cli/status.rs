//! `memdir status`, and `memdir` alone: where the memory is, what is in it, what waits, and one thing to do next.

use std::io::{self, Write};

use serde::Serialize;

use super::args::Global;
use super::config::Sources;
use super::exit::{Stop, print_json};
use super::install::{self, Here};
use super::{ago, changes, client, open, term};
use crate::plan::count;
use crate::report::{Code, LogEntry};
use crate::vault::Page;

/// What is known at a glance.
#[derive(Serialize)]
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
    /// How many proposals wait for the person.
    waiting: usize,
    /// The newest change.
    last: Option<LogEntry>,
    /// What to do next.
    next: String,
}

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let status = look(global)?;
    if global.json {
        print_json(&status)?;
    } else {
        tell(&status)?;
    }
    Ok(0)
}

fn look(global: &Global) -> Result<Status, Stop> {
    let opened = match open::open_to_read(global) {
        Err(stop) if stop.is(Code::NotFound) => {
            let next = "`memdir init` makes a memory; `memdir init DIR` takes a folder of notes as it is".to_owned();
            let missing = open::named(global, &Sources::read()?)?.to_string_lossy().into_owned();
            return Ok(Status {
                memory: None,
                missing: Some(missing),
                notes: 0,
                links: 0,
                assistants: install::here(),
                clients: Vec::new(),
                waiting: 0,
                last: None,
                next,
            });
        }
        opened => opened?,
    };
    let engine = &opened.engine;
    let clients = client::names(&Sources::read()?, &opened.root)?;
    let assistants = install::here();
    let trouble = engine.history_trouble();
    // Where the history cannot be used, that is what is told.
    let waiting = engine.waiting().map_or(0, |(waiting, _)| waiting.len());
    let log = engine.log(&Page { limit: 1, ..Page::default() }, false);
    let last = log.ok().and_then(|mut log| log.entries.pop());
    let notes = engine.every_note()?.len();
    let next = if trouble.is_some() {
        "`memdir doctor` says what is wrong with the history".to_owned()
    } else if waiting > 0 {
        "`memdir pending` shows the proposals that wait for your approval".to_owned()
    } else if notes == 0 {
        "`memdir remember I live in Porto` writes the first line".to_owned()
    } else if clients.is_empty() && assistants.set_up.is_empty() {
        match assistants.others.first() {
            Some(name) => format!("`memdir install {name}` sets it up"),
            None => "`memdir install NAME` sets up an assistant, such as claude-code or cursor".to_owned(),
        }
    } else {
        "`memdir search \"where do I live\"` asks it something".to_owned()
    };
    Ok(Status {
        memory: Some(opened.root.to_string_lossy().into_owned()),
        missing: None,
        notes,
        links: engine.links()?.links.len(),
        assistants,
        clients,
        waiting,
        last,
        next,
    })
}

fn tell(status: &Status) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let Some(memory) = &status.memory else {
        let missing = status.missing.as_deref().unwrap_or_default();
        writeln!(stdout, "There is no memory in {} yet.", term::escape_line(missing))?;
        return Ok(writeln!(stdout, "next: {}", status.next)?);
    };
    writeln!(stdout, "memory:   {}", term::escape_line(memory))?;
    writeln!(stdout, "holds:    {}, {}", count(status.notes, "note"), count(status.links, "link"))?;
    let set_up =
        if status.assistants.set_up.is_empty() { "none".to_owned() } else { status.assistants.set_up.join(", ") };
    writeln!(stdout, "set up:   {set_up}")?;
    if !status.clients.is_empty() {
        writeln!(stdout, "clients:  {}", term::escape_line(&status.clients.join(", ")))?;
    }
    if status.waiting > 0 {
        writeln!(stdout, "waiting:  {}", count(status.waiting, "proposal"))?;
    }
    if let Some(last) = &status.last {
        let by = changes::who(&last.door, last.client.as_deref());
        let changed: Vec<&str> = last.changed.iter().take(3).map(crate::path::MemoryPath::as_str).collect();
        let line = format!("{} by {by}: {}", ago::words(&last.time, open::now()), changed.join(", "));
        writeln!(stdout, "changed:  {}", term::escape_line(&line))?;
    }
    writeln!(stdout, "next:     {}", status.next)?;
    Ok(stdout.flush()?)
}
