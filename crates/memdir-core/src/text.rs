//! Characters that people do not see and programs obey.

use std::borrow::Cow;

/// Whether a character is a control character, changes the direction in which a line is read, ends it to some readers, has no width, or
/// is a tag, which nobody sees and models read. The joiners U+200C and U+200D are not: scripts and emoji need them.
///
/// # Examples
///
/// ```
/// use memdir_core::text::is_unseen;
///
/// assert!(is_unseen('\u{1b}') && is_unseen('\u{202e}') && is_unseen('\u{e0041}'));
/// assert!(!is_unseen('é') && !is_unseen(' '));
/// ```
#[must_use]
pub fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || matches!(character, '\u{e0000}'..='\u{e007f}')
}

/// Writes each character that [`is_unseen`] as an escape such as `\u{202e}`, but for those that stay, so that a person sees what a text
/// holds.
///
/// # Examples
///
/// ```
/// use memdir_core::text::escape_unseen;
///
/// assert_eq!(escape_unseen("a\u{202e}b\n", |character| character == '\n'), "a\\u{202e}b\n");
/// ```
#[must_use]
pub fn escape_unseen(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |character: char| is_unseen(character) && !stays(character);
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_escaped(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}
