//! What the audit keeps of each call.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Item, Proposal, permission};
use crate::action::Action;
use crate::catalog::{ACTION, row};
use crate::digest::Digest;
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

/// One entry for each call of a proposal.
pub(super) fn entries(proposal: &Proposal) -> Vec<AuditEntry> {
    let planned = &proposal.planned;
    let items = planned.items.iter().zip(&planned.outcomes).zip(&planned.times);
    items
        .map(|((item, outcome), time)| {
            let arguments = match item {
                Item::Cleared(cleared) => Some(arguments(&cleared.call().action, outcome.result.is_ok())),
                // What was refused is not kept here either: it may be a secret, or text that nobody approved.
                Item::Settled(_) => None,
            };
            let payload = Payload { path: &outcome.path, arguments, result: kept(outcome) };
            AuditEntry {
                number: outcome.index,
                // A name that no action has is text of the model's, and this column cannot be erased.
                action: outcome
                    .action
                    .clone()
                    .filter(|name| row(name).is_some())
                    .unwrap_or_else(|| "unknown".to_owned()),
                code: outcome.result.as_ref().err().map(|failure| failure.code.to_string()),
                micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
                permission: permission(item).to_string(),
                payload: serde_json::to_string(&payload).unwrap_or_default(),
            }
        })
        .collect()
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
