//! What the audit keeps of each call.

use serde_json::{Map, Value as Json, json};

use super::{Item, Proposal, permission};
use crate::action::Action;
use crate::digest::Digest;
use crate::report::{Outcome, Value};
use crate::vault::AuditEntry;

/// Longer texts are kept as digest and size: the history has the contents already, each once.
const LONGEST_TEXT: usize = 256;

/// One entry for each call of a proposal.
pub(super) fn entries(proposal: &Proposal) -> Vec<AuditEntry> {
    let planned = &proposal.planned;
    let items = proposal.items.iter().zip(&planned.outcomes).zip(&planned.times);
    items
        .map(|((item, outcome), time)| {
            let arguments = match item {
                Item::Cleared(cleared) => Some(arguments(&cleared.call().action)),
                Item::Settled(_, arguments) => arguments.clone(),
            };
            AuditEntry {
                number: outcome.index,
                action: outcome.action.clone().unwrap_or_default(),
                code: outcome.result.as_ref().err().map(|failure| failure.code.to_string()),
                micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
                permission: permission(item).to_string(),
                payload: payload(outcome, arguments.as_deref()),
            }
        })
        .collect()
}

/// The arguments of an action as a JSON object, long texts replaced by their digest and size.
pub(super) fn arguments(action: &Action) -> String {
    let mut arguments = serde_json::to_value(action).unwrap_or_default();
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.remove(crate::catalog::ACTION);
        for value in arguments.values_mut() {
            if let Json::String(text) = value
                && text.len() > LONGEST_TEXT
            {
                *value = json!({"digest": Digest::of(text.as_bytes()), "bytes": text.len()});
            }
        }
    }
    arguments.to_string()
}

/// Path, arguments and result; what is personal in an entry is here, where it can be erased.
fn payload(outcome: &Outcome, arguments: Option<&str>) -> String {
    let mut payload = Map::new();
    payload.insert("path".to_owned(), json!(outcome.path));
    let arguments = arguments.and_then(|arguments| serde_json::from_str(arguments).ok());
    payload.insert("arguments".to_owned(), arguments.unwrap_or(Json::Null));
    let result = match &outcome.result {
        Ok(Value::Text(text)) => json!({"bytes": text.len()}),
        Ok(Value::Bool(answer)) => json!(answer),
        Ok(Value::Bytes(bytes)) => json!(bytes),
        Ok(Value::Paths(paths)) => json!({"count": paths.len()}),
        Ok(Value::Directory(entries)) => json!({"count": entries.len()}),
        Ok(Value::File(_)) => Json::Null,
        Ok(Value::History(log)) => json!({"count": log.entries.len()}),
        Err(failure) => json!({"message": failure.message}),
    };
    payload.insert("result".to_owned(), result);
    Json::Object(payload).to_string()
}
