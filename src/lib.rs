//! memdir: a long-term memory for any language model, kept as a folder of plain Markdown notes.
//!
//! A model writes `<actions>`; memdir reads them, decides whether they may happen, makes them happen through one
//! capability handle, and says what became of each. No text that a model wrote is ever run as code.
//!
//! The modules in reading order: first the words, then the pure rooms, then the world, then what joins them. ARCHITECTURE.md
//! draws the flow.

// A new action, verdict or step has to be decided on everywhere, so our own enums are matched in full. The world and the
// edge match `std::io::ErrorKind`, whose list is not ours and not closed, and are left out.
#[warn(clippy::wildcard_enum_match_arm)]
pub mod action;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod agent;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod catalog;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod check;
pub mod cli;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod dialect;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod digest;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod engine;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod index;
pub mod mcp;
pub mod model;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod note;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod path;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod plan;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod policy;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod rank;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod report;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod retry;
#[warn(clippy::wildcard_enum_match_arm)]
pub mod time;
pub mod vault;
