//! `memdir doctor --repair`: a damaged history is put aside, and a new one begins.

use std::io::{self, Write};

use serde::Serialize;

use super::args::Global;
use super::config::Sources;
use super::output::{Lines, say};
use super::stop::{Stop, usage};
use super::{open, question};
use memdir_engine as engine;
use memdir_vault::{Fault, PutAside, SweptTemporary, VaultError};

/// What a damaged history takes along.
const LOST: &str = "the log, undo and the audit until now, and proposals that wait";

#[derive(Debug, Default, Serialize)]
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
    let located = open::locate_named(global, &Sources::read()?)?;
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
    let (fault, kept) = (Some(fault.error.to_string()), Some(put_aside.clone()));
    let repaired =
        Repaired { repaired: true, fault, put_aside: kept, sessions: has_sessions, temporary, ..Repaired::default() };
    global.answer(&repaired, |stdout| {
        writeln!(stdout, "a new history has begun; notes are as they were")?;
        writeln!(stdout, "lost: {LOST}")?;
        if has_sessions {
            writeln!(stdout, "kept, to be read only: the conversations")?;
        }
        look_at(&repaired.temporary, stdout)?;
        let words = "which holds texts of notes: delete it when you no longer need it";
        Ok(stdout.line(format!("put aside: {put_aside}, {words}"))?)
    })
}

/// Says which temporary files were removed where the history is intact.
fn sweep(global: &Global, SweptTemporary { removed, left }: SweptTemporary) -> Result<u8, Stop> {
    let swept = Repaired { removed, temporary: left, ..Repaired::default() };
    global.answer(&swept, |stdout| {
        writeln!(stdout, "no damage was found")?;
        if removed > 0 {
            writeln!(stdout, "removed: {removed} temporary files, left by changes that ended early")?;
        }
        Ok(look_at(&swept.temporary, stdout)?)
    })
}

fn look_at(left: &[String], output: &mut impl Write) -> io::Result<()> {
    left.iter().try_for_each(|path| output.line(format!("look at: {path}, whose text may be nowhere else")))
}

/// What the person can do about something that stands in the place of a folder or a file of memdir's.
pub(super) fn without(obstacle: &str) -> String {
    format!("notes can be read; take `{obstacle}` away: memdir makes it anew with the next change")
}

/// Says what is wrong and what would be lost, and asks; without a terminal, `--yes` is needed.
fn asked(global: &Global, fault: &Fault) -> Result<bool, Stop> {
    let error = &fault.error;
    if global.json || !question::can_ask() {
        let message = format!("{error}; repairing it discards {LOST}, and changes no note");
        return Err(usage(message, "`memdir doctor --repair --yes` does it").into());
    }
    say(error.to_string())?;
    let question = format!("begin a new history? this discards {LOST}; notes are not changed");
    question::agrees_or(&question, "nothing was changed")
}
