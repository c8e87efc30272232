//! How a command ends: its exit code, and what it says when it could not do its work.

use std::io::{self, Write};
use std::process::ExitCode;

use super::hint::hint;
use super::output::{Lines, print_json, say};
use super::stop::{Stop, Stopped};
use super::term;
use memdir_core::report::{Code, Report};

impl Stop {
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
        hint(&self.error).iter().try_for_each(|hint| stderr.line(format!("hint: {hint}")))?;
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
