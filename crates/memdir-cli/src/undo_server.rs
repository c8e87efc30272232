//! `memdir undo --server`: takes back what was written in conversations in which another server spoke.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::args::Global;
use super::exit;
use super::output::{Lines, say};
use super::stop::{Stop, usage};
use super::{changes, open, question, term};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_engine::{LeftBatch, ServerUndo, ServerUndone};
use memdir_plan::{NoteChange, count, note_changes};
use memdir_tools::ServerName;

/// What was taken back, or would be.
#[derive(Serialize)]
struct TakenBack {
    server: ServerName,
    conversations: usize,
    elsewhere: u64,
    undone: Vec<u64>,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
    left: Vec<Left>,
    rejected: Vec<u64>,
    /// The proposals that could not be rejected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<Waiting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// Of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// A change that stays.
#[derive(Serialize)]
struct Left {
    change: u64,
    #[serde(flatten)]
    failure: Failure,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// A proposal that waits as before.
#[derive(Serialize)]
struct Waiting {
    proposal: u64,
    #[serde(flatten)]
    failure: Failure,
}

pub(super) fn run(global: &Global, server: &str, dry_run: bool, yes: bool) -> Result<u8, Stop> {
    let wrong = |error: memdir_tools::NameError| usage(error.to_string(), "`memdir tools list` shows the servers");
    let server = ServerName::parse(server).map_err(wrong)?;
    let opened = open::open(global)?;
    let undo = opened.engine.propose_undo_of_server(&server)?;
    let mut told = told(&undo);
    let words = undo.change.as_ref().map(|change| note_changes(change.plan().steps())).unwrap_or_default();
    if dry_run {
        return global.answer(&told, |stdout| show(&told, &words, stdout));
    }
    if !yes {
        if global.json || !question::can_ask() {
            let hint = "look at it with `--dry-run`, then run this again with `--yes`";
            return Err(usage("nothing was undone: there is no terminal to confirm on", hint).into());
        }
        show(&told, &words, &mut io::stderr().lock())?;
        if !question::agrees_or("undo all of this?", "nothing was undone")? {
            return Ok(0);
        }
    }
    let ServerUndone { done, waiting } = opened.engine.conclude_undo_of_server(undo, &open::person())?;
    (told.dry_run, told.diff, told.batch, told.changed) = (None, None, done.batch, done.changed);
    told.rejected.retain(|id| !waiting.iter().any(|(proposal, _)| proposal == id));
    told.waiting = waiting.into_iter().map(|(proposal, failure)| Waiting { proposal, failure }).collect();
    let printed = global.answer(&told, |stdout| if yes { show(&told, &words, stdout) } else { Ok(()) });
    exit::though_stored(told.batch, printed)?;
    if let Some(batch) = told.batch.filter(|_| !global.json) {
        say(format!("undid {} · take that back: memdir undo {batch}", count(told.undone.len(), "change")))?;
    }
    for Waiting { proposal, failure } in &told.waiting {
        say(format!("proposal {proposal} was not rejected and waits: {failure}"))?;
    }
    // As where a call fails.
    Ok(if told.left.is_empty() && told.waiting.is_empty() { 0 } else { 4 })
}

fn told(undo: &ServerUndo) -> TakenBack {
    let left = |LeftBatch { batch, error }: &LeftBatch| {
        let (failure, diff) = (error.failure.clone(), error.diff.clone());
        Left { change: *batch, failure, diff }
    };
    let change = undo.change.as_ref();
    TakenBack {
        server: undo.server.clone(),
        conversations: undo.conversations,
        elsewhere: undo.elsewhere,
        undone: change.map(|change| change.undoes().to_vec()).unwrap_or_default(),
        batch: None,
        changed: change.map(|change| change.plan().changed()).unwrap_or_default(),
        left: undo.left.iter().map(left).collect(),
        rejected: undo.proposals.clone(),
        waiting: Vec::new(),
        dry_run: Some(true),
        diff: change.map(|change| change.plan().diff()),
    }
}

/// Shows what is taken back, with its diff as long as that is no more than a plan, and what stays.
fn show(told: &TakenBack, words: &[NoteChange], output: &mut (impl Write + IsTerminal)) -> Result<(), Stop> {
    let undone = told.undone.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let undone =
        if undone.is_empty() { "nothing that can be taken back".to_owned() } else { format!("changes {undone}") };
    let s = if told.conversations == 1 { "" } else { "s" };
    output.line(format!(
        "{} spoke in {} conversation{s}, in which was written: {undone}",
        told.server, told.conversations
    ))?;
    changes::show(words, "  ", output)?;
    if let Some(diff) = told.diff.as_deref().filter(|diff| !diff.is_empty()) {
        writeln!(output, "{}", term::diff(diff, output))?;
    }
    for Left { change, failure, diff } in &told.left {
        output.line(format!("change {change} stays: {failure}"))?;
        if let Some(diff) = diff {
            writeln!(output, "{}", term::diff(diff, output))?;
        }
    }
    for proposal in &told.rejected {
        output.line(format!("proposal {proposal}, which waits for you, is rejected"))?;
    }
    if told.elsewhere > 0 {
        let elsewhere = told.elsewhere;
        output.line(format!(
            "{elsewhere} of its answers came outside any conversation: what was written after them is not known"
        ))?;
    }
    Ok(())
}
