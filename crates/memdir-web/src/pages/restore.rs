//! A note as it was after a change, and putting it back to that.

use axum::response::Response;
use maud::html;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::Change;
use memdir_plan::note_changes;
use memdir_vault::Recorded;
use memdir_words::past;
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{notes, shown};
use crate::door::{Notice, Visitor};
use crate::layout::{self, Page, Section};
use crate::sent::{Form, Query};
use crate::site::{Site, Then};
use crate::{changes, href};

/// After which change; and which part of what is different since.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    batch: u64,
    part: Option<usize>,
}

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    batch: u64,
    /// The digest of the difference that was shown.
    digest: String,
}

pub(crate) async fn ask(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request.show(move |site, visitor, path| page(site, visitor, path, asked.batch, asked.part.unwrap_or(1), None)).await
}

pub(crate) async fn restore(request: NoteRequest, Form(sent): Form<Sent>) -> Response {
    request
        .change(move |site, visitor, path| {
            let change = site.engine().propose_restore(path, sent.batch).and_then(|change| {
                let then = then(&change);
                if Digest::of(change.plan().diff().as_bytes()).to_string() == sent.digest {
                    return Ok((site.engine().conclude_change(change, &site.person())?, then));
                }
                let failure = Failure::new(Code::Conflict, format!("note `{path}` has changed since this was shown"));
                Err(failure.with_hint("nothing was changed: look at what it would change now").into())
            });
            match change {
                Ok((done, then)) => {
                    let receipt = done.receipt.unwrap_or_else(|| "nothing had to change".to_owned());
                    let words = format!("{path} is as it was {then}: {receipt}");
                    Ok(Then::Go { to: href::at("changes", path), notice: Notice::of(Some(words), done.batch) })
                }
                Err(error) => match page(site, visitor, path, sent.batch, 1, Some(&error.failure)) {
                    Ok(page) => Ok(Then::Show(error.failure, page)),
                    Err(_) => Err(error.failure),
                },
            }
        })
        .await
}

/// Of when the text is that is put back.
fn then(change: &Change) -> String {
    past::then(change.recorded().unwrap_or(Recorded::After(change.batch())), change.batch())
}

/// What putting the note back would change.
fn page(
    site: &Site,
    visitor: &Visitor,
    path: &MemoryPath,
    batch: u64,
    part: usize,
    failure: Option<&Failure>,
) -> Result<Page, Failure> {
    let change = site.engine().propose_restore(path, batch).map_err(|error| error.failure)?;
    let told = note_changes(change.plan().steps());
    shown::changed(site, visitor, &told);
    let whole = change.plan().diff();
    let (diff, count) = changes::diff(&whole, part, changes::PART_BYTES);
    let here = href::at("restore", path);
    let main = html! {
        (notes::trail(path))
        h1 { (path.stem()) " " (then(&change)) }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        @if change.plan().is_empty() {
            p { "The note is now as it was then." }
        } @else {
            p { "To put it back would change this:" }
            (changes::words(&told))
            (diff)
            (changes::part_links(&format!("{here}?batch={batch}&part="), part, count))
            (layout::post(visitor, &here, html! {
                input type="hidden" name="batch" value=(batch);
                input type="hidden" name="digest" value=(Digest::of(whole.as_bytes()));
                div .row {
                    button #restore .main { "Put it back" }
                    a .button href=(href::at("changes", path)) { "Cancel" }
                }
            }))
        }
        p { a href={ "/history/" (batch) } { "Show change " (batch) } }
    };
    Ok(Page::new(format!("{} after change {batch}", path.stem()), Section::History, main))
}
