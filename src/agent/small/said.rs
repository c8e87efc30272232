//! What the program says itself about what a small model did: such models say what is not so.

use crate::action::Action;
use crate::dialect::{Entry, Parsed};
use crate::report::{Code, Outcome, Report};

/// The most characters of a text that are said again.
const MOST: usize = 200;

/// Says what became of the calls of a turn, by its report alone.
pub(in crate::agent) fn done(parsed: &Parsed, report: &Report) -> String {
    let lines: Vec<String> = report.actions.iter().map(|outcome| line(parsed, outcome)).collect();
    lines.join("\n")
}

fn line(parsed: &Parsed, outcome: &Outcome) -> String {
    let failure = match &outcome.result {
        Ok(_) => return kept(parsed, outcome),
        Err(failure) => failure,
    };
    if failure.code == Code::AwaitingApproval {
        "That is personal: it waits for your word.".to_owned()
    } else if failure.code == Code::PermissionRequired {
        "That is personal, so I did not keep it.".to_owned()
    } else {
        format!("I could not do that: {}.", failure.message)
    }
}

/// What stands in a note now, or does not any more.
fn kept(parsed: &Parsed, outcome: &Outcome) -> String {
    let path = outcome.path.as_deref().unwrap_or_default();
    let calls = parsed.entries.iter().filter_map(|entry| if let Entry::Call(call) = entry { Some(call) } else { None });
    let action = calls.into_iter().find(|call| call.index == outcome.index).map(|call| &call.action);
    let Some((new, old)) = action.and_then(Action::text) else { return format!("Done: {path}.") };
    match (plain(&new), plain(old)) {
        (new, old) if new.is_empty() => format!("Deleted from {path}: {old}"),
        (new, _) => format!("Noted in {path}: {new}"),
    }
}

/// A line without the mark of its list.
fn plain(text: &str) -> String {
    let line = text.trim().replace("**", "").replace("__", "");
    let line = line.trim_start_matches(['-', '*', '+']).trim_start();
    let mut characters = line.chars();
    let mut plain: String = characters.by_ref().take(MOST).map(|one| if one == '\n' { ' ' } else { one }).collect();
    plain.push_str(if characters.next().is_some() { "…" } else { "" });
    plain
}
