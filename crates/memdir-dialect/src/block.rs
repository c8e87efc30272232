//! One block of actions: what stands between `<actions>` and `</actions>`, read into items.
//!
//! Owns where a block starts and ends, and whether all of it is there. What an item means is for [`super::call`].

use serde_json::{Map, Value};

use super::json::{Defect, MAX_DEPTH, Reader, Stop};
use super::repair::{Repair, Repairs};
use super::tag::{Kind, Tag, next_tag};
use memdir_core::action::Span;

/// How many calls a text may hold, so that its answer stays in proportion to memory.
pub(super) const MAX_CALLS: usize = 10_000;

/// What stands in a list where a call should.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) span: Span,
    pub(super) body: Body,
    pub(super) defect: Option<Defect>,
}

impl PartialEq for Item {
    /// Compares what the items say, not where.
    fn eq(&self, other: &Self) -> bool {
        self.defect.is_none() && other.defect.is_none() && self.body == other.body
    }
}

/// The value of an [`Item`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Object(Map<String, Value>),
    Other(Value),
}

/// How a block ended before its time.
#[derive(Clone, Debug)]
pub(super) struct Break {
    /// The call in which it ended.
    pub(super) partial: Option<Item>,
    pub(super) cause: Cause,
    /// Whether what follows may be part of a text whose end was not found.
    pub(super) doubt: bool,
}

/// Why a block ended before its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cause {
    /// The text ended.
    Cut,
    /// A tag came before the end of the list.
    Unclosed,
    /// Something stands where it cannot be read; `message` says what and where.
    Broken { message: String, hint: &'static str },
}

/// A block of actions.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) items: Vec<Item>,
    pub(super) broken: Option<Break>,
    pub(super) repairs: Repairs,
    /// Where the text goes on.
    pub(super) next: usize,
}

/// Reads the block whose tag ends at `start`. It has at most `room` items.
///
/// Where the tag opens nothing, as in prose that names it, the error is where the text goes on.
pub(super) fn read(text: &str, start: usize, room: usize) -> Result<Block, usize> {
    let mut draft = Draft::new(text, start, room);
    let ending = draft.read();
    if draft.has_begun || !matches!(ending, Err(Stop::Broken { .. } | Stop::Unclosed)) {
        return Ok(draft.finish(ending));
    }
    // No bracket: a block that cannot be read if it is closed, else no block.
    match next_tag(text, draft.reader.at) {
        Some(tag) if closes(tag) => Ok(draft.finish(ending)),
        _ => Err(draft.reader.at),
    }
}

/// The start of a text that begins as JSON, perhaps in a fence.
pub(super) struct Bare {
    /// The calls that it is, where it names some and nothing follows.
    pub(super) block: Option<Block>,
    /// Up to where tags may stand in its texts.
    pub(super) end: usize,
}

/// Reads a text that begins as JSON without any tag before it; `None` for any other text.
pub(super) fn read_bare(text: &str) -> Option<Bare> {
    let trimmed = text.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']);
    if !trimmed.starts_with(['[', '{', '`', '~']) {
        return None;
    }
    let mut draft = Draft::new(text, text.len() - trimmed.len(), MAX_CALLS);
    draft.is_bare = true;
    let ending = draft.read();
    let names_action =
        |item: &Item| matches!(&item.body, Body::Object(map) if map.contains_key(memdir_core::catalog::ACTION));
    let is_calls = !draft.has_more && draft.items.iter().chain(&draft.partial).any(names_action);
    let end = match ending {
        Err(Stop::Broken { .. } | Stop::Unclosed) if !draft.has_more && draft.reader.has_string => text.len(),
        Err(Stop::Cut | Stop::Deep { .. } | Stop::Many) => text.len(),
        Ok(()) | Err(Stop::Broken { .. } | Stop::Unclosed) => draft.reader.at,
    };
    Some(Bare { block: is_calls.then(|| draft.finish(ending)), end })
}

impl Block {
    /// Whether a block says what another said before it.
    pub(super) fn repeats(&self, before: &Self) -> bool {
        self.broken.is_none() && before.broken.is_none() && !self.items.is_empty() && self.items == before.items
    }
}

/// A block while it is read.
struct Draft<'t> {
    text: &'t str,
    start: usize,
    room: usize,
    reader: Reader<'t>,
    items: Vec<Item>,
    partial: Option<Item>,
    /// Lists and lone objects so far.
    count: usize,
    has_lone: bool,
    has_begun: bool,
    is_bare: bool,
    /// Where the last of them ends.
    list_end: usize,
    /// Whether something follows the last list that is no part of it.
    has_more: bool,
    next: Option<usize>,
}

impl<'t> Draft<'t> {
    fn new(text: &'t str, start: usize, room: usize) -> Self {
        Self {
            text,
            start,
            room,
            reader: Reader::new(text, start),
            items: Vec::new(),
            partial: None,
            count: 0,
            has_lone: false,
            has_begun: false,
            is_bare: false,
            list_end: start,
            has_more: false,
            next: None,
        }
    }

    fn read(&mut self) -> Result<(), Stop> {
        self.reader.gap()?;
        self.fence();
        loop {
            self.reader.gap()?;
            match self.reader.peek() {
                Some(b'[') => {
                    self.has_begun = true;
                    self.list()?;
                    if self.count > 0 {
                        self.reader.repairs.add(Repair::SplitList);
                    }
                }
                Some(b'{') => {
                    self.has_begun = true;
                    self.object()?;
                }
                _ => break,
            }
            self.count += 1;
            self.list_end = self.reader.at;
        }
        if self.count > 0 && self.fence() {
            self.reader.gap()?;
        }
        self.end()
    }

    /// Skips a mark of a fence with the language behind it.
    fn fence(&mut self) -> bool {
        let rest = self.reader.rest();
        let Some(mark) = rest.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return false };
        let length = rest.chars().take_while(|character| *character == mark).count();
        if length < 3 {
            return false;
        }
        let is_language = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+');
        let language = rest.bytes().skip(length).take_while(is_language).count();
        self.reader.at += length + language;
        self.reader.repairs.add(Repair::Fence);
        true
    }

    fn list(&mut self) -> Result<(), Stop> {
        self.reader.enter()?;
        loop {
            self.reader.gap()?;
            if self.reader.eat(b']') {
                break;
            }
            self.item()?;
            self.reader.gap()?;
            if self.reader.eat(b']') {
                break;
            }
            if self.reader.eat(b',') {
                self.reader.trailing_comma(b']')?;
            } else if self.reader.peek() == Some(b'{') {
                self.reader.repairs.add(Repair::MissingComma);
            } else {
                return Err(self.reader.broken("`,` or `]`"));
            }
        }
        self.reader.leave();
        Ok(())
    }

    fn item(&mut self) -> Result<(), Stop> {
        let start = self.reader.at;
        if self.items.len() >= self.room {
            return Err(Stop::Many);
        }
        if self.reader.peek() != Some(b'{') {
            let value = self.reader.value()?;
            self.push(start, Body::Other(value));
            return Ok(());
        }
        let mut map = Map::new();
        let ending = self.reader.object(&mut map);
        match ending {
            Ok(()) => self.push(start, Body::Object(map)),
            Err(_) => {
                let span = Span { start, end: self.reader.at };
                self.partial = Some(Item { span, body: Body::Object(map), defect: None });
            }
        }
        ending
    }

    fn push(&mut self, start: usize, body: Body) {
        let defect = self.reader.defect.take();
        self.items.push(Item { span: Span { start, end: self.reader.at }, body, defect });
    }

    /// Reads an object that no list holds: `{"actions": […]}`, or calls.
    fn object(&mut self) -> Result<(), Stop> {
        if self.actions_object()? {
            return Ok(());
        }
        self.has_lone = true;
        self.reader.repairs.add(Repair::LoneObject);
        self.item()?;
        self.reader.gap()?;
        if self.reader.eat(b',') {
            self.reader.gap()?;
            if self.reader.peek() != Some(b'{') {
                return Err(self.reader.broken("`{`"));
            }
        }
        Ok(())
    }

    /// Reads `{"actions": […]}` and nothing else; false, and nothing read, for another object.
    fn actions_object(&mut self) -> Result<bool, Stop> {
        let mut ahead = Reader::new(self.text, self.reader.at);
        let is_start = ahead.eat(b'{')
            && ahead.gap().is_ok()
            && ahead.rest().get(..12).is_some_and(|rest| rest.contains("actions"))
            && ahead.key().is_ok_and(|key| key == "actions")
            && ahead.gap().is_ok()
            && ahead.eat(b':')
            && ahead.gap().is_ok()
            && ahead.peek() == Some(b'[');
        if !is_start {
            return Ok(false);
        }
        self.reader.repairs.add(Repair::ActionsObject);
        self.reader.repairs.extend(&ahead.repairs);
        self.reader.at = ahead.at;
        self.list()?;
        self.reader.gap()?;
        if self.reader.eat(b',') {
            self.reader.trailing_comma(b'}')?;
        }
        if self.reader.eat(b'}') { Ok(true) } else { Err(self.reader.broken("`}`")) }
    }

    /// Decides what follows the last list.
    fn end(&mut self) -> Result<(), Stop> {
        if let Some(tag) = self.reader.tag() {
            return self.end_at(Some(tag));
        }
        if self.reader.peek().is_none() {
            return self.end_at(None);
        }
        if self.count == 0 {
            return Err(self.reader.broken("a list of actions in `[` and `]`"));
        }
        let stop = Stop::Broken { at: self.reader.at, expected: "`</actions>`", doubt: true };
        let tag = next_tag(self.text, self.reader.at);
        let end = tag.map_or(self.text.len(), |tag| tag.start);
        let left = self.text.get(self.reader.at..end).unwrap_or_default();
        if self.is_bare || self.reader.has_quote(self.reader.at..end) {
            self.has_more = true;
            return Err(stop);
        }
        if tag.is_some_and(closes) {
            self.reader.repairs.add(Repair::TextAfterList);
            return self.end_at(tag);
        }
        // A text that holds `"}]` ends like a list too, so other words behind a list may be part of a text.
        if tag.is_some() || !"</actions>".starts_with(left.trim_end()) {
            return Err(stop);
        }
        self.next = Some(self.text.len());
        self.end_without_tag()
    }

    fn end_at(&mut self, tag: Option<Tag>) -> Result<(), Stop> {
        match tag {
            Some(tag) if closes(tag) => {
                self.next = Some(tag.end);
                if self.items.is_empty() {
                    self.reader.repairs.add(Repair::EmptyBlock);
                }
                Ok(())
            }
            Some(_) if self.count == 0 => Err(Stop::Unclosed),
            _ => {
                self.next = Some(tag.map_or(self.text.len(), |tag| tag.start));
                self.end_without_tag()
            }
        }
    }

    /// Only the end of a list says that there is no more; objects without one may have been cut off, and so may a text
    /// that goes on with what looks like a comment.
    fn end_without_tag(&mut self) -> Result<(), Stop> {
        let is_whole = self.count > 0 && (!self.has_lone || self.is_bare && self.count == 1);
        let behind = self.text.get(self.list_end..self.reader.at).unwrap_or_default();
        if self.is_bare && self.count > 1 && self.has_lone {
            let expected = "`[` before several actions, and `]` behind them,";
            return Err(Stop::Broken { at: self.start, expected, doubt: false });
        }
        if !is_whole || behind.contains(['/', '#']) {
            return Err(Stop::Cut);
        }
        if !self.is_bare {
            self.reader.repairs.add(Repair::MissingCloseTag);
        }
        Ok(())
    }

    fn finish(self, ending: Result<(), Stop>) -> Block {
        let Self { text, start, mut reader, items, partial, next, .. } = self;
        let broken = ending.err().map(|stop| {
            let cause = cause(text, start, stop);
            if matches!(cause, Cause::Cut | Cause::Unclosed) {
                reader.repairs.add(Repair::CutOff);
            }
            let doubt = match stop {
                Stop::Broken { doubt, .. } => doubt,
                Stop::Unclosed => partial.is_some(),
                Stop::Cut | Stop::Deep { .. } | Stop::Many => true,
            };
            Break { partial, cause, doubt }
        });
        let next = next.unwrap_or_else(|| match next_tag(text, reader.at) {
            Some(tag) if closes(tag) => tag.end,
            Some(tag) => tag.start,
            None => text.len(),
        });
        Block { items, broken, repairs: reader.repairs, next }
    }
}

fn closes(tag: Tag) -> bool {
    tag.kind == Kind::Actions && tag.closes
}

/// Puts a stop into words.
fn cause(text: &str, start: usize, stop: Stop) -> Cause {
    match stop {
        Stop::Cut => Cause::Cut,
        Stop::Unclosed => Cause::Unclosed,
        Stop::Many => Cause::Broken {
            message: format!("more than {MAX_CALLS} actions in one text"),
            hint: "send fewer actions at once",
        },
        Stop::Deep { at } => Cause::Broken {
            message: format!(
                "more than {MAX_DEPTH} lists and objects inside each other at {}",
                Place::start(start).name(text, at)
            ),
            hint: "send a plain list of actions",
        },
        Stop::Broken { at, expected, doubt } => {
            let found = text.get(at..).and_then(|rest| rest.chars().next());
            let hint = match found {
                Some('&') => "write plain JSON: `<`, `>`, `&` and `\"` as they are, not escaped as in XML",
                _ if doubt => "write `\"` inside a text as `\\\"`, then send the whole block again",
                _ => "send the block again as a JSON list of actions",
            };
            let found = found.map(|found| found.escape_debug().to_string()).unwrap_or_default();
            let place = Place::start(start).name(text, at);
            Cause::Broken { message: format!("expected {expected} at {place}, found `{found}`"), hint }
        }
    }
}

/// A place in a block as people count it, line and column from 1; it only goes forward, so that naming many places
/// costs no more than the block is long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: usize,
    line: usize,
    column: usize,
}

impl Place {
    pub(super) fn start(at: usize) -> Self {
        Self { at, line: 1, column: 1 }
    }

    /// Goes on to `at` and names it.
    pub(super) fn name(&mut self, text: &str, at: usize) -> String {
        let passed = text.get(self.at..at).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        self.column = match passed.rsplit_once('\n') {
            Some((_, last)) => last.chars().count() + 1,
            None => self.column + passed.chars().count(),
        };
        self.at = self.at.max(at);
        format!("line {}, column {}", self.line, self.column)
    }
}
