//! `memdir forget`: lists all places, asks, and erases.

use std::io::{self, Write};

use super::args::{Forget, Global};
use super::output::{Lines as _, say};
use super::stop::{Stop, usage};
use super::{draft, open, question, term};
use memdir_core::report::{Code, Failure};
use memdir_engine::{ForgetPreview, ForgetTarget, Forgotten, PlaceKind, RelatedLines};

pub(super) fn run(global: &Global, options: &Forget) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let target = match (&options.note, &options.text) {
        (Some(note), _) => ForgetTarget::Note(opened.engine.note_named_ever(note)?),
        (None, Some(text)) => ForgetTarget::Text(text.clone()),
        (None, None) => return Err(usage("there is nothing to forget", "name a note, or give `--text`").into()),
    };
    let drafts = draft::holding(&opened.root, &target)?;
    let mut lines = if options.lines { RelatedLines::Erase } else { RelatedLines::Keep };
    let mut shown = None;
    let is_asked = !options.yes && !options.dry_run;
    if is_asked || options.dry_run {
        let listed = unless_only(&drafts, opened.engine.places_of(&target))?;
        let listed = with(&drafts, listed.unwrap_or_default());
        if is_asked && (global.json || !question::can_ask()) {
            return unasked(global, listed);
        }
        if is_asked {
            list(&listed, &mut io::stderr().lock())?;
        }
        if options.dry_run {
            let found = Forgotten { listed, erased: false, left: Vec::new() };
            return global.answer(&found, |stdout| list(&found.listed, stdout));
        }
        if !question::agrees_or("erase all of this? it cannot be brought back", "nothing was erased")? {
            return Ok(0);
        }
        let question = "erase these lines too? with no, only the links in them go";
        if !listed.lines.is_empty() && !options.lines && question::agrees(question)? {
            lines = RelatedLines::Erase;
        }
        shown = Some(listed);
    }
    let forgotten = opened.engine.forget(&target, lines, shown.as_ref(), &open::person());
    let forgotten = unless_only(&drafts, forgotten)?;
    drafts.iter().try_for_each(draft::Left::remove)?;
    let Forgotten { listed, left, .. } = forgotten.unwrap_or_default();
    let forgotten = Forgotten { listed: with(&drafts, listed), erased: true, left };
    global.answer(&forgotten, |stdout| if is_asked { Ok(()) } else { list(&forgotten.listed, stdout) })?;
    say_left(&forgotten)?;
    Ok(0)
}

/// What was found in the memory; `None` where it is in drafts alone.
fn unless_only<T>(drafts: &[draft::Left], found: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match found {
        Err(failure) if failure.code == Code::NotFound && !drafts.is_empty() => Ok(None),
        found => found.map(Some),
    }
}

/// Adds the drafts to a list.
fn with(drafts: &[draft::Left], mut listed: ForgetPreview) -> ForgetPreview {
    listed.places.extend(drafts.iter().map(draft::Left::place));
    listed
}

/// Erases nothing where nobody can be asked: all that would go is listed.
fn unasked(global: &Global, listed: ForgetPreview) -> Result<u8, Stop> {
    if !global.json {
        list(&listed, &mut io::stdout().lock())?;
    }
    let failure = usage(
        "nothing was erased: there is no terminal to confirm on",
        "review the list, then run this again with `--yes`",
    );
    Err(Stop::unasked(failure, listed))
}

fn list(listed: &ForgetPreview, output: &mut impl Write) -> Result<(), Stop> {
    for place in &listed.places {
        let path = place.path.as_deref().map_or_else(String::new, |path| format!("  {}", term::escape_line(path)));
        writeln!(output, "{:7}  {:>4}{path}", term::wire_name(&place.place), place.count)?;
    }
    if listed.places.iter().any(|place| place.place == PlaceKind::History) {
        writeln!(output, "changes whose texts go from the history cannot be undone any more")?;
    }
    if !listed.lines.is_empty() {
        writeln!(output, "lines elsewhere that link to it or name it:")?;
    }
    for line in &listed.lines {
        output.line(format!("  {}:{}  {}", line.path, line.line, line.text))?;
    }
    Ok(output.flush()?)
}

/// Says what is left, and what the person can do about it.
fn say_left(forgotten: &Forgotten) -> Result<(), Stop> {
    say("erased; backups, copies elsewhere and what the disk keeps of deleted files are out of reach")?;
    for place in &forgotten.left {
        let path = place.path.as_deref().unwrap_or_default();
        say(format!("left: {path}: {}", place.advice()))?;
    }
    Ok(())
}
