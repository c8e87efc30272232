//! The tools of other servers: which there are, who may call them, whether they are as they were approved, and what was called.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_agent::{KeptMessage, Session};
use memdir_core::report::{Code, Failure};
use memdir_plan::count;
use memdir_tools::{PinState, ServerHealth, ServerName, ServerState, Tool, Toolbox};
use memdir_vault::{AuditQuery, SessionInfo, ToolFilter};

use super::{audit, conversations};
use crate::door::Visitor;
use crate::href;
use crate::layout::{Page, Section};
use crate::sent::Path;
use crate::site::Site;
use crate::text;

/// So much of what a server says of a tool is shown.
const LETTERS: usize = 300;
/// So many tools are listed.
const MOST_TOOLS: usize = 200;
/// So many of the last calls.
const MOST_CALLS: usize = 30;
/// How many of the newest conversations are searched for switched-on servers.
const MOST_CONVERSATIONS: usize = 30;

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, move |site, _| {
        let servers = site.toolbox().map(Toolbox::servers).unwrap_or_default();
        let main = html! {
            h1 { "Tools" }
            p { "Programs and services that speak MCP. Their tools are switched off in every conversation until you switch them on." }
            div #servers data-live="state" {
                @if servers.is_empty() {
                    p { "No server is added yet: " code { "memdir tools add NAME -- COMMAND" } " adds one, "
                        code { "memdir tools import" } " takes over those of another assistant." }
                }
                div .cards { @for server in &servers { (card(server)) } }
            }
            @if !servers.is_empty() {
                section #calls data-live="state" aria-labelledby="calls-title" {
                    h2 #calls-title { "Last calls" }
                    (calls(site, None)?)
                }
            }
        };
        Ok(Page::new("Tools", Section::Tools, main))
    })
    .await
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor, Path(name): Path<String>) -> Response {
    site.show(&visitor, move |site, _| {
        let missing = || {
            let failure = Failure::new(Code::NotFound, "no server of this name is added");
            failure.with_hint("look for it under Tools")
        };
        let name = ServerName::parse(&name).map_err(|_| missing())?;
        let toolbox = site.toolbox().ok_or_else(missing)?;
        let server = toolbox.servers().into_iter().find(|server| server.name == name).ok_or_else(missing)?;
        let tools = toolbox.tools();
        let tools: Vec<&Tool> = tools.iter().filter(|tool| tool.server == name).collect();
        let main = html! {
            nav .trail aria-label="Above" { a href="/tools" { "Tools" } }
            h1 { (name) }
            div #server data-live="state" {
                p { (state(&server)) }
                @if server.unapproved > 0 {
                    p .hint { (changed(server.unapproved)) " See the change, and settle it: " code { "memdir tools approve " (name) } }
                }
                (who(site, &server)?)
                h2 { (count(tools.len(), "tool")) }
                ul .hits { @for tool in tools.iter().take(MOST_TOOLS) { (about(tool)) } }
                @if tools.len() > MOST_TOOLS { p .quiet { "and " (tools.len() - MOST_TOOLS) " more" } }
            }
            section #calls data-live="state" aria-labelledby="calls-title" {
                h2 #calls-title { "Last calls" }
                (calls(site, Some(&name))?)
            }
        };
        Ok(Page::new(name.to_string(), Section::Tools, main))
    })
    .await
}

fn card(server: &ServerState) -> Markup {
    html! {
        div .card {
            h3 { a href={ "/tools/" (server.name) } { (server.name) } }
            p { (state(server)) }
            @if server.unapproved > 0 { p .hint { (changed(server.unapproved)) } }
        }
    }
}

fn changed(unapproved: usize) -> String {
    match unapproved {
        1 => "1 tool is new or has changed since you approved it, and cannot be called.".to_owned(),
        more => format!("{more} tools are new or have changed since you approved them, and cannot be called."),
    }
}

/// How a server is, in words.
fn state(server: &ServerState) -> Markup {
    html! {
        @if server.enabled {
            (count(server.tools, "tool")) ", "
            @match &server.health {
                ServerHealth::Idle if !server.approved => { "not approved yet: " code { "memdir tools approve " (server.name) } }
                ServerHealth::Idle => "not needed yet",
                ServerHealth::Starting => "starting",
                ServerHealth::Ready { protocol } => { "running, protocol " (protocol) }
                ServerHealth::Failed { problem } => { span .broken { "not reached: " (text::shortened(problem, LETTERS)) } }
            }
            "."
        } @else { "Disabled. " code { "memdir tools enable " (server.name) } }
    }
}

/// Which programs may call its tools.
fn who(site: &Site, server: &ServerState) -> Result<Markup, Failure> {
    let clients = site.person_files()?.clients()?;
    let granted: Vec<_> = clients.iter().filter(|client| client.tools.reaches(&server.name)).collect();
    Ok(html! {
        h2 { "Who may call them" }
        ul {
            li { "You, and a conversation in which you switch them on: " code { "memdir ask --tools " (server.name) } ", " code { "/tools on " (server.name) } }
            @for client in granted { li { a href={ "/clients/" (href::value(&client.name)) } { (client.name) } } }
        }
        (switched_on(site, &server.name)?)
    })
}

/// In which of the newest conversations it is switched on.
fn switched_on(site: &Site, server: &ServerName) -> Result<Markup, Failure> {
    let engine = site.engine();
    let of_it = |kept: SessionInfo| {
        let lines = engine.read_own_session(&kept.id).ok().flatten()?;
        let session = Session::of(&kept.id, &lines).ok()?;
        let title = || conversations::title(Some(&KeptMessage::of(&lines)));
        session.switches.tools.contains(server).then(|| (kept.id, title()))
    };
    let found: Vec<_> = engine.sessions()?.into_iter().take(MOST_CONVERSATIONS).filter_map(of_it).collect();
    Ok(html! {
        h2 { "Switched on" }
        @if found.is_empty() { p .quiet { "In none of the " (MOST_CONVERSATIONS) " newest conversations." } }
        ul { @for (id, title) in &found { li { a href=(conversations::address(id)) { (title) } } } }
    })
}

/// A tool, with what holds for it.
fn about(tool: &Tool) -> Markup {
    html! {
        li {
            h3 { code { (tool.name) } }
            p {
                span .badge { (tool.permission.as_str()) }
                @match tool.pin {
                    PinState::Approved => {}
                    PinState::Changed => { " " span .badge .bad { "changed" } }
                    PinState::New => { " " span .badge .bad { "new" } }
                }
                " " span .quiet { (text::shortened(tool.description().trim(), LETTERS)) }
            }
        }
    }
}

/// The newest calls of all servers, or of one.
fn calls(site: &Site, server: Option<&ServerName>) -> Result<Markup, Failure> {
    let tools = Some(ToolFilter { server: server.map(ToString::to_string), tool: None });
    let page = site.engine().audit_page(&AuditQuery { tools, limit: MOST_CALLS, ..AuditQuery::default() }, None)?;
    Ok(html! {
        @if page.entries.is_empty() { p .quiet { "None yet." } }
        ol .entries { @for line in &page.entries { (audit::entry(line)) } }
        p .quiet { code { "memdir undo --server " @match server { Some(name) => (name), None => "NAME" } } " takes back what was written in conversations with a server." }
    })
}
