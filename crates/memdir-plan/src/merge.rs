//! Putting two changes of the same text together, line by line.
//!
//! Touches nothing but text. Changes that overlap or touch are a conflict; nothing is ever guessed.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use memdir_note::Note;
use similar::DiffTag;

use crate::diff;

/// Lines of the base that a side replaced, and by what.
struct Hunk<'a> {
    base: Range<usize>,
    /// Where in the side's own text the lines stand.
    own: Range<usize>,
    lines: &'a [&'a str],
    side: &'a Entries<'a>,
}

/// Where in a text entries begin, which is asked only where changes touch.
struct Entries<'a> {
    text: &'a str,
    lines: OnceCell<BTreeMap<usize, usize>>,
}

/// Merges what two sides made of `base`; `None` when their changes overlap or touch, unless one only adds whole lines right before
/// or behind what the other changed, both only take lines away, or the lower change begins with an item, a row or a key that does not
/// stand in what the upper one changed, as two facts of a list do.
pub(crate) fn three_way(base: &str, mine: &str, theirs: &str) -> Option<String> {
    // Whether the last line has an end is merged by itself: what is added behind a line must never be glued to it.
    let is_open = |text: &str| !text.is_empty() && !text.ends_with('\n');
    let is_left_open = if is_open(mine) == is_open(base) { is_open(theirs) } else { is_open(mine) };
    let line_end = line_end(&[base, mine, theirs]);
    let ended = |text: &str| if is_open(text) { format!("{text}{line_end}") } else { text.to_owned() };
    let (base, mine, theirs) = (ended(base), ended(mine), ended(theirs));
    let base_lines = diff::lines(&base);
    let (my_lines, their_lines) = (diff::lines(&mine), diff::lines(&theirs));
    let [base_entries, my_entries, their_entries] = [&base, &mine, &theirs].map(|text| Entries::of(text));
    let mut all = hunks(&base_lines, &my_lines, &my_entries);
    all.extend(hunks(&base_lines, &their_lines, &their_entries));
    all.sort_by_key(|hunk| (hunk.base.start, hunk.base.end));
    let mut out: Vec<&str> = Vec::new();
    let mut places = Vec::new();
    let mut done = 0;
    for hunk in &all {
        // There is no such range where two overlap.
        out.extend(base_lines.get(done..hunk.base.start)?);
        places.push(out.len()..out.len() + hunk.lines.len());
        out.extend(hunk.lines);
        done = hunk.base.end;
    }
    out.extend(base_lines.get(done..)?);
    let mut out = out.concat();
    let touching = all
        .windows(2)
        .zip(places.windows(2))
        .filter(|(pair, _)| matches!(pair, [one, other] if one.may_belong_to(other)));
    let out_entries = Entries::of(&out);
    for (pair, places) in touching {
        let ([one, other], [above, below]) = (pair, places) else { continue };
        if !one.is_apart_from(other, &base_entries) || !out_entries.are_apart(above, below) {
            return None;
        }
    }
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
    /// Whether a hunk that does not begin before this one touches it so that one may belong to the other, as far as their lines tell.
    fn may_belong_to(&self, other: &Self) -> bool {
        let takes_away = |hunk: &Self| hunk.lines.is_empty() && !hunk.base.is_empty();
        let both_take_away = takes_away(self) && takes_away(other);
        other.base.start == self.base.end
            && !both_take_away
            && match (self.base.is_empty(), other.base.is_empty()) {
                (true, true) | (false, false) => true,
                (true, false) => !self.stands_alone(),
                (false, true) => !other.stands_alone(),
            }
    }

    /// Whether the lines that are added continue nothing: an indented line may belong to the one above it.
    fn stands_alone(&self) -> bool {
        self.lines.first().is_some_and(|line| !line.starts_with(char::is_whitespace))
    }

    /// Whether what a hunk right below this one changed begins by itself, before that change and behind it.
    fn is_apart_from(&self, other: &Self, base: &Entries<'_>) -> bool {
        // Which of two things that are added comes first is not known.
        let both_add = self.base.is_empty() && other.base.is_empty();
        let above = other.own.start.saturating_sub(self.base.len())..other.own.start;
        !both_add && base.are_apart(&self.base, &other.base) && other.side.are_apart(&above, &other.own)
    }
}

impl<'a> Entries<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, lines: OnceCell::new() }
    }

    /// Whether an entry begins on the first of some lines that stands in nothing that begins on the lines right `above`. No lines belong to
    /// nothing, and nothing to them.
    fn are_apart(&self, above: &Range<usize>, lines: &Range<usize>) -> bool {
        // Entries count lines from 1.
        let outer = || self.lines.get_or_init(|| Note::parse(self.text).entries()).get(&(lines.start + 1));
        lines.is_empty() || above.is_empty() || outer().is_some_and(|outer| *outer <= above.start)
    }
}

fn hunks<'a>(base: &[&'a str], side: &'a [&'a str], entries: &'a Entries<'a>) -> Vec<Hunk<'a>> {
    let ops = diff::ops(base, side);
    let changes = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let hunk = |op: &similar::DiffOp| Hunk {
        base: op.old_range(),
        own: op.new_range(),
        lines: side.get(op.new_range()).unwrap_or_default(),
        side: entries,
    };
    changes.map(hunk).collect()
}
