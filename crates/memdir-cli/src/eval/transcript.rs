//! What a model was asked and answered in a task, word for word, for reading.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::measured::Done;
use crate::output::io_failure;
use crate::stop::Stop;
use memdir_agent::Said;
use memdir_core::report::Report;
use memdir_model::{Answer, Card, End, Heard, Message, Model, ModelError, Request, Role};
use memdir_words::said;

/// What happens in a task, in its order. Clones write to the same log.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Arc<Mutex<Vec<Part>>>);

/// One thing that happened.
#[derive(Clone, Debug)]
enum Part {
    /// The person said this.
    Message(String),
    /// The model was asked.
    Asked(Request),
    /// It answered, or did not.
    Answered(Result<Answer, ModelError>),
    /// What became of its calls, as JSON.
    Report(String),
    /// What the person was told: the reply, and lines of the program.
    Said(Option<String>, Vec<String>),
}

/// A model that writes down what it is asked and answers.
pub(super) struct Recorded {
    model: Box<dyn Model>,
    log: Log,
}

impl Log {
    pub(super) fn message(&self, text: &str) {
        self.push(Part::Message(text.to_owned()));
    }

    pub(super) fn report(&self, report: &Report) {
        self.push(Part::Report(serde_json::to_string(report).unwrap_or_default()));
    }

    pub(super) fn said(&self, said: &Said) {
        let mut lines: Vec<String> = said.notice.iter().map(said::notice).collect();
        lines.extend(said.receipts.iter().cloned());
        lines.extend(said.pending.iter().map(|id| format!("proposal {id} waits")));
        self.push(Part::Said(said.reply.clone(), lines));
    }

    fn push(&self, part: Part) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    }

    /// What has happened, as Markdown; the log is empty afterwards.
    pub(super) fn take(&self, done: &Done) -> String {
        let parts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut text = format!("# {} ({})\n\n", done.id, done.kind);
        text.push_str(if done.passed { "passed\n" } else { "failed:\n\n" });
        for failed in &done.failed {
            let _ = writeln!(text, "- {failed}");
        }
        let mut before: Option<Request> = None;
        for part in parts {
            match part {
                Part::Message(message) => block(&mut text, "Message", &message),
                Part::Asked(request) => {
                    asked(&mut text, &request, before.as_ref());
                    before = Some(request);
                }
                Part::Answered(Ok(answer)) => answered(&mut text, &answer),
                Part::Answered(Err(error)) => block(&mut text, "No answer", &error.to_string()),
                Part::Report(report) => block(&mut text, "Report", &report),
                Part::Said(reply, lines) => {
                    block(&mut text, "Reply to the person", reply.as_deref().unwrap_or("(none)"));
                    lines.iter().for_each(|line| block(&mut text, "Note", line));
                }
            }
        }
        text
    }
}

impl Recorded {
    pub(super) fn new(model: Box<dyn Model>, log: Log) -> Self {
        Self { model, log }
    }
}

impl Model for Recorded {
    fn card(&self) -> &Card {
        self.model.card()
    }

    fn answer(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Heard<'_>),
        stop: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.log.push(Part::Asked(request.clone()));
        let answer = self.model.answer(request, hear, stop);
        self.log.push(Part::Answered(answer.clone()));
        answer
    }
}

/// What is asked; what was asked the time before is not repeated.
fn asked(text: &mut String, request: &Request, before: Option<&Request>) {
    if before.is_none_or(|before| before.system != request.system) {
        block(text, "System", &request.system);
    }
    let known = before.filter(|before| before.system == request.system).map_or(&[][..], |before| &before.messages);
    let same = known.iter().zip(&request.messages).take_while(|(one, other)| one == other).count();
    if same > 0 {
        let _ = write!(text, "\n({same} messages as before)\n");
    }
    for Message { role, text: said } in request.messages.iter().skip(same) {
        block(text, if *role == Role::User { "To the model" } else { "The model before" }, said);
    }
}

fn answered(text: &mut String, answer: &Answer) {
    if let Some(thought) = &answer.thought {
        block(text, "Thought", thought);
    }
    let cut = if answer.end == End::Cut { ", cut off" } else { "" };
    let Answer { input_tokens, output_tokens, reused_tokens, .. } = answer;
    let head = format!("Turn ({input_tokens} tokens read, {reused_tokens} known, {output_tokens} written{cut})");
    block(text, &head, &answer.text);
}

/// A heading and a text, in a fence that nothing in the text can close.
fn block(text: &mut String, heading: &str, said: &str) {
    let longest = said.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if said.ends_with('\n') { "" } else { "\n" };
    let _ = write!(text, "\n## {heading}\n\n{fence}\n{said}{end}{fence}\n");
}

/// Writes the transcript of a task into a folder.
#[expect(clippy::disallowed_methods, reason = "the person names this folder on the command line")]
pub(super) fn write(folder: &Path, number: usize, done: &Done, text: &str) -> Result<(), Stop> {
    let file = folder.join(format!("{number:03}-{}.md", name(&done.id)));
    Ok(std::fs::write(file, text).map_err(io_failure("a transcript cannot be written"))?)
}

/// A name for a file that says what a name is about, whatever stands in it.
pub(super) fn name(text: &str) -> String {
    let safe = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    text.chars().take(60).map(|character| if safe(character) { character } else { '-' }).collect()
}
