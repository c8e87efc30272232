//! [`SharedEmbedder`]: the embedder, what it has said, and that it has failed.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use super::{Embeddings, Opening};
use crate::lock;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_model::embed::Embedder;
use memdir_model::{ModelError, Place};
use memdir_rank::{Number, Point};

/// So many questions are remembered with their points.
const QUESTIONS: usize = 8;
/// An embedder that has failed is left alone for this long.
pub(super) const PAUSE: Duration = Duration::from_secs(60);
/// What an embedder is asked to see that it answers, and how many numbers its points have.
const PROBE: &str = "memdir";

/// What tells meanings.
pub(crate) struct SharedEmbedder {
    pub(super) name: String,
    pub(super) place: Place,
    state: Mutex<EmbedderState>,
}

/// What there is of the embedder, and what it has said.
pub(crate) struct EmbedderState {
    open: Opening,
    embedder: Option<Box<dyn Embedder>>,
    /// How many numbers its points have; 0 while it has made none.
    numbers: usize,
    /// The last questions, the oldest first.
    questions: Vec<(String, Point)>,
    pub(super) failed: Option<(Timestamp, Failure)>,
    /// Whether somebody has heard why.
    pub(super) is_told: bool,
    /// The last note that was told what it means while somebody waited; the next ones go on from it.
    pub(super) after: Number,
    /// When that failed.
    pub(super) few_failed: Option<Timestamp>,
}

impl std::fmt::Debug for SharedEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedEmbedder").field("name", &self.name).field("place", &self.place).finish_non_exhaustive()
    }
}

impl SharedEmbedder {
    pub(crate) fn new(embeddings: Embeddings) -> Self {
        let Embeddings { name, place, open } = embeddings;
        let state = EmbedderState {
            open,
            embedder: None,
            numbers: 0,
            questions: Vec::new(),
            failed: None,
            is_told: false,
            after: Number::MIN,
            few_failed: None,
        };
        Self { name, place, state: Mutex::new(state) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, EmbedderState> {
        lock(&self.state)
    }

    /// The state, where nobody else has it.
    pub(super) fn free_state(&self) -> Option<MutexGuard<'_, EmbedderState>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The point of a question, where the points of notes are by this embedder.
    pub(super) fn ask(&self, question: &str, known: &str, now: Timestamp) -> Option<Point> {
        let mut state = self.state();
        let remembered = state.remembered(question);
        if remembered.is_some() || state.is_paused(now) {
            return remembered;
        }
        match state.ask(question, known) {
            Ok(point) => {
                let point = point?;
                if state.questions.len() == QUESTIONS {
                    state.questions.remove(0);
                }
                state.questions.push((question.to_owned(), point.clone()));
                Some(point)
            }
            Err(failure) => {
                state.fail(now, failure);
                None
            }
        }
    }
}

impl EmbedderState {
    /// The embedder, opened.
    fn opened(&mut self) -> Result<&mut dyn Embedder, Failure> {
        if self.embedder.is_none() {
            self.embedder = Some((self.open)()?);
        }
        match &mut self.embedder {
            Some(embedder) => Ok(embedder.as_mut()),
            None => Err(Failure::new(Code::Internal, "the embedder was not opened")),
        }
    }

    pub(super) fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let points = self.opened()?.embed(texts).map_err(|error| failure(&error))?;
        let numbers = points.first().map_or(0, Vec::len);
        if points.len() != texts.len() || numbers == 0 || points.iter().any(|point| point.len() != numbers) {
            return Err(Failure::new(
                Code::ModelUnreachable,
                "the embedder does not answer with a point for each text",
            ));
        }
        if self.numbers != numbers {
            self.numbers = numbers;
            self.questions.clear();
        }
        Ok(points)
    }

    pub(super) fn probe(&mut self) -> Result<(), Failure> {
        self.embed(&[PROBE]).map(drop)
    }

    /// What an index calls it: what it is, and how many numbers its points have. It is asked where that is not known.
    pub(super) fn called(&mut self) -> Result<String, Failure> {
        if self.numbers == 0 {
            self.probe()?;
        }
        let numbers = self.numbers;
        Ok(format!("{} {numbers}", self.opened()?.id()))
    }

    fn ask(&mut self, question: &str, known: &str) -> Result<Option<Point>, Failure> {
        let id = self.opened()?.id();
        if known.rsplit_once(' ').is_none_or(|(known, _)| known != id) {
            return Ok(None);
        }
        let numbers = self.embed(&[question])?.pop().unwrap_or_default();
        let embedder = self.called()?;
        Ok((embedder == known).then_some(Point { embedder, numbers }))
    }

    pub(super) fn remembered(&self, question: &str) -> Option<Point> {
        self.questions.iter().find(|(known, _)| known == question).map(|(_, point)| point.clone())
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.failed.as_ref().is_some_and(|(failed, _)| now.since(*failed) < PAUSE)
    }

    /// Remembers that it failed.
    pub(super) fn fail(&mut self, now: Timestamp, failure: Failure) {
        tracing::warn!(error = %failure.message, "notes are found by their words alone");
        self.failed = Some((now, failure));
    }
}

fn failure(error: &ModelError) -> Failure {
    let failure = Failure::new(Code::ModelUnreachable, error.to_string());
    if let ModelError::Unloadable { hint, .. } = error { failure.with_hint(hint.clone()) } else { failure }
}
