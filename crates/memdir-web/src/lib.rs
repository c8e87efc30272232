//! The memory on a page: what is known, and every decision about it, in a browser on this machine.
//!
//! Owns addresses, HTML, and who is let in. It decides nothing about notes or permission: what it shows it asks the engine for, and
//! every change is a typed action of the person's that goes the way of a command's. All engine work is done on the threads of
//! [`ServedEngine`](memdir_server::ServedEngine), never on the one that serves.
//!
//! # To add a page
//!
//! 1. Write `pages/inbox.rs`: one function for each address. A reading one is five lines:
//!
//!    ```text
//!    pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
//!        site.show(&visitor, |site, visitor| Ok(Page::new("Inbox", Section::Inbox, html! { … }))).await
//!    }
//!    ```
//!
//!    One that changes something takes `Form(sent): Form<Sent>` and calls `Site::change`, which answers with
//!    `Then::Go` (an address and what was done, shown once above that page) or `Then::Show` (a page, for a conflict).
//!    Actions go through `Site::act`; approve, undo and forget call their own engine functions with `Site::person`.
//! 2. Name its addresses in `pages::routes`, and its place in the navigation in `layout::SECTIONS`.
//! 3. Every form is made by `layout::post`, which puts the token in; the guard refuses a POST without it, whatever the page does.
//! 4. Text of notes and of models goes into `html!` as `(text)`, which escapes it; Markdown goes through `markdown::render`.
//!    Nothing else makes HTML. Addresses of notes are made by `href`.
//! 5. What should follow changes by others stands in an element with an `id` and `data-live="notes"` (what notes say) or
//!    `data-live="state"` (history, inbox, audit, clients): the script fetches the page again and puts the new part in its place.
//!    Such a fetch has `Visitor::is_refresh` set; for a text that this browser was shown it leaves no trace in the audit.
//! 6. A page that shows text of notes reads them with `shown::read`, or names them to `shown::excerpts`: the audit says who was shown what.
//!
//! No inline script and no inline style works: the content policy forbids them. Classes are in `app.css`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use memdir_policy::Mode;
use memdir_server::{Limits, Names};
use tokio_util::sync::CancellationToken;

mod assets;
mod changes;
mod diff_lines;
mod door;
mod field;
mod glance;
mod guard;
mod href;
mod layout;
mod live;
mod markdown;
mod pages;
mod person_files;
mod refusal;
mod sent;
mod site;
mod talk;
#[cfg(test)]
mod tests;
mod text;
mod who;

pub use door::{DoorEvent, EntryCode};
pub use pages::settings::{Setting, SettingsShown};
pub use person_files::{ClientToken, NewClient, PersonFiles, RegisteredClient};
pub use site::Site;
pub use talk::ChatModel;

/// How the page is reached and what it may do.
#[derive(Clone, Debug)]
pub struct WebOptions {
    /// The port it is served at: cookies of a machine are shared by its ports, so that of this page is named after it.
    pub port: u16,
    /// Under which names besides those of this machine.
    pub names: Names,
    /// The folder, as the person names it.
    pub root: PathBuf,
    /// Whether Obsidian knows the folder as a vault.
    pub is_obsidian_vault: bool,
    /// Whether a desktop is there that opens a note in the person's editor.
    pub has_desktop: bool,
    /// What becomes of what the person does where somebody should be asked about it.
    pub mode: Mode,
}

/// Everything that the page answers, without a network. What goes on by itself ends when `stop` is cancelled.
pub fn web_routes(site: &Arc<Site>) -> Router {
    guard::guarded(pages::routes(), site)
}

/// Serves the page to who comes to `listener` until `stop` is cancelled; what is in hand then is answered, if that does not take
/// too long.
///
/// # Errors
///
/// What the system says when nothing can come in there.
pub async fn serve_web(
    listener: std::net::TcpListener,
    site: Arc<Site>,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()> {
    site.watch();
    let (routes, ends) = (web_routes(&site), Arc::clone(&site));
    memdir_server::serve(listener, routes, limits, stop, move || ends.close()).await
}
