//! What a text looks like to a person, as Unicode Technical Standard 39 says: texts with the same skeleton are easily confused.

use unicode_normalization::UnicodeNormalization;

// Made by `build.rs`: the characters that look like something else, in order; where what each looks like ends in `TO`; and `TO`.
include!(concat!(env!("OUT_DIR"), "/skeleton.rs"));

/// The skeleton of a text.
pub(super) fn skeleton(text: &str) -> impl Iterator<Item = char> + '_ {
    text.nfd().flat_map(prototype).nfd()
}

/// What stands for a character in a skeleton; nothing for one that cannot be seen.
fn prototype(character: char) -> impl Iterator<Item = char> {
    let (itself, other) = match FROM.binary_search(&character) {
        Ok(row) => (None, TO.get(end(row.checked_sub(1))..end(Some(row))).unwrap_or_default()),
        Err(_) => (Some(character), ""),
    };
    itself.into_iter().chain(other.chars())
}

fn end(row: Option<usize>) -> usize {
    row.and_then(|row| ENDS.get(row)).map_or(0, |end| usize::from(*end))
}

#[cfg(test)]
mod tests {
    use unicode_security::confusable_detection::skeleton as published;

    #[track_caller]
    fn check(text: &str) {
        assert_eq!(super::skeleton(text).collect::<String>(), published(text).collect::<String>(), "{text:?}");
    }

    #[test]
    fn each_character_that_has_a_meaning_has_the_published_skeleton_also_between_marks() {
        // What is above is not assigned, or for private use; tags and selectors are at E0000.
        for character in ('\0'..='\u{323af}').chain('\u{e0000}'..='\u{e0fff}') {
            check(character.encode_utf8(&mut [0; 4]));
            if character < '\u{3000}' {
                check(&format!("\u{323}{character}\u{301}\u{e000}\u{327}"));
            }
        }
    }
}
