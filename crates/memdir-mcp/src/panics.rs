//! [`PanicGuard`]: a panic ends the request in which it happens, and nothing else.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use memdir_server::{Panicked, catch_panic_async};

use super::service::{Service, internal_error};

/// A [`Service`] that still answers after a panic.
#[derive(Clone, Debug)]
pub(super) struct PanicGuard(pub(super) Service);

/// Hands each request to the service.
macro_rules! guarded {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(async fn $name(&self, $($argument: $type),*) -> Result<$result, ErrorData> {
            catch_panic_async(self.0.$name($($argument),*)).await.unwrap_or_else(|Panicked| Err(internal_error()))
        })*
    };
}

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

/// All that [`Service`] has of its own.
#[expect(deprecated, reason = "the older versions of the protocol are spoken, too")]
impl ServerHandler for PanicGuard {
    guarded! {
        initialize(request: InitializeRequestParams, context: Context) -> InitializeResult;
        ping(context: Context) -> ();
        discover(context: Context) -> DiscoverResult;
        list_tools(page: Page, context: Context) -> ListToolsResult;
        call_tool(request: CallToolRequestParams, context: Context) -> CallToolResponse;
        on_custom_request(request: CustomRequest, context: Context) -> CustomResult;
        list_resources(page: Page, context: Context) -> ListResourcesResult;
        list_resource_templates(page: Page, context: Context) -> ListResourceTemplatesResult;
        read_resource(request: ReadResourceRequestParams, context: Context) -> ReadResourceResponse;
        subscribe(request: SubscribeRequestParams, context: Context) -> ();
        unsubscribe(request: UnsubscribeRequestParams, context: Context) -> ();
        listen(context: SubscriptionContext) -> ();
        list_prompts(page: Page, context: Context) -> ListPromptsResult;
        get_prompt(request: GetPromptRequestParams, context: Context) -> GetPromptResponse;
        complete(request: CompleteRequestParams, context: Context) -> CompleteResult;
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }

    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }
}
