//! Unified diffs, and the line differences below them.
//!
//! Owns how a change is shown. The work is bounded: a middle too large to compare is shown as replaced.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// The most lines, of both sides together, that are compared one by one.
const MAX_LINES: usize = 8_000;

/// The lines of a text, each with its line end.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What to do to the lines of `old` to get those of `new`.
pub(crate) fn ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let shorter = old.len().min(new.len());
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take(shorter - head).take_while(|(old, new)| old == new).count();
    let old_middle = old.get(head..old.len() - tail).unwrap_or_default();
    let new_middle = new.get(head..new.len() - tail).unwrap_or_default();
    let mut ops = Vec::new();
    if head > 0 {
        ops.push(DiffOp::Equal { old_index: 0, new_index: 0, len: head });
    }
    if old_middle.len() + new_middle.len() > MAX_LINES && !old_middle.is_empty() && !new_middle.is_empty() {
        let (old_len, new_len) = (old_middle.len(), new_middle.len());
        ops.push(DiffOp::Replace { old_index: head, old_len, new_index: head, new_len });
    } else {
        let (old, new) = numbered(old_middle, new_middle);
        ops.extend(capture_diff_slices(Algorithm::Myers, &old, &new).into_iter().map(|op| moved(op, head)));
    }
    if tail > 0 {
        ops.push(DiffOp::Equal { old_index: old.len() - tail, new_index: new.len() - tail, len: tail });
    }
    ops
}

/// Numbers instead of lines, so that comparing two is cheap however long they are.
fn numbered(old: &[&str], new: &[&str]) -> (Vec<usize>, Vec<usize>) {
    let mut numbers = HashMap::new();
    let mut number = |line: &&str| {
        let next = numbers.len();
        *numbers.entry(line.to_string()).or_insert(next)
    };
    (old.iter().map(&mut number).collect(), new.iter().map(&mut number).collect())
}

fn moved(op: DiffOp, by: usize) -> DiffOp {
    let (tag, old, new) = op.as_tag_tuple();
    let (old_index, old_len, new_index, new_len) = (old.start + by, old.len(), new.start + by, new.len());
    match tag {
        DiffTag::Equal => DiffOp::Equal { old_index, new_index, len: old_len },
        DiffTag::Delete => DiffOp::Delete { old_index, old_len, new_index },
        DiffTag::Insert => DiffOp::Insert { old_index, new_index, new_len },
        DiffTag::Replace => DiffOp::Replace { old_index, old_len, new_index, new_len },
    }
}

/// How many lines were added and how many taken away. A last line that only gets its end, so that others can follow, stays.
pub(crate) fn counts(old: &str, new: &str) -> (usize, usize) {
    let added = new.strip_prefix(old).filter(|_| !old.is_empty() && !old.ends_with(['\n', '\r']));
    let added = added.and_then(|added| added.strip_prefix("\r\n").or_else(|| added.strip_prefix('\n')));
    if let Some(added) = added.filter(|added| !added.is_empty()) {
        return (lines(added).len(), 0);
    }
    let ops = ops(&lines(old), &lines(new));
    let changes = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changes.fold((0, 0), |(added, removed), op| (added + op.new_range().len(), removed + op.old_range().len()))
}

/// The hunks of a unified diff, without the lines that name the files.
pub(crate) fn hunks(old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    let mut out = String::new();
    for group in group_diff_ops(ops(&old, &new), 3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        let _ = writeln!(out, "@@ -{} +{} @@", place(&old_range), place(&new_range));
        for op in &group {
            let (tag, old_range, new_range) = op.as_tag_tuple();
            if tag == DiffTag::Equal {
                write_lines(&mut out, ' ', &old, old_range);
            } else {
                write_lines(&mut out, '-', &old, old_range);
                write_lines(&mut out, '+', &new, new_range);
            }
        }
    }
    out
}

/// A range as unified diffs write it: an empty one names the line before it.
fn place(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// A unified diff of one file; empty when nothing differs. `None` is an absent file.
pub fn unified(old_name: &str, old: Option<&[u8]>, new_name: &str, new: Option<&[u8]>) -> String {
    if old == new {
        return String::new();
    }
    let text = |bytes: Option<&[u8]>| str::from_utf8(bytes.unwrap_or_default()).map(str::to_owned);
    let (Ok(old_text), Ok(new_text)) = (text(old), text(new)) else {
        let name = if new.is_some() { new_name } else { old_name };
        return format!("Binary file {name} differs\n");
    };
    let name = |bytes: Option<&[u8]>, side: &str, name: &str| match bytes {
        Some(_) => format!("{side}/{name}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name(old, "a", old_name), name(new, "b", new_name));
    format!("--- {from}\n+++ {to}\n{}", hunks(&old_text, &new_text))
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn a_last_line_that_gets_its_end_is_not_counted() {
        for (old, new, expected) in [
            ("a", "a\nb\n", (1, 0)),
            ("a", "a\r\nb", (1, 0)),
            ("a", "a\n", (1, 1)),
            ("a", "ab\n", (1, 1)),
            ("a\n", "a\n\nb\n", (2, 0)),
            ("", "\na\n", (2, 0)),
        ] {
            assert_eq!(counts(old, new), expected, "{old:?} {new:?}");
        }
    }
}
