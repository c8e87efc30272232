//! The index of notes, and what they mean, brought up to date before somebody asks.

use super::args::Global;
use super::output::{say, say_failure};
use super::stop::Stop;
use super::{open, progress};
use memdir_core::report::Failure;

/// Builds the index, or brings it up to date where so much has changed that a search does not; answers whether it did.
pub(super) fn build(global: &Global, opened: &open::Opened) -> Result<bool, Stop> {
    let bar = progress::bar(global, 0, "notes indexed");
    let built = opened.engine.refresh(&progress::moves(&bar), &|| false);
    bar.finish_and_clear();
    if let Err(failure) = &built {
        say(format!("note: the index was not built: {}", failure.message))?;
    }
    Ok(built.is_ok())
}

/// Makes the points that notes lack, with a bar where that is long; without an embedder nothing is done. What fails is said, and
/// words alone find then.
///
/// Where something filters what leaves this machine and the embedder is elsewhere, nothing is sent: the agent refuses that.
pub(super) fn embed(
    global: &Global,
    opened: &open::Opened,
    is_filtered: bool,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), Stop> {
    if opened.config.search.wanted().is_none() || (is_filtered && opened.engine.embeds_on_host().is_some()) {
        return Ok(());
    }
    build(global, opened)?;
    let bar = progress::bar(global, 0, "notes read for what they mean");
    let embedded = opened.engine.embed(&progress::moves(&bar), stop);
    bar.finish_and_clear();
    embedded.or_else(|failure| say_why(&failure))
}

/// Says why notes were found by their words alone, if that was not said before.
pub(super) fn say_trouble(opened: &open::Opened) -> Result<(), Stop> {
    opened.engine.embedding_failure().map_or(Ok(()), |failure| say_why(&failure))
}

fn say_why(failure: &Failure) -> Result<(), Stop> {
    Ok(say_failure("note: notes are found by their words alone", failure)?)
}
