//! `memdir log`, `diff`, `undo` and `restore`.

use std::io::{self, Write};

use anstyle::Style;
use serde::Serialize;

use super::args::{Global, Log as Asked};
use super::exit::{self, Stop, print_json, usage};
use super::{ago, changes, open, term};
use crate::engine::{Change, Engine};
use crate::path::MemoryPath;
use crate::plan::note_changes;
use crate::report::{Failure, Line, Log, LogEntry};
use crate::vault::Page;

/// How many batches a page of the log has; and where it was asked since when.
const PAGE: usize = 20;
const PAGE_SINCE: usize = 1_000;

pub(super) fn log(global: &Global, asked: &Asked) -> Result<u8, Stop> {
    let before = asked.page.cursor.as_deref().map(str::parse).transpose();
    let before = before.map_err(|_| usage("the cursor is not one of `memdir log`", "leave it out to start anew"))?;
    let since = asked.since.as_deref().or(asked.today.then_some("today"));
    let since = since.map(|text| ago::since(text).ok_or_else(|| not_a_time(text))).transpose()?;
    let opened = open::open(global)?;
    let path = asked.note.as_deref().map(|note| opened.engine.note_named(note)).transpose()?;
    let limit = asked.page.limit(if since.is_some() { PAGE_SINCE } else { PAGE });
    let page = Page { path, client: asked.client.clone(), since, limit, before };
    let log = opened.engine.log(&page, asked.patch)?;
    if global.json {
        print_json(&log)?;
        return Ok(0);
    }
    if !log.entries.is_empty() {
        show(&opened.engine, &log)?;
    } else if page.path.is_none() && page.client.is_none() && page.since.is_none() && page.before.is_none() {
        writeln!(io::stderr(), "nothing has been changed through memdir yet")?;
    } else {
        writeln!(io::stderr(), "no change matches")?;
    }
    Ok(0)
}

fn not_a_time(text: &str) -> Failure {
    let message = format!("`{}` is no time that `--since` knows", crate::catalog::shorten(text));
    usage(message, "give `today`, `yesterday`, `3d`, `12h`, or a date such as `2026-11-20`")
}

/// Shows a page of the log, day by day.
fn show(engine: &Engine, log: &Log) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let (bold, dim) = match term::has_colours(&stdout) {
        true => (Style::new().bold(), Style::new().dimmed()),
        false => (Style::new(), Style::new()),
    };
    let width = log.entries.iter().filter_map(|entry| entry.batch).max().map_or(0, |batch| batch.to_string().len());
    let indent = " ".repeat(width + 4);
    let mut last = None;
    for entry in &log.entries {
        let day = ago::Moment::of(&entry.time).map_or_else(String::new, |moment| moment.day());
        if last.as_ref() != Some(&day) {
            writeln!(stdout, "{bold}{day}{bold:#}")?;
        }
        last = Some(day);
        writeln!(stdout, "  {}", changes::headline(entry, width))?;
        match entry.batch.map(|batch| engine.changes_of(batch)).transpose()?.flatten() {
            Some(changes) => changes::show(&changes, &indent, &mut stdout)?,
            None => show_names(entry, &indent, &mut stdout)?,
        }
        match entry.actions.iter().filter(|action| !action.ok).count() {
            0 => {}
            1 => writeln!(stdout, "{indent}{dim}1 call failed{dim:#}")?,
            failed => writeln!(stdout, "{indent}{dim}{failed} calls failed{dim:#}")?,
        }
        if let Some(diff) = entry.diff.as_deref().filter(|diff| !diff.is_empty()) {
            writeln!(stdout, "{}", term::diff(diff, &stdout))?;
        }
    }
    stdout.flush()?;
    let mut stderr = io::stderr().lock();
    if let Some(cursor) = &log.cursor {
        writeln!(stderr, "older ones: --cursor {cursor}")?;
    }
    let dim = if term::has_colours(&stderr) { Style::new().dimmed() } else { Style::new() };
    let hint = "memdir undo NUMBER takes one back, memdir diff NUMBER shows all of it";
    Ok(writeln!(stderr, "{dim}{hint}{dim:#}")?)
}

/// Names what was changed where nothing more is known.
fn show_names(entry: &LogEntry, indent: &str, output: &mut impl Write) -> io::Result<()> {
    for path in &entry.changed {
        writeln!(output, "{indent}{}  what was changed is no longer kept", term::escape_line(path.as_str()))?;
    }
    if entry.changed.is_empty() {
        writeln!(output, "{indent}what was changed is no longer kept")?;
    }
    Ok(())
}

/// Says which change it was: when it was made, and by whom.
fn told(engine: &Engine, batch: u64) -> Result<String, Failure> {
    let page = Page { limit: 1, before: batch.checked_add(1), ..Page::default() };
    let entry = engine.log(&page, false)?.entries.pop().filter(|entry| entry.batch == Some(batch));
    Ok(entry.map_or_else(String::new, |entry| {
        let who = changes::who(&entry.door, entry.client.as_deref());
        format!(" by {who}, {}", ago::short(&entry.time))
    }))
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
    let who = changes::who(door, line.client.as_deref());
    term::escape_line(&format!("{batch}  {}  {who}", ago::short(time))).into_owned()
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
        return Ok(0);
    }
    // Standard output is the diff alone, which another program may read.
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "change {batch}{}", term::escape_line(&told(&opened.engine, batch)?))?;
    if let Some(changes) = opened.engine.changes_of(batch)? {
        changes::show(&changes, "  ", &mut stderr)?;
    }
    drop(stderr);
    let mut stdout = io::stdout().lock();
    Ok(writeln!(stdout, "{}", term::diff(&diff, &stdout)).map(|()| 0)?)
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
    let told = told(&opened.engine, undone)?;
    let (batch, changed, dry) = carry_out(global, &opened, change, dry_run)?;
    if global.json {
        exit::though_stored(batch, print_json(&Undone { undone, batch, changed, dry }))?;
    } else if let Some(batch) = batch {
        let words = format!("undid change {undone}{told} · take that back: memdir undo {batch}");
        writeln!(io::stderr(), "{}", term::escape_line(&words))?;
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
            Some(batch) => format!("{path} is as it was after change {at} · take that back: memdir undo {batch}"),
            None => format!("{path} is as it was after change {at} already"),
        };
        if !dry_run {
            writeln!(io::stderr(), "{}", term::escape_line(&words))?;
        }
    }
    Ok(0)
}

/// Does a change and says what it did; a dry run only shows it.
fn carry_out(
    global: &Global,
    opened: &open::Opened,
    change: Change,
    dry_run: bool,
) -> Result<(Option<u64>, Vec<MemoryPath>, Dry), Stop> {
    let (diff, words) = (change.plan().diff(), note_changes(change.plan().steps()));
    let show = |diff: &str| -> Result<(), Stop> {
        let mut stdout = io::stdout().lock();
        changes::show(&words, "", &mut stdout)?;
        if !diff.is_empty() {
            writeln!(stdout, "{}", term::diff(diff, &stdout))?;
        }
        Ok(stdout.flush()?)
    };
    if dry_run {
        if !global.json {
            show(&diff)?;
        }
        let dry = Dry { dry_run: Some(true), diff: Some(diff) };
        return Ok((None, change.plan().changed(), dry));
    }
    let done = opened.engine.conclude_change(change, &open::author("cli", None, "person"))?;
    if !global.json {
        exit::though_stored(done.batch, show(""))?;
    }
    Ok((done.batch, done.changed, Dry::default()))
}
