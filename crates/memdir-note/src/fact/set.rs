//! How a fact is set: in the one place where it stands, or beside its kind.

use std::ops::Range;

use super::read::{Source, Stated};
use super::{Fact, Place, key, line};
use crate::Note;
use crate::front::{Entry, Quote, Value};
use crate::markup::unescaped;

/// What has to be done to set a fact: to put a text in the place of some bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edit {
    /// The bytes that go.
    pub range: Range<usize>,
    /// The text that comes in their place.
    pub text: String,
}

impl Edit {
    /// The note with the edit made.
    #[must_use]
    pub fn apply(&self, note: &str) -> String {
        let (before, after) = (note.get(..self.range.start), note.get(self.range.end..));
        format!("{}{}{}", before.unwrap_or_default(), self.text, after.unwrap_or_default())
    }
}

/// Why a fact cannot be set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unset {
    /// It stands on all of these lines.
    Several(Vec<usize>),
    /// What stands on this line is a list, or holds other facts.
    NotOneValue(usize),
    /// These lines say something of it in a form that is no fact, so that a line beside them would say it twice.
    Unread(Vec<usize>),
    /// The value would not be read as the value of the key, or would change what else the note says; the line is where
    /// the fact stands already.
    Value(Option<usize>),
    /// A fact cannot be called so.
    Key,
}

/// The form in which the key of a call is compared with those that stand there: `e-mail` means `Email` too.
pub(super) fn bare_key(text: &str) -> String {
    key(text).replace(' ', "")
}

impl Note<'_> {
    /// Finds what has to be done so that the fact `key` says `value`, which is one line.
    ///
    /// A fact that stands in one place is replaced there, whatever its form: all lines of its value go, and its mark, its
    /// key, the id of its block, comments behind it and what is nested below it stay. A definition that goes on without indent
    /// is not replaced: what follows may be about something else. Where the note has no such fact, it
    /// is added
    ///
    /// * after the facts that stand under the title and above the next heading, in their form;
    /// * else in the front matter, if that has single values;
    /// * else in the list right below the title, which is made if it is missing.
    ///
    /// What stands below another heading is about that and gets no new facts. Where lines say something of the key in a form
    /// that is no fact, as prose that wraps does, none is added beside them. A value that holds another pair, as in
    /// `- job: nurse, city: Oslo`, is not replaced, nor is what is said of something that the note names by a link. The note
    /// that comes of the edit states the fact once, and all others as before.
    ///
    /// # Errors
    ///
    /// [`Unset`] where several facts, one that is not one value, or lines that are no facts have the key, or where key or
    /// value cannot be written.
    pub fn set_fact(&self, wanted: &str, value: &str) -> Result<Edit, Unset> {
        let folded = bare_key(wanted);
        let is_other = |entry: &&Entry| matches!(entry.value, Value::Other) && bare_key(&entry.key) == folded;
        if let Some(entry) = self.front.entries.iter().find(is_other) {
            return Err(Unset::NotOneValue(self.line_at(entry.key_end)));
        }
        let stated = self.stated();
        let same: Vec<&Stated> = stated.iter().filter(|one| bare_key(&self.key_of(one)) == folded).collect();
        match same.as_slice() {
            [one] => {
                let line = self.line_at(one.key.start);
                if self.is_of_another(one) {
                    return Err(Unset::Unread(vec![line]));
                }
                let edit = self.replace(one, value).ok_or(Unset::NotOneValue(line))?;
                self.checked(edit, wanted, value).ok_or(Unset::Value(Some(line)))
            }
            [] => {
                let line = format!("{wanted}: x");
                if line::keyed(&line).is_none_or(|keyed| keyed.key != (0..wanted.len())) {
                    return Err(Unset::Key);
                }
                // Lines that end as on the first Macs are one line to most programs.
                if self.text.split('\r').skip(1).any(|rest| !rest.starts_with('\n')) {
                    return Err(Unset::Value(None));
                }
                let unread = self.unread(&folded);
                if !unread.is_empty() {
                    return Err(Unset::Unread(unread));
                }
                let mut places = self.places(&stated, wanted, value);
                places.find_map(|edit| self.checked(edit, wanted, value)).ok_or(Unset::Value(None))
            }
            several => Err(Unset::Several(several.iter().map(|one| self.line_at(one.key.start)).collect())),
        }
    }

    /// Finds what has to be done so that the one fact whose key stands on `line`, which is counted from 1, says `value`, whatever
    /// other facts of the note have its key. All others say what they said.
    ///
    /// # Errors
    ///
    /// [`Unset::NotOneValue`] where no fact, several, or one that is not one value stand there; [`Unset::Value`] where the value
    /// cannot be written.
    pub fn set_fact_on(&self, line: usize, value: &str) -> Result<Edit, Unset> {
        let stated = self.stated();
        let on: Vec<&Stated> = stated.iter().filter(|one| self.line_at(one.key.start) == line).collect();
        let [one] = on.as_slice() else { return Err(Unset::NotOneValue(line)) };
        let edit = self.replace(one, value).ok_or(Unset::NotOneValue(line))?;
        let (before, text) = (self.facts(), edit.apply(self.text));
        let after = Note::parse(&text).facts();
        let reads_back = |(was, is): (&Fact, &Fact)| {
            let wanted = if was.line == line { value } else { &was.value };
            (&was.key, wanted) == (&is.key, &is.value)
        };
        let is_set = before.len() == after.len() && before.iter().zip(&after).all(reads_back);
        if is_set { Ok(edit) } else { Err(Unset::Value(Some(line))) }
    }

    fn key_of(&self, stated: &Stated) -> String {
        match stated.source {
            Source::Front(entry) => self.front.entries.get(entry).map(|entry| entry.key.clone()).unwrap_or_default(),
            Source::Item(_) | Source::Line { .. } | Source::Definition(_) | Source::Bracketed(_) | Source::Row(_) => {
                unescaped(self.slice(stated.key.clone()))
            }
        }
    }

    /// The edit, if after it the note states the fact once and all others as before.
    fn checked(&self, edit: Edit, wanted: &str, value: &str) -> Option<Edit> {
        let after = edit.apply(self.text);
        let (before, after) = (self.facts(), Note::parse(&after).facts());
        let folded = bare_key(wanted);
        let mut set = after.iter().filter(|fact| bare_key(&fact.key) == folded);
        let (only, more) = (set.next()?, set.next());
        // What ends a value, such as the id of a block, is written with it.
        let may_end = !matches!(only.place, Place::Bracketed(_)) && !only.value.is_empty();
        let is_set = only.value == value || may_end && value.starts_with(&only.value);
        let mut left = after.iter();
        let mut others = before.iter().filter(|fact| bare_key(&fact.key) != folded);
        let are_kept = others.all(|other| left.any(|fact| (&fact.key, &fact.value) == (&other.key, &other.value)));
        let others = |facts: &[Fact]| facts.iter().filter(|fact| bare_key(&fact.key) != folded).count();
        (is_set && more.is_none() && are_kept && others(&before) == others(&after)).then_some(edit)
    }

    /// The edit that replaces a value; `None` where what stands there is not one value.
    fn replace(&self, stated: &Stated, value: &str) -> Option<Edit> {
        let is_text = !matches!(stated.source, Source::Front(_) | Source::Bracketed(_));
        if stated.holds_others || (is_text && self.holds_pair(&stated.value)) {
            return None;
        }
        match stated.source {
            Source::Front(entry) => self.replace_front(entry, value),
            Source::Row(row) => self.replace_cell(row, stated, value),
            // A line below it that is not indented is none of it for who writes so.
            Source::Definition(_) if self.goes_on_unindented(&stated.value) => None,
            Source::Item(item) => {
                let is_nested = self.markup.runs.items.get(item).is_some_and(|item| item.has_more);
                // What stands below a key without a value is its value.
                (!stated.value.is_empty() || !is_nested).then(|| self.replace_text(stated, value))
            }
            Source::Line { .. } | Source::Definition(_) | Source::Bracketed(_) => {
                Some(self.replace_text(stated, value))
            }
        }
    }

    /// Whether a value goes on in lines without indent. Markdown takes them for a part of it; whoever wrote them may not.
    fn goes_on_unindented(&self, value: &Range<usize>) -> bool {
        self.slice(value.clone()).lines().skip(1).any(|line| !line.starts_with([' ', '\t', '>']))
    }

    fn replace_text(&self, stated: &Stated, value: &str) -> Edit {
        let range = stated.value.clone();
        if !range.is_empty() || value.is_empty() {
            return Edit { range, text: value.to_owned() };
        }
        let rest = self.slice(range.start..self.text.len());
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let before = self.slice(0..range.start);
        let is_apart = before.ends_with([' ', '\t', '\u{ff1a}']);
        let is_end = |at: usize| rest.get(at..).is_none_or(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
        // A lone blank after the colon is the one before the value; more of them break the line.
        if !is_apart && blanks == 1 && is_end(1) {
            return Edit { range: range.start + 1..range.start + 1, text: value.to_owned() };
        }
        let after = if blanks > 0 || is_end(0) || matches!(stated.source, Source::Bracketed(_)) { "" } else { " " };
        Edit { range, text: format!("{}{value}{after}", if is_apart { "" } else { " " }) }
    }

    fn replace_front(&self, entry: usize, value: &str) -> Option<Edit> {
        let Some(Value::Scalar(scalar)) = self.front.entries.get(entry).map(|entry| &entry.value) else { return None };
        let is_line = scalar.quote != Quote::Block && !self.slice(scalar.span.clone()).contains(['\n', '\r']);
        let is_apart = self.slice(0..scalar.span.start).ends_with([' ', '\t']);
        let text = scalar.quote.scalar(value);
        let blank = if is_apart || !scalar.span.is_empty() || text.is_empty() { "" } else { " " };
        is_line.then(|| Edit { range: scalar.span.clone(), text: format!("{blank}{text}") })
    }

    fn replace_cell(&self, row: usize, stated: &Stated, value: &str) -> Option<Edit> {
        let row = self.markup.runs.rows.get(row)?;
        let [_, cell] = &row.cells;
        if cell.start >= row.span.end {
            // A row may end before its last cell.
            let written = self.slice(row.span.clone()).trim_end();
            let (end, value) = (row.span.start + written.len(), value.replace('|', "\\|"));
            let is_closed = written.ends_with('|') && !written.ends_with("\\|");
            let text = if is_closed { format!(" {value} |") } else { format!(" | {value}") };
            return Some(Edit { range: end..end, text });
        }
        let mut cell = cell.start..cell.end.max(stated.value.end);
        // The last cell of a row that is not closed reaches up to its line end.
        cell.end = cell.start + self.slice(cell.clone()).trim_end_matches(['\n', '\r']).len();
        Some(Edit { text: in_cell(self.slice(cell.clone()), value), range: cell })
    }
}

/// A cell of a table with another text, as wide as before where that is possible.
pub(super) fn in_cell(cell: &str, text: &str) -> String {
    let text = text.replace('|', "\\|");
    let lead = cell.len() - cell.trim_start().len();
    let trail = cell.len() - cell.trim_end().len();
    let (lead, trail) = match cell.trim().is_empty() {
        true => (lead.min(1), lead.saturating_sub(1).max(lead.min(1))),
        false => (lead, trail),
    };
    let width = |text: &str| text.chars().count();
    let room = width(cell).saturating_sub(lead + width(&text));
    let trail = if trail > 1 { room.max(1) } else { trail };
    format!("{}{text}{}", cell.get(..lead).unwrap_or_default(), " ".repeat(trail))
}
