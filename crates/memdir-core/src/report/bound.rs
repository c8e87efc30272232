//! Bounds what a report says beyond the texts that were asked for, so that no short text gets a long answer.

use serde::Serialize;

use super::{Details, Failure, Issue, Outcome, Report, Value, Variables};

/// What the failures of a report may have together, in bytes of JSON, before they are cut to their first words.
const FAILURE_BYTES: usize = 24 << 10;
/// What variables may have together beyond the texts that were asked for.
const VARIABLE_BYTES: usize = 16 << 10;
/// What its issues may have together.
const ISSUE_BYTES: usize = 8 << 10;
/// What the paths that changed may have together.
const CHANGED_BYTES: usize = 16 << 10;
/// No message, hint or name of an action that there is not is longer than this, in bytes.
const LONGEST_MESSAGE: usize = 2_000;
/// What is left of each where the failures have too much.
const SHORT_MESSAGE: usize = 120;

impl Report {
    /// Cuts what nobody asked for, the first things last: suggestions and words of failures, issues, paths that changed.
    /// The values of actions are left as they are; of variables, which a block can join and double, as much is kept as was asked
    /// for and a little more. Some 80 KB stay beside that at most, for a batch within its limit.
    pub fn bound(&mut self) {
        let mut left = FAILURE_BYTES;
        for outcome in &mut self.actions {
            let Err(before) = outcome.result.as_ref().map_err(|failure| failure.message.clone()) else { continue };
            bound_failed(outcome, &mut left);
            if let (Some(label), Err(failure)) = (&outcome.label, &outcome.result)
                && failure.message != before
            {
                self.variables.replace(label, &Variables::error(&before), Variables::error(&failure.message));
            }
        }
        if self.variables.iter().next().is_some() {
            let values = self.actions.iter().filter_map(|outcome| outcome.result.as_ref().ok());
            let asked: usize = values.filter(|value| matches!(value, Value::Text(_))).map(size).sum();
            self.variables.bound(asked + VARIABLE_BYTES, SHORT_MESSAGE);
        }
        let count = fitting(&self.issues, ISSUE_BYTES);
        if count < self.issues.len() {
            let message = format!("{} more issues omitted", self.issues.len() - count);
            self.issues.truncate(count);
            self.issues.push(Issue { code: "left_out", index: None, message });
        }
        let count = fitting(&self.changed, CHANGED_BYTES);
        if count < self.changed.len() {
            self.changed_total = Some(self.changed.len());
            self.changed.truncate(count);
        }
        self.error.iter_mut().for_each(|failure| clip_failure(failure, LONGEST_MESSAGE));
    }
}

fn bound_failed(outcome: &mut Outcome, left: &mut usize) {
    let Err(failure) = &mut outcome.result else { return };
    clip_failure(failure, LONGEST_MESSAGE);
    outcome.action.iter_mut().for_each(|action| clip(action, SHORT_MESSAGE));
    let size = size(failure);
    if size <= *left {
        *left -= size;
        return;
    }
    // What follows has no more room, however short it is: else a call would be told less than one behind it.
    *left = 0;
    clip_failure(failure, SHORT_MESSAGE);
    let Details { proposal, waiting, is_read, note_lines, .. } = *failure.details;
    *failure.details = Details { proposal, waiting, is_read, note_lines, ..Details::default() };
}

fn clip_failure(failure: &mut Failure, most: usize) {
    clip(&mut failure.message, most);
    failure.hint.iter_mut().for_each(|hint| clip(hint, most));
}

/// Keeps the first bytes of a text, whole characters.
pub(super) fn clip(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
}

pub(super) fn size(item: &impl Serialize) -> usize {
    serde_json::to_string(item).map_or(0, |json| json.len())
}

/// How many of the first items have no more than `most` bytes as JSON.
fn fitting<T: Serialize>(items: &[T], most: usize) -> usize {
    let mut left = most;
    let fits = |item: &&T| match left.checked_sub(size(*item) + 1) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    items.iter().take_while(fits).count()
}
