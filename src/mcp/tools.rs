//! The tools: one for each action, made from its row, and `run_actions`.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, RequestId, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::pool::{Gone, Line};
use super::service::Service;
use super::{Client, Options, ToolSet};
use crate::action::Access;
use crate::catalog::{self, ROWS, Row, format};
use crate::dialect::{self, Entry, Parsed, ToolAnswer};
use crate::engine::Manner;
use crate::policy::Mode;
use crate::report::Report;
use crate::vault::Author;

/// The actions of [`ToolSet::Compact`].
const COMPACT: &[&str] =
    &["search_files", "get_context", "read_file", "list_files", "create_file", "update_file", "delete_file"];

/// The rows that a set of tools offers to a client.
fn rows<'a>(options: &'a Options, client: &'a Client) -> impl Iterator<Item = &'static Row> + 'a {
    ROWS.iter().filter(move |row| {
        let is_in_set = match options.tools {
            ToolSet::Compact => COMPACT.contains(&row.name),
            ToolSet::Full => true,
            ToolSet::Memory => row.name == "memory",
        };
        let is_granted = client.grant.as_ref().is_none_or(|grant| grant.lets_send(row.name));
        is_in_set && is_granted && (!options.read_only || row.access == Access::Read)
    })
}

/// The definitions of the tools.
pub(super) fn list(options: &Options, client: &Client) -> Result<ListToolsResult, ErrorData> {
    let ask_first = options.mode != Mode::Off;
    let mut definitions = format::definitions(format::Format::Mcp, rows(options, client), ask_first);
    let tools: Vec<Tool> = serde_json::from_value(definitions["tools"].take())
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(ListToolsResult::with_all_items(tools))
}

/// Calls a tool.
pub(super) async fn call(
    service: &Service,
    client: &Client,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let parsed = dialect::parse_tool_call(&request.name, request.arguments.unwrap_or_default());
    let frame = parsed.frame.clone();
    let report = run(service, client, parsed, context).await?;
    Ok(result(dialect::answer_tool_call(&frame, &report)).into())
}

/// Runs calls in the conversation of a connection.
pub(super) async fn run(
    service: &Service,
    client: &Client,
    parsed: Parsed,
    context: &RequestContext<RoleServer>,
) -> Result<Report, ErrorData> {
    let seen = service.connection.seen();
    let manner = Manner {
        author: author(client, &context.id),
        grant: client.grant.clone(),
        mode: service.server.options.mode,
        read_only: service.server.options.read_only,
        atomic: false,
        seen: Some(seen.clone()),
    };
    let engine = service.server.engine.clone();
    let line = if only_reads(&parsed) { Line::Read } else { Line::Write };
    let run = move || engine.conclude_in_conversation(engine.propose(parsed, manner));
    let (report, keep) = service.server.pool.run(line, run).await.map_err(|Gone| gone())?;
    if let Some(now) = keep.seen {
        service.connection.see(&seen, now);
    }
    Ok(report)
}

/// Whether all calls only read.
fn only_reads(parsed: &Parsed) -> bool {
    parsed.entries.iter().all(|entry| match entry {
        Entry::Call(call) => catalog::access(&call.action) == Access::Read,
        Entry::Unread(_) => true,
    })
}

fn author(client: &Client, id: &RequestId) -> Author {
    Author {
        door: "mcp".to_owned(),
        client: Some(client.name.clone()).filter(|name| !name.is_empty()),
        session: None,
        message: Some(id.to_string()),
        origin: "model".to_owned(),
    }
}

fn result(answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = answer.structured;
    result
}

fn gone() -> ErrorData {
    ErrorData::internal_error("the server is ending", None)
}
