//! A key, and texts of servers that may repeat it.

use std::fmt;

/// The shortest part of a key that is taken out of a text.
const SHORTEST_PART: usize = 8;

/// What stands where a part of a key stood.
const HIDDEN: &str = "[key]";

/// A key. It is shown to nobody but the server that it is for: neither printed nor formatted.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Secret {
    /// Keeps a key as the environment has it. White space around it is dropped. `None` where nothing is left, or where it has
    /// characters that no line of a request can hold.
    #[must_use]
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        let is_sendable = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_sendable.then(|| Self(key.to_owned()))
    }

    /// The key, for the head of a request.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes every part of the key that has at least eight characters, or the key itself, out of a text.
    ///
    /// The work is the length of the text times that of the key, both of which are small.
    pub(super) fn hide(&self, text: &str) -> String {
        let key = self.0.as_bytes();
        let bytes = text.as_bytes();
        let part = SHORTEST_PART.min(key.len());
        let mut is_key = vec![false; bytes.len()];
        for at in 0..bytes.len() {
            let here = bytes.get(at..at + part);
            if here.is_some_and(|here| key.windows(part).any(|window| window == here)) {
                is_key.iter_mut().skip(at).take(part).for_each(|is_key| *is_key = true);
            }
        }
        let mut hidden = String::with_capacity(text.len());
        for (at, character) in text.char_indices() {
            // A key is ASCII, so no character of the text is part of it by half.
            let is_inside = |at: usize| is_key.get(at).copied().unwrap_or(false);
            match (is_inside(at), at.checked_sub(1).is_some_and(is_inside)) {
                (false, _) => hidden.push(character),
                (true, false) => hidden.push_str(HIDDEN),
                (true, true) => {}
            }
        }
        hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let key = Secret::new(" sk-0123456789abcdef\n").unwrap();
        assert_eq!(key.expose(), "sk-0123456789abcdef");
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "Secret Some(Secret)");
        assert_eq!(
            (Secret::new("  "), Secret::new("a b"), Secret::new("a\nb"), Secret::new("é")),
            (None, None, None, None)
        );
    }

    #[test]
    fn no_part_of_a_key_stays_in_a_text() {
        let key = Secret::new("sk-0123456789abcdef").unwrap();
        for (text, hidden) in [
            ("wrong key: sk-0123456789abcdef.", "wrong key: [key]."),
            ("wrong key: sk-01234…", "wrong key: [key]…"),
            ("é 89abcdef é", "é [key] é"),
            ("sk-0123 and sk-…cdef", "sk-0123 and sk-…cdef"),
            ("sk-0123456789abcdefsk-0123456789abcdef", "[key]"),
            ("", ""),
        ] {
            assert_eq!(key.hide(text), hidden, "{text}");
        }
        assert_eq!(Secret::new("abc").unwrap().hide("xabcx"), "x[key]x");
    }
}
