//! Giving a note another name or folder; the links that lead to it are written anew.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::response::Response;
use maud::html;
use memdir_core::action::{Action, RenameFile};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use serde::Deserialize;

use super::{note, notes};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::site::{Site, Then};

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    /// The new path.
    to: String,
}

pub(crate) async fn ask(State(site): State<Arc<Site>>, visitor: Visitor, Path(path): Path<String>) -> Response {
    site.show(&visitor, move |_, visitor| {
        let path = note::named(&path)?;
        Ok(page(visitor, &path, path.as_str(), None))
    })
    .await
}

pub(crate) async fn rename(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(path): Path<String>,
    Form(sent): Form<Sent>,
) -> Response {
    site.change(&visitor, move |site, visitor| {
        let path = note::named(&path)?;
        let renamed = note::named(&sent.to).and_then(|new_path| {
            let asked = RenameFile { path: path.clone(), new_path: new_path.clone() };
            Ok((site.act([Action::RenameFile(asked)])?, new_path))
        });
        match renamed {
            Ok((report, to)) => Ok(Then::Go { to: href::note(&to), notice: Notice::of_report(report) }),
            Err(failure) => Ok(Then::Show(failure.clone(), page(visitor, &path, &sent.to, Some(&failure)))),
        }
    })
    .await
}

fn page(visitor: &Visitor, path: &MemoryPath, to: &str, failure: Option<&Failure>) -> Page {
    let fields = html! {
        div .field {
            label for="to" { "New path" }
            input #to name="to" value=(to) required autocomplete="off" spellcheck="false";
            p .quiet { "With its folder, and `.md` at its end. Links to it are written anew." }
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
