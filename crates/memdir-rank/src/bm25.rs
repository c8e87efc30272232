//! [`Bm25`]: how much the words of a query say about a note.

use std::cmp::Ordering;

/// How soon more of the same word stops to count.
const K1: f64 = 1.2;
/// How much the length of a note counts.
const B: f64 = 0.75;
/// The most that [`saturated`] says.
pub(super) const MOST: f64 = K1 + 1.0;

/// Weighs words by how rare they are, after BM25 as Robertson and Zaragoza describe it.
///
/// # Examples
///
/// ```
/// use memdir_rank::Bm25;
///
/// // Ten notes of a hundred words; the first word of the query stands in nine of them, the second in one.
/// let bm25 = Bm25::new(10, 1000.0, &[9, 1]);
/// let (common, rare) = (bm25.score([(0, 1.0)], 100.0), bm25.score([(1, 1.0)], 100.0));
/// assert!(0.0 < common && common < rare);
/// ```
#[derive(Clone, Debug)]
pub struct Bm25 {
    weights: Vec<f64>,
    mean_length: f64,
}

impl Bm25 {
    /// Takes how many notes there are, how many words all of them have, and for each word of the query how many notes
    /// hold it.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "there are fewer notes than 2^52")]
    pub fn new(notes: usize, words: f64, holding: &[usize]) -> Self {
        let notes = notes.max(1) as f64;
        let weight = |holding: &usize| {
            let holding = *holding as f64;
            (1.0 + (notes - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
        };
        Self { weights: holding.iter().map(weight).collect(), mean_length: (words / notes).max(1.0) }
    }

    /// How much finding a word of the query says.
    #[must_use]
    pub fn weight(&self, word: usize) -> f64 {
        self.weights.get(word).copied().unwrap_or(0.0)
    }

    /// The score of a note of `length` words that holds some words of the query so and so often; positive where it
    /// holds any.
    #[must_use]
    pub fn score(&self, frequencies: impl IntoIterator<Item = (usize, f64)>, length: f64) -> f64 {
        let one = |(word, frequency): (usize, f64)| self.weight(word) * saturated(frequency, length / self.mean_length);
        frequencies.into_iter().map(one).sum()
    }
}

/// The part of BM25 for the frequency of a word, up to [`MOST`]. `length` is the length of the note divided by the usual one.
pub(super) fn saturated(frequency: f64, length: f64) -> f64 {
    frequency * MOST / (frequency + K1 * (1.0 - B + B * length))
}

/// The best first; what is equally good in the order of its key.
pub fn best_first<K: Ord>(one: (f64, K), other: (f64, K)) -> Ordering {
    other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::{Bm25, best_first};

    #[test]
    fn rare_words_often_in_short_notes_are_best() {
        let bm25 = Bm25::new(1000, 100_000.0, &[500, 3, 1000]);
        let score = |frequencies: &[(usize, f64)], length| bm25.score(frequencies.iter().copied(), length);
        assert!(score(&[(1, 1.0)], 100.0) > score(&[(0, 4.0)], 100.0), "rare before common");
        assert!(score(&[(1, 2.0)], 100.0) > score(&[(1, 1.0)], 100.0), "often before once");
        assert!(score(&[(1, 1.0)], 50.0) > score(&[(1, 1.0)], 100.0), "short before long");
        assert!(score(&[(0, 1.0), (1, 1.0)], 100.0) > score(&[(1, 1.0)], 100.0), "both before one");
        assert!(score(&[(2, 1.0)], 100.0) > 0.0, "a word that every note holds is still a find");
        // ln(1 + 997.5 / 3.5) · 2.2 / 2.2 at mean length.
        assert!((score(&[(1, 1.0)], 100.0) - 5.655_992).abs() < 1e-5);
    }

    #[test]
    fn nothing_divides_by_nothing() {
        assert!(Bm25::new(0, 0.0, &[0]).score([(0, 1.0)], 0.0).is_finite());
        assert!(Bm25::new(1, 0.0, &[7]).score([(0, 1.0)], 0.0) > 0.0);
    }

    #[test]
    fn ties_go_by_key() {
        let mut all = [(1.0, "b"), (2.0, "c"), (1.0, "a")];
        all.sort_by(|one, other| best_first(*one, *other));
        assert_eq!(all, [(2.0, "c"), (1.0, "a"), (1.0, "b")]);
    }
}
