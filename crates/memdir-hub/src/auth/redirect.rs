//! Where the browser comes back to after a login: a port of this machine that answers one address.

use std::io;
use std::time::Duration;

use axum::Router;
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const PATH: &str = "/callback";
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>memdir</title><p>memdir has received the answer. You can close this page.";
/// How long the browser may take to read the page.
const LAST_WORD: Duration = Duration::from_secs(1);

/// The port, open.
pub(super) struct Redirect {
    listener: TcpListener,
    /// The address that the authorisation server is told to send the browser to.
    pub(super) uri: String,
}

impl Redirect {
    /// Opens a port that the system chooses, on 127.0.0.1 alone.
    pub(super) async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let uri = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, uri })
    }

    /// Waits for the browser, and gives the address that it came to. Whoever comes without `state` is sent away.
    pub(super) async fn wait(self, state: String) -> io::Result<String> {
        let (sender, mut receiver) = mpsc::channel(1);
        let answer = move |RawQuery(query): RawQuery| async move { reply(query, &state, &sender) };
        let app = Router::new().route(PATH, get(answer));
        let over = CancellationToken::new();
        let server = axum::serve(self.listener, app).with_graceful_shutdown(over.clone().cancelled_owned());
        let mut server = std::pin::pin!(server.into_future());
        let query = tokio::select! {
            query = receiver.recv() => query.ok_or(io::ErrorKind::BrokenPipe)?,
            ended = &mut server => return Err(ended.err().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into())),
        };
        over.cancel();
        // Whether the page was read changes nothing.
        let _ = tokio::time::timeout(LAST_WORD, server).await;
        Ok(format!("{}?{query}", self.uri))
    }
}

fn reply(query: Option<String>, state: &str, sender: &mpsc::Sender<String>) -> Response {
    let query = query.unwrap_or_default();
    if parameter(&query, "state").as_deref() != Some(state) {
        return StatusCode::NOT_FOUND.into_response();
    }
    // Only the first answer counts.
    let _ = sender.try_send(query);
    Html(PAGE).into_response()
}

/// The value of a parameter in a query.
pub(super) fn parameter(query: &str, name: &str) -> Option<String> {
    url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
