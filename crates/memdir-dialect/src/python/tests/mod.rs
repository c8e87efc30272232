use super::*;
use crate::parse_as;
use crate::{Dialect, Entry, Parsed, Turn};
use memdir_core::action::Action;
use memdir_core::report::{Code, Outcome, Report, Value, Variables};

mod answers;
mod blocks;
mod oracle;
mod refusals;
mod turns;

/// What a block said and did when its calls were answered with `results`, one after the other.
struct Ran {
    /// The calls as JSON, with their labels.
    calls: Vec<String>,
    stopped: Option<Failure>,
    variables: Variables,
    answer: String,
}

/// The `<python>` block of some code.
fn block(code: &str) -> String {
    format!("<think>so</think>\n<python>\n{code}\n</python>\n")
}

fn read_in(code: &str, variables: &Variables) -> Parsed {
    parse_as(block(code).as_bytes(), Some(Dialect::Python), variables)
}

fn report(actions: Vec<Outcome>, variables: Variables) -> Report {
    Report { variables, ..Report::of(actions) }
}

/// The outcome of an entry with a result.
fn outcome(entry: &Entry, result: Result<Value, Failure>) -> Outcome {
    let (index, action, label) = match entry {
        Entry::Call(call) => (call.index, Some(call.action.name().to_owned()), call.label.clone()),
        Entry::Unread(unread) => (unread.index, unread.action.clone(), unread.label.clone()),
    };
    Outcome { index, action, path: None, result, total: None, cursor: None, label, shown: None }
}

fn go(mut turn: Turn, parsed: &Parsed, results: Vec<Result<Value, Failure>>) -> Ran {
    let mut results = results.into_iter();
    let (mut calls, mut outcomes, mut stopped) = (Vec::new(), Vec::new(), None);
    while let Some(entry) = turn.next_entry() {
        let result = match entry.as_ref() {
            Entry::Call(call) => {
                assert_eq!(call.index, calls.len() + 1);
                let label = call.label.as_ref().map(|label| format!("{label} = ")).unwrap_or_default();
                calls.push(format!("{label}{}{}", call.action.name(), said(&call.action)));
                results.next().unwrap_or(Ok(Value::Bool(true)))
            }
            Entry::Unread(unread) => {
                if unread.action.is_none() {
                    stopped = Some(unread.failure.clone());
                } else {
                    calls.push(format!("unread {}", unread.failure.message));
                }
                Err(unread.failure.clone())
            }
        };
        let outcome = outcome(&entry, result);
        turn.tell(&outcome);
        outcomes.push(outcome);
    }
    let issues = turn.issues();
    let variables = turn.variables().unwrap_or_default();
    let answer = crate::encode(&parsed.frame, &Report { issues, ..report(outcomes, variables.clone()) });
    Ran { calls, stopped, variables, answer }
}

fn said(action: &Action) -> String {
    let path = action.path().map(ToString::to_string).unwrap_or_default();
    if let Action::GoToLink(link) = action {
        return format!("({})", link.link);
    }
    if let Action::UpdateFile(update) = action {
        return format!("({path}, {:?}, {:?}, {:?})", update.old_content, update.new_content, update.occurrence);
    }
    action.text().map_or_else(|| format!("({path})"), |(text, _)| format!("({path}, {text:?})"))
}

fn run_in(code: &str, variables: &Variables, results: Vec<Result<Value, Failure>>) -> Ran {
    let parsed = read_in(code, variables);
    assert!(parsed.script.is_some(), "refused: {:?}", parsed.entries);
    go(parsed.turn(), &parsed, results)
}

fn run(code: &str, results: Vec<Result<Value, Failure>>) -> Ran {
    run_in(code, &Variables::default(), results)
}

fn text(text: &str) -> Result<Value, Failure> {
    Ok(Value::Text(text.to_owned()))
}

fn fails(code: Code) -> Result<Value, Failure> {
    Err(Failure::new(code, "it failed"))
}
