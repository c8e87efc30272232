//! One note: its text, what it says as facts, and what is linked to it.

use std::collections::HashMap;

use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, FactState, Failure};
use memdir_engine::{FactsQuery, FoundFact};
use memdir_note::fact::{Fact, Place};
use memdir_note::{Note, link};
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{around, notes, picture, shown};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::markdown::{self, Links, PartWanted};
use crate::sent::Query;
use crate::site::{Site, Then};
use crate::{text, who};

/// So many notes are told of that are one and two links away.
const MOST_AROUND: usize = 60;
/// So many facts stand beside the text, each with where it comes from.
const MOST_FACTS: usize = 200;

/// Which part of it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// Of a long note, counted from 1.
    part: Option<usize>,
    /// The part in which this place is, where a link leads to one.
    place: Option<String>,
    /// Of a folder, where the list goes on.
    after: Option<String>,
}

pub(crate) async fn show(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request
        .show(move |site, visitor, path| {
            if site.engine().is_folder(path) {
                return notes::below(site, Some(path), asked.after.as_deref());
            }
            // A file that only has the name of a picture is shown as the text that it is.
            match href::is_picture(path).then(|| picture::page(site, visitor, path)) {
                Some(Err(failure)) if failure.code == Code::UnsupportedFile => {}
                Some(shown) => return shown,
                None => {}
            }
            page(site, visitor, path, &asked)
        })
        .await
}

fn page(site: &Site, visitor: &Visitor, path: &MemoryPath, asked: &Asked) -> Result<Page, Failure> {
    let (text, _) = shown::read(site, visitor, path)?;
    let around = site.engine().surroundings(path, MOST_AROUND)?;
    let note = Note::parse(&text);
    let links = Links::new(&around.links);
    let address = format!("{}?part=", href::note(path));
    let wanted = PartWanted { part: asked.part.unwrap_or(1), place: asked.place.as_deref(), address: Some(&address) };
    let rendered = markdown::render(&text, &links, wanted);
    let title = note.title().unwrap_or_else(|| path.stem().to_owned());
    // A note that begins with a heading of its own needs no other.
    let has_heading = note.headings().first().is_some_and(|heading| {
        heading.level == 1 && text.get(note.body()..heading.span.start).is_some_and(|before| before.trim().is_empty())
    });
    let (front, facts): (Vec<Fact>, Vec<Fact>) =
        note.facts().into_iter().partition(|fact| matches!(fact.place, Place::FrontMatter(_)));
    let query = FactsQuery { note: Some(path), all: true, why: true, limit: MOST_FACTS, ..FactsQuery::current() };
    // A history that cannot be used tells of no source; the note is shown all the same.
    let known = site.engine().facts(&query).map(|found| found.facts).unwrap_or_default();
    let known: HashMap<usize, &FoundFact> = known.iter().map(|fact| (fact.line, fact)).collect();
    let main = html! {
        (notes::trail(path))
        @if !has_heading || rendered.part > 1 { h1 { (title) } }
        div .sides {
            div {
                article #note .text data-live="notes" {
                    @if text.trim().is_empty() { p .quiet { "This note is empty." } }
                    (rendered.html)
                }
                (parts(path, rendered.part, rendered.parts))
                (tools(site, visitor, path))
            }
            aside #beside .beside data-live="notes" aria-label="About this note" {
                (facts_list("properties", "Properties", &front, &known, &links))
                (facts_list("facts", "Facts", &facts, &known, &links))
                (around::backlinks(site, visitor, path, &around))
                (around::broken(&around))
                (around::near(path, &around))
            }
        }
    };
    Ok(Page::new(title, Section::Notes, main))
}

/// Opens the note in the person's editor.
pub(crate) async fn open(request: NoteRequest) -> Response {
    request
        .change(move |site, _, path| {
            if !path.is_note() {
                // What a desktop does with another file is its own affair: it may run it.
                return Err(Failure::new(Code::UnsupportedFile, format!("`{path}` is not a note"))
                    .with_hint("open it yourself"));
            }
            let (_, _) = site.engine().read(path, &site.person())?;
            site.person_files()?.open_note(path)?;
            let notice = Notice::of(Some("Your editor opens the note.".to_owned()), None);
            Ok(Then::Go { to: href::note(path), notice })
        })
        .await
}

/// What can be done with the note.
fn tools(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Markup {
    let place = site.options.root.join(path.as_str());
    let place = place.to_string_lossy();
    html! {
        div #tools .row {
            a #edit .button href=(href::at("edit", path)) { "Edit" }
            a #rename .button href=(href::at("rename", path)) { "Rename" }
            a #delete .button href=(href::at("delete", path)) { "Delete" }
            a #history .button href=(href::at("changes", path)) { "History" }
            a #readers .button href=(href::at("readers", path)) { "Who read this" }
            a #forget .button href=(href::at("forget", path)) { "Forget" }
            @if site.options.is_obsidian_vault {
                a #obsidian .button href={ "obsidian://open?path=" (href::value(&place)) } { "Open in Obsidian" }
            }
            button #copy-path type="button" data-copy=(place) { "Copy its path" }
        }
        @if site.options.has_desktop && path.is_note() {
            (layout::post(visitor, &href::at("open", path), html! { button #open { "Open in your editor" } }))
        }
        p .quiet .path { (place) }
    }
}

/// The parts of a long note.
fn parts(path: &MemoryPath, part: usize, parts: usize) -> Markup {
    let at = |part: usize| format!("{}?part={part}", href::note(path));
    html! {
        @if parts > 1 {
            nav #parts .row aria-label="Parts of this note" {
                @if part > 1 { a .button rel="prev" href=(at(part - 1)) { "Before" } }
                span { "Part " (part) " of " (parts) }
                @if part < parts { a .button rel="next" href=(at(part + 1)) { "Next" } }
            }
        }
    }
}

fn facts_list(id: &str, title: &str, facts: &[Fact], known: &HashMap<usize, &FoundFact>, links: &Links) -> Markup {
    let (shown, left) = layout::fitting(
        facts.iter().take(MOST_FACTS).map(|fact| {
            html! {
                dt { (text::shortened(&fact.key, around::MOST_LETTERS)) }
                dd {
                    (value(&fact.value, links))
                    @if let Some(known) = known.get(&fact.line) {
                        @if known.state != FactState::Current { " " span .badge { (known.state) } }
                        @if let Some(source) = who::source(known) { small .source { (source) } }
                    }
                }
            }
        }),
        around::LIST_BYTES,
    );
    html! {
        @if !facts.is_empty() {
            section id=(id) {
                h2 { (title) }
                dl .properties { (shown) }
                (around::more(left + facts.len().saturating_sub(MOST_FACTS)))
            }
        }
    }
}

/// A value, as a link where it is nothing but one.
fn value(value: &str, links: &Links) -> Markup {
    let is_link = value.starts_with("[[") && value.find("]]").is_some_and(|end| end + 2 == value.len());
    let named = link::parse(value);
    match links.to(&named.path, &named.subpath).filter(|_| is_link) {
        Some(to) => html! { a href=(href::note(to)) { (named.text.as_deref().unwrap_or(&named.path)) } },
        None => html! { (text::shortened(&markdown::without_links(value), around::MOST_LETTERS)) },
    }
}
