//! Notes as Markdown, and canvases: what stands in one, and where the links between them lead.
//!
//! Owns where in a note there is text at all (not code, not a comment), front matter, headings, blocks, facts, the grammar
//! of links and what they mean. Touches nothing but text and the list of paths given to it. All work is linear in the
//! length of the text, and every position is a byte of it, so that an edit touches what it is about and nothing else.

#![warn(clippy::wildcard_enum_match_arm)]

use std::ops::Range;

use memdir_core::path::MemoryPath;

pub mod canvas;
pub mod card;
mod ending;
mod entry;
pub mod excluded;
pub mod fact;
mod front;
pub mod heading;
mod html;
mod inline;
pub mod link;
mod markup;
pub mod name;
mod period;
mod piece;
pub mod relink;
mod run;
mod skeleton;
pub mod stem;
pub mod target;
pub mod web;
pub mod words;

pub use canvas::{Canvas, PlaceKind};
pub use card::{Card, CardFact, tag_length};
pub use ending::Ending;
pub use excluded::Excluded;
pub use fact::Fact;
pub use heading::Heading;
pub use link::Link;
pub use period::{PartialDate, Past, Period};
pub use piece::pieces;
pub use target::{Syntax, Target, Targets};
pub use web::{Seen, SeenLink, Web};

use front::FrontMatter;
pub use front::{FrontMatterError, quoted};
use markup::Markup;

/// One note, read once.
///
/// # Examples
///
/// ```
/// use memdir_note::Note;
///
/// let note = Note::parse("# Ada\n\n- works at: [[acme]]\n\n`[[no link]]`\n");
/// assert_eq!(note.links().iter().map(|link| link.path.as_str()).collect::<Vec<_>>(), ["acme"]);
/// assert_eq!(note.facts()[0].value, "[[acme]]");
/// assert_eq!(note.heading_above(3).map(|heading| heading.text.as_str()), Some("Ada"));
/// ```
#[derive(Debug)]
pub struct Note<'t> {
    text: &'t str,
    front: FrontMatter,
    markup: Markup,
    /// Where each line starts.
    lines: Vec<usize>,
}

impl<'t> Note<'t> {
    /// Reads a note. Any text is one.
    #[must_use]
    pub fn parse(text: &'t str) -> Self {
        let front = FrontMatter::parse(text);
        let markup = Markup::parse(text, front.body);
        let mut lines = vec![0];
        lines.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self { text, front, markup, lines }
    }

    /// All of its text.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Where the text starts that is no front matter.
    #[must_use]
    pub fn body(&self) -> usize {
        self.front.body
    }

    /// Why nothing in the front matter is read, where it is no YAML.
    #[must_use]
    pub fn front_error(&self) -> Option<&FrontMatterError> {
        self.front.error.as_ref()
    }

    /// The text of a range of bytes.
    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// The number, from 1, of the line in which a byte stands.
    #[must_use]
    pub fn line_at(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start <= byte).max(1)
    }

    /// The bytes of a line, which is counted from 1, with its end.
    fn line(&self, number: usize) -> Range<usize> {
        let start = self.lines.get(number.saturating_sub(1)).copied().unwrap_or(self.text.len());
        start..self.lines.get(number).copied().unwrap_or(self.text.len())
    }

    /// Whether a byte stands in code, mathematics, HTML or a comment.
    #[must_use]
    pub fn is_opaque(&self, byte: usize) -> bool {
        markup::holds(&self.markup.opaque, byte)
    }

    /// The line, from 1, of a `%%` that no other one follows. To Obsidian all behind it is a comment, to memdir nothing is.
    #[must_use]
    pub fn open_comment(&self) -> Option<usize> {
        self.markup.open_comment.map(|start| self.line_at(start))
    }

    /// The items of lists that have a box, `- [ ]` or `- [x]`, in their order.
    #[must_use]
    pub fn tasks(&self) -> Vec<Task> {
        let boxes = self.markup.runs.items.iter().filter_map(|item| item.task.clone());
        boxes
            .map(|span| Task { line: self.line_at(span.start), is_done: self.slice(span).contains(['x', 'X']) })
            .collect()
    }

    /// The text with blanks in the place of code, as long as it was and with the same lines.
    #[must_use]
    pub fn without_code(&self) -> String {
        let mut text = String::with_capacity(self.text.len());
        for code in &self.markup.code {
            text.push_str(self.slice(text.len()..code.start));
            let blanks = self.slice(text.len()..code.end).bytes();
            text.extend(blanks.map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }));
        }
        text.push_str(self.slice(text.len()..self.text.len()));
        text
    }

    /// The values of a key of the front matter: the scalar, or the items of the list.
    #[must_use]
    pub fn front_values(&self, key: &str) -> Vec<String> {
        self.front.values(key)
    }

    /// The block that an id such as `^summary` marks, without the `^`: a paragraph, an item of a list with what stands
    /// below it, or where the id has a line of its own, what stands above that.
    #[must_use]
    pub fn block(&self, id: &str) -> Option<Range<usize>> {
        let (_, mark) = self.block_ids().find(|(found, _)| found.eq_ignore_ascii_case(id))?;
        let line = self.line(self.line_at(mark));
        let before = self.slice(line.start..mark);
        let is_alone = before.trim().is_empty();
        let at = if is_alone {
            // The last byte of what stands above.
            line.start.checked_sub(1).map(|end| self.slice(0..end).trim_end().len().saturating_sub(1))?
        } else {
            line.start + (before.len() - before.trim_start().len())
        };
        Some(self.markup.block_at(at, is_alone).unwrap_or(line))
    }

    /// The ids of blocks, and where in the note their `^` stands, in bytes.
    pub fn block_ids(&self) -> impl Iterator<Item = (&'t str, usize)> {
        let marks = memchr::memchr_iter(b'^', self.text.as_bytes());
        marks.filter_map(|at| {
            let is_start = at == 0 || self.text.as_bytes().get(at - 1).is_some_and(u8::is_ascii_whitespace);
            let rest = self.text.get(at + 1..).filter(|_| is_start)?;
            let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
            let after = rest.get(length..)?.trim_start_matches([' ', '\t']);
            let is_end = after.is_empty() || after.starts_with(['\n', '\r']);
            (length > 0 && is_end && !self.is_opaque(at)).then(|| (rest.get(..length).unwrap_or_default(), at))
        })
    }
}

/// An item of a list that has a box.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Task {
    /// Its line, from 1.
    pub line: usize,
    /// Whether the box has a mark.
    pub is_done: bool,
}

/// A name or a path as systems that ignore case and Unicode form compare it.
pub fn folded(path: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    caseless::default_case_fold_str(&path.nfd().collect::<String>()).nfc().collect()
}

/// The path most like `wanted`, if one is like it at all: of those whose names are most like its name the one that is closest to it.
pub fn nearest<'a>(wanted: &MemoryPath, candidates: impl Iterator<Item = &'a MemoryPath>) -> Option<&'a MemoryPath> {
    closest(wanted, &most_alike(wanted, candidates))
}

/// The paths whose names are most like that of `wanted`, and equally so; none where no name is like it.
fn most_alike<'a>(wanted: &MemoryPath, candidates: impl Iterator<Item = &'a MemoryPath>) -> Vec<&'a MemoryPath> {
    let stem = short(wanted.stem());
    let (mut found, mut most) = (Vec::new(), 0.8);
    for candidate in candidates {
        let other = short(candidate.stem());
        let alike = strsim::jaro_winkler(&stem, &other);
        // Letters that only stand elsewhere are more of a difference than one letter that is another.
        let alike = if alike > 0.8 { alike + 0.1 * strsim::normalized_levenshtein(&stem, &other) } else { continue };
        if alike > most {
            found.clear();
            most = alike;
        }
        if alike >= most {
            found.push(candidate);
        }
    }
    found
}

/// Of some paths the one that has most folders in common with `place`; of several the one that is spelled most like it.
fn closest<'a>(place: &MemoryPath, paths: &[&'a MemoryPath]) -> Option<&'a MemoryPath> {
    let most = paths.iter().map(|path| shared(place, path)).max()?;
    let (spelled, mut near) = (short(place.as_str()), paths.iter().filter(|path| shared(place, path) == most));
    let first = near.next()?;
    let likeness = |path: &MemoryPath| strsim::normalized_levenshtein(&spelled, &short(path.as_str()));
    let mut best = (*first, None);
    for path in near.take(MOST_NAMESAKES) {
        let alike = likeness(path);
        if alike > *best.1.get_or_insert_with(|| likeness(first)) {
            best = (*path, Some(alike));
        }
    }
    Some(best.0)
}

/// How many components two paths have in common before they part.
fn shared(one: &MemoryPath, other: &MemoryPath) -> usize {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}

/// So many letters of a name or a path are compared.
const MOST_LETTERS: usize = 64;
/// Of so many files of one name the paths are compared.
const MOST_NAMESAKES: usize = 100;

/// The part of a name or a path that is compared.
fn short(text: &str) -> String {
    text.chars().take(MOST_LETTERS).collect::<String>().to_lowercase()
}

/// How like `wanted` a path is, from 0.8 to 1.1; `None` for one that is not.
pub fn likeness(wanted: &MemoryPath) -> impl Fn(&MemoryPath) -> Option<f64> {
    let (stem, path) = (short(wanted.stem()), short(wanted.as_str()));
    move |candidate| {
        let likeness = strsim::jaro_winkler(&stem, &short(candidate.stem()));
        (likeness > 0.8).then(|| likeness + 0.1 * strsim::normalized_levenshtein(&path, &short(candidate.as_str())))
    }
}

#[cfg(test)]
mod tests;
