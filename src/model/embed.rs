//! Texts as points: what is close means much the same.

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
