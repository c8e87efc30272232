//! A model of embeddings, as the settings name it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error;
use super::opening::{self, Source};
use super::used::{self, HAS_ENGINE};
use crate::config::{Config, Sources};
use memdir_core::report::Failure;
use memdir_engine::Embeddings;
use memdir_model::Place;
use memdir_model::embed::{Embedder, Shared};
use memdir_providers::choose::{Offer, Wanted, choose};
use memdir_providers::remote::{RemoteEmbedder, RemoteOptions};

/// How long a server is waited for: somebody waits for a search meanwhile, which is answered without it then.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked.
const TRIES: u32 = 2;

/// What tells meanings; `None` where the settings name nothing. It is opened when it is first needed, and what is wrong with it is
/// said then.
pub(crate) fn embeddings(sources: &Sources, config: &Config) -> Option<Embeddings> {
    let wanted = config.search.wanted()?;
    let (sources, config) = (sources.clone(), config.clone());
    Some(Embeddings {
        name: wanted.name.clone().unwrap_or_default(),
        place: place(&wanted),
        open: Box::new(move || open(&sources, &config, &wanted)),
    })
}

/// The model of embeddings of this name, opened, for as many memories as want it.
pub(crate) fn shared(name: &str) -> Result<impl Fn() -> Embeddings, Failure> {
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
    let shelf = used::shelf()?;
    let listed = shelf.list().map_err(error::unkept)?;
    let names: Vec<String> = listed.kept.iter().map(|kept| kept.name.clone()).collect();
    // Servers are not looked for: what a search waits for is named.
    let chosen = choose(wanted, &mut Offer { has_engine: HAS_ENGINE, shelf: &names, servers: &mut Vec::new });
    let choice = chosen.map_err(error::unreachable)?;
    match Source::of(choice, &shelf, sources, &mut |_| (), &CancellationToken::new())? {
        Source::Remote { provider, name, address } => {
            let (key, pause) = (opening::key(provider), opening::PAUSE);
            let options = RemoteOptions { provider, name, address, key, timeout: PATIENCE, tries: TRIES, pause };
            Ok(Box::new(RemoteEmbedder::open(options).map_err(error::unreachable)?))
        }
        Source::File { name, path } => file(config, name, path),
    }
}

#[cfg(feature = "gguf")]
fn file(config: &Config, name: String, path: PathBuf) -> Result<Box<dyn Embedder>, Failure> {
    use memdir_providers::gguf::{GgufEmbedder, Options};

    let threads = config.model.threads.map(|threads| threads.get());
    let loaded = GgufEmbedder::load(Options { name, path, threads, context_tokens: None, prefixes: None });
    Ok(Box::new(loaded.map_err(error::unreachable)?))
}

#[cfg(not(feature = "gguf"))]
fn file(_: &Config, _: String, _: PathBuf) -> Result<Box<dyn Embedder>, Failure> {
    Err(error::unreachable(&memdir_model::ModelError::NoEngine))
}
