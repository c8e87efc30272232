//! memdir: a long-term memory for any language model, kept as a folder of plain Markdown notes.
//!
//! A model writes `<actions>`; memdir reads them, decides whether they may happen, makes them happen through one
//! capability handle, and says what became of each. No text that a model wrote is ever run as code.
//!
//! The modules in reading order: first the words, then the pure rooms, then the world, then what joins them. ARCHITECTURE.md
//! draws the flow.

pub mod action;
pub mod catalog;
pub mod cli;
pub mod dialect;
pub mod digest;
pub mod engine;
pub mod note;
pub mod path;
pub mod plan;
pub mod policy;
pub mod report;
pub mod time;
pub mod vault;
