//! What a person says of a line: that it is right, that it is wrong, what it should say; and the questions worth asking.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::{Question, QuestionKind, Reply};
use serde::Deserialize;

use super::shown;
use crate::door::{Notice, Visitor};
use crate::href;
use crate::layout::{self, Page, Section};
use crate::sent::Form;
use crate::site::{Site, Then, without_hint_for_models};
use crate::text;

/// So many bytes of questions are on a page.
const BYTES: usize = 72 * 1024;
/// So much of a line is shown.
const LETTERS: usize = 300;

/// All that is worth asking.
pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |site, visitor| {
        let questions = site.glance.questions(site.engine())?;
        shown::excerpts(site, visitor, questions.iter().flat_map(|asked| [Some(&asked.path), asked.other.as_ref().map(|other| &other.path)]).flatten());
        let main = html! {
            h1 { "Worth an answer" }
            div #questions data-live="notes state" {
                @if questions.is_empty() { p { "Nothing to ask: no fact is disputed, unconfirmed, or old for its kind." } }
                (list(visitor, questions.iter()))
            }
        };
        Ok(Page::new("Worth an answer", Section::Home, main))
    })
    .await
}

/// Questions, each with its answers.
pub(crate) fn list<'q>(visitor: &Visitor, questions: impl Iterator<Item = &'q Question>) -> Markup {
    let (shown, left) = layout::fitting(questions.map(|question| card(visitor, question)), BYTES);
    html! {
        (shown)
        @if left > 0 { p .quiet { (left) " more come once these are answered." } }
    }
}

fn card(visitor: &Visitor, question: &Question) -> Markup {
    let Question { kind, path, line, value, text, other, .. } = question;
    let (word, label) = match kind {
        QuestionKind::Disputed => ("contradiction", format!("What {} says now, line {line}", path.stem())),
        QuestionKind::Old => ("may be out of date", format!("What {} says now, line {line}", path.stem())),
        QuestionKind::Unconfirmed => ("not confirmed", format!("What {} says now, line {line}", path.stem())),
    };
    let known = html! {
        input type="hidden" name="path" value=(path);
        input type="hidden" name="line" value=(line);
        input type="hidden" name="text" value=(text);
        @if let Some(other) = other {
            input type="hidden" name="other_path" value=(other.path);
            input type="hidden" name="other_line" value=(other.line);
            input type="hidden" name="other_text" value=(other.text);
        }
        input type="hidden" name="back" value=(visitor.here());
    };
    html! {
        div .card .question {
            p { span .badge { (word) } " " (layout::code_spans(&layout::sentence(&text::shortened(&question.question, LETTERS)))) }
            p .quiet {
                a href=(line_address(path, *line)) { (path) ", line " (line) }
                @if let Some(other) = other { " · " a href=(line_address(&other.path, other.line)) { (other.path) ", line " (other.line) } }
            }
            div .row {
                (layout::post(visitor, "/answer", html! {
                    (known)
                    @if let Some(other) = other {
                        button name="what" value="only" { "“" (text::shortened(value, 40)) "” is right; take the other line out" }
                        " "
                        button name="what" value="other" { "Line " (other.line) " is right; take “" (text::shortened(value, 40)) "” out" }
                    } @else {
                        button name="what" value="yes" { "Yes, still right" }
                    }
                }))
                @if other.is_some() {
                    (layout::post(visitor, "/answer", html! {
                        (known)
                        button name="what" value="yes" { "Both may stay" }
                    }))
                }
                (layout::post(visitor, "/answer", html! {
                    (known)
                    input name="value" required autocomplete="off" value=(value) aria-label=(label);
                    " " button name="what" value="value" { "Save this instead" }
                }))
            }
        }
    }
}

/// An answer to a question.
#[derive(Debug, Deserialize)]
pub(crate) struct Answered {
    path: String,
    line: usize,
    /// What the line said when it was asked about.
    text: String,
    /// The line that said something else then, if there was one.
    other_path: Option<String>,
    other_line: Option<usize>,
    other_text: Option<String>,
    what: What,
    value: Option<String>,
    back: Option<String>,
}

#[derive(Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
enum What {
    /// The line is right.
    Yes,
    /// The line is right, and the other one is wrong.
    Only,
    /// The other line is right, and this one is wrong.
    Other,
    /// It says something else now.
    Value,
}

pub(crate) async fn answer(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Form(answered): Form<Answered>,
) -> Response {
    site.change(&visitor, move |site, _| {
        let path = shown::named(&answered.path)?;
        let questions = site.glance.questions(site.engine())?;
        let is_it = |question: &&Question| {
            let other = question.other.as_ref();
            (&question.path, question.line, &question.text) == (&path, answered.line, &answered.text)
                && other.map(|other| other.path.as_str()) == answered.other_path.as_deref()
                && other.map(|other| other.line) == answered.other_line
                && other.map(|other| other.text.as_str()) == answered.other_text.as_deref()
        };
        let question = questions.iter().find(is_it).ok_or_else(|| {
            Failure::new(Code::Conflict, "the notes have changed since").with_hint("look at the questions again")
        })?;
        let value = answered.value.as_deref().map(str::trim).filter(|value| !value.is_empty());
        let none = || Failure::new(Code::Usage, "no value was given").with_hint("write what it should say");
        let reply = match answered.what {
            What::Yes => Reply::Stands,
            What::Only => Reply::This,
            What::Other => Reply::Other,
            What::Value => Reply::Value(value.ok_or_else(none)?),
        };
        let report = site.engine().settle(question, reply, &site.person()).map_err(without_hint_for_models)?;
        let notice = match report {
            Some(report) => Notice::of_report(report),
            None => Notice::of(Some("Confirmed; the note is as it was".to_owned()), None),
        };
        Ok(Then::Go { to: super::back(answered.back), notice })
    })
    .await
}

/// A line that is right.
#[derive(Debug, Deserialize)]
pub(crate) struct Confirmed {
    path: String,
    text: String,
    back: Option<String>,
}

pub(crate) async fn confirm(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Form(confirmed): Form<Confirmed>,
) -> Response {
    site.change(&visitor, move |site, _| {
        let path = shown::named(&confirmed.path)?;
        site.engine().confirm(&path, &confirmed.text, &site.person())?;
        let notice = Notice::of(Some("Confirmed; the note is as it was".to_owned()), None);
        Ok(Then::Go { to: super::back(confirmed.back), notice })
    })
    .await
}

/// Yes, no and edit, for a line of a note.
pub(crate) fn decisions(visitor: &Visitor, path: &MemoryPath, line: usize, text: &str) -> Markup {
    let unseen = html! { span .unseen { " to “" (text::shortened(text.trim(), 60)) "”" } };
    html! {
        span .decide {
            (layout::post(visitor, "/confirm", html! {
                input type="hidden" name="path" value=(path);
                input type="hidden" name="text" value=(text);
                input type="hidden" name="back" value=(visitor.here());
                button .small { "Yes" (unseen) }
            }))
            a .button .small href={ (line_address(path, line)) "#out" } { "No" (unseen) }
            a .button .small href=(line_address(path, line)) { "Edit" (unseen) }
        }
    }
}

/// The page of a line.
pub(crate) fn line_address(path: &MemoryPath, line: usize) -> String {
    format!("{}?line={line}", href::at("line", path))
}
