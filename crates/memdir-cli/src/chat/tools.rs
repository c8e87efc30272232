//! `/tools`, and the question before a tool of another server is called.

use serde_json::{Map, Value};

use super::Chat;
use super::talker::{Talker, Word};
use crate::stop::usage;
use crate::talk;
use memdir_core::catalog;
use memdir_engine::{ChangeError, ToolConsent};
use memdir_tools::{CallQuestion, ServerHealth, ServerName, ServerState, Tool};

/// So many bytes are shown of what is sent.
const SHOWN: usize = 20_000;

/// Lists the servers, or switches one on or off.
pub(super) fn run(chat: &mut Chat<'_>, text: &str) -> Result<(), ChangeError> {
    let servers = chat.agent.toolbox().map(|toolbox| toolbox.servers()).unwrap_or_default();
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        [] => {}
        ["on", names @ ..] if !names.is_empty() => {
            for name in names {
                let server = servers.iter().find(|server| server.name.as_str() == *name);
                let server = server.ok_or_else(|| talk::no_server(name, &servers))?;
                chat.agent.session_mut().switch_tools_on(server.name.clone());
            }
            if let Some(trouble) = chat.agent.tools_trouble() {
                chat.talker.screen.warn(&format!("note: {trouble}"));
            }
        }
        ["off"] => {
            let on: Vec<ServerName> = chat.agent.session().switches.tools.iter().cloned().collect();
            on.iter().for_each(|server| chat.agent.session_mut().switch_tools_off(server));
        }
        ["off", names @ ..] => {
            for name in names {
                let server = ServerName::parse(name).map_err(|_| talk::no_server(name, &servers))?;
                chat.agent.session_mut().switch_tools_off(&server);
            }
        }
        _ => {
            let what = format!("`/tools {}` is not a command", catalog::shorten(text));
            return Err(usage(what, "say `/tools`, `/tools on NAME` or `/tools off NAME`").into());
        }
    }
    list(chat, &servers);
    Ok(())
}

fn list(chat: &mut Chat<'_>, servers: &[ServerState]) {
    let (session, screen) = (chat.agent.session(), &mut chat.talker.screen);
    let width = servers.iter().map(|server| server.name.as_str().len()).max().unwrap_or(0);
    for server in servers {
        let is_on = session.switches.tools.contains(&server.name);
        let asks = if session.is_only_kept(&server.name) { ", and you are asked about each call" } else { "" };
        let state = match &server.health {
            _ if !server.enabled => "disabled".to_owned(),
            ServerHealth::Idle if !server.approved => format!("not approved: memdir tools approve {}", server.name),
            ServerHealth::Idle => "not started".to_owned(),
            ServerHealth::Starting => "starting".to_owned(),
            ServerHealth::Ready { .. } => "ready".to_owned(),
            ServerHealth::Failed { problem } => format!("failed: {problem}"),
        };
        let changed = match server.unapproved {
            0 => String::new(),
            one => format!(", {one} not as you approved them: memdir tools approve {}", server.name),
        };
        let is_on = if is_on { "on" } else { "off" };
        let tools = if server.tools == 1 { "tool" } else { "tools" };
        screen.show(&format!(
            "{:width$}  {is_on:3}  {} {tools}, {state}{changed}{asks}",
            server.name.as_str(),
            server.tools
        ));
    }
    for gone in session.switches.tools.iter().filter(|name| servers.iter().all(|server| server.name != **name)) {
        screen.show(&format!("{gone:width$}  on   no such server any more"));
    }
    if servers.is_empty() {
        screen.tell("no server is registered: memdir tools add");
    }
}

impl Talker<'_> {
    /// Asks about a call, with all that will be sent.
    pub(super) fn ask_about(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> ToolConsent {
        if !self.lines.is_attended() {
            return ToolConsent::NobodyThere;
        }
        self.screen.end_line();
        let CallQuestion { head, arguments, about } = CallQuestion::new(Some("the model"), tool, arguments);
        self.screen.warn(&head);
        if arguments.len() > SHOWN {
            self.screen.warn(&format!("{} bytes, too many to show here: nothing is sent", arguments.len()));
            return ToolConsent::NobodyThere;
        }
        arguments.lines().for_each(|line| self.screen.show(&format!("  {line}")));
        if !about.is_empty() {
            self.screen.tell(&about);
        }
        match self.ask("[y]es, once [c] yes, for this conversation [n]o", &[Word::Yes, Word::Conversation, Word::No]) {
            Some(Word::Yes) => ToolConsent::Once,
            Some(Word::Conversation) => ToolConsent::Conversation,
            Some(Word::No) => ToolConsent::No,
            Some(Word::Edit | Word::Always | Word::Later) | None => ToolConsent::NobodyThere,
        }
    }
}
