//! The audit: who did what and when, found by program, note, action, time and way in.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::action::NAMES;
use memdir_core::report::{Code, Failure};
use memdir_vault::{AuditLine, AuditPage, AuditQuery, ToolFilter};
use memdir_words::{ago, said};
use serde::Deserialize;

use crate::door::Visitor;
use crate::layout::{self, Page, Section};
use crate::sent::Query;
use crate::site::Site;
use crate::text;
use crate::who::{when, who};
use crate::{changes, href};

/// So many entries are on one page, if they are not more bytes than this.
const MOST_ENTRIES: usize = 50;
const MOST_BYTES: usize = 72 * 1024;
/// So many notes that an answer showed are named.
const MOST_NAMED: usize = 5;
/// The ways in that there are.
const DOORS: &[&str] = &["cli", "web", "exec", "chat", "ask", "mcp", "hook", "library"];
/// What memdir notes by itself, beside the actions.
const OWN: &[&str] = &["approve", "brief", "expire", "forget", "given_back", "reject", "relink", "restore", "undo"];

/// What is looked for; an empty field asks nothing.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    client: Option<String>,
    door: Option<String>,
    action: Option<String>,
    session: Option<String>,
    server: Option<String>,
    tool: Option<String>,
    note: Option<String>,
    from: Option<String>,
    to: Option<String>,
    before: Option<i64>,
}

impl Asked {
    /// The fields that ask something, by their names.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let fields = [
            ("client", &self.client),
            ("door", &self.door),
            ("action", &self.action),
            ("session", &self.session),
            ("server", &self.server),
            ("tool", &self.tool),
            ("note", &self.note),
            ("from", &self.from),
            ("to", &self.to),
        ];
        fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?.trim())).filter(|(_, value)| !value.is_empty()))
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The address of the same question, for what follows it.
    fn address(&self) -> String {
        let fields = self.fields().map(|(name, value)| format!("{name}={}&", href::value(value)));
        format!("/audit?{}", fields.collect::<String>())
    }

    fn query(&self) -> Result<AuditQuery, Failure> {
        let time = |name: &str, read: fn(&str) -> Option<_>| {
            let said = self.field(name);
            said.map(|text| read(text).ok_or_else(|| no_day(text))).transpose()
        };
        let text = |name: &str| self.field(name).map(str::to_owned);
        let is_of_tools = self.field("server").or(self.field("tool")).is_some();
        Ok(AuditQuery {
            client: text("client"),
            door: text("door"),
            action: text("action"),
            session: text("session"),
            tools: is_of_tools.then(|| ToolFilter { server: text("server"), tool: text("tool") }),
            since: time("from", ago::since)?,
            until: time("to", ago::day_end)?,
            limit: MOST_ENTRIES,
            before: self.before,
        })
    }
}

fn no_day(text: &str) -> Failure {
    let message = format!("`{}` is no day", text::shortened(text, 40));
    Failure::new(Code::Usage, message).with_hint("give a date such as `2026-11-20`")
}

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, _| {
        let found = find(site, &asked);
        let main = html! {
            h1 { "Audit" }
            p { a href="/audit/chain" { "Verify the audit" } " · " a href="/audit/export" download { "Export as JSON lines" } }
            (form(&asked))
            div #entries data-live="state" {
                @match &found {
                    Err(failure) => (layout::problem(failure)),
                    Ok(page) => (entries(&asked, page)),
                }
            }
        };
        Ok(Page::new("Audit", Section::Audit, main))
    })
    .await
}

fn find(site: &Site, asked: &Asked) -> Result<AuditPage, Failure> {
    let note = asked.field("note").map(|note| site.engine().note_named(note)).transpose()?;
    site.engine().audit_page(&asked.query()?, note.as_ref())
}

fn form(asked: &Asked) -> Markup {
    let text = |name: &'static str, label: &str, kind: &str, list: Option<&str>| {
        html! {
            div .field {
                label for=(name) { (label) }
                input id=(name) name=(name) type=(kind) value=(asked.field(name).unwrap_or_default()) list=[list] autocomplete="off";
            }
        }
    };
    html! {
        form .filters action="/audit" method="get" {
            (text("client", "Program", "text", None))
            (text("note", "Note", "text", None))
            (text("action", "Action", "text", Some("actions")))
            div .field {
                label for="door" { "Way in" }
                select #door name="door" {
                    option value="" { "Any" }
                    @for door in DOORS { option value=(door) selected[asked.field("door") == Some(*door)] { (door) } }
                }
            }
            (text("from", "From day", "date", None))
            (text("to", "To day", "date", None))
            @if let Some(session) = asked.field("session") { input type="hidden" name="session" value=(session); }
            datalist #actions { @for name in NAMES.iter().chain(OWN) { option value=(name) {} } }
            div .row { button .main { "Show" } @if asked.fields().next().is_some() { a .button href="/audit" { "Show all" } } }
        }
    }
}

fn entries(asked: &Asked, page: &AuditPage) -> Markup {
    let (shown, left) = layout::fitting(page.entries.iter().map(entry), MOST_BYTES);
    let cursor = if left == 0 { page.cursor } else { page.entries.iter().rev().nth(left).map(|last| last.seq) };
    html! {
        @if let Some(session) = asked.field("session") { p { "Of the conversation " b { (session) } "." } }
        @if page.entries.is_empty() {
            p { @if cursor.is_some() { "None among the newest of these." } @else { "No entry matches." } }
        }
        ol .entries { (shown) }
        @if let Some(cursor) = cursor {
            p .more { a #more rel="next" href={ (asked.address()) "before=" (cursor) } { "Older" } }
        }
    }
}

pub(super) fn entry(line: &AuditLine) -> Markup {
    html! {
        li id={ "entry-" (line.seq) } {
            span .quiet { (when(&line.time.to_string())) }
            " " (who(&line.door, line.client.as_deref()))
            " " code { (line.action) }
            @if let Some(path) = &line.path { " " (changes::name(path)) }
            @if !line.shown.is_empty() {
                " " span .quiet { "shown:" }
                @for name in line.shown.iter().take(MOST_NAMED) { " " (changes::name(name)) }
                @if let more @ 1.. = line.shown.len().saturating_sub(MOST_NAMED) { " and " (more) " more" }
            }
            @if line.is_forgotten { " " span .badge { "forgotten" } }
            @if let Some(code) = &line.code { " " span .badge .bad { (said::code(code).replace('_', " ")) } }
            @if !matches!(line.permission.as_str(), "off" | "refused") { " " span .badge { "permission: " (line.permission) } }
            @if let Some(batch) = line.batch { " " a href={ "/history/" (batch) } { "change " (batch) } }
        }
    }
}
