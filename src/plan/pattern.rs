//! [`Pattern`]: what `text` and `regex` look for, in one line at a time.
//!
//! Owns the limits under which any pattern answers in time, and the words for those that are none. Touches nothing but
//! text.

use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::plan::lines::BOM;
use crate::report::{Code, Failure};

/// The most bytes that a compiled pattern may take: room for some sixty `\w`, or thousands of plain letters.
const SIZE: usize = 2 << 20;
/// The most bytes that a thread may take for what it has learnt of a pattern.
const CACHE: usize = 8 << 20;
/// After how many bytes of a note it is asked whether the time is over.
const PART: usize = 64 << 10;
/// How many lines beside each other are one place.
const PLACE: usize = 5;
/// What finds a text when no pattern does.
const AS_IT_STANDS: &str = "or send `\"mode\":\"text\"` to find the query as it stands";

/// Something that lines are searched for; threads may share one.
pub(crate) struct Pattern {
    matcher: RegexMatcher,
    end: LineTerminator,
    /// Searchers keep buffers, so they are made once for each thread.
    searchers: Mutex<Vec<Searcher>>,
}

/// Where a pattern is first found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    /// The first line, from 1, and the last of those beside it that match too.
    pub(crate) lines: [usize; 2],
    /// The byte at which the first match begins.
    pub(crate) at: usize,
}

impl Pattern {
    /// The query as it stands, in upper or lower case.
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
        let mut builder = RegexMatcherBuilder::new();
        builder.fixed_strings(true).case_insensitive(true).line_terminator(Some(b'\n'));
        Self::build(&builder, query, LineTerminator::byte(b'\n'))
    }

    /// A regular expression, case as written, which is matched against each line without its end.
    ///
    /// # Errors
    ///
    /// `invalid_pattern` with the place, for what is none or is too large.
    pub(crate) fn regex(query: &str) -> Result<Self, Failure> {
        if let Err(error) = regex_syntax::Parser::new().parse(query) {
            return Err(unreadable(query, &error));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).crlf(true);
        Self::build(&builder, query, LineTerminator::crlf())
    }

    fn build(builder: &RegexMatcherBuilder, query: &str, end: LineTerminator) -> Result<Self, Failure> {
        let mut builder = builder.clone();
        let matcher = builder.size_limit(SIZE).dfa_size_limit(CACHE).build(query).map_err(|error| {
            let (message, hint) = if matches!(error.kind(), ErrorKind::NotAllowed(_)) {
                let message = "the pattern asks for a line end, and each line is searched alone, without its end";
                (message, format!("leave the line end out, {AS_IT_STANDS}"))
            } else {
                ("the pattern is too large", format!("make counted repetitions smaller, {AS_IT_STANDS}"))
            };
            Failure::new(Code::InvalidPattern, message).with_hint(hint)
        })?;
        Ok(Self { matcher, end, searchers: Mutex::default() })
    }

    /// How many lines of a text match; fewer once `stop` says that the time is over.
    pub(crate) fn count(&self, text: &str, stop: &dyn Fn() -> bool) -> usize {
        let kept = self.searchers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut searcher = kept.unwrap_or_else(|| self.searcher(false));
        let mut count = Count(0);
        let mut rest = without_mark(text).as_bytes();
        loop {
            let after =
                rest.get(PART..).and_then(|after| memchr::memchr(b'\n', after)).map_or(rest.len(), |at| PART + at + 1);
            let (part, more) = rest.split_at_checked(after).unwrap_or((rest, &[]));
            // Neither the sink nor a slice in memory can fail.
            let _ = searcher.search_slice(&self.matcher, part, &mut count);
            rest = more;
            if rest.is_empty() || stop() {
                break;
            }
        }
        self.searchers.lock().unwrap_or_else(PoisonError::into_inner).push(searcher);
        count.0
    }

    /// The first line of a text that matches, with those right below it that do.
    pub(crate) fn first(&self, text: &str) -> Option<Place> {
        let bare = without_mark(text);
        let mut first = First { matcher: &self.matcher, place: None, skipped: text.len() - bare.len() };
        let _ = self.searcher(true).search_slice(&self.matcher, bare.as_bytes(), &mut first);
        first.place
    }

    /// What matches in the lines of a text.
    pub(crate) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut marks = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\r', '\n']);
            let _ = self.matcher.find_iter(bare.as_bytes(), |found| {
                marks.push(start + found.start()..start + found.end());
                true
            });
            start += line.len();
        }
        marks.retain(|mark| !mark.is_empty() && text.get(mark.clone()).is_some());
        marks
    }

    fn searcher(&self, with_numbers: bool) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder.line_number(with_numbers).bom_sniffing(false).line_terminator(self.end).build()
    }
}

/// Says where a pattern cannot be read, and why.
fn unreadable(query: &str, error: &regex_syntax::Error) -> Failure {
    let (at, why) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (error.span().start.offset, error.kind().to_string()),
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

struct Count(usize);

impl Sink for &mut Count {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 += 1;
        Ok(true)
    }
}

struct First<'m> {
    matcher: &'m RegexMatcher,
    place: Option<Place>,
    /// The bytes of the text before what is searched.
    skipped: usize,
}

impl Sink for &mut First<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let line = number(found.line_number().unwrap_or(1));
        match &mut self.place {
            None => {
                let inside = self.matcher.find(found.bytes()).ok().flatten().map_or(0, |found| found.start());
                let at = self.skipped + number(found.absolute_byte_offset()) + inside;
                self.place = Some(Place { lines: [line, line], at });
                Ok(true)
            }
            Some(place) => {
                let [first, last] = &mut place.lines;
                let is_beside = line == *last + 1 && line < *first + PLACE;
                if is_beside {
                    *last = line;
                }
                Ok(is_beside)
            }
        }
    }
}
