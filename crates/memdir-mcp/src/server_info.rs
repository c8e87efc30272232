//! [`WithServerInfo`]: adds the server and the cache lifetime to results of the newest version.

use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, CallToolResult, CompleteResult, GetPromptResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, ReadResourceResult,
};
use rmcp::service::RequestContext;
use serde_json::json;

use super::service;

/// Where a result says who gives it.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How long a client may keep what changes only with the program.
pub(super) const KEEP_MS: u64 = 60 * 60 * 1000;

/// A result that names its server and how long it may be cached, where no handshake has.
pub(super) trait WithServerInfo: Sized {
    /// Where what is no content of it stands.
    fn meta(&mut self) -> &mut Option<MetaObject>;

    /// Says how long it holds; what says nothing holds until the next change, which the library says.
    fn keep(&mut self) {}

    /// The result with what the version of this request demands.
    fn with_server_info(mut self, context: &RequestContext<RoleServer>) -> Self {
        if service::is_modern(context) {
            self.keep();
            let said = json!(service::implementation());
            self.meta().get_or_insert_default().insert(SERVER_INFO.to_owned(), said);
        }
        self
    }
}

macro_rules! with_server_info {
    ($($result:ty $(, kept $scope:expr)?;)*) => {$(
        impl WithServerInfo for $result {
            fn meta(&mut self) -> &mut Option<MetaObject> {
                &mut self.meta
            }

            $(fn keep(&mut self) {
                (self.ttl_ms, self.cache_scope) = (Some(KEEP_MS), Some($scope));
            })?
        }
    )*};
}

with_server_info! {
    // Which there are is for one client to know.
    ListToolsResult, kept CacheScope::Private;
    ListPromptsResult, kept CacheScope::Public;
    ListResourceTemplatesResult, kept CacheScope::Public;
    ListResourcesResult;
    ReadResourceResult;
    GetPromptResult;
    CompleteResult;
    CallToolResult;
    InputRequiredResult;
}
