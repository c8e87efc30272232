//! Serving one client on the standard streams of the process.

use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage as Incoming, ClientNotification,
    ClientRequest, GetMeta, JsonRpcError, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage as Outgoing,
};
use rmcp::service::serve_server_with_ct;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, ConnectionKind};
use super::incoming::Lines;
use super::panics::PanicGuard;
use super::service::{self, Service, VERSIONS};
use super::verbatim::WholeResults;
use super::whole::WholeCharacters;
use super::{Server, lock};

/// How long a client that has closed its end may take to read what is still to be said.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves the client at the other end of the standard streams until it closes them or `stop` is cancelled; what is in hand
/// then is finished, and answered as long as somebody reads.
///
/// `client` is the name of a registered client. It says what the client is shown, and proves nothing: who can start this
/// program can read the folder.
pub async fn serve_stdio(server: Arc<Server>, client: Option<String>, stop: CancellationToken) {
    let (read, write) = stdio_pipes();
    serve_streams(server, client, (read, write), stop).await;
}

/// As [`serve_stdio`], on other streams: one to read, one to write.
pub async fn serve_streams(
    server: Arc<Server>,
    client: Option<String>,
    (read, write): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    stop: CancellationToken,
) {
    let connection = Arc::new(Connection::new(ConnectionKind::Stdio { client }));
    let streams = Streams {
        lines: Lines::new(WholeCharacters::new(read)),
        inner: AsyncRwTransport::new_server(tokio::io::empty(), write),
        refusal: None,
        stop,
        closing: connection.closing.clone(),
        open: Arc::default(),
        has_begun: false,
    };
    let watched = Arc::clone(&server);
    let service = WholeResults(PanicGuard(Service { server, connection }));
    let ended = match serve_server_with_ct(service, streams, CancellationToken::new()).await {
        Ok(running) => {
            watched.watch();
            running.waiting().await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = ended {
        tracing::info!(%error, "the connection ended");
    }
}

/// The streams, closed only once all that came in is answered.
///
/// The protocol's library waits a few seconds for what is in hand when a connection ends. Here it learns of the end when
/// nothing is in hand any more.
struct Streams<R, T> {
    /// What comes in. The library would not answer a line that is no JSON or too long, and no invalid request under its id.
    lines: Lines<R>,
    /// Where the answers go.
    inner: T,
    /// What is being said to a line that is no message.
    refusal: Option<Refusal>,
    /// The person wants the server to end.
    stop: CancellationToken,
    /// Nothing more comes in.
    closing: CancellationToken,
    open: Arc<Mutex<OpenRequests>>,
    /// Whether the client has said which version it speaks.
    has_begun: bool,
}

type Refusal = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// What came in and is not answered yet.
#[derive(Debug, Default)]
struct OpenRequests {
    requests: HashSet<RequestId>,
    /// Requests that are answered only when the client does not want to listen any more.
    listening: HashSet<RequestId>,
    /// Nobody reads what is written.
    is_unread: bool,
}

impl<R: AsyncRead + Send + Unpin, T: Transport<RoleServer, Error = io::Error>> Streams<R, T> {
    /// The next line, once the one before it has been answered if it was no message.
    async fn next_line(&mut self) -> Option<Result<Incoming, JsonRpcError>> {
        if let Some(refusal) = &mut self.refusal {
            // Whoever does not read it may still write.
            let _ = refusal.await;
            self.refusal = None;
        }
        self.lines.next().await
    }

    /// Notes what came in. `false` for what must not come before the client has said what it speaks: a cancellation of a
    /// request that was answered already, for one, is no reason to end.
    fn takes(&mut self, message: &Incoming) -> bool {
        match message {
            JsonRpcMessage::Request(asked) => {
                self.has_begun |= begins(&asked.request);
                let mut open = lock(&self.open);
                match &asked.request {
                    ClientRequest::SubscriptionsListenRequest(_) => open.listening.insert(asked.id.clone()),
                    _ => open.requests.insert(asked.id.clone()),
                };
                return true;
            }
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let mut open = lock(&self.open);
                    open.requests.remove(id);
                    open.listening.remove(id);
                }
            }
            _ => {}
        }
        self.has_begun
    }

    /// What is to be told once nothing more comes in.
    fn after_input(&self) -> AfterInput {
        let mut open = lock(&self.open);
        let listening = open.listening.iter().next().cloned();
        match listening.and_then(|id| open.listening.take(&id)) {
            Some(id) => AfterInput::NobodyListens(id),
            None if open.is_unread || open.requests.is_empty() => AfterInput::End,
            None => AfterInput::Wait,
        }
    }
}

/// What is told once nothing more comes in.
enum AfterInput {
    /// Nobody wants to hear more of this.
    NobodyListens(RequestId),
    /// Some requests are not answered yet; asked again after each answer.
    Wait,
    /// All is done.
    End,
}

/// Whether the library takes this request as the begin of a conversation.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|version| VERSIONS.contains(&version))
        }
    }
}

impl<R, T> Transport<RoleServer> for Streams<R, T>
where
    R: AsyncRead + Send + Unpin + 'static,
    T: Transport<RoleServer, Error = io::Error>,
{
    type Error = io::Error;

    fn send(&mut self, mut message: Outgoing) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Error(error) = &mut message {
            service::name_versions(&mut error.error);
        }
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let (sending, is_open, closing) = (self.inner.send(message), self.open.clone(), self.closing.clone());
        async move {
            let sent = tokio::select! {
                sent = sending => sent,
                () = async { closing.cancelled().await; tokio::time::sleep(PATIENCE).await } => {
                    Err(io::ErrorKind::TimedOut.into())
                }
            };
            let mut open = lock(&is_open);
            if let Some(id) = answered {
                open.requests.remove(&id);
                open.listening.remove(&id);
            }
            if sent.is_err() {
                open.is_unread = true;
                closing.cancel();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        while !self.closing.is_cancelled() {
            let (stop, closing) = (self.stop.clone(), self.closing.clone());
            let received = tokio::select! {
                () = stop.cancelled() => None,
                () = closing.cancelled() => None,
                received = self.next_line() => received,
            };
            match received {
                Some(Ok(message)) if self.takes(&message) => return Some(message),
                Some(Ok(_)) => {}
                Some(Err(error)) => self.refusal = Some(Box::pin(self.inner.send(Outgoing::Error(error)))),
                None => self.closing.cancel(),
            }
        }
        match self.after_input() {
            AfterInput::NobodyListens(id) => {
                let params = CancelledNotificationParam::new(Some(id), None);
                Some(Incoming::notification(CancelledNotification::new(params).into()))
            }
            AfterInput::Wait => std::future::pending().await,
            AfterInput::End => None,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await
    }
}
