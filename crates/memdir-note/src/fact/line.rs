//! How a line states a fact: `key: value`, `**Key**: value`, `**Key:** value`, `**Clé** : value`, `key:: value`, `[key:: value]`.

use std::ops::Range;

/// The colon of Chinese and Japanese, which stands without a blank.
const WIDE: char = '\u{ff1a}';

/// A longer text before a colon is prose.
const MOST_KEY_BYTES: usize = 80;
const MOST_KEY_WORDS: usize = 6;

/// What stands around a key to tell it from the text.
const MARKS: [&str; 4] = ["**", "__", "*", "_"];

/// A line that begins with a key; ranges are in bytes of the line.
#[derive(Clone, Debug)]
pub(super) struct Keyed {
    /// The key without what makes it bold.
    pub(super) key: Range<usize>,
    /// Where the colon and what closes the bold key end.
    pub(super) end: usize,
    pub(super) form: Form,
}

/// How a key is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// `key: value`.
    Plain,
    /// `**Key**: value` or `**Key:** value`.
    Bold,
    /// `key:: value`, a field of Dataview.
    Field,
}

/// Reads the key that a line begins with.
pub(super) fn keyed(line: &str) -> Option<Keyed> {
    let bold = MARKS.into_iter().find_map(|mark| bold(line, mark));
    let (key, after) = bold.or_else(|| plain(line).map(|(key, after)| (0..key.len(), after)))?;
    let text = line.get(key.clone())?;
    let end = line.len() - after.len();
    let is_wide = line.get(..end)?.ends_with(WIDE);
    if !(is_wide || is_apart(after)) || !is_key(text) {
        return None;
    }
    let form = if line.get(key.end..end)?.contains("::") {
        Form::Field
    } else if key.start > 0 {
        Form::Bold
    } else {
        Form::Plain
    };
    Some(Keyed { key: trimmed(line, key), end, form })
}

/// Splits a line at a key between two of `mark`, with the colon on either side of the second.
fn bold<'l>(line: &'l str, mark: &str) -> Option<(Range<usize>, &'l str)> {
    let rest = line.strip_prefix(mark).filter(|rest| !rest.starts_with([' ', '\t']))?;
    let (inner, after) = rest.split_once(mark)?;
    let key = inner.strip_suffix([':', WIDE]).map(|key| key.trim_end_matches(':'));
    let (key, after) = match key {
        Some(key) => (key, after),
        None => {
            // French writes a blank before its colons.
            let colon = after.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
            (inner, colon.strip_prefix(WIDE).or_else(|| after_colon(colon))?)
        }
    };
    Some((mark.len()..mark.len() + key.len(), after))
}

/// Splits `key: value` or `key:: value` at the first colon that a blank or nothing follows, or at a wide one.
fn plain(line: &str) -> Option<(&str, &str)> {
    let short = line.char_indices().take_while(|(at, _)| *at <= MOST_KEY_BYTES);
    let colons = short.filter(|(_, character)| matches!(*character, ':' | WIDE)).map(|(at, _)| at);
    let mut splits = colons.filter_map(|at| line.get(..at).zip(line.get(at..)));
    splits.find_map(|(key, colon)| match colon.strip_prefix(WIDE) {
        Some(after) => Some((key, after)),
        None => after_colon(colon).filter(|after| is_apart(after)).map(|after| (key, after)),
    })
}

/// What follows `:` or `::`.
fn after_colon(text: &str) -> Option<&str> {
    let after = text.strip_prefix(':')?;
    Some(after.strip_prefix(':').unwrap_or(after))
}

fn is_apart(after: &str) -> bool {
    after.is_empty() || after.starts_with(char::is_whitespace)
}

/// Whether a text is what somebody calls a fact, and no prose that happens to hold a colon.
fn is_key(key: &str) -> bool {
    let key = key.trim();
    let count = |mark: char| key.chars().filter(|character| *character == mark).count();
    !key.is_empty()
        && !["- ", "* ", "+ "].iter().any(|mark| key.starts_with(mark))
        && key.len() <= MOST_KEY_BYTES
        && key.split_whitespace().count() <= MOST_KEY_WORDS
        && key.chars().any(char::is_alphanumeric)
        && !key.contains(['[', ']', '`', '<', '>', '|', '"', '*', '{', '}', '=', ';', '\n', '\r'])
        && !key.contains("://")
        && !key.contains(". ")
        && !key.contains(", ")
        && count('(') == count(')')
}

/// The key that the cell of a table is: bold or not, with a colon or without.
pub(super) fn cell(cell: &str) -> Option<Range<usize>> {
    let all = trimmed(cell, 0..cell.len());
    let text = cell.get(all.clone())?.trim_end_matches([':', WIDE]);
    let inner = |mark: &str| text.strip_prefix(mark)?.strip_suffix(mark).map(|text| (mark.len(), text));
    let (start, text) = MARKS.into_iter().find_map(inner).unwrap_or((0, text));
    let text = text.trim_end_matches([':', WIDE]);
    let start = all.start + start;
    is_key(text).then(|| trimmed(cell, start..start + text.len()))
}

/// A field in brackets, as in `[key:: value]`; ranges are in bytes of the text.
#[derive(Clone, Debug)]
pub(super) struct Bracketed {
    /// All of it.
    pub(super) span: Range<usize>,
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// The fields in brackets of a text, in their order; what `is_hidden` says of a byte is not looked at.
pub(super) fn bracketed(text: &str, is_hidden: impl Fn(usize) -> bool) -> Vec<Bracketed> {
    let mut found: Vec<Bracketed> = Vec::new();
    // The brackets that are open, each with the first `::` in it.
    let mut open: Vec<(usize, u8, Option<usize>)> = Vec::new();
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'[' | b'(' if !is_hidden(at) => open.push((at, if *byte == b'[' { b']' } else { b')' }, None)),
            b':' if bytes.get(at + 1) == Some(&b':') => {
                if let Some((_, _, colons @ None)) = open.last_mut() {
                    *colons = Some(at);
                }
            }
            b']' | b')' if !is_hidden(at) && open.last().is_some_and(|(_, close, _)| close == byte) => {
                let Some((start, _, Some(colons))) = open.pop() else { continue };
                let before = start.checked_sub(1).and_then(|before| bytes.get(before));
                let is_link = bytes.get(at + 1) == Some(&b'(') || before == bytes.get(start);
                let key = trimmed(text, start + 1..colons);
                if !is_link && text.get(key.clone()).is_some_and(is_key) {
                    // What stands inside of another one is part of its value.
                    while found.pop_if(|inner| inner.span.start > start).is_some() {}
                    found.push(Bracketed { span: start..at + 1, key, value: trimmed(text, colons + 2..at) });
                }
            }
            _ => {}
        }
    }
    found
}

/// The callouts of Obsidian that hold what somebody else said.
const QUOTES: [&str; 2] = ["quote", "cite"];

/// Whether a quote that starts a text is a callout, `> [!info] title`: a box for the note's own words.
pub(super) fn is_callout(quote: &str) -> bool {
    let inner =
        quote.trim_start_matches([' ', '\t']).strip_prefix('>').map(|inner| inner.trim_start_matches([' ', '\t']));
    inner.and_then(callout).is_some_and(|(kind, _)| !QUOTES.iter().any(|quote| quote.eq_ignore_ascii_case(kind)))
}

/// The kind of the callout that a line in a quote begins, and its title, which may be empty.
#[must_use]
pub fn callout(line: &str) -> Option<(&str, &str)> {
    let (kind, title) = line.strip_prefix("[!")?.split_once(']')?;
    // What else a kind has is for the looks of the box: `[!info|wide]`.
    let kind = kind.split('|').next().unwrap_or_default().trim();
    let is_kind = !kind.is_empty() && !kind.contains(['\n', '\r', '[']);
    // A box can be folded.
    let title = title.strip_prefix(['+', '-']).unwrap_or(title);
    is_kind.then(|| (kind, title.lines().next().unwrap_or_default().trim()))
}

/// A range without the blanks at both ends of its text; empty at its start where there is nothing else.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let rest = inner.trim_start();
    if rest.is_empty() {
        return range.start..range.start;
    }
    let start = range.end - rest.len();
    start..start + rest.trim_end().len()
}

/// Where the id of a block starts that ends a text, such as ` ^summary`.
pub(super) fn block_id(text: &str) -> Option<usize> {
    let length = text.bytes().rev().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let (before, id) = text.split_at_checked(text.len() - length)?;
    let before = before.strip_suffix('^').filter(|_| !id.is_empty())?;
    (before.is_empty() || before.ends_with(char::is_whitespace)).then_some(before.len())
}
