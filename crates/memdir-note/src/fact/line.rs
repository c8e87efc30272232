//! How a line states a fact: `key: value`, `**Key**: value`, `**Key:** value`, `**Clé** : value`, `key:: value`, `[key:: value]`.

use std::ops::Range;

use crate::words::is_unspaced;

/// The colon of Chinese and Japanese, which stands without a blank.
const WIDE: char = '\u{ff1a}';

/// A longer text before a colon is prose.
const MOST_KEY_BYTES: usize = 80;
/// The most words of a key.
pub const MOST_KEY_WORDS: usize = 6;
/// What no key has in it, beside the colon.
pub const NO_KEY_SIGNS: [char; 14] = ['[', ']', '`', '<', '>', '|', '"', '*', '{', '}', '=', ';', '\n', '\r'];

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
    if !(is_wide || is_parted(text, after)) || !is_key(text) {
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
    // An escaped mark is a sign of the text.
    let (inner, after) = rest.split_once(mark).filter(|(inner, _)| !inner.ends_with('\\'))?;
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

/// Splits `key: value` or `key:: value` at the first colon that parts the two.
fn plain(line: &str) -> Option<(&str, &str)> {
    let short = line.char_indices().take_while(|(at, _)| *at <= MOST_KEY_BYTES);
    let colons = short.filter(|(_, character)| matches!(*character, ':' | WIDE)).map(|(at, _)| at);
    let mut splits = colons.filter_map(|at| line.get(..at).zip(line.get(at..)));
    splits.find_map(|(key, colon)| match colon.strip_prefix(WIDE) {
        Some(after) => Some((key, after)),
        None => after_colon(colon).filter(|after| is_parted(key, after)).map(|after| (key, after)),
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

/// Whether a colon parts what stands before it from what stands after it. In scripts that are written without blanks, none need follow the colon.
fn is_parted(before: &str, after: &str) -> bool {
    is_apart(after) || before.ends_with(is_unspaced)
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
        && !key.contains(NO_KEY_SIGNS)
        && !key.contains("://")
        && !key.contains("~~")
        && !key.contains(". ")
        && !key.contains(", ")
        && count('(') == count(')')
}

/// A key that can be one, close to a text that cannot; `None` where there is none.
#[must_use]
pub fn mended_key(text: &str) -> Option<String> {
    let bare = text.replace(NO_KEY_SIGNS, " ").replace(['\\', '~', ':', WIDE], " ");
    let words = bare.split_whitespace().map(|word| word.trim_end_matches(['.', ',']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(MOST_KEY_WORDS).collect();
    Some(words.join(" ")).filter(|key| is_key(key))
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

/// What stands between a name and what is said of it, with blanks around it.
const SIGNS: [char; 5] = ['-', '–', '—', '=', '→'];

/// What a text names at its start before it says something of it, and where that begins: behind a colon or a sign, or at a bracket
/// that is none of a link.
pub(super) fn subject(text: &str) -> Option<(Range<usize>, usize)> {
    let mut at = 0;
    while let Some(next) = text.get(at..)?.chars().next() {
        let rest = text.get(at + next.len_utf8()..)?;
        let behind = text.len() - rest.len();
        let is_apart = rest.starts_with(char::is_whitespace);
        match next {
            WIDE => return Some((0..at, behind)),
            ':' if is_apart || text.get(..at)?.ends_with(is_unspaced) => return Some((0..at, behind)),
            '(' => return Some((0..at, at)),
            '[' => match link_end(text, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return Some((0..at, at)),
            },
            _ if SIGNS.contains(&next) && is_apart && text.get(..at)?.ends_with(char::is_whitespace) => {
                return Some((0..at, behind));
            }
            _ => {}
        }
        at = behind;
    }
    None
}

/// What stands before the first colon or sign of a text that parts it, and before its first colon that has no blank behind it and
/// begins no address; whatever it is.
pub(super) fn before_signs(text: &str) -> impl Iterator<Item = &str> {
    let signs = || text.char_indices().filter(|(_, sign)| matches!(*sign, ':' | WIDE) || SIGNS.contains(sign));
    let splits =
        move || signs().filter_map(|(at, sign)| Some((text.get(..at)?, sign, text.get(at + sign.len_utf8()..)?)));
    let parted = splits().find(|(before, sign, after)| match *sign {
        WIDE => true,
        ':' => is_parted(before, after.strip_prefix(':').unwrap_or(after)),
        _ => is_apart(after) && before.ends_with(char::is_whitespace),
    });
    let tight = splits().find(|(_, sign, after)| *sign == ':' && !is_apart(after) && !after.starts_with("//"));
    [parted, tight].into_iter().flatten().map(|(before, ..)| before)
}

/// Where the link ends that begins at a `[`.
fn link_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let length = match rest.starts_with("[[") {
        true => rest.find("]]")? + 2,
        false => {
            let shown = rest.find(']').filter(|shown| rest.get(shown + 1..).is_some_and(|end| end.starts_with('(')))?;
            shown + rest.get(shown..)?.find(')')? + 1
        }
    };
    Some(at + length)
}

/// The keys and values in the brackets that are all that a text has from `start` on, as in `(city: Oslo, age: 4)`: a `;` ends each, or
/// a comma that a key follows. `None` where that is no such text.
pub(super) fn in_brackets(text: &str, start: usize) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let inner = text.get(start..)?.trim_end().strip_prefix('(')?.strip_suffix(')')?;
    let mark = if inner.contains(';') { ';' } else { ',' };
    let mut found: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let mut from = start + 1;
    for part in inner.split_inclusive(mark) {
        let piece = trimmed(text, from..from + part.trim_end_matches(mark).len());
        from += part.len();
        let keyed = keyed(text.get(piece.clone())?);
        match (keyed, found.last_mut()) {
            (Some(keyed), _) => {
                let key = keyed.key.start + piece.start..keyed.key.end + piece.start;
                found.push((key, trimmed(text, piece.start + keyed.end..piece.end)));
            }
            (None, Some((_, value))) if mark == ',' => value.end = piece.end,
            (None, _) => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Where the definition starts that a line gives of the term above it.
pub(super) fn definition(line: &str) -> Option<usize> {
    let rest = line.strip_prefix(':')?;
    let text = rest.trim_start();
    (!text.is_empty() && text.len() < rest.len()).then_some(line.len() - text.len())
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

/// The `]` of a callout stands in so many bytes behind its `[!`.
const MOST_MARK_BYTES: usize = 100;

/// What makes a quote a callout of Obsidian: `> [!kind] title`, a box for the note's own words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Callout<'t> {
    /// What stands in the brackets, without the `|wide` that is for the looks of the box.
    pub kind: &'t str,
    /// Where the brackets stand, with the `+` or `-` behind them that folds the box. The rest of the line is the title.
    pub mark: Range<usize>,
}

impl<'t> Callout<'t> {
    /// Reads the callout with which a quote begins, from the text behind its `>`; the work does not grow with that text.
    #[must_use]
    pub fn parse(text: &'t str) -> Option<Self> {
        let start = indent(text)?;
        let inner = text.get(start..)?.strip_prefix("[!")?;
        let end = inner.bytes().take(MOST_MARK_BYTES).position(|byte| byte == b']')?;
        let (label, rest) = (inner.get(..end)?, inner.get(end + 1..)?);
        let kind = label.split('|').next().unwrap_or_default().trim();
        // With these behind the bracket it is a link, or says where one leads.
        let is_mark = !label.contains(['[', '\n', '\r']) && !rest.starts_with([':', '(', '[']);
        let end = text.len() - rest.len() + usize::from(rest.starts_with(['+', '-']));
        (is_mark && !kind.is_empty()).then_some(Self { kind, mark: start..end })
    }

    /// Whether it holds what somebody else said; its title is then who that is.
    #[must_use]
    pub fn is_quote(&self) -> bool {
        QUOTES.iter().any(|quote| quote.eq_ignore_ascii_case(self.kind))
    }
}

/// How many blanks there are behind a `>`, of which the first one belongs to it; `None` where they make the rest code.
fn indent(text: &str) -> Option<usize> {
    let mut column = 1;
    for (at, byte) in text.bytes().enumerate() {
        column = match byte {
            b' ' => column + 1,
            b'\t' => column / 4 * 4 + 4,
            _ => return Some(at),
        };
        if column > 5 {
            return None;
        }
    }
    None
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
