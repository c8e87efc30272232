//! [`Refusal`]: a request that gets no page of the memory, and the headers that every answer has.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

/// Nothing is loaded but the stylesheet and the script of the program, pictures of the memory, and the empty icon; nothing is sent or
/// shown elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
];

/// Puts the headers on an answer that every answer has. Only assets may be kept by the browser; a picture has a policy of its own,
/// which lets nothing happen.
pub(crate) fn headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// A request that is not answered with a page of the memory. As an answer it is made a small page by the door.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// Called by a foreign name, or from a foreign page.
    Name,
    /// From another page, in the background.
    Page,
    /// Without a cookie of a browser that was let in.
    Stranger,
    /// With a code that was used or is none.
    Code,
    /// A change without the token of its session.
    Token,
    /// A method that no page has.
    Method,
    /// A body that is no form.
    Form,
    /// A form that is too large.
    Size,
    /// A form that takes too long.
    Slow,
    /// An address that leads to no page.
    Nowhere,
    /// The memory's folder is not where it was.
    Moved,
    /// The program is ending.
    Ending,
    /// Something went wrong here.
    Fault,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Name | Self::Page | Self::Code | Self::Token => StatusCode::FORBIDDEN,
            Self::Stranger => StatusCode::UNAUTHORIZED,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Form => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Size => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Nowhere => StatusCode::NOT_FOUND,
            Self::Moved => StatusCode::GONE,
            Self::Ending => StatusCode::SERVICE_UNAVAILABLE,
            Self::Fault => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What happened, and what the person can do.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Name => (
                "This address is not one of memdir's",
                "Open the address that `memdir serve` has printed. A request under another name, or from another page, is not answered.",
            ),
            Self::Page => (
                "Another page asked for this",
                "memdir only answers its own pages. If you wanted this page, type its address, or go to the start.",
            ),
            Self::Stranger => (
                "This browser has not been let in",
                "Press Enter where `memdir serve` runs: it prints a new address that lets one browser in. If you have just opened such an address, try again.",
            ),
            Self::Code => (
                "This address works no more",
                "Each address that `memdir serve` prints lets one browser in, once, within ten minutes. A browser that came in by this one is out now. Press Enter where `memdir serve` runs for a new one.",
            ),
            Self::Token => (
                "Nothing was changed",
                "The form came from a page of an earlier start, or from elsewhere. Go back, load the page again, and send it once more; your text is still in the form.",
            ),
            Self::Method => ("This cannot be done here", "Use the links and forms of the pages."),
            Self::Form => ("Nothing was changed", "A change has to be sent by a form of the pages."),
            Self::Size => ("Nothing was changed", "The form is too large. Go back and send less at once."),
            Self::Slow => ("Nothing was changed", "The form took too long to arrive. Go back and send it once more."),
            Self::Nowhere => ("There is no such page", "Go to the start, or look for it under Search."),
            Self::Moved => (
                "The folder of this memory was moved, deleted or replaced",
                "Nothing of it is shown, and nothing was changed. Start `memdir serve` again, or put the folder back. What you have typed is still in the form: go back and copy it.",
            ),
            Self::Ending => ("memdir is ending", "Start `memdir serve` again."),
            Self::Fault => (
                "Something went wrong inside memdir",
                "The page goes on working, and no note was half changed. Please report what you did.",
            ),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
