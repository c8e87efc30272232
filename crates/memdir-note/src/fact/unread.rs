//! Where a note has a key in a form that is not read as a fact, so that a second line for it would contradict the first.

use std::ops::Range;

use super::line;
use super::read::{Source, Stated};
use super::set::bare_key;
use crate::Note;
use crate::run::{Cells, Kind, Run};

/// What several pairs in one line have between them.
const BETWEEN: [char; 5] = [',', ';', '|', '·', '•'];
/// What else may part them where they are in one value.
const WITHIN: [char; 4] = ['(', '/', '.', '*'];
/// What makes a key stand out, and no part of it.
const MARKS: [char; 6] = ['*', '~', '`', '[', ']', '\\'];

impl Note<'_> {
    /// The lines on which something is said of a key, which is compared as [`bare_key`] gives it, though none of them is read as
    /// a fact: a line of a text that wraps, a key that is code or a link, one behind another pair, a dash in the place of the
    /// colon or no blank behind it, a term with several definitions, a table of more than two columns.
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

    /// Whether a value holds another pair: behind what parts the pairs of a line, in a line below, or as a field.
    pub(super) fn holds_pair(&self, value: &Range<usize>) -> bool {
        let whole = self.slice(value.clone());
        let holds = |(at, text): (usize, &str)| {
            let parts = text.split(|one| BETWEEN.contains(&one) || WITHIN.contains(&one)).skip(usize::from(at == 0));
            parts.map(|part| part.trim_start_matches(['*', '_', '[', ' '])).any(|part| line::keyed(part).is_some())
        };
        // A tag such as `<br>` ends a line for who reads it.
        let shown = whole.replace('<', "\n<").replace('>', ">\n");
        whole.contains(":: ") || shown.lines().enumerate().any(holds)
    }

    /// Whether a fact stands where the note speaks of something that it names by a link: behind it, below it in a list, or
    /// below a heading that is one.
    pub(super) fn is_of_another(&self, stated: &Stated) -> bool {
        let at = stated.key.start;
        let is_link = |text: &str| text.starts_with("[[") && text.ends_with("]]") && text.matches("[[").count() == 1;
        let heading = self.headings().iter().take_while(|heading| heading.span.start <= at).last();
        let items = self.markup.runs.items.iter().filter(|item| item.span.contains(&at));
        let mut firsts = items.map(|item| {
            let first = self.slice(item.span.clone()).lines().next().unwrap_or_default();
            first.trim_start_matches(|mark: char| mark.is_ascii_digit() || "-*+.)".contains(mark)).trim()
        });
        heading.is_some_and(|heading| is_link(heading.text.trim()))
            || firsts
                .any(|first| is_link(first) || first.starts_with("[[") && matches!(stated.source, Source::Bracketed(_)))
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
    let is_keyed = |text: &str| line::before_signs(text).any(|key| bare_key(bare(key)) == wanted);
    let mut pairs = text.split(BETWEEN);
    let is_pair = pairs.next().is_some_and(|first| line::before_signs(first).next().is_some());
    is_keyed(text) || text.split('|').skip(1).any(is_keyed) || is_pair && pairs.any(is_keyed)
}

/// A key without what stands around it, such as a colon, an emoji or a box.
fn bare(text: &str) -> &str {
    text.trim_matches(|one: char| !one.is_alphanumeric())
}
