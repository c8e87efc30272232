//! Files enough to follow the links of one note, and those that lead to it, as if all were there.
//!
//! Which file a link means depends on nothing but the files that have the name it asks for, so these, and the notes
//! that ask for the note's own name, answer all. Only for a link that leads nowhere every name counts, and the titles and
//! aliases that are the one it asks for: the nearest is told.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Params, params};

use super::record::names_meant;
use super::{IndexError, blob, sealed, text};
use memdir_core::path::MemoryPath;
use memdir_note::target::{name_in, stem_of};
use memdir_note::{Seen, Syntax, Targets};
use memdir_rank::{Files, called};

/// Files by their paths, with what is known of those that are notes.
type Found = BTreeMap<MemoryPath, Option<Seen>>;

pub(super) fn around(db: &Connection, note: &MemoryPath) -> Result<Files, IndexError> {
    const CALLED: &str = "SELECT path, card FROM name JOIN file ON file.id = name.file
                          LEFT JOIN note ON note.file = file.id WHERE name.name = ?1";
    let mut found = linked(db, note, usize::MAX)?.0;
    let links = links(&found, note);
    let targets = Targets::new(found.keys().cloned());
    let sure = links.iter().filter(|(_, syntax)| *syntax != Syntax::Unsure);
    let broken = sure.filter(|(path, syntax)| targets.best(path, *syntax, Some(note)).is_none());
    let broken: BTreeSet<String> = broken.map(|(path, _)| called(name_in(path))).collect();
    if !broken.is_empty() {
        for name in broken.iter().filter(|name| !name.is_empty()) {
            gather(db, CALLED, name, &mut found)?;
        }
        let mut statement = db.prepare_cached("SELECT path FROM file")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            found.entry(sealed::path(text(row, 0)?)?).or_insert(None);
        }
    }
    Ok(found.into_iter().collect())
}

/// The files without which no link of the note, and none that leads to it, could be followed; of more than `most` of either kind
/// the first, and whether there were more. Those that lead to it are counted with those that only name another note of its name.
pub(super) fn linked(db: &Connection, note: &MemoryPath, most: usize) -> Result<(Found, bool), IndexError> {
    const NAMED: &str = "SELECT path, card FROM file LEFT JOIN note ON note.file = file.id WHERE stem = ?1";
    const LINKING: &str = "SELECT path, card FROM link JOIN file ON file.id = link.file
                           LEFT JOIN note ON note.file = file.id WHERE link.name = ?1 LIMIT ?2";
    let mut found = BTreeMap::new();
    let stem = stem_of(note);
    let own = called(&stem);
    gather(db, NAMED, &own, &mut found)?;
    // `ada.md.md` is meant by `ada.md` only where there is no such file.
    if let Some(before) = stem.strip_suffix(".md") {
        gather(db, NAMED, &called(before), &mut found)?;
    }
    // A Markdown link is joined to its own folder first, where `ada.md` may be `ada.md.md`.
    gather(db, NAMED, &called(&format!("{stem}.md")), &mut found)?;
    // One more tells whether there are more.
    let limit = i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX);
    let mut is_cut = gather_by(db, LINKING, params![own, limit], &mut found)? > most;
    if let Some(Some(seen)) = found.get_mut(note) {
        is_cut |= seen.links.len() > most;
        seen.links.truncate(most);
    }
    let links = links(&found, note);
    let mut names: Vec<String> = links.iter().flat_map(|(path, _)| names_meant(path, note)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names.iter().filter(|name| **name != own) {
        gather(db, NAMED, name, &mut found)?;
    }
    Ok((found, is_cut))
}

/// The links of a note that was found.
fn links(found: &Found, note: &MemoryPath) -> Vec<(String, Syntax)> {
    let seen = found.get(note).and_then(Option::as_ref);
    seen.into_iter().flat_map(|seen| &seen.links).map(|link| (link.path.clone(), link.syntax)).collect()
}

fn gather(db: &Connection, sql: &str, name: &str, found: &mut Found) -> Result<(), IndexError> {
    gather_by(db, sql, [name], found).map(drop)
}

/// Adds what a query finds, and counts its rows.
fn gather_by(db: &Connection, sql: &str, by: impl Params, found: &mut Found) -> Result<usize, IndexError> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(by)?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if let Entry::Vacant(entry) = found.entry(sealed::path(text(row, 0)?)?) {
            let seen = blob(row, 1)?.map(|card| sealed::open_first(entry.key(), card)).transpose()?;
            entry.insert(seen);
        }
    }
    Ok(count)
}
