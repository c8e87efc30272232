//! The memory as a client sees it: what it would be answered, through its own grant and the person's rules.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;
use memdir_core::action::{Action, ReadFile};
use memdir_core::report::{Failure, Value};
use memdir_engine::Caller;
use serde::Deserialize;

use super::{clients, shown};
use crate::door::Visitor;
use crate::layout::{Page, Section};
use crate::person_files::RegisteredClient;
use crate::sent::{Path, Query};
use crate::site::{Site, unexpected};
use crate::{changes, field, href};

/// So many notes are on one page.
const MOST_NOTES: usize = 200;

/// Where the list goes on, or which part of a note.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    after: Option<String>,
    part: Option<usize>,
}

/// A client as it calls.
fn caller(client: &RegisteredClient) -> Caller {
    let caller = Caller::model("mcp").for_client(Some(client.name.clone()));
    Caller { grant: Some(Arc::clone(&client.grant)), ..caller }
}

fn address(client: &RegisteredClient) -> String {
    format!("/clients/{}/notes", href::value(&client.name))
}

pub(crate) async fn list(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    site.show(&visitor, move |site, _| {
        let client = clients::registered(site, &name)?;
        let here = address(&client);
        let (notes, next) = site.engine().notes(&caller(&client), asked.after.as_deref(), MOST_NOTES)?;
        let main = html! {
            (clients::trail(&client.name))
            h1 { "The memory as " (client.name) " sees it" }
            @if client.is_expired { p { "Its access has ended, so it sees nothing now. This is what it saw." } }
            p .quiet { "A program learns of no other note: not from lists, searches, counts or errors. What you open here does not count as read by it. "
                "Rules that were added since " code { "memdir serve" } " was started do not count here yet." }
            div #notes data-live="notes" {
                @if notes.is_empty() { p { "It sees no note." } }
                ul .entries { @for note in &notes { li { a .path href={ (here) "/" (href::in_path(&note.path)) } { (note.path) } } } }
                @if let Some(next) = next { p .more { a #more rel="next" href={ (here) "?after=" (href::value(&next)) } { "More" } } }
            }
        };
        Ok(Page::new(format!("As {} sees it", client.name), Section::Clients, main))
    })
    .await
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path((name, path)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let client = clients::registered(site, &name)?;
        let path = shown::named(&path)?;
        let read = ReadFile { path: path.clone(), start_line: None, end_line: None, as_of: None };
        let answer = site.engine().answer_as(&caller(&client), Action::ReadFile(read));
        // The person has read it now.
        if answer.is_ok() {
            shown::read(site, visitor, &path)?;
        }
        let text = match answer {
            Ok(Value::Text(text)) => Ok(text),
            Ok(_) => return Err(unexpected()),
            Err(failure) => Err(failure),
        };
        let main = html! {
            (clients::trail(&client.name))
            h1 { (path.name()) " as " (client.name) " sees it" }
            @match &text {
                Ok(text) => (part_of(text, asked.part.unwrap_or(1), &format!("{}/{}?part=", address(&client), href::in_path(&path)))),
                Err(failure) => (refusal(&client, failure)),
            }
            p { a href=(address(&client)) { "All notes that it sees" } " · " a href=(href::note(&path)) { "The note as you see it" } }
        };
        Ok(Page::new(format!("{} as {} sees it", path.name(), client.name), Section::Clients, main))
    })
    .await
}

fn part_of(text: &str, part: usize, address: &str) -> maud::Markup {
    let parts = field::parts(text, changes::PART_BYTES);
    let shown = parts.get(part.clamp(1, parts.len()) - 1).and_then(|range| text.get(range.clone())).unwrap_or_default();
    html! {
        pre .raw tabindex="0" { (shown) }
        (changes::part_links(address, part, parts.len()))
    }
}

/// What the client is told instead.
fn refusal(client: &RegisteredClient, failure: &Failure) -> maud::Markup {
    html! {
        p { (client.name) " is not shown this note. It is told:" }
        blockquote {
            p { code { (failure.code) } " " (failure.message) }
            @if let Some(hint) = &failure.hint { p { (hint) } }
        }
    }
}
