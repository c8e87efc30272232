//! Where a note has a key in a form that is not read as a fact, so that a second line for it would contradict the first.

use std::ops::Range;

use super::line;
use super::set::bare_key;
use crate::Note;
use crate::run::{Cells, Kind, Run};

/// What several pairs in one line have between them.
const BETWEEN: [char; 5] = [',', ';', '|', '·', '•'];
/// What makes a key stand out, and no part of it.
const MARKS: [char; 5] = ['*', '~', '`', '[', ']'];

impl Note<'_> {
    /// The lines on which something is said of a key, which is compared as [`bare_key`] gives it, though none of them is read as
    /// a fact: a line of a text that wraps, a key that is code or a link, one behind another pair, a dash in the place of the
    /// colon, a term with several definitions, a table of more than two columns.
    ///
    /// What the note quotes says nothing of it.
    pub(super) fn unread(&self, wanted: &str) -> Vec<usize> {
        let runs = self.markup.runs.runs.iter().enumerate().filter(|(_, run)| !self.is_quoted(run));
        let mut found: Vec<usize> = runs.flat_map(|(at, run)| self.unread_in(at, run, wanted)).collect();
        found.extend(self.markup.runs.tables.iter().filter_map(|table| self.unread_in_table(table, wanted)));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn unread_in(&self, at: usize, run: &Run, wanted: &str) -> Vec<usize> {
        if matches!(run.kind, Kind::Row(_)) {
            return Vec::new();
        }
        let runs = &self.markup.runs;
        let next = || runs.runs.get(at + 1).filter(|next| matches!(next.kind, Kind::Paragraph { .. }));
        let mut lines: Vec<Range<usize>> = (0..runs.count(run)).map(|line| runs.line(run, line)).collect();
        // A blank line may stand between a term and its definition.
        lines.extend(next().map(|next| runs.line(next, 0)));
        let below = lines.iter().skip(1).map(Some).chain([None]);
        let found = lines.iter().zip(below).take(runs.count(run)).filter(|(line, below)| {
            let text = self.plain(line);
            let is_term = |below: &Range<usize>| {
                line::definition(self.slice(below.clone())).is_some() && bare_key(bare(&text)) == wanted
            };
            has_pair(&text, wanted) || below.is_some_and(is_term)
        });
        found.map(|(line, _)| self.line_at(line.start)).collect()
    }

    /// The line of the first column where it has the key. Whether a head is of the note's own keys, the table alone does not tell.
    fn unread_in_table(&self, table: &[Cells], wanted: &str) -> Option<usize> {
        let mut keys = table.iter().skip(1).filter_map(|row| row.first());
        let key = keys.find(|cell| !self.is_opaque(cell.start) && bare_key(bare(&self.plain(cell))) == wanted)?;
        Some(self.line_at(key.start))
    }

    /// What a reader sees of a line, more or less: without comments and tags.
    fn plain(&self, line: &Range<usize>) -> String {
        let opaque = &self.markup.opaque;
        let first = opaque.partition_point(|hidden| hidden.end <= line.start);
        let hidden = opaque.get(first..).unwrap_or_default().iter().take_while(|hidden| hidden.start < line.end);
        let (mut text, mut at) = (String::new(), line.start);
        for hidden in hidden.filter(|hidden| !self.slice((*hidden).clone()).starts_with('`')) {
            text.push_str(self.slice(at..hidden.start.max(at)));
            at = hidden.end;
        }
        text.push_str(self.slice(at.min(line.end)..line.end));
        text.replace(MARKS, "").replace("==", "")
    }
}

/// Whether a line without marks begins with a key, or has it behind another pair.
fn has_pair(text: &str, wanted: &str) -> bool {
    let key = |text: &str| line::before_sign(text).map(|key| bare_key(bare(key)));
    key(text)
        .is_some_and(|first| first == wanted || text.split(BETWEEN).skip(1).filter_map(key).any(|key| key == wanted))
}

/// A key without what stands around it, such as a colon, an emoji or a box.
fn bare(text: &str) -> &str {
    text.trim_matches(|one: char| !one.is_alphanumeric())
}
