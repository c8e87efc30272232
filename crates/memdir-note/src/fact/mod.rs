//! [`Fact`]: one thing that a note says as a key and a value, and how one is set.
//!
//! A fact is stated by
//!
//! * the first text of an item of any list, a task too: `- key: value`, `1. **Key**: value`, `- [x] key:: value`;
//! * a paragraph, if each of its lines is `Key: value` or it begins with a bold key; what follows a bold key up to the
//!   next one is its value. In a quote, and in a callout called `quote` or `cite`, the first key has to be bold; other
//!   callouts, as `> [!info]`, are boxes for what the note says itself. The lines of a conversation are none, where three or more begin
//!   with the same key;
//! * a list of definitions: a line with a term and below it a colon, a blank and what it means, which may wrap;
//! * a field of Dataview: a line `key:: value`, or `[key:: value]` and `(key:: value)` in a text;
//! * a row of a table with two columns; its head only where it has no other rows;
//! * a key of the front matter.
//!
//! Behind the colon stands a blank, but where the key ends in a script that is written without blanks: `http://x`, `12:30` and
//! `std::vec` are no facts, `城市:北京` is one.
//!
//! What a note says of something else that it names is no fact of the note, see [`Named`].
//!
//! What Markdown says is code, and what stands in a comment, states nothing. Keys are compared without regard to case, and
//! `_`, `-` and a blank are the same in them.

use std::ops::Range;

use super::Note;
use super::front::{Quote, Value};
use super::markup::unescaped;

mod add;
mod line;
mod named;
mod read;
mod set;
mod unread;

pub use line::{Callout, MOST_KEY_WORDS, NO_KEY_SIGNS, mended_key};
pub use named::Named;
pub use set::{Edit, Unset};

use read::{Source, Stated};

/// One thing that a note says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fact {
    /// What it is called, as a reader sees it.
    pub key: String,
    /// What it says, wrapped lines with a blank between; the items of a list in the front matter with `, ` between.
    pub value: String,
    /// The line of its key, from 1.
    pub line: usize,
    /// The heading above it, shortened as in [`super::Heading::shown`].
    pub heading: Option<String>,
    /// Where in the note it stands.
    pub place: Place,
    /// Where its value is written, in bytes of the note, over all its lines.
    pub span: Range<usize>,
}

/// Where in a note a fact stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// In an item of a list.
    Item {
        /// The number of the list in the note.
        list: usize,
        /// Whether the list stands in no other list, and this item has no box.
        is_plain: bool,
    },
    /// In a line of a paragraph.
    Line,
    /// In a field in brackets.
    Bracketed(Beside),
    /// In a row of a table.
    Row,
    /// In the front matter.
    FrontMatter(Form),
}

/// What stands beside a field in brackets, which tells what the field is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Beside {
    /// Nothing but other fields: it is about what its line stands in.
    Fields {
        /// Whether that is an item of a list in another list, or a task.
        is_nested: bool,
    },
    /// The text of an item of a list: it is about that item, as Dataview has it.
    Item,
    /// The text of a line of a paragraph.
    Sentence,
}

/// How a value of the front matter is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// On one line.
    Scalar(Quote),
    /// As a list.
    List,
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
        let mut headings = self.headings().iter().peekable();
        let mut heading = None;
        let facts = self.stated().into_iter().map(|stated| {
            while let Some(above) = headings.next_if(|above| above.span.start <= stated.key.start) {
                heading = Some(above.shown());
            }
            self.fact(&stated, heading.clone())
        });
        facts.collect()
    }

    fn fact(&self, stated: &Stated, heading: Option<String>) -> Fact {
        let (mut key, mut value) = (unescaped(self.slice(stated.key.clone())), None);
        let place = match stated.source {
            Source::Item(item) => self.place_of_item(item),
            Source::Line { .. } | Source::Definition(_) => Place::Line,
            Source::Bracketed(beside) => Place::Bracketed(beside),
            Source::Row(_) => Place::Row,
            Source::Front(entry) => {
                let entry = self.front.entries.get(entry);
                key = entry.map(|entry| entry.key.clone()).unwrap_or_default();
                match entry.map(|entry| &entry.value) {
                    Some(Value::Scalar(scalar)) => {
                        value = Some(scalar.text.clone());
                        Place::FrontMatter(Form::Scalar(scalar.quote))
                    }
                    Some(Value::List(items)) => {
                        let texts: Vec<_> = items.iter().map(|item| item.text.as_str()).collect();
                        value = Some(texts.join(", "));
                        Place::FrontMatter(Form::List)
                    }
                    Some(Value::Other) | None => Place::FrontMatter(Form::List),
                }
            }
        };
        let value = value.unwrap_or_else(|| self.said(stated));
        let line = self.line_at(stated.key.start);
        Fact { key, value, line, heading, place, span: stated.value.clone() }
    }

    fn place_of_item(&self, item: usize) -> Place {
        let runs = &self.markup.runs;
        let Some(item) = runs.items.get(item) else { return Place::Line };
        let is_nested = runs.lists.get(item.list).is_some_and(|list| list.is_nested);
        Place::Item { list: item.list, is_plain: !is_nested && item.task.is_none() }
    }

    /// What a fact of the body says to a reader.
    fn said(&self, stated: &Stated) -> String {
        let text = self.slice(stated.value.clone());
        if matches!(stated.source, Source::Row(_)) {
            return text.replace("\\|", "|");
        }
        if !text.contains(['\n', '\r']) {
            return text.to_owned();
        }
        let mut lines = Vec::new();
        let mut start = stated.value.start;
        for (end, next) in self.markup.runs.breaks_in(&stated.value) {
            lines.push(self.slice(start..*end));
            start = *next;
        }
        lines.push(self.slice(start..stated.value.end));
        // Code and links can be wrapped too, and have no breaks.
        let lines = lines.iter().flat_map(|line| line.split(['\n', '\r']));
        lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests;
