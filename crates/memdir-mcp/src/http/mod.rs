//! Serving any number of clients over streamable HTTP.
//!
//! Owns the connections: how many there are, how long each may take, how they end. What a request has to show is the
//! gate's, what it is answered is the service's.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use memdir_server::{Limits, Names};
use tokio_util::sync::CancellationToken;

use super::Server;

mod gate;
mod reply;
mod sender;

pub(super) use sender::RequestSender;

use gate::Gate;

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
        let Limits { connections, strangers, header_time, write_time, stop_time } = Limits::default();
        Self {
            connections,
            strangers,
            header_time,
            body_bytes: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            write_time,
            // A client that was left open for the night need not begin anew.
            session: Duration::from_secs(24 * 60 * 60),
            stop_time,
        }
    }
}

impl HttpLimits {
    fn connections(self) -> Limits {
        let Self { connections, strangers, header_time, write_time, stop_time, .. } = self;
        Limits { connections, strangers, header_time, write_time, stop_time }
    }
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
    server.watch();
    let end = CancellationToken::new();
    let limits = options.limits.connections();
    let gate = Gate::new(server, options, stop.clone(), end.clone());
    let routes = Arc::clone(&gate).routes();
    memdir_server::serve(listener, routes, limits, stop, || gate.close()).await?;
    end.cancel();
    Ok(())
}

/// Everything that a server answers over HTTP, without a network. Cancelling `stop` ends it.
pub fn http_routes(server: Arc<Server>, options: HttpOptions, stop: CancellationToken) -> Router {
    Gate::new(server, options, stop.clone(), stop).routes()
}
