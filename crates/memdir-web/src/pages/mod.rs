//! The pages, one file each, and their addresses.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::refusal::Refusal;
use crate::site::Site;
use crate::{assets, live};

mod delete;
mod edit;
mod graph;
mod home;
mod new;
mod note;
mod notes;
mod rename;
mod search;
mod undo;

/// Which address leads to which page.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(home::show))
        .route("/notes", get(notes::show))
        .route("/notes/", get(notes::show))
        .route("/notes/{*path}", get(note::show))
        .route("/new", get(new::ask).post(new::make))
        .route("/edit/{*path}", get(edit::show).post(edit::save))
        .route("/rename/{*path}", get(rename::ask).post(rename::rename))
        .route("/delete/{*path}", get(delete::ask).post(delete::delete))
        .route("/search", get(search::show))
        .route("/undo", post(undo::undo))
        .route("/events", get(live::events))
        .route("/assets/{name}", get(assets::show))
        .method_not_allowed_fallback(async || Refusal::Method)
        .fallback(async || Refusal::Nowhere)
}

/// The page that a form wants to go back to, if it is one of ours.
fn back(wanted: Option<String>) -> String {
    wanted
        .filter(|to| to.starts_with('/') && !to.starts_with("//") && !to.contains('\\'))
        .unwrap_or_else(|| "/".to_owned())
}
