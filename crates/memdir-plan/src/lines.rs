//! Lines and their ends: how they are counted, and which kind a note uses.
//!
//! Lines count as [`str::lines`] does. Touches nothing but text.

use std::ops::Range;

/// The byte order mark that some editors put first.
pub(crate) const BOM: char = '\u{feff}';

/// The one kind of line end that a text uses throughout; `None` when it uses several, or none at all.
pub(crate) fn own_end(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let (mut lf, mut cr, mut crlf) = (false, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => crlf = true,
            b'\r' => cr = true,
            b'\n' if at > 0 && bytes.get(at - 1) == Some(&b'\r') => {}
            b'\n' => lf = true,
            _ => {}
        }
    }
    match (lf, cr, crlf) {
        (true, false, false) => Some("\n"),
        (false, true, false) => Some("\r"),
        (false, false, true) => Some("\r\n"),
        _ => None,
    }
}

/// The text with every line end of any kind written as `end`; unchanged for `None`.
pub(crate) fn with_end(text: &str, end: Option<&str>) -> String {
    let Some(end) = end else { return text.to_owned() };
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                out.push_str(end);
            }
            '\n' => out.push_str(end),
            other => out.push(other),
        }
    }
    out
}

/// The ranges of the lines of a text, each with its line end.
pub(crate) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let with_start = |line: &str| {
        let range = start..start + line.len();
        start = range.end;
        range
    };
    text.split_inclusive('\n').map(with_start).collect()
}

/// The number, from 1, of the line in which a byte stands.
pub(crate) fn number_at(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count()
}

/// The numbers, from 1, of the lines in which some bytes stand, which are given in their order.
pub(crate) fn numbers_at(text: &str, bytes: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut number, mut done) = (1, 0);
    let count = |byte: usize| {
        let between = text.as_bytes().get(done..byte).unwrap_or_default();
        number += between.iter().filter(|byte| **byte == b'\n').count();
        done = byte;
        number
    };
    bytes.map(count).collect()
}

/// How far back the beginning of a block is looked for, in bytes.
const MOST_BLOCK: usize = 16 << 10;

/// What two texts have between the first and the last of their lines that differ, from the beginning of the first one's block on: a cell
/// belongs to the head of its table.
pub(crate) fn changed<'t>(before: &'t str, after: &'t str) -> (&'t str, &'t str) {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
    let first = memchr::memrchr(b'\n', before.as_bytes().get(..same).unwrap_or_default()).map_or(0, |at| at + 1);
    let first = block_start(before, first);
    let rest = |text: &'t str| text.get(first..).unwrap_or_default();
    let (before, after) = (rest(before), rest(after));
    let same = before.bytes().rev().zip(after.bytes().rev()).take_while(|(one, other)| one == other).count();
    let tail = before.as_bytes().get(before.len() - same..).unwrap_or_default();
    let same = memchr::memchr(b'\n', tail).map_or(0, |at| same - at);
    let lines = |text: &'t str| text.get(..text.len() - same).unwrap_or_default();
    (lines(before), lines(after))
}

/// Where the block begins that holds the line which starts at byte `line`.
fn block_start(text: &str, line: usize) -> usize {
    let from = line.saturating_sub(MOST_BLOCK);
    let above = text.as_bytes().get(from..line).unwrap_or_default();
    match memchr::memmem::rfind(above, b"\n\n") {
        Some(blank) => from + blank + 2,
        None if from == 0 => 0,
        // A longer block is cut at a line.
        None => memchr::memchr(b'\n', above).map_or(line, |end| from + end + 1),
    }
}

/// A text up to the end of line `after`, and the rest of it.
pub(crate) fn split_below(text: &str, after: usize) -> (&str, &str) {
    let at = match after.checked_sub(1) {
        None if text.starts_with(BOM) => BOM.len_utf8(),
        None => 0,
        Some(last) => ranges(text).get(last).map_or(text.len(), |range| range.end),
    };
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Adds whole lines after line `after` of a text that has at least so many.
///
/// An unfinished line before the place is ended first; `content` gets a line end of its own, and its line ends
/// become those of the text. Nothing else changes.
pub(crate) fn insert(text: &str, after: usize, content: &str) -> String {
    if content.is_empty() {
        return text.to_owned();
    }
    let own = own_end(text);
    let end = own.or_else(|| own_end(content)).unwrap_or("\n");
    let (before, rest) = split_below(text, after);
    let is_finished = |text: &str| text.ends_with(['\n', '\r']) || text.is_empty() || text == "\u{feff}";
    let mut out = String::with_capacity(text.len() + content.len() + 4);
    out.push_str(before);
    if !is_finished(before) {
        out.push_str(end);
    }
    out.push_str(&with_end(content, own));
    if !content.ends_with(['\n', '\r']) {
        out.push_str(end);
    }
    out.push_str(rest);
    out
}
