//! What stands before every page: which requests are the person's own.
//!
//! In this order each request has to show a name of this machine that it calls, a page of ours that it comes from, the cookie of a browser
//! that was let in, and where it changes something the token that is bound to that cookie.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use memdir_server::{OpenConnection, catch_panic_async, only};
use tokio::time::timeout;

use crate::door::{ENTRANCE, FETCH_SITE, Session, TOKEN, Visitor, header};
use crate::refusal::{self, Refusal};
use crate::site::Site;
use crate::{assets, layout};

const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// The same as a header, for the script.
const TOKEN_HEADER: HeaderName = HeaderName::from_static("memdir-token");
/// How many bytes a form may have: a note of the default limit in which every byte is encoded, and something beside it.
const FORM_BYTES: usize = 8 << 20;
/// How long a form may take.
const FORM_TIME: Duration = Duration::from_secs(30);

/// Puts the door in front of the pages.
pub(crate) fn guarded(pages: Router<Arc<Site>>, site: &Arc<Site>) -> Router {
    let pages = pages.layer(DefaultBodyLimit::disable());
    pages.layer(from_fn_with_state(Arc::clone(site), guard)).with_state(Arc::clone(site))
}

async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&site, request).await {
        Ok(Admitted::In(request)) => {
            catch_panic_async(next.run(request)).await.unwrap_or_else(|_| Refusal::Fault.into_response())
        }
        Ok(Admitted::Answered(response)) => response,
        Err(refusal) => {
            tracing::info!(?refusal, "refused a request");
            refusal.into_response()
        }
    };
    if let Some(refusal) = response.extensions().get::<Refusal>().copied() {
        let page = layout::refused(&site.assets, refusal);
        let (status, mut parts) = (response.status(), response.into_parts().0);
        parts.headers.remove(CONTENT_TYPE);
        response = (status, parts.headers, page).into_response();
    }
    refusal::headers(response.headers_mut());
    response
}

/// A request that was looked at.
enum Admitted {
    In(Request),
    Answered(Response),
}

async fn admit(site: &Site, mut request: Request) -> Result<Admitted, Refusal> {
    let door = &site.door;
    if !door.is_own_name(request.uri(), request.headers()) {
        return Err(Refusal::Name);
    }
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading && request.method() != Method::POST {
        return Err(Refusal::Method);
    }
    let path = request.uri().path();
    if path.starts_with(assets::FOLDER) {
        return Ok(Admitted::In(request));
    }
    let session = door.session(request.headers());
    if path == ENTRANCE {
        return door.answer_entrance(&request, session.as_deref()).map(Admitted::Answered);
    }
    let is_own = if is_reading { may_read(request.headers()) } else { may_change(request.headers()) };
    if !is_own {
        return Err(Refusal::Page);
    }
    let session = session.ok_or(Refusal::Stranger)?;
    if let Some(connection) = request.extensions().get::<Arc<OpenConnection>>() {
        connection.admit();
    }
    if !is_reading {
        request = with_token(request, &session).await?;
    }
    let visitor = Visitor::of(session, &request);
    request.extensions_mut().insert(visitor);
    Ok(Admitted::In(request))
}

/// Whether a page of ours asks, the person by hand, or a link elsewhere that was followed.
fn may_read(headers: &HeaderMap) -> bool {
    let is_followed =
        || header(headers, FETCH_MODE) == Some("navigate") && header(headers, FETCH_DEST) == Some("document");
    match only(headers, FETCH_SITE) {
        None => true,
        Some(site) => matches!(site, Some("same-origin" | "none")) || is_followed(),
    }
}

/// Whether a page of ours sends a change: by the word of the browser, else by the origin that it names.
fn may_change(headers: &HeaderMap) -> bool {
    let is_own_origin = || {
        let host = header(headers, HOST).unwrap_or_default();
        header(headers, ORIGIN).and_then(|origin| origin.strip_prefix("http://")) == Some(host)
    };
    match only(headers, FETCH_SITE) {
        Some(site) => site == Some("same-origin"),
        None => is_own_origin(),
    }
}

/// Reads the form of a change and looks for the token of its session, and nothing else.
async fn with_token(request: Request, session: &Session) -> Result<Request, Refusal> {
    let (parts, body) = request.into_parts();
    let is_form = header(&parts.headers, CONTENT_TYPE).is_some_and(|kind| {
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    });
    if !is_form {
        return Err(Refusal::Form);
    }
    let body: Bytes =
        timeout(FORM_TIME, to_bytes(body, FORM_BYTES)).await.map_err(|_| Refusal::Slow)?.map_err(|_| Refusal::Size)?;
    let in_form = form_urlencoded::parse(&body).find(|(name, _)| name == TOKEN).map(|(_, value)| value.into_owned());
    let shown = in_form.or_else(|| header(&parts.headers, TOKEN_HEADER).map(str::to_owned));
    if !shown.is_some_and(|shown| session.has_token(&shown)) {
        return Err(Refusal::Token);
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}
