//! [`Pattern`]: what the modes `text` and `regex` look for, in one line at a time.
//!
//! Owns the limits under which any pattern answers in time, and the messages for a pattern that cannot be used. Touches
//! nothing but text.

use std::fmt::{self, Write};
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};
use regex_syntax::{Error, ParserBuilder};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::lines::{self, BOM};
use memdir_core::report::{Code, Failure};

/// The most bytes that a compiled pattern may take: room for some sixty `\w`, or thousands of plain letters.
const SIZE: usize = 2 << 20;
/// The most bytes that a pattern may have with its classes written out, which is less than what it takes when it is compiled.
const WRITTEN_OUT: usize = 512 << 10;
/// The most bytes that a thread may take for what it has learnt of a pattern.
const CACHE: usize = 8 << 20;
/// How deep a pattern may nest that was printed from one that was parsed, which the parser limits to 250.
const NEST: u32 = 1_000;
/// After how many bytes of a note it is asked whether the time is over.
const PART: usize = 64 << 10;
/// How many adjacent lines are shown as one match.
const MOST_LINES: usize = 5;
/// What finds a text when no pattern does.
const AS_IT_STANDS: &str = "or send `\"mode\":\"text\"` to find the query as it stands";

/// A regular expression that matches within a line; threads may share one.
pub(crate) struct Pattern(Regex);

/// Where a pattern first matches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FirstMatch {
    /// The first line, from 1, and the last of the lines right below it that match too.
    pub(crate) lines: [usize; 2],
    /// The byte at which the first match begins.
    pub(crate) at: usize,
}

impl Pattern {
    /// The query as it stands, in upper or lower case, its accents in either form of Unicode.
    ///
    /// # Errors
    ///
    /// `invalid_pattern` for several lines.
    pub(crate) fn text(query: &str) -> Result<Self, Failure> {
        let query = query.trim_matches(['\r', '\n']);
        if query.contains(['\r', '\n']) {
            return Err(Failure::new(
                Code::InvalidPattern,
                "the query has several lines, and each line is searched alone",
            )
            .with_hint("send the one line that says most"));
        }
        Self::build(RegexBuilder::new(&forms(query)).case_insensitive(true))
    }

    /// A regular expression, case as written, which is matched against each line without its end.
    ///
    /// # Errors
    ///
    /// `invalid_pattern` with the place, for what cannot be read or is too large.
    pub(crate) fn regex(query: &str) -> Result<Self, Failure> {
        let parsed = ParserBuilder::new().multi_line(true).crlf(true).build().parse(query);
        let parsed = parsed.map_err(|error| unreadable(query, &error))?;
        // Before a copy of it is made, which may take as much again.
        written_out(&parsed)?;
        let within_line = without_line_ends(parsed).ok_or_else(|| {
            let message = "the pattern asks for a line end, and each line is searched alone, without its end";
            Failure::new(Code::InvalidPattern, message).with_hint(format!("leave the line end out, {AS_IT_STANDS}"))
        })?;
        Self::build(RegexBuilder::new(&written_out(&within_line)?).nest_limit(NEST))
    }

    fn build(builder: &mut RegexBuilder) -> Result<Self, Failure> {
        builder.size_limit(SIZE).dfa_size_limit(CACHE).build().map(Self).map_err(|_| too_large())
    }

    /// How many lines of a text match; fewer once `stop` says that the time is over.
    pub(crate) fn count(&self, text: &str, stop: &dyn Fn() -> bool) -> usize {
        let (mut count, mut rest) = (0, without_mark(text));
        loop {
            let after = rest.as_bytes().get(PART..).and_then(|after| memchr::memchr(b'\n', after));
            let end = after.map_or(rest.len(), |at| PART + at + 1);
            let (part, more) = rest.split_at_checked(end).unwrap_or((rest, ""));
            count += self.matching_lines(part).count();
            rest = more;
            if rest.is_empty() || stop() {
                return count;
            }
        }
    }

    /// The first line of a text that matches, with those right below it that do.
    pub(crate) fn first(&self, text: &str) -> Option<FirstMatch> {
        let bare = without_mark(text);
        let skipped = text.len() - bare.len();
        let mut matches = self.matching_lines(bare).map(|at| at + skipped);
        let at = matches.next()?;
        let first = lines::number_at(text, at);
        let below = matches.map(|at| lines::number_at(text, at)).zip(first + 1..first + MOST_LINES);
        let last = below.take_while(|(number, next)| number == next).last();
        Some(FirstMatch { lines: [first, last.map_or(first, |(last, _)| last)], at })
    }

    /// What matches in the lines of a text.
    pub(crate) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        self.0.find_iter(text).map(|found| found.range()).filter(|mark| !mark.is_empty()).collect()
    }

    /// For each line that matches, the byte at which its first match begins.
    fn matching_lines<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = self.0.find_at(text, next).filter(|_| next < text.len())?.start();
            let rest = text.as_bytes().get(at..)?;
            // Behind the last line end there is no line.
            if rest.is_empty() && text.ends_with('\n') {
                return None;
            }
            next = memchr::memchr(b'\n', rest).map_or(text.len(), |end| at + end + 1);
            Some(at)
        })
    }
}

/// A text and its composed and decomposed form, where these are others.
fn spellings(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    for form in [text.nfc().collect(), text.nfd().collect::<String>()] {
        if !all.contains(&form) {
            all.push(form);
        }
    }
    all
}

/// A pattern for a text each of whose characters may stand in any of its forms.
fn forms(text: &str) -> String {
    if text.is_ascii() {
        return regex::escape(text);
    }
    let mut pattern = String::new();
    for part in text.graphemes(true) {
        let forms: Vec<String> = spellings(part).iter().map(|form| regex::escape(form)).collect();
        match forms.as_slice() {
            [one] => pattern.push_str(one),
            several => pattern.push_str(&format!("(?:{})", several.join("|"))),
        }
    }
    pattern
}

/// A pattern that is written out, as far as [`WRITTEN_OUT`] reaches.
struct WrittenOut(String);

impl Write for WrittenOut {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > WRITTEN_OUT {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

fn written_out(pattern: &Hir) -> Result<String, Failure> {
    let mut written = WrittenOut(String::new());
    write!(written, "{pattern}").map_err(|_| too_large())?;
    Ok(written.0)
}

fn too_large() -> Failure {
    Failure::new(Code::InvalidPattern, "the pattern is too large")
        .with_hint(format!("make it shorter, and its counted repetitions smaller, {AS_IT_STANDS}"))
}

/// The pattern within a line: line ends taken out of its classes of characters, and a line for the whole text that its anchors
/// are about. `None` for one that asks for a line end.
fn without_line_ends(pattern: Hir) -> Option<Hir> {
    Some(match pattern.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Look(Look::Start | Look::StartLF) => Hir::look(Look::StartCRLF),
        HirKind::Look(Look::End | Look::EndLF) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') || literal.0.contains(&b'\r') => return None,
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => {
                Hir::alternation(spellings(text).into_iter().map(|text| Hir::literal(text.into_bytes())).collect())
            }
            Err(_) => Hir::literal(literal.0),
        },
        HirKind::Class(class) if class.is_empty() => Hir::class(class),
        HirKind::Class(mut class) => {
            match &mut class {
                Class::Unicode(class) => {
                    class.difference(&ClassUnicode::new(['\n', '\r'].map(|end| ClassUnicodeRange::new(end, end))));
                }
                Class::Bytes(class) => {
                    class.difference(&ClassBytes::new([b'\n', b'\r'].map(|end| ClassBytesRange::new(end, end))));
                }
            }
            if class.is_empty() {
                return None;
            }
            Hir::class(class)
        }
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(without_line_ends(*repetition.sub)?);
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => without_line_ends(*capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(without_line_ends).collect::<Option<_>>()?),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(without_line_ends).collect::<Option<_>>()?)
        }
    })
}

/// Says where a pattern cannot be read, and why.
fn unreadable(query: &str, error: &Error) -> Failure {
    let (at, why) = match error {
        Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        Error::Translate(error) => (error.span().start.offset, error.kind().to_string()),
        _ => (0, error.to_string()),
    };
    let before = query.get(..at).unwrap_or_default().chars().count();
    let part: String = query.get(at..).unwrap_or_default().chars().take(20).collect();
    let place = if part.is_empty() { String::new() } else { format!(", `{part}`") };
    Failure::new(Code::InvalidPattern, format!("the pattern cannot be read at character {}{place}: {why}", before + 1))
        .with_hint(format!("mend it there, with `\\` before a character that means itself, {AS_IT_STANDS}"))
}

/// A text without its byte order mark, which is no part of its first line.
fn without_mark(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}
