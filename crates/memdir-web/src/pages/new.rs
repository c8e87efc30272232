//! Making a note.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;
use memdir_core::action::{Action, CreateFile};
use memdir_core::report::Failure;
use serde::Deserialize;

use super::shown;
use crate::door::{Notice, Visitor};
use crate::layout::{self, Page, Section};
use crate::sent::{Form, Query};
use crate::site::{Site, Then};
use crate::{field, href};

/// Where it shall be.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    folder: Option<String>,
}

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    path: String,
    content: String,
}

pub(crate) async fn ask(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |_, visitor| {
        let path = asked.folder.map_or_else(String::new, |folder| format!("{folder}/"));
        Ok(page(visitor, &path, "", None))
    })
    .await
}

pub(crate) async fn make(State(site): State<Arc<Site>>, visitor: Visitor, Form(sent): Form<Sent>) -> Response {
    site.change(&visitor, move |site, visitor| {
        let made = shown::named(&sent.path).and_then(|path| {
            let path = if path.is_note() { path } else { shown::named(&format!("{path}.md"))? };
            let content = field::with_lf(&sent.content);
            let asked = CreateFile { path: path.clone(), content };
            Ok((site.act([Action::CreateFile(asked)])?, path))
        });
        match made {
            Ok((report, path)) => Ok(Then::Go { to: href::note(&path), notice: Notice::of_report(report) }),
            Err(failure) => Ok(Then::Show(failure.clone(), page(visitor, &sent.path, &sent.content, Some(&failure)))),
        }
    })
    .await
}

fn page(visitor: &Visitor, path: &str, content: &str, failure: Option<&Failure>) -> Page {
    let fields = html! {
        div .field {
            label for="path" { "Path" }
            input #path name="path" value=(path) required autocomplete="off" spellcheck="false" placeholder="people/anna.md";
        }
        div .field {
            label for="content" { "Text of the note" }
            textarea #content name="content" { "\n" (content) }
        }
        div .row {
            button #save .main { "Save" }
            a .button href="/notes" { "Cancel" }
        }
    };
    let main = html! {
        h1 { "New note" }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        (layout::post_kept(visitor, "/new", fields))
    };
    Page::new("New note", Section::Notes, main)
}
