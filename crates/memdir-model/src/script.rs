//! A model that says what a test has written for it: for tests of what uses a [`Model`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::{Answer, Card, End, Heard, Model, ModelError, Place, Request};

/// What is done with a request.
type Answering =
    dyn FnMut(&Request, &mut dyn FnMut(Heard<'_>), &CancellationToken) -> Result<Answer, ModelError> + Send;

/// Answers as the test says, and keeps what it was asked.
pub struct Scripted {
    card: Card,
    answer: Box<Answering>,
    /// What it was asked.
    pub asked: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    /// Says these turns, each whole; with none left it is stopped.
    pub fn new<T: AsRef<str>>(turns: impl IntoIterator<Item = T>) -> Self {
        Self::answering(turns.into_iter().map(|text| Ok(turn(text.as_ref()))))
    }

    /// Answers each request with the next of these; with none left it is stopped.
    pub fn answering(turns: impl IntoIterator<Item = Result<Answer, ModelError>>) -> Self {
        let mut turns: VecDeque<_> = turns.into_iter().collect();
        Self::by(card("scripted", Place::Process), move |_, hear, stop| {
            let answer = turns.pop_front().unwrap_or(Err(ModelError::Cancelled))?;
            if stop.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            hear(Heard::Text(&answer.text));
            Ok(answer)
        })
    }

    /// Does this with each request.
    pub fn by<F>(card: Card, answer: F) -> Self
    where
        F: FnMut(&Request, &mut dyn FnMut(Heard<'_>), &CancellationToken) -> Result<Answer, ModelError>
            + Send
            + 'static,
    {
        Self { card, answer: Box::new(answer), asked: Arc::default() }
    }
}

/// The card of a model of which nothing else is known.
pub fn card(name: &str, place: Place) -> Card {
    Card { name: name.to_owned(), place, million_parameters: None, context_tokens: None, is_constrained: false }
}

/// A whole turn, of ten tokens in and two out.
pub fn turn(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        thought: None,
        end: End::Done,
        input_tokens: 10,
        output_tokens: 2,
        reused_tokens: 0,
        line_chances: Vec::new(),
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
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        (self.answer)(request, hear, stop)
    }
}
