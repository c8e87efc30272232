//! Why a command ends before it has done its work.

use std::io;

use serde::Serialize;

use memdir_core::report::{Code, Failure};
use memdir_engine::{ChangeError, ForgetPreview};

/// Why a command ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It could not do its work.
    Failed(Box<Stopped>),
    /// Nobody reads what it prints any more, which is no failure.
    PipeClosed,
    /// What it prints could not be written.
    Output(io::Error),
    /// The person pressed Ctrl-C at a question.
    Interrupted,
}

/// What a command that could not do its work says.
#[derive(Debug, Serialize)]
pub(super) struct Stopped {
    pub(super) error: Failure,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    /// Of `forget` that may not ask: what it would erase.
    #[serde(flatten)]
    listed: Option<ForgetPreview>,
}

impl From<Failure> for Stop {
    fn from(error: Failure) -> Self {
        Self::Failed(Box::new(Stopped { error, diff: None, listed: None }))
    }
}

impl From<ChangeError> for Stop {
    fn from(error: ChangeError) -> Self {
        Self::Failed(Box::new(Stopped { error: error.failure, diff: error.diff, listed: None }))
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::PipeClosed } else { Self::Output(error) }
    }
}

/// A failure of the command line itself.
pub(super) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(Code::Usage, message).with_hint(hint)
}

impl Stop {
    /// Whether it ends by a failure of the command's own with this code.
    pub(super) fn is(&self, code: Code) -> bool {
        matches!(self, Self::Failed(stopped) if stopped.error.code == code)
    }

    /// Nothing was erased, since nobody could be asked about all of this.
    pub(super) fn unasked(error: Failure, listed: ForgetPreview) -> Self {
        Self::Failed(Box::new(Stopped { error, diff: None, listed: Some(listed) }))
    }

    /// Why it ends, where it is a failure of the command's own.
    pub(super) fn failure(self) -> Option<Failure> {
        if let Self::Failed(stopped) = self { Some(stopped.error) } else { None }
    }

    /// The same; where it is none, a failure with this code that says so.
    pub(super) fn failure_or(self, code: Code, otherwise: &str) -> Failure {
        self.failure().unwrap_or_else(|| Failure::new(code, otherwise))
    }
}
