//! [`Source`]: what ranking may ask of whoever knows what the notes hold.

use super::{Impact, Point};
use memdir_core::path::MemoryPath;
use memdir_note::stem::Stem;
use memdir_note::{Card, Seen};

/// The number that a source has given a note; it means something only to that source, while it is asked.
pub type Number = i64;

/// The parts of a note that a word can stand in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Column {
    /// Its title and its aliases.
    Title,
    /// Its headings.
    Heading,
    /// Its path.
    Name,
    /// The keys of its facts.
    Key,
    /// Its tags.
    Tag,
    /// All its text; what stands in the other columns stands here as well, but for the path.
    Body,
}

impl Column {
    /// All columns in their order.
    pub const ALL: [Self; 6] = [Self::Title, Self::Heading, Self::Name, Self::Key, Self::Tag, Self::Body];

    /// How often a word in this column counts.
    #[must_use]
    pub fn weight(self) -> f64 {
        match self {
            Self::Title => 3.0,
            Self::Heading => 1.5,
            Self::Name | Self::Key | Self::Tag => 2.0,
            Self::Body => 1.0,
        }
    }
}

/// Some files, with what is known of those that are notes.
pub type Files = Vec<(MemoryPath, Option<Seen>)>;

/// The files around a note, as [`Source::linked`] gives them.
#[derive(Clone, Debug)]
pub struct LinkedFiles {
    /// The files.
    pub files: Files,
    /// Whether there were more links than were followed.
    pub is_cut: bool,
}

/// Why a source has no answer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SourceError {
    /// The time for it is over.
    #[error("searching took too long")]
    Stopped,
    /// The index cannot be read.
    #[error("the index cannot be read: {0}")]
    Failed(
        /// In the words of the database.
        String,
    ),
}

/// What is known of the notes of a memory. A word is asked for by all its stems, and a note counts once for all of them.
///
/// Every question may fail with any [`SourceError`].
#[expect(clippy::missing_errors_doc, reason = "said once, for all of them")]
pub trait Source {
    /// How many notes there are.
    fn notes(&self) -> Result<usize, SourceError>;

    /// How many notes below a folder, or in all, say nothing: they are no text, too large, or could not be read.
    fn unread(&self, folder: Option<&MemoryPath>) -> Result<usize, SourceError>;

    /// How many notes hold a word under any of its stems, in whatever column.
    fn holding(&self, stems: &[Stem]) -> Result<usize, SourceError>;

    /// The notes that hold a word, each once, and how much of it, counted with [`Column::weight`]; in no order.
    fn matching(&self, stems: &[Stem]) -> Result<Vec<(Number, Impact)>, SourceError>;

    /// Where a note is, and its card; `None` for a number that no note has.
    fn card(&self, note: Number) -> Result<Option<(MemoryPath, Card)>, SourceError>;

    /// The path of a note, as [`Source::card`] without reading the card.
    fn path(&self, note: Number) -> Result<Option<MemoryPath>, SourceError>;

    /// The number of the note at a path.
    fn number(&self, path: &MemoryPath) -> Result<Option<Number>, SourceError>;

    /// At most `most` notes whose file name without `.md`, title or alias is `name`, both as [`memdir_note::words::called`] writes them.
    fn called(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError>;

    /// At most `most` notes with a link whose target's file name, without `.md`, is `name`, both as [`memdir_note::words::called`] writes
    /// them.
    fn linking(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError>;

    /// The numbers of the notes below a folder, or of the note itself, in no order.
    fn below(&self, folder: &MemoryPath) -> Result<Vec<Number>, SourceError>;

    /// The stem of the notes that is spelled most like a folded word that none holds, by [`super::Spelling`]; the more
    /// frequent of two.
    fn spelled_like(&self, word: &str) -> Result<Option<Stem>, SourceError>;

    /// Files enough to say where the links of a note lead and which notes link to it: with [`Seen`] for each of them that
    /// is a note. `None` where the source does not know all notes.
    fn around(&self, note: &MemoryPath) -> Result<Option<Files>, SourceError>;

    /// As [`Source::around`], but not enough to say which name is nearest to that of a link that leads nowhere: for that every
    /// name counts. With more than `most` links of the note, or to notes of its name, the others may be left out, and that is told.
    fn linked(&self, note: &MemoryPath, most: usize) -> Result<Option<LinkedFiles>, SourceError> {
        let _ = most;
        Ok(self.around(note)?.map(|files| LinkedFiles { files, is_cut: false }))
    }

    /// How alike notes are to a point, from -1 to 1: the cosine of what is closest in each. Each note once, in no order; none
    /// that has no points of the same embedder.
    fn alike(&self, point: &Point) -> Result<Vec<(Number, f64)>, SourceError> {
        let _ = point;
        Ok(Vec::new())
    }
}
