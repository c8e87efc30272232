//! [`Cell`]: what a table says of what its rows or columns name.

use std::ops::Range;

use super::{Fact, Place, line};
use crate::Note;

/// A longer text in a cell names nothing.
const MOST_NAME_BYTES: usize = 200;

/// What a cell of a table says of the thing that its row or its column names: below `| name | city |`, the row `| Ana | Oslo |`
/// says of Ana that her city is Oslo.
///
/// It is no fact of the note: whether the name is one of a note, and of which, the table does not tell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cell {
    /// What it is about, as it is written in the first cell of its row, or in the head of its column.
    pub about: String,
    /// The number of the table in the note, from 0.
    pub table: usize,
    /// What it says: its key stands in the head of its column, or in the first cell of its row.
    pub fact: Fact,
}

impl Note<'_> {
    /// What the cells of all tables say, each read both ways where both can be.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let tables = self.markup.runs.tables.iter().enumerate();
        let tables = tables.filter_map(|(number, table)| table.split_first().map(|(head, rows)| (number, head, rows)));
        tables.flat_map(move |(number, head, rows)| {
            // The head is read with each row, so what is too long in it is left out once.
            let head: Vec<_> = head.iter().map(|cell| self.name_in(cell)).collect();
            rows.iter().flat_map(move |row| self.cells_of(number, &head, row))
        })
    }

    fn cells_of(&self, table: usize, head: &[Option<Range<usize>>], row: &[Range<usize>]) -> Vec<Cell> {
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
    fn cell(&self, table: usize, about: &Range<usize>, key: &Range<usize>, cell: &Range<usize>) -> Option<Cell> {
        let fact = self.fact_in(key, cell).filter(|fact| !fact.value.is_empty())?;
        Some(Cell { about: self.slice(about.clone()).to_owned(), table, fact })
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
