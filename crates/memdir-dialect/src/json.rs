//! The reader of JSON as models write it.
//!
//! Strict JSON is read as it is; each thing that is not strict has its [`Repair`]. Two kinds of trouble: a
//! [`Stop`] ends the reading, a [`Defect`] spoils the value in which it stands and no other. Goes forward only, so
//! the work is linear, and never deeper than [`MAX_DEPTH`], so neither reading nor dropping exhausts the stack.

use std::ops::Range;

use memchr::{memchr, memchr2};
use serde_json::{Map, Number, Value};

use super::repair::{Repair, Repairs};
use super::tag::{Tag, tag_at};

/// How many lists and objects may stand inside each other, as in `serde_json`.
pub(super) const MAX_DEPTH: usize = 128;

/// The longest number, in bytes.
const MAX_NUMBER_BYTES: usize = 64;

/// Why reading ended before its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    /// The text ended.
    Cut,
    /// A tag of the dialect stands where the list should go on.
    Unclosed,
    /// Something else stands there.
    Broken { at: usize, expected: &'static str, doubt: bool },
    /// Too many lists and objects inside each other.
    Deep { at: usize },
    /// Too many calls.
    Many,
}

/// What makes one call unreadable while the text around it can be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Defect {
    /// A key occurs twice in an object.
    Duplicate(String),
    /// A backslash before something that JSON does not escape.
    Escape { at: usize },
    /// A number that JSON does not know, or too large a one.
    Number { at: usize },
}

/// What stands around a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Quote {
    Double,
    Single,
    TripleDouble,
    TripleSingle,
    SmartDouble,
    SmartSingle,
}

/// A position in a text, and what was noticed on the way to it.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    pub(super) at: usize,
    start: usize,
    depth: usize,
    objects: usize,
    has_single: bool,
    /// Whether a text was begun.
    pub(super) has_string: bool,
    pub(super) defect: Option<Defect>,
    pub(super) repairs: Repairs,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, start: usize) -> Self {
        Self {
            text,
            at: start,
            start,
            depth: 0,
            objects: 0,
            has_single: false,
            has_string: false,
            defect: None,
            repairs: Repairs::default(),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn tag(&self) -> Option<Tag> {
        tag_at(self.text, self.at)
    }

    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    /// The stop for what stands here instead of `expected`.
    ///
    /// Once there was a text there is doubt where it ended: its quote may have been one of its own characters.
    pub(super) fn broken(&self, expected: &'static str) -> Stop {
        if self.peek().is_none() {
            Stop::Cut
        } else if self.tag().is_some() {
            Stop::Unclosed
        } else {
            Stop::Broken { at: self.at, expected, doubt: self.has_string }
        }
    }

    /// Whether a quote like those around the texts so far stands in `range`.
    pub(super) fn has_quote(&self, range: Range<usize>) -> bool {
        let text = self.text.get(range).unwrap_or_default();
        memchr(b'"', text.as_bytes()).is_some()
            || self.has_single && memchr(b'\'', text.as_bytes()).is_some()
            || self.repairs.has(Repair::SmartQuotes) && text.contains(|character| smart(character).is_some())
    }

    /// Skips white space and comments.
    pub(super) fn gap(&mut self) -> Result<(), Stop> {
        let mut line_is_fresh = self.at == self.start;
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\n') => {
                    line_is_fresh = true;
                    self.at += 1;
                }
                Some(b'#') if line_is_fresh => self.comment(1, line_end)?,
                Some(b'/') if self.rest().starts_with("//") => self.comment(2, line_end)?,
                Some(b'/') if self.rest().starts_with("/*") => self.comment(2, comment_end)?,
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment. Inside an object or behind a text it may not hold a quote: then it could as well be part of a
    /// text.
    fn comment(&mut self, opener: usize, end: impl Fn(&str, usize) -> Option<usize>) -> Result<(), Stop> {
        let Some(end) = end(self.text, self.at + opener) else {
            self.at = self.text.len();
            return Err(Stop::Cut);
        };
        if (self.objects > 0 || self.has_string) && self.has_quote(self.at..end) {
            return Err(Stop::Broken { at: self.at, expected: "no quote in a comment", doubt: true });
        }
        self.repairs.add(Repair::Comment);
        self.at = end;
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Result<(), Stop> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::Deep { at: self.at });
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn value(&mut self) -> Result<Value, Stop> {
        match self.peek() {
            Some(b'{') => {
                let mut map = Map::new();
                self.object(&mut map)?;
                Ok(Value::Object(map))
            }
            Some(b'[') => self.array(),
            Some(b'-' | b'0'..=b'9') => Ok(self.number()),
            _ => match self.quote() {
                Some(quote) => self.string(quote).map(Value::String),
                None => self.word(),
            },
        }
    }

    /// Reads the object that starts here; what was whole before a stop is in `map`.
    pub(super) fn object(&mut self, map: &mut Map<String, Value>) -> Result<(), Stop> {
        self.enter()?;
        self.objects += 1;
        self.members(map)?;
        self.objects -= 1;
        self.leave();
        Ok(())
    }

    fn members(&mut self, map: &mut Map<String, Value>) -> Result<(), Stop> {
        loop {
            self.gap()?;
            if self.eat(b'}') {
                return Ok(());
            }
            let key = self.key()?;
            self.gap()?;
            if !self.eat(b':') {
                return Err(self.broken("`:`"));
            }
            self.gap()?;
            let value = self.value()?;
            if map.contains_key(&key) {
                self.defect.get_or_insert(Defect::Duplicate(key));
            } else {
                map.insert(key, value);
            }
            if !self.next(b'}')? {
                return Ok(());
            }
        }
    }

    fn array(&mut self) -> Result<Value, Stop> {
        self.enter()?;
        let mut values = Vec::new();
        loop {
            self.gap()?;
            if self.eat(b']') {
                break;
            }
            values.push(self.value()?);
            if !self.next(b']')? {
                break;
            }
        }
        self.leave();
        Ok(Value::Array(values))
    }

    /// Reads what follows a value: true for a comma, false for `closer`.
    fn next(&mut self, closer: u8) -> Result<bool, Stop> {
        self.gap()?;
        if self.eat(closer) {
            return Ok(false);
        }
        if !self.eat(b',') {
            return Err(self.broken(if closer == b'}' { "`,` or `}`" } else { "`,` or `]`" }));
        }
        self.trailing_comma(closer)?;
        Ok(true)
    }

    /// Notes that nothing follows the comma before this.
    pub(super) fn trailing_comma(&mut self, closer: u8) -> Result<(), Stop> {
        self.gap()?;
        if self.peek() == Some(closer) {
            self.repairs.add(Repair::TrailingComma(closer.into()));
        }
        Ok(())
    }

    pub(super) fn key(&mut self) -> Result<String, Stop> {
        if let Some(quote) = self.quote() {
            return self.string(quote);
        }
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = self.rest().bytes().take_while(is_name).count();
        let name = self.rest().get(..length).unwrap_or_default();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return Err(self.broken("a key in double quotes"));
        }
        let after = self.rest().get(length..).unwrap_or_default().trim_start();
        if !after.is_empty() && !after.starts_with(':') {
            return Err(self.broken("a key in double quotes"));
        }
        self.at += length;
        self.repairs.add(Repair::UnquotedKey);
        Ok(name.to_owned())
    }

    fn number(&mut self) -> Value {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        let length = self.rest().bytes().take_while(is_part).count();
        let digits = self.rest().get(..length).filter(|digits| digits.len() <= MAX_NUMBER_BYTES);
        let number = digits.and_then(|digits| serde_json::from_str::<Number>(digits).ok());
        if number.is_none() {
            self.defect.get_or_insert(Defect::Number { at: self.at });
        }
        self.at += length;
        number.map_or(Value::Null, Value::Number)
    }

    fn word(&mut self) -> Result<Value, Stop> {
        let length = self.rest().bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (value, is_python) = match self.rest().get(..length) {
            Some("true") => (Value::Bool(true), false),
            Some("false") => (Value::Bool(false), false),
            Some("null") => (Value::Null, false),
            Some("True") => (Value::Bool(true), true),
            Some("False") => (Value::Bool(false), true),
            Some("None") => (Value::Null, true),
            _ if length > 0 && self.rest().len() == length => return Err(Stop::Cut),
            _ => return Err(self.broken("a value")),
        };
        if is_python {
            self.repairs.add(Repair::PythonLiteral);
        }
        self.at += length;
        Ok(value)
    }

    fn quote(&self) -> Option<Quote> {
        let rest = self.rest();
        match rest.chars().next()? {
            '"' if rest.starts_with("\"\"\"") => Some(Quote::TripleDouble),
            '"' => Some(Quote::Double),
            '\'' if rest.starts_with("'''") => Some(Quote::TripleSingle),
            '\'' => Some(Quote::Single),
            other => smart(other),
        }
    }

    fn string(&mut self, quote: Quote) -> Result<String, Stop> {
        if let Some(repair) = quote.repair() {
            self.repairs.add(repair);
        }
        self.has_single |= matches!(quote, Quote::Single | Quote::TripleSingle);
        self.at += quote.opener_bytes();
        let mut out = String::new();
        let mut chunk = self.at;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let Some(offset) = memchr2(quote.first_byte(), b'\\', rest) else {
                self.at = self.text.len();
                return Err(Stop::Cut);
            };
            self.at += offset;
            if self.peek() == Some(b'\\') {
                self.copy(chunk, &mut out);
                self.escape(quote, &mut out)?;
                chunk = self.at;
            } else if let Some(length) = quote.closer_bytes(self.rest()) {
                self.copy(chunk, &mut out);
                self.at += length;
                self.has_string = true;
                return Ok(out);
            } else {
                self.at += 1;
            }
        }
    }

    /// Copies the text from `chunk` to here, which is as the model wrote it.
    fn copy(&mut self, chunk: usize, out: &mut String) {
        let text = self.text.get(chunk..self.at).unwrap_or_default();
        if text.bytes().any(|byte| byte < 0x20) {
            self.repairs.add(Repair::RawLineBreak);
        }
        out.push_str(text);
    }

    fn escape(&mut self, quote: Quote, out: &mut String) -> Result<(), Stop> {
        let at = self.at;
        self.at += 1;
        let Some(character) = self.rest().chars().next() else { return Err(Stop::Cut) };
        self.at += character.len_utf8();
        let plain = match character {
            '"' | '\\' | '/' => Some(character),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            '\'' => {
                if !matches!(quote, Quote::Single | Quote::TripleSingle) {
                    self.repairs.add(Repair::EscapedApostrophe);
                }
                Some('\'')
            }
            'u' => self.unicode(),
            _ => None,
        };
        match plain {
            Some(plain) => out.push(plain),
            None => {
                out.push_str(self.text.get(at..self.at).unwrap_or_default());
                self.defect.get_or_insert(Defect::Escape { at });
            }
        }
        Ok(())
    }

    /// Reads the digits of `\u`, and the second half of a pair; `None` where they name no character.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        if !self.rest().starts_with("\\u") {
            return None;
        }
        self.at += 2;
        let second = self.hex().filter(|second| (0xDC00..0xE000).contains(second))?;
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

impl Quote {
    fn repair(self) -> Option<Repair> {
        match self {
            Self::Double => None,
            Self::Single => Some(Repair::SingleQuotes),
            Self::TripleDouble | Self::TripleSingle => Some(Repair::TripleQuotes),
            Self::SmartDouble | Self::SmartSingle => Some(Repair::SmartQuotes),
        }
    }

    fn opener_bytes(self) -> usize {
        if matches!(self, Self::Double | Self::Single) { 1 } else { 3 }
    }

    fn first_byte(self) -> u8 {
        match self {
            Self::Double | Self::TripleDouble => b'"',
            Self::Single | Self::TripleSingle => b'\'',
            Self::SmartDouble | Self::SmartSingle => 0xE2,
        }
    }

    /// How long the end of the text is that `rest` starts with, if it does.
    fn closer_bytes(self, rest: &str) -> Option<usize> {
        match self {
            Self::Double => rest.starts_with('"').then_some(1),
            Self::Single => rest.starts_with('\'').then_some(1),
            Self::TripleDouble => rest.starts_with("\"\"\"").then_some(3),
            Self::TripleSingle => rest.starts_with("'''").then_some(3),
            Self::SmartDouble | Self::SmartSingle => {
                rest.chars().next().is_some_and(|character| smart(character) == Some(self)).then_some(3)
            }
        }
    }
}

/// Tells typographic quotes; the low and high ones count alike, because models mix them.
fn smart(character: char) -> Option<Quote> {
    match character {
        '\u{201C}'..='\u{201F}' => Some(Quote::SmartDouble),
        '\u{2018}'..='\u{201B}' => Some(Quote::SmartSingle),
        _ => None,
    }
}

/// The end of the line, or the tag that stands before it.
#[expect(clippy::unnecessary_wraps, reason = "has the shape of `comment_end`")]
pub(super) fn line_end(text: &str, mut at: usize) -> Option<usize> {
    while let Some(offset) = memchr2(b'\n', b'<', text.as_bytes().get(at..).unwrap_or_default()) {
        at += offset;
        if text.as_bytes().get(at) == Some(&b'\n') || tag_at(text, at).is_some() {
            return Some(at);
        }
        at += 1;
    }
    Some(text.len())
}

/// The end of a comment between `/*` and `*/`.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    text.get(at..)?.find("*/").map(|offset| at + offset + 2)
}
