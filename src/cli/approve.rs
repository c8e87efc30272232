//! `memdir approve` and `memdir reject`: the person's word.

use std::io::{self, BufRead, IsTerminal, Write};

use serde::Serialize;

use super::args::{Approve, Global};
use super::exit::{Stop, print_json, usage};
use super::{open, pending, term};
use crate::engine::{Done, Leave};
use crate::path::MemoryPath;
use crate::report::Code;

#[derive(Serialize)]
struct Decided {
    id: u64,
    approved: bool,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
}

pub(super) fn approve(global: &Global, options: &Approve) -> Result<u8, Stop> {
    let id = options.id;
    let opened = open::open(global)?;
    let by = open::author("cli", None, "person");
    let done = match &options.code {
        Some(code) => Some(opened.engine.approve(id, Leave::Code(code), &by)?),
        None if global.json || !can_ask() => {
            let message = "nobody can be asked here, so nothing is approved";
            let hint = "on a terminal and without `--json` it shows the change and asks; elsewhere the person gives the \
                        code that `memdir pending` shows: `--code CODE`";
            return Err(usage(message, hint).into());
        }
        None => asked(&opened, id)?,
    };
    let Some(Done { batch, changed, receipt }) = done else { return Ok(0) };
    if global.json {
        print_json(&Decided { id, approved: true, batch, changed })?;
    } else {
        let receipt = receipt.as_deref().unwrap_or("nothing had to change");
        writeln!(io::stderr(), "proposal {id} is approved: {}", term::escape_line(receipt))?;
    }
    Ok(0)
}

pub(super) fn reject(global: &Global, id: u64) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    opened.engine.reject(id, &open::author("cli", None, "person"))?;
    if global.json {
        print_json(&Decided { id, approved: false, batch: None, changed: Vec::new() })?;
    } else {
        writeln!(io::stderr(), "proposal {id} is rejected; nothing of it is kept")?;
    }
    Ok(0)
}

fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows what would change and asks, again where that is something else by then; `None` where the person says no.
fn asked(opened: &open::Opened, id: u64) -> Result<Option<Done>, Stop> {
    loop {
        let reviewed = opened.engine.review_proposal(id)?;
        if let Some(trouble) = reviewed.trouble {
            return Err(trouble.into());
        }
        let mut stderr = io::stderr().lock();
        pending::show(&reviewed, &mut stderr)?;
        write!(stderr, "approve this? [y/N] ")?;
        stderr.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
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
