//! One note: its text, what it says as facts, and what is linked to it.

use std::collections::{BTreeSet, HashMap};

use axum::response::Response;
use maud::{Markup, html};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, FactState, Failure, LinkEntry, LinkStatus};
use memdir_engine::{FactsQuery, FoundFact, Surroundings};
use memdir_note::fact::{Fact, Place};
use memdir_note::{Note, link};
use memdir_plan::NoteChange;
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{graph, home, notes, picture};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::markdown::{self, Links};
use crate::sent::Query;
use crate::site::{Site, Then};

/// So many notes are told of that are one and two links away.
const MOST_AROUND: usize = 60;
/// So many facts stand beside the text, each with where it comes from.
const MOST_FACTS: usize = 200;
/// How many bytes of the page each list beside the text may have.
const LIST_BYTES: usize = 9 * 1024;
/// So much of a value or a line is shown beside the text.
const MOST_LETTERS: usize = 240;
/// So much of a title stands for a note on another page.
const MOST_TITLE: usize = 80;

/// Which part of it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// Of a long note, counted from 1.
    part: Option<usize>,
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
            match picture::is_one(path).then(|| picture::page(site, path)) {
                Some(Err(failure)) if failure.code == Code::UnsupportedFile => {}
                Some(shown) => return shown,
                None => {}
            }
            page(site, visitor, path, asked.part.unwrap_or(1))
        })
        .await
}

fn page(site: &Site, visitor: &Visitor, path: &MemoryPath, part: usize) -> Result<Page, Failure> {
    let (text, _) = read(site, visitor, path)?;
    let around = site.engine().surroundings(path, MOST_AROUND)?;
    let note = Note::parse(&text);
    let links = Links::new(&around.links);
    let rendered = markdown::render(&text, &links, part);
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
        @if !has_heading || part > 1 { h1 { (title) } }
        div .sides {
            div {
                article #note .text data-live="notes" {
                    @if text.trim().is_empty() { p .quiet { "This note is empty." } }
                    (rendered.html)
                }
                (parts(path, part.clamp(1, rendered.parts), rendered.parts))
                (tools(site, visitor, path))
            }
            aside #beside .beside data-live="notes" aria-label="About this note" {
                (facts_list("properties", "Properties", &front, &known, &links))
                (facts_list("facts", "Facts", &facts, &known, &links))
                (backlinks(site, &around))
                (broken(&around))
                (near(path, &around))
            }
        }
    };
    Ok(Page::new(title, Section::Notes, main))
}

/// Reads a note and gives its digest. The audit notes it, unless the script fetches again the very text that this browser was shown.
pub(crate) fn read(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Result<(String, Digest), Failure> {
    if visitor.is_refresh()
        && let Some(text) = site.engine().text_of(path)
    {
        let digest = Digest::of(text.as_bytes());
        if visitor.was_shown(path, digest) {
            return Ok((text, digest));
        }
    }
    let (text, digest) = site.engine().read(path, &site.person())?;
    visitor.is_shown(path, digest);
    Ok((text, digest))
}

/// Notes in the audit that something of these notes stands on a page that is not their own: once for each text of a note that this
/// browser is shown. What is no note any more is passed over.
pub(crate) fn excerpts<'p>(site: &Site, visitor: &Visitor, paths: impl IntoIterator<Item = &'p MemoryPath>) {
    let paths: BTreeSet<&MemoryPath> = paths.into_iter().collect();
    for path in paths {
        let text = site.engine().text_of(path);
        if text.is_some_and(|text| !visitor.was_shown(path, Digest::of(text.as_bytes()))) {
            // It was there a moment ago; if not, nothing was shown.
            let _ = read(site, visitor, path);
        }
    }
}

/// Whether any of these notes has a text that this browser has not been shown.
pub(super) fn are_new<'p>(site: &Site, visitor: &Visitor, paths: impl IntoIterator<Item = &'p MemoryPath>) -> bool {
    let digest = |path| site.engine().text_of(path).map(|text| Digest::of(text.as_bytes()));
    paths.into_iter().any(|path| digest(path).is_some_and(|digest| !visitor.was_shown(path, digest)))
}

/// These notes are shown now, and the audit has an entry of it.
pub(super) fn are_shown<'p>(site: &Site, visitor: &Visitor, paths: impl IntoIterator<Item = &'p MemoryPath>) {
    for path in paths {
        if let Some(text) = site.engine().text_of(path) {
            visitor.is_shown(path, Digest::of(text.as_bytes()));
        }
    }
}

/// As [`excerpts`], of the notes that changes are of.
pub(crate) fn changed(site: &Site, visitor: &Visitor, changes: &[NoteChange]) {
    let paths: Vec<MemoryPath> = changes.iter().filter_map(|change| MemoryPath::parse(&change.name).ok()).collect();
    excerpts(site, visitor, &paths);
}

/// What a note calls itself, in the first heading of its own, else in its name.
pub(super) fn title(site: &Site, path: &MemoryPath) -> String {
    let title = site.engine().text_of(path).and_then(|text| Note::parse(&text).title());
    layout::shortened(title.as_deref().unwrap_or(path.stem()), MOST_TITLE)
}

/// The path that an address names.
pub(crate) fn named(path: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(path.trim_end_matches('/'))
        .map_err(|error| Failure::new(Code::InvalidPath, error.to_string()).with_hint("look for the note under Notes"))
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
                dt { (layout::shortened(&fact.key, MOST_LETTERS)) }
                dd {
                    (value(&fact.value, links))
                    @if let Some(known) = known.get(&fact.line) {
                        @if known.state != FactState::Current { " " span .badge { (known.state) } }
                        @if let Some(source) = home::source(known) { small .source { (source) } }
                    }
                }
            }
        }),
        LIST_BYTES,
    );
    html! {
        @if !facts.is_empty() {
            section id=(id) {
                h2 { (title) }
                dl .properties { (shown) }
                (more(left + facts.len().saturating_sub(MOST_FACTS)))
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
        None => html! { (layout::shortened(&markdown::without_links(value), MOST_LETTERS)) },
    }
}

pub(super) fn backlinks(site: &Site, around: &Surroundings) -> Markup {
    let line_of = |link: &LinkEntry| {
        let text = site.engine().text_of(&link.source).unwrap_or_default();
        let line = text.lines().nth(link.line.saturating_sub(1)).unwrap_or_default();
        layout::shortened(&markdown::as_read(line), MOST_LETTERS)
    };
    // What does not fit is not read.
    let mut bytes = 0;
    let fits = |link: &&LinkEntry| {
        bytes += 2 * MOST_LETTERS + href::note(&link.source).len();
        bytes <= 2 * LIST_BYTES
    };
    let fitting: Vec<&LinkEntry> = around.backlinks.iter().take_while(fits).collect();
    let left = around.backlinks.len() - fitting.len();
    html! {
        section #backlinks {
            h2 { "Linked from" }
            @if around.backlinks.is_empty() { p .quiet { "No note links here." } }
            ul {
                @for link in fitting {
                    li {
                        a href=(href::note(&link.source)) { (link.source.stem()) }
                        " " small { "line " (link.line) }
                        br;
                        span .quiet { (line_of(link)) }
                    }
                }
            }
            (more(left))
        }
    }
}

fn broken(around: &Surroundings) -> Markup {
    let broken: Vec<&LinkEntry> = around.links.iter().filter(|link| link.status.is_broken()).collect();
    let items = broken.iter().map(|link| {
        let what = match link.status {
            LinkStatus::BrokenHeading => "has no such heading",
            LinkStatus::BrokenBlock => "has no such block",
            LinkStatus::BrokenFile | LinkStatus::Ok | LinkStatus::Outside => "leads nowhere",
        };
        html! {
            li {
                span .broken { (layout::shortened(&link.target, MOST_LETTERS)) (layout::shortened(&link.subpath, MOST_LETTERS)) }
                " " small { "line " (link.line) ", " (what) }
            }
        }
    });
    let (shown, left) = layout::fitting(items, LIST_BYTES);
    html! {
        @if !broken.is_empty() {
            section #broken {
                h2 { "Broken links" }
                ul { (shown) }
                (more(left))
            }
        }
    }
}

fn near(path: &MemoryPath, around: &Surroundings) -> Markup {
    let list = |notes: &[MemoryPath]| {
        let items = notes.iter().map(|note| html! { li { a href=(href::note(note)) { (note.stem()) } } });
        layout::fitting(items, LIST_BYTES / 2)
    };
    let ((one, one_left), (two, two_left)) = (list(&around.near), list(&around.far));
    html! {
        @if !around.near.is_empty() {
            section #near {
                h2 { "Around it" }
                (graph::draw(path, around))
                details open {
                    summary { "One link away (" (around.near.len()) ")" }
                    ul { (one) }
                    (more(one_left))
                }
                @if !around.far.is_empty() {
                    details {
                        summary { "Two links away (" (around.far.len()) ")" }
                        ul { (two) }
                        (more(two_left))
                    }
                }
                @if around.is_cut { p .quiet { "There are more than are shown here." } }
            }
        }
    }
}

fn more(left: usize) -> Markup {
    html! { @if left > 0 { p .quiet { "and " (left) " more" } } }
}
