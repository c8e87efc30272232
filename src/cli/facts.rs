//! `memdir facts`: what the notes say as keys and values.

use std::io::{self, Write};

use super::args::{Global, Paging};
use super::exit::{Stop, print_json};
use super::{open, term};

pub(super) fn run(global: &Global, note: Option<&str>, page: &Paging) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let note = note.map(|note| opened.engine.note_named(note)).transpose()?;
    let found = opened.engine.facts(note.as_ref(), page.limit(usize::MAX), page.cursor.as_deref())?;
    if global.json {
        print_json(&found)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for fact in &found.facts {
        let line = format!("{}:{}  {}: {}", fact.path, fact.line, fact.key, fact.value);
        writeln!(stdout, "{}", term::escape_line(&line))?;
    }
    stdout.flush()?;
    if let Some(cursor) = &found.cursor {
        writeln!(io::stderr(), "{} in all; go on with --cursor '{}'", found.total, term::escape_line(cursor))?;
    }
    Ok(0)
}
