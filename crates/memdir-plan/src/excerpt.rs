//! [`Excerpt`]: the part of a note that a search shows.
//!
//! Owns how a place is cut to a snippet, and which passage of a note holds most of what was looked for.

use std::ops::Range;

use crate::lines;
use memdir_note::{Heading, Note};

/// The most characters that a snippet has.
const SNIPPET: usize = 300;
/// How many characters stand before the place that was found, where the snippet cannot begin with the line.
const BEFORE: usize = 60;
/// The most lines of a passage, and of a list of facts that is shown whole.
const PASSAGE: usize = 8;
const FACTS: usize = 12;
/// Facts stand at the top of a note if they are in one of its first passages.
const TOP: usize = 3;
/// How much a word of the question counts once more where it is the key of a fact.
const KEY: f64 = 0.5;

/// The part of a note that a search shows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Excerpt {
    /// The first and the last line, from 1.
    pub(crate) lines: [usize; 2],
    /// The heading under which it stands.
    pub(crate) heading: Option<String>,
    /// What stands there, shortened.
    pub(crate) snippet: String,
}

impl Excerpt {
    /// Cuts some lines out of a note; `at` is the byte of the text that has to be seen.
    pub(crate) fn of(note: &Note<'_>, lines: [usize; 2], at: Option<usize>) -> Self {
        let text = note.text();
        let ranges = lines::ranges(text);
        let range = |line: usize| ranges.get(line.saturating_sub(1)).cloned().unwrap_or(text.len()..text.len());
        let line = |number: usize| text.get(range(number)).unwrap_or_default();
        // The headings that a passage begins with are said apart.
        let content =
            (lines[0]..=lines[1]).find(|&number| heading(line(number)).is_none() && !line(number).trim().is_empty());
        let first = content.unwrap_or(lines[0]);
        // That of the line itself, where it is one.
        let heading = note.heading_above(first + 1).map(Heading::shown);
        let snippet = snippet(text, range(first).start..range(lines[1]).end, at);
        Self { lines, heading, snippet }
    }

    /// What a note says first, for one that was found by what is not in it: the facts at its top, else its first passage.
    pub(crate) fn opening(note: &Note<'_>) -> Self {
        let front = front_lines(note);
        let blocks = blocks(note.text());
        let body = || blocks.iter().filter(|block| block.lines.start >= front);
        let facts: Vec<usize> =
            note.facts().iter().filter(|fact| !fact.value.is_empty()).map(|fact| fact.line - 1).collect();
        let states = |block: &&Block| facts.iter().any(|line| block.lines.contains(line));
        let mut top = body().filter(|block| block.has_content).take(TOP);
        if let Some(Block { lines, least, .. }) = top.find(states) {
            return Self::of(note, [least + 1, lines.end.min(least + FACTS)], None);
        }
        let first = body().find(|block| block.has_content).or_else(|| body().next()).or(blocks.first());
        let lines = first.map_or([1, 1], |Block { lines, least, .. }| [least + 1, lines.end.min(least + PASSAGE)]);
        Self::of(note, lines, None)
    }
}

/// The text of a heading, if the line is one.
pub(crate) fn heading(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(lines::BOM).trim_end();
    let bare = line.trim_start_matches(' ');
    let rest = bare.trim_start_matches('#');
    let level = bare.len() - rest.len();
    let is_one =
        line.len() - bare.len() < 4 && (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_one.then(|| rest.trim().trim_end_matches('#').trim_end())
}

/// A part of a text, shortened so that the byte `at` is seen.
fn snippet(text: &str, range: Range<usize>, at: Option<usize>) -> String {
    let part = text.get(range.clone()).unwrap_or_default();
    let skipped = part.len() - part.trim_start().len();
    let part = part.trim();
    // Everything up to the place, if that is short enough to be seen with what follows.
    let before = at.and_then(|at| part.get(..at.checked_sub(range.start + skipped)?)).unwrap_or_default();
    let length = before.chars().count();
    let mut out = String::new();
    let mut rest = part;
    if length > SNIPPET - BEFORE {
        out.push('…');
        let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
        rest = part.get(start..).unwrap_or_default().trim_start();
    }
    let mut characters = rest.chars().filter(|character| *character != '\r');
    let room = SNIPPET - out.chars().count();
    let (mut shown, mut last) = (0, None);
    while let Some(character) = characters.next() {
        if shown == room - 1 {
            last = Some(if characters.next().is_some() { '…' } else { character });
            break;
        }
        out.push(character);
        shown += 1;
    }
    if last == Some('…') {
        out.truncate(out.trim_end().len());
    }
    out.extend(last);
    out
}

/// The passage of a text with the most evidence, and its first line that has any; `None` where no line has.
///
/// A passage is a run of lines without a blank one between, with the heading right above it; of a longer one the best
/// lines beside each other. `words` are bits for each line, `keys` those in keys of facts, and `weigh` says what a set of
/// them is worth. What the front matter says counts where the text does not say as much.
pub(crate) fn passage(
    note: &Note<'_>,
    words: &[u64],
    keys: &[u64],
    weigh: &dyn Fn(u64) -> f64,
) -> Option<([usize; 2], usize)> {
    let all = |lines: &[u64], window: &Range<usize>| {
        lines.get(window.clone()).unwrap_or_default().iter().fold(0, |all, line| all | line)
    };
    let has_words = |line: &usize| words.get(*line).is_some_and(|words| *words != 0);
    let front = front_lines(note);
    let mut best: Option<(f64, Range<usize>)> = None;
    for Block { lines, least, .. } in blocks(note.text()) {
        let first = (lines.start..least).find(has_words).map_or(least, |_| lines.start);
        let last = lines.end.saturating_sub(PASSAGE).max(first);
        for start in first..=last {
            let window = start..lines.end.min(start + PASSAGE);
            let found = all(words, &window);
            let weight = if found == 0 { 0.0 } else { weigh(found) + KEY * weigh(all(keys, &window)) };
            let is_better = best.as_ref().map_or(weight > 0.0, |(most, known)| {
                weight > *most || (weight >= *most && known.start < front && start >= front)
            });
            if is_better {
                best = Some((weight, window));
            }
        }
    }
    let (_, window) = best?;
    let first = window.clone().find(has_words)?;
    Some(([window.start + 1, window.end], first + 1))
}

/// How many lines the front matter of a note has, with its fences.
fn front_lines(note: &Note<'_>) -> usize {
    note.text().get(..note.body()).map_or(0, |front| front.lines().count())
}

/// A passage as lines from 0.
struct Block {
    lines: Range<usize>,
    /// Where it begins without the headings under which nothing stands but another one.
    least: usize,
    /// Whether there is more than headings.
    has_content: bool,
}

/// The passages of a text.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut block = Block { lines: 0..0, least: 0, has_content: false };
    for (number, line) in text.split('\n').enumerate() {
        let is_heading = heading(line).is_some();
        // A rule parts passages too, and so do the ends of the front matter.
        let is_blank = line.trim().is_empty() || line.trim_end() == "---";
        if (is_heading || is_blank) && block.has_content {
            let next = Block { lines: number..number, least: number, has_content: false };
            blocks.push(std::mem::replace(&mut block, next));
        }
        if !is_blank {
            if block.lines.is_empty() {
                block.lines.start = number;
                block.least = number;
            }
            if is_heading {
                block.least = number;
            }
            block.lines.end = number + 1;
            block.has_content |= !is_heading;
        }
    }
    if !block.lines.is_empty() {
        blocks.push(block);
    }
    blocks
}
