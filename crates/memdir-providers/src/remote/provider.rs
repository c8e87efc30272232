//! The providers that can be asked, one row each, and where they are.

use std::net::IpAddr;

use reqwest::Url;

use super::secret::Secret;
use memdir_model::{ModelError, Place};

/// A provider, or a program that serves models on this machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Provider {
    /// The name in front of the `::`.
    pub name: &'static str,
    /// Where it is unless an address is given; one without has to be given one.
    pub address: Option<&'static str>,
    /// The variable of the environment that holds its key.
    pub key_variable: &'static str,
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
    /// Where the interface begins in an address that has no path.
    pub(super) path: &'static str,
    /// What it speaks.
    pub(super) wire: Wire,
    /// How an answer is held to a shape.
    pub(super) form: Form,
    /// Where its models are listed, from the beginning of the interface.
    pub(super) models: &'static str,
}

/// What is spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wire {
    /// Chat Completions of OpenAI.
    OpenAi,
    /// Messages of Anthropic.
    Anthropic,
    /// `streamGenerateContent` of Gemini.
    Gemini,
}

/// How an answer is held to a shape.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// `response_format` with a JSON schema.
    ResponseFormat,
    /// `grammar`, in the notation of llama.cpp.
    Grammar,
    /// The field for a schema that the wire has by itself.
    OfWire,
}

impl Form {
    /// Whether the answer is JSON.
    pub(super) fn is_json(self) -> bool {
        match self {
            Self::ResponseFormat | Self::OfWire => true,
            Self::Grammar => false,
        }
    }
}

/// A row for a provider that speaks as OpenAI does and takes schemas.
const OPENAI: Provider = Provider {
    name: "openai",
    address: Some("https://api.openai.com"),
    key_variable: "OPENAI_API_KEY",
    needs_key: true,
    path: "v1/",
    wire: Wire::OpenAi,
    form: Form::ResponseFormat,
    models: "models",
};

/// All providers. Ollama is asked through its interface of OpenAI's kind: it takes schemas there too.
pub const PROVIDERS: &[Provider] = &[
    OPENAI,
    Provider {
        name: "anthropic",
        address: Some("https://api.anthropic.com"),
        key_variable: "ANTHROPIC_API_KEY",
        wire: Wire::Anthropic,
        form: Form::OfWire,
        ..OPENAI
    },
    Provider {
        name: "gemini",
        address: Some("https://generativelanguage.googleapis.com"),
        key_variable: "GEMINI_API_KEY",
        path: "v1beta/",
        wire: Wire::Gemini,
        form: Form::OfWire,
        ..OPENAI
    },
    Provider {
        name: "openrouter",
        address: Some("https://openrouter.ai"),
        key_variable: "OPENROUTER_API_KEY",
        path: "api/v1/",
        ..OPENAI
    },
    Provider {
        name: "ollama",
        address: Some("http://127.0.0.1:11434"),
        key_variable: "OLLAMA_API_KEY",
        needs_key: false,
        models: "../api/tags",
        ..OPENAI
    },
    Provider {
        name: "lmstudio",
        address: Some("http://127.0.0.1:1234"),
        key_variable: "LMSTUDIO_API_KEY",
        needs_key: false,
        ..OPENAI
    },
    Provider {
        name: "vllm",
        address: Some("http://127.0.0.1:8000"),
        key_variable: "VLLM_API_KEY",
        needs_key: false,
        ..OPENAI
    },
    Provider {
        name: "llamacpp",
        address: Some("http://127.0.0.1:8080"),
        key_variable: "LLAMACPP_API_KEY",
        needs_key: false,
        form: Form::Grammar,
        ..OPENAI
    },
    Provider {
        name: "openai-compatible",
        address: None,
        key_variable: "OPENAI_COMPATIBLE_API_KEY",
        needs_key: false,
        ..OPENAI
    },
];

impl Provider {
    /// The provider of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    /// Reads `PROVIDER::NAME`; the name is the server's own and may have anything in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_providers::remote::Provider;
    ///
    /// let (provider, name) = Provider::split("ollama::qwen3:4b").unwrap();
    /// assert_eq!((provider.name, name), ("ollama", "qwen3:4b"));
    /// assert!(Provider::split("qwen3:4b").is_none());
    /// ```
    #[must_use]
    pub fn split(text: &str) -> Option<(&'static Self, &str)> {
        let (provider, name) = text.split_once("::")?;
        Some((Self::named(provider)?, name)).filter(|(_, name)| !name.is_empty())
    }

    /// Where it runs: at the address that is given, else at its own.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unreachable`] where there is no address, or one that cannot be used; a key in it is never shown.
    pub fn place(&self, address: Option<&str>) -> Result<Place, ModelError> {
        Ok(Site::new(self, address)?.place())
    }

    /// The address that is asked, if the provider answers somebody with this key.
    pub(super) fn site(&self, address: Option<&str>, key: Option<&Secret>) -> Result<Site, ModelError> {
        let site = Site::new(self, address)?;
        if self.needs_key && key.is_none() {
            return Err(ModelError::NoKey { place: site.shown, variable: self.key_variable.to_owned() });
        }
        Ok(site)
    }
}

/// An address that may be asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Site {
    /// Where the interface begins; ends with `/`.
    pub(super) base: Url,
    /// As it is shown.
    pub(super) shown: String,
    pub(super) is_loopback: bool,
}

impl Site {
    pub(super) fn new(provider: &Provider, address: Option<&str>) -> Result<Self, ModelError> {
        let wrong = |why: &str| ModelError::Unreachable { place: provider.name.to_owned(), why: why.to_owned() };
        let address = address.or(provider.address).ok_or_else(|| wrong("no address is set for it"))?;
        let form = "its address is not of the form `http://HOST:PORT/v1`";
        let mut base = Url::parse(address.trim()).map_err(|_| wrong(form))?;
        let host = base.host_str().filter(|_| ["http", "https"].contains(&base.scheme())).ok_or_else(|| wrong(form))?;
        if !base.username().is_empty()
            || base.password().is_some()
            || base.query().is_some()
            || base.fragment().is_some()
        {
            return Err(wrong("its address has more than host, port and path; keys come from the environment"));
        }
        let is_loopback = is_loopback(host);
        let path = base.path().trim_end_matches('/').to_owned();
        base.set_path(&if path.is_empty() { format!("/{}", provider.path) } else { format!("{path}/") });
        let shown = base.as_str().trim_end_matches('/').to_owned();
        Ok(Self { base, shown, is_loopback })
    }

    /// An address below the beginning of the interface.
    pub(super) fn at(&self, path: &str) -> Result<Url, ModelError> {
        self.base.join(path).map_err(|_| ModelError::Rejected {
            place: self.shown.clone(),
            why: "the name of the model has characters that no address can have".to_owned(),
        })
    }

    pub(super) fn place(&self) -> Place {
        if self.is_loopback {
            return Place::Machine(self.shown.clone());
        }
        let host = self.base.host_str().unwrap_or_default();
        Place::Host(self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }
}

/// Whether a host of an address is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// How many parameters a model has, in units of a million, where its name says so: `qwen3:4b`, `gemma-3-270m-it`.
pub(super) fn million_parameters(name: &str) -> Option<u64> {
    let parts = name.split(|character: char| !character.is_ascii_alphanumeric() && character != '.');
    parts.filter_map(million_in).next()
}

/// Reads `1.5b`, `270m` or `8x7b`.
fn million_in(part: &str) -> Option<u64> {
    let part = part.to_ascii_lowercase();
    let unit =
        part.strip_suffix('b').map(|number| (number, 1000.0)).or(part.strip_suffix('m').map(|number| (number, 1.0)));
    let (number, unit) = unit?;
    let product: f64 = number.split('x').map(plain).product::<Option<f64>>()? * unit;
    // Names with more are no sizes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and ten million")]
    (1.0..1e7).contains(&product).then_some(product.round() as u64)
}

fn plain(number: &str) -> Option<f64> {
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn site(provider: &str, address: &str) -> Result<Site, ModelError> {
        Site::new(Provider::named(provider).unwrap(), Some(address))
    }

    #[test]
    fn names_are_those_of_the_server() {
        for (text, expected) in [
            ("ollama::qwen3:4b", Some(("ollama", "qwen3:4b"))),
            ("openrouter::qwen/qwen3-8b", Some(("openrouter", "qwen/qwen3-8b"))),
            ("vllm::a::b", Some(("vllm", "a::b"))),
            ("openai-compatible::x", Some(("openai-compatible", "x"))),
            ("openai::", None),
            ("nobody::x", None),
            ("x", None),
        ] {
            assert_eq!(Provider::split(text).map(|(provider, name)| (provider.name, name)), expected, "{text}");
        }
    }

    #[test]
    fn an_address_without_a_path_gets_that_of_the_interface() {
        for (provider, address, base) in [
            ("ollama", "http://localhost:11434", "http://localhost:11434/v1/"),
            ("ollama", "http://localhost:11434/v1", "http://localhost:11434/v1/"),
            ("ollama", "http://nas/ollama/v1/", "http://nas/ollama/v1/"),
            ("gemini", "https://example.org/", "https://example.org/v1beta/"),
            ("openai-compatible", " https://example.org/api ", "https://example.org/api/"),
        ] {
            assert_eq!(site(provider, address).unwrap().base.as_str(), base, "{address}");
        }
        let tags = site("ollama", "http://nas/ollama/v1").unwrap().at("../api/tags").unwrap();
        assert_eq!(tags.as_str(), "http://nas/ollama/api/tags");
    }

    #[test]
    fn an_address_with_a_key_in_it_is_refused_and_not_shown() {
        for address in [
            "http://me:secret@host/v1",
            "http://secret@host",
            "https://host/v1?key=secret",
            "https://host/v1#secret",
            "ftp://secret",
            "secret",
            "",
        ] {
            let error = site("openai-compatible", address).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
        assert!(Site::new(Provider::named("openai-compatible").unwrap(), None).is_err());
    }

    #[test]
    fn only_loopback_is_this_machine() {
        for (address, place) in [
            ("http://localhost:1/v1", Place::Machine("http://localhost:1/v1".to_owned())),
            ("http://127.9.9.9:1", Place::Machine("http://127.9.9.9:1/v1".to_owned())),
            ("http://[::1]:1", Place::Machine("http://[::1]:1/v1".to_owned())),
            ("http://2130706433:1", Place::Machine("http://127.0.0.1:1/v1".to_owned())),
            ("http://127.0.0.1.example.org", Place::Host("127.0.0.1.example.org".to_owned())),
            ("http://localhost.example.org:8", Place::Host("localhost.example.org:8".to_owned())),
            ("http://192.168.0.2:8", Place::Host("192.168.0.2:8".to_owned())),
        ] {
            assert_eq!(site("openai-compatible", address).unwrap().place(), place);
        }
    }

    #[test]
    fn a_name_may_say_the_size() {
        for (name, expected) in [
            ("qwen3:4b", Some(4000)),
            ("Qwen2.5-Coder-1.5B-Instruct", Some(1500)),
            ("gemma-3-270m-it", Some(270)),
            ("mixtral-8x7b", Some(56_000)),
            ("qwen3-30b-a3b", Some(30_000)),
            ("gpt-4.1", None),
            ("llama3.2-web", None),
            ("99999999999999999999b", None),
            ("xb", None),
            ("", None),
        ] {
            assert_eq!(million_parameters(name), expected, "{name}");
        }
    }
}
