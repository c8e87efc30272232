//! `memdir tidy`: proposes what would make the memory tidier.

use std::io::Write;

use super::args::Global;
use super::exit::Stop;
use super::open::person;
use super::output::{Lines, say};
use super::question::can_ask;
use super::{open, progress};
use memdir_engine::ProposedStep;

pub(super) fn run(global: &Global, is_dry: bool) -> Result<u8, Stop> {
    let opened = if is_dry { open::open_to_read(global)? } else { open::open(global)? };
    let progress = progress::spinner(global, "notes read");
    let run = opened.engine.tidy(is_dry, &person(), &|| progress.inc(1));
    progress.finish_and_clear();
    let run = run?;
    global.answer(&run, |stdout| {
        for ProposedStep { why, path, actions } in &run.steps {
            let names: Vec<&str> = actions.iter().map(|action| action.name()).collect();
            stdout.line(format!("{path}  {}: {why}", names.join(", ")))?;
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
