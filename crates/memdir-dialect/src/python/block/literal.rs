//! Texts and numbers as Python writes them.

use super::LineNumber;
use super::parser::KEYWORDS;
use super::source::{quoted, refuse};
use super::token::{Token, refused_word, too_many};
use memdir_core::report::Failure;

/// A part of a text.
pub(super) enum Part<'c> {
    Text(String),
    /// A variable in an f-string, with its line.
    Variable(&'c str, LineNumber),
}

/// Adds the parts of a text to `parts`: at least one, and one text for all between two variables. `room` is how many variables
/// the block may still have in its texts.
///
/// # Errors
///
/// `invalid_action` for a kind of text, an escape or a field that is not read, and for one field too many.
pub(super) fn read_text<'c>(token: Token<'c>, room: &mut usize, parts: &mut Vec<Part<'c>>) -> Result<(), Failure> {
    let opening = token.text.find(['"', '\'']).unwrap_or_default();
    let (prefix, literal) = token.text.split_at_checked(opening).unwrap_or_default();
    let quotes = if literal.starts_with("\"\"\"") || literal.starts_with("'''") { 3 } else { 1 };
    // One quote opens and closes an empty text of single quotes too: the tokenizer has found both.
    let body = literal.get(quotes..literal.len() - quotes).unwrap_or_default();
    let has = |letter: char| prefix.contains([letter, letter.to_ascii_uppercase()]);
    if has('b') {
        return Err(refuse(token.line, "bytes are not read; write a text without `b`"));
    }
    if has('t') {
        return Err(refuse(token.line, "template strings are not read"));
    }
    let mut reader = TextReader { line: token.line, is_raw: has('r'), room, parts };
    if has('f') { reader.joined(body) } else { reader.plain(body) }
}

struct TextReader<'p, 'c> {
    line: LineNumber,
    is_raw: bool,
    room: &'p mut usize,
    parts: &'p mut Vec<Part<'c>>,
}

impl<'c> TextReader<'_, 'c> {
    fn plain(&mut self, raw: &str) -> Result<(), Failure> {
        let text = if self.is_raw { Ok(raw.to_owned()) } else { unescape(raw) };
        self.push(&text.map_err(|words| refuse(self.line, words))?);
        self.line.0 += memchr::memchr_iter(b'\n', raw.as_bytes()).count();
        Ok(())
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Reads the body of an f-string: text, doubled braces and variables in braces.
    fn joined(&mut self, mut body: &'c str) -> Result<(), Failure> {
        while let Some((before, rest)) = body.find(['{', '}']).and_then(|at| body.split_at_checked(at)) {
            self.plain(before)?;
            body = if let Some(rest) = rest.strip_prefix("{{") {
                self.push("{");
                rest
            } else if let Some(rest) = rest.strip_prefix("}}") {
                self.push("}");
                rest
            } else if let Some(field) = rest.strip_prefix('{') {
                self.variable(field)?
            } else {
                return Err(refuse(self.line, "this is not Python: a single `}` in an f-string; write `}}`"));
            };
        }
        self.plain(body)
    }

    /// Reads a field whose brace was opened; answers what follows it.
    fn variable(&mut self, field: &'c str) -> Result<&'c str, Failure> {
        let trimmed = field.trim_start_matches([' ', '\t']);
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let length = trimmed.find(|character| !is_part(character)).unwrap_or(trimmed.len());
        let (name, rest) = trimmed.split_at_checked(length).unwrap_or_default();
        let rest = rest.trim_start_matches([' ', '\t']);
        match rest.strip_prefix('}') {
            Some(rest) if is_name(name) => {
                *self.room = self.room.checked_sub(1).ok_or_else(|| too_many(self.line))?;
                self.parts.push(Part::Variable(name, self.line));
                Ok(rest)
            }
            _ if rest.starts_with('!') && !rest.starts_with("!=") => {
                Err(refuse(self.line, "a conversion such as `!r` is not read"))
            }
            _ if name.contains(['f', 'F']) && rest.starts_with(['"', '\'']) => {
                Err(refuse(self.line, "an f-string inside an f-string is not read"))
            }
            _ => Err(refuse(self.line, "in an f-string only a variable may stand, as in `{name}`")),
        }
    }
}

/// Whether a word of ASCII letters, digits and `_` can name a variable.
fn is_name(word: &str) -> bool {
    let is_keyword = KEYWORDS.contains(&word) || refused_word(word).is_some();
    !word.is_empty() && !word.starts_with(|first: char| first.is_ascii_digit()) && !is_keyword
}

/// What the escapes of a text stand for; an unknown one stands for itself.
pub(super) fn unescape(raw: &str) -> Result<String, &'static str> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escaped)) = rest.split_once('\\') {
        text.push_str(before);
        let mut characters = escaped.chars();
        let (character, length) = match characters.next() {
            Some('\n') => (None, 1),
            Some(plain @ ('\\' | '\'' | '"')) => (Some(plain), 1),
            Some('a') => (Some('\u{7}'), 1),
            Some('b') => (Some('\u{8}'), 1),
            Some('f') => (Some('\u{c}'), 1),
            Some('n') => (Some('\n'), 1),
            Some('r') => (Some('\r'), 1),
            Some('t') => (Some('\t'), 1),
            Some('v') => (Some('\u{b}'), 1),
            Some('x') => (Some(numbered(escaped, 1..3, 16)?), 3),
            Some('u') => (Some(numbered(escaped, 1..5, 16)?), 5),
            Some('U') => (Some(numbered(escaped, 1..9, 16)?), 9),
            Some('0'..='7') => {
                let length = escaped.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                (Some(numbered(escaped, 0..length, 8)?), length)
            }
            Some('N') => return Err("`\\N` in a text is not read; write the character itself"),
            _ => (Some('\\'), 0),
        };
        text.extend(character);
        rest = escaped.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    Ok(text)
}

/// The character whose number stands in a part of a text.
fn numbered(escaped: &str, digits: std::ops::Range<usize>, radix: u32) -> Result<char, &'static str> {
    let digits = escaped.get(digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    // Half a character of UTF-16 is a text in Python, and in no note.
    let character = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok()).and_then(char::from_u32);
    character.ok_or("an escape in this text is no character")
}

/// Reads a whole number.
///
/// # Errors
///
/// `invalid_action` for what is no whole number, and for one that does not fit 64 bits.
pub(super) fn read_number(token: Token) -> Result<u64, Failure> {
    let lower = token.text.to_ascii_lowercase();
    let (digits, radix) = match lower.split_at_checked(2) {
        Some(("0x", digits)) => (digits, 16),
        Some(("0o", digits)) => (digits, 8),
        Some(("0b", digits)) => (digits, 2),
        _ => (lower.as_str(), 10),
    };
    if radix == 10 && digits.contains(['.', 'e', 'j']) {
        return Err(refuse(token.line, "numbers other than whole ones are not read"));
    }
    // A `_` stands between two digits, or behind the prefix.
    let is_grouped = digits
        .strip_prefix('_')
        .filter(|_| radix != 10)
        .unwrap_or(digits)
        .split('_')
        .all(|group| !group.is_empty() && group.chars().all(|digit| digit.is_digit(radix)));
    let has_leading_zero =
        radix == 10 && digits.starts_with('0') && digits.contains(|digit| !matches!(digit, '0' | '_'));
    if !is_grouped || has_leading_zero {
        return Err(refuse(token.line, format!("{} is not read as a number", quoted(token.text))));
    }
    let number = u64::from_str_radix(&digits.replace('_', ""), radix);
    number.map_err(|_| refuse(token.line, "this number is too large"))
}
