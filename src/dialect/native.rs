//! The native dialect: `<think>`, `<actions>` with a JSON list, `<reply>`.
//!
//! Owns where the tags of a turn count: not in thoughts, replies or results, not where Markdown quotes them. One pass
//! from left to right; whatever looks ahead either consumes what it saw or remembers that it was in vain.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memchr::{memchr_iter, memchr2, memchr3, memmem, memrchr};

use super::block::{self, Block, MAX_CALLS};
use super::call::Entries;
use super::repair::{Repair, Repairs};
use super::tag::{Kind, Tag, looks_like_tag, next_close, next_tag, tag_at};
use super::{Frame, Parsed};
use crate::report::Report;

pub(super) fn parse(text: &str, is_lossy: bool) -> Parsed {
    let mut turn = Turn::new(text);
    turn.scan();
    let mut repairs = Repairs::default();
    if is_lossy {
        repairs.add(Repair::InvalidUtf8);
    }
    if !turn.has_tag {
        turn.scan_bare();
    }
    repairs.extend(&turn.repairs);
    let mut entries = Entries::new(text, is_lossy);
    let has_example = turn.gather(&mut entries, &mut repairs);
    let reply = turn.reply(has_example);
    let mut issues: Vec<_> = repairs.issues().collect();
    issues.append(&mut entries.issues);
    Parsed { frame: Frame::Native, entries: entries.entries, script: None, reply, issues }
}

pub(super) fn encode(report: &Report) -> String {
    let json = serde_json::to_string(report).unwrap_or_else(|_| "null".to_owned());
    let mut answer = String::with_capacity(json.len() + 20);
    answer.push_str("<result>\n");
    let mut copied = 0;
    for at in memchr_iter(b'<', json.as_bytes()).filter(|at| looks_like_tag(&json, *at)) {
        answer.push_str(json.get(copied..at).unwrap_or_default());
        answer.push_str("\\u003c");
        copied = at + 1;
    }
    answer.push_str(json.get(copied..).unwrap_or_default());
    answer.push_str("\n</result>");
    answer
}

/// A block where it was found.
#[derive(Debug)]
struct Found {
    block: Block,
    /// Where it starts, after its tag.
    start: usize,
    is_fenced: bool,
    /// Whether it stands in lines that Markdown takes for code by their indent.
    is_indented: bool,
    /// Whether a block before it has no certain end.
    is_after_doubt: bool,
}

/// A fence of Markdown that is open.
#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: u8,
    length: usize,
    /// Whether it has to close in the line in which it opened.
    is_inline: bool,
}

/// A turn while it is read.
struct Turn<'t> {
    text: &'t str,
    at: usize,
    /// Whether the line is part of a block quote.
    is_quoted: bool,
    /// Whether the line is code by its indent, which takes a blank line before it.
    is_indented: bool,
    is_after_blank: bool,
    fence: Option<Fence>,
    ticks: Ticks,
    has_tag: bool,
    is_in_doubt: bool,
    /// How many more calls the text may hold.
    room: usize,
    blocks: Vec<Found>,
    /// The replies so far, with a blank line between them.
    said: String,
    /// The first reply in a fence.
    fenced_reply: Option<&'t str>,
    replies: usize,
    /// Whether a reply stands neither in a fence nor in code.
    has_plain_reply: bool,
    repairs: Repairs,
}

impl<'t> Turn<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            is_quoted: false,
            is_indented: false,
            is_after_blank: true,
            fence: None,
            ticks: Ticks::default(),
            has_tag: false,
            is_in_doubt: false,
            room: MAX_CALLS,
            blocks: Vec::new(),
            said: String::new(),
            fenced_reply: None,
            replies: 0,
            has_plain_reply: false,
            repairs: Repairs::default(),
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn scan(&mut self) {
        self.new_line();
        while let Some(offset) = memchr3(b'<', b'`', b'\n', self.rest()) {
            self.at += offset;
            match self.rest().first() {
                Some(b'\n') => {
                    self.at += 1;
                    self.new_line();
                }
                Some(b'`') => self.backticks(),
                _ if self.rest().starts_with(b"<!--") => self.comment(),
                _ => match tag_at(self.text, self.at) {
                    Some(tag) => self.tag(tag),
                    None => self.at += 1,
                },
            }
        }
    }

    /// Looks at the indent of a line and at what follows it.
    fn new_line(&mut self) {
        let line = self.rest();
        let marked = trim_blanks(line);
        let indent = line.get(..line.len() - marked.len()).unwrap_or_default();
        if ends_line(marked) {
            self.is_after_blank = true;
        } else {
            let is_deep = indent.len() >= 4 || indent.contains(&b'\t');
            self.is_indented = is_deep && (self.is_indented || self.is_after_blank);
            self.is_after_blank = false;
        }
        self.line();
    }

    /// Looks at what a line starts with: a quote, a fence, or neither.
    fn line(&mut self) {
        if self.fence.is_some_and(|fence| fence.is_inline) {
            self.fence = None;
        }
        let line = self.rest();
        let marked = trim_blanks(line);
        self.is_quoted = is_quote(marked);
        let Some(mark) = marked.first().copied().filter(|mark| matches!(mark, b'`' | b'~')) else { return };
        let length = run(marked, mark);
        if length < 3 {
            return;
        }
        self.at += line.len() - marked.len() + length;
        match self.fence {
            Some(fence) if fence.mark == mark && length >= fence.length && ends_line(trim_blanks(self.rest())) => {
                self.fence = None;
            }
            Some(_) => {}
            None => {
                let next = memchr2(b'\n', b'`', self.rest()).and_then(|offset| self.rest().get(offset));
                self.fence = Some(Fence { mark, length, is_inline: mark == b'`' && next == Some(&b'`') });
            }
        }
    }

    /// Looks at backticks inside a line: the end of a fence, the start of one, or code, which is skipped.
    fn backticks(&mut self) {
        let length = run(self.rest(), b'`');
        self.at += length;
        if let Some(fence) = self.fence {
            if fence.is_inline && length >= fence.length {
                self.fence = None;
            }
            return;
        }
        if length >= 3 {
            let is_language = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+');
            let language = self.rest().iter().take_while(is_language).count();
            if ends_line(trim_blanks(self.rest().get(language..).unwrap_or_default())) {
                self.fence = Some(Fence { mark: b'`', length, is_inline: false });
                return;
            }
        }
        let Some(end) = self.ticks.closer(self.text, self.at, length) else { return };
        self.pass_quoted(end);
    }

    /// Skips a comment of HTML, which ends with the text where nothing else ends it.
    fn comment(&mut self) {
        let inside = self.rest().get(4..).unwrap_or_default();
        let end = memmem::find(inside, b"-->").map_or(self.text.len(), |offset| self.at + 4 + offset + 3);
        self.pass_quoted(end);
    }

    /// Skips code or a comment up to `end`, and notes the tags in it.
    fn pass_quoted(&mut self, end: usize) {
        let skipped = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        if let Some(offset) = memrchr(b'\n', skipped) {
            self.is_quoted = is_quote(skipped.get(offset + 1..).unwrap_or_default());
            self.is_indented = false;
        }
        let mut at = self.at;
        self.at = end;
        let text = self.text.get(..end).unwrap_or_default();
        while let Some(tag) = next_tag(text, at) {
            self.has_tag = true;
            if tag.kind == Kind::Actions && !tag.closes {
                self.repairs.add(Repair::Quoted);
            }
            at = tag.end;
        }
    }

    fn tag(&mut self, tag: Tag) {
        self.has_tag = true;
        self.at = tag.end;
        if self.is_quoted && !matches!(tag.kind, Kind::Think | Kind::Result) {
            if tag.kind == Kind::Actions && !tag.closes {
                self.repairs.add(Repair::Quoted);
            }
            return;
        }
        match (tag.kind, tag.closes) {
            (Kind::Think, false) => self.skip(tag, None, Repair::UnclosedThink),
            (Kind::Result, false) => self.skip(tag, Some(Repair::EchoedResult), Repair::EchoedResult),
            (Kind::Think, true) => self.end_thoughts(),
            (Kind::Actions, false) => self.actions(tag),
            (Kind::Reply, false) => self.open_reply(tag),
            (Kind::Actions | Kind::Reply | Kind::Result, true) => self.repairs.add(Repair::StrayTag),
        }
    }

    /// Skips what `tag` opens: up to its end, or all that follows where it has none.
    fn skip(&mut self, tag: Tag, closed: Option<Repair>, unclosed: Repair) {
        if let Some(close) = next_close(self.text, tag.end, tag.kind) {
            closed.into_iter().for_each(|repair| self.repairs.add(repair));
            self.go_on(close.end);
        } else {
            self.repairs.add(unclosed);
            self.at = self.text.len();
        }
    }

    /// Goes on after a tag, where a fence may start as at the start of a line.
    fn go_on(&mut self, at: usize) {
        self.at = at;
        self.line();
    }

    /// Drops what was thought without a tag. Doubt stays: the tag may be part of a text.
    fn end_thoughts(&mut self) {
        self.blocks.clear();
        self.said.clear();
        self.fenced_reply = None;
        self.replies = 0;
        self.has_plain_reply = false;
        self.repairs.clear();
        self.repairs.add(Repair::StrayThink);
        self.fence = None;
        self.room = MAX_CALLS;
        self.go_on(self.at);
    }

    fn actions(&mut self, tag: Tag) {
        let block = match block::read(self.text, tag.end, self.room) {
            Ok(block) => block,
            Err(next) => {
                self.repairs.add(Repair::StrayTag);
                self.at = next;
                return;
            }
        };
        if !tag.is_plain {
            self.repairs.add(Repair::TagSpelling);
        }
        self.room = self.room.saturating_sub(block.items.len() + 1);
        let is_after_doubt = self.is_in_doubt;
        self.is_in_doubt |= block.broken.as_ref().is_some_and(|broken| broken.doubt);
        let next = if self.room == 0 { self.text.len() } else { block.next };
        if is_in_quotes(self.text, tag.start, next) {
            self.repairs.add(Repair::Quoted);
            self.at = next;
            return;
        }
        let (is_fenced, is_indented) = (self.fence.is_some(), self.is_indented);
        self.blocks.push(Found { block, start: tag.end, is_fenced, is_indented, is_after_doubt });
        self.leave_fence(next);
    }

    fn open_reply(&mut self, tag: Tag) {
        let close = next_close(self.text, tag.end, Kind::Reply);
        if close.is_none() {
            self.repairs.add(Repair::UnclosedReply);
        }
        if !tag.is_plain || close.is_some_and(|close| !close.is_plain) {
            self.repairs.add(Repair::TagSpelling);
        }
        let (end, next) = close.map_or((self.text.len(), self.text.len()), |close| (close.start, close.end));
        let reply = self.text.get(tag.end..end).unwrap_or_default().trim();
        self.replies += 1;
        self.has_plain_reply |= self.fence.is_none() && !self.is_indented;
        if self.fence.is_some() {
            self.fenced_reply.get_or_insert(reply);
        } else if !reply.is_empty() {
            self.said.push_str(if self.said.is_empty() { "" } else { "\n\n" });
            self.said.push_str(reply);
        }
        self.leave_fence(next);
    }

    /// Goes on after a closing tag, where a fence may end as at the start of a line.
    fn leave_fence(&mut self, next: usize) {
        self.at = next;
        let after = trim_blanks(self.rest());
        match self.fence {
            Some(fence) if run(after, fence.mark) >= fence.length => {
                self.at += self.rest().len() - after.len() + run(after, fence.mark);
                self.fence = None;
            }
            Some(Fence { is_inline: true, .. }) => {}
            _ => self.go_on(next),
        }
    }

    /// Takes a text without any tag that is nothing but calls.
    fn scan_bare(&mut self) {
        if let Some(block) = block::read_bare(self.text) {
            self.repairs.add(Repair::MissingTags);
            self.blocks.push(Found { block, start: 0, is_fenced: false, is_indented: false, is_after_doubt: false });
        } else if memmem::find(self.text.as_bytes(), b"&lt;actions").is_some() {
            self.repairs.add(Repair::EscapedTags);
        }
    }

    /// Adds the blocks that count to `entries`; true when some did not because they are examples.
    fn gather(&mut self, entries: &mut Entries, repairs: &mut Repairs) -> bool {
        let mut blocks = std::mem::take(&mut self.blocks);
        let has_fenced = blocks.iter().any(|block| block.is_fenced);
        let has_other = self.has_plain_reply || blocks.len() > 1;
        let has_straight = self.has_plain_reply || blocks.iter().any(|block| !block.is_indented);
        let is_example = |block: &Found| block.is_fenced && has_other || block.is_indented && has_straight;
        let has_example = blocks.iter().any(is_example);
        if has_example {
            repairs.add(Repair::Quoted);
            blocks.retain(|block| !is_example(block));
        } else if has_fenced {
            repairs.add(Repair::Fence);
        }
        let echoes = echoes(&blocks);
        for (Found { block, start, is_after_doubt, .. }, is_echo) in blocks.into_iter().zip(echoes) {
            if is_echo {
                repairs.add(Repair::EchoedBlock);
            } else {
                repairs.extend(&block.repairs);
                entries.add(block, start, is_after_doubt);
            }
        }
        has_example
    }

    /// The reply: all that stand in no fence, or the only one.
    fn reply(self, has_example: bool) -> Option<String> {
        let only = self.fenced_reply.filter(|_| self.replies == 1 && !has_example).unwrap_or_default();
        let reply = if self.said.is_empty() { only.to_owned() } else { self.said };
        (!reply.is_empty()).then_some(reply)
    }
}

/// Finds where inline code ends, with the cost of one look at each byte.
#[derive(Debug, Default)]
struct Ticks {
    /// The text up to which a search was in vain, whatever follows: behind a border a new search may find more.
    searched: usize,
    /// The last run of each length that was met.
    last: [usize; 32],
}

impl Ticks {
    /// The end of the code whose opening run of `length` backticks ends at `from`.
    ///
    /// Code ends in its paragraph, before a fence, and before a `<think>`, `<reply>` or `<result>` of a later line:
    /// a backtick in prose must not hide where thoughts begin or end.
    fn closer(&mut self, text: &str, from: usize, length: usize) -> Option<usize> {
        let last = *self.last.get(length)?;
        if from <= self.searched && last < from {
            return None;
        }
        let mut at = from;
        let (mut line_start, mut last_tag) = (None, None);
        while let Some(offset) = memchr3(b'`', b'\n', b'<', text.as_bytes().get(at..).unwrap_or_default()) {
            at += offset;
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            match rest.first() {
                Some(b'`') => {
                    let found = run(rest, b'`');
                    if found == length {
                        return Some(at + found);
                    }
                    if let Some(last) = self.last.get_mut(found) {
                        *last = at;
                    }
                    at += found;
                }
                Some(b'\n') => {
                    let line = trim_blanks(rest.get(1..).unwrap_or_default());
                    let is_fence = run(line, b'`') >= 3 || run(line, b'~') >= 3;
                    if last_tag.is_some() || is_fence || ends_line(line) {
                        self.searched = last_tag.unwrap_or(at);
                        return None;
                    }
                    at += 1;
                    line_start = Some(at);
                }
                _ => {
                    let is_border = tag_at(text, at).is_some_and(|tag| tag.kind != Kind::Actions);
                    match line_start {
                        Some(start) if is_border => {
                            self.searched = start - 1;
                            return None;
                        }
                        _ if is_border => last_tag = Some(at),
                        _ => {}
                    }
                    at += 1;
                }
            }
        }
        self.searched = text.len();
        None
    }
}

/// Which blocks say what an earlier one said. Each is compared with one other, so the work is linear.
fn echoes<'f>(blocks: &'f [Found]) -> Vec<bool> {
    let mut firsts: HashMap<u64, &'f Block> = HashMap::new();
    let is_echo = |found: &'f Found| match firsts.entry(found.block.digest()) {
        Entry::Occupied(first) => found.block.repeats(first.get()),
        Entry::Vacant(place) => {
            if found.block.broken.is_none() {
                place.insert(&found.block);
            }
            false
        }
    };
    blocks.iter().map(is_echo).collect()
}

/// Whether quote marks stand around a piece of text; behind it, a mark of punctuation may come first.
fn is_in_quotes(text: &str, start: usize, end: usize) -> bool {
    let is_mark = |character: char| matches!(character, '"' | '\'' | '\u{2018}'..='\u{201F}' | '«' | '»' | '‹' | '›');
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    let after = after.strip_prefix(['.', ',', ';', ':', '!', '?']).unwrap_or(after);
    before.ends_with(is_mark) && after.starts_with(is_mark)
}

/// Whether a line is part of a block quote, perhaps inside of lists.
fn is_quote(line: &[u8]) -> bool {
    let mut rest = trim_blanks(line);
    loop {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let marks: &[u8] = if digits == 0 { b"-*+" } else { b".)" };
        match rest.get(digits..) {
            Some([mark, after @ ..]) if marks.contains(mark) && matches!(after, [b' ' | b'\t', ..]) => {
                rest = trim_blanks(after);
            }
            _ => return rest.first() == Some(&b'>'),
        }
    }
}

fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    bytes.get(blanks..).unwrap_or_default()
}

fn ends_line(bytes: &[u8]) -> bool {
    matches!(bytes.first(), None | Some(b'\n' | b'\r'))
}

/// How often `byte` stands at the start of `bytes`.
fn run(bytes: &[u8], byte: u8) -> usize {
    bytes.iter().take_while(|found| **found == byte).count()
}
