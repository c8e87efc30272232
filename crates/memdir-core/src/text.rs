//! Characters that people do not see and programs obey.

/// Whether a character is a control character, changes the direction in which a line is read, ends it to some readers, or is a tag, which
/// nobody sees and models read.
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
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{e0000}'..='\u{e007f}')
}
