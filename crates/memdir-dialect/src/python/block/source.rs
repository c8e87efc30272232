//! The text of a block, and where its parts stand in the turn.

use std::borrow::Cow;

use super::{LineNumber, invalid};
use memdir_core::action::Span;
use memdir_core::catalog::shorten;
use memdir_core::report::Failure;

/// The one sentence that says what is allowed.
const ALLOWED: &str = "write only assignments, calls of the ten functions, texts joined with `+` or f-strings, and `if`/`elif`/`else` on \
     results";

/// A block with the line ends that Python reads.
pub(super) struct Source<'c> {
    pub(super) code: Cow<'c, str>,
    /// Where it starts in the turn.
    start: usize,
    /// Where a `\r` before `\n` was taken out, counted in `code`.
    removed: Vec<usize>,
}

impl<'c> Source<'c> {
    /// Python reads `\r\n` and `\r` as `\n`, in texts too.
    pub(super) fn new(code: &'c str, start: usize) -> Self {
        if !code.contains('\r') {
            return Self { code: code.into(), start, removed: Vec::new() };
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
        Self { code: out.into(), start, removed }
    }

    /// Where a part of `code` stands in the turn.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        // A `\r` that was taken out right at the start of a part is no part of it.
        let before_start = self.removed.partition_point(|removed| *removed <= start);
        let before_end = self.removed.partition_point(|removed| *removed < end);
        Span { start: self.start + start + before_start, end: self.start + end + before_end }
    }
}

/// Refuses the block for something in a line.
pub(super) fn refuse(line: LineNumber, message: impl AsRef<str>) -> Failure {
    invalid(format!("line {line}: {}", message.as_ref())).with_hint(ALLOWED)
}

/// A name in a sentence.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", shorten(name))
}
