use std::collections::BTreeMap;
use std::sync::Mutex;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::mpsc;

use crate::connect::Places;
use crate::connect::http::tests::{Came, Scripted, call, plain, reach, server};
use crate::wire::{MOST_MESSAGE, WireEnd};
use memdir_tools::{CallError, Transport};

/// A server that names `endpoint` on its stream, and answers there what `answer` gives for a call; `None` closes the stream.
async fn start(endpoint: &'static str, answer: impl Fn(&Came) -> Option<String> + Send + Sync + 'static) -> String {
    let stream: Mutex<Option<mpsc::UnboundedSender<String>>> = Mutex::default();
    let answers = move |came: &Came| -> Response {
        if came.verb == "GET" {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            sender.send(format!("event: endpoint\ndata: {endpoint}\n\n")).unwrap();
            *stream.lock().unwrap() = Some(sender);
            let spoken = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
            let body = Body::from_stream(futures_util::StreamExt::map(spoken, Ok::<_, std::io::Error>));
            return ([(CONTENT_TYPE, "text/event-stream")], body).into_response();
        }
        let spoken = match plain(came) {
            Some(_) if came.body["id"].is_null() => return StatusCode::ACCEPTED.into_response(),
            Some(_) => Some(json!({"jsonrpc": "2.0", "id": came.body["id"], "result": {
                "protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"},
            }})
            .to_string()),
            None => answer(came),
        };
        let mut stream = stream.lock().unwrap();
        match spoken {
            Some(spoken) => {
                stream.as_ref().unwrap().send(format!("event: message\ndata: {spoken}\n\n")).unwrap();
            }
            None => *stream = None,
        }
        (StatusCode::ACCEPTED, "Accepted").into_response()
    };
    Scripted::start(answers).await.0
}

fn sse_server(url: &str) -> memdir_tools::Server {
    server(Transport::Sse { url: format!("{url}/sse"), headers: BTreeMap::new() })
}

#[tokio::test]
async fn a_call_is_answered_on_the_stream_as_it_came() {
    let result = json!({"content": [{"type": "hologram"}], "new_member": 1});
    let expected = result.clone();
    let url = start("/messages?session=1", move |came| {
        Some(json!({"jsonrpc": "2.0", "id": came.body["id"], "result": expected}).to_string())
    })
    .await;
    let connection = reach(&sse_server(&url), &Places::default()).await.unwrap();
    assert_eq!(connection.peer_info().unwrap().protocol_version.as_str(), "2024-11-05");
    assert_eq!(serde_json::Value::Object(call(&connection).await.unwrap()), result);
}

#[tokio::test]
async fn messages_go_to_no_other_origin() {
    for endpoint in ["http://127.0.0.1:1/messages", "//localhost/messages", "https://example.com/"] {
        let url = start(endpoint, |_| None).await;
        let error = reach(&sse_server(&url), &Places::default()).await.unwrap_err();
        let CallError::Unreachable { problem, .. } = error else { panic!("{error:?}") };
        assert!(problem.contains("another origin"), "{problem}");
    }
}

#[tokio::test]
async fn an_event_that_is_too_long_ends_the_connection() {
    let url = start("/messages", |_| Some("x".repeat(MOST_MESSAGE + 1))).await;
    let connection = reach(&sse_server(&url), &Places::default()).await.unwrap();
    let wire = connection.service().wire.clone();
    let (called, end) = tokio::join!(call(&connection), wire.ended());
    assert_eq!(end, WireEnd::TooLarge);
    called.unwrap_err();
}

#[tokio::test]
async fn a_stream_that_ends_ends_the_connection() {
    let url = start("/messages", |_| None).await;
    let connection = reach(&sse_server(&url), &Places::default()).await.unwrap();
    let wire = connection.service().wire.clone();
    let (called, end) = tokio::join!(call(&connection), wire.ended());
    assert!(matches!(end, WireEnd::Lost(_)), "{end:?}");
    called.unwrap_err();
}
