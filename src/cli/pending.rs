//! `memdir pending`: what waits for the person.

use std::io::{self, Write};

use serde::Serialize;

use super::args::Global;
use super::exit::{self, Stop, print_json};
use super::question::can_ask;
use super::{ago, changes, open, term};
use crate::action::Action;
use crate::engine::{Pending, Reviewed, Unreadable};
use crate::path::MemoryPath;
use crate::plan::note_changes;
use crate::report::Failure;

/// What `pending --json` prints. Never a code: what reads it may be the model that proposed.
#[derive(Serialize)]
struct Printed<'a> {
    pending: Vec<Proposal<'a>>,
    problems: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Proposal<'a> {
    id: u64,
    time: String,
    expires: String,
    door: &'a str,
    client: Option<&'a str>,
    /// Its number for that client, where that counts its own; absent where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<u64>,
    actions: Vec<&'a Action>,
    reason: &'a str,
    changed: &'a [MemoryPath],
    diff: &'a str,
    /// Whether the diff is another than was shown before.
    renewed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
}

#[derive(Serialize)]
struct Problem<'a> {
    id: u64,
    error: &'a Failure,
}

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let pending = opened.engine.pending()?;
    if global.json {
        print_json(&printed(&pending))?;
    } else {
        let mut stdout = io::stdout().lock();
        for reviewed in &pending.proposals {
            show(reviewed, &mut stdout)?;
            let id = reviewed.waiting.id;
            if reviewed.trouble.is_none() {
                let code = reviewed.waiting.code.show();
                writeln!(stdout, "decide: memdir approve {id}, memdir reject {id}; elsewhere with --code {code}\n")?;
            } else {
                writeln!(stdout, "decide: memdir reject {id}\n")?;
            }
        }
        stdout.flush()?;
        drop(stdout);
        tell(&pending.unreadable)?;
        if pending.proposals.is_empty() && pending.unreadable.is_empty() {
            writeln!(io::stderr(), "nothing waits")?;
        } else if can_ask() && !pending.proposals.is_empty() {
            writeln!(io::stderr(), "memdir approve walks through them, one at a time")?;
        }
    }
    Ok(code(&pending.unreadable))
}

/// The exit code where some of what waits cannot be read, or none.
pub(super) fn code(unreadable: &[Unreadable]) -> u8 {
    if unreadable.is_empty() { 0 } else { exit::DAMAGED }
}

fn printed(pending: &Pending) -> Printed<'_> {
    Printed {
        pending: pending.proposals.iter().map(Proposal::of).collect(),
        problems: pending.unreadable.iter().map(|found| Problem { id: found.id, error: &found.failure }).collect(),
    }
}

impl<'a> Proposal<'a> {
    fn of(reviewed: &'a Reviewed) -> Self {
        let waiting = &reviewed.waiting;
        Self {
            id: waiting.id,
            time: waiting.time.to_string(),
            expires: waiting.expires.to_string(),
            door: &waiting.author.door,
            client: waiting.author.client.as_deref(),
            own: waiting.own,
            actions: waiting.calls.iter().map(|held| &held.call.action).collect(),
            reason: &waiting.reason,
            changed: &waiting.changed,
            diff: &waiting.diff,
            renewed: reviewed.is_renewed,
            error: reviewed.trouble.as_ref(),
        }
    }
}

/// Shows one proposal: who wants what, and why somebody is asked.
pub(super) fn show(reviewed: &Reviewed, output: &mut (impl Write + io::IsTerminal)) -> Result<(), Stop> {
    let waiting = &reviewed.waiting;
    let own = waiting.own.map_or_else(String::new, |own| format!(" (its own number: {own})"));
    let who = changes::who(&waiting.author.door, waiting.author.client.as_deref());
    let (time, expires) = (ago::short(&waiting.time.to_string()), ago::short(&waiting.expires.to_string()));
    let head = format!("proposal {}  {who}{own}  {time}  expires {expires}", waiting.id);
    writeln!(output, "{}", term::escape_line(&head))?;
    writeln!(output, "{}", term::escape_line(&waiting.reason))?;
    if reviewed.is_renewed {
        writeln!(output, "the notes have changed since: this is what it would change now")?;
    }
    changes::show(&note_changes(reviewed.plan.steps()), "  ", output)?;
    let diff = term::diff(&waiting.diff, output);
    writeln!(output, "{diff}")?;
    if let Some(trouble) = &reviewed.trouble {
        writeln!(output, "it cannot be done now: {}", term::escape_line(&trouble.message))?;
    }
    Ok(())
}

/// Tells what cannot be read.
pub(super) fn tell(unreadable: &[Unreadable]) -> Result<(), Stop> {
    let mut stderr = io::stderr().lock();
    for Unreadable { failure, .. } in unreadable {
        writeln!(stderr, "memdir: {}", term::escape_line(&failure.message))?;
        if let Some(hint) = &failure.hint {
            writeln!(stderr, "hint: {}", term::escape_line(hint))?;
        }
    }
    Ok(())
}
