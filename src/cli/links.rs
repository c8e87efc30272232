//! `memdir links`: where the links lead.

use std::io::{self, Write};

use super::args::Global;
use super::exit::{Stop, print_json};
use super::{look, open, term};
use crate::action::{Action, Call, GetLinks, Span};
use crate::dialect::{Dialect, Entry, Parsed};
use crate::engine::{Engine, Manner};
use crate::path::MemoryPath;
use crate::policy::Mode;
use crate::report::{LinkEntry, LinkStatus, Links, Value};

pub(super) fn run(global: &Global, note: Option<&str>) -> Result<u8, Stop> {
    let note = note.map(look::path).transpose()?;
    let opened = open::open(global)?;
    let links = match &note {
        Some(note) => of_note(&opened.engine, note)?,
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

/// Asks as a model would, by the action of that name.
fn of_note(engine: &Engine, note: &MemoryPath) -> Result<Links, Stop> {
    let action = Action::GetLinks(GetLinks { path: note.clone() });
    let call = Call { index: 1, action, label: None, claimed: false, span: Span::default() };
    let parsed = Parsed { dialect: Dialect::Native, entries: vec![Entry::Call(call)], reply: None, issues: Vec::new() };
    let author = open::author("cli", None, "person");
    let manner = Manner { author, mode: Mode::Off, read_only: true, atomic: false };
    let report = engine.conclude(engine.propose(parsed, manner));
    match report.actions.into_iter().next().map(|outcome| outcome.result) {
        Some(Ok(Value::Links(links))) => Ok(links),
        Some(Err(failure)) => Err(failure.into()),
        _ => Ok(Links::default()),
    }
}

fn sentence(link: &LinkEntry) -> String {
    let to = match (&link.resolved, link.status) {
        (_, LinkStatus::Ok) if link.resolved.is_none() => String::new(),
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
