//! Where exactly a place begins and ends that was found approximately.
//!
//! Owns the doubts: each function here either mends an end of the place or gives up on it. What remains is what
//! must have been meant, so that replacing it leaves nothing behind and takes nothing along.

use std::ops::Range;

use crate::{align, lines};

/// How like each other two words have to be so that one stands for the other.
const SAME_WORD: f64 = 0.5;
/// How like each other two lines have to be so that one stands for the other.
const SAME_LINE: f64 = 0.6;
/// The same, for a line outside of the place.
const SAME_LINE_OUTSIDE: f64 = 0.8;

/// The most lines that are looked for in another order.
const MAX_REORDERED: usize = 64;

/// The range with both ends settled; `None` when they cannot be.
pub(crate) fn settled(text: &str, range: Range<usize>, wanted: &str, new: &str) -> Option<Range<usize>> {
    let range = with_moved_lines(text, trimmed(text, range, wanted)?, wanted)?;
    let range = with_marks(text, range, wanted)?;
    let range = with_list_marker(text, with_indentation(text, range, wanted, new)?, wanted, new)?;
    let range = unglued(text, range, new)?;
    let found = text.get(range.clone())?;
    if has_marker(wanted) && !has_marker(found) {
        return None;
    }
    if leaves_or_repeats(text, &range, wanted, new)? {
        return None;
    }
    let begins =
        begins_alike(found, wanted) || fills_line(text, range.start, found.lines().next(), wanted.lines().next(), true);
    let ends = ends_alike(found, wanted)
        || fills_line(text, range.end, found.lines().next_back(), wanted.lines().next_back(), false);
    let either = begins_alike(found, wanted) || ends_alike(found, wanted);
    (begins && ends && either).then_some(range)
}

/// Leaves out line ends and blanks at the ends that nobody asked for: a blank too many may have met any of them.
fn trimmed(text: &str, range: Range<usize>, wanted: &str) -> Option<Range<usize>> {
    let Range { mut start, mut end } = range;
    let leading = |text: &str| text.len() - text.trim_start().len();
    let found = text.get(start..end)?;
    if !wanted.get(..leading(wanted))?.contains(['\n', '\r']) {
        let blanks = found.get(..leading(found))?;
        start += blanks.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        // Indentation stays, since it was asked for in whatever depth; a blank inside a line does not.
        if !text.get(..start)?.ends_with(['\n', '\r']) && start > 0 && !wanted.is_empty() {
            start += leading(text.get(start..end)?);
        }
    }
    let found = text.get(start..end)?;
    let closing = found.get(found.trim_end().len()..)?;
    if !wanted.get(wanted.trim_end().len()..)?.contains(['\n', '\r']) && closing.contains(['\n', '\r']) {
        end -= closing.len();
    }
    Some(start..end)
}

/// Leaves a line end at an end of the place where the new text has none, so that no two lines become one.
pub(crate) fn unglued(text: &str, range: Range<usize>, new: &str) -> Option<Range<usize>> {
    let ends = ['\n', '\r'];
    let Range { mut start, mut end } = range;
    if !new.is_empty() && !new.starts_with(ends) {
        let found = text.get(start..end)?;
        start += found.len() - found.trim_start_matches(ends).len();
    }
    if !new.is_empty() && !new.ends_with(ends) {
        end = start + text.get(start..end)?.trim_end_matches(ends).len();
    }
    (start < end).then_some(start..end)
}

/// Whether something right beside the place belongs to it: words that were wanted too, or that the new text brings.
fn leaves_or_repeats(text: &str, range: &Range<usize>, wanted: &str, new: &str) -> Option<bool> {
    let (found, before, after) = (text.get(range.clone())?, text.get(..range.start)?, text.get(range.end..)?);
    let full = |line: &&str| !line.trim().is_empty();
    let same_line = |part: Option<&str>| part.unwrap_or_default().trim().to_owned();
    let (left, right) = (same_line(before.rsplit('\n').next()), same_line(after.split('\n').next()));
    let words = |text: &str| {
        let words = tokens(text).filter(|token| is_word(token) && token.chars().nth(1).is_some());
        words.map(str::to_lowercase).collect::<Vec<_>>()
    };
    let count = |words: &[String], word: &String| words.iter().filter(|other| *other == word).count();
    let (in_found, in_wanted, in_new) = (words(found), words(wanted), words(new));
    let lacks = |asked: &[String], word: &String| count(asked, word) > count(&in_found, word);
    // What was wanted and stands in the lines around, and not in the place.
    let beside = [before.lines().rev().find(full), after.lines().find(full)].into_iter().flatten();
    let left_out = beside.flat_map(words).any(|word| lacks(&in_wanted, &word));
    let repeated = words(&left).last().is_some_and(|word| lacks(&in_new, word))
        || words(&right).first().is_some_and(|word| lacks(&in_new, word));
    let same =
        |one: Option<&str>, other: Option<&str>| one.zip(other).is_some_and(|(one, other)| one.trim() == other.trim());
    let (new_first, new_last) = (new.lines().find(full), new.lines().rev().find(full));
    let doubled = (left.is_empty()
        && same(before.lines().rev().find(full), new_first)
        && !same(found.lines().find(full), new_first))
        || (right.is_empty()
            && same(after.lines().find(full), new_last)
            && !same(found.lines().rev().find(full), new_last));
    Some(left_out || repeated || doubled)
}

/// Whether a text begins as a list item, a heading, a quote or a row of a table.
fn has_marker(text: &str) -> bool {
    let text = text.trim_start();
    let after = text.trim_start_matches(['-', '*', '+', '•', '#', '>', '|']);
    after.len() < text.len() && (after.starts_with([' ', '\t']) || text.starts_with('|'))
}

/// The one block that holds just the lines that were wanted, in another order.
pub(crate) fn reordered(text: &str, ranges: &[Range<usize>], wanted: &str) -> Option<Range<usize>> {
    let wanted_lines: Vec<&str> = wanted.trim().lines().map(str::trim).collect();
    let count = wanted_lines.len();
    if !(2..=MAX_REORDERED).contains(&count) {
        return None;
    }
    let sorted = |mut lines: Vec<&str>| {
        lines.sort_unstable();
        lines.join("\n")
    };
    let key = sorted(wanted_lines.clone());
    let all: Vec<&str> = ranges.iter().map(|range| text.get(range.clone()).unwrap_or_default().trim()).collect();
    let mut found = all
        .windows(count)
        .enumerate()
        .filter(|(_, lines)| lines.iter().all(|line| wanted_lines.contains(line)) && sorted(lines.to_vec()) == key);
    let (first, lines) = found.next()?;
    if found.next().is_some() || lines == wanted_lines {
        return None;
    }
    let (start, end) = (ranges.get(first)?.start, ranges.get(first + count - 1)?.end);
    let block = text.get(start..end)?;
    let indentation = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    if indentation(block) != indentation(wanted) {
        return None;
    }
    let end = if wanted.ends_with(['\n', '\r']) { end } else { start + block.trim_end_matches(['\n', '\r']).len() };
    Some(start..end)
}

/// Takes in the list marker before the place when the new text brings one and the wanted text had none.
fn with_list_marker(text: &str, range: Range<usize>, wanted: &str, new: &str) -> Option<Range<usize>> {
    let line = text.get(..range.start)?.rsplit(['\n', '\r']).next()?;
    let marker = line.trim_start_matches([' ', '\t']);
    let is_marker = !marker.is_empty() && !marker.contains(char::is_alphabetic) && marker.ends_with([' ', '\t']);
    let brings = |text: &str| text.trim_start().starts_with(marker);
    let start = if is_marker && brings(new) && !brings(wanted) { range.start - marker.len() } else { range.start };
    Some(start..range.end)
}

/// Words of a text; a character that is no part of a word stands alone, blanks fall away.
fn tokens(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split_inclusive(|character: char| !character.is_alphanumeric())
        .flat_map(|piece| {
            let word = piece.trim_end_matches(|character: char| !character.is_alphanumeric());
            [word, piece.get(word.len()..).unwrap_or_default()]
        })
        .filter(|token| !token.trim().is_empty())
}

fn is_word(token: &str) -> bool {
    token.chars().all(char::is_alphanumeric)
}

fn same_token(one: &str, other: &str) -> bool {
    let alike = align::likeness(one, other);
    let is_number = |token: &str| token.chars().all(|digit| digit.is_ascii_digit());
    if is_word(one) && is_word(other) && !(is_number(one) && is_number(other)) {
        alike >= SAME_WORD
    } else {
        alike >= 1.0
    }
}

/// The tokens of a text without emphasis, which is easily lost.
fn plain(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    tokens(text).filter(|token| !matches!(*token, "*" | "_" | "`" | "~" | "\"" | "\\"))
}

fn begins_alike(found: &str, wanted: &str) -> bool {
    matches!((plain(found).next(), plain(wanted).next()), (Some(one), Some(other)) if same_token(one, other))
        || joined(plain(found), plain(wanted), false)
}

fn ends_alike(found: &str, wanted: &str) -> bool {
    matches!((plain(found).next_back(), plain(wanted).next_back()), (Some(one), Some(other)) if same_token(one, other))
        || joined(plain(found).rev(), plain(wanted).rev(), true)
}

/// Whether two words of one side are one word of the other: a blank was lost or added.
fn joined<'a>(found: impl Iterator<Item = &'a str>, wanted: impl Iterator<Item = &'a str>, reversed: bool) -> bool {
    let first_two = |tokens: &mut dyn Iterator<Item = &'a str>| {
        let one = tokens.next().unwrap_or_default();
        let two = tokens.next().unwrap_or_default();
        (one, if reversed { format!("{two}{one}") } else { format!("{one}{two}") })
    };
    let (mut found, mut wanted) = (found, wanted);
    let (found, found_joined) = first_two(&mut found);
    let (wanted, wanted_joined) = first_two(&mut wanted);
    (is_word(&found_joined) && align::likeness(&found_joined, wanted) >= 0.8)
        || (is_word(&wanted_joined) && align::likeness(found, &wanted_joined) >= 0.8)
}

/// Whether a place begins or ends where its line does and has as many words there as were wanted: a value that
/// was replaced by another.
fn fills_line(text: &str, at: usize, found: Option<&str>, wanted: Option<&str>, is_start: bool) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or_default();
    let at_border = if is_start {
        before.trim_end_matches([' ', '\t']).ends_with('\n') || before.trim().is_empty()
    } else {
        before.ends_with('\n')
            || after.trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
            || after.trim().is_empty()
    };
    let words = |line: Option<&str>| tokens(line.unwrap_or_default()).filter(|token| is_word(token)).count();
    at_border && words(found) == words(wanted)
}

/// Takes in lines beside the place that were wanted too but in another order; gives up where lines remain that
/// nobody asked for.
fn with_moved_lines(text: &str, range: Range<usize>, wanted: &str) -> Option<Range<usize>> {
    let wanted_lines: Vec<&str> = wanted.lines().filter(|line| !line.trim().is_empty()).collect();
    if wanted_lines.len() < 2 {
        return Some(range);
    }
    let ranges = lines::ranges(text);
    let line = |number: usize| ranges.get(number).and_then(|range| text.get(range.clone())).unwrap_or_default();
    let mut first = lines::number_at(text, range.start) - 1;
    let mut last = first + text.get(range.clone())?.lines().count().saturating_sub(1);
    let (near_first, near_last) = (first.saturating_sub(wanted_lines.len() + 1), last + wanted_lines.len() + 1);
    let mut out = range.clone();
    for wanted_line in &wanted_lines {
        if (first..=last).any(|number| align::likeness(line(number), wanted_line) >= SAME_LINE) {
            continue;
        }
        let outside = (near_first..=near_last.min(ranges.len().saturating_sub(1)))
            .find(|number| align::likeness(line(*number), wanted_line) >= SAME_LINE_OUTSIDE);
        let Some(number) = outside else { continue };
        let found = ranges.get(number)?;
        if number < first {
            first = number;
            let indentation = line(number).len() - line(number).trim_start_matches([' ', '\t']).len();
            out.start = found.start + if wanted.starts_with([' ', '\t']) { 0 } else { indentation };
        } else if number > last {
            last = number;
            let ends = wanted.ends_with('\n');
            out.end =
                found.start + if ends { line(number).len() } else { line(number).trim_end_matches(['\r', '\n']).len() };
        }
    }
    let unasked = (first..=last).filter(|&number| {
        let line = line(number);
        !line.trim().is_empty() && !wanted_lines.iter().any(|wanted| has_much_of(line, wanted))
    });
    (unasked.count() <= 1.max(wanted_lines.len() / 3)).then_some(out)
}

/// Whether a line is like a wanted one, or holds it: the outer lines of a place may be asked for in part.
fn has_much_of(line: &str, wanted: &str) -> bool {
    let fold = |text: &str| text.trim().chars().map(align::folded).collect::<String>();
    align::likeness(line, wanted) >= SAME_WORD || fold(line).contains(&fold(wanted))
}

/// Takes in emphasis, quotes and brackets whose other end lies in the place; gives up where one stays alone.
fn with_marks(text: &str, range: Range<usize>, wanted: &str) -> Option<Range<usize>> {
    let mut range = range;
    // Twice, since `**[[a]]**` has two layers on each side.
    for _ in 0..3 {
        let found = text.get(range.clone())?;
        if is_even(found) || !is_even(wanted) {
            return Some(range);
        }
        let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
        let is_mark = |character: char| matches!(character, '*' | '_' | '`' | '~' | '"' | '[' | ']' | '(' | ')');
        let run = |text: &str, mark: Option<char>| {
            mark.filter(|mark| is_mark(*mark)).map_or(0, |mark| {
                let rest =
                    if text.starts_with(mark) { text.trim_start_matches(mark) } else { text.trim_end_matches(mark) };
                text.len() - rest.len()
            })
        };
        let left = run(
            before,
            before.chars().next_back().filter(|_| !before.is_empty()).filter(|mark| before.ends_with(*mark)),
        );
        let right = run(after, after.chars().next());
        let options = [(left, 0), (0, right), (left, right)];
        let even = options.into_iter().find(|(left, right)| {
            text.get(range.start - left..range.end + right).is_some_and(|found| left + right > 0 && is_even(found))
        });
        match even {
            Some((left, right)) => range = range.start - left..range.end + right,
            None if left + right > 0 => range = range.start - left..range.end + right,
            None => return None,
        }
    }
    is_even(text.get(range.clone())?).then_some(range)
}

/// Whether every mark of a text has its other end.
fn is_even(text: &str) -> bool {
    let without_bullets: String = text
        .lines()
        .map(|line| {
            let line = line.trim_start();
            format!("{}\n", line.strip_prefix("* ").unwrap_or(line))
        })
        .collect();
    let runs = |mark: char| without_bullets.split(|character| character != mark).filter(|run| !run.is_empty()).count();
    let count = |mark: char| without_bullets.matches(mark).count();
    ['*', '`', '~', '"'].into_iter().all(|mark| runs(mark) % 2 == 0)
        && count('[') == count(']')
        && count('(') == count(')')
}

/// Where several lines were asked for without their indentation, takes in that of the first when the new text has
/// it; gives up when it has not, since then the lines would end up at another depth.
fn with_indentation(text: &str, range: Range<usize>, wanted: &str, new: &str) -> Option<Range<usize>> {
    let before = text.get(..range.start)?;
    let line = before.rsplit('\n').next()?;
    let found = text.get(range.clone())?;
    let is_indentation = !line.is_empty() && line.trim_matches([' ', '\t']).is_empty();
    if is_indentation && wanted.starts_with([' ', '\t']) {
        // It was asked for, in whatever depth and kind.
        return Some(range.start - line.len()..range.end);
    }
    if !is_indentation || found.trim_end().lines().count() < 2 {
        return Some(range);
    }
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let dedented =
        found.lines().skip(1).zip(wanted.lines().skip(1)).any(|(found, wanted)| depth(found) != depth(wanted));
    if !dedented {
        Some(range)
    } else if new.starts_with(line) && !new.trim_start_matches(line).starts_with([' ', '\t']) {
        Some(range.start - line.len()..range.end)
    } else {
        None
    }
}
