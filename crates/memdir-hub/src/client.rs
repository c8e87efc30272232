//! [`Handler`]: what memdir answers when a server asks, and what it hears.

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, ElicitationCapability, Implementation, ProtocolVersion};

use crate::wire::Wire;

/// The client's half of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handler {
    /// The connection, as the calls over it see it: transports leave results as they came here, and say that it has ended.
    pub(crate) wire: Arc<Wire>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        // What is not named here is declined: sampling and roots.
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("memdir", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
