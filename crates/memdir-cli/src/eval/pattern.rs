//! The patterns of checks: plain text with alternatives, matched by words.

use std::borrow::Cow;

use serde::Deserialize;

/// A pattern of a check.
///
/// Plain text. `|` parts alternatives, and a `*` at the end of one lets its last word go on. Case, other `*`, backquotes,
/// underscores against blanks, and the kind of quotes and dashes do not count. Where it begins or ends with a letter or a
/// digit, the text around it must not go on with one: `4` is not in `34`. Scripts that put no blanks between words, such as
/// Chinese, have such a boundary everywhere.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(from = "String")]
pub(super) struct Pattern {
    /// As it was written.
    text: String,
    alternatives: Vec<Alternative>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Alternative {
    text: String,
    /// Whether the last word may go on.
    is_open: bool,
}

/// A text in which what does not count is levelled, ready to be looked through.
#[derive(Clone, Debug)]
pub(super) struct Levelled(String);

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        let alternatives =
            text.split('|').map(|one| Alternative { text: level(one.trim()), is_open: one.trim_end().ends_with('*') });
        let alternatives = alternatives.filter(|one| !one.text.is_empty()).collect();
        Self { text, alternatives }
    }
}

impl Pattern {
    /// The pattern as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it has no alternative that could be found.
    pub(super) fn is_empty(&self) -> bool {
        self.alternatives.is_empty()
    }

    /// Whether one of its alternatives stands in the text.
    pub(super) fn is_in(&self, text: &Levelled) -> bool {
        self.alternatives.iter().any(|one| one.is_in(&text.0))
    }
}

impl Levelled {
    /// Levels a text.
    pub(super) fn of(text: &str) -> Self {
        Self(level(text))
    }
}

impl Alternative {
    fn is_in(&self, text: &str) -> bool {
        let (first, last) = (self.text.chars().next(), self.text.chars().next_back());
        text.match_indices(self.text.as_str()).any(|(at, found)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
            !is_one_word(before, first) && (self.is_open || !is_one_word(last, after))
        })
    }
}

/// Whether two characters that stand side by side belong to one word.
fn is_one_word(left: Option<char>, right: Option<char>) -> bool {
    let goes_on = |side: Option<char>| side.is_some_and(|side| side.is_alphanumeric() && !is_unspaced(side));
    goes_on(left) && goes_on(right)
}

/// Whether the character is of a script that puts no blanks between words.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// Takes out of a text what does not count.
fn level(text: &str) -> String {
    let kept = text.chars().filter(|character| !matches!(character, '*' | '`'));
    let same = kept.map(|character| match character {
        '_' | '\u{a0}' => ' ',
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2bc}' | '\u{b4}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    });
    same.flat_map(char::to_lowercase).collect()
}

/// The lines of a text without their ends.
pub(super) fn lines(bytes: &[u8]) -> Vec<Cow<'_, str>> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.map(String::from_utf8_lossy).collect()
}
