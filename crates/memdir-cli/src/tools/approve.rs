//! Approving what a server offers: shown, agreed to, pinned.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::registry::Registry;
use super::shown::ToolRow;
use crate::args::Global;
use crate::exit::code;
use crate::output::{Lines, say, say_failure};
use crate::stop::{Stop, usage};
use crate::{interrupt, question, term};
use memdir_core::digest::Digest;
use memdir_core::report::Failure;
use memdir_engine::ChangeError;
use memdir_hub::Hub;
use memdir_plan::{count, unified};
use memdir_tools::{CallError, Server, ServerName, ToolName, ToolRule, Toolbox, definition_changes, digest_of};

/// What became of a server whose tools were to be approved.
#[derive(Debug, Serialize)]
pub(super) struct Settled {
    name: ServerName,
    /// Whether its tools, as they are now, are approved.
    pub(super) approved: bool,
    /// The version of the protocol; absent where it cannot be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    tools: Vec<ToolRow>,
    /// How the tools differ from what was approved before; empty where nothing was, or nothing differs.
    diff: String,
    /// Why it cannot be reached.
    pub(super) problem: Option<Failure>,
}

/// What may be done without an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asking {
    /// Ask on the terminal.
    Ask,
    /// The person has said yes.
    Agreed,
    /// There is nobody to ask.
    Nobody,
}

impl Asking {
    pub(super) fn of(global: &Global, yes: bool) -> Self {
        match yes {
            true => Self::Agreed,
            false if global.json || !question::can_ask() => Self::Nobody,
            false => Self::Ask,
        }
    }
}

pub(super) fn run(global: &Global, registry: &Registry, names: &[ServerName], yes: bool) -> Result<u8, Stop> {
    let asking = Asking::of(global, yes);
    names.iter().try_for_each(|name| registry.server(name).map(drop))?;
    let hub = registry.hub()?;
    let named = match names {
        [] => hub.servers().into_iter().filter(|state| state.enabled).map(|state| state.name).collect(),
        names => names.to_vec(),
    };
    let (mut all, mut worst) = (Vec::new(), 0);
    for name in &named {
        let settled = settle(global, registry, &hub, name, asking)?;
        worst = worst.max(settled.problem.as_ref().map_or(0, |problem| code(problem.code)));
        all.push(settled);
    }
    global.answer(&json!({ "servers": all }), |_| {
        if named.is_empty() {
            say("no server is in use: `memdir tools list` shows all")?;
        }
        Ok(())
    })?;
    Ok(worst)
}

/// Connects to a server, shows what of its tools is not approved, and approves it where the person agrees.
pub(super) fn settle(
    global: &Global,
    registry: &Registry,
    hub: &Hub,
    name: &ServerName,
    asking: Asking,
) -> Result<Settled, Stop> {
    let mut settled = Settled {
        name: name.clone(),
        approved: false,
        protocol: None,
        tools: Vec::new(),
        diff: String::new(),
        problem: None,
    };
    match hub.connect_now(name, &interrupt::stop()) {
        Ok(examined) => settled.protocol = Some(examined.protocol),
        Err(error) => {
            let failure = unreached(error, name);
            if !global.json {
                say_failure(name.as_str(), &failure)?;
            }
            return Ok(Settled { problem: Some(failure), ..settled });
        }
    }
    let server = registry.server(name)?;
    let (kept, now) = hub.definitions(name);
    settled.tools = ToolRow::all(&server, &now);
    let is_new = server.tools.values().all(|rule| rule.pin.is_none());
    let changes = definition_changes(&approved_before(&server, &kept, &now), &now);
    if changes.is_empty() {
        if !global.json {
            say(format!("{name}: {} as approved", count(now.len(), "tool")))?;
        }
        return Ok(Settled { approved: true, ..settled });
    }
    let diff: String = changes
        .iter()
        .map(|change| {
            let offered = ToolName::of(name, &change.own);
            let side = |text: &Option<String>| text.clone().map(String::into_bytes);
            unified(offered.as_str(), side(&change.before).as_deref(), offered.as_str(), side(&change.after).as_deref())
        })
        .collect();
    if !is_new {
        settled.diff = diff;
    }
    if !agrees(global, &settled, is_new, asking)? {
        return Ok(settled);
    }
    let tools = count(now.len(), "tool");
    let pins = hub.approve(name, now)?;
    registry.change_one(name, |server| pin(server, &pins))?;
    if !global.json {
        say(format!("{name}: {tools} approved"))?;
    }
    Ok(Settled { approved: true, ..settled })
}

/// The failure where a server cannot be connected to: no call was made, of which there would be something to say.
fn unreached(error: CallError, name: &ServerName) -> Failure {
    let has_hint = matches!(error, CallError::LoginNeeded(_) | CallError::Registry(_));
    let failure = Failure::from(error);
    if has_hint { failure } else { failure.with_hint(format!("`memdir tools doctor {name}` looks again")) }
}

/// Shows what is to be approved, and asks.
fn agrees(global: &Global, settled: &Settled, is_new: bool, asking: Asking) -> Result<bool, Stop> {
    let name = &settled.name;
    if asking == Asking::Nobody {
        let message = format!("there is no terminal to ask on, so nothing of `{name}` is approved");
        let failure = usage(message, "look at what it offers, then send `--yes`");
        let diff = if global.json { settled.diff.clone() } else { term::escape(&settled.diff).into_owned() };
        let diff = Some(diff).filter(|diff| !diff.is_empty());
        return Err(ChangeError { failure, diff }.into());
    }
    if !global.json {
        let mut stderr = io::stderr().lock();
        if is_new {
            settled.tools.iter().try_for_each(|tool| tool.show_line(&mut stderr))?;
            stderr.line("what is approved is all of their definitions:")?;
            settled.tools.iter().try_for_each(|tool| tool.show_whole(&mut stderr))?;
        } else {
            writeln!(stderr, "{}", term::escaped_diff(&settled.diff, &stderr))?;
        }
    }
    match asking {
        Asking::Agreed => Ok(true),
        Asking::Ask | Asking::Nobody => {
            let what = if is_new { "approve these tools of" } else { "approve this change of" };
            let otherwise = format!("nothing is approved; `memdir tools approve {name}` shows it again");
            question::agrees_or(&format!("{what} {name}?"), &otherwise)
        }
    }
}

/// The definitions that the registry's pins stand for: those that are kept, as far as their pins are these. Where one is lost, its
/// name stands for it.
fn approved_before(
    server: &Server,
    kept: &[Map<String, Value>],
    now: &[Map<String, Value>],
) -> Vec<Map<String, Value>> {
    let definition = |(own, rule): (&String, &ToolRule)| {
        let pin = rule.pin?;
        let is_it = |definition: &&Map<String, Value>| {
            definition.get("name").and_then(Value::as_str) == Some(own) && digest_of(definition) == pin
        };
        let nameless = || Map::from_iter([("name".to_owned(), Value::from(own.as_str()))]);
        Some(now.iter().chain(kept).find(is_it).cloned().unwrap_or_else(nameless))
    };
    server.tools.iter().filter_map(definition).collect()
}

/// Puts the pins into a server in place of those it has.
fn pin(server: &mut Server, pins: &BTreeMap<String, Digest>) {
    server.tools.values_mut().for_each(|rule| rule.pin = None);
    for (own, pin) in pins {
        server.tools.entry(own.clone()).or_default().pin = Some(*pin);
    }
    server.tools.retain(|_, rule| *rule != ToolRule::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_while_a_server_is_looked_at_is_no_call_that_may_have_been_carried_out() {
        let name = ServerName::parse("slow").unwrap();
        let hint = |error: CallError| unreached(error, &name).hint.unwrap();
        let (server, most) = ("slow".to_owned(), 9);
        assert_eq!(
            hint(CallError::Timeout { server: server.clone(), seconds: 5 }),
            "`memdir tools doctor slow` looks again"
        );
        assert_eq!(hint(CallError::TooLarge { server, most }), "`memdir tools doctor slow` looks again");
        assert!(hint(CallError::LoginNeeded("slow".to_owned())).contains("memdir tools login slow"));
    }
}
