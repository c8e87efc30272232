//! Where the tags of a turn count: not in thoughts, replies or results, not where Markdown quotes them.
//!
//! Owns the finding of blocks and replies, of whatever dialect; what stands in a block is for its reader. One pass from
//! left to right; whatever looks ahead either consumes what it saw or remembers that it was in vain.

use memchr::{memchr2, memchr3, memmem, memrchr};

use super::block::{self, Block, MAX_CALLS};
use super::mcp_block;
use super::quote::{Fence, Ticks, ends_line, is_in_quotes, is_quote, run, trim_blanks};
use super::repair::{Repair, Repairs};
use super::tag::{Kind, Tag, next_close, next_tag, tag_at};

/// A block where it was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) what: What,
    /// Where it starts, after its tag.
    pub(super) start: usize,
    /// Where the text goes on.
    pub(super) end: usize,
    pub(super) is_fenced: bool,
    /// Whether it stands in lines that Markdown takes for code by their indent.
    pub(super) is_indented: bool,
    /// Whether a block before it has no certain end.
    pub(super) is_after_doubt: bool,
    /// Whether it says once more what the block right before it said.
    pub(super) is_echo: bool,
}

/// What a block holds.
#[derive(Debug)]
pub(super) enum What {
    /// Between `<actions>` and `</actions>`.
    Actions(Block),
    /// Between `<mcp:tool>` and `</mcp:tool>`: one item, or why it cannot be read.
    Tool(Block),
    /// From `<python>` to the place where `</python>` starts; `None` where it does not end.
    Python(Option<usize>),
}

/// A turn while it is read, and what was found in it.
pub(super) struct Turn<'t> {
    text: &'t str,
    at: usize,
    /// Whether the line is part of a block quote.
    is_quoted: bool,
    /// Whether the line is code by its indent, which takes a blank line before it.
    is_indented: bool,
    is_after_blank: bool,
    fence: Option<Fence>,
    ticks: Ticks,
    pub(super) has_tag: bool,
    /// Whether a `<python>` was met that does not end; none that follows does.
    lacks_code_end: bool,
    is_in_doubt: bool,
    /// How many more calls the text may hold.
    room: usize,
    pub(super) blocks: Vec<Found>,
    /// The replies so far, with a blank line between them.
    said: String,
    /// The first reply in a fence.
    fenced_reply: Option<&'t str>,
    replies: usize,
    /// Whether a reply stands neither in a fence nor in code.
    pub(super) has_plain_reply: bool,
    pub(super) repairs: Repairs,
}

impl<'t> Turn<'t> {
    /// Finds the blocks and the replies of a text from `start` on.
    pub(super) fn read(text: &'t str, start: usize) -> Self {
        let mut turn = Self { at: start, ..Self::new(text) };
        turn.scan();
        turn
    }

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
            lacks_code_end: false,
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
            if tag.opens_calls() {
                self.repairs.add(Repair::Quoted);
            }
            at = tag.end;
        }
    }

    fn tag(&mut self, tag: Tag) {
        self.has_tag = true;
        self.at = tag.end;
        if self.is_quoted && !matches!(tag.kind, Kind::Think | Kind::Result | Kind::ToolResult) {
            if tag.opens_calls() {
                self.repairs.add(Repair::Quoted);
            }
            return;
        }
        match (tag.kind, tag.closes) {
            (Kind::Think, false) => self.skip(tag, None, Repair::UnclosedThink),
            (Kind::Result | Kind::ToolResult, false) => {
                self.skip(tag, Some(Repair::EchoedResult), Repair::EchoedResult);
            }
            (Kind::Think, true) => self.end_thoughts(),
            (Kind::Actions, false) => self.actions(tag),
            (Kind::Tool, false) => self.tool(tag),
            (Kind::Python, false) => self.python(tag),
            (Kind::Reply, false) => self.open_reply(tag),
            (_, true) => self.repairs.add(Repair::StrayTag),
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
            Err(next) => return self.stray(next),
        };
        self.room = self.room.saturating_sub(block.items.len() + 1);
        let next = if self.room == 0 { self.text.len() } else { block.next };
        self.found(tag, next, is_doubtful(&block), What::Actions(block));
    }

    fn tool(&mut self, tag: Tag) {
        let block = match mcp_block::read(self.text, tag.end, self.room) {
            Ok(block) => block,
            Err(next) => return self.stray(next),
        };
        let next = if self.room == 0 { self.text.len() } else { block.next };
        self.room = self.room.saturating_sub(1);
        self.found(tag, next, is_doubtful(&block), What::Tool(block));
    }

    /// Takes code up to `</python>`, whatever it holds; without that it may have been cut off anywhere, so what follows
    /// may be part of a text in it.
    fn python(&mut self, tag: Tag) {
        if self.lacks_code_end {
            return self.stray(tag.end);
        }
        // Only the first block is read; the rest of a text with thousands of them costs no more room than its calls would.
        if self.room == 0 {
            self.at = self.text.len();
            return;
        }
        self.room -= 1;
        match next_close(self.text, tag.end, Kind::Python) {
            Some(close) => self.found(tag, close.end, false, What::Python(Some(close.start))),
            None => {
                self.lacks_code_end = true;
                self.found(tag, tag.end, true, What::Python(None));
            }
        }
    }

    /// Leaves a tag aside that opens nothing, as in prose that names it.
    fn stray(&mut self, next: usize) {
        self.repairs.add(Repair::StrayTag);
        self.at = next;
    }

    /// Keeps a block that `tag` opens and goes on at `end`, unless it stands in quotes.
    fn found(&mut self, tag: Tag, end: usize, is_doubtful: bool, what: What) {
        if !tag.is_plain {
            self.repairs.add(Repair::TagSpelling);
        }
        let is_after_doubt = self.is_in_doubt;
        self.is_in_doubt |= is_doubtful;
        if is_in_quotes(self.text, tag.start, end) {
            self.repairs.add(Repair::Quoted);
            self.at = end;
            return;
        }
        let (is_fenced, is_indented) = (self.fence.is_some(), self.is_indented);
        self.blocks.push(Found { what, start: tag.end, end, is_fenced, is_indented, is_after_doubt, is_echo: false });
        self.leave_fence(end);
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

    /// The reply: all that stand in no fence, or the only one.
    pub(super) fn reply(self, has_example: bool) -> Option<String> {
        let only = self.fenced_reply.filter(|_| self.replies == 1 && !has_example).unwrap_or_default();
        let reply = if self.said.is_empty() { only.to_owned() } else { self.said };
        (!reply.is_empty()).then_some(reply)
    }
}

/// Whether what follows a block may be part of a text in it.
fn is_doubtful(block: &Block) -> bool {
    block.broken.as_ref().is_some_and(|broken| broken.doubt)
}
