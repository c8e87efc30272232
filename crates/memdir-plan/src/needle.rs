//! Finding one text in another, in linear time whatever they hold.
//!
//! Owns the search and the loose comparison. Touches nothing but text.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use crate::lines;

/// A sequence that is searched for by the method of Knuth, Morris and Pratt.
pub(crate) struct Needle<'n, T> {
    items: &'n [T],
    /// For each start of it, the length of its longest end that is also a start.
    borders: Vec<usize>,
}

impl<'n, T: PartialEq> Needle<'n, T> {
    pub(crate) fn new(items: &'n [T]) -> Self {
        let mut needle = Self { items, borders: Vec::with_capacity(items.len()) };
        let mut length = 0;
        needle.borders.extend(items.first().map(|_| 0));
        for item in items.iter().skip(1) {
            length = needle.extended(length, item);
            needle.borders.push(length);
        }
        needle
    }

    pub(crate) fn length(&self) -> usize {
        self.items.len()
    }

    /// How much of the needle has been seen after `item`, if `length` items of it were seen before.
    pub(crate) fn extended(&self, mut length: usize, item: &T) -> usize {
        while length > 0 && self.items.get(length) != Some(item) {
            length = self.borders.get(length - 1).copied().unwrap_or(0);
        }
        if self.items.get(length) == Some(item) { length + 1 } else { 0 }
    }
}

/// Every place where `needle` occurs in `items`, overlapping ones too.
fn occurrences<T: PartialEq>(items: impl Iterator<Item = T>, needle: &[T]) -> Vec<usize> {
    let needle = Needle::new(needle);
    let (mut found, mut length) = (Vec::new(), 0);
    for (at, item) in items.enumerate() {
        length = needle.extended(length, &item);
        if length == needle.length() && length > 0 {
            found.push(at + 1 - length);
        }
    }
    found
}

/// Every place where `needle` stands literally, overlapping ones too.
///
/// A place that would cut a CR LF in two does not count, nor one that would cut a letter off its combining marks: to replace it would leave
/// half a line end, or give the marks to another letter.
pub(crate) fn exact(text: &str, needle: &str) -> Vec<usize> {
    let mut found = occurrences(text.bytes(), needle.as_bytes());
    let bytes = text.as_bytes();
    let is_mark = |at: usize| {
        let next = bytes.get(at).filter(|byte| !byte.is_ascii()).and_then(|_| text.get(at..)?.chars().next());
        next.is_some_and(|next| canonical_combining_class(next) != 0)
    };
    let cuts =
        |at: usize| at > 0 && (bytes.get(at - 1) == Some(&b'\r') && bytes.get(at) == Some(&b'\n') || is_mark(at));
    found.retain(|&at| !cuts(at) && !cuts(at + needle.len()));
    found
}

/// One character of a text as it is compared, and the bytes that it stands for.
struct Unit {
    character: char,
    start: usize,
    end: usize,
    is_first: bool,
    is_last: bool,
}

/// A text as it is compared: line ends alike, no trailing blanks, canonically decomposed.
fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::<Unit>::with_capacity(text.len());
    let mut characters = text.char_indices().peekable();
    let mut blanks = 0;
    while let Some((start, character)) = characters.next() {
        if matches!(character, '\r' | '\n') {
            units.truncate(units.len() - blanks);
            blanks = 0;
            let is_pair = character == '\r' && characters.next_if(|(_, next)| *next == '\n').is_some();
            let end = start + if is_pair { 2 } else { 1 };
            units.push(Unit { character: '\n', start, end, is_first: true, is_last: true });
            continue;
        }
        let mut end = start + character.len_utf8();
        while let Some((_, mark)) = characters.next_if(|(_, next)| canonical_combining_class(*next) != 0) {
            end += mark.len_utf8();
        }
        let run = text.get(start..end).unwrap_or_default();
        blanks = if matches!(run, " " | "\t") { blanks + 1 } else { 0 };
        let first = units.len();
        for character in run.nfd() {
            units.push(Unit { character, start, end, is_first: units.len() == first, is_last: false });
        }
        if let Some(last) = units.last_mut() {
            last.is_last = true;
        }
    }
    units.truncate(units.len() - blanks);
    units
}

/// Every place where `needle` stands but for line ends, trailing blanks of lines and canonical equivalence.
///
/// A place begins and ends between whole characters with their combining marks.
pub(crate) fn loose(text: &str, needle: &str) -> Vec<Range<usize>> {
    let wanted: Vec<char> = units(needle).iter().map(|unit| unit.character).collect();
    // Blanks that ended the needle only fall away where a line of the text ends too.
    let must_end_line = needle.ends_with([' ', '\t']);
    let units = units(text);
    let place = |at: usize| {
        let (first, last) = (units.get(at)?, units.get(at + wanted.len() - 1)?);
        let mut end = last.end;
        if must_end_line {
            let rest = text.get(end..)?;
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            end += blanks;
            if !rest.get(blanks..)?.starts_with(['\r', '\n']) && end != text.len() {
                return None;
            }
        }
        (first.is_first && last.is_last).then_some(first.start..end)
    };
    if wanted.is_empty() {
        return Vec::new();
    }
    occurrences(units.iter().map(|unit| unit.character), &wanted).into_iter().filter_map(place).collect()
}

/// Says in what two texts differ that are loosely the same.
pub(crate) fn difference(one: &str, other: &str) -> String {
    let ends = |text: &str| {
        let ends = text.match_indices(['\r', '\n']).map(|(_, end)| end.to_owned());
        ends.collect::<String>()
    };
    let trimmed = |text: &str| {
        let text = lines::with_end(text, Some("\n"));
        text.split('\n').map(|line| line.trim_end_matches([' ', '\t'])).collect::<Vec<_>>().join("\n")
    };
    let untrimmed = |text: &str| lines::with_end(text, Some("\n")).nfd().collect::<String>();
    let mut parts = Vec::new();
    if ends(one) != ends(other) {
        parts.push("line endings");
    }
    if untrimmed(one) != untrimmed(other) {
        parts.push("trailing blanks");
    }
    if trimmed(one) != trimmed(other) {
        parts.push("the Unicode form of characters");
    }
    parts.join(" and ")
}
