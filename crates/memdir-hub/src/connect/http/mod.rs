//! Streamable HTTP, through rmcp's transport and one client of HTTP.
//!
//! The client sends what the person configured to the server's own origin and nowhere else, shows the token that is kept for the
//! server, and leaves the results of calls as they came in [`Wire`].

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{BoxStream, Stream, StreamExt};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, StatusCode};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use url::{Host, Url};

use super::{ConnectError, Connection, Opening, Places, fill, open};
use crate::auth::Bearer;
use crate::client::Handler;
use crate::wire::{MOST_MESSAGE, Wire, WireEnd};
use memdir_tools::{Server, Transport};

/// How long it may take to reach a server's machine.
const CONNECT: Duration = Duration::from_secs(10);
/// How often the stream of a server's notifications is opened anew, and the longest pause before that.
const MOST_REOPENED: usize = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The most of what a server says of a failure that is read, in bytes.
const MOST_FAILURE: usize = 1024;
const MOST_REDIRECTS: usize = 5;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

type Error = StreamableHttpError<reqwest::Error>;
pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

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

/// Who sends the requests to one server.
#[derive(Clone, Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    /// `None` where the person configured whom to say they are, or there is no file of tokens.
    bearer: Option<Bearer>,
    url: Url,
    wire: Arc<Wire>,
}

impl Client {
    /// A client that reaches the place's origin and nothing else.
    pub(super) fn new(server: &Server, place: &Place, wire: Arc<Wire>, places: &Places) -> Result<Self, String> {
        install_tls();
        let is_here = is_of_this_machine(&place.url);
        let builder = reqwest::Client::builder()
            .user_agent(concat!("memdir/", env!("CARGO_PKG_VERSION")))
            .https_only(!is_here)
            .referer(false)
            .redirect(to_itself())
            .connect_timeout(CONNECT);
        let builder = if is_here { builder.no_proxy() } else { builder };
        let http = builder.build().map_err(|_| "the certificates of this system cannot be read".to_owned())?;
        let tokens = places.tokens.as_deref().filter(|_| !place.headers.contains_key(&AUTHORIZATION));
        let bearer = tokens.map(|tokens| Bearer::new(tokens, &server.name, &place.url));
        Ok(Self { http, bearer, url: place.url.clone(), wire })
    }

    /// Sends a request with the token that is kept. Where the server refuses that, another one is tried, once: what was refused
    /// was not carried out.
    async fn as_person<T, F>(&self, send: impl Fn(Option<String>) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let token = match &self.bearer {
            Some(bearer) => bearer.token().await?,
            None => None,
        };
        let mut sent = send(token.clone()).await.map_err(without_address);
        let is_refused = matches!(sent, Err(StreamableHttpError::AuthRequired(_)));
        if let (true, Some(bearer), Some(token)) = (is_refused, &self.bearer, token)
            && let Some(fresh) = bearer.replace(&token).await?
        {
            sent = send(Some(fresh)).await.map_err(without_address);
        }
        if let Err(StreamableHttpError::ResponseBodyTooLarge { .. }) = &sent {
            self.wire.end(WireEnd::TooLarge);
        }
        if let (Some(bearer), Err(error)) = (&self.bearer, &sent)
            && let Some(challenge) = error.auth_challenge()
        {
            bearer.note(challenge);
        }
        sent
    }

    /// Sends a message. Where its result is wanted as it came, the answer is read here: rmcp's own client keeps only what it knows.
    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let is_wanted = matches!(
            &message,
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_))
        );
        if !is_wanted {
            return self
                .http
                .post_message_with_response_limits(uri, message, session, token, headers, limits)
                .await
                .map_err(asks_for_login);
        }
        let request = self.request(Method::POST, &uri, session.as_deref(), token, &headers);
        let response = request.json(&message).send().await?;
        self.read(response, session.is_some(), limits).await
    }

    /// Reads the answer to a request whose result is wanted as it came.
    async fn read(
        &self,
        response: Response,
        has_session: bool,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let head = Head::of(&response);
        refuse(&head, response.headers(), &self.url)?;
        match head.status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if has_session => return Err(StreamableHttpError::SessionExpired),
            _ => {}
        }
        if head.status.is_success() && head.is_of(EVENTS) {
            let events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), limits.max_sse_event_size));
            return Ok(StreamableHttpPostResponse::Sse(self.kept(events.boxed()), head.session));
        }
        if head.is_of(JSON) {
            let value: Value = serde_json::from_slice(&read_whole(response, limits.max_json_response_size).await?)?;
            self.wire.keep(&value);
            let message: ServerJsonRpcMessage = serde_json::from_value(value)?;
            let is_answer = head.status.is_success() || matches!(message, JsonRpcMessage::Error(_));
            return match is_answer {
                true => Ok(StreamableHttpPostResponse::Json(message, head.session)),
                false => Err(head.failure()),
            };
        }
        Err(if head.status.is_success() {
            StreamableHttpError::UnexpectedContentType(head.kind)
        } else {
            head.failure()
        })
    }

    /// Opens a stream on which the server speaks.
    async fn get(
        &self,
        uri: &str,
        session: Option<&str>,
        last_event: Option<&str>,
        token: Option<String>,
        headers: &HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<Events, Error> {
        let mut request = self.request(Method::GET, uri, session, token, headers);
        if let Some(last_event) = last_event {
            request = request.header(LAST_EVENT, last_event);
        }
        let response = request.send().await?;
        let head = Head::of(&response);
        refuse(&head, response.headers(), &self.url)?;
        match head.status {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(head.failure()),
            _ if !head.is_of(EVENTS) => Err(StreamableHttpError::UnexpectedContentType(head.kind)),
            _ => Ok(SseStream::from_bytes_stream(bounded(response.bytes_stream(), most)).boxed()),
        }
    }

    fn request(
        &self,
        method: Method,
        uri: &str,
        session: Option<&str>,
        token: Option<String>,
        headers: &HashMap<HeaderName, HeaderValue>,
    ) -> RequestBuilder {
        let mut request = self.http.request(method, uri).header(ACCEPT, [EVENTS, JSON].join(", "));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        request
    }

    /// The events of a stream, each result among them left in the wire as it came.
    fn kept(&self, events: Events) -> Events {
        let wire = Arc::clone(&self.wire);
        let keep = move |event: &Result<Sse, SseError>| match event {
            Ok(event) => {
                if let Some(value) = event.data.as_deref().and_then(|data| serde_json::from_str(data).ok()) {
                    wire.keep(&value);
                }
            }
            Err(error) if is_too_long(error) => wire.end(WireEnd::TooLarge),
            Err(_) => {}
        };
        events.inspect(keep).boxed()
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post_message_with_response_limits(uri, message, session, token, headers, limits()).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.wire.sends(&message);
        self.as_person(|token| {
            self.post(Arc::clone(&uri), message.clone(), session.clone(), token, headers.clone(), limits)
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Error> {
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, MOST_MESSAGE).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<Events, Error> {
        let get = |token| self.get(&uri, session.as_deref(), last_event.as_deref(), token, &headers, most);
        Ok(self.kept(self.as_person(get).await?))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let delete = |token| self.http.delete_session(Arc::clone(&uri), Arc::clone(&session), token, headers.clone());
        self.as_person(delete).await
    }
}

/// Follows a redirect to the same origin that keeps method and body, and no other: what the person configured goes nowhere else.
fn to_itself() -> Policy {
    Policy::custom(|attempt| {
        let is_kept = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let is_same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if is_kept && is_same && attempt.previous().len() <= MOST_REDIRECTS {
            attempt.follow()
        } else {
            attempt.error("the server sends requests on to where they must not go")
        }
    })
}

/// What an answer says before its body.
struct Head {
    status: StatusCode,
    kind: Option<String>,
    session: Option<String>,
    retry_after: Option<String>,
}

impl Head {
    fn of(response: &Response) -> Self {
        let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            status: response.status(),
            kind: text(CONTENT_TYPE.as_str()),
            session: text(SESSION),
            retry_after: text(RETRY_AFTER.as_str()),
        }
    }

    fn is_of(&self, media: &str) -> bool {
        let essence = self.kind.as_deref().and_then(|kind| kind.split(';').next()).unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(media)
    }

    fn failure(self) -> Error {
        HttpStatusError::new(self.status.as_u16(), self.retry_after).into()
    }
}

/// Refuses an answer that asks who the person is, or wants them to be granted more.
fn refuse(head: &Head, headers: &HeaderMap, url: &Url) -> Result<(), Error> {
    let challenge = headers.get(WWW_AUTHENTICATE).and_then(|challenge| challenge.to_str().ok());
    match (head.status, challenge) {
        (StatusCode::UNAUTHORIZED, challenge) => {
            let challenge = challenge.unwrap_or(NO_CHALLENGE).to_owned();
            Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            let scope = WWWAuthenticateParams::parse(challenge, url).scope;
            Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge.to_owned(), scope)))
        }
        _ => Ok(()),
    }
}

/// What a server that asks for a login without a word is taken to have said.
const NO_CHALLENGE: &str = "Bearer";

/// rmcp tells a 401 without a challenge from one with it only by its words.
fn asks_for_login(error: Error) -> Error {
    match error {
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
            StreamableHttpError::AuthRequired(AuthRequiredError::new(NO_CHALLENGE.to_owned()))
        }
        error => error,
    }
}

/// Whether a request has surely not been read by the server: nothing was connected to, or no token was there to be shown.
pub(super) fn never_arrived(error: &(dyn std::error::Error + 'static)) -> bool {
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(error)) => error.is_connect() || error.is_builder(),
        Some(StreamableHttpError::Auth(_)) => true,
        _ => false,
    }
}

/// An error without the address, which may hold a key.
fn without_address(error: Error) -> Error {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        error => error,
    }
}

async fn read_whole(response: Response, most: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if body.len() + chunk.len() > most {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: most });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Why a stream of events has failed.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    /// An event was longer than what is taken.
    #[error("an event is too long")]
    TooLong,
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[source] reqwest::Error),
}

/// Whether a stream of events has failed since one was too long.
pub(super) fn is_too_long(error: &SseError) -> bool {
    matches!(error, SseError::Body(error) if matches!(error.downcast_ref(), Some(StreamError::TooLong)))
}

/// A stream that fails once more than `most` bytes have come without an empty line, which ends an event.
fn bounded<B: AsRef<[u8]>>(
    bytes: impl Stream<Item = Result<B, reqwest::Error>> + Send + 'static,
    most: usize,
) -> impl Stream<Item = Result<B, StreamError>> + Send + 'static {
    let (mut event, mut line) = (0_usize, 0_usize);
    bytes.map(move |chunk| {
        let chunk = chunk.map_err(|error| StreamError::Broken(error.without_url()))?;
        for byte in chunk.as_ref() {
            match byte {
                b'\r' => {}
                b'\n' if line == 0 => event = 0,
                b'\n' => line = 0,
                _ => (event, line) = (event + 1, line + 1),
            }
            if event > most {
                return Err(StreamError::TooLong);
            }
        }
        Ok(chunk)
    })
}

#[cfg(test)]
pub(crate) mod tests;
