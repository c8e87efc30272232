//! Conversations that are kept: what was said, what it changed, and which notes each answer rests on.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_agent::{KeptMessage, supporting};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_plan::UNDO;
use memdir_policy::{Rule, Verdict};
use memdir_words::said;
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{notes, review, shown};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::markdown::{self, Links, PartWanted};
use crate::sent::{Form, Path, Query};
use crate::site::{Site, Then};
use crate::text;
use crate::who::when;

/// So many conversations are on a page.
const MOST: usize = 30;
/// So many bytes of messages.
const BYTES: usize = 64 * 1024;
/// So much of a message stands in a list, of a message and a reply on its page, and of a line.
const TITLE: usize = 100;
const LETTERS: usize = 6_000;
const LINE: usize = 200;
/// So many notes are told of that an answer rests on.
const NOTES: usize = 8;

/// Where a list goes on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    after: Option<usize>,
}

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, _| {
        let engine = site.engine();
        let all = engine.sessions()?;
        let from = asked.after.unwrap_or(0);
        let shown = all.iter().skip(from).take(MOST);
        let next = from + MOST;
        let main = html! {
            h1 { "Conversations" }
            div #conversations data-live="state" {
                @if all.is_empty() {
                    p { "No conversation is kept yet. " a href="/chat" { "Begin one" } ", or type " code { "memdir chat" } "." }
                }
                ul .hits {
                    @for kept in shown {
                        @let lines = engine.read_own_session(&kept.id).ok().flatten();
                        @let messages = lines.as_deref().map(KeptMessage::of);
                        li {
                            h2 { a href=(address(&kept.id)) { (title(messages.as_deref())) } }
                            p .quiet {
                                (when(&kept.changed.to_string()))
                                @if let Some(messages) = &messages { ", " (messages.len()) @if messages.len() == 1 { " message" } @else { " messages" } }
                                @else { ", not written by this memory" }
                            }
                        }
                    }
                }
                @if next < all.len() { p .more { a rel="next" href={ "/conversations?after=" (next) } { "More" } } }
            }
        };
        Ok(Page::new("Conversations", Section::Conversations, main))
    })
    .await
}

/// What a conversation is called: the first that was said in it.
pub(crate) fn title(messages: Option<&[KeptMessage]>) -> String {
    let said = messages.and_then(|messages| messages.iter().find(|message| !message.is_forgotten));
    said.map_or_else(|| "A conversation".to_owned(), |message| text::shortened(message.text.trim(), TITLE))
}

/// The page of a conversation.
pub(crate) fn address(id: &str) -> String {
    format!("/conversations/{}", href::value(id))
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let messages = messages(site, &id)?;
        let main = html! {
            nav .trail aria-label="Above" { a href="/conversations" { "Conversations" } }
            h1 { (title(Some(&messages))) }
            (talk(site, visitor, &id, &messages, asked.after.unwrap_or(0)))
            p { a .button href={ "/chat?session=" (href::value(&id)) } { "Continue" } }
        };
        Ok(Page::new("Conversation", Section::Conversations, main))
    })
    .await
}

/// The messages of a session that this memory has written.
pub(crate) fn messages(site: &Site, id: &str) -> Result<Vec<KeptMessage>, Failure> {
    let lines = site.engine().read_own_session(id)?.ok_or_else(|| {
        Failure::new(Code::NotFound, "no such conversation is kept here, or another program has changed its file")
            .with_hint("look for it under Conversations")
    })?;
    Ok(KeptMessage::of(&lines))
}

/// A link to the conversation of a change: what was said in it, with the model, where it is one of ours, else what its program did.
pub(crate) fn link(site: &Site, id: &str) -> Markup {
    // One that cannot be read is told of by the audit.
    let kept = site.engine().read_own_session(id).ok().flatten().map(|lines| KeptMessage::of(&lines));
    match kept {
        Some(messages) => html! {
            a href=(address(id)) { (title(Some(&messages))) }
            @if let Some(model) = messages.last().and_then(|message| message.model.as_deref()) { " with " (text::shortened(model, TITLE)) }
        },
        None => html! { a href={ "/audit?session=" (href::value(id)) } { (text::shortened(id, TITLE)) } },
    }
}

/// What was said, as much of it as fits on a page.
pub(crate) fn talk(site: &Site, visitor: &Visitor, id: &str, messages: &[KeptMessage], after: usize) -> Markup {
    let shown = messages.iter().skip(after).map(|message| one(site, visitor, message));
    let (shown, left) = layout::fitting(shown, BYTES);
    html! {
        div #talk data-live="state" {
            (shown)
            @if left > 0 { p .more { a rel="next" href={ (address(id)) "?after=" (messages.len() - left) } { "More" } } }
        }
    }
}

/// A message, its reply, and what stands behind it.
fn one(site: &Site, visitor: &Visitor, message: &KeptMessage) -> Markup {
    if message.is_forgotten {
        return html! { article .message { p .quiet { "Message " (message.number) " was forgotten." } } };
    }
    let reply = message.reply.as_deref().map(|reply| layout::cut(reply, LETTERS));
    html! {
        article .message id={ "message-" (message.number) } {
            h2 { "You" @if let Some(time) = message.time { " " small { (when(&time.to_string())) } } }
            p .raw { (text::shortened(&message.text, LETTERS)) }
            h3 { "Answer" }
            @match &reply {
                Some(reply) => div .text { (markdown::render(reply, &Links::default(), PartWanted::FIRST).html) },
                None => p .quiet { @if message.is_failed { "It was not answered to its end." } @else { "There is no reply." } },
            }
            @if let Some(notice) = &message.notice { p .hint { (layout::sentence(&said::notice(notice))) } }
            ul .lines {
                @for (receipt, batch) in &message.changes {
                    li {
                        span { (receipt.strip_suffix(UNDO).unwrap_or(receipt)) }
                        @if let Some(batch) = batch { a .button .small href={ "/history/" (batch) } { "See the change" } }
                    }
                }
            }
            @if message.changes.is_empty() { p .quiet { "Nothing was stored." } }
            @if message.is_proposed { p .quiet { "A change was proposed. What still waits is " a href="/inbox" { "in the inbox" } "." } }
            (behind(site, visitor, message))
        }
    }
}

/// The notes that an answer rests on, each with what can be said of it.
fn behind(site: &Site, visitor: &Visitor, message: &KeptMessage) -> Markup {
    let reply = message.reply.as_deref().unwrap_or_default();
    html! {
        @if !message.rests_on.is_empty() {
            details .behind {
                summary { "Rests on " (message.rests_on.len()) @if message.rests_on.len() == 1 { " note" } @else { " notes" } }
                @for path in message.rests_on.iter().take(NOTES) { (note_behind(site, visitor, path, reply)) }
                @if message.rests_on.len() > NOTES { p .quiet { "and " (message.rests_on.len() - NOTES) " more" } }
            }
        }
    }
}

fn note_behind(site: &Site, visitor: &Visitor, path: &MemoryPath, reply: &str) -> Markup {
    let text = site.engine().text_of(path);
    let lines = text.as_deref().map(|text| supporting(reply, text)).unwrap_or_default();
    if !lines.is_empty() {
        shown::excerpts(site, visitor, [path]);
    }
    let at = |line: usize| review::line_address(path, line);
    html! {
        div .card {
            p .of { a href=(href::note(path)) { (path) } @if text.is_none() { span .quiet { " is not there any more" } } }
            ul .lines {
                @for (number, line) in &lines {
                    li {
                        span { (text::shortened(line.trim(), LINE)) }
                        span .decide {
                            a .button .small href=(at(*number)) { "Wrong" span .unseen { ": line " (number) " of " (path) } }
                            a .button .small href={ (at(*number)) "&outdated=true#to" } { "Outdated" span .unseen { ": line " (number) " of " (path) } }
                        }
                    }
                }
            }
            div .row {
                @if lines.is_empty() && text.is_some() { a .button .small href=(href::at("edit", path)) { "Wrong" span .unseen { ": " (path) } } }
                a .button .small href=(href::at("hide", path)) { "Never show this" span .unseen { ": " (path) } }
                a .button .small href=(href::at("readers", path)) { "Who read this" span .unseen { ": " (path) } }
            }
        }
    }
}

/// The rule by which nobody reads or finds a note through memdir's actions.
fn hiding(path: &MemoryPath) -> Rule {
    Rule {
        action: Some("read_file".to_owned()),
        path: Some(path.to_string()),
        client: None,
        detector: None,
        verdict: Verdict::Deny,
    }
}

pub(crate) async fn ask_hide(request: NoteRequest) -> Response {
    request.show(move |_, visitor, path| {
        let main = html! {
            (notes::trail(path))
            h1 { "Never show " (path.stem()) " to a program?" }
            p { "A rule is added to your settings: " code { (hiding(path)) } }
            p { "From then on no model and no program reads or finds this note through memdir, also where it runs already. It stays in the folder, and "
                "you still open it here." }
            p { "To take it back: " code { "memdir rules" } " shows its number, and " code { "memdir rules remove NUMBER" } " removes it." }
            (layout::post(visitor, &href::at("hide", path), html! {
                div .row {
                    button #hide .danger { "Never show it" }
                    a .button href=(href::note(path)) { "Cancel" }
                }
            }))
        };
        Ok(Page::new("Never show this", Section::Notes, main))
    })
    .await
}

pub(crate) async fn hide(request: NoteRequest, Form(_): Form<Vec<(String, String)>>) -> Response {
    request.change(move |site, _, path| {
        if path.as_str().contains(['*', '?', '[', ']', '{', '}', '\\']) {
            return Err(Failure::new(
                Code::Usage,
                format!("`{path}` has characters that mean something else in a rule"),
            )
            .with_hint("rename the note first"));
        }
        let number = site.person_files()?.add_rule(&hiding(path))?;
        let text = format!(
            "rule {number} is in your settings: no program is shown {path} through memdir from now on. Take that back with \
             `memdir rules remove {number}`"
        );
        Ok(Then::Go { to: href::note(path), notice: Notice::of(Some(text), None) })
    })
    .await
}
