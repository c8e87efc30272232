//! Which models there are: at a server, and on this machine.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

use super::failure::{Failure, Telling};
use super::provider::{PROVIDERS, Provider, Site, is_loopback};
use super::secret::Secret;
use super::web;
use memdir_model::ModelError;

/// The most models of a server that are told.
const MOST_MODELS: usize = 1000;

/// The most names that come closest to one that is not there.
const MOST_CLOSEST: usize = 8;

/// A server of models on this machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// What it is.
    pub provider: &'static Provider,
    /// Where it is, as it is written in the settings.
    pub address: String,
    /// The models that it has, by its own names.
    pub models: Vec<String>,
}

/// Asks the usual addresses of this machine, all at the same time, which models there are. Others than of loopback are not
/// asked. `ollama` is what the environment says of Ollama (`OLLAMA_HOST`).
///
/// It takes no longer than `within`; what has not answered by then is not there.
#[must_use]
pub fn discover(within: Duration, ollama: Option<&str>) -> Vec<Found> {
    let local = PROVIDERS.iter().filter_map(|provider| Some((provider, provider.address?.to_owned())));
    let mut places: Vec<(&'static Provider, String)> = local.filter(|(provider, _)| !provider.needs_key).collect();
    let of_ollama = Provider::named("ollama").zip(ollama.and_then(ollama_address));
    places.retain(|(provider, _)| of_ollama.as_ref().is_none_or(|(ollama, _)| ollama != provider));
    places.splice(0..0, of_ollama);
    search(&places, within)
}

/// Asks these places.
fn search(places: &[(&'static Provider, String)], within: Duration) -> Vec<Found> {
    let sites: Vec<(&'static Provider, Site)> = places
        .iter()
        .filter_map(|(provider, address)| Some((*provider, Site::new(provider, Some(address)).ok()?)))
        .filter(|(_, site)| site.is_loopback)
        .collect();
    let Some((runtime, client)) =
        sites.first().and_then(|(_, site)| Some((web::runtime(site).ok()?, web::client(site).ok()?)))
    else {
        return Vec::new();
    };
    let looks = sites.iter().map(|(provider, site)| look(&client, provider, site, within));
    runtime.block_on(join_all(looks)).into_iter().flatten().collect()
}

async fn look(client: &reqwest::Client, provider: &'static Provider, site: &Site, within: Duration) -> Option<Found> {
    let url = site.at(provider.models).ok()?;
    let listed = web::get(client, url, Vec::new(), within).await.ok()?;
    let provider = told_apart(provider, &listed);
    Some(Found { provider, address: site.shown.clone(), models: names(&listed)? })
}

/// vLLM and llama.cpp's server say who they are, wherever they run. `me` is what the server of llama-cpp-python says, at the
/// address that vLLM has too; it takes grammars, and no schemas.
fn told_apart(expected: &'static Provider, listed: &Value) -> &'static Provider {
    let owner = listed.pointer("/data/0/owned_by").and_then(Value::as_str);
    let name = match owner {
        Some("vllm") => "vllm",
        Some("llamacpp" | "me") => "llamacpp",
        _ => return expected,
    };
    Provider::named(name).unwrap_or(expected)
}

/// The models of a server, by its own names.
///
/// # Errors
///
/// As those of [`memdir_model::Model::answer`].
pub fn list(
    provider: &'static Provider,
    address: Option<&str>,
    key: Option<&Secret>,
    timeout: Duration,
) -> Result<Vec<String>, ModelError> {
    let site = provider.site(address, key)?;
    let client = web::client(&site)?;
    let telling = Telling { site: &site, key, name: "", timeout };
    let listed = web::runtime(&site)?.block_on(models(&client, provider, telling));
    listed.map_err(|failed| failed.error)
}

/// The models of a server.
pub(super) async fn models(
    client: &reqwest::Client,
    provider: &Provider,
    telling: Telling<'_>,
) -> Result<Vec<String>, Failure> {
    let url = telling.site.at(provider.models).map_err(Failure::last)?;
    let got = web::get(client, url, web::head(provider, telling.key), telling.timeout).await;
    let listed = got.and_then(|listed| names(&listed).ok_or(super::hear::Fault::NoInterface));
    listed.map_err(|fault| telling.tell(fault))
}

/// The names in a list of models of any of the wires.
fn names(listed: &Value) -> Option<Vec<String>> {
    let models = listed.get("data").or_else(|| listed.get("models"))?.as_array()?;
    let name = |model: &Value| {
        let name = ["id", "name", "model"].iter().find_map(|field| model.get(field)?.as_str())?;
        let name = name.strip_prefix("models/").unwrap_or(name);
        let is_shown = !name.is_empty() && name.len() <= 200 && !name.chars().any(char::is_control);
        is_shown.then(|| name.to_owned())
    };
    Some(models.iter().filter_map(name).take(MOST_MODELS).collect())
}

/// The names that come closest to one.
pub(super) fn closest(name: &str, mut known: Vec<String>) -> Vec<String> {
    known.sort_by_cached_key(|other| {
        let likeness = strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
        // The bits of numbers that are not negative are in their order; closer ones come first.
        std::cmp::Reverse(likeness.to_bits())
    });
    known.truncate(MOST_CLOSEST);
    known
}

/// The address that `OLLAMA_HOST` means, if it is one of this machine. A server that listens everywhere listens here too.
fn ollama_address(host: &str) -> Option<String> {
    let host = host.trim();
    let host = host.strip_prefix("http://").unwrap_or(host).trim_end_matches('/');
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()?),
        _ => (host, 11434_u16),
    };
    let name = if ["", "0.0.0.0", "[::]"].contains(&name) { "127.0.0.1" } else { name };
    is_loopback(name).then(|| format!("http://{name}:{port}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ollama_may_be_elsewhere_on_this_machine_only() {
        for (host, expected) in [
            ("127.0.0.1:11434", Some("http://127.0.0.1:11434")),
            ("0.0.0.0", Some("http://127.0.0.1:11434")),
            (":9", Some("http://127.0.0.1:9")),
            ("http://localhost:9/", Some("http://localhost:9")),
            ("[::1]:9", Some("http://[::1]:9")),
            ("[::1]", Some("http://[::1]:11434")),
            ("nas:9", None),
            ("https://example.org", None),
            ("127.0.0.1:x", None),
        ] {
            assert_eq!(ollama_address(host).as_deref(), expected, "{host}");
        }
    }

    #[test]
    fn a_server_is_what_it_says_it_is() {
        let vllm = Provider::named("vllm").unwrap();
        for (owner, name) in [("vllm", "vllm"), ("llamacpp", "llamacpp"), ("me", "llamacpp"), ("somebody", "vllm")] {
            assert_eq!(told_apart(vllm, &json!({"data": [{"id": "a", "owned_by": owner}]})).name, name, "{owner}");
        }
    }

    #[test]
    fn lists_of_all_wires_are_read() {
        for (listed, expected) in [
            (json!({"data": [{"id": "a"}, {"id": "b"}, {}]}), Some(vec!["a", "b"])),
            (json!({"models": [{"name": "models/gemini-x"}]}), Some(vec!["gemini-x"])),
            (json!({"models": [{"name": "qwen3:4b", "model": "qwen3:4b"}]}), Some(vec!["qwen3:4b"])),
            (json!({"models": [{"name": "a\u{1b}[2J"}]}), Some(vec![])),
            (json!({"data": {}}), None),
            (json!([]), None),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(names(&listed), expected, "{listed}");
        }
        let known = ["qwen3:8b", "llama3.2", "gpt-oss"].map(str::to_owned).to_vec();
        assert_eq!(closest("qwen3:4b", known).first().map(String::as_str), Some("qwen3:8b"));
    }
}
