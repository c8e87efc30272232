//! The text of a block, and the places in it.

use std::borrow::Cow;

use ruff_text_size::{TextRange, TextSize};

use super::{invalid, script::Line};
use crate::action::Span;
use crate::catalog::shorten;
use crate::report::Failure;

/// The one sentence that says what is allowed.
pub(super) const ALLOWED: &str = "write only assignments, calls of the ten functions, texts joined with `+` or f-strings, and `if`/`elif`/`else` on \
     results";

/// A block with the line ends that Python reads.
pub(super) struct Source<'c> {
    pub(super) code: Cow<'c, str>,
    /// Where it starts in the turn.
    start: usize,
    /// Where a `\r` before `\n` was taken out, counted in `code`.
    removed: Vec<usize>,
    /// Where each line but the first starts.
    lines: Vec<usize>,
}

impl<'c> Source<'c> {
    pub(super) fn new(code: &'c str, start: usize) -> Self {
        let (code, removed) = with_line_feeds(code);
        let lines = memchr::memchr_iter(b'\n', code.as_bytes()).map(|at| at + 1).collect();
        Self { code, start, removed, lines }
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, at: TextSize) -> Line {
        Line(self.lines.partition_point(|start| *start <= at.to_usize()) + 1)
    }

    /// The ends of all lines.
    pub(super) fn line_ends(&self) -> impl Iterator<Item = usize> {
        self.lines.iter().copied().chain([self.code.len()])
    }

    pub(super) fn text(&self, range: TextRange) -> &str {
        self.code.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// Where a range stands in the turn.
    pub(super) fn span(&self, range: TextRange) -> Span {
        let place = |at: usize| self.start + at + self.removed.partition_point(|removed| *removed < at);
        let start = range.start().to_usize();
        // What is taken out at the start of a range is no part of it.
        let taken = self.removed.partition_point(|removed| *removed <= start);
        Span { start: self.start + start + taken, end: place(range.end().to_usize()) }
    }
}

/// Python reads `\r\n` and `\r` as `\n`, in texts too.
fn with_line_feeds(code: &str) -> (Cow<'_, str>, Vec<usize>) {
    if !code.contains('\r') {
        return (code.into(), Vec::new());
    }
    let (mut out, mut removed) = (String::with_capacity(code.len()), Vec::new());
    let mut characters = code.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => removed.push(out.len()),
            '\r' => out.push('\n'),
            other => out.push(other),
        }
    }
    (out.into(), removed)
}

/// Refuses the block for something in a line.
pub(super) fn refuse(line: Line, message: impl AsRef<str>) -> Failure {
    invalid(format!("line {line}: {}", message.as_ref())).with_hint(ALLOWED)
}

/// A name in a sentence.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", shorten(name))
}
