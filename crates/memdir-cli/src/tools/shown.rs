//! Servers and their tools, as a person or a program is shown them.

use std::num::NonZeroU32;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::registry::Registry;
use crate::args::Global;
use crate::output::{Lines, say};
use crate::stop::Stop;
use crate::term;
use memdir_core::shell;
use memdir_plan::count;
use memdir_tools::{
    Permission, PinState, Server, ServerHealth, ServerName, ServerState, ToolName, Toolbox, Transport, definition_text,
};

/// A server in a list.
#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a ServerName,
    enabled: bool,
    #[serde(flatten)]
    health: Option<&'a ServerHealth>,
    transport: &'static str,
    /// What is started, or where it is.
    starts: String,
    tools: usize,
    /// How many bytes their definitions are.
    bytes: usize,
    permission: Permission,
    /// How many of the tools are not as they were approved.
    unapproved: usize,
}

/// A tool, as it is shown.
#[derive(Debug, Serialize)]
pub(super) struct ToolRow {
    name: String,
    own: String,
    description: String,
    bytes: usize,
    permission: Permission,
    pin: PinState,
    cache_seconds: Option<NonZeroU32>,
    #[serde(skip)]
    definition: Map<String, Value>,
}

impl ToolRow {
    /// The rows of a server's tools, in the order of their names.
    pub(super) fn all(server: &Server, definitions: &[Map<String, Value>]) -> Vec<Self> {
        let text = |definition: &Map<String, Value>, key: &str| Some(definition.get(key)?.as_str()?.to_owned());
        let row = |definition: &Map<String, Value>| {
            let own = text(definition, "name")?;
            Some(Self {
                name: ToolName::of(&server.name, &own).as_str().to_owned(),
                description: text(definition, "description").unwrap_or_default(),
                bytes: bytes(definition),
                permission: server.permission_of(&own),
                pin: server.pin_state(&own, definition),
                cache_seconds: server.tools.get(&own).and_then(|rule| rule.cache_seconds),
                own,
                definition: definition.clone(),
            })
        };
        let mut rows: Vec<Self> = definitions.iter().filter_map(row).collect();
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        rows
    }
}

pub(super) fn list(global: &Global, registry: &Registry) -> Result<u8, Stop> {
    let servers = registry.read()?;
    let hub = if servers.is_empty() { None } else { Some(registry.hub()?) };
    let states = hub.as_ref().map(Toolbox::servers).unwrap_or_default();
    let definitions = |server: &Server| hub.as_ref().map(|hub| hub.definitions(&server.name).1).unwrap_or_default();
    let rows = servers.iter().map(|server| Row::of(server, &states, &ToolRow::all(server, &definitions(server))));
    let rows: Vec<Row<'_>> = rows.collect();
    global.answer(&json!({ "servers": rows }), |stdout| {
        table(&rows).iter().try_for_each(|line| stdout.line(line))?;
        if rows.is_empty() {
            say("no servers: `memdir tools add NAME -- COMMAND` adds one, `memdir tools import` takes over those of an assistant")?;
        }
        let mut unapproved = rows.iter().filter(|row| row.enabled && row.is_unapproved()).map(|row| row.name);
        Ok(unapproved.try_for_each(|name| say(format!("`memdir tools approve {name}` shows what is not approved")))?)
    })
}

impl<'a> Row<'a> {
    fn of(server: &'a Server, states: &'a [ServerState], tools: &[ToolRow]) -> Self {
        let state = states.iter().find(|state| state.name == server.name);
        Self {
            name: &server.name,
            enabled: server.enabled,
            health: state.map(|state| &state.health),
            transport: server.transport.kind(),
            starts: starts(&server.transport),
            tools: tools.len(),
            bytes: tools.iter().map(|tool| tool.bytes).sum(),
            permission: server.permission,
            unapproved: tools.iter().filter(|tool| tool.pin != PinState::Approved).count(),
        }
    }

    /// Whether there is something to approve: tools, or finding out which there are.
    fn is_unapproved(&self) -> bool {
        self.unapproved > 0 || self.tools == 0
    }

    fn cells(&self) -> [String; 5] {
        let state = match (self.enabled, self.health) {
            (false, _) => "off",
            (true, Some(ServerHealth::Failed { .. })) => "cannot be reached",
            (true, _) if self.tools == self.unapproved => "not approved",
            (true, _) if self.unapproved > 0 => "changed",
            (true, _) => "ok",
        };
        let tools = match self.unapproved {
            0 => count(self.tools, "tool"),
            unapproved => format!("{}, {unapproved} not approved", count(self.tools, "tool")),
        };
        [self.name.to_string(), state.to_owned(), tools, size(self.bytes), self.permission.as_str().to_owned()]
    }
}

/// The rows as lines with columns.
fn table(rows: &[Row<'_>]) -> Vec<String> {
    let cells: Vec<[String; 5]> = rows.iter().map(Row::cells).collect();
    let mut widths = [0; 5];
    for row in &cells {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |(row, cells): (&Row<'_>, &[String; 5])| {
        let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  ")).collect();
        format!("{cells}{}", row.starts)
    };
    rows.iter().zip(&cells).map(line).collect()
}

pub(super) fn show(global: &Global, registry: &Registry, name: &ServerName) -> Result<u8, Stop> {
    let server = registry.server(name)?;
    let hub = registry.hub()?;
    let states = hub.servers();
    let tools = ToolRow::all(&server, &hub.definitions(name).1);
    let row = Row::of(&server, &states, &tools);
    let definitions: Vec<&Map<String, Value>> = tools.iter().map(|tool| &tool.definition).collect();
    let answer = json!({"server": row, "transport": server.transport, "tools": tools, "definitions": definitions});
    global.answer(&answer, |stdout| {
        stdout.line(format!("{}: {}", row.transport, row.starts))?;
        let use_ = if server.enabled { "in use" } else { "out of use" };
        stdout.line(format!("{use_}; its tools: {}", row.permission.as_str()))?;
        for tool in &tools {
            tool.show(stdout, tool.state())?;
        }
        if tools.is_empty() {
            say(format!("none of its tools is known: `memdir tools approve {name}` connects and shows them"))?;
        }
        Ok(())
    })
}

impl ToolRow {
    /// Whether it is as it was approved, in words; nothing where it is.
    const fn state(&self) -> &'static str {
        match self.pin {
            PinState::Approved => "",
            PinState::Changed => "  changed since it was approved",
            PinState::New => "  not approved",
        }
    }

    /// One line about the tool.
    pub(super) fn show_line(&self, output: &mut impl std::io::Write) -> Result<(), Stop> {
        Ok(output.line(format!("{}  {}  {}", self.name, self.permission.as_str(), size(self.bytes)))?)
    }

    /// The name of the tool, and below it all of its definition: what is approved, each line moved in.
    pub(super) fn show_whole(&self, output: &mut impl std::io::Write) -> Result<(), Stop> {
        output.line(&self.name)?;
        let text = definition_text(&self.definition);
        Ok(text.lines().try_for_each(|line| output.line(format!("    {line}")))?)
    }

    /// One line about the tool, which ends in `state`, and its description below, each line moved in.
    pub(super) fn show(&self, output: &mut impl std::io::Write, state: &str) -> Result<(), Stop> {
        let cache = self.cache_seconds.map_or_else(String::new, |seconds| format!("  kept for {seconds} s"));
        let size = size(self.bytes);
        output.line(format!("{}  {}  {size}{state}{cache}", self.name, self.permission.as_str()))?;
        Ok(self
            .description
            .split('\n')
            .filter(|line| !line.trim().is_empty())
            .try_for_each(|line| output.line(format!("    {line}")))?)
    }
}

/// What a transport starts, as it is typed, or where it leads.
pub(super) fn starts(transport: &Transport) -> String {
    match transport {
        Transport::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args).map(|word| shell::quoted(word));
            words.collect::<Vec<_>>().join(" ")
        }
        Transport::Http { url, .. } | Transport::Sse { url, .. } => url.clone(),
    }
}

/// How many bytes a definition is.
pub(super) fn bytes(definition: &Map<String, Value>) -> usize {
    serde_json::to_string(definition).map_or(0, |text| text.len())
}

/// A size, for a person.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        bytes => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
    }
}

/// A value as JSON in lines, for a person: what is unseen is escaped.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    term::escape(&text).into_owned()
}
