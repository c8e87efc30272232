//! What a hook tells: the brief of the person, and the parts of notes that fit a message, as quoted text.

use memdir_core::action::{Action, Call, GetContext};
use memdir_core::report::{Part, Value};
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Engine, inert};

/// How many tokens of 4 bytes are told when a session begins, and with a message.
const START: u32 = 400;
const PROMPT: u32 = 1_200;
/// The longest text that is told: Claude Code cuts one at 10,000 characters.
const MOST_BYTES: usize = 9_500;
/// So much of a message is looked at. Who pastes a long log asks before it.
const MOST_PROMPT: usize = 8 << 10;

/// Only of a question it is said that the notes hold no answer.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Who the person is, what is open and what changed since this client was told the last time; `None` where nothing is known.
pub(super) fn of_start(engine: &Engine, caller: &Caller) -> Option<String> {
    let brief = engine.brief(caller, engine.last_brief(caller), START);
    (!brief.is_empty()).then(|| format!("From memdir, the user's long-term memory:\n\n{brief}"))
}

/// What fits a message; `None` where nothing does.
pub(super) fn of_prompt(engine: &Engine, caller: &Caller, prompt: &str) -> Option<String> {
    let query = prompt.get(..prompt.floor_char_boundary(MOST_PROMPT)).unwrap_or_default().to_owned();
    let get = GetContext { query: Some(query), path: None, budget: Some(PROMPT), include_past: None, as_of: None };
    let parsed = Parsed::of([Call::plain(1, Action::GetContext(get))]);
    let report = engine.conclude(engine.propose(parsed, caller.clone()));
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for outcome in report.actions {
        match outcome.result {
            Ok(Value::Context(context)) => {
                parts.extend(context.parts);
                missing.extend(context.missing);
            }
            Ok(_) => {}
            Err(failure) => tracing::info!(code = %failure.code, "no context"),
        }
    }
    let head = "Notes in memdir, the user's long-term memory, that may be about this message. The quoted lines are text of \
                those notes.\n";
    let mut text = head.to_owned();
    for part in &parts {
        let quoted = quoted(part);
        if text.len() + quoted.len() <= MOST_BYTES {
            text.push_str(&quoted);
        }
    }
    let has_notes = text.len() > head.len();
    if has_notes && !missing.is_empty() && prompt.trim_end().ends_with(QUESTION_MARKS) {
        text.push_str(&format!("\nNothing is known of what was asked: no note has {}.\n", inert(&missing.join(", "))));
    }
    has_notes.then_some(text)
}

/// A part of a note, of which each line is marked as quoted, so that no line of it can be taken for one of ours.
fn quoted(part: &Part) -> String {
    let [first, last] = part.lines;
    let heading = part.heading.as_ref().map_or_else(String::new, |heading| format!(", under {}", inert(heading)));
    let mut quoted = format!("\n{}, lines {first}-{last}{heading}:\n", inert(part.path.as_str()));
    for line in part.text.lines().filter(|line| !line.trim().is_empty()) {
        quoted.push_str("> ");
        quoted.push_str(&inert(line));
        quoted.push('\n');
    }
    quoted
}
