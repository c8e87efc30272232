//! The tools of other servers in a conversation: which are switched on, what the model is told of them, how its calls are made.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;

use super::session::Session;
use super::switches::Actions;
use super::{Agent, filter};
use crate::asked::Asked;
use memdir_core::catalog::Row;
use memdir_core::report::Code;
use memdir_model::grammar::Callable;
use memdir_policy::Filter;
use memdir_tools::{
    CallError, CallEvents, Kept, META_TOOLS, Permission, PinState, ServerName, ServerState, Switched, Tool, ToolAnswer,
    ToolCall, Toolbox,
};

mod call;
mod prompt;
mod step;

pub(super) use prompt::{Form, told};
pub(super) use step::results;

/// Who makes the calls of tools.
#[derive(Debug, Default)]
pub(super) enum Hands {
    /// Nobody: no tool of another server is known.
    #[default]
    None,
    /// These servers.
    Toolbox(Arc<dyn Toolbox>),
    /// Nobody, in a replay: these were called then.
    Replay(BTreeSet<String>),
}

/// What an agent has of the tools of other servers.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pub(super) hands: Hands,
    /// The rest of long results, and the conversation in which they came.
    kept: Kept,
    kept_for: String,
}

/// A call of a tool of another server, as the person is told of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCalled {
    /// The turn that made it, from 1.
    pub turn: usize,
    /// The tool.
    pub tool: String,
    /// Why nothing came of it; `tool_failed` where the tool says so itself.
    pub code: Option<Code>,
    /// How many bytes the result has.
    pub bytes: u64,
    /// How many milliseconds it took.
    pub ms: u64,
    /// Whether the result was kept from an earlier call.
    #[serde(rename = "cached")]
    pub is_cached: bool,
    /// The beginning of what the tool said, or why it said nothing: a line, for the person.
    #[serde(skip)]
    pub summary: String,
}

impl Session {
    /// Switches the tools of a server on, as the person has typed it.
    pub fn switch_tools_on(&mut self, server: ServerName) {
        self.tools.confirmed.insert(server.clone());
        self.switches.tools.insert(server);
    }

    /// Switches the tools of a server off again, and takes back what was said to them.
    pub fn switch_tools_off(&mut self, server: &ServerName) {
        self.switches.tools.remove(server);
        self.tools.confirmed.remove(server);
        self.tools.allowed.retain(|tool| memdir_tools::ToolName::server_in(tool).as_ref() != Some(server));
    }

    /// Whether a server is on only because the file of the conversation says so: the person is asked about each call then, whatever
    /// is allowed elsewhere. The file stands in the folder of the notes, and nothing there loosens anything.
    #[must_use]
    pub fn is_only_kept(&self, server: &ServerName) -> bool {
        self.switches.tools.contains(server) && !self.tools.confirmed.contains(server)
    }

    pub(super) fn switched(&self) -> Switched {
        Switched { servers: self.switches.tools.clone(), allowed: self.tools.allowed.clone() }
    }
}

impl<'e> Agent<'e> {
    /// Lets the model use the tools of other servers, as far as the conversation has them switched on.
    #[must_use]
    pub fn with_tools(mut self, toolbox: Arc<dyn Toolbox>) -> Self {
        self.tools.hands = Hands::Toolbox(toolbox);
        self
    }

    /// The tools of other servers; `None` where there are none.
    #[must_use]
    pub fn toolbox(&self) -> Option<&Arc<dyn Toolbox>> {
        match &self.tools.hands {
            Hands::Toolbox(toolbox) => Some(toolbox),
            Hands::None | Hands::Replay(_) => None,
        }
    }

    /// Why the model is given no tools of other servers, whatever is switched on; `None` where it is given them.
    #[must_use]
    pub fn tools_trouble(&self) -> Option<&'static str> {
        let is_off = self.session.switches.actions == Actions::Off;
        is_off.then_some("the model has no actions in this conversation, and so no tools")
    }

    /// The tools that the model may be told of: approved, switched on, and not denied.
    pub(super) fn offered(&self) -> Vec<Tool> {
        let Some(toolbox) = self.toolbox().filter(|_| self.tools_trouble().is_none()) else { return Vec::new() };
        let switches = &self.session.switches;
        let is_offered = |tool: &&Tool| {
            let is_usable = tool.pin == PinState::Approved && tool.permission != Permission::Deny;
            is_usable && switches.tools.contains(&tool.server)
        };
        if switches.tools.is_empty() {
            Vec::new()
        } else {
            toolbox.tools().iter().filter(is_offered).cloned().collect()
        }
    }

    /// The tools of which the model reads what their servers say of them, before it has asked for that.
    pub(super) fn described(&self, asked: &Asked) -> Vec<Tool> {
        let offered = self.offered();
        if self.decides_first() {
            return self.fitting(&offered, asked);
        }
        let form = if self.is_staged() { Form::CallTool } else { Form::Action };
        if prompt::listed(&offered, form).is_some() { offered } else { Vec::new() }
    }

    /// Whether a call that is no action goes to another server, or asks what there is.
    fn is_tool(&self, name: &str) -> bool {
        let is_meta = || META_TOOLS.iter().any(|row| row.name == name);
        match &self.tools.hands {
            Hands::None => false,
            Hands::Replay(called) => is_meta() || called.contains(name),
            Hands::Toolbox(_) if self.session.switches.tools.is_empty() || self.tools_trouble().is_some() => false,
            Hands::Toolbox(toolbox) => is_meta() || toolbox.tools().iter().any(|tool| tool.name.as_str() == name),
        }
    }
}

/// The toolbox of a conversation: of servers that are on only because its file says so, each call is asked about.
#[derive(Debug)]
struct ConversationToolbox<'t> {
    toolbox: &'t dyn Toolbox,
    session: &'t Session,
}

impl Toolbox for ConversationToolbox<'_> {
    fn servers(&self) -> Vec<ServerState> {
        self.toolbox.servers()
    }

    fn tools(&self) -> Arc<[Tool]> {
        let tools = self.toolbox.tools();
        if !tools.iter().any(|tool| self.session.is_only_kept(&tool.server)) {
            return tools;
        }
        let asked = |tool: &Tool| match self.session.is_only_kept(&tool.server) {
            true => Tool { permission: tool.permission.max(Permission::Ask), ..tool.clone() },
            false => tool.clone(),
        };
        tools.iter().map(asked).collect()
    }

    fn may_call(&self, call: &ToolCall) -> Result<(), CallError> {
        self.toolbox.may_call(call)
    }

    fn call(
        &self,
        call: &ToolCall,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        self.toolbox.call(call, events, stop)
    }

    fn on_change(&self, heard: Box<dyn Fn() + Send + Sync>) {
        self.toolbox.on_change(heard);
    }
}

/// What a model that works in stages is told of these tools, the rows of what finds them, and what it may call: all by their schemas where
/// they are few, else whatever it has found.
pub(super) fn staged(offered: &[Tool]) -> (String, &'static [Row], Callable<'_>) {
    let is_few = prompt::listed(offered, Form::CallTool).is_some();
    let told = told(offered, Form::CallTool);
    if is_few { (told, &[], callable(offered)) } else { (told, META_TOOLS.get(..2).unwrap_or_default(), Callable::Any) }
}

/// These tools, each held to its schema.
fn callable(tools: &[Tool]) -> Callable<'_> {
    static NONE: Json = Json::Null;
    let named = tools.iter().map(|tool| (tool.name.as_str(), tool.definition.get("inputSchema").unwrap_or(&NONE)));
    Callable::These(named.collect())
}

/// A value without what filters keep from the model.
fn withhold(value: &mut Json, filters: &[Filter]) {
    match value {
        Json::String(text) => *text = filter::withhold(text, filters),
        Json::Array(items) => items.iter_mut().for_each(|item| withhold(item, filters)),
        Json::Object(members) => {
            let kept = std::mem::take(members).into_iter().map(|(key, mut value)| {
                withhold(&mut value, filters);
                (filter::withhold(&key, filters), value)
            });
            *members = kept.collect::<Map<_, _>>();
        }
        Json::Null | Json::Bool(_) => {}
        Json::Number(number) => {
            let text = number.to_string();
            let shown = filter::withhold(&text, filters);
            if shown != text {
                *value = shown.into();
            }
        }
    }
}
