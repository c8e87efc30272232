//! The browsers that are in: a list among the clients, and a button that puts one out.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::report::{Code, Failure};
use serde::Deserialize;

use crate::door::{Notice, Visitor};
use crate::layout;
use crate::sent::Form;
use crate::site::{Site, Then};
use crate::who::when;

/// The browsers that are in, this one among them.
pub(super) fn list(site: &Site, visitor: &Visitor) -> Markup {
    let now = site.engine().now();
    html! {
        h2 #browsers-title { "Open sessions" }
        ul #browsers .entries aria-labelledby="browsers-title" {
            @for browser in site.door.browsers() {
                li .browser {
                    span {
                        (browser.name) ", let in " (when(&now.minus(browser.age).to_string()))
                        @if visitor.is(browser.number) { " " span .badge .good { "this one" } }
                    }
                    (layout::post(visitor, "/browsers/end", html! {
                        input type="hidden" name="browser" value=(browser.number);
                        button .small { "End this session" }
                    }))
                }
            }
        }
    }
}

/// Which one goes.
#[derive(Debug, Deserialize)]
pub(crate) struct Ended {
    browser: u64,
}

pub(crate) async fn end(State(site): State<Arc<Site>>, visitor: Visitor, Form(ended): Form<Ended>) -> Response {
    site.change(&visitor, move |site, _| {
        if !site.door.end(ended.browser) {
            let failure = Failure::new(Code::NotFound, "this session has ended already");
            return Err(failure.with_hint("Clients lists the open ones"));
        }
        let notice = Notice { text: "The session is ended".to_owned(), ..Notice::default() };
        Ok(Then::Go { to: "/clients".to_owned(), notice })
    })
    .await
}
