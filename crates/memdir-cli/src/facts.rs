//! `memdir facts`: what the notes say as keys and values.

use super::args::{AsOf, Global, Paging};
use super::exit::Stop;
use super::open;
use super::output::Lines;

pub(super) fn run(global: &Global, note: Option<&str>, then: &AsOf, page: &Paging) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let found = opened.engine.view(then.as_of.as_deref(), |view| {
        let note = note.map(|note| view.note_named(note)).transpose()?;
        view.facts(note.as_ref(), page.limit(usize::MAX), page.cursor.as_deref())
    })?;
    global.answer(&found, |stdout| {
        for fact in &found.facts {
            stdout.line(format!("{}:{}  {}: {}", fact.path, fact.line, fact.key, fact.value))?;
        }
        page.say_next(found.total, found.cursor.as_deref())
    })
}
