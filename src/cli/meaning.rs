//! What notes mean, brought up to date before somebody asks.

use std::io::{self, Write};

use super::args::Global;
use super::exit::Stop;
use super::{open, progress, search, term};
use crate::report::Failure;

/// Makes the points that notes lack, with a bar where that is long; without an embedder nothing is done. What fails is said, and
/// words alone find then.
///
/// Where something filters what leaves this machine and the embedder is elsewhere, nothing is sent: the agent refuses that.
pub(super) fn refresh(
    global: &Global,
    opened: &open::Opened,
    is_filtered: bool,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), Stop> {
    if opened.config.search.wanted().is_none() || (is_filtered && opened.engine.embeds_on_host().is_some()) {
        return Ok(());
    }
    search::build(global, opened)?;
    let bar = progress::bar(global, 0, "notes read for what they mean");
    let told = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let embedded = opened.engine.embed(&told, stop);
    bar.finish_and_clear();
    embedded.or_else(|failure| tell(&failure))
}

/// Says why notes were found by their words alone, if that was not said before.
pub(super) fn told(opened: &open::Opened) -> Result<(), Stop> {
    opened.engine.embedding_failure().map_or(Ok(()), |failure| tell(&failure))
}

fn tell(failure: &Failure) -> Result<(), Stop> {
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "note: notes are found by their words alone: {}", term::escape_line(&failure.message))?;
    if let Some(hint) = &failure.hint {
        writeln!(stderr, "hint: {}", term::escape_line(hint))?;
    }
    Ok(())
}
