//! `get_context`: the parts of notes that are worth putting in front of a model.
//!
//! Sections that match the question come first, in the order of their notes; then notes that are linked with the best
//! of them, or with the note that was asked about: the nearer first, and of those the ones that match.

use std::collections::HashSet;
use std::ops::Range;

use crate::current::{PastNotes, PastShown};
use crate::scanned::ScannedNotes;
use crate::tree::{Tree, TreeError};
use crate::view::seen;
use crate::wanted::Wanted;
use crate::{Answer, Planner, excerpt, lines, words};
use memdir_core::action::{Call, GetContext};
use memdir_core::path::{MemoryPath, PERSON_NOTE};
use memdir_core::report::{Context, Failure, Part, Value};
use memdir_note::stem::Languages;
use memdir_note::{Heading, Note};
use memdir_rank::{self as rank, Asking, Names, Number, Point, Question, Source, SourceError};

/// How many tokens the parts may have unless another number is asked for, and how many bytes a token is.
const BUDGET: u32 = 2_000;
const TOKEN_BYTES: usize = 4;
/// The longest message, in bytes.
const MAX_QUERY: usize = 64 << 10;
/// From how many of the best notes parts are taken, and from how many of these links are followed.
const MOST_NOTES: usize = 24;
const MOST_STARTS: usize = 4;
/// Where nothing is known of what is asked, parts are taken from so many notes, and no links are followed.
const MOST_NEAREST: usize = 3;
/// So many notes may be pinned; they take at most one part in so many of the budget.
pub const MOST_PINNED: usize = 8;
const PINNED_SHARE: u32 = 4;
/// How many linked notes are taken, and how many links of one note are followed.
const MOST_LINKED: usize = 32;
const MOST_LINKS: usize = 64;
/// Of a note that answers, so many sections are parts: those that hold at least this much of what the best one holds.
const MOST_SECTIONS: usize = 3;
const HELD: f64 = 0.5;
/// The most sections of the note that was asked about.
const MOST_OWN: usize = 200;
/// A section with fewer bytes that holds a link comes along: it says what the note is linked with.
const SHORT: usize = 240;
/// A longer section is cut to the lines around what matches.
const MOST_PART_BYTES: usize = 2_000;

/// What the notes are asked about.
struct About<'a> {
    question: Option<&'a Question>,
    /// The question as a point, where the index is asked.
    point: Option<Point>,
    wanted: Option<Wanted>,
    /// The note that was named, with links followed.
    note: Option<MemoryPath>,
    past: PastShown,
}

/// The notes that parts are taken from.
#[derive(Default)]
struct Gathered {
    /// Those that answer, the best first.
    answers: Vec<MemoryPath>,
    /// Those that are linked with them, the nearest first.
    linked: Vec<MemoryPath>,
    /// How much finding each word of the question says.
    weights: Vec<f64>,
    /// Whether any of the best notes fits the message.
    is_fitting: bool,
    /// The words of the question of which nothing is known, where that is what there is to say.
    unknown: Option<Vec<String>>,
    /// The question as it was corrected, where a word was in no note.
    corrected: Option<Question>,
}

impl<T: Tree> Planner<'_, T> {
    pub(super) fn get_context(&mut self, call: &Call, get: &GetContext) -> Result<Answer, Failure> {
        let query = get.query.as_deref().filter(|query| !query.trim().is_empty());
        if query.is_none() && get.path.is_none() {
            return Err(words::invalid(call.index, "get_context", "neither `query` nor `path` is given")
                .with_hint("send the message as `query`, or a note as `path`"));
        }
        if let Some(query) = query.filter(|query| query.len() > MAX_QUERY) {
            return Err(words::too_large("the query", query.len(), MAX_QUERY as u64)
                .with_hint("send the part of the message that asks"));
        }
        let note = get.path.as_ref().map(|path| self.expect_file(path).map(|(path, _)| path)).transpose()?;
        let question = query.and_then(Question::of);
        let point = question.as_ref().and_then(|question| self.point(call, question));
        let mut about = About {
            question: question.as_ref(),
            point,
            wanted: question.as_ref().map(|question| Wanted::of(question.words())),
            note,
            past: PastShown::of(get.include_past),
        };
        let gathered = self.gathered(call, &about)?;
        // What is cut out is what was looked for in the end.
        if let Some(corrected) = &gathered.corrected {
            about.wanted = Some(Wanted::of(corrected.words()));
        }
        let parts = self.parts(call, &about, &gathered)?;
        let context = self.with_pinned(call, parts, get.budget.unwrap_or(BUDGET))?;
        let (nothing_known, missing) = (gathered.unknown.is_some(), gathered.unknown.unwrap_or_default());
        Ok(Value::Context(Context { nothing_known, missing, ..context }).into())
    }

    fn gathered(&mut self, call: &Call, about: &About<'_>) -> Result<Gathered, Failure> {
        let mut gathered = None;
        let is_answered = self.consult_texts(call, &mut |source| {
            let past = self.past_notes(source, about.past)?;
            gathered = Some(self.gather(source, call, about, past.as_ref())?);
            Ok(())
        })?;
        if let Some(gathered) = gathered.filter(|_| is_answered) {
            return Ok(gathered);
        }
        // Reading all notes is for whoever waits for the answer.
        let person = MemoryPath::parse(PERSON_NOTE).ok();
        let sees_all = !self.overlay.tree().is_part() && !(self.manner.may_hide)(call);
        let alone = person.filter(|_| self.manner.is_unasked && sees_all);
        let scope = match (self.scope(alone.as_ref()), alone) {
            (Err(_), Some(_)) => return Ok(Gathered::default()),
            (scope, _) => scope?,
        };
        let none = Question::none();
        let question = about.question.unwrap_or(&none);
        let wanted = Wanted::of(question.words());
        let (is_left_out, view) = (self.is_left_out(about.past), self.manner.view);
        let look = |path: &MemoryPath, text: &str| {
            let text = seen(view, path, text).filter(|_| !is_left_out(text))?;
            Some(wanted.evidence(path, &text))
        };
        let notes = self.look(call, &scope, &look)?.into_iter();
        let notes = notes.filter_map(|(path, seen)| Some((path, seen?))).collect();
        let read = |path: &MemoryPath| self.seen_text(path);
        let source = ScannedNotes::new(question, notes, &read);
        // What belongs to the past is not among them.
        self.gather(&source, call, about, None).map_err(|error| words::failure(error.into()))
    }

    fn gather(
        &self,
        source: &dyn Source,
        call: &Call,
        about: &About<'_>,
        past: Option<&PastNotes>,
    ) -> Result<Gathered, SourceError> {
        let mut gathered = Gathered::default();
        let mut starts = Vec::new();
        let mut seen = HashSet::new();
        if let Some(number) = about.note.as_ref().map(|note| source.number(note)).transpose()?.flatten() {
            starts.push(number);
            seen.insert(number);
        }
        if let Some(question) = about.question {
            let (read, point) = (|path: &MemoryPath| self.text_shown(path, about.past), about.point.as_ref());
            let excluded = (self.manner.excluded)();
            let is_past = |note: Number| past.is_some_and(|past| self.is_past(past, source, note));
            let is_past: Option<&dyn Fn(Number) -> bool> = Some(&is_past);
            let asking = Asking { read: &read, stop: self.manner.stop, within: None, is_past, point, excluded };
            let answer = rank::answer(source, question, &asking)?;
            gathered.unknown = answer.unknown(question, MOST_NEAREST);
            gathered.is_fitting = self.is_fitting(source, call, &answer)?;
            (gathered.weights, gathered.corrected) = (answer.weights, answer.corrected);
            let most = if gathered.unknown.is_some() { MOST_NEAREST } else { MOST_NOTES };
            for found in answer.found.iter().take(most).filter(|found| seen.insert(found.note)) {
                gathered.answers.extend(source.path(found.note)?);
                if starts.len() < MOST_STARTS {
                    starts.push(found.note);
                }
            }
        }
        if gathered.unknown.is_some() && about.note.is_none() {
            return Ok(gathered);
        }
        let mut names = Names::default();
        // Two links away only from a note that was named: around what answers there is enough.
        for _ in 0..if about.question.is_none() { 2 } else { 1 } {
            let mut next = Vec::new();
            for start in std::mem::take(&mut starts) {
                next.extend(self.linked_with(source, &mut names, about, start)?);
            }
            // Those that match first; a sort keeps the order of links where nothing is asked.
            next.sort_by(|(one, _), (other, _)| other.total_cmp(one));
            for (_, note) in next {
                if gathered.linked.len() < MOST_LINKED && seen.insert(note) {
                    gathered.linked.extend(source.path(note)?);
                    starts.push(note);
                }
            }
        }
        Ok(gathered)
    }

    /// The notes beside a note, with how many words of the question the links between them say.
    fn linked_with(
        &self,
        source: &dyn Source,
        names: &mut Names,
        about: &About<'_>,
        note: Number,
    ) -> Result<Vec<(f64, Number)>, SourceError> {
        if (self.manner.stop)() {
            return Err(SourceError::Stopped);
        }
        let Some((path, card)) = source.card(note)? else { return Ok(Vec::new()) };
        let beside = rank::neighbours(source, names, (note, &path, &card), MOST_LINKS)?;
        let held = |line: &str| {
            about.wanted.as_ref().map_or(0.0, |wanted| f64::from(wanted.held(line, card.languages).count_ones()))
        };
        Ok(beside.into_iter().map(|neighbour| (held(&neighbour.line), neighbour.note)).collect())
    }

    /// The parts of all notes that were gathered, the best first.
    fn parts(&self, call: &Call, about: &About<'_>, gathered: &Gathered) -> Result<Vec<Part>, Failure> {
        let mut parts = Vec::new();
        let mut told: HashSet<&MemoryPath> = HashSet::new();
        let own = about.note.iter().map(|path| (path, MOST_OWN));
        let answers = gathered.answers.iter().map(|path| (path, MOST_SECTIONS));
        let linked = gathered.linked.iter().map(|path| (path, 1));
        if self.manner.is_unasked && !gathered.is_fitting {
            return Ok(parts);
        }
        for (path, most) in own.chain(answers).chain(linked) {
            if (self.manner.stop)() {
                return Err(words::failure(TreeError::Stopped));
            }
            if !told.insert(path) || !(self.manner.may_show)(call, path) {
                continue;
            }
            let Some(whole) = self.text_of(path) else { continue };
            let state = self.past_state(&whole);
            // A note that was named is told whatever has become of it.
            let is_named = state.is_some() && about.note.as_ref() == Some(path);
            let past = if is_named { PastShown::Marked } else { about.past };
            let Some(text) = self.shown_of(path, &whole, past) else { continue };
            let text = self.with_doubts(path, &whole, text.into_owned());
            let own = parts_of(path, &text, about.wanted.as_ref(), &gathered.weights, most);
            parts.extend(own.into_iter().map(|part| Part { state, ..part }));
        }
        Ok(parts)
    }

    /// Puts parts into a budget, of which the notes that are pinned may first take a share.
    fn with_pinned(&self, call: &Call, mut parts: Vec<Part>, budget: u32) -> Result<Context, Failure> {
        let mut pinned = Vec::new();
        for path in self.manner.pinned.iter().take(MOST_PINNED) {
            let Ok(path) = self.resolve(path) else { continue };
            let Some(whole) = self.text_of(&path).filter(|_| (self.manner.may_show)(call, &path)) else { continue };
            let Some(text) = self.shown_of(&path, &whole, PastShown::No) else { continue };
            let text = self.with_doubts(&path, &whole, text.into_owned());
            pinned.extend(parts_of(&path, &text, None, &[], MOST_OWN));
        }
        if pinned.is_empty() {
            return Ok(filled(parts, budget));
        }
        let mut context = filled(pinned, budget / PINNED_SHARE);
        parts.retain(|part| !context.parts.iter().any(|pinned| pinned.path == part.path && pinned.lines == part.lines));
        let tokens: usize = context.parts.iter().map(|part| size(part) / TOKEN_BYTES).sum();
        let rest = filled(parts, budget.saturating_sub(u32::try_from(tokens).unwrap_or(u32::MAX)));
        context.parts.extend(rest.parts);
        context.left_out += rest.left_out;
        Ok(context)
    }

    /// Whether any of the best notes fits the message, by its words as they were written: many a word of a message is near
    /// some other word. What the other notes are told for is then for ranking to say, which follows links.
    fn is_fitting(&self, source: &dyn Source, call: &Call, answer: &rank::Answer) -> Result<bool, SourceError> {
        for looked in answer.looked.iter().filter(|looked| answer.corrected.is_none() && answer.fit.fits(looked)) {
            if source.path(looked.note)?.is_some_and(|path| (self.manner.may_show)(call, &path)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The parts of a note: of the sections that match the question the best, else the first ones.
fn parts_of(path: &MemoryPath, text: &str, wanted: Option<&Wanted>, weights: &[f64], most: usize) -> Vec<Part> {
    let (note, languages) = (Note::parse(text), Languages::of(text));
    let held = |range: &Range<usize>| {
        let held = wanted.map_or(0, |wanted| wanted.held(text.get(range.clone()).unwrap_or_default(), languages));
        weights.iter().enumerate().filter(|(word, _)| held >> word & 1 == 1).map(|(_, weight)| weight).sum::<f64>()
    };
    let mut sections: Vec<(f64, Range<usize>)> =
        sections(&note, text).into_iter().map(|range| (held(&range), range)).collect();
    let best = sections.iter().map(|(held, _)| *held).fold(0.0, f64::max);
    if most < MOST_OWN && best > 0.0 {
        let links = note.links();
        let has_link = |range: &Range<usize>| links.iter().any(|link| range.contains(&link.span.start));
        let comes_along = |range: &Range<usize>| range.start >= note.body() && range.len() < SHORT && has_link(range);
        sections.retain(|(held, range)| *held >= HELD * best || comes_along(range));
        sections.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    }
    sections.truncate(most);
    let lines = lines::ranges(text);
    let whole = |range: Range<usize>| {
        let section = text.get(range.clone()).unwrap_or_default();
        let start = range.start + section.len() - section.trim_start_matches(['\n', '\r', ' ', '\t']).len();
        [note.line_at(start), note.line_at(range.start + section.trim_end().len())]
    };
    let part = |(_, range): (f64, Range<usize>)| {
        let mut shown = whole(range.clone());
        if range.len() > MOST_PART_BYTES {
            let section = text.get(range.clone()).unwrap_or_default();
            let found =
                wanted.map_or([1, 1], |wanted| wanted.excerpt(&Note::parse(section), languages, weights, &[]).lines);
            let before = note.line_at(range.start) - 1;
            shown = widened(&lines, found.map(|line| before + line), shown);
        }
        let [first, last] = shown;
        let text = text.get(lines.get(first - 1)?.start..lines.get(last - 1)?.end)?.to_owned();
        let heading = note.heading_above(first + 1).map(Heading::shown);
        Some(Part { path: path.clone(), heading, lines: shown, text, state: None })
    };
    sections.into_iter().filter_map(part).collect()
}

/// The sections of a note that hold more than their headings: each from its heading to the next one.
fn sections(note: &Note<'_>, text: &str) -> Vec<Range<usize>> {
    let starts = note.headings().iter().map(|heading| heading.span.start);
    let mut edges: Vec<usize> = std::iter::once(note.body()).chain(starts).chain([text.len()]).collect();
    edges.dedup();
    let ranges = edges.iter().zip(edges.iter().skip(1)).map(|(start, end)| *start..*end);
    let mut sections: Vec<_> = ranges
        .filter(|range| {
            let lines = text.get(range.clone()).unwrap_or_default().lines();
            lines.filter(|line| excerpt::heading(line).is_none()).any(|line| !line.trim().is_empty())
        })
        .collect();
    // What stands before the text says what the note is filed under, and seldom what it says.
    sections.extend(Some(0..note.body()).filter(|front| !front.is_empty()));
    sections
}

/// The lines around some lines, as many as a part may have.
fn widened(ranges: &[Range<usize>], [first, last]: [usize; 2], [least, most]: [usize; 2]) -> [usize; 2] {
    let size = |line: usize| ranges.get(line - 1).map_or(0, Range::len);
    let (mut first, mut last) = (first.max(least), last.min(most).max(first.max(least)));
    let mut bytes: usize = (first..=last).map(size).sum();
    loop {
        let before = (first > least).then(|| size(first - 1)).filter(|more| bytes + more <= MOST_PART_BYTES);
        if let Some(more) = before {
            (first, bytes) = (first - 1, bytes + more);
        }
        let after = (last < most).then(|| size(last + 1)).filter(|more| bytes + more <= MOST_PART_BYTES);
        if let Some(more) = after {
            (last, bytes) = (last + 1, bytes + more);
        }
        if before.is_none() && after.is_none() {
            return [first, last];
        }
    }
}

/// Takes the parts that the budget has room for; of the first one at least its first lines.
fn filled(parts: Vec<Part>, budget: u32) -> Context {
    let mut room = (budget as usize).saturating_mul(TOKEN_BYTES);
    let mut context = Context::default();
    for mut part in parts {
        let head = head(&part);
        if context.parts.is_empty() && head + part.text.len() > room {
            cut(&mut part, room.saturating_sub(head));
        }
        let bytes = size(&part);
        if bytes > room || part.text.is_empty() {
            context.left_out += 1;
            continue;
        }
        room -= bytes;
        context.parts.push(part);
    }
    context
}

/// How many bytes of a budget a part takes.
fn size(part: &Part) -> usize {
    (head(part) + part.text.len()).next_multiple_of(TOKEN_BYTES)
}

fn head(part: &Part) -> usize {
    part.path.as_str().len() + part.heading.as_ref().map_or(0, String::len)
}

/// Leaves the first lines of a part, as many as there is room for.
fn cut(part: &mut Part, room: usize) {
    let whole = part.text.get(..part.text.floor_char_boundary(room)).unwrap_or_default();
    let end = whole.rfind('\n').unwrap_or(whole.len());
    part.text.truncate(end);
    part.lines[1] = part.lines[0] + part.text.matches('\n').count();
}
