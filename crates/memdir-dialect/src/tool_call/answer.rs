//! What became of the calls, as the provider of each shape wants it.

use std::collections::HashMap;

use serde_json::{Map, Value as Json, json};

use super::shape::Shape;
use super::{Answer, Frame, Kind, Slot};
use crate::memory_tool;
use memdir_core::report::{CONTRADICTION, Failure, Issue, Outcome, Report, UNREAD_FRONT_MATTER, Value};

/// The result of one call.
struct Content {
    /// A text as it is, or an object.
    json: Json,
    is_error: bool,
}

/// The result of the one call of a turn.
pub(super) fn one(frame: &Frame, report: &Report) -> Answer {
    let issues = by_call(&report.issues);
    let content = frame.slots.first().map(|slot| match (&slot.kind, report.actions.get(slot.first)) {
        // The same JSON goes as text and as a value; a note's text goes only as it is.
        (Kind::Action, Some(Outcome { result: Ok(Value::Text(text)), .. })) => {
            Content { json: text.as_str().into(), is_error: false }
        }
        _ => content(slot, report, &issues),
    });
    let Content { json, is_error } =
        content.unwrap_or_else(|| Content { json: json!({"error": "nothing became of this call"}), is_error: true });
    match json {
        Json::String(text) => Answer { text, structured: None, is_error },
        json @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_)) => {
            Answer { text: json.to_string(), structured: Some(json), is_error }
        }
    }
}

/// The results of all calls of a turn.
pub(super) fn answer(frame: &Frame, report: &Report) -> Json {
    if frame.slots.is_empty() {
        let failed =
            report.error.as_ref().or_else(|| report.actions.iter().find_map(|outcome| outcome.result.as_ref().err()));
        return match (failed, frame.shape) {
            (Some(failure), _) => json!({"error": failure}),
            (None, Shape::Chat | Shape::Responses) => json!([]),
            (None, Shape::Anthropic | Shape::Gemini | Shape::Mcp) => Json::Null,
        };
    }
    let issues = by_call(&report.issues);
    let results: Vec<_> =
        frame.slots.iter().map(|slot| result(frame.shape, slot, content(slot, report, &issues))).collect();
    match frame.shape {
        Shape::Chat | Shape::Responses | Shape::Mcp => Json::Array(results),
        Shape::Anthropic => json!({"role": "user", "content": results}),
        Shape::Gemini => json!({"role": "user", "parts": results}),
    }
}

fn result(shape: Shape, slot: &Slot, content: Content) -> Json {
    let Content { json, is_error } = content;
    let id = slot.id.as_deref().unwrap_or_default();
    match shape {
        Shape::Chat => json!({"role": "tool", "tool_call_id": id, "content": text(json)}),
        Shape::Responses => json!({"type": "function_call_output", "call_id": id, "output": text(json)}),
        Shape::Anthropic if is_error => {
            json!({"type": "tool_result", "tool_use_id": id, "content": text(json), "is_error": true})
        }
        Shape::Anthropic => json!({"type": "tool_result", "tool_use_id": id, "content": text(json)}),
        // What belongs around it is the server's.
        Shape::Mcp => json,
        Shape::Gemini => {
            let is_named = json.get("error").is_some();
            let response = match (is_error, is_named) {
                (true, true) => json,
                (true, false) => json!({"error": json}),
                (false, _) => json!({"output": json}),
            };
            let mut part = Map::new();
            part.extend(slot.id.as_ref().map(|id| ("id".to_owned(), Json::from(id.as_str()))));
            part.insert("name".to_owned(), slot.name.as_str().into());
            part.insert("response".to_owned(), response);
            json!({"functionResponse": part})
        }
    }
}

/// A result as one text.
fn text(json: Json) -> String {
    if let Json::String(text) = json { text } else { json.to_string() }
}

fn content(slot: &Slot, report: &Report, issues: &HashMap<usize, Vec<&Issue>>) -> Content {
    let outcomes = report.actions.get(slot.first..).unwrap_or_default();
    let outcomes = outcomes.get(..slot.count).unwrap_or(outcomes);
    match (&slot.kind, outcomes) {
        (_, []) => match &report.error {
            Some(failure) => error(failure),
            // What became of the first call that a batch has no room for stands for all that follow.
            None if slot.first > 0 => Content { json: json!({"error": "too many calls in one turn"}), is_error: true },
            None => Content { json: json!({"error": "nothing became of this call"}), is_error: true },
        },
        (Kind::Actions, several) => actions(several, report, issues),
        (Kind::Action, [outcome, ..]) => action(outcome, &told(outcome, issues)),
        (Kind::Memory(asked), [outcome, ..]) => match memory_tool::answer(asked, outcome) {
            Ok(mut text) => {
                told(outcome, issues).iter().for_each(|issue| text.push_str(&format!("\n\n{}", issue.message)));
                Content { json: text.into(), is_error: false }
            }
            Err(text) => Content { json: text.into(), is_error: true },
        },
    }
}

fn error(failure: &Failure) -> Content {
    Content { json: json!({"error": failure}), is_error: true }
}

/// What was noticed of a call that its model has to hear although the call is done: that the memory now contradicts itself, or
/// that the front matter of a note is not read.
fn told<'r>(outcome: &Outcome, issues: &HashMap<usize, Vec<&'r Issue>>) -> Vec<&'r Issue> {
    // Thousands of calls that cannot be read may share a number and its issues.
    let about = issues.get(&outcome.index).filter(|_| outcome.result.is_ok());
    about
        .into_iter()
        .flatten()
        .copied()
        .filter(|issue| [CONTRADICTION, UNREAD_FRONT_MATTER].contains(&issue.code))
        .collect()
}

fn action(outcome: &Outcome, told: &[&Issue]) -> Content {
    let value = match &outcome.result {
        Ok(value) => value,
        Err(failure) => return error(failure),
    };
    let json = match (value, outcome.action.as_deref()) {
        (Value::Text(text), Some("read_file" | "go_to_link")) => text.as_str().into(),
        (Value::Foreign(json), _) if outcome.total.is_none() => json.clone(),
        _ => {
            let mut entry = Map::new();
            entry.insert("value".to_owned(), json!(value));
            entry.extend(outcome.path.as_ref().map(|path| ("path".to_owned(), path.as_str().into())));
            if let Some(total) = outcome.total {
                entry.insert("total".to_owned(), total.into());
                entry.insert("cursor".to_owned(), json!(outcome.cursor));
            }
            if !told.is_empty() {
                entry.insert("issues".to_owned(), json!(told));
            }
            Json::Object(entry)
        }
    };
    Content { json, is_error: false }
}

/// The object of `exec` for some of the calls of the turn.
fn actions(outcomes: &[Outcome], report: &Report, issues: &HashMap<usize, Vec<&Issue>>) -> Content {
    let about = |outcome: &Outcome| issues.get(&outcome.index).into_iter().flatten().map(|issue| (*issue).clone());
    // What did nothing says nothing of what the turn changed, which may be much.
    let has_done = outcomes.iter().any(|outcome| outcome.result.is_ok());
    let own = Report {
        changed: if has_done { report.changed.clone() } else { Vec::new() },
        batch: report.batch.filter(|_| has_done),
        durable: report.durable,
        receipt: report.receipt.clone().filter(|_| has_done),
        issues: outcomes.iter().flat_map(about).collect(),
        dry_run: report.dry_run,
        ..Report::of(outcomes.to_vec())
    };
    let is_error = outcomes.iter().any(|outcome| outcome.result.is_err());
    Content { json: json!(own), is_error }
}

fn by_call(issues: &[Issue]) -> HashMap<usize, Vec<&Issue>> {
    let mut by_call = HashMap::<usize, Vec<&Issue>>::new();
    for issue in issues {
        by_call.entry(issue.index.unwrap_or(0)).or_default().push(issue);
    }
    by_call
}
