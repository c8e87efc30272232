//! Texts of notes and of models as a person is to see them.

use std::borrow::Cow;

use memdir_core::text::escape_unseen;

/// A text of at most so many letters, as [`seen`], with a sign where it was cut.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", seen(text.get(..end).unwrap_or_default())),
        None => seen(text).into_owned(),
    }
}

/// A text about which something is decided: what people do not see in it, or what turns it round, is written as an escape.
pub(crate) fn seen(text: &str) -> Cow<'_, str> {
    escape_unseen(text, |letter| matches!(letter, '\n' | '\t'))
}
