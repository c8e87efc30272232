//! Serving any number of clients over streamable HTTP.
//!
//! Owns the connections: how many there are, how long each may take, how they end. What a request has to show is the
//! gate's, what it is answered is the service's.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Server;

mod connections;
mod gate;
mod names;
mod reply;
mod sender;
mod write_timeout;

pub use names::{NameError, Names};

pub(super) use sender::RequestSender;

use connections::Connections;
use gate::Gate;
use write_timeout::WriteTimeout;

/// How many headers a request may have.
const MOST_HEADERS: usize = 64;
/// How many bytes they may have, together with the line above them.
const HEADER_BYTES: usize = 16 * 1024;
/// How long to wait when no connection can be taken, for want of files for instance.
const PAUSE: Duration = Duration::from_millis(100);

/// How a server is reached.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// Under which names besides those of this machine.
    pub names: Names,
    /// How much, and how long.
    pub limits: HttpLimits,
}

/// How much clients may send and how long they may take.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// How many connections have a place on which a client has shown its token; more count among those of strangers.
    pub connections: usize,
    /// How many connections without a token may be open beside these. When there are more, the oldest is closed.
    pub strangers: usize,
    /// How long the headers of a request may take, and how long a connection may be idle.
    pub header_time: Duration,
    /// How many bytes a body may have.
    pub body_bytes: usize,
    /// How long it may take.
    pub body_time: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_time: Duration,
    /// How long a session may be idle.
    pub session: Duration,
    /// How long requests in hand may take once the server stops.
    pub stop_time: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            strangers: 64,
            header_time: Duration::from_secs(10),
            body_bytes: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            // A client that was left open for the night need not begin anew.
            session: Duration::from_secs(24 * 60 * 60),
            stop_time: Duration::from_secs(10),
        }
    }
}

/// Listens on an address of this machine.
///
/// # Errors
///
/// `InvalidInput` for an address that others can reach; else what the system says.
pub fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    if !address.ip().is_loopback() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves the clients that come to `listener` until `stop` is cancelled; what is in hand then is answered, if that does not
/// take too long. [`Server::finish`] waits for what is being committed even so.
///
/// # Errors
///
/// What the system says when nothing can come in there.
pub async fn serve_http(
    listener: std::net::TcpListener,
    server: Arc<Server>,
    options: HttpOptions,
    stop: CancellationToken,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    server.watch();
    let end = CancellationToken::new();
    let limits = options.limits;
    let gate = Gate::new(server, options, stop.clone(), end.clone());
    let routes = Arc::clone(&gate).routes();
    let connections = Connections::new(limits.connections, limits.strangers);
    let open = GracefulShutdown::new();
    while let Some(came) = stop.run_until_cancelled(accept(&listener, &connections)).await {
        match came {
            Ok(stream) => serve_one(stream, &connections, &routes, limits, &open),
            Err(error) => {
                tracing::warn!(%error, "no connection was taken");
                sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    gate.close();
    if timeout(limits.stop_time, open.shutdown()).await.is_err() {
        tracing::warn!("requests were cut off, since the server stops");
    }
    end.cancel();
    Ok(())
}

/// Everything that a server answers over HTTP, without a network. Cancelling `stop` ends it.
pub fn http_routes(server: Arc<Server>, options: HttpOptions, stop: CancellationToken) -> Router {
    Gate::new(server, options, stop.clone(), stop).routes()
}

/// Takes the next connection, and makes room for it: while nobody comes, nobody has to leave.
async fn accept(listener: &TcpListener, connections: &Connections) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    connections.make_room().await;
    Ok(stream)
}

fn serve_one(
    stream: TcpStream,
    connections: &Arc<Connections>,
    routes: &Router,
    limits: HttpLimits,
    open: &GracefulShutdown,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_time);
    builder.max_headers(MOST_HEADERS).max_buf_size(HEADER_BYTES);
    let stream = TokioIo::new(WriteTimeout::new(stream, limits.write_time));
    let (slot, routes) = (connections.open(), TowerToHyperService::new(routes.clone()));
    let at = Arc::clone(&slot);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&at));
        routes.call(request)
    });
    let connection = open.watch(builder.serve_connection(stream, service));
    tokio::spawn(async move {
        tokio::select! {
            ended = connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended");
                }
            }
            () = slot.left() => tracing::debug!("a connection was ended for a newer one"),
        }
    });
}
