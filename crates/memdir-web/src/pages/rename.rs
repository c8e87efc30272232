//! Giving a note another name or folder; the links that lead to it are written anew.

use axum::response::Response;
use maud::html;
use memdir_core::action::{Action, RenameFile};
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

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    /// The new path.
    to: String,
    /// The digest of the note when it was asked for; none for a folder.
    digest: Option<String>,
}

pub(crate) async fn ask(request: NoteRequest) -> Response {
    request.show(move |site, visitor, path| Ok(page(site, visitor, path, path.as_str(), None))).await
}

pub(crate) async fn rename(request: NoteRequest, Form(sent): Form<Sent>) -> Response {
    request
        .change(move |site, visitor, path| {
            let renamed = target(path, &sent.to).and_then(|new_path| {
                if digest_of(site, path) != sent.digest {
                    let failure = Failure::new(Code::Conflict, format!("note `{path}` has changed since it was shown"));
                    return Err(failure.with_hint("nothing was changed: look at the note, and rename it once more"));
                }
                let asked = RenameFile { path: path.clone(), new_path: new_path.clone() };
                Ok((site.act([Action::RenameFile(asked)])?, new_path))
            });
            match renamed {
                Ok((report, to)) => Ok(Then::Go { to: href::note(&to), notice: Notice::of_report(report) }),
                Err(failure) => Ok(Then::Show(failure.clone(), page(site, visitor, path, &sent.to, Some(&failure)))),
            }
        })
        .await
}

/// The path that is meant, as `memdir mv` takes it: a name alone renames in place, and a note stays a note.
fn target(path: &MemoryPath, to: &str) -> Result<MemoryPath, Failure> {
    let to = to.trim();
    let folder = path.parent().filter(|_| !to.contains('/'));
    let named = shown::named(&folder.map_or_else(|| to.to_owned(), |folder| format!("{folder}/{to}")))?;
    if path.is_note() && !named.is_note() { shown::named(&format!("{named}.md")) } else { Ok(named) }
}

fn digest_of(site: &Site, path: &MemoryPath) -> Option<String> {
    site.engine().text_of(path).map(|text| Digest::of(text.as_bytes()).to_string())
}

fn page(site: &Site, visitor: &Visitor, path: &MemoryPath, to: &str, failure: Option<&Failure>) -> Page {
    let fields = html! {
        @if let Some(digest) = digest_of(site, path) { input type="hidden" name="digest" value=(digest); }
        div .field {
            label for="to" { "New path" }
            input #to name="to" value=(to) required autocomplete="off" spellcheck="false";
            p .quiet { "A name alone keeps the folder. Links to it are updated." }
        }
        div .row {
            button #save .main { "Rename" }
            a .button href=(href::note(path)) { "Cancel" }
        }
    };
    let main = html! {
        (notes::trail(path))
        h1 { "Rename " (path.stem()) }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        (layout::post(visitor, &href::at("rename", path), fields))
    };
    Page::new(format!("Rename {}", path.stem()), Section::Notes, main)
}
