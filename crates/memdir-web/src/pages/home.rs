//! Home: what is new and what waits, the person and who is around them, the week, and questions worth an answer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::{MemoryPath, PERSON_NOTE};
use memdir_core::report::{Code, FactState, Failure, Log};
use memdir_engine::{FactsQuery, FoundFact, Question, QuestionKind};
use memdir_plan::count;
use memdir_vault::LogQuery;

use super::{diary, review, shown};
use crate::door::Visitor;
use crate::href;
use crate::layout::{self, Page, Section};
use crate::markdown;
use crate::site::Site;
use crate::text;
use crate::who;

/// What is new is of this time.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// So many changes of it are counted.
const MOST_CHANGES: usize = 500;
/// So many of the person's facts are shown, and of each note around.
const MOST_FACTS: usize = 40;
const FEW_FACTS: usize = 4;
/// So many notes around the person are shown.
const MOST_AROUND: usize = 12;
/// So many questions are asked here; there is a page of all.
const QUESTIONS: usize = 3;
/// So much of a value is shown.
const LETTERS: usize = 160;

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |site, visitor| {
        let person = MemoryPath::parse(PERSON_NOTE)
            .map_err(|error| Failure::new(Code::Internal, format!("the note of the person {error}")))?;
        let (week, trouble) = match week(site) {
            Ok(week) => (week, None),
            Err(failure) => (Log::default(), Some(failure)),
        };
        let questions = site.glance.questions(site.engine())?;
        let asked_of = questions.iter().take(QUESTIONS);
        shown::excerpts(site, visitor, asked_of.flat_map(|asked| [Some(&asked.path), asked.other.as_ref().map(|other| &other.path)]).flatten());
        let main = html! {
            h1 { "Your memory" }
            @if let Some(failure) = &trouble { (layout::problem(failure)) }
            (summary(site, &week, &questions))
            div .sides {
                div {
                    (asked(visitor, &questions))
                    section #week data-live="notes state" aria-labelledby="week-title" {
                        h2 #week-title { "This week" }
                        (diary::days(site, visitor, &week.entries)?)
                        @if week.entries.is_empty() { p .quiet { "Nothing was changed through memdir in the last seven days." } }
                    }
                }
                aside #people .beside data-live="notes" aria-label="What is known" {
                    (about_person(site, visitor, &person)?)
                    (around(site, visitor, &person)?)
                }
            }
        };
        Ok(Page::new("Home", Section::Home, main))
    })
    .await
}

/// What was changed in the last seven days.
fn week(site: &Site) -> Result<Log, Failure> {
    let since = Some(site.engine().now().minus(WEEK));
    site.engine().log(&LogQuery { since, limit: MOST_CHANGES, ..LogQuery::default() }, false)
}

/// What is new and what waits, each a link.
fn summary(site: &Site, week: &Log, questions: &[Question]) -> Markup {
    let new = week.entries.iter().filter(|entry| entry.undone_by.is_none() && entry.undoes.is_none()).count();
    let of = |kind| questions.iter().filter(|question| question.kind == kind).count();
    let waiting = site.engine().waiting().map_or(0, |(waiting, _)| waiting.len());
    let parts = [
        ("#week", new, "new change this week", "new changes this week"),
        ("/inbox", waiting, "waits for you", "wait for you"),
        ("/review", of(QuestionKind::Disputed), "contradiction", "contradictions"),
        ("/review", of(QuestionKind::Old), "may be out of date", "may be out of date"),
        ("/review", of(QuestionKind::Unconfirmed), "is not confirmed", "are not confirmed"),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|(to, count, ..)| *count > 0 || *to == "#week").collect();
    html! {
        p #summary .summary data-live="notes state" aria-live="polite" {
            @for (at, (to, count, one, many)) in parts.iter().enumerate() {
                @if at > 0 { ", " }
                a href=(to) { (count) " " (if *count == 1 { one } else { many }) }
            }
            "."
        }
    }
}

/// The first of the questions.
fn asked(visitor: &Visitor, questions: &[Question]) -> Markup {
    html! {
        @if !questions.is_empty() {
            section #questions data-live="notes state" aria-labelledby="questions-title" {
                h2 #questions-title { "Worth an answer" }
                (review::list(visitor, questions.iter().take(QUESTIONS)))
                @if questions.len() > QUESTIONS {
                    p { a href="/review" { "All " (count(questions.len(), "question")) } }
                }
            }
        }
    }
}

/// The facts of a note that hold; none where there is no such note.
fn facts_of(site: &Site, note: &MemoryPath, limit: usize, why: bool) -> Result<Vec<FoundFact>, Failure> {
    let query = FactsQuery { note: Some(note), limit, why, ..FactsQuery::current() };
    match site.engine().facts(&query) {
        Ok(found) => Ok(found.facts),
        Err(failure) if matches!(failure.code, Code::NotFound | Code::IsADirectory) => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

/// The person as a card.
fn about_person(site: &Site, visitor: &Visitor, person: &MemoryPath) -> Result<Markup, Failure> {
    let facts = facts_of(site, person, MOST_FACTS, true)?;
    let is_there = site.engine().text_of(person).is_some();
    shown::excerpts(site, visitor, facts.iter().map(|fact| &fact.path));
    Ok(html! {
        section #you .card aria-labelledby="you-title" {
            h2 #you-title { @if is_there { a href=(href::note(person)) { "You" } } @else { "You" } }
            @if facts.is_empty() { p .quiet { "No fact about you is known yet." } }
            ul .facts {
                @for fact in &facts {
                    li {
                        (said(fact))
                        @if let Some(source) = who::source(fact) { small .source { (source) } }
                    }
                }
            }
        }
    })
}

/// What a fact says, with its state where it is not simply so; it leads to where it can be corrected.
fn said(fact: &FoundFact) -> Markup {
    let text = format!("{}: {}", fact.key, markdown::without_links(&fact.value));
    html! {
        a .said href=(review::line_address(&fact.path, fact.line)) { (text::shortened(&text, LETTERS)) }
        @if fact.state != FactState::Current { " " span .badge { (fact.state) } }
    }
}

/// The notes to which that of the person links, as cards.
fn around(site: &Site, visitor: &Visitor, person: &MemoryPath) -> Result<Markup, Failure> {
    let links = site.engine().surroundings(person, MOST_AROUND).map(|around| around.links).unwrap_or_default();
    let mut notes: Vec<MemoryPath> = Vec::new();
    for note in links.into_iter().filter_map(|link| link.resolved) {
        if note != *person && note.is_note() && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes.truncate(MOST_AROUND);
    let mut cards = Vec::new();
    for note in &notes {
        let facts = facts_of(site, note, FEW_FACTS, false)?;
        shown::excerpts(site, visitor, facts.iter().map(|fact| &fact.path));
        cards.push((note, facts));
    }
    Ok(html! {
        @if !cards.is_empty() {
            section #around aria-labelledby="around-title" {
                h2 #around-title { "Around you" }
                div .cards {
                    @for (note, facts) in &cards {
                        div .card {
                            h3 { a href=(href::note(note)) { (shown::title(site, note)) } }
                            ul .facts { @for fact in facts { li { (said(fact)) } } }
                        }
                    }
                }
            }
        }
    })
}
