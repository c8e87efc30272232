//! [`NoteView`]: what searching and retrieving look at of each note, where that is not all of it.

use std::fmt;
use std::sync::Arc;

use memdir_core::path::MemoryPath;
use memdir_plan::View;

/// What somebody may find in notes by searching and retrieving: no hit, count or name comes from text that it leaves out. For what they
/// read and write otherwise it says nothing.
#[derive(Clone)]
pub struct NoteView(Arc<Look>);

type Look = dyn Fn(&MemoryPath, &str) -> Option<String> + Send + Sync;

impl NoteView {
    /// A view by what it shows of a note with a text: as many lines, of which those that are left out are empty; `None` where the note
    /// is not there for whoever looks. Of an empty text it says whether the name may be told whatever the note holds.
    #[must_use]
    pub fn new(look: impl Fn(&MemoryPath, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    /// The function that it is.
    pub(super) fn look(&self) -> View<'_> {
        &*self.0
    }
}

impl fmt::Debug for NoteView {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NoteView")
    }
}
