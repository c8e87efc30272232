//! [`PossibleFact`]: what has the look of a key and its value and not the form of a fact.

use std::ops::Range;

use super::named::MOST_NAME_BYTES;
use super::{Fact, Place, line};
use crate::Note;
use crate::heading::Heading;
use crate::run::{Kind, Run};

/// A word or a few, and one text:
///
/// * an item `city` with the one item `Oslo` in it, or an item `city – Oslo`;
/// * a paragraph of two lines, a bold one and another one;
/// * a heading `City` above the one line `Oslo`, or a heading `City: Oslo`.
///
/// It is a fact only if the word is a key, which the note alone does not tell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PossibleFact {
    /// Where the key stands.
    pub key_in: KeyIn,
    /// What it would say; its line is that of the value.
    pub fact: Fact,
}

/// Where the key of a possible fact stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KeyIn {
    /// In a paragraph, or in an item of a list that stands in no other.
    Text,
    /// In an item of a list in this item.
    Nested(String),
    /// In a heading.
    Heading,
}

impl Note<'_> {
    /// All of them, in the order of the values.
    #[must_use]
    pub fn possible_facts(&self) -> Vec<PossibleFact> {
        let mut found = self.possible_items();
        found.extend(self.possible_headings());
        found.extend(self.markup.runs.runs.iter().filter_map(|run| self.possible_lines(run)));
        found.sort_by_key(|one| one.fact.span.start);
        found
    }

    fn possible_items(&self) -> Vec<PossibleFact> {
        let runs = &self.markup.runs;
        let outline = runs.outline();
        let of = |item: usize| outline.get(item).copied().unwrap_or_default();
        let mut found = Vec::new();
        for (at, (value, parent)) in outline.iter().enumerate() {
            let Some(value) = value else { continue };
            let (place, span) = (self.place_of_item(at), &value.span);
            // The text around is kept with each item in it.
            let around = |item: Option<usize>| match item {
                Some(item) => {
                    let run = of(item).0.filter(|run| run.span.len() <= MOST_NAME_BYTES);
                    run.map(|run| KeyIn::Nested(self.slice(run.span.clone()).to_owned()))
                }
                None => Some(KeyIn::Text),
            };
            let text = self.slice(span.clone());
            let pair = || {
                runs.items.get(at).filter(|item| item.task.is_none())?;
                let (key, rest) = line::pair(text).filter(|_| line::keyed(text).is_none())?;
                self.possible_as(around(*parent)?, text.get(key)?, &(span.start + rest..span.end), place)
            };
            let below = || {
                let parent = (*parent)?;
                let (key, outer) = of(parent);
                let key = key.filter(|key| self.is_only_child(parent, at, key))?;
                self.possible_as(around(outer)?, self.slice(key.span.clone()), span, place)
            };
            found.extend(pair().or_else(below));
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

    fn possible_headings(&self) -> Vec<PossibleFact> {
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
            if let Some(pair) = self.pair_in(heading) {
                found.push(pair);
            } else if lines.peek().copied().filter(is_line).is_some() {
                found.extend(self.possible_as(KeyIn::Heading, &heading.text, &below, Place::Line));
            }
        }
        found
    }

    /// What a heading says that is a key and a value.
    fn pair_in(&self, heading: &Heading) -> Option<PossibleFact> {
        let keyed = line::keyed(&heading.text)?;
        let start = heading.span.start + self.slice(heading.span.clone()).find(&heading.text)?;
        let value = line::trimmed(self.text, start + keyed.end..start + heading.text.len());
        self.possible_as(KeyIn::Heading, heading.text.get(keyed.key)?, &value, Place::Line)
    }

    /// What a paragraph says of which the first line is bold and the second one is the last.
    fn possible_lines(&self, run: &Run) -> Option<PossibleFact> {
        let runs = &self.markup.runs;
        let is_text = matches!(run.kind, Kind::Paragraph { quote: None }) && runs.count(run) == 2;
        let [key, value] = [0, 1].map(|at| runs.line(run, at));
        let key = self.slice(key);
        let is_bold = ["**", "__"].iter().any(|mark| key.starts_with(mark) && key.ends_with(mark));
        (is_text && is_bold).then(|| self.possible_as(KeyIn::Text, key, &value, Place::Line))?
    }

    /// What a key and the text below it say, if that is no pair itself.
    fn possible_as(&self, key_in: KeyIn, key: &str, value: &Range<usize>, place: Place) -> Option<PossibleFact> {
        let key = key.get(line::cell(key)?)?.to_owned();
        let span = self.bare(value.clone(), &[]);
        let text = self.slice(span.clone());
        if text.is_empty() || line::pair(text).is_some() || text.contains("::") || self.is_opaque(span.start) {
            return None;
        }
        let (value, line) = (text.to_owned(), self.line_at(span.start));
        Some(PossibleFact { key_in, fact: Fact { key, value, line, heading: None, place, span } })
    }
}
