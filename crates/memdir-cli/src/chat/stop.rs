//! Ctrl-C: it stops the answer that is being written, and nothing else. What is being committed is committed.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::lines::Typed;
use crate::interrupt;
use memdir_core::report::{Code, Failure};

/// Who is told of Ctrl-C.
#[derive(Clone, Default)]
pub(super) struct Interrupts(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Stops the answer that is being written.
    answer: Option<CancellationToken>,
    /// Ends the lines while no answer is.
    lines: Option<Sender<Typed>>,
}

impl Interrupts {
    /// Listens from now on, in a thread of its own. Outside an answer, Ctrl-C ends `lines`.
    ///
    /// # Errors
    ///
    /// `internal` where signals cannot be heard.
    pub(super) fn listen(lines: Option<Sender<Typed>>) -> Result<Self, Failure> {
        let broken = |error: io::Error| Failure::new(Code::Internal, format!("signals cannot be heard: {error}"));
        let interrupts = Self(Arc::new(Mutex::new(State { answer: None, lines })));
        let heard = interrupts.clone();
        interrupt::listen(move || heard.interrupt()).map_err(broken)?;
        Ok(interrupts)
    }

    /// An answer begins: what stops it.
    pub(super) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        self.state().answer = Some(token.clone());
        token
    }

    /// The answer is over.
    pub(super) fn end(&self) {
        self.state().answer = None;
    }

    /// What Ctrl-C does.
    pub(super) fn interrupt(&self) {
        let state = self.state();
        match (&state.answer, &state.lines) {
            (Some(answer), _) => answer.cancel(),
            // Where nobody reads the lines any more, they have ended.
            (None, Some(lines)) => drop(lines.send(Typed::End)),
            (None, None) => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn it_stops_the_answer_or_else_ends_the_lines() {
        let (sender, lines) = channel();
        let interrupts = Interrupts(Arc::new(Mutex::new(State { answer: None, lines: Some(sender) })));
        let token = interrupts.begin();
        interrupts.interrupt();
        assert!(token.is_cancelled() && lines.try_recv().is_err());
        interrupts.end();
        assert!(!interrupts.begin().is_cancelled(), "the next answer is another one");
        interrupts.end();
        interrupts.interrupt();
        assert_eq!(lines.try_recv(), Ok(Typed::End));
    }
}
