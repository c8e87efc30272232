//! Putting two changes of the same text together, line by line.
//!
//! Touches nothing but text. Changes that overlap or touch are a conflict; nothing is ever guessed.

use std::ops::Range;

use similar::DiffTag;

use crate::diff;

/// Lines of the base that a side replaced, and by what.
struct Hunk<'a> {
    base: Range<usize>,
    replaced: &'a [&'a str],
    lines: &'a [&'a str],
}

/// Merges what two sides made of `base`; `None` when their changes overlap or touch, unless one only adds whole lines right before
/// or behind what the other changed, such as the next item of a list, both only take lines away, or the lower change begins with
/// an item or a row, as two facts of a list do.
pub(crate) fn three_way(base: &str, mine: &str, theirs: &str) -> Option<String> {
    // Whether the last line has an end is merged by itself: what is added behind a line must never be glued to it.
    let is_open = |text: &str| !text.is_empty() && !text.ends_with('\n');
    let is_left_open = if is_open(mine) == is_open(base) { is_open(theirs) } else { is_open(mine) };
    let line_end = line_end(&[base, mine, theirs]);
    let ended = |text: &str| if is_open(text) { format!("{text}{line_end}") } else { text.to_owned() };
    let (base, mine, theirs) = (ended(base), ended(mine), ended(theirs));
    let base = diff::lines(&base);
    let (mine, theirs) = (diff::lines(&mine), diff::lines(&theirs));
    let mut all = hunks(&base, &mine);
    all.extend(hunks(&base, &theirs));
    all.sort_by_key(|hunk| (hunk.base.start, hunk.base.end));
    if all.windows(2).any(|pair| matches!(pair, [one, other] if one.meets(other))) {
        return None;
    }
    let mut out = String::new();
    let mut done = 0;
    for hunk in all {
        out.extend(base.get(done..hunk.base.start)?.iter().copied());
        out.extend(hunk.lines.iter().copied());
        done = hunk.base.end;
    }
    out.extend(base.get(done..)?.iter().copied());
    if is_left_open && let Some(open) = out.strip_suffix(line_end) {
        out.truncate(open.len());
    }
    Some(out)
}

/// How the lines of some texts end.
fn line_end(texts: &[&str]) -> &'static str {
    let first = texts.iter().find_map(|text| text.split_once('\n'));
    if first.is_some_and(|(line, _)| line.ends_with('\r')) { "\r\n" } else { "\n" }
}

impl Hunk<'_> {
    /// Whether a hunk that does not begin before this one overlaps it, or touches it so that one may belong to the other.
    fn meets(&self, other: &Self) -> bool {
        if other.base.start != self.base.end {
            return other.base.start < self.base.end;
        }
        let takes_away = |hunk: &Self| hunk.lines.is_empty() && !hunk.base.is_empty();
        if takes_away(self) && takes_away(other) {
            return false;
        }
        match (self.base.is_empty(), other.base.is_empty()) {
            (true, true) => true,
            (false, false) => !other.begins_item(),
            (true, false) => !self.stands_alone(),
            (false, true) => !other.stands_alone(),
        }
    }

    /// Whether the lines that are added continue nothing: an indented line may belong to the one above it.
    fn stands_alone(&self) -> bool {
        self.lines.first().is_some_and(|line| !line.starts_with(char::is_whitespace))
    }

    /// Whether an item of a list or a row of a table begins here, and still does after the change, if anything is left.
    fn begins_item(&self) -> bool {
        self.replaced.first().is_some_and(|line| is_item(line)) && self.lines.first().is_none_or(|line| is_item(line))
    }
}

/// Whether a line begins an item of a list that is below no other, or is a row of a table.
fn is_item(line: &str) -> bool {
    let behind_number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_numbered = behind_number.len() < line.len() && behind_number.starts_with(['.', ')']);
    let marked = if is_numbered { behind_number } else { line };
    line.starts_with('|') || (is_numbered || line.starts_with(['-', '*', '+'])) && marked.get(1..2) == Some(" ")
}

fn hunks<'a>(base: &'a [&'a str], side: &'a [&'a str]) -> Vec<Hunk<'a>> {
    let ops = diff::ops(base, side);
    let changes = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let hunk = |op: &similar::DiffOp| Hunk {
        base: op.old_range(),
        replaced: base.get(op.old_range()).unwrap_or_default(),
        lines: side.get(op.new_range()).unwrap_or_default(),
    };
    changes.map(hunk).collect()
}
