//! Why a model does not answer, or a file of one could not be had: in codes and words.

use std::borrow::Borrow;
use std::io::ErrorKind;

use memdir_core::report::{Code, Failure};
use memdir_model::ModelError;
use memdir_providers::fetch::FetchError;
use memdir_providers::shelf::ShelfError;

/// The ways to a model.
const WAYS: &str = "`memdir model fetch qwen2.5-coder-1.5b` gets one that runs here (with a build that has `--features gguf`), a running Ollama, \
LM Studio, llama.cpp or vLLM is found by itself, and any other server is `name = \"openai-compatible::NAME\"` with `address = \"http://127.0.0.1:PORT\"` \
under `[model]` in the settings";
/// How a build with the engine is made.
pub(crate) const BUILD: &str = "running it takes a build with `--features gguf`";

/// A model that does not answer.
pub(crate) fn unreachable(error: impl Borrow<ModelError>) -> Failure {
    let error = error.borrow();
    let code = if *error == ModelError::Cancelled { Code::Cancelled } else { Code::ModelUnreachable };
    Failure { hint: hint(error), ..Failure::new(code, error.to_string()) }
}

fn hint(error: &ModelError) -> Option<String> {
    Some(match error {
        ModelError::Unreachable { .. } => {
            "start it, or name another with `--model` or `[model]` in the settings; `memdir model list` shows what answers".to_owned()
        }
        ModelError::Timeout { .. } => "try again, or set a longer `timeout_seconds` under `[model]`".to_owned(),
        ModelError::NoKey { variable, .. } => format!("set `{variable}` in the environment; memdir keeps no keys"),
        ModelError::Refused { .. } => "look at the key in the environment: it may be mistyped, or have ended".to_owned(),
        ModelError::Unknown { known, .. } => unknown(known),
        ModelError::Limited { again: Some(again), .. } => format!("try again in {} s", again.as_secs().max(1)),
        ModelError::Limited { again: None, .. } => "try again later, or look at the account's credit".to_owned(),
        ModelError::Failing { .. } | ModelError::Broken { .. } => "try again; nothing was changed by the turn that failed".to_owned(),
        ModelError::TooLong { .. } => "begin a new session, or take a model with a longer context".to_owned(),
        ModelError::Rejected { .. } => "say it otherwise, or take another model".to_owned(),
        ModelError::Garbled { .. } => "look whether the address is that of a model's server".to_owned(),
        ModelError::Unloadable { hint, .. } => hint.clone(),
        ModelError::NoEngine => format!("{BUILD}; without it, a server such as Ollama can run the model"),
        ModelError::Several { known, .. } => match known.first() {
            Some(first) => format!("set one, such as `[model] name = \"{first}\"`: {}", known.join(", ")),
            None => WAYS.to_owned(),
        },
        ModelError::NoModel => WAYS.to_owned(),
        ModelError::Cancelled => return None,
    })
}

fn unknown(known: &[String]) -> String {
    match known {
        [] => "`memdir model list` shows what there is".to_owned(),
        [one] => format!("did you mean `{one}`?"),
        several => format!("did you mean one of {}?", several.join(", ")),
    }
}

/// A file of a model that cannot be kept or used.
pub(crate) fn unkept(error: impl Borrow<ShelfError>) -> Failure {
    let error = error.borrow();
    let code = match error {
        ShelfError::Name(_) => Code::Usage,
        ShelfError::NotThere { .. } => Code::NotFound,
        ShelfError::Taken(_) | ShelfError::Reserved(_) | ShelfError::Known(_) => Code::AlreadyExists,
        ShelfError::NotAModel { .. } | ShelfError::Split(_) | ShelfError::Parts(_) => Code::UnsupportedFile,
        ShelfError::Changed { .. } | ShelfError::Missing(_) | ShelfError::Record { .. } => Code::Damaged,
        ShelfError::Busy(_) => Code::Busy,
        ShelfError::Full { .. } => Code::DiskFull,
        ShelfError::Cancelled => Code::Cancelled,
        ShelfError::Io { kind, .. } => match kind {
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Code::DiskFull,
            _ => Code::Io,
        },
    };
    Failure::new(code, error.to_string()).with_hint(error.hint())
}

/// A model that was not fetched.
pub(crate) fn unfetched(error: impl Borrow<FetchError>) -> Failure {
    const ELSEWHERE: &str = "get the file elsewhere, then `memdir model add FILE`: it is known by its SHA-256";
    let error = error.borrow();
    let (code, hint) = match error {
        FetchError::Shelf(error) => return unkept(error),
        FetchError::Address(_) => {
            (Code::Usage, "send `https://…`, or `http://127.0.0.1:PORT/…` for this machine".to_owned())
        }
        FetchError::Unreachable { .. } => (Code::Unavailable, format!("look at the network, or {ELSEWHERE}")),
        FetchError::Status { .. } | FetchError::Other { .. } => (Code::Unavailable, ELSEWHERE.to_owned()),
        FetchError::Broken { .. } => (Code::Unavailable, "the same command goes on from there".to_owned()),
        FetchError::Digest { .. } => (Code::Damaged, format!("fetch it again, or {ELSEWHERE}")),
        FetchError::Cancelled { .. } => (Code::Cancelled, "the same command goes on from there".to_owned()),
    };
    Failure::new(code, error.to_string()).with_hint(hint)
}
