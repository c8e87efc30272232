//! One note.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use maud::html;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};

use super::notes::{self, Asked};
use crate::door::Visitor;
use crate::layout::{Page, Section};
use crate::markdown;
use crate::site::Site;

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(path): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let path = named(&path)?;
        if site.engine().is_folder(&path) {
            return notes::below(site, Some(&path), asked.after.as_deref());
        }
        page(site, visitor, &path)
    })
    .await
}

fn page(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Result<Page, Failure> {
    let (text, _) = read(site, visitor, path)?;
    let main = html! {
        (notes::trail(path))
        article #note data-live="notes" { (markdown::render(&text, &markdown::Links::default(), 1).html) }
    };
    Ok(Page::new(path.stem(), Section::Notes, main))
}

/// Reads a note and gives its digest. What the script fetches again is read already.
fn read(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Result<(String, memdir_core::digest::Digest), Failure> {
    if visitor.is_refresh()
        && let Some(text) = site.engine().text_of(path)
    {
        let digest = memdir_core::digest::Digest::of(text.as_bytes());
        return Ok((text, digest));
    }
    site.engine().read(path, &site.person())
}

/// The path that an address names.
pub(crate) fn named(path: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(path.trim_end_matches('/'))
        .map_err(|error| Failure::new(Code::InvalidPath, error.to_string()).with_hint("look for the note under Notes"))
}
