//! Whatever JSON a provider sends can be read as tool calls and as the memory tool, and each call is answered in JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_dialect::{Dialect, Entry, Frame, encode, parse_as};
use memdir_core::report::{Code, Failure, Outcome, Report, Shown, Value, Variables};

fuzz_target!(|input: &[u8]| {
    for dialect in [Dialect::ToolCall, Dialect::MemoryTool] {
        let parsed = parse_as(input, Some(dialect), &Variables::default());
        assert_eq!(parsed, parse_as(input, Some(dialect), &Variables::default()));
        let actions = parsed.entries.iter().enumerate().map(|(place, entry)| made_up(place, entry, input)).collect();
        let mut report = Report { issues: parsed.issues.clone(), ..Report::of(actions) };
        check(&parsed.frame, &report);
        report.actions.clear();
        report.error = Some(Failure::new(Code::NoActions, "nothing"));
        check(&parsed.frame, &report);
    }
});

/// What may have become of a call.
fn made_up(place: usize, entry: &Entry, input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input).into_owned();
    match entry {
        Entry::Call(call) => {
            assert_eq!(call.index, place + 1);
            let mut outcome = Outcome::failed(call, Failure::new(Code::NotFound, text.clone()));
            if input.len() % 3 > 0 {
                outcome.result = Ok(if input.len() % 3 == 1 { Value::Bool(true) } else { Value::Text(text.clone()) });
                outcome.shown = Some(Shown::Edited { text, lines: [input.len() % 7, 1] });
            }
            outcome
        }
        Entry::Unread(unread) => {
            assert_eq!(unread.index, place + 1);
            let (action, path, label) = (unread.action.clone(), unread.path.clone(), unread.label.clone());
            let result = Err(unread.failure.clone());
            Outcome { index: unread.index, action, path, result, total: None, cursor: None, label, shown: None }
        }
    }
}

fn check(frame: &Frame, report: &Report) {
    let answer = encode(frame, report);
    if matches!(frame, Frame::ToolCall(_)) {
        assert!(!answer.contains('\n'));
        assert!(serde_json::from_str::<serde_json::Value>(&answer).is_ok());
    }
}
