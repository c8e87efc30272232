//! What is sent back: [`Refusal`], and [`Reply`], the body of an answer that ends when it has to.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use rmcp::ErrorData;
use rmcp::model::JsonRpcError;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, interval_at};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::sender::Flight;
use crate::verbatim::Verbatim;

/// How often it is looked whether a client that has a stream open is still registered.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// A request that is not answered. It is told no more than the number says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Refusal {
    /// Called by a foreign name, or from a foreign page.
    Name,
    /// A method that is none of the protocol's.
    Method,
    /// Without the token of a client.
    Token,
    /// Too many requests of this client are open.
    Busy,
    /// Too many requests of this client have come.
    Rate,
    /// A body that is no JSON by its own account.
    Type,
    /// A body that is too large.
    Size,
    /// A body that takes too long.
    Slow,
    /// A body that broke off.
    Broken,
    /// A request with the id of one that is not answered yet.
    Twice,
    /// A session that is over.
    Session,
    /// Something went wrong here.
    Fault,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Self::Name => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Busy | Self::Rate => StatusCode::TOO_MANY_REQUESTS,
            Self::Type => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Size => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken | Self::Twice => StatusCode::BAD_REQUEST,
            Self::Session => StatusCode::NOT_FOUND,
            Self::Fault => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn header(self) -> Option<(HeaderName, &'static str)> {
        match self {
            Self::Method => Some((ALLOW, "GET, POST, DELETE")),
            Self::Token => Some((WWW_AUTHENTICATE, "Bearer")),
            Self::Twice => Some((CONTENT_TYPE, "application/json")),
            _ => None,
        }
    }

    fn body(self) -> Body {
        let error = match self {
            Self::Twice => ErrorData::invalid_request("a request with this `id` is not answered yet", None),
            _ => return Body::empty(),
        };
        serde_json::to_vec(&JsonRpcError::new(None, error)).map_or_else(|_| Body::empty(), Body::from)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status(), self.header().map(|header| [header]), self.body()).into_response()
    }
}

/// The body of an answer, for as long as it may go on.
pub(super) struct Reply {
    pub(super) body: Body,
    /// Ends a stream that has no end of its own.
    pub(super) ends: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Says whether the client is still registered.
    pub(super) is_known: Box<dyn Fn() -> bool + Send>,
    /// What is sent in place of the result that the library gives.
    pub(super) verbatim: Verbatim,
    look: Interval,
    /// Held until the answer is sent.
    _held: RequestPlaces,
}

/// The place of a request among those of its client, and among those of its session.
pub(super) type RequestPlaces = (OwnedSemaphorePermit, Option<Arc<Flight>>);

impl Reply {
    pub(super) fn new(
        body: Body,
        verbatim: Verbatim,
        held: RequestPlaces,
        is_known: impl Fn() -> bool + Send + 'static,
    ) -> Self {
        let look = interval_at(Instant::now() + LOOK_AGAIN, LOOK_AGAIN);
        Self { body, ends: None, is_known: Box::new(is_known), verbatim, look, _held: held }
    }

    /// Ends when `stop` is cancelled, wherever it is.
    pub(super) fn until(self, stop: &CancellationToken) -> Self {
        Self { ends: Some(Box::pin(stop.clone().cancelled_owned())), ..self }
    }
}

impl HttpBody for Reply {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let is_over = this.ends.as_mut().is_some_and(|ends| ends.as_mut().poll(cx).is_ready());
        // As many looks as are due, so that the next one wakes this task.
        while this.look.poll_tick(cx).is_ready() {
            if !(this.is_known)() {
                return Poll::Ready(None);
            }
        }
        if is_over {
            return Poll::Ready(None);
        }
        let frame = Pin::new(&mut this.body).poll_frame(cx);
        frame.map_ok(|frame| match frame.data_ref().and_then(|piece| this.verbatim.in_place(piece)) {
            Some(whole) => Frame::data(whole),
            None => frame,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.verbatim.is_set() { SizeHint::default() } else { self.body.size_hint() }
    }
}
