//! [`KnownWords`]: what each client was told by tools of other servers, for as long as the server runs and in memory alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use super::connection::ConnectionKind;
use super::service::Service;
use super::{Client, lock};
use memdir_core::report::Failure;
use memdir_engine::{Engine, Guard};
use memdir_plan::ClientWords;
use memdir_tools::{ToolAnswer, ToolName, texts, told};

/// The words of each client. All connections of a client share theirs: what a tool said in one is known in the others.
#[derive(Debug, Default)]
pub(super) struct KnownWords(Mutex<BTreeMap<String, Arc<Mutex<ClientWords>>>>);

impl KnownWords {
    /// Those of a client, by the name under which it is registered. A client without one is the owner's, whatever it calls itself.
    pub(super) fn of(&self, service: &Service, client: &Client) -> Arc<Mutex<ClientWords>> {
        let name = match &service.connection.kind {
            ConnectionKind::Stdio { client: name } => name.as_deref().unwrap_or_default(),
            ConnectionKind::Http => &client.name,
        };
        Arc::clone(lock(&self.0).entry(name.to_owned()).or_default())
    }
}

/// Adds what a client sends to a tool.
pub(super) fn add_arguments(words: &Mutex<ClientWords>, arguments: &Map<String, Value>) {
    let sent: Vec<String> = arguments.values().map(texts).collect();
    lock(words).add_own(&sent.concat());
}

/// Adds what the server of a tool has answered, or said in the error that it refused the call with.
pub(super) fn add_answer(words: &Mutex<ClientWords>, tool: &ToolName, answered: &Result<ToolAnswer, Failure>) {
    match answered {
        Ok(answer) => add_said(words, tool, &texts(&told(&answer.result))),
        Err(failure) if failure.details.quotes_server => add_said(words, tool, &failure.message),
        Err(_) => {}
    }
}

/// Adds what the server of a tool says, before the client is told it.
pub(super) fn add_said(words: &Mutex<ClientWords>, tool: &ToolName, said: &str) {
    if !said.is_empty() {
        lock(words).add_answer(tool.as_str(), said);
    }
}

/// A guard that holds back changes made of a tool's words; `None` where no tool has told the client anything.
pub(super) fn guard(words: &Mutex<ClientWords>, engine: &Engine) -> Option<Guard> {
    let words = lock(words).clone();
    (!words.is_empty()).then(|| Guard::against(words, engine.now()))
}
