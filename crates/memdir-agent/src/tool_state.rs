//! [`ToolState`]: what a conversation knows of the tools of other servers while the program runs.

use std::collections::BTreeSet;

use memdir_plan::ToolWords;
use memdir_tools::ServerName;

/// What no file keeps of the tools of a conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolState {
    /// The servers that the person has switched on since the program began, as against those that only a file says are on.
    pub(super) confirmed: BTreeSet<ServerName>,
    /// The tools that need no further question.
    pub(super) allowed: BTreeSet<String>,
    /// What the tools said.
    pub(super) words: ToolWords,
}

impl ToolState {
    /// Adds what another copy of the same conversation knows.
    pub(super) fn join(&mut self, other: Self) {
        self.confirmed.extend(other.confirmed);
        self.allowed.extend(other.allowed);
        self.words.join(other.words);
    }
}
