//! Small models: one action a turn on the notes that they are shown, under a grammar made of these notes.

use super::session::Session;
use crate::model::{Message, Request, Role};
use crate::path::MemoryPath;

/// What a small model is asked about.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The notes that it sees.
    pub notes: &'a [(MemoryPath, String)],
    /// What the person says.
    pub message: &'a str,
    /// What was said before.
    pub session: &'a Session,
    /// What filters ask for in words.
    pub rest: &'a [String],
}

/// What a small model is asked.
#[must_use]
pub fn request(turn: &Turn<'_>, transcript: &[Message]) -> Request {
    let mut messages = vec![Message { role: Role::User, text: turn.message.to_owned() }];
    messages.extend(transcript.iter().cloned());
    Request {
        system: String::new(),
        messages,
        stable: 0,
        shape: None,
        max_tokens: 200,
        temperature: 0.0,
        stop: Vec::new(),
    }
}

/// The lines that a turn says it goes by.
#[must_use]
pub fn grounds(text: &str) -> Vec<String> {
    let _ = text;
    Vec::new()
}
