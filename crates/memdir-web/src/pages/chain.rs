//! Whether the audit is whole, and all of it as a file.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use maud::{Markup, html};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_server::Lane;
use memdir_vault::AuditReport;
use serde::Deserialize;

use crate::door::Visitor;
use crate::layout::{self, Page, Section};
use crate::sent::Query;
use crate::site::Site;

/// What the person wants to have checked.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// There where it is to be checked.
    check: Option<String>,
    /// A head that was kept elsewhere.
    head: Option<String>,
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, _| {
        let end = site.engine().head()?;
        let said = asked.head.as_deref().map(str::trim).filter(|head| !head.is_empty());
        let check = || said.map(head).transpose().and_then(|head| site.engine().verify(head));
        let checked = asked.check.as_ref().map(|_| check());
        let main = html! {
            nav .trail aria-label="Above" { a href="/audit" { "Audit" } }
            h1 { "Verify the audit" }
            p { "Each entry is chained to the one before it. The head stands for all of them: keep it elsewhere, and check against it later." }
            dl .properties {
                dt { "Entries" } dd { (end.seq) }
                dt { "Head" } dd { code { (end.head) } }
            }
            @match &checked {
                Some(Ok(report)) => (result(report, said.is_some())),
                Some(Err(failure)) => (layout::problem(failure)),
                None => {},
            }
            form method="get" action="/audit/chain" {
                div .field {
                    label for="head" { "A head that you have kept (it need not be given)" }
                    input #head name="head" value=(said.unwrap_or_default()) autocomplete="off" spellcheck="false";
                }
                p .quiet {
                    "This computes the chain anew and reads every text that the history keeps: seconds in most memories, "
                    "minutes in a very large one. Nothing is changed."
                }
                button .main name="check" value="1" { "Check it now" }
            }
        };
        Ok(Page::new("Verify the audit", Section::Audit, main))
    })
    .await
}

/// Reads a head as it is shown, or only its hex digits.
fn head(text: &str) -> Result<Digest, Failure> {
    let read = Digest::parse(text).or_else(|_| Digest::parse(&format!("sha256:{text}")));
    read.map_err(|error| {
        Failure::new(Code::Usage, format!("this is no head: {error}"))
            .with_hint("give what this page has shown as the head")
    })
}

fn result(report: &AuditReport, has_head: bool) -> Markup {
    html! {
        div #result class={ @if report.ok { "notice" } @else { "problem" } } role="status" {
            p {
                b { @if report.ok { "The chain is whole" } @else { "The chain is broken" } }
                ": " (report.entries) " entries, " (report.forgotten) " of them forgotten."
                @if let Some(since) = report.since { " " (since) " came after the head that you gave." }
            }
            @if !report.problems.is_empty() {
                ul {
                    @for problem in &report.problems {
                        li { @if let Some(seq) = problem.seq { "Entry " (seq) ": " } (problem.message) }
                    }
                }
            }
            @if report.ok && !has_head {
                p .hint {
                    "This does not show whether the newest entries were cut off, or the whole chain computed anew: "
                    "that takes a head that was kept elsewhere."
                }
            }
        }
    }
}

/// All entries as JSON lines, read and sent some at a time.
pub(crate) async fn export(State(site): State<Arc<Site>>, _: Visitor) -> Response {
    let lines = stream::try_unfold((site, i64::MIN), async |(site, last)| {
        let reading = Arc::clone(&site);
        let read = site.served.run(Lane::Read, move || page(&reading, last)).await;
        // The download ends early, and the browser says so.
        let page = read.map_err(|_| "memdir is ending".to_owned())?.map_err(|failure| failure.message)?;
        Ok::<_, String>(page.map(|(lines, newest)| (lines, (site, newest))))
    });
    let headers =
        [(CONTENT_TYPE, "application/x-ndjson"), (CONTENT_DISPOSITION, "attachment; filename=\"memdir-audit.jsonl\"")];
    (headers, Body::from_stream(lines)).into_response()
}

/// The entries after one as lines, and the number of the last; `None` at the end.
fn page(site: &Site, last: i64) -> Result<Option<(Bytes, i64)>, Failure> {
    let records = site.engine().records(last)?;
    let Some(newest) = records.last().map(|record| record.seq) else { return Ok(None) };
    let mut lines = String::new();
    for record in &records {
        let line = serde_json::to_string(record).map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(Some((lines.into(), newest)))
}
