//! [`Payload`]: what is personal in an entry of the audit, and can be erased.
//!
//! Owns its form, which is JSON and part of version 1 of the history: nothing else writes or reads it.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use memdir_core::action::Action;
use memdir_core::catalog::ACTION;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Outcome, RememberedChange, Value};
use memdir_tools::CallRecord;

/// Longer texts are kept as digest and size: the history has the contents already, each once.
const LONGEST_TEXT: usize = 256;

/// Path, arguments and result of a call as a JSON object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Payload(String);

/// A payload as it is written for a call.
#[derive(Serialize)]
struct CallForm<'a> {
    path: &'a Option<String>,
    arguments: Option<Json>,
    result: ResultForm<'a>,
    /// Notes of whose text the answer holds something and that `path` and `result` do not name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shown: Vec<&'a str>,
}

/// What is kept of a result.
#[derive(Serialize)]
#[serde(untagged)]
enum ResultForm<'a> {
    Answer(bool),
    Number(u64),
    Text { bytes: usize },
    List { count: usize },
    Failure { message: &'a str },
    Nothing,
}

/// A payload as it is read: as much of it as somebody asks for.
#[derive(Default, Deserialize)]
struct Stored {
    path: Option<String>,
    result: Option<StoredResult>,
    text: Option<String>,
    batch: Option<u64>,
    said: Option<String>,
    #[serde(default)]
    shown: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredResult {
    Text {
        #[serde(rename = "bytes")]
        _bytes: IgnoredAny,
    },
    Other(IgnoredAny),
}

impl Payload {
    /// What is kept of a call; `action` is `None` where nothing of its arguments is to be kept.
    #[must_use]
    pub fn of_call(action: Option<&Action>, outcome: &Outcome) -> Self {
        let arguments = action.map(|action| arguments(action, outcome.result.is_ok()));
        Self::of(&CallForm { path: &outcome.path, arguments, result: result(outcome), shown: shown(outcome) })
    }

    /// What is kept of a read of a whole note that no call asked for.
    #[must_use]
    pub fn of_read(path: &MemoryPath) -> Self {
        Self::of(&json!({"path": path}))
    }

    /// What is kept where something of several notes was shown that no call asked for.
    #[must_use]
    pub fn of_shown<'p>(notes: impl IntoIterator<Item = &'p MemoryPath>) -> Self {
        Self::of(&json!({"path": null, "shown": notes.into_iter().collect::<Vec<_>>()}))
    }

    /// What is kept where a batch was undone, or a note restored as it was after one.
    #[must_use]
    pub fn of_change(path: Option<&MemoryPath>, batch: u64) -> Self {
        Self::of(&json!({"path": path, "arguments": {"batch": batch}}))
    }

    /// What is kept of a call that waits in a proposal.
    #[must_use]
    pub fn of_waiting(proposal: u64) -> Self {
        Self::of(&json!({"proposal": proposal}))
    }

    /// What is kept of a decision about a proposal, and the batch that carries it out.
    #[must_use]
    pub fn of_decision(proposal: u64, batch: Option<u64>) -> Self {
        Self::of(&json!({"proposal": proposal, "batch": batch}))
    }

    /// What is kept where a person confirmed a line of a note, and the batch that the same answer made. The text is kept whole: its
    /// digest would outlive a `forget` of it.
    #[must_use]
    pub fn of_confirmation(path: &MemoryPath, text: &str, batch: Option<u64>) -> Self {
        match batch {
            Some(batch) => Self::of(&json!({"path": path, "text": text, "batch": batch})),
            None => Self::of(&json!({"path": path, "text": text})),
        }
    }

    /// What is kept where links were rewritten in notes that the client does not see.
    #[must_use]
    pub fn of_relink(notes: &[MemoryPath]) -> Self {
        Self::of(&json!({"path": null, "notes": notes}))
    }

    /// What is kept of a call of another server's tool.
    #[must_use]
    pub fn of_tool_call(record: &CallRecord) -> Self {
        Self::of(record)
    }

    /// The same with the words of the person's message.
    pub(super) fn saying(&self, words: &str) -> Self {
        let (rest, words) = (self.0.strip_suffix('}').unwrap_or(&self.0), Json::from(words));
        let between = if rest.ends_with('{') { "" } else { "," };
        Self(format!(r#"{rest}{between}"said":{words}}}"#))
    }

    /// What is kept of a batch that was given back.
    pub(super) fn of_given_back(batch: u64) -> Self {
        Self::of(&json!({"batch": batch}))
    }

    /// What is kept of a `forget`: how much it erased.
    pub(super) fn of_forget(changes: u64, entries: u64) -> Self {
        Self::of(&json!({"result": {"changes": changes, "entries": entries}}))
    }

    /// A payload that says nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self("{}".to_owned())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[expect(clippy::expect_used, reason = "texts, numbers and names of fields are always JSON")]
    fn of(form: &impl Serialize) -> Self {
        Self(serde_json::to_string(form).expect("a payload is JSON"))
    }
}

/// The path that a stored payload names.
pub(super) fn path_in(payload: &str) -> Option<String> {
    stored(payload).path
}

/// The batch that a stored payload of [`Payload::of_change`] names.
pub(super) fn changed_in(payload: &str) -> Option<u64> {
    serde_json::from_str::<Json>(payload).ok()?.pointer("/arguments/batch")?.as_u64()
}

/// The path, the line and the batch that a stored payload of [`Payload::of_confirmation`] names.
pub(super) fn confirmed_in(payload: &str) -> Option<(String, String, Option<u64>)> {
    let Stored { path, text, batch, .. } = stored(payload);
    Some((path?, text?, batch))
}

/// The notes of whose text the answer to a call held something, by the stored payload of its entry.
pub(super) fn notes_shown_in(payload: &str, action: &str, is_ok: bool) -> Vec<String> {
    let Stored { path, result, shown, .. } = stored(payload);
    let is_text = matches!(result, Some(StoredResult::Text { .. }));
    let is_read = is_ok && (is_text || matches!(action, "read_file" | "copy_file"));
    shown.into_iter().chain(path.filter(|_| is_read)).collect()
}

/// The words of the person's message in a stored payload.
pub(super) fn said_in(payload: &str) -> Option<String> {
    stored(payload).said
}

/// What a stored payload of [`Payload::of_tool_call`] says.
pub(super) fn tool_call_in(payload: &str) -> Option<CallRecord> {
    serde_json::from_str(payload).ok()
}

/// Whether a stored payload holds the digest of a long text, which has no salt.
pub(super) fn has_digest(payload: &str) -> bool {
    payload.contains(r#""digest":"#)
}

/// A stored payload as the object that it is, if its compact form is the payload again, byte for byte.
pub(super) fn as_object(payload: String) -> Json {
    match serde_json::from_str::<Json>(&payload) {
        Ok(object) if object.is_object() && serde_json::to_string(&object).is_ok_and(|text| text == payload) => object,
        _ => Json::String(payload),
    }
}

/// What memdir did not write names no note.
fn stored(payload: &str) -> Stored {
    serde_json::from_str(payload).unwrap_or_default()
}

/// The arguments of an action as a JSON object, long texts replaced by their digest and size.
///
/// What was not written is nowhere else: its digest would outlive all that tells whether it has to be forgotten.
#[expect(clippy::expect_used, reason = "the arguments of an action are texts, numbers and paths")]
fn arguments(action: &Action, is_done: bool) -> Json {
    let mut arguments = serde_json::to_value(action).expect("an action is JSON");
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

/// The notes of which an answer shows something, each once; a text is known by its path. They are as many as the answer has
/// room for.
fn shown(outcome: &Outcome) -> Vec<&str> {
    let mut shown: Vec<&str> = match &outcome.result {
        Ok(Value::Search(search)) => {
            let hits = search.hits.iter().filter(|hit| !hit.snippet.is_empty());
            hits.map(|hit| hit.path.as_str()).collect()
        }
        Ok(Value::Context(context)) => context.parts.iter().map(|part| part.path.as_str()).collect(),
        Ok(Value::Remembered(told)) if told.replaced.is_some() || !told.similar.is_empty() => {
            outcome.path.as_deref().into_iter().collect()
        }
        Ok(Value::Recent(recent)) => {
            let changes = recent.days.iter().flat_map(|day| &day.changes);
            changes.map(|change| change.path.as_str()).collect()
        }
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

fn result(outcome: &Outcome) -> ResultForm<'_> {
    let list = |count| ResultForm::List { count };
    match &outcome.result {
        Ok(Value::Text(text)) => ResultForm::Text { bytes: text.len() },
        Ok(Value::Bool(answer)) => ResultForm::Answer(*answer),
        Ok(Value::Bytes(bytes)) => ResultForm::Number(*bytes),
        Ok(Value::Paths(paths)) => list(paths.len()),
        Ok(Value::Directory(entries)) => list(entries.len()),
        // What another server's tool says has an entry of its own.
        Ok(Value::File(_) | Value::Nothing | Value::Foreign(_)) => ResultForm::Nothing,
        Ok(Value::History(log)) => list(log.entries.len()),
        Ok(Value::Search(search)) => list(search.total),
        Ok(Value::Context(context)) => list(context.parts.len()),
        Ok(Value::Links(links)) => list(links.links.len()),
        Ok(Value::Entries(entries)) => list(entries.len()),
        Ok(Value::Remembered(told)) => ResultForm::Answer(told.change != RememberedChange::None),
        Ok(Value::Recent(recent)) => list(recent.days.len()),
        Ok(Value::Config(config)) => list(config.len()),
        Err(failure) => ResultForm::Failure { message: &failure.message },
    }
}

#[cfg(test)]
mod tests {
    use memdir_core::action::Call;
    use memdir_core::catalog;
    use memdir_core::report::{Code, Failure, Hit, Search, Source};

    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    /// What is kept of a call that had this answer.
    fn of_call(action: &str, arguments: Json, result: Result<Json, Failure>) -> String {
        let arguments = arguments.as_object().cloned().unwrap();
        let action = catalog::decode(1, action, arguments).unwrap();
        let failed = Outcome::failed(&Call::plain(1, action.clone()), Failure::new(Code::Io, ""));
        let result = result.map(|value| match value {
            Json::Bool(answer) => Value::Bool(answer),
            Json::Number(bytes) => Value::Bytes(bytes.as_u64().unwrap()),
            Json::String(text) => Value::Text(text),
            Json::Array(paths) => Value::Paths(paths.iter().map(|name| path(name.as_str().unwrap())).collect()),
            Json::Null | Json::Object(_) => Value::Nothing,
        });
        Payload::of_call(Some(&action), &Outcome { result, ..failed }).as_str().to_owned()
    }

    #[test]
    fn each_payload_of_a_call_is_these_bytes() {
        let long = "x".repeat(257);
        let digest = "sha256:15eb95a462ee20bd91a415ae2d4aed341288186ddaa2b37908f7d592f0c3f85f";
        assert_eq!(
            of_call("create_file", json!({"path": "a.md", "content": "é\n\"q\""}), Ok(json!(true))),
            r#"{"path":"a.md","arguments":{"path":"a.md","content":"é\n\"q\""},"result":true}"#
        );
        assert_eq!(
            of_call("create_file", json!({"content": long, "path": "a.md"}), Ok(json!(true))),
            format!(
                r#"{{"path":"a.md","arguments":{{"path":"a.md","content":{{"digest":"{digest}","bytes":257}}}},"result":true}}"#
            )
        );
        assert_eq!(
            of_call(
                "create_file",
                json!({"path": "a.md", "content": long}),
                Err(Failure::new(Code::Io, "it is \"so\""))
            ),
            r#"{"path":"a.md","arguments":{"path":"a.md","content":{"bytes":257}},"result":{"message":"it is \"so\""}}"#
        );
        let mut shown = Failure::new(Code::ContentNotFound, "no");
        shown.details.text = Some("the note".to_owned());
        assert_eq!(
            of_call("read_file", json!({"path": "a.md"}), Err(shown)),
            r#"{"path":"a.md","arguments":{"path":"a.md"},"result":{"message":"no"},"shown":["a.md"]}"#
        );
        assert_eq!(
            of_call("read_file", json!({"path": "a.md"}), Ok(json!("été"))),
            r#"{"path":"a.md","arguments":{"path":"a.md"},"result":{"bytes":5}}"#
        );
        assert_eq!(
            of_call("get_size", json!({"path": "a.md"}), Ok(json!(7))),
            r#"{"path":"a.md","arguments":{"path":"a.md"},"result":7}"#
        );
        assert_eq!(
            of_call("list_files", json!({}), Ok(json!(["a.md", "b.md"]))),
            r#"{"path":null,"arguments":{},"result":{"count":2}}"#
        );
        assert_eq!(
            of_call("get_size", json!({"path": "a.md"}), Ok(json!(null))),
            r#"{"path":"a.md","arguments":{"path":"a.md"},"result":null}"#
        );
    }

    #[test]
    fn the_payload_of_a_search_names_each_note_that_was_shown_once() {
        let hit = |name: &str, snippet: &str| Hit {
            path: path(name),
            heading: None,
            lines: [1, 1],
            snippet: snippet.to_owned(),
            score: None,
            why: Vec::new(),
            state: None,
        };
        let search = Search {
            query: "tea".to_owned(),
            hits: vec![hit("b.md", "tea"), hit("a.md", "tea"), hit("c.md", ""), hit("b.md", "more tea")],
            total: 9,
            cursor: None,
            left_out: 0,
            searched_for: None,
            nothing_known: false,
            missing: Vec::new(),
            source: Source::Scan,
        };
        let searched = Outcome {
            index: 1,
            action: None,
            path: None,
            result: Ok(Value::Search(search)),
            total: None,
            cursor: None,
            label: None,
            shown: None,
        };
        assert_eq!(
            Payload::of_call(None, &searched).as_str(),
            r#"{"path":null,"arguments":null,"result":{"count":9},"shown":["a.md","b.md"]}"#
        );
    }

    #[test]
    fn each_payload_of_what_is_no_call_is_these_bytes() {
        for (payload, bytes) in [
            (Payload::of_read(&path("é/a.md")), r#"{"path":"é/a.md"}"#),
            (Payload::of_shown([&path("a.md"), &path("b.md")]), r#"{"path":null,"shown":["a.md","b.md"]}"#),
            (Payload::of_change(Some(&path("a.md")), 7), r#"{"path":"a.md","arguments":{"batch":7}}"#),
            (Payload::of_change(None, 7), r#"{"path":null,"arguments":{"batch":7}}"#),
            (Payload::of_waiting(3), r#"{"proposal":3}"#),
            (Payload::of_decision(3, Some(8)), r#"{"proposal":3,"batch":8}"#),
            (Payload::of_decision(3, None), r#"{"proposal":3,"batch":null}"#),
            (Payload::of_confirmation(&path("a.md"), "- \"q\"", None), r#"{"path":"a.md","text":"- \"q\""}"#),
            (Payload::of_confirmation(&path("a.md"), "b", Some(7)), r#"{"path":"a.md","text":"b","batch":7}"#),
            (Payload::of_relink(&[path("a.md"), path("b.md")]), r#"{"path":null,"notes":["a.md","b.md"]}"#),
            (Payload::of_relink(&[]), r#"{"path":null,"notes":[]}"#),
            (Payload::of_given_back(u64::MAX), r#"{"batch":18446744073709551615}"#),
            (Payload::of_forget(2, 5), r#"{"result":{"changes":2,"entries":5}}"#),
            (Payload::empty(), "{}"),
        ] {
            assert_eq!(payload.as_str(), bytes);
        }
    }

    #[track_caller]
    fn check(payload: &str, action: &str, is_ok: bool, expected: &[&str]) {
        assert_eq!(notes_shown_in(payload, action, is_ok), expected, "{payload}");
    }

    #[test]
    fn the_payloads_of_every_program_before_this_one_tell_what_was_shown() {
        // As they stand in histories: the forms of version 1.
        let read = r#"{"path":"a.md","arguments":{"path":"a.md"},"result":{"bytes":3}}"#;
        check(read, "read_file", true, &["a.md"]);
        check(read, "go_to_link", true, &["a.md"]);
        check(read, "read_file", false, &[]);
        check(r#"{"path":"a.md"}"#, "read_file", true, &["a.md"]);
        check(r#"{"path":"a.md","arguments":null,"result":null}"#, "copy_file", true, &["a.md"]);
        check(r#"{"path":"a.md","arguments":{},"result":{"count":2}}"#, "get_history", true, &[]);
        check(r#"{"path":"a.md","arguments":{},"result":true}"#, "check_file_exists", true, &[]);
        check(r#"{"path":"a.md","arguments":{},"result":7}"#, "get_size", true, &[]);
        check(
            r#"{"path":null,"arguments":{},"result":{"count":2},"shown":["a.md","b.md"]}"#,
            "search_files",
            true,
            &["a.md", "b.md"],
        );
        check(r#"{"path":null,"shown":["a.md","b.md"]}"#, "brief", true, &["a.md", "b.md"]);
        let quoted = r#"{"path":"a.md","arguments":{},"result":{"message":"no"},"shown":["a.md"]}"#;
        check(quoted, "update_file", false, &["a.md"]);
        for other in ["{}", r#"{"proposal":3}"#, r#"{"path":null,"notes":["a.md"]}"#, "no JSON", r#"{"path":7}"#, "[]"]
        {
            check(other, "read_file", true, &[]);
        }
        assert_eq!(path_in(read).as_deref(), Some("a.md"));
        assert_eq!(path_in(r#"{"proposal":3,"batch":null}"#), None);
    }
}
