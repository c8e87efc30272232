//! Small models: one action a turn on the notes that they are shown, under a grammar made of these notes.
//!
//! Owns how such a model is asked. A message is read by its words first (`reading`), so that the model chooses among
//! little; it quotes the lines that it answers from before it answers; and every new value is made of the person's own words.

use std::collections::BTreeSet;

use serde_json::json;

use super::prompt;
use super::session::Session;
use crate::catalog::grammar::small;
use crate::model::{Message, Request, Role, Shape};
use crate::path::MemoryPath;

mod cues;
mod line;
mod meant;
mod reading;
mod said;

use super::context::USER;
use reading::{Kind, Reading, Trust};
pub(super) use said::done;

/// How many tokens a turn may have: more than the longest that the grammar lets through.
const MAX_TOKENS: u32 = 900;
/// How many exchanges are told again.
const MOST_EXCHANGES: usize = 2;
/// So many questions of ours in a row belong together.
const MOST_QUESTIONS: usize = 3;
/// An answer to a question of ours has at most so many words.
const SHORT: usize = 8;

/// The name of a note without its folders and its ending.
fn stem(path: &MemoryPath) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default().trim_end_matches(".md")
}

/// What a small model is asked about.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The prompt with its examples.
    pub prompt: &'a str,
    /// The notes that it sees.
    pub notes: &'a [(MemoryPath, String)],
    /// What the person says.
    pub message: &'a str,
    /// What was said before.
    pub session: &'a Session,
    /// What filters ask for in words.
    pub rest: &'a [String],
    /// Whether it may write.
    pub writes: bool,
    /// Whether it has under a thousand million parameters: such a model says anything rather than that it does not know.
    pub tiny: bool,
    /// Whether a filter is on: what is hidden must not be guessed.
    pub filtered: bool,
}

/// What a message means together with those that it answers a question about, where the reply before was one; or with the
/// question that it goes on with ("And my brother?").
#[must_use]
pub fn whole(message: &str, session: &Session) -> Option<String> {
    if cues::goes_on(message)
        && let Some(before) = session.exchanges.last().filter(|before| before.message.trim_end().ends_with('?'))
    {
        return Some(format!("{} {message}", before.message));
    }
    let unclear = session.exchanges.iter().rev().take_while(|exchange| exchange.is_unclear).take(MOST_QUESTIONS);
    let is_answer = message.split_whitespace().count() <= SHORT && !message.trim_end().ends_with('?');
    let mut asked: Vec<&str> = unclear.map(|exchange| exchange.message.as_str()).collect();
    if asked.is_empty() || !is_answer {
        return None;
    }
    asked.reverse();
    asked.push(message);
    Some(asked.join(" "))
}

/// What a small model is asked, with the transcript of the run so far.
#[must_use]
pub fn request(turn: &Turn<'_>, transcript: &[Message]) -> Request {
    let (system, mut messages) = examples(turn.prompt);
    let stable = messages.len();
    let whole = whole(turn.message, turn.session);
    let message = whole.as_deref().unwrap_or(turn.message);
    let before: &[_] = if whole.is_some() { &[] } else { &turn.session.exchanges };
    let before = before.get(before.len().saturating_sub(MOST_EXCHANGES)..).unwrap_or_default();
    let trust = Trust { tiny: turn.tiny, quoting: turn.tiny || turn.filtered };
    let reading = Reading::of(turn.notes, message, before.is_empty() && whole.is_none(), trust);
    let mut head = format!("Now these are the notes, and no others:\n{}\n", shown(turn.notes));
    for exchange in before {
        messages.push(said(Role::User, format!("{head}User: {}", prompt::fenced(&exchange.message))));
        let reply = exchange.reply.as_deref().unwrap_or("…");
        messages.push(said(Role::Assistant, format!("<think>talk</think><reply>{}</reply>", prompt::fenced(reply))));
        head.clear();
    }
    let mut text = format!("{head}User: {}", prompt::fenced(message));
    if reading.has_hint() {
        text.push_str(&format!("\n(In no note: {}.)", reading.missing.join(", ")));
    }
    text.push_str(&prompt::wishes(turn.rest));
    messages.push(said(Role::User, text));
    messages.extend(transcript.iter().cloned());
    let grammar = small(&reading.offer(cues::without_end(message), turn.writes));
    Request {
        system,
        messages,
        stable,
        shape: Some(Shape { grammar, schema: schema(&reading.kinds, turn.writes) }),
        max_tokens: MAX_TOKENS,
        temperature: 0.0,
        stop: vec!["</reply>".to_owned(), "</actions>".to_owned()],
    }
}

/// The shape of a turn for servers that take no grammar.
fn schema(kinds: &BTreeSet<Kind>, writes: bool) -> serde_json::Value {
    let text = json!({"type": "string"});
    let reply =
        json!({"type": "object", "properties": {"reply": text}, "required": ["reply"], "additionalProperties": false});
    let row = |name: &str, fields: &[&str]| {
        let mut properties = serde_json::Map::from_iter([("action".to_owned(), json!({"const": name}))]);
        properties.extend(fields.iter().map(|field| ((*field).to_owned(), text.clone())));
        let required: Vec<&str> = std::iter::once("action").chain(fields.iter().copied()).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let mut rows = Vec::new();
    for (kind, name, fields) in [
        (Kind::Change, "replace_text", ["old", "new", "path"].as_slice()),
        (Kind::New, "append_line", &["line", "path"]),
        (Kind::Forget, "delete_line", &["line", "path"]),
    ] {
        if writes && kinds.contains(&kind) {
            rows.push(row(name, fields));
        }
    }
    if rows.is_empty() {
        return reply;
    }
    let list = json!({"type": "array", "items": {"anyOf": rows}, "minItems": 1, "maxItems": 1});
    let actions = json!({"type": "object", "properties": {"actions": list}, "required": ["actions"], "additionalProperties": false});
    json!({"anyOf": [actions, reply]})
}

/// Whether a turn asks the person what they mean.
#[must_use]
pub fn is_unclear(text: &str) -> bool {
    text.trim_start().starts_with("<think>unclear: ")
}

/// The lines that a turn says it goes by, each with its note in brackets.
#[must_use]
pub fn grounds(text: &str) -> Vec<String> {
    let thought = text.trim_start().strip_prefix("<think>question: ").and_then(|rest| rest.split_once("</think>"));
    let lines = thought.map_or("", |(lines, _)| lines);
    lines.split(" ; ").filter(|line| line.ends_with(')')).map(str::to_owned).collect()
}

/// The notes as they are shown.
fn shown(notes: &[(MemoryPath, String)]) -> String {
    let note = |(path, text): &(MemoryPath, String)| {
        format!("--- {path}\n{}\n", prompt::headless(&prompt::fenced(text.trim_end())))
    };
    notes.iter().map(note).collect()
}

fn said(role: Role, text: String) -> Message {
    Message { role, text }
}

/// The prompt, and the messages of its examples.
fn examples(prompt: &str) -> (String, Vec<Message>) {
    let (system, rest) = prompt.split_once("<!-- notes -->").unwrap_or((prompt, ""));
    let mut parts = rest.split("<!-- user -->");
    let mut head = format!("Notes:\n{}\n\n", parts.next().unwrap_or_default().trim());
    let mut messages = Vec::new();
    for part in parts {
        let Some((user, assistant)) = part.split_once("<!-- assistant -->") else { continue };
        messages.push(said(Role::User, format!("{head}User: {}", user.trim())));
        messages.push(said(Role::Assistant, assistant.trim().to_owned()));
        head.clear();
    }
    (system.trim().to_owned(), messages)
}

#[cfg(test)]
mod tests;
