//! Pictures that lie in the memory: the file as it is, for the pages that show it, and a page of its own.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::html;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_server::Lane;

use super::{around, notes, shown};
use crate::door::Visitor;
use crate::href;
use crate::layout::{Page, Section};
use crate::sent::Path;
use crate::site::{Site, unfinished};

/// A larger one is not shown.
const MOST_BYTES: u64 = 16 << 20;
/// Even if the file were something else: nothing in it runs or loads anything, and it is a stranger to the pages.
const POLICY: &str = "default-src 'none'; sandbox";

/// What a file is by its first bytes, whatever it is called.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Answers with the bytes of a picture.
pub(crate) async fn bytes(State(site): State<Arc<Site>>, visitor: Visitor, Path(path): Path<String>) -> Response {
    let reading = Arc::clone(&site);
    let read = site.served.run(Lane::Read, move || read(&reading, &path)).await;
    match read {
        Ok(Ok((kind, bytes))) => ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, POLICY)], bytes).into_response(),
        Ok(Err(failure)) => site.failed(&visitor, &failure),
        Err(error) => unfinished(error).into_response(),
    }
}

fn read(site: &Site, path: &str) -> Result<(&'static str, Vec<u8>), Failure> {
    let path = shown::named(path)?;
    let none = || {
        let message = format!("`{path}` is not a PNG, JPEG, GIF or WebP file");
        Failure::new(Code::UnsupportedFile, message).with_hint("open it yourself")
    };
    if !href::is_picture(&path) {
        return Err(none());
    }
    let bytes = site.engine().attachment(&path, MOST_BYTES)?;
    Ok((kind(&bytes).ok_or_else(none)?, bytes))
}

/// The page of a picture; `unsupported_file` for a file that is none.
pub(super) fn page(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Result<Page, Failure> {
    read(site, path.as_str())?;
    let around = site.engine().surroundings(path, 0)?;
    let main = html! {
        (notes::trail(path))
        h1 { (path.name()) }
        div .sides {
            div .text { p { img src=(href::at("pictures", path)) alt=(path.name()); } }
            aside #beside .beside aria-label="About this picture" { (around::backlinks(site, visitor, path, &around)) }
        }
    };
    Ok(Page::new(path.name(), Section::Notes, main))
}
