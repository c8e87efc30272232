//! The `<result>` that answers a block.

use super::repr;
use crate::repair::Repair;
use crate::tag::without_tags;
use memdir_core::report::{Code, Failure, Issue, Outcome, Report};

/// Writes the answer: the variables that the block has set, and why it stopped, if it did.
pub(crate) fn encode(report: &Report) -> String {
    let mut text = String::new();
    text.push('{');
    for (number, (name, value)) in report.variables.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { ", " });
        repr::quote(&mut text, name);
        text.push_str(": ");
        repr::value(&mut text, value);
    }
    text.push('}');
    if let Some(failure) = trouble(report) {
        let hint = failure.hint.as_ref().map(|hint| format!("\n{hint}")).unwrap_or_default();
        text = format!("({text}, {{Exception in sandboxed code:\n{}{hint}}})", failure.message);
    }
    // The same text in Python.
    format!("<result>\n{}\n</result>", without_tags(&text, "\\x"))
}

/// Why the block, or the batch as a whole, was not done.
fn trouble(report: &Report) -> Option<&Failure> {
    let failed = || report.actions.iter().filter_map(|outcome| Some((outcome, outcome.result.as_ref().err()?)));
    if report.error.is_some() {
        return report.error.as_ref();
    }
    // Only the block itself is an entry without an action.
    if let Some((_, failure)) = failed().find(|(outcome, _)| outcome.action.is_none()) {
        return Some(failure);
    }
    // Nobody told the model, who would take it for done.
    let lacks_leave =
        |code| matches!(code, Code::AwaitingApproval | Code::Denied | Code::PermissionRequired | Code::ReadOnly);
    if let Some((_, failure)) = failed().find(|(outcome, failure)| outcome.label.is_none() && lacks_leave(failure.code))
    {
        return Some(failure);
    }
    let is_unnoticed = |outcome: &Outcome| {
        let here = |issue: &&Issue| issue.index == Some(outcome.index);
        report.issues.iter().filter(here).any(|issue| issue.code == Repair::UnnoticedFailure.code())
    };
    if let Some((_, failure)) = failed().find(|(outcome, _)| is_unnoticed(outcome)) {
        return Some(failure);
    }
    if report.variables.iter().next().is_some() {
        return None;
    }
    // What a call with a name fails with is set, unless the engine took all back.
    let is_of_batch = |code| {
        matches!(
            code,
            Code::BatchAborted
                | Code::Busy
                | Code::Conflict
                | Code::Damaged
                | Code::DiskFull
                | Code::Io
                | Code::NoWriteAccess
                | Code::Timeout
                | Code::Unavailable
        )
    };
    let taken_back = |(outcome, failure): &(&Outcome, &Failure)| outcome.label.is_some() || is_of_batch(failure.code);
    failed().find(taken_back).map(|(_, failure)| failure)
}
