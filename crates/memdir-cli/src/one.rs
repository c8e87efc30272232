//! Actions that a person wants carried out: as `exec` would, at the door `cli` or `chat`.

use super::open::{Opened, person};
use super::output::say;
use super::stop::Stop;
use memdir_core::action::{Action, Call};
use memdir_core::report::{Code, Failure, Report, Value};
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Engine};

/// Carries out actions of the person's, all or none.
pub(super) fn carry_out(engine: &Engine, person: Caller, actions: impl IntoIterator<Item = Action>) -> Report {
    let calls = (1..).zip(actions).map(|(index, action)| Call::plain(index, action));
    engine.conclude(engine.propose(Parsed::of(calls), person))
}

/// Runs an action and gives its answer; what was noticed on the way goes to standard error.
pub(super) fn run(opened: &Opened, action: Action) -> Result<Value, Stop> {
    let is_past = action.as_of().is_some();
    let report = carry_out(&opened.engine, person(), [action]);
    for issue in &report.issues {
        let is_named = issue.code == "notes_skipped" && !is_past;
        let names = if is_named { "; `memdir check` names what it cannot read" } else { "" };
        say(format!("note: {}{names}", issue.message))?;
    }
    answer(report).map_err(|failure| bare(failure).into())
}

/// The answer to the only action of a report.
pub(super) fn answer(report: Report) -> Result<Value, Failure> {
    let answered = report.actions.into_iter().next().map(|outcome| outcome.result);
    answered.unwrap_or_else(|| Err(Failure::new(Code::Internal, "the action was not answered")))
}

/// The failure where an action was answered with a value of another kind than its own.
pub(super) fn unexpected() -> Failure {
    Failure::new(Code::Internal, "the action was answered with another kind of value")
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
