//! Which notes are about the same thing, and which sections of a note are about another note.

use std::collections::{BTreeSet, HashMap};

use super::Look;
use super::fact::name as plain;
use super::name;
use memdir_core::path::MemoryPath;

/// A name that more notes have is no name of one thing.
const MOST_NAMED: usize = 3;

/// Notes by what they are called: title, aliases, file name.
pub(super) struct Subjects {
    /// For each name, the places of its notes, and whether the name is that of a file whose note has another title.
    named: HashMap<String, Vec<(usize, bool)>>,
}

/// What a key says beside the name of a note.
pub(super) enum Rest<'k> {
    /// As in `Ana's birthday`.
    AfterName(&'k str),
    /// As in `birthday of Ana`.
    BeforeName(&'k str),
}

impl Rest<'_> {
    /// Whether it is `key`; before a name, one word may stand behind it.
    pub(super) fn is(&self, key: &str) -> bool {
        match self {
            Self::AfterName(rest) => *rest == key,
            Self::BeforeName(rest) => *rest == key || rest.rsplit_once(' ').is_some_and(|(rest, _)| rest == key),
        }
    }
}

impl Subjects {
    /// Days and the copies of programs that sync are about no thing.
    pub(super) fn of<'n>(notes: impl Iterator<Item = (&'n MemoryPath, &'n Look)>) -> Self {
        let mut named: HashMap<String, Vec<(usize, bool)>> = HashMap::new();
        for (at, (path, look)) in notes.enumerate() {
            if name::is_day(path.stem()) || name::is_copy(path) {
                continue;
            }
            let titles = look.title.as_deref().into_iter().chain(look.aliases.iter().map(String::as_str));
            let titles: BTreeSet<String> = titles.map(plain).filter(|name| !name.is_empty()).collect();
            let stem = plain(path.stem());
            if !titles.contains(&stem) {
                named.entry(stem).or_default().push((at, look.title.is_some()));
            }
            for title in titles {
                named.entry(title).or_default().push((at, false));
            }
        }
        Self { named }
    }

    /// The notes of this name, which is compared as [`plain`] gives it; none where `own` is one of them, or too many are.
    pub(super) fn of_name(&self, name: &str, own: usize) -> Vec<usize> {
        let notes = self.named.get(name).filter(|notes| notes.len() <= MOST_NAMED);
        let notes = notes.filter(|notes| notes.iter().all(|(note, _)| *note != own));
        notes.into_iter().flatten().map(|(note, _)| *note).collect()
    }

    /// Whether a name, which is compared as [`plain`] gives it, is one of a note.
    pub(super) fn is_name(&self, name: &str, of: usize) -> bool {
        self.named.get(name).is_some_and(|notes| notes.iter().any(|(note, _)| *note == of))
    }

    /// Whether a title is the name of a note, or has that of another one than `own` at its start or end.
    pub(super) fn is_in(&self, title: &str, own: usize) -> bool {
        self.named.contains_key(title) || !self.in_key(title, own).is_empty()
    }

    /// The notes that a key names at its start or end, and what it says beside the name; none where `own` is one of them.
    pub(super) fn in_key<'k>(&self, key: &'k str, own: usize) -> Vec<(usize, Rest<'k>)> {
        let cuts = key.match_indices(' ').filter_map(|(at, _)| key.split_at_checked(at));
        let named = cuts.flat_map(|(start, end)| {
            let end = end.trim_start();
            let owner = ["'s", "\u{2019}s"].iter().find_map(|mark| start.strip_suffix(mark)).unwrap_or(start);
            let (first, last) = (self.of_name(owner, own), self.of_name(end, own));
            let first = first.into_iter().map(move |note| (note, Rest::AfterName(end)));
            first.chain(last.into_iter().map(move |note| (note, Rest::BeforeName(start))))
        });
        named.collect()
    }

    /// The pairs of notes that have a name in common, which is more than that of their files.
    pub(super) fn pairs(&self) -> BTreeSet<(usize, usize)> {
        let few = self.named.values().filter(|notes| notes.len() <= MOST_NAMED);
        let pairs = few.flat_map(|notes| {
            notes.iter().enumerate().flat_map(|(at, one)| notes.iter().skip(at + 1).map(move |other| (*one, *other)))
        });
        let told = pairs.filter(|((_, one), (_, other))| !(*one && *other));
        told.map(|((one, _), (other, _))| (one.min(other), one.max(other))).collect()
    }
}
