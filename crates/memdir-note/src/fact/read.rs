//! Where in a note facts are stated: the one reader of them.

use std::collections::HashMap;
use std::ops::Range;

use super::key as folded;
use super::line::{self, Bracketed, Callout, Form};
use super::{Beside, Place};
use crate::Note;
use crate::front::Value;
use crate::run::{Kind, Row, Run};

/// A key that begins so many paragraphs of a note, or lines of them, names who speaks.
const SPEAKER_LINES: usize = 3;

/// A fact as it stands in a note; ranges are in bytes of the note.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    pub(super) key: Range<usize>,
    /// From the first byte of its value to the last, over all its lines.
    pub(super) value: Range<usize>,
    pub(super) source: Source,
    /// Whether what is nested in its value states facts itself.
    pub(super) holds_others: bool,
}

/// What states a fact.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// The first text of an item, by the place of the item.
    Item(usize),
    /// A line of a run, by the place of the run.
    Line {
        run: usize,
        form: Form,
        /// Whether the whole paragraph is made of such lines.
        is_whole: bool,
    },
    /// A term and the definition below it, by the place of their run.
    Definition(usize),
    /// A field in brackets.
    Bracketed(Beside),
    /// A row of a table, by the place of the row.
    Row(usize),
    /// An entry of the front matter, by its place.
    Front(usize),
}

impl Note<'_> {
    /// All facts of the note, by the places of their keys.
    pub(super) fn stated(&self) -> Vec<Stated> {
        let entries = self.front.entries.iter().enumerate().filter_map(|(index, entry)| {
            let value = match &entry.value {
                Value::Scalar(scalar) => scalar.span.clone(),
                Value::List(_) => entry.key_end..entry.key_end,
                Value::Other => return None,
            };
            let key = entry.key_end..entry.key_end;
            Some(Stated { key, value, source: Source::Front(index), holds_others: false })
        });
        let mut found: Vec<Stated> = entries.collect();
        let body = self.text.get(self.body()..).unwrap_or_default();
        let has_fields = memchr::memmem::find(body.as_bytes(), b"::").is_some();
        for (index, run) in self.markup.runs.runs.iter().enumerate() {
            if let Kind::Row(row) = run.kind {
                let stated = self.markup.runs.rows.get(row).and_then(|one| self.row(row, one));
                found.extend(stated.filter(|stated| !self.is_opaque(stated.key.start)));
                continue;
            }
            let brackets = if has_fields { self.brackets(run) } else { Vec::new() };
            let first = found.len();
            match self.definition(index, run) {
                Some(stated) => found.push(stated),
                None => self.lines_of(index, run, has_fields, &mut found),
            }
            self.settle(&mut found, first, run, &brackets);
        }
        self.without_speakers(found)
    }

    /// The facts without the lines of a conversation: what begins so many paragraphs is who speaks.
    fn without_speakers(&self, mut found: Vec<Stated>) -> Vec<Stated> {
        let key_of = |stated: &Stated| match stated.source {
            Source::Line { .. } => Some(folded(self.slice(stated.key.clone()))),
            Source::Front(_) | Source::Item(_) | Source::Definition(_) | Source::Bracketed(_) | Source::Row(_) => None,
        };
        let mut lines: HashMap<String, usize> = HashMap::new();
        for key in found.iter().filter_map(key_of) {
            *lines.entry(key).or_default() += 1;
        }
        if lines.values().any(|lines| *lines >= SPEAKER_LINES) {
            found.retain(|stated| {
                key_of(stated).is_none_or(|key| lines.get(&key).is_none_or(|lines| *lines < SPEAKER_LINES))
            });
        }
        found
    }

    /// The fields in brackets of a run, with ranges in bytes of the note.
    pub(super) fn brackets(&self, run: &Run) -> Vec<Bracketed> {
        let start = run.span.start;
        let moved = |range: Range<usize>| range.start + start..range.end + start;
        let found = line::bracketed(self.slice(run.span.clone()), |at| self.is_opaque(start + at));
        let found = found.into_iter().map(|one| Bracketed {
            span: moved(one.span),
            key: moved(one.key),
            value: moved(one.value),
        });
        found.collect()
    }

    /// The facts that the lines of a run state at their beginning, each with all that follows up to the next as its value.
    fn lines_of(&self, index: usize, run: &Run, has_fields: bool, found: &mut Vec<Stated>) {
        let runs = &self.markup.runs;
        let count = runs.count(run);
        let keyed = |at: usize| {
            let range = runs.line(run, at);
            let range = range.start + self.box_at(&range, run.kind)..range.end;
            let line = line::keyed(self.slice(range.clone()))?;
            Some((line.key.start + range.start..line.key.end + range.start, range.start + line.end, line.form))
        };
        let is_item = matches!(run.kind, Kind::Item(_));
        let (is_quoted, top) = self.in_quote(run);
        if top >= count {
            return;
        }
        let first = keyed(top);
        let is_own = !is_quoted || first.as_ref().is_some_and(|(.., form)| *form == Form::Bold);
        // Prose wraps: a line of it that happens to have a colon states nothing.
        let is_whole = !is_item && first.is_some() && (top + 1..count).all(|at| keyed(at).is_some());
        let goes_on = is_item || first.as_ref().is_some_and(|(.., form)| *form != Form::Plain);
        let may_start = has_fields || !is_item && first.is_some();
        if first.is_none() && !may_start {
            return;
        }
        let mut is_open = false;
        for at in top..count {
            let end = runs.line(run, at).end;
            let line = match at {
                _ if at == top => first.clone(),
                _ if may_start => keyed(at),
                _ => None,
            };
            let starts = |form: Form| match form {
                Form::Field => true,
                Form::Bold => is_own && (is_whole || if is_item { at == 0 } else { goes_on }),
                Form::Plain => is_own && (is_whole || is_item && at == 0),
            };
            match line.filter(|(_, _, form)| starts(*form)) {
                Some((key, after, form)) => {
                    let source = match (run.kind, at) {
                        (Kind::Item(item), 0) => Source::Item(item),
                        _ => Source::Line { run: index, form, is_whole },
                    };
                    is_open = form != Form::Field || at == 0 && is_item;
                    let is_hidden = self.is_opaque(key.start);
                    is_open &= !is_hidden;
                    if !is_hidden {
                        found.push(Stated { key, value: after..end, source, holds_others: false });
                    }
                }
                None if is_open => {
                    if let Some(last) = found.last_mut() {
                        last.value.end = end;
                    }
                }
                None => {}
            }
        }
    }

    /// The fact of a paragraph that is a term and, behind a colon, what it means; a second definition makes it none.
    fn definition(&self, index: usize, run: &Run) -> Option<Stated> {
        let (is_quoted, top) = self.in_quote(run);
        if is_quoted || matches!(run.kind, Kind::Item(_)) {
            return None;
        }
        let runs = &self.markup.runs;
        let mut lines = (top..runs.count(run)).map(|at| runs.line(run, at));
        let (term, below) = (lines.next()?, lines.next()?);
        let text = self.slice(term.clone());
        let start = line::definition(self.slice(below.clone()))?;
        let key = line::cell(text).filter(|_| line::keyed(text).is_none())?;
        let key = term.start + key.start..term.start + key.end;
        let value = below.start + start..run.span.end;
        // One that is a pair says it of the term.
        let is_pair = line::keyed(self.slice(value.start..below.end)).is_some();
        let is_one = lines.all(|line| line::definition(self.slice(line)).is_none());
        (is_one && !is_pair && !self.is_opaque(key.start)).then_some(Stated {
            key,
            value,
            source: Source::Definition(index),
            holds_others: false,
        })
    }

    /// Whether a run stands in a quote that is no callout.
    pub(super) fn is_quoted(&self, run: &Run) -> bool {
        self.in_quote(run).0
    }

    /// Whether a run says what somebody else said, and how many of its lines are the title of a callout.
    fn in_quote(&self, run: &Run) -> (bool, usize) {
        let Kind::Paragraph { quote: Some(quote) } = run.kind else { return (false, 0) };
        let callout = self.slice(quote..self.text.len()).strip_prefix('>').and_then(Callout::parse);
        let is_callout = callout.is_some_and(|callout| !callout.is_quote());
        let is_titled = is_callout && self.line(self.line_at(quote)).contains(&run.span.start);
        (!is_callout, usize::from(is_titled))
    }

    /// How long the box at the start of an item is that is none of Markdown's own, such as `[-] `.
    fn box_at(&self, line: &Range<usize>, kind: Kind) -> usize {
        let Kind::Item(_) = kind else { return 0 };
        let mut characters = self.slice(line.clone()).chars();
        let mut next = || characters.next();
        match (next(), next(), next(), next()) {
            (Some('['), Some(mark), Some(']'), Some(' ')) if mark != '[' => 3 + mark.len_utf8(),
            _ => 0,
        }
    }

    /// Trims the values of the facts from `first` on, and adds those in brackets.
    fn settle(&self, found: &mut Vec<Stated>, first: usize, run: &Run, brackets: &[Bracketed]) {
        for stated in found.get_mut(first..).unwrap_or_default() {
            stated.value = self.bare(stated.value.clone(), brackets);
            let inside = |one: &&Bracketed| stated.value.start <= one.span.start && one.span.end <= stated.value.end;
            let next = brackets.partition_point(|one| one.span.start < stated.value.start);
            stated.holds_others = brackets.get(next..).and_then(<[_]>::first).is_some_and(|one| inside(&one));
        }
        if brackets.is_empty() {
            return;
        }
        found.extend(brackets.iter().zip(self.beside_fields(run, brackets)).map(|(one, beside)| Stated {
            key: one.key.clone(),
            value: one.value.clone(),
            source: Source::Bracketed(beside),
            holds_others: false,
        }));
        found.get_mut(first..).unwrap_or_default().sort_by_key(|stated| stated.key.start);
    }

    /// What stands beside each of the fields in brackets of a run: in the whole text of an item, or in the line of a paragraph.
    fn beside_fields(&self, run: &Run, brackets: &[Bracketed]) -> Vec<Beside> {
        let runs = &self.markup.runs;
        let (parts, bare, named): (Vec<Range<usize>>, _, _) = match run.kind {
            Kind::Item(item) => {
                let is_nested = !matches!(self.place_of_item(item), Place::Item { is_plain: true, .. });
                let start = run.span.start + self.box_at(&run.span, run.kind);
                (std::iter::once(start..run.span.end).collect(), Beside::Fields { is_nested }, Beside::Item)
            }
            Kind::Paragraph { .. } | Kind::Row(_) => {
                let lines = (0..runs.count(run)).map(|at| runs.line(run, at));
                (lines.collect(), Beside::Fields { is_nested: false }, Beside::Sentence)
            }
        };
        let of_part = |part: &Range<usize>| if self.has_text(part, brackets) { named } else { bare };
        let of_parts: Vec<Beside> = parts.iter().map(of_part).collect();
        let of_field = |field: &Bracketed| {
            let part = parts.partition_point(|part| part.end <= field.span.start);
            of_parts.get(part).copied().unwrap_or(named)
        };
        brackets.iter().map(of_field).collect()
    }

    /// Whether a range says something beside the fields in brackets in it, the id of a block and a comment at its end.
    fn has_text(&self, range: &Range<usize>, brackets: &[Bracketed]) -> bool {
        let is_text = |range: Range<usize>| {
            self.slice(range).contains(|sign: char| !sign.is_whitespace() && !sign.is_ascii_punctuation())
        };
        let range = self.bare(range.clone(), &[]);
        let first = brackets.partition_point(|field| field.span.start < range.start);
        let fields = brackets.get(first..).unwrap_or_default().iter();
        let mut at = range.start;
        for field in fields.take_while(|field| field.span.start < range.end) {
            if is_text(at..field.span.start) {
                return true;
            }
            at = field.span.end;
        }
        is_text(at..range.end.max(at))
    }

    /// A value without blanks around it, and without the ids of blocks, comments and fields in brackets at its end.
    pub(super) fn bare(&self, range: Range<usize>, brackets: &[Bracketed]) -> Range<usize> {
        let mut value = line::trimmed(self.text, range);
        loop {
            let end = line::block_id(self.slice(value.clone())).map(|at| value.start + at);
            let end = end.or_else(|| self.comment_before(&value)).or_else(|| {
                let next = brackets.partition_point(|one| one.span.end < value.end);
                let last = brackets.get(next).filter(|one| one.span.end == value.end && value.start <= one.span.start);
                last.map(|one| one.span.start)
            });
            match end {
                Some(end) if end < value.end => {
                    value = value.start..value.start + self.slice(value.start..end).trim_end().len();
                }
                _ => return value,
            }
        }
    }

    /// Where a comment starts that ends a value.
    fn comment_before(&self, value: &Range<usize>) -> Option<usize> {
        let opaque = &self.markup.opaque;
        let range = opaque.get(opaque.partition_point(|range| range.end < value.end))?;
        let is_comment = ["%%", "<!--"].iter().any(|mark| self.slice(range.clone()).starts_with(mark));
        (range.end == value.end && range.start >= value.start && is_comment).then_some(range.start)
    }

    /// The fact of a row of a table.
    fn row(&self, index: usize, row: &Row) -> Option<Stated> {
        let [key, value] = &row.cells;
        let found = line::cell(self.slice(key.clone()))?;
        let end = row.span.start + self.slice(row.span.clone()).trim_end().len();
        let inner = self.slice(value.start..end.max(value.start));
        let is_closed = inner.ends_with('|') && !inner.ends_with("\\|");
        // A row with more cells than columns is one that a link such as `[[a|b]]` has cut.
        let last = (value.start + inner.len() - usize::from(is_closed)).max(value.end.min(end));
        let value = if value.start >= end { end..end } else { line::trimmed(self.text, value.start..last) };
        let key = key.start + found.start..key.start + found.end;
        Some(Stated { key, value, source: Source::Row(index), holds_others: false })
    }
}
