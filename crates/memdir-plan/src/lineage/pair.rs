//! Which of the lines that a version added were made from lines that it removed.
//!
//! Owns what "made from" means: the same text in another place, another value of the same key, or a line in the same place that
//! shares half of its words.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::{Former, LineOrigin, VersionAuthor};
use memdir_core::report::WrittenBy;
use memdir_note::{Note, fact, words};

/// Where more lines than this were replaced at once, none is taken for another one that only resembles it: a new line there is
/// trusted as little as the least trusted of them.
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
}

impl<'t> Gone<'t> {
    pub(super) fn new(hunk: usize, text: Option<&'t str>, key_mark: u32, origin: Option<LineOrigin>) -> Self {
        let stated = text.and_then(stated);
        Self { hunk, text, key_mark, stated, origin }
    }

    /// What it said: the value of its fact, else all of it.
    fn value(&self) -> Option<&str> {
        self.stated.as_ref().map(|(_, value)| value.as_str()).or(self.text.map(str::trim))
    }

    fn key(&self) -> Option<Key> {
        match (&self.stated, self.text) {
            (Some((key, _)), _) => Some(Key::Text(key.clone())),
            (None, None) => Some(Key::Mark(self.key_mark)),
            (None, Some(_)) => None,
        }
    }
}

/// The key of a fact, or its mark where the text is not known.
#[derive(Clone, Eq, Hash, PartialEq)]
enum Key {
    Text(String),
    Mark(u32),
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

/// What a lineage knows beside the lines of the version before.
pub(super) struct Known<'l> {
    /// Where the lines came from that were removed, by their text.
    pub(super) removed: &'l HashMap<String, LineOrigin>,
    /// How far a line is trusted of which nobody knows where it comes from.
    pub(super) unknown: Option<WrittenBy>,
    pub(super) mark: &'l dyn Fn(&str) -> u32,
}

/// Where added lines come from, in their order; each is given with the number of its hunk. The work grows with the number of lines,
/// not with its square.
pub(super) fn origins(
    added: &[(usize, &str)],
    gone: &[Gone<'_>],
    known: &Known<'_>,
    author: VersionAuthor,
) -> Vec<Option<LineOrigin>> {
    let mut found: Vec<Option<LineOrigin>> =
        added.iter().map(|(_, line)| restored(line, known.removed, author)).collect();
    let facts: Vec<Option<(String, String)>> = added
        .iter()
        .zip(&found)
        .map(|((_, line), origin)| if origin.is_none() { stated(line) } else { None })
        .collect();
    let mut free = Free::new(gone);
    let least = least_of_long(gone);
    // A line that only moved comes first: it must not be taken for what became of another one.
    for ((_, line), origin) in added.iter().zip(&mut found).filter(|(_, origin)| origin.is_none()) {
        if let Some(gone) = free.same(line) {
            let unknown = || {
                known.unknown.map_or_else(|| fresh(author, None), |least| LineOrigin { least, ..fresh(author, None) })
            };
            *origin = Some(gone.origin.as_ref().map_or_else(unknown, |old| made_from(old, author, Made::Same, None)));
        }
    }
    let rest = added.iter().zip(&facts).zip(&mut found).filter(|(_, origin)| origin.is_none());
    for (((hunk, line), fact), origin) in rest {
        let (partner, value) = match fact {
            Some((key, value)) => (free.of_key(*hunk, key, known.mark), value.as_str()),
            None => (free.alike(*hunk, line), line.trim()),
        };
        *origin = Some(match partner.map(|gone| (gone, made(gone, line, value, author))) {
            Some((gone, made)) => match &gone.origin {
                Some(old) => {
                    let former = gone.value().filter(|old| *old != value).map(str::to_owned);
                    made_from(old, author, made, former)
                }
                None => fresh(author, known.unknown.filter(|_| made != Made::New)),
            },
            None if fact.is_none() => fresh(author, least.get(hunk).copied()),
            None => fresh(author, None),
        });
    }
    found
}

/// The removed lines, those from which no added one has been made yet by what they are looked for.
struct Free<'g, 't> {
    gone: &'g [Gone<'t>],
    is_taken: Vec<bool>,
    by_text: HashMap<&'t str, VecDeque<usize>>,
    by_key: HashMap<Key, BTreeSet<usize>>,
    hunks: HashMap<usize, Hunk>,
}

/// The removed lines of a hunk.
struct Hunk {
    lines: Range<usize>,
    /// The words of those that state no fact; none where the hunk is too long for it.
    said: Vec<(usize, HashSet<String>)>,
}

impl<'g, 't> Free<'g, 't> {
    fn new(gone: &'g [Gone<'t>]) -> Self {
        let mut by_text: HashMap<&str, VecDeque<usize>> = HashMap::new();
        let mut by_key: HashMap<Key, BTreeSet<usize>> = HashMap::new();
        for (at, one) in gone.iter().enumerate() {
            if let Some(text) = one.text.filter(|text| !text.trim().is_empty()) {
                by_text.entry(text).or_default().push_back(at);
            }
            if let Some(key) = one.key() {
                by_key.entry(key).or_default().insert(at);
            }
        }
        let mut hunks = HashMap::new();
        let mut from = 0;
        for lines in gone.chunk_by(|one, next| one.hunk == next.hunk) {
            let said = |(at, one): (usize, &Gone<'t>)| {
                let text = one.text.filter(|_| one.stated.is_none())?;
                Some((from + at, words_of(text)))
            };
            let said = if lines.len() <= MOST_ALIKE {
                lines.iter().enumerate().filter_map(said).collect()
            } else {
                Vec::new()
            };
            let number = lines.first().map_or(0, |one| one.hunk);
            hunks.insert(number, Hunk { lines: from..from + lines.len(), said });
            from += lines.len();
        }
        Self { gone, is_taken: vec![false; gone.len()], by_text, by_key, hunks }
    }

    fn take(&mut self, at: usize) -> Option<&'g Gone<'t>> {
        *self.is_taken.get_mut(at)? = true;
        let gone = self.gone.get(at)?;
        if let Some(places) = gone.key().and_then(|key| self.by_key.get_mut(&key)) {
            places.remove(&at);
        }
        Some(gone)
    }

    /// The first line with this text.
    fn same(&mut self, line: &str) -> Option<&'g Gone<'t>> {
        let at = self.by_text.get_mut(line)?.pop_front()?;
        self.take(at)
    }

    /// The first line with a fact of this key: in the same hunk, else anywhere.
    fn of_key(&mut self, hunk: usize, key: &str, mark: &dyn Fn(&str) -> u32) -> Option<&'g Gone<'t>> {
        // Of a version either all texts are known or none.
        let is_known = self.gone.first()?.text.is_some();
        let key = if is_known { Key::Text(key.to_owned()) } else { Key::Mark(mark(key)) };
        let places = self.by_key.get(&key)?;
        let near = self.hunks.get(&hunk).and_then(|hunk| places.range(hunk.lines.clone()).next());
        let at = *near.or_else(|| places.first())?;
        self.take(at)
    }

    /// The first line of the hunk that states no fact and resembles this one.
    fn alike(&mut self, hunk: usize, line: &str) -> Option<&'g Gone<'t>> {
        let said = &self.hunks.get(&hunk)?.said;
        let mut free = said.iter().filter(|(at, _)| self.is_taken.get(*at) == Some(&false)).peekable();
        free.peek()?;
        let words = words_of(line);
        let at = free.find(|(_, said)| is_alike(said, &words)).map(|(at, _)| *at)?;
        self.take(at)
    }
}

/// The least of the authors of each hunk that is too long to be compared line by line.
fn least_of_long(gone: &[Gone<'_>]) -> HashMap<usize, WrittenBy> {
    let hunks = gone.chunk_by(|one, next| one.hunk == next.hunk).filter(|lines| lines.len() > MOST_ALIKE);
    let least = |lines: &[Gone<'_>]| {
        let least = lines.iter().filter_map(|one| Some(one.origin.as_ref()?.least)).min()?;
        Some((lines.first()?.hunk, least))
    };
    hunks.filter_map(least).collect()
}

/// Where a line came from that is given back.
fn restored(line: &str, removed: &HashMap<String, LineOrigin>, author: VersionAuthor) -> Option<LineOrigin> {
    removed.get(line).filter(|_| author.restores && !line.trim().is_empty()).cloned()
}

/// A line that nobody wrote before. `least` is who wrote the least trusted line from which it may have been made.
fn fresh(VersionAuthor { batch, by, .. }: VersionAuthor, least: Option<WrittenBy>) -> LineOrigin {
    let least = least.filter(|_| !is_person(by)).map_or(by, |least| by.min(least));
    LineOrigin { first: batch, first_by: by, last: batch, by, least, former: Vec::new() }
}

/// Whether a person wrote it, or was asked.
fn is_person(by: WrittenBy) -> bool {
    matches!(by, WrittenBy::You | WrittenBy::Approved)
}

/// What became of a line.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Made {
    /// It says the same: it has moved, or its links lead elsewhere.
    Same,
    /// It still says some of it.
    From,
    /// It says something else.
    New,
}

fn made(gone: &Gone<'_>, line: &str, value: &str, author: VersionAuthor) -> Made {
    let is_same = |old: &str| shown(old, author.moves) == shown(line, author.moves);
    if is_person(author.by) && gone.text.is_some_and(is_same) {
        Made::Same
    } else if gone.value().is_none_or(|old| is_alike(&words_of(old), &words_of(value))) {
        Made::From
    } else {
        Made::New
    }
}

/// A line with what is shown of its links: their text, else the last name of their path. After a move their paths say nothing.
fn shown(line: &str, has_moved: bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut from = 0;
    for link in Note::parse(line).links() {
        out.push_str(line.get(from..link.span.start).unwrap_or_default());
        let name = link.path.rsplit('/').next().filter(|_| !has_moved).unwrap_or_default();
        out.push_str(link.text.as_deref().unwrap_or(name.strip_suffix(".md").unwrap_or(name)));
        from = link.span.end.max(from);
    }
    out.push_str(line.get(from..).unwrap_or_default());
    out
}

/// A line that was made in the place of another one. A person who writes or approves it raises its trust, unless it says the same.
fn made_from(old: &LineOrigin, author: VersionAuthor, made: Made, former: Option<String>) -> LineOrigin {
    let VersionAuthor { batch, by, .. } = author;
    let least = match (made, is_person(by)) {
        (Made::Same, true) => old.least,
        (Made::Same | Made::From, false) => by.min(old.least),
        (Made::From, true) | (Made::New, _) => by,
    };
    let mut formers = old.former.clone();
    formers.extend(former.map(|value| Former { value, written: old.last, replaced: batch }));
    formers.drain(..formers.len().saturating_sub(MOST_FORMER));
    LineOrigin { first: old.first, first_by: old.first_by, last: batch, by, least, former: formers }
}

/// Whether two texts share half of the words of the shorter one.
fn is_alike(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    #[cfg(test)]
    tests::COMPARED.with(|count| count.set(count.get() + short.len()));
    !short.is_empty() && short.iter().filter(|word| long.contains(*word)).count() * 2 >= short.len()
}

fn words_of(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    words::each(text, &mut |word, _| {
        found.insert(word.to_owned());
    });
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// How many words were looked for.
        pub(super) static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// How many words are looked for where `lines` lines are replaced by others.
    fn work(old: &str, new: &str, lines: usize) -> usize {
        let by = VersionAuthor { batch: Some(1), by: WrittenBy::Model, restores: false, moves: false };
        let [old, new] =
            [old, new].map(|text| (0..lines).map(|at| text.replace('#', &at.to_string())).collect::<Vec<_>>());
        let gone: Vec<Gone<'_>> = old.iter().map(|line| Gone::new(0, Some(line), 0, Some(fresh(by, None)))).collect();
        let added: Vec<(usize, &str)> = new.iter().map(|line| (0, line.as_str())).collect();
        COMPARED.set(0);
        let known = Known { removed: &HashMap::new(), unknown: None, mark: &|_| 0 };
        assert_eq!(origins(&added, &gone, &known, by).len(), lines);
        COMPARED.get()
    }

    #[test]
    fn the_work_grows_with_the_lines() {
        assert_eq!(work("- a#: v", "- b#: v", 5_000), 0, "no fact of these keys was there");
        assert!(work("- k: v#", "- k: w#", 5_000) <= 5_000, "each is compared with one");
        assert_eq!(work("old# line", "new# text", 5_000), 0, "too many to be compared");
        assert!(work("old# line", "new# text", MOST_ALIKE) > 0);
    }
}
