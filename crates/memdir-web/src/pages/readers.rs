//! Who was shown something of a note.

use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_vault::Reader;
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::notes;
use crate::href;
use crate::layout::{Page, Section};
use crate::sent::Query;
use crate::site::Site;
use crate::who::{when, who};

/// So many reads are listed on one page.
const MOST_LISTED: usize = 50;
/// So many of the newest are counted by who they are of.
const MOST_COUNTED: usize = 1_000;

/// Where the list goes on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    before: Option<i64>,
}

pub(crate) async fn show(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request.show(move |site, _, path| page(site, path, asked.before)).await
}

fn page(site: &Site, path: &MemoryPath, before: Option<i64>) -> Result<Page, Failure> {
    // What was read a moment ago is told of too.
    site.engine().clean_up();
    let limit = if before.is_none() { MOST_COUNTED } else { MOST_LISTED };
    let found = site.engine().readers(path, limit, before)?;
    let readers = &found.readers;
    let is_cut = readers.len() > MOST_LISTED || found.cursor.is_some();
    let last = readers.iter().take(MOST_LISTED).next_back().map(|reader| reader.seq);
    let main = html! {
        (notes::trail(path))
        h1 { "Who read " (path.stem()) }
        p { a href=(href::note(path)) { "The note" } " · " a href=(href::at("changes", path)) { "Its history" } }
        div #readers data-live="state" {
            @if readers.is_empty() { p { "No reads of this note are recorded." } }
            @if before.is_none() { (counted(readers)) }
            @if !readers.is_empty() {
                h2 { "Each time" }
                ol .entries { @for reader in readers.iter().take(MOST_LISTED) { (read(reader)) } }
            }
            @if let Some(last) = last.filter(|_| is_cut) {
                p .more { a #more rel="next" href={ (href::at("readers", path)) "?before=" (last) } { "Older" } }
            }
        }
    };
    Ok(Page::new(format!("Who read {}", path.stem()), Section::Audit, main))
}

fn read(reader: &Reader) -> Markup {
    html! {
        li {
            span .quiet { (when(&reader.time.to_string())) }
            " " (who(&reader.door, reader.client.as_deref()))
            " " code { (reader.action) }
        }
    }
}

/// How often each has read it, and when last; `readers` are in order, the newest first.
fn counted(readers: &[Reader]) -> Markup {
    let mut counts = Vec::<(&Reader, usize)>::new();
    for reader in readers {
        let is_same =
            |other: &&mut (&Reader, usize)| (&other.0.door, &other.0.client) == (&reader.door, &reader.client);
        match counts.iter_mut().find(is_same) {
            Some((_, count)) => *count += 1,
            None => counts.push((reader, 1)),
        }
    }
    html! {
        ul .entries {
            @for (reader, count) in counts {
                li {
                    (who(&reader.door, reader.client.as_deref()))
                    @if count == 1 { " once, " } @else { " " (count) " times, last " }
                    (when(&reader.time.to_string()))
                }
            }
        }
    }
}
