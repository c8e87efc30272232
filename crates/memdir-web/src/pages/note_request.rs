//! A request about one note, whose path is the rest of the address.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;

use super::shown;
use crate::door::Visitor;
use crate::layout::Page;
use crate::sent::Path;
use crate::site::{Site, Then};

/// Who asks for a page about which note or folder. The path is as the address has it until the page is made, so that a wrong one
/// is answered with a page that says so.
pub(crate) struct NoteRequest {
    site: Arc<Site>,
    visitor: Visitor,
    path: String,
}

impl FromRequestParts<Arc<Site>> for NoteRequest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let visitor = Visitor::from_request_parts(parts, site).await.map_err(IntoResponse::into_response)?;
        let Path(path) = Path::from_request_parts(parts, site).await?;
        Ok(Self { site: Arc::clone(site), visitor, path })
    }
}

impl NoteRequest {
    /// As [`Site::show`].
    pub(crate) async fn show(
        self,
        make: impl FnOnce(&Site, &Visitor, &MemoryPath) -> Result<Page, Failure> + Send + 'static,
    ) -> Response {
        let Self { site, visitor, path } = self;
        site.show(&visitor, move |site, visitor| make(site, visitor, &shown::named(&path)?)).await
    }

    /// As [`Site::change`].
    pub(crate) async fn change(
        self,
        make: impl FnOnce(&Site, &Visitor, &MemoryPath) -> Result<Then, Failure> + Send + 'static,
    ) -> Response {
        let Self { site, visitor, path } = self;
        site.change(&visitor, move |site, visitor| make(site, visitor, &shown::named(&path)?)).await
    }
}
