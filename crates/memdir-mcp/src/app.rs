//! The approval card as an MCP App (SEP-1865, 2026-01-26): clients that show such get the diff of what waits beside the answer.
//!
//! The card says where the person can say yes; it cannot say it. A yes from a card would be a `tools/call` like any other: that only
//! the card may make it is a promise of the host (`visibility`), and what the card alone knows of a result (`_meta`) is only advised
//! to be kept from the model. A model behind a host that keeps neither could approve its own change, so no tool here approves one.
//! Clients that can show a form are asked by it as ever (`ask.rs`), and that answer is bound to the diff that was shown.

use rmcp::model::{CallToolResult, ReadResourceResult, ResourceContents, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::ask;
use super::service::Service;
use memdir_core::action::Access;
use memdir_core::catalog::{self, format};
use memdir_core::report::Report;
use memdir_server::Lane;

/// Where the card is.
const CARD: &str = "ui://memdir/approval";
/// What it is, and what a client says that it shows.
const MIME: &str = "text/html;profile=mcp-app";
/// How the extension is called.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Where a result says what waits, and what was done.
const APPROVALS: &str = "memdir/approvals";
const RECEIPT: &str = "memdir/receipt";
/// So many characters of a diff go with a result; a longer one is looked at elsewhere.
const MOST_CHARS: usize = 8_000;

/// Whether the client says that it shows cards.
pub(super) fn is_shown(context: &RequestContext<RoleServer>) -> bool {
    let extensions = context.client_capabilities().and_then(|capabilities| capabilities.extensions);
    let types = extensions.as_ref().and_then(|extensions| extensions.get(EXTENSION)?.get("mimeTypes")?.as_array());
    types.is_some_and(|types| types.iter().any(|kind| kind.as_str() == Some(MIME)))
}

/// A tool with its card, where it is one that may leave something waiting.
pub(super) fn with_card(mut tool: Tool) -> Tool {
    let writes = catalog::row(&tool.name).is_some_and(|row| row.access > Access::Read);
    if writes || tool.name == format::mcp::RUN_ACTIONS {
        tool.meta.get_or_insert_default().insert("ui".to_owned(), json!({"resourceUri": CARD}));
    }
    tool
}

/// The card, where it is what a client asks for that shows such.
pub(super) fn card(address: &str, context: &RequestContext<RoleServer>) -> Option<ReadResourceResult> {
    (address == CARD && is_shown(context)).then(|| {
        let html = include_str!("approval_card.html");
        let mut contents = ResourceContents::text(html, CARD).with_mime_type(MIME);
        if let ResourceContents::TextResourceContents { meta, .. } = &mut contents {
            meta.get_or_insert_default().insert("ui".to_owned(), json!({"prefersBorder": true}));
        }
        ReadResourceResult::new(vec![contents])
    })
}

/// What the card shows of a report: nothing for a client that shows none.
pub(super) async fn shown(
    service: &Service,
    context: &RequestContext<RoleServer>,
    report: &Report,
) -> Result<Vec<(&'static str, Value)>, ErrorData> {
    if !is_shown(context) {
        return Ok(Vec::new());
    }
    let mut shown = Vec::new();
    shown.extend(report.receipt.as_ref().map(|receipt| (RECEIPT, json!(receipt))));
    let waiting = ask::proposals(report);
    if !waiting.is_empty() {
        let engine = service.server.engine.clone();
        let look = move || {
            let reviewed = waiting.into_iter().filter_map(|id| engine.review_proposal(id).ok());
            reviewed.map(|reviewed| approval(reviewed.waiting.id, &reviewed.waiting.reason, &reviewed.told)).collect()
        };
        // What is looked at may get a new code.
        let approvals: Vec<Value> = service.work(Lane::Write, context, look).await?;
        shown.push((APPROVALS, json!(approvals)));
    }
    Ok(shown)
}

fn approval(proposal: u64, reason: &str, diff: &str) -> Value {
    let is_short = diff.chars().nth(MOST_CHARS).is_none();
    let diff =
        if is_short { ask::escape(diff, |letter| letter == '\n') } else { "(too long to be shown here)".to_owned() };
    json!({"proposal": proposal, "reason": ask::escape(reason, |_| false), "diff": diff})
}

/// Puts that into a result, where the card finds it.
pub(super) fn put(result: &mut CallToolResult, shown: Vec<(&'static str, Value)>) {
    for (name, value) in shown {
        result.meta.get_or_insert_default().insert(name.to_owned(), value);
    }
}
