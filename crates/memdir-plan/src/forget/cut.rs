//! How something is cut out of a text, so that what is left can be read: all work is linear in the text.

use std::ops::Range;

use memchr::memmem;

use super::forms::Forms;
use crate::needle::Needle;
use memdir_core::json::{Unescaped, is_json, values};
use memdir_note::Note;

/// How often a text is searched again, since what is left may join to what was cut.
const ROUNDS: usize = 8;

/// A text out of which something was cut.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cut {
    /// What is left.
    pub text: String,
    /// How many places were cut out.
    pub count: u64,
}

pub(super) fn cut_spans(text: &str, spans: &[Range<usize>]) -> Option<Cut> {
    let (left, marks) = without_spans(text, spans);
    let count = u64::try_from(spans.len()).unwrap_or(u64::MAX);
    (count > 0).then(|| Cut { text: without_bare_lines(&left, &marks), count })
}

/// A text without these places, and where they were.
pub(super) fn without_spans(text: &str, spans: &[Range<usize>]) -> (String, Vec<usize>) {
    let (mut left, mut marks, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for span in spans {
        // A link may stand in the text of another.
        if span.start < from {
            continue;
        }
        left.push_str(text.get(from..span.start).unwrap_or_default());
        marks.push(left.len());
        from = span.end;
    }
    left.push_str(text.get(from..).unwrap_or_default());
    (left, marks)
}

pub(super) fn cut_lines(text: &str, lines: &[String]) -> Option<Cut> {
    let (mut left, mut count) = (String::with_capacity(text.len()), 0);
    for line in text.split_inclusive('\n') {
        if lines.iter().any(|sought| sought == line.trim_ascii()) {
            count += 1;
        } else {
            left.push_str(line);
        }
    }
    (count > 0).then_some(Cut { text: left, count })
}

pub(super) fn cut_forms(text: &str, forms: &[String]) -> Option<Cut> {
    let (mut text, mut marks, mut count) = (text.to_owned(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let before = count;
        for form in forms {
            if memmem::find(text.as_bytes(), form.as_bytes()).is_some() {
                (text, marks, count) = cut_pattern(&text, form, &marks, count);
            }
        }
        if count == before {
            break;
        }
    }
    (count > 0).then(|| Cut { text: without_bare_lines(&text, &marks), count })
}

/// Front matter that cannot be read any more, since an item of a list is gone, has an empty one instead.
pub(super) fn with_front_matter(cut: Cut, before: &str, forms: &Forms) -> Cut {
    let is_read = |text: &str| Note::parse(text).front_error().is_none();
    if is_read(&cut.text) || !is_read(before) {
        return cut;
    }
    let (front, body) = before.split_at_checked(Note::parse(before).body()).unwrap_or((before, ""));
    let emptied = forms.0.iter().fold(front.to_owned(), |front, form| emptied(&front, form));
    let body = cut_forms(body, &forms.0).map_or_else(|| body.to_owned(), |cut| cut.text);
    let mended = emptied + &body;
    if is_read(&mended) { Cut { text: mended, ..cut } } else { cut }
}

/// Front matter without a text; where it was all of an item of a list, that is an empty one.
fn emptied(front: &str, form: &str) -> String {
    let mut left = String::with_capacity(front.len());
    let mut from = 0;
    for (at, _) in front.match_indices(form) {
        let (before, after) = (front.get(..at).unwrap_or_default(), front.get(at + form.len()..).unwrap_or_default());
        let is_item =
            before.trim_end_matches(' ').ends_with(['[', ',']) && after.trim_start_matches(' ').starts_with([',', ']']);
        left.push_str(front.get(from..at).unwrap_or_default());
        left.push_str(if is_item { "\"\"" } else { "" });
        from = at + form.len();
    }
    left + front.get(from..).unwrap_or_default()
}

/// Whether each line of a text is JSON, as in a log.
pub(super) fn are_lines_of_json(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_json)
}

/// Cuts what the values of JSON say, and no part of an escape.
pub(super) fn cut_json(json: &str, forms: &Forms) -> Option<Cut> {
    let (mut left, mut from, mut count) = (String::with_capacity(json.len()), 0, 0);
    for place in values(json) {
        let (string, more) = cut_string(json.get(place.clone())?, &forms.0);
        count += more;
        left.push_str(json.get(from..place.start)?);
        left.push_str(&string);
        from = place.end;
    }
    left.push_str(json.get(from..)?);
    (count > 0).then_some(Cut { text: left, count })
}

/// What is left of the inside of a string, and how many places were cut out.
fn cut_string(string: &str, forms: &[String]) -> (String, u64) {
    let (mut string, mut count) = (string.to_owned(), 0);
    for _ in 0..ROUNDS {
        let before = count;
        for form in forms {
            let read = Unescaped::of(&string);
            let found = memmem::find_iter(read.says.as_bytes(), form.as_bytes());
            let spans: Vec<Range<usize>> = found.map(|at| read.range(at..at + form.len())).collect();
            if !spans.is_empty() {
                count += u64::try_from(spans.len()).unwrap_or(u64::MAX);
                string = without_spans(&string, &spans).0;
            }
        }
        if count == before {
            break;
        }
    }
    (string, count)
}

/// Cuts `pattern` out, and out of what is left, in one pass (Knuth, Morris and Pratt with a stack): what comes before a
/// place and what comes after it may join to the pattern anew, as often as the text is long.
///
/// `marks` are the places at which something was cut out before, in order; the new ones are added.
fn cut_pattern(text: &str, pattern: &str, marks: &[usize], mut count: u64) -> (String, Vec<usize>, u64) {
    let pattern = Needle::new(pattern.as_bytes());
    let mut left: Vec<u8> = Vec::with_capacity(text.len());
    // How much of the pattern ends at each byte that is left.
    let mut matched: Vec<usize> = Vec::with_capacity(text.len());
    let mut earlier = marks.iter().peekable();
    let mut found: Vec<usize> = Vec::new();
    let mark = |found: &mut Vec<usize>, place: usize| {
        while found.last().is_some_and(|last| *last >= place) {
            found.pop();
        }
        found.push(place);
    };
    for (index, byte) in text.bytes().enumerate() {
        if earlier.next_if(|mark| **mark <= index).is_some() {
            mark(&mut found, left.len());
        }
        let length = pattern.extended(matched.last().copied().unwrap_or(0), &byte);
        left.push(byte);
        matched.push(length);
        if length == pattern.length() {
            left.truncate(left.len() - length);
            matched.truncate(left.len());
            mark(&mut found, left.len());
            count += 1;
        }
    }
    if earlier.next().is_some() {
        mark(&mut found, left.len());
    }
    // Texts are cut out of a text, so what is left is one.
    (String::from_utf8_lossy(&left).into_owned(), found, count)
}

/// Takes away the lines with a mark of which only white space and the mark of a list is left.
fn without_bare_lines(text: &str, marks: &[usize]) -> String {
    let mut marks = marks.iter().peekable();
    let (mut left, mut start) = (String::with_capacity(text.len()), 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let mut is_marked = false;
        // A mark at the end of the text belongs to the last line.
        while marks.next_if(|mark| **mark < end || (**mark == end && !line.ends_with('\n'))).is_some() {
            is_marked = true;
        }
        if !(is_marked && is_bare(line)) {
            left.push_str(line);
        }
        start = end;
    }
    left
}

fn is_bare(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let item = match line.strip_prefix(['-', '*', '+']) {
        Some(item) => item,
        None if rest.len() < line.len() => rest.strip_prefix(['.', ')']).unwrap_or(rest),
        None => line,
    };
    let item = item.trim();
    item.is_empty() || ["[ ]", "[x]", "[X]"].contains(&item)
}
