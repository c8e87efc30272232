//! [`Lineage`]: the lines of a text, followed through its versions, each with where it comes from.
//!
//! Owns which lines of a new version are lines of the one before, and which of them were made from one of its lines. Touches
//! nothing but text. What two versions have in common at both ends is compared as bytes, so that an addition to a long note
//! costs little.

use std::collections::HashMap;
use std::ops::Range;

use similar::DiffTag;

use crate::diff;
use crate::step::Content;
use memdir_core::digest::Digest;
use memdir_core::report::WrittenBy;

mod pair;

/// So many removed lines are remembered, for an undo that brings them back.
const MOST_REMOVED: usize = 20_000;

/// Who made a version of a text from the one before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VersionAuthor {
    /// The batch; `None` where no batch did.
    pub batch: Option<u64>,
    /// On whose behalf.
    pub by: WrittenBy,
    /// Whether it is an undo or a restore: a line that comes back then is as it was before it went.
    pub restores: bool,
    /// Whether it moves notes: links follow them, and a line in which only they changed says what it said.
    pub moves: bool,
}

impl VersionAuthor {
    /// What another program than memdir changed.
    pub const OUTSIDE: Self = Self { batch: None, by: WrittenBy::Outside, restores: false, moves: false };
}

/// Where a line comes from. Batches are `None` for [`WrittenBy::Outside`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LineOrigin {
    /// The batch that wrote it first: the line, or the line it was made from.
    pub first: Option<u64>,
    /// On whose behalf that was.
    pub first_by: WrittenBy,
    /// The batch that made it what it is.
    pub last: Option<u64>,
    /// On whose behalf that was.
    pub by: WrittenBy,
    /// The least trusted of those it was made by. A person raises it, by writing or by approving what it says; moving the line or
    /// leading its links elsewhere says nothing new.
    pub least: WrittenBy,
    /// What it said before, the oldest first.
    pub former: Vec<Former>,
}

/// What a line said before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Former {
    /// The value of its fact, else all of it.
    pub value: String,
    /// The batch that wrote it.
    pub written: Option<u64>,
    /// The batch that replaced it.
    pub replaced: Option<u64>,
}

/// A line of a version whose text is no longer kept: marks by which it is known again, and where it comes from.
///
/// A mark has 32 bits and says nothing of the text to whoever does not know the salt and the text already.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MarkedLine {
    /// Of its text.
    pub mark: u32,
    /// Of the key of its fact; 0 where it states none.
    pub key: u32,
    /// Where it comes from, without what it said before.
    pub origin: Option<LineOrigin>,
}

/// What is known of the newest version.
#[derive(Clone, Debug)]
enum Newest {
    Text(Content),
    Marks(Vec<(u32, u32)>),
    Lost,
}

/// The newest version of a text, and where each of its lines comes from; `None` where nobody knows.
///
/// # Examples
///
/// ```
/// use memdir_core::report::WrittenBy;
/// use memdir_plan::{Content, Lineage, VersionAuthor};
///
/// let by = |batch| VersionAuthor { batch: Some(batch), by: WrittenBy::Model, restores: false, moves: false };
/// let mut lineage = Lineage::new(*b"salt");
/// lineage.follow(&Content::new(*b"- city: Paris\n"), by(1));
/// lineage.follow(&Content::new(*b"- city: Paris\n- age: 30\n"), VersionAuthor::OUTSIDE);
/// lineage.follow(&Content::new(*b"- city: London\n- age: 30\n"), by(2));
/// let [city, age] = lineage.origins() else { panic!() };
/// let (city, age) = (city.as_ref().unwrap(), age.as_ref().unwrap());
/// assert_eq!((city.first, city.last, city.former[0].value.as_str()), (Some(1), Some(2), "Paris"));
/// assert_eq!((age.last, age.by), (None, WrittenBy::Outside));
/// ```
#[derive(Clone, Debug)]
pub struct Lineage {
    newest: Newest,
    origins: Vec<Option<LineOrigin>>,
    /// Where the lines came from that were removed, by their text.
    removed: HashMap<String, LineOrigin>,
    /// How far a line is trusted of which nobody knows where it comes from.
    unknown: Option<WrittenBy>,
    salt: Vec<u8>,
}

/// Some lines of the version before, and those that are there in their place.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

impl Lineage {
    /// A text that does not exist yet; `salt` goes into the marks of its lines.
    #[must_use]
    pub fn new(salt: impl Into<Vec<u8>>) -> Self {
        let newest = Newest::Text(Content::new([]));
        Self { newest, origins: Vec::new(), removed: HashMap::new(), unknown: None, salt: salt.into() }
    }

    /// A text of whose newest version only this is known.
    #[must_use]
    pub fn resume(salt: impl Into<Vec<u8>>, lines: Vec<MarkedLine>) -> Self {
        let (marks, origins) = lines.into_iter().map(|line| ((line.mark, line.key), line.origin)).unzip();
        Self { newest: Newest::Marks(marks), origins, ..Self::new(salt) }
    }

    /// Says who may have written the lines of which nobody knows where they come from: what is made from one of them is trusted no
    /// more.
    pub fn suspect(&mut self, least: Option<WrittenBy>) {
        self.unknown = least;
    }

    /// Tells the text of the newest version after all, where it is kept elsewhere.
    pub fn know(&mut self, text: Content) {
        if text.text().is_some_and(|text| count(text) == self.origins.len()) {
            self.newest = Newest::Text(text);
        }
    }

    /// Takes a new version, which `author` made of the one before.
    ///
    /// A line is the same line when its text is, whatever its line end: who adds a line to a note without a last line end has not
    /// written the line before it. What is no text has no lines that could be known.
    pub fn follow(&mut self, version: &Content, author: VersionAuthor) {
        let Some(new) = version.text() else { return self.lose() };
        match std::mem::replace(&mut self.newest, Newest::Text(version.clone())) {
            Newest::Text(old) => {
                let old = old.text().unwrap_or_default();
                let hunks = changes(old, new);
                if !hunks.is_empty() {
                    let old: Vec<&str> = all_lines(old);
                    self.take(&hunks, &|at| old.get(at).copied(), &|_| 0, new, author);
                }
            }
            Newest::Marks(old) => {
                let marks: Vec<u32> = all_lines(new).into_iter().map(|line| self.mark(line)).collect();
                let hunks = changes_of_marks(&old, &marks);
                self.take(&hunks, &|_| None, &|at| old.get(at).map_or(0, |(_, key)| *key), new, author);
            }
            Newest::Lost => self.origins = vec![None; count(new)],
        }
    }

    /// Says that the newest version is not known; nobody knows where the lines of the next one come from.
    pub fn lose(&mut self) {
        self.newest = Newest::Lost;
        self.origins.clear();
    }

    /// Says that the text was deleted.
    pub fn delete(&mut self) {
        if let Newest::Text(old) = std::mem::replace(&mut self.newest, Newest::Text(Content::new([]))) {
            for (line, origin) in all_lines(old.text().unwrap_or_default()).into_iter().zip(&self.origins) {
                remember(&mut self.removed, line, origin.as_ref());
            }
        }
        self.origins.clear();
    }

    /// Where each line comes from, the first line first.
    #[must_use]
    pub fn origins(&self) -> &[Option<LineOrigin>] {
        &self.origins
    }

    /// What has to be kept of the newest version so that its lines can be followed without its text; `None` where that is lost.
    #[must_use]
    pub fn marked(&self) -> Option<Vec<MarkedLine>> {
        let marks = match &self.newest {
            Newest::Text(text) => {
                let marks = |line: &str| (self.mark(line), pair::stated(line).map_or(0, |(key, _)| self.mark(&key)));
                all_lines(text.text()?).into_iter().map(marks).collect()
            }
            Newest::Marks(marks) => marks.clone(),
            Newest::Lost => return None,
        };
        let bare = |origin: &LineOrigin| LineOrigin { former: Vec::new(), ..origin.clone() };
        let line = |((mark, key), origin): ((u32, u32), &Option<LineOrigin>)| MarkedLine {
            mark,
            key,
            origin: origin.as_ref().map(bare),
        };
        Some(marks.into_iter().zip(&self.origins).map(line).collect())
    }

    /// Puts lines of the new version in the place of lines of the old one.
    fn take<'o>(
        &mut self,
        hunks: &[Hunk],
        old: &dyn Fn(usize) -> Option<&'o str>,
        old_key: &dyn Fn(usize) -> u32,
        new: &str,
        author: VersionAuthor,
    ) {
        let lines = all_lines(new);
        let mut gone = Vec::new();
        for (number, hunk) in hunks.iter().enumerate() {
            for at in hunk.old.clone() {
                let origin = self.origins.get(at).cloned().flatten();
                gone.push(pair::Gone::new(number, old(at), old_key(at), origin));
            }
        }
        let added = hunks.iter().enumerate();
        let added = added.flat_map(|(number, hunk)| hunk.new.clone().map(move |at| (number, at)));
        let added: Vec<(usize, &str)> =
            added.map(|(number, at)| (number, lines.get(at).copied().unwrap_or_default())).collect();
        let mark = |text: &str| self.mark(text);
        let known = pair::Known { removed: &self.removed, unknown: self.unknown, mark: &mark };
        let mut found = pair::origins(&added, &gone, &known, author).into_iter();
        let mut old = std::mem::take(&mut self.origins).into_iter();
        let mut at = 0;
        for hunk in hunks {
            self.origins.extend(old.by_ref().take(hunk.old.start - at));
            old.by_ref().take(hunk.old.len()).for_each(drop);
            self.origins.extend(found.by_ref().take(hunk.new.len()));
            at = hunk.old.end;
        }
        self.origins.extend(old);
        for gone in &gone {
            if let Some(text) = gone.text {
                remember(&mut self.removed, text, gone.origin.as_ref());
            }
        }
    }

    fn mark(&self, text: &str) -> u32 {
        let digest = Digest::of_parts(&[&self.salt, text.as_bytes()]);
        digest.as_bytes().first_chunk().map_or(1, |bytes| u32::from_le_bytes(*bytes)).max(1)
    }
}

fn remember(removed: &mut HashMap<String, LineOrigin>, line: &str, origin: Option<&LineOrigin>) {
    if let Some(origin) = origin.filter(|_| removed.len() < MOST_REMOVED) {
        removed.insert(line.to_owned(), origin.clone());
    }
}

/// The places where two versions differ, from the top.
fn changes(old: &str, new: &str) -> Vec<Hunk> {
    let head = common_head(old.as_bytes(), new.as_bytes());
    let head = old.get(..head).map_or(0, |same| same.rfind('\n').map_or(0, |at| at + 1));
    let before = old.get(..head).map_or(0, count);
    let (old, new) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = common_tail(old.as_bytes(), new.as_bytes());
    let same = old.as_bytes().get(old.len() - tail..).unwrap_or_default();
    let tail = memchr::memchr(b'\n', same).map_or(0, |at| same.len() - at - 1);
    hunks(&lines(old, tail), &lines(new, tail), before)
}

/// The same where of one version only the marks of its lines are known.
fn changes_of_marks(old: &[(u32, u32)], new: &[u32]) -> Vec<Hunk> {
    let old: Vec<String> = old.iter().map(|(mark, _)| mark.to_string()).collect();
    let new: Vec<String> = new.iter().map(ToString::to_string).collect();
    let [old, new] = [&old, &new].map(|marks| marks.iter().map(String::as_str).collect::<Vec<_>>());
    hunks(&old, &new, 0)
}

fn hunks(old: &[&str], new: &[&str], before: usize) -> Vec<Hunk> {
    let shifted = |range: Range<usize>| before + range.start..before + range.end;
    let ops = diff::ops(old, new);
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changed.map(|op| Hunk { old: shifted(op.old_range()), new: shifted(op.new_range()) }).collect()
}

/// The lines of a text without its last `tail` bytes, each without its line end.
fn lines(text: &str, tail: usize) -> Vec<&str> {
    let text = text.get(..text.len() - tail).unwrap_or_default();
    text.split_inclusive('\n').map(without_end).collect()
}

fn all_lines(text: &str) -> Vec<&str> {
    lines(text, 0)
}

/// How many lines a text has; an unfinished last one counts.
fn count(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// So many bytes are compared at once.
const CHUNK: usize = 4096;

/// How many bytes at the start are the same.
fn common_head(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.chunks(CHUNK).zip(other.chunks(CHUNK)).take_while(|(one, other)| one == other);
    let same: usize = chunks.map(|(chunk, _)| chunk.len()).sum();
    same + one.iter().skip(same).zip(other.iter().skip(same)).take_while(|(one, other)| one == other).count()
}

/// How many bytes at the end are the same.
fn common_tail(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.rchunks(CHUNK).zip(other.rchunks(CHUNK)).take_while(|(one, other)| one == other);
    let same: usize = chunks.map(|(chunk, _)| chunk.len()).sum();
    let rest = one.iter().rev().skip(same).zip(other.iter().rev().skip(same));
    same + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests;
