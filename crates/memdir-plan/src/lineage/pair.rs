//! Which of the lines that a version added were made from lines that it removed.
//!
//! Owns what "made from" means: the same text in another place, another value of the same key, or a line in the same place that
//! shares half of its words.

use std::collections::HashMap;

use super::{Former, LineOrigin, VersionAuthor};
use memdir_core::report::WrittenBy;
use memdir_note::{Note, fact, words};

/// Where more lines than this were replaced at once, none is taken for another one that only resembles it.
const MOST_ALIKE: usize = 50;
/// So many former values of a line are kept, the newest.
const MOST_FORMER: usize = 20;

/// A line that a version removed.
pub(super) struct Gone<'t> {
    hunk: usize,
    /// `None` where only its marks are known.
    pub(super) text: Option<&'t str>,
    /// The mark of its key, where its text is not known.
    key_mark: u32,
    stated: Option<(String, String)>,
    pub(super) origin: Option<LineOrigin>,
    is_taken: bool,
}

impl<'t> Gone<'t> {
    pub(super) fn new(hunk: usize, text: Option<&'t str>, key_mark: u32, origin: Option<LineOrigin>) -> Self {
        let stated = text.and_then(stated);
        Self { hunk, text, key_mark, stated, origin, is_taken: false }
    }

    /// What it said: the value of its fact, else all of it.
    fn value(&self) -> Option<&str> {
        self.stated.as_ref().map(|(_, value)| value.as_str()).or(self.text.map(str::trim))
    }
}

/// The key, as keys are compared, and the value of the fact that a line states by itself.
pub(super) fn stated(line: &str) -> Option<(String, String)> {
    let found = if line.trim_start().starts_with('|') {
        // A row says nothing without a head.
        Note::parse(&format!("| key | value |\n|-|-|\n{line}")).facts().pop()
    } else if line.contains(':') {
        Note::parse(line).facts().into_iter().next()
    } else {
        None
    };
    found.map(|found| (fact::key(&found.key), found.value))
}

/// Where added lines come from, in their order; each is given with the number of its hunk.
pub(super) fn origins(
    added: &[(usize, &str)],
    gone: &mut [Gone<'_>],
    removed: &HashMap<String, LineOrigin>,
    mark: &dyn Fn(&str) -> u32,
    author: VersionAuthor,
) -> Vec<Option<LineOrigin>> {
    let mut found: Vec<Option<LineOrigin>> = added.iter().map(|(_, line)| restored(line, removed, author)).collect();
    let mut by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, gone) in gone.iter().enumerate().rev() {
        if let Some(text) = gone.text.filter(|text| !text.trim().is_empty()) {
            by_text.entry(text).or_default().push(at);
        }
    }
    // A line that only moved comes first: it must not be taken for what became of another one.
    for ((_, line), origin) in added.iter().zip(&mut found).filter(|(_, origin)| origin.is_none()) {
        if let Some(gone) = by_text.get_mut(line).and_then(Vec::pop).and_then(|at| gone.get_mut(at)) {
            gone.is_taken = true;
            *origin = gone.origin.as_ref().map(|old| made_from(old, author, true, None));
        }
    }
    for ((hunk, line), origin) in added.iter().zip(&mut found).filter(|(_, origin)| origin.is_none()) {
        *origin = Some(match partner(*hunk, line, gone, mark) {
            Some((gone, value)) => {
                gone.is_taken = true;
                let former = gone.value().filter(|old| *old != value).map(str::to_owned);
                let is_made_from = gone.value().is_none_or(|old| is_alike(old, &value));
                let fresh = || fresh(author);
                gone.origin.as_ref().map_or_else(fresh, |old| made_from(old, author, is_made_from, former))
            }
            None => fresh(author),
        });
    }
    found
}

/// Where a line came from that is given back.
fn restored(line: &str, removed: &HashMap<String, LineOrigin>, author: VersionAuthor) -> Option<LineOrigin> {
    removed.get(line).filter(|_| author.restores && !line.trim().is_empty()).cloned()
}

/// A line that nobody wrote before.
fn fresh(VersionAuthor { batch, by, .. }: VersionAuthor) -> LineOrigin {
    LineOrigin { first: batch, first_by: by, last: batch, by, least: by, former: Vec::new() }
}

/// A line that was made in the place of another one; `is_made_from` says whether it still says any of it.
fn made_from(old: &LineOrigin, author: VersionAuthor, is_made_from: bool, former: Option<String>) -> LineOrigin {
    let VersionAuthor { batch, by, .. } = author;
    let raises = matches!(by, WrittenBy::You | WrittenBy::Approved);
    let least = if is_made_from && !raises { by.min(old.least) } else { by };
    let mut formers = old.former.clone();
    formers.extend(former.map(|value| Former { value, written: old.last, replaced: batch }));
    formers.drain(..formers.len().saturating_sub(MOST_FORMER));
    LineOrigin { first: old.first, first_by: old.first_by, last: batch, by, least, former: formers }
}

/// The removed line that an added one stands for, and what the added one says now.
fn partner<'g, 't>(
    hunk: usize,
    line: &str,
    gone: &'g mut [Gone<'t>],
    mark: &dyn Fn(&str) -> u32,
) -> Option<(&'g mut Gone<'t>, String)> {
    if line.trim().is_empty() {
        return None;
    }
    let (found, value) = match stated(line) {
        Some((key, value)) => {
            let key_mark = mark(&key);
            let is_key = |gone: &Gone<'_>| match &gone.stated {
                Some((own, _)) => *own == key,
                None => gone.text.is_none() && gone.key_mark == key_mark,
            };
            let fits = |gone: &Gone<'_>| !gone.is_taken && is_key(gone);
            let near = gone.iter().position(|gone| gone.hunk == hunk && fits(gone));
            (near.or_else(|| gone.iter().position(fits)), value)
        }
        None => {
            let beside = gone.iter().filter(|gone| gone.hunk == hunk).count();
            let fits = |gone: &Gone<'_>| {
                let is_free = gone.hunk == hunk && !gone.is_taken && gone.stated.is_none();
                is_free && gone.text.is_some_and(|text| is_alike(text, line))
            };
            let found = if beside <= MOST_ALIKE { gone.iter().position(fits) } else { None };
            (found, line.trim().to_owned())
        }
    };
    found.and_then(|at| gone.get_mut(at)).map(|gone| (gone, value))
}

/// Whether two texts share half of the words of the shorter one.
fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (words_of(one), words_of(other));
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    !short.is_empty() && short.iter().filter(|word| long.contains(word)).count() * 2 >= short.len()
}

fn words_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each(text, &mut |word, _| found.push(word.to_owned()));
    found
}
