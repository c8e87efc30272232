//! [`PanicGuard`]: a panic ends the request in which it happens, and nothing else.
//!
//! A panic is a bug, and is said on standard error where it happens. What a request had open is closed while the stack is
//! unwound: transactions are rolled back, locks are let go of, and a batch that was half done is finished or given back by the
//! next who looks.

use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::service::Service;

/// The work has panicked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Panicked;

/// Does some work, and catches its panic.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        tracing::error!("a request has panicked: this is a bug of memdir");
        Panicked
    })
}

/// As [`catch_panic`], for a future.
pub(super) async fn catch_panic_async<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_panic(|| work.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// The answer to a request that has panicked.
pub(super) fn internal_error() -> ErrorData {
    ErrorData::internal_error("something went wrong inside memdir; the server goes on", None)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_is_told_from_work_that_is_done() {
        assert_eq!(catch_panic_async(async { 1 }).await, Ok(1));
        let later = async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "as it is written in this test");
        };
        assert_eq!(catch_panic_async(later).await, Err(Panicked));
    }
}
