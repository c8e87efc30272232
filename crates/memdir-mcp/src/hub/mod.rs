//! The tools of other servers, beside memdir's own: what a client sees of them, and how it calls them.
//!
//! What may be called is decided in the rooms below; which a client sees is its grant's. Names are read from the body of a request
//! alone.

mod question;
mod run;
#[cfg(test)]
mod tests;
mod version;

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject, ListToolsResult, ResultType};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::ask::Waiting;
use super::server_info::WithServerInfo;
use super::service::{self, Service};
use super::{Client, tool_words, verbatim};
use memdir_core::action::Access;
use memdir_core::catalog::Row;
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_engine::ToolConsent;
use memdir_server::Lane;
use memdir_tools::{
    CallError, META_TOOLS, MOST_KEPT_BYTES, MetaCall, Part, Permission, PinState, Switched, Tool, ToolAnswer, ToolCall,
    Toolbox, Verdict, find, meta_schema, told, unknown_tool,
};

pub(super) use run::ForeignCall;

/// The tools of other servers, as a server of memdir offers them.
#[derive(Clone, Debug)]
pub struct HubOptions {
    /// The tools.
    pub toolbox: Arc<dyn Toolbox>,
    /// How they are offered.
    pub offered: HubOffer,
}

/// How the tools of other servers are offered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum HubOffer {
    /// By three tools that find, describe and call them.
    #[default]
    Few,
    /// Each by itself, under its name.
    All,
}

/// So many bytes of a result are told at once where tools are offered by three, whose answers a model reads.
const MOST_TOLD: usize = 50_000;
/// How long a client of the newest version may keep the list: the servers may have others soon.
const KEEP_MS: u64 = 60 * 1000;

/// Whether a client may see and call a tool.
fn is_granted(client: &Client, tool: &Tool) -> bool {
    client.grant.is_none() || client.tools.shows(tool)
}

/// Whether it is told of a tool: not of what the person lets nobody call, and of nothing that a server says and the person has not
/// approved.
fn is_listed(client: &Client, tool: &Tool) -> bool {
    is_granted(client, tool) && tool.pin == PinState::Approved && tool.permission != Permission::Deny
}

/// Does what may wait for files, as a toolbox does that looks whether its registry has changed, or takes long. What has panicked
/// gives nothing.
async fn aside<R: Default + Send + 'static>(
    hub: &HubOptions,
    work: impl FnOnce(&HubOptions) -> R + Send + 'static,
) -> R {
    let hub = hub.clone();
    tokio::task::spawn_blocking(move || work(&hub)).await.unwrap_or_default()
}

/// What a client is offered beside memdir's own tools, in the order in which it is listed.
fn definitions(hub: &HubOptions, client: &Client, is_newest: bool) -> Vec<Value> {
    match hub.offered {
        HubOffer::Few => META_TOOLS.iter().map(definition).collect(),
        HubOffer::All => {
            let tools = hub.toolbox.tools();
            let listed = tools.iter().filter(|tool| is_listed(client, tool));
            listed.map(|tool| Value::Object(version::definition(tool, is_newest))).collect()
        }
    }
}

/// What is said of one of the three.
fn definition(row: &Row) -> Value {
    let is_read = row.access == Access::Read;
    json!({
        "name": row.name,
        "title": row.title,
        "description": format!("{} Answers {}.", row.words, row.returns),
        "inputSchema": meta_schema(row),
        "annotations": {"readOnlyHint": is_read, "destructiveHint": !is_read, "openWorldHint": !is_read},
    })
}

/// By what it is seen that a client's list of tools has become another one.
pub(super) async fn list_digest(hub: &HubOptions, client: &Client) -> Option<Digest> {
    let client = client.clone();
    let digest = move |hub: &_| Digest::of(Value::from(definitions(hub, &client, true)).to_string().as_bytes());
    aside(hub, move |hub| Some(digest(hub))).await
}

/// Adds to memdir's own tools what else a client is offered.
pub(super) async fn add_to_list(
    listed: &mut ListToolsResult,
    hub: &HubOptions,
    client: &Client,
    context: &RequestContext<RoleServer>,
) {
    let (is_newest, of) = (service::is_modern(context), client.clone());
    let added = aside(hub, move |hub| definitions(hub, &of, is_newest)).await;
    let known = added.iter().filter_map(|definition| serde_json::from_value(definition.clone()).ok());
    let own = listed.tools.len();
    listed.tools.extend(known);
    if is_newest {
        listed.ttl_ms = Some(KEEP_MS);
    } else {
        // As the library does later: it has to be known now what it will send.
        listed.result_type = None;
    }
    let Ok(mut whole) = serde_json::to_value(&listed) else { return };
    if let Some(tools) = whole.get_mut("tools").and_then(Value::as_array_mut) {
        tools.truncate(own);
        tools.extend(added);
    }
    verbatim::put(context, listed, whole);
}

/// What a client asks of other servers' tools; `None` where it names none of the three and no tool.
fn read(
    (hub, tools): (&HubOptions, &[Tool]),
    client: &Client,
    name: &str,
    arguments: JsonObject,
) -> Option<Result<MetaCall, Failure>> {
    if hub.offered == HubOffer::Few && META_TOOLS.iter().any(|row| row.name == name) {
        return MetaCall::read(1, name, arguments);
    }
    // Who has heard of a tool may as well call it by its own name.
    let is_there = tools.iter().any(|tool| tool.name.as_str() == name && is_granted(client, tool));
    is_there.then(|| Ok(MetaCall::Call { name: name.to_owned(), arguments }))
}

/// Answers a call of a tool that is not memdir's own.
pub(super) async fn call(
    service: &Service,
    client: &Client,
    hub: &HubOptions,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if let Some(state) = &request.request_state {
        let waiting = service.server.pending_calls.take(client, &request, state)?;
        let Waiting::Foreign(call) = waiting else { return Err(service::no_tool(&request.name)) };
        let is_granted = is_granted(client, call.tool());
        if !is_granted {
            return Err(service::no_tool(&request.name));
        }
        let call = call.resume(client, &request);
        return run::go_on(service, client, call, request, context).await;
    }
    let tools = aside(hub, |hub| hub.toolbox.tools()).await;
    let hub = (hub, &*tools);
    let (name, arguments) = (request.name.as_ref(), request.arguments.clone().unwrap_or_default());
    let wanted = match read(hub, client, name, arguments) {
        Some(Ok(wanted)) => wanted,
        Some(Err(failure)) => return Ok(service::failed(&failure).with_server_info(context).into()),
        None => {
            note_hidden(service, client, hub, (name, request.arguments.clone().unwrap_or_default()), context);
            return Err(service::no_tool(name));
        }
    };
    let answered = match wanted {
        MetaCall::Find { query, limit } => Ok(found(service, &tools, client, &query, limit)),
        MetaCall::Describe(name) => described(service, &tools, client, &name),
        MetaCall::More(cursor) => more(service, client, &tools, &cursor),
        MetaCall::Call { name, arguments } => match begin(service, client, hub, &name, arguments, context) {
            Ok(call) => return run::go_on(service, client, call, request, context).await,
            Err(failure) => Err(failure),
        },
    };
    Ok(answered.unwrap_or_else(|failure| service::failed(&failure)).with_server_info(context).into())
}

/// What comes after a cursor, where the client still has the tool that said it.
fn more(service: &Service, client: &Client, tools: &[Tool], cursor: &str) -> Result<CallToolResult, Failure> {
    let (tool, rest) = service.connection.more(cursor, MOST_TOLD)?;
    let is_there = |known: &Tool| known.name.as_str() == tool && is_granted(client, known);
    match tools.iter().any(is_there) {
        true => Ok(part_of(&rest)),
        false => Err(CallError::UnknownTool(tool).into()),
    }
}

/// Begins a call of the tool of this name. One that the client was not granted is to it a tool that there is not.
fn begin(
    service: &Service,
    client: &Client,
    (hub, tools): (&HubOptions, &[Tool]),
    name: &str,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Result<ForeignCall, Failure> {
    let Some(tool) = tools.iter().find(|tool| tool.name.as_str() == name && is_granted(client, tool)) else {
        note_hidden(service, client, (hub, tools), (name, arguments), context);
        return Err(unknown(client, tools, name));
    };
    let call = call_of(client, tool, arguments);
    run::begin(service, client, &hub.toolbox, (tool.clone(), call), switched(service, tool), context)
}

fn call_of(client: &Client, tool: &Tool, arguments: JsonObject) -> ToolCall {
    let client = Some(client.name.clone()).filter(|name| !name.is_empty());
    ToolCall { tool: tool.name.clone(), arguments, client }
}

/// Keeps in the audit that a client has called a tool that it was not granted. The client does not wait until it is written: by the
/// time that it takes it would learn that there is such a tool. It is written even if the client, and with it memdir, ends then.
fn note_hidden(
    service: &Service,
    client: &Client,
    (hub, tools): (&HubOptions, &[Tool]),
    (name, arguments): (&str, JsonObject),
    context: &RequestContext<RoleServer>,
) {
    let Some(tool) = tools.iter().find(|tool| tool.name.as_str() == name) else { return };
    let call = call_of(client, tool, arguments);
    let (caller, server) = (service::caller(service, client, &context.id), Arc::clone(&service.server));
    let (engine, toolbox) = (Arc::clone(&server.engine), Arc::clone(&hub.toolbox));
    // Nothing is switched on, so it is refused before anybody is asked.
    let refuse = move || {
        let (mut nothing, mut nobody) = (Switched::default(), |_: &Tool, _: &JsonObject| ToolConsent::NobodyThere);
        // What it answers is known: it is not allowed.
        let _ =
            engine.call_tool(&*toolbox, &caller, &mut nothing, &call, &mut nobody, &mut (), &CancellationToken::new());
    };
    if server.served.hand_over(Lane::Write, refuse).is_err() {
        tracing::error!("a call of a tool that the client was not granted is not in the audit");
    }
}

/// What the conversation has switched on for a tool that was granted.
fn switched(service: &Service, tool: &Tool) -> Switched {
    Switched { servers: BTreeSet::from([tool.server.clone()]), allowed: service.connection.allowed() }
}

/// What a call of a tool is answered by.
fn answer(
    service: &Service,
    tool: &Tool,
    answered: Result<ToolAnswer, Failure>,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    match answered {
        Ok(answer) => {
            let result = match tells_parts(service) {
                true => bounded(service, tool, answer.result),
                false => answer.result,
            };
            whole(result, context)
        }
        Err(failure) if failure.code == Code::PermissionRequired => {
            let hint = format!("the person can type `memdir tools allow {}`; nothing was sent", tool.name);
            service::failed(&failure.with_hint(hint)).with_server_info(context)
        }
        Err(failure) => service::failed(&failure).with_server_info(context),
    }
}

/// A result as its server sent it, also what the protocol's library does not know of it.
fn whole(result: Map<String, Value>, context: &RequestContext<RoleServer>) -> CallToolResult {
    let result = Value::Object(version::result(result, context.protocol_version().as_ref()));
    // Where the library can read nothing of it, this is what is left to say, should all else fail.
    let unread = || service::failed(&Failure::new(Code::Unavailable, "the answer cannot be passed on"));
    let mut known: CallToolResult = serde_json::from_value(result.clone()).unwrap_or_else(|_| unread());
    known.result_type = service::is_modern(context).then_some(ResultType::COMPLETE);
    verbatim::put(context, &known, result);
    known
}

/// Whether a client is told a long result in parts.
fn tells_parts(service: &Service) -> bool {
    service.server.options.hub.as_ref().is_some_and(|hub| hub.offered == HubOffer::Few)
}

/// A result that is not too long; of a longer one the beginning, and where it goes on. Pictures and the like count nothing.
fn bounded(service: &Service, tool: &Tool, result: Map<String, Value>) -> Map<String, Value> {
    let begun = service.connection.begin_result(tool.name.as_str(), told(&result), MOST_TOLD);
    if begun.total.is_none() {
        return result;
    }
    let mut shown = texts(&begun);
    let is_text = |block: &Value| block.get("type").is_some_and(|kind| kind == "text");
    let mut bounded = Map::new();
    for (key, value) in result {
        match (key.as_str(), value) {
            ("content", Value::Array(blocks)) => shown.extend(blocks.into_iter().filter(|block| !is_text(block))),
            ("structuredContent", _) => {}
            (_, value) => {
                bounded.insert(key, value);
            }
        }
    }
    bounded.insert("content".to_owned(), shown.into());
    bounded
}

/// A part of a result, and how to hear the next.
fn texts(part: &Part) -> Vec<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let shown = part.value.as_str().map(text);
    let next = part.cursor.as_ref().map(|cursor| {
        let all = part.total.unwrap_or_default();
        let kept = if all > MOST_KEPT_BYTES { format!(", of which {MOST_KEPT_BYTES} are kept") } else { String::new() };
        let cursor = json!({"cursor": cursor});
        text(&format!("This is a part of {all} bytes{kept}. call_tool with {cursor} alone reads on."))
    });
    shown.into_iter().chain(next).collect()
}

/// A later part of a result.
fn part_of(part: &Part) -> CallToolResult {
    let content = texts(part).into_iter().filter_map(|block| serde_json::from_value(block).ok());
    CallToolResult::success(content.collect())
}

/// The tools that do what is asked for.
fn found(service: &Service, tools: &[Tool], client: &Client, query: &str, limit: usize) -> CallToolResult {
    let listed = tools.iter().filter(|tool| is_listed(client, tool));
    let found: Vec<Value> =
        find(listed, query, limit).into_iter().map(|tool| noted(service, client, tool, tool.listed())).collect();
    CallToolResult::structured(json!({"tools": found}))
}

/// What a client is shown of a tool, after it was noted as the words of its server.
fn noted(service: &Service, client: &Client, tool: &Tool, shown: Value) -> Value {
    tool_words::add_said(&service.server.tool_words.of(service, client), &tool.name, &memdir_tools::texts(&shown));
    shown
}

/// There is no tool of this name for the client; one that it is not shown is not named to it either.
fn unknown(client: &Client, tools: &[Tool], name: &str) -> Failure {
    unknown_tool(name, tools.iter().filter(|tool| is_listed(client, tool)))
}

/// What a tool takes.
fn described(service: &Service, tools: &[Tool], client: &Client, name: &str) -> Result<CallToolResult, Failure> {
    let tool = tools.iter().find(|tool| tool.name.as_str() == name && is_granted(client, tool));
    let tool = tool.ok_or_else(|| unknown(client, tools, name))?;
    let switched = Switched { servers: BTreeSet::from([tool.server.clone()]), allowed: BTreeSet::new() };
    match Verdict::of(tool, &switched) {
        // A model reads nothing that the person has not approved.
        Verdict::Refuse(failure) => Err(failure),
        Verdict::Allow | Verdict::Ask => Ok(CallToolResult::structured(noted(service, client, tool, tool.described()))),
    }
}
