//! A chosen model is opened: its key is looked up, its file is made sure of.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error;
use super::used;
use crate::cli::config::{self, Config, Sources};
use crate::model::choose::Choice;
use crate::model::remote::{Provider, Remote, RemoteOptions, Secret};
use crate::model::shelf::ShelfError;
use crate::model::{Model, ModelError};
use crate::report::Failure;

/// How often a server is asked for one turn while nothing was heard.
const TRIES: u32 = 3;
/// How long is waited before it is asked again.
pub(super) const PAUSE: Duration = Duration::from_millis(500);

/// What it takes to open a model.
pub(in crate::cli) struct Opening<'a> {
    pub(in crate::cli) sources: &'a Sources,
    pub(in crate::cli) config: &'a Config,
    /// The one that the command names.
    pub(in crate::cli) named: Option<&'a str>,
    /// A folder for what an engine keeps of the beginnings of requests.
    #[cfg_attr(not(feature = "gguf"), expect(dead_code, reason = "only the engine for model files keeps any"))]
    pub(in crate::cli) prefixes: Option<PathBuf>,
}

/// Opens the model that the command names, or the settings, or that is found. Of a file that is new or has changed all is read first, and
/// then it is loaded: `tell` hears which part of either is done, from 0 to 1.
///
/// # Errors
///
/// `model_unreachable`, `cancelled`, and what is wrong with its file.
pub(in crate::cli) fn open(
    opening: &Opening<'_>,
    tell: &mut dyn FnMut(f32),
    stop: &CancellationToken,
) -> Result<Box<dyn Model>, Failure> {
    let shelf = used::shelf(opening.sources)?;
    let listed = shelf.list().map_err(|error| error::unkept(&error))?;
    let chosen = used::chosen(opening.named, opening.config, &listed, &mut used::servers);
    let choice = chosen.map_err(|error| error::unreachable(&error))?;
    match choice {
        Choice::Remote { provider, name, address } => {
            let opened = remote(opening.config, &provider, name, address);
            Ok(Box::new(opened.map_err(|error| error::unreachable(&error))?))
        }
        Choice::Shelf { name } => {
            let kept = shelf.find(&name).map_err(|error| error::unkept(&error))?;
            let ensured = shelf.ensure(&kept, &mut |done, all| tell(part(done, all)), stop);
            ensured.map_err(|error| unloadable(&name, &error))?;
            file(opening, name, kept.file, tell)
        }
        Choice::File { path } => {
            let path = path.to_str().map_or_else(|| path.clone(), |path| opening.sources.expand(path));
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            file(opening, name, path, tell)
        }
    }
}

fn remote(config: &Config, provider: &str, name: String, address: Option<String>) -> Result<Remote, ModelError> {
    let provider = used::provider(provider)?;
    Remote::open(RemoteOptions {
        provider,
        name,
        address,
        key: key(provider),
        timeout: Duration::from_secs(config.model.timeout_seconds.max(1)),
        tries: TRIES,
        pause: PAUSE,
    })
}

pub(super) fn key(provider: &Provider) -> Option<Secret> {
    config::variable(provider.key_variable).and_then(|key| Secret::new(&key))
}

#[expect(clippy::cast_precision_loss, reason = "it moves a bar")]
fn part(done: u64, all: u64) -> f32 {
    done as f32 / all.max(1) as f32
}

/// A file that is not whole is a model that does not answer; what is wrong is said as the shelf says it.
pub(super) fn unloadable(name: &str, error: &ShelfError) -> Failure {
    if *error == ShelfError::Cancelled {
        return error::unreachable(&ModelError::Cancelled);
    }
    let (name, why, hint) = (name.to_owned(), error.to_string(), error.hint());
    error::unreachable(&ModelError::Unloadable { name, why, hint })
}

#[cfg(feature = "gguf")]
fn file(
    opening: &Opening<'_>,
    name: String,
    path: PathBuf,
    tell: &mut dyn FnMut(f32),
) -> Result<Box<dyn Model>, Failure> {
    use crate::model::gguf::{Gguf, Options};

    let settings = &opening.config.model;
    let options = Options {
        name,
        path,
        threads: settings.threads.map(|threads| threads.get()),
        context_tokens: settings.context_tokens.map(std::num::NonZeroU32::get),
        prefixes: opening.prefixes.clone(),
    };
    let loaded = Gguf::load(options, tell);
    Ok(Box::new(loaded.map_err(|error| error::unreachable(&error))?))
}

#[cfg(not(feature = "gguf"))]
fn file(_: &Opening<'_>, _: String, _: PathBuf, _: &mut dyn FnMut(f32)) -> Result<Box<dyn Model>, Failure> {
    Err(error::unreachable(&ModelError::NoEngine))
}
