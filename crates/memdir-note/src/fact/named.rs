//! [`Named`]: what a note says of something that it names, in a table, an item or a list of definitions.

use std::ops::Range;

use super::{Fact, Place, line};
use crate::Note;
use crate::run::{Kind, Run};

/// A longer text names nothing.
const MOST_NAME_BYTES: usize = 200;

/// What a note says of something that it names:
///
/// * a cell of a table of the thing that its row or its column names: below `| name | city |`, the row `| Ana | Oslo |` says of
///   Ana that her city is Oslo;
/// * an item of a list, which has no box, of what it begins with: `- [[ana]]: city: Oslo`, `- Ana – city: Oslo`,
///   `- Ana (city: Oslo, age: 4)`, `- Ana [city:: Oslo]`;
/// * a list of definitions of its term: `: city: Oslo` in the line below `Ana`.
///
/// It is no fact of the note: whether the name is one of a note, and of which, the text does not tell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// What it is about, as it is written.
    pub about: String,
    /// The number of the table, the list or the paragraph, which no two of a note share.
    pub group: usize,
    /// What it says.
    pub fact: Fact,
}

impl Note<'_> {
    /// What is said of something that the note names: first in all tables, each cell read both ways where both can be, then in
    /// the text.
    pub fn named(&self) -> impl Iterator<Item = Named> {
        let runs = self.markup.runs.runs.iter().enumerate();
        self.in_tables().chain(runs.flat_map(|(number, run)| self.in_run(number, run)))
    }

    fn in_tables(&self) -> impl Iterator<Item = Named> {
        let tables = self.markup.runs.tables.iter().enumerate();
        let tables = tables.filter_map(|(number, table)| table.split_first().map(|(head, rows)| (number, head, rows)));
        tables.flat_map(move |(number, head, rows)| {
            // The head is read with each row, so what is too long in it is left out once.
            let head: Vec<_> = head.iter().map(|cell| self.name_in(cell)).collect();
            rows.iter().flat_map(move |row| self.cells_of(number, &head, row))
        })
    }

    fn cells_of(&self, table: usize, head: &[Option<Range<usize>>], row: &[Range<usize>]) -> Vec<Named> {
        let mut found = Vec::new();
        let first = row.first().filter(|first| !self.is_opaque(first.start));
        let Some(first) = first.and_then(|first| self.name_in(first)) else { return found };
        for (column, cell) in head.iter().zip(row).skip(1) {
            let Some(column) = column else { continue };
            found.extend(self.cell(table, &first, column, cell));
            found.extend(self.cell(table, column, &first, cell));
        }
        found
    }

    /// The text of a cell that can be a name or a key, without the blanks around it.
    fn name_in(&self, cell: &Range<usize>) -> Option<Range<usize>> {
        let name = line::trimmed(self.text, cell.clone());
        (1..=MOST_NAME_BYTES).contains(&name.len()).then_some(name)
    }

    /// What a cell says of what one range names, by the key in another.
    fn cell(&self, table: usize, about: &Range<usize>, key: &Range<usize>, cell: &Range<usize>) -> Option<Named> {
        let fact = self.fact_in(key, cell).filter(|fact| !fact.value.is_empty())?;
        Some(Named { about: self.slice(about.clone()).to_owned(), group: table, fact })
    }

    /// What a cell says by the key in another one.
    fn fact_in(&self, key: &Range<usize>, cell: &Range<usize>) -> Option<Fact> {
        let key = self.slice(key.clone());
        let key = key.get(line::cell(key)?)?.to_owned();
        let span = line::trimmed(self.text, cell.clone());
        let value = self.slice(span.clone()).replace("\\|", "|");
        let line = self.line_at(span.start);
        Some(Fact { key, value, line, heading: None, place: Place::Row, span })
    }

    /// What a run says of what it begins with.
    fn in_run(&self, number: usize, run: &Run) -> Vec<Named> {
        let runs = &self.markup.runs;
        let (group, about, pairs) = match run.kind {
            Kind::Item(item) => {
                let Some(item) = runs.items.get(item).filter(|item| item.task.is_none()) else { return Vec::new() };
                let Some((about, pairs)) = self.of_item(run) else { return Vec::new() };
                (runs.tables.len() + item.list, about, pairs)
            }
            Kind::Paragraph { .. } => {
                let (about, pairs) = (runs.line(run, 0), self.definitions(run));
                (runs.tables.len() + runs.lists.len() + number, about, pairs)
            }
            Kind::Row(_) => return Vec::new(),
        };
        let place = match run.kind {
            Kind::Item(item) => self.place_of_item(item),
            Kind::Paragraph { .. } | Kind::Row(_) => Place::Line,
        };
        let about = line::trimmed(self.text, about);
        if !(1..=MOST_NAME_BYTES).contains(&about.len()) {
            return Vec::new();
        }
        let about = self.slice(about);
        let pairs = pairs.into_iter().filter(|(key, value)| !value.is_empty() && !self.is_opaque(key.start));
        let named = pairs.map(|(key, span)| {
            let (key, value) = (self.slice(key.clone()).to_owned(), self.slice(span.clone()).to_owned());
            let fact = Fact { key, value, line: self.line_at(span.start), heading: None, place, span };
            Named { about: about.to_owned(), group, fact }
        });
        named.collect()
    }

    /// What an item names at its start, and the keys and values behind it: fields in brackets, else those in the brackets that
    /// end the item, else the one pair that is left.
    fn of_item(&self, run: &Run) -> Option<(Range<usize>, Vec<Pair>)> {
        let text = self.slice(run.span.clone());
        let (name, rest) = line::subject(text)?;
        let moved = |range: Range<usize>| range.start + run.span.start..range.end + run.span.start;
        let brackets = self.brackets(run);
        let pairs = if !brackets.is_empty() {
            brackets.into_iter().map(|field| (field.key, field.value)).collect()
        } else if text.contains(['\n', '\r']) {
            Vec::new()
        } else if let Some(pairs) = line::in_brackets(text, rest) {
            pairs.into_iter().map(|(key, value)| (moved(key), moved(value))).collect()
        } else {
            self.pair(moved(rest..text.len())).into_iter().collect()
        };
        Some((moved(name), pairs))
    }

    /// The pair that a text is.
    fn pair(&self, text: Range<usize>) -> Option<Pair> {
        let text = line::trimmed(self.text, text);
        let keyed = line::keyed(self.slice(text.clone()))?;
        let key = keyed.key.start + text.start..keyed.key.end + text.start;
        Some((key, self.bare(text.start + keyed.end..text.end, &[])))
    }

    /// The pairs that are the definitions of a paragraph whose first line is a term.
    fn definitions(&self, run: &Run) -> Vec<Pair> {
        let runs = &self.markup.runs;
        let lines = (1..runs.count(run)).map(|at| runs.line(run, at));
        let pairs: Option<Vec<Pair>> =
            lines.map(|line| self.pair(line.start + line::definition(self.slice(line.clone()))?..line.end)).collect();
        pairs.unwrap_or_default()
    }

    /// What a table would say of the note itself, if every one of its keys is one: a head of keys above a single row of values,
    /// or two columns without a head, where the first fact stands in its place. The table alone does not tell.
    pub fn records(&self) -> impl Iterator<Item = Vec<Fact>> {
        let tables = self.markup.runs.tables.iter();
        let tables =
            tables.filter(|rows| rows.iter().flatten().next().is_some_and(|first| !self.is_opaque(first.start)));
        tables.flat_map(|rows| {
            let below = match rows.as_slice() {
                [head, row] => head.iter().zip(row).map(|(key, cell)| self.fact_in(key, cell)).collect(),
                _ => None,
            };
            let pair = |row: &Vec<Range<usize>>| match row.as_slice() {
                [key, cell] => self.fact_in(key, cell),
                _ => None,
            };
            let beside = if rows.len() > 1 { rows.iter().map(pair).collect() } else { None };
            [below, beside].into_iter().flatten()
        })
    }
}

/// A key and its value, in bytes of the note.
type Pair = (Range<usize>, Range<usize>);
