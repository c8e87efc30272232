//! Edits of lines that stand in notes, one call for each line.
//!
//! Owns what becomes of a line that says several things, such as the row of a table: it goes only where all that it says is dropped.

use serde_json::{Value, json};

use super::view::{Entry, Shown};

/// Another value for an entry that stands on a line; `None` where it is dropped.
struct Edit<'v, 'n> {
    note: &'v Shown<'n>,
    entry: &'v Entry,
    value: Option<String>,
}

impl Edit<'_, '_> {
    fn is_on_line_of(&self, other: &Self) -> bool {
        self.note.path == other.note.path && self.entry.lines == other.entry.lines
    }
}

/// The edits of a turn.
#[derive(Default)]
pub(super) struct Edits<'v, 'n>(Vec<Edit<'v, 'n>>);

impl<'v, 'n> Edits<'v, 'n> {
    /// Takes in an edit; a later one of the same entry takes its place. `None` where it is not known which part of a line it is about.
    pub(super) fn push(&mut self, note: &'v Shown<'n>, entry: &'v Entry, value: Option<String>) -> Option<()> {
        let goes_whole = entry.place.is_none() && value.is_none() && note.on_line_of(entry).count() == 1;
        if !goes_whole && !Self::may_change(note, entry) {
            return None;
        }
        self.0.retain(|edit| edit.note.path != note.path || edit.entry != entry);
        self.0.push(Edit { note, entry, value });
        Some(())
    }

    /// Whether it is known where the value of an entry stands, and nothing else stands there: an edit of the one would move or take away the other.
    pub(super) fn may_change(note: &Shown<'n>, entry: &Entry) -> bool {
        let Some(place) = &entry.place else { return false };
        let places = note.entries.iter().filter_map(|other| other.place.as_ref());
        places.filter(|other| *other != place).all(|other| other.start >= place.end || place.start >= other.end)
    }

    /// Whether an entry gets another value.
    pub(super) fn renews(&self, note: &Shown<'n>, entry: &Entry) -> bool {
        self.0.iter().any(|edit| edit.note.path == note.path && edit.entry == entry && edit.value.is_some())
    }

    /// The edits as calls.
    pub(super) fn calls(&self) -> Vec<Value> {
        let firsts = self.0.iter().enumerate().filter(|(at, edit)| {
            let mut earlier = self.0.iter().take(*at);
            !earlier.any(|other| other.is_on_line_of(edit))
        });
        firsts.map(|(_, first)| self.call(first)).collect()
    }

    /// All edits of one line as a call.
    fn call(&self, first: &Edit<'v, 'n>) -> Value {
        let Edit { note, entry, .. } = first;
        let mut edits: Vec<&Edit<'_, '_>> = self.0.iter().filter(|edit| edit.is_on_line_of(first)).collect();
        let is_silent = |entry: &Entry| match edits.iter().find(|edit| edit.entry == entry) {
            Some(edit) => edit.value.is_none(),
            None => entry.value.is_empty(),
        };
        let (old, new) = if note.on_line_of(entry).all(is_silent) {
            let (old, new) = note.without(entry);
            (old, new.to_owned())
        } else {
            let (old, start) = (note.lines(entry), entry.lines.start);
            let mut new = old.to_owned();
            // From the last place to the first, so that those before stay where they are.
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.entry.place.as_ref().map(|place| place.start)));
            for edit in edits {
                let Some(place) = &edit.entry.place else { continue };
                new.replace_range(place.start - start..place.end - start, edit.value.as_deref().unwrap_or(""));
            }
            (old, new)
        };
        json!({"action": "update_file", "path": note.path.as_str(), "old_content": old, "new_content": new})
    }
}
