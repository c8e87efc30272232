//! The engine of the detectors: what a new text says that somebody should be asked about.
//!
//! Owns no pattern; those are the rows of [`super::table`]. A text is first searched for the few words that each row
//! needs, so a process that lives for milliseconds compiles only the patterns that could match. The time is linear in the
//! length of the text, for the `regex` crate never backtracks.

use std::sync::OnceLock;

use regex::Regex;

use super::table::{Case, Class, Needs, ROWS, Row};

/// One place where a pattern matches, for the check of its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    /// All that stands before.
    pub(super) before: &'a str,
    /// What matches.
    pub(super) text: &'a str,
    /// All that stands behind.
    pub(super) after: &'a str,
}

/// A pattern of the table cannot be compiled, so nothing can be said about a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Unready;

/// A text, and the same in lower case, where most patterns look.
struct Text<'a> {
    exact: &'a str,
    folded: String,
    digits: usize,
}

/// Finds the rows that match `new` in a place that does not stand in `old` too, in the order of the table.
///
/// Rows of the same name are one detector, so only the first of them is in the answer.
///
/// # Errors
///
/// [`Unready`] when a pattern that would have to look cannot be compiled.
pub(super) fn find(new: &str, old: &str, looks: impl Fn(Class) -> bool) -> Result<Vec<&'static Row>, Unready> {
    let new = Text::new(new);
    let old = Text::new(old);
    let mut found = Vec::<&'static Row>::new();
    for (at, row) in ROWS.iter().enumerate() {
        if !looks(row.class) || !new.has_what(row) || found.iter().any(|other| other.name == row.name) {
            continue;
        }
        if is_new(row, compiled(at, row).ok_or(Unready)?, &new, &old) {
            found.push(row);
        }
    }
    Ok(found)
}

/// The names that a rule can give: of the classes, then of the detectors.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Class::ALL.iter().map(|class| class.name()).chain(ROWS.iter().map(|row| row.name))
}

/// The pattern of the row at this place; `None` when it is no pattern.
pub(super) fn compiled(at: usize, row: &Row) -> Option<&'static Regex> {
    static COMPILED: [OnceLock<Option<Regex>>; ROWS.len()] = [const { OnceLock::new() }; ROWS.len()];
    COMPILED.get(at)?.get_or_init(|| Regex::new(row.pattern).ok()).as_ref()
}

/// Whether this one row finds something.
#[cfg(test)]
pub(super) fn find_in_row(row: &Row, text: &str) -> bool {
    let pattern = Regex::new(row.pattern).unwrap();
    let text = Text::new(text);
    text.has_what(row) && is_new(row, &pattern, &text, &Text::new(""))
}

fn is_new(row: &Row, pattern: &Regex, new: &Text<'_>, old: &Text<'_>) -> bool {
    let (new, old) = match row.case {
        Case::Exact => (new.exact, old.exact),
        Case::Folded => (new.folded.as_str(), old.folded.as_str()),
    };
    pattern.find_iter(new).any(|place| {
        let before = new.get(..place.start()).unwrap_or_default();
        let after = new.get(place.end()..).unwrap_or_default();
        let found = Found { before, text: place.as_str(), after };
        row.check.is_none_or(|check| check(&found)) && (old.is_empty() || !old.contains(found.text.trim()))
    })
}

impl<'a> Text<'a> {
    fn new(exact: &'a str) -> Self {
        let digits = exact.bytes().filter(u8::is_ascii_digit).count();
        Self { exact, folded: exact.to_lowercase(), digits }
    }

    /// Whether the text has what each place that the row could match has.
    fn has_what(&self, row: &Row) -> bool {
        match row.needs {
            Needs::OneOf(words) => words.iter().any(|word| self.folded.contains(word)),
            Needs::Digits(least) => self.digits >= least,
        }
    }
}

impl Row {
    /// Whether a rule that gives this name is about the row.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.class.name() == name
    }
}
