//! How a memory uses its keys: what it gives one value, what it lists, and which headings are parts of a note.
//!
//! Nothing here knows a key: all is counted in the notes themselves. A key by itself may be too rare to tell anything, so the
//! habit of the whole memory counts too: where dozens of keys have one value and hardly any is listed, a second value is a
//! contradiction rather than the first list.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Look;
use super::fact::{OWN, Said, ValueForm};
use super::sheet::Sheet;
use super::value::is_same;

/// A note that has a key more often than this lists something.
pub(super) const MOST_VALUES: usize = 3;
/// So many subjects with one value, for each that lists several, show that there is one.
const SINGLE_FOR_LISTED: usize = 10;
/// So many, for each that has two values one below the other, where several have: one may well contradict itself.
const SINGLE_FOR_PAIR: usize = 4;
/// So many subjects with one value of a key show by themselves that it has one.
const SURE: usize = 5;
/// So many show it in a memory that has hardly any lists.
const LIKELY: usize = 3;
/// A memory with fewer facts has no habits.
const LEAST_FACTS: usize = 8;
/// So many keys with one value, for each that is listed, are a habit.
const FACTS_FOR_LISTED: usize = 8;
/// So many, for each that has two values one below the other.
const FACTS_FOR_PAIR: usize = 2;
/// A heading of so many notes is a part that notes have, if that is one in so many of those with facts below headings.
const SHARED_BY: usize = 2;
const ONE_PART_IN: usize = 6;
/// So many notes with one value, for each whose sections have values of their own, show that sections do not matter.
const SINGLE_FOR_SPREAD: usize = 4;

/// How a memory uses a key: how many subjects have it in each way. A subject is a note, or what a section is about.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// Those that have one value of it.
    single: usize,
    /// Those that have two values, one below the other.
    paired: usize,
    /// Those that list several values.
    listed: usize,
    /// Those with several values that do not stand together.
    apart: usize,
    /// The notes that give each of several sections a value of its own.
    spread: usize,
}

/// How one subject uses a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Use {
    /// With one value, or one in each section.
    Single,
    /// With two, one below the other: a short list, or a contradiction.
    Paired,
    /// With several, written as a list.
    Listed,
    /// With several in one section, with something else between them.
    Apart,
}

/// How sure the memory makes it that a key has one value.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Evidence {
    /// Other notes list several values.
    Against,
    /// Nothing speaks against it.
    Nothing,
    /// The habits of the memory speak for it.
    Habit,
    /// Several other notes have one value, in a memory of such habits.
    Likely,
    /// Many other notes have one value.
    Sure,
}

/// What was learnt from all notes.
#[derive(Default)]
pub(super) struct Habits<'n> {
    usage: HashMap<&'n str, Usage>,
    headings: HashMap<&'n str, Heading>,
    /// The notes that have facts below headings.
    sectioned: usize,
    /// How often a subject has one value of a key.
    singles: usize,
    /// How often it has two, one below the other.
    pairs: usize,
    /// How often it lists several.
    lists: usize,
    /// The words of all keys and values.
    words: HashSet<&'n str>,
}

/// The sections below one heading, over all notes.
#[derive(Clone, Copy, Default)]
struct Heading {
    notes: usize,
    /// Those whose keys are mostly keys of the note as well: they are about something else, as a sister is.
    repeating: usize,
}

impl Use {
    /// How a subject with these facts of one key, in order, uses it.
    pub(super) fn of(facts: &[&Said]) -> Self {
        let is_long = |one: &&Said| facts.iter().filter(|fact| fact.section == one.section).count() > MOST_VALUES;
        let is_several = |one: &&Said| one.form == ValueForm::Several || is_long(one);
        if facts.iter().take(MOST_VALUES + 1).any(is_several) {
            return Self::Listed;
        }
        let differ = |(one, other): &(&&Said, &&Said)| one.section == other.section && !is_same(one, other);
        let pairs = || facts.iter().zip(facts.iter().skip(1)).filter(differ);
        match (pairs().count(), pairs().filter(|(one, other)| is_below(one, other)).count()) {
            (0, _) => Self::Single,
            (_, 0) => Self::Apart,
            (_, 1) => Self::Paired,
            // Three in a row.
            _ => Self::Listed,
        }
    }
}

/// Whether one fact stands right below another one in a list.
pub(super) fn is_below(one: &Said, other: &Said) -> bool {
    (one.list, one.item + 1) == (other.list, other.item)
}

/// The words of a key, a value or a heading.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether the sections of a note give a key values of their own.
fn is_spread(facts: &[&Said]) -> bool {
    facts.iter().zip(facts.iter().skip(1)).any(|(one, other)| one.section != other.section && !is_same(one, other))
}

/// The facts of a note by their keys, those of one key by their lines.
pub(super) type Keys<'n> = HashMap<&'n str, Vec<&'n Said>>;

impl<'n> Habits<'n> {
    /// Learns from notes; what is the same byte for byte counts once.
    pub(super) fn of(sheets: &[Sheet<'n>]) -> Self {
        let (mut habits, mut copies) = (Self::default(), HashSet::new());
        let is_first = |sheet: &&Sheet<'n>| sheet.look.digest.is_none_or(|digest| copies.insert(digest));
        let sheets_once: Vec<&Sheet<'n>> = sheets.iter().filter(is_first).collect();
        // What sections of other notes say of notes that do not have the key themselves.
        let mut told: HashMap<(&str, &[usize]), Vec<Vec<&Said>>> = HashMap::new();
        for sheet in sheets_once {
            for (key, facts) in &sheet.keys {
                for group in sheet.by_subject(facts) {
                    let about = group.first().map(|fact| sheet.about(fact.section)).unwrap_or_default();
                    let is_said = |of: &usize| sheets.get(*of).is_some_and(|of| !of.own(key).is_empty());
                    if about.is_empty() {
                        habits.learn_key(key, &group);
                    } else if !about.iter().any(is_said) {
                        // What a note says itself is counted there.
                        told.entry((key, about)).or_default().push(group);
                    }
                }
                let values = facts.iter().map(|fact| fact.value.as_str());
                habits.words.extend(std::iter::once(*key).chain(values).flat_map(split));
            }
            habits.learn_headings(sheet.look, &sheet.keys);
        }
        for ((key, _), groups) in told {
            habits.learn_from_sections(key, &groups);
        }
        habits
    }

    /// Learns from what several sections say of one note, each group from one of them.
    fn learn_from_sections(&mut self, key: &'n str, groups: &[Vec<&Said>]) {
        let Some((first, others)) = groups.split_first() else { return };
        let are_same = |other: &Vec<&Said>| first.iter().zip(other).all(|(one, other)| is_same(one, other));
        match others.iter().all(are_same) {
            true => self.learn_key(key, first),
            false => self.usage.entry(key).or_default().apart += 1,
        }
    }

    fn learn_key(&mut self, key: &'n str, facts: &[&Said]) {
        let usage = self.usage.entry(key).or_default();
        usage.spread += usize::from(is_spread(facts));
        let is_relation = facts.iter().all(|fact| fact.form == ValueForm::Link);
        // A list of the front matter is none of lines, and says nothing of what two lines of another key are.
        let is_written_as_list = facts.iter().any(|fact| fact.form == ValueForm::Several);
        let (of_key, of_all) = match Use::of(facts) {
            Use::Single => (&mut usage.single, Some(&mut self.singles)),
            Use::Paired => (&mut usage.paired, Some(&mut self.pairs)),
            Use::Listed => (&mut usage.listed, Some(&mut self.lists)),
            Use::Apart => (&mut usage.apart, None),
        };
        *of_key += 1;
        if let Some(of_all) = of_all.filter(|_| !is_relation && !is_written_as_list) {
            *of_all += 1;
        }
    }

    fn learn_headings(&mut self, look: &'n Look, keys: &Keys<'n>) {
        // Of each section, how many keys it has and how many of them other sections have as well.
        let mut sections: HashMap<usize, (usize, usize)> = HashMap::new();
        for facts in keys.values() {
            let own: BTreeSet<usize> = facts.iter().map(|fact| fact.section).collect();
            for section in &own {
                let (all, repeated) = sections.entry(*section).or_default();
                *all += 1;
                *repeated += usize::from(own.len() > 1);
            }
        }
        self.sectioned += usize::from(sections.keys().any(|section| *section != OWN));
        let mut seen = HashSet::new();
        for (section, (all, repeated)) in sections.into_iter().filter(|(section, _)| *section != OWN) {
            let Some(title) = look.facts.sections.get(section) else { continue };
            if seen.insert(title) {
                let heading = self.headings.entry(title).or_default();
                heading.notes += 1;
                heading.repeating += usize::from(repeated * 3 >= all * 2);
            }
        }
    }

    /// What the other subjects say of whether a key has one value; `facts` are those of the subject that is asked about.
    ///
    /// One other subject with two values may contradict itself, too, and is no proof of a list; several are.
    pub(super) fn evidence(&self, key: &str, facts: &[&Said]) -> Evidence {
        let usage = self.usage.get(key).copied().unwrap_or_default();
        let own = |of: Use| usize::from(!facts.is_empty() && Use::of(facts) == of);
        let several = |all: usize, own: usize| all.checked_sub(own).filter(|others| *others > 1).unwrap_or(0);
        if usage.listed.saturating_sub(own(Use::Listed)) * SINGLE_FOR_LISTED > usage.single
            || several(usage.paired, own(Use::Paired)) * SINGLE_FOR_PAIR > usage.single
            || several(usage.apart, own(Use::Apart)) > usage.single
        {
            return Evidence::Against;
        }
        let lists = self.lists.saturating_sub(own(Use::Listed)) * FACTS_FOR_LISTED;
        let pairs = self.pairs.saturating_sub(own(Use::Paired)) * FACTS_FOR_PAIR;
        let is_habit = self.singles >= LEAST_FACTS && lists + pairs <= self.singles;
        let others = usage.single.saturating_sub(own(Use::Single));
        match others {
            SURE.. => Evidence::Sure,
            LIKELY.. if is_habit => Evidence::Likely,
            _ if is_habit => Evidence::Habit,
            _ => Evidence::Nothing,
        }
    }

    /// Whether a word of a heading occurs in any fact: then it may name somebody or something.
    pub(super) fn speaks_of(&self, title: &str) -> bool {
        split(title).any(|word| self.words.contains(word))
    }

    /// Whether one note alone has a key.
    pub(super) fn is_new(&self, key: &str) -> bool {
        self.usage.get(key).is_none_or(|usage| usage.single + usage.paired + usage.listed + usage.apart <= 1)
    }

    /// Whether other notes give a key to several sections, each with a value of its own.
    pub(super) fn is_spread(&self, key: &str, facts: &[&Said]) -> bool {
        let spread = self.usage.get(key).map_or(0, |usage| usage.spread);
        let single = self.usage.get(key).map_or(0, |usage| usage.single);
        spread.saturating_sub(usize::from(is_spread(facts))) * SINGLE_FOR_SPREAD > single
    }

    /// Whether what stands in a section is about the note itself: in the section of its title, or below a heading that
    /// notes of this memory have as a part.
    pub(super) fn is_part(&self, look: &Look, section: usize) -> bool {
        let title = look.facts.sections.get(section).map_or("", String::as_str);
        let heading = self.headings.get(title).copied().unwrap_or_default();
        let is_shared = heading.notes >= SHARED_BY && heading.notes * ONE_PART_IN >= self.sectioned;
        section == OWN || (is_shared && heading.repeating * 4 <= heading.notes)
    }
}
