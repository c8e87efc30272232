//! `memdir tools doctor` and `logs`: is a server in order, and what it says for itself.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::registry::Registry;
use super::shown::size;
use crate::args::Global;
use crate::interrupt;
use crate::output::{Lines, say};
use crate::stop::Stop;
use memdir_core::report::Failure;
use memdir_hub::{Examined, Hub};
use memdir_plan::count;
use memdir_tools::{CallError, ServerName, ServerState, Toolbox};

/// How many of the last lines of its standard error are shown of a server.
const LINES: usize = 5;

/// A server that was looked at.
#[derive(Debug, Serialize)]
struct Looked {
    name: ServerName,
    ok: bool,
    protocol: Option<String>,
    server: Option<Program>,
    tools: usize,
    bytes: usize,
    first_answer_ms: Option<u64>,
    unapproved: usize,
    left_out: Vec<String>,
    stderr: Vec<String>,
    problem: Option<Failure>,
}

/// What a server calls itself.
#[derive(Debug, Serialize)]
struct Program {
    name: String,
    version: String,
}

pub(super) fn run(global: &Global, registry: &Registry, name: Option<&ServerName>) -> Result<u8, Stop> {
    let servers = match name {
        Some(name) => vec![registry.server(name)?],
        None => registry.read()?.into_iter().filter(|server| server.enabled).collect(),
    };
    let looked = match servers.is_empty() {
        true => Vec::new(),
        false => look(&registry.hub()?, &servers.into_iter().map(|server| server.name).collect::<Vec<_>>()),
    };
    global.answer(&json!({ "servers": looked }), |stdout| {
        looked.iter().try_for_each(|looked| looked.show(stdout))?;
        if looked.is_empty() {
            say("no server is in use: `memdir tools add NAME -- COMMAND` adds one")?;
        }
        Ok(())
    })?;
    Ok(if looked.iter().all(|looked| looked.ok) { 0 } else { 4 })
}

/// Connects to all of them at the same time.
fn look(hub: &Hub, names: &[ServerName]) -> Vec<Looked> {
    let stop = interrupt::stop();
    let found: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = names.iter().map(|name| scope.spawn(|| examine(hub, name, &stop))).collect();
        started.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let states = hub.servers();
    found.into_iter().map(|looked: Looked| looked.counted(&states)).collect()
}

fn examine(hub: &Hub, name: &ServerName, stop: &CancellationToken) -> Looked {
    let mut looked = Looked {
        name: name.clone(),
        ok: false,
        protocol: None,
        server: None,
        tools: 0,
        bytes: 0,
        first_answer_ms: None,
        unapproved: 0,
        left_out: Vec::new(),
        stderr: Vec::new(),
        problem: None,
    };
    match hub.connect_now(name, stop) {
        Ok(Examined { protocol, server_name, server_version, tools, list_bytes, left_out, first_answer, stderr }) => {
            let first = stderr.len().saturating_sub(LINES);
            looked.stderr = stderr.into_iter().skip(first).collect();
            looked.server = Some(Program { name: server_name, version: server_version });
            let first_answer_ms = Some(millis(first_answer));
            let protocol = Some(protocol);
            Looked { ok: true, protocol, tools, bytes: list_bytes, left_out, first_answer_ms, ..looked }
        }
        Err(error) => Looked { problem: Some(in_words(error)), stderr: hub.last_lines(name, LINES), ..looked },
    }
}

/// The failure without the hint to look here.
fn in_words(error: CallError) -> Failure {
    let is_unreachable = matches!(error, CallError::Unreachable { .. });
    let failure = Failure::from(error);
    Failure { hint: failure.hint.filter(|_| !is_unreachable), ..failure }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Looked {
    fn counted(mut self, states: &[ServerState]) -> Self {
        self.unapproved = states.iter().find(|state| state.name == self.name).map_or(0, |state| state.unapproved);
        self
    }

    fn show(&self, output: &mut impl std::io::Write) -> Result<(), Stop> {
        let name = &self.name;
        match (&self.problem, &self.protocol) {
            (Some(problem), _) => {
                output.line(format!("FAIL  {name}: {}", problem.message))?;
                problem.hint.iter().try_for_each(|hint| output.line(format!("      {hint}")))?;
            }
            (None, protocol) => {
                let protocol = protocol.as_deref().unwrap_or("?");
                let program = self
                    .server
                    .as_ref()
                    .map_or_else(String::new, |Program { name, version }| format!("{name} {version}, "));
                let (tools, size) = (count(self.tools, "tool"), size(self.bytes));
                let first = self.first_answer_ms.unwrap_or_default();
                let status = if self.unapproved == 0 && self.left_out.is_empty() { "ok  " } else { "warn" };
                output.line(format!(
                    "{status}  {name}: {program}protocol {protocol}, {tools}, {size}, first answer after {first} ms"
                ))?;
                for name in &self.left_out {
                    output.line(format!("      left out, since its name or definition cannot be used: {name}"))?;
                }
                if self.unapproved > 0 {
                    let unapproved = count(self.unapproved, "tool");
                    output
                        .line(format!("      {unapproved} not approved: `memdir tools approve {name}` shows them"))?;
                }
            }
        }
        Ok(self.stderr.iter().try_for_each(|line| output.line(format!("      | {line}")))?)
    }
}

pub(super) fn logs(global: &Global, registry: &Registry, name: &ServerName, most: usize) -> Result<u8, Stop> {
    registry.server(name)?;
    let lines = registry.hub()?.log_lines(name, most);
    global.answer(&json!({"name": name, "lines": lines}), |stdout| {
        lines.iter().try_for_each(|line| stdout.line(line))?;
        if lines.is_empty() {
            say(format!("`{name}` has written nothing to its standard error"))?;
        }
        Ok(())
    })
}
