//! `memdir tools call`: a call by the person, or by a script of theirs.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::args::CallTool;
use super::elicit;
use super::registry::{Registry, unknown};
use super::settle::{nearest_tool, no_tool};
use super::shown::pretty;
use crate::args::Global;
use crate::output::{Lines, say};
use crate::stop::{Stop, usage};
use crate::{file, interrupt, open, question, term};
use memdir_core::report::{Code, Failure};
use memdir_engine::ToolConsent;
use memdir_hub::Hub;
use memdir_tools::{
    CallEvents, CallQuestion, Elicitation, ElicitationAnswer, PinState, Progress, Server, ServerName, Switched, Tool,
    ToolAnswer, ToolCall, ToolName, Toolbox,
};

/// More is no arguments.
const MOST_ARGUMENTS: u64 = 16 << 20;
/// The exit code where the tool says that it failed.
const TOOL_FAILED: u8 = 4;

pub(super) fn run(global: &Global, registry: &Registry, options: &CallTool) -> Result<u8, Stop> {
    let arguments = arguments(&options.arguments)?;
    let servers = registry.read()?;
    let named = ToolName::server_in(&options.name);
    let server = named.as_ref().and_then(|named| servers.iter().find(|server| server.name == *named));
    let Some(server) = server else {
        let failure = unknown(named.as_ref().map_or(options.name.as_str(), |named| named.as_str()), &servers);
        return Err(match named {
            Some(_) => failure,
            None => usage(
                format!("`{}` is no tool", options.name),
                "a tool is named `server__tool`: `memdir tools` lists the servers",
            ),
        }
        .into());
    };
    let Some(own) = server.own_name(&options.name) else { return Err(no_tool(server, &options.name).into()) };
    let call = ToolCall { tool: ToolName::of(&server.name, own), arguments, client: None };
    let answer = make(server, registry, global, options, &call)?;
    let failed = if answer.is_error() { TOOL_FAILED } else { 0 };
    global.answer(&answer.result, |stdout| show(&answer.result, stdout))?;
    Ok(failed)
}

/// Makes the call, by the way that every call goes.
fn make(
    server: &Server,
    registry: &Registry,
    global: &Global,
    options: &CallTool,
    call: &ToolCall,
) -> Result<ToolAnswer, Stop> {
    let opened = open::open(global)?;
    let (hub, stop) = (registry.hub_of(&server.name)?, interrupt::stop());
    // One that had changed may be as it was approved again.
    let is_known = |tool: &Tool| tool.name == call.tool && tool.pin != PinState::Changed;
    if server.enabled && !hub.tools().iter().any(is_known) {
        hub.connect_now(&server.name, &stop).map_err(Failure::from)?;
    }
    // The person means this server by calling its tool.
    let mut switched = Switched { servers: [server.name.clone()].into(), ..Switched::default() };
    let mut broken = None;
    let mut ask = |tool: &Tool, arguments: &Map<String, Value>| {
        let asked = if options.yes { Ok(ToolConsent::Once) } else { consent(tool, arguments, global) };
        asked.unwrap_or_else(|stop| {
            let consent = if matches!(stop, Stop::Interrupted) { ToolConsent::No } else { ToolConsent::NobodyThere };
            broken = Some(stop);
            consent
        })
    };
    let mut events = Person { server: &server.name, can_ask: !global.json && question::can_ask() };
    let answer = opened.engine.call_tool(&hub, &open::person(), &mut switched, call, &mut ask, &mut events, &stop);
    match broken {
        Some(stop) => Err(stop),
        None => Ok(answer.map_err(|failure| in_words(failure, server, &hub, &call.tool))?),
    }
}

/// Shows what would be sent, and asks.
fn consent(tool: &Tool, arguments: &Map<String, Value>, global: &Global) -> Result<ToolConsent, Stop> {
    if global.json || !question::can_ask() {
        return Ok(ToolConsent::NobodyThere);
    }
    let CallQuestion { head, arguments, about } = CallQuestion::new(None, tool, arguments);
    say(head)?;
    arguments.lines().try_for_each(|line| say(format!("  {line}")))?;
    if !about.is_empty() {
        say(about)?;
    }
    let is_agreed = question::agrees("call it?")?;
    Ok(if is_agreed { ToolConsent::Once } else { ToolConsent::No })
}

/// A failure in words for the person: what is said to a model is that it should tell them.
fn in_words(failure: Failure, server: &Server, hub: &Hub, tool: &ToolName) -> Failure {
    let (name, tools) = (&server.name, hub.tools());
    let is_approved = || tools.iter().all(|known| known.name != *tool || known.pin == PinState::Approved);
    let hint = match failure.code {
        Code::PermissionRequired => {
            format!("`--yes` agrees to this call; `memdir tools allow {tool}` lets it be called without a question")
        }
        Code::UnknownAction | Code::Denied if !server.enabled => {
            let disabled = Failure::new(Code::Denied, format!("the server `{name}` is disabled"));
            return disabled.with_hint(format!("`memdir tools enable {name}` puts it into use"));
        }
        Code::UnknownAction => nearest_tool(
            name,
            tool.as_str(),
            tools.iter().filter(|known| known.server == *name).map(|known| &known.name),
        ),
        Code::Denied if !is_approved() => format!("`memdir tools approve {name}` shows the change"),
        Code::InvalidAction => format!("`memdir tools show {name}` says what it takes"),
        Code::Denied if !says_command(&failure) => {
            format!("`memdir tools show {name}` shows its tools and their permissions")
        }
        _ => return failure,
    };
    failure.with_hint(hint)
}

/// Whether a hint names the command that helps.
fn says_command(failure: &Failure) -> bool {
    failure.hint.as_deref().is_some_and(|hint| hint.contains("memdir tools "))
}

/// The arguments of a call.
fn arguments(text: &str) -> Result<Map<String, Value>, Failure> {
    let read = match text {
        "-" => file::read_input("arguments", MOST_ARGUMENTS)?,
        text => text.as_bytes().to_vec(),
    };
    serde_json::from_slice(&read).map_err(|error| {
        usage(format!("the arguments are no JSON object: {error}"), "send one object, such as '{\"city\":\"Porto\"}'")
    })
}

/// The text of a result, and a line for each part that is none.
fn show(result: &Map<String, Value>, stdout: &mut (impl Write + io::IsTerminal)) -> Result<(), Stop> {
    let text = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let parts = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => print(&text(part, "text"), stdout)?,
            Some("resource") if part.pointer("/resource/text").is_some() => {
                print(part.pointer("/resource/text").and_then(Value::as_str).unwrap_or_default(), stdout)?;
            }
            Some(kind @ ("image" | "audio")) => {
                say(format!(
                    "{kind} {}, {} characters of base64: `--json` prints it",
                    text(part, "mimeType"),
                    text(part, "data").len()
                ))?;
            }
            Some("resource_link") => stdout.line(format!("{} {}", text(part, "name"), text(part, "uri")))?,
            kind => say(format!("a part of the kind `{}`: `--json` prints it", kind.unwrap_or("?")))?,
        }
    }
    if let (true, Some(value)) = (parts.is_empty(), result.get("structuredContent")) {
        print(&pretty(value), stdout)?;
    }
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        say("the tool says that it failed")?;
    }
    Ok(())
}

/// Prints a text of the server's: escaped where it goes to a terminal.
fn print(text: &str, stdout: &mut (impl Write + io::IsTerminal)) -> Result<(), Stop> {
    match stdout.is_terminal() {
        true => writeln!(stdout, "{}", term::escape(text))?,
        false => writeln!(stdout, "{text}")?,
    }
    Ok(())
}

/// The person at the terminal while a call runs.
struct Person<'a> {
    server: &'a ServerName,
    can_ask: bool,
}

impl CallEvents for Person<'_> {
    fn progress(&mut self, progress: &Progress) {
        if self.can_ask {
            let total = progress.total.map_or_else(String::new, |total| format!(" of {total}"));
            let message = progress.message.as_deref().unwrap_or_default();
            // Where that cannot be said, the call goes on.
            let _ = say(format!("{}: {}{total} {message}", self.server, progress.progress));
        }
    }

    fn elicit(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        match self.can_ask {
            true => elicit::answer(self.server, elicitation, &mut elicit::Terminal),
            false => ElicitationAnswer::Decline,
        }
    }
}
