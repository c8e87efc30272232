//! `memdir links`: where the links lead.

use std::io::{self, Write};

use super::args::Global;
use super::exit::{Stop, print_json};
use super::{one, open, term};
use crate::action::{Action, GetLinks};
use crate::report::{LinkEntry, LinkStatus, Links, Value};

pub(super) fn run(global: &Global, note: Option<&str>) -> Result<u8, Stop> {
    // The answer to an action says itself that there is no history.
    let opened = if note.is_some() { open::open(global)? } else { open::open_to_read(global)? };
    let note = note.map(|note| opened.engine.note_named(note)).transpose()?;
    let links = match &note {
        Some(note) => match one::run(&opened, Action::GetLinks(GetLinks { path: note.clone() }))? {
            Value::Links(links) => links,
            _ => Links::default(),
        },
        None => opened.engine.links()?,
    };
    if global.json {
        print_json(&links)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for link in &links.links {
        writeln!(stdout, "{}", term::escape_line(&sentence(link)))?;
    }
    for source in note.iter().filter_map(|note| links.backlinks.get(note)).flatten() {
        writeln!(stdout, "linked from {}", term::escape_line(source.as_str()))?;
    }
    stdout.flush()?;
    Ok(0)
}

fn sentence(link: &LinkEntry) -> String {
    let to = match (&link.resolved, link.status) {
        (Some(path), LinkStatus::Ok) => format!(" -> {path}"),
        (Some(path), LinkStatus::BrokenHeading) => format!(" -> {path}, which has no such heading"),
        (Some(path), LinkStatus::BrokenBlock) => format!(" -> {path}, which has no such block"),
        _ => link
            .nearest
            .as_ref()
            .map_or_else(|| " leads nowhere".to_owned(), |nearest| format!(" leads nowhere; the nearest is {nearest}")),
    };
    format!("{}:{}  {}{}{to}", link.source, link.line, link.target, link.subpath)
}
