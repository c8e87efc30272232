//! Forgetting a note or a text: where it is kept, the question, and what is left after it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::{ForgetPreview, ForgetTarget, Forgotten, ForgottenPlace, PlaceKind, RelatedLines};
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{notes, shown};
use crate::door::Visitor;
use crate::href;
use crate::layout::{self, Page, Section};
use crate::sent::Form;
use crate::site::{Site, Then};
use crate::text;

/// So many bytes of the page each list may have.
const LIST_BYTES: usize = 36 * 1024;
/// What is never reached, whatever is erased.
const OUT_OF_REACH: &str = "backups, copies elsewhere, what the disk keeps of deleted files, and the addresses that your browser remembers are out of reach";

/// What the forms send. A text is sent in the body, so that no address holds it.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    note: Option<String>,
    text: Option<String>,
    /// What the list that was shown is known by; there where the person wants it erased.
    shown: Option<String>,
    /// There where the lines about it go too.
    lines: Option<String>,
}

impl Sent {
    fn target(&self) -> Result<ForgetTarget, Failure> {
        let given = |field: &Option<String>| field.clone().filter(|text| !text.trim().is_empty());
        match (given(&self.note), given(&self.text)) {
            (Some(path), _) => Ok(ForgetTarget::Note(shown::named(&path)?)),
            (None, Some(text)) => Ok(ForgetTarget::Text(text)),
            (None, None) => Err(Failure::new(Code::Usage, "there is nothing to forget")
                .with_hint("write the text that is to be erased")),
        }
    }
}

/// The form for a text.
pub(crate) async fn ask(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |_, visitor| Ok(form(visitor, None))).await
}

/// The list for a note.
pub(crate) async fn ask_note(request: NoteRequest) -> Response {
    request
        .show(move |site, visitor, path| {
            let target = ForgetTarget::Note(path.clone());
            Ok(list_page(site, visitor, &target, &places(site, &target)?, None))
        })
        .await
}

/// Lists where something is kept, and erases it once that list was shown.
pub(crate) async fn forget(State(site): State<Arc<Site>>, visitor: Visitor, Form(sent): Form<Sent>) -> Response {
    site.change(&visitor, move |site, visitor| {
        let listed = sent.target().and_then(|target| Ok((places(site, &target)?, target)));
        let (listed, target) = match listed {
            Ok(found) => found,
            Err(failure) => return Ok(Then::Show(failure.clone(), form(visitor, Some((&sent, &failure))))),
        };
        let Some(shown) = &sent.shown else { return Ok(Then::Page(list_page(site, visitor, &target, &listed, None))) };
        let lines = if sent.lines.is_some() { RelatedLines::Erase } else { RelatedLines::Keep };
        match erase(site, &target, lines, &listed, shown) {
            Ok(forgotten) => Ok(Then::Page(done(&forgotten))),
            Err(failure) => {
                let page = match places(site, &target) {
                    Ok(listed) => list_page(site, visitor, &target, &listed, Some(&failure)),
                    Err(_) => layout::failure(&failure),
                };
                Ok(Then::Show(failure, page))
            }
        }
    })
    .await
}

/// Where something is kept: in the memory, and in drafts of an editor.
fn places(site: &Site, target: &ForgetTarget) -> Result<ForgetPreview, Failure> {
    let drafts = site.person_files()?.drafts_holding(target)?;
    let mut listed = match site.engine().places_of(target) {
        Err(failure) if failure.code == Code::NotFound && !drafts.is_empty() => ForgetPreview::default(),
        listed => listed?,
    };
    listed.places.extend(drafts);
    Ok(listed)
}

fn erase(
    site: &Site,
    target: &ForgetTarget,
    lines: RelatedLines,
    listed: &ForgetPreview,
    shown: &str,
) -> Result<Forgotten, Failure> {
    if listed.digest().to_string() != shown {
        let failure = Failure::new(Code::Conflict, "the list is out of date");
        return Err(failure.with_hint("nothing was erased; look at the new list"));
    }
    let is_in_memory = listed.places.iter().any(|place| place.place != PlaceKind::Draft);
    let mut forgotten = Forgotten { erased: true, ..Forgotten::default() };
    if is_in_memory {
        forgotten = site.engine().forget(target, lines, Some(listed), &site.person())?;
    }
    site.person_files()?.remove_drafts_holding(target)?;
    forgotten.listed = listed.clone();
    Ok(forgotten)
}

fn form(visitor: &Visitor, failed: Option<(&Sent, &Failure)>) -> Page {
    let text = failed.and_then(|(sent, _)| sent.text.as_deref()).unwrap_or_default();
    let main = html! {
        h1 { "Forget" }
        @if let Some((_, failure)) = failed { (layout::problem(failure)) }
        p { "A note is forgotten from its own page. Here a text is, exactly as typed, wherever it is kept." }
        (layout::post_kept(visitor, "/forget", html! {
            div .field { label for="text" { "The text" } input #text name="text" value=(text) autocomplete="off" required; }
            button .main { "Show where it is" }
        }))
    };
    Page::new("Forget", Section::Nowhere, main)
}

/// All places, and the question.
fn list_page(
    site: &Site,
    visitor: &Visitor,
    target: &ForgetTarget,
    listed: &ForgetPreview,
    failure: Option<&Failure>,
) -> Page {
    let (name, field) = match target {
        ForgetTarget::Note(path) => (path.to_string(), ("note", path.to_string())),
        ForgetTarget::Text(text) => (format!("“{}”", text::shortened(text, 80)), ("text", text.clone())),
    };
    let (keep, above) = match target {
        ForgetTarget::Note(path) => (href::note(path), Some(notes::trail(path))),
        ForgetTarget::Text(_) => ("/forget".to_owned(), None),
    };
    let has_history = listed.places.iter().any(|place| place.place == PlaceKind::History);
    let main = html! {
        @if let Some(above) = above { (above) }
        h1 { "Forget " (name) "?" }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        p { "It is kept in these places, and would be erased in all of them. This cannot be taken back." }
        (table(&listed.places))
        @if has_history { p { "Changes whose texts go from the history cannot be undone any more." } }
        p .quiet { (layout::sentence(OUT_OF_REACH)) }
        (layout::post(visitor, "/forget", html! {
            input type="hidden" name=(field.0) value=(field.1);
            input type="hidden" name="shown" value=(listed.digest());
            @if !listed.lines.is_empty() { (lines(site, visitor, listed)) }
            div .row {
                button #erase .danger { "Erase all of this" }
                a .button href=(keep) { "Cancel" }
            }
        }))
    };
    Page::new("Forget", Section::Nowhere, main)
}

/// The lines about it, and the question whether they go too, if all are listed. The audit is told whose lines were shown.
fn lines(site: &Site, visitor: &Visitor, listed: &ForgetPreview) -> Markup {
    let items = listed.lines.iter().map(|line| {
        html! { li { (linked(&line.path)) ", line " (line.line) ": " (text::shortened(&line.text, 240)) } }
    });
    let (list, left) = layout::fitting(items, LIST_BYTES);
    let of: Vec<MemoryPath> = listed
        .lines
        .iter()
        .take(listed.lines.len() - left)
        .filter_map(|line| MemoryPath::parse(&line.path).ok())
        .collect();
    shown::excerpts(site, visitor, &of);
    html! {
        h2 { "Lines elsewhere that link to it or name it" }
        ul { (list) }
        @if left > 0 {
            p {
                "and " (left) " more. These lines stay, without the links in them: they are too many to be listed here, and what was not listed is not erased."
                " " code { "memdir forget --lines" } " lists and erases all."
            }
        } @else {
            p {
                input #lines type="checkbox" name="lines" value="1";
                " " label for="lines" { "Erase these lines too" }
                " " span .quiet { "Otherwise they stay, without the links in them." }
            }
        }
    }
}

fn table(places: &[ForgottenPlace]) -> Markup {
    let rows = places.iter().map(|place| {
        html! {
            tr {
                td { (kind(place.place)) }
                td { (place.count) }
                td { @if let Some(path) = &place.path { (linked(path)) } }
            }
        }
    });
    let (shown, left) = layout::fitting(rows, LIST_BYTES);
    let table = html! {
        table #places {
            thead { tr { th scope="col" { "Where" } th scope="col" { "How often" } th scope="col" { "Name" } } }
            tbody { (shown) }
        }
    };
    html! {
        (layout::wide("Places", &table))
        @if left > 0 { p { "and in " (left) " more places, which are erased too" } }
    }
}

/// A place by its name; a note with its address.
fn linked(name: &str) -> Markup {
    match MemoryPath::parse(name) {
        Ok(path) if path.is_note() => html! { a .path href=(href::note(&path)) { (name) } },
        _ => html! { span .path { (name) } },
    }
}

fn kind(place: PlaceKind) -> &'static str {
    match place {
        PlaceKind::Note => "a note",
        PlaceKind::Name => "the name of a file, which is not changed",
        PlaceKind::Link => "links in a note",
        PlaceKind::File => "another file",
        PlaceKind::Card => "a card that stays",
        PlaceKind::Trash => "the trash of Obsidian",
        PlaceKind::History => "the history",
        PlaceKind::Audit => "the audit",
        PlaceKind::Inbox => "a proposal in the inbox, which goes as a whole",
        PlaceKind::Session => "a kept conversation",
        PlaceKind::Draft => "a draft of an editor, which goes as a whole",
        PlaceKind::Index => "the index, which is made anew",
        PlaceKind::State => "the state of a machine",
        PlaceKind::Author => "the audit, as the name of a client or a conversation",
    }
}

/// What was erased, and what is left.
fn done(forgotten: &Forgotten) -> Page {
    let main = html! {
        h1 { "Forgotten" }
        div #notice .notice role="status" { p { "Erased in " (forgotten.listed.places.len()) " places." } }
        @if forgotten.left.is_empty() {
            p { "Nothing of it is left in the memory." }
        } @else {
            h2 { "What is left" }
            ul #left {
                @for place in &forgotten.left {
                    li { span .path { (place.path.as_deref().unwrap_or_default()) } ": " (place.advice()) }
                }
            }
        }
        p .quiet { (layout::sentence(OUT_OF_REACH)) }
        p { a href="/" { "Home" } }
    };
    Page::new("Forgotten", Section::Nowhere, main)
}
