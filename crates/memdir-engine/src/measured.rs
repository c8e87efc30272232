//! Asking the index a question and nothing else: what the measuring of its quality needs.

use super::Engine;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_plan::{self as plan, Effort, Tree, TreeError};
use memdir_rank::{self as rank, Asking, Found, Question, Source, SourceError};

/// The notes that answer a question, the best first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Retrieved {
    /// As `search_files` finds them by words and links.
    pub found: Vec<MemoryPath>,
    /// As it finds them where it also knows what notes mean; `None` where it does not.
    pub meant: Option<Vec<MemoryPath>>,
    /// As BM25 over the same words finds them, which is what others do.
    pub plain: Vec<MemoryPath>,
}

impl Engine {
    /// Finds the `most` notes that answer a question best, in two ways, or three. Leaves no trace in the audit.
    ///
    /// # Errors
    ///
    /// `unavailable` where there is no index; `io`; what the embedder says, where one is set.
    pub fn retrieve(&self, question: &str, most: usize) -> Result<Retrieved, Failure> {
        let mut retrieved = Retrieved::default();
        let Some(asked) = Question::of(question) else { return Ok(retrieved) };
        let read = |path: &MemoryPath| {
            let image = self.vault.read(path, self.settings.limits.file_bytes).ok()?;
            image.content.text().map(str::to_owned)
        };
        let point = self.point(question, false);
        if let Some(failure) = self.embedding_failure() {
            return Err(failure);
        }
        let excluded = self.excluded();
        let asking =
            Asking { read: &read, stop: &|| false, within: None, is_past: None, point: None, excluded: &excluded };
        let is_answered = self.consult(&[], Effort::Fill, false, &mut |source| {
            let both = || -> Result<Retrieved, SourceError> {
                let found = rank::answer(source, &asked, &asking)?.found;
                let plain = rank::by_text(source, question)?;
                let meant = point.as_ref().map(|point| {
                    let found = rank::answer(source, &asked, &Asking { point: Some(point), ..asking })?.found;
                    paths(source, &found, most)
                });
                let (found, plain) = (paths(source, &found, most)?, paths(source, &plain, most)?);
                Ok(Retrieved { found, meant: meant.transpose()?, plain })
            };
            retrieved = both().map_err(|error| TreeError::Io(error.to_string()))?;
            Ok(())
        });
        match is_answered.map_err(plan::failure)? {
            true => Ok(retrieved),
            false => Err(Failure::new(Code::Unavailable, "there is no index to ask")),
        }
    }
}

fn paths(source: &dyn Source, found: &[Found], most: usize) -> Result<Vec<MemoryPath>, SourceError> {
    found.iter().take(most).filter_map(|found| source.path(found.note).transpose()).collect()
}
