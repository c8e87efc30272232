//! What `ask`, `chat` and `eval agent` have in common: a model, its prompts and how it works, from settings and options.

use std::collections::BTreeMap;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::config::Config;
use super::exit::Stop;
use super::open;
use crate::agent::{AgentError, Family, Prompts, Settings};
use crate::model::{Model, ModelError};
use crate::report::{Code, Failure};

/// How an agent works at this door.
pub(super) fn settings(config: &Config, family: Family, door: &'static str) -> Settings {
    let mode = if door == "chat" { config.permission.chat } else { config.permission.ask };
    Settings {
        family,
        door,
        mode,
        turns: 8,
        tokens: None,
        context: 900,
        max_tokens: 1_024,
        temperature: 0.0,
        staged: false,
        clock: open::now,
    }
}

/// Opens the model of this name, or the one that is set or found.
pub(super) fn open_model(_global: &Global, _config: &Config, _name: Option<&str>) -> Result<Box<dyn Model>, Stop> {
    Err(failure(&ModelError::NoModel).into())
}

/// What a person is told of a model that does not answer.
pub(super) fn failure(error: &ModelError) -> Failure {
    Failure::new(Code::Unavailable, error.to_string())
}

/// What a person is told of a message that was not answered.
pub(super) fn agent_failure(error: &AgentError) -> Failure {
    match error {
        AgentError::Model(error) => failure(error),
        AgentError::Memory(failure) => failure.clone(),
        AgentError::Switches(error) => Failure::new(Code::Usage, error.to_string()),
    }
}

/// The prompts, of which those in this folder are the person's own.
#[expect(clippy::disallowed_methods, reason = "the person's own prompts stand in the configuration folder")]
pub(super) fn prompts(folder: Option<&Path>) -> Result<Prompts, Failure> {
    let mut own = BTreeMap::new();
    for name in Prompts::names() {
        let Some(file) = folder.map(|folder| folder.join(format!("{name}.md"))) else { continue };
        match std::fs::read_to_string(&file) {
            Ok(text) => drop(own.insert(name.to_owned(), text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let failure =
                    Failure::new(Code::Config, format!("the prompt `{name}` cannot be read: {}", error.kind()));
                return Err(failure.with_hint("prompts are UTF-8 text in the folder `prompts` beside the settings"));
            }
        }
    }
    Ok(Prompts::new(own))
}

/// A token that Ctrl-C cancels, from now on.
pub(super) fn stopped_by_interrupt() -> Result<CancellationToken, Failure> {
    let broken = |error: std::io::Error| Failure::new(Code::Internal, format!("signals cannot be heard: {error}"));
    let token = CancellationToken::new();
    let cancelled = token.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let listen = move || {
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                cancelled.cancel();
            }
        });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(broken)?;
    Ok(token)
}
