//! Notes as filters leave them: a part is hidden as it is in the whole note, where a heading or a list above it may tell.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use memdir_core::path::MemoryPath;
use memdir_engine::NoteView;
use memdir_policy::Filter;

/// How often a text is gone through again, for what stood apart may stand together now.
const ROUNDS: usize = 4;
/// What looking for hidden lines in a text may cost, in bytes gone through; what would cost more is taken as found.
const MOST_WORK: usize = 64 << 20;
/// A hidden line that has fewer letters than this says nothing that could be recognized.
const LEAST: usize = 4;

/// The notes of a memory, of which each is read and redacted once.
pub(crate) struct Notes<'n> {
    filters: &'n [Filter],
    read: &'n dyn Fn(&MemoryPath) -> Option<String>,
    known: BTreeMap<MemoryPath, Option<Rc<Note>>>,
}

/// A note, and what is hidden of it.
pub(super) struct Note {
    text: String,
    /// The lines that are hidden, from 1.
    hidden: BTreeSet<usize>,
}

impl<'n> Notes<'n> {
    pub(crate) fn new(filters: &'n [Filter], read: &'n dyn Fn(&MemoryPath) -> Option<String>) -> Self {
        Self { filters, read, known: BTreeMap::new() }
    }

    pub(super) fn filters(&self) -> &'n [Filter] {
        self.filters
    }

    /// A note as it is now; `None` where there is none.
    pub(super) fn note(&mut self, path: &MemoryPath) -> Option<Rc<Note>> {
        if let Some(note) = self.known.get(path) {
            return note.clone();
        }
        let note = (self.read)(path).map(|text| Rc::new(Note::of(self.filters, path, text)));
        self.known.insert(path.clone(), note.clone());
        note
    }

    /// What filters leave of a note.
    pub(crate) fn redacted(filters: &[Filter], path: &MemoryPath, text: String) -> String {
        Note::of(filters, path, text).shown()
    }

    /// What may be shown of these lines of a note, from 1, which were `text` when they were read; nothing where the note is
    /// another one by now.
    pub(crate) fn lines(&mut self, path: &MemoryPath, lines: [usize; 2], text: &str) -> String {
        self.note(path).and_then(|note| note.lines(lines, text)).unwrap_or_default()
    }

    /// Whether something of a note is kept from who reads it.
    pub(crate) fn hides_some(&mut self, path: &MemoryPath) -> bool {
        self.note(path).is_some_and(|note| note.is_touched() || super::finds(self.filters, &note.shown()))
    }

    /// Whether a note is not to be named: by its name, or because nothing of it is shown where only some things are.
    pub(super) fn hides(&mut self, path: &MemoryPath) -> bool {
        let allows = |filter: &Filter| filter.allows_name(path);
        super::hides_name(self.filters, path)
            || !self.filters.iter().all(allows) && self.note(path).is_none_or(|note| note.shown().trim().is_empty())
    }

    /// Whether a text holds a line that is hidden in a note that was looked at.
    pub(super) fn holds_hidden(&self, text: &str) -> bool {
        self.known.values().flatten().any(|note| note.is_held(text))
    }
}

impl Note {
    pub(super) fn of(filters: &[Filter], path: &MemoryPath, text: String) -> Self {
        let hidden = hidden(filters, path, &text);
        Self { text, hidden }
    }

    /// Whether this is all of its text.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// All that is shown of it.
    pub(super) fn shown(&self) -> String {
        self.numbered().filter(|(number, _)| !self.hidden.contains(number)).map(|(_, line)| line).collect()
    }

    /// It line for line, of which those that are hidden are empty.
    fn blanked(&self) -> String {
        let end = |line: &str| line.trim_end_matches(['\n', '\r']).len();
        let lines = self.numbered().map(|(number, line)| match self.hidden.contains(&number) {
            true => line.get(end(line)..).unwrap_or_default(),
            false => line,
        });
        lines.collect()
    }

    /// Whether nothing of it is shown, and something was in it.
    pub(super) fn is_hidden(&self) -> bool {
        !self.hidden.is_empty() && self.shown().trim().is_empty()
    }

    /// Whether something of it is hidden.
    pub(super) fn is_touched(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Whether one of these lines, from 1, is hidden.
    pub(super) fn hides(&self, [first, last]: [usize; 2]) -> bool {
        first <= last && self.hidden.range(first..=last).next().is_some()
    }

    /// What is shown of these lines, from 1; `None` where they are not `text`.
    fn lines(&self, [first, last]: [usize; 2], text: &str) -> Option<String> {
        let lines = || self.numbered().skip(first.saturating_sub(1)).take((last + 1).saturating_sub(first));
        let mut rest = text;
        for (_, line) in lines() {
            rest = rest.strip_prefix(line).or_else(|| rest.strip_prefix(line.trim_end_matches(['\n', '\r'])))?;
        }
        let shown = lines().filter(|(number, _)| !self.hidden.contains(number)).map(|(_, line)| line).collect();
        rest.trim().is_empty().then_some(shown)
    }

    /// What is shown of a part of it, wherever it stands; `None` where it has a line that the note does not have. A line that stands
    /// in two places, of which one is hidden, is hidden.
    pub(super) fn part(&self, text: &str) -> Option<String> {
        let (mut all, mut hidden) = (HashSet::new(), HashSet::new());
        for (number, line) in self.numbered() {
            all.insert(line.trim());
            if self.hidden.contains(&number) && !line.trim().is_empty() {
                hidden.insert(line.trim());
            }
        }
        let mut lines = text.split_inclusive('\n');
        let is_part = lines.clone().all(|line| line.trim().is_empty() || all.contains(line.trim()));
        is_part.then(|| lines.by_ref().filter(|line| !hidden.contains(line.trim())).collect())
    }

    /// Whether a text holds one of its hidden lines, or what such a line says.
    pub(super) fn is_held(&self, text: &str) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        if self.hidden.len().saturating_mul(text.len()) > MOST_WORK {
            return true;
        }
        let lines = self.numbered().filter(|(number, _)| self.hidden.contains(number));
        let said = |line: &str| {
            let said = line.trim_matches(|mark: char| !mark.is_alphanumeric());
            said.chars().count() >= LEAST && text.contains(said)
        };
        lines.into_iter().any(|(_, line)| said(line))
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.split_inclusive('\n'))
    }
}

/// What searching and retrieving look at of notes under filters; `None` where that is all.
pub(crate) fn view(filters: &[Filter]) -> Option<NoteView> {
    let filters = filters.to_vec();
    (!filters.is_empty()).then(|| NoteView::new(move |path, text| seen(&filters, path, text)))
}

/// What may be looked at of a note, line for line; `None` where nothing may. Of an empty text it says whether the name may be told.
fn seen(filters: &[Filter], path: &MemoryPath, text: &str) -> Option<String> {
    let allows = |filter: &Filter| filter.allows_name(path);
    if super::hides_name(filters, path) || text.trim().is_empty() && !filters.iter().all(allows) {
        return None;
    }
    let note = Note::of(filters, path, text.to_owned());
    if !note.is_touched() {
        return Some(note.text);
    }
    // An empty line keeps apart what a filter has looked at as it stands together.
    let seen = note.blanked();
    (!note.is_hidden() && !super::finds(filters, &seen)).then_some(seen)
}

/// The lines of a note, from 1, that filters take out.
fn hidden(filters: &[Filter], path: &MemoryPath, text: &str) -> BTreeSet<usize> {
    let mut kept: Vec<(usize, &str)> = (1..).zip(text.split_inclusive('\n')).collect();
    let all: BTreeSet<usize> = kept.iter().map(|(number, _)| *number).collect();
    for filter in filters {
        let text: String = kept.iter().map(|(_, line)| *line).collect();
        let removed: BTreeSet<usize> = filter.redact(path, &text).removed.into_iter().collect();
        drop_lines(&mut kept, &removed);
    }
    // What one filter took out may have kept things apart that another is about.
    for _ in 0..if filters.len() > 1 { ROUNDS } else { 0 } {
        let text: String = kept.iter().map(|(_, line)| *line).collect();
        let found = filters.iter().flat_map(|filter| filter.find(&text));
        let removed: BTreeSet<usize> = found.flat_map(|found| found.line..=found.last).collect();
        if removed.is_empty() {
            break;
        }
        drop_lines(&mut kept, &removed);
    }
    let left: String = kept.iter().map(|(_, line)| *line).collect();
    if filters.len() > 1 && super::finds(filters, &left) {
        return all;
    }
    let kept: BTreeSet<usize> = kept.iter().map(|(number, _)| *number).collect();
    all.difference(&kept).copied().collect()
}

/// Drops lines by their places, from 1.
fn drop_lines(kept: &mut Vec<(usize, &str)>, removed: &BTreeSet<usize>) {
    let mut place = 0;
    kept.retain(|_| {
        place += 1;
        !removed.contains(&place)
    });
}
