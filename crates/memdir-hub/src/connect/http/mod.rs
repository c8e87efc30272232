//! Streamable HTTP, through rmcp's transport and one client of HTTP.
//!
//! The client sends what the person configured to the server's own origin and nowhere else, shows the token that is kept for the
//! server, and leaves the results of calls as they came in [`Wire`].

mod answer;
mod client;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpResponseLimits};
use url::{Host, Url};

use super::{ConnectError, Connection, Opening, Places, fill, open};
use crate::client::Handler;
use crate::wire::MOST_MESSAGE;
use memdir_tools::{Server, Transport};

pub(super) use answer::{behind, is_too_long, never_arrived};
pub(super) use client::{Client, Events};

/// How often the stream of a server's notifications is opened anew, and the longest pause before that.
const MOST_REOPENED: usize = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The most of what a server says of a failure that is read, in bytes.
const MOST_FAILURE: usize = 1024;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// Names a provider of cryptography for TLS, process-wide: the crates that speak it name none of their own.
pub(crate) fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Where a server is and what it is sent with each request, filled from the environment.
pub(crate) struct Place {
    pub(crate) url: Url,
    pub(crate) headers: HashMap<HeaderName, HeaderValue>,
}

impl Place {
    /// The place of a server.
    ///
    /// # Errors
    ///
    /// What is wrong with it, without a value of the environment.
    pub(crate) fn of(server: &Server, environment: &BTreeMap<String, String>) -> Result<Self, String> {
        let (url, headers) = match &server.transport {
            Transport::Http { url, headers } | Transport::Sse { url, headers } => (url, headers),
            Transport::Stdio { .. } => return Err("it is a program on this machine".to_owned()),
        };
        let url = Url::parse(&fill(url, environment)?).map_err(|_| format!("`{url}` is no address"))?;
        match url.scheme() {
            "https" => {}
            "http" if is_of_this_machine(&url) => {}
            _ => return Err("it is neither https nor on this machine".to_owned()),
        }
        let header = |(name, value): (&String, &String)| {
            let wrong = || format!("the header `{name}` cannot be sent");
            let parsed = HeaderName::try_from(name).map_err(|_| wrong())?;
            let mut value = HeaderValue::try_from(fill(value, environment)?).map_err(|_| wrong())?;
            value.set_sensitive(true);
            match parsed.as_str() {
                "accept" | LAST_EVENT | SESSION => Err(wrong()),
                _ => Ok((parsed, value)),
            }
        };
        Ok(Self { headers: headers.iter().map(header).collect::<Result<_, String>>()?, url })
    }
}

fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Connects to a server.
pub(super) async fn connect(
    server: &Server,
    handler: Handler,
    places: &Places,
    opening: Opening,
) -> Result<Connection, ConnectError> {
    let place = Place::of(server, &places.environment).map_err(|problem| ConnectError::broken(server, problem))?;
    let client = Client::new(server, &place, Arc::clone(&handler.wire), places)
        .map_err(|problem| ConnectError::broken(server, problem))?;
    let limits = limits();
    let mut config = StreamableHttpClientTransportConfig::with_uri(place.url.as_str())
        .custom_headers(place.headers)
        .max_json_response_size(limits.max_json_response_size)
        .max_sse_event_size(limits.max_sse_event_size)
        .max_error_response_size(limits.max_error_response_size);
    let mut again = ExponentialBackoff::default();
    again.max_times = Some(MOST_REOPENED);
    again.max_delay = Some(LONGEST_PAUSE);
    config.retry_config = Arc::new(again);
    open(server, handler, StreamableHttpClientTransport::with_client(client, config), opening).await
}

/// How much is read of an answer.
pub(super) fn limits() -> StreamableHttpResponseLimits {
    let mut limits = StreamableHttpResponseLimits::default();
    limits.max_json_response_size = MOST_MESSAGE;
    limits.max_sse_event_size = MOST_MESSAGE;
    limits.max_error_response_size = MOST_FAILURE;
    limits
}

#[cfg(test)]
pub(crate) mod tests;
