//! Retrieval first: the notes that a model sees before it says anything.

use crate::action::{Action, Call, GetContext};
use crate::dialect::Parsed;
use crate::engine::{Engine, Manner};
use crate::path::MemoryPath;
use crate::policy::Filter;
use crate::report::{Failure, Value};

/// How many bytes a token is, about.
pub(super) const TOKEN_BYTES: usize = 4;
/// The note about the person, which is always shown.
pub(super) const USER: &str = "user.md";

/// Notes, or parts of them, with what filters leave of them: `user.md`, then what answers the message best.
///
/// `budget` counts tokens. Reading leaves its entries in the audit, as any reading does.
///
/// # Errors
///
/// What the engine says.
pub(super) fn gather(
    engine: &Engine,
    manner: &Manner,
    message: &str,
    filters: &[Filter],
    budget: u32,
) -> Result<Vec<(MemoryPath, String)>, Failure> {
    let mut notes = Vec::<(MemoryPath, String)>::new();
    let most = budget as usize * TOKEN_BYTES;
    if let Ok(user) = MemoryPath::parse(USER)
        && let Ok((text, _)) = engine.read(&user, &manner.author)
    {
        let end = text.floor_char_boundary(most / 2);
        notes.push((user, text.get(..end).unwrap_or_default().to_owned()));
    }
    let get = GetContext { query: Some(message.to_owned()), path: None, budget: Some(budget) };
    let report = engine.conclude(engine.propose(Parsed::of([Call::plain(1, Action::GetContext(get))]), manner.clone()));
    for outcome in report.actions {
        let Value::Context(context) = outcome.result? else { continue };
        for part in context.parts.into_iter().filter(|part| part.path.as_str() != USER) {
            match notes.iter_mut().find(|(path, _)| *path == part.path) {
                Some((_, text)) => text.push_str(&part.text),
                None => notes.push((part.path, part.text)),
            }
        }
    }
    for (path, text) in &mut notes {
        for filter in filters {
            *text = filter.redact(path, text).text;
        }
    }
    notes.retain(|(_, text)| !text.trim().is_empty());
    Ok(notes)
}
