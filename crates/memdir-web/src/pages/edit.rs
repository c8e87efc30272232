//! Editing a note: its text in a field, and both texts where somebody else has changed it meanwhile.

use std::ops::Range;
use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::action::{Action, WriteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use serde::Deserialize;

use super::{note, notes};
use crate::door::{Notice, Visitor};
use crate::layout::{self, Page, Section};
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
    /// The digest of the note that was shown.
    digest: String,
    /// Which part it was.
    part: usize,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(path): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let path = note::named(&path)?;
        let (text, digest) = note::read(site, visitor, &path)?;
        if text.contains('\0') {
            return Err(Failure::new(Code::Unavailable, format!("note `{path}` holds a sign that no page can show"))
                .with_hint("edit it with `memdir edit`, in your own editor"));
        }
        let parts = field::parts(&text, PART_BYTES);
        let at = asked.part.unwrap_or(1).clamp(1, parts.len());
        let shown = parts.get(at - 1).cloned().unwrap_or_default();
        let main = html! {
            (notes::trail(&path))
            h1 { "Edit " (path.stem()) }
            (others(&path, at, &parts))
            (form(visitor, &path, text.get(shown).unwrap_or_default(), digest, at))
        };
        Ok(Page::new(format!("Edit {}", path.stem()), Section::Notes, main))
    })
    .await
}

pub(crate) async fn save(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(path): Path<String>,
    Form(sent): Form<Sent>,
) -> Response {
    site.change(&visitor, move |site, visitor| {
        let path = note::named(&path)?;
        let digest = Digest::parse(&sent.digest)
            .map_err(|_| Failure::new(Code::Usage, "the form does not say which text it was made from"))?;
        let now = site.engine().text_of(&path).unwrap_or_default();
        if Digest::of(now.as_bytes()) != digest {
            let failure = Failure::new(Code::Conflict, format!("note `{path}` has changed since you began"));
            return Ok(Then::Show(failure.clone(), conflict(visitor, &path, &failure, &now, &sent)));
        }
        let parts = field::parts(&now, PART_BYTES);
        let place = parts.get(sent.part.saturating_sub(1)).cloned().unwrap_or_default();
        let content = replaced(&now, place, &sent.content);
        let write = WriteFile { path: path.clone(), content, if_digest: Some(digest) };
        match site.act([Action::WriteFile(write)]) {
            Ok(report) => Ok(Then::Go { to: href::note(&path), notice: Notice::of_report(report) }),
            Err(failure) => {
                let now = site.engine().text_of(&path).unwrap_or_default();
                Ok(Then::Show(failure.clone(), conflict(visitor, &path, &failure, &now, &sent)))
            }
        }
    })
    .await
}

/// A note with another text in the place of a part.
fn replaced(note: &str, place: Range<usize>, sent: &str) -> String {
    let (before, after) = (note.get(..place.start).unwrap_or_default(), note.get(place.end..).unwrap_or_default());
    let part = field::restored(note.get(place).unwrap_or_default(), sent);
    format!("{before}{part}{after}")
}

/// The page of a text that was not saved: what the person has written, and what the note says now.
fn conflict(visitor: &Visitor, path: &MemoryPath, failure: &Failure, now: &str, sent: &Sent) -> Page {
    let digest = Digest::of(now.as_bytes());
    let parts = field::parts(now, PART_BYTES);
    let place = parts.get(sent.part.saturating_sub(1)).cloned().unwrap_or_default();
    let theirs = now.get(place.clone()).unwrap_or_default();
    let ours = field::restored(theirs, &sent.content);
    let diff = layout::cut_diff(theirs, &ours, DIFF_BYTES);
    let is_changed = failure.code == Code::Conflict;
    let main = html! {
        (notes::trail(path))
        h1 { "Not saved yet" }
        (layout::problem(failure))
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
            (form(visitor, path, &sent.content, digest, sent.part))
        }
        @if is_changed {
            h2 { "The note as it is now" }
            pre .raw tabindex="0" { (layout::cut(theirs, DIFF_BYTES)) }
        }
    };
    Page::new("Not saved yet", Section::Notes, main)
}

fn form(visitor: &Visitor, path: &MemoryPath, text: &str, digest: Digest, part: usize) -> Markup {
    let fields = html! {
        input type="hidden" name="digest" value=(digest);
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
