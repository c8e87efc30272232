//! Texts as points: what is close means much the same.

use std::sync::{Arc, Mutex, PoisonError};

use super::ModelError;

/// Something that gives each text a point.
pub trait Embedder: Send {
    /// What it is, so that the points of one are never compared with those of another.
    fn id(&self) -> &str;

    /// The points of some texts, in their order. All points of an embedder have as many numbers, and only their directions mean
    /// something. Of a text that is too long its beginning counts.
    ///
    /// # Errors
    ///
    /// As those of [`super::Model::answer`].
    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// An embedder that several have, so that its weights are in memory once.
#[derive(Clone)]
pub struct Shared {
    id: String,
    embedder: Arc<Mutex<Box<dyn Embedder>>>,
}

impl Shared {
    /// Shares an embedder.
    #[must_use]
    pub fn new(embedder: Box<dyn Embedder>) -> Self {
        Self { id: embedder.id().to_owned(), embedder: Arc::new(Mutex::new(embedder)) }
    }
}

impl Embedder for Shared {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.embedder.lock().unwrap_or_else(PoisonError::into_inner).embed(texts)
    }
}
