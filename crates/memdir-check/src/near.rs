//! Notes that say nearly the same.
//!
//! What a note says is the set of every three words that follow each other in its text, without front matter, headings
//! and lines that many notes have: templates and footers say nothing of a note. Of the set with all lines a [`Sketch`] is
//! kept; notes whose sketches have a key in common are read and compared, so that nothing rests on the sketch but what
//! is looked at.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Finding, Kind, Look, finding, name};
use memdir_core::path::MemoryPath;
use memdir_note::{Note, words};

/// A note with fewer words says too little to be compared.
const LEAST_WORDS: usize = 20;
/// A line that so many notes have is not compared.
const SHARED_BY: usize = 5;
/// So many lines are kept of the beginning and of the end of a note, to tell which ones are shared.
const MOST_LINES: usize = 250;
/// Two notes are told from this part of what they say together on.
const LEAST_COMMON: f64 = 0.85;
/// No more pairs are read.
const MOST_PAIRS: usize = 2000;
/// No more bytes of text are read for them, each note counted as often as it is looked at.
const MOST_BYTES: u64 = 256 << 20;
/// A sketch has this many keys, each made of this many smallest hashes.
const KEYS: usize = 6;
const HASHES: usize = 4;

/// What is kept of what a note says: two notes of which 85 % is common have a key in common in 98 of 100 cases, two of
/// which a fifth is common in one of 100.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Sketch([u32; KEYS]);

impl Sketch {
    /// Of a note's text; `None` for one of few words.
    pub(super) fn of(text: &str, note: &Note<'_>) -> Option<Self> {
        let mut smallest = [u32::MAX; KEYS * HASHES];
        let count = shingles(text, note, &HashSet::new(), &mut |hash| {
            // Each hash falls into one place by its low half and counts there with its high half.
            let (place, value) = (hash & u64::from(u32::MAX), hash >> 32);
            let place = usize::try_from((place * (KEYS * HASHES) as u64) >> 32).unwrap_or_default();
            let value = u32::try_from(value).unwrap_or(u32::MAX);
            if let Some(kept) = smallest.get_mut(place) {
                *kept = value.min(*kept);
            }
        });
        let mut keys = [0; KEYS];
        for (key, hashes) in keys.iter_mut().zip(smallest.chunks(HASHES)) {
            let hash = hashes.iter().fold(0, |hash, value| mix(hash ^ u64::from(*value)));
            *key = u32::try_from(hash >> 32).unwrap_or_default();
        }
        (count >= LEAST_WORDS).then_some(Self(keys))
    }
}

/// What tells the lines of a note from others, each once, sorted; front matter left out.
pub(super) fn lines(text: &str, note: &Note<'_>) -> Vec<u32> {
    let body = text.get(note.body()..).unwrap_or_default();
    let mut lines: Vec<u32> = body.lines().filter(|line| !line.trim().is_empty()).map(line_hash).collect();
    if let Some(middle) = lines.len().checked_sub(2 * MOST_LINES) {
        lines.drain(MOST_LINES..MOST_LINES + middle);
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn line_hash(line: &str) -> u32 {
    u32::try_from(mix(hash_of(line.trim())) >> 32).unwrap_or_default()
}

/// The lines that many notes have.
fn shared<'a>(looks: impl Iterator<Item = &'a Look>) -> HashSet<u32> {
    let mut all: Vec<u32> = looks.flat_map(|look| look.lines.iter().copied()).collect();
    all.sort_unstable();
    let many = all.chunk_by(|one, other| one == other).filter(|same| same.len() >= SHARED_BY);
    many.filter_map(|same| same.first().copied()).collect()
}

/// Notes that say nearly what another one says, each told once, with the one that it has most in common with among
/// those that have shorter paths. What is the same byte for byte counts once.
pub(super) fn near<'a>(
    notes: impl Iterator<Item = (&'a MemoryPath, &'a Look)>,
    read: &mut dyn FnMut(&MemoryPath) -> Option<String>,
) -> Vec<Finding> {
    let mut notes: Vec<(&MemoryPath, &Look)> = notes.collect();
    notes.sort_by_key(|(path, _)| (path.utf16_length(), *path));
    let mut firsts = HashSet::new();
    notes.retain(|(_, look)| look.digest.is_none_or(|digest| firsts.insert(digest)));
    let shared = shared(notes.iter().map(|(_, look)| *look));
    let notes: Vec<(&MemoryPath, Sketch, &Look)> =
        notes.into_iter().filter_map(|(path, look)| Some((path, look.sketch?, look))).collect();
    let mut nearest: BTreeMap<&MemoryPath, (f64, &MemoryPath)> = BTreeMap::new();
    let mut texts = Texts { read, shared, last: None };
    let (mut pairs_left, mut bytes_left) = (MOST_PAIRS, MOST_BYTES);
    for (kept, other) in pairs(&notes.iter().map(|(_, sketch, _)| *sketch).collect::<Vec<_>>()) {
        let Some(((kept, _, one), (other, _, two))) = notes.get(kept).zip(notes.get(other)) else { continue };
        // Days are alike, and each is its own.
        if kept.stem() != other.stem() && name::is_day(kept.stem()) && name::is_day(other.stem()) {
            continue;
        }
        if pairs_left == 0 {
            break;
        }
        // Smaller ones may still be looked at.
        let Some(left) = bytes_left.checked_sub(one.size.saturating_add(two.size)) else { continue };
        (pairs_left, bytes_left) = (pairs_left - 1, left);
        let common = texts.common(kept, other);
        if common >= LEAST_COMMON && nearest.get(other).is_none_or(|(best, _)| common > *best) {
            nearest.insert(other, (common, kept));
        }
    }
    let told = nearest.into_iter().map(|(path, (common, kept))| Finding {
        target: Some(kept.to_string()),
        // Never all of it: the two differ, if only in a heading.
        message: format!("`{path}` is nearly the same as `{kept}` ({:.0} % of it)", (common * 100.0).floor().min(99.0)),
        ..finding(Kind::Duplicate, path)
    });
    told.collect()
}

/// The pairs of notes that have a key in common, the smaller number first; those with most keys in common first.
///
/// Of all that share one key, each is paired with the first and with the one before, so the work is linear.
fn pairs(sketches: &[Sketch]) -> Vec<(usize, usize)> {
    let mut keyed: Vec<(usize, u32, usize)> = Vec::with_capacity(sketches.len() * KEYS);
    for (number, sketch) in sketches.iter().enumerate() {
        keyed.extend(sketch.0.iter().enumerate().map(|(place, key)| (place, *key, number)));
    }
    keyed.sort_unstable();
    let mut found = Vec::new();
    for same in keyed.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        let Some(((.., first), rest)) = same.split_first() else { continue };
        found.extend(rest.iter().map(|(.., other)| (*first, *other)));
        let before = rest.iter().zip(rest.iter().skip(1));
        found.extend(before.map(|((.., one), (.., other))| (*one, *other)));
    }
    found.sort_unstable();
    let mut counted: Vec<(usize, (usize, usize))> =
        found.chunk_by(|one, other| one == other).filter_map(|same| Some((same.len(), *same.first()?))).collect();
    counted.sort_unstable_by(|(one_count, one), (other_count, other)| other_count.cmp(one_count).then(one.cmp(other)));
    counted.into_iter().map(|(_, pair)| pair).collect()
}

/// What notes say, as it is asked for; that of the last first note is kept, since pairs with it follow each other.
struct Texts<'r> {
    read: &'r mut dyn FnMut(&MemoryPath) -> Option<String>,
    shared: HashSet<u32>,
    last: Option<(MemoryPath, Vec<u64>)>,
}

impl Texts<'_> {
    /// The part that two notes have in common of what they say together; 0 where one cannot be read any more.
    fn common(&mut self, one: &MemoryPath, other: &MemoryPath) -> f64 {
        if self.last.as_ref().is_none_or(|(path, _)| path != one) {
            self.last = Some((one.clone(), self.said(one)));
        }
        let other = self.said(other);
        let one = self.last.as_ref().map(|(_, said)| said.as_slice()).unwrap_or_default();
        let common = one.iter().filter(|hash| other.binary_search(hash).is_ok()).count();
        let all = one.len() + other.len() - common;
        if common == 0 { 0.0 } else { ratio(common, all) }
    }

    /// The hashes of every three words in a row, sorted, each once; none of a note that has few words of its own.
    fn said(&mut self, path: &MemoryPath) -> Vec<u64> {
        let Some(text) = (self.read)(path) else { return Vec::new() };
        let mut said = Vec::new();
        let count = shingles(&text, &Note::parse(&text), &self.shared, &mut |hash| said.push(hash));
        if count < LEAST_WORDS {
            return Vec::new();
        }
        said.sort_unstable();
        said.dedup();
        said
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer words than 2^52 in a note")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Gives a hash for every three words that follow each other below the front matter, outside of headings and of lines that
/// are shared, and counts the words.
fn shingles(text: &str, note: &Note<'_>, shared: &HashSet<u32>, found: &mut impl FnMut(u64)) -> usize {
    let mut headings = note.headings().iter().map(|heading| &heading.span).peekable();
    let (mut before, mut count) = ((0, 0), 0);
    let mut lines = text.split_inclusive('\n').filter(|_| !shared.is_empty());
    let (mut line_end, mut is_shared) = (0, false);
    words::each(text, &mut |word, range| {
        while headings.next_if(|heading| heading.end <= range.start).is_some() {}
        while line_end <= range.start {
            let Some(line) = lines.next() else { break };
            line_end += line.len();
            is_shared = line_end > range.start && shared.contains(&line_hash(line));
        }
        let is_heading = headings.peek().is_some_and(|heading| heading.start <= range.start);
        if range.start < note.body() || is_heading || is_shared {
            return;
        }
        let hash = hash_of(word);
        count += 1;
        if count > 2 {
            let (first, second) = before;
            found(mix(mix(mix(first) ^ second) ^ hash));
        }
        before = (before.1, hash);
    });
    count
}

fn hash_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads what tells two numbers apart over all bits.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    number ^ (number >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(text: &str) -> Option<Sketch> {
        Sketch::of(text, &Note::parse(text))
    }

    /// A note of words that stand in no other one of another seed.
    fn prose(seed: usize, words: usize) -> String {
        (0..words).map(|number| format!("w{seed}x{number} ")).collect()
    }

    fn shared(one: &str, other: &str) -> usize {
        let (one, other) = (sketch(one).unwrap(), sketch(other).unwrap());
        one.0.iter().zip(other.0).filter(|(one, other)| **one == *other).count()
    }

    #[test]
    fn a_sketch_is_of_what_is_said_and_not_of_headings() {
        let text = prose(1, 100);
        assert_eq!(sketch(&format!("---\ncreated: 2026-05-03\n---\n# Ada\n{text}")), sketch(&text.to_uppercase()));
        assert_eq!(shared(&text, &prose(2, 100)), 0);
        assert_eq!(sketch(&prose(1, LEAST_WORDS - 1)), None);
        assert!(sketch(&prose(1, LEAST_WORDS)).is_some());
        assert_eq!(sketch(&format!("# {text}\n\nSetext {text}\n===\n")), None);
    }

    #[test]
    fn what_is_mostly_common_has_a_key_in_common() {
        // Two words of a hundred differ: 92 of 104 runs of three words are common, which is 88 %.
        let close = (0..300).filter(|&seed| {
            let text = prose(seed, 100);
            let edited = text.replace(&format!("w{seed}x30 "), "other ").replace(&format!("w{seed}x70 "), "more ");
            shared(&text, &edited) > 0
        });
        let close = close.count();
        assert!(close >= 290, "{close} of 300");
        // Half of the words.
        let far = (0..300).filter(|&seed| {
            shared(&(prose(seed, 100) + &prose(1000, 30)), &(prose(seed + 301, 100) + &prose(1000, 30))) > 0
        });
        let far = far.count();
        assert!(far <= 15, "{far} of 300");
    }

    #[test]
    fn huge_notes_alike_are_not_all_read() {
        let text = prose(1, 50);
        let look = Look { size: 60 << 20, sketch: sketch(&text), ..Look::default() };
        let paths: Vec<_> = (0..100).map(|number| MemoryPath::parse(&format!("{number}.md")).unwrap()).collect();
        let mut read = 0;
        near(paths.iter().map(|path| (path, &look)), &mut |_| {
            read += 1;
            Some(text.clone())
        });
        assert!((1..=4).contains(&read), "{read}");
    }

    #[test]
    fn many_notes_alike_give_few_pairs() {
        let same = sketch(&prose(1, 50)).unwrap();
        let pairs = pairs(&vec![same; 1000]);
        assert_eq!(pairs.len(), 999 + 998);
        assert_eq!(pairs.first(), Some(&(0, 1)));
    }
}
