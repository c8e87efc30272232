//! `memdir forget`: lists all places, asks, and erases.

use std::io::{self, BufRead, IsTerminal, Write};

use super::args::{Forget, Global};
use super::exit::{Stop, print_json};
use super::{look, open, term};
use crate::engine::{Forgotten, Place, Target, Where};
use crate::vault::is_put_aside;

pub(super) fn run(global: &Global, options: &Forget) -> Result<u8, Stop> {
    let target = match (&options.note, &options.text) {
        (Some(note), _) => Target::Note(look::path(note)?),
        (None, text) => Target::Text(text.clone().unwrap_or_default()),
    };
    let opened = open::open(global)?;
    let is_asked = !global.json && !options.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    if options.dry_run || is_asked {
        let places = opened.engine.places_of(&target)?;
        if options.dry_run || !is_agreed(&places)? {
            let found = Forgotten { places, erased: false, left: Vec::new() };
            if global.json {
                print_json(&found)?;
            } else if options.dry_run {
                list(&found.places, &mut io::stdout().lock())?;
            }
            return Ok(0);
        }
    }
    let forgotten = opened.engine.forget(&target, &open::author("cli", None, "person"))?;
    if global.json {
        print_json(&forgotten)?;
    } else if !is_asked {
        list(&forgotten.places, &mut io::stdout().lock())?;
    }
    tell(&forgotten)?;
    Ok(0)
}

fn list(places: &[Place], output: &mut impl Write) -> Result<(), Stop> {
    for place in places {
        let path = place.path.as_deref().map_or_else(String::new, |path| format!("  {}", term::escape_line(path)));
        writeln!(output, "{:7}  {:>4}{path}", word(place.place), place.count)?;
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

/// Shows the places and asks the person.
fn is_agreed(places: &[Place]) -> Result<bool, Stop> {
    let mut stderr = io::stderr().lock();
    list(places, &mut stderr)?;
    write!(stderr, "erase all of this? it cannot be brought back [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let is_agreed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_agreed {
        writeln!(stderr, "nothing was erased")?;
    }
    Ok(is_agreed)
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
