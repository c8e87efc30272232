//! `memdir eval`: how well questions are answered, and how well models use a memory.
//!
//! Owns the sets and suites that are read, the counts, and how both are printed. Asks the engine and the agent as a person
//! does; a task of a suite runs on a copy of its memory that is thrown away.

use super::args::Global;
use super::stop::Stop;

mod agent;
pub(super) mod args;
mod checks;
mod measured;
mod pattern;
mod retrieval;
mod scratch;
mod suite;
mod table;
mod task;
mod transcript;

use args::Eval;

pub(super) fn run(global: &Global, command: &Eval) -> Result<u8, Stop> {
    match command {
        Eval::Retrieval(options) => retrieval::run(global, options),
        Eval::Agent(options) => agent::run(global, options),
    }
}

#[cfg(test)]
mod tests;
