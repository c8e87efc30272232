//! Commands that a person can copy into a shell.

/// Whether a shell takes a character for nothing but itself.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "-_./:,@%+=".contains(character)
}

/// A word as it is typed in a shell: the one way in which a command that a person can copy says a name.
///
/// # Examples
///
/// ```
/// use memdir_core::shell::quoted;
///
/// assert_eq!(quoted("O'Hara.md"), "\"O'Hara.md\"");
/// ```
#[must_use]
pub fn quoted(word: &str) -> String {
    match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        word if !word.contains(['"', '$', '`', '\\', '!']) => format!("\"{word}\""),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The words of a command line in which each is written as [`quoted`] writes it; `None` for any other.
#[must_use]
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let mut word = String::new();
        while let Some(first) = rest.chars().next().filter(|first| *first != ' ') {
            let (part, behind) = match first {
                '"' | '\'' => rest.get(1..)?.split_once(first)?,
                '\\' => ("'", rest.strip_prefix("\\'")?),
                first if is_plain(first) => rest.split_at(rest.find(|next| !is_plain(next)).unwrap_or(rest.len())),
                _ => return None,
            };
            word.push_str(part);
            rest = behind;
        }
        words.push(word);
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        let all = ["memdir", "/a b/memdir", "it's", "a\"b'c", "$HOME", "back\\slash", "é", "", "C:/x", "a  b"];
        let line = all.map(quoted).join(" ");
        assert_eq!(words(&line).unwrap(), all);
        for broken in ["\"open", "a 'b", "a \\b", "a | b", "a;b", "$A", "a\nb"] {
            assert_eq!(words(broken), None, "{broken}");
        }
    }
}
