//! A model that says what a test has written for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use crate::model::{Answer, Card, End, Heard, Model, ModelError, Place, Request};

/// Answers each request with the next of its turns; with none left it is stopped.
#[derive(Debug)]
pub(crate) struct Scripted {
    card: Card,
    turns: VecDeque<Result<Answer, ModelError>>,
    /// What it was asked.
    pub(crate) asked: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    /// Says these turns, each whole.
    pub(crate) fn new<T: AsRef<str>>(turns: impl IntoIterator<Item = T>) -> Self {
        Self::answering(turns.into_iter().map(|text| Ok(turn(text.as_ref()))))
    }

    /// Answers so.
    pub(crate) fn answering(turns: impl IntoIterator<Item = Result<Answer, ModelError>>) -> Self {
        let card = Card {
            name: "scripted".to_owned(),
            place: Place::Process,
            million_parameters: None,
            context_tokens: None,
            is_constrained: false,
        };
        Self { card, turns: turns.into_iter().collect(), asked: Arc::default() }
    }
}

/// A whole turn, of ten tokens in and two out.
pub(crate) fn turn(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        thought: None,
        end: End::Done,
        input_tokens: 10,
        output_tokens: 2,
        reused_tokens: 0,
    }
}

impl Model for Scripted {
    fn card(&self) -> &Card {
        &self.card
    }

    fn answer(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Heard<'_>),
        stop: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let answer = self.turns.pop_front().unwrap_or(Err(ModelError::Cancelled))?;
        if stop.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        hear(Heard::Text(&answer.text));
        Ok(answer)
    }
}
