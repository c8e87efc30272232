//! The filters that stand in a message.

use std::collections::HashMap;
use std::ops::Range;

/// A message, and the filters that stood in it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Split {
    /// What is left.
    pub(crate) message: String,
    /// The filters, in their order, without blanks around them.
    pub(crate) filters: Vec<String>,
    /// Whether the last one has no end, and so takes all that follows.
    pub(crate) is_unclosed: bool,
}

const OPEN: &str = "<filter>";
const CLOSE: &str = "</filter>";

/// Takes `<filter>…</filter>`, in any case, out of a message.
///
/// A filter within another is part of it. One without an end goes to the end of the message: rather too much is kept from the
/// model than too little. In a code block, or between backticks, that are closed it is only spoken of, and stays.
pub(crate) fn split(message: &str) -> Split {
    let code = code(message);
    let mut split = Split::default();
    let mut filter = String::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, tag) in tags(message) {
        let is_code = depth == 0 && code.binary_search_by(|range| order(range, at)).is_ok();
        if is_code || (depth == 0 && tag == CLOSE) {
            continue;
        }
        let text = message.get(from..at).unwrap_or_default();
        if depth == 0 {
            split.message.push_str(text)
        } else {
            filter.push_str(text)
        }
        from = at + tag.len();
        depth = if tag == OPEN { depth + 1 } else { depth - 1 };
        if depth == 0 {
            split.filters.push(std::mem::take(&mut filter));
        }
    }
    let rest = message.get(from..).unwrap_or_default();
    if depth == 0 {
        split.message.push_str(rest);
    } else {
        filter.push_str(rest);
        split.filters.push(filter);
        split.is_unclosed = true;
    }
    split.message = split.message.trim().to_owned();
    split.filters = split.filters.iter().map(|filter| filter.trim().to_owned()).filter(|it| !it.is_empty()).collect();
    split
}

/// The places of the tags in a text, and which each is.
fn tags(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    text.match_indices('<').filter_map(|(at, _)| {
        let is = |tag: &&str| text.get(at..at + tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag));
        [OPEN, CLOSE].into_iter().find(|tag| is(tag)).map(|tag| (at, tag))
    })
}

/// Where a place is, seen from a range.
fn order(range: &Range<usize>, at: usize) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if range.end <= at {
        Less
    } else if range.start > at {
        Greater
    } else {
        Equal
    }
}

/// The bytes of a text that are code, in their order: blocks between lines of backticks, and what stands between two equal runs
/// of them in one line.
fn code(text: &str) -> Vec<Range<usize>> {
    let mut code = Vec::new();
    let mut spans = Vec::new();
    let mut block = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        match block {
            Some(start) if is_fence => {
                // What looked like spans in a block is part of it.
                spans.clear();
                code.push(start..at + line.len());
                block = None;
            }
            None if is_fence => {
                code.append(&mut spans);
                block = Some(at);
            }
            _ => spans.extend(spans_of(line, at)),
        }
        at += line.len();
    }
    code.append(&mut spans);
    code
}

/// What stands between backticks in a line that starts at a byte.
fn spans_of(line: &str, start: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    // The next run of the same length, for each.
    let mut next = HashMap::<usize, usize>::new();
    let mut closing: Vec<Option<usize>> =
        runs.iter().enumerate().rev().map(|(number, run)| next.insert(run.len(), number)).collect();
    closing.reverse();
    let mut spans = Vec::new();
    let mut number = 0;
    while let Some(run) = runs.get(number) {
        let end = closing.get(number).copied().flatten();
        if let Some(end) = end.and_then(|end| Some((end, runs.get(end)?))) {
            spans.push(start + run.start..start + end.1.end);
            number = end.0;
        }
        number += 1;
    }
    spans
}
