//! Messages as they come in: [`Lines`] of the standard streams, and what is said to one that cannot be read.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcError, RequestId};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// So long may a line be.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Reads one message from each line.
pub(super) struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(read: R) -> Self {
        Self { read: BufReader::new(read), line: Vec::new(), is_too_long: false }
    }

    /// The next message, or what to say to one that cannot be read; `None` at the end. What has come of a line stays here when nobody
    /// waits for it any more.
    pub(super) async fn next(&mut self) -> Option<Result<ClientJsonRpcMessage, JsonRpcError>> {
        loop {
            let piece = self.read.fill_buf().await.ok()?;
            if piece.is_empty() {
                return self.end_line();
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let piece = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
            if self.line.len() + piece.len() > MOST_BYTES {
                (self.line, self.is_too_long) = (Vec::new(), true);
            }
            if !self.is_too_long {
                self.line.extend_from_slice(piece);
            }
            let length = piece.len() + usize::from(end.is_some());
            self.read.consume(length);
            if end.is_none() {
                continue;
            }
            if let Some(read) = self.end_line() {
                return Some(read);
            }
        }
    }

    /// Reads the line that has ended, by its mark or with the input.
    fn end_line(&mut self) -> Option<Result<ClientJsonRpcMessage, JsonRpcError>> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            let most = MOST_BYTES / (1024 * 1024);
            let error = ErrorData::invalid_request(format!("the message is longer than {most} MiB"), None);
            return Some(Err(JsonRpcError::new(None, error)));
        }
        read(&line)
    }
}

/// Reads the message of a line; `None` where there is nothing to do or to say.
fn read(line: &[u8]) -> Option<Result<ClientJsonRpcMessage, JsonRpcError>> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(Ok(message)),
        Err(_) => match serde_json::from_slice(line) {
            Ok(Value::Object(message)) if !wants_answer(&message) => None,
            _ => Some(Err(mistake(line))),
        },
    }
}

/// Whether something that is no message wants to be answered: notifications and answers do not.
fn wants_answer(message: &Map<String, Value>) -> bool {
    match message.get("method") {
        Some(Value::String(_)) => message.contains_key("id"),
        Some(_) => true,
        None => !message.contains_key("result") && !message.contains_key("error"),
    }
}

/// What is said to something that is no message, with its `id` where that can be read.
pub(super) fn mistake(json: &[u8]) -> JsonRpcError {
    let (id, error) = match serde_json::from_slice(json) {
        Ok(Value::Object(message)) => {
            let id = message.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            let wrong = wrong(&message, id.is_some());
            (id, ErrorData::invalid_request(wrong, None))
        }
        Ok(Value::Array(_)) => {
            let message = "batches are not supported: send each message by itself";
            (None, ErrorData::invalid_request(message, None))
        }
        Ok(_) => (None, ErrorData::invalid_request("a message must be an object", None)),
        Err(error) => (None, ErrorData::parse_error(format!("the message is not valid JSON: {error}"), None)),
    };
    JsonRpcError::new(id, error)
}

fn wrong(message: &Map<String, Value>, has_id: bool) -> &'static str {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        "`jsonrpc` has to be \"2.0\""
    } else if message.contains_key("id") && !has_id {
        "`id` must be a string or an integer of at most 64 bits"
    } else if !message.get("method").is_some_and(Value::is_string) {
        "`method` must be a string"
    } else if message.get("params").is_some_and(|params| !params.is_object()) {
        "`params` must be an object"
    } else {
        "this is not a JSON-RPC 2.0 message"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// What is answered to a line; `null` where that is a message, or nothing is.
    fn answered(line: &str) -> Value {
        match read(line.as_bytes()) {
            Some(Err(error)) => serde_json::to_value(error).unwrap(),
            Some(Ok(_)) | None => Value::Null,
        }
    }

    #[test]
    fn an_invalid_request_is_answered_under_its_id_and_told_what_is_wrong() {
        for (line, id, code, said) in [
            (r#"{"jsonrpc":"2.0","id":901,"method":"tools/list","params":[]}"#, json!(901), -32600, "`params`"),
            (r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":"y"}"#, json!("x"), -32600, "`params`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, json!(1), -32600, "`method`"),
            (r#"{"jsonrpc":"2.0","id":1}"#, json!(1), -32600, "`method`"),
            (r#"{"id":1,"method":"ping"}"#, json!(1), -32600, "`jsonrpc`"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, -32600, "`id`"),
            (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, Value::Null, -32600, "`id`"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, -32600, "batches"),
            ("5", Value::Null, -32600, "object"),
            (r#"{"jsonrpc":"2.0","id":50,"method":"tools/list""#, Value::Null, -32700, "JSON"),
        ] {
            let error = answered(line);
            assert_eq!((&error["id"], &error["error"]["code"]), (&id, &json!(code)), "{line}: {error}");
            assert!(error["error"]["message"].as_str().unwrap().contains(said), "{line}: {error}");
        }
        for quiet in
            ["", " \r", r#"{"method":"x"}"#, r#"{"id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#]
        {
            assert_eq!(answered(quiet), Value::Null, "{quiet}");
        }
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        let mut lines = Lines::new(&br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..]);
        assert!(matches!(lines.next().await, Some(Ok(ClientJsonRpcMessage::Request(_)))));
        assert!(lines.next().await.is_none());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_and_the_next_is_read() {
        let (mut ours, theirs) = tokio::io::duplex(1 << 20);
        let sent = tokio::spawn(async move {
            ours.write_all(&vec![b' '; MOST_BYTES + 1]).await.unwrap();
            ours.write_all(b"{}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
        });
        let mut lines = Lines::new(theirs);
        let error = lines.next().await.unwrap().unwrap_err();
        assert_eq!(error.error.message, "the message is longer than 16 MiB");
        assert!(matches!(lines.next().await, Some(Ok(ClientJsonRpcMessage::Request(_)))));
        sent.await.unwrap();
        assert!(lines.next().await.is_none());
    }
}
