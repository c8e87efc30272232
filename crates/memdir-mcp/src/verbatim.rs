//! [`Verbatim`]: results that reach the client as another server sent them.
//!
//! The protocol's library keeps of a result those members that it knows. What it would leave out is put back here: on the standard
//! streams in place of its value, over HTTP in place of its bytes, where it gives no value away.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use rmcp::model::{ClientNotification, ClientRequest, CustomResult, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde_json::Value;

use super::panics::PanicGuard;
use super::{lock, service};

/// What stands before the result of an answer.
const RESULT: &[u8] = br#""result":"#;

/// The result of one request, if it is more than the library knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Verbatim(Arc<Mutex<Option<WholeResult>>>);

#[derive(Debug)]
struct WholeResult {
    /// What the library writes.
    known: Vec<u8>,
    whole: Value,
}

impl Verbatim {
    /// Has `whole` sent where the library would send `known`.
    fn put(&self, known: &impl Serialize, whole: Value) {
        // What cannot be written is not sent either.
        if let Ok(known) = serde_json::to_vec(known) {
            *lock(&self.0) = Some(WholeResult { known, whole });
        }
    }

    /// Whether something is to be sent in place of what the library sends.
    pub(super) fn is_set(&self) -> bool {
        lock(&self.0).is_some()
    }

    fn take(&self) -> Option<Value> {
        lock(&self.0).take().map(|result| result.whole)
    }

    /// A piece of what the library sends, with the whole result in it; `None` where it is not that piece. The library sends each
    /// message in one piece.
    pub(super) fn in_place(&self, piece: &[u8]) -> Option<Bytes> {
        let mut result = lock(&self.0);
        let known = &result.as_ref()?.known;
        // No text before the result can hold this: the quotes in it would be escaped.
        let begin = piece.windows(RESULT.len()).position(|window| window == RESULT)? + RESULT.len();
        let after = piece.get(begin..)?.strip_prefix(known.as_slice())?;
        let whole = serde_json::to_vec(&result.as_ref()?.whole).ok()?;
        let sent = [piece.get(..begin)?, &whole, after].concat();
        *result = None;
        Some(sent.into())
    }
}

/// Has `whole` sent as the result of a request, where the library would send `known`.
pub(super) fn put(context: &RequestContext<RoleServer>, known: &impl Serialize, whole: Value) {
    let over_http = service::sender(context).map(|sender| &sender.verbatim);
    if let Some(verbatim) = over_http.or_else(|| context.extensions.get()) {
        verbatim.put(known, whole);
    }
}

/// A service on the standard streams that sends results whole.
#[derive(Debug)]
pub(super) struct WholeResults(pub(super) PanicGuard);

impl Service<RoleServer> for WholeResults {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let verbatim = Verbatim::default();
        context.extensions.insert(verbatim.clone());
        let known = self.0.handle_request(request, context).await?;
        Ok(verbatim.take().map_or(known, |whole| ServerResult::CustomResult(CustomResult::new(whole))))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Puts a result, and compares what becomes of a piece.
    #[track_caller]
    fn check(piece: &str, expected: Option<&str>) {
        let verbatim = Verbatim::default();
        verbatim.put(&json!({"content": []}), json!({"content": [], "x": 1}));
        let sent = verbatim.in_place(piece.as_bytes());
        assert_eq!(sent.as_deref(), expected.map(str::as_bytes), "{piece}");
        assert_eq!(verbatim.is_set(), expected.is_none());
    }

    #[test]
    fn only_the_result_itself_is_put_in_place() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
            Some(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":1}}"#),
        );
        check(
            "id: 3\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"\\\"result\\\":\",\"result\":{\"content\":[]}}\n\n",
            Some(
                "id: 3\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"\\\"result\\\":\",\"result\":{\"content\":[],\"x\":1}}\n\n",
            ),
        );
        check(r#"{"jsonrpc":"2.0","method":"m","params":{"result":{"x":{"content":[]}}}}"#, None);
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[7]}}"#, None);
        check("data:\n\n", None);
    }
}
