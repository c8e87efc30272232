//! What each request of the protocol is answered by.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, SubscriptionsListenRequestMethod,
    UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::connection::ConnectionKind;
use super::server_info::WithServerInfo;
use super::service::{self, Service, VERSIONS, implementation, is_modern, modern_versions, wrong_cursor};
use super::{Client, Options, ToolSet, app, complete, hub, prompts, resources, subscriptions, tools};
use memdir_server::Lane;

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

/// How much is said of the person when a client connects, and how long it may be kept.
const BRIEF_TOKENS: u32 = 300;
const KEEP_BRIEF_MS: u64 = 5 * 60 * 1000;
/// What stands above it.
const BRIEF_HEAD: &str = "What the notes said of the user when this connection began:";

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

/// That a list has no pages: nobody was given a cursor for it.
fn is_whole(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    if request.is_some_and(|request| request.cursor.is_some()) { Err(wrong_cursor()) } else { Ok(()) }
}

impl Service {
    /// Adds to the instructions what the memory says of the person, as far as the client may read it. With
    /// [`ToolSet::Agent`] nothing is added: the client's own model is not to see notes.
    async fn add_brief(&self, instructions: &mut String, client: &Client, context: &RequestContext<RoleServer>) {
        if self.server.options.tools == ToolSet::Agent {
            return;
        }
        let service = self.in_conversation(context);
        let caller = service::caller(&service, client, &context.id);
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
}
