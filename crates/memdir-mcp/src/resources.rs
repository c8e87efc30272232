//! The notes as resources: `memdir:///path.md`, listed and read as the client's grant lets it.

use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::service::{self, Service};
use super::{Client, app, subscriptions, tools};
use memdir_core::path::{MAX_PATH_BYTES, MemoryPath};
use memdir_core::report::{Code, Failure};
use memdir_dialect as dialect;
use memdir_engine::ListedEntry;
use memdir_server::Lane;

/// What every address begins with. No host: there is one memory.
const SCHEME: &str = "memdir:///";
/// How the address of a note is made of its path.
pub(super) const TEMPLATE: &str = "memdir:///{+path}";
/// What notes are.
const MARKDOWN: &str = "text/markdown";
/// How many notes are listed at once.
const PAGE: usize = 500;
/// What stands for itself in the path of an address that we make.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a note.
pub(super) fn address(path: &MemoryPath) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path.as_str(), ESCAPED))
}

/// The path that an address names.
///
/// Only what says a path as it is, is taken: no host, query or fragment, no escaped slash, no component that would be
/// dropped.
pub(super) fn path(address: &str) -> Result<MemoryPath, ErrorData> {
    let said = address.strip_prefix(SCHEME).filter(|said| said.len() <= 3 * MAX_PATH_BYTES && is_plain(said));
    let decoded = said.and_then(|said| percent_decode_str(said).decode_utf8().ok());
    let path = decoded.and_then(|decoded| MemoryPath::parse(&decoded).ok().filter(|path| path.as_str() == decoded));
    path.ok_or_else(|| {
        let message = "no note has this address; send one such as `memdir:///entities/ada.md`, with `%20` for a blank";
        ErrorData::resource_not_found(message, None)
    })
}

/// Whether the path of an address has nothing in it that would not mean itself once it is decoded.
fn is_plain(said: &str) -> bool {
    let mut rest = said.bytes();
    while let Some(byte) = rest.next() {
        let is_fine = match byte {
            b'%' => match (rest.next(), rest.next()) {
                // A slash is no part of a name.
                (Some(b'2'), Some(b'f' | b'F')) => false,
                (Some(one), Some(two)) => one.is_ascii_hexdigit() && two.is_ascii_hexdigit(),
                _ => false,
            },
            b'?' | b'#' | b'\\' => false,
            _ => byte > b' ' && byte != 0x7f,
        };
        if !is_fine {
            return false;
        }
    }
    true
}

/// Lists a page of the notes that a client may see.
pub(super) async fn list(
    service: &Service,
    request: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let client = service.admit(context)?;
    let cursor = request.and_then(|request| request.cursor);
    // It is the last note of the page before.
    let is_note = |cursor: &String| MemoryPath::parse(cursor).is_ok_and(|path| path.is_note());
    if !cursor.as_ref().is_none_or(is_note) {
        return Err(service::wrong_cursor());
    }
    // Whoever listens says so by itself in the newest version.
    let is_old = context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    if is_old {
        subscriptions::hear_of_lists(service, context);
    }
    let (server, caller) = (Arc::clone(&service.server), tools::caller(service, &client, &context.id));
    let list = move || {
        if is_old {
            server.notices.know_lists(&server.engine);
        }
        server.engine.notes(&caller, cursor.as_deref(), PAGE)
    };
    let listed = service.work(Lane::Read, context, list).await?;
    let (notes, next) = listed.map_err(|failure| refused(&failure))?;
    let mut page = ListResourcesResult::with_all_items(notes.iter().map(resource).collect());
    page.next_cursor = next;
    Ok(page)
}

fn resource(note: &ListedEntry) -> Resource {
    Resource::new(address(&note.path), note.path.as_str()).with_mime_type(MARKDOWN).with_size(note.size)
}

/// How addresses are made.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "note")
        .with_title("A note of the memory")
        .with_description("A Markdown note by its path, such as `user.md` or `entities/jane_doe.md`.")
        .with_mime_type(MARKDOWN);
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The action by which a resource is read.
const READ: &str = "read_file";

/// Reads a note as `read_file` does: it has to be allowed, is noted in the audit, and the conversation has seen it.
pub(super) async fn read(
    service: &Service,
    request: ReadResourceRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let client: Client = service.admit(context)?;
    if let Some(card) = app::card(&request.uri, context) {
        return Ok(card);
    }
    let path = path(&request.uri)?;
    let arguments = Map::from_iter([("path".to_owned(), Value::from(path.as_str()))]);
    let parsed = dialect::parse_tool_call(READ, arguments);
    let frame = parsed.frame.clone();
    let mut report = tools::run(service, &client, parsed, context).await?;
    tools::speak_of_offered(&service.server, &client, READ, &mut report);
    if let Some(Err(failure)) = report.actions.first().map(|outcome| &outcome.result) {
        return Err(refused(failure));
    }
    let text = dialect::answer_tool_call(&frame, &report).text;
    let contents = ResourceContents::text(text, request.uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Why there is no answer. That a note is not there and that it cannot be one are the same to the protocol.
fn refused(failure: &Failure) -> ErrorData {
    let data = Some(json!({"code": failure.code, "hint": failure.hint}));
    let message = failure.message.clone();
    match failure.code {
        Code::NotFound | Code::Denied | Code::IsADirectory | Code::OutsideMemory | Code::UnsupportedFile => {
            ErrorData::resource_not_found(message, data)
        }
        Code::Io | Code::Internal | Code::Damaged | Code::Busy | Code::DiskFull => {
            ErrorData::internal_error(message, data)
        }
        _ => ErrorData::invalid_params(message, data),
    }
}

/// That a note is outside of what the client was granted, whether it is there or not.
pub(super) fn not_granted() -> ErrorData {
    ErrorData::resource_not_found("this client was not granted to read there", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<&str>) {
        assert_eq!(path(written).ok().as_ref().map(MemoryPath::as_str), expected, "{written}");
    }

    #[test]
    fn an_address_names_one_path_or_none() {
        check("memdir:///user.md", Some("user.md"));
        check("memdir:///a%20b/J%C3%A4ger.md", Some("a b/Jäger.md"));
        check("memdir:///a(1)+b&c=d;e@f:g!.md", Some("a(1)+b&c=d;e@f:g!.md"));
        check("memdir:///Jäger.md", Some("Jäger.md"));
        check("memdir:///100%25.md", Some("100%.md"));
        for other in [
            "",
            "memdir://",
            "memdir:///",
            "memdir://user.md",
            "memdir://host/user.md",
            "MEMDIR:///user.md",
            "file:///user.md",
            "memdir:////user.md",
            "memdir:///a//b.md",
            "memdir:///./a.md",
            "memdir:///a/../b.md",
            "memdir:///%2e%2e/b.md",
            "memdir:///a/%2E%2E/b.md",
            "memdir:///a%2Fb.md",
            "memdir:///a%2fb.md",
            "memdir:///.memdir/x.md",
            "memdir:///%2ememdir/x.md",
            "memdir:///a.md?x",
            "memdir:///a.md#x",
            "memdir:///a.md ",
            "memdir:///%20a.md",
            "memdir:///a\\b.md",
            "memdir:///a%00.md",
            "memdir:///a%0A.md",
            "memdir:///a%zz.md",
            "memdir:///a%2",
            "memdir:///a%ff.md",
            "memdir:///a.md\n",
        ] {
            check(other, None);
        }
        check(&format!("memdir:///{}", "a".repeat(100_000)), None);
    }

    #[test]
    fn a_note_is_found_again_by_its_address() {
        for name in
            ["user.md", "a b/Jäger 100%.md", "Re: plans?.md", "#1 [x] {y} \"z\".md", "日記/2026-11-21.md", "a\\b~_-.md"]
        {
            let note = MemoryPath::parse(name).unwrap();
            assert_eq!(path(&address(&note)).unwrap(), note, "{name}");
            assert!(address(&note).is_ascii());
        }
    }
}
