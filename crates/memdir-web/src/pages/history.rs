//! What was changed, day by day: who did it, what in words, and the way back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Log, LogEntry};
use memdir_vault::LogQuery;
use memdir_words::ago::Moment;
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{conversations, notes, shown};
use crate::door::Visitor;
use crate::layout::{self, Page, Section};
use crate::sent::{Path, Query};
use crate::site::Site;
use crate::who::made;
use crate::{changes, href};

/// So many changes are on one page, if they are not more bytes than this.
const MOST_CHANGES: usize = 20;
const MOST_BYTES: usize = 72 * 1024;
/// So many calls of one change are listed.
const MOST_CALLS: usize = 50;

/// Which page of the history, and of whom.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    before: Option<u64>,
    client: Option<String>,
}

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, visitor| {
        let client = asked.client.filter(|client| !client.is_empty());
        let filter = client.as_deref().map(|client| format!("client={}&", href::value(client))).unwrap_or_default();
        let query =
            LogQuery { client: client.clone(), before: asked.before, limit: MOST_CHANGES, ..LogQuery::default() };
        let log = site.engine().log(&query, false)?;
        let main = html! {
            h1 { "History" }
            p { a href="/past" { "Go back through time" } }
            @if let Some(client) = &client {
                p { "Only what " b { (client) } " did. " a href="/history" { "Show all" } }
            }
            div #history data-live="state" { (days(site, visitor, &log, None, &format!("/history?{filter}before="))?) }
        };
        Ok(Page::new("History", Section::History, main))
    })
    .await
}

/// The history of one note, under whatever names it had.
pub(crate) async fn of_note(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request.show(move |site, visitor, path| {
        let query = LogQuery {
            path: Some(path.clone()),
            before: asked.before,
            limit: MOST_CHANGES,
            ..LogQuery::default()
        };
        let log = site.engine().log(&query, false)?;
        let here = href::at("changes", path);
        let main = html! {
            (notes::trail(path))
            h1 { "History of " (path.stem()) }
            p { a href=(href::note(path)) { "The note as it is now" } " · " a href=(href::at("readers", path)) { "Who read this" } " · " a href=(href::at("past", path)) { "As it was" } }
            div #history data-live="state" { (days(site, visitor, &log, Some(path), &format!("{here}?before="))?) }
        };
        Ok(Page::new(format!("History of {}", path.stem()), Section::History, main))
    })
    .await
}

/// Changes by days; `older` is where older ones are, up to the number of the last change.
fn days(site: &Site, visitor: &Visitor, log: &Log, note: Option<&MemoryPath>, older: &str) -> Result<Markup, Failure> {
    let (mut shown, mut bytes, mut last_day, mut last) = (Vec::new(), 0, None, None);
    for entry in &log.entries {
        let moment = Moment::of(&entry.time);
        let day = moment.as_ref().map_or_else(|| entry.time.clone(), Moment::day);
        let is_new = last_day.as_ref() != Some(&day);
        let card = html! {
            @if is_new { h2 { (day) } }
            (card(site, visitor, entry, note)?)
        };
        bytes += card.0.len();
        if bytes > MOST_BYTES && !shown.is_empty() {
            break;
        }
        (last_day, last) = (Some(day), entry.batch);
        shown.push(card);
    }
    let is_cut = shown.len() < log.entries.len() || log.cursor.is_some();
    Ok(html! {
        @if shown.is_empty() { p { "No change is in the history." } }
        @for card in shown { (card) }
        @if let Some(last) = last.filter(|_| is_cut) {
            p .more { a #more rel="next" href={ (older) (last) } { "Older" } }
        }
    })
}

/// One change in a list; where the list is that of a note, with the way back to how that was.
fn card(site: &Site, visitor: &Visitor, entry: &LogEntry, note: Option<&MemoryPath>) -> Result<Markup, Failure> {
    let Some(batch) = entry.batch else { return Ok(html! {}) };
    let told = site.engine().changes_of(batch)?;
    shown::changed(site, visitor, told.as_deref().unwrap_or_default());
    Ok(html! {
        article .card .change id={ "change-" (batch) } {
            (headline(entry, batch))
            @match &told {
                Some(told) => (changes::words(told)),
                None => (no_longer_kept(entry)),
            }
            div .row {
                a .button href={ "/history/" (batch) } { "Show all of it" }
                @if let Some(path) = note {
                    a .button href={ (href::at("restore", path)) "?batch=" (batch) } { "As it was then" }
                }
                @if told.is_some() && entry.undone_by.is_none() { (undo(visitor, batch, visitor.here())) }
            }
        }
    })
}

/// The number of a change, who made it and when, and what it undid or was undone by.
fn headline(entry: &LogEntry, batch: u64) -> Markup {
    let moment = Moment::of(&entry.time);
    let clock = moment.as_ref().map_or_else(|| entry.time.clone(), Moment::clock);
    let failed = entry.actions.iter().filter(|action| !action.ok).count();
    html! {
        p .headline {
            (made(entry))
            " " span .quiet {
                time datetime=(entry.time) { (clock) }
                @if let Some(recent) = moment.and_then(|moment| moment.recent()) { " (" (recent) ")" }
                " · change " (batch)
                @for (at, undone) in entry.undoes.iter().chain(&entry.also_undoes).enumerate() {
                    (if at == 0 { " · undid " } else { ", " }) a href={ "/history/" (undone) } { (undone) }
                }
                @if let Some(undone) = entry.undone_by { " · undone by " a href={ "/history/" (undone) } { (undone) } }
                @match failed { 0 => {}, 1 => " · 1 call failed", failed => { " · " (failed) " calls failed" } }
            }
        }
    }
}

fn no_longer_kept(entry: &LogEntry) -> Markup {
    html! {
        p .quiet { "What was changed is no longer kept." }
        @if !entry.changed.is_empty() {
            ul { @for path in entry.changed.iter().take(MOST_CALLS) { li { a .path href=(href::note(path)) { (path) } } } }
        }
    }
}

fn undo(visitor: &Visitor, batch: u64, back: &str) -> Markup {
    layout::post(
        visitor,
        "/undo",
        html! {
            input type="hidden" name="batch" value=(batch);
            input type="hidden" name="back" value=(back);
            button aria-label={ "Undo: change " (batch) } { "Undo" }
        },
    )
}

/// Which part of a long diff.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct AskedPart {
    part: Option<usize>,
}

/// All of one change.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(batch): Path<String>,
    Query(asked): Query<AskedPart>,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let batch = super::number(&batch)?;
        let query = LogQuery { before: batch.checked_add(1), limit: 1, ..LogQuery::default() };
        let mut log = site.engine().log(&query, false)?;
        let entry = log.entries.pop().filter(|entry| entry.batch == Some(batch));
        let entry = entry.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("there is no change {batch}"))
                .with_hint("History lists those there are")
        })?;
        let main = html! {
            nav .trail aria-label="Above" { a href="/history" { "History" } }
            h1 { "Change " (batch) }
            div #change data-live="state" { (all_of(site, visitor, &entry, batch, asked.part.unwrap_or(1))?) }
        };
        Ok(Page::new(format!("Change {batch}"), Section::History, main))
    })
    .await
}

fn all_of(site: &Site, visitor: &Visitor, entry: &LogEntry, batch: u64, part: usize) -> Result<Markup, Failure> {
    let told = site.engine().changes_of(batch)?;
    shown::changed(site, visitor, told.as_deref().unwrap_or_default());
    let diff = match &told {
        Some(_) => site.engine().diff(Some(batch)).map_err(|error| error.failure)?.2,
        None => String::new(),
    };
    let (diff, count) = changes::diff(&diff, part, changes::PART_BYTES);
    let day = Moment::of(&entry.time).map(|moment| moment.day()).unwrap_or_default();
    let calls = entry.actions.iter().take(MOST_CALLS);
    Ok(html! {
        p .quiet { (day) }
        (headline(entry, batch))
        @if let Some(session) = &entry.session {
            p .quiet { "In the conversation " (conversations::link(site, session)) "." }
        }
        @match &told {
            Some(told) => {
                (changes::words(told))
                @if entry.undone_by.is_none() { (undo(visitor, batch, "/history")) }
                (diff)
                (changes::part_links(&format!("/history/{batch}?part="), part, count))
            },
            None => (no_longer_kept(entry)),
        }
        h2 { "What was asked for" }
        ol .calls {
            @for call in calls {
                li {
                    code { (call.action) } " "
                    @if let Some(path) = &call.path { (changes::name(path)) }
                    @if let Some(code) = &call.code { " " span .badge .bad { "failed: " (code.replace('_', " ")) } }
                }
            }
        }
        @if entry.actions.len() > MOST_CALLS { p .quiet { "and " (entry.actions.len() - MOST_CALLS) " more" } }
    })
}
