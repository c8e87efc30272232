//! [`answer`]: the notes that answer a question, the best first.

use std::collections::HashMap;

use super::{Bm25, Number, Question, Source, SourceError};
use crate::path::MemoryPath;
use crate::report::Why;

/// What a question is asked with.
pub struct Asking<'a> {
    /// Reads the text of a note, for its passages; `None` where it cannot be read.
    pub read: &'a dyn Fn(&MemoryPath) -> Option<String>,
    /// Whether the time for it is over.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Which notes may be answered, where it is not all.
    pub within: Option<&'a dyn Fn(Number) -> bool>,
}

/// The notes that answer a question.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The best first, each once; what is equally good in the order of the numbers.
    pub found: Vec<Found>,
    /// How much finding each word of the question says, in the order of [`Question::words`].
    pub weights: Vec<f64>,
    /// The question as it was corrected, where a word was in no note.
    pub searched_for: Option<String>,
}

/// A note that answers a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its number at the source.
    pub note: Number,
    /// How well it answers; only the order means something.
    pub score: f64,
    /// By what it was found.
    pub why: Vec<Why>,
}

/// Says which notes answer a question.
///
/// # Errors
///
/// Those of the source, and [`SourceError::Stopped`].
pub fn answer(source: &dyn Source, question: &Question, asking: &Asking<'_>) -> Result<Answer, SourceError> {
    let mut found = by_text(source, question.text())?;
    found.retain(|found| asking.within.is_none_or(|within| within(found.note)));
    let holding = question.words().iter().map(|word| source.holding(word)).collect::<Result<Vec<_>, _>>()?;
    let bm25 = Bm25::new(source.notes()?, 0.0, &holding);
    let weights = (0..holding.len()).map(|word| bm25.weight(word)).collect();
    Ok(Answer { found, weights, searched_for: None })
}

/// Orders notes by plain BM25 over all words of a query, as others do.
///
/// # Errors
///
/// Those of the source.
pub fn by_text(source: &dyn Source, query: &str) -> Result<Vec<Found>, SourceError> {
    let Some(question) = Question::of(query) else { return Ok(Vec::new()) };
    let holding = question.words().iter().map(|word| source.holding(word)).collect::<Result<Vec<_>, _>>()?;
    let bm25 = Bm25::new(source.notes()?, 0.0, &holding);
    let mut scores: HashMap<Number, f64> = HashMap::new();
    for (number, word) in question.words().iter().enumerate() {
        for (note, much) in source.matching(word)? {
            *scores.entry(note).or_default() += much * bm25.weight(number);
        }
    }
    let found = scores.into_iter().map(|(note, score)| Found { note, score, why: vec![Why::Text] });
    let mut found: Vec<Found> = found.collect();
    found.sort_unstable_by(|one, other| super::best_first((one.score, one.note), (other.score, other.note)));
    Ok(found)
}
