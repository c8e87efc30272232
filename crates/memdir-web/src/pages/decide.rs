//! The person's word on a proposal: yes or no, once or always, to all of it or a part.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_engine::{ChangeError, Consent, Done};
use memdir_policy::Verdict;
use serde::Deserialize;

use super::inbox::{self, AskedOfOne};
use super::rules::{rules_as_shown, settle};
use crate::door::{Notice, Visitor};
use crate::sent::{Form, Path};
use crate::site::{Site, Then};

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    answer: Answer,
    /// The digest of the diff that was shown.
    digest: Option<String>,
    /// The calls that it is of, where it is of some alone.
    calls: Option<String>,
    /// The digests of the rules that were shown.
    always: Option<String>,
    never: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Yes,
    No,
    Always,
    Never,
}

pub(crate) async fn decide(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(sent): Form<Sent>,
) -> Response {
    site.change(&visitor, move |site, visitor| {
        let id = super::number(&id)?;
        match answer(site, id, &sent) {
            Ok(notice) => Ok(Then::Go { to: "/inbox".to_owned(), notice }),
            // It is still waiting: what it would do now is shown, and nothing is done.
            Err(ChangeError { failure, .. }) => {
                let calls = inbox::places(sent.calls.as_deref().unwrap_or_default()).collect();
                let asked = AskedOfOne { calls, part: 1, ..AskedOfOne::default() };
                match inbox::page(site, visitor, id, &asked, Some(&failure)) {
                    Ok(page) => Ok(Then::Show(failure, page)),
                    Err(_) => Err(failure),
                }
            }
        }
    })
    .await
}

/// Does what was answered; rules are looked for before anything is decided, and written after it.
fn answer(site: &Site, id: u64, sent: &Sent) -> Result<Notice, ChangeError> {
    let engine = site.engine();
    let rules = match sent.answer {
        Answer::Always => rules_as_shown(site, id, Verdict::Allow, sent.always.as_deref())?,
        Answer::Never => rules_as_shown(site, id, Verdict::Deny, sent.never.as_deref())?,
        Answer::Yes | Answer::No => Vec::new(),
    };
    let mut notice = match sent.answer {
        Answer::Yes | Answer::Always => {
            let done = approve(site, id, sent)?;
            Notice::of(Some(format!("proposal {id} is approved: {}", done.receipt_for_owner())), done.batch)
        }
        Answer::No | Answer::Never => {
            is_as_shown(site, id, sent)?;
            engine.reject(id, &site.person())?;
            Notice::of(Some(format!("proposal {id} is dropped and gone from the inbox")), None)
        }
    };
    notice.issues.extend(rules.iter().map(|rule| settle(site, rule)));
    Ok(notice)
}

/// Refuses where a proposal says something else than was shown. One that cannot be read showed nothing.
fn is_as_shown(site: &Site, id: u64, sent: &Sent) -> Result<(), Failure> {
    if site.engine().waiting()?.1.iter().any(|unreadable| unreadable.id == id) {
        return Ok(());
    }
    let now = site.engine().review_proposal(id)?.waiting.digest.to_string();
    if sent.digest.as_deref() == Some(now.as_str()) {
        return Ok(());
    }
    let failure = Failure::new(Code::Conflict, format!("proposal {id} would change something else by now"));
    Err(failure.with_hint("nothing was decided: look at what it would change now"))
}

fn approve(site: &Site, id: u64, sent: &Sent) -> Result<Done, ChangeError> {
    let shown = sent.digest.as_deref().and_then(|digest| Digest::parse(digest).ok());
    let shown = shown.ok_or_else(|| {
        Failure::new(Code::Usage, "the form does not say what was shown").with_hint("look at the proposal once more")
    })?;
    match &sent.calls {
        Some(calls) => {
            let part: Vec<usize> = inbox::places(calls).collect();
            site.engine().approve_part(id, &part, shown, &site.person())
        }
        None => site.engine().approve(id, Consent::Shown(shown), &site.person()),
    }
}
