//! The `<result>` that answers a block.

use memchr::memchr_iter;

use super::{Frame, repr};
use crate::dialect::tag::looks_like_tag;
use crate::report::{Code, Failure, Report};

/// Writes the answer: the variables that the block has set, and why it stopped, if it did.
pub(in crate::dialect) fn encode(_frame: &Frame, report: &Report) -> String {
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
    format!("<result>\n{}\n</result>", without_tags(&text))
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
    let taken_back =
        |(outcome, failure): &(&crate::report::Outcome, &Failure)| outcome.label.is_some() || is_of_batch(failure.code);
    failed().find(taken_back).map(|(_, failure)| failure)
}

/// Writes the `<` of each tag as `\x3c`, which is the same text in Python.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for at in memchr_iter(b'<', text.as_bytes()).filter(|at| looks_like_tag(text, *at) || is_own_tag(text, *at)) {
        out.push_str(text.get(copied..at).unwrap_or_default());
        out.push_str("\\x3c");
        copied = at + 1;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// Whether a tag of a dialect starts at `at` that the native one does not know.
fn is_own_tag(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at + 1..).unwrap_or_default().trim_ascii_start();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest).trim_ascii_start();
    ["python", "mcp:"]
        .iter()
        .any(|name| rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())))
}
