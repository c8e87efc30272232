//! What an address or a form sends, read: [`Path`], [`Query`] and [`Form`]. What cannot be read is answered with a page that says so.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use memdir_core::report::{Code, Failure};
use serde::de::DeserializeOwned;

use crate::door::Visitor;
use crate::site::Site;
use crate::text;

/// So much of what the reader says is shown.
const MOST_REASON: usize = 200;

/// As axum's, with a page for what cannot be read.
pub(crate) struct Path<T>(pub(crate) T);

/// As axum's, with a page for what cannot be read.
pub(crate) struct Query<T>(pub(crate) T);

/// As axum's, with a page for what cannot be read.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Site>> for Path<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        match axum::extract::Path::from_request_parts(parts, site).await {
            Ok(axum::extract::Path(read)) => Ok(Self(read)),
            Err(error) => Err(unread(&visitor(parts, site).await?, site, &error.body_text())),
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Site>> for Query<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        match axum::extract::Query::from_request_parts(parts, site).await {
            Ok(axum::extract::Query(read)) => Ok(Self(read)),
            Err(error) => Err(unread(&visitor(parts, site).await?, site, &error.body_text())),
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequest<Arc<Site>> for Form<T> {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = visitor(&mut parts, site).await?;
        match axum::extract::Form::from_request(Request::from_parts(parts, body), site).await {
            Ok(axum::extract::Form(read)) => Ok(Self(read)),
            Err(error) => Err(unread(&visitor, site, &error.body_text())),
        }
    }
}

async fn visitor(parts: &mut Parts, site: &Arc<Site>) -> Result<Visitor, Response> {
    Visitor::from_request_parts(parts, site).await.map_err(IntoResponse::into_response)
}

fn unread(visitor: &Visitor, site: &Site, reason: &str) -> Response {
    let reason = text::shortened(reason, MOST_REASON);
    let failure = Failure::new(Code::Usage, format!("what this address or form asks cannot be read: {reason}"));
    site.failed(visitor, &failure.with_hint("nothing was changed: use the links and forms of the pages"))
}
