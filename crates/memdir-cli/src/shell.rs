//! Commands that a person can copy into a shell.

/// A word as it is typed in a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:,@%+=".contains(character);
    match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        word if !word.contains(['"', '$', '`', '\\', '!']) => format!("\"{word}\""),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
