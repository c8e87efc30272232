//! `memdir links`: where the links lead.

use super::args::Global;
use super::output::Lines;
use super::stop::Stop;
use super::{one, open};
use memdir_core::action::{Action, GetLinks};
use memdir_core::report::{LinkEntry, LinkStatus, Value};

pub(super) fn run(global: &Global, note: Option<&str>) -> Result<u8, Stop> {
    // The answer to an action says itself that there is no history.
    let opened = if note.is_some() { open::open(global)? } else { open::open_to_read(global)? };
    let note = note.map(|note| opened.engine.note_named(note)).transpose()?;
    let links = match &note {
        Some(note) => match one::run(&opened, Action::GetLinks(GetLinks { path: note.clone() }))? {
            Value::Links(links) => links,
            _ => return Err(one::unexpected().into()),
        },
        None => opened.engine.links()?,
    };
    global.answer(&links, |stdout| {
        for link in &links.links {
            stdout.line(sentence(link))?;
        }
        for source in note.iter().filter_map(|note| links.backlinks.get(note)).flatten() {
            stdout.line(format!("linked from {source}"))?;
        }
        Ok(())
    })
}

fn sentence(link: &LinkEntry) -> String {
    let to = match (&link.resolved, link.status, &link.nearest) {
        (Some(path), LinkStatus::Ok, _) => format!(" -> {path}"),
        (Some(path), LinkStatus::BrokenHeading, _) => format!(" -> {path}, which has no such heading"),
        (Some(path), LinkStatus::BrokenBlock, _) => format!(" -> {path}, which has no such block"),
        (_, LinkStatus::Outside, _) => " leads out of the memory, or to a hidden name".to_owned(),
        (_, _, Some(nearest)) => format!(" leads nowhere; the nearest is {nearest}"),
        (_, _, None) => " leads nowhere".to_owned(),
    };
    format!("{}:{}  {}{}{to}", link.source, link.line, link.target, link.subpath)
}
