//! What `update_file` does to a text, and where it finds nothing or too much.
//!
//! Touches nothing but text. Bytes outside the places that are replaced stay as they are.

use std::ops::Range;

use crate::{lines, needle};
use memdir_core::action::Occurrence;

/// What became of an edit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Edited {
    /// The new text, and for a loose match what differed and where.
    Text { text: String, loose: Option<String> },
    /// Several places match: their lines.
    Ambiguous(Vec<usize>),
    /// No place matches.
    NotFound,
}

/// Replaces `old` by `new`; literally, or at a unique place that differs only in what nobody sees.
pub(crate) fn update(text: &str, old: &str, new: &str, occurrence: Option<Occurrence>) -> Edited {
    let places: Vec<_> = needle::exact(text, old).into_iter().map(|at| at..at + old.len()).collect();
    match (places.as_slice(), occurrence) {
        ([], _) => loosely(text, old, new),
        ([_], _) | (_, Some(Occurrence::All)) => replaced(text, &places, new, None),
        ([first, ..], Some(Occurrence::First)) => replaced(text, std::slice::from_ref(first), new, None),
        (several, None) => {
            let mut numbers = lines::numbers_at(text, several.iter().map(|place| place.start));
            numbers.dedup();
            Edited::Ambiguous(numbers)
        }
    }
}

fn loosely(text: &str, old: &str, new: &str) -> Edited {
    let places = needle::loose(text, old);
    let [place] = places.as_slice() else { return Edited::NotFound };
    let found = text.get(place.clone()).unwrap_or_default();
    let differs = needle::difference(old, found);
    let number = lines::number_at(text, place.start);
    replaced(text, &places, new, Some(format!("`old_content` matched line {number} but for {differs}")))
}

/// Replaces places in their order; of two that overlap, the first.
fn replaced(text: &str, places: &[Range<usize>], new: &str, loose: Option<String>) -> Edited {
    let new = lines::with_end(new, lines::own_end(text));
    let mut out = String::with_capacity(text.len() + new.len());
    let mut done = 0;
    for place in places.iter() {
        if let Some(between) = text.get(done..place.start) {
            out.push_str(between);
            out.push_str(&new);
            done = place.end;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Edited::Text { text: out, loose }
}
