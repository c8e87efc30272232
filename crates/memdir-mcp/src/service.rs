//! [`Service`]: what each request of a client is answered by.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestMethod, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestMethod, SubscribeRequestParams,
    SubscriptionFilter, SubscriptionsListenRequestMethod, UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::time::Instant;

use super::connection::{Connection, ConnectionKind};
use super::http::RequestSender;
use super::rate::RateLimited;
use super::server_info::WithServerInfo;
use super::{
    Claim, Client, Options, Server, ToolSet, app, complete, hub, panics, prompts, resources, subscriptions, tools,
};
use memdir_core::report::Code;
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

/// The methods with parameters that can be wrong, and what these should be.
const PARAMETERS: &[(&str, &str)] = &[
    (CallToolRequestMethod::VALUE, "with `name`, a text, and `arguments`, an object"),
    (GetPromptRequestMethod::VALUE, "with `name`, a text, and `arguments`, an object, if the prompt takes any"),
    (ReadResourceRequestMethod::VALUE, "with `uri`, a text"),
    (SubscribeRequestMethod::VALUE, "with `uri`, a text"),
    (UnsubscribeRequestMethod::VALUE, "with `uri`, a text"),
    (SubscriptionsListenRequestMethod::VALUE, "with `notifications`, an object"),
    (CompleteRequestMethod::VALUE, "with `ref` and `argument`, objects"),
];
/// Those that the newest version does not know.
const OLDER: &[&str] = &[SubscribeRequestMethod::VALUE, UnsubscribeRequestMethod::VALUE];
/// Those that only the newest version knows.
const NEWEST: &[&str] = &[SubscriptionsListenRequestMethod::VALUE];

/// What the server says about itself to a model, by what it offers to a client.
fn instructions(options: &Options, client: Option<&Client>) -> &'static str {
    match (options.tools, options.only_reads(client)) {
        (ToolSet::Chatgpt, _) => include_str!("../../../prompts/instructions_chatgpt.md"),
        (ToolSet::Agent, _) => include_str!("../../../prompts/instructions_agent.md"),
        (ToolSet::Memory, _) => include_str!("../../../prompts/instructions_memory.md"),
        (ToolSet::Compact | ToolSet::Full, true) => include_str!("../../../prompts/instructions_read_only.md"),
        (ToolSet::Compact | ToolSet::Full, false) => include_str!("../../../prompts/instructions.md"),
    }
}

/// How much is said of the person when a client connects, and how long it may be kept.
const BRIEF_TOKENS: u32 = 300;
const KEEP_BRIEF_MS: u64 = 5 * 60 * 1000;
/// What stands above it.
const BRIEF_HEAD: &str = "What the notes said of the user when this connection began:";

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
    fn take(&self, client: &Client) -> Result<(), RateLimited> {
        self.server.rates.take(client, Instant::now().into_std())
    }

    /// The same in the conversation that a request belongs to: over HTTP each request says which.
    fn in_conversation(&self, context: &RequestContext<RoleServer>) -> Self {
        let connection = sender(context).map_or(&self.connection, |sender| &sender.connection);
        Self { server: Arc::clone(&self.server), connection: Arc::clone(connection) }
    }

    /// Adds to the instructions what the memory says of the person, as far as the client may read it. With
    /// [`ToolSet::Agent`] nothing is added: the client's own model is not to see notes.
    async fn add_brief(&self, instructions: &mut String, client: &Client, context: &RequestContext<RoleServer>) {
        if self.server.options.tools == ToolSet::Agent {
            return;
        }
        let service = self.in_conversation(context);
        let caller = tools::caller(&service, client, &context.id);
        let server = Arc::clone(&self.server);
        // A brief that cannot be made now is left out.
        let make = move || server.engine.brief(&caller, None, BRIEF_TOKENS);
        let brief = match self.connection.kind {
            // It is the first thing that is asked for there, and nothing else is until it is there.
            ConnectionKind::Stdio { .. } => self.work_short(context, make).await,
            ConnectionKind::Http => self.work(Lane::Read, context, make).await,
        };
        if let Ok(brief) = brief
            && !brief.is_empty()
        {
            instructions.push_str(&format!("\n{BRIEF_HEAD}\n\n{brief}"));
        }
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
                    JobError::Panicked => panics::internal_error(),
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

/// What a request is answered by that nobody waits for any more.
pub(super) fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}

/// The versions in which a request stands for itself. The others begin with a handshake, which says so by itself.
fn modern_versions() -> Vec<ProtocolVersion> {
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

/// That a list has no pages: nobody was given a cursor for it.
fn is_whole(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    if request.is_some_and(|request| request.cursor.is_some()) { Err(wrong_cursor()) } else { Ok(()) }
}

/// What a page is answered by that nobody was told of.
pub(super) fn wrong_cursor() -> ErrorData {
    ErrorData::invalid_params("`cursor` has to be the one that came with the page before", None)
}

fn revoked() -> ErrorData {
    ErrorData::invalid_request("this client is not registered, or no longer", None)
}

impl ServerHandler for Service {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        if let Some(tools) = capabilities.tools.as_mut().filter(|_| self.server.options.hub.is_some()) {
            tools.list_changed = Some(true);
        }
        ServerConfig::new(capabilities)
            .with_server_info(implementation())
            .with_instructions(instructions(&self.server.options, None))
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.admit(&context).map(drop)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut begun = self.negotiate_initialize(&request)?;
        // Over HTTP it was counted before it came here.
        let is_counted = matches!(self.connection.kind, ConnectionKind::Http);
        // Who is not registered, or begins too often, learns that with its first request.
        if let Ok(client) = self.client(&context) {
            let instructions = begun.instructions.insert(instructions(&self.server.options, Some(&client)).to_owned());
            if is_counted || self.take(&client).is_ok() {
                self.add_brief(instructions, &client, &context).await;
            }
        }
        Ok(begun)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let client = self.admit(&context)?;
        let mut info = self.get_info();
        let instructions = info.instructions.insert(instructions(&self.server.options, Some(&client)).to_owned());
        self.add_brief(instructions, &client, &context).await;
        let found = DiscoverResult::from_server_info(modern_versions(), info);
        Ok(found.with_ttl_ms(KEEP_BRIEF_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = self.admit(&context)?;
        is_whole(request.as_ref())?;
        let mut listed = tools::list(&self.server, &client, app::is_shown(&context))?.with_server_info(&context);
        if let Some(hub) = &self.server.options.hub {
            // Who hears of changes from now on has to know of this list.
            if !is_modern(&context) {
                let known = hub::list_digest(hub, &client).await;
                subscriptions::hear_of_tools(&self.in_conversation(&context), known, &context);
            }
            hub::add_to_list(&mut listed, hub, &client, &context).await;
        }
        Ok(listed)
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

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.admit(&context)?;
        // A known method comes here when its parameters cannot be read.
        let wanted = PARAMETERS.iter().find(|(method, _)| *method == request.method);
        let wanted = wanted.filter(|(method, _)| {
            let is_foreign = if is_modern(&context) { OLDER.contains(method) } else { NEWEST.contains(method) };
            !is_foreign
        });
        Err(match wanted {
            Some((method, wanted)) => {
                ErrorData::invalid_params(format!("`params` of `{method}` has to be an object {wanted}"), None)
            }
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list(&self.in_conversation(&context), request, &context).await?.with_server_info(&context))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.admit(&context)?;
        is_whole(request.as_ref())?;
        Ok(resources::templates().with_server_info(&context))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.in_conversation(&context), request, &context).await?.with_server_info(&context).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        subscriptions::subscribe(&self.in_conversation(&context), request, &context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.admit(&context)?;
        subscriptions::unsubscribe(&self.in_conversation(&context), &request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(self, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        subscriptions::listen(self, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let client = self.admit(&context)?;
        is_whole(request.as_ref())?;
        let only_reads = self.server.options.only_reads(Some(&client));
        Ok(prompts::list(only_reads).with_server_info(&context))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let client = self.admit(&context)?;
        let only_reads = self.server.options.only_reads(Some(&client));
        Ok(prompts::get(&request, only_reads)?.with_server_info(&context).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(complete::complete(&self.in_conversation(&context), request, &context).await?.with_server_info(&context))
    }
}
