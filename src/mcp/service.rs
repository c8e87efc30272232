//! [`Service`]: what each request of a client is answered by.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::time::Instant;

use super::connection::{Connection, Way};
use super::http::Caller;
use super::rate::TooSoon;
use super::{Claim, Client, Server, tools};
use crate::report::Code;

/// What a request that is no call of a tool is answered by when it comes too soon.
const RATE_LIMITED: ErrorCode = ErrorCode(-32029);

/// The versions of the protocol that are spoken, oldest first.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// One connection, as the protocol sees it.
#[derive(Clone, Debug)]
pub(super) struct Service {
    pub(super) server: Arc<Server>,
    pub(super) connection: Arc<Connection>,
}

impl Service {
    /// Who asks, as of now.
    pub(super) fn client(&self, context: &RequestContext<RoleServer>) -> Result<Client, ErrorData> {
        match &self.connection.way {
            Way::Stdio { client: Some(name) } => self.server.clients.find(Claim::Name(name)).map_err(|_| revoked()),
            Way::Stdio { client: None } => {
                let said = context.client_info().map(|client| client.name).unwrap_or_default();
                Ok(Client { name: said, grant: None, rate: None, may_approve: true })
            }
            Way::Http => Ok(caller(context).ok_or_else(revoked)?.client.clone()),
        }
    }

    /// Who asks, unless it is too soon for another request.
    pub(super) fn admit(&self, context: &RequestContext<RoleServer>) -> Result<Client, ErrorData> {
        let client = self.client(context)?;
        self.take(&client).map_err(|too_soon| {
            let data = json!({"code": Code::RateLimited, "hint": too_soon.hint()});
            ErrorData::new(RATE_LIMITED, TooSoon::MESSAGE, Some(data))
        })?;
        Ok(client)
    }

    /// Counts a request against the rate of its client.
    fn take(&self, client: &Client) -> Result<(), TooSoon> {
        self.server.rates.take(client, Instant::now().into_std())
    }

    /// The same in the conversation that a request belongs to: over HTTP each request says which.
    fn in_conversation(&self, context: &RequestContext<RoleServer>) -> Self {
        let connection = caller(context).map_or(&self.connection, |caller| &caller.connection);
        Self { server: Arc::clone(&self.server), connection: Arc::clone(connection) }
    }
}

/// Who has sent a request over HTTP.
fn caller(context: &RequestContext<RoleServer>) -> Option<&Caller> {
    context.extensions.get::<Parts>()?.extensions.get()
}

fn revoked() -> ErrorData {
    ErrorData::invalid_request("this client is not registered, or no longer", None)
}

impl ServerHandler for Service {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let implementation = Implementation::new("memdir", env!("CARGO_PKG_VERSION")).with_title("memdir");
        ServerConfig::new(capabilities).with_server_info(implementation)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = self.admit(&context)?;
        tools::list(&self.server.options, &client)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (client, service) = (self.client(&context)?, self.in_conversation(&context));
        match self.take(&client) {
            Ok(()) => tools::call(&service, &client, request, &context).await,
            Err(too_soon) => tools::refuse(&service, &client, request, &context, too_soon).await,
        }
    }
}
