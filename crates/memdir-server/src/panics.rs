//! A panic ends the request in which it happens, and nothing else.
//!
//! A panic is a bug, and is said on standard error where it happens. What a request had open is closed while the stack is
//! unwound: transactions are rolled back, locks are let go of, and a batch that was half done is finished or given back by the
//! next who looks.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The work has panicked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Panicked;

/// Does some work, and catches its panic.
///
/// # Errors
///
/// [`Panicked`].
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        tracing::error!("a request has panicked: this is a bug of memdir");
        Panicked
    })
}

/// As [`catch_panic`], for a future.
///
/// # Errors
///
/// [`Panicked`].
pub async fn catch_panic_async<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_panic(|| work.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
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
