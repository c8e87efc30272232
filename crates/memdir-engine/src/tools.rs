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
    CallError, CallEvents, CallRecord, Decided, Elicitation, ElicitationAnswer, MOST_KEPT_BYTES, Permission, Progress,
    Switched, Tool, ToolAnswer, ToolCall, Toolbox, Verdict, kept_of,
};
use memdir_vault::{AuditEntry, Payload, SENT};

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

/// Longer arguments are not kept, as JSON in bytes.
const MOST_ARGUMENTS: usize = 64 << 10;

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
    /// person wants to be, with the arguments as they will be sent, and all of that has to hold after their answer too. A yes for the
    /// conversation is kept in `switched`. Each call has its entry in the audit, also one that is refused. That a call is sent is written
    /// before, so that it survives the end of the process, also where that is killed: where it cannot be written, nothing is sent.
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
        let decided = match decide(toolbox, switched, call, ask) {
            Ok(decided) => decided,
            Err((decided, failure)) => {
                let record = CallRecord { code: Some(failure.code), ..record(call, decided) };
                self.keep_call(caller, asked, 0, &record);
                return Err(failure);
            }
        };
        // The person may have thought about it for long.
        let sent = began();
        let record = CallRecord { arguments: self.kept_arguments(call), ..record(call, decided) };
        let entry = AuditEntry { code: Some(SENT.to_owned()), ..entry(&record, 0) };
        let number = self.vault.note_sent(entry, &caller.author_of(Some(call.tool.as_str())), sent.time, sent.forgets);
        let number = number.map_err(|error| failure(&error))?;
        let mut events = Heard { events, spoke: false };
        let answered = toolbox.call(call, &mut events, stop);
        let now = self.now();
        let record = match &answered {
            Ok(answer) => with_answer(record, answer, events.is_bounded()),
            Err(error) => CallRecord {
                took: now.since(sent.time),
                code: Some(Failure::from(error.clone()).code),
                spoke: events.spoke || error.has_words(),
                ..record
            },
        };
        tracing::info!(tool = %call.tool, code = ?record.code, "tool call");
        self.keep_call(caller, Began { time: now, ..sent }, number, &record);
        answered.map_err(Failure::from)
    }

    /// Writes what became of a call into the audit. `sent` is the number of the entry that says that it was sent, or 0. Where it cannot
    /// be written, that entry stands alone.
    fn keep_call(&self, caller: &Caller, began: Began, sent: u64, record: &CallRecord) {
        let (entry, author) = (entry(record, sent), caller.author_of(Some(record.tool.as_str())));
        if let Err(error) = self.vault.note_calls(vec![entry], &author, began.time, began.forgets) {
            tracing::error!(%error, tool = %record.tool, "what became of a call was not written into the audit");
        }
    }

    /// The arguments, where the person wants them kept, and they are not long and hold no secret that a detector finds.
    fn kept_arguments(&self, call: &ToolCall) -> Option<Map<String, Value>> {
        if !self.keeps_arguments {
            return None;
        }
        let all = Value::from(call.arguments.clone());
        let text = all.to_string();
        let is_kept = text.len() <= MOST_ARGUMENTS && !policy::holds_secret(&text) && !holds_secret(&all);
        is_kept.then(|| call.arguments.clone())
    }
}

/// Whether a detector finds a secret in one of the texts, read without the escapes of JSON.
fn holds_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => policy::holds_secret(text),
        Value::Array(items) => items.iter().any(holds_secret),
        Value::Object(members) => members.values().any(holds_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Who hears of a call, and whether the server has said something meanwhile.
struct Heard<'e> {
    events: &'e mut dyn CallEvents,
    spoke: bool,
}

impl CallEvents for Heard<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.spoke |= progress.message.is_some();
        self.events.progress(progress);
    }

    fn elicit(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        self.spoke = true;
        self.events.elicit(elicitation)
    }

    fn is_bounded(&self) -> bool {
        self.events.is_bounded()
    }
}

/// Why a call is not made, and who is against it.
type Against = (Decided, Failure);

/// Whether a call is made, and by whose leave; else who is against it, and what is said.
fn decide(
    toolbox: &dyn Toolbox,
    switched: &mut Switched,
    call: &ToolCall,
    ask: &mut dyn FnMut(&Tool, &Map<String, Value>) -> ToolConsent,
) -> Result<Decided, Against> {
    let shown = find(toolbox, call)?;
    match Verdict::of(&shown, switched) {
        Verdict::Refuse(failure) => return Err((Decided::Denied, failure)),
        Verdict::Allow if shown.permission == Permission::Allow => return Ok(Decided::Allowed),
        Verdict::Allow => return Ok(Decided::ApprovedForConversation),
        Verdict::Ask => {}
    }
    let tool = &shown.name;
    let consent = ask(&shown, &call.arguments);
    match consent {
        ToolConsent::Once | ToolConsent::Conversation => {}
        ToolConsent::No => {
            let failure = Failure::new(Code::Denied, format!("the person does not allow this call of `{tool}`"));
            return Err((Decided::Refused, failure.with_hint("leave it, and say so")));
        }
        ToolConsent::NobodyThere => {
            let message = format!("the person has to be asked about `{tool}`, and cannot be asked here");
            let failure = Failure::new(Code::PermissionRequired, message);
            return Err((Decided::Denied, failure.with_hint("go on without it, and say so; nothing was sent")));
        }
    }
    // They may have thought about it for long, and said yes to what they were shown.
    let now = find(toolbox, call)?;
    if now.definition != shown.definition {
        return Err((Decided::Denied, CallError::Changed(tool.to_string()).into()));
    }
    if let Verdict::Refuse(failure) = Verdict::of(&now, switched) {
        return Err((Decided::Denied, failure));
    }
    if consent == ToolConsent::Once {
        return Ok(Decided::Approved);
    }
    switched.allowed.insert(tool.to_string());
    Ok(Decided::ApprovedForConversation)
}

/// The tool that a call names, as it is now.
fn find(toolbox: &dyn Toolbox, call: &ToolCall) -> Result<Tool, Against> {
    // The person is not asked about a call that could not be made.
    toolbox.may_call(call).map_err(|error| (Decided::Denied, error.into()))?;
    let found = toolbox.tools().iter().find(|tool| tool.name == call.tool).cloned();
    found.ok_or_else(|| (Decided::Denied, CallError::UnknownTool(call.tool.to_string()).into()))
}

/// What the audit keeps of a call before it is answered, without its arguments.
fn record(call: &ToolCall, decided: Decided) -> CallRecord {
    let arguments = Value::from(call.arguments.clone()).to_string();
    CallRecord {
        tool: call.tool.clone(),
        server: call.tool.server(),
        decided,
        arguments_digest: Digest::of(arguments.as_bytes()),
        arguments_bytes: arguments.len() as u64,
        arguments: None,
        result_digest: None,
        result_bytes: 0,
        kept_bytes: None,
        is_cached: false,
        took: Duration::ZERO,
        code: None,
        is_error: false,
        spoke: false,
    }
}

fn with_answer(record: CallRecord, answer: &ToolAnswer, is_bounded: bool) -> CallRecord {
    let said = Value::from(answer.result.clone()).to_string();
    let is_error = answer.is_error();
    let may_be_cut = is_bounded && said.len() > MOST_KEPT_BYTES;
    CallRecord {
        result_digest: Some(Digest::of(said.as_bytes())),
        result_bytes: said.len() as u64,
        kept_bytes: may_be_cut.then(|| kept_of(&answer.result)).flatten().map(|kept| kept as u64),
        is_cached: answer.is_cached,
        took: answer.took,
        code: is_error.then_some(Code::ToolFailed),
        is_error,
        spoke: true,
        ..record
    }
}

fn entry(record: &CallRecord, sent: u64) -> AuditEntry {
    AuditEntry {
        number: usize::try_from(sent).unwrap_or(usize::MAX),
        action: record.tool.to_string(),
        code: record.code.map(|code| code.to_string()),
        micros: audit::micros(record.took),
        permission: record.decided.as_str().to_owned(),
        payload: Payload::of_tool_call(record),
    }
}
