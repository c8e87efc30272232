//! Facts that contradict each other: in one note, or in two notes about the same thing.
//!
//! That a key has one value is learnt from the memory and from nothing else: from the notes that have it once, and from
//! those that list several values of it. A finding has to be sure; much is missed for that.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::fact::{FRONT, OWN, Said, ValueForm};
use super::{Finding, Kind, Look, finding, name};
use memdir_core::path::MemoryPath;
use memdir_note::{Syntax, Targets, folded, words};

/// A note that has a key more often than this lists something.
const MOST_VALUES: usize = 3;
/// So many notes with one value, for each that lists several, show that there is one.
const SINGLE_FOR_LISTED: usize = 10;
/// So many notes show it where the note itself speaks against it: by a list of links, by values one below the other.
const SURE: usize = 5;
/// No more contradictions of one note are told, and of no more notes that share a name.
const MOST_CONFLICTS: usize = 100;

/// How the notes of a memory use a key.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// The notes that have one value of it.
    single: usize,
    /// The notes that list several values.
    listed: usize,
    /// The notes with several values that do not stand together.
    apart: usize,
}

impl Usage {
    /// Whether nothing speaks against one value; `own` notes that list several are the one that is asked about.
    fn is_one(self, own: usize) -> bool {
        self.listed.saturating_sub(own) * SINGLE_FOR_LISTED <= self.single && self.apart <= self.single.max(1)
    }

    /// Whether enough notes show that there is one.
    fn is_surely_one(self, own: usize) -> bool {
        self.single >= SURE && self.is_one(own)
    }
}

/// A note, and its facts by their keys, those of one key by their lines.
struct Sheet<'n> {
    path: &'n MemoryPath,
    look: &'n Look,
    keys: HashMap<&'n str, Vec<&'n Said>>,
}

/// All contradictions between the facts of the notes.
pub(super) fn conflicts<'n>(
    notes: impl Iterator<Item = (&'n MemoryPath, &'n Look)>,
    targets: &Targets,
) -> Vec<Finding> {
    let sheets: Vec<Sheet<'_>> = notes.map(|(path, look)| Sheet::of(path, look)).collect();
    let mut usage: HashMap<&str, Usage> = HashMap::new();
    let mut copies = HashSet::new();
    for sheet in sheets.iter().filter(|sheet| sheet.look.digest.is_none_or(|digest| copies.insert(digest))) {
        for (key, facts) in &sheet.keys {
            let usage = usage.entry(key).or_default();
            match Use::of(facts) {
                Use::Single => usage.single += 1,
                Use::Listed => usage.listed += 1,
                Use::Apart => usage.apart += 1,
            }
        }
    }
    let mut found = Vec::new();
    for sheet in &sheets {
        found.extend(sheet.conflicts(&usage, targets));
    }
    found.extend(between(&sheets, &usage));
    found
}

/// How one note uses a key.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Use {
    /// With one value, or one in each section.
    Single,
    /// With several, one below the other.
    Listed,
    /// With several in one section, with something else between them.
    Apart,
}

impl Use {
    fn of(facts: &[&Said]) -> Self {
        let is_long = |one: &&Said| facts.iter().filter(|fact| fact.section == one.section).count() > MOST_VALUES;
        let is_several = |one: &&Said| one.form == ValueForm::Several || is_long(one);
        if facts.iter().take(MOST_VALUES + 1).any(is_several) {
            return Self::Listed;
        }
        let pairs = facts.iter().zip(facts.iter().skip(1));
        let mut differ = pairs.filter(|(one, other)| one.section == other.section && !is_same(one, other)).peekable();
        match (differ.peek().is_some(), differ.any(|(one, other)| is_below(one, other))) {
            (_, true) => Self::Listed,
            (true, false) => Self::Apart,
            (false, false) => Self::Single,
        }
    }
}

/// Whether one fact stands right below another one in a list.
fn is_below(one: &Said, other: &Said) -> bool {
    (one.list, one.item + 1) == (other.list, other.item)
}

/// Whether two values say the same, or one says what the other does and more, as a year and a day of it.
fn is_same(one: &Said, other: &Said) -> bool {
    let sign = |said: &Said| said.value.chars().next_back().filter(|last| matches!(last, '+' | '-'));
    if one.value == other.value {
        return true;
    }
    if sign(one).zip(sign(other)).is_some_and(|(one, other)| one != other) {
        return false;
    }
    let (one, other) = (words_of(&one.value), words_of(&other.value));
    one.iter().all(|word| other.contains(word)) || other.iter().all(|word| one.contains(word))
}

/// The words of a value, those of a date as people say it.
fn words_of(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each(value, &mut |word, _| found.push(word.to_owned()));
    found
}

impl<'n> Sheet<'n> {
    fn of(path: &'n MemoryPath, look: &'n Look) -> Self {
        let mut keys: HashMap<&str, Vec<&Said>> = HashMap::new();
        for fact in &look.facts.all {
            keys.entry(fact.name()).or_default().push(fact);
        }
        Self { path, look, keys }
    }

    /// What the note says against itself.
    fn conflicts(&self, usage: &HashMap<&str, Usage>, targets: &Targets) -> Vec<Finding> {
        let mut found = Vec::new();
        for (key, facts) in &self.keys {
            if !(2..=MOST_VALUES).contains(&facts.len()) || is_numbered(key) {
                continue;
            }
            let usage = usage.get(key).copied().unwrap_or_default();
            let own = usize::from(Use::of(facts) == Use::Listed);
            let Some((last, before)) = facts.split_last() else { continue };
            let differ = |one: &&&Said| self.contradicts(one, last, facts, targets, (usage, own));
            let others: Vec<usize> = before.iter().filter(differ).map(|one| one.line).collect();
            if !others.is_empty() {
                found.push(self.within(last, &others));
            }
        }
        found.sort_by_key(|finding| finding.line);
        found.truncate(MOST_CONFLICTS);
        found
    }

    fn within(&self, fact: &Said, others: &[usize]) -> Finding {
        let lines: Vec<_> = others.iter().map(ToString::to_string).collect();
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        Finding {
            line: Some(fact.line),
            target: Some(fact.key.clone()),
            message: format!("`{}` says something else on {noun} {}", fact.key, lines.join(", ")),
            ..finding(Kind::ConflictingFact, self.path)
        }
    }

    /// Whether two facts of one key, the first one above, cannot both be true; `facts` are all of that key.
    fn contradicts(
        &self,
        one: &Said,
        other: &Said,
        facts: &[&Said],
        targets: &Targets,
        (usage, own): (Usage, usize),
    ) -> bool {
        if is_same(one, other) || !is_comparable(one) || !is_comparable(other) {
            return false;
        }
        let is_listed = own > 0 || (one.form == ValueForm::Link && other.form == ValueForm::Link);
        let is_one = if is_listed { usage.is_surely_one(own) } else { usage.is_one(own) };
        if !is_one {
            return false;
        }
        let words = [one, other].iter().filter(|fact| fact.form == ValueForm::Words).count();
        let is_name = words == 0;
        let has_sections = facts.iter().any(|fact| fact.section != one.section);
        match (one.section == other.section, one.list == other.list) {
            (true, _) if one.section != OWN && has_sections => false,
            (true, true) => is_name && self.repeated(one.list) <= 1,
            (true, false) if one.list == FRONT => words < 2,
            (true, false) => {
                is_name && self.differing(|fact| fact.list == one.list, |fact| fact.list == other.list) == 1
            }
            (false, _) => is_name && self.is_remark(one, other, facts, targets),
        }
    }

    /// Whether a fact of another section is about the note as the first is: a remark below some text, alone with its key,
    /// and not about another note.
    fn is_remark(&self, one: &Said, other: &Said, facts: &[&Said], targets: &Targets) -> bool {
        let (one, other) = if one.section == OWN { (one, other) } else { (other, one) };
        let sections: BTreeSet<usize> = facts.iter().map(|fact| fact.section).collect();
        let title = self.look.facts.sections.get(other.section).map_or("", String::as_str);
        one.section == OWN
            && other.is_remark
            && sections.len() == 2
            && targets.best(title, Syntax::Wiki, None).is_none()
            && self.differing(|fact| fact.section == OWN, |fact| fact.section == other.section) == 1
    }

    /// How many keys come again with another value in a list.
    fn repeated(&self, list: usize) -> usize {
        let in_list =
            |facts: &Vec<&'n Said>| facts.iter().filter(|fact| fact.list == list).copied().collect::<Vec<_>>();
        self.keys.values().filter(|facts| Use::of(&in_list(facts)) == Use::Apart).count()
    }

    /// How many keys have other values among some facts than among others. Where there are two or more, each is about
    /// something of its own.
    fn differing(&self, one: impl Fn(&Said) -> bool, other: impl Fn(&Said) -> bool) -> usize {
        let differs = |facts: &&Vec<&Said>| {
            let first = facts.iter().find(|fact| one(fact));
            first.is_some_and(|first| facts.iter().any(|fact| other(fact) && !is_same(first, fact)))
        };
        self.keys.values().filter(differs).count()
    }

    /// The one value that the note gives of a key as its own.
    fn own(&self, key: &str) -> Option<&'n Said> {
        let facts = self.keys.get(key)?;
        let (first, rest) = facts.split_first()?;
        let is_plain = first.section == OWN && rest.iter().all(|fact| fact.section == OWN && is_same(fact, first));
        (is_plain && is_comparable(first)).then_some(*first)
    }
}

/// Whether a value says what can be compared.
fn is_comparable(fact: &Said) -> bool {
    !fact.value.is_empty() && fact.form != ValueForm::Several
}

/// Whether a key has a number in it, as the entries of a log and the versions of a program have.
fn is_numbered(key: &str) -> bool {
    key.chars().any(char::is_numeric)
}

/// What two notes about the same thing say against each other. They are that where one name is the title, an alias or
/// the file name of both, and of no third one.
fn between(sheets: &[Sheet<'_>], usage: &HashMap<&str, Usage>) -> Vec<Finding> {
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, sheet) in sheets.iter().enumerate() {
        let is_entry = name::is_day(sheet.path.stem()) || name::is_copy(sheet.path);
        if is_entry || sheet.keys.is_empty() {
            continue;
        }
        let stem = sheet.look.title.is_none().then(|| sheet.path.stem());
        let names = stem.into_iter().chain(sheet.look.title.as_deref());
        let names: BTreeSet<_> = names.chain(sheet.look.aliases.iter().map(String::as_str)).map(folded).collect();
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            named.entry(name).or_default().push(at);
        }
    }
    let pairs: BTreeSet<(usize, usize)> = named
        .into_values()
        .filter_map(|notes| <[usize; 2]>::try_from(notes).ok())
        .map(|[one, other]| (one, other))
        .collect();
    let sheet = |at: usize| sheets.get(at);
    let pairs = pairs.into_iter().filter_map(|(one, other)| sheet(one).zip(sheet(other)));
    pairs.flat_map(|(one, other)| of_pair(one, other, usage)).collect()
}

fn of_pair(one: &Sheet<'_>, other: &Sheet<'_>, usage: &HashMap<&str, Usage>) -> Option<Finding> {
    if one.look.digest == other.look.digest {
        return None;
    }
    let (kept, told) = if one.path.as_str().len() <= other.path.as_str().len() { (one, other) } else { (other, one) };
    let shared = told.keys.keys().filter_map(|key| Some((*key, kept.own(key)?, told.own(key)?)));
    let (same, differ): (Vec<_>, Vec<_>) = shared.partition(|(_, one, other)| is_same(one, other));
    // Notes that differ in more have only the name in common, and so have those that every folder has one of.
    let [(key, one, other)] = differ.as_slice() else { return None };
    if same.is_empty() && kept.path.stem() == told.path.stem() {
        return None;
    }
    let usage = usage.get(key).copied().unwrap_or_default();
    let is_link = one.form == ValueForm::Link && other.form == ValueForm::Link;
    let is_one = if is_link { usage.is_surely_one(0) } else { usage.is_one(0) };
    let is_words = one.form == ValueForm::Words || other.form == ValueForm::Words;
    (is_one && !is_words && !is_numbered(key)).then(|| Finding {
        line: Some(other.line),
        target: Some(other.key.clone()),
        message: format!("`{}` says something else in `{}` on line {}", other.key, kept.path, one.line),
        ..finding(Kind::ConflictingFact, told.path)
    })
}
