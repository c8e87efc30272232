//! Front matter: the YAML between two lines of `---` at the very start of a note.
//!
//! `saphyr-parser` says what the scalars are and where; an edit replaces the bytes of one scalar and no others. What it
//! cannot read holds no facts and no links, and [`FrontMatterError`] says where it is wrong.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};
use serde::{Deserialize, Serialize};

/// Longer front matter is not read: it is nobody's properties.
const MOST_BYTES: usize = 64 << 10;

/// Why nothing in the front matter of a note is read.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FrontMatterError {
    /// The line of the note at which it is no YAML any more, from 1; 1 where no line is wrong.
    pub line: usize,
    /// What the parser of YAML says of that, or what else keeps it from being read.
    pub message: String,
}

/// The front matter of a note; all ranges are in bytes of the note.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    /// Where the text after it starts; 0 without front matter.
    pub(super) body: usize,
    /// Where the line of the closing `---` starts.
    pub(super) end: usize,
    /// Its keys at the top, in their order.
    pub(super) entries: Vec<Entry>,
    /// All scalars that are no keys, in their order.
    pub(super) scalars: Vec<Scalar>,
    /// Why none of it could be read.
    pub(super) error: Option<FrontMatterError>,
}

/// The two lines of `---` around the front matter of a note.
pub(super) struct Fences {
    /// What stands between them.
    pub(super) yaml: Range<usize>,
    /// Where the text below them starts.
    pub(super) body: usize,
}

impl Fences {
    /// Finds them without reading what stands between them.
    pub(super) fn of(text: &str) -> Option<Self> {
        let from = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut lines = text.get(from..)?.split_inclusive('\n');
        let is_fence = |line: &str| line.trim_end() == "---";
        let first = lines.next().filter(|line| is_fence(line) && line.ends_with('\n'))?;
        let start = from + first.len();
        let mut end = start;
        for line in lines {
            if is_fence(line) {
                return Some(Self { yaml: start..end, body: end + line.len() });
            }
            end += line.len();
        }
        None
    }
}

/// A key at the top, and its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Where the key ends, before the colon.
    pub(super) key_end: usize,
    pub(super) value: Value,
}

/// The value of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Value {
    /// Text, a number, a date; empty where nothing is written.
    Scalar(Scalar),
    /// A list; what is no scalar in it is left out.
    List(Vec<Scalar>),
    /// Anything else.
    Other,
}

/// A scalar of YAML.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Scalar {
    /// What it says.
    pub(super) text: String,
    /// Where it is written, with its quotes.
    pub(super) span: Range<usize>,
    /// How it is quoted.
    pub(super) quote: Quote,
}

/// How a scalar is quoted.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Quote {
    /// Not at all.
    Plain,
    /// By `'`.
    Single,
    /// By `"`.
    Double,
    /// As a block, over several lines.
    Block,
}

impl Quote {
    /// Reads a part of what is written in a scalar; `None` for escapes that are not read here.
    pub(super) fn decode(self, written: &str) -> Option<String> {
        match self {
            Self::Plain | Self::Block => Some(written.to_owned()),
            Self::Single => Some(written.replace("''", "'")),
            Self::Double => {
                let mut out = String::with_capacity(written.len());
                let mut characters = written.chars();
                while let Some(character) = characters.next() {
                    match character {
                        '\\' => out.push(characters.next().filter(|escaped| matches!(escaped, '"' | '\\' | '/'))?),
                        other => out.push(other),
                    }
                }
                Some(out)
            }
        }
    }

    /// Writes a part of a scalar; `None` where it would not be read the same.
    pub(super) fn encode(self, text: &str) -> Option<String> {
        match self {
            Self::Plain => (!text.contains(": ") && !text.contains(" #")).then(|| text.to_owned()),
            Self::Block => Some(text.to_owned()),
            Self::Single => Some(text.replace('\'', "''")),
            Self::Double => Some(text.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }

    /// Writes a whole scalar on one line, in this quoting if it can be, else between `"`.
    pub(super) fn scalar(self, text: &str) -> String {
        match self {
            Self::Single if !text.contains(is_escaped) => format!("'{}'", text.replace('\'', "''")),
            Self::Plain if is_plain(text) && !is_other_value(text) => text.to_owned(),
            Self::Plain | Self::Single | Self::Double | Self::Block => {
                let escaped = text.chars().map(|character| match character {
                    '\\' => "\\\\".to_owned(),
                    '"' => "\\\"".to_owned(),
                    '\t' => "\\t".to_owned(),
                    unseen if is_escaped(unseen) => format!("\\u{:04x}", u32::from(unseen)),
                    other => other.to_string(),
                });
                format!("\"{}\"", escaped.collect::<String>())
            }
        }
    }
}

/// A text as a scalar of YAML between `"`, on one line.
#[must_use]
pub fn quoted(text: &str) -> String {
    Quote::Double.scalar(text)
}

/// Whether a character is written as an escape: what YAML does not let stand in a text, and what some readers take for a line end or leave out.
fn is_escaped(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// What YAML takes for a truth or for nothing and writes so itself, and what YAML 1.1 takes for one of them besides.
const OWN_WORDS: [&str; 3] = ["true", "false", "null"];
const WORDS: [&str; 9] = ["yes", "no", "on", "off", "y", "n", "~", "=", "<<"];

/// Whether programs read another value from a text that is written without quotes: a word of YAML, or a number that they would write in
/// another way, as `01067` and `+49`. Days are not meant: programs tell them apart by their form.
fn is_other_value(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    WORDS.contains(&lower.as_str())
        || OWN_WORDS.contains(&lower.as_str()) && text != lower
        || is_number(&lower) && !is_own_number(text)
}

/// Whether YAML 1.1 or 1.2 reads a number from a text, which is in lower case.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_of =
        |text: &str, radix: u32| !text.is_empty() && text.chars().all(|sign| sign == '_' || sign.is_digit(radix));
    let by_radix = [("0x", 16), ("0o", 8), ("0b", 2)];
    let mut by_radix = by_radix.iter().filter_map(|(mark, radix)| Some((digits.strip_prefix(mark)?, *radix)));
    if by_radix.any(|(digits, radix)| is_of(digits, radix)) || [".inf", ".nan"].contains(&digits) {
        return true;
    }
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    // The minutes and seconds of YAML 1.1 count sixty each.
    let mut parts = mantissa.split(':');
    let (whole, fraction) =
        parts.next_back().map(|last| last.split_once('.').unwrap_or((last, ""))).unwrap_or_default();
    let is_part = |part: &str| part.chars().all(|sign| sign == '_' || sign.is_ascii_digit());
    mantissa.starts_with(|first: char| first == '.' || first.is_ascii_digit())
        && is_part(fraction)
        && parts.chain([whole]).all(is_part)
        && is_of(exponent.strip_prefix(['-', '+']).unwrap_or(exponent), 10)
}

/// Whether a number is written as programs write it, so that it comes back as it was.
fn is_own_number(text: &str) -> bool {
    /// What a double-precision number holds for certain.
    const MOST_DIGITS: usize = 15;
    /// Smaller ones are written with an exponent.
    const LEAST: f64 = 1e-4;
    let is_short = text.bytes().filter(u8::is_ascii_digit).count() <= MOST_DIGITS;
    let number = text.parse::<f64>().ok().filter(|number| *number == 0.0 || number.abs() >= LEAST);
    is_short && text != "-0" && number.is_some_and(|number| number.to_string() == text)
}

/// Whether a text reads as itself where it is written without quotes.
fn is_plain(text: &str) -> bool {
    if text.contains(is_escaped) {
        return false;
    }
    let line = format!("key: {text}\n");
    let read = FrontMatter::read(&line, 0, line.len());
    read.is_ok_and(|read| {
        let is_itself = |entry: &Entry| {
            matches!(&entry.value, Value::Scalar(scalar) if scalar.text == text && scalar.quote == Quote::Plain)
        };
        matches!(read.entries.as_slice(), [entry] if entry.key == "key" && is_itself(entry))
    })
}

impl FrontMatter {
    /// Finds and reads the front matter of a note.
    pub(super) fn parse(text: &str) -> Self {
        let Some(Fences { yaml, body }) = Fences::of(text) else { return Self::default() };
        let end = yaml.end;
        let read = if yaml.len() > MOST_BYTES {
            Err(FrontMatterError { line: 1, message: format!("it is longer than {} KiB", MOST_BYTES >> 10) })
        } else {
            Self::read(text, yaml.start, end).map_err(|error| match error {
                // The parser counts the lines below the first `---`.
                Some(error) => {
                    FrontMatterError { line: error.marker().line() + 1, message: error.info().trim().to_owned() }
                }
                None => FrontMatterError { line: 1, message: "where a value in it stands cannot be told".to_owned() },
            })
        };
        let read = read.unwrap_or_else(|error| Self { error: Some(error), ..Self::default() });
        Self { body, end, ..read }
    }

    /// The values of a key: its scalar, or the items of its list.
    pub(super) fn values(&self, key: &str) -> Vec<String> {
        let entry = self.entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(key));
        match entry.map(|entry| &entry.value) {
            Some(Value::Scalar(scalar)) if scalar.text.is_empty() => Vec::new(),
            Some(Value::Scalar(scalar)) => vec![scalar.text.clone()],
            Some(Value::List(items)) => items.iter().map(|item| item.text.clone()).collect(),
            Some(Value::Other) | None => Vec::new(),
        }
    }

    /// Whether a key has a value of any form: `[[x]]` without quotes is a list in a list. What YAML's core schema takes for null is none.
    pub(super) fn says(&self, key: &str) -> bool {
        let is_null = |scalar: &Scalar| {
            scalar.quote == Quote::Plain && ["~", "null", "Null", "NULL"].contains(&scalar.text.as_str())
        };
        let mut ends = self.entries.iter().map(|entry| entry.key_end).skip(1).chain([usize::MAX]);
        let mut entries = self.entries.iter().filter_map(|entry| Some((entry, ends.next()?)));
        let entry = entries.find(|(entry, _)| entry.key.eq_ignore_ascii_case(key));
        let is_in =
            |scalar: &&Scalar| entry.is_some_and(|(entry, end)| (entry.key_end..end).contains(&scalar.span.start));
        self.scalars.iter().filter(is_in).any(|scalar| !scalar.text.trim().is_empty() && !is_null(scalar))
    }

    /// Reads the YAML between two places.
    ///
    /// # Errors
    ///
    /// What the parser says; `None` where it says nothing and a scalar cannot be placed all the same.
    fn read(text: &str, start: usize, end: usize) -> Result<Self, Option<ScanError>> {
        let yaml = text.get(start..end).ok_or(None)?;
        let places = Places::new(yaml, start);
        let mut read = Self::default();
        let mut parser = Parser::new_from_str(yaml);
        // The collections that are open; a mapping says whether a key comes next.
        let mut open: Vec<Option<bool>> = Vec::new();
        loop {
            let (event, span) = parser.next_event().ok_or(None)?.map_err(Some)?;
            match event {
                Event::StreamEnd => break,
                Event::Scalar(value, style, _, _) => {
                    let span = places.byte(span.start.index())..places.byte(span.end.index());
                    let mut scalar = scalar(text, value.into_owned(), span, style).ok_or(None)?;
                    if let (true, Some(entry)) = (scalar.span.is_empty(), read.entries.last()) {
                        // Nothing is written: its place is after the colon.
                        let colon = text.get(entry.key_end..end).ok_or(None)?.find(':').unwrap_or(0);
                        scalar.span = entry.key_end + colon + 1..entry.key_end + colon + 1;
                    }
                    match open.last().copied().flatten() {
                        Some(true) if open.len() == 1 => {
                            let key_end = scalar.span.end;
                            read.entries.push(Entry { key: scalar.text, key_end, value: Value::Other });
                        }
                        Some(true) => {}
                        Some(false) | None => read.value(scalar, open.len()),
                    }
                    turn(&mut open);
                }
                Event::Alias(_) => turn(&mut open),
                Event::MappingStart(..) => open.push(Some(true)),
                Event::SequenceStart(..) => {
                    if let (1, Some(entry)) = (open.len(), read.entries.last_mut()) {
                        entry.value = Value::List(Vec::new());
                    }
                    open.push(None);
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    open.pop();
                    turn(&mut open);
                }
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            }
        }
        Ok(read)
    }

    /// Takes a scalar that is no key, in so many open collections.
    fn value(&mut self, scalar: Scalar, depth: usize) {
        if let Some(entry) = self.entries.last_mut() {
            match &mut entry.value {
                value @ Value::Other if depth == 1 => *value = Value::Scalar(scalar.clone()),
                Value::List(items) if depth == 2 => items.push(scalar.clone()),
                Value::Scalar(_) | Value::List(_) | Value::Other => {}
            }
        }
        self.scalars.push(scalar);
    }
}

/// After a node in a mapping comes a value, or the next key.
fn turn(open: &mut [Option<bool>]) {
    if let Some(Some(is_key)) = open.last_mut() {
        *is_key = !*is_key;
    }
}

fn scalar(note: &str, text: String, span: Range<usize>, style: ScalarStyle) -> Option<Scalar> {
    let quote = match style {
        ScalarStyle::Plain => Quote::Plain,
        ScalarStyle::SingleQuoted => Quote::Single,
        ScalarStyle::DoubleQuoted => Quote::Double,
        ScalarStyle::Literal | ScalarStyle::Folded => Quote::Block,
    };
    let written = note.get(span.clone())?;
    // Nothing written: the place after the colon.
    let written = if quote == Quote::Plain && text == "~" && written.trim() != "~" { "" } else { written };
    let text = if written.is_empty() { String::new() } else { text };
    let span = span.start..span.start + length(written, &text, quote);
    Some(Scalar { text, span, quote })
}

/// How many bytes a scalar takes; what the parser says can go on to the end of a comment after it.
fn length(written: &str, text: &str, quote: Quote) -> usize {
    let whole = written.trim_end().len();
    let mut is_escaped = false;
    let is_end = |byte: u8| {
        let was_escaped = is_escaped;
        is_escaped = byte == b'\\' && !was_escaped;
        byte == b'"' && !was_escaped
    };
    match quote {
        Quote::Plain if written.starts_with(text) => text.len(),
        Quote::Double => written.bytes().skip(1).position(is_end).map_or(whole, |at| at + 2),
        Quote::Single => {
            // A doubled quote is part of the text.
            let doubled = text.matches('\'').count() * 2;
            let quotes = written.bytes().enumerate().filter(|(_, byte)| *byte == b'\'').map(|(at, _)| at);
            quotes.into_iter().nth(doubled + 1).map_or(whole, |at| at + 1)
        }
        Quote::Plain | Quote::Block => whole,
    }
}

/// From characters, which the parser counts, to bytes of the note.
struct Places {
    start: usize,
    /// Where each character starts; nothing where each is one byte.
    bytes: Option<Vec<usize>>,
}

impl Places {
    fn new(yaml: &str, start: usize) -> Self {
        let all = || yaml.char_indices().map(|(at, _)| at).chain([yaml.len()]).collect();
        Self { start, bytes: (!yaml.is_ascii()).then(all) }
    }

    fn byte(&self, index: usize) -> usize {
        let bytes = self.bytes.as_ref();
        self.start + bytes.map_or(index, |bytes| bytes.get(index).or(bytes.last()).copied().unwrap_or(0))
    }
}
