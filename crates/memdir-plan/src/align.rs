//! Approximate matching of a short text inside a longer one.
//!
//! Owns what a difference costs. Sellers' dynamic programming with gaps that are cheap to lengthen; a match begins
//! and ends between words. Touches nothing but characters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// What one character too many or another one costs; smaller differences cost a part of it.
pub(crate) const WHOLE: u32 = 32;
/// A difference that is easily made: case, a blank, a quote, emphasis.
const SLIGHT: u32 = 8;
/// Another character.
const OTHER: u32 = 24;
/// Not possible.
const NEVER: u32 = u32::MAX / 4;

/// A place in a text, in characters, and what it differs by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) cost: u32,
}

/// How good a place is to begin or end: 0 beside a line end, 1 between words, `None` inside a word.
fn border(text: &[char], at: usize) -> Option<u32> {
    let before = at.checked_sub(1).and_then(|before| text.get(before)).copied();
    let (Some(before), Some(after)) = (before, text.get(at).copied()) else { return Some(0) };
    if (before == '\r' && after == '\n') || canonical_combining_class(after) != 0 {
        None
    } else if before == '\n' || matches!(after, '\n' | '\r') {
        Some(0)
    } else {
        let joined = before.is_alphanumeric() && after.is_alphanumeric();
        (!joined || stands_alone(before) || stands_alone(after)).then_some(1)
    }
}

/// Characters of scripts that are written without blanks between words.
fn stands_alone(character: char) -> bool {
    matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The character that stands for all that are easily taken for each other.
pub(crate) fn folded(character: char) -> char {
    match character {
        '‘' | '’' | '‚' | '´' | '`' | '′' => '\'',
        '“' | '”' | '„' | '«' | '»' | '″' => '"',
        '–' | '—' | '−' | '‐' | '‑' | '*' | '+' | '•' => '-',
        '\t' | '\u{a0}' | '\u{202f}' => ' ',
        'A'..='Z' => character.to_ascii_lowercase(),
        '\0'..='\x7f' => character,
        _ => {
            let base = std::iter::once(character).nfd().next().unwrap_or(character);
            base.to_lowercase().next().unwrap_or(base)
        }
    }
}

fn is_slight(character: char) -> bool {
    character.is_whitespace() || matches!(character, '*' | '_' | '`' | '~' | '\\' | '"') || {
        canonical_combining_class(character) != 0
    }
}

fn other(one: (char, char), other: (char, char)) -> u32 {
    if one.0 == other.0 {
        0
    } else if one.1 == other.1 || (one.0.is_whitespace() && other.0.is_whitespace()) {
        SLIGHT
    } else {
        OTHER
    }
}

/// A cost, and where the match that it belongs to begins.
type Cell = (u32, usize);

fn plus(cell: Cell, cost: u32) -> Cell {
    (cell.0.saturating_add(cost).min(NEVER), cell.1)
}

/// For every place between words of `text` where a match of `wanted` can end, the cheapest match that ends there.
///
/// The work is the product of the two lengths.
pub(crate) fn places(wanted: &[char], text: &[char]) -> Vec<Place> {
    let with_fold = |characters: &[char]| characters.iter().map(|&one| (one, folded(one))).collect::<Vec<_>>();
    let (wanted, folds) = (with_fold(wanted), with_fold(text));
    // `matched`: the last character of the text was used; `skipped`: it lies in a gap of the wanted text.
    let begin = |at| (border(text, at).unwrap_or(NEVER), at);
    let mut matched: Vec<Cell> = (0..=text.len()).map(begin).collect();
    let mut skipped: Vec<Cell> = vec![(NEVER, 0); text.len() + 1];
    for &one in &wanted {
        let drop_cost = if is_slight(one.0) { SLIGHT } else { WHOLE };
        let mut diagonal = (NEVER, 0);
        let mut left: (Cell, Cell) = ((NEVER, 0), (NEVER, 0));
        for (at, (matched, skipped)) in matched.iter_mut().zip(&mut skipped).enumerate() {
            let above = (*matched).min(*skipped);
            let mut now = plus(above, drop_cost);
            let mut gap = (NEVER, 0);
            if let Some(&here) = at.checked_sub(1).and_then(|before| folds.get(before)) {
                now = now.min(plus(diagonal, other(one, here)));
                if is_slight(here.0) {
                    now = now.min(plus(left.0, SLIGHT));
                    gap = plus(left.1, SLIGHT);
                } else {
                    gap = plus(left.0, OTHER).min(plus(left.1, SLIGHT));
                }
            }
            (*matched, *skipped) = (now, gap);
            left = (now, gap);
            diagonal = above;
        }
    }
    let ends = matched.into_iter().enumerate().filter_map(|(end, (cost, start))| {
        let rank = border(text, end)?;
        (cost < NEVER && start < end).then_some(Place { start, end, cost: cost + rank })
    });
    ends.collect()
}

/// How alike two texts are, from 0 to 1, when what is easily mistaken counts as the same.
pub(crate) fn likeness(one: &str, other: &str) -> f64 {
    let fold = |text: &str| text.trim().chars().map(folded).filter(|one| *one != ' ').collect::<String>();
    strsim::normalized_levenshtein(&fold(one), &fold(other))
}
