//! A toolbox that answers what it was told before, for tests of what uses one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    CallError, CallEvents, Permission, PinState, ServerHealth, ServerName, ServerState, Tool, ToolAnswer, ToolCall,
    ToolName, Toolbox,
};

/// Tools with their answers, and what was asked of them.
#[derive(Debug, Default)]
pub struct Scripted {
    tools: Vec<Tool>,
    answers: BTreeMap<String, Result<Map<String, Value>, CallError>>,
    calls: Mutex<Vec<ToolCall>>,
}

impl Scripted {
    /// Adds an approved tool with a permission, that answers each call with this result.
    ///
    /// # Errors
    ///
    /// [`NameError`](super::NameError) where `server` is no name of one.
    pub fn with(
        self,
        name: (&str, &str),
        permission: Permission,
        result: Map<String, Value>,
    ) -> Result<Self, super::NameError> {
        self.with_answer(name, permission, Ok(result))
    }

    /// As [`Self::with`], where each call fails so.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn failing(
        self,
        name: (&str, &str),
        permission: Permission,
        error: CallError,
    ) -> Result<Self, super::NameError> {
        self.with_answer(name, permission, Err(error))
    }

    fn with_answer(
        mut self,
        (server, own): (&str, &str),
        permission: Permission,
        answer: Result<Map<String, Value>, CallError>,
    ) -> Result<Self, super::NameError> {
        let tool = Tool { permission, ..tool(server, own, "Does what it is called.", &json!({"type": "object"}))? };
        self.answers.insert(tool.name.to_string(), answer);
        self.tools.push(tool);
        Ok(self)
    }

    /// Adds a tool that answers nothing.
    #[must_use]
    pub fn offering(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// The calls that were made, in their order.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A tool that the person has approved.
///
/// # Errors
///
/// [`NameError`](super::NameError) where `server` is no name of one.
pub fn tool(server: &str, own: &str, description: &str, schema: &Value) -> Result<Tool, super::NameError> {
    let server = ServerName::parse(server)?;
    let members = [("name", json!(own)), ("description", json!(description)), ("inputSchema", schema.clone())];
    Ok(Tool {
        name: ToolName::of(&server, own),
        server,
        own: own.to_owned(),
        definition: members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        permission: Permission::Ask,
        pin: PinState::Approved,
    })
}

impl Toolbox for Scripted {
    fn servers(&self) -> Vec<ServerState> {
        let names: BTreeSet<&ServerName> = self.tools.iter().map(|tool| &tool.server).collect();
        let state = |name: &ServerName| ServerState {
            name: name.clone(),
            enabled: true,
            approved: true,
            health: ServerHealth::Ready { protocol: "2026-07-28".to_owned() },
            tools: self.tools.iter().filter(|tool| tool.server == *name).count(),
            unapproved: 0,
        };
        names.into_iter().map(state).collect()
    }

    fn tools(&self) -> Arc<[Tool]> {
        self.tools.clone().into()
    }

    fn call(&self, call: &ToolCall, _: &mut dyn CallEvents, _: &CancellationToken) -> Result<ToolAnswer, CallError> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call.clone());
        let result = self.answers.get(call.tool.as_str()).cloned();
        let result = result.ok_or_else(|| CallError::UnknownTool(call.tool.to_string()))??;
        Ok(ToolAnswer { result, is_cached: false, took: Duration::from_millis(7) })
    }

    fn on_change(&self, _: Box<dyn Fn() + Send + Sync>) {}
}
