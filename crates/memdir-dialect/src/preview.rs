//! What can be told of a turn while it is still being written.
//!
//! Owns where thoughts and the reply begin and end in a text of which more is to come. What it tells stays true whatever
//! follows: what may still become a tag is waited for, and of a turn that begins otherwise than with thoughts or a reply nothing is
//! told. What runs is read by [`super::parse`] from the whole turn.

use std::ops::Range;

use memchr::{memchr, memchr3};

use super::tag::{Kind, NAMES, Tag, tag_at};

/// The longest tag that is waited for, in bytes.
const MAX_TAG: usize = 256;

/// A turn of which more is to come.
///
/// The work is linear in the length of the turn, however it is cut into pieces.
///
/// # Examples
///
/// ```
/// use memdir_dialect::Preview;
///
/// let mut preview = Preview::default();
/// preview.push("<think>She asks.</think><reply>It is Par");
/// assert_eq!((preview.thoughts(), preview.reply()), ("She asks.", Some("It is Par")));
/// preview.push("is.</rep");
/// assert_eq!((preview.reply(), preview.end()), (Some("It is Paris."), None));
/// preview.push("ly> and more");
/// assert_eq!((preview.reply(), preview.end()), (Some("It is Paris."), Some(51)));
/// ```
#[derive(Debug, Default)]
pub struct Preview {
    text: String,
    /// Up to where it was looked at.
    at: usize,
    thoughts: String,
    reply: Range<usize>,
    state: State,
}

/// What stands at the place up to which a turn was looked at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    /// Nothing but thoughts was there yet.
    #[default]
    Open,
    Thought,
    Reply,
    /// The reply is over.
    Ended,
    /// It is no turn of thoughts and a reply.
    Other,
}

/// What a `<` is.
enum Sign {
    Tag(Tag),
    /// Part of the text.
    Text,
    /// What follows will tell.
    Unknown,
    /// More than is waited for.
    Endless,
}

impl Preview {
    /// Adds the next piece.
    pub fn push(&mut self, piece: &str) {
        if matches!(self.state, State::Ended | State::Other) {
            return;
        }
        self.text.push_str(piece);
        while self.step() {}
    }

    /// What was thought so far.
    #[must_use]
    pub fn thoughts(&self) -> &str {
        &self.thoughts
    }

    /// The reply so far; `None` where the turn has not begun with one.
    #[must_use]
    pub fn reply(&self) -> Option<&str> {
        match self.state {
            State::Reply | State::Ended => self.text.get(self.reply.clone()),
            State::Open | State::Thought | State::Other => None,
        }
    }

    /// Where the reply ends, after its tag, for a turn that has begun with one.
    #[must_use]
    pub fn end(&self) -> Option<usize> {
        (self.state == State::Ended).then_some(self.at)
    }

    /// Whether the turn has begun with something that is neither a thought nor a reply.
    #[must_use]
    pub fn is_other(&self) -> bool {
        self.state == State::Other
    }

    /// Goes on to the next tag; says whether there was anything to go on to.
    fn step(&mut self) -> bool {
        match self.state {
            State::Open => self.open(),
            State::Thought => self.pass(Kind::Think),
            State::Reply => self.pass(Kind::Reply),
            State::Ended | State::Other => false,
        }
    }

    /// Looks at what stands where thoughts or a reply begin.
    fn open(&mut self) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_ascii_start().len();
        if self.at == self.text.len() {
            return false;
        }
        match self.sign(self.at) {
            Sign::Unknown => return false,
            Sign::Tag(tag) if !tag.closes && tag.kind == Kind::Think => {
                (self.state, self.at) = (State::Thought, tag.end);
            }
            Sign::Tag(tag) if !tag.closes && tag.kind == Kind::Reply => {
                (self.state, self.at, self.reply) = (State::Reply, tag.end, tag.end..tag.end);
            }
            Sign::Tag(_) | Sign::Text | Sign::Endless => self.state = State::Other,
        }
        true
    }

    /// Passes text up to the tag that ends it.
    fn pass(&mut self, kind: Kind) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let Some(offset) = memchr(b'<', rest) else {
            self.take(self.text.len());
            return false;
        };
        let start = self.at + offset;
        match self.sign(start) {
            Sign::Unknown => {
                self.take(start);
                return false;
            }
            Sign::Endless => self.state = State::Other,
            Sign::Text => self.take(start + 1),
            Sign::Tag(tag) if tag.closes && tag.kind == kind => {
                self.take(start);
                self.at = tag.end;
                self.close();
            }
            Sign::Tag(tag) => self.take(tag.end),
        }
        true
    }

    /// Ends what a tag has opened.
    fn close(&mut self) {
        let is_said = self.text.get(self.reply.clone()).is_some_and(|reply| !reply.trim().is_empty());
        self.state = match self.state {
            State::Reply if is_said => State::Ended,
            // Where nothing is said, the turn goes on with something else.
            State::Reply => State::Other,
            State::Open | State::Thought | State::Ended | State::Other => State::Open,
        };
    }

    /// Takes the text up to `end`.
    fn take(&mut self, end: usize) {
        if self.state == State::Thought {
            self.thoughts.push_str(self.text.get(self.at..end).unwrap_or_default());
        } else {
            self.reply.end = end;
        }
        self.at = end;
    }

    /// What the character at `start` begins.
    fn sign(&self, start: usize) -> Sign {
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        if rest.first() != Some(&b'<') {
            return Sign::Text;
        }
        let is_open = is_open(rest.get(1..).unwrap_or_default());
        match tag_at(&self.text, start) {
            _ if is_open && rest.len() > MAX_TAG => Sign::Endless,
            _ if is_open => Sign::Unknown,
            Some(tag) if tag.end - tag.start > MAX_TAG => Sign::Endless,
            Some(tag) => Sign::Tag(tag),
            None => Sign::Text,
        }
    }
}

/// Whether what follows a `<` may become a tag, or another one, by what comes next.
fn is_open(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"/").map_or(rest, <[u8]>::trim_ascii_start);
    let starts = |name: &str| name.as_bytes().get(..rest.len()).is_some_and(|start| start.eq_ignore_ascii_case(rest));
    if NAMES.iter().any(|(name, _)| starts(name)) {
        return true;
    }
    let is_name = |name: &str| rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
    let Some((name, _)) = NAMES.iter().find(|(name, _)| is_name(name)) else { return false };
    let after = rest.get(name.len()..).unwrap_or_default();
    let attributes = after.trim_ascii_start();
    attributes.is_empty()
        || (attributes.len() < after.len()
            && attributes.first().is_some_and(u8::is_ascii_alphabetic)
            && memchr3(b'<', b'>', b'\n', attributes).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// What is known after all pieces.
    fn read(pieces: &[&str]) -> Preview {
        let mut preview = Preview::default();
        pieces.iter().for_each(|piece| preview.push(piece));
        preview
    }

    /// Texts of every kind of turn, well and badly written.
    const TURNS: &[&str] = &[
        "<reply>Hello.</reply>",
        "<think>I greet.</think>\n<reply>Hello, <b>Ada</b> < 3. And more.</reply>",
        "<thinking>a</think> <THINK x=\"1\">b < c</thinking>\n\n<reply >It is é – fine.</ Reply >",
        "<think>a</ think ><actions>[]</actions><reply>no</reply></think><reply>yes</reply>",
        "<reply>It begins. <actions>[{\"action\":\"read_file\",\"path\":\"a.md\"}]</actions>",
        "<reply>It begins. It goes on",
        "<reply>It ends with <rep",
        "<think>never ends <reply>no</reply>",
        "<actions>[{\"action\":\"read_file\",\"path\":\"<reply>\"}]</actions><reply>no</reply>",
        "Hello, plainly. <reply>no</reply>",
        "> <reply>quoted</reply>",
        "```\n<reply>fenced</reply>\n```",
        "<reply></reply><actions>[]</actions>",
        "<mcp:tool>{}</mcp:tool><reply>no</reply>",
        "<!-- <reply>no</reply> --><reply>what</reply>",
        "<think>a</think>    <reply>Indented.</reply>",
        "",
    ];

    #[test]
    fn however_a_turn_is_cut_the_same_is_told_and_it_is_the_beginning_of_the_reply() {
        for turn in TURNS {
            let whole = read(&[turn]);
            let cut = turn.get(..whole.end().unwrap_or(turn.len())).unwrap();
            let reply = parse(cut.as_bytes()).reply.unwrap_or_default();
            let places: Vec<usize> = (0..=turn.len()).filter(|at| turn.is_char_boundary(*at)).collect();
            for &one in &places {
                for &two in places.iter().filter(|two| **two >= one) {
                    let (first, rest) = turn.split_at(one);
                    let (second, third) = rest.split_at(two - one);
                    let preview = read(&[first, second]);
                    let told = preview.reply().unwrap_or_default().trim();
                    assert!(reply.starts_with(told), "{turn:?} up to {two}: {told:?}");
                    let preview = read(&[first, second, third]);
                    assert_eq!(preview.reply(), whole.reply(), "{turn:?} cut at {one} and {two}");
                    assert_eq!((preview.thoughts(), preview.end()), (whole.thoughts(), whole.end()), "{turn:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_told_of_a_whole_turn() {
        let check = |turn: &str, thoughts: &str, reply: Option<&str>, ends: bool| {
            let preview = read(&[turn]);
            assert_eq!(
                (preview.thoughts(), preview.reply(), preview.end().is_some()),
                (thoughts, reply, ends),
                "{turn}"
            );
        };
        check("<reply>Hello.</reply>", "", Some("Hello."), true);
        check("<think>a</think><think>b</think><reply>c", "ab", Some("c"), false);
        check("<actions>[]</actions><reply>no</reply>", "", None, false);
        check("Hello.", "", None, false);
        check("<reply> \n</reply><python>x</python>", "", None, false);
        check("<reply>a</reply><reply>b</reply>", "", Some("a"), true);
    }

    #[test]
    fn a_tag_without_end_is_not_waited_for() {
        let long = format!("<reply {}", "a".repeat(10_000));
        let mut preview = Preview::default();
        for piece in long.as_bytes().chunks(7) {
            preview.push(std::str::from_utf8(piece).unwrap());
        }
        assert!(preview.is_other() && preview.reply().is_none() && preview.text.len() < 300);
    }
}
