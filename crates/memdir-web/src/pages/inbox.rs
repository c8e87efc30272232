//! What waits for the person: each proposal with who asks, why, and what it would do now.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_engine::{PendingProposal, Reviewed, Unreadable, standing};
use memdir_plan::{Plan, note_changes};
use memdir_policy::Verdict;
use serde::Deserialize;

use super::{rules, shown};
use crate::changes;
use crate::door::Visitor;
use crate::layout::{self, Page, Section};
use crate::sent::{Path, Query};
use crate::site::Site;
use crate::text;
use crate::who::{when, who};

/// So many proposals are looked at for one page, if they are not more bytes than this.
const MOST_SHOWN: usize = 10;
const MOST_BYTES: usize = 76 * 1024;
/// So much of a diff stands in the list; what is longer has its own page, where it is decided.
const LISTED_DIFF: usize = 6 * 1024;

/// Where the list goes on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    after: Option<u64>,
}

pub(crate) async fn list(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, visitor| {
        let (waiting, unreadable) = site.engine().waiting()?;
        let total = waiting.len() + unreadable.len();
        let after = asked.after.unwrap_or(0);
        let mut ids: Vec<u64> = waiting.iter().map(|waiting| waiting.id).filter(|id| *id > after).collect();
        ids.sort_unstable();
        let mut cards = Vec::new();
        for id in ids.iter().take(MOST_SHOWN) {
            match site.engine().review_proposal(*id) {
                Ok(reviewed) => {
                    shown::changed(site, visitor, &note_changes(reviewed.plan.steps()));
                    cards.push((*id, card(visitor, &reviewed)));
                }
                // Somebody has just decided it.
                Err(failure) if failure.code == Code::NotFound => {}
                Err(failure) => return Err(failure),
            }
        }
        let (shown, left) = layout::fitting(cards.iter().map(|(_, card)| card.clone()), MOST_BYTES);
        let last = cards.iter().rev().nth(left).map(|(id, _)| *id);
        let is_cut = left > 0 || ids.len() > MOST_SHOWN;
        let main = html! {
            h1 { "Inbox" }
            div #inbox data-live="state" {
                p .count { (waits(total)) }
                @if after == 0 { @for one in &unreadable { (unreadable_card(visitor, one)) } }
                (shown)
                @if let Some(last) = last.filter(|_| is_cut) {
                    p .more { a #more rel="next" href={ "/inbox?after=" (last) } { "More" } }
                }
            }
        };
        Ok(Page::new("Inbox", Section::Inbox, main))
    })
    .await
}

fn waits(total: usize) -> String {
    match total {
        0 => "Nothing waits for you.".to_owned(),
        1 => "1 proposal waits for you.".to_owned(),
        total => format!("{total} proposals wait for you."),
    }
}

fn card(visitor: &Visitor, reviewed: &Reviewed) -> Markup {
    let (waiting, id) = (&reviewed.waiting, reviewed.waiting.id);
    let address = format!("/inbox/{id}");
    let (diff, parts) = changes::diff(&waiting.diff, 1, LISTED_DIFF);
    html! {
        article .card id={ "proposal-" (id) } {
            h2 { a href=(address) { "Proposal " (id) } }
            (head(reviewed))
            (changes::words(&note_changes(reviewed.plan.steps())))
            (diff)
            @if parts > 1 {
                p { "This is the beginning of it. " a .button href=(address) { "See all of it, and decide" } }
            } @else {
                @if waiting.calls.len() > 1 {
                    p { a href={ (address) "?parts" } { "Decide about parts of it" } }
                }
                (decision(visitor, reviewed))
            }
        }
    }
}

/// Who asks, when and why; and what stands in the way.
fn head(reviewed: &Reviewed) -> Markup {
    let waiting = &reviewed.waiting;
    html! {
        p {
            (who(&waiting.author.door, waiting.author.client.as_deref()))
            @if let Some(own) = waiting.own { span .quiet { " (its own number: " (own) ")" } }
            span .quiet { ", " (when(&waiting.time.to_string())) ", expires " (when(&waiting.expires.to_string())) }
        }
        p .reason { (layout::sentence(&waiting.reason)) }
        @if reviewed.is_renewed {
            p .hint { "The notes have changed since it was proposed: this is what it would change now." }
        }
        @if let Some(trouble) = &reviewed.trouble {
            p { "It cannot be done now:" }
            (layout::problem(trouble))
        }
    }
}

/// The buttons under what was shown, bound to it.
fn decision(visitor: &Visitor, reviewed: &Reviewed) -> Markup {
    let (waiting, can) = (&reviewed.waiting, reviewed.trouble.is_none());
    let rules = |verdict| standing(waiting, verdict).ok().filter(|rules| !rules.is_empty());
    let answers =
        [("always", "Always yes", rules(Verdict::Allow).filter(|_| can)), ("never", "Never", rules(Verdict::Deny))];
    let fields = html! {
        input type="hidden" name="digest" value=(waiting.digest);
        div .row {
            @if can { button .main name="answer" value="yes" { "Yes" } }
            button name="answer" value="no" { "No" }
            a .button href="/inbox" { "Later" }
        }
        @if answers.iter().any(|(_, _, rules)| rules.is_some()) {
            details id={ "rules-" (waiting.id) } {
                summary { "Always or never" }
                p { "Always and Never add rules to your settings, which answer every change like this one from now on. `memdir rules` lists and removes them." }
                @for (answer, name, rules) in &answers {
                    @if let Some(rules) = rules {
                        input type="hidden" name=(answer) value=(rules::digest_of(rules));
                        ul { @for rule in rules { li { code { (text::seen(&rule.to_string())) } } } }
                        p { button name="answer" value=(answer) { (name) } }
                    }
                }
            }
        }
    };
    layout::post(visitor, &format!("/inbox/{}", waiting.id), fields)
}

fn unreadable_card(visitor: &Visitor, one: &Unreadable) -> Markup {
    let fields = html! { button name="answer" value="no" { "Drop it" } };
    html! {
        article .card {
            h2 { "Proposal " (one.id) }
            (layout::problem(&one.failure))
            (layout::post(visitor, &format!("/inbox/{}", one.id), fields))
        }
    }
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    site.show(&visitor, move |site, visitor| {
        let asked = AskedOfOne::of(query.as_deref().unwrap_or_default());
        page(site, visitor, super::number(&id)?, &asked, None)
    })
    .await
}

/// What is asked of one proposal.
#[derive(Debug, Default)]
pub(super) struct AskedOfOne {
    /// The calls of which the person wants to see what they do, by their places.
    pub(super) calls: Vec<usize>,
    /// Whether to choose parts.
    pub(super) chooses: bool,
    /// Which part of the diff, from 1.
    pub(super) part: usize,
}

impl AskedOfOne {
    fn of(query: &str) -> Self {
        let mut asked = Self { part: 1, ..Self::default() };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "parts" => asked.chooses = true,
                "calls" => asked.calls.extend(places(&value)),
                "part" => asked.part = value.parse().unwrap_or(1),
                _ => {}
            }
        }
        asked.calls.sort_unstable();
        asked.calls.dedup();
        asked
    }
}

/// Places of calls as they stand in a field.
pub(super) fn places(field: &str) -> impl Iterator<Item = usize> {
    field.split(',').filter_map(|place| place.parse().ok())
}

fn in_field(places: &[usize]) -> String {
    places.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The page of one proposal, or of some of its calls; `failure` says what has just not been done.
pub(super) fn page(
    site: &Site,
    visitor: &Visitor,
    id: u64,
    asked: &AskedOfOne,
    failure: Option<&Failure>,
) -> Result<Page, Failure> {
    let reviewed = site.engine().review_proposal(id)?;
    shown::changed(site, visitor, &note_changes(reviewed.plan.steps()));
    let body = if !asked.calls.is_empty() {
        some_calls(site, visitor, &reviewed.waiting, asked)
    } else if asked.chooses {
        choice(site, &reviewed.waiting)?
    } else {
        let (diff, count) = changes::diff(&reviewed.waiting.diff, asked.part, changes::PART_BYTES);
        html! {
            (changes::words(&note_changes(reviewed.plan.steps())))
            (diff)
            (changes::part_links(&format!("/inbox/{id}?part="), asked.part, count))
            @if reviewed.waiting.calls.len() > 1 {
                p { a href={ "/inbox/" (id) "?parts" } { "Decide about parts of it" } }
            }
            (decision(visitor, &reviewed))
        }
    };
    let main = html! {
        nav .trail aria-label="Above" { a href="/inbox" { "Inbox" } }
        h1 { "Proposal " (id) }
        @if let Some(failure) = failure { (layout::problem(failure)) }
        (head(&reviewed))
        (body)
    };
    Ok(Page::new(format!("Proposal {id}"), Section::Inbox, main))
}

/// The parts of a proposal that can be decided each by itself, with what each would do.
fn choice(site: &Site, waiting: &PendingProposal) -> Result<Markup, Failure> {
    let engine = site.engine();
    let parts = engine.parts_of(waiting.id)?;
    let each = parts.iter().map(|part| (part, engine.review_part(waiting.id, part)));
    Ok(html! {
        @if parts.len() < 2 { p { "Its parts belong together." } }
        form method="get" action={ "/inbox/" (waiting.id) } {
            fieldset {
                legend { "Which parts do you want?" }
                @for ((part, reviewed), number) in each.zip(1..) {
                    div .field {
                        @let name = format!("part-{number}");
                        @match reviewed {
                            Ok((plan, _)) => {
                                input type="checkbox" id=(name) name="calls" value=(in_field(part));
                                " " label for=(name) { "Part " (number) }
                                (changes::words(&note_changes(plan.steps())))
                            }
                            Err(failure) => { "Part " (number) " cannot be done now:" (layout::problem(&failure)) }
                        }
                    }
                }
            }
            div .row {
                button .main { "Show what these do" }
                a .button href={ "/inbox/" (waiting.id) } { "All of it" }
            }
        }
    })
}

/// What some calls would do without the others, and the yes to that.
fn some_calls(site: &Site, visitor: &Visitor, waiting: &PendingProposal, asked: &AskedOfOne) -> Markup {
    let (plan, digest): (Plan, Digest) = match site.engine().review_part(waiting.id, &asked.calls) {
        Ok(reviewed) => reviewed,
        Err(failure) => {
            return html! {
                p { "These parts cannot be done without the others:" }
                (layout::problem(&failure))
                p { a .button href={ "/inbox/" (waiting.id) "?parts" } { "Choose again" } }
            };
        }
    };
    let calls = in_field(&asked.calls);
    let (diff, count) = changes::diff(&plan.diff(), asked.part, changes::PART_BYTES);
    let fields = html! {
        input type="hidden" name="digest" value=(digest);
        input type="hidden" name="calls" value=(calls);
        div .row {
            button .main name="answer" value="yes" { "Yes to this, and drop the rest" }
            a .button href={ "/inbox/" (waiting.id) "?parts" } { "Choose again" }
        }
    };
    html! {
        h2 { "Without the rest it would do this" }
        (changes::words(&note_changes(plan.steps())))
        (diff)
        (changes::part_links(&format!("/inbox/{}?calls={calls}&part=", waiting.id), asked.part, count))
        (layout::post(visitor, &format!("/inbox/{}", waiting.id), fields))
    }
}
