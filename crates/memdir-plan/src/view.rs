//! What searching and retrieving look at of each note, where that is not all of it.
//!
//! Owns what an answer may tell then: no match, count or name comes from text that the view leaves out. Nothing that writes is planned
//! on a view, for an edit of a part of a note would lose the rest.

use std::borrow::Cow;

use crate::Planner;
use crate::current::PastShown;
use crate::tree::Tree;
use memdir_core::action::Call;
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;

/// Gives what may be looked at of a note with this text, line for line; `None` where the note is not there for whoever looks. Of an
/// empty text it tells whether the name may be told whatever the note holds.
pub type View<'t> = &'t (dyn Fn(&MemoryPath, &str) -> Option<String> + Sync);

/// What may be looked at of a text.
pub(super) fn seen<'n>(view: Option<View<'_>>, path: &MemoryPath, text: &'n str) -> Option<Cow<'n, str>> {
    match view {
        Some(view) => view(path, text).map(Cow::Owned),
        None => Some(Cow::Borrowed(text)),
    }
}

impl<T: Tree> Planner<'_, T> {
    /// What may be looked at of the note at a path that is resolved.
    pub(super) fn seen_text(&self, path: &MemoryPath) -> Option<String> {
        let text = self.text_of(path)?;
        seen(self.manner.view, path, &text).map(Cow::into_owned)
    }

    /// What an answer may show of a note with this text, line for line; `None` where that is nothing, or all of it belongs to the past.
    pub(super) fn shown_of<'n>(&self, path: &MemoryPath, text: &'n str, past: PastShown) -> Option<Cow<'n, str>> {
        if self.manner.view.is_none() {
            return self.current(text, past);
        }
        // Whether all of it belongs to the past may stand in a line that is left out.
        if self.is_left_out(past)(text) {
            return None;
        }
        let seen = seen(self.manner.view, path, text)?;
        self.current(&seen, past).map(|text| Cow::Owned(text.into_owned()))
    }

    /// Whether the answer to a call may name a file that the call did not name.
    pub(super) fn may_name(&self, call: &Call, path: &MemoryPath) -> bool {
        (self.manner.may_show)(call, path) && self.is_named(path, Kind::File)
    }

    /// Whether a view lets a file be named, or a folder, by its name or by what is in it.
    pub(super) fn is_named(&self, path: &MemoryPath, kind: Kind) -> bool {
        let Some(view) = self.manner.view else { return true };
        let text = || self.overlay.resolve(path).ok().and_then(|place| self.text_of(&place));
        let notes = || self.notes(Some(path), usize::MAX).unwrap_or_default();
        view(path, "").is_some()
            || match kind {
                Kind::File => text().is_some_and(|text| view(path, &text).is_some()),
                Kind::Directory => notes().iter().any(|note| self.is_named(note, Kind::File)),
            }
    }
}
