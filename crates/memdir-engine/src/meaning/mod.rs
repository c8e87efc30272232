//! What notes and questions mean, as points that an embedder makes.
//!
//! Nothing depends on it: where the embedder fails, words alone find the notes, and callers can ask why. No lock of the
//! vault and no transaction of the index is held while an embedder is waited for.

use std::slice;

mod state;

use super::build::Write;
use super::index_pool::IndexTrouble;
use super::{Caller, Engine};
use memdir_core::action::{Action, Call, SearchFiles};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_index::{Index, Pointed, Unpointed};
use memdir_model::Place;
use memdir_model::embed::Embedder;
use memdir_note as note;
use memdir_plan::TreeError;
use memdir_rank::{Number, Point};
use state::PAUSE;
pub(super) use state::SharedEmbedder;

/// The longest question, in bytes; of a longer one its beginning counts.
const QUESTION_BYTES: usize = 2_000;
/// So many notes are told what they mean while somebody waits for an answer.
const FEW: usize = 4;
/// They have at most so many pieces; longer ones wait for [`Engine::embed`].
const FEW_PIECES: usize = 8;
/// So many notes are given to the embedder at once.
const MANY: usize = 4;

/// Makes the embedder, when it is first needed.
pub type Opening = Box<dyn Fn() -> Result<Box<dyn Embedder>, Failure> + Send>;

/// What makes points, and where.
pub struct Embeddings {
    /// Its name, as the person knows it.
    pub name: String,
    /// Where it runs, and so where notes are sent.
    pub place: Place,
    /// Makes it.
    pub open: Opening,
}

/// How far an index has come with what notes mean.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EmbeddingStatus {
    /// How many notes have points of this embedder.
    pub notes: usize,
    /// How many notes could have some.
    pub all: usize,
}

/// A note with its pieces; none where models may not see it, or it is no longer what the index knows.
type InPieces = (Unpointed, Vec<String>);

impl Engine {
    /// The host to which the text of notes goes so that it can be told what they mean; `None` where nothing leaves this machine.
    #[must_use]
    pub fn embeds_on_host(&self) -> Option<&str> {
        match self.embeddings()? {
            (_, Place::Host(host)) => Some(host),
            (_, Place::Process | Place::Machine(_)) => None,
        }
    }

    /// The name of what tells meanings, and where it runs; `None` where nothing does.
    #[must_use]
    pub fn embeddings(&self) -> Option<(&str, &Place)> {
        self.embedder.as_ref().map(|meaning| (meaning.name.as_str(), &meaning.place))
    }

    /// Why notes were found by their words alone, the first time that it is asked for.
    #[must_use]
    pub fn embedding_failure(&self) -> Option<Failure> {
        let mut state = self.embedder.as_ref()?.state();
        let (_, failure) = state.failed.clone().filter(|_| !state.is_told)?;
        state.is_told = true;
        Some(failure)
    }

    /// Asks the embedder for a point, and tells how many notes have some.
    ///
    /// # Errors
    ///
    /// What the embedder says, or `unavailable` where none is set.
    pub fn embedding_status(&self) -> Result<EmbeddingStatus, Failure> {
        let meaning = self.embedder.as_ref();
        let meaning = meaning.ok_or_else(|| Failure::new(Code::Unavailable, "no embedder is set"))?;
        let mut state = meaning.state();
        state.probe()?;
        let known = state.called()?;
        drop(state);
        let pointed = self.has_index_file().then(|| self.asked(|index| Ok(index.pointed()?))).flatten();
        let Pointed { embedder, notes, all } = pointed.unwrap_or_default();
        Ok(EmbeddingStatus { notes: if embedder.as_ref() == Some(&known) { notes } else { 0 }, all })
    }

    /// Makes the points that notes of the index lack; `told` hears how many notes of how many are done. What was done stays when
    /// `stop` ends it, the embedder fails or the process dies, and the next run goes on from there.
    ///
    /// A note that a rule hides from models is left out, and one that the embedder refuses, though it answers otherwise, is
    /// passed over until the next run.
    ///
    /// # Errors
    ///
    /// What the embedder says.
    pub fn embed(&self, told: &(dyn Fn(usize, usize) + Sync), stop: &(dyn Fn() -> bool + Sync)) -> Result<(), Failure> {
        let Some(meaning) = &self.embedder else { return Ok(()) };
        let embedded = self.embed_all(meaning, told, stop);
        if let Err(failure) = &embedded {
            let mut state = meaning.state();
            state.fail(self.now(), failure.clone());
            state.is_told = true;
        }
        embedded
    }

    fn embed_all(
        &self,
        meaning: &SharedEmbedder,
        told: &(dyn Fn(usize, usize) + Sync),
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Failure> {
        if self.asked(|index| Ok(index.pointed()?)).is_none_or(|pointed| pointed.all == 0) {
            return Ok(());
        }
        // Points that are there go only when the embedder has answered.
        let known = meaning.state().called()?;
        let begun = self.written(|index| {
            let mut writing = index.write()?;
            writing.set_embedder(&known)?;
            writing.commit()?;
            Ok(index.pointed()?)
        });
        let Some(Pointed { notes, all, .. }) = begun else { return Ok(()) };
        let total = all.saturating_sub(notes);
        let (mut after, mut done) = (Number::MIN, 0);
        told(0, total);
        while !stop() {
            let Some(some) = self.asked(|index| Ok(index.unpointed(after, MANY)?)) else { break };
            let Some(last) = some.last() else { break };
            after = last.number;
            done += some.len();
            self.embed_each(meaning, &known, &self.in_pieces(some), stop)?;
            told(done.min(total), total);
        }
        Ok(())
    }

    /// Makes the points of these notes, but for those that the embedder refuses.
    fn embed_each(
        &self,
        meaning: &SharedEmbedder,
        known: &str,
        notes: &[InPieces],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Failure> {
        match self.embed_some(meaning, known, notes, Index::write_patiently) {
            // What cannot be kept need not be made.
            Err(failure) if failure.code != Code::Io => {}
            ended => return ended,
        }
        meaning.state().probe()?;
        for note in notes {
            if stop() {
                break;
            }
            match self.embed_some(meaning, known, slice::from_ref(note), Index::write_patiently) {
                Err(failure) if failure.code == Code::Io => return Err(failure),
                Err(_) => tracing::warn!(note = note.0.number, "a note is found by its words alone"),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Makes the points of these notes; they are dropped where another embedder was named meanwhile. `io` where they cannot be kept.
    fn embed_some(
        &self,
        meaning: &SharedEmbedder,
        known: &str,
        notes: &[InPieces],
        write: Write,
    ) -> Result<(), Failure> {
        let texts: Vec<&str> = notes.iter().flat_map(|(_, pieces)| pieces).map(String::as_str).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let mut state = meaning.state();
        let mut points = state.embed(&texts)?.into_iter();
        let is_known = state.called()? == known;
        drop(state);
        if !is_known {
            return Ok(());
        }
        let kept = self.written(|index| {
            let mut writing = write(index)?;
            if !writing.has_embedder(known)? {
                return Ok(());
            }
            for (note, pieces) in notes.iter().filter(|(_, pieces)| !pieces.is_empty()) {
                let own: Vec<Vec<f32>> = points.by_ref().take(pieces.len()).collect();
                writing.put_points(note, &own)?;
            }
            Ok(writing.commit()?)
        });
        kept.ok_or_else(|| Failure::new(Code::Io, "what notes mean cannot be kept: the index cannot be written"))
    }

    fn in_pieces(&self, notes: Vec<Unpointed>) -> Vec<InPieces> {
        let cut = |note: Unpointed| {
            let pieces = self.pieces(&note);
            (note, pieces)
        };
        notes.into_iter().map(cut).collect()
    }

    /// The pieces of a note that is still what the index knows, and that models may see.
    fn pieces(&self, note: &Unpointed) -> Vec<String> {
        let read = self.vault.read_bytes(&note.path, self.settings.limits.file_bytes).ok();
        let bytes = read.map(|(bytes, _)| bytes).filter(|bytes| note.says(bytes));
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.filter(|_| self.may_embed(&note.path)).map_or_else(Vec::new, |text| note::pieces(&note.path, &text))
    }

    /// Whether no rule hides a note from the models that the owner talks with.
    fn may_embed(&self, path: &MemoryPath) -> bool {
        let search = Call::plain(1, Action::SearchFiles(SearchFiles::of("")));
        self.may_show(&search, path, &self.context(&Caller::model("cli"), &self.rules()))
    }

    /// As [`memdir_plan::Tree::point`]. Who holds the lock of the vault is answered from what is remembered.
    pub(super) fn point(&self, question: &str, is_locked: bool) -> Option<Point> {
        let meaning = self.embedder.as_ref()?;
        let question = question.get(..question.floor_char_boundary(QUESTION_BYTES)).unwrap_or_default();
        let now = self.now();
        // Who has the state may wait for an embedder, so who holds the lock of the vault does not wait for the state.
        let state = if is_locked { meaning.free_state()? } else { meaning.state() };
        let remembered = state.remembered(question);
        if remembered.is_some() || is_locked || state.is_paused(now) {
            return remembered;
        }
        drop(state);
        // Where no note has points the question need not have one.
        let known = self.asked(|index| Ok(index.pointed()?)).filter(|pointed| pointed.notes > 0)?.embedder?;
        let point = meaning.ask(question, &known, now)?;
        self.embed_few(meaning, &known, now);
        Some(point)
    }

    /// Makes the points of a few short notes that have changed, from where it ended the last time. A failure is only logged: the question has its point.
    fn embed_few(&self, meaning: &SharedEmbedder, known: &str, now: Timestamp) {
        let state = meaning.state();
        let (after, failed) = (state.after, state.few_failed);
        drop(state);
        if failed.is_some_and(|failed| now.since(failed) < PAUSE) {
            return;
        }
        let some = self.asked(|index| {
            let some = index.unpointed(after, FEW)?;
            Ok(if some.is_empty() { index.unpointed(Number::MIN, FEW)? } else { some })
        });
        let (mut few, mut pieces, mut last) = (Vec::new(), 0, after);
        for note in self.in_pieces(some.unwrap_or_default()) {
            let is_short = note.1.len() <= FEW_PIECES;
            if is_short && pieces + note.1.len() > FEW_PIECES {
                break;
            }
            last = note.0.number;
            if is_short {
                pieces += note.1.len();
                few.push(note);
            }
        }
        let embedded = self.embed_some(meaning, known, &few, Index::write);
        let mut state = meaning.state();
        state.after = last;
        state.few_failed = embedded.is_err().then_some(now);
        drop(state);
        if let Err(failure) = embedded {
            tracing::warn!(error = %failure.message, "notes that have changed are not told what they mean");
        }
    }

    /// Asks the index something as it is; `None` where there is none, or it cannot be asked.
    fn asked<T>(&self, ask: impl FnOnce(&Index) -> Result<T, IndexTrouble>) -> Option<T> {
        self.written(|index| ask(index))
    }

    /// Does something with the index; `None` where there is no index, or where it failed, which is logged.
    fn written<T>(&self, work: impl FnOnce(&mut Index) -> Result<T, IndexTrouble>) -> Option<T> {
        let mut index = self.take_index(false)?;
        let mut answer = None;
        let done = work(&mut index).map(|found| answer = Some(found));
        let settled: Result<bool, TreeError> = self.return_index(index, done.map(|()| true));
        answer.filter(|_| settled.unwrap_or(false))
    }
}
