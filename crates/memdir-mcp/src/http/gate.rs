//! [`Gate`]: what a request has to show before anything in it is read.
//!
//! In this order: the name it calls and the page it comes from, its path, its method, the token of a client, its type, its
//! size. What has come through is answered by the protocol's own service.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::StreamExt;
use rmcp::model::JsonRpcError;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use memdir_core::json::without_halves;
use memdir_server::{OpenConnection, catch_panic_async, only};

use super::reply::{Refusal, Reply};
use super::sender::{ClientSessions, Flight, RequestSender, Token};
use super::{HttpLimits, HttpOptions};
use crate::connection::{Connection, ConnectionKind};
use crate::panics::PanicGuard;
use crate::service::{self, Service};
use crate::verbatim::Verbatim;
use crate::{Client, Server, incoming};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// A session that is never there: its names are random.
const NO_SESSION: HeaderValue = HeaderValue::from_static("none");
/// The service says no more than this, in bytes, about a request that it refuses.
const MOST_SAID: usize = 1 << 20;
/// A token is shorter.
const LONGEST_TOKEN: usize = 256;

/// All that stands between the network and the server.
pub(super) struct Gate {
    server: Arc<Server>,
    options: HttpOptions,
    clients: ClientSessions,
    protocol: StreamableHttpService<PanicGuard, LocalSessionManager>,
    /// Cancelled when the server stops: ends what would go on for ever.
    stop: CancellationToken,
}

impl Gate {
    /// `end` ends everything, `stop` what has no end of its own.
    pub(super) fn new(
        server: Arc<Server>,
        options: HttpOptions,
        stop: CancellationToken,
        end: CancellationToken,
    ) -> Arc<Self> {
        let mut sessions = SessionConfig::default();
        sessions.keep_alive = Some(options.limits.session);
        let mut manager = LocalSessionManager::default();
        manager.session_config = sessions;
        let manager = Arc::new(manager);
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_cancellation_token(end);
        let shared = Arc::clone(&server);
        let service = move || {
            let connection = Arc::new(Connection::new(ConnectionKind::Http));
            Ok(PanicGuard(Service { server: Arc::clone(&shared), connection }))
        };
        let protocol = StreamableHttpService::new(service, Arc::clone(&manager), config);
        Arc::new(Self { server, options, clients: ClientSessions::new(manager), protocol, stop })
    }

    /// Waits no more for what clients may still say.
    pub(super) fn close(&self) {
        self.clients.close();
    }

    /// Everything that can be asked for.
    pub(super) fn routes(self: Arc<Self>) -> Router {
        Router::new()
            .route("/mcp", get(answer).post(answer).delete(answer).fallback(async || Refusal::Method))
            .route("/health", get(async || ([(CONTENT_TYPE, "application/json")], r#"{"status":"ok"}"#)))
            .layer(from_fn_with_state(Arc::clone(&self), guard))
            .with_state(self)
    }
}

/// Lets nothing through that is sent to another name or from a foreign page.
async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = if gate.options.names.allow(request.uri(), request.headers()) {
        catch_panic_async(next.run(request)).await.unwrap_or_else(|_| Refusal::Fault.into_response())
    } else {
        tracing::warn!("refused a request by its `Host` or `Origin`");
        Refusal::Name.into_response()
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Answers one request to `/mcp`.
async fn answer(State(gate): State<Arc<Gate>>, request: Request) -> Result<Response, Refusal> {
    let (mut parts, body) = request.into_parts();
    let token = Token::new(token(&parts.headers).ok_or(Refusal::Token)?);
    let find = |token: &Token| token.client(&gate.server.clients).map_err(|_| Refusal::Token);
    let known = find(&token)?;
    if let Some(slot) = parts.extensions.get::<Arc<OpenConnection>>() {
        slot.admit();
    }
    let place = gate.clients.place(&known.name).ok_or(Refusal::Busy)?;
    let (body, said, place) = if parts.method == Method::POST {
        let (body, place) = gate.read(&parts, body, place).await?;
        let Ok(said) = serde_json::from_slice::<MessageHead>(&body) else { return Ok(no_message(&body)) };
        (body, said, place)
    } else {
        (Bytes::new(), MessageHead::default(), place)
    };
    // The body may have taken its time, and the client may be another by now, or none.
    let client = find(&token)?;
    let is_counted_later = parts.method == Method::POST && !said.is_counted_here();
    if !is_counted_later && gate.server.rates.take(&client, now()).is_err() {
        return Err(Refusal::Rate);
    }
    let goes_on = parts.method == Method::GET || is_listening(&parts.headers);
    parts.extensions.clear();
    let connection = gate.conversation(&mut parts, &client);
    let (flight, verbatim) = (gate.flight(&parts.headers, said)?, Verbatim::default());
    parts.extensions.insert(RequestSender {
        token: token.clone(),
        connection,
        verbatim: verbatim.clone(),
        _flight: flight.clone(),
    });
    let has_session = parts.headers.contains_key(SESSION);
    let response = gate.protocol.handle(Request::from_parts(parts, Body::from(body.clone()))).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return Ok(no_message(&body));
    }
    let response = mend(response.map(Body::new), has_session).await?;
    if let Some(id) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
        gate.clients.opened(id, &client.name, now()).await;
    }
    let server = Arc::clone(&gate.server);
    Ok(response.map(|body| {
        let reply = Reply::new(body, verbatim, (place, flight), move || token.client(&server.clients).is_ok());
        Body::new(if goes_on { reply.until(&gate.stop) } else { reply })
    }))
}

/// What has to be known of a message before it is read.
#[derive(Debug, Default, Deserialize)]
struct MessageHead {
    method: Option<String>,
    id: Option<Value>,
}

/// The answer to a body that is no message.
fn no_message(body: &[u8]) -> Response {
    let said = serde_json::to_vec(&incoming::mistake(body)).unwrap_or_default();
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], said).into_response()
}

impl MessageHead {
    /// Whether it is a request that the service does not count.
    fn is_counted_here(&self) -> bool {
        matches!(self.method.as_deref(), Some("initialize"))
    }
}

impl Gate {
    /// Reads the whole of a body that says it is JSON. `place` is that of its request.
    async fn read(
        &self,
        parts: &Parts,
        body: Body,
        place: OwnedSemaphorePermit,
    ) -> Result<(Bytes, OwnedSemaphorePermit), Refusal> {
        let HttpLimits { body_bytes, body_time, .. } = self.options.limits;
        if !is_json(&parts.headers) {
            return Err(Refusal::Type);
        }
        let is_too_large = body.size_hint().lower() > body_bytes as u64;
        let mut pieces = body.into_data_stream();
        let read = match is_too_large {
            true => Err(Refusal::Size),
            false => timeout(body_time, collect(&mut pieces, body_bytes)).await.unwrap_or(Err(Refusal::Slow)),
        };
        // Who waits for leave to send a body gets none, and sends nothing.
        if read == Err(Refusal::Size) && !parts.headers.contains_key(EXPECT) {
            tokio::spawn(async move {
                let _place = place;
                // Whoever is still sending hears the answer only if the connection stays until they are done, or the time is over.
                let _ = timeout(body_time, async { while let Some(Ok(_)) = pieces.next().await {} }).await;
            });
            return Err(Refusal::Size);
        }
        Ok((read?, place))
    }

    /// The conversation that a request belongs to. The session of another client is as good as none.
    fn conversation(&self, parts: &mut Parts, client: &Client) -> Arc<Connection> {
        let id = only(&parts.headers, SESSION).flatten();
        let own = id.and_then(|id| self.clients.in_session(id, &client.name, now()));
        own.unwrap_or_else(|| {
            if parts.headers.contains_key(SESSION) {
                parts.headers.insert(SESSION, NO_SESSION);
            }
            self.clients.without_session(&client.name)
        })
    }

    /// Takes a request of a session down until it is answered.
    fn flight(&self, headers: &HeaderMap, said: MessageHead) -> Result<Option<Arc<Flight>>, Refusal> {
        let session = only(headers, SESSION).flatten();
        let (Some(session), Some(_), Some(id)) = (session, said.method, said.id) else { return Ok(None) };
        self.clients.flight(session, id.to_string()).ok_or(Refusal::Twice).map(Some)
    }
}

/// Puts the pieces of a body together, if they are not more than so many bytes.
async fn collect(pieces: &mut BodyDataStream, most: usize) -> Result<Bytes, Refusal> {
    let mut whole = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Refusal::Broken)?;
        if whole.len() + piece.len() > most {
            return Err(Refusal::Size);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(match without_halves(&whole) {
        Cow::Borrowed(_) => whole.into(),
        Cow::Owned(mended) => mended.into(),
    })
}

/// Says in the protocol's words what the service says in others, and nothing of what went wrong inside.
async fn mend(response: Response, has_session: bool) -> Result<Response, Refusal> {
    match response.status() {
        // It has ended in between.
        StatusCode::INTERNAL_SERVER_ERROR if has_session => Err(Refusal::Session),
        StatusCode::INTERNAL_SERVER_ERROR => Err(Refusal::Fault),
        StatusCode::BAD_REQUEST => {
            let (mut parts, said) = response.into_parts();
            let mut said = to_bytes(said, MOST_SAID).await.map_err(|_| Refusal::Fault)?;
            if let Ok(mut error) = serde_json::from_slice::<JsonRpcError>(&said) {
                service::name_versions(&mut error.error);
                said = serde_json::to_vec(&error).map_err(|_| Refusal::Fault)?.into();
                parts.headers.remove(CONTENT_LENGTH);
            }
            Ok(Response::from_parts(parts, Body::from(said)))
        }
        _ => Ok(response),
    }
}

/// The token of `Authorization: Bearer …`, if that is there once.
fn token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, AUTHORIZATION)??.split_once(' ')?;
    let is_token =
        !token.is_empty() && token.len() <= LONGEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then_some(token)
}

/// Whether the answer has no end.
fn is_listening(headers: &HeaderMap) -> bool {
    headers.get(MCP_METHOD).is_some_and(|method| method == "subscriptions/listen")
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence =
        |value: &str| value.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"));
    only(headers, CONTENT_TYPE).flatten().is_some_and(essence)
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
