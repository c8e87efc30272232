//! Facts that contradict each other: in one note, in two notes about the same thing, or in a note and a section of
//! another one that is about it.
//!
//! That a key has one value is learnt from the memory and from nothing else ([`Habits`]). A finding has to be sure; some is
//! missed for that.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::fact::{FRONT, Said, ValueForm, name};
use super::name::is_day;
use super::sheet::Sheet;
use super::subject::Subjects;
use super::usage::{Evidence, Habits, MOST_VALUES, Use, is_below};
use super::value::{excludes, is_comparable, is_same};
use super::{Finding, Kind, Look, Side, edit, finding};
use memdir_core::path::MemoryPath;

/// No more contradictions of one note are told.
const MOST_CONFLICTS: usize = 100;
/// Two notes of one name that differ in no more facts are about one thing, also where they have no other fact in common.
const MOST_DIFFERENT: usize = 2;

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
    taken: Taken,
    /// Whether it is one only if two changes wrote the lines.
    may_be_list: bool,
}

/// Which line the action takes out.
#[derive(Clone, Copy)]
enum Taken {
    /// That of the finding.
    Told,
    /// The other one.
    Other,
    /// There is no action: nothing tells which line holds.
    Neither,
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
        .chain(book.elsewhere())
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
        let (mut sheets, subjects) = Sheet::all(notes);
        let habits = Habits::of(&sheets);
        for sheet in sheets.iter_mut().filter(|sheet| !sheet.look.facts.records.is_empty()) {
            sheet.add_records(|key, own| habits.evidence(key, own) >= Evidence::Likely);
        }
        Self { sheets, subjects, habits }
    }

    fn finding(&self, pair: &Pair<'n>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Option<Finding> {
        let mut side = |(at, said): (usize, &Said)| {
            let path = self.sheets.get(at)?.path;
            let text = read(path).unwrap_or_default();
            let line = text.lines().nth(said.line.saturating_sub(1)).unwrap_or_default().trim().to_owned();
            Some((Side { path: path.clone(), line: said.line, text: line, by: None }, text))
        };
        let ((told, told_text), (other, other_text)) = (side(pair.told)?, side(pair.other)?);
        let may_be_list = pair.may_be_list || self.is_listed_alike(pair, &told.text, &other.text);
        if may_be_list && !are_alike(pair.told.1, pair.other.1) {
            return None;
        }
        let place = if told.path == other.path {
            format!("line {}", other.line)
        } else {
            format!("line {} of `{}`", other.line, other.path)
        };
        let is_boxed = |(at, said): (usize, &Said)| {
            self.sheets.get(at).is_some_and(|sheet| sheet.is_box(said.section) && !self.is_part(sheet, said.section))
        };
        let may_be_other = is_boxed(pair.told) || is_boxed(pair.other);
        let action = || match pair.taken {
            // A callout may be about something else after all.
            _ if may_be_other => None,
            Taken::Told => {
                edit::without_fact(&told.path, &told_text, told.line, (&other.path, &other_text, other.line), None)
            }
            Taken::Other => {
                edit::without_fact(&other.path, &other_text, other.line, (&told.path, &told_text, told.line), None)
            }
            Taken::Neither => None,
        };
        Some(Finding {
            line: Some(told.line),
            target: Some(pair.told.1.key.clone()),
            message: format!(
                "`{}` contradicts {place}, `{}`",
                shown(&told, &told_text, pair.told.1),
                shown(&other, &other_text, pair.other.1)
            ),
            action: if may_be_list { None } else { action() },
            may_be_list,
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

    /// What a note says against itself: each line with the last one that it contradicts.
    fn within(&self, at: usize) -> Vec<Pair<'n>> {
        let mut found = Vec::new();
        let Some(sheet) = self.sheets.get(at) else { return found };
        for (key, facts) in sheet.keys.iter().filter(|(key, facts)| facts.len() > 1 && !is_numbered(key)) {
            for facts in sheet.by_subject(facts) {
                found.extend(self.within_subject((at, sheet), key, &facts));
            }
        }
        found.sort_by_key(|pair| (pair.told.1.line, pair.other.1.line));
        found.truncate(MOST_CONFLICTS);
        found
    }

    /// What the facts of one key and one subject, which stand in one note, say against each other.
    fn within_subject(&self, (at, sheet): (usize, &Sheet<'_>), key: &str, facts: &[&'n Said]) -> Vec<Pair<'n>> {
        let own_use = Use::of(facts);
        if !(2..=MOST_VALUES).contains(&facts.len()) || own_use == Use::Listed {
            return Vec::new();
        }
        let evidence = self.habits.evidence(key, facts);
        let pair = |(number, one): (usize, &&'n Said)| {
            facts.iter().skip(number + 1).rev().find_map(|last| {
                let is_one = excludes(one, last) && self.are_about_one(sheet, one, last, facts, evidence);
                let may_be_list = is_one && evidence < needed(one, last, own_use == Use::Paired);
                let is_told = is_one && evidence >= Evidence::Nothing && (!may_be_list || are_alike(one, last));
                // What stands in a section or a sentence of its own may be about something else after all.
                let is_of_note =
                    |said: &Said| (said.is_remark || self.is_part(sheet, said.section)) && !said.is_in_sentence;
                let is_sure = is_of_note(one) && is_of_note(last);
                let taken = if is_sure { Taken::Other } else { Taken::Neither };
                is_told.then_some(Pair { told: (at, *last), other: (at, *one), taken, may_be_list })
            })
        };
        facts.iter().enumerate().filter_map(pair).collect()
    }

    /// Whether two facts of one key of a note, the first one above, are about one thing; `facts` are all of that key and subject.
    fn are_about_one(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, facts: &[&Said], evidence: Evidence) -> bool {
        let has_sections = facts.iter().any(|fact| fact.section != one.section);
        match (one.section == other.section, one.list == other.list) {
            (true, _) if !self.is_part(sheet, one.section) && has_sections => false,
            (true, true) => sheet.is_one_record(one.list),
            (true, false) if one.list == FRONT => true,
            (true, false) => sheet.is_one_thing(|fact| fact.list == one.list, |fact| fact.list == other.list),
            (false, _) if self.are_parts(sheet, one, other, evidence) => true,
            (false, _) if self.is_boxed(sheet, one, other, evidence) => true,
            (false, _) if self.is_aside(sheet, one, other, evidence) => true,
            (false, _) => {
                self.is_remark(sheet, one, other, facts)
                    && sheet.is_one_thing(|fact| fact.section == one.section, |fact| fact.section == other.section)
            }
        }
    }

    fn is_part(&self, sheet: &Sheet<'_>, section: usize) -> bool {
        sheet.is_own(section) || sheet.about(section).is_empty() && self.habits.is_part(sheet.look, section)
    }

    /// Whether a fact of another section is about the note as the first is: a remark below some text, alone with its key,
    /// and not about another note.
    fn is_remark(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, facts: &[&Said]) -> bool {
        let (one, other) = if self.is_part(sheet, one.section) { (one, other) } else { (other, one) };
        let sections: BTreeSet<usize> = facts.iter().map(|fact| fact.section).collect();
        self.is_part(sheet, one.section)
            && other.is_remark
            && sections.len() == 2
            && sheet.about(other.section).is_empty()
    }

    /// Whether both stand in parts of the note, and no other note gives its parts values of their own.
    fn are_parts(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, evidence: Evidence) -> bool {
        evidence >= Evidence::Habit
            && !self.habits.is_spread(one.name(), &sheet.own(one.name()))
            && self.is_part(sheet, one.section)
            && self.is_part(sheet, other.section)
    }

    /// Whether one stands in a callout whose title names nothing, and the other is the note's own.
    fn is_boxed(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, evidence: Evidence) -> bool {
        let is_beside = |one: &Said, other: &Said| sheet.is_box(one.section) && self.is_part(sheet, other.section);
        evidence >= Evidence::Habit
            && (is_beside(one, other) || is_beside(other, one))
            && !self.habits.is_spread(one.name(), &sheet.own(one.name()))
            && sheet.is_one_thing(|fact| fact.section == one.section, |fact| fact.section == other.section)
    }

    /// Whether the second fact stands alone below a heading that nothing in the memory speaks of, beside what the note says of
    /// itself: there is nothing else that it could be about.
    fn is_aside(&self, sheet: &Sheet<'_>, one: &Said, other: &Said, evidence: Evidence) -> bool {
        let is_alone = sheet.keys.values().flatten().filter(|fact| fact.section == other.section).count() == 1;
        let title = sheet.look.facts.sections.get(other.section).map_or("", String::as_str);
        is_alone
            && evidence >= Evidence::Habit
            && self.is_part(sheet, one.section)
            && sheet.about(other.section).is_empty()
            && !self.habits.speaks_of(title)
    }

    /// The one value that a note gives of a key as its own; what a callout says counts where nothing else says it.
    fn own(&self, sheet: &Sheet<'n>, key: &str) -> Option<&'n Said> {
        let facts = sheet.keys.get(key)?;
        let is_part = facts.iter().any(|fact| self.is_part(sheet, fact.section));
        let mut parts = facts.iter().filter(|fact| match is_part {
            true => self.is_part(sheet, fact.section),
            false => sheet.is_box(fact.section),
        });
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
        // What the note of a day says was so on that day.
        let taken = if is_day(sheet.path.stem()) { Taken::Neither } else { Taken::Told };
        for (key, facts) in sheet.keys.iter().filter(|(key, _)| !is_numbered(key)) {
            let mut in_section = HashMap::new();
            facts.iter().for_each(|fact| *in_section.entry(fact.section).or_insert(0) += 1);
            let mut lists = None;
            for fact in facts.iter().filter(|fact| in_section.get(&fact.section) == Some(&1)) {
                for about in sheet.about(fact.section) {
                    let Some(of) = self.sheets.get(*about) else { continue };
                    let Some(own) = self.own(of, key).filter(|own| excludes(own, fact)) else { continue };
                    let evidence = self.habits.evidence(key, &of.own(key));
                    let may_be_list = evidence < needed(own, fact, false).max(Evidence::Habit);
                    let is_told = evidence >= Evidence::Nothing && (!may_be_list || are_alike(own, fact));
                    let lists = lists.get_or_insert_with(|| self.as_notes_say(sheet, key, facts));
                    if is_told && lists.contains(&fact.list) {
                        found.push(Pair { told: (at, *fact), other: (*about, own), taken, may_be_list });
                    }
                }
            }
        }
        found.sort_by_key(|pair| (pair.told.1.line, pair.other.0));
        found.truncate(MOST_CONFLICTS);
        found
    }

    /// What sections about a note say against each other where the note has no such key itself. Where they differ of most notes
    /// of which several say something, the key means something else there. Neither is the note's own, so a person has to tell
    /// which one holds.
    fn elsewhere(&self) -> Vec<Pair<'n>> {
        let mut often: HashMap<&str, (usize, usize)> = HashMap::new();
        let mut found = Vec::new();
        for ((_, key), said) in self.in_other_notes() {
            let sections: HashSet<_> = said.iter().map(|(at, fact)| (*at, fact.section)).collect();
            if said.len() < 2 || sections.len() < said.len() {
                continue;
            }
            let differ = said.iter().zip(said.iter().skip(1)).any(|((_, one), (_, other))| !is_same(one, other));
            let (all, differing) = often.entry(key).or_default();
            *all += 1;
            *differing += usize::from(differ);
            if differ && said.len() <= MOST_VALUES && self.habits.evidence(key, &[]) >= Evidence::Likely {
                let pairs = said.iter().enumerate().filter_map(|(number, one)| {
                    let last = said.iter().skip(number + 1).rev().find(|last| excludes(one.1, last.1))?;
                    Some(Pair { told: *last, other: *one, taken: Taken::Neither, may_be_list: false })
                });
                found.extend(pairs.map(|pair| (key, pair)));
            }
        }
        let is_rare = |key: &str| often.get(key).is_none_or(|(all, differ)| *differ <= 1 || differ * 3 <= *all);
        found.into_iter().filter(|(key, _)| is_rare(key)).map(|(_, pair)| pair).take(MOST_CONFLICTS).collect()
    }

    /// What sections of other notes say of each note and key that the note itself does not have, with the places of their notes.
    /// What the note of a day says was so on that day.
    fn in_other_notes(&self) -> BTreeMap<(usize, &'n str), Vec<(usize, &'n Said)>> {
        let mut told: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let lasting = |(_, sheet): &(usize, &Sheet<'n>)| !is_day(sheet.path.stem());
        for (at, sheet) in self.sheets.iter().enumerate().filter(lasting) {
            for (key, facts) in sheet.keys.iter().filter(|(key, _)| !is_numbered(key)) {
                for fact in facts {
                    for about in sheet.about(fact.section) {
                        if self.sheets.get(*about).is_some_and(|of| of.own(key).is_empty()) {
                            told.entry((*about, *key)).or_default().push((at, *fact));
                        }
                    }
                }
            }
        }
        told
    }

    /// The lists, and columns of tables, of which few of the values that they give of several notes are others than those give
    /// themselves. Where most differ, the key means something else there.
    fn as_notes_say(&self, sheet: &Sheet<'n>, key: &str, facts: &[&'n Said]) -> HashSet<usize> {
        let mut lists: HashMap<usize, (usize, usize)> = HashMap::new();
        for fact in facts {
            let (all, differ) = lists.entry(fact.list).or_default();
            for of in sheet.about(fact.section) {
                let Some(own) = self.sheets.get(*of).and_then(|of| self.own(of, key)) else { continue };
                *all += 1;
                *differ += usize::from(!is_same(own, fact));
            }
        }
        let is_alike = |(all, differ): &(usize, usize)| *differ <= 1 || differ * 3 <= *all;
        lists.into_iter().filter(|(_, counts)| is_alike(counts)).map(|(list, _)| list).collect()
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
                    let evidence = self.habits.evidence(own.name(), &of.own(own.name()));
                    if excludes(own, fact) && evidence >= needed(own, fact, false) {
                        let (told, other) = ((at, *fact), (about, own));
                        found.push(Pair { told, other, taken: Taken::Told, may_be_list: false });
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
        if first.look.digest == second.look.digest || are_numbered(first.path.as_str(), second.path.as_str()) {
            return Vec::new();
        }
        let is_shorter = first.path.utf16_length() <= second.path.utf16_length();
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
            let evidence = self.habits.evidence(one.name(), &of_kept.own(one.name()));
            excludes(one, other) && !is_numbered(one.name()) && evidence >= needed(one, other, false)
        });
        differ.sort_by_key(|(_, other)| other.line);
        let pair =
            |(one, other)| Pair { told: (told, other), other: (kept, one), taken: Taken::Told, may_be_list: false };
        differ.into_iter().map(pair).collect()
    }
}

/// The line of a side, with the one below it where it holds nothing but the key.
fn shown(side: &Side, text: &str, said: &Said) -> String {
    if name(&side.text) == said.name() {
        let below = text.lines().nth(side.line).unwrap_or_default().trim();
        format!("{} {below}", side.text)
    } else {
        side.text.clone()
    }
}

/// Whether two values have the same form, and are no links: what a person should be asked about where little is known of the key.
fn are_alike(one: &Said, other: &Said) -> bool {
    one.form == other.form && one.form != ValueForm::Link
}

/// What has to be known of a key before two values of it are a contradiction, whoever wrote them.
fn needed(one: &Said, other: &Said, is_listed: bool) -> Evidence {
    let is = |form: ValueForm| (one.form == form, other.form == form);
    match (is(ValueForm::Link), is(ValueForm::Words)) {
        ((true, true), _) => Evidence::Likely,
        (_, (true, _) | (_, true)) => Evidence::Habit,
        _ if is_listed => Evidence::Habit,
        _ => Evidence::Nothing,
    }
}

/// Whether two paths are the same but for their numbers, as `Week 12.md` and `Week 13.md` are: each note is about one of a series,
/// also where they share a title.
fn are_numbered(one: &str, other: &str) -> bool {
    let parts = [one, other].map(|path| path.split(char::is_numeric).filter(|part| !part.is_empty()));
    let [of_one, of_other] = parts;
    [one, other].iter().all(|path| path.contains(char::is_numeric)) && of_one.eq(of_other)
}

/// Whether a key has a number in it, as the entries of a log and the versions of a program have.
fn is_numbered(key: &str) -> bool {
    key.chars().any(char::is_numeric)
}
