//! Linking a note to which no link leads, where another one names it.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::{TidyStep, link_to};
use crate::edit::edit;
use crate::{Checked, Kind, Seen};
use memdir_core::action::Action;
use memdir_core::path::MemoryPath;
use memdir_note::{Link, Note};

/// A shorter name may be any word.
const LEAST_NAME_CHARS: usize = 4;
/// No more notes without links are looked for in the others.
const MOST_ORPHANS: usize = 100;
/// No more places of a note are tried where it has a name.
const MOST_PLACES: usize = 3;

/// The notes without links, by the names by which others may speak of them.
pub(super) struct Orphans(Vec<(String, MemoryPath)>);

impl Orphans {
    pub(super) fn of(seen: &Seen<'_>, checked: &Checked, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Self {
        let alone = checked.findings.iter().filter(|finding| finding.kind == Kind::Orphan).take(MOST_ORPHANS);
        let named = alone.filter_map(|finding| {
            let name = Note::parse(&read(&finding.path)?).title().unwrap_or_else(|| finding.path.stem().to_owned());
            let is_name = name.chars().count() >= LEAST_NAME_CHARS && !name.contains(['[', ']', '|', '\n']);
            is_name.then(|| (name, finding.path.clone()))
        });
        let mut named: Vec<_> = named.collect();
        let titles = seen.files.iter().filter_map(|file| file.look.as_ref()?.title.as_deref());
        let mut counts: HashMap<&str, usize> = HashMap::new();
        titles.for_each(|title| *counts.entry(title).or_default() += 1);
        named.retain(|(name, _)| counts.get(name.as_str()).is_none_or(|count| *count == 1));
        Self(named)
    }

    /// The links that a note could have where it names them; each of them once in the memory.
    pub(super) fn named_in(
        &self,
        path: &MemoryPath,
        note: &Note<'_>,
        seen: &Seen<'_>,
        linked: &mut BTreeSet<MemoryPath>,
    ) -> Vec<TidyStep> {
        let mut found = Vec::new();
        for (name, orphan) in self.0.iter().filter(|(_, orphan)| orphan != path) {
            if linked.contains(orphan) {
                continue;
            }
            let mut places = mentions(note, name).take(MOST_PLACES);
            let Some(action) = places.find_map(|place| link_at(path, note, place, orphan, seen)) else { continue };
            linked.insert(orphan.clone());
            let why = "it names a note to which no link leads";
            found.push(TidyStep { why, path: path.clone(), actions: vec![action] });
        }
        found
    }
}

/// The places below the front matter where a name stands as a word.
fn mentions<'n>(note: &'n Note<'_>, name: &'n str) -> impl Iterator<Item = Range<usize>> + 'n {
    let text = note.text();
    let places = memchr::memmem::find_iter(text.as_bytes(), name).map(|at| at..at + name.len());
    let is_plain = |place: &Range<usize>| place.start >= note.body() && !note.is_opaque(place.start);
    // There any word may have a capital: `Will you come?`
    let is_name = move |place: &Range<usize>| name.contains(char::is_whitespace) || !begins_sentence(text, place);
    places.filter(move |place| is_plain(place) && stands_alone(text, place) && is_name(place))
}

fn begins_sentence(text: &str, place: &Range<usize>) -> bool {
    let line = text.get(..place.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let before = line.trim_end_matches(|sign: char| !sign.is_alphanumeric() && !".!?…:".contains(sign));
    !before.contains(char::is_alphabetic) || before.ends_with(['.', '!', '?', '…', ':'])
}

/// Whether a place is a word of a sentence: neither a part of a longer word, nor of an address, a path, a tag or a mark.
fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let before = text.get(..place.start).unwrap_or_default();
    let before = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    let after = after.split(char::is_whitespace).next().unwrap_or_default();
    let is_sign = |sign: char| !sign.is_alphanumeric() && !"/\\@#=&%<>^$~`|[]{}".contains(sign);
    let genitive = after.strip_prefix("'s").or_else(|| after.strip_prefix("\u{2019}s")).unwrap_or(after);
    before.chars().all(is_sign) && genitive.chars().all(is_sign)
}

/// The action that makes a link of a place, where the note has one link more by it and is the same otherwise.
fn link_at(
    path: &MemoryPath,
    note: &Note<'_>,
    place: Range<usize>,
    orphan: &MemoryPath,
    seen: &Seen<'_>,
) -> Option<Action> {
    let text = note.text();
    let line = text.get(..place.start)?.rsplit('\n').next()?;
    let is_heading = note.headings().iter().any(|heading| heading.span.contains(&place.start));
    let links = note.links();
    let is_in_link = links.iter().any(|link| link.span.start < place.end && place.start < link.span.end);
    if is_heading || is_in_link || line.trim_start().starts_with('|') {
        return None;
    }
    let link = link_to(orphan, text.get(place.clone())?, path, note, seen)?;
    let linked = format!("{}{link}{}", text.get(..place.start)?, text.get(place.end..)?);
    let linked = Note::parse(&linked);
    let mut after = linked.links();
    let new = after.iter().position(|link| link.span.start == place.start)?;
    after.remove(new);
    let is_same = links.iter().map(said).eq(after.iter().map(said)) && linked.facts().len() == note.facts().len();
    if !is_same || linked.body() != note.body() {
        return None;
    }
    edit(path, text, &place, place.clone(), &link)
}

/// What a link says, wherever it stands.
fn said(link: &Link) -> (&str, &str, Option<&str>) {
    (&link.path, &link.subpath, link.text.as_deref())
}
