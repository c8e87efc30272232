//! What is sent: a request in the words of the library, with what the library cannot say.

use std::sync::Arc;

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec, ReasoningEffort};
use genai::resolver::{AuthData, Endpoint};
use genai::{ClientConfig, Headers, ModelIden, ServiceTarget};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::hear::Seen;
use super::provider::{Form, Provider, Site, Wire};
use super::{RemoteOptions, shape, web};
use memdir_model::{ModelError, Request, Role, Shape};

/// The most texts that end an answer; some servers refuse more.
const MOST_STOPS: usize = 4;

/// What a schema is called where it needs a name.
const SCHEMA: &str = "turn";

/// What is written otherwise in a path.
const IN_A_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// The library, over our own connections.
pub(super) fn client(web: &reqwest::Client, site: &Site) -> Result<genai::Client, ModelError> {
    let built = genai::Client::builder().with_reqwest(web.clone()).with_config(ClientConfig::default()).build();
    built.map_err(|_| ModelError::Unreachable {
        place: site.shown.clone(),
        why: "the client cannot be built".to_owned(),
    })
}

/// What a server has turned out not to take. Models differ in it and do not tell before.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Without {
    pub(super) shape: bool,
    temperature: bool,
    stop: bool,
    usage: bool,
    /// The limit of tokens has its newer name.
    newer_limit: bool,
}

impl Without {
    /// How the answer is held to the request's shape.
    pub(super) fn form(&self, provider: &Provider, request: &Request) -> Option<Form> {
        request.shape.as_ref().filter(|_| !self.shape).map(|_| provider.form)
    }

    /// Whether the server has refused something that the request can do without, and that was not left out yet.
    pub(super) fn learn(&mut self, failed: &Failure, request: &Request) -> bool {
        if !matches!(failed.error, ModelError::Rejected { .. }) {
            return false;
        }
        let has_shape = request.shape.is_some();
        let rows: [(&mut bool, bool, &[&str]); 5] = [
            (&mut self.newer_limit, true, &["max_completion_tokens"]),
            (&mut self.usage, true, &["stream_options", "include_usage"]),
            (&mut self.temperature, true, &["temperature"]),
            (
                &mut self.stop,
                !request.stop.is_empty(),
                &["'stop'", "`stop`", "\"stop\"", "stop_sequences", "stopsequences"],
            ),
            (
                &mut self.shape,
                has_shape,
                &["response_format", "schema", "grammar", "output_config", "structured output"],
            ),
        ];
        for (is_left_out, was_sent, words) in rows {
            if was_sent && !*is_left_out && words.iter().any(|word| failed.names.contains(word)) {
                *is_left_out = true;
                return true;
            }
        }
        false
    }
}

/// Who is asked, and what is left out.
pub(super) struct Asking<'a> {
    pub(super) options: &'a RemoteOptions,
    pub(super) site: &'a Site,
    pub(super) without: &'a Without,
}

impl Asking<'_> {
    /// The request in the words of the library; `seen` is told of what comes.
    pub(super) fn build(
        &self,
        request: &Request,
        seen: Arc<Seen>,
    ) -> Result<(ServiceTarget, ChatRequest, ChatOptions), ModelError> {
        let messages = request.messages.iter().map(|message| match message.role {
            Role::User => ChatMessage::user(message.text.as_str()),
            Role::Assistant => ChatMessage::assistant(message.text.as_str()),
        });
        let mut chat = ChatRequest::from_messages(messages.collect());
        if !request.system.is_empty() {
            chat = chat.with_system(request.system.as_str());
        }
        // What ends a turn may stand inside of a text of JSON.
        let is_json = self.without.form(self.options.provider, request).is_some_and(Form::is_json);
        let most = if self.without.stop || is_json { 0 } else { MOST_STOPS };
        let stop = request.stop.iter().take(most).cloned().collect();
        let mut options = ChatOptions::default()
            .with_stop_sequences(stop)
            .with_capture_usage(!self.without.usage)
            .with_stream_header_timeout(self.options.timeout)
            .with_stream_read_timeout(self.options.timeout)
            .with_raw_frame_sink_arc(seen);
        if !self.without.temperature {
            // As a person would write it: 0.7, not 0.699999988.
            options = options.with_temperature((f64::from(request.temperature) * 1000.0).round() / 1000.0);
        }
        let mut more = Map::new();
        if self.without.newer_limit {
            more.insert("max_completion_tokens".to_owned(), json!(request.max_tokens));
        } else {
            options = options.with_max_tokens(request.max_tokens);
        }
        if let Some(shape) = request.shape.as_ref().filter(|_| !self.without.shape) {
            options = self.hold(shape, options, &mut more);
        }
        match self.options.provider.wire {
            Wire::OpenAi => {
                // One of those that this wire cannot say.
                options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
                more.insert("model".to_owned(), json!(self.options.name));
            }
            Wire::Anthropic => {
                more.insert("model".to_owned(), json!(self.options.name));
            }
            Wire::Gemini => {}
        }
        options = options.with_extra_body(Value::Object(more));
        Ok((self.target()?, chat, options))
    }

    fn hold(&self, shape: &Shape, options: ChatOptions, more: &mut Map<String, Value>) -> ChatOptions {
        match self.options.provider.form {
            Form::OfWire => return options.with_response_format(JsonSpec::new(SCHEMA, shape.schema.clone())),
            Form::Grammar => {
                more.insert("grammar".to_owned(), json!(shape.grammar.gbnf()));
            }
            Form::ResponseFormat => {
                let is_strict = shape::is_strict(&shape.schema);
                let schema = json!({"name": SCHEMA, "strict": is_strict, "schema": shape.schema});
                more.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": schema}));
            }
        }
        options
    }

    /// Where it goes, by our own address and head: the library adds nothing to them.
    fn target(&self) -> Result<ServiceTarget, ModelError> {
        let provider = self.options.provider;
        let name = &self.options.name;
        // The library reads wishes out of names, such as `high` at their end. The wire of OpenAI can be told not to; to the
        // others the name is put in beside it.
        let (kind, known, url) = match provider.wire {
            Wire::OpenAi => (AdapterKind::OpenAI, name.as_str(), self.site.at("chat/completions")?),
            Wire::Anthropic => (AdapterKind::Anthropic, "claude", self.site.at("messages")?),
            Wire::Gemini => {
                let name = utf8_percent_encode(name, IN_A_PATH);
                (AdapterKind::Gemini, "gemini", self.site.at(&format!("models/{name}:streamGenerateContent?alt=sse"))?)
            }
        };
        let headers = Headers::from(web::head(provider, self.options.key.as_ref()));
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(self.site.base.as_str()),
            auth: AuthData::RequestOverride { url: url.into(), headers },
            model: ModelIden::new(kind, known),
        })
    }
}
