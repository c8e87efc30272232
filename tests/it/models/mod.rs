//! The providers of models, each through a server that stands in for it and speaks as it does.

mod faults;
mod found;
mod heard;
mod wire;

use std::time::Duration;

use memdir_core::catalog::ROWS;
use memdir_model::grammar;
use memdir_model::{Answer, Heard, Message, Model, ModelError, Request, Role, Shape};
use memdir_providers::remote::{Provider, Remote, RemoteOptions, Secret};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::standin::{Answered, Standin};

/// A key as it is given to providers.
const KEY: &str = "sk-test-0123456789abcdefghij";

/// The name of the model that is asked.
const NAME: &str = "some::model-max";

/// What was heard, as text.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Noted {
    Text(String),
    Thought(String),
    Again,
}

/// How a provider is asked at a server of ours: by its own row, with a key, and without patience.
fn options(provider: &str, standin: &Standin) -> RemoteOptions {
    // Whoever has no address of its own is given one with the path.
    let address = if provider == "openai-compatible" { standin.address() } else { standin.root() };
    RemoteOptions {
        provider: Provider::named(provider).unwrap(),
        name: NAME.to_owned(),
        address: Some(address),
        key: Secret::new(KEY),
        timeout: Duration::from_secs(20),
        tries: 1,
        pause: Duration::from_millis(1),
    }
}

/// Asks once, and notes what is heard.
fn ask_with(options: RemoteOptions, request: &Request) -> (Result<Answer, ModelError>, Vec<Noted>) {
    let mut noted = Vec::new();
    let mut hear = |heard: Heard<'_>| {
        noted.push(match heard {
            Heard::Text(text) => Noted::Text(text.to_owned()),
            Heard::Thought(text) => Noted::Thought(text.to_owned()),
            Heard::Again(_) => Noted::Again,
            other => panic!("{other:?}"),
        });
    };
    let answer =
        Remote::open(options).and_then(|mut model| model.answer(request, &mut hear, &CancellationToken::new()));
    (answer, noted)
}

fn ask(provider: &str, standin: &Standin, request: &Request) -> Result<Answer, ModelError> {
    ask_with(options(provider, standin), request).0
}

/// A short conversation.
fn request() -> Request {
    let message = |role, text: &str| Message { role, text: text.to_owned() };
    Request {
        system: "Be brief.".to_owned(),
        messages: vec![
            message(Role::User, "Hello."),
            message(Role::Assistant, "<reply>Hi.</reply>"),
            message(Role::User, "Where do I live?"),
        ],
        stable: 2,
        shape: None,
        max_tokens: 300,
        temperature: 0.7,
        stop: vec!["</reply>".to_owned(), "</actions>".to_owned()],
    }
}

/// The same, held to a shape.
fn shaped() -> Request {
    let text = json!({"type": "string"});
    let properties = json!({"reply": text, "actions": {"type": "array", "items": {"type": "object"}}});
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    Request { shape: Some(Shape { grammar: grammar::turns(ROWS.iter()), schema }), ..request() }
}

/// What a provider answers, before it is said in its own words.
#[derive(Clone, Debug)]
struct Turn<'a> {
    thought: &'a str,
    pieces: &'a [&'a str],
    end: End,
    /// A call of a tool that nobody asked for.
    call: bool,
}

/// Why a provider ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Stop,
    Length,
    Filter,
    Tool,
}

impl<'a> Turn<'a> {
    fn of(pieces: &'a [&'a str]) -> Self {
        Self { thought: "", pieces, end: End::Stop, call: false }
    }
}

/// Says a turn in the words of a wire.
type Speak = fn(&Turn<'_>) -> Answered;

/// The providers with the way in which each speaks.
const SPEAKERS: &[(&str, Speak)] = &[
    ("openai", wire::openai),
    ("anthropic", wire::anthropic),
    ("gemini", wire::gemini),
    ("openrouter", wire::openai),
    ("ollama", wire::openai),
    ("lmstudio", wire::openai),
    ("vllm", wire::openai),
    ("llamacpp", wire::openai),
    ("openai-compatible", wire::openai),
];

/// Where an error of a provider of that kind has its words.
fn worded(provider: &str, status: u16, kind: &str, message: &str) -> Value {
    match provider {
        "anthropic" => json!({"type": "error", "error": {"type": kind, "message": message}}),
        "gemini" => json!({"error": {"code": status, "status": kind, "message": message}}),
        "llamacpp" => json!({"error": {"code": status, "type": kind, "message": message}}),
        "vllm" => json!({"object": "error", "type": kind, "code": status, "message": message}),
        "lmstudio" => json!({"error": message}),
        _ => json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}),
    }
}
