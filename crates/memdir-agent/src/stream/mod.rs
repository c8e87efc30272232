//! A reply while it is written: the pieces of turns in, what may be shown out.
//!
//! Owns what may be shown before all is known. A turn that begins with its reply ends with it, so no call can follow; what a filter is
//! about is held back with all that follows, until the reply is whole. A turn can still be sent back: then what was shown stays the
//! beginning of the reply.

use memdir_dialect::Preview;
use memdir_model::{Answer, End, Heard};
use memdir_policy::Filter;

/// What may be shown of a turn while it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Written<'a> {
    /// The next piece of what is thought; nothing of it where there are filters.
    Thought(&'a str),
    /// Something is written that is no reply, or none that may be shown yet.
    Other,
    /// The next piece of the reply, in whole sentences.
    Reply(&'a str),
}

/// How much of a reply is looked at while it is written, in bytes; what is longer is shown when it is whole.
const MOST: usize = 16 << 10;
/// How blocks of calls begin and end that end a turn.
const STOPS: [(&str, &str); 2] = [("<actions", "</actions>"), ("<mcp:tool>", "</mcp:tool>")];
/// What opens code or a quotation.
const QUOTES: [char; 9] = ['`', '"', '\'', '“', '„', '‘', '‚', '«', '‹'];
/// Shorter sentences are looked at together, in bytes.
const LEAST: usize = 24;

/// The turns of a run while they are written.
#[derive(Debug)]
pub(super) struct Stream<'f> {
    filters: &'f [Filter],
    is_listened_to: bool,
    preview: Preview,
    /// How many bytes of the thoughts were shown.
    thoughts: usize,
    /// Up to where the reply of the turn was looked at.
    looked_at: usize,
    /// Whether no more of this turn is shown.
    is_held: bool,
    is_other_told: bool,
    /// What was shown of replies since the message, and how much of it before this turn.
    shown: String,
    before: usize,
}

impl<'f> Stream<'f> {
    pub(super) fn new(filters: &'f [Filter], is_listened_to: bool) -> Self {
        Self {
            filters,
            is_listened_to,
            preview: Preview::default(),
            thoughts: 0,
            looked_at: 0,
            is_held: false,
            is_other_told: false,
            shown: String::new(),
            before: 0,
        }
    }

    /// A turn begins.
    pub(super) fn begin(&mut self) {
        self.preview = Preview::default();
        (self.thoughts, self.looked_at, self.before) = (0, 0, self.shown.len());
        (self.is_held, self.is_other_told) = (false, false);
    }

    /// Takes in what is heard, and tells what may be shown.
    pub(super) fn hear(&mut self, heard: Heard<'_>, tell: &mut dyn FnMut(Written<'_>)) {
        if !self.is_listened_to {
            return;
        }
        match heard {
            Heard::Reading { .. } => {}
            Heard::Again(_) => self.begin(),
            Heard::Thought(thought) => self.thought(thought, tell),
            Heard::Text(piece) => {
                self.preview.push(piece);
                let from = self.thoughts;
                self.thoughts = self.preview.thoughts().len();
                if self.thoughts > from {
                    let thought = self.preview.thoughts().get(from..).unwrap_or_default().to_owned();
                    self.thought(&thought, tell);
                }
                self.reply(tell);
            }
        }
    }

    /// Shows what is thought. Where something has to be withheld only the whole of it would tell what: none of it is shown.
    fn thought(&mut self, thought: &str, tell: &mut dyn FnMut(Written<'_>)) {
        if self.filters.is_empty() {
            tell(Written::Thought(thought));
        } else {
            self.other(tell);
        }
    }

    /// Tells, once a turn, that something is written that is not shown.
    fn other(&mut self, tell: &mut dyn FnMut(Written<'_>)) {
        if !std::mem::replace(&mut self.is_other_told, true) {
            tell(Written::Other);
        }
    }

    /// Whether something of the present turn was shown as a reply.
    pub(super) fn has_spoken(&self) -> bool {
        self.shown.len() > self.before
    }

    /// The reply that the person gets: it begins with what was shown.
    pub(super) fn whole(&self, reply: Option<String>) -> Option<String> {
        if self.shown.is_empty() {
            return reply;
        }
        let reply = reply.unwrap_or_default();
        let before = self.shown.get(..self.before).unwrap_or_default();
        let whole = joined(before, &reply);
        Some(if whole.starts_with(&self.shown) { whole } else { joined(&self.shown, &reply) })
    }

    /// Shows the sentences that came to their end.
    fn reply(&mut self, tell: &mut dyn FnMut(Written<'_>)) {
        let reply = self.preview.reply().unwrap_or_default().trim_start();
        // A filter goes by lines, and what it is about may end with them.
        let by_lines = !self.filters.is_empty();
        while !self.is_held && reply.len() <= MOST {
            let Some(end) = sentence(reply, self.looked_at, by_lines) else { break };
            self.looked_at = end;
            let said = reply.get(..end).unwrap_or_default();
            self.is_held = self.filters.iter().any(|filter| !filter.find(said).is_empty());
            if self.is_held {
                break;
            }
            let before = self.shown.get(..self.before).unwrap_or_default();
            let shown = joined(before, said);
            if let Some(more) = shown.strip_prefix(&self.shown).filter(|more| !more.is_empty()) {
                tell(Written::Reply(more));
                self.shown = shown;
            }
        }
        let is_other = self.is_held || reply.len() > MOST || self.preview.is_other();
        if is_other {
            self.other(tell);
        }
    }
}

/// Ends a turn that begins with a reply where the reply ends, as its stop text should have: what follows was written before
/// anything was seen.
pub(super) fn end_with_reply(answer: &mut Answer) {
    let mut preview = Preview::default();
    preview.push(&answer.text);
    if let Some(end) = preview.end() {
        answer.text.truncate(end);
        answer.end = End::Done;
    }
    close_quotation(&mut answer.text);
}

/// Closes the code or the quotation in which the block stands that ended a turn: the mark that closes it stands behind the stop text, where
/// nobody has read, and without it the model would have asked for what it only quotes.
fn close_quotation(text: &mut String) {
    let opened =
        STOPS.into_iter().find_map(|(open, close)| text.trim_end().ends_with(close).then(|| text.rfind(open))?);
    let before = opened.and_then(|opened| text.get(..opened)).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let Some(mark) = line.chars().next_back().filter(|mark| QUOTES.contains(mark)) else { return };
    let marks = line.len() - line.trim_end_matches(mark).len();
    // A fence that is all of its line, and a mark that closes what another has opened, quote nothing.
    let is_fence = marks >= 3 && line.trim() == "`".repeat(marks);
    let is_straight = mark.is_ascii();
    // An apostrophe ends a word.
    let is_apostrophe = mark == '\'' && line.trim_end_matches(mark).ends_with(char::is_alphanumeric);
    let is_open = !is_straight || marks > 1 || line.matches(mark).count() % 2 == 1;
    if is_open && !is_fence && !is_apostrophe {
        text.extend(std::iter::repeat_n(if is_straight { mark } else { '”' }, marks / mark.len_utf8()));
    }
}

/// What was shown, and then a reply; nothing is said twice where the reply begins with what was shown.
fn joined(shown: &str, reply: &str) -> String {
    if shown.is_empty() || reply.starts_with(shown) {
        reply.to_owned()
    } else if shown.starts_with(reply) {
        shown.to_owned()
    } else {
        format!("{shown}\n\n{reply}")
    }
}

/// The end of the next sentence, or line, behind `from`, once something follows that shows it is one.
fn sentence(text: &str, from: usize, by_lines: bool) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut characters = rest.char_indices().peekable();
    let (mut has_mark, mut end) = (false, 0);
    while let Some((at, character)) = characters.next() {
        let after = characters.peek().map(|(_, next)| *next)?;
        if character.is_whitespace() {
            let is_end = if by_lines { character == '\n' } else { character == '\n' || has_mark };
            // A sentence goes on behind a full stop where a small letter or a digit follows.
            let goes_on =
                character != '\n' && (after.is_lowercase() || after.is_ascii_digit() || after.is_whitespace());
            if is_end && end > 0 && !goes_on && (end >= LEAST || character == '\n') {
                return Some(from + end);
            }
            has_mark &= character != '\n' && after.is_whitespace();
        } else {
            end = at + character.len_utf8();
            let is_closing = matches!(character, '"' | '\'' | ')' | ']' | '”' | '’' | '*' | '_');
            has_mark = matches!(character, '.' | '!' | '?' | '…' | '。' | '！' | '？') || has_mark && is_closing;
        }
    }
    None
}

#[cfg(test)]
mod tests;
