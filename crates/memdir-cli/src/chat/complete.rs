//! What a line may go on with: commands and their words, notes behind `[[`, paths.

use std::ops::Range;

use super::commands::ROWS;
use crate::term;
use memdir_core::catalog;

/// How many notes are offered at once.
const MOST: usize = 50;

/// One way to go on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Offer {
    /// The bytes of the line that it replaces.
    pub(super) span: Range<usize>,
    pub(super) text: String,
    /// What it is.
    pub(super) about: Option<&'static str>,
    /// Whether a blank follows.
    pub(super) is_word: bool,
}

/// The ways to go on from byte `at` of a line; `notes` are the paths of all notes, sorted.
pub(super) fn offers(line: &str, at: usize, notes: &[String]) -> Vec<Offer> {
    let Some(before) = line.get(..at) else { return Vec::new() };
    if let Some((_, link)) = before.rsplit_once("[[").filter(|(_, link)| !link.contains(['\n', ']'])) {
        let found = notes.iter().filter(|path| is_like(path, link)).take(MOST);
        let offer = |path: &String| {
            let text = format!("{}]]", path.strip_suffix(".md").unwrap_or(path));
            Offer { span: at - link.len()..at, text, about: None, is_word: false }
        };
        return found.map(offer).collect();
    }
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let span = at - word.len()..at;
    if let Some(typed) = before.strip_prefix('/')
        && span.start == 0
    {
        let rows = ROWS.iter().filter(|row| row.name.starts_with(typed));
        let offer = |row: &super::commands::Row| Offer {
            span: span.clone(),
            text: format!("/{}", row.name),
            about: Some(row.help),
            is_word: !row.usage.is_empty(),
        };
        return rows.map(offer).collect();
    }
    let words = words_of(before).filter(|text| text.starts_with(word));
    let mut offers: Vec<_> = words.map(|text| Offer { span: span.clone(), text, about: None, is_word: true }).collect();
    if !word.is_empty() {
        let from = notes.partition_point(|path| path.as_str() < word);
        let paths = notes.get(from..).unwrap_or_default().iter().take_while(|path| path.starts_with(word));
        let paths = paths.filter(|path| is_plain(path)).take(MOST).cloned();
        offers.extend(paths.map(|text| Offer { span: span.clone(), text, about: None, is_word: false }));
    }
    offers
}

/// The words that may stand behind the command that a line is.
fn words_of(line: &str) -> impl Iterator<Item = String> {
    let name = line.strip_prefix('/').and_then(|line| line.split_whitespace().next()).unwrap_or_default();
    let row = ROWS.iter().find(|row| row.name == name);
    let words = row.map_or(&[][..], |row| row.words).iter().map(|word| (*word).to_owned());
    let actions = (name == "actions").then(|| catalog::ROWS.iter().map(|row| row.name.to_owned()));
    words.chain(actions.into_iter().flatten())
}

/// Whether a note is meant by the beginning of its path or of its name.
fn is_like(path: &str, typed: &str) -> bool {
    let starts = |text: &str| {
        text.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed)) || text.starts_with(typed)
    };
    is_plain(path) && (starts(path) || starts(path.rsplit('/').next().unwrap_or_default()))
}

/// Whether a path can be shown as it is: what the editor shows, it does not escape.
fn is_plain(path: &str) -> bool {
    term::escape_line(path) == path
}

/// What may follow a command that is typed whole.
pub(super) fn hint(line: &str) -> &'static str {
    let name = line.strip_prefix('/').and_then(|line| line.strip_suffix(' '));
    ROWS.iter().find(|row| Some(row.name) == name).map_or("", |row| row.usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[(&str, Range<usize>)]) {
        let notes =
            ["a\u{202e}b.md", "entities/acme.md", "entities/ada.md", "notes/Acid.md", "user.md"].map(String::from);
        let found = offers(line, line.len(), &notes);
        let found: Vec<_> = found.iter().map(|offer| (offer.text.as_str(), offer.span.clone())).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn a_line_goes_on_with_what_fits() {
        check("/pe", &[("/pending", 0..3), ("/permission", 0..3)]);
        check("/permission f", &[("flag", 12..13)]);
        check("/actions get_s", &[("get_size", 9..14)]);
        check("/nothing x", &[]);
        check("who is [[ac", &[("entities/acme]]", 9..11), ("notes/Acid]]", 9..11)]);
        check("who is [[user]] of us", &[("user.md", 19..21)]);
        check("who is [[user]] of it", &[]);
        check("read entities/a", &[("entities/acme.md", 5..15), ("entities/ada.md", 5..15)]);
        check("a", &[]);
        check("", &[]);
        check("é [[é", &[]);
        assert_eq!(offers("é", 1, &[]), []);
    }

    #[test]
    fn a_command_hints_at_what_follows() {
        assert_eq!((hint("/undo "), hint("/undo"), hint("/what "), hint("undo ")), ("[NUMBER]", "", "", ""));
    }
}
