//! Putting two changes of the same text together, line by line.
//!
//! Touches nothing but text. Changes that overlap or touch are a conflict; nothing is ever guessed.

use std::ops::Range;

use similar::DiffTag;

use crate::plan::diff;

/// Lines of the base that a side replaced, and by what.
struct Hunk<'a> {
    base: Range<usize>,
    lines: &'a [&'a str],
}

/// Merges what two sides made of `base`; `None` when their changes overlap or touch.
pub(crate) fn three_way(base: &str, mine: &str, theirs: &str) -> Option<String> {
    let base = diff::lines(base);
    let (mine, theirs) = (diff::lines(mine), diff::lines(theirs));
    let (ours, others) = (hunks(&base, &mine), hunks(&base, &theirs));
    let touch = |one: &Hunk<'_>, other: &Hunk<'_>| one.base.start <= other.base.end && other.base.start <= one.base.end;
    let mut all = Vec::with_capacity(ours.len() + others.len());
    let mut rest = others.as_slice();
    for hunk in &ours {
        // Both lists are sorted, so what lies wholly before is settled.
        while let [first, after @ ..] = rest
            && first.base.end < hunk.base.start
        {
            all.push(first);
            rest = after;
        }
        if rest.first().is_some_and(|first| touch(first, hunk)) {
            return None;
        }
        all.push(hunk);
    }
    all.extend(rest);
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

fn hunks<'a>(base: &[&str], side: &'a [&'a str]) -> Vec<Hunk<'a>> {
    let ops = diff::ops(base, side);
    let changes = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changes.map(|op| Hunk { base: op.old_range(), lines: side.get(op.new_range()).unwrap_or_default() }).collect()
}
