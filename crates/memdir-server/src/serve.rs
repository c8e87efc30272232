//! [`serve`]: connections on loopback, until the server stops.
//!
//! Owns how many connections there are, how long each may take, how they end. What a request has to show, and what it is
//! answered, is for the routes to say.

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

use crate::connections::Connections;
use crate::write_timeout::WriteTimeout;

/// How many headers a request may have.
const MOST_HEADERS: usize = 64;
/// How many bytes they may have, together with the line above them.
const HEADER_BYTES: usize = 16 * 1024;
/// How long to wait when no connection can be taken, for want of files for instance.
const PAUSE: Duration = Duration::from_millis(100);

/// How many connections there may be and how long they may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many connections have a place that was [admitted](crate::OpenConnection::admit); more count among those of strangers.
    pub connections: usize,
    /// How many connections of strangers may be open beside these. When there are more, the oldest is closed.
    pub strangers: usize,
    /// How long the headers of a request may take, and how long a connection may be idle.
    pub header_time: Duration,
    /// How long the other end may take nothing of what is sent to it.
    pub write_time: Duration,
    /// How long requests in hand may take once the server stops.
    pub stop_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            strangers: 64,
            header_time: Duration::from_secs(10),
            write_time: Duration::from_secs(30),
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

/// Serves who comes to `listener` until `stop` is cancelled; `closing` is called then, and what is in hand is answered, if that
/// does not take too long. Each request finds its [`OpenConnection`](crate::OpenConnection) among its extensions.
///
/// # Errors
///
/// What the system says when nothing can come in there.
pub async fn serve(
    listener: std::net::TcpListener,
    routes: Router,
    limits: Limits,
    stop: CancellationToken,
    closing: impl FnOnce(),
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
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
    closing();
    if timeout(limits.stop_time, open.shutdown()).await.is_err() {
        tracing::warn!("requests were cut off, since the server stops");
    }
    Ok(())
}

/// Takes the next connection, and makes room for it: while nobody comes, nobody has to leave.
pub(crate) async fn accept(listener: &TcpListener, connections: &Connections) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    connections.make_room().await;
    Ok(stream)
}

fn serve_one(
    stream: TcpStream,
    connections: &Arc<Connections>,
    routes: &Router,
    limits: Limits,
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
