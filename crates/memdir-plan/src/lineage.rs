//! [`Lineage`]: the lines of a text, followed through its versions, each with who wrote it.
//!
//! Owns which lines of a new version are lines of the one before. Touches nothing but text. What two versions have in
//! common at both ends is compared as bytes, so that an addition to a long note costs little.

use std::ops::Range;

use similar::DiffTag;

use crate::diff;
use crate::step::Content;

/// The newest version of a text, and who wrote each of its lines; `None` where nobody knows.
///
/// # Examples
///
/// ```
/// use memdir_plan::{Content, Lineage};
///
/// let mut lineage = Lineage::default();
/// lineage.follow(&Content::new(*b"a\nb\n"), Some(1));
/// lineage.follow(&Content::new(*b"a\nx\nb\n"), None);
/// lineage.follow(&Content::new(*b"a\nx\nb\nc\n"), Some(2));
/// assert_eq!(lineage.authors(), [Some(1), None, Some(1), Some(2)]);
/// ```
#[derive(Clone, Debug)]
pub struct Lineage<A> {
    /// `None` where the newest version is no longer known.
    text: Option<Content>,
    authors: Vec<Option<A>>,
}

impl<A> Default for Lineage<A> {
    fn default() -> Self {
        Self { text: Some(Content::new([])), authors: Vec::new() }
    }
}

impl<A: Copy> Lineage<A> {
    /// Takes a new version, which `author` made of the one before; `None` where that is not known.
    ///
    /// A line is the same line when its text is, whatever its line end: who adds a line to a note without a last line
    /// end has not written the line before it. What is no text has no lines that could be known.
    pub fn follow(&mut self, version: &Content, author: Option<A>) {
        let Some(new) = version.text() else { return self.lose() };
        match self.text.as_ref().and_then(Content::text) {
            Some(old) => {
                // From the end, so that the numbers of the lines before stay what they are.
                for (old, new) in changes(old, new).into_iter().rev() {
                    let gone = old.start.min(self.authors.len())..old.end.min(self.authors.len());
                    drop(self.authors.splice(gone, std::iter::repeat_n(author, new)));
                }
            }
            None => self.authors = vec![None; count(new)],
        }
        self.text = Some(version.clone());
    }

    /// Says that the newest version is not known; nobody knows who wrote what the next one holds.
    pub fn lose(&mut self) {
        self.text = None;
        self.authors.clear();
    }

    /// Who wrote each line, the first line first.
    #[must_use]
    pub fn authors(&self) -> &[Option<A>] {
        &self.authors
    }
}

/// The ranges of old lines that were replaced, from the top, and by how many new ones.
fn changes(old: &str, new: &str) -> Vec<(Range<usize>, usize)> {
    let head = common_head(old.as_bytes(), new.as_bytes());
    let head = old.get(..head).map_or(0, |same| same.rfind('\n').map_or(0, |at| at + 1));
    let before = old.get(..head).map_or(0, count);
    let (old, new) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = common_tail(old.as_bytes(), new.as_bytes());
    let same = old.as_bytes().get(old.len() - tail..).unwrap_or_default();
    let tail = memchr::memchr(b'\n', same).map_or(0, |at| same.len() - at - 1);
    let ops = diff::ops(&lines(old, tail), &lines(new, tail));
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changed.map(|op| (before + op.old_range().start..before + op.old_range().end, op.new_range().len())).collect()
}

/// The lines of a text without its last `tail` bytes, each without its line end.
fn lines(text: &str, tail: usize) -> Vec<&str> {
    let text = text.get(..text.len() - tail).unwrap_or_default();
    text.split_inclusive('\n').map(without_end).collect()
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
mod tests {
    use super::{Content, Lineage};

    /// The authors of the lines after versions by 1, 2, 3 and so on; `-` where nobody knows.
    #[track_caller]
    fn check(versions: &[&str], expected: &str) {
        let mut lineage = Lineage::default();
        for (author, version) in versions.iter().enumerate() {
            lineage.follow(&Content::new(version.as_bytes()), Some(author + 1));
        }
        let shown = |author: &Option<usize>| author.map_or("-".to_owned(), |author| author.to_string());
        assert_eq!(lineage.authors().iter().map(shown).collect::<String>(), expected, "{versions:?}");
        let lines = versions.last().map_or(0, |text| text.lines().count());
        assert_eq!(lineage.authors().len(), lines, "{versions:?}");
    }

    #[test]
    fn a_line_keeps_its_author_while_its_text_stays() {
        check(&["a\nb\n", "a\nb\nc\n"], "112");
        check(&["a\nb", "a\nb\nc\n"], "112");
        check(&["b\n", "a\nb\n", "a\nb\nc"], "213");
        check(&["a\nb\nc\n", "a\nx\nc\n"], "121");
        check(&["a\nb\nc\n", "a\nc\n", "a\nb\nc\n"], "131");
        check(&["a\r\nb\r\n", "a\nb\n"], "11");
        check(&["a\r\nb", "a\r\nb\r\nc"], "112");
        check(&["x\nx\nx\n", "x\nx\n"], "11");
        check(&["a\n", "", "a\n"], "3");
        check(&["a\n", "a\n"], "1");
        check(&["aé\nb\n", "aè\nb\n"], "21");
        check(&["a\nb\n", "b\na\n", "b\na\n\n"], "213");
        check(&[], "");
    }

    #[test]
    fn a_long_note_is_compared_at_its_ends() {
        let long = "a line of some length\n".repeat(1_000);
        let versions = [long.clone(), format!("{long}end\n"), format!("top\n{long}end\n")];
        let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
        check(&versions, &format!("3{}2", "1".repeat(1_000)));
    }

    #[test]
    fn what_is_lost_stays_unknown() {
        let mut lineage = Lineage::default();
        lineage.follow(&Content::new(*b"a\n"), Some(1));
        lineage.follow(&Content::new(*b"\xff"), Some(2));
        lineage.follow(&Content::new(*b"a\nb\n"), Some(3));
        lineage.follow(&Content::new(*b"a\nb\nc\n"), Some(4));
        assert_eq!(lineage.authors(), [None, None, Some(4)]);
        lineage.lose();
        lineage.follow(&Content::new(*b"a\n"), Some(5));
        assert_eq!(lineage.authors(), [None]);
    }
}
