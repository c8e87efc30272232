//! [`Fact`]: one thing that a note says as a key and a value, and how one is set.
//!
//! A fact is an item of a list such as `- key: value`, `- **Key**: value` or `- key:: value`, or a key of the front
//! matter. Keys are compared without regard to case, and `_`, `-` and a blank are the same in them.

use std::ops::Range;

use super::Note;
use super::front::{Quote, Value};

/// The colon of Chinese and Japanese, which stands without a blank.
const WIDE: char = '\u{ff1a}';
/// The byte order mark that some editors put first.
const BOM: char = '\u{feff}';

/// A longer text before a colon is prose.
const MOST_KEY_BYTES: usize = 80;
const MOST_KEY_WORDS: usize = 6;

/// One thing that a note says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fact {
    /// What it is called, as it is written.
    pub key: String,
    /// What it says; the items of a list in the front matter with `, ` between.
    pub value: String,
    /// Its line, from 1.
    pub line: usize,
    /// The heading above it, shortened as in [`super::Heading::shown`].
    pub heading: Option<String>,
    /// Where in the note it stands.
    pub place: Place,
    /// Where its value is written, in bytes of the note.
    pub span: Range<usize>,
}

/// Where in a note a fact stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// In a list, this far from the left.
    Body {
        /// Bytes of white space before its mark.
        indent: usize,
    },
    /// In the front matter.
    FrontMatter(Form),
}

/// How a value of the front matter is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// On one line.
    Scalar(Quote),
    /// As a list.
    List,
}

/// What has to be done to set a fact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Setting {
    /// To put a text in the place of some bytes.
    Replace(Range<usize>, String),
    /// To add a line after the line of this number; after the last one for `None`.
    Insert(Option<usize>, String),
}

/// Why a fact cannot be set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unset {
    /// It stands on all of these lines.
    Several(Vec<usize>),
    /// What stands on this line is a list, or is written over several lines.
    NotOneValue(usize),
}

/// A fact in a line of a list.
struct Item<'l> {
    indent: usize,
    /// From the mark of the list up to the key.
    before: &'l str,
    key: &'l str,
    /// From the key up to the value, without blanks at its end.
    between: &'l str,
    value: Range<usize>,
}

/// The form in which keys are compared.
#[must_use]
pub fn key(text: &str) -> String {
    let words = text.split(|character: char| character.is_whitespace() || matches!(character, '_' | '-'));
    super::folded(&words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

impl Note<'_> {
    /// All facts, in the order of their places.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = self.front_facts().collect();
        let mut headings = self.headings().iter().peekable();
        let mut heading = None;
        for (at, item) in self.items() {
            while let Some(above) = headings.next_if(|above| above.span.start <= at) {
                heading = Some(above.shown());
            }
            let span = at + item.value.start..at + item.value.end;
            facts.push(Fact {
                key: item.key.to_owned(),
                value: self.slice(span.clone()).to_owned(),
                line: self.line_at(at),
                heading: heading.clone(),
                place: Place::Body { indent: item.indent },
                span,
            });
        }
        facts
    }

    fn front_facts(&self) -> impl Iterator<Item = Fact> {
        self.front.entries.iter().filter_map(|entry| {
            let (value, span, form) = match &entry.value {
                Value::Scalar(scalar) => (scalar.text.clone(), scalar.span.clone(), Form::Scalar(scalar.quote)),
                Value::List(items) => {
                    let texts: Vec<_> = items.iter().map(|item| item.text.as_str()).collect();
                    (texts.join(", "), entry.key_end..entry.key_end, Form::List)
                }
                Value::Other => return None,
            };
            let line = self.line_at(entry.key_end);
            Some(Fact { key: entry.key.clone(), value, line, heading: None, place: Place::FrontMatter(form), span })
        })
    }

    /// The lines of lists that are facts, with where each line starts.
    fn items(&self) -> impl Iterator<Item = (usize, Item<'_>)> {
        let first = self.lines.partition_point(|start| *start < self.body());
        let starts = self.lines.iter().skip(first);
        starts.filter_map(|&start| {
            let line = self.line(self.line_at(start));
            let mark = if start == 0 && self.text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
            let (start, line) = (start + mark, line.start + mark..line.end);
            let item = item(self.slice(line))?;
            (!self.is_opaque(start + item.indent)).then_some((start, item))
        })
    }

    /// Finds what has to be done so that the fact `key` says `value`, which is one line.
    ///
    /// Where the note has no such fact it is added after the last one, in its style.
    ///
    /// # Errors
    ///
    /// [`Unset`] where several facts, or none that is one value, have the key.
    pub fn set_fact(&self, wanted: &str, value: &str) -> Result<Setting, Unset> {
        let facts = self.facts();
        let mut same = facts.iter().filter(|fact| key(&fact.key) == key(wanted));
        match (same.next(), same.next()) {
            (Some(fact), None) => self.replace(fact, value),
            (Some(_), Some(_)) => {
                let all = facts.iter().filter(|fact| key(&fact.key) == key(wanted));
                Err(Unset::Several(all.map(|fact| fact.line).collect()))
            }
            (None, _) => Ok(self.add(&facts, wanted, value)),
        }
    }

    fn replace(&self, fact: &Fact, value: &str) -> Result<Setting, Unset> {
        let text = match fact.place {
            Place::Body { .. } => value.to_owned(),
            Place::FrontMatter(Form::Scalar(quote)) if !self.slice(fact.span.clone()).contains('\n') => {
                quote.scalar(value)
            }
            Place::FrontMatter(_) => return Err(Unset::NotOneValue(fact.line)),
        };
        let is_apart = self.slice(0..fact.span.start).ends_with([' ', '\t']);
        let blank = if is_apart || !fact.span.is_empty() || text.is_empty() { "" } else { " " };
        Ok(Setting::Replace(fact.span.clone(), format!("{blank}{text}")))
    }

    fn add(&self, facts: &[Fact], wanted: &str, value: &str) -> Setting {
        let indent_of = |fact: &Fact| match fact.place {
            Place::Body { indent } => Some(indent),
            Place::FrontMatter(_) => None,
        };
        let least = facts.iter().filter_map(indent_of).min();
        let last = facts.iter().rev().find(|fact| least.is_some() && indent_of(fact) == least);
        if let Some((fact, indent)) = last.zip(least) {
            let line = self.slice(self.line(fact.line));
            let Some(item) = item(line) else { return Setting::Insert(None, format!("- {wanted}: {value}")) };
            let margin = line.get(..indent).unwrap_or_default();
            let text = format!("{margin}{}{wanted}{} {value}", item.before, item.between);
            return Setting::Insert(Some(self.end_of_item(fact.line, indent)), text.trim_end().to_owned());
        }
        if facts.is_empty() {
            return Setting::Insert(None, format!("- {wanted}: {value}"));
        }
        let fence = self.line_at(self.front.end);
        let text = format!("{}: {}", Quote::Plain.scalar(wanted), Quote::Plain.scalar(value));
        Setting::Insert(Some(fence - 1), text)
    }

    /// The last line of an item of a list, with what stands below it.
    fn end_of_item(&self, line: usize, indent: usize) -> usize {
        let is_part = |line: &str| {
            let rest = line.trim_start();
            let deeper = line.len() - rest.len() > indent;
            !rest.is_empty() && (deeper || !rest.starts_with(['-', '*', '+', '#', '>', '`', '~', '<', '|', '=']))
        };
        let after = (line + 1..=self.lines.len()).find(|next| !is_part(self.slice(self.line(*next))));
        after.map_or(self.lines.len(), |after| after - 1)
    }
}

/// Reads a line of a list as a fact.
fn item(line: &str) -> Option<Item<'_>> {
    let text = line.trim_end();
    let indent = text.len() - text.trim_start().len();
    let marked = text.get(indent..)?;
    let after = marked.strip_prefix(['-', '*', '+'])?;
    let rest = after.trim_start_matches([' ', '\t']);
    if rest.len() == after.len() || rest.starts_with("[ ] ") || rest.starts_with("[x] ") || rest.starts_with("[X] ") {
        return None;
    }
    let bold = ["**", "__", "*"].into_iter().find(|mark| rest.starts_with(mark) && !rest.starts_with("* "));
    let (key, after) = match bold {
        Some(mark) => {
            let (inner, after) = rest.get(mark.len()..)?.split_once(mark)?;
            match inner.strip_suffix([':', WIDE]) {
                Some(key) => (key.trim_end_matches(':'), after),
                None => (inner, after.strip_prefix(WIDE).or_else(|| after_colon(after))?),
            }
        }
        None => plain(rest)?,
    };
    let is_wide = rest.get(..rest.len() - after.len()).is_some_and(|before| before.ends_with(WIDE));
    if !(is_wide || is_apart(after)) || !is_key(key) {
        return None;
    }
    let value = after.trim_start();
    let start = text.len() - value.len();
    let key_start = text.len() - rest.len() + bold.map_or(0, str::len);
    Some(Item {
        indent,
        before: text.get(indent..key_start)?,
        key: key.trim(),
        between: text.get(key_start + key.len()..text.len() - after.len())?,
        value: start..start + without_id(value).len(),
    })
}

/// Splits `key: value` or `key:: value` at the first colon that a blank or nothing follows, or at a wide one.
fn plain(rest: &str) -> Option<(&str, &str)> {
    let short = rest.char_indices().take_while(|(at, _)| *at <= MOST_KEY_BYTES);
    let colons = short.filter(|(_, character)| matches!(*character, ':' | WIDE)).map(|(at, _)| at);
    let mut splits = colons.filter_map(|at| rest.get(..at).zip(rest.get(at..)));
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
    after.is_empty() || after.starts_with([' ', '\t'])
}

/// Whether a text is what somebody calls a fact, and no prose that happens to hold a colon.
fn is_key(key: &str) -> bool {
    let key = key.trim();
    !key.is_empty()
        && !["- ", "* ", "+ "].iter().any(|mark| key.starts_with(mark))
        && key.len() <= MOST_KEY_BYTES
        && key.split_whitespace().count() <= MOST_KEY_WORDS
        && key.chars().any(char::is_alphanumeric)
        && !key.contains(['[', ']', '`', '<', '>', '|', '"', '*', '{', '}', '=', ';'])
        && !key.contains("://")
        && !key.contains(". ")
        && !key.contains(", ")
}

/// A value without the id of a block at its end.
fn without_id(value: &str) -> &str {
    let Some((text, id)) = value.rsplit_once(" ^") else { return value };
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id { text.trim_end() } else { value }
}
