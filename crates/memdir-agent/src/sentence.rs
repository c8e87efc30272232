//! Where the sentences of a text end.

use std::ops::Range;

/// The sentences of a text, one after the other without a gap: each with the marks and blanks behind it.
///
/// A line end ends one; so does `.`, `!`, `?` or `…` with a blank behind it, and its fellows in other scripts. Names such as
/// `user.md` and numbers such as `2.5` do not.
pub(super) fn of(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let range = start..start + length(rest);
        start = range.end;
        Some(range)
    })
}

/// The bytes of the first sentence of a text.
fn length(text: &str) -> usize {
    let mut is_ended = false;
    let mut was_blank = false;
    for (at, character) in text.char_indices() {
        let is_blank = character.is_whitespace();
        if was_blank && !is_blank {
            return at;
        }
        if character == '\n' {
            was_blank = true;
        } else if is_blank {
            was_blank = was_blank || is_ended;
        } else if matches!(character, '。' | '！' | '？') {
            return at + character.len_utf8();
        } else {
            let is_closing = matches!(character, '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '*' | '_');
            is_ended = matches!(character, '.' | '!' | '?' | '…' | '؟' | '۔' | '।') || (is_ended && is_closing);
        }
    }
    text.len()
}
