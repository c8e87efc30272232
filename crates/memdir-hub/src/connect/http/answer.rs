//! What servers answer over HTTP, and what is made of it before rmcp sees it.

use futures_util::stream::{Stream, StreamExt};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use reqwest::Response;
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpError,
};
use url::Url;

use super::SESSION;

pub(super) const EVENTS: &str = "text/event-stream";
pub(super) const JSON: &str = "application/json";
/// What a server that asks for a login without a word is taken to have said.
const NO_CHALLENGE: &str = "Bearer";

pub(super) type Error = StreamableHttpError<reqwest::Error>;

/// What an answer says before its body.
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) kind: Option<String>,
    pub(super) session: Option<String>,
    retry_after: Option<String>,
}

impl Head {
    pub(super) fn of(response: &Response) -> Self {
        let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            status: response.status(),
            kind: text(CONTENT_TYPE.as_str()),
            session: text(SESSION),
            retry_after: text(RETRY_AFTER.as_str()),
        }
    }

    pub(super) fn is_of(&self, media: &str) -> bool {
        let essence = self.kind.as_deref().and_then(|kind| kind.split(';').next()).unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(media)
    }

    pub(super) fn failure(self) -> Error {
        HttpStatusError::new(self.status.as_u16(), self.retry_after).into()
    }
}

/// Refuses an answer that asks who the person is, or wants them to be granted more.
pub(super) fn refuse(head: &Head, headers: &HeaderMap, url: &Url) -> Result<(), Error> {
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

/// rmcp tells a 401 without a challenge from one with it only by its words.
pub(super) fn asks_for_login(error: Error) -> Error {
    match error {
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
            StreamableHttpError::AuthRequired(AuthRequiredError::new(NO_CHALLENGE.to_owned()))
        }
        error => error,
    }
}

/// The error where the server refuses what the person configured.
pub(super) fn not_taken() -> Error {
    StreamableHttpError::UnexpectedServerResponse("it does not take the `authorization` that is configured".into())
}

/// Whether a request has surely not been read by the server: nothing was connected to, or no token was there to be shown.
pub(in crate::connect) fn never_arrived(error: &(dyn std::error::Error + 'static)) -> bool {
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(error)) => error.is_connect() || error.is_builder(),
        Some(StreamableHttpError::Auth(_)) => true,
        _ => false,
    }
}

/// What stands behind an error of this transport: why its client could not send, which rmcp does not tell as a cause.
pub(in crate::connect) fn behind<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> &'e (dyn std::error::Error + 'static) {
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(error)) => error,
        _ => error,
    }
}

/// An error without the address, which may hold a key, and without words of the server, which may be an instruction to a model.
pub(super) fn purged(error: Error) -> Error {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let status = text.strip_prefix("HTTP ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
            match status {
                Some(status) => HttpStatusError::new(status, None).into(),
                None => StreamableHttpError::UnexpectedServerResponse("it is no message of the protocol".into()),
            }
        }
        StreamableHttpError::UnexpectedContentType(_) => StreamableHttpError::UnexpectedContentType(None),
        StreamableHttpError::Deserialize(_) => {
            StreamableHttpError::UnexpectedServerResponse("it is no message of the protocol".into())
        }
        StreamableHttpError::ReinitializationFailed(_) => {
            StreamableHttpError::UnexpectedServerResponse("no other session can be opened".into())
        }
        error => error,
    }
}

pub(super) async fn read_whole(response: Response, most: usize) -> Result<Vec<u8>, Error> {
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
pub(super) enum StreamError {
    /// An event was longer than what is taken.
    #[error("an event is too long")]
    TooLong,
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[source] reqwest::Error),
}

/// Whether a stream of events has failed since one was too long.
pub(in crate::connect) fn is_too_long(error: &SseError) -> bool {
    matches!(error, SseError::Body(error) if matches!(error.downcast_ref(), Some(StreamError::TooLong)))
}

/// A stream that fails once more than `most` bytes have come without an empty line, which ends an event.
pub(super) fn bounded<B: AsRef<[u8]>>(
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
