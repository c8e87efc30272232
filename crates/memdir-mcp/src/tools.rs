//! The tools: one for each action, made from its row, and `run_actions`.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::ask::Waiting;
use super::connection::Connection;
use super::connector::{self, ConnectorTool};
use super::rate::RateLimited;
use super::server_info::WithServerInfo;
use super::service::{self, Service};
use super::{Client, Options, Server, ToolSet, agent, app, ask, hub, offered, tool_words};
use memdir_core::action::Access;
use memdir_core::catalog::{self, ROWS, Row, format};
use memdir_core::report::{Code, Failure, Report};
use memdir_dialect::{self as dialect, Entry, Frame, Parsed, ToolAnswer};
use memdir_engine::{Caller, Engine};
use memdir_policy::Mode;
use memdir_server::Lane;

/// The actions of [`ToolSet::Compact`] that are tools of their own.
const COMPACT: &[&str] =
    &["search_files", "get_context", "read_file", "remember", "append_file", "update_file", "delete_file", "recent"];

/// Arguments that few calls need. The small set does not tell of them, and takes them all the same.
const RARE: &[&str] = &["as_of", "include_past"];

/// Actions that few models need. The small set does not tell of them, and takes them all the same.
const SELDOM: &[&str] = &["get_config", "set_config_value"];

/// By which Claude Code knows a tool that is not to be put off until a model searches for it.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The definitions of all tools that a server offers to a client, in the order in which they are listed.
pub(super) fn definitions(options: &Options, client: Option<&Client>) -> serde_json::Result<Vec<Tool>> {
    let ask_first = options.mode != Mode::Off;
    let may_run = |row: &&Row| options.offers(client, row);
    let own: Vec<&Row> = match options.tools {
        ToolSet::Compact => COMPACT.iter().filter_map(|name| catalog::row(name)).filter(may_run).collect(),
        ToolSet::Full => ROWS.iter().filter(may_run).collect(),
        ToolSet::Memory => {
            let tool = serde_json::from_value(format::mcp::memory_tool(ask_first, options.only_reads(client)))?;
            return Ok(vec![always_there(tool)]);
        }
        ToolSet::Chatgpt => {
            let is_offered = |tool: &&ConnectorTool| catalog::row(tool.action).is_some_and(|row| may_run(&row));
            let tools = connector::TOOLS.iter().filter(is_offered);
            return tools.map(|tool| serde_json::from_value(tool.definition())).collect();
        }
        ToolSet::Agent => {
            let tool = serde_json::from_value(agent::definition(options.only_reads(client)))?;
            return Ok(vec![always_there(tool)]);
        }
    };
    // What is a tool by itself, or need not be told.
    let is_untold = |row: &Row| {
        let is_seldom = options.tools == ToolSet::Compact && SELDOM.contains(&row.name);
        is_seldom || own.iter().any(|own| own.name == row.name)
    };
    let run_actions = format::mcp::run_actions(ROWS.iter().filter(may_run), is_untold, ask_first);
    let mut tools = format::definitions(format::Format::Mcp, own.iter().copied(), ask_first);
    let mut tools = tools.get_mut("tools").map(Value::take).unwrap_or_default();
    if options.tools == ToolSet::Compact {
        leave_out_rare(&mut tools);
    }
    let mut tools: Vec<Tool> = serde_json::from_value(tools)?;
    tools.push(serde_json::from_value(run_actions)?);
    let is_few = |tool: &Tool| COMPACT.contains(&tool.name.as_ref()) || tool.name == format::mcp::RUN_ACTIONS;
    Ok(tools.into_iter().map(|tool| if is_few(&tool) { always_there(tool) } else { tool }).collect())
}

/// Takes the rare arguments out of the schemas of a list of tools.
fn leave_out_rare(tools: &mut Value) {
    for tool in tools.as_array_mut().into_iter().flatten() {
        let properties = tool.pointer_mut("/inputSchema/properties").and_then(Value::as_object_mut);
        if let Some(properties) = properties {
            properties.retain(|name, _| !RARE.contains(&name.as_str()));
        }
    }
}

/// A tool that clients which put tools off are asked to keep in front of the model.
fn always_there(mut tool: Tool) -> Tool {
    tool.meta.get_or_insert_default().insert(ALWAYS_LOAD.to_owned(), true.into());
    tool
}

/// Whether a client is offered a tool. What the others would do is refused to it also inside of `run_actions`.
fn is_offered(server: &Server, client: &Client, name: &str) -> bool {
    let row = match server.options.tools {
        ToolSet::Memory | ToolSet::Agent => None,
        ToolSet::Chatgpt => connector::tool(name).and_then(|tool| catalog::row(tool.action)),
        ToolSet::Compact | ToolSet::Full => catalog::row(name),
    };
    server.tools.iter().any(|tool| tool.name == name) && row.is_none_or(|row| server.options.offers(Some(client), row))
}

/// The list of the tools.
pub(super) fn list(server: &Server, client: &Client, shows_cards: bool) -> Result<ListToolsResult, ErrorData> {
    let tools = match &client.grant {
        None => server.tools.clone(),
        // What a tool is said to do depends on what the client may do with it.
        Some(_) => definitions(&server.options, Some(client))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
    };
    Ok(ListToolsResult::with_all_items(match shows_cards {
        true => tools.into_iter().map(app::with_card).collect(),
        false => tools,
    }))
}

/// A call, and what became of it so far.
#[derive(Debug)]
pub(super) struct Call {
    /// The tool that was called.
    pub(super) tool: String,
    pub(super) frame: Frame,
    pub(super) report: Report,
}

/// Calls a tool.
pub(super) async fn call(
    service: &Service,
    client: &Client,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if !is_offered(&service.server, client, &request.name) {
        return match &service.server.options.hub {
            Some(hub) => hub::call(service, client, hub, request, context).await,
            None => Err(service::no_tool(&request.name)),
        };
    }
    if let Some(state) = &request.request_state
        && let Waiting::Proposals(call, questions) = service.server.pending_calls.take(client, &request, state)?
    {
        let call = ask::resume(service, client, context, &request, (*call, questions)).await?;
        return Ok(answer(service, client, call).with_server_info(context).into());
    }
    let (name, arguments) = (request.name.into_owned(), request.arguments);
    if let Some(tool) = connector_tool(&service.server, &name) {
        return Ok(ask_connector(service, client, tool, arguments, context).await?.with_server_info(context).into());
    }
    if service.server.options.tools == ToolSet::Agent {
        return Ok(agent::ask(service, client, arguments, context).await?.with_server_info(context).into());
    }
    let mut call = begin(service, client, &name, arguments.clone().unwrap_or_default(), context).await?;
    let questions = ask::questions(service, client, context, &call.report).await?;
    if service::is_modern(context) && !questions.is_empty() {
        return Ok(service
            .server
            .pending_calls
            .put_proposals(client, (name, arguments), call, questions)
            .with_server_info(context)
            .into());
    }
    ask::ask_now(service, client, context, &mut call, questions).await?;
    let shown = app::shown(service, context, &call.report).await?;
    let mut answered = answer(service, client, call);
    app::put(&mut answered, shown);
    Ok(answered.with_server_info(context).into())
}

fn connector_tool(server: &Server, name: &str) -> Option<&'static ConnectorTool> {
    connector::tool(name).filter(|_| server.options.tools == ToolSet::Chatgpt)
}

/// Answers a call of a tool that ChatGPT expects; it only reads, so nobody has to be asked.
async fn ask_connector(
    service: &Service,
    client: &Client,
    tool: &'static ConnectorTool,
    arguments: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let arguments = match tool.arguments(&arguments.unwrap_or_default()) {
        Ok(arguments) => arguments,
        Err(message) => return Ok(service::failed(&Failure::new(Code::InvalidAction, message))),
    };
    let call = begin(service, client, tool.action, arguments, context).await?;
    let server = Arc::clone(&service.server);
    let (answer, call) =
        service.work(Lane::Read, context, move || (tool.answer(&server.engine, &call.report), call)).await?;
    Ok(match answer {
        Some(answer) => CallToolResult::structured(answer),
        None => self::answer(service, client, Call { tool: tool.name.to_owned(), ..call }),
    })
}

/// Does what a call asks for, as far as nobody else has to be asked.
async fn begin(
    service: &Service,
    client: &Client,
    name: &str,
    mut arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Result<Call, ErrorData> {
    if service.server.options.tools == ToolSet::Memory && !arguments.contains_key("operation") {
        // Where only Anthropic's tool is told of, what names nothing is a command without its name.
        arguments.entry("command").or_insert(Value::Null);
    }
    let parsed = dialect::parse_tool_call(name, arguments);
    let frame = parsed.frame.clone();
    let report = run(service, client, parsed, context).await?;
    Ok(Call { tool: name.to_owned(), frame, report })
}

/// Runs calls in the conversation of a client.
pub(super) async fn run(
    service: &Service,
    client: &Client,
    parsed: Parsed,
    context: &RequestContext<RoleServer>,
) -> Result<Report, ErrorData> {
    let caller = service::caller(service, client, &context.id);
    let (server, connection) = (service.server.clone(), service.connection.clone());
    let words = server.tool_words.of(service, client);
    let lane = if only_reads(&parsed) { Lane::Read } else { Lane::Write };
    let is_short = lane == Lane::Read && server.served.rests() && server.engine.is_short(&parsed, &caller);
    let run = move || {
        // What only reads needs none, and does not wait while a long answer is taken in.
        let guard = if lane == Lane::Write { tool_words::guard(&words, &server.engine) } else { None };
        let mut report = run_now(&server.engine, &connection, parsed, Caller { guard, ..caller });
        server.wrote(&report.changed);
        report.bound();
        report
    };
    let done = if is_short { service.work_short(context, run).await } else { service.work(lane, context, run).await };
    service.server.served.settle_soon();
    if client.grant.as_ref().is_none_or(|grant| !grant.is_restricted()) {
        // A client that sees only a part is never answered from the index.
        service.server.served.build_index_soon();
    }
    done
}

/// Runs calls on one of the threads. What the conversation has seen is asked for only now: calls before this one may have
/// been waiting too.
fn run_now(engine: &Engine, connection: &Connection, parsed: Parsed, caller: Caller) -> Report {
    let seen = connection.seen();
    let proposal = engine.propose(parsed, Caller { seen: Some(seen.clone()), ..caller });
    let (report, keep) = engine.conclude_in_conversation(proposal);
    if let Some(now) = keep.seen {
        connection.see(seen, now);
    }
    report
}

/// Answers a call that came too soon, and notes it where that is news.
pub(super) async fn refuse(
    service: &Service,
    client: &Client,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    too_soon: RateLimited,
) -> Result<CallToolResponse, ErrorData> {
    let failure = Failure::new(Code::RateLimited, RateLimited::MESSAGE).with_hint(too_soon.hint());
    let tool = request.name.into_owned();
    let parsed = dialect::parse_tool_call(&tool, request.arguments.unwrap_or_default()).refused(&failure);
    let frame = parsed.frame.clone();
    let report = if too_soon.is_news {
        let (engine, caller) = (service.server.engine.clone(), service::caller(service, client, &context.id));
        service.work(Lane::Read, context, move || engine.conclude(engine.propose(parsed, caller))).await?
    } else {
        let refused = |entry| if let Entry::Unread(unread) = entry { Some(unread.into()) } else { None };
        Report::of(parsed.entries.into_iter().filter_map(refused).collect())
    };
    Ok(answer(service, client, Call { tool, frame, report }).with_server_info(context).into())
}

/// Whether all calls only read.
fn only_reads(parsed: &Parsed) -> bool {
    parsed.entries.iter().all(|entry| match entry {
        Entry::Call(call) => catalog::access(&call.action) == Access::Read,
        Entry::Unread(_) => true,
    })
}

/// What a call is answered by.
fn answer(service: &Service, client: &Client, call: Call) -> CallToolResult {
    let Call { tool, frame, mut report } = call;
    speak_of_offered(&service.server, client, &tool, &mut report);
    let ToolAnswer { text, structured, is_error } = dialect::answer_tool_call(&frame, &report);
    let content = vec![ContentBlock::text(text)];
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured;
    result
}

/// Takes out of the failures of a call what names another tool than those that the client is offered. Who sends a list of
/// actions is offered all that may stand in it.
pub(super) fn speak_of_offered(server: &Server, client: &Client, tool: &str, report: &mut Report) {
    let may_run = |name: &str| {
        tool == format::mcp::RUN_ACTIONS
            && catalog::row(name).is_some_and(|row| server.options.offers(Some(client), row))
    };
    offered::speak_of_offered(report, &|name| may_run(name) || is_offered(server, client, name));
}
