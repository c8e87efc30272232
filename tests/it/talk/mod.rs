//! Talking with a model over the built binary: `ask` and `chat` with a server that stands in for the model's.

use serde_json::Value;

use crate::support::Env;
use crate::support::standin::Standin;

mod ask;
mod chat;
mod ends;
mod filters;
mod mem_agent;
mod seen;

/// A turn that moves Ada.
const MOVES: &str = r#"<actions>[{"action":"update_file","path":"user.md","old_content":"- city: London","new_content":"- city: Paris"}]</actions>"#;

/// The memory of the contract, with the model of this server in the settings.
fn ada(standin: &Standin) -> Env {
    ada_with(standin, "")
}

/// As [`ada`], with more below `[model]`.
fn ada_with(standin: &Standin, more: &str) -> Env {
    Env::ada().quick().settings(&settings("openai-compatible::scripted", standin, more))
}

fn settings(name: &str, standin: &Standin, more: &str) -> String {
    format!("[model]\nname = \"{name}\"\naddress = \"{}\"\n{more}", standin.address())
}

/// What differs between two runs of a conversation, made the same.
fn masked(mut said: Value) -> Value {
    said["session"] = "…".into();
    said["model"]["ms"] = "…".into();
    crate::support::mask(said)
}

/// The texts of the messages of a request, with their roles.
fn messages(body: &Value) -> Vec<(&str, &str)> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| (message["role"].as_str().unwrap(), message["content"].as_str().unwrap())).collect()
}

/// The last thing that a request says.
#[track_caller]
fn last(body: &Value) -> &str {
    messages(body).last().unwrap().1
}
