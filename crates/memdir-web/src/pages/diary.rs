//! The diary: changes by day, who made each, and each line that is still as it was written then, with yes, no and edit.

use std::collections::HashMap;

use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Line, LogEntry};
use memdir_plan::NoteChange;
use memdir_words::ago;
use memdir_words::who::undid;

use super::{review, shown};
use crate::door::Visitor;
use crate::href;
use crate::layout;
use crate::site::Site;
use crate::text;
use crate::who::made;

/// So many changes are shown, of each so many notes, and of each note so many lines.
const MOST: usize = 25;
const NOTES: usize = 5;
const LINES: usize = 6;
/// So much of a line.
const LETTERS: usize = 200;
/// How many bytes of a page it may have.
const BYTES: usize = 56 * 1024;

/// The lines of notes, each note read once.
struct Written<'s> {
    site: &'s Site,
    notes: HashMap<MemoryPath, Vec<(String, Line)>>,
}

impl Written<'_> {
    /// The lines that a batch wrote and that are still in the note, by number.
    fn by(&mut self, batch: u64, path: &MemoryPath) -> Vec<(usize, &str)> {
        let lines = self.notes.entry(path.clone()).or_insert_with(|| {
            let read = self.site.engine().lines(path);
            let pair = |(text, lines): (String, Vec<Line>)| text.lines().map(str::to_owned).zip(lines).collect();
            read.map(pair).unwrap_or_default()
        });
        let is_said = |text: &str| text.contains(char::is_alphanumeric) && !text.starts_with('#');
        let own = lines.iter().filter(|(text, line)| line.batch == Some(batch) && is_said(text));
        own.map(|(text, line)| (line.line, text.as_str())).collect()
    }
}

/// The changes, the newest first, under the days on which they were made.
pub(crate) fn days(site: &Site, visitor: &Visitor, entries: &[LogEntry]) -> Result<Markup, Failure> {
    let mut written = Written { site, notes: HashMap::new() };
    let mut last = None;
    let mut items = Vec::new();
    for entry in entries.iter().take(MOST) {
        let day = ago::Moment::of(&entry.time).map_or_else(String::new, |moment| moment.day());
        let is_new = last.as_ref() != Some(&day);
        let change = change(visitor, entry, &mut written)?;
        items.push(html! { @if is_new { h3 .day { (day) } } (change) });
        last = Some(day);
    }
    let shown = items.len();
    let (items, left) = layout::fitting(items, BYTES);
    Ok(html! {
        div .diary { (items) }
        @if left + entries.len() > shown { p { a href="/history" { "All changes" } } }
    })
}

/// One change.
fn change(visitor: &Visitor, entry: &LogEntry, written: &mut Written<'_>) -> Result<Markup, Failure> {
    let clock = ago::Moment::of(&entry.time).map_or_else(|| entry.time.clone(), |moment| moment.clock());
    let is_over = entry.undone_by.is_some() || entry.undoes.is_some();
    let words = entry.batch.map(|batch| written.site.engine().changes_of(batch)).transpose()?.flatten();
    let (site, mut notes) = (written.site, Vec::new());
    for path in entry.changed.iter().filter(|_| !is_over).take(NOTES) {
        let lines = entry.batch.map(|batch| written.by(batch, path)).unwrap_or_default();
        if !lines.is_empty() {
            notes.push(note(visitor, path, &shown::title(site, path), &lines));
            shown::excerpts(site, visitor, [path]);
        }
    }
    if notes.is_empty() {
        shown::changed(site, visitor, words.as_deref().unwrap_or_default());
    }
    let left = entry.changed.len().saturating_sub(NOTES);
    Ok(html! {
        article .change {
            p .head {
                span .quiet { (clock) } " " (made(entry))
                @if entry.undone_by.is_some() { " " span .badge { "undone" } }
                @if let Some(undid) = undid(entry) { " " span .badge { (undid) } }
            }
            @if notes.is_empty() { (in_words(entry, words.as_deref().unwrap_or_default())) }
            @for note in notes { (note) }
            @if !is_over && left > 0 { p .quiet { "and " (left) " more" } }
            @if let Some(batch) = entry.batch.filter(|_| entry.undone_by.is_none()) {
                (layout::post(visitor, "/undo", html! {
                    input type="hidden" name="batch" value=(batch);
                    input type="hidden" name="back" value=(visitor.here());
                    button .small name="undo" { "Undo" span .unseen { " change " (batch) } }
                }))
            }
        }
    })
}

/// The lines of a note that a change wrote, each with its decisions.
fn note(visitor: &Visitor, path: &MemoryPath, title: &str, lines: &[(usize, &str)]) -> Markup {
    let left = lines.len().saturating_sub(LINES);
    html! {
        p .of { a href=(href::note(path)) { (title) } }
        ul .lines {
            @for (number, text) in lines.iter().take(LINES) {
                li {
                    span .said { (text::shortened(text, LETTERS)) }
                    (review::decisions(visitor, path, *number, text))
                }
            }
        }
        @if left > 0 { p .quiet { a href=(href::note(path)) { "and " (left) " more lines" } } }
    }
}

/// What a change did where none of its lines is left, or it took something away.
fn in_words(entry: &LogEntry, words: &[NoteChange]) -> Markup {
    html! {
        ul .lines {
            @for change in words.iter().take(NOTES) {
                li {
                    (change.name)
                    @for line in change.lines.iter().take(LINES) { ": " (text::shortened(&line.words, LETTERS)) }
                }
            }
            @if words.is_empty() {
                @for path in entry.changed.iter().take(NOTES) { li { (path) ": what was changed is no longer kept" } }
            }
        }
    }
}
