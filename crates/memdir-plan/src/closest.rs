//! The place in a note that comes closest to an `old_content` that does not stand in it.
//!
//! Owns how that place is found and when it is sure enough to be sent as it stands. Proposes, never applies: a
//! doubtful place is shown without a call to repeat.

use std::collections::HashSet;
use std::ops::Range;

use crate::align::{self, Place, WHOLE};
use crate::{diff, lines, needle, span};
use memdir_core::report::Closest;

/// The longest `old_content`, in characters, for which the exact place is looked for.
const MAX_WANTED: usize = 4096;
/// The most cells of one comparison; what would take more is compared by whole lines only.
const MAX_CELLS: usize = 6_000_000;
/// How many windows of lines are compared closely.
const WINDOWS: usize = 6;
/// How like `old_content` a place has to be so that a call is proposed for it.
const LIKE: f64 = 0.52;
/// How like it another place has to be to put the best one in doubt.
const RIVAL: f64 = 0.4;
/// How much more a wider place has to cost so that the narrower one is not in doubt.
const MARGIN: u32 = 20;
/// How many such places are looked at.
const MAX_RIVALS: usize = 24;
/// The longest text, in characters, that a hint repeats.
const MAX_HINT: usize = 300;
/// The longest text, in characters, that is shown where no call is proposed.
const MAX_SHOWN: usize = 4096;

/// What there is to say about the closest place.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) hint: String,
    pub(crate) closest: Option<Closest>,
    /// What `old_content` has to be, when that is sure.
    pub(crate) old_content: Option<String>,
}

/// A place in the note, in bytes.
#[derive(Clone, Debug)]
struct Candidate {
    range: Range<usize>,
    cost: u32,
}

/// Finds the place of `text` that comes closest to `old`, which does not stand in it.
pub(crate) fn find(text: &str, old: &str, new: &str) -> Found {
    let ranges = lines::ranges(text);
    let variants = [Some(old.to_owned()), unescaped(old)];
    let searched = variants.into_iter().flatten().map(|wanted| (candidates(text, &ranges, &wanted), wanted));
    let Some(((candidates, window), wanted)) = searched.min_by_key(|((found, _), wanted)| {
        found.first().map_or(u64::MAX, |best| u64::from(best.cost) * 1000 / (wanted.len() as u64 + 1))
    }) else {
        return Found { hint: "read the note again".to_owned(), closest: None, old_content: None };
    };
    let sure = sure(text, &candidates, &wanted, new);
    if let Some(there) = already_there(text, new, candidates.first(), sure.as_ref().ok()) {
        let hint = format!("`new_content` is already there, on line {}", lines::number_at(text, there));
        return Found { hint, closest: None, old_content: None };
    }
    match sure {
        Ok(range) => proposal(text, old, range),
        Err(Doubt::TwoPlaces(one, other)) => {
            let (one, other) = (lines::number_at(text, one), lines::number_at(text, other));
            let hint = match one == other {
                true => format!("line {one} has two places that are about equally close; read the note again"),
                false => format!(
                    "lines {} and {} are about equally close; read the note again",
                    one.min(other),
                    one.max(other)
                ),
            };
            Found { hint, ..shown(text, old, window) }
        }
        Err(Doubt::Unlike) => shown(text, old, window),
    }
}

/// The text with `\n` and its like read as what they stand for; `None` when there are none.
fn unescaped(text: &str) -> Option<String> {
    let plain = text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"");
    (plain != text).then_some(plain)
}

/// Places worth looking at, the closest first, and the lines around the closest.
fn candidates(text: &str, ranges: &[Range<usize>], wanted: &str) -> (Vec<Candidate>, Option<Range<usize>>) {
    let characters: Vec<char> = wanted.chars().collect();
    let count = wanted.lines().count().max(1);
    let mut found = Vec::new();
    let windows = windows(text, ranges, wanted, count);
    for window in &windows {
        let first = window.start.saturating_sub(1);
        let last = (window.end + 1 + count / 2).min(ranges.len());
        let Some((start, end)) = ranges.get(first).zip(ranges.get(last - 1)).map(|(a, b)| (a.start, b.end)) else {
            continue;
        };
        let around = text.get(start..end).unwrap_or_default();
        let window: Vec<(usize, char)> = around.char_indices().collect();
        if characters.len() > MAX_WANTED || window.len().saturating_mul(characters.len()) > MAX_CELLS {
            continue;
        }
        let letters: Vec<char> = window.iter().map(|(_, character)| *character).collect();
        let byte = |at: usize| start + window.get(at).map_or(around.len(), |(byte, _)| *byte);
        let place = |place: Place| Candidate { range: byte(place.start)..byte(place.end), cost: place.cost };
        found.extend(align::places(&characters, &letters).into_iter().map(place));
    }
    found.sort_by_key(|candidate| (candidate.cost, candidate.range.start, candidate.range.end));
    let lines = windows.first().and_then(|window| {
        let last = window.end.min(ranges.len()).checked_sub(1)?;
        Some(ranges.get(window.start)?.start..ranges.get(last)?.end)
    });
    (found, lines)
}

/// The windows of `count` lines that share most with `wanted`, the best first.
fn windows(text: &str, ranges: &[Range<usize>], wanted: &str, count: usize) -> Vec<Range<usize>> {
    let wanted: HashSet<_> = pairs(wanted).collect();
    let score = |range: &Range<usize>| {
        let line = text.get(range.clone()).unwrap_or_default();
        pairs(line).filter(|pair| wanted.contains(pair)).collect::<HashSet<_>>().len()
    };
    let scores: Vec<usize> = ranges.iter().map(score).collect();
    let mut sum: usize = scores.iter().take(count).sum();
    let mut sums = vec![(sum, 0)];
    for (start, (left, entered)) in scores.iter().zip(scores.iter().skip(count)).enumerate() {
        sum = sum + entered - left;
        sums.push((sum, start + 1));
    }
    sums.retain(|(sum, _)| *sum > 0);
    sums.sort_by_key(|(sum, start)| (std::cmp::Reverse(*sum), *start));
    let mut chosen = Vec::<Range<usize>>::new();
    for (_, start) in sums {
        if chosen.iter().all(|range| range.start.abs_diff(start) > count / 2) {
            chosen.push(start..start + count);
            if chosen.len() == WINDOWS {
                break;
            }
        }
    }
    chosen
}

/// The pairs of neighbours among the characters of a text, without blanks and as they are easily mistaken.
fn pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    let mut last = None;
    let characters = text.chars().filter(|character| !character.is_whitespace()).map(align::folded);
    characters.filter_map(move |character| last.replace(character).map(|last| (last, character)))
}

/// Why no call is proposed.
enum Doubt {
    /// Two places are about equally close.
    TwoPlaces(usize, usize),
    /// No place is like it, or where it begins and ends is not clear.
    Unlike,
}

/// The one place that must have been meant.
fn sure(text: &str, candidates: &[Candidate], wanted: &str, new: &str) -> Result<Range<usize>, Doubt> {
    let best = candidates.first().ok_or(Doubt::Unlike)?;
    if let Some(range) = span::reordered(text, &lines::ranges(text), wanted) {
        return alone(text, span::unglued(text, range, new).ok_or(Doubt::Unlike)?);
    }
    let weight = wanted.chars().filter(|character| !character.is_whitespace()).count();
    let whole = f64::from(WHOLE) * weight.max(1) as f64;
    let likeness = |candidate: &Candidate| 1.0 - f64::from(candidate.cost) / whole;
    if likeness(best) < LIKE {
        return Err(Doubt::Unlike);
    }
    let apart = |other: &&Candidate| other.range.end <= best.range.start || best.range.end <= other.range.start;
    let settle = |candidate: &Candidate| span::settled(text, candidate.range.clone(), wanted, new);
    let near = |other: &&Candidate| other.cost < best.cost + best.cost / 2 + WHOLE && likeness(other) >= RIVAL;
    let rivals = candidates.iter().take_while(near).filter(apart).take(MAX_RIVALS);
    for rival in rivals {
        if rival.cost <= best.cost + WHOLE || settle(rival).is_some() {
            return Err(Doubt::TwoPlaces(best.range.start, rival.range.start));
        }
    }
    let range = settle(best).ok_or(Doubt::Unlike)?;
    // Nearly as cheap, and up to the end of the line or from its start: what lies between may have been meant too.
    let is_wider = |other: &Candidate| {
        let (before, after) = (text.get(other.range.start..range.start), text.get(range.end..other.range.end));
        let adds = |part: Option<&str>| part.is_some_and(|part| part.contains(char::is_alphanumeric));
        other.range.start <= range.start && range.end <= other.range.end && (adds(before) || adds(after))
    };
    if candidates.iter().take_while(|other| other.cost <= best.cost + MARGIN).any(is_wider) {
        return Err(Doubt::Unlike);
    }
    alone(text, range)
}

/// The range, unless what stands there stands elsewhere too.
fn alone(text: &str, range: Range<usize>) -> Result<Range<usize>, Doubt> {
    let found = text.get(range.clone()).unwrap_or_default();
    match needle::exact(text, found).as_slice() {
        [_] => Ok(range),
        [one, other, ..] => Err(Doubt::TwoPlaces(*one, *other)),
        [] => Err(Doubt::Unlike),
    }
}

/// Where `new` stands already because the edit was probably made before: at the closest place, or, where no place is
/// sure to be meant, as whole lines that stand there once. What is a part of what would be replaced does not count.
fn already_there(text: &str, new: &str, best: Option<&Candidate>, sure: Option<&Range<usize>>) -> Option<usize> {
    let wanted = new.trim();
    if wanted.is_empty() {
        return None;
    }
    let place = sure.or(best.map(|best| &best.range));
    let end = |at: usize| at + wanted.len();
    let is_part = |at: usize| {
        place.is_some_and(|place| place.start <= at && end(at) <= place.end && place.len() > wanted.len() + 1)
    };
    let is_at_place = |at: usize| place.is_some_and(|place| at < place.end && place.start < end(at));
    let found: Vec<usize> = needle::exact(text, wanted).into_iter().filter(|at| !is_part(*at)).collect();
    if let Some(at) = found.iter().find(|at| is_at_place(**at) && is_words(text, **at..end(**at))) {
        return Some(*at);
    }
    let mut lines = found.iter().filter(|at| is_lines(text, **at..end(**at)));
    lines.next().filter(|_| sure.is_none() && lines.next().is_none()).copied()
}

/// Whether a place begins and ends where words do.
fn is_words(text: &str, range: Range<usize>) -> bool {
    let (before, found, after) = around(text, range);
    let is_apart = |one: Option<char>, other: Option<char>| {
        !(one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric))
    };
    is_apart(before.chars().next_back(), found.chars().next())
        && is_apart(found.chars().next_back(), after.chars().next())
}

/// Whether nothing but blanks stands beside a place on its lines.
fn is_lines(text: &str, range: Range<usize>) -> bool {
    let (before, _, after) = around(text, range);
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let line_after = after.split('\n').next().unwrap_or_default();
    line_before.trim_start_matches(lines::BOM).trim().is_empty() && line_after.trim().is_empty()
}

/// What stands before, in and behind a place.
fn around(text: &str, range: Range<usize>) -> (&str, &str, &str) {
    let (before, rest) = text.split_at_checked(range.start).unwrap_or_default();
    let (found, after) = rest.split_at_checked(range.len()).unwrap_or_default();
    (before, found, after)
}

fn proposal(text: &str, old: &str, range: Range<usize>) -> Found {
    let found = text.get(range.clone()).unwrap_or_default().to_owned();
    let numbers = numbers(text, &range);
    let quoted = serde_json::to_string(&found).unwrap_or_default();
    let hint = if quoted.chars().count() <= MAX_HINT {
        format!("the closest is {}; send `\"old_content\":{quoted}`", named(numbers))
    } else {
        format!("the closest is {}; send `error.action`", named(numbers))
    };
    let closest = Closest { lines: numbers, diff: diff::hunks(old, &found), text: found.clone() };
    Found { hint, closest: Some(closest), old_content: Some(found) }
}

/// The closest lines, for a reader to decide.
fn shown(text: &str, old: &str, window: Option<Range<usize>>) -> Found {
    let Some(range) = window else {
        return Found {
            hint: "nothing in it is close; read the note again".to_owned(),
            closest: None,
            old_content: None,
        };
    };
    let numbers = numbers(text, &range);
    let hint = format!("the closest is {}; read the note again", named(numbers));
    let found: String =
        text.get(range).unwrap_or_default().trim_end_matches(['\r', '\n']).chars().take(MAX_SHOWN).collect();
    let old: String = old.chars().take(MAX_SHOWN).collect();
    let closest = Closest { lines: numbers, diff: diff::hunks(&old, &found), text: found };
    Found { hint, closest: Some(closest), old_content: None }
}

/// The first and last line of a range; a line end that closes it counts to its line.
fn numbers(text: &str, range: &Range<usize>) -> [usize; 2] {
    let found = text.get(range.clone()).unwrap_or_default();
    let first = lines::number_at(text, range.start);
    [first, first + found.lines().count().saturating_sub(1)]
}

fn named([first, last]: [usize; 2]) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}
