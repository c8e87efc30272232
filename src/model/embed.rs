//! Texts as points: what is close means much the same.

use super::ModelError;

/// Something that gives each text a point.
pub trait Embedder: Send {
    /// The points of some texts, in their order. All points of an embedder have as many numbers.
    ///
    /// # Errors
    ///
    /// As those of [`super::Model::answer`].
    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;
}
