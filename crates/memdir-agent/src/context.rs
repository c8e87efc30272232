//! Retrieval first: the notes that a model sees before it says anything.

use super::filter::{Notes, withhold};
use memdir_core::action::{Action, Call, GetContext};
use memdir_core::path::{MemoryPath, PERSON_NOTE};
use memdir_core::report::{Failure, Value};
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Engine};
use memdir_policy::Filter;

/// How many bytes a token is, about.
pub(super) const TOKEN_BYTES: usize = 4;

/// What is shown with a message.
#[derive(Default)]
pub(super) struct Shown {
    /// The notes, or parts of them.
    pub(super) notes: Vec<(MemoryPath, String)>,
    /// The words that no note has, where nothing is known of what was asked.
    pub(super) missing: Vec<String>,
}

/// Notes, or parts of them, with what filters leave of them: `user.md`, then what answers the message best.
///
/// `budget` counts tokens. Reading leaves its entries in the audit, as any reading does.
///
/// # Errors
///
/// What the engine says.
pub(super) fn gather(
    engine: &Engine,
    caller: &Caller,
    message: &str,
    filters: &[Filter],
    budget: u32,
) -> Result<Shown, Failure> {
    let mut missing = Vec::new();
    let mut notes = Vec::<(MemoryPath, String)>::new();
    let most = budget as usize * TOKEN_BYTES;
    if let Ok(user) = MemoryPath::parse(PERSON_NOTE)
        && (caller.grant.is_none() || engine.may_hear_of(caller, &user))
        && let Ok((text, _)) = engine.read(&user, caller)
    {
        let text = Notes::redacted(filters, &user, text);
        notes.push((user, cut(text, most / 2)));
    }
    let get = GetContext {
        query: Some(message.to_owned()),
        path: None,
        budget: Some(budget),
        include_past: None,
        as_of: None,
    };
    let report = engine.conclude(engine.propose(Parsed::of([Call::plain(1, Action::GetContext(get))]), caller.clone()));
    for outcome in report.actions {
        let Value::Context(context) = outcome.result? else { continue };
        missing.extend(context.missing);
        let mut parts: Vec<_> = context.parts.into_iter().filter(|part| part.path.as_str() != PERSON_NOTE).collect();
        // The best note first, and of each note what stands first in it.
        let order: Vec<MemoryPath> = parts.iter().map(|part| part.path.clone()).collect();
        parts.sort_by_key(|part| (order.iter().position(|path| *path == part.path), part.lines[0]));
        for part in parts {
            match notes.iter_mut().find(|(path, _)| *path == part.path) {
                Some((_, before)) => {
                    before.push_str(if before.ends_with('\n') { "" } else { "\n" });
                    before.push_str(&part.text);
                }
                None => notes.push((part.path, part.text)),
            }
        }
    }
    for (_, text) in &mut notes {
        *text = withhold(text, filters);
    }
    notes.retain(|(_, text)| !text.trim().is_empty());
    Ok(Shown { notes, missing })
}

/// The first lines of a text, as many as there is room for; half a line would say what is not so.
fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        match text.rfind('\n') {
            Some(end) => text.truncate(end + 1),
            // It is one long line: who reads it sees that it goes on.
            None => text.push_str(" …\n"),
        }
    }
    text
}
