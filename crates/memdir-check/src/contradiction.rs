//! Facts that contradict each other: in one note, in two notes about the same thing, or in a note and a section of
//! another one that is about it.
//!
//! That a key has one value is learnt from the memory and from nothing else ([`Habits`]). A finding has to be sure; some is
//! missed for that.

use std::collections::{BTreeSet, HashSet};

use super::fact::{FRONT, Said, ValueForm};
use super::subject::Subjects;
use super::usage::{Evidence, Habits, Keys, MOST_VALUES, Use, is_below};
use super::value::{excludes, is_comparable, is_same};
use super::{Finding, Kind, Look, Side, edit, finding};
use memdir_core::path::MemoryPath;

/// No more contradictions of one note are told.
const MOST_CONFLICTS: usize = 100;
/// Two notes of one name that differ in no more facts are about one thing, also where they have no other fact in common.
const MOST_DIFFERENT: usize = 2;

/// A note, and its facts by their keys.
struct Sheet<'n> {
    path: &'n MemoryPath,
    look: &'n Look,
    keys: Keys<'n>,
    /// The notes that each section is about, where those are others; more than one where they share a name.
    about: Vec<Vec<usize>>,
}

/// All notes, and what was learnt from them.
struct Book<'n> {
    sheets: Vec<Sheet<'n>>,
    subjects: Subjects,
    habits: Habits<'n>,
}

/// Two lines that cannot both be true, by the places of their notes.
struct Pair<'n> {
    told: (usize, &'n Said),
    other: (usize, &'n Said),
    /// Whether it is the line of the finding that the action takes out, and not the other one.
    takes_told: bool,
}

/// All contradictions between the facts of the notes, without those that say of themselves that they are of the past.
pub(super) fn conflicts<'n>(
    notes: impl Iterator<Item = (&'n MemoryPath, &'n Look)>,
    past_status: &[String],
    read: &mut dyn FnMut(&MemoryPath) -> Option<String>,
) -> Vec<Finding> {
    let book = Book::of(notes.filter(|(_, look)| !look.facts.is_past(past_status)));
    let mut found = Vec::new();
    let mut told = HashSet::new();
    for pair in (0..book.sheets.len())
        .flat_map(|at| book.within(at))
        .chain(book.across())
        .chain(book.named())
        .chain(book.between())
    {
        let place = |(at, said): (usize, &Said)| (at, said.line);
        if told.insert((place(pair.told), place(pair.other))) {
            found.extend(book.finding(&pair, read));
        }
    }
    found
}

impl<'n> Book<'n> {
    fn of(notes: impl Iterator<Item = (&'n MemoryPath, &'n Look)>) -> Self {
        let mut sheets: Vec<Sheet<'_>> = notes.map(|(path, look)| Sheet::of(path, look)).collect();
        let subjects = Subjects::of(sheets.iter().map(|sheet| (sheet.path, sheet.look)));
        for (at, sheet) in sheets.iter_mut().enumerate() {
            let titles = sheet.look.facts.sections.iter();
            sheet.about = titles.map(|title| subjects.of_name(title, at)).collect();
        }
        let habits = Habits::of(sheets.iter().map(|sheet| (sheet.look, &sheet.keys)));
        Self { sheets, subjects, habits }
    }

    fn finding(&self, pair: &Pair<'n>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Option<Finding> {
        let mut side = |(at, said): (usize, &Said)| {
            let path = self.sheets.get(at)?.path;
            let text = read(path).unwrap_or_default();
            let line = text.lines().nth(said.line.saturating_sub(1)).unwrap_or_default().trim().to_owned();
            let action = edit::without_line(path, &text, said.line);
            Some((Side { path: path.clone(), line: said.line, text: line, by: None }, action))
        };
        let ((told, without_told), (other, without_other)) = (side(pair.told)?, side(pair.other)?);
        if self.is_listed_alike(pair, &told.text, &other.text) {
            return None;
        }
        let place = if told.path == other.path {
            format!("line {}", other.line)
        } else {
            format!("line {} of `{}`", other.line, other.path)
        };
        Some(Finding {
            line: Some(told.line),
            target: Some(pair.told.1.key.clone()),
            message: format!("`{}` contradicts {place}, `{}`", told.text, other.text),
            action: if pair.takes_told { without_told } else { without_other },
            ..finding(Kind::ConflictingFact, &told.path.clone())
        })
        .map(|finding| Finding { sides: vec![told, other], ..finding })
    }

    /// Whether two facts stand right below each other and are written alike up to their values, while no other note has the
    /// key: whoever writes so lists two values.
    fn is_listed_alike(&self, pair: &Pair<'n>, told: &str, other: &str) -> bool {
        let ((at, one), (below, other_fact)) = (pair.told, pair.other);
        let head = |line: &str, said: &Said| {
            line.find(&said.key).and_then(|start| line.get(..start + said.key.len())).map(str::to_owned)
        };
        at == below
            && is_below(other_fact, one)
            && head(told, one) == head(other, other_fact)
            && self.habits.is_new(one.name())
    }

    /// What a note says against itself.
    fn within(&self, at: usize) -> Vec<Pair<'n>> {
        let mut found = Vec::new();
        let Some(sheet) = self.sheets.get(at) else { return found };
        for (key, facts) in &sheet.keys {
            if !(2..=MOST_VALUES).contains(&facts.len()) || is_numbered(key) {
                continue;
            }
            let Some((last, before)) = facts.split_last() else { continue };
            let evidence = self.habits.evidence(key, facts);
            let others = before.iter().filter(|one| self.contradicts(sheet, one, last, facts, evidence));
            found.extend(others.map(|one| Pair { told: (at, *last), other: (at, *one), takes_told: false }));
        }
        found.sort_by_key(|pair| (pair.told.1.line, pair.other.1.line));
        found.truncate(MOST_CONFLICTS);
        found
    }

    /// Whether two facts of one key of a note, the first one above, cannot both be true; `facts` are all of that key.
    fn contradicts(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, facts: &[&Said], evidence: Evidence) -> bool {
        if !excludes(one, other) || evidence < needed(one, other, Use::of(facts) == Use::Listed) {
            return false;
        }
        let has_sections = facts.iter().any(|fact| fact.section != one.section);
        match (one.section == other.section, one.list == other.list) {
            (true, _) if !self.is_part(sheet, one.section) && has_sections => false,
            (true, true) => sheet.is_one_record(one.list),
            (true, false) if one.list == FRONT => true,
            (true, false) => sheet.is_one_thing(|fact| fact.list == one.list, |fact| fact.list == other.list),
            (false, _) if self.are_parts(sheet, one, other, evidence) => true,
            (false, _) if self.is_aside(sheet, one, other, evidence) => true,
            (false, _) => {
                self.is_remark(sheet, one, other, facts)
                    && sheet.is_one_thing(|fact| fact.section == one.section, |fact| fact.section == other.section)
            }
        }
    }

    fn is_part(&self, sheet: &Sheet<'_>, section: usize) -> bool {
        sheet.about.get(section).is_none_or(Vec::is_empty) && self.habits.is_part(sheet.look, section)
    }

    /// Whether a fact of another section is about the note as the first is: a remark below some text, alone with its key,
    /// and not about another note.
    fn is_remark(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, facts: &[&Said]) -> bool {
        let (one, other) = if self.is_part(sheet, one.section) { (one, other) } else { (other, one) };
        let sections: BTreeSet<usize> = facts.iter().map(|fact| fact.section).collect();
        self.is_part(sheet, one.section)
            && other.is_remark
            && sections.len() == 2
            && sheet.about.get(other.section).is_some_and(Vec::is_empty)
    }

    /// Whether both stand in parts of the note, and no other note gives its parts values of their own.
    fn are_parts(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, evidence: Evidence) -> bool {
        let facts = sheet.keys.get(one.name()).map(Vec::as_slice).unwrap_or_default();
        evidence >= Evidence::Habit
            && !self.habits.is_spread(one.name(), facts)
            && self.is_part(sheet, one.section)
            && self.is_part(sheet, other.section)
    }

    /// Whether the second fact stands alone below a heading that nothing in the memory speaks of, beside what the note says of
    /// itself: there is nothing else that it could be about.
    fn is_aside(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, evidence: Evidence) -> bool {
        let is_alone = sheet.look.facts.all.iter().filter(|fact| fact.section == other.section).count() == 1;
        let title = sheet.look.facts.sections.get(other.section).map_or("", String::as_str);
        is_alone
            && evidence >= Evidence::Habit
            && self.is_part(sheet, one.section)
            && sheet.about.get(other.section).is_some_and(Vec::is_empty)
            && !self.habits.speaks_of(title)
    }

    /// The one value that a note gives of a key as its own.
    fn own(&self, sheet: &Sheet<'n>, key: &str) -> Option<&'n Said> {
        let mut parts = sheet.keys.get(key)?.iter().filter(|fact| self.is_part(sheet, fact.section));
        let first = parts.next()?;
        (is_comparable(first) && parts.all(|fact| is_same(fact, first))).then_some(*first)
    }

    /// What sections about another note say against that note.
    fn across(&self) -> Vec<Pair<'n>> {
        let about = self.sheets.iter().enumerate().filter(|(_, sheet)| sheet.about.iter().any(|of| !of.is_empty()));
        about.flat_map(|(at, sheet)| self.of_sections(at, sheet)).collect()
    }

    fn of_sections(&self, at: usize, sheet: &Sheet<'n>) -> Vec<Pair<'n>> {
        let mut found = Vec::new();
        for (key, facts) in sheet.keys.iter().filter(|(key, _)| !is_numbered(key)) {
            for fact in facts {
                let is_alone = facts.iter().filter(|other| other.section == fact.section).count() == 1;
                let about = sheet.about.get(fact.section).filter(|_| is_alone).map(Vec::as_slice).unwrap_or_default();
                for about in about {
                    let Some(of) = self.sheets.get(*about) else { continue };
                    let Some(own) = self.own(of, key).filter(|own| excludes(own, fact)) else { continue };
                    let evidence = self.habits.evidence(key, of.keys.get(key).map(Vec::as_slice).unwrap_or_default());
                    if evidence >= needed(own, fact, false).max(Evidence::Habit) {
                        found.push(Pair { told: (at, *fact), other: (*about, own), takes_told: true });
                    }
                }
            }
        }
        found.sort_by_key(|pair| (pair.told.1.line, pair.other.0));
        found.truncate(MOST_CONFLICTS);
        found
    }

    /// What lines whose key names another note, as `Ana's birthday` does, say against that note.
    fn named(&self) -> Vec<Pair<'n>> {
        let mut found = Vec::new();
        for (at, sheet) in self.sheets.iter().enumerate() {
            for (key, facts) in sheet.keys.iter().filter(|(key, facts)| key.contains(' ') && facts.len() == 1) {
                let Some(fact) = facts.first() else { continue };
                for (about, rest) in self.subjects.in_key(key, at) {
                    let Some(of) = self.sheets.get(about) else { continue };
                    let Some(own) = of.keys.keys().find(|own| rest.is(own)).and_then(|key| self.own(of, key)) else {
                        continue;
                    };
                    let facts = of.keys.get(own.name()).map(Vec::as_slice).unwrap_or_default();
                    if excludes(own, fact) && self.habits.evidence(own.name(), facts) >= needed(own, fact, false) {
                        found.push(Pair { told: (at, *fact), other: (about, own), takes_told: true });
                    }
                }
            }
        }
        found.sort_by_key(|pair| (pair.told.0, pair.told.1.line, pair.other.0));
        found
    }

    /// What two notes of one name say against each other.
    fn between(&self) -> Vec<Pair<'n>> {
        self.subjects.pairs().into_iter().flat_map(|(one, other)| self.of_pair(one, other)).collect()
    }

    fn of_pair(&self, one: usize, other: usize) -> Vec<Pair<'n>> {
        let Some((first, second)) = self.sheets.get(one).zip(self.sheets.get(other)) else { return Vec::new() };
        if first.look.digest == second.look.digest {
            return Vec::new();
        }
        let is_shorter = first.path.as_str().len() <= second.path.as_str().len();
        let (kept, told) = if is_shorter { (one, other) } else { (other, one) };
        let (of_kept, of_told) = if is_shorter { (first, second) } else { (second, first) };
        let own = |key: &&'n str| Some((self.own(of_kept, key)?, self.own(of_told, key)?));
        let shared: Vec<_> = of_told.keys.keys().filter_map(own).collect();
        let (mut differ, same): (Vec<_>, Vec<_>) = shared.into_iter().partition(|(one, other)| !is_same(one, other));
        // Notes that differ in more have only the name in common, and so have those that every folder has one of.
        let is_one_thing = differ.len() <= MOST_DIFFERENT || differ.len() < same.len();
        if !is_one_thing || same.is_empty() && of_kept.path.stem() == of_told.path.stem() {
            return Vec::new();
        }
        differ.retain(|(one, other)| {
            let facts = of_kept.keys.get(one.name()).map(Vec::as_slice).unwrap_or_default();
            let evidence = self.habits.evidence(one.name(), facts);
            excludes(one, other) && !is_numbered(one.name()) && evidence >= needed(one, other, false)
        });
        differ.sort_by_key(|(_, other)| other.line);
        let pair = |(one, other)| Pair { told: (told, other), other: (kept, one), takes_told: true };
        differ.into_iter().map(pair).collect()
    }
}

/// What has to be known of a key before two values of it are a contradiction.
fn needed(one: &Said, other: &Said, is_listed: bool) -> Evidence {
    let is = |form: ValueForm| (one.form == form, other.form == form);
    match (is(ValueForm::Link), is(ValueForm::Words)) {
        ((true, true), _) => Evidence::Likely,
        (_, (true, _) | (_, true)) => Evidence::Habit,
        _ if is_listed => Evidence::Habit,
        _ => Evidence::Nothing,
    }
}

/// Whether a key has a number in it, as the entries of a log and the versions of a program have.
fn is_numbered(key: &str) -> bool {
    key.chars().any(char::is_numeric)
}

impl<'n> Sheet<'n> {
    fn of(path: &'n MemoryPath, look: &'n Look) -> Self {
        let mut keys = Keys::new();
        for fact in &look.facts.all {
            keys.entry(fact.name()).or_default().push(fact);
        }
        Self { path, look, keys, about: Vec::new() }
    }

    /// Whether a list is about one thing: few of its keys come again with another value. Where most do, each is about
    /// something of its own.
    fn is_one_record(&self, list: usize) -> bool {
        let in_list =
            |facts: &Vec<&'n Said>| facts.iter().filter(|fact| fact.list == list).copied().collect::<Vec<_>>();
        let keys: Vec<_> = self.keys.values().map(in_list).filter(|facts| !facts.is_empty()).collect();
        let repeated = keys.iter().filter(|facts| Use::of(facts) == Use::Apart).count();
        repeated <= 1 || repeated * 3 <= keys.len()
    }

    /// Whether some facts are about what others are: one key has another value, or few of those that both have. Where most
    /// differ, each is about something of its own.
    fn is_one_thing(&self, one: impl Fn(&Said) -> bool, other: impl Fn(&Said) -> bool) -> bool {
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
