//! The pages, one file each, and their addresses.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::refusal::Refusal;
use crate::site::Site;
use crate::{assets, live};

mod home;
mod note;
mod notes;
mod undo;

/// Which address leads to which page.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(home::show))
        .route("/notes", get(notes::show))
        .route("/notes/", get(notes::show))
        .route("/notes/{*path}", get(note::show))
        .route("/undo", post(undo::undo))
        .route("/events", get(live::events))
        .route("/assets/{name}", get(assets::show))
        .method_not_allowed_fallback(async || Refusal::Method)
        .fallback(async || Refusal::Nowhere)
}
