//! Which notes answer a query best: evidence in, order out.
//!
//! Owns what a question asks for, and how the evidence of words, links and vectors is weighed. What the notes hold it
//! asks a [`Source`]: an index, or notes that were read. Touches no file.

#![warn(clippy::wildcard_enum_match_arm)]

mod answer;
mod bm25;
mod fit;
mod function_words;
mod impact;
mod links;
mod looked;
mod passage;
mod question;
mod record;
mod source;
mod spelling;
mod text;
mod trail;
mod vector;
mod word;

pub use answer::{Answer, Asking, Found, answer, by_text};
pub use bm25::{Bm25, best_first};
pub use fit::Fit;
pub use function_words::is_function_word;
pub use impact::Impact;
pub use links::{Names, Neighbour, neighbours};
pub use looked::Looked;
pub use memdir_note::words::called;
pub use question::{MOST_WORDS, Question};
pub use source::{Column, Files, LinkedFiles, Number, Source, SourceError};
pub use spelling::Spelling;
pub use vector::Point;
pub use word::{Word, WordSet};

#[cfg(test)]
mod tests;
