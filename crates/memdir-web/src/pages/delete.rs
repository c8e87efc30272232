//! Deleting a note, which can be undone.

use axum::response::Response;
use maud::html;
use memdir_core::action::{Action, DeleteDir, DeleteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{notes, shown};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::sent::Form;
use crate::site::{Site, Then};

/// So many bytes of the note are shown once more.
const SHOWN: usize = 8 * 1024;

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    /// The digest of the note that was shown; none for a folder.
    digest: Option<String>,
}

pub(crate) async fn ask(request: NoteRequest) -> Response {
    request.show(move |site, visitor, path| page(site, visitor, path, None)).await
}

pub(crate) async fn delete(request: NoteRequest, Form(sent): Form<Sent>) -> Response {
    request
        .change(move |site, visitor, path| {
            let is_folder = site.engine().is_folder(path);
            let now = site.engine().text_of(path).map(|text| Digest::of(text.as_bytes()).to_string());
            if is_folder == sent.digest.is_some() || (now.is_some() && now != sent.digest) {
                let failure = Failure::new(Code::Conflict, format!("note `{path}` has changed since it was shown"))
                    .with_hint("look at it once more below");
                return Ok(Then::Show(failure.clone(), page(site, visitor, path, Some(&failure))?));
            }
            let action = match is_folder {
                true => Action::DeleteDir(DeleteDir { path: path.clone(), recursive: None }),
                false => Action::DeleteFile(DeleteFile { path: path.clone() }),
            };
            let to = path.parent().map_or_else(|| "/notes".to_owned(), |folder| href::note(&folder));
            Ok(Then::Go { to, notice: Notice::of_report(site.act([action])?) })
        })
        .await
}

fn page(site: &Site, visitor: &Visitor, path: &MemoryPath, failure: Option<&Failure>) -> Result<Page, Failure> {
    let is_folder = site.engine().is_folder(path);
    let text = if is_folder { None } else { Some(shown::read(site, visitor, path)?) };
    let sources = if is_folder { 0 } else { site.engine().surroundings(path, 0)?.backlinks.len() };
    let fields = html! {
        @if let Some((_, digest)) = &text { input type="hidden" name="digest" value=(digest); }
        div .row {
            button #save .danger { "Delete" }
            a .button href=(href::note(path)) { "Keep it" }
        }
    };
    let main = html! {
        (notes::trail(path))
        h1 { "Delete " (path.name()) "?" }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        p {
            "You can undo this. The history keeps what the note said; to erase it everywhere, forget it instead."
            @if sources > 0 { " " (sources) " links of other notes lead here, and would lead nowhere." }
        }
        (layout::post(visitor, &href::at("delete", path), fields))
        @if let Some((text, _)) = &text { pre .raw tabindex="0" { (layout::cut(text, SHOWN)) } }
    };
    Ok(Page::new(format!("Delete {}", path.name()), Section::Notes, main))
}
