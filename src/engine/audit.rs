//! What the audit keeps of each call.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Item, Planned, Proposal, permission};
use crate::action::Action;
use crate::catalog::{ACTION, row};
use crate::digest::Digest;
use crate::path::MemoryPath;
use crate::plan::{Plan, Step};
use crate::policy::{self, Cleared, Grant, Permission};
use crate::report::{Outcome, Value};
use crate::vault::AuditEntry;

/// Longer texts are kept as digest and size: the history has the contents already, each once.
const LONGEST_TEXT: usize = 256;

/// Path, arguments and result; what is personal in an entry is here, where it can be erased.
#[derive(Serialize)]
struct Payload<'a> {
    path: &'a Option<String>,
    arguments: Option<Json>,
    result: Kept<'a>,
    /// Notes of whose text the answer holds something and that are not said by `path` and `result`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shown: Vec<&'a str>,
}

/// What is kept of a result.
#[derive(Serialize)]
#[serde(untagged)]
enum Kept<'a> {
    Answer(bool),
    Number(u64),
    Text { bytes: usize },
    List { count: usize },
    Failure { message: &'a str },
    Nothing,
}

/// One entry for each call of a proposal but for those that wait.
pub(super) fn entries(proposal: &Proposal) -> Vec<AuditEntry> {
    let planned = &proposal.planned;
    let items = planned.items.iter().zip(&planned.outcomes).zip(&planned.times);
    items
        .filter(|((item, _), _)| !matches!(item, Item::Held(_)))
        .map(|((item, outcome), time)| {
            let action = match item {
                Item::Cleared(cleared) => Some(&cleared.call().action),
                // What was refused is not kept here either: it may be a secret, or text that nobody approved.
                Item::Settled | Item::Held(_) => None,
            };
            entry(outcome, *time, permission(item), payload(action, outcome))
        })
        .collect()
}

/// The entries of calls that wait, by their places in the batch. Of what nobody has approved nothing is kept, not even a
/// name.
pub(super) fn waiting(planned: &Planned, waits: &[(usize, Outcome)], proposal: u64) -> Vec<AuditEntry> {
    let payload = json!({"proposal": proposal}).to_string();
    let time = |at: usize| planned.times.get(at).copied().unwrap_or_default();
    waits.iter().map(|(at, outcome)| entry(outcome, time(*at), Permission::Refused, payload.clone())).collect()
}

/// The entries of calls that would wait and of which no proposal was made.
pub(super) fn not_proposed(proposal: &Proposal) -> Vec<AuditEntry> {
    let planned = &proposal.planned;
    let is_proposed =
        |outcome: &Outcome| outcome.result.as_ref().is_err_and(|failure| failure.details.proposal.is_some());
    let items = planned.items.iter().zip(&planned.outcomes).zip(&planned.times);
    let held = items.filter(|((item, outcome), _)| matches!(item, Item::Held(_)) && !is_proposed(outcome));
    held.map(|((_, outcome), time)| entry(outcome, *time, Permission::Refused, "{}".to_owned())).collect()
}

/// The entry that tells the owner in which notes a batch wrote links anew that the client does not see.
pub(super) fn relinked(plan: &Plan, grant: Option<&Grant>) -> Option<AuditEntry> {
    let grant = grant.filter(|grant| grant.is_restricted())?;
    let hidden = |step: &Step| match step {
        Step::Put { path, .. } if !grant.shows(path) => Some(path.clone()),
        Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    };
    let notes: Vec<MemoryPath> = plan.steps().iter().filter_map(hidden).collect();
    let payload = json!({"path": null, "notes": notes}).to_string();
    let permission = Permission::Off.to_string();
    let entry = AuditEntry { number: 1, action: "relink".to_owned(), code: None, micros: 0, permission, payload };
    Some(entry).filter(|_| !notes.is_empty())
}

/// The entry of a call that the person has approved.
pub(super) fn approved(cleared: &Cleared, outcome: &Outcome) -> AuditEntry {
    let payload = payload(Some(&cleared.call().action), outcome);
    entry(outcome, Duration::ZERO, cleared.permission().clone(), payload)
}

/// The entry of a decision about a proposal.
pub(super) fn decision(action: &str, proposal: u64) -> AuditEntry {
    AuditEntry {
        number: 1,
        action: action.to_owned(),
        code: None,
        micros: 0,
        permission: Permission::Off.to_string(),
        payload: json!({"proposal": proposal, "batch": null}).to_string(),
    }
}

fn payload(action: Option<&Action>, outcome: &Outcome) -> String {
    let arguments = action.map(|action| arguments(action, outcome.result.is_ok()));
    let payload = Payload { path: &outcome.path, arguments, result: kept(outcome), shown: shown(outcome) };
    let payload = serde_json::to_string(&payload).unwrap_or_default();
    // What was refused as a secret may stand in the path or in the words of the failure.
    if outcome.result.is_err() && policy::holds_secret(&payload) { "{}".to_owned() } else { payload }
}

fn entry(outcome: &Outcome, time: Duration, permission: Permission, payload: String) -> AuditEntry {
    AuditEntry {
        number: outcome.index,
        // A name that no action has is text of the model's, and this column cannot be erased.
        action: outcome.action.clone().filter(|name| row(name).is_some()).unwrap_or_else(|| "unknown".to_owned()),
        code: outcome.result.as_ref().err().map(|failure| failure.code.to_string()),
        micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
        permission: permission.to_string(),
        payload,
    }
}

/// The arguments of an action as a JSON object, long texts replaced by their digest and size.
///
/// What was not written is nowhere else: its digest would outlive all that tells whether it has to be forgotten.
fn arguments(action: &Action, is_done: bool) -> Json {
    let mut arguments = serde_json::to_value(action).unwrap_or_default();
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.shift_remove(ACTION);
        for value in arguments.values_mut() {
            if let Json::String(text) = value
                && text.len() > LONGEST_TEXT
            {
                let digest = is_done.then(|| json!({"digest": Digest::of(text.as_bytes()), "bytes": text.len()}));
                *value = digest.unwrap_or_else(|| json!({"bytes": text.len()}));
            }
        }
    }
    arguments
}

/// The notes of which an answer shows something, each once; a text is told by its path. They are as many as the answer has
/// room for.
fn shown(outcome: &Outcome) -> Vec<&str> {
    let mut shown: Vec<&str> = match &outcome.result {
        Ok(Value::Search(search)) => {
            let hits = search.hits.iter().filter(|hit| !hit.snippet.is_empty());
            hits.map(|hit| hit.path.as_str()).collect()
        }
        Ok(Value::Context(context)) => context.parts.iter().map(|part| part.path.as_str()).collect(),
        // What shows the model how to do it right shows it a piece of the note, or all of it.
        Err(failure) if failure.details.closest.is_some() || failure.details.text.is_some() => {
            outcome.path.as_deref().into_iter().collect()
        }
        Ok(_) | Err(_) => Vec::new(),
    };
    shown.sort_unstable();
    shown.dedup();
    shown
}

fn kept(outcome: &Outcome) -> Kept<'_> {
    match &outcome.result {
        Ok(Value::Text(text)) => Kept::Text { bytes: text.len() },
        Ok(Value::Bool(answer)) => Kept::Answer(*answer),
        Ok(Value::Bytes(bytes)) => Kept::Number(*bytes),
        Ok(Value::Paths(paths)) => Kept::List { count: paths.len() },
        Ok(Value::Directory(entries)) => Kept::List { count: entries.len() },
        Ok(Value::File(_) | Value::Nothing) => Kept::Nothing,
        Ok(Value::History(log)) => Kept::List { count: log.entries.len() },
        Ok(Value::Search(search)) => Kept::List { count: search.total },
        Ok(Value::Context(context)) => Kept::List { count: context.parts.len() },
        Ok(Value::Links(links)) => Kept::List { count: links.links.len() },
        Ok(Value::Entries(entries)) => Kept::List { count: entries.len() },
        Err(failure) => Kept::Failure { message: &failure.message },
    }
}
