//! [`Finding`]: a place that a pattern matches, with what stands around it.

use std::cell::OnceCell;
use std::collections::HashSet;

/// How many bytes on each side of a place a check sees: with no bound, many places would take quadratic time.
pub(super) const WINDOW: usize = 400;

/// One place where a pattern matches, for the check of its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding<'a> {
    /// What stands before, as far as [`WINDOW`] reaches.
    pub(super) before: &'a str,
    /// What matches.
    pub(super) text: &'a str,
    /// What stands behind, as far.
    pub(super) after: &'a str,
    /// The labels by which images of the whole text name their definitions.
    pub(super) images: &'a OnceCell<HashSet<String>>,
    /// The whole text, to gather those from once.
    pub(super) whole: &'a str,
}
