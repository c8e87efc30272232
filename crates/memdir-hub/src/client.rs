//! [`Handler`]: what memdir hears from a server, and answers when the server asks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memdir_tools::{CallError, Elicitation, ElicitationAnswer, Progress};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ListRootsRequestMethod, ProgressNotificationParam, ProgressToken, ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::lock;
use crate::wire::Wire;

/// How many notices of progress may wait for a caller that is busy. What comes then is left out.
const MOST_WAITING: usize = 64;

/// What a call that runs says to the thread that waits for it.
pub(crate) enum CallMessage {
    Progress(Progress),
    Elicit(Elicitation, oneshot::Sender<ElicitationAnswer>),
    Done(Result<Map<String, Value>, CallError>),
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct RunningCall {
    to_caller: Sender<CallMessage>,
    /// How many notices of progress the caller has not heard yet.
    pub(crate) waiting: Arc<AtomicUsize>,
    /// Whether the person has a question before them.
    is_asking: AtomicBool,
    last_sign: Mutex<Instant>,
}

impl RunningCall {
    pub(crate) fn new(to_caller: Sender<CallMessage>, waiting: Arc<AtomicUsize>) -> Self {
        Self { to_caller, waiting, is_asking: AtomicBool::new(false), last_sign: Mutex::new(Instant::now()) }
    }

    /// When the call is given up that may be silent for `limit`. While the person is asked, the server waits for them.
    pub(crate) fn deadline(&self, limit: Duration) -> Instant {
        if self.is_asking.load(Ordering::Relaxed) { Instant::now() + limit } else { *lock(&self.last_sign) + limit }
    }

    pub(crate) fn is_alive(&self) {
        *lock(&self.last_sign) = Instant::now();
    }

    fn progress(&self, progress: Progress) {
        self.is_alive();
        if self.waiting.load(Ordering::Relaxed) < MOST_WAITING {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let _ = self.to_caller.send(CallMessage::Progress(progress));
        }
    }

    pub(crate) fn done(&self, result: Result<Map<String, Value>, CallError>) {
        let _ = self.to_caller.send(CallMessage::Done(result));
    }

    /// Asks the person, by the thread that waits for the call: one question at a time, and no more may wait. The answer is a
    /// result of `elicitation/create`.
    pub(crate) async fn ask(&self, params: Map<String, Value>) -> Value {
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        if self.is_asking.swap(true, Ordering::Relaxed) {
            return json!({"action": "decline"});
        }
        let (answer, waits) = oneshot::channel();
        let _ends_with_this = Asking(self);
        let _ = self.to_caller.send(CallMessage::Elicit(Elicitation { message, params }, answer));
        match waits.await {
            Ok(ElicitationAnswer::Accept(content)) => json!({"action": "accept", "content": content}),
            Ok(ElicitationAnswer::Decline) | Err(_) => json!({"action": "decline"}),
            Ok(ElicitationAnswer::Cancel) => json!({"action": "cancel"}),
        }
    }
}

/// A question before the person, until it is answered or the server takes it back.
struct Asking<'a>(&'a RunningCall);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.is_alive();
        self.0.is_asking.store(false, Ordering::Relaxed);
    }
}

/// The client's half of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handler {
    /// The connection, as the calls over it see it: transports leave results as they came here, and say that it has ended.
    pub(crate) wire: Arc<Wire>,
    /// The calls that run, by the token of their progress.
    calls: Arc<Mutex<HashMap<ProgressToken, Arc<RunningCall>>>>,
    /// Heard when the list of tools has become another one.
    pub(crate) list_changed: Arc<Notify>,
}

impl Handler {
    pub(crate) fn began(&self, token: ProgressToken, call: Arc<RunningCall>) {
        lock(&self.calls).insert(token, call);
    }

    pub(crate) fn ended(&self, token: &ProgressToken) {
        lock(&self.calls).remove(token);
    }

    /// Asks the person for the one call that runs. Where several do, nobody can tell whose question it is: it is declined.
    async fn ask(&self, params: Map<String, Value>) -> Value {
        let only = {
            let calls = lock(&self.calls);
            let mut calls = calls.values();
            calls.next().filter(|_| calls.next().is_none()).cloned()
        };
        match only {
            Some(call) => call.ask(params).await,
            None => json!({"action": "decline"}),
        }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        // What is not named here is declined: sampling and roots.
        let mut capabilities = ClientCapabilities::default();
        let elicitation = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        capabilities.elicitation = Some(elicitation.with_url(UrlElicitationCapability::default()));
        ClientConfig::new(capabilities, Implementation::new("memdir", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = self.wire.question(&context.id).or_else(|| object(serde_json::to_value(request).ok()?));
        let asked = self.ask(params.unwrap_or_default());
        let answer = tokio::select! {
            answer = asked => answer,
            () = context.ct.cancelled() => json!({"action": "cancel"}),
        };
        serde_json::from_value(answer).or(Ok(ElicitResult::new(ElicitationAction::Decline)))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        // A question in a form that rmcp has no type for comes here.
        match self.wire.question(&context.id) {
            Some(params) => Ok(CustomResult::new(self.ask(params).await)),
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }

    #[expect(deprecated, reason = "versions before 2026-07-28 have it")]
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        // Without this, rmcp answers that there are none.
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let call = lock(&self.calls).get(&params.progress_token).cloned();
        if let Some(call) = call {
            call.progress(Progress { progress: params.progress, total: params.total, message: params.message });
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed.notify_one();
    }
}

/// The members of an object.
pub(crate) fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_question_that_the_server_takes_back_is_not_asked_for_ever() {
        let (to_caller, heard) = std::sync::mpsc::channel();
        let call = RunningCall::new(to_caller, Arc::default());
        for _ in 0..2 {
            tokio::select! {
                biased;
                answer = call.ask(Map::new()) => panic!("nobody has answered: {answer}"),
                () = async {} => {}
            }
        }
        assert_eq!(heard.try_iter().count(), 2);
    }
}
