//! `memdir tidy`: proposes what would make the memory tidier.

use std::io::Write;

use super::args::Global;
use super::open::person;
use super::output::{Lines, say};
use super::question::can_ask;
use super::stop::Stop;
use super::{index, open, progress};
use memdir_core::action::Action;
use memdir_engine::ProposedStep;

pub(super) fn run(global: &Global, is_dry: bool) -> Result<u8, Stop> {
    let opened = if is_dry { open::open_to_read(global)? } else { open::open(global)? };
    // Without an index each rename that is proposed would read all notes.
    index::build(global, &opened)?;
    let progress = progress::spinner(global, "notes read");
    let run = opened.engine.tidy(is_dry, &person(), &|| progress.inc(1));
    progress.finish_and_clear();
    let run = run?;
    global.answer(&run, |stdout| {
        for ProposedStep { why, path, actions } in &run.steps {
            stdout.line(format!("{path}  {why}"))?;
            if actions.iter().any(|action| matches!(action, Action::DeleteFile(_))) {
                stdout.line("  deletes the note")?;
            }
            for (old, new) in actions.iter().filter_map(edited) {
                for line in only(old, new) {
                    stdout.line(format!("  takes out: {line}"))?;
                }
                for line in only(new, old) {
                    stdout.line(format!("  puts there: {line}"))?;
                }
            }
        }
        if run.left > 0 {
            writeln!(stdout, "and {} more, once these are decided", run.left)?;
        }
        match (run.proposal, run.waiting) {
            (Some(id), _) => {
                say(format!("proposal {id} waits in the inbox; nothing is changed yet"))?;
                let walk = if can_ask() { "; choose `part` to decide each step" } else { "" };
                say(format!("decide: memdir approve {id}, memdir reject {id}{walk}"))?;
            }
            (None, Some(id)) => {
                say(format!("proposal {id} of an earlier run waits; decide it first: memdir approve {id}"))?
            }
            (None, None) if run.steps.is_empty() => say("nothing to tidy")?,
            (None, None) => {}
        }
        Ok(())
    })?;
    Ok(0)
}

/// The texts before and after an edit.
fn edited(action: &Action) -> Option<(&str, &str)> {
    let Action::UpdateFile(update) = action else { return None };
    Some((&update.old_content, &update.new_content))
}

/// The lines of a text that another one does not have.
fn only<'t>(text: &'t str, other: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines().filter(move |line| !line.trim().is_empty() && !other.lines().any(|kept| kept == *line))
}
