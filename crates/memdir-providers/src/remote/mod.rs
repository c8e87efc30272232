//! Models on servers: of a provider, or of a program on this machine.
//!
//! Owns which servers there are ([`PROVIDERS`]), what is sent to them and what comes back, through `genai`; the one honest
//! error for each way in which that fails; and asking again ([`Remote`]). A connection is made to the address that
//! was configured and to no other: no redirect is followed and no proxy of the environment is used, so a key goes nowhere
//! else. Keys are given; the environment is not read here. `http://` is spoken to whatever address says so, since the person wrote
//! it; [`Card::place`] says where that is.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use memdir_model::{Answer, Card, Heard, Model, ModelError, Request};

mod ask;
mod embed;
mod failure;
mod find;
mod hear;
mod pieces;
mod provider;
mod secret;
mod shape;
mod wait;
mod web;

use ask::Without;
pub use embed::RemoteEmbedder;
use failure::{Failure, Telling};
pub use find::{Found, discover, list};
use hear::Hearing;
use provider::Site;
pub use provider::{PROVIDERS, Provider};
pub use secret::Secret;

/// Which model is asked, and how.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// Who has it.
    pub provider: &'static Provider,
    /// The name that its server has for it.
    pub name: String,
    /// Where the server is, if not at the provider's own address.
    pub address: Option<String>,
    /// The key, from the variable that [`Provider::key_variable`] names.
    pub key: Option<Secret>,
    /// How long is waited for the first byte of an answer, and for each that follows.
    pub timeout: Duration,
    /// How often it is asked at most while nothing was heard; 1 is once.
    pub tries: u32,
    /// About how long is waited before it is asked again, where the server does not say; each time twice as long.
    pub pause: Duration,
}

impl RemoteOptions {
    fn telling<'a>(&'a self, site: &'a Site) -> Telling<'a> {
        Telling { site, key: self.key.as_ref(), name: &self.name, timeout: self.timeout }
    }
}

/// A model on a server.
#[derive(Debug)]
pub struct Remote {
    runtime: Runtime,
    line: Line,
}

/// All that asking needs but what runs it.
#[derive(Debug)]
struct Line {
    options: RemoteOptions,
    site: Site,
    card: Card,
    web: reqwest::Client,
    client: genai::Client,
    /// What the server has turned out not to take.
    without: Without,
}

impl Remote {
    /// Prepares to ask a model. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ModelError::NoKey`] where the provider answers nobody without a key; [`ModelError::Unreachable`] for an address that
    /// cannot be used, or where the system has no certificates to know servers by.
    pub fn open(options: RemoteOptions) -> Result<Self, ModelError> {
        let provider = options.provider;
        let site = provider.site(options.address.as_deref(), options.key.as_ref())?;
        let runtime = web::runtime(&site)?;
        let web = web::client(&site)?;
        let client = ask::client(&web, &site)?;
        let card = Card {
            name: options.name.clone(),
            place: site.place(),
            million_parameters: provider::million_parameters(&options.name),
            context_tokens: None,
            is_constrained: true,
        };
        Ok(Self { runtime, line: Line { options, site, card, web, client, without: Without::default() } })
    }
}

impl Model for Remote {
    fn card(&self) -> &Card {
        &self.line.card
    }

    fn answer(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Heard<'_>),
        stop: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.runtime.block_on(self.line.ask(request, hear, stop))
    }
}

impl Line {
    /// Asks until there is an answer, a failure that asking again will not mend, or enough tries.
    async fn ask(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Heard<'_>),
        stop: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let mut tried = 1;
        loop {
            let form = self.without.form(self.options.provider, request);
            let mut hearing = Hearing::new(hear, request, form);
            let asked = stop.run_until_cancelled(self.once(request, &mut hearing)).await;
            let failed = match asked.ok_or(ModelError::Cancelled)? {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let heard_nothing = !hearing.has_heard();
            if heard_nothing && self.without.learn(&failed, request) {
                self.card.is_constrained = !self.without.shape;
                continue;
            }
            let pause = wait::before(&failed, tried, self.options.pause);
            match pause.filter(|_| heard_nothing && tried < self.options.tries) {
                Some(pause) => {
                    hear(Heard::Again(pause));
                    stop.run_until_cancelled(tokio::time::sleep(pause)).await.ok_or(ModelError::Cancelled)?;
                    tried += 1;
                }
                None => return Err(self.explain(failed, stop).await),
            }
        }
    }

    async fn once(&self, request: &Request, hearing: &mut Hearing<'_>) -> Result<Answer, Failure> {
        let asking = ask::Asking { options: &self.options, site: &self.site, without: &self.without };
        let (target, chat, options) = asking.build(request, hearing.seen()).map_err(Failure::last)?;
        let stream = self.client.exec_chat_stream(target, chat, Some(&options)).await;
        let read = match stream {
            Ok(answer) => hearing.read(answer.stream).await,
            Err(error) => Err(hear::Fault::Library(error)),
        };
        read.map_err(|fault| self.telling().tell(fault))
    }

    fn telling(&self) -> Telling<'_> {
        self.options.telling(&self.site)
    }

    /// Adds to a failure what the person has to know: which models there are.
    async fn explain(&self, failed: Failure, stop: &CancellationToken) -> ModelError {
        match failed.error {
            ModelError::Unknown { place, name, .. } => {
                let list = find::models(&self.web, self.options.provider, self.telling());
                let known = stop.run_until_cancelled(list).await.and_then(Result::ok).unwrap_or_default();
                ModelError::Unknown { place, known: find::closest(&name, known), name }
            }
            error => error,
        }
    }
}
