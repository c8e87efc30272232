//! One fact with two values in one place of a note.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Finding, Kind, finding};
use crate::note::fact::{self, Place};
use crate::note::{Fact, Note};
use crate::path::MemoryPath;

/// More values than this are a list of things, not a contradiction.
const MOST_VALUES: usize = 3;
/// A longer value is prose.
const MOST_VALUE_BYTES: usize = 120;
/// No more of them are kept of one note.
const MOST_CONFLICTS: usize = 100;

/// Keys that stand for one of several by their meaning, as they are compared; plurals are known by their ending.
const MANY: &[&str] = &[
    "ai",
    "alias",
    "allergy",
    "also",
    "answer",
    "assistant",
    "author",
    "book",
    "brother",
    "child",
    "client",
    "colleague",
    "comment",
    "con",
    "contact",
    "contributor",
    "coworker",
    "daughter",
    "done",
    "email",
    "entry",
    "event",
    "example",
    "fact",
    "friend",
    "goal",
    "hobby",
    "host",
    "human",
    "idea",
    "info",
    "interest",
    "item",
    "job",
    "known for",
    "language",
    "likes",
    "link",
    "log",
    "me",
    "meeting",
    "member",
    "member of",
    "memory",
    "mention",
    "note",
    "number",
    "parent",
    "pet",
    "phone",
    "problem",
    "pro",
    "project",
    "question",
    "quote",
    "reason",
    "ref",
    "reference",
    "related",
    "related to",
    "see",
    "see also",
    "sibling",
    "sister",
    "skill",
    "solution",
    "son",
    "source",
    "speaker",
    "step",
    "tag",
    "task",
    "tip",
    "title",
    "todo",
    "tool",
    "topic",
    "update",
    "url",
    "user",
    "visited",
    "warning",
    "with",
    "works with",
    "you",
];

/// A key and the lines that say different things of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Conflict {
    key: String,
    /// The last of them.
    line: usize,
    others: Vec<usize>,
}

impl Conflict {
    pub(super) fn finding(&self, path: &MemoryPath) -> Finding {
        let others: Vec<_> = self.others.iter().map(ToString::to_string).collect();
        let noun = if others.len() == 1 { "line" } else { "lines" };
        Finding {
            line: Some(self.line),
            target: Some(self.key.clone()),
            message: format!("`{}` says something else on {noun} {}", self.key, others.join(", ")),
            ..finding(Kind::ConflictingFact, path)
        }
    }
}

/// Finds the keys of which one list says different things.
///
/// The rule is made to be wrong hardly ever, and misses much for that. Two facts conflict when they
///
/// * stand in the same list, in items that are neither nested nor numbered, and no tasks;
/// * have the same key, which is no plural, no number and none of the words in `MANY`: a person has one city, and
///   several friends;
/// * have two or three values in all that differ in more than case, each short, and at least one of them no link: links
///   under one key are relations, of which there are many;
/// * are no records one after the other: where the first key of the list comes again together with other keys, each
///   time is about another thing.
pub(super) fn conflicts(note: &Note<'_>) -> Vec<Conflict> {
    let facts = note.facts();
    let mut found = Vec::new();
    for list in lists(&facts) {
        let mut keys: BTreeMap<String, Vec<&Fact>> = BTreeMap::new();
        for fact in &list {
            keys.entry(fact::key(&fact.key)).or_default().push(fact);
        }
        let first = list.first().map(|fact| fact::key(&fact.key)).unwrap_or_default();
        let repeated = keys.values().filter(|facts| facts.len() > 1).count();
        if repeated > 1 && keys.get(&first).is_some_and(|facts| facts.len() > 1) {
            continue;
        }
        found.extend(keys.iter().filter_map(|(key, facts)| conflict(key, facts)));
    }
    found.sort_by_key(|conflict| conflict.line);
    found.truncate(MOST_CONFLICTS);
    found
}

/// The facts of each list, but for nested ones, tasks and what is numbered.
fn lists(facts: &[Fact]) -> Vec<Vec<&Fact>> {
    let mut lists: BTreeMap<usize, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        if let Place::Item { list, is_plain: true } = fact.place {
            lists.entry(list).or_default().push(fact);
        }
    }
    lists.into_values().collect()
}

fn conflict(key: &str, facts: &[&Fact]) -> Option<Conflict> {
    let values: BTreeSet<String> = facts.iter().map(|fact| fact::key(&fact.value)).collect();
    let is_several = (2..=MOST_VALUES).contains(&values.len()) && facts.len() <= MOST_VALUES;
    let is_short = facts.iter().all(|fact| !fact.value.is_empty() && fact.value.len() <= MOST_VALUE_BYTES);
    let is_link = |fact: &&Fact| fact.value.contains("[[") || fact.value.contains("](");
    if !is_several || !is_short || facts.iter().all(is_link) || is_many(key) {
        return None;
    }
    let (last, others) = facts.split_last()?;
    let others = others.iter().map(|fact| fact.line).collect();
    Some(Conflict { key: last.key.clone(), line: last.line, others })
}

/// Whether there can be several of what a key names.
fn is_many(key: &str) -> bool {
    let last = key.rsplit(' ').next().unwrap_or(key);
    let is_plural = last.ends_with('s') && !["ss", "us", "is"].iter().any(|end| last.ends_with(end));
    let is_numbered = key.chars().any(|character| character.is_numeric());
    is_plural || is_numbered || MANY.contains(&key) || MANY.contains(&last)
}
