//! Search: which notes fit, why each does, and where.

use std::ops::Range;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::action::{Action, Call, SearchFiles, SearchMode};
use memdir_core::report::{Failure, Hit, Search, Value, Why};
use memdir_dialect::Parsed;
use memdir_note::Note;
use memdir_plan as plan;
use serde::Deserialize;

use super::shown;
use crate::door::Visitor;
use crate::layout::{self, Page, Section};
use crate::sent::Query;
use crate::site::{Site, unexpected};
use crate::text;
use crate::{href, markdown};

/// So many notes are on a page, with so many bytes of them.
const MOST_HITS: u32 = 20;
const MOST_BYTES: usize = 70 * 1024;
/// So much of what was found is shown.
const SNIPPET: usize = 400;

/// What is looked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    q: Option<String>,
    /// How: `text`, `regex`, `name`, else by words.
    mode: Option<String>,
    /// Where the list goes on.
    after: Option<String>,
}

impl Asked {
    fn mode(&self) -> SearchMode {
        match self.mode.as_deref() {
            Some("text") => SearchMode::Text,
            Some("regex") => SearchMode::Regex,
            Some("name") => SearchMode::Name,
            _ => SearchMode::Ranked,
        }
    }
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, visitor| {
        let query = asked.q.clone().unwrap_or_default();
        // What is known of half a word says nothing of the word.
        let is_unfinished = visitor.is_typing() && !query.ends_with(char::is_whitespace);
        let found = if query.trim().is_empty() { None } else { Some(find(site, visitor, &asked, &query)) };
        let main = html! {
            h1 { "Search" }
            (form(&asked, &query))
            div #results aria-live="polite" {
                @match &found {
                    None => p .quiet { "Say what you look for, in words." },
                    Some(Err(failure)) => (layout::problem(failure)),
                    Some(Ok(found)) => (results(site, &asked, found, is_unfinished)),
                }
            }
        };
        let title = if query.trim().is_empty() { "Search".to_owned() } else { format!("{query} · Search") };
        Ok(Page::new(title, Section::Search, main))
    })
    .await
}

/// Searches. While the person types, a search that shows no note anew leaves no trace in the audit: what they look for is asked once
/// more when they pause.
fn find(site: &Site, visitor: &Visitor, asked: &Asked, query: &str) -> Result<Search, Failure> {
    let action = Action::SearchFiles(SearchFiles {
        query: query.to_owned(),
        mode: Some(asked.mode()),
        path: None,
        limit: Some(MOST_HITS),
        cursor: asked.after.clone(),
        budget: None,
        include_past: None,
        as_of: None,
    });
    let engine = site.engine();
    if visitor.is_typing() {
        let found = searched(engine.answer_as(&site.person(), action.clone()))?;
        if !shown::are_new(site, visitor, found.hits.iter().map(|hit| &hit.path)) {
            return Ok(found);
        }
    }
    // The hint of a query that cannot be read is for whoever wrote it.
    let report = engine.conclude(engine.propose(Parsed::of([Call::plain(1, action)]), site.person()));
    if let Some(failure) = report.error {
        return Err(failure);
    }
    let found =
        searched(report.actions.into_iter().next().map_or_else(|| Err(unexpected()), |outcome| outcome.result))?;
    shown::are_shown(site, visitor, found.hits.iter().map(|hit| &hit.path));
    Ok(found)
}

fn searched(answer: Result<Value, Failure>) -> Result<Search, Failure> {
    match answer? {
        Value::Search(found) => Ok(found),
        _ => Err(unexpected()),
    }
}

fn form(asked: &Asked, query: &str) -> Markup {
    let modes = [("", "Words"), ("text", "Exact text"), ("regex", "Pattern"), ("name", "Name of a note")];
    let chosen = asked.mode.as_deref().unwrap_or_default();
    html! {
        form #search .row action="/search" method="get" role="search" data-search {
            label for="q" { "Look for" }
            input #q type="search" name="q" value=(query) autocomplete="off" autofocus;
            label for="mode" { "by" }
            select #mode name="mode" {
                @for (mode, name) in modes { option value=(mode) selected[mode == chosen] { (name) } }
            }
            button .main { "Search" }
        }
    }
}

fn results(site: &Site, asked: &Asked, found: &Search, is_unfinished: bool) -> Markup {
    let query = found.searched_for.as_ref().unwrap_or(&found.query);
    let (shown, left) = layout::fitting(found.hits.iter().map(|hit| hit_of(site, asked, query, hit)), MOST_BYTES);
    let more = |cursor: &str| {
        let mode = asked.mode.as_deref().unwrap_or_default();
        format!("/search?q={}&mode={}&after={}", href::value(&found.query), href::value(mode), href::value(cursor))
    };
    html! {
        @if found.hits.is_empty() && is_unfinished {
            p .quiet { "Nothing so far. Finish the word, or press Enter." }
        } @else if found.hits.is_empty() {
            p #nothing { "Nothing is known about this." }
        } @else {
            p .count { (found.total) @if found.total == 1 { " note" } @else { " notes" } }
            @if found.nothing_known && !is_unfinished { p #nearest .quiet { "These are only the nearest: none of them says " (found.missing.join(", ")) "." } }
        }
        @if let Some(other) = &found.searched_for { p { "No note has these words; this was looked for: " b { (other) } } }
        ol .hits { (shown) }
        @if left > 0 { p .quiet { "and " (left) " more that are too long for this page" } }
        @if let Some(cursor) = &found.cursor { p .more { a #more rel="next" href=(more(cursor)) { "More" } } }
    }
}

fn hit_of(site: &Site, asked: &Asked, query: &str, hit: &Hit) -> Markup {
    let text = site.engine().text_of(&hit.path).unwrap_or_default();
    let title = Note::parse(&text).title().unwrap_or_else(|| hit.path.stem().to_owned());
    let snippet: Vec<String> = hit.snippet.lines().map(markdown::as_read).collect();
    let snippet = text::shortened(snippet.join("\n").trim(), SNIPPET);
    let at = |heading: &String| href::place(&hit.path, &markdown::heading_place(heading));
    let address = hit.heading.as_ref().map_or_else(|| href::note(&hit.path), at);
    html! {
        li {
            h2 { a href=(address) { (marked(&title, &plan::marks(asked.mode(), query, &title))) } }
            p .quiet {
                span .path { (hit.path) }
                @if let Some(heading) = &hit.heading { " › " (heading) }
                ", line " (hit.lines[0])
                @for why in &hit.why { " " span .badge { (reason(*why)) } }
            }
            p .snippet { (marked(&snippet, &plan::marks(asked.mode(), query, &snippet))) }
        }
    }
}

/// Why a note is a hit.
fn reason(why: Why) -> &'static str {
    match why {
        Why::Text => "words of your query",
        Why::Link => "linked from what fits",
        Why::Vector => "similar meaning",
    }
}

/// A text with what was found in it marked.
fn marked(text: &str, marks: &[Range<usize>]) -> Markup {
    let mut at = 0;
    let mut pieces = Vec::new();
    for mark in marks {
        let (Some(before), Some(within)) = (text.get(at..mark.start), text.get(mark.clone())) else { continue };
        pieces.push((before, within));
        at = mark.end;
    }
    html! {
        @for (before, within) in pieces { (before) mark { (within) } }
        (text.get(at..).unwrap_or_default())
    }
}
