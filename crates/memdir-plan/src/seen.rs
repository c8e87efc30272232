//! [`Seen`]: which notes a conversation knows, and in which state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::step::Step;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;

/// The notes that a conversation has read or written, each as it was then.
///
/// Who has never seen a note, or has seen another state of it, may change places in it but not replace the whole of it.
///
/// # Examples
///
/// ```
/// use memdir_core::digest::Digest;
/// use memdir_core::path::MemoryPath;
/// use memdir_plan::Seen;
///
/// let path = MemoryPath::parse("user.md")?;
/// let mut seen = Seen::default();
/// seen.note(path.clone(), Digest::of(b"# Ada"));
/// assert!(seen.knows(&path, &Digest::of(b"# Ada")));
/// assert!(!seen.knows(&path, &Digest::of(b"# Bob")));
/// # Ok::<(), memdir_core::path::PathError>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Seen(BTreeMap<MemoryPath, Digest>);

impl Seen {
    /// Notes that a note was read or written, and what it held.
    pub fn note(&mut self, path: MemoryPath, digest: Digest) {
        self.0.insert(path, digest);
    }

    /// Whether the note was in this state when it was last read or written.
    #[must_use]
    pub fn knows(&self, path: &MemoryPath, digest: &Digest) -> bool {
        self.0.get(path) == Some(digest)
    }

    /// How many notes it knows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Takes over what a later part of the conversation has seen.
    pub fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }

    /// What is known now and was not, or otherwise, before.
    #[must_use]
    pub fn since(mut self, before: &Self) -> Self {
        self.0.retain(|path, digest| !before.knows(path, digest));
        self
    }

    /// Leaves out what is known of some notes.
    pub fn leave_out(&mut self, mut is_out: impl FnMut(&MemoryPath) -> bool) {
        self.0.retain(|path, _| !is_out(path));
    }

    /// Notes what steps would leave behind, in the notes that the conversation may know of.
    pub(super) fn follow(&mut self, steps: &[Step], shows: impl Fn(&MemoryPath) -> bool) {
        for step in steps {
            match step {
                Step::Put { path, .. } if !shows(path) => {}
                Step::Put { path, after: Some(after), .. } => self.note(path.clone(), after.content.digest()),
                Step::Put { path, after: None, .. } => drop(self.0.remove(path)),
                Step::Move { from, to, .. } => {
                    let known = std::mem::take(&mut self.0);
                    self.0 = known
                        .into_iter()
                        .map(|(path, digest)| (path.rebased(from, to).unwrap_or(path), digest))
                        .collect();
                }
                Step::MakeFolder { .. } | Step::RemoveFolder { .. } => {}
            }
        }
    }
}
