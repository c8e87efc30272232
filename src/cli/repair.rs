//! `memdir doctor --repair`: a damaged history is put aside, and a new one begins.

use std::io::{self, Write};

use serde::Serialize;

use super::args::Global;
use super::config::Sources;
use super::exit::{Stop, print_json, usage};
use super::{open, question, term};
use crate::engine;
use crate::vault::{Fault, PutAside, Swept, VaultError};

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
    /// How many temporary files of changes that ended early were removed.
    removed: usize,
    /// Those that are left, since their text may be nowhere else.
    temporary: Vec<String>,
}

pub(super) fn run(global: &Global, is_agreed: bool) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = open::named(global, &sources)?;
    let located = open::locate(global, &sources, &folder)?;
    let base =
        located.options.state.as_ref().map_or_else(|| ".memdir".to_owned(), |(_, path)| path.display().to_string());
    let (vault, _) = open::vault(located);
    let obstacle = vault.obstacle();
    let failed = |error: VaultError| {
        let failure = engine::failure(&error);
        Stop::from(match obstacle.as_deref().filter(|_| matches!(error, VaultError::Untrusted(_))) {
            Some(obstacle) => failure.with_hint(without(obstacle)),
            None => failure,
        })
    };
    let Some(fault) = vault.fault().map_err(&failed)? else {
        if obstacle.is_some() {
            return Err(failed(VaultError::Untrusted("it holds something that memdir did not make")));
        }
        return sweep(global, vault.sweep_temporary_files().map_err(&failed)?);
    };
    if !is_agreed && !asked(global, &fault)? {
        return Ok(0);
    }
    let PutAside { name, has_sessions, temporary } = vault.put_aside(&fault).map_err(&failed)?;
    let put_aside = format!("{base}/{name}");
    if global.json {
        let fault = Some(fault.error.to_string());
        print_json(&Repaired {
            repaired: true,
            fault,
            put_aside: Some(put_aside),
            sessions: has_sessions,
            removed: 0,
            temporary,
        })?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "a new history has begun; notes are as they were")?;
    writeln!(stdout, "lost: {LOST}")?;
    if has_sessions {
        writeln!(stdout, "kept, to be read only: the conversations")?;
    }
    look_at(&temporary, &mut stdout)?;
    writeln!(
        stdout,
        "put aside: {}, which holds texts of notes: remove it when you need it no more",
        term::escape_line(&put_aside)
    )?;
    Ok(0)
}

/// Tells what became of temporary files where nothing is wrong with the history.
fn sweep(global: &Global, Swept { removed, left }: Swept) -> Result<u8, Stop> {
    if global.json {
        let swept =
            Repaired { repaired: false, fault: None, put_aside: None, sessions: false, removed, temporary: left };
        print_json(&swept)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "no damage was found")?;
    if removed > 0 {
        writeln!(stdout, "removed: {removed} temporary files, left by changes that ended early")?;
    }
    look_at(&left, &mut stdout)?;
    Ok(0)
}

fn look_at(left: &[String], output: &mut impl Write) -> io::Result<()> {
    left.iter()
        .try_for_each(|path| writeln!(output, "look at: {}, whose text may be nowhere else", term::escape_line(path)))
}

/// What the person can do about something that stands in the place of a folder or a file of memdir's.
pub(super) fn without(obstacle: &str) -> String {
    format!("notes can be read; take `{obstacle}` away: memdir makes it anew with the next change")
}

/// Says what is wrong and what would be lost, and asks; who cannot be asked has to say yes beforehand.
fn asked(global: &Global, fault: &Fault) -> Result<bool, Stop> {
    let error = &fault.error;
    if global.json || !question::can_ask() {
        let message = format!("{error}; repairing it discards {LOST}, and changes no note");
        return Err(usage(message, "`memdir doctor --repair --yes` does it").into());
    }
    let mut stderr = io::stderr();
    writeln!(stderr, "{}", term::escape_line(&error.to_string()))?;
    let question = format!("begin a new history? this discards {LOST}; notes are not changed");
    let is_agreed = question::agrees(&question)?;
    if !is_agreed {
        writeln!(stderr, "nothing was changed")?;
    }
    Ok(is_agreed)
}
