//! Vectors: how like a question notes are by what they mean, whatever words they use.

use std::collections::HashMap;

use super::{Asking, Number, Source, SourceError, best_first};

/// How much a note that means the same says, where all words of the question in a note say 1.
const VECTOR: f64 = 0.4;
/// Only so many of the notes that are most alike count: every note is a little like every question.
const MOST_ALIKE: usize = 50;

/// A text as a point: what is close means much the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What made it. Points of different embedders have nothing to do with each other.
    pub embedder: String,
    /// Where it is; only the direction counts.
    pub numbers: Vec<f32>,
}

/// What vectors say of the notes that are most like a question.
///
/// How alike texts without anything in common are differs from embedder to embedder, so a note counts by how far it stands
/// out of all.
///
/// # Errors
///
/// Those of the source.
pub(super) fn alike(source: &dyn Source, asking: &Asking<'_>) -> Result<HashMap<Number, f64>, SourceError> {
    let mut alike = asking.point.map_or_else(|| Ok(Vec::new()), |point| source.alike(point))?;
    alike.retain(|(_, cosine)| cosine.is_finite());
    #[expect(clippy::cast_precision_loss, reason = "there are fewer notes than 2^52")]
    let mean = alike.iter().map(|(_, cosine)| cosine).sum::<f64>() / alike.len().max(1) as f64;
    let room = (1.0 - mean).max(f64::EPSILON);
    alike.iter_mut().for_each(|(_, cosine)| *cosine = ((*cosine - mean) / room).clamp(0.0, 1.0));
    alike.retain(|(note, like)| *like > 0.0 && asking.within.is_none_or(|within| within(*note)));
    alike.sort_unstable_by(|(note, one), (another, other)| best_first((*one, *note), (*other, *another)));
    Ok(alike.into_iter().take(MOST_ALIKE).map(|(note, like)| (note, VECTOR * like)).collect())
}
