//! A model of embeddings, as the settings name it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error;
use super::opening::{self, unloadable};
use super::used::{self, HAS_ENGINE};
use crate::cli::config::{Config, Sources};
use crate::engine::Embeddings;
use crate::model::choose::{Choice, Offer, Wanted, choose};
use crate::model::embed::{Embedder, Shared};
use crate::model::remote::{RemoteEmbedder, RemoteOptions};
use crate::model::{ModelError, Place};
use crate::report::Failure;

/// How long a server is waited for: somebody waits for a search meanwhile, which is answered without it then.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked.
const TRIES: u32 = 2;

/// What tells meanings; `None` where the settings name nothing. It is opened when it is first needed, and what is wrong with it is
/// said then.
pub(in crate::cli) fn embeddings(sources: &Sources, config: &Config) -> Option<Embeddings> {
    let wanted = config.search.wanted()?;
    let (sources, config) = (sources.clone(), config.clone());
    Some(Embeddings {
        name: wanted.name.clone().unwrap_or_default(),
        place: place(&wanted),
        open: Box::new(move || open(&sources, &config, &wanted)),
    })
}

/// The model of embeddings of this name, opened, for as many memories as want it.
pub(in crate::cli) fn shared(name: &str) -> Result<impl Fn() -> Embeddings, Failure> {
    let sources = Sources::read()?;
    // What a single memory settles otherwise does not count for all of them.
    let mut config = sources.for_memory(Path::new("/"))?;
    config.search = config.search.named(name);
    let wanted = config.search.wanted().unwrap_or_default();
    let shared = Shared::new(open(&sources, &config, &wanted)?);
    let name = name.to_owned();
    Ok(move || {
        let shared = shared.clone();
        let open = move || -> Result<Box<dyn Embedder>, Failure> { Ok(Box::new(shared.clone())) };
        Embeddings { name: name.clone(), place: place(&wanted), open: Box::new(open) }
    })
}

/// Where it runs, as its name says; what cannot be opened sends nothing.
fn place(wanted: &Wanted) -> Place {
    let named = choose(wanted, &mut Offer { has_engine: true, shelf: &[], servers: &mut Vec::new });
    named.and_then(|choice| used::place(&choice)).unwrap_or(Place::Process)
}

fn open(sources: &Sources, config: &Config, wanted: &Wanted) -> Result<Box<dyn Embedder>, Failure> {
    let shelf = used::shelf(sources)?;
    let listed = shelf.list().map_err(|error| error::unkept(&error))?;
    let names: Vec<String> = listed.kept.iter().map(|kept| kept.name.clone()).collect();
    // Servers are not looked for: what a search waits for is named.
    let chosen = choose(wanted, &mut Offer { has_engine: HAS_ENGINE, shelf: &names, servers: &mut Vec::new });
    match chosen.map_err(|error| error::unreachable(&error))? {
        Choice::Remote { provider, name, address } => {
            let opened = remote(&provider, name, address);
            Ok(Box::new(opened.map_err(|error| error::unreachable(&error))?))
        }
        Choice::Shelf { name } => {
            let kept = shelf.find(&name).map_err(|error| error::unkept(&error))?;
            let ensured = shelf.ensure(&kept, &mut |_, _| (), &CancellationToken::new());
            ensured.map_err(|error| unloadable(&name, &error))?;
            file(config, name, kept.file)
        }
        Choice::File { path } => {
            let path = path.to_str().map_or_else(|| path.clone(), |path| sources.expand(path));
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            file(config, name, path)
        }
    }
}

fn remote(provider: &str, name: String, address: Option<String>) -> Result<RemoteEmbedder, ModelError> {
    let provider = used::provider(provider)?;
    let (key, pause) = (opening::key(provider), opening::PAUSE);
    RemoteEmbedder::open(RemoteOptions { provider, name, address, key, timeout: PATIENCE, tries: TRIES, pause })
}

#[cfg(feature = "gguf")]
fn file(config: &Config, name: String, path: PathBuf) -> Result<Box<dyn Embedder>, Failure> {
    use crate::model::gguf::{GgufEmbedder, Options};

    let threads = config.model.threads.map(|threads| threads.get());
    let loaded = GgufEmbedder::load(Options { name, path, threads, context_tokens: None, prefixes: None });
    Ok(Box::new(loaded.map_err(|error| error::unreachable(&error))?))
}

#[cfg(not(feature = "gguf"))]
fn file(_: &Config, _: String, _: PathBuf) -> Result<Box<dyn Embedder>, Failure> {
    Err(error::unreachable(&ModelError::NoEngine))
}
