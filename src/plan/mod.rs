//! What would change: from cleared calls and a [`Tree`] to a value that holds every before and every after.
//!
//! Owns the meaning of each action. Reads only through [`Tree`]; touches no clock, no randomness, no disk.

pub mod step;
pub mod tree;

pub use step::{Content, Image, Step};
pub use tree::{Entry, Listing, Stat, Tree, TreeError};
