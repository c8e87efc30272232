//! `memdir doctor --repair`: a damaged history is put aside, and a new one begins.

use std::io::{self, BufRead, IsTerminal, Write};

use serde::Serialize;

use super::args::Global;
use super::config::Sources;
use super::exit::{Stop, print_json, usage};
use super::{open, term};
use crate::engine;
use crate::vault::{Fault, PutAside, VaultError};

/// What a damaged history takes along.
const LOST: &str = "the log, undo and the audit until now, and proposals that wait";

#[derive(Debug, Serialize)]
struct Repaired {
    repaired: bool,
    /// Why; `None` where nothing was wrong.
    fault: Option<String>,
    /// Where the damaged files are now.
    put_aside: Option<String>,
    /// Whether conversations were kept.
    sessions: bool,
    /// Temporary files of a change that nobody can finish now.
    temporary: Vec<String>,
}

pub(super) fn run(global: &Global, is_agreed: bool) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = open::named(global, &sources)?;
    let located = open::locate(global, &sources, &folder)?;
    let base =
        located.options.state.as_ref().map_or_else(|| ".memdir".to_owned(), |(_, path)| path.display().to_string());
    let (vault, _) = open::vault(located);
    let failed = |error: VaultError| Stop::from(engine::failure(&error));
    let Some(fault) = vault.fault().map_err(failed)? else {
        let nothing =
            Repaired { repaired: false, fault: None, put_aside: None, sessions: false, temporary: Vec::new() };
        if global.json {
            print_json(&nothing)?;
        } else {
            writeln!(io::stdout(), "no damage was found; nothing was changed")?;
        }
        return Ok(0);
    };
    if !is_agreed && !asked(global, &fault)? {
        return Ok(0);
    }
    let PutAside { name, has_sessions, temporary } = vault.put_aside(&fault).map_err(failed)?;
    let put_aside = format!("{base}/{name}");
    if global.json {
        let fault = Some(fault.error.to_string());
        print_json(&Repaired { repaired: true, fault, put_aside: Some(put_aside), sessions: has_sessions, temporary })?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "a new history has begun; notes are as they were")?;
    writeln!(stdout, "lost: {LOST}")?;
    if has_sessions {
        writeln!(stdout, "kept: the conversations")?;
    }
    for path in temporary {
        writeln!(stdout, "look at: {}, left by a change that nobody can finish now", term::escape_line(&path))?;
    }
    writeln!(
        stdout,
        "put aside: {}, which holds texts of notes: remove it when you need it no more",
        term::escape_line(&put_aside)
    )?;
    Ok(0)
}

/// Says what is wrong and what would be lost, and asks; who cannot be asked has to say yes beforehand.
fn asked(global: &Global, fault: &Fault) -> Result<bool, Stop> {
    let error = &fault.error;
    if global.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = format!("{error}; to repair it costs {LOST}, and no note");
        return Err(usage(message, "`memdir doctor --repair --yes` does it").into());
    }
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "{}", term::escape_line(&error.to_string()))?;
    write!(stderr, "begin a new history? it costs {LOST}; notes are not touched [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let is_agreed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_agreed {
        writeln!(stderr, "nothing was changed")?;
    }
    Ok(is_agreed)
}
