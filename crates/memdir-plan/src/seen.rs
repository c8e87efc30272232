//! [`Seen`]: which notes a conversation knows, and in which state.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::step::Step;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;

/// The notes that a conversation has read or written, each as it was then.
///
/// Who has never seen a note, or has seen another state of it, may change places in it but not replace the whole of it. Who has
/// seen another state may not take away text without saying which, either: a section, a note, a folder.
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
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(from = "Notes", into = "Notes")]
pub struct Seen {
    /// What was seen before, which others may share, the newest last.
    before: Vec<Arc<Notes>>,
    /// What was seen since.
    own: Notes,
}

/// The notes that were seen, each with what it held.
type Notes = BTreeMap<MemoryPath, Digest>;

impl Seen {
    /// What was seen in `before`, the newest last. Nothing is copied, so a conversation can hand on what it knows with each call.
    #[must_use]
    pub fn after(before: impl IntoIterator<Item = Arc<Notes>>) -> Self {
        Self { before: before.into_iter().filter(|notes| !notes.is_empty()).collect(), own: Notes::new() }
    }

    /// Notes that a note was read or written, and what it held.
    pub fn note(&mut self, path: MemoryPath, digest: Digest) {
        self.own.insert(path, digest);
    }

    /// Whether the note was in this state when it was last read or written.
    #[must_use]
    pub fn knows(&self, path: &MemoryPath, digest: &Digest) -> bool {
        self.digest(path) == Some(digest)
    }

    /// What the note held when it was last read or written.
    pub(super) fn digest(&self, path: &MemoryPath) -> Option<&Digest> {
        let mut newest_first = std::iter::once(&self.own).chain(self.before.iter().rev().map(Arc::as_ref));
        newest_first.find_map(|notes| notes.get(path))
    }

    /// How many notes it knows.
    #[must_use]
    pub fn count(&self) -> usize {
        if self.before.is_empty() { self.own.len() } else { self.clone().into_notes().len() }
    }

    /// Takes over what a later part of the conversation has seen.
    pub fn extend(&mut self, later: Self) {
        self.own.extend(later.into_notes());
    }

    /// What is known now and was not, or otherwise, before.
    #[must_use]
    pub fn since(self, before: &Self) -> Self {
        let is_shared = |(one, other): (&Arc<Notes>, &Arc<Notes>)| Arc::ptr_eq(one, other);
        let goes_on = self.before.len() == before.before.len() && self.before.iter().zip(&before.before).all(is_shared);
        let mut notes = if goes_on { self.own } else { self.into_notes() };
        notes.retain(|path, digest| !before.knows(path, digest));
        notes.into()
    }

    /// Leaves out what is known of some notes.
    pub fn leave_out(&mut self, mut is_out: impl FnMut(&MemoryPath) -> bool) {
        self.all().retain(|path, _| !is_out(path));
    }

    /// All of it as its own.
    fn all(&mut self) -> &mut Notes {
        self.own = std::mem::take(self).into_notes();
        &mut self.own
    }

    fn into_notes(self) -> Notes {
        let mut all = Notes::new();
        for notes in self.before {
            all.extend(Arc::unwrap_or_clone(notes));
        }
        all.extend(self.own);
        all
    }

    /// Notes what steps would leave behind, in the notes that the conversation may know of.
    pub(super) fn follow(&mut self, steps: &[Step], shows: impl Fn(&MemoryPath) -> bool) {
        for step in steps {
            match step {
                Step::Put { path, .. } if !shows(path) => {}
                Step::Put { path, after: Some(after), .. } => self.note(path.clone(), after.content.digest()),
                Step::Put { path, after: None, .. } => drop(self.all().remove(path)),
                Step::Move { from, to, .. } => {
                    let known = std::mem::take(self).into_notes().into_iter();
                    self.own = known.map(|(path, digest)| (path.rebased(from, to).unwrap_or(path), digest)).collect();
                }
                Step::MakeFolder { .. } | Step::RemoveFolder { .. } => {}
            }
        }
    }
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        self.clone().into_notes() == other.clone().into_notes()
    }
}

impl Eq for Seen {}

impl From<Notes> for Seen {
    fn from(own: Notes) -> Self {
        Self { before: Vec::new(), own }
    }
}

impl From<Seen> for Notes {
    fn from(seen: Seen) -> Self {
        seen.into_notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> MemoryPath {
        MemoryPath::parse(name).unwrap()
    }

    fn notes(seen: &[(&str, &str)]) -> Notes {
        seen.iter().map(|(name, text)| (path(name), Digest::of(text.as_bytes()))).collect()
    }

    /// What is handed on is the same as one map of all of it, whatever is done with it, and nothing is copied back.
    #[test]
    fn what_was_seen_before_counts_until_something_newer_is_seen() {
        let older = Arc::new(notes(&[("a.md", "1"), ("b.md", "1"), ("dir/c.md", "1")]));
        let newer = Arc::new(notes(&[("b.md", "2"), ("d.md", "2")]));
        let before = Seen::after([Arc::clone(&older), Arc::clone(&newer)]);
        let mut after = before.clone();
        after.note(path("a.md"), Digest::of(b"3"));
        after.note(path("d.md"), Digest::of(b"2"));
        let all = notes(&[("a.md", "3"), ("b.md", "2"), ("dir/c.md", "1"), ("d.md", "2")]);
        for (name, text) in [("a.md", "1"), ("a.md", "3"), ("b.md", "1"), ("b.md", "2"), ("d.md", "2"), ("e.md", "1")] {
            let digest = Digest::of(text.as_bytes());
            assert_eq!(after.knows(&path(name), &digest), all.get(&path(name)) == Some(&digest), "{name} {text}");
        }
        assert_eq!((after.count(), Notes::from(after.clone())), (4, all.clone()));
        assert_eq!(after, Seen::from(all.clone()));
        let new = notes(&[("a.md", "3")]);
        assert_eq!(Notes::from(after.clone().since(&before)), new);
        assert_eq!(Notes::from(Seen::from(all).since(&before)), new, "however it is kept");
        after.leave_out(|path| path.as_str() == "b.md");
        let left = notes(&[("a.md", "3"), ("dir/c.md", "1"), ("d.md", "2")]);
        assert_eq!(Notes::from(after.clone()), left);
        after.follow(
            &[Step::Move { from: path("dir"), to: path("e"), kind: memdir_core::report::Kind::Directory }],
            |_| true,
        );
        assert_eq!(Notes::from(after), notes(&[("a.md", "3"), ("e/c.md", "1"), ("d.md", "2")]));
        drop(before);
        assert_eq!((Arc::strong_count(&older), Arc::strong_count(&newer)), (1, 1));
    }
}
