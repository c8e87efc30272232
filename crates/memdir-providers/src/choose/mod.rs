//! Which model is meant: by its name, by what lies on the shelf, by what answers on this machine.
//!
//! A decision over facts that are given to it. Opens nothing.

use std::path::PathBuf;

use crate::known_models;
use memdir_model::ModelError;

/// What is between a provider and the name that a model has there: `ollama::qwen3:4b`.
pub const BETWEEN: &str = "::";
/// The provider of an address that nothing more is said of.
const COMPATIBLE: &str = "openai-compatible";

/// What the person wants.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// The model: `PROVIDER::NAME`, one of the shelf or the catalogue, a path to a `.gguf` file, or one that a local server has.
    pub name: Option<String>,
    /// The address of its server, where that is not the provider's usual one.
    pub address: Option<String>,
}

/// A server of this machine that answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Server {
    /// What kind it is, such as `ollama`.
    pub provider: String,
    /// Where it is.
    pub address: String,
    /// The models it has.
    pub models: Vec<String>,
}

/// What there is to choose from.
pub struct Offer<'a> {
    /// Whether this program can run model files.
    pub has_engine: bool,
    /// The names on the shelf.
    pub shelf: &'a [String],
    /// Looks for servers of this machine; only asked where it matters.
    pub servers: &'a mut dyn FnMut() -> Vec<Server>,
}

/// The model that is meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Choice {
    /// One on a server.
    Remote {
        /// Whose interface it speaks.
        provider: String,
        /// The name that the server has for it.
        name: String,
        /// Where, if not at the provider's usual address.
        address: Option<String>,
    },
    /// A file of the shelf.
    Shelf {
        /// Its name.
        name: String,
    },
    /// A file that is named by its path.
    File {
        /// The path.
        path: PathBuf,
    },
}

/// Decides.
///
/// # Errors
///
/// * [`ModelError::NoEngine`] for a file where none can be run, or where there is nothing else.
/// * [`ModelError::Unloadable`] for one of the catalogue that is not on the shelf yet.
/// * [`ModelError::Unknown`] with the names that come closest.
/// * [`ModelError::Several`] where none is named and a server has more than one.
/// * [`ModelError::NoModel`] where none is named and none is found.
pub fn choose(wanted: &Wanted, offer: &mut Offer<'_>) -> Result<Choice, ModelError> {
    let Some(name) = wanted.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        return unnamed(wanted.address.as_deref(), offer);
    };
    if let Some((provider, name)) = name.split_once(BETWEEN) {
        let (provider, name) = (provider.to_owned(), name.to_owned());
        return Ok(Choice::Remote { provider, name, address: wanted.address.clone() });
    }
    if let Some(address) = &wanted.address {
        let (provider, name) = (COMPATIBLE.to_owned(), name.to_owned());
        return Ok(Choice::Remote { provider, name, address: Some(address.clone()) });
    }
    if offer.shelf.iter().any(|known| known == name) {
        return file(offer, Choice::Shelf { name: name.to_owned() });
    }
    if name.to_ascii_lowercase().ends_with(".gguf") {
        return file(offer, Choice::File { path: PathBuf::from(name) });
    }
    if let Some(row) = known_models::find(name) {
        let fetched = file(offer, Choice::Shelf { name: name.to_owned() });
        return fetched.and_then(|_| {
            Err(ModelError::Unloadable {
                name: name.to_owned(),
                why: "it is not on this machine yet".to_owned(),
                hint: format!("`memdir model fetch {name}` gets it: {} MB", row.bytes.div_ceil(1_000_000)),
            })
        });
    }
    named(name, offer)
}

/// A bare name that no file has: whichever server of this machine has it.
fn named(name: &str, offer: &mut Offer<'_>) -> Result<Choice, ModelError> {
    let servers = (offer.servers)();
    // Ollama shows `qwen3:latest`, and takes `qwen3` for it.
    let latest = format!("{name}:latest");
    let found = servers.iter().find_map(|server| {
        let model = server.models.iter().find(|model| **model == name || **model == latest)?;
        Some(on(server, model))
    });
    found.ok_or_else(|| {
        let files = offer.shelf.iter().cloned().chain(known_models::ROWS.iter().map(|row| row.name.to_owned()));
        let remote = servers.iter().flat_map(|server| server.models.iter().cloned());
        ModelError::Unknown {
            place: "this machine".to_owned(),
            name: memdir_core::catalog::shorten(name),
            known: nearest(name, files.chain(remote).collect()),
        }
    })
}

/// No name: the default of the shelf, else all that the shelf has, else what the first server has.
fn unnamed(address: Option<&str>, offer: &mut Offer<'_>) -> Result<Choice, ModelError> {
    if address.is_none() && offer.has_engine {
        let of_catalogue =
            known_models::ROWS.iter().map(|row| row.name).find(|name| offer.shelf.iter().any(|known| known == name));
        match (of_catalogue, offer.shelf) {
            (Some(name), _) => return Ok(Choice::Shelf { name: name.to_owned() }),
            (None, [one]) => return Ok(Choice::Shelf { name: one.clone() }),
            (None, []) => {}
            (None, known) => return Err(ModelError::Several { place: "the shelf".to_owned(), known: known.to_vec() }),
        }
    }
    let servers = (offer.servers)();
    let mut servers = servers.iter().filter(|server| address.is_none_or(|address| server.address == address));
    match servers.find(|server| !server.models.is_empty()) {
        Some(server) => match server.models.as_slice() {
            [one] => Ok(on(server, one)),
            several => Err(ModelError::Several {
                place: server.address.clone(),
                known: several.iter().map(|name| format!("{}{BETWEEN}{name}", server.provider)).collect(),
            }),
        },
        None if address.is_none() && !offer.has_engine && !offer.shelf.is_empty() => Err(ModelError::NoEngine),
        None => Err(ModelError::NoModel),
    }
}

fn on(server: &Server, model: &str) -> Choice {
    Choice::Remote { provider: server.provider.clone(), name: model.to_owned(), address: Some(server.address.clone()) }
}

/// A file is no choice where none can be run.
fn file(offer: &Offer<'_>, choice: Choice) -> Result<Choice, ModelError> {
    if offer.has_engine { Ok(choice) } else { Err(ModelError::NoEngine) }
}

/// At most five names, the most alike first.
fn nearest(name: &str, mut known: Vec<String>) -> Vec<String> {
    known.sort();
    known.dedup();
    known.sort_by(|one, other| strsim::jaro_winkler(name, other).total_cmp(&strsim::jaro_winkler(name, one)));
    known.truncate(5);
    known
}

#[cfg(test)]
mod tests;
