//! All links to a note, page by page.

use axum::response::Response;
use maud::html;
use serde::Deserialize;

use super::around::Backlinks;
use super::note_request::NoteRequest;
use super::notes;
use crate::href;
use crate::layout::{Page, Section};
use crate::sent::Query;

/// So many bytes of a page the list may have.
const LIST_BYTES: usize = 36 * 1024;

/// Where the list goes on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    from: usize,
}

pub(crate) async fn show(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request
        .show(move |site, visitor, path| {
            let around = site.engine().surroundings(path, 0)?;
            let list = Backlinks { from: asked.from, most_bytes: LIST_BYTES };
            let main = html! {
                (notes::trail(path))
                h1 { "Linked from" }
                p { (around.backlinks.len()) " links lead to " a href=(href::note(path)) { (path.stem()) } "." }
                div #links data-live="notes" { (list.list(site, visitor, path, &around)) }
            };
            Ok(Page::new(format!("Links to {}", path.stem()), Section::Notes, main))
        })
        .await
}
