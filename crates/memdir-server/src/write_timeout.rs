//! [`WriteTimeout`]: a connection that fails when the other end does not read.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream that fails once nothing of what is written has been taken for some time.
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write waits.
    ends: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, ends: None }
    }

    fn wait<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.ends = None;
            return written;
        }
        let ends = self.ends.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ends.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.wait(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.wait(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        this.wait(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Writes through a pipe that holds 8 bytes, of which the other end takes `taken`.
    fn write(bytes: usize, taken: usize) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(8);
            let mut ours = WriteTimeout::new(ours, Duration::from_millis(20));
            let read = async {
                theirs.read_exact(&mut vec![0; taken]).await.unwrap();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                written = async { ours.write_all(&vec![7; bytes]).await } => written,
                () = read => Ok(()),
            }
        })
    }

    #[test]
    fn who_takes_nothing_more_is_left() {
        assert!(write(8, 0).is_ok());
        assert!(write(100, 92).is_ok());
        assert_eq!(write(100, 91).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(write(9, 0).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
