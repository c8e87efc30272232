//! Edits that name one place of a note and no other, as `exec` takes them.

use std::ops::Range;

use super::fact::name;
use memdir_core::action::{Action, UpdateFile};
use memdir_core::path::MemoryPath;
use memdir_note::fact::{Place, key};
use memdir_note::{Fact, Note};

/// So many words, and so many lines, are added on each side of a place until it is the only one.
const MOST_WORDS: usize = 12;
const MOST_LINES: usize = 12;
/// A longer text is no place that a person would look at.
const MOST_OLD_BYTES: usize = 2_000;

/// The action that takes the fact of a line out of a note; lines are counted from 1. `None` where that would take more away than the one fact
/// that begins there, or leave a part of it, or where it goes on in further lines: who reads of the first may not mean these.
pub(super) fn without_line(source: &MemoryPath, text: &str, line: usize) -> Option<Action> {
    let note = Note::parse(text);
    let (own, others): (Vec<_>, Vec<_>) = note.facts().into_iter().partition(|fact| fact.line == line);
    let [fact] = own.as_slice() else { return None };
    if text.get(fact.span.clone())?.contains('\n') {
        return None;
    }
    // A field in a sentence is not all that its line says, and a block may be linked to.
    let own_line = lines_around(text, &fact.span)?;
    let has_block = note.block_ids().any(|(_, at)| own_line.contains(&at));
    if has_block || matches!(fact.place, Place::Bracketed(_)) && says_more(&note, &own_line, &fact.span) {
        return None;
    }
    let start = text.get(..fact.span.start)?.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let behind = text.get(fact.span.end..)?;
    let end = fact.span.end + behind.find('\n').map_or(behind.len(), |line_end| line_end + 1);
    let mut lines = text.get(end..)?.split_inclusive('\n');
    // What is indented below it belongs to it, also behind an empty line.
    let mut below = lines.clone().skip_while(|below| below.trim().is_empty());
    if below.next().is_some_and(|below| below.starts_with([' ', '\t'])) {
        return None;
    }
    // The last line may have no end of its own, and takes that of the line above.
    let above = text.get(..start)?;
    let start = if lines.next().is_none() && !text.ends_with('\n') {
        above.strip_suffix('\n').map_or(start, |above| above.strip_suffix('\r').unwrap_or(above).len())
    } else {
        start
    };
    let rest = format!("{}{}", text.get(..start)?, text.get(end..)?);
    let facts = |text: &str| {
        let facts = Note::parse(text).facts().into_iter();
        facts.map(|fact| (fact.key, fact.value, fact.heading)).collect::<Vec<_>>()
    };
    let others: Vec<_> = others.into_iter().map(|fact| (fact.key, fact.value, fact.heading)).collect();
    if others != facts(&rest) {
        return None;
    }
    edit(source, text, &(start..end), start..end, "")
}

/// Whether a line has words beside the field in brackets that has this value, and the links that say what it is about.
fn says_more(note: &Note<'_>, line: &Range<usize>, value: &Range<usize>) -> bool {
    let text = note.text();
    let start = text.get(line.start..value.start).and_then(|before| before.rfind(['[', '('])).map(|at| line.start + at);
    let end = text.get(value.end..line.end).and_then(|after| after.find([']', ')'])).map(|at| value.end + at);
    let field = start.unwrap_or(value.start)..end.unwrap_or(value.end);
    let mut apart: Vec<_> = note.links().into_iter().map(|link| link.span).chain([field]).collect();
    apart.retain(|span| span.start < line.end && line.start < span.end);
    apart.sort_by_key(|span| span.start);
    let has_letters =
        |from: usize, to: usize| text.get(from..to).is_some_and(|rest| rest.contains(char::is_alphanumeric));
    let mut at = line.start;
    for span in apart {
        if has_letters(at, span.start) {
            return true;
        }
        at = at.max(span.end);
    }
    has_letters(at, line.end)
}

/// The line that contradicts another one: its note, the text of that, and the number of the line, from 1.
pub type OtherLine<'t> = (&'t MemoryPath, &'t str, usize);

/// The action, as `exec` accepts it, that gives the fact of a line another value, whatever other lines have its key. Where the line says
/// something of what it names, as a row of a table does, it is what has the key of the fact that stands on line `other`. Lines are
/// counted from 1. `None` where there is no single one, or the new value cannot be written there.
#[must_use]
pub fn with_value(
    source: &MemoryPath,
    text: &str,
    line: usize,
    other: Option<OtherLine<'_>>,
    value: &str,
) -> Option<Action> {
    let fact = || {
        let change = Note::parse(text).set_fact_on(line, value).ok()?;
        edit(source, text, &lines_around(text, &change.range)?, change.range, &change.text)
    };
    other.and_then(|other| with_named_of(source, text, line, other, Some(value))).or_else(fact)
}

/// The lines in which a place stands, without the end of the last.
fn lines_around(text: &str, place: &Range<usize>) -> Option<Range<usize>> {
    let start = text.get(..place.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(place.end..)?;
    Some(start..place.end + rest.find(['\r', '\n']).unwrap_or(rest.len()))
}

/// The action, as `exec` accepts it, that resolves a contradiction: it takes the fact of a line out, or, where the line says more of
/// what it names, sets the one value to `value` or to what the fact on line `other` says. Lines are counted from 1. `None` where
/// neither can be.
#[must_use]
pub fn without_fact(
    source: &MemoryPath,
    text: &str,
    line: usize,
    other: OtherLine<'_>,
    value: Option<&str>,
) -> Option<Action> {
    without_line(source, text, line).or_else(|| with_named_of(source, text, line, other, value))
}

/// The fact of a key that a line states, or says of something that it names, where it is a single one; of several, as a row has
/// them of its columns, the one of the other note. The line is counted from 1.
#[must_use]
pub fn fact_on(text: &str, line: usize, wanted: &str, (path, other_text): (&MemoryPath, &str)) -> Option<Fact> {
    let wanted = key(wanted);
    let note = Note::parse(text);
    let own = note.facts().into_iter().filter(|fact| fact.line == line && key(&fact.key) == wanted);
    let mut all = own.chain(said_of(&note, line, &wanted, &names(path, other_text)));
    let first = all.next()?;
    all.all(|fact| fact.span == first.span).then_some(first)
}

/// What a note is called.
fn names(path: &MemoryPath, text: &str) -> Vec<String> {
    let note = Note::parse(text);
    let titles = note.title().into_iter().chain(note.aliases());
    titles.map(|title| name(&title)).chain([name(path.stem())]).collect()
}

/// What a line says by a key of something that it names, or as a row of a record: of several, what it says of one of the names.
fn said_of(note: &Note<'_>, line: usize, wanted: &str, names: &[String]) -> Vec<Fact> {
    let of_note = note.records().flatten().map(|fact| (fact, true));
    let named = note.named().map(|named| (named.fact, names.contains(&name(&named.about))));
    let all = named.chain(of_note).filter(|(fact, _)| fact.line == line && key(&fact.key) == wanted);
    let all: Vec<_> = all.collect();
    let is_one = all.iter().zip(all.iter().skip(1)).all(|((one, _), (other, _))| one.span == other.span);
    let meant = all.into_iter().filter(|(_, is_meant)| is_one || *is_meant);
    let mut found: Vec<Fact> = meant.map(|(fact, _)| fact).collect();
    found.dedup_by(|one, other| one.span == other.span);
    found
}

/// The action that gives what a line says of something by the key of another line's fact the given value, or the value of that fact.
fn with_named_of(
    source: &MemoryPath,
    text: &str,
    line: usize,
    (path, other_text, other_line): OtherLine<'_>,
    value: Option<&str>,
) -> Option<Action> {
    let (names, note) = (names(path, other_text), Note::parse(other_text));
    let facts = note.facts().into_iter().chain(note.records().flatten()).filter(|fact| fact.line == other_line);
    facts.into_iter().find_map(|fact| {
        let new = value.unwrap_or(&fact.value);
        with_named(source, text, line, (&key(&fact.key), &names), new)
    })
}

/// The action that gives what a line says by a key of what has one of the names another value.
fn with_named(
    source: &MemoryPath,
    text: &str,
    line: usize,
    (wanted, names): (&str, &[String]),
    value: &str,
) -> Option<Action> {
    let facts_named = |text: &str| said_of(&Note::parse(text), line, wanted, names);
    let [said] = <[_; 1]>::try_from(facts_named(text)).ok()?;
    let new = if said.place == Place::Row { value.replace('|', "\\|") } else { value.to_owned() };
    let after = format!("{}{new}{}", text.get(..said.span.start)?, text.get(said.span.end..)?);
    let is_set = matches!(facts_named(&after).as_slice(), [fact] if fact.value == value);
    is_set.then(|| edit(source, text, &lines_around(text, &said.span)?, said.span, &new)).flatten()
}

/// The action that puts `new` into a place of the text; its `old_content` is the shortest text around `span` that stands
/// nowhere else in the note.
pub(super) fn edit(
    source: &MemoryPath,
    text: &str,
    span: &Range<usize>,
    place: Range<usize>,
    new: &str,
) -> Option<Action> {
    let mut ranges = grown(text, span).into_iter().filter(|range| range.len() <= MOST_OLD_BYTES);
    let around = ranges.find(|range| is_unique(text, range))?;
    let before = text.get(around.start..place.start)?;
    let after = text.get(place.end..around.end)?;
    Some(Action::UpdateFile(UpdateFile {
        path: source.clone(),
        old_content: text.get(around)?.to_owned(),
        new_content: format!("{before}{new}{after}"),
        occurrence: None,
    }))
}

/// Whether the text in a range stands in the whole text once.
fn is_unique(text: &str, range: &Range<usize>) -> bool {
    let text = text.as_bytes();
    let Some(wanted) = text.get(range.clone()) else { return false };
    let is_in = |text: Option<&[u8]>| text.is_some_and(|text| memchr::memmem::find(text, wanted).is_some());
    // A text can overlap with itself, so only one byte of it is left out.
    !is_in(text.get(..range.end.saturating_sub(1))) && !is_in(text.get(range.start + 1..))
}

/// Ranges around one, each longer than the one before: words of its line, the line, lines around it.
fn grown(text: &str, span: &Range<usize>) -> Vec<Range<usize>> {
    let mut ranges = vec![span.clone()];
    let line_start = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line_end = |at: usize| text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |end| at + end);
    let trimmed = |end: usize| if text.get(..end).is_some_and(|text| text.ends_with('\r')) { end - 1 } else { end };
    let first = line_start(span.start);
    let last = trimmed(line_end(span.end)).max(span.end);
    let (mut start, mut end) = (span.start, span.end);
    for _ in 0..MOST_WORDS {
        let rest = text.get(end..last).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start().len();
        end +=
            rest.get(blanks..).and_then(|rest| rest.find(char::is_whitespace)).map_or(rest.len(), |word| blanks + word);
        ranges.push(start..end);
        let before = text.get(first..start).unwrap_or_default();
        let word = before.trim_end().rfind(char::is_whitespace);
        start = word.map_or(first, |at| {
            first + at + before.get(at..).and_then(|text| text.chars().next()).map_or(1, char::len_utf8)
        });
        ranges.push(start..end);
    }
    let (mut start, mut end) = (first, last);
    ranges.push(start..end);
    for _ in 0..MOST_LINES {
        end = trimmed(line_end((line_end(end) + 1).min(text.len()))).max(end);
        ranges.push(start..end);
        start = line_start(start.saturating_sub(1));
        ranges.push(start..end);
    }
    ranges
}
