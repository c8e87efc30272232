//! [`Assets`]: the one stylesheet and the one script, served from the program under names that change with their content.

use axum::extract::State;
use axum::http::Uri;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use memdir_core::digest::Digest;

use crate::refusal::Refusal;

const STYLE: &str = include_str!("app.css");
const SCRIPT: &str = include_str!("app.js");

/// What is below `/assets/`. Anybody may have it: nothing of a memory is in it, and pages that let nobody in look like the rest.
pub(crate) const FOLDER: &str = "/assets/";

/// How many digits of the digest are in a name.
const DIGITS: usize = 12;

/// Where the assets are.
#[derive(Clone, Debug)]
pub(crate) struct Assets {
    /// The address of the stylesheet.
    pub(crate) style: String,
    /// The address of the script.
    pub(crate) script: String,
}

impl Assets {
    pub(crate) fn new() -> Self {
        let address = |kind: &str, content: &str| {
            let digest: String =
                Digest::of(content.as_bytes()).to_string().chars().filter(char::is_ascii_hexdigit).collect();
            format!("{FOLDER}app-{}.{kind}", digest.get(..DIGITS).unwrap_or(&digest))
        };
        Self { style: address("css", STYLE), script: address("js", SCRIPT) }
    }
}

/// Answers with an asset.
pub(crate) async fn show(State(assets): State<Assets>, uri: Uri) -> Response {
    let (kind, content) = match uri.path() {
        path if path == assets.style => ("text/css; charset=utf-8", STYLE),
        path if path == assets.script => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return Refusal::Nowhere.into_response(),
    };
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=31536000, immutable")], content).into_response()
}
