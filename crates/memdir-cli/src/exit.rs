//! How a command ends: its exit code, and what it says when it could not do its work.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::output::{Lines, print_json, say};
use super::{mistake, term};
use memdir_core::report::{Code, Failure, Report};
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
    error: Failure,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
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

    /// Says why, and gives the exit code.
    pub(super) fn end(self, json: bool) -> ExitCode {
        match self {
            Self::PipeClosed => ExitCode::SUCCESS,
            Self::Interrupted => ExitCode::from(INTERRUPTED),
            Self::Output(error) => {
                // If that cannot be said either, the exit code says it.
                let _ = say(format!("memdir: cannot print: {error}"));
                ExitCode::from(1)
            }
            Self::Failed(stopped) => {
                let code = code(stopped.error.code);
                let said = if json { print_json(&stopped) } else { stopped.say() };
                match said {
                    Err(Self::PipeClosed) | Ok(()) => ExitCode::from(code),
                    Err(other) => other.end(json),
                }
            }
        }
    }
}

impl Stopped {
    /// Says why.
    pub(super) fn say(&self) -> Result<(), Stop> {
        let mut stderr = io::stderr().lock();
        stderr.line(format!("memdir: {}", self.error.message))?;
        mistake::hint(&self.error).iter().try_for_each(|hint| stderr.line(format!("hint: {hint}")))?;
        if let Some(diff) = &self.diff {
            writeln!(stderr, "{}", term::diff(diff, &stderr))?;
        }
        Ok(())
    }
}

/// Says that a batch is stored where its answer cannot be printed: somebody who sees only that the command failed would send
/// it again.
pub(super) fn though_stored<T>(batch: Option<u64>, printed: Result<T, Stop>) -> Result<T, Stop> {
    if let (Some(batch), Err(Stop::Output(_))) = (batch, &printed) {
        // If that cannot be said either, the exit code says it.
        let _ = say(format!("memdir: change {batch} is stored; only the answer was not printed"));
    }
    printed
}

/// The exit code for a closed code, as the contract has it.
pub(super) fn code(code: Code) -> u8 {
    match code {
        Code::Internal => 1,
        Code::Usage | Code::NoActions => 2,
        Code::Config => 5,
        Code::ModelUnreachable => 6,
        Code::Damaged => DAMAGED,
        code if code.is_refusal() => 3,
        _ => 4,
    }
}

/// The exit code where the audit has told of problems.
pub(super) const DAMAGED: u8 = 7;

/// The exit code where a model has said nothing that may be told.
pub(super) const UNANSWERED: u8 = 4;

/// The exit code where Ctrl-C ends a question: that of a program which the signal itself ends, as shells tell it.
const INTERRUPTED: u8 = 130;

/// The exit code for a report: by its error, else by the worst of its calls.
pub(super) fn of_report(report: &Report) -> u8 {
    if let Some(error) = &report.error {
        return code(error.code);
    }
    let failed = report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err());
    let codes = failed.map(|failure| failure.code).filter(|code| *code != Code::BatchAborted);
    codes.map(code).max().unwrap_or(0)
}
