//! [`Client`]: who sends the requests to one server, whichever kind of HTTP it speaks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt};
use http::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use url::Url;

use super::answer::{
    EVENTS, Error, Head, JSON, asks_for_login, bounded, is_too_long, not_taken, purged, read_whole, refuse,
};
use super::{LAST_EVENT, Place, SESSION, install_tls, is_of_this_machine, limits};
use crate::auth::Bearer;
use crate::connect::Places;
use crate::wire::{MOST_MESSAGE, Wire, WireEnd};
use memdir_core::json::without_halves;
use memdir_tools::Server;

/// How long it may take to reach a server's machine.
const CONNECT: Duration = Duration::from_secs(10);
const MOST_REDIRECTS: usize = 5;

pub(in crate::connect) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Who sends the requests to one server.
#[derive(Clone, Debug)]
pub(in crate::connect) struct Client {
    http: reqwest::Client,
    /// `None` where the person configured whom to say they are, or there is no file of tokens.
    bearer: Option<Bearer>,
    url: Url,
    wire: Arc<Wire>,
}

impl Client {
    /// A client that reaches the place's origin and nothing else.
    pub(in crate::connect) fn new(
        server: &Server,
        place: &Place,
        wire: Arc<Wire>,
        places: &Places,
    ) -> Result<Self, String> {
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
        let tokens = places.tokens.as_ref().filter(|_| !place.headers.contains_key(&AUTHORIZATION));
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
        let mut sent = send(token.clone()).await.map_err(purged);
        let is_refused = matches!(sent, Err(StreamableHttpError::AuthRequired(_)));
        if let (true, Some(bearer), Some(token)) = (is_refused, &self.bearer, token)
            && let Some(fresh) = bearer.replace(&token).await?
        {
            sent = send(Some(fresh)).await.map_err(purged);
        }
        if let Err(StreamableHttpError::ResponseBodyTooLarge { .. }) = &sent {
            self.wire.end(WireEnd::TooLarge);
        }
        match (&self.bearer, sent) {
            (Some(bearer), Err(error)) => {
                if let Some(challenge) = error.auth_challenge() {
                    bearer.note(challenge).await;
                }
                Err(error)
            }
            // A login would change nothing.
            (None, Err(error)) if error.auth_challenge().is_some() => Err(not_taken()),
            (_, sent) => sent,
        }
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
            let body = read_whole(response, limits.max_json_response_size).await?;
            let value: Value = serde_json::from_slice(&without_halves(&body))?;
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

    /// The events of a stream without halves of characters, each result among them left in the wire as it came.
    fn kept(&self, events: Events) -> Events {
        let wire = Arc::clone(&self.wire);
        let keep = move |event: &mut Result<Sse, SseError>| match event {
            Ok(event) => {
                event.data = event.data.take().map(whole);
                if let Some(value) = event.data.as_deref().and_then(|data| serde_json::from_str(data).ok()) {
                    wire.keep(&value);
                }
            }
            Err(error) if is_too_long(error) => wire.end(WireEnd::TooLarge),
            Err(_) => {}
        };
        let kept = move |mut event| {
            keep(&mut event);
            event
        };
        events.map(kept).boxed()
    }
}

fn whole(json: String) -> String {
    match without_halves(json.as_bytes()) {
        Cow::Borrowed(_) => json,
        Cow::Owned(whole) => String::from_utf8_lossy(&whole).into_owned(),
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
