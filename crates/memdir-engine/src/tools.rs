//! A call of another server's tool: found, decided, asked about, made, and kept in the audit. There is no other way to make one.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Caller, Engine, audit, failure};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_policy as policy;
use memdir_tools::{
    CallError, CallEvents, CallRecord, Decided, Permission, ServerName, Switched, Tool, ToolAnswer, ToolCall, ToolName,
    Toolbox, Verdict,
};
use memdir_vault::{AuditEntry, Author, Payload};

/// What the person answers when they are asked about a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ToolConsent {
    /// Yes, to this call.
    Once,
    /// Yes, to this tool as long as the conversation lasts.
    Conversation,
    /// No.
    No,
    /// There is nobody to ask.
    NobodyThere,
}

/// The code of an entry whose tool says itself that it failed. No failure has it, for that is an answer.
const TOOL_FAILED: &str = "tool_failed";

/// When a call began: its time in the audit, and how often something had been forgotten by then.
#[derive(Clone, Copy, Debug)]
struct Began {
    time: Timestamp,
    forgets: u64,
}

impl Engine {
    /// Calls a tool of another server for `caller`, and blocks until it has answered.
    ///
    /// The tool has to be known, its server switched on, its definition approved and its call permitted; `ask` is asked where the
    /// person wants to be, with the arguments as they will be sent. A yes for the conversation is kept in `switched`. Each call has
    /// its entry in the audit, also one that is refused; where none can be written, none is made.
    ///
    /// # Errors
    ///
    /// `unknown_action` for a tool that there is not; `denied` where it is switched off, not approved or not permitted, or the person
    /// says no; `permission_required` where nobody can be asked; those of [`CallError`]; those of the vault, before anything is sent.
    /// What the tool says of its own failure is an answer.
    #[expect(clippy::too_many_arguments, reason = "each is another party to the call")]
    pub fn call_tool(
        &self,
        toolbox: &dyn Toolbox,
        caller: &Caller,
        switched: &mut Switched,
        call: &ToolCall,
        ask: &mut dyn FnMut(&Tool, &Map<String, Value>) -> ToolConsent,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, Failure> {
        let _span = tracing::debug_span!("call_tool", tool = %call.tool).entered();
        self.vault.look_after_crash().and_then(|()| self.vault.begin_history()).map_err(|error| failure(&error))?;
        let began = || Began { time: self.now(), forgets: self.vault.forgets() };
        let asked = began();
        let decided = match toolbox.tools().iter().find(|tool| tool.name == call.tool) {
            Some(tool) => decide(toolbox, tool, switched, call, ask),
            None => Err((Decided::Denied, CallError::UnknownTool(call.tool.to_string()).into())),
        };
        let decided = match decided {
            Ok(decided) => decided,
            Err((decided, failure)) => {
                self.keep_call(caller, asked, record(call, decided, Err(failure.code), Duration::ZERO));
                return Err(failure);
            }
        };
        // The person may have thought about it for long.
        let sent = began();
        let answered = toolbox.call(call, events, stop).map_err(Failure::from);
        let took = answered.as_ref().map_or_else(|_| self.now().since(sent.time), |answer| answer.took);
        let result = answered.as_ref().map_err(|failure| failure.code);
        tracing::info!(tool = %call.tool, code = ?result.err(), "tool call");
        let kept = record(call, decided, result, took);
        self.keep_call(caller, sent, kept.map(|kept| CallRecord { arguments: self.kept_arguments(call), ..kept }));
        answered
    }

    /// Writes one entry into the audit for a call of another server's tool: it survives the end of the process, also where that is
    /// killed, and may be lost only with the power.
    ///
    /// # Errors
    ///
    /// Those of the vault.
    pub fn record_tool_call(&self, caller: &Caller, record: &CallRecord) -> Result<(), Failure> {
        self.record_call(caller, Began { time: self.now(), forgets: self.vault.forgets() }, record)
    }

    fn record_call(&self, caller: &Caller, began: Began, record: &CallRecord) -> Result<(), Failure> {
        let own = record.is_error.then(|| TOOL_FAILED.to_owned());
        let entry = AuditEntry {
            number: 1,
            action: record.tool.to_string(),
            code: record.code.map(|code| code.to_string()).or(own),
            micros: audit::micros(record.took),
            permission: record.decided.as_str().to_owned(),
            payload: Payload::of_tool_call(record),
        };
        let author = Author { origin: format!("tool:{}", record.tool), ..caller.author.clone() };
        self.vault.note_calls(vec![entry], &author, began.time, began.forgets).map_err(|error| failure(&error))
    }

    /// As [`Engine::record_tool_call`], for a call that is over, whatever becomes of its entry.
    fn keep_call(&self, caller: &Caller, began: Began, record: Option<CallRecord>) {
        let Some(record) = record else { return };
        if let Err(failure) = self.record_call(caller, began, &record) {
            tracing::error!(%failure, tool = %record.tool, "a call was not written into the audit");
        }
    }

    /// The arguments, where the person wants them kept and no secret is in them.
    fn kept_arguments(&self, call: &ToolCall) -> Option<Map<String, Value>> {
        if !self.keeps_arguments {
            return None;
        }
        let has_secret = policy::holds_secret(&Value::from(call.arguments.clone()).to_string());
        (!has_secret).then(|| call.arguments.clone())
    }
}

/// Whether a call is made, and by whose leave; else who is against it, and what is said.
fn decide(
    toolbox: &dyn Toolbox,
    tool: &Tool,
    switched: &mut Switched,
    call: &ToolCall,
    ask: &mut dyn FnMut(&Tool, &Map<String, Value>) -> ToolConsent,
) -> Result<Decided, (Decided, Failure)> {
    match Verdict::of(tool, switched) {
        Verdict::Refuse(failure) => return Err((Decided::Denied, failure)),
        Verdict::Allow if tool.permission == Permission::Allow => return Ok(Decided::Allowed),
        Verdict::Allow => return Ok(Decided::ApprovedForConversation),
        // The person is not asked about a call that could not be made.
        Verdict::Ask => toolbox.may_call(call).map_err(|error| (Decided::Denied, error.into()))?,
    }
    match ask(tool, &call.arguments) {
        ToolConsent::Once => Ok(Decided::Approved),
        ToolConsent::Conversation => {
            switched.allowed.insert(tool.name.to_string());
            Ok(Decided::ApprovedForConversation)
        }
        ToolConsent::No => {
            let failure = Failure::new(Code::Denied, format!("the person does not allow this call of `{}`", tool.name));
            Err((Decided::Refused, failure.with_hint("leave it, and say so")))
        }
        ToolConsent::NobodyThere => {
            let message = format!("the person has to be asked about `{}`, and cannot be asked here", tool.name);
            let failure = Failure::new(Code::PermissionRequired, message);
            Err((Decided::Denied, failure.with_hint("go on without it, and say so; nothing was sent")))
        }
    }
}

/// What the audit keeps of a call, without its arguments.
fn record(call: &ToolCall, decided: Decided, result: Result<&ToolAnswer, Code>, took: Duration) -> Option<CallRecord> {
    let server: ServerName = ToolName::server_in(call.tool.as_str())?;
    let arguments = Value::from(call.arguments.clone()).to_string();
    let answer = result.ok();
    let said = answer.map(|answer| Value::from(answer.result.clone()).to_string());
    Some(CallRecord {
        tool: call.tool.clone(),
        server,
        decided,
        arguments_digest: Digest::of(arguments.as_bytes()),
        arguments_bytes: arguments.len() as u64,
        arguments: None,
        result_digest: said.as_ref().map(|said| Digest::of(said.as_bytes())),
        result_bytes: said.map_or(0, |said| said.len() as u64),
        is_cached: answer.is_some_and(|answer| answer.is_cached),
        took,
        code: result.err(),
        is_error: answer.is_some_and(ToolAnswer::is_error),
    })
}
