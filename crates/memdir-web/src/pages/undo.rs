//! Taking a batch back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::changes;
use crate::door::{Notice, Visitor};
use crate::layout::{self, Page, Section};
use crate::sent::Form;
use crate::site::{Site, Then};

/// The form of an undo.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    /// Which batch.
    batch: u64,
    /// The page to go back to.
    back: Option<String>,
}

pub(crate) async fn undo(State(site): State<Arc<Site>>, visitor: Visitor, Form(sent): Form<Sent>) -> Response {
    site.change(&visitor, move |site, _| {
        let engine = site.engine();
        let done =
            engine.propose_undo(Some(sent.batch)).and_then(|change| engine.conclude_change(change, &site.person()));
        match done {
            Ok(done) => Ok(Then::Go { to: super::back(sent.back), notice: Notice::of(done.receipt, done.batch) }),
            Err(error) => {
                let main = maud::html! {
                    h1 { "Not undone" }
                    (layout::problem(&error.failure))
                    @if let Some(batch) = error.failure.details.batch {
                        p { a #blocking href={ "/history?before=" (batch + 1) } { "Change " (batch) } " is in the history." }
                    }
                    @if let Some(diff) = &error.diff { (changes::diff(diff, 1, changes::PART_BYTES).0) }
                };
                Ok(Then::Show(error.failure, Page::new("Not undone", Section::Nowhere, main)))
            }
        }
    })
    .await
}
