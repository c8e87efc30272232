//! What a person answers to a question of `review`, and what comes of it.

use super::confirm::check_person;
use super::{Caller, Engine, Question};
use memdir_check as check;
use memdir_core::action::{Action, Call, UpdateFile};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Report};
use memdir_dialect::Parsed;

/// What a person says to a [`Question`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply<'v> {
    /// The line is right. Of two that contradict each other, both may stay.
    Stands,
    /// The line that was asked about is right, and the other one goes.
    This,
    /// The other line is right, and the one that was asked about goes.
    Other,
    /// It says this now; a line that said something else goes.
    Value(&'v str),
}

/// A line that an answer is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Line<'q> {
    path: &'q MemoryPath,
    number: usize,
    /// Without blanks around it.
    text: &'q str,
}

impl Engine {
    /// Does what a person answers to a question that [`Engine::review`] gave. The change comes first and is one batch, which
    /// `undo` takes back together with what it confirms: that is done once the change is made, so that nothing is confirmed where it
    /// fails.
    ///
    /// A new value is written where the fact belongs: of two notes, into the one that it is about.
    ///
    /// Gives the report of the change; `None` where no note was changed.
    ///
    /// # Errors
    ///
    /// `denied` for anybody but the person, `read_only`, `conflict` where a line has changed since it was asked about,
    /// `invalid_action` where a line cannot go, or say the value, without more being changed, and those of the change.
    pub fn settle(&self, question: &Question, reply: Reply<'_>, caller: &Caller) -> Result<Option<Report>, Failure> {
        check_person(caller)?;
        let told = Line { path: &question.path, number: question.line, text: &question.text };
        let other = question.other.as_ref();
        let other = other.map(|other| Line { path: &other.path, number: other.line, text: &other.text });
        for line in [Some(told), other].into_iter().flatten() {
            self.check_as_asked(line)?;
        }
        let (kept, goes) = match (reply, other) {
            (Reply::Stands, other) => {
                for line in [Some(told), other].into_iter().flatten() {
                    self.confirm(line.path, line.text, caller)?;
                }
                return Ok(None);
            }
            (Reply::Other, None) => return Err(stuck(told, "is the only one that was asked about")),
            (Reply::Other, Some(other)) => (other, Some(told)),
            // The other note is the one that the fact is about.
            (Reply::Value(_), Some(other)) if other.path != told.path => (other, Some(told)),
            (Reply::This | Reply::Value(_), other) => (told, other),
        };
        let value = match reply {
            Reply::Value(value) => Some(value).filter(|value| self.value_of(kept) != Some((*value).to_owned())),
            Reply::Stands | Reply::This | Reply::Other => None,
        };
        let actions = self.settling_actions(kept, goes, value)?;
        let report = if actions.is_empty() { None } else { Some(self.carry_out(actions, caller)?) };
        if value.is_none() {
            self.confirm_with(report.as_ref().and_then(|report| report.batch), kept.path, kept.text, caller)?;
        }
        Ok(report)
    }

    /// The actions by which one line goes and the other says the value.
    fn settling_actions(
        &self,
        kept: Line<'_>,
        goes: Option<Line<'_>>,
        value: Option<&str>,
    ) -> Result<Vec<Action>, Failure> {
        let mut actions = Vec::new();
        let (mut text, mut number) = (self.text_of(kept.path).unwrap_or_default(), kept.number);
        let whole = goes.map(|goes| self.text_of(goes.path).unwrap_or_default()).unwrap_or_default();
        let other = goes.map(|goes| (goes.path, whole.as_str(), goes.number));
        if let Some((goes, (_, whole, _))) = goes.zip(other) {
            let removal = check::without_fact(goes.path, whole, goes.number, (kept.path, &text, number), value);
            let removal = removal.ok_or_else(|| stuck(goes, "cannot be taken out without other lines"))?;
            if let Action::UpdateFile(UpdateFile { old_content, new_content, .. }) = &removal
                && goes.path == kept.path
            {
                let lines = text.lines().count();
                text = text.replacen(old_content.as_str(), new_content, 1);
                // A row may have stayed, with another value in a cell.
                number -= usize::from(goes.number < number && text.lines().count() < lines);
            }
            actions.push(removal);
        }
        if let Some(value) = value {
            let change = check::with_value(kept.path, &text, number, other, value);
            actions.push(change.ok_or_else(|| stuck(kept, "cannot be given this value by itself"))?);
        }
        Ok(actions)
    }

    fn value_of(&self, line: Line<'_>) -> Option<String> {
        let facts = memdir_note::Note::parse(&self.text_of(line.path)?).facts();
        facts.into_iter().find(|fact| fact.line == line.number).map(|fact| fact.value)
    }

    fn carry_out(&self, actions: Vec<Action>, caller: &Caller) -> Result<Report, Failure> {
        let calls = (1..).zip(actions).map(|(index, action)| Call::plain(index, action));
        let report = self.conclude(self.propose(Parsed::of(calls), Caller { atomic: true, ..caller.clone() }));
        let failed = report.actions.iter().find_map(|outcome| outcome.result.as_ref().err());
        match failed.or(report.error.as_ref()) {
            Some(failure) => Err(failure.clone()),
            None => Ok(report),
        }
    }

    fn check_as_asked(&self, line: Line<'_>) -> Result<(), Failure> {
        if self.line_of(line.path, line.number).as_deref() == Some(line.text) {
            return Ok(());
        }
        let message = format!("line {} of `{}` has changed since", line.number, line.path);
        Err(Failure::new(Code::Conflict, message).with_hint("ask for the questions again"))
    }
}

fn stuck(line: Line<'_>, what: &str) -> Failure {
    Failure::new(Code::InvalidAction, format!("line {} of `{}` {what}", line.number, line.path))
        .with_hint("change the note itself; nothing was confirmed")
}
