//! Where in a note something begins that says what it says by itself: an item of a list, a row of a table, a key of the front matter.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Note;
use super::front::Value;
use super::markup::Shape;

impl Note<'_> {
    /// The lines, from 1, on which an item of a list, a row of a table, or a key of the front matter or an item of its list begins. With
    /// each the nearest line above on which something begins in which it stands: an item or a quote, the key; 0 for none. Linear in the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_note::Note;
    ///
    /// let entries = Note::parse("- a\n  - b\n  - c\n").entries();
    /// assert_eq!(entries.into_iter().collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 1)]);
    /// ```
    #[must_use]
    pub fn entries(&self) -> BTreeMap<usize, usize> {
        let mut entries = BTreeMap::new();
        for entry in &self.front.entries {
            let key = self.line_at(entry.key_end);
            entries.entry(key).or_insert(0);
            let Value::List(items) = &entry.value else { continue };
            for item in items {
                let line = self.line_at(item.span.start);
                if self.slice(self.line(line).start..item.span.start).trim_start().starts_with('-') {
                    entries.entry(line).or_insert(key);
                }
            }
        }
        // What is open at a place, the innermost last: where it ends, and the line on which it begins.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (shape, span) in self.blocks_and_rows() {
            while open.pop_if(|(end, _)| *end <= span.start).is_some() {}
            let line = self.line_at(span.start);
            if shape != Shape::Quote {
                let outer = || open.iter().rev().find(|(_, outer)| *outer < line).map_or(0, |(_, outer)| *outer);
                entries.entry(line).or_insert_with(outer);
            }
            if shape != Shape::Leaf {
                open.push((span.end, line));
            }
        }
        entries
    }

    /// Items and quotes, and the rows of tables as leaves, by where they start.
    fn blocks_and_rows(&self) -> Vec<(Shape, Range<usize>)> {
        let blocks = self.markup.blocks.iter().filter(|(shape, _)| matches!(shape, Shape::Item | Shape::Quote));
        let cells = self.markup.runs.tables.iter().flatten().filter_map(|row| row.first());
        let rows = cells.map(|cell| (Shape::Leaf, cell.clone()));
        let mut all: Vec<_> = blocks.cloned().chain(rows).collect();
        all.sort_by_key(|(_, span)| span.start);
        all
    }
}
