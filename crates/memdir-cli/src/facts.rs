//! `memdir facts`: what the notes say as keys and values.

use super::args::{Global, Paging};
use super::exit::Stop;
use super::open;
use super::output::Lines;
use memdir_engine::FactsQuery;

pub(super) fn run(global: &Global, note: Option<&str>, page: &Paging) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let note = note.map(|note| opened.engine.note_named(note)).transpose()?;
    let query = FactsQuery {
        note: note.as_ref(),
        limit: page.limit(usize::MAX),
        cursor: page.cursor.as_deref(),
        all: false,
        why: false,
    };
    let found = opened.engine.facts(&query)?;
    global.answer(&found, |stdout| {
        for fact in &found.facts {
            stdout.line(format!("{}:{}  {}: {}", fact.path, fact.line, fact.key, fact.value))?;
        }
        page.say_next(found.total, found.cursor.as_deref())
    })
}
