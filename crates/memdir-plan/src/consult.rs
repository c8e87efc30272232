//! Asking an index instead of reading all notes, as the batch has left them.

use std::collections::BTreeSet;

use crate::Planner;
use crate::overlay::{Overlay, Trouble};
use crate::step::Step;
use crate::tree::{Altered, Effort, Tree, TreeError};
use crate::words::failure;
use memdir_core::action::Call;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Kind};
use memdir_rank::{Point, Question, Source, SourceError};

/// A batch that altered more files than this is not told to an index: reading all notes is quicker.
const MOST_ALTERED: usize = 500;

impl<T: Tree> Planner<'_, T> {
    /// Lets `ask` put its questions to an index; answers whether there was one.
    ///
    /// Who may not see everything is not answered from an index, which counts the words of all notes.
    pub(super) fn consult(
        &self,
        call: &Call,
        effort: Effort,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), SourceError>,
    ) -> Result<bool, Failure> {
        if (self.manner.may_hide)(call) {
            return Ok(false);
        }
        let Some(altered) = self.overlay.altered(self.limits.file_bytes) else { return Ok(false) };
        let mut ask = |source: &dyn Source| Ok(ask(source)?);
        self.overlay.tree().consult(&altered, effort, &mut ask).map_err(failure)
    }

    /// As [`Planner::consult`], for what looks into texts: where some text is withheld, the index is not asked, since it knows all words.
    pub(super) fn consult_texts(
        &self,
        call: &Call,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), SourceError>,
    ) -> Result<bool, Failure> {
        if self.manner.view.is_some() { Ok(false) } else { self.consult(call, Effort::Fill, ask) }
    }

    /// Lets `ask` put its questions to an index that does not know what the batch did; answers the files that the batch leaves
    /// other than they are, of which the caller finds out by itself. `None` where there is no index, or the batch moved a folder.
    pub(super) fn consult_before(
        &self,
        call: &Call,
        effort: Effort,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), SourceError>,
    ) -> Result<Option<BTreeSet<MemoryPath>>, Failure> {
        let altered = self.overlay.altered_paths().filter(|_| !(self.manner.may_hide)(call));
        let Some(altered) = altered else { return Ok(None) };
        let mut ask = |source: &dyn Source| Ok(ask(source)?);
        let is_answered = self.overlay.tree().consult(&[], effort, &mut ask).map_err(failure)?;
        Ok(is_answered.then_some(altered))
    }

    /// A question as a point, for who is answered from an index. To be asked for before the index is: making one may take
    /// as long as a server likes.
    pub(super) fn point(&self, call: &Call, question: &Question) -> Option<Point> {
        let is_part = (self.manner.may_hide)(call) || self.manner.view.is_some();
        if is_part { None } else { self.overlay.tree().point(question.text()) }
    }
}

impl From<SourceError> for TreeError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Stopped => Self::Stopped,
            SourceError::Failed(message) => Self::Io(message),
        }
    }
}

impl<T: Tree> Overlay<'_, T> {
    /// The paths at which the batch leaves something else than what is there; `None` where it moved a folder.
    fn altered_paths(&self) -> Option<BTreeSet<MemoryPath>> {
        let mut paths: BTreeSet<_> = self.files.keys().collect();
        for step in &self.structure {
            match step {
                Step::Move { kind: Kind::Directory, .. } => return None,
                Step::Move { from, to, kind: Kind::File } => paths.extend([from, to]),
                Step::MakeFolder { .. } | Step::RemoveFolder { .. } | Step::Put { .. } => {}
            }
        }
        Some(paths.into_iter().cloned().collect())
    }

    /// The files that the batch leaves other than they are; `None` where it moved a folder, altered many files, or
    /// one that cannot be read.
    fn altered(&self, most_bytes: u64) -> Option<Vec<Altered>> {
        let paths = self.altered_paths().filter(|paths| paths.len() <= MOST_ALTERED)?;
        let altered = |path: &MemoryPath| match self.read(path, most_bytes) {
            Ok(image) => Some(Altered { path: path.clone(), content: Some(image.content) }),
            Err(Trouble::Tree(TreeError::NotFound(_) | TreeError::IsDirectory(_))) => {
                Some(Altered { path: path.clone(), content: None })
            }
            Err(_) => None,
        };
        paths.iter().map(altered).collect()
    }
}
