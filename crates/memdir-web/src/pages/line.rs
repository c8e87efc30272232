//! One line of a note: where it comes from, what it should say, or that it should go. What it was when it was shown is sent along,
//! so that nothing happens to a line that says something else by then.

use std::ops::Range;
use std::time::Duration;

use axum::response::Response;
use maud::{Markup, html};
use memdir_core::action::{Action, WriteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Line};
use memdir_words::{ago, who};
use serde::Deserialize;

use super::note_request::NoteRequest;
use super::{conversations, notes, review, shown};
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::sent::{Form, Query};
use crate::site::{Site, Then};
use crate::text;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
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
    /// Whether it held once and does not any more: then the field proposes an end.
    #[serde(default)]
    outdated: bool,
}

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    line: usize,
    /// What it said when it was shown.
    text: String,
    /// The digest of the note that was shown.
    digest: String,
    /// What [`around`] said of the line then.
    around: Option<String>,
    /// What it should say; nothing where it should go.
    to: Option<String>,
}

pub(crate) async fn show(request: NoteRequest, Query(asked): Query<Asked>) -> Response {
    request
        .show(move |site, visitor, path| {
            let (text, _) = shown::read(site, visitor, path)?;
            page(site, visitor, path, &text, &asked)
        })
        .await
}

pub(crate) async fn save(request: NoteRequest, Form(sent): Form<Sent>) -> Response {
    request
        .change(move |site, _, path| {
            let now = site.engine().text_of(path);
            let Some((now, place)) = now.as_deref().and_then(|now| Some((now, find(now, &sent)?))) else {
                let failure = Failure::new(Code::Conflict, format!("the line of `{path}` has changed since"))
                    .with_hint("nothing was changed: look at the note as it is now");
                let shown = unsaved(path, &failure, now.as_deref(), &sent);
                return Ok(Then::Show(failure, shown));
            };
            let content = match &sent.to {
                Some(to) => replaced(now, place, to),
                None => without(now, place),
            };
            let if_digest = Some(Digest::of(now.as_bytes()));
            match site.act([Action::WriteFile(WriteFile { path: path.clone(), content, if_digest })]) {
                Ok(report) => Ok(Then::Go { to: href::note(path), notice: Notice::of_report(report) }),
                Err(failure) => {
                    let shown = unsaved(path, &failure, site.engine().text_of(path).as_deref(), &sent);
                    Ok(Then::Show(failure, shown))
                }
            }
        })
        .await
}

/// The page of a line that was not changed: what the person has written, and what the note says now.
fn unsaved(path: &MemoryPath, failure: &Failure, now: Option<&str>, sent: &Sent) -> Page {
    let main = html! {
        (notes::trail(path))
        h1 { "Not saved" }
        (layout::problem(failure))
        @if let Some(to) = &sent.to {
            h2 { "What you wrote" }
            textarea readonly aria-label="What you wrote" { "\n" (to) }
        }
        h2 { "The line that was shown" }
        blockquote { (text::shortened(sent.text.trim(), MOST_BYTES)) }
        h2 { "The note as it is now" }
        @if let Some(now) = now {
            p { a .button href=(href::at("edit", path)) { "Edit the whole note" } " " a .button href=(href::note(path)) { "Show the note" } }
            pre .raw tabindex="0" { (layout::cut(now, DIFF_BYTES)) }
        } @else {
            p { "There is no note at this path any more." }
        }
    };
    Page::new("Not saved", Section::Notes, main)
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

/// Where the line stands that was shown: where it was, if the note is the same; else where it is now with the same lines around
/// it, if it was and is the only one that says so.
fn find(now: &str, sent: &Sent) -> Option<Range<usize>> {
    let mut same = places(now).enumerate().filter(|(_, (_, line))| *line == sent.text);
    if Digest::of(now.as_bytes()).to_string() == sent.digest {
        return same.find(|(at, _)| at + 1 == sent.line).map(|(_, (place, _))| place);
    }
    let (at, (place, _)) = same.next()?;
    let is_it = sent.around.is_some() && around(now, at) == sent.around;
    is_it.then_some(place)
}

/// A digest of a line and the ones above and below; `None` where another line says the same.
fn around(text: &str, at: usize) -> Option<String> {
    let lines: Vec<&str> = places(text).map(|(_, line)| line).collect();
    let line = lines.get(at)?;
    let is_alone = lines.iter().filter(|other| *other == line).count() == 1;
    let above = at.checked_sub(1).and_then(|at| lines.get(at));
    is_alone.then(|| Digest::of(format!("{above:?}{line:?}{:?}", lines.get(at + 1)).as_bytes()).to_string())
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

/// A line that held until yesterday, unless the person knows better.
fn ended(site: &Site, line: &str) -> String {
    let yesterday = site.engine().now().minus(DAY).to_string();
    format!("{} (until {})", line.trim_end(), yesterday.split('T').next().unwrap_or_default())
}

fn page(site: &Site, visitor: &Visitor, path: &MemoryPath, text: &str, asked: &Asked) -> Result<Page, Failure> {
    let number = asked.line;
    let Some((place, line)) = number.checked_sub(1).and_then(|at| places(text).nth(at)) else {
        let failure = Failure::new(Code::NotFound, format!("note `{path}` has no line {number} any more"));
        return Err(failure.with_hint("open the note to see what it says now"));
    };
    let known = html! {
        input type="hidden" name="line" value=(number);
        input type="hidden" name="text" value=(line);
        input type="hidden" name="digest" value=(Digest::of(text.as_bytes()));
        @if let Some(around) = around(text, number - 1) { input type="hidden" name="around" value=(around); }
    };
    let diff = layout::cut_diff(text, &without(text, place), DIFF_BYTES);
    let to = if asked.outdated { ended(site, line) } else { line.to_owned() };
    let main = html! {
        (notes::trail(path))
        h1 { "Line " (number) " of " a href=(href::note(path)) { (path.stem()) } }
        blockquote #line { (text::shortened(line.trim(), MOST_BYTES)) }
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
                    label for="to" { @if asked.outdated { "What the line should say: until when did it hold?" } @else { "What the line should say" } }
                    input #to name="to" value=(to) autocomplete="off" spellcheck="true";
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
            @if let Some(session) = &last.session { ", in the conversation " (conversations::link(site, session)) }
            "."
        }
        @if let Some(confirmed) = &provenance.last_confirmed {
            p .quiet { "Confirmed by you, " (ago::short(&confirmed.time)) "." }
        }
        @if let Some(words) = &provenance.words { p .quiet { "You had said: " (text::shortened(words, LETTERS)) } }
        @for former in provenance.replaced.iter().take(1) {
            p .quiet { "Before, it said: " (text::shortened(&former.value, LETTERS)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of a line as it was shown.
    fn sent(text: &str, number: usize) -> Sent {
        let line = text.lines().nth(number - 1).unwrap().to_owned();
        let digest = Digest::of(text.as_bytes()).to_string();
        Sent { line: number, text: line, digest, around: around(text, number - 1), to: None }
    }

    #[test]
    fn a_line_is_found_where_it_was_or_where_alone_it_is_now() {
        let check = |shown: &str, number: usize, now: &str, expected: Option<&str>| {
            let found = find(now, &sent(shown, number)).map(|place| replaced(now, place, "|"));
            assert_eq!(found.as_deref(), expected, "{shown:?} {number} {now:?}");
        };
        check("a\nb\nc\n", 2, "a\nb\nc\n", Some("a\n|\nc\n"));
        check("a\r\nb\r\nc", 2, "a\r\nb\r\nc", Some("a\r\n|\r\nc"));
        check("b\nx\nb\n", 3, "b\nx\nb\n", Some("b\nx\n|\n"));
        check("a\nb\nc\n", 2, "x\na\nb\nc\n", Some("x\na\n|\nc\n"));
        check("a\nb\nc\n", 2, "a\nx\nb\nc\n", None);
        check("a\nb\nc\n", 2, "a\nb\nc\na\nb\nc\n", None);
        check("a\nb\nc\na\nb\nc\n", 2, "a\nb\nc\n", None);
        check("a\nb\nc\n", 2, "a\n", None);
    }

    #[test]
    fn all_else_keeps_its_bytes() {
        let find = |text, number| find(text, &sent(text, number)).unwrap();
        let text = "a\r\nb\nc";
        assert_eq!(replaced(text, find(text, 1), "A\nA"), "A A\r\nb\nc");
        assert_eq!(without(text, find(text, 1)), "b\nc");
        assert_eq!(without(text, find(text, 3)), "a\r\nb\n");
        assert_eq!(without("a", find("a", 1)), "");
    }
}
