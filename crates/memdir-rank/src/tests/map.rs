//! [`Map`]: notes in memory as a source, with nothing made quicker.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{Column, Files, Impact, Number, Point, Source, SourceError, Spelling, called};
use memdir_core::path::MemoryPath;
use memdir_note::stem::Stem;
use memdir_note::{Card, Note, words};

/// Notes, numbered in the order of their paths.
pub(crate) struct Map {
    pub(crate) notes: Vec<Held>,
    holding: HashMap<Stem, Vec<(Number, f64)>>,
    names: BTreeMap<String, BTreeSet<Number>>,
    linking: BTreeMap<String, BTreeSet<Number>>,
    /// How many cards were read.
    pub(crate) cards: Cell<usize>,
    /// How alike notes are to whatever is asked.
    pub(crate) alike: Vec<(Number, f64)>,
}

pub(crate) struct Held {
    pub(crate) path: MemoryPath,
    pub(crate) text: String,
    card: Card,
    length: u32,
}

impl Map {
    pub(crate) fn new<P: AsRef<str>, T: AsRef<str>>(notes: impl IntoIterator<Item = (P, T)>) -> Self {
        let mut map = Self {
            notes: Vec::new(),
            holding: HashMap::new(),
            names: BTreeMap::new(),
            linking: BTreeMap::new(),
            cards: Cell::new(0),
            alike: Vec::new(),
        };
        let notes = notes.into_iter().map(|(path, text)| (MemoryPath::parse(path.as_ref()).unwrap(), text));
        let notes: BTreeMap<_, _> = notes.collect();
        for ((path, text), number) in notes.into_iter().zip(0..) {
            map.put(number, path, text.as_ref());
        }
        map
    }

    fn put(&mut self, number: Number, path: MemoryPath, text: &str) {
        let note = Note::parse(text);
        let card = Card::of(&note);
        let bare = path.as_str().strip_suffix(".md").unwrap_or(path.as_str());
        let headings: Vec<_> = note.headings().iter().map(|heading| heading.shown()).collect();
        let (mut length, mut found) = (0, BTreeMap::<Stem, f64>::new());
        for column in Column::ALL {
            let mut add = |text: &str| {
                words::each(text, &mut |word, _| {
                    length += u32::from(matches!(column, Column::Name | Column::Body));
                    card.languages.stems(word, &mut |stem| *found.entry(stem.clone()).or_default() += column.weight());
                });
            };
            match column {
                Column::Title => card.title.iter().for_each(|title| add(title)),
                Column::Heading => headings.iter().for_each(|heading| add(heading)),
                Column::Name => [bare].into_iter().chain(card.aliases.iter().map(String::as_str)).for_each(add),
                Column::Key => card.facts.iter().for_each(|fact| add(&fact.key)),
                Column::Tag => card.tags.iter().for_each(|tag| add(tag)),
                Column::Body => add(text),
            }
        }
        found.into_iter().for_each(|(word, often)| self.holding.entry(word).or_default().push((number, often)));
        let names =
            [path.stem()].into_iter().chain(card.title.as_deref()).chain(card.aliases.iter().map(String::as_str));
        for name in names {
            self.names.entry(called(name)).or_default().insert(number);
        }
        for link in &card.seen.links {
            let last = link.path.rsplit('/').next().unwrap();
            self.linking.entry(called(last.strip_suffix(".md").unwrap_or(last))).or_default().insert(number);
        }
        self.notes.push(Held { path, text: text.to_owned(), card, length });
    }

    fn held(&self, note: Number) -> Option<&Held> {
        self.notes.get(usize::try_from(note).unwrap())
    }

    pub(crate) fn read(&self, path: &MemoryPath) -> Option<String> {
        self.number(path).unwrap().map(|number| self.held(number).unwrap().text.clone())
    }
}

impl Source for Map {
    fn notes(&self) -> Result<usize, SourceError> {
        Ok(self.notes.len())
    }

    fn unread(&self, _: Option<&MemoryPath>) -> Result<usize, SourceError> {
        Ok(0)
    }

    fn holding(&self, stems: &[Stem]) -> Result<usize, SourceError> {
        Ok(self.matching(stems)?.len())
    }

    fn matching(&self, stems: &[Stem]) -> Result<Vec<(Number, Impact)>, SourceError> {
        let mut found = BTreeMap::<Number, Impact>::new();
        for (note, often) in stems.iter().filter_map(|stem| self.holding.get(stem)).flatten() {
            let much = Impact::of(*often, self.held(*note).unwrap().length);
            found.entry(*note).and_modify(|most| *most = (*most).max(much)).or_insert(much);
        }
        Ok(found.into_iter().collect())
    }

    fn card(&self, note: Number) -> Result<Option<(MemoryPath, Card)>, SourceError> {
        self.cards.set(self.cards.get() + 1);
        Ok(self.held(note).map(|held| (held.path.clone(), held.card.clone())))
    }

    fn path(&self, note: Number) -> Result<Option<MemoryPath>, SourceError> {
        Ok(self.held(note).map(|held| held.path.clone()))
    }

    fn number(&self, path: &MemoryPath) -> Result<Option<Number>, SourceError> {
        let place = self.notes.binary_search_by(|held| held.path.cmp(path)).ok();
        Ok(place.and_then(|place| Number::try_from(place).ok()))
    }

    fn called(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError> {
        Ok(self.names.get(name).into_iter().flatten().copied().take(most).collect())
    }

    fn linking(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError> {
        Ok(self.linking.get(name).into_iter().flatten().copied().take(most).collect())
    }

    fn below(&self, folder: &MemoryPath) -> Result<Vec<Number>, SourceError> {
        let notes = self.notes.iter().zip(0..).filter(|(held, _)| held.path.is_within(folder) || held.path == *folder);
        Ok(notes.map(|(_, number)| number).collect())
    }

    fn spelled_like(&self, word: &str) -> Result<Option<Stem>, SourceError> {
        let Some(spelling) = Spelling::of(word) else { return Ok(None) };
        let like = self.holding.iter().filter_map(|(stem, notes)| {
            Some((spelling.distance(stem.as_str())?, std::cmp::Reverse(notes.len()), stem.clone()))
        });
        Ok(like.min().map(|(.., stem)| stem))
    }

    fn around(&self, _: &MemoryPath) -> Result<Option<Files>, SourceError> {
        Ok(None)
    }

    fn alike(&self, _: &Point) -> Result<Vec<(Number, f64)>, SourceError> {
        Ok(self.alike.clone())
    }
}
