//! `memdir forget`: lists all places, asks, and erases.

use std::io::{self, Write};

use super::args::{Forget, Global};
use super::exit::{self, Stop, print_json};
use super::{open, question, term};
use crate::engine::{ForgetPreview, Forgotten, Lines, Target, Where};
use crate::vault::is_put_aside;

pub(super) fn run(global: &Global, options: &Forget) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let target = match (&options.note, &options.text) {
        (Some(note), _) => Target::Note(opened.engine.note_named(note)?),
        (None, text) => Target::Text(text.clone().unwrap_or_default()),
    };
    let mut lines = if options.lines { Lines::Erase } else { Lines::Keep };
    let mut shown = None;
    let is_asked = !options.yes && !options.dry_run;
    if !options.yes || options.dry_run {
        let listed = opened.engine.places_of(&target)?;
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
    let forgotten = opened.engine.forget(&target, lines, shown.as_ref(), &open::author("cli", None, "person"))?;
    if global.json {
        print_json(&forgotten)?;
    } else if !is_asked {
        list(&forgotten.listed, &mut io::stdout().lock())?;
    }
    tell(&forgotten)?;
    Ok(0)
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
            Where::History | Where::Audit | Where::Inbox | Where::Index => "still there: run the same command again",
        };
        writeln!(stderr, "left: {}: {why}", term::escape_line(path))?;
    }
    Ok(())
}
