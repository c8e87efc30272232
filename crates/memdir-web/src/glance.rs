//! [`Glance`]: what is worth asking the person, kept while finding it anew would cost too much.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memdir_core::report::Failure;
use memdir_core::time::Timestamp;
use memdir_engine::{Engine, Question};
use memdir_server::lock;

/// So many questions are looked for.
const MOST: usize = 100;
/// An answer may be as old as so many times what it took to find it: all notes are read for it, at every change by others.
const PATIENCE: u32 = 20;

/// The questions that were found last.
#[derive(Debug, Default)]
pub(crate) struct Glance(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    questions: Arc<Vec<Question>>,
    found: Timestamp,
    took: Duration,
}

impl Glance {
    /// The questions whose answers are worth most, the most urgent first.
    pub(crate) fn questions(&self, engine: &Engine) -> Result<Arc<Vec<Question>>, Failure> {
        let started = engine.now();
        if let Some(kept) = &*lock(&self.0)
            && started.since(kept.found) < kept.took * PATIENCE
        {
            return Ok(Arc::clone(&kept.questions));
        }
        let questions = Arc::new(engine.review(started, MOST)?);
        let found = engine.now();
        *lock(&self.0) = Some(Kept { questions: Arc::clone(&questions), found, took: found.since(started) });
        Ok(questions)
    }

    /// The person has changed something, and wants to see that.
    pub(crate) fn clear(&self) {
        *lock(&self.0) = None;
    }
}
