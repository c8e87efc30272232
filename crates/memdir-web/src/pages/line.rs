//! One line of a note: where it comes from, what it should say, or that it should go. What it was when it was shown is sent along,
//! so that nothing happens to a line that says something else by then.

use std::ops::Range;
use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::action::{Action, WriteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Line};
use memdir_words::{ago, who};
use serde::Deserialize;

use super::{note, notes, review};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::site::{Site, Then};

/// A longer line is edited on the page of its note.
const MOST_BYTES: usize = 8 * 1024;
/// So many bytes of what would go are shown.
const DIFF_BYTES: usize = 16 * 1024;
/// So much of a line around is shown.
const LETTERS: usize = 160;

/// Which line.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// From 1.
    line: usize,
}

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    line: usize,
    /// What it said when it was shown.
    text: String,
    /// What it should say; nothing where it should go.
    to: Option<String>,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(path): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let path = note::named(&path)?;
        let (text, _) = note::read(site, visitor, &path)?;
        page(site, visitor, &path, &text, asked.line, None)
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
        let now = site.engine().text_of(&path).unwrap_or_default();
        let Some(place) = find(&now, sent.line, &sent.text) else {
            let failure = Failure::new(Code::Conflict, format!("the line of `{path}` says something else by now"))
                .with_hint("what you wrote is still in the field below: look at the line, and save it once more");
            let to = sent.to.as_deref().unwrap_or_default();
            let shown = page(site, visitor, &path, &now, sent.line, Some((&failure, to)))?;
            return Ok(Then::Show(failure, shown));
        };
        let content = match &sent.to {
            Some(to) => replaced(&now, place, to),
            None => without(&now, place),
        };
        let if_digest = Some(Digest::of(now.as_bytes()));
        let report = site.act([Action::WriteFile(WriteFile { path: path.clone(), content, if_digest })])?;
        Ok(Then::Go { to: href::note(&path), notice: Notice::of_report(report) })
    })
    .await
}

/// Each line with its place, without its end.
fn places(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |whole| {
        let line = whole.strip_suffix('\n').map_or(whole, |line| line.strip_suffix('\r').unwrap_or(line));
        let start = at;
        at += whole.len();
        (start..start + line.len(), line)
    })
}

/// Where a line stands that was shown at a number: there, or where alone the note says the same now.
fn find(text: &str, number: usize, shown: &str) -> Option<Range<usize>> {
    let there = places(text).nth(number.checked_sub(1)?).filter(|(_, line)| *line == shown);
    there
        .or_else(|| {
            let mut same = places(text).filter(|(_, line)| *line == shown);
            same.next().filter(|_| same.next().is_none())
        })
        .map(|(place, _)| place)
}

/// A note in which a line says something else.
fn replaced(text: &str, place: Range<usize>, to: &str) -> String {
    let to = to.replace(['\r', '\n'], " ");
    format!("{}{to}{}", text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default())
}

/// A note without a line and its end.
fn without(text: &str, place: Range<usize>) -> String {
    let (before, after) = (text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default());
    let rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    format!("{before}{rest}")
}

/// The page; with what was in the way and what the person wanted, where there was something.
fn page(
    site: &Site,
    visitor: &Visitor,
    path: &MemoryPath,
    text: &str,
    number: usize,
    refused: Option<(&Failure, &str)>,
) -> Result<Page, Failure> {
    let Some((place, line)) = number.checked_sub(1).and_then(|at| places(text).nth(at)) else {
        let failure = Failure::new(Code::NotFound, format!("note `{path}` has no line {number} any more"));
        return Err(failure.with_hint("open the note to see what it says now"));
    };
    let value = refused.map_or(line, |(_, to)| if to.is_empty() { line } else { to });
    let known = html! {
        input type="hidden" name="line" value=(number);
        input type="hidden" name="text" value=(line);
    };
    let diff = layout::cut_diff(text, &without(text, place), DIFF_BYTES);
    let main = html! {
        (notes::trail(path))
        h1 { "Line " (number) " of " a href=(href::note(path)) { (path.stem()) } }
        @if let Some((failure, _)) = refused { (layout::problem(failure)) }
        blockquote #line { (layout::shortened(line.trim(), MOST_BYTES)) }
        (source(site, path, number))
        (layout::post(visitor, "/confirm", html! {
            input type="hidden" name="path" value=(path);
            input type="hidden" name="text" value=(line);
            input type="hidden" name="back" value=(review::line_address(path, number));
            button { "Yes, this is right" }
        }))
        h2 { "Correct it" }
        @if line.len() <= MOST_BYTES {
            (layout::post_kept(visitor, &href::at("line", path), html! {
                (known)
                div .field {
                    label for="to" { "What the line should say" }
                    input #to name="to" value=(value) autocomplete="off" spellcheck="true";
                }
                div .row {
                    button #save .main { "Save" }
                    a .button href=(href::at("edit", path)) { "Edit the whole note" }
                    a .button href=(href::note(path)) { "Cancel" }
                }
            }))
        } @else {
            p { "It is too long for a field: " a href=(href::at("edit", path)) { "edit the note" } "." }
        }
        h2 #out { "Take it out" }
        p { "The line goes from the note. You can undo it." }
        (layout::diff(&diff))
        (layout::post(visitor, &href::at("line", path), html! {
            (known)
            button #take-out .danger { "Take the line out" }
        }))
    };
    Ok(Page::new(format!("Line {number} of {}", path.stem()), Section::Notes, main))
}

/// Where the line comes from, and the change that wrote it, which can be undone as a whole.
fn source(site: &Site, path: &MemoryPath, number: usize) -> Markup {
    let lines = site.engine().lines(path).map(|(_, lines)| lines).unwrap_or_default();
    let line = number.checked_sub(1).and_then(|at| lines.into_iter().nth(at));
    let Some(Line { provenance, .. }) = line else { return html! {} };
    let Some(last) = &provenance.last_written else {
        return html! { p .quiet { "The history does not know who wrote this line." } };
    };
    let when = last.time.as_deref().map_or_else(String::new, |time| format!(", {}", ago::short(time)));
    html! {
        p .quiet {
            "Written by " (who::wrote(last)) (when)
            @if let Some(batch) = last.batch { ", in " a href={ "/history/" (batch) } { "change " (batch) } }
            @if let Some(session) = &last.session { ", " a href={ "/conversations/" (href::value(session)) } { "in this conversation" } }
            "."
        }
        @if let Some(confirmed) = &provenance.last_confirmed {
            p .quiet { "Confirmed by you, " (ago::short(&confirmed.time)) "." }
        }
        @if let Some(words) = &provenance.words { p .quiet { "You had said: " (layout::shortened(words, LETTERS)) } }
        @for former in provenance.replaced.iter().take(1) {
            p .quiet { "Before, it said: " (layout::shortened(&former.value, LETTERS)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_where_it_was_or_where_alone_it_is_now() {
        let check = |text: &str, number: usize, shown: &str, expected: Option<&str>| {
            let found =
                find(text, number, shown).map(|place| format!("{}|{}", &text[..place.start], &text[place.end..]));
            assert_eq!(found.as_deref(), expected, "{text:?} {number} {shown:?}");
        };
        check("a\nb\nc\n", 2, "b", Some("a\n|\nc\n"));
        check("a\r\nb\r\nc", 2, "b", Some("a\r\n|\r\nc"));
        check("a\nx\nb\n", 2, "b", Some("a\nx\n|\n"));
        check("b\nx\nb\n", 2, "b", None);
        check("b\nx\nb\n", 3, "b", Some("b\nx\n|\n"));
        check("a\n", 0, "a", None);
        check("a\n", 7, "b", None);
    }

    #[test]
    fn all_else_keeps_its_bytes() {
        let text = "a\r\nb\nc";
        assert_eq!(replaced(text, find(text, 1, "a").unwrap(), "A\nA"), "A A\r\nb\nc");
        assert_eq!(without(text, find(text, 1, "a").unwrap()), "b\nc");
        assert_eq!(without(text, find(text, 3, "c").unwrap()), "a\r\nb\n");
        assert_eq!(without("a", find("a", 1, "a").unwrap()), "");
    }
}
