//! [`Wire`]: what a transport tells those who call over it, beside what rmcp hands on.
//!
//! rmcp reads results into types of its own, which lose what these do not know. So the transport leaves each result here as it
//! came. It also says here, at once, that the connection has ended.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, NumberOrString, RequestId, ServerJsonRpcMessage,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::lock;

/// The longest message that is taken from a server, in bytes.
pub(crate) const MOST_MESSAGE: usize = 16 * 1024 * 1024;

/// How many questions are kept as they came.
const MOST_ASKED: usize = 16;

/// Why a connection has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WireEnd {
    /// The other side closed it, or it broke.
    Lost(String),
    /// A message was longer than [`MOST_MESSAGE`].
    TooLarge,
}

/// One connection, as the calls over it see it.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// The requests whose result is wanted as it came, with that result once it is there.
    results: Mutex<HashMap<RequestId, Option<Map<String, Value>>>>,
    /// What the server asks the person, as it came.
    asked: Mutex<HashMap<RequestId, Map<String, Value>>>,
    /// The number of the newest request that opens a conversation. An answer to an older one came too late to matter, and rmcp
    /// would take it for the answer to this one.
    opening: Mutex<i64>,
    ended: CancellationToken,
    end: OnceLock<WireEnd>,
}

impl Wire {
    /// Notes a message before it is sent: the results of `tools/call` and `tools/list` are kept.
    pub(crate) fn sends(&self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        match &request.request {
            ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => {
                lock(&self.results).insert(request.id.clone(), None);
            }
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => {
                if let NumberOrString::Number(number) = request.id {
                    *lock(&self.opening) = number;
                }
            }
            _ => {}
        }
    }

    /// Keeps what is wanted of a message as it came: a result, or what the server asks the person. For transports that hand the
    /// message itself to rmcp.
    pub(crate) fn keep(&self, message: &Value) {
        self.keep_question(message);
        let (Some(id), Some(Value::Object(result))) = (message.get("id").and_then(id_in), message.get("result")) else {
            return;
        };
        if let Some(kept) = lock(&self.results).get_mut(&id) {
            *kept = Some(result.clone());
        }
    }

    fn keep_question(&self, message: &Value) {
        if message.get("method").and_then(Value::as_str) == Some("elicitation/create")
            && let Some(id) = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok())
            && let Some(Value::Object(params)) = message.get("params")
        {
            let mut asked = lock(&self.asked);
            // Nobody takes those that rmcp has refused.
            if asked.len() >= MOST_ASKED {
                asked.clear();
            }
            asked.insert(id, params.clone());
        }
    }

    /// Takes what the server asks the person with this request.
    pub(crate) fn question(&self, id: &RequestId) -> Option<Map<String, Value>> {
        lock(&self.asked).remove(id)
    }

    /// Reads a message of the server's. A result that is wanted as it came is kept, and rmcp gets an empty one in its place;
    /// `None` for what is no message, and for an answer to a request that opened a conversation before the newest one did.
    pub(crate) fn receives(&self, mut message: Value) -> Option<ServerJsonRpcMessage> {
        self.keep_question(&message);
        if let Some(id) = message.get("id").and_then(id_in)
            && message.get("method").is_none()
        {
            if matches!(id, NumberOrString::Number(number) if number < *lock(&self.opening)) {
                return None;
            }
            if let Some(kept) = lock(&self.results).get_mut(&id)
                && let Some(result @ Value::Object(_)) = message.get_mut("result")
                && let Value::Object(result) = std::mem::replace(result, json!({"content": []}))
            {
                *kept = Some(result);
            }
        }
        serde_json::from_value(message)
            .inspect_err(|_| tracing::debug!("a message that nobody can read was ignored"))
            .ok()
    }

    /// Takes the result of a request; it is kept no longer, also where it comes later.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Map<String, Value>> {
        lock(&self.results).remove(id).flatten()
    }

    /// Says that the connection has ended; the first reason counts.
    pub(crate) fn end(&self, why: WireEnd) {
        let _ = self.end.set(why);
        self.ended.cancel();
    }

    /// Waits until the connection has ended.
    pub(crate) async fn ended(&self) -> WireEnd {
        self.ended.cancelled().await;
        self.end.get().cloned().unwrap_or_else(|| WireEnd::Lost("the connection has ended".to_owned()))
    }

    /// Why the connection has ended, if it has.
    pub(crate) fn why(&self) -> Option<WireEnd> {
        self.end.get().cloned()
    }
}

/// The identifier of a message, as the requests were numbered: a number that came back as a text is that number.
fn id_in(id: &Value) -> Option<RequestId> {
    match id {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .map(NumberOrString::Number)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, DiscoverRequest, DiscoverRequestParams, InitializeRequest,
        InitializeRequestParams,
    };

    use super::*;

    fn sends(wire: &Wire, number: i64, request: ClientRequest) -> RequestId {
        let id = NumberOrString::Number(number);
        wire.sends(&ClientJsonRpcMessage::request(request, id.clone()));
        id
    }

    fn call() -> ClientRequest {
        ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("echo")))
    }

    #[test]
    fn the_late_answer_to_a_probe_is_not_taken_for_the_answer_to_what_came_after() {
        let wire = Wire::default();
        let answer = |number: i64| json!({"jsonrpc": "2.0", "id": number, "result": {}});
        let refusal =
            |number: i64| json!({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "what?"}});
        sends(&wire, 0, ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {})));
        assert!(wire.receives(refusal(0)).is_some());
        sends(&wire, 1, ClientRequest::InitializeRequest(InitializeRequest::new(InitializeRequestParams::default())));
        assert!(wire.receives(answer(0)).is_none());
        assert!(wire.receives(refusal(0)).is_none());
        assert!(wire.receives(json!({"jsonrpc": "2.0", "id": "0", "result": {}})).is_none());
        assert!(wire.receives(answer(1)).is_some());
        let ping = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
        assert!(wire.receives(ping).is_some(), "the server numbers its own requests");
    }

    #[test]
    fn a_result_is_kept_for_the_one_who_waits_and_for_nobody_else() {
        let wire = Wire::default();
        let result = json!({"content": [{"type": "hologram"}], "own": 1});
        let first = sends(&wire, 5, call());
        wire.receives(json!({"jsonrpc": "2.0", "id": "5", "result": result})).unwrap();
        assert_eq!(wire.take(&first).map(Value::Object), Some(result.clone()));
        assert_eq!(wire.take(&first), None);
        // It comes when the call was given up.
        wire.receives(json!({"jsonrpc": "2.0", "id": 5, "result": result})).unwrap();
        wire.keep(&json!({"jsonrpc": "2.0", "id": 6, "result": result}));
        assert!(lock(&wire.results).is_empty());
        let second = sends(&wire, 7, call());
        wire.keep(&json!({"jsonrpc": "2.0", "id": 7, "result": result}));
        assert_eq!(wire.take(&second).map(Value::Object), Some(result));
    }

    #[test]
    fn questions_that_nobody_takes_are_few() {
        let wire = Wire::default();
        for number in 0..1_000 {
            let asked =
                json!({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": {"message": "?"}});
            wire.keep(&asked);
        }
        assert!(lock(&wire.asked).len() <= MOST_ASKED);
        assert!(wire.question(&NumberOrString::Number(999)).is_some());
    }
}
