//! [`Outlined`]: a key with its value below it, as outliners and notes with many headings have them.

use std::ops::Range;

use super::{Fact, Place, line};
use crate::Note;
use crate::run::{Kind, Run};

/// A word or a few, and one text below: an item `city` with the one item `Oslo` in it, or a heading `City` above the one line `Oslo`.
///
/// It is a fact only if the word is a key, which the note alone does not tell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outlined {
    /// Where the key stands.
    pub key_in: KeyIn,
    /// What it would say; its line is that of the value.
    pub fact: Fact,
}

/// Where the key of something outlined stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KeyIn {
    /// In an item of a list that stands in no other.
    Item,
    /// In an item of a list in this item.
    Nested(String),
    /// In a heading.
    Heading,
}

impl Note<'_> {
    /// All that is outlined, in the order of the values.
    #[must_use]
    pub fn outlined(&self) -> Vec<Outlined> {
        let mut found = self.outlined_items();
        found.extend(self.outlined_headings());
        found.sort_by_key(|one| one.fact.span.start);
        found
    }

    fn outlined_items(&self) -> Vec<Outlined> {
        let outline = self.markup.runs.outline();
        let of = |item: usize| outline.get(item).copied().unwrap_or_default();
        let mut found = Vec::new();
        for (at, (value, parent)) in outline.iter().enumerate() {
            let Some((value, parent)) = value.zip(*parent) else { continue };
            let (Some(key), around) = of(parent) else { continue };
            if !self.is_only_child(parent, at, key) {
                continue;
            }
            let key_in = match around {
                Some(around) => of(around).0.map(|run| KeyIn::Nested(self.slice(run.span.clone()).to_owned())),
                None => Some(KeyIn::Item),
            };
            let (key, place) = (self.slice(key.span.clone()), self.place_of_item(at));
            found.extend(key_in.and_then(|key_in| self.outlined_as(key_in, key, &value.span, place)));
        }
        found
    }

    /// Whether an item, which has no box, holds its text and one item without more, and nothing else.
    fn is_only_child(&self, parent: usize, child: usize, text: &Run) -> bool {
        let runs = &self.markup.runs;
        let Some((outer, item)) = runs.items.get(parent).zip(runs.items.get(child)) else { return false };
        let Some(list) = runs.lists.get(item.list) else { return false };
        let is_blank = |range: Range<usize>| self.slice(range).trim().is_empty();
        !item.has_more
            && [&outer.task, &item.task].iter().all(|task| task.is_none())
            && (list.first_item, list.last_item) == (child, child)
            && is_blank(text.span.end..list.start)
            && is_blank(item.span.end..outer.span.end)
    }

    fn outlined_headings(&self) -> Vec<Outlined> {
        let headings = self.headings();
        let mut lines = self.markup.runs.runs.iter().peekable();
        let mut found = Vec::new();
        for (at, heading) in headings.iter().enumerate() {
            let end = headings.get(at + 1).map_or(self.text.len(), |next| next.span.start);
            let below = line::trimmed(self.text, heading.span.end..end);
            while lines.next_if(|run| run.span.start < below.start).is_some() {}
            let is_line = |run: &&Run| {
                let is_text = matches!(run.kind, Kind::Paragraph { quote: None });
                is_text && line::trimmed(self.text, run.span.clone()) == below && self.markup.runs.count(run) == 1
            };
            if lines.peek().copied().filter(is_line).is_some() {
                found.extend(self.outlined_as(KeyIn::Heading, &heading.text, &below, Place::Line));
            }
        }
        found
    }

    /// What a key and the text below it say, if that is no pair itself.
    fn outlined_as(&self, key_in: KeyIn, key: &str, value: &Range<usize>, place: Place) -> Option<Outlined> {
        let key = key.get(line::cell(key)?)?.to_owned();
        let span = self.bare(value.clone(), &[]);
        let text = self.slice(span.clone());
        if text.is_empty() || line::keyed(text).is_some() || text.contains("::") || self.is_opaque(span.start) {
            return None;
        }
        let (value, line) = (text.to_owned(), self.line_at(span.start));
        Some(Outlined { key_in, fact: Fact { key, value, line, heading: None, place, span } })
    }
}
