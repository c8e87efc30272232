//! [`ScannedNotes`]: what ranking is told where there is no index: what every note said when it was read.
//!
//! It knows the words of the question; other words are looked for by reading the notes again. It follows links from a note
//! to others and not back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::wanted::{Evidence, Wanted, without_extension};
use memdir_core::path::MemoryPath;
use memdir_note::stem::{Languages, Stem};
use memdir_note::{Card, Note, words};
use memdir_rank::{Files, Impact, Number, Question, Source, SourceError, Spelling, Word, called};

/// Notes that were looked into for one question.
pub(crate) struct ScannedNotes<'a> {
    question: &'a Question,
    notes: Vec<(MemoryPath, Evidence)>,
    read: &'a dyn Fn(&MemoryPath) -> Option<String>,
    holding: Vec<usize>,
    names: HashMap<String, Vec<Number>>,
}

impl<'a> ScannedNotes<'a> {
    /// Takes what was seen of each note, sorted by path; `read` reads one of them once more.
    pub(crate) fn new(
        question: &'a Question,
        notes: Vec<(MemoryPath, Evidence)>,
        read: &'a dyn Fn(&MemoryPath) -> Option<String>,
    ) -> Self {
        let mut holding = vec![0; question.words().len()];
        for (number, _) in notes.iter().flat_map(|(_, evidence)| &evidence.found) {
            if let Some(count) = holding.get_mut(usize::from(*number)) {
                *count += 1;
            }
        }
        let mut names: HashMap<String, Vec<Number>> = HashMap::new();
        for ((path, _), number) in notes.iter().zip(0..) {
            names.entry(called(path.stem())).or_default().push(number);
        }
        Self { question, notes, read, holding, names }
    }

    fn note(&self, number: Number) -> Option<&(MemoryPath, Evidence)> {
        self.notes.get(usize::try_from(number).ok()?)
    }

    /// The place among the words of the question that these are the stems of.
    fn place(&self, stems: &[Stem]) -> Option<usize> {
        self.question.words().iter().position(|known| known.stems() == stems)
    }

    /// What each note says of a word that is not in the question.
    fn look_again(&self, stems: &[Stem]) -> Vec<(Number, Impact)> {
        let wanted = Wanted::of(&[Word::with(stems)]);
        let mut found = Vec::new();
        for ((path, known), number) in self.notes.iter().zip(0..) {
            let evidence = (self.read)(path).map(|text| wanted.evidence(path, &text));
            if let Some((_, often)) = evidence.as_ref().and_then(|evidence| evidence.found.first()) {
                found.push((number, Impact::of(f64::from(*often), known.length)));
            }
        }
        found
    }
}

impl Source for ScannedNotes<'_> {
    fn notes(&self) -> Result<usize, SourceError> {
        Ok(self.notes.len())
    }

    fn unread(&self, _: Option<&MemoryPath>) -> Result<usize, SourceError> {
        // They were told when the notes were looked into.
        Ok(0)
    }

    fn holding(&self, stems: &[Stem]) -> Result<usize, SourceError> {
        match self.place(stems) {
            Some(place) => Ok(self.holding.get(place).copied().unwrap_or_default()),
            None => Ok(self.look_again(stems).len()),
        }
    }

    fn matching(&self, stems: &[Stem]) -> Result<Vec<(Number, Impact)>, SourceError> {
        let Some(place) = self.place(stems) else { return Ok(self.look_again(stems)) };
        let much = |evidence: &Evidence| {
            let (_, often) = evidence.found.iter().find(|(number, _)| usize::from(*number) == place)?;
            Some(Impact::of(f64::from(*often), evidence.length))
        };
        Ok(self.notes.iter().zip(0..).filter_map(|((_, evidence), number)| Some((number, much(evidence)?))).collect())
    }

    fn card(&self, note: Number) -> Result<Option<(MemoryPath, Card)>, SourceError> {
        let Some((path, _)) = self.note(note) else { return Ok(None) };
        Ok((self.read)(path).map(|text| (path.clone(), Card::of(&Note::parse(&text)))))
    }

    fn path(&self, note: Number) -> Result<Option<MemoryPath>, SourceError> {
        Ok(self.note(note).map(|(path, _)| path.clone()))
    }

    fn number(&self, path: &MemoryPath) -> Result<Option<Number>, SourceError> {
        let place = self.notes.binary_search_by(|(known, _)| known.cmp(path)).ok();
        Ok(place.and_then(|place| Number::try_from(place).ok()))
    }

    fn called(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError> {
        Ok(self.names.get(name).into_iter().flatten().copied().take(most).collect())
    }

    fn linking(&self, _: &str, _: usize) -> Result<Vec<Number>, SourceError> {
        Ok(Vec::new())
    }

    fn below(&self, folder: &MemoryPath) -> Result<Vec<Number>, SourceError> {
        let notes = self.notes.iter().zip(0..).filter(|((path, _), _)| path.is_within(folder) || path == folder);
        Ok(notes.map(|(_, number)| number).collect())
    }

    fn spelled_like(&self, word: &str) -> Result<Option<Stem>, SourceError> {
        let Some(spelling) = Spelling::of(word) else { return Ok(None) };
        // How far a stem is from the word, and in which notes it stands.
        let mut near: BTreeMap<Stem, (usize, BTreeSet<&MemoryPath>)> = BTreeMap::new();
        for (path, _) in &self.notes {
            let text = (self.read)(path).unwrap_or_default();
            let languages = Languages::of(&text);
            let mut see = |word: &str, _| {
                if word.starts_with(spelling.first()) {
                    languages.stems(word, &mut |stem| {
                        if let Some(distance) = spelling.distance(stem.as_str()) {
                            near.entry(stem.clone()).or_insert((distance, BTreeSet::new())).1.insert(path);
                        }
                    });
                }
            };
            words::each(without_extension(path), &mut see);
            words::each(&text, &mut see);
        }
        let best =
            near.into_iter().min_by_key(|(stem, (distance, notes))| (*distance, Reverse(notes.len()), stem.clone()));
        Ok(best.map(|(stem, _)| stem))
    }

    fn around(&self, _: &MemoryPath) -> Result<Option<Files>, SourceError> {
        Ok(None)
    }
}
