//! A chosen model is opened: its key is looked up, its file is made sure of.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error;
use super::used;
use crate::config::{self, Config, Sources};
use memdir_core::report::Failure;
use memdir_model::{Model, ModelError};
use memdir_providers::choose::Choice;
use memdir_providers::remote::{Provider, Remote, RemoteOptions, Secret};
use memdir_providers::shelf::{Shelf, ShelfError};

/// How often a server is asked for one turn while nothing was heard.
const TRIES: u32 = 3;
/// How long is waited before it is asked again.
pub(super) const PAUSE: Duration = Duration::from_millis(500);

/// What it takes to open a model.
pub(crate) struct Opening<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) config: &'a Config,
    /// The one that the command names.
    pub(crate) named: Option<&'a str>,
    /// A folder for what an engine keeps of the beginnings of requests.
    #[cfg_attr(not(feature = "gguf"), expect(dead_code, reason = "only the engine for model files keeps any"))]
    pub(crate) prefixes: Option<PathBuf>,
}

/// Opens the model that the command names, or the settings, or that is found. Of a file that is new or has changed all is read first, and
/// then it is loaded: `tell` hears which part of either is done, from 0 to 1.
///
/// # Errors
///
/// `model_unreachable`, `cancelled`, and what is wrong with its file.
pub(crate) fn open(
    opening: &Opening<'_>,
    tell: &mut dyn FnMut(f32),
    stop: &CancellationToken,
) -> Result<Box<dyn Model>, Failure> {
    let shelf = used::shelf()?;
    let listed = shelf.list().map_err(error::unkept)?;
    let choice = used::chosen(opening.named, opening.config, &listed, &mut used::servers);
    let choice = choice.map_err(error::unreachable)?;
    match Source::of(choice, &shelf, opening.sources, tell, stop)? {
        Source::Remote { provider, name, address } => {
            let timeout = Duration::from_secs(opening.config.model.timeout_seconds.max(1));
            let options =
                RemoteOptions { provider, name, address, key: key(provider), timeout, tries: TRIES, pause: PAUSE };
            Ok(Box::new(Remote::open(options).map_err(error::unreachable)?))
        }
        Source::File { name, path } => file(opening, name, path, tell),
    }
}

/// Where a model is that was chosen.
pub(super) enum Source {
    /// A server has it.
    Remote { provider: &'static Provider, name: String, address: Option<String> },
    /// It is a file, of which what the shelf has is whole.
    File { name: String, path: PathBuf },
}

impl Source {
    /// Looks the choice up. Of a file on the shelf that is new or has changed all is read first.
    pub(super) fn of(
        choice: Choice,
        shelf: &Shelf,
        sources: &Sources,
        tell: &mut dyn FnMut(f32),
        stop: &CancellationToken,
    ) -> Result<Self, Failure> {
        match choice {
            Choice::Remote { provider, name, address } => {
                Ok(Self::Remote { provider: used::provider(&provider).map_err(error::unreachable)?, name, address })
            }
            Choice::Shelf { name } => {
                let kept = shelf.find(&name).map_err(error::unkept)?;
                let ensured = shelf.ensure(&kept, &mut |done, all| tell(part(done, all)), stop);
                ensured.map_err(|error| unloadable(&name, &error))?;
                Ok(Self::File { name, path: kept.file })
            }
            Choice::File { path } => {
                let path = path.to_str().map_or_else(|| path.clone(), |path| sources.expand(path));
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Ok(Self::File { name, path })
            }
        }
    }
}

pub(super) fn key(provider: &Provider) -> Option<Secret> {
    config::variable(provider.key_variable).and_then(|key| Secret::new(&key))
}

#[expect(clippy::cast_precision_loss, reason = "it moves a bar")]
fn part(done: u64, all: u64) -> f32 {
    done as f32 / all.max(1) as f32
}

/// A file that is not whole is a model that does not answer; what is wrong is said as the shelf says it.
fn unloadable(name: &str, error: &ShelfError) -> Failure {
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
    use memdir_providers::gguf::{Gguf, Options};

    let settings = &opening.config.model;
    let options = Options {
        name,
        path,
        threads: settings.threads.map(|threads| threads.get()),
        context_tokens: settings.context_tokens.map(std::num::NonZeroU32::get),
        prefixes: opening.prefixes.clone(),
    };
    let loaded = Gguf::load(options, tell);
    Ok(Box::new(loaded.map_err(error::unreachable)?))
}

#[cfg(not(feature = "gguf"))]
fn file(_: &Opening<'_>, _: String, _: PathBuf, _: &mut dyn FnMut(f32)) -> Result<Box<dyn Model>, Failure> {
    Err(error::unreachable(&ModelError::NoEngine))
}
