//! Living through a panic: it ends the request in which it happens, and nothing else.
//!
//! A panic is a bug, and is said on standard error where it happens. What a request had open is closed while the stack is
//! unwound: transactions are rolled back, locks are let go of, and a batch that was half done is finished or given back by the
//! next who looks.

use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer};

use super::service::Service;

/// Something has panicked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Panicked;

/// Does work, unless it panics.
pub(super) fn survive<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        tracing::error!("a request has panicked: this is a bug of memdir");
        Panicked
    })
}

/// As [`survive`], for work that is awaited.
pub(super) async fn survived<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    poll_fn(|cx| match survive(|| work.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// What a request is answered by in which something has panicked.
pub(super) fn fault() -> ErrorData {
    ErrorData::internal_error("something went wrong inside memdir; the server goes on", None)
}

/// A [`Service`] that answers also where it panics.
#[derive(Clone, Debug)]
pub(super) struct Lasting(pub(super) Service);

impl rmcp::Service<RoleServer> for Lasting {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let handled = survived(rmcp::Service::handle_request(&self.0, request, context)).await;
        handled.unwrap_or_else(|Panicked| Err(fault()))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let handled = survived(rmcp::Service::handle_notification(&self.0, notification, context)).await;
        handled.unwrap_or_else(|Panicked| Err(fault()))
    }

    fn get_info(&self) -> ServerConfig {
        rmcp::Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        rmcp::Service::supported_protocol_versions(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_is_told_from_work_that_is_done() {
        assert_eq!(survived(async { 1 }).await, Ok(1));
        let later = async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "as it is written in this test");
        };
        assert_eq!(survived(later).await, Err(Panicked));
    }
}
