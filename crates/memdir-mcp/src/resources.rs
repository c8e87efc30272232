//! The notes as resources: `memdir:///path.md`, listed and read as the client's grant lets it.

use std::sync::Arc;

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::service::{self, Service};
use super::{Client, address, app, subscriptions, tools};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_dialect as dialect;
use memdir_engine::ListedEntry;
use memdir_server::Lane;

/// What notes are.
const MARKDOWN: &str = "text/markdown";
/// How many notes are listed at once.
const PAGE: usize = 500;

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
    let (server, caller) = (Arc::clone(&service.server), service::caller(service, &client, &context.id));
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
    Resource::new(address::address(&note.path), note.path.as_str()).with_mime_type(MARKDOWN).with_size(note.size)
}

/// How addresses are made.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(address::TEMPLATE, "note")
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
    let path = address::path(&request.uri)?;
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
pub(super) fn refused(failure: &Failure) -> ErrorData {
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
