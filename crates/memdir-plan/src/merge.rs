//! Putting two changes of the same text together, line by line.
//!
//! Touches nothing but text. Changes that overlap or touch are a conflict; nothing is ever guessed.

use std::ops::Range;

use similar::DiffTag;

use crate::diff;

/// Lines of the base that a side replaced, and by what.
struct Hunk<'a> {
    base: Range<usize>,
    lines: &'a [&'a str],
}

/// Merges what two sides made of `base`; `None` when their changes overlap or touch, unless one only adds whole lines right before
/// or behind what the other changed, such as the next item of a list, or both only take lines away.
pub(crate) fn three_way(base: &str, mine: &str, theirs: &str) -> Option<String> {
    let base = diff::lines(base);
    let (mine, theirs) = (diff::lines(mine), diff::lines(theirs));
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
    Some(out)
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
        let (adds, changes) = if other.base.is_empty() { (other, self) } else { (self, other) };
        !(adds.base.is_empty() && !changes.base.is_empty() && adds.stands_alone())
    }

    /// Whether the lines that are added continue nothing: an indented line may belong to the one above it.
    fn stands_alone(&self) -> bool {
        self.lines.first().is_some_and(|line| !line.starts_with(char::is_whitespace))
    }
}

fn hunks<'a>(base: &[&str], side: &'a [&'a str]) -> Vec<Hunk<'a>> {
    let ops = diff::ops(base, side);
    let changes = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changes.map(|op| Hunk { base: op.old_range(), lines: side.get(op.new_range()).unwrap_or_default() }).collect()
}
