//! MERGE: stands where `model::remote` and `model::gguf` will be, with their names and shapes, and does nothing. Whoever merges deletes
//! this file and points the two `use` lines of `used.rs` and `opening.rs` at the rooms themselves.

pub(super) mod remote {
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use crate::model::{Answer, Card, Heard, Model, ModelError, Place, Request};

    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(in crate::cli) struct Provider {
        pub(in crate::cli) name: &'static str,
        pub(in crate::cli) address: Option<&'static str>,
        pub(in crate::cli) key_variable: &'static str,
    }

    pub(in crate::cli) const PROVIDERS: &[Provider] = &[
        Provider { name: "openai", address: Some("https://api.openai.com"), key_variable: "OPENAI_API_KEY" },
        Provider { name: "anthropic", address: Some("https://api.anthropic.com"), key_variable: "ANTHROPIC_API_KEY" },
        Provider { name: "ollama", address: Some("http://127.0.0.1:11434"), key_variable: "OLLAMA_API_KEY" },
        Provider { name: "openai-compatible", address: None, key_variable: "OPENAI_COMPATIBLE_API_KEY" },
    ];

    impl Provider {
        pub(in crate::cli) fn named(name: &str) -> Option<&'static Self> {
            PROVIDERS.iter().find(|provider| provider.name == name)
        }

        pub(in crate::cli) fn place(&self, address: Option<&str>) -> Result<Place, ModelError> {
            let wrong =
                || ModelError::Unreachable { place: self.name.to_owned(), why: "no address is set for it".to_owned() };
            let url: reqwest::Url = address.or(self.address).ok_or_else(wrong)?.parse().map_err(|_| wrong())?;
            let host = url.host_str().unwrap_or_default();
            if host == "127.0.0.1" { Ok(Place::Machine(url.to_string())) } else { Ok(Place::Host(host.to_owned())) }
        }
    }

    #[derive(Clone, Debug)]
    pub(in crate::cli) struct Secret;

    impl Secret {
        pub(in crate::cli) fn new(_: &str) -> Option<Self> {
            None
        }
    }

    #[derive(Clone, Debug)]
    pub(in crate::cli) struct RemoteOptions {
        pub(in crate::cli) provider: &'static Provider,
        pub(in crate::cli) name: String,
        pub(in crate::cli) address: Option<String>,
        pub(in crate::cli) key: Option<Secret>,
        pub(in crate::cli) timeout: Duration,
        pub(in crate::cli) tries: u32,
        pub(in crate::cli) pause: Duration,
    }

    #[derive(Debug)]
    pub(in crate::cli) struct Found {
        pub(in crate::cli) provider: &'static Provider,
        pub(in crate::cli) address: String,
        pub(in crate::cli) models: Vec<String>,
    }

    pub(in crate::cli) fn discover(_: Duration, _: Option<&str>) -> Vec<Found> {
        Vec::new()
    }

    pub(in crate::cli) struct Remote(Card);

    impl Remote {
        pub(in crate::cli) fn open(options: RemoteOptions) -> Result<Self, ModelError> {
            Err(ModelError::Unreachable { place: options.provider.name.to_owned(), why: "a stub".to_owned() })
        }
    }

    impl Model for Remote {
        fn card(&self) -> &Card {
            &self.0
        }

        fn answer(
            &mut self,
            _: &Request,
            _: &mut dyn FnMut(Heard<'_>),
            _: &CancellationToken,
        ) -> Result<Answer, ModelError> {
            Err(ModelError::NoModel)
        }
    }
}

#[cfg(feature = "gguf")]
pub(super) mod gguf {
    use std::path::PathBuf;

    use tokio_util::sync::CancellationToken;

    use crate::model::{Answer, Card, Heard, Model, ModelError, Request};

    pub(in crate::cli) struct Options {
        pub(in crate::cli) name: String,
        pub(in crate::cli) path: PathBuf,
        pub(in crate::cli) threads: Option<usize>,
        pub(in crate::cli) context_tokens: Option<u32>,
        pub(in crate::cli) prefixes: Option<PathBuf>,
    }

    pub(in crate::cli) struct Gguf(Card);

    impl Gguf {
        pub(in crate::cli) fn load(_: Options, _: &mut dyn FnMut(f32)) -> Result<Self, ModelError> {
            Err(ModelError::NoEngine)
        }
    }

    impl Model for Gguf {
        fn card(&self) -> &Card {
            &self.0
        }

        fn answer(
            &mut self,
            _: &Request,
            _: &mut dyn FnMut(Heard<'_>),
            _: &CancellationToken,
        ) -> Result<Answer, ModelError> {
            Err(ModelError::NoModel)
        }
    }
}
