//! The programs that may use the memory: what each may see and do, adding one, and taking its access away.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use serde::Deserialize;

use super::browsers;
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::person_files::{ClientToken, NewClient, RegisteredClient};
use crate::sent::{Form, Path};
use crate::site::{Site, Then};
use crate::text;
use crate::who::{colour, when};

/// So many programs that are not registered are listed.
const MOST_SEEN: usize = 50;

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |site, visitor| {
        let registered = site.person_files()?.clients()?;
        let seen = last_seen(site)?;
        let others = seen.iter().filter(|(name, _)| !registered.iter().any(|client| client.name == **name));
        let main = html! {
            h1 { "Clients" }
            p { a .button href="/new-client" { "Add a client" } }
            div #clients data-live="state" {
                @if registered.is_empty() { p { "No client is registered." } }
                @for client in &registered { (card(client, seen.get(&client.name))) }
                @if seen.len() > registered.len() || others.clone().next().is_some() {
                    h2 { "Seen without being registered" }
                    p .quiet {
                        "These programs have used the memory on this machine, on standard input and output or by a hook. "
                        "To hold one to less, add a client with its name."
                    }
                    ul .entries {
                        @for (name, time) in others.take(MOST_SEEN) {
                            li {
                                (named(name)) " last seen " (when(&time.to_string()))
                                " · " a href={ "/audit?client=" (href::value(name)) } { "What it did" }
                            }
                        }
                    }
                }
            }
            (browsers::list(site, visitor))
        };
        Ok(Page::new("Clients", Section::Clients, main))
    })
    .await
}

/// When each program called last, by any way in.
fn last_seen(site: &Site) -> Result<BTreeMap<String, Timestamp>, Failure> {
    let mut seen = BTreeMap::new();
    // The newest come first.
    for call in site.engine().last_calls()? {
        seen.entry(call.client).or_insert(call.time);
    }
    Ok(seen)
}

fn named(name: &str) -> Markup {
    html! { span class={ "who " (colour("mcp", Some(name))) } { (name) } }
}

fn address(name: &str) -> String {
    format!("/clients/{}", href::value(name))
}

fn card(client: &RegisteredClient, seen: Option<&Timestamp>) -> Markup {
    html! {
        article .card {
            h2 { a href=(address(&client.name)) { (named(&client.name)) } }
            @if client.is_expired { p { span .badge .bad { "its access has ended" } } }
            (rights(client))
            p .quiet { (last(seen)) }
            div .row {
                a .button href={ (address(&client.name)) "/notes" } { "The memory as it sees it" }
                a .button href={ "/audit?client=" (href::value(&client.name)) } { "What it did" }
                a .button .danger href={ (address(&client.name)) "/revoke" } { "Revoke" }
            }
        }
    }
}

fn last(seen: Option<&Timestamp>) -> Markup {
    html! { @match seen { Some(time) => { "Last seen " (when(&time.to_string())) }, None => "Never seen yet" } }
}

/// What a client may see and do.
fn rights(client: &RegisteredClient) -> Markup {
    html! {
        dl .properties {
            dt { "May read" } dd { (globs(&client.read)) }
            dt { "May write" } dd { (globs(&client.write)) }
            @if !client.hide.is_empty() { dt { "Hidden from it" } dd { (globs(&client.hide)) } }
            dt { "Actions" } dd { @match &client.actions { Some(names) => (names.join(", ")), None => "all" } }
            @if !client.tools.is_empty() { dt { "Tools of other servers" } dd { (client.tools.names().collect::<Vec<_>>().join(", ")) } }
            dt { "Requests" } dd { @match client.rate { Some(rate) => { "at most " (rate) " a minute" }, None => "no limit of its own" } }
            dt { "Ends" } dd { @match client.expires { Some(time) => (when(&time.to_string())), None => "never" } }
            dt { "Approval" } dd { @if client.may_approve { "the person who uses it can approve what waits" } @else { "only you can approve what waits" } }
            dt { "Since" } dd { (when(&client.created.to_string())) }
        }
    }
}

fn globs(globs: &[String]) -> Markup {
    html! {
        @match globs {
            [] => "nothing",
            [one] if one == "**" => "everything",
            globs => @for (glob, number) in globs.iter().zip(0..) { @if number > 0 { ", " } code { (glob) } },
        }
    }
}

/// The client of a name, as it is registered now.
pub(super) fn registered(site: &Site, name: &str) -> Result<RegisteredClient, Failure> {
    let found = site.person_files()?.clients()?.into_iter().find(|client| client.name == name);
    found.ok_or_else(|| {
        let message = format!("no client `{}` is registered for this memory", text::shortened(name, 64));
        Failure::new(Code::NotFound, message).with_hint("Clients lists those that are")
    })
}

/// The way back from a page of a client.
pub(super) fn trail(client: &str) -> Markup {
    html! {
        nav .trail aria-label="Above" { a href="/clients" { "Clients" } " / " a href=(address(client)) { (client) } }
    }
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor, Path(name): Path<String>) -> Response {
    site.show(&visitor, move |site, _| {
        let client = registered(site, &name)?;
        let seen = last_seen(site)?;
        let main = html! {
            nav .trail aria-label="Above" { a href="/clients" { "Clients" } }
            h1 { (client.name) }
            div #client data-live="state" { (card(&client, seen.get(&client.name))) }
        };
        Ok(Page::new(client.name.clone(), Section::Clients, main))
    })
    .await
}

pub(crate) async fn ask_revoke(State(site): State<Arc<Site>>, visitor: Visitor, Path(name): Path<String>) -> Response {
    site.show(&visitor, move |site, visitor| {
        let client = registered(site, &name)?;
        let main = html! {
            (trail(&client.name))
            h1 { "Revoke " (client.name) "?" }
            p { "Running servers refuse it from then on, and its token is worth nothing any more. What it has written stays. To let it in again, add it anew." }
            (layout::post(visitor, &format!("{}/revoke", address(&client.name)), html! {
                div .row {
                    button #revoke .danger { "Revoke" }
                    a .button href="/clients" { "Cancel" }
                }
            }))
        };
        Ok(Page::new(format!("Revoke {}", client.name), Section::Clients, main))
    })
    .await
}

/// A form without fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Nothing {}

pub(crate) async fn revoke(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(Nothing {}): Form<Nothing>,
) -> Response {
    site.change(&visitor, move |site, _| {
        site.person_files()?.revoke_client(&name)?;
        let words = format!("client {name} is revoked; running servers refuse it from now on");
        Ok(Then::Go { to: "/clients".to_owned(), notice: Notice::of(Some(words), None) })
    })
    .await
}

/// The form of a new client, as it was sent.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Sent {
    name: String,
    #[serde(default)]
    read: String,
    #[serde(default)]
    write: String,
    #[serde(default)]
    hide: String,
    #[serde(default)]
    tools: String,
    #[serde(default)]
    expires: String,
    #[serde(default)]
    rate: String,
    may_approve: Option<String>,
}

impl Sent {
    fn wanted(&self) -> Result<NewClient, Failure> {
        let list = |text: &str| {
            text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let rate = Some(self.rate.trim()).filter(|rate| !rate.is_empty()).map(|rate| {
            let failure = || {
                Failure::new(Code::Usage, "the rate is no number")
                    .with_hint("give how many requests a minute, such as 60")
            };
            rate.parse::<NonZeroU32>().map_err(|_| failure())
        });
        Ok(NewClient {
            name: self.name.trim().to_owned(),
            read: list(&self.read),
            write: list(&self.write),
            hide: list(&self.hide),
            tools: list(&self.tools),
            expires: Some(self.expires.trim().to_owned()).filter(|expires| !expires.is_empty()),
            rate: rate.transpose()?,
            may_approve: self.may_approve.is_some(),
        })
    }
}

pub(crate) async fn ask(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |_, visitor| Ok(form(visitor, &Sent::default(), None))).await
}

pub(crate) async fn add(State(site): State<Arc<Site>>, visitor: Visitor, Form(sent): Form<Sent>) -> Response {
    site.change(&visitor, move |site, visitor| {
        let added = sent.wanted().and_then(|wanted| site.person_files()?.add_client(wanted));
        match added {
            Ok(token) => Ok(Then::Page(token_page(site, sent.name.trim(), &token)?)),
            Err(failure) => Ok(Then::Show(failure.clone(), form(visitor, &sent, Some(&failure)))),
        }
    })
    .await
}

fn form(visitor: &Visitor, sent: &Sent, failure: Option<&Failure>) -> Page {
    let field = |name: &'static str, label: &str, hint: &str, value: &str| {
        html! {
            div .field {
                label for=(name) { (label) }
                input id=(name) name=(name) value=(value) autocomplete="off" spellcheck="false" aria-describedby={ (name) "-hint" } required[name == "name"];
                p .hint id={ (name) "-hint" } { (layout::code_spans(hint)) }
            }
        }
    };
    let fields = html! {
        (field("name", "Name", "Letters a to z, digits, `_` and `-`, such as claude-desktop.", &sent.name))
        (field("read", "May read", "Notes and folders with commas between them, such as work/**. Empty: everything.", &sent.read))
        (field("write", "May write", "The same; what it may write it may read too. Empty: nothing.", &sent.write))
        (field("hide", "Hidden from it", "The same; what does not exist for it, whatever else it may read.", &sent.hide))
        (field("tools", "Actions", "Names of actions, or `read` for all that only read. Empty: every one.", &sent.tools))
        (field("expires", "Ends", "After some days, such as 30d, or at a date. Empty: never.", &sent.expires))
        (field("rate", "Requests a minute", "Empty: as many as others may make.", &sent.rate))
        div .field {
            input #may_approve type="checkbox" name="may_approve" value="1" checked[sent.may_approve.is_some()];
            " " label for="may_approve" { "The person who uses it may approve what waits" }
        }
        div .row { button #add .main { "Add" } a .button href="/clients" { "Cancel" } }
    };
    let main = html! {
        nav .trail aria-label="Above" { a href="/clients" { "Clients" } }
        h1 { "Add a client" }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        (layout::post_kept(visitor, "/new-client", fields))
    };
    Page::new("Add a client", Section::Clients, main)
}

/// The one page that shows a token.
fn token_page(site: &Site, name: &str, token: &ClientToken) -> Result<Page, Failure> {
    let client = registered(site, name)?;
    let header = format!("Authorization: Bearer {}", token.reveal());
    let main = html! {
        (trail(name))
        h1 { (name) " is registered" }
        div .notice role="status" { p { "This is its token. It is shown this once; only a digest of it is kept." } }
        pre #token tabindex="0" { code { (header) } }
        p { button type="button" data-copy=(header) { "Copy" } }
        p {
            "Over HTTP the program sends this header to the address that " code { "memdir mcp --http" } " names. "
            "On standard input and output, " code { "memdir mcp --client " (name) } " is configuration and not security: "
            "a program that can start memdir can read the folder itself."
        }
        (rights(&client))
        p { a .button href={ (address(name)) "/notes" } { "The memory as it sees it" } }
    };
    Ok(Page::new(format!("{name} is registered"), Section::Clients, main))
}
