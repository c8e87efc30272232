//! `memdir log`, `diff`, `undo` and `restore`.

use std::io::{self, StdoutLock, Write};

use anstyle::Style;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{Global, Log as LogArgs};
use super::exit;
use super::output::{Lines, say};
use super::stop::{Stop, usage};
use super::{changes, open, term};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Line, Log, LogEntry};
use memdir_engine::{Change, Engine};
use memdir_plan::note_changes;
use memdir_vault::{LogQuery, Recorded, is_put_aside};
use memdir_words::{ago, past, who};

/// How many batches a page of the log has; and where it was asked since when.
const PAGE: usize = 20;
const PAGE_SINCE: usize = 1_000;

pub(super) fn log(global: &Global, options: &LogArgs) -> Result<u8, Stop> {
    let before = options.page.before("memdir log")?;
    let since = options.since.as_deref().or(options.today.then_some("today"));
    let since = since.map(|text| ago::since(text).ok_or_else(|| not_a_time(text))).transpose()?;
    let opened = open::open(global)?;
    let path = options.note.as_deref().map(|note| opened.engine.note_named_ever(note)).transpose()?;
    let limit = options.page.limit(if since.is_some() { PAGE_SINCE } else { PAGE });
    let page = LogQuery { path, client: options.client.clone(), since, limit, before, ..LogQuery::default() };
    let log = opened.engine.log(&page, options.patch)?;
    global.answer(&log, |stdout| {
        if !log.entries.is_empty() {
            show(&opened.engine, &log, stdout)
        } else if page.path.is_none() && page.client.is_none() && page.since.is_none() && page.before.is_none() {
            say("nothing has been changed through memdir yet")?;
            let note = beside(&opened.engine.other_histories());
            Ok(note.iter().try_for_each(|note| say(format!("note: by you on this machine; {note}")))?)
        } else {
            Ok(say("no change matches")?)
        }
    })
}

/// That `.memdir` also has the histories of others; nothing of those that were put aside.
pub(super) fn beside(others: &[String]) -> Option<String> {
    match others.iter().filter(|path| !path.split('/').any(is_put_aside)).count() {
        0 => None,
        1 => Some("`.memdir` also has the history of another machine, or of another user of this one".to_owned()),
        count => Some(format!("`.memdir` also has {count} histories of other machines, or of other users of this one")),
    }
}

fn not_a_time(text: &str) -> Failure {
    let message = format!("`{}` is no time that `--since` knows", memdir_core::catalog::shorten(text));
    usage(message, "give `today`, `yesterday`, `3d`, `12h`, or a date such as `2026-11-20`")
}

/// Shows a page of the log, day by day.
fn show(engine: &Engine, log: &Log, stdout: &mut StdoutLock<'_>) -> Result<(), Stop> {
    let bold = term::style(Style::new().bold(), stdout);
    let dim = term::style(Style::new().dimmed(), stdout);
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
            Some(changes) => changes::show(&changes, &indent, stdout)?,
            None => show_names(entry, &indent, stdout)?,
        }
        match entry.actions.iter().filter(|action| !action.ok).count() {
            0 => {}
            1 => writeln!(stdout, "{indent}{dim}1 call failed{dim:#}")?,
            failed => writeln!(stdout, "{indent}{dim}{failed} calls failed{dim:#}")?,
        }
        if let Some(diff) = entry.diff.as_deref().filter(|diff| !diff.is_empty()) {
            writeln!(stdout, "{}", term::diff(diff, stdout))?;
        }
    }
    let mut stderr = io::stderr().lock();
    if let Some(cursor) = &log.cursor {
        writeln!(stderr, "older ones: --cursor {cursor}")?;
    }
    let dim = term::style(Style::new().dimmed(), &stderr);
    let hint = "memdir undo NUMBER takes one back, memdir diff NUMBER shows all of it";
    Ok(writeln!(stderr, "{dim}{hint}{dim:#}")?)
}

/// Names what was changed where nothing more is known.
fn show_names(entry: &LogEntry, indent: &str, output: &mut impl Write) -> io::Result<()> {
    for path in &entry.changed {
        output.line(format!("{indent}{path}  what was changed is no longer kept"))?;
    }
    if entry.changed.is_empty() {
        writeln!(output, "{indent}what was changed is no longer kept")?;
    }
    Ok(())
}

/// When a change was made, and by whom: ` by you, 2 hours ago`.
fn made(engine: &Engine, batch: u64) -> Result<String, Failure> {
    let page = LogQuery { limit: 1, before: batch.checked_add(1), ..LogQuery::default() };
    let entry = engine.log(&page, false)?.entries.pop().filter(|entry| entry.batch == Some(batch));
    Ok(entry.map_or_else(String::new, |entry| {
        let who = who::made(&entry);
        format!(" by {who}, {}", ago::short(&entry.time))
    }))
}

pub(super) fn lines(global: &Global, note: &str) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named_ever(note)?;
    let (text, lines) = opened.engine.lines(&path)?;
    global.answer(&json!({ "lines": lines }), |stdout| {
        let heads: Vec<String> = lines.iter().map(head).collect();
        let width = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
        for (head, line) in heads.iter().zip(text.lines()) {
            writeln!(stdout, "{head:width$} | {}", term::escape(line))?;
        }
        Ok(())
    })
}

/// Who wrote a line, in words; empty where nobody knows.
fn head(line: &Line) -> String {
    let (Some(batch), Some(time), Some(door)) = (line.batch, &line.time, &line.door) else {
        let is_outside = line.provenance.last_written.is_some();
        return if is_outside { "outside memdir".to_owned() } else { String::new() };
    };
    let by_tool = line.provenance.last_written.as_ref().filter(|writing| writing.tool.is_some());
    let who = by_tool.map_or_else(|| who::changed(door, line.client.as_deref()), who::wrote);
    term::escape_line(&format!("{batch}  {}  {who}", ago::short(time))).into_owned()
}

pub(super) fn diff(global: &Global, batch: Option<u64>) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let (batch, changed, diff) = opened.engine.diff(batch)?;
    global.answer(&json!({"batch": batch, "changed": changed, "diff": diff}), |stdout| {
        // Standard output is the diff alone, which another program may read.
        say(format!("change {batch}{}", made(&opened.engine, batch)?))?;
        if let Some(changes) = opened.engine.changes_of(batch)? {
            changes::show(&changes, "  ", &mut io::stderr().lock())?;
        }
        Ok(writeln!(stdout, "{}", term::diff(&diff, stdout))?)
    })
}

/// What an undo or a restore has done.
#[derive(Serialize)]
struct Changed<W> {
    /// What was undone or restored.
    #[serde(flatten)]
    what: W,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// Of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(super) fn undo(global: &Global, batch: Option<u64>, dry_run: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let change = opened.engine.propose_undo(batch).map_err(|mut error| {
        // For a person, who is in the way; that nobody can tell is no other failure.
        let made = error
            .failure
            .details
            .batch
            .filter(|_| !global.json)
            .map(|batch| made(&opened.engine, batch).unwrap_or_default());
        error.failure.message.push_str(&made.unwrap_or_default());
        error
    })?;
    let undone = change.batch();
    let made = made(&opened.engine, undone)?;
    let passed_over = change.passed_over().to_vec();
    let what = match passed_over.as_slice() {
        [] => json!({ "undone": undone }),
        passed_over => json!({ "undone": undone, "passed_over": passed_over }),
    };
    let batch = carry_out(global, &opened, change, dry_run, what)?;
    if !passed_over.is_empty() && !global.json {
        say(changes::taken_back(&passed_over))?;
    }
    if let Some(batch) = batch.filter(|_| !global.json) {
        say(format!("undid change {undone}{made} · take that back: memdir undo {batch}"))?;
    }
    Ok(0)
}

pub(super) fn restore(global: &Global, note: &str, at: u64, dry_run: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named_ever(note)?;
    let change = opened.engine.propose_restore(&path, at)?;
    let recorded = change.recorded().unwrap_or(Recorded::After(at));
    let what = match recorded {
        Recorded::After(batch) if batch == at => json!({"restored": path, "at": at}),
        recorded => json!({"restored": path, "at": at, "recorded": recorded}),
    };
    let batch = carry_out(global, &opened, change, dry_run, what)?;
    if !global.json && !dry_run {
        let then = past::then(recorded, at);
        say(match batch {
            Some(batch) => format!("{path} is as it was {then} · take that back: memdir undo {batch}"),
            None => format!("{path} is already as it was {then}"),
        })?;
    }
    Ok(0)
}

/// Does a change and shows what it did; a dry run only shows it. Gives the number under which it can be undone.
fn carry_out(
    global: &Global,
    opened: &open::Opened,
    change: Change,
    dry_run: bool,
    what: Value,
) -> Result<Option<u64>, Stop> {
    let words = note_changes(change.plan().steps());
    let changed = if dry_run {
        let (changed, diff) = (change.plan().changed(), Some(change.plan().diff()));
        Changed { what, batch: None, changed, dry_run: Some(true), diff }
    } else {
        let done = opened.engine.conclude_change(change, &open::person())?;
        Changed { what, batch: done.batch, changed: done.changed, dry_run: None, diff: None }
    };
    let shown = global.answer(&changed, |stdout| {
        changes::show(&words, "", stdout)?;
        if let Some(diff) = changed.diff.as_deref().filter(|diff| !diff.is_empty()) {
            writeln!(stdout, "{}", term::diff(diff, stdout))?;
        }
        Ok(())
    });
    exit::though_stored(changed.batch, shown)?;
    Ok(changed.batch)
}
