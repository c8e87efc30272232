//! Home.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;

use crate::door::Visitor;
use crate::layout::{Page, Section};
use crate::site::Site;

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |site, _| {
        let listed = site.engine().tree(None, 0, None)?;
        let main = html! {
            h1 { "Your memory" }
            p #counts data-live="notes" { (listed.total) " notes and folders" }
        };
        Ok(Page::new("Home", Section::Home, main))
    })
    .await
}
