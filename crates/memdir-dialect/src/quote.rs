//! How Markdown quotes: fences, inline code, block quotes, quote marks.
//!
//! Owns what of it hides tags. Knows bytes, lines and the borders that tags are; keeps nothing but what a later search
//! need not look at again.

use memchr::memchr3;

use super::tag::tag_at;

/// A fence of Markdown that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fence {
    pub(super) mark: u8,
    pub(super) length: usize,
    /// Whether it has to close in the line in which it opened.
    pub(super) is_inline: bool,
}

/// Finds where inline code ends, with the cost of one look at each byte.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    /// The text up to which a search was in vain, whatever follows: behind a border a new search may find more.
    searched: usize,
    /// The last run of each length that was met.
    last: [usize; 32],
}

impl Ticks {
    /// The end of the code whose opening run of `length` backticks ends at `from`.
    ///
    /// Code ends in its paragraph, before a fence, and before a `<think>`, `<reply>` or `<result>` of a later line:
    /// a backtick in prose must not hide where thoughts begin or end.
    pub(super) fn closer(&mut self, text: &str, from: usize, length: usize) -> Option<usize> {
        let last = *self.last.get(length)?;
        if from <= self.searched && last < from {
            return None;
        }
        let mut at = from;
        let (mut line_start, mut last_tag) = (None, None);
        while let Some(offset) = memchr3(b'`', b'\n', b'<', text.as_bytes().get(at..).unwrap_or_default()) {
            at += offset;
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            match rest.first() {
                Some(b'`') => {
                    let found = run(rest, b'`');
                    if found == length {
                        return Some(at + found);
                    }
                    if let Some(last) = self.last.get_mut(found) {
                        *last = at;
                    }
                    at += found;
                }
                Some(b'\n') => {
                    let line = trim_blanks(rest.get(1..).unwrap_or_default());
                    let is_fence = run(line, b'`') >= 3 || run(line, b'~') >= 3;
                    if last_tag.is_some() || is_fence || ends_line(line) {
                        self.searched = last_tag.unwrap_or(at);
                        return None;
                    }
                    at += 1;
                    line_start = Some(at);
                }
                _ => {
                    let is_border = tag_at(text, at).is_some_and(|tag| !tag.kind.has_calls());
                    match line_start {
                        Some(start) if is_border => {
                            self.searched = start - 1;
                            return None;
                        }
                        _ if is_border => last_tag = Some(at),
                        _ => {}
                    }
                    at += 1;
                }
            }
        }
        self.searched = text.len();
        None
    }
}

/// Whether quote marks stand around a piece of text; behind it, a mark of punctuation may come first.
pub(super) fn is_in_quotes(text: &str, start: usize, end: usize) -> bool {
    let is_mark = |character: char| matches!(character, '"' | '\'' | '\u{2018}'..='\u{201F}' | '«' | '»' | '‹' | '›');
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    let after = after.strip_prefix(['.', ',', ';', ':', '!', '?']).unwrap_or(after);
    before.ends_with(is_mark) && after.starts_with(is_mark)
}

/// Whether a line is part of a block quote, perhaps inside of lists.
pub(super) fn is_quote(line: &[u8]) -> bool {
    let mut rest = trim_blanks(line);
    loop {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let marks: &[u8] = if digits == 0 { b"-*+" } else { b".)" };
        match rest.get(digits..) {
            Some([mark, after @ ..]) if marks.contains(mark) && matches!(after, [b' ' | b'\t', ..]) => {
                rest = trim_blanks(after);
            }
            _ => return rest.first() == Some(&b'>'),
        }
    }
}

pub(super) fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    bytes.get(blanks..).unwrap_or_default()
}

pub(super) fn ends_line(bytes: &[u8]) -> bool {
    matches!(bytes.first(), None | Some(b'\n' | b'\r'))
}

/// How often `byte` stands at the start of `bytes`.
pub(super) fn run(bytes: &[u8], byte: u8) -> usize {
    bytes.iter().take_while(|found| **found == byte).count()
}
