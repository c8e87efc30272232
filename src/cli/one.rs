//! One action, run for a person: as `exec` would, at the door `cli`.

use std::io::{self, Write};

use super::exit::Stop;
use super::{open, term};
use crate::action::{Action, Call};
use crate::dialect::Parsed;
use crate::engine::Manner;
use crate::policy::Mode;
use crate::report::{Code, Failure, Value};

/// Runs an action and gives its answer; what was noticed on the way goes to standard error.
pub(super) fn run(opened: &open::Opened, action: Action) -> Result<Value, Stop> {
    let call = Call::plain(1, action);
    let parsed = Parsed::of([call]);
    let author = open::author("cli", None, "person");
    let manner = Manner { author, grant: None, mode: Mode::Off, read_only: false, atomic: true, seen: None };
    let report = opened.engine.conclude(opened.engine.propose(parsed, manner));
    let mut stderr = io::stderr().lock();
    for issue in &report.issues {
        writeln!(stderr, "note: {}", term::escape_line(&issue.message))?;
    }
    let answered = report.actions.into_iter().next().map(|outcome| outcome.result);
    let missing = || Err(Failure::new(Code::Internal, "the action was not answered"));
    answered.unwrap_or_else(missing).map_err(|failure| bare(failure).into())
}

/// A failure without the number and the name of an action, which the person did not write.
pub(super) fn bare(mut failure: Failure) -> Failure {
    if failure.code == Code::InvalidAction
        && let Some((_, message)) = failure.message.split_once("`: ")
    {
        failure.message = message.to_owned();
    }
    failure
}
