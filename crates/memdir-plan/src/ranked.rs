//! Ranked search: the notes that answer a question, from an index where there is one, else by reading them all.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use crate::Planner;
use crate::current::{PastNotes, PastShown};
use crate::query::Operators;
use crate::scanned::ScannedNotes;
use crate::search_files::{Part, Picked, Scope, Scored, Shows};
use crate::tree::Tree;
use crate::view::seen;
use crate::wanted::Wanted;
use crate::words::failure;
use memdir_core::action::Call;
use memdir_core::path::MemoryPath;
use memdir_core::report::{self, Failure, Why};
use memdir_rank::{self as rank, Asking, Found, Number, Point, Question, Source, SourceError};

impl<T: Tree> Planner<'_, T> {
    /// Picks the notes of a part that answer a question.
    pub(super) fn by_words(
        &mut self,
        call: &Call,
        scope: &Scope,
        question: &Question,
        operators: &Operators,
        part: &Part<'_>,
    ) -> Result<Picked, Failure> {
        let point = self.point(call, question);
        let mut picked = None;
        let is_answered = self.consult_texts(call, &mut |source| {
            let (asked, past) = ((question, operators, point.as_ref()), self.past_notes(source, part.past)?);
            picked = Some((self.pick(source, scope, asked, part, past.as_ref())?, source.unread(scope.path.as_ref())?));
            Ok(())
        })?;
        if let Some((picked, unread)) = picked.filter(|_| is_answered) {
            self.tell_skipped(call, scope, unread);
            return Ok(Picked { source: report::Source::Index, ..picked });
        }
        let wanted = Wanted::of(question.words());
        let (is_left_out, view) = (self.is_left_out(part.past), self.manner.view);
        let look = |path: &MemoryPath, text: &str| {
            let text = seen(view, path, text).filter(|_| !is_left_out(text))?;
            Some(wanted.evidence(path, &text))
        };
        let notes = self.look(call, scope, &look)?.into_iter();
        let mut notes: Vec<_> = notes.filter_map(|(path, seen)| Some((path, seen?))).collect();
        for (path, _) in &mut notes {
            *path = scope.placed(path);
        }
        notes.sort_by(|(one, _), (other, _)| one.cmp(other));
        let read = |path: &MemoryPath| self.seen_text(path);
        let source = ScannedNotes::new(question, notes, &read);
        // What belongs to the past is not among them.
        self.pick(&source, scope, (question, operators, None), part, None).map_err(|error| failure(error.into()))
    }

    /// The text of a note at a path that is resolved.
    pub(super) fn text_of(&self, path: &MemoryPath) -> Option<String> {
        let image = self.overlay.read(path, self.limits.file_bytes).ok()?;
        image.content.text().map(str::to_owned)
    }

    /// What an answer may show of a note at a path that is resolved.
    pub(super) fn text_shown(&self, path: &MemoryPath, past: PastShown) -> Option<String> {
        let text = self.text_of(path)?;
        self.shown_of(path, &text, past).map(Cow::into_owned)
    }

    fn pick(
        &self,
        source: &dyn Source,
        scope: &Scope,
        (question, operators, point): (&Question, &Operators, Option<&Point>),
        part: &Part<'_>,
        past: Option<&PastNotes>,
    ) -> Result<Picked, SourceError> {
        let inside = match &scope.path {
            Some(folder) => {
                let mut inside = source.below(folder)?;
                inside.sort_unstable();
                Some(inside)
            }
            None => None,
        };
        let is_inside = |note: Number| inside.as_ref().is_none_or(|inside| inside.binary_search(&note).is_ok());
        // Ranking asks for a note more than once; reading it once is enough.
        let (known, failed) = (RefCell::new(HashMap::new()), RefCell::new(None));
        let fits = |note: Number| {
            *known.borrow_mut().entry(note).or_insert_with(|| match self.note_fits(source, operators, note) {
                Ok(fits) => fits,
                Err(error) => {
                    failed.replace(Some(error));
                    false
                }
            })
        };
        let within = |note: Number| is_inside(note) && (operators.is_empty() || fits(note));
        let read = |path: &MemoryPath| self.text_shown(path, part.past);
        let (stop, excluded) = (self.manner.stop, (self.manner.excluded)());
        let is_past = |note: Number| past.is_some_and(|past| self.is_past(past, source, note));
        let asking = Asking { read: &read, stop, within: Some(&within), is_past: Some(&is_past), point, excluded };
        let answer = rank::answer(source, question, &asking)?;
        if let Some(error) = failed.take() {
            return Err(error);
        }
        let start = match part.after {
            Some(after) => {
                let last = source.number(&scope.placed(&after.path))?;
                // Behind the note that was last, wherever that is now: any write may change all scores a little.
                let place = answer.found.iter().position(|found| Some(found.note) == last);
                place
                    .map_or_else(|| answer.found.partition_point(|found| found.score >= after.score), |place| place + 1)
            }
            None => 0,
        };
        let rest = answer.found.get(start..).unwrap_or_default();
        // What is shown is what was looked for in the end.
        let wanted = Wanted::of(answer.corrected.as_ref().unwrap_or(question).words());
        let (notes, only_past, looked) = self.first_of(rest, source, scope, &wanted, part)?;
        let more = rest.len().saturating_sub(looked);
        let shows = Shows::Words(wanted, answer.weights.clone());
        Ok(Picked {
            notes,
            total: answer.found.len() - only_past,
            more,
            shows,
            unknown: answer.unknown(question, part.limit),
            searched_for: answer.searched_for,
            source: report::Source::Scan,
        })
    }

    /// The first notes of an answer that are shown, how many of those before the last were left out, and how many that makes together.
    fn first_of(
        &self,
        found: &[Found],
        source: &dyn Source,
        scope: &Scope,
        wanted: &Wanted,
        part: &Part<'_>,
    ) -> Result<(Vec<Scored>, usize, usize), SourceError> {
        let (mut notes, mut only_past, mut looked) = (Vec::new(), 0, 0);
        for found in found {
            if notes.len() == part.limit {
                break;
            }
            looked += 1;
            match source.path(found.note)? {
                Some(path) if self.is_only_past(found, &path, wanted, part) => only_past += 1,
                Some(path) => notes.push(Scored::of(found, scope.named(&path))),
                None => {}
            }
        }
        Ok((notes, only_past, looked))
    }

    /// Whether a note that was found by its words alone holds these only in facts whose time is over, and an answer leaves those out.
    fn is_only_past(&self, found: &Found, path: &MemoryPath, wanted: &Wanted, part: &Part<'_>) -> bool {
        if found.why != [Why::Text] || part.past != PastShown::No {
            return false;
        }
        let Some(text) = self.seen_text(path) else { return false };
        match self.current(&text, PastShown::No) {
            Some(Cow::Owned(now)) => wanted.evidence(path, &now).found.is_empty(),
            Some(Cow::Borrowed(_)) | None => false,
        }
    }

    fn note_fits(&self, source: &dyn Source, operators: &Operators, note: Number) -> Result<bool, SourceError> {
        if (self.manner.stop)() {
            return Err(SourceError::Stopped);
        }
        Ok(source.path(note)?.is_some_and(|path| self.fits(operators, &path)))
    }
}
