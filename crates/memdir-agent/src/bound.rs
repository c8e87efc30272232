//! Results that are larger than a model can take: cut, with a word on how to go on.

use serde::Serialize;

use memdir_core::report::{Outcome, Report, Value, Variables};
use memdir_dialect::{self as dialect, Frame};

/// The least that is shown of a value.
const LEAST: usize = 256;
const LEFT_OUT: &str = "(left out: the results were too large; ask for less at once)";
const NOTHING_SHOWN: &str =
    "<result>\nThe calls were made. Their results are too large to be shown; ask for less at once.\n</result>";

/// Encodes a report in at most about `most` bytes.
pub(super) fn encode(frame: &Frame, report: &Report, most: usize) -> String {
    let whole = dialect::encode(frame, report);
    if whole.len() <= most {
        return whole;
    }
    // What stands around the values has its share, too.
    let share = most / 2;
    let mut report = report.clone();
    let each = (share / report.actions.len().max(1)).max(LEAST);
    report.actions.iter_mut().for_each(|outcome| cut_outcome(outcome, each));
    let each = (share / report.variables.iter().count().max(1)).max(LEAST);
    change_variables(&mut report, |value| cut_value(value, each));
    let text = dialect::encode(frame, &report);
    if text.len() <= most {
        return text;
    }
    let leave_out = |value: &mut Value| {
        if !matches!(value, Value::Bool(_) | Value::Bytes(_) | Value::Nothing) {
            *value = Value::Text(LEFT_OUT.to_owned());
        }
    };
    report.actions.iter_mut().filter_map(|outcome| outcome.result.as_mut().ok()).for_each(leave_out);
    change_variables(&mut report, leave_out);
    let text = dialect::encode(frame, &report);
    if text.len() <= most { text } else { NOTHING_SHOWN.to_owned() }
}

fn change_variables(report: &mut Report, change: impl Fn(&mut Value)) {
    let changed = report.variables.iter().map(|(name, value)| {
        let mut value = value.clone();
        change(&mut value);
        (name.to_owned(), value)
    });
    report.variables = Variables::new(changed.collect::<Vec<_>>());
}

fn cut_outcome(outcome: &mut Outcome, most: usize) {
    outcome.shown = None;
    match &mut outcome.result {
        Ok(value) => {
            let all = count(value);
            cut_value(value, most);
            if all != count(value) {
                outcome.total = outcome.total.or(all);
            }
        }
        Err(failure) => {
            if failure.details.text.as_ref().is_some_and(|text| text.len() > most) {
                failure.details.text = None;
            }
            if failure.details.closest.as_ref().is_some_and(|closest| closest.text.len() + closest.diff.len() > most) {
                failure.details.closest = None;
            }
        }
    }
}

/// How many things a list holds.
fn count(value: &Value) -> Option<usize> {
    match value {
        Value::Paths(paths) => Some(paths.len()),
        Value::Directory(entries) => Some(entries.len()),
        Value::Entries(entries) => Some(entries.len()),
        Value::History(log) => Some(log.entries.len()),
        Value::Links(links) => Some(links.links.len()),
        // These say themselves how many were left out.
        Value::Search(_) | Value::Context(_) | Value::Recent(_) | Value::Foreign(_) => None,
        Value::Bool(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::File(_)
        | Value::Remembered(_)
        | Value::Config(_)
        | Value::Nothing => None,
    }
}

fn cut_value(value: &mut Value, most: usize) {
    match value {
        Value::Text(text) => cut_text(text, most),
        Value::Paths(paths) => drop(cut_list(paths, most)),
        Value::Directory(entries) => drop(cut_list(entries, most)),
        Value::Entries(entries) => drop(cut_list(entries, most)),
        Value::History(log) => drop(cut_list(&mut log.entries, most)),
        Value::Links(links) => {
            cut_list(&mut links.links, most);
            if serde_json::to_string(&links.backlinks).map_or(0, |json| json.len()) > most {
                links.backlinks.clear();
            }
        }
        Value::Search(search) => search.left_out += cut_list(&mut search.hits, most),
        Value::Context(context) => context.left_out += cut_list(&mut context.parts, most),
        Value::Recent(recent) => recent.left_out += cut_list(&mut recent.days, most),
        // Whoever made the call has cut it already, and knows where it goes on.
        Value::Foreign(json) if json.to_string().len() > most => *value = Value::Text(LEFT_OUT.to_owned()),
        Value::Foreign(_)
        | Value::Bool(_)
        | Value::Bytes(_)
        | Value::File(_)
        | Value::Remembered(_)
        | Value::Config(_)
        | Value::Nothing => {}
    }
}

/// Keeps as many of the first items as have `most` bytes as JSON; how many went.
fn cut_list<T: Serialize>(items: &mut Vec<T>, most: usize) -> usize {
    let all = items.len();
    let mut left = most;
    let fits = |item: &T| {
        let size = serde_json::to_string(item).map_or(0, |json| json.len() + 1);
        left = left.checked_sub(size)?;
        Some(())
    };
    let kept = items.iter().map_while(fits).count();
    items.truncate(kept);
    all - kept
}

/// Cuts a text after a line, and says so.
fn cut_text(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let all = text.lines().count();
    let end = text.floor_char_boundary(most);
    let end = text.get(..end).and_then(|start| start.rfind('\n')).map_or(end, |at| at + 1);
    text.truncate(end);
    let lines = text.lines().count();
    let on = if all > lines { ": read on with `start_line`" } else { "" };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("(cut after {lines} of {all} lines{on})"));
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use memdir_core::path::MemoryPath;
    use memdir_core::report::{Code, Failure};

    fn outcome(result: Result<Value, Failure>) -> Outcome {
        let (action, path) = (Some("read_file".to_owned()), Some("a.md".to_owned()));
        Outcome { index: 1, action, path, result, total: None, cursor: None, label: None, shown: None }
    }

    fn sent(value: Value, most: usize) -> Json {
        let text = encode(&Frame::Native, &Report::of(vec![outcome(Ok(value))]), most);
        assert!(text.len() <= most, "{} bytes", text.len());
        let json = text.trim_start_matches("<result>").trim_end_matches("</result>");
        serde_json::from_str(json.trim()).unwrap()
    }

    #[test]
    fn what_fits_is_as_it_was() {
        let report = Report::of(vec![outcome(Ok(Value::Text("# Ada\n".to_owned())))]);
        assert_eq!(encode(&Frame::Native, &report, 4096), dialect::encode(&Frame::Native, &report));
    }

    #[test]
    fn a_long_note_is_cut_after_a_line_and_says_how_to_read_on() {
        let text = "ten bytes\n".repeat(100_000);
        let answer = sent(Value::Text(text), 4096);
        let shown = answer["actions"][0]["value"].as_str().unwrap();
        assert!(shown.ends_with("ten bytes\n(cut after 204 of 100000 lines: read on with `start_line`)"), "{shown}");
        let one_line = sent(Value::Text("é".repeat(1 << 20)), 4096);
        let shown = one_line["actions"][0]["value"].as_str().unwrap();
        assert!(shown.ends_with("é\n(cut after 1 of 1 lines)"), "{shown}");
    }

    #[test]
    fn a_long_list_is_cut_and_tells_how_many_there_are() {
        let paths = (0..10_000).map(|at| MemoryPath::parse(&format!("notes/{at:05}.md")).unwrap());
        let answer = sent(Value::Paths(paths.collect()), 4096);
        assert_eq!(answer["actions"][0]["total"], 10_000);
        assert_eq!(answer["actions"][0]["value"].as_array().unwrap().len(), 120);
    }

    #[test]
    fn a_turn_with_thousands_of_calls_is_told_in_a_word() {
        let failure = Failure::new(Code::NotFound, "x".repeat(100));
        let calls = (0..5_000).map(|_| outcome(Err(failure.clone()))).collect();
        assert_eq!(encode(&Frame::Native, &Report::of(calls), 4096), NOTHING_SHOWN);
    }
}
