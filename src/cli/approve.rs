//! `memdir approve` and `memdir reject`: the person's word.

use std::io::{self, Write};

use serde::Serialize;

use super::args::{Approve, Global};
use super::config::Sources;
use super::exit::{Stop, print_json, usage};
use super::question::{self, can_ask};
use super::{open, pending, term};
use crate::engine::{Done, Leave, standing};
use crate::path::MemoryPath;
use crate::policy::{Rule, Verdict};
use crate::report::{Code, Failure};

#[derive(Serialize)]
struct Decided {
    id: u64,
    approved: bool,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
    /// The numbers of the rules that answer the same from now on; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<usize>>,
}

pub(super) fn approve(global: &Global, options: &Approve) -> Result<u8, Stop> {
    let id = options.id;
    let opened = open::open(global)?;
    let standing = if options.always { Some(answers(&opened, id, Verdict::Allow)?) } else { None };
    let by = open::author("cli", None, "person");
    let done = match &options.code {
        Some(code) => Some(opened.engine.approve(id, Leave::Code(code), &by)?),
        None if global.json || !can_ask() => {
            let message = "there is no terminal to ask on, so nothing is approved";
            let hint = "on a terminal and without `--json` it shows the change and asks; elsewhere the person gives the \
                        code that `memdir pending` shows: `--code CODE`";
            return Err(usage(message, hint).into());
        }
        None => asked(&opened, id)?,
    };
    let Some(Done { batch, changed, receipt, .. }) = done else { return Ok(0) };
    let receipt = receipt.as_deref().unwrap_or("nothing had to change");
    let words = format!("proposal {id} is approved: {}", term::escape_line(receipt));
    let decided = Decided { id, approved: true, batch, changed, rules: None };
    tell(global, decided, &words, settle(&opened, standing.as_deref()))
}

pub(super) fn reject(global: &Global, id: u64, never: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let standing = if never { Some(answers(&opened, id, Verdict::Deny)?) } else { None };
    opened.engine.reject(id, &open::author("cli", None, "person"))?;
    let words = format!("proposal {id} is rejected; nothing of it is kept");
    let decided = Decided { id, approved: false, batch: None, changed: Vec::new(), rules: None };
    tell(global, decided, &words, settle(&opened, standing.as_deref()))
}

/// The rules that would give the same answer to all that is like a proposal; looked for before anything is decided.
fn answers(opened: &open::Opened, id: u64, verdict: Verdict) -> Result<Vec<Rule>, Failure> {
    let (waiting, _) = opened.engine.waiting()?;
    // One that is not there is told of by what decides.
    waiting.iter().find(|waiting| waiting.id == id).map_or(Ok(Vec::new()), |waiting| standing(waiting, verdict))
}

/// Writes rules into the settings, and gives their numbers.
fn settle(opened: &open::Opened, rules: Option<&[Rule]>) -> Result<Option<Vec<usize>>, Failure> {
    let Some(rules) = rules else { return Ok(None) };
    let sources = Sources::read()?;
    rules.iter().map(|rule| sources.add_rule(&opened.root, rule)).collect::<Result<_, _>>().map(Some)
}

/// Says what was decided and which rules were added. The decision holds also where they could not be.
fn tell(
    global: &Global,
    decided: Decided,
    words: &str,
    rules: Result<Option<Vec<usize>>, Failure>,
) -> Result<u8, Stop> {
    if !global.json {
        writeln!(io::stderr(), "{words}")?;
    }
    let rules = rules.map_err(|failure| {
        let message = format!("it is decided, but no rule was written: {}", failure.message);
        Failure { message, ..failure }
    })?;
    if global.json {
        print_json(&Decided { rules, ..decided })?;
        return Ok(0);
    }
    for number in rules.into_iter().flatten() {
        writeln!(io::stderr(), "rule {number} answers the same from now on; `memdir rules` shows it")?;
    }
    Ok(0)
}

/// Shows what would change and asks, again where that is something else by then; `None` where the person says no.
fn asked(opened: &open::Opened, id: u64) -> Result<Option<Done>, Stop> {
    loop {
        let reviewed = opened.engine.review_proposal(id)?;
        if let Some(trouble) = reviewed.trouble {
            return Err(trouble.into());
        }
        let mut stderr = io::stderr();
        pending::show(&reviewed, &mut stderr)?;
        if !question::agrees("approve this?")? {
            writeln!(stderr, "it waits on; `memdir reject {id}` drops it")?;
            return Ok(None);
        }
        let by = open::author("cli", None, "person");
        match opened.engine.approve(id, Leave::Shown(reviewed.waiting.digest), &by) {
            Err(error) if error.failure.code == Code::Conflict && error.diff.is_some() => {
                writeln!(stderr, "a note was changed meanwhile; look again")?;
            }
            other => return Ok(Some(other?)),
        }
    }
}
