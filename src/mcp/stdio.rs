//! Serving one client on the standard streams of the process.

use std::sync::Arc;

use rmcp::service::serve_server_with_ct;
use rmcp::transport::io::stdio_pipes;
use tokio_util::sync::CancellationToken;

use super::Server;
use super::connection::{Connection, Way};
use super::service::Service;

/// Serves the client at the other end of the standard streams until it closes them or `stop` is cancelled; what is in hand
/// then is finished.
///
/// `client` is the name of a registered client. It says what the client is shown, and proves nothing: who can start this
/// program can read the folder.
///
/// # Errors
///
/// What went wrong before the client had said what it speaks.
pub async fn serve_stdio(
    server: Arc<Server>,
    client: Option<String>,
    stop: CancellationToken,
) -> Result<(), rmcp::service::ServerInitializeError> {
    let connection = Arc::new(Connection::new(Way::Stdio { client }));
    let watched = Arc::clone(&server);
    let service = Service { server, connection };
    let running = serve_server_with_ct(service, stdio_pipes(), stop).await?;
    watched.watch();
    if let Err(error) = running.waiting().await {
        tracing::error!(%error, "the connection ended");
    }
    Ok(())
}
