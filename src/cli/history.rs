//! `memdir log`, `diff`, `undo` and `restore`.

use std::io::{self, Write};

use serde::Serialize;

use super::args::{Global, Paging};
use super::exit::{self, Stop, print_json, usage};
use super::{open, term};
use crate::engine::Change;
use crate::path::MemoryPath;
use crate::report::{Line, Log, LogEntry};
use crate::vault::Page;

/// How many batches a page of the log has.
const PAGE: usize = 20;

pub(super) fn log(
    global: &Global,
    note: Option<&str>,
    client: Option<String>,
    patch: bool,
    page: &Paging,
) -> Result<u8, Stop> {
    let before = page.cursor.as_deref().map(str::parse).transpose();
    let before = before.map_err(|_| usage("the cursor is not one of `memdir log`", "leave it out to start anew"))?;
    let opened = open::open(global)?;
    let path = note.map(|note| opened.engine.note_named(note)).transpose()?;
    let log = opened.engine.log(&Page { path, client, limit: page.limit(PAGE), before }, patch)?;
    if global.json {
        print_json(&log)?
    } else {
        show(&log)?;
        writeln!(io::stderr(), "head {}", opened.engine.head()?.head)?;
    }
    Ok(0)
}

fn show(log: &Log) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    for entry in &log.entries {
        writeln!(stdout, "{}", headline(entry))?;
        for action in &entry.actions {
            let path = action.path.as_deref().map_or_else(String::new, |path| format!(" {path}"));
            let failed = action.code.as_deref().map_or_else(String::new, |code| format!("  {code}"));
            writeln!(stdout, "    {}{}{failed}", term::escape_line(&action.action), term::escape_line(&path))?;
        }
        if let Some(diff) = entry.diff.as_deref().filter(|diff| !diff.is_empty()) {
            writeln!(stdout, "{}", term::diff(diff, &stdout))?;
        }
    }
    if let Some(cursor) = &log.cursor {
        writeln!(io::stderr(), "older ones: --cursor {cursor}")?;
    }
    Ok(())
}

fn headline(entry: &LogEntry) -> String {
    let client = entry.client.as_deref().map_or_else(String::new, |client| format!(" by {client}"));
    let undoes = entry.undoes.map_or_else(String::new, |batch| format!(", undoes {batch}"));
    let undone = entry.undone_by.map_or_else(String::new, |batch| format!(", undone by {batch}"));
    let batch = entry.batch.map_or_else(String::new, |batch| format!("batch {batch}  "));
    let line = format!("{batch}{}  {}{client}{undoes}{undone}", entry.time, entry.door);
    term::escape_line(&line).into_owned()
}

#[derive(Serialize)]
struct Lines {
    lines: Vec<Line>,
}

pub(super) fn lines(global: &Global, note: &str) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named(note)?;
    let (text, lines) = opened.engine.lines(&path)?;
    if global.json {
        print_json(&Lines { lines })?;
        return Ok(0);
    }
    let heads: Vec<String> = lines.iter().map(head).collect();
    let width = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
    let mut stdout = io::stdout().lock();
    for (head, line) in heads.iter().zip(text.lines()) {
        writeln!(stdout, "{head:width$} | {}", term::escape(line))?;
    }
    stdout.flush()?;
    Ok(0)
}

/// Who wrote a line, in words; empty where nobody knows.
fn head(line: &Line) -> String {
    let (Some(batch), Some(time), Some(door)) = (line.batch, &line.time, &line.door) else { return String::new() };
    let client = line.client.as_deref().map_or_else(String::new, |client| format!("/{client}"));
    let origin = line.origin.as_deref().unwrap_or("unknown");
    term::escape_line(&format!("{batch}  {time}  {door}{client}  {origin}")).into_owned()
}

#[derive(Serialize)]
struct Diff {
    batch: u64,
    changed: Vec<MemoryPath>,
    diff: String,
}

pub(super) fn diff(global: &Global, batch: Option<u64>) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let (batch, changed, diff) = opened.engine.diff(batch)?;
    if global.json {
        print_json(&Diff { batch, changed, diff })?;
    } else {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", term::diff(&diff, &stdout))?;
    }
    Ok(0)
}

#[derive(Serialize)]
struct Undone {
    undone: u64,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
    #[serde(flatten)]
    dry: Dry,
}

#[derive(Serialize)]
struct Restored {
    restored: MemoryPath,
    at: u64,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
    #[serde(flatten)]
    dry: Dry,
}

/// What a dry run adds.
#[derive(Default, Serialize)]
struct Dry {
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(super) fn undo(global: &Global, batch: Option<u64>, dry_run: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let change = opened.engine.propose_undo(batch)?;
    let undone = change.batch();
    let (batch, changed, dry) = carry_out(global, &opened, change, dry_run)?;
    if global.json {
        exit::though_stored(batch, print_json(&Undone { undone, batch, changed, dry }))?;
    } else if let Some(batch) = batch {
        writeln!(io::stderr(), "batch {undone} is undone · take that back: memdir undo {batch}")?;
    }
    Ok(0)
}

pub(super) fn restore(global: &Global, note: &str, at: u64, dry_run: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named(note)?;
    let change = opened.engine.propose_restore(&path, at)?;
    let (batch, changed, dry) = carry_out(global, &opened, change, dry_run)?;
    if global.json {
        exit::though_stored(batch, print_json(&Restored { restored: path, at, batch, changed, dry }))?;
    } else {
        let words = match batch {
            Some(batch) => format!("{path} is as it was after batch {at} · take that back: memdir undo {batch}"),
            None => format!("{path} is as it was after batch {at} already"),
        };
        if !dry_run {
            writeln!(io::stderr(), "{}", term::escape_line(&words))?;
        }
    }
    Ok(0)
}

/// Shows what a change will do, and does it.
fn carry_out(
    global: &Global,
    opened: &open::Opened,
    change: Change,
    dry_run: bool,
) -> Result<(Option<u64>, Vec<MemoryPath>, Dry), Stop> {
    let diff = change.plan().diff();
    if !global.json && !diff.is_empty() {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", term::diff(&diff, &stdout))?;
        stdout.flush()?;
    }
    if dry_run {
        let dry = Dry { dry_run: Some(true), diff: Some(diff) };
        return Ok((None, change.plan().changed(), dry));
    }
    let done = opened.engine.conclude_change(change, &open::author("cli", None, "person"))?;
    Ok((done.batch, done.changed, Dry::default()))
}
