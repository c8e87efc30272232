//! The `<python>` blocks of the tuned mem-agent model: read, never run.

use super::Entry;
use crate::report::{Failure, Issue, Outcome, Report, Variables};

/// What the answer has to repeat of the text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frame {}

/// A block that was read whole: assignments, calls and branches, in which nothing can be repeated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Script {}

impl Script {
    /// Goes through the block from its start.
    pub(super) fn run(&self) -> Run<'_> {
        Run { _script: self }
    }
}

/// Where somebody is in a block.
#[derive(Debug)]
pub(super) struct Run<'s> {
    _script: &'s Script,
}

impl Run<'_> {
    /// The next call that the block makes, after what was told.
    pub(super) fn next_entry(&mut self) -> Option<Entry> {
        None
    }

    /// Says what became of the call before.
    pub(super) fn tell(&mut self, _outcome: &Outcome) {}

    /// What the block has set.
    pub(super) fn variables(self) -> Variables {
        Variables::default()
    }
}

/// Reads the code of one block, which starts at `start`, in a conversation that has set `variables`.
pub(super) fn read(_code: &str, _start: usize, _variables: &Variables) -> Result<(Script, Vec<Issue>), Failure> {
    Ok((Script {}, Vec::new()))
}

pub(super) fn encode(_frame: &Frame, _report: &Report) -> String {
    String::new()
}
