//! Back through time: all notes, or one, as they were after a change, with one slider over the whole history.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind, LogEntry};
use memdir_core::time::Timestamp;
use memdir_engine::ListedEntry;
use memdir_vault::LogQuery;
use serde::Deserialize;

use super::note_request::NoteRequest;
use crate::door::Visitor;
use crate::layout::{self, Page, Section};
use crate::markdown::{self, Links, PartWanted};
use crate::sent::Query;
use crate::site::Site;
use crate::text;
use crate::who::{made, when};
use crate::{changes, href};

/// So many notes are on one page, if they are not more bytes than this.
const MOST_NOTES: usize = 300;
const MOST_BYTES: usize = 72 * 1024;
/// So much of what cannot be read is said.
const MOST_AT: usize = 60;

/// After which change; and where a list goes on, or which part of a note.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// The number of a change, or a day or time, whose last change it is.
    at: Option<String>,
    after: Option<String>,
    part: Option<usize>,
}

/// The change after which the memory is shown.
struct Then {
    entry: LogEntry,
    batch: u64,
    /// The one before it.
    back: Option<u64>,
    /// The one after it.
    next: Option<u64>,
    /// The newest there is.
    last: u64,
}

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, _| {
        let Some(then) = Then::find(site, asked.at.as_deref())? else { return Ok(nothing()) };
        let listed = site.engine().view_after(then.batch, |view| view.tree(None, MOST_NOTES, asked.after.as_deref()));
        let main = html! {
            h1 { "The memory as it was" }
            (slider("/past", &then))
            div #results {
                (headline(&then))
                @match &listed {
                    Ok(listed) => (notes(&then, &listed.entries, listed.cursor.is_some())),
                    Err(failure) => (layout::problem(failure)),
                }
            }
        };
        Ok(Page::new("The memory as it was", Section::History, main))
    })
    .await
}

pub(crate) async fn show(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request
        .show(move |site, visitor, path| {
            let Some(then) = Then::find(site, asked.at.as_deref())? else { return Ok(nothing()) };
            let read = site.engine().view_after(then.batch, |view| match view.text_of(path) {
                Some(text) if visitor.is_refresh() && visitor.was_shown(path, Digest::of(text.as_bytes())) => Ok(text),
                _ => view.read(path, &site.person()).map(|(text, digest)| {
                    visitor.is_shown(path, digest);
                    text
                }),
            });
            let main = html! {
                nav .trail aria-label="Above" {
                    a href="/history" { "History" } " / " a href={ "/past?at=" (then.batch) } { "The memory as it was" }
                }
                h1 { (path.stem()) " as it was" }
                (slider(&href::at("past", path), &then))
                div #results {
                    (headline(&then))
                    @match &read {
                        Ok(text) => (text_of(path, &then, text, asked.part.unwrap_or(1))),
                        Err(failure) => (layout::problem(failure)),
                    }
                    p { a href=(href::note(path)) { "The note as it is now" } }
                }
            };
            Ok(Page::new(format!("{} as it was", path.stem()), Section::History, main))
        })
        .await
}

impl Then {
    /// The newest change up to this number, day or time; `None` in a memory without a history.
    fn find(site: &Site, at: Option<&str>) -> Result<Option<Self>, Failure> {
        let newest = |before: Option<u64>, until: Option<Timestamp>| {
            let query = LogQuery { before, until, limit: 1, ..LogQuery::default() };
            Ok::<_, Failure>(site.engine().log(&query, false)?.entries.pop())
        };
        let Some(last) = newest(None, None)?.and_then(|entry| entry.batch) else { return Ok(None) };
        let found = match at.map(|at| place(at, site.engine().now())).transpose()? {
            Some(At::Before(time)) => newest(None, Some(time))?,
            Some(At::Change(number)) => newest(Some(number.min(last).saturating_add(1)), None)?,
            None => newest(Some(last.saturating_add(1)), None)?,
        };
        let found = found.and_then(|entry| entry.batch.map(|batch| (entry, batch)));
        let (entry, batch) = found.ok_or_else(|| {
            Failure::new(Code::NotFound, "the history begins later").with_hint("move the slider to the right")
        })?;
        let back = newest(Some(batch), None)?.and_then(|entry| entry.batch);
        // A number that no change has, because it was not done, is passed over.
        let mut next = None;
        for number in batch.saturating_add(1)..=last {
            next = newest(Some(number.saturating_add(1)), None)?
                .and_then(|entry| entry.batch)
                .filter(|next| *next > batch);
            if next.is_some() {
                break;
            }
        }
        Ok(Some(Self { entry, batch, back, next, last }))
    }
}

/// Where in the history an address asks to be.
enum At {
    /// After the change of this number.
    Change(u64),
    /// After the last change before this time.
    Before(Timestamp),
}

fn place(at: &str, now: Timestamp) -> Result<At, Failure> {
    let at = at.trim();
    if let Ok(number) = at.parse() {
        return Ok(At::Change(number));
    }
    let end = Timestamp::parse_end(at, now).map_err(|_| {
        Failure::new(Code::Usage, format!("“{}” is neither a change nor a day", text::shortened(at, MOST_AT)))
            .with_hint("write the number of a change such as 3, or a day such as 2026-11-16")
    })?;
    Ok(At::Before(end.plus(Duration::from_micros(1))))
}

/// The slider. Without the script the button shows what it is set to.
fn slider(address: &str, then: &Then) -> Markup {
    html! {
        form method="get" action=(address) data-search {
            label for="at" { "After change" }
            input #at .slider type="range" name="at" min="1" max=(then.last) value=(then.batch)
                aria-describedby="then";
            div .row {
                button { "Show" }
                @if let Some(back) = then.back { a .button rel="prev" href={ (address) "?at=" (back) } { "Previous change" } }
                @if let Some(next) = then.next { a .button rel="next" href={ (address) "?at=" (next) } { "Next change" } }
            }
        }
    }
}

fn headline(then: &Then) -> Markup {
    html! {
        p #then aria-live="polite" {
            "After " a href={ "/history/" (then.batch) } { "change " (then.batch) } " of " (then.last) ", "
            (when(&then.entry.time)) ", by " (made(&then.entry))
        }
    }
}

fn notes(then: &Then, entries: &[ListedEntry], is_cut: bool) -> Markup {
    let files: Vec<&ListedEntry> = entries.iter().filter(|entry| entry.kind != Kind::Directory).collect();
    let items = files.iter().map(|entry| {
        html! { li { a .path href={ (href::at("past", &entry.path)) "?at=" (then.batch) } { (entry.path) } } }
    });
    let (shown, left) = layout::fitting(items, MOST_BYTES);
    let last = if left > 0 {
        files.iter().rev().nth(left).map(|entry| &entry.path)
    } else {
        entries.last().map(|entry| &entry.path)
    };
    html! {
        @if files.is_empty() { p { "There was no note." } }
        ul .entries { (shown) }
        @if let Some(last) = last.filter(|_| is_cut || left > 0) {
            p .more { a #more rel="next" href={ "/past?at=" (then.batch) "&after=" (href::value(last.as_str())) } { "More" } }
        }
    }
}

fn text_of(path: &MemoryPath, then: &Then, text: &str, part: usize) -> Markup {
    let address = format!("{}?at={}&part=", href::at("past", path), then.batch);
    let wanted = PartWanted { part, place: None, address: Some(&address) };
    let rendered = markdown::render(text, &Links::default(), wanted);
    html! {
        @if text.trim().is_empty() { p .quiet { "The note was empty." } }
        article #note .text { (rendered.html) }
        (changes::part_links(&address, rendered.part, rendered.parts))
        p { a .button href={ (href::at("restore", path)) "?batch=" (then.batch) } { "What is different since, and putting it back" } }
    }
}

fn nothing() -> Page {
    let main = html! {
        h1 { "The memory as it was" }
        p { "Nothing has been changed through memdir yet, so there is no history to go back through." }
    };
    Page::new("The memory as it was", Section::History, main)
}
