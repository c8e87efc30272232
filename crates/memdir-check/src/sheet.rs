//! [`Sheet`]: a note, its facts by their keys, and what each of its sections is about.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Look;
use super::fact::{Said, ValueForm};
use super::subject::Subjects;
use super::usage::{Keys, Use};
use super::value::is_same;
use memdir_core::path::MemoryPath;

/// A note, and its facts by their keys.
pub(super) struct Sheet<'n> {
    pub(super) path: &'n MemoryPath,
    pub(super) look: &'n Look,
    pub(super) keys: Keys<'n>,
    /// The notes that each section is about, where those are others; more than one where they share a name.
    pub(super) about: Vec<Vec<usize>>,
    /// The sections whose title is a name of the note itself.
    own: BTreeSet<usize>,
    /// The callouts of which nothing but their place says what they are about, as one with the title `At a glance`.
    boxes: BTreeSet<usize>,
}

impl<'n> Sheet<'n> {
    pub(super) fn of(path: &'n MemoryPath, look: &'n Look) -> Self {
        let mut keys = Keys::new();
        for fact in &look.facts.all {
            keys.entry(fact.name()).or_default().push(fact);
        }
        Self { path, look, keys, about: Vec::new(), own: BTreeSet::new(), boxes: BTreeSet::new() }
    }

    /// All notes, in order, with what their sections are about.
    pub(super) fn all(notes: impl Iterator<Item = (&'n MemoryPath, &'n Look)>) -> (Vec<Self>, Subjects) {
        let mut sheets: Vec<Self> = notes.map(|(path, look)| Self::of(path, look)).collect();
        let subjects = Subjects::of(sheets.iter().map(|sheet| (sheet.path, sheet.look)));
        for (at, sheet) in sheets.iter_mut().enumerate() {
            let titles = sheet.look.facts.sections.iter();
            sheet.about = titles.clone().map(|title| subjects.of_name(title, at)).collect();
            sheet.own = titles.enumerate().filter(|(_, title)| subjects.is_name(title, at)).map(|(at, _)| at).collect();
            sheet.add_named();
        }
        if sheets.iter().any(|sheet| !sheet.look.facts.boxes.is_empty()) {
            let facts = || sheets.iter().flat_map(|sheet| &sheet.look.facts.all);
            let values = facts().filter(|fact| fact.form != ValueForm::Words).map(|fact| fact.value.as_str());
            let known: HashSet<&str> = values.chain(facts().map(Said::name)).collect();
            for (at, sheet) in sheets.iter_mut().enumerate() {
                sheet.add_boxes(|title| known.contains(title) || subjects.is_in(title, at));
            }
        }
        (sheets, subjects)
    }

    /// Keeps which callouts are likely about the note, where `is_named` tells of a title that it names something: a note, or what
    /// some fact is called or says. Those that have keys in common are about several things.
    fn add_boxes(&mut self, is_named: impl Fn(&str) -> bool) {
        let sections = &self.look.facts.sections;
        let boxes = self.look.facts.boxes.iter().copied();
        let boxes: BTreeSet<usize> =
            boxes.filter(|at| sections.get(*at).is_some_and(|title| !is_named(title))).collect();
        let is_shared = |facts: &Vec<&Said>| {
            let mut of = facts.iter().map(|fact| fact.section).filter(|section| boxes.contains(section));
            of.next().is_some_and(|first| of.any(|other| other != first))
        };
        if !self.keys.values().any(is_shared) {
            self.boxes = boxes;
        }
    }

    /// Adds what is said of something that is named, where that is a note: what else its line states is no fact.
    fn add_named(&mut self) {
        let named = self.look.facts.named.iter();
        let named = named.filter(|said| self.is_about_note(said.section));
        let named: Vec<&Said> = named.collect();
        if named.is_empty() {
            return;
        }
        let lines: HashSet<usize> = named.iter().map(|said| said.line).collect();
        self.keys.values_mut().for_each(|facts| facts.retain(|fact| !lines.contains(&fact.line)));
        for said in named {
            self.keys.entry(said.name()).or_default().push(said);
        }
        self.keys.retain(|_, facts| !facts.is_empty());
        self.keys.values_mut().for_each(|facts| facts.sort_by_key(|fact| fact.line));
    }

    /// Adds what the tables of the note say of it, where `is_known` says of all keys of a table, each with the facts that the
    /// note has of it, that they are keys.
    pub(super) fn add_records(&mut self, is_known: impl Fn(&str, &[&Said]) -> bool) {
        for record in &self.look.facts.records {
            if !record.iter().all(|said| is_known(said.name(), &self.own(said.name()))) {
                continue;
            }
            for said in record {
                let facts = self.keys.entry(said.name()).or_default();
                if facts.iter().all(|fact| fact.line != said.line) {
                    facts.push(said);
                    facts.sort_by_key(|fact| fact.line);
                }
            }
        }
    }

    /// Whether a section is about the note itself by its title.
    pub(super) fn is_own(&self, section: usize) -> bool {
        self.own.contains(&section)
    }

    /// Whether a section is a callout whose title names nothing: most likely it is about the note.
    pub(super) fn is_box(&self, section: usize) -> bool {
        self.boxes.contains(&section)
    }

    fn is_about_note(&self, section: usize) -> bool {
        !self.about(section).is_empty() || self.is_own(section)
    }

    /// The notes that a section is about, where those are others.
    pub(super) fn about(&self, section: usize) -> &[usize] {
        self.about.get(section).map(Vec::as_slice).unwrap_or_default()
    }

    /// The facts of a key that are not about another note.
    pub(super) fn own(&self, key: &str) -> Vec<&'n Said> {
        let facts = self.keys.get(key).into_iter().flatten();
        facts.filter(|fact| self.about(fact.section).is_empty()).copied().collect()
    }

    /// Some facts by what they are about: those of the note in one group, those of each section about another note in one
    /// of its own.
    pub(super) fn by_subject(&self, facts: &[&'n Said]) -> Vec<Vec<&'n Said>> {
        let mut groups: BTreeMap<Option<usize>, Vec<&'n Said>> = BTreeMap::new();
        for fact in facts {
            let section = Some(fact.section).filter(|section| !self.about(*section).is_empty());
            groups.entry(section).or_default().push(fact);
        }
        groups.into_values().collect()
    }

    /// Whether a list is about one thing: few of its keys come again with another value. Where most do, each is about
    /// something of its own.
    pub(super) fn is_one_record(&self, list: usize) -> bool {
        let in_list =
            |facts: &Vec<&'n Said>| facts.iter().filter(|fact| fact.list == list).copied().collect::<Vec<_>>();
        let keys: Vec<_> = self.keys.values().map(in_list).filter(|facts| !facts.is_empty()).collect();
        let repeated = keys.iter().filter(|facts| Use::of(facts) == Use::Apart).count();
        repeated <= 1 || repeated * 3 <= keys.len()
    }

    /// Whether some facts are about what others are: one key has another value, or few of those that both have. Where most
    /// differ, each is about something of its own.
    pub(super) fn is_one_thing(&self, one: impl Fn(&Said) -> bool, other: impl Fn(&Said) -> bool) -> bool {
        let (mut differ, mut fewer) = (0, (0, 0));
        for facts in self.keys.values() {
            let first = facts.iter().find(|fact| one(fact));
            let others: Vec<_> = facts.iter().filter(|fact| other(fact)).collect();
            fewer.0 += usize::from(first.is_some());
            fewer.1 += usize::from(!others.is_empty());
            differ += usize::from(first.is_some_and(|first| others.iter().any(|fact| !is_same(first, fact))));
        }
        differ <= 1 || differ * 3 <= fewer.0.min(fewer.1)
    }
}
