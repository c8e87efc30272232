//! Editing a note: its text in a field, and both texts where somebody else has changed it meanwhile.

use std::ops::Range;

use axum::response::Response;
use maud::{Markup, html};
use memdir_core::action::{Action, CreateFile, WriteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{notes, shown};
use crate::door::{Notice, Visitor};
use crate::layout::{self, Page, Section};
use crate::sent::{Form, Query};
use crate::site::{Site, Then};
use crate::{field, href};

/// So many bytes of a note are edited at once.
const PART_BYTES: usize = 36 * 1024;
/// So many bytes of a difference are shown.
const DIFF_BYTES: usize = 24 * 1024;

/// Which part of a long note.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// Counted from 1.
    part: Option<usize>,
}

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    /// The text of the part.
    content: String,
    /// The digest of the note that was shown; empty where there is none, and saving makes it again.
    digest: String,
    /// Which part it was.
    part: usize,
}

pub(crate) async fn show(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request
        .show(move |site, visitor, path| {
            let (text, digest) = shown::read(site, visitor, path)?;
            if text.contains('\0') {
                return Err(Failure::new(
                    Code::Unavailable,
                    format!("note `{path}` holds a sign that no page can show"),
                )
                .with_hint("edit it with `memdir edit`, in your own editor"));
            }
            let parts = field::parts(&text, PART_BYTES);
            let at = asked.part.unwrap_or(1).clamp(1, parts.len());
            let shown = parts.get(at - 1).cloned().unwrap_or_default();
            let main = html! {
                (notes::trail(path))
                h1 { "Edit " (path.stem()) }
                (others(path, at, &parts))
                (form(visitor, path, text.get(shown).unwrap_or_default(), Some(digest), at))
            };
            Ok(Page::new(format!("Edit {}", path.stem()), Section::Notes, main))
        })
        .await
}

pub(crate) async fn save(request: NoteRequest, Form(sent): Form<Sent>) -> Response {
    request
        .change(move |site, visitor, path| {
            let now = now(site, visitor, path);
            let saved =
                now.clone().and_then(|now| write(path, now.as_deref(), &sent)).and_then(|action| site.act([action]));
            match saved {
                Ok(report) => Ok(Then::Go { to: href::note(path), notice: Notice::of_report(report) }),
                Err(failure) => {
                    let now = self::now(site, visitor, path).or(now);
                    Ok(Then::Show(failure.clone(), conflict(visitor, path, &failure, now, &sent)))
                }
            }
        })
        .await
}

/// What a note says now; `None` where there is none.
fn now(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Result<Option<String>, Failure> {
    if let Some(text) = site.engine().text_of(path) {
        return Ok(Some(text));
    }
    match shown::read(site, visitor, path) {
        Ok((text, _)) => Ok(Some(text)),
        Err(failure) if failure.code == Code::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The action that saves what was sent, if the note is still the one that was shown.
fn write(path: &MemoryPath, now: Option<&str>, sent: &Sent) -> Result<Action, Failure> {
    let shown = match sent.digest.as_str() {
        "" => None,
        digest => Some(Digest::parse(digest).map_err(|_| {
            Failure::new(Code::Usage, "the form does not say which text it was made from")
                .with_hint("open the note, and edit it from there")
        })?),
    };
    match (now, shown) {
        (None, None) => {
            let content = field::with_lf(&sent.content);
            Ok(Action::CreateFile(CreateFile { path: path.clone(), content }))
        }
        (Some(now), Some(digest)) if Digest::of(now.as_bytes()) == digest => {
            let parts = field::parts(now, PART_BYTES);
            let place = parts.get(sent.part.saturating_sub(1)).cloned().unwrap_or_default();
            let content = replaced(now, place, &sent.content);
            Ok(Action::WriteFile(WriteFile { path: path.clone(), content, if_digest: Some(digest) }))
        }
        (None, Some(_)) => Err(Failure::new(Code::Conflict, format!("note `{path}` was deleted since you began"))),
        (Some(_), _) => Err(Failure::new(Code::Conflict, format!("note `{path}` has changed since you began"))),
    }
}

/// A note with another text in the place of a part.
fn replaced(note: &str, place: Range<usize>, sent: &str) -> String {
    let (before, after) = (note.get(..place.start).unwrap_or_default(), note.get(place.end..).unwrap_or_default());
    let part = field::restored(note.get(place).unwrap_or_default(), sent);
    format!("{before}{part}{after}")
}

/// The page of a text that was not saved: what the person has written, and what the note says now.
fn conflict(
    visitor: &Visitor,
    path: &MemoryPath,
    failure: &Failure,
    now: Result<Option<String>, Failure>,
    sent: &Sent,
) -> Page {
    let main = html! {
        (notes::trail(path))
        h1 { "Not saved yet" }
        (layout::problem(failure))
        @match now {
            Ok(Some(now)) => (both(visitor, path, failure, &now, sent)),
            Ok(None) => {
                p { "There is no note at this path now. Save your text to make it again, or "
                    a href="/notes" { "leave it deleted" } "." }
                @if sent.part > 1 { p { "Yours is part " (sent.part) " of a long note; the rest is in the history." } }
                h2 { "Your text" }
                (form(visitor, path, &sent.content, None, 1))
            }
            // What the note says is not known, so that nothing may be written over it.
            Err(_) => {
                h2 { "Your text" }
                textarea readonly aria-label="Your text" { "\n" (sent.content) }
            }
        }
    };
    Page::new("Not saved yet", Section::Notes, main)
}

/// Both texts of a note.
fn both(visitor: &Visitor, path: &MemoryPath, failure: &Failure, now: &str, sent: &Sent) -> Markup {
    let digest = Digest::of(now.as_bytes());
    let parts = field::parts(now, PART_BYTES);
    let place = parts.get(sent.part.saturating_sub(1)).cloned().unwrap_or_default();
    let theirs = now.get(place.clone()).unwrap_or_default();
    let ours = field::restored(theirs, &sent.content);
    let diff = layout::cut_diff(theirs, &ours, DIFF_BYTES);
    let is_changed = matches!(failure.code, Code::Conflict | Code::AlreadyExists);
    html! {
        @if is_changed {
            p { "Both texts are here. Look at what differs, put into yours what should stay, and save it once more; or "
                a href=(href::note(path)) { "keep the note as it is" } "." }
            h2 { "What saving your text would change now" }
            @if diff.is_empty() { p .quiet { "Nothing: both say the same." } } @else { (layout::diff(&diff)) }
        }
        h2 { "Your text" }
        @if parts.len() > 1 && is_changed {
            p { "This note is long, so your part cannot be put in by itself. Copy it, and "
                a href=(href::at("edit", path)) { "edit the note anew" } "." }
            textarea readonly aria-label="Your text" { "\n" (sent.content) }
        } @else {
            (form(visitor, path, &sent.content, Some(digest), sent.part))
        }
        @if is_changed {
            h2 { "The note as it is now" }
            pre .raw tabindex="0" { (layout::cut(theirs, DIFF_BYTES)) }
        }
    }
}

fn form(visitor: &Visitor, path: &MemoryPath, text: &str, digest: Option<Digest>, part: usize) -> Markup {
    let fields = html! {
        input type="hidden" name="digest" value=(digest.map(|digest| digest.to_string()).unwrap_or_default());
        input type="hidden" name="part" value=(part);
        div .field {
            label for="content" { "Text of the note" }
            // The first line end in the field belongs to HTML.
            textarea #content name="content" spellcheck="true" { "\n" (text) }
        }
        div .row {
            button #save .main { "Save" }
            a .button href=(href::note(path)) { "Cancel" }
        }
    };
    layout::post_kept(visitor, &href::at("edit", path), fields)
}

/// The other parts of a long note.
fn others(path: &MemoryPath, part: usize, parts: &[Range<usize>]) -> Markup {
    html! {
        @if parts.len() > 1 {
            p { "This note is long; a part is edited at a time." }
            nav #parts .row aria-label="Parts of this note" {
                @for number in 1..=parts.len() {
                    a .button href={ (href::at("edit", path)) "?part=" (number) } aria-current=[(number == part).then_some("page")] {
                        (number)
                    }
                }
            }
        }
    }
}
