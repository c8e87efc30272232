//! [`Service`]: a connection of a client, what it may, and on which threads it is worked for.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{CallToolResult, ErrorCode, Implementation, ProtocolVersion, RequestId};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use tokio::time::Instant;

use super::connection::{Connection, ConnectionKind};
use super::http::RequestSender;
use super::rate::RateLimited;
use super::{Claim, Client, Server};
use memdir_core::catalog;
use memdir_core::report::{Code, Failure};
use memdir_engine::Caller;
use memdir_server::{JobError, Lane};
use memdir_tools::ToolGrant;

/// What a request that is no call of a tool is answered by when it comes too soon.
const RATE_LIMITED: ErrorCode = ErrorCode(-32029);

/// The versions of the protocol that are spoken, oldest first.
pub(super) const VERSIONS: &[ProtocolVersion] = &[
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
    /// Who asks.
    pub(super) fn client(&self, context: &RequestContext<RoleServer>) -> Result<Client, ErrorData> {
        match &self.connection.kind {
            ConnectionKind::Stdio { client: Some(name) } => {
                self.server.clients.find(Claim::Name(name)).map_err(|_| revoked())
            }
            ConnectionKind::Stdio { client: None } => {
                let said = context.client_info().map(|client| client.name).unwrap_or_default();
                Ok(Client { name: said, grant: None, tools: ToolGrant::default(), rate: None, may_approve: true })
            }
            ConnectionKind::Http => {
                let sender = sender(context).ok_or_else(revoked)?;
                sender.client(&self.server.clients).map_err(|_| revoked())
            }
        }
    }

    /// Who asks, unless it is too soon for another request.
    pub(super) fn admit(&self, context: &RequestContext<RoleServer>) -> Result<Client, ErrorData> {
        let client = self.client(context)?;
        self.take(&client).map_err(|too_soon| {
            let data = json!({"code": Code::RateLimited, "hint": too_soon.hint()});
            ErrorData::new(RATE_LIMITED, RateLimited::MESSAGE, Some(data))
        })?;
        Ok(client)
    }

    /// Counts a request against the rate of its client.
    pub(super) fn take(&self, client: &Client) -> Result<(), RateLimited> {
        self.server.rates.take(client, Instant::now().into_std())
    }

    /// The same in the conversation that a request belongs to: over HTTP each request says which.
    pub(super) fn in_conversation(&self, context: &RequestContext<RoleServer>) -> Self {
        let connection = sender(context).map_or(&self.connection, |sender| &sender.connection);
        Self { server: Arc::clone(&self.server), connection: Arc::clone(connection) }
    }

    /// Does a job on the threads of the server. When the client does not want the answer any more, a job that has not
    /// begun is dropped.
    pub(super) async fn work<R: Send + 'static>(
        &self,
        lane: Lane,
        context: &RequestContext<RoleServer>,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, ErrorData> {
        self.answered(context, self.server.served.run(lane, job)).await
    }

    /// As [`Service::work`], for a job that reads a little and is done in a moment.
    pub(super) async fn work_short<R: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, ErrorData> {
        self.answered(context, self.server.served.run_short(job)).await
    }

    /// What a job came to, unless the client does not want to know any more.
    async fn answered<R>(
        &self,
        context: &RequestContext<RoleServer>,
        done: impl Future<Output = Result<R, JobError>>,
    ) -> Result<R, ErrorData> {
        tokio::select! {
            done = done => {
                done.map_err(|unfinished| match unfinished {
                    JobError::Gone => ErrorData::internal_error("the server is ending", None),
                    JobError::Panicked => internal_error(),
                    JobError::Moved => moved(),
                })
            }
            () = context.ct.cancelled() => Err(cancelled()),
        }
    }
}

/// Who has sent a request over HTTP.
pub(super) fn sender(context: &RequestContext<RoleServer>) -> Option<&RequestSender> {
    context.extensions.get::<Parts>()?.extensions.get()
}

/// Whether the request is of the version without a handshake, in which each result says who gives it and how long it holds.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether a request belongs to a conversation with a beginning and an end: over HTTP the newest version has none.
pub(super) fn has_conversation(context: &RequestContext<RoleServer>) -> bool {
    !is_modern(context) || sender(context).is_none()
}

/// The answer to a request that has panicked.
pub(super) fn internal_error() -> ErrorData {
    ErrorData::internal_error("something went wrong inside memdir; the server goes on", None)
}

/// The answer to each request once the memory's folder is not where it was.
fn moved() -> ErrorData {
    let message = "the folder of this memory was moved, deleted or replaced; nothing was done; the person has to put the folder back, or start this server again";
    ErrorData::internal_error(message, Some(json!({"code": Code::Unavailable})))
}

/// What a request is answered by that nobody waits for any more.
pub(super) fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}

/// The versions in which a request stands for itself. The others begin with a handshake, which says so by itself.
pub(super) fn modern_versions() -> Vec<ProtocolVersion> {
    VERSIONS.iter().filter(|version| !version.has_initialize()).cloned().collect()
}

/// Where the library says which versions are spoken, names the same as `server/discover`.
pub(super) fn name_versions(error: &mut ErrorData) {
    if error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        && let Some(data) = error.data.as_mut().and_then(serde_json::Value::as_object_mut)
    {
        data.insert("supported".to_owned(), json!(modern_versions()));
    }
}

/// What the server is called.
pub(super) fn implementation() -> Implementation {
    Implementation::new("memdir", env!("CARGO_PKG_VERSION"))
}

/// What a page is answered by that nobody was told of.
pub(super) fn wrong_cursor() -> ErrorData {
    ErrorData::invalid_params("`cursor` has to be the one that came with the page before", None)
}

fn revoked() -> ErrorData {
    ErrorData::invalid_request("this client is not registered, or no longer", None)
}

/// Who asks, and what they may do.
pub(super) fn caller(service: &Service, client: &Client, id: &RequestId) -> Caller {
    Caller {
        grant: client.grant.clone(),
        mode: service.server.options.mode,
        read_only: service.server.options.read_only,
        ..through(Caller::model("mcp"), service, client, id)
    }
}

/// The person at a client.
pub(super) fn person(service: &Service, client: &Client, id: &RequestId) -> Caller {
    through(Caller::person("mcp"), service, client, id)
}

fn through(caller: Caller, service: &Service, client: &Client, id: &RequestId) -> Caller {
    let name = Some(client.name.clone()).filter(|name| !name.is_empty());
    caller.for_client(name).in_session(service.connection.session.clone()).with_message(Some(id.to_string()))
}

/// What a call is answered by of a tool that the client is not offered.
pub(super) fn no_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no tool `{}`; `tools/list` names them", catalog::shorten(name)), None)
}

/// What a call is answered by that failed before any action.
pub(super) fn failed(failure: &Failure) -> CallToolResult {
    CallToolResult::structured_error(json!({"error": failure}))
}
