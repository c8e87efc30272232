//! `memdir forget`: lists all places, asks, and erases.

use std::io::{self, Write};

use super::args::{Forget, Global};
use super::exit::{self, Stop, print_json};
use super::{draft, open, question, term};
use crate::engine::{ForgetPreview, Forgotten, Lines, Target, Where};
use crate::report::{Code, Failure};
use crate::vault::is_put_aside;

pub(super) fn run(global: &Global, options: &Forget) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let target = match (&options.note, &options.text) {
        (Some(note), _) => Target::Note(opened.engine.note_named(note)?),
        (None, text) => Target::Text(text.clone().unwrap_or_default()),
    };
    let drafts = draft::holding(&opened, &target)?;
    let mut lines = if options.lines { Lines::Erase } else { Lines::Keep };
    let mut shown = None;
    let is_asked = !options.yes && !options.dry_run;
    if !options.yes || options.dry_run {
        let listed = unless_only(&drafts, opened.engine.places_of(&target))?;
        let listed = with(&drafts, listed.unwrap_or_default());
        if is_asked && (global.json || !question::can_ask()) {
            return unasked(global, listed);
        }
        if is_asked {
            list(&listed, &mut io::stderr().lock())?;
        }
        if options.dry_run || !question::agrees("erase all of this? it cannot be brought back")? {
            let found = Forgotten { listed, erased: false, left: Vec::new() };
            if global.json {
                print_json(&found)?;
            } else if options.dry_run {
                list(&found.listed, &mut io::stdout().lock())?;
            } else {
                writeln!(io::stderr(), "nothing was erased")?;
            }
            return Ok(0);
        }
        let question = "erase these lines too? with no, only the links in them go";
        if !listed.lines.is_empty() && !options.lines && question::agrees(question)? {
            lines = Lines::Erase;
        }
        shown = Some(listed);
    }
    let author = open::author("cli", None, "person");
    let forgotten = unless_only(&drafts, opened.engine.forget(&target, lines, shown.as_ref(), &author))?;
    drafts.iter().try_for_each(draft::Left::remove)?;
    let Forgotten { listed, left, .. } = forgotten.unwrap_or_default();
    let forgotten = Forgotten { listed: with(&drafts, listed), erased: true, left };
    if global.json {
        print_json(&forgotten)?;
    } else if !is_asked {
        list(&forgotten.listed, &mut io::stdout().lock())?;
    }
    tell(&forgotten)?;
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
    let failure = exit::usage(
        "nothing was erased: there is no terminal to confirm on",
        "review the list, then run this again with `--yes`",
    );
    Err(Stop::unasked(failure, listed))
}

fn list(listed: &ForgetPreview, output: &mut impl Write) -> Result<(), Stop> {
    for place in &listed.places {
        let path = place.path.as_deref().map_or_else(String::new, |path| format!("  {}", term::escape_line(path)));
        writeln!(output, "{:7}  {:>4}{path}", word(place.place), place.count)?;
    }
    if listed.places.iter().any(|place| place.place == Where::History) {
        writeln!(output, "changes whose texts go from the history cannot be undone any more")?;
    }
    if !listed.lines.is_empty() {
        writeln!(output, "lines elsewhere that link to it or name it:")?;
    }
    for line in &listed.lines {
        writeln!(output, "  {}:{}  {}", term::escape_line(&line.path), line.line, term::escape_line(&line.text))?;
    }
    Ok(output.flush()?)
}

fn word(place: Where) -> &'static str {
    match place {
        Where::Note => "note",
        Where::Name => "name",
        Where::Link => "link",
        Where::File => "file",
        Where::Trash => "trash",
        Where::History => "history",
        Where::Audit => "audit",
        Where::Inbox => "inbox",
        Where::Session => "session",
        Where::Draft => "draft",
        Where::Index => "index",
        Where::State => "state",
    }
}

/// Says what is left, and who can see to it.
fn tell(forgotten: &Forgotten) -> Result<(), Stop> {
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "erased; backups, copies elsewhere and what the disk keeps of deleted files are out of reach")?;
    for place in &forgotten.left {
        let path = place.path.as_deref().unwrap_or_default();
        let why = match place.place {
            Where::Session => "a conversation: `memdir session remove` takes it away, on the machine that it is of",
            Where::State if path.split('/').any(is_put_aside) => {
                "a damaged history that was put aside: remove its folder when nothing in it is needed"
            }
            Where::State => "the state of a machine: run `memdir forget` on that machine too",
            Where::File | Where::Name => "not changed, for it is another program's: see to it there",
            Where::Note | Where::Link | Where::Trash => "said in plain words: `memdir forget --text` takes it out",
            Where::History | Where::Audit | Where::Inbox | Where::Draft | Where::Index => {
                "still there: run the same command again"
            }
        };
        writeln!(stderr, "left: {}: {why}", term::escape_line(path))?;
    }
    Ok(())
}
