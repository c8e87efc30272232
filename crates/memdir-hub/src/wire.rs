//! [`Wire`]: what a transport tells those who call over it, beside what rmcp hands on.
//!
//! rmcp reads results into types of its own, which lose what these do not know. So the transport leaves each result here as it
//! came. It also says here, at once, that the connection has ended.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use memdir_core::json::without_halves;
use memdir_core::text::escape_unseen;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, NumberOrString, RequestId,
    ServerJsonRpcMessage,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::lock;

/// The longest message that is taken from a server, in bytes.
pub(crate) const MOST_MESSAGE: usize = 16 * 1024 * 1024;

/// The code of JSON-RPC for what cannot be read as a message, and the longest part of that which is quoted, in letters.
const UNREADABLE: ErrorCode = ErrorCode(-32700);
const MOST_QUOTED: usize = 200;
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

    /// Reads a line of a server's output.
    ///
    /// # Errors
    ///
    /// The line, shortened, where it is no message: programs greet people and log here, and go on to answer. Other clients pass
    /// over such lines too. Empty for a message that nobody waits for.
    pub(crate) fn reads(&self, line: &[u8]) -> Result<ServerJsonRpcMessage, String> {
        match serde_json::from_slice(&without_halves(line)) {
            Ok(message @ Value::Object(_)) if is_message(&message) => self.receives(message).ok_or_else(String::new),
            Ok(_) => Err(quoted(line)),
            Err(_) => self.broken_answer(line).ok_or_else(|| quoted(line)),
        }
    }

    /// The error of the one request that waits, for a line that was meant as a message and is not JSON.
    fn broken_answer(&self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let text = String::from_utf8_lossy(line);
        let is_meant =
            text.trim_start().starts_with('{') && text.contains("\"jsonrpc\"") && !text.contains("\"method\"");
        let id = {
            let results = lock(&self.results);
            let mut waiting = results.iter().filter(|(_, result)| result.is_none());
            waiting.next().filter(|_| is_meant && waiting.next().is_none())?.0.clone()
        };
        Some(unreadable(id, line))
    }

    /// Reads a message of the server's. A result that is wanted as it came is kept, and rmcp gets an empty one in its place. An
    /// answer that is neither a result nor an error is an error. `None` for what is no message, and for an answer to a request
    /// that opened a conversation before the newest one did.
    pub(crate) fn receives(&self, mut message: Value) -> Option<ServerJsonRpcMessage> {
        self.keep_question(&message);
        if let Some(id) = message.get("id").and_then(id_in)
            && message.get("method").is_none()
        {
            if matches!(id, NumberOrString::Number(number) if number < *lock(&self.opening)) {
                return None;
            }
            let is_error = message.get("error").is_some_and(Value::is_object);
            if let Some(kept) = lock(&self.results).get_mut(&id) {
                match message.get_mut("result") {
                    Some(result @ Value::Object(_)) => {
                        if let Value::Object(result) = std::mem::replace(result, json!({"content": []})) {
                            *kept = Some(result);
                        }
                    }
                    None | Some(Value::Null) if is_error => {}
                    _ => return Some(unreadable(id, message.to_string().as_bytes())),
                }
            }
        }
        let is_answer = message.get("method").is_none();
        match ServerJsonRpcMessage::deserialize(&message) {
            Ok(message) => Some(message),
            Err(_) if is_answer => Some(unreadable(message.get("id").and_then(id_in)?, message.to_string().as_bytes())),
            Err(_) => {
                tracing::debug!("a message that nobody can read was ignored");
                None
            }
        }
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

/// Whether an object is a message of the protocol, or means to be an answer: a log may have an `id` too.
fn is_message(object: &Value) -> bool {
    let has = |key: &str| object.get(key).is_some();
    has("jsonrpc") || (has("id") && (has("result") || has("error")))
}

/// A request is answered by something that is no answer.
fn unreadable(id: RequestId, line: &[u8]) -> ServerJsonRpcMessage {
    let message = format!("what came is no answer of the protocol: `{}`", quoted(line));
    ServerJsonRpcMessage::error(ErrorData::new(UNREADABLE, message, None), Some(id))
}

/// The beginning of a line, with what is unseen escaped.
fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let cut: String = text.chars().take(MOST_QUOTED).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", escape_unseen(&cut, |_| false))
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
    fn a_result_that_was_cut_within_a_character_is_read() {
        let wire = Wire::default();
        let id = sends(&wire, 1, call());
        wire.reads(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"said":"cut \ud83d"}}"#).unwrap();
        assert_eq!(wire.take(&id).unwrap()["said"], "cut \u{fffd}");
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
    fn what_is_no_answer_is_told_to_the_one_who_waits_for_it() {
        let error_of = |answer: Result<ServerJsonRpcMessage, String>| {
            let message = serde_json::to_value(answer.unwrap()).unwrap();
            (message["id"].clone(), message["error"]["message"].as_str().unwrap_or_default().to_owned())
        };
        for line in [
            r#"{"jsonrpc":"2.0","id":5}"#,
            r#"{"jsonrpc":"2.0","id":5,"result":"\u202edone"}"#,
            r#"{"id":5,"result":{"content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":5,"error":"no"}"#,
            r#"{"jsonrpc":"2.0","id":5,"result":{"content":[],"score":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":5,"result":{"content":["#,
        ] {
            let wire = Wire::default();
            sends(&wire, 5, call());
            let (id, message) = error_of(wire.reads(line.as_bytes()));
            assert_eq!(id, 5, "{line}");
            assert!(message.contains("no answer of the protocol") && !message.contains('\u{202e}'), "{message}");
        }
        let wire = Wire::default();
        sends(&wire, 5, call());
        let long = format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{}"}}"#, "x".repeat(9_000));
        assert!(error_of(wire.reads(long.as_bytes())).1.chars().count() < 300);
        // Whose answer it was to be cannot be told.
        sends(&wire, 6, call());
        let broken = br#"{"jsonrpc":"2.0","id":5,"result":{"score":NaN}}"#;
        assert_eq!(wire.reads(broken).unwrap_err().as_bytes(), broken);
    }

    #[test]
    fn what_a_program_says_beside_messages_is_passed_over() {
        let wire = Wire::default();
        sends(&wire, 5, call());
        for (line, kept) in [
            ("Server is listening \u{1b}[2J\r", "Server is listening \\u{1b}[2J"),
            (r#"{"level":"info"}"#, r#"{"level":"info"}"#),
            ("{'level': 'info'}", "{'level': 'info'}"),
            (r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":NaN}}"#, "{"),
            (" ", ""),
        ] {
            let passed = wire.reads(line.as_bytes()).unwrap_err();
            assert!(passed.starts_with(kept) && passed.is_empty() == kept.is_empty(), "{passed}");
        }
        let answer = json!({"jsonrpc": "2.0", "id": 5, "result": {"content": []}}).to_string();
        assert!(wire.reads(answer.as_bytes()).is_ok());
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
