//! [`WholeCharacters`]: JSON as it comes in, without halves of characters.
//!
//! A program of JavaScript that cuts a text within a character sends half a pair, which no parser of ours takes; the protocol's library
//! then passes over the whole message, and who sent it waits for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use memdir_core::json::{before_begun, without_halves};
use tokio::io::{AsyncRead, ReadBuf};

/// So much is read at once.
const PIECE: usize = 8 * 1024;

/// Reads lines of JSON, each half of a pair replaced by the sign for what cannot be shown.
pub(crate) struct WholeCharacters<R> {
    inner: R,
    /// What was read: the first bytes are ready, the others may be the beginning of an escape.
    read: Vec<u8>,
    ready: usize,
    given: usize,
}

impl<R> WholeCharacters<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, read: Vec::new(), ready: 0, given: 0 }
    }

    /// Takes what came, nothing at the end.
    fn take(&mut self, piece: &[u8]) {
        self.read.drain(..self.ready);
        self.read.extend_from_slice(piece);
        let whole = if piece.is_empty() { self.read.len() } else { before_begun(&self.read) };
        let begun = self.read.split_off(whole);
        self.read = without_halves(&self.read).into_owned();
        (self.ready, self.given) = (self.read.len(), 0);
        self.read.extend_from_slice(&begun);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for WholeCharacters<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.given == this.ready {
            let mut space = [0; PIECE];
            let mut piece = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut piece))?;
            this.take(piece.filled());
            if piece.filled().is_empty() && this.ready == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        let waiting = this.read.get(this.given..this.ready).unwrap_or_default();
        let given = waiting.get(..to.remaining()).unwrap_or(waiting);
        to.put_slice(given);
        this.given += given.len();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn however_it_is_cut_it_is_the_same() {
        let sent = "{\"a\":\"\\ud83d \\ud83d\\ude00 \\\\ud83d\\n\"}\n\u{e9}\\\n{\"b\":\"\\ud83d\"}\n\\ude00\\";
        let whole = "{\"a\":\"\\ufffd \\ud83d\\ude00 \\\\ud83d\\n\"}\n\u{e9}\\\n{\"b\":\"\\ufffd\"}\n\\ufffd\\";
        for length in 1..=sent.len() {
            let (mut ours, theirs) = tokio::io::duplex(sent.len());
            let mut theirs = WholeCharacters::new(theirs);
            let mut read = Vec::new();
            for piece in sent.as_bytes().chunks(length) {
                ours.write_all(piece).await.unwrap();
                let mut some = [0; 7];
                if piece.ends_with(b"\n") {
                    // A message is there once its line is.
                    while !read.ends_with(b"\n") {
                        let count = theirs.read(&mut some).await.unwrap();
                        read.extend_from_slice(&some[..count]);
                    }
                }
            }
            drop(ours);
            theirs.read_to_end(&mut read).await.unwrap();
            assert_eq!(String::from_utf8(read).unwrap(), whole, "{length}");
        }
    }
}
