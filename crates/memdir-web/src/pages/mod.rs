//! The pages, one file each, and their addresses.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use memdir_core::report::{Code, Failure};

use crate::refusal::Refusal;
use crate::site::Site;
use crate::{assets, live};

mod around;
mod as_client;
mod audit;
mod browsers;
mod chain;
mod chat;
mod clients;
mod conversations;
mod decide;
mod delete;
mod diary;
mod edit;
mod forget;
mod graph;
mod history;
mod home;
mod inbox;
mod line;
mod links;
mod new;
mod note;
mod note_request;
mod notes;
mod past;
mod picture;
mod readers;
mod rename;
mod restore;
mod review;
mod rules;
mod search;
pub(crate) mod settings;
mod shown;
mod tools;
mod undo;

/// Which address leads to which page.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(home::show))
        .route("/notes", get(notes::show))
        .route("/notes/", get(notes::show))
        .route("/notes/{*path}", get(note::show))
        .route("/pictures/{*path}", get(picture::bytes))
        .route("/new", get(new::ask).post(new::make))
        .route("/edit/{*path}", get(edit::show).post(edit::save))
        .route("/open/{*path}", post(note::open))
        .route("/rename/{*path}", get(rename::ask).post(rename::rename))
        .route("/delete/{*path}", get(delete::ask).post(delete::delete))
        .route("/search", get(search::show))
        .route("/review", get(review::show))
        .route("/answer", post(review::answer))
        .route("/confirm", post(review::confirm))
        .route("/line/{*path}", get(line::show).post(line::save))
        .route("/inbox", get(inbox::list))
        .route("/inbox/{id}", get(inbox::show).post(decide::decide))
        .route("/history", get(history::list))
        .route("/history/{batch}", get(history::show))
        .route("/changes/{*path}", get(history::of_note))
        .route("/restore/{*path}", get(restore::ask).post(restore::restore))
        .route("/audit", get(audit::list))
        .route("/audit/chain", get(chain::show))
        .route("/audit/export", get(chain::export))
        .route("/links/{*path}", get(links::show))
        .route("/readers/{*path}", get(readers::show))
        .route("/clients", get(clients::list))
        .route("/new-client", get(clients::ask).post(clients::add))
        .route("/clients/{name}", get(clients::show))
        .route("/clients/{name}/revoke", get(clients::ask_revoke).post(clients::revoke))
        .route("/clients/{name}/notes", get(as_client::list))
        .route("/clients/{name}/notes/{*path}", get(as_client::show))
        .route("/browsers/end", post(browsers::end))
        .route("/forget", get(forget::ask).post(forget::forget))
        .route("/forget/{*path}", get(forget::ask_note))
        .route("/conversations", get(conversations::list))
        .route("/conversations/{id}", get(conversations::show))
        .route("/hide/{*path}", get(conversations::ask_hide).post(conversations::hide))
        .route("/chat", get(chat::show).post(chat::say))
        .route("/chat/answer", post(chat::decide))
        .route("/chat/stop", post(chat::stop))
        .route("/tools", get(tools::list))
        .route("/tools/{name}", get(tools::show))
        .route("/settings", get(settings::show))
        .route("/past", get(past::list))
        .route("/past/{*path}", get(past::show))
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

/// A number in an address.
fn number(text: &str) -> Result<u64, Failure> {
    let failure =
        || Failure::new(Code::NotFound, "this address names no number").with_hint("follow the links of the pages");
    text.parse().map_err(|_| failure())
}
