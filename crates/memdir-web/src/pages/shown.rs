//! Reading notes for a page: the audit says who was shown what.

use std::collections::BTreeSet;

use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_note::Note;
use memdir_plan::NoteChange;

use crate::door::Visitor;
use crate::site::Site;
use crate::text;

/// So much of a title stands for a note on another page.
const MOST_TITLE: usize = 80;

/// Reads a note and gives its digest. The audit notes it, unless the script fetches again the very text that this browser was shown.
pub(crate) fn read(site: &Site, visitor: &Visitor, path: &MemoryPath) -> Result<(String, Digest), Failure> {
    if visitor.is_refresh()
        && let Some(text) = site.engine().text_of(path)
    {
        let digest = Digest::of(text.as_bytes());
        if visitor.was_shown(path, digest) {
            return Ok((text, digest));
        }
    }
    let (text, digest) = site.engine().read(path, &site.person())?;
    visitor.is_shown(path, digest);
    Ok((text, digest))
}

/// Notes in the audit that something of these notes stands on a page that is not their own: once for each text of a note that this
/// browser is shown. What is no note any more is passed over.
pub(crate) fn excerpts<'p>(site: &Site, visitor: &Visitor, paths: impl IntoIterator<Item = &'p MemoryPath>) {
    let paths: BTreeSet<&MemoryPath> = paths.into_iter().collect();
    for path in paths {
        let text = site.engine().text_of(path);
        if text.is_some_and(|text| !visitor.was_shown(path, Digest::of(text.as_bytes()))) {
            // It was there a moment ago; if not, nothing was shown.
            let _ = read(site, visitor, path);
        }
    }
}

/// Whether any of these notes has a text that this browser has not been shown.
pub(super) fn are_new<'p>(site: &Site, visitor: &Visitor, paths: impl IntoIterator<Item = &'p MemoryPath>) -> bool {
    let digest = |path| site.engine().text_of(path).map(|text| Digest::of(text.as_bytes()));
    paths.into_iter().any(|path| digest(path).is_some_and(|digest| !visitor.was_shown(path, digest)))
}

/// These notes are shown now, and the audit has an entry of it.
pub(super) fn are_shown<'p>(site: &Site, visitor: &Visitor, paths: impl IntoIterator<Item = &'p MemoryPath>) {
    for path in paths {
        if let Some(text) = site.engine().text_of(path) {
            visitor.is_shown(path, Digest::of(text.as_bytes()));
        }
    }
}

/// As [`excerpts`], of the notes that changes are of.
pub(crate) fn changed(site: &Site, visitor: &Visitor, changes: &[NoteChange]) {
    let paths: Vec<MemoryPath> = changes.iter().filter_map(|change| MemoryPath::parse(&change.name).ok()).collect();
    excerpts(site, visitor, &paths);
}

/// What a note calls itself, in the first heading of its own, else in its name.
pub(super) fn title(site: &Site, path: &MemoryPath) -> String {
    let title = site.engine().text_of(path).and_then(|text| Note::parse(&text).title());
    text::shortened(title.as_deref().unwrap_or(path.stem()), MOST_TITLE)
}

/// The path that an address names.
pub(crate) fn named(path: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(path.trim_end_matches('/'))
        .map_err(|error| Failure::new(Code::InvalidPath, error.to_string()).with_hint("look for the note under Notes"))
}
