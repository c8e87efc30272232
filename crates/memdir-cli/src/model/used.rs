//! Which model is used now, where it runs, and what leaves the machine.

use std::time::Duration;

use serde::Serialize;

use crate::config::{self, Config};
use memdir_core::report::{Code, Failure};
use memdir_model::{ModelError, Place};
use memdir_providers::choose::{Choice, Offer, Server, choose};
use memdir_providers::remote::{self, PROVIDERS, Provider};
use memdir_providers::shelf::{Listed, Shelf};

/// Whether this program can run model files.
pub(crate) const HAS_ENGINE: bool = cfg!(feature = "gguf");

/// How long servers of this machine are waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// A model that would be used, and where.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Used {
    pub(crate) name: String,
    /// `process`, `machine` or `host`.
    pub(crate) place: &'static str,
    /// The address or the host, where it is not this process.
    pub(crate) at: Option<String>,
}

/// The shelf of this person.
pub(crate) fn shelf() -> Result<Shelf, Failure> {
    let none = || Failure::new(Code::Config, "this system names no folder for model files").with_hint("set HOME");
    memdir_host::data_folder().map(|folder| Shelf::new(folder.join("models"))).ok_or_else(none)
}

/// The model that is meant by a name, or by the settings.
///
/// # Errors
///
/// [`ModelError`], as [`choose`] has it.
pub(crate) fn chosen(
    named: Option<&str>,
    config: &Config,
    listed: &Listed,
    servers: &mut dyn FnMut() -> Vec<Server>,
) -> Result<Choice, ModelError> {
    let shelf: Vec<String> = listed.kept.iter().map(|kept| kept.name.clone()).collect();
    choose(&config.model.wanted(named), &mut Offer { has_engine: HAS_ENGINE, shelf: &shelf, servers })
}

/// The servers of models that answer on this machine.
pub(crate) fn servers() -> Vec<Server> {
    let found = remote::discover(PATIENCE, config::variable("OLLAMA_HOST").as_deref());
    let server = |found: remote::Found| Server {
        provider: found.provider.name.to_owned(),
        address: found.address,
        models: found.models,
    };
    found.into_iter().map(server).collect()
}

/// The provider of this name.
///
/// # Errors
///
/// [`ModelError::Unknown`] with the names that there are.
pub(super) fn provider(name: &str) -> Result<&'static Provider, ModelError> {
    Provider::named(name).ok_or_else(|| {
        let known = PROVIDERS.iter().map(|provider| provider.name);
        let known = match memdir_core::catalog::nearest(name, known.clone()) {
            Some(nearest) => vec![nearest],
            None => known.map(str::to_owned).collect(),
        };
        ModelError::Unknown { place: "PROVIDER::NAME".to_owned(), name: memdir_core::catalog::shorten(name), known }
    })
}

/// Where a chosen model runs.
pub(super) fn place(choice: &Choice) -> Result<Place, ModelError> {
    match choice {
        Choice::Shelf { .. } | Choice::File { .. } => Ok(Place::Process),
        Choice::Remote { provider: name, address, .. } => provider(name)?.place(address.as_deref()),
    }
}

/// What is shown of a chosen model.
///
/// # Errors
///
/// [`ModelError`] for a provider or an address that cannot be.
pub(crate) fn used(choice: &Choice) -> Result<Used, ModelError> {
    let name = match choice {
        Choice::Shelf { name } => name.clone(),
        Choice::File { path } => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        Choice::Remote { provider, name, .. } => format!("{provider}::{name}"),
    };
    let (place, at) = match place(choice)? {
        Place::Process => ("process", None),
        Place::Machine(at) => ("machine", Some(at)),
        Place::Host(at) => ("host", Some(at)),
    };
    Ok(Used { name, place, at })
}

impl Used {
    /// What leaves the machine, in words.
    pub(crate) fn leaves(&self) -> String {
        match (self.place, &self.at) {
            ("host", Some(host)) => format!("what you write, and what notes it takes, goes to {host}"),
            (_, Some(at)) => format!("runs on this machine, at {at}"),
            _ => "runs inside memdir; nothing leaves this machine".to_owned(),
        }
    }
}
