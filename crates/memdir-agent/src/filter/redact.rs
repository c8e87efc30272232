//! What a report says, without what filters take out.

use std::collections::BTreeMap;

use super::note::{Note, Notes};
use super::{WITHHELD, finds, hides_name, withhold};
use memdir_core::action::Action;
use memdir_core::path::MemoryPath;
use memdir_core::report::{
    Code, Context, Details, Failure, Links, Log, MemoryEntry, Outcome, Recent, Report, Search, Shown, Value, Variables,
};
use memdir_dialect::{Entry, Parsed, Unread};
use memdir_policy::Filter;

/// The calls of a turn that read some lines of a note, by their places: with the first line, from 1.
pub(crate) type Parts = BTreeMap<usize, usize>;

/// Which calls of a turn read a part of a note.
pub(crate) fn parts(parsed: &Parsed) -> Parts {
    let calls = parsed.entries.iter().filter_map(|entry| if let Entry::Call(call) = entry { Some(call) } else { None });
    let part = |action: &Action| {
        let Action::ReadFile(read) = action else { return None };
        let is_part = read.start_line.is_some() || read.end_line.is_some();
        is_part.then(|| read.start_line.map_or(1, |line| line as usize))
    };
    calls.filter_map(|call| Some((call.index, part(&call.action)?))).collect()
}

/// Takes out of reports what filters keep from a model.
pub(crate) struct Redaction<'n> {
    notes: Notes<'n>,
    parts: Parts,
}

impl<'n> Redaction<'n> {
    pub(crate) fn new(filters: &'n [Filter], read: &'n dyn Fn(&MemoryPath) -> Option<String>) -> Self {
        Self { notes: Notes::new(filters, read), parts: Parts::new() }
    }

    /// Refuses calls that would replace lines of which the model knows nothing.
    pub(crate) fn refuse(&mut self, parsed: &mut Parsed) {
        for entry in &mut parsed.entries {
            let Entry::Call(call) = entry else { continue };
            if !matches!(call.action, Action::WriteFile(_) | Action::ReplaceSection(_)) {
                continue;
            }
            let Some(path) = call.action.path() else { continue };
            if !self.notes.note(path).is_some_and(|note| note.is_touched()) {
                continue;
            }
            let message = format!("`{path}` has lines that a filter keeps from you, and they would be lost");
            let failure = Failure::new(Code::Denied, message)
                .with_hint("change single places with update_file or set_fact, or add with append_file");
            *entry = Entry::Unread(Unread {
                index: call.index,
                action: Some(call.action.name().to_owned()),
                path: Some(path.to_string()),
                label: call.label.clone(),
                failure,
                foreign: None,
            });
        }
    }

    /// Takes out of the report on calls what the model is not to see.
    pub(crate) fn report(mut self, report: &mut Report, parts: Parts) {
        if self.notes.filters().is_empty() {
            return;
        }
        self.parts = parts;
        let before: Vec<(Option<String>, Option<Value>)> =
            report.actions.iter().map(|it| (it.label.clone(), it.result.as_ref().ok().cloned())).collect();
        for outcome in &mut report.actions {
            self.outcome(outcome);
        }
        let variables = report.variables.iter().map(|(name, value)| {
            let of = before
                .iter()
                .zip(&report.actions)
                .rev()
                .find(|((label, old), _)| label.as_deref() == Some(name) && old.as_ref() == Some(value));
            let value = match of.and_then(|(_, outcome)| outcome.result.as_ref().ok()) {
                Some(value) => value.clone(),
                None => self.loose(value),
            };
            (name.to_owned(), value)
        });
        report.variables = Variables::new(variables.collect::<Vec<_>>());
        for issue in &mut report.issues {
            issue.message = self.words(&issue.message, None).unwrap_or_else(|| WITHHELD.to_owned());
        }
        if let Some(failure) = &mut report.error {
            self.failure(failure, None);
        }
        report.diff = None;
        report.answer = None;
    }

    /// A value of which nobody knows where it is from: a script made it, or it was set before.
    fn loose(&self, value: &Value) -> Value {
        let Value::Text(text) = value else { return value.clone() };
        let is_hidden = self.notes.holds_hidden(text);
        Value::Text(if is_hidden { WITHHELD.to_owned() } else { withhold(text, self.notes.filters()) })
    }

    fn outcome(&mut self, outcome: &mut Outcome) {
        let path = outcome.path.as_deref().and_then(|path| MemoryPath::parse(path).ok());
        match &mut outcome.result {
            Err(failure) => self.failure(failure, path.as_ref()),
            Ok(value) => self.value(value, outcome.index, outcome.action.as_deref(), path.as_ref()),
        }
        if let Some(Shown::Edited { .. }) = &outcome.shown {
            let note = path.and_then(|path| self.notes.note(&path));
            if note.is_none_or(|note| note.is_touched()) {
                outcome.shown = None;
            }
        }
    }

    fn value(&mut self, value: &mut Value, index: usize, action: Option<&str>, path: Option<&MemoryPath>) {
        let filters = self.notes.filters();
        match value {
            // What is listed was listed as the view lets; from what a tool said it was taken out before that was cut.
            Value::Bool(_)
            | Value::Bytes(_)
            | Value::Nothing
            | Value::Paths(_)
            | Value::Directory(_)
            | Value::Foreign(_) => {}
            Value::Text(text) => {
                let shown = path.map_or_else(|| withhold(text, filters), |path| self.text(path, text, index, action));
                *text = shown;
            }
            Value::File(file) => {
                if self.notes.note(&file.path).is_some_and(|note| note.is_touched()) {
                    file.digest = None;
                }
            }
            Value::History(log) => history(filters, log),
            Value::Search(search) => self.search(search),
            Value::Context(context) => self.context(context),
            Value::Links(links) => self.links(links),
            Value::Entries(entries) => entries.retain_mut(|entry| self.is_entry_shown(entry)),
            Value::Remembered(told) => {
                let is_shown = |line: &String| !self.notes.holds_hidden(line) && !finds(filters, line);
                told.replaced = told.replaced.take().filter(is_shown);
                told.similar.retain(|similar| is_shown(&similar.text));
            }
            Value::Recent(recent) => self.recent(recent),
            // No note says anything of it.
            Value::Config(_) => {}
        }
    }

    /// What was done to a note of which anything is hidden, and what was said of it, is not told. Nor is anything said told where no text
    /// alone tells whether it may be.
    fn recent(&mut self, recent: &mut Recent) {
        let filters = self.notes.filters();
        for day in &mut recent.days {
            day.changes.retain_mut(|change| {
                let path = MemoryPath::parse(&change.path).ok().filter(|path| !self.notes.hides(path));
                let note = path.as_ref().and_then(|path| self.notes.note(path));
                change.did.retain(|words| !finds(filters, words));
                note.is_some_and(|note| !note.is_touched())
            });
            if filters.iter().any(Filter::needs_note) {
                day.conversations.clear();
            }
            for conversation in &mut day.conversations {
                conversation.said.retain(|text| !self.notes.holds_hidden(text) && !finds(filters, text));
            }
            day.conversations.retain(|conversation| !conversation.said.is_empty());
        }
        recent.days.retain(|day| !(day.changes.is_empty() && day.conversations.is_empty()));
    }

    /// The text of a note, or of a part of it.
    fn text(&mut self, path: &MemoryPath, text: &str, index: usize, action: Option<&str>) -> String {
        let filters = self.notes.filters();
        let part = self.parts.get(&index).copied();
        let note = self.notes.note(path);
        let known = match (&note, part) {
            (Some(_), Some(first)) => {
                let last = first + text.split_inclusive('\n').count().max(1) - 1;
                Some(self.notes.lines(path, [first, last], text)).filter(|shown| !shown.is_empty())
            }
            (Some(note), _) if note.is(text) => Some(note.shown()),
            (Some(note), _) => note.part(text),
            (None, _) => None,
        };
        // The note is another one by now: what was read whole is a note by itself, of a part nobody knows what was above it.
        let is_whole = action == Some("read_file") && part.is_none();
        let shown = known.or_else(|| is_whole.then(|| Note::of(filters, path, text.to_owned()).shown()));
        let Some(shown) = shown.filter(|shown| !shown.trim().is_empty() || text.trim().is_empty()) else {
            return WITHHELD.to_owned();
        };
        let missing = text.lines().count().saturating_sub(shown.lines().count());
        let mut shown = withhold(&shown, filters);
        if missing > 0 && !finds(filters, WITHHELD) {
            let end = if shown.ends_with('\n') { "" } else { "\n" };
            shown.push_str(&format!("{end}({missing} more: {})\n", &WITHHELD.trim_matches(['(', ')'])));
        }
        shown
    }

    /// The view has left out what is hidden now; a text of the past may say what is hidden since.
    fn search(&mut self, search: &mut Search) {
        let count = search.hits.len();
        let filters = self.notes.filters();
        search.hits.retain_mut(|hit| {
            let Some(note) = self.notes.note(&hit.path) else { return false };
            if note.is_hidden() {
                return false;
            }
            if note.is_held(&hit.snippet) || finds(filters, &hit.snippet) {
                WITHHELD.clone_into(&mut hit.snippet);
            }
            hit.heading = hit.heading.take().filter(|heading| !note.is_held(heading) && !finds(filters, heading));
            true
        });
        search.total -= (count - search.hits.len()).min(search.total);
        search.searched_for = search.searched_for.take().filter(|query| !finds(filters, query));
    }

    fn context(&mut self, context: &mut Context) {
        let filters = self.notes.filters();
        context.parts.retain_mut(|part| {
            let Some(note) = self.notes.note(&part.path) else { return false };
            part.text = if note.is_held(&part.text) { WITHHELD.to_owned() } else { withhold(&part.text, filters) };
            part.heading = part.heading.take().filter(|heading| !note.is_held(heading) && !finds(filters, heading));
            !note.is_hidden() && !part.text.trim().is_empty()
        });
    }

    fn links(&mut self, links: &mut Links) {
        let filters = self.notes.filters();
        let mut is_shown = |path: &MemoryPath, line: usize| {
            !hides_name(filters, path) && !self.notes.note(path).is_some_and(|note| note.hides([line, line]))
        };
        let is_named = |path: &MemoryPath| hides_name(filters, path);
        links.links.retain(|link| {
            let leads = link.resolved.as_ref().is_some_and(is_named) || link.nearest.as_ref().is_some_and(is_named);
            is_shown(&link.source, link.line) && !leads
        });
        for (target, sources) in &mut links.backlinks {
            let name = target.as_str().rsplit('/').next().unwrap_or_default().trim_end_matches(".md").to_lowercase();
            sources.retain(|source| {
                let Some(note) = self.notes.note(source) else { return false };
                // A note may link there in lines that are hidden alone.
                !is_named(source) && (!note.is_touched() || note.shown().to_lowercase().contains(&name))
            });
        }
        links.backlinks.retain(|target, _| !is_named(target));
    }

    fn is_entry_shown(&mut self, entry: &mut MemoryEntry) -> bool {
        let filters = self.notes.filters();
        let is_gone = self.notes.note(&entry.path).is_none_or(|note| note.is_hidden());
        entry.tags.retain(|tag| !finds(filters, &format!("#{tag}")));
        !is_gone && !self.notes.hides(&entry.path)
    }

    /// Takes out of a failure what it quotes of a note.
    fn failure(&mut self, failure: &mut Failure, path: Option<&MemoryPath>) {
        let note = path.and_then(|path| self.notes.note(path));
        let note = note.filter(|note| note.is_touched());
        if let Some(message) = self.words(&failure.message, note.as_deref()) {
            failure.message = message;
        } else {
            WITHHELD.clone_into(&mut failure.message);
        }
        failure.hint = failure.hint.take().and_then(|hint| self.words(&hint, note.as_deref()));
        let filters = self.notes.filters();
        let details = &mut failure.details;
        if let (Some(text), Some(path)) = (&mut details.text, path) {
            *text = Note::of(filters, path, std::mem::take(text)).shown();
        }
        let is_far = |closest: &memdir_core::report::Closest| {
            note.as_ref().is_some_and(|note| note.hides(closest.lines) || note.is_held(&closest.text))
                || finds(filters, &closest.text)
        };
        if details.closest.as_ref().is_some_and(is_far) || (note.is_some() && details.closest.is_none()) {
            (details.closest, details.action) = (None, None);
        }
        if note.is_some() {
            // Who knows it could replace the note with what they were shown.
            details.digest = None;
        }
    }

    /// A sentence of ours; `None` where it quotes what is hidden.
    fn words(&self, words: &str, note: Option<&Note>) -> Option<String> {
        let is_quoted = note.is_some_and(|note| note.is_held(words)) || self.notes.holds_hidden(words);
        (!is_quoted && !finds(self.notes.filters(), words)).then(|| words.to_owned())
    }
}

/// Takes out of a failure that came outside of a report what it quotes of a note.
pub(crate) fn failure(failure: &mut Failure, filters: &[Filter]) {
    if filters.is_empty() {
        return;
    }
    let mut redaction = Redaction::new(filters, &|_| None);
    redaction.failure(failure, None);
    *failure.details = Details::default();
}

fn history(filters: &[Filter], log: &mut Log) {
    for entry in &mut log.entries {
        entry.diff = None;
        entry.changed.retain(|path| !hides_name(filters, path));
        let is_shown = |path: &str| MemoryPath::parse(path).is_ok_and(|path| !hides_name(filters, &path));
        entry.actions.retain(|action| action.path.as_deref().is_none_or(is_shown));
    }
}
