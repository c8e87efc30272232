//! HTTP with server-sent events, as the protocol had it in 2024: one stream on which the server speaks, and an address, named
//! there, to which the client sends. Deprecated; memdir only calls such servers.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::StreamExt;
use http::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError};
use url::Url;

use super::http::{Client, Events, Place, is_too_long, limits};
use super::{ConnectError, Connection, Opening, Places, open, why_not_sent, with_causes};
use crate::client::Handler;
use crate::wire::{Wire, WireEnd};
use memdir_tools::{CallError, Server};

/// Connects to a server. It knows nothing newer than `initialize`.
pub(super) async fn connect(server: &Server, handler: Handler, places: &Places) -> Result<Connection, ConnectError> {
    tracing::warn!(server = %server.name, "HTTP with server-sent events is deprecated: streamable HTTP has taken its place");
    let place = Place::of(server, &places.environment).map_err(|problem| ConnectError::broken(server, problem))?;
    let client = Client::new(server, &place, Arc::clone(&handler.wire), places)
        .map_err(|problem| ConnectError::broken(server, problem))?;
    let stream = client.get_stream(place.url.as_str().into(), None, None, None, place.headers.clone()).await;
    let mut events = stream.map_err(|error| match error.auth_challenge() {
        Some(_) => ConnectError { error: CallError::LoginNeeded(server.name.to_string()), is_final: true },
        None => ConnectError::lost(server, why_not_sent(server, &error)),
    })?;
    let endpoint = endpoint(&place.url, &mut events).await.map_err(|problem| ConnectError::broken(server, problem))?;
    let wire = Arc::clone(&handler.wire);
    let transport = SseTransport { client, endpoint, headers: place.headers, events, wire };
    open(server, handler, transport, Opening::Initialize).await
}

/// Waits for the address to which messages are sent. It has to be of the stream's own origin: what the person configured is sent
/// along.
async fn endpoint(url: &Url, events: &mut Events) -> Result<Arc<str>, String> {
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| with_causes(&error))?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let named = url.join(event.data.as_deref().unwrap_or_default().trim());
        let named = named.map_err(|_| "it names no address to send to".to_owned())?;
        return match named.origin() == url.origin() {
            true => Ok(named.as_str().into()),
            false => Err("it wants messages sent to another origin than its own".to_owned()),
        };
    }
    Err("it closed the stream before it named an address to send to".to_owned())
}

struct SseTransport {
    client: Client,
    endpoint: Arc<str>,
    headers: HashMap<HeaderName, HeaderValue>,
    events: Events,
    wire: Arc<Wire>,
}

impl Transport<RoleClient> for SseTransport {
    type Error = StreamableHttpError<reqwest::Error>;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (client, endpoint, headers) = (self.client.clone(), Arc::clone(&self.endpoint), self.headers.clone());
        async move {
            let sent = client.post_message_with_response_limits(endpoint, message, None, None, headers, limits()).await;
            match sent {
                // The answer comes on the stream; servers say anything here.
                Ok(_) | Err(StreamableHttpError::UnexpectedContentType(_)) => Ok(()),
                Err(error) => Err(error),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while let Some(event) = self.events.next().await {
            match event {
                Ok(event) if event.event.as_deref().is_none_or(|name| name == "message") => {
                    let value = event.data.and_then(|data| serde_json::from_str(&data).ok());
                    if let Some(message) = value.and_then(|value| self.wire.receives(value)) {
                        return Some(message);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    self.wire.end(end_of(&error));
                    return None;
                }
            }
        }
        self.wire.end(WireEnd::Lost("the server closed the stream".to_owned()));
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}

fn end_of(error: &SseError) -> WireEnd {
    match error {
        error if is_too_long(error) => WireEnd::TooLarge,
        error => WireEnd::Lost(with_causes(error)),
    }
}

#[cfg(test)]
mod tests;
