//! One block: its name and its parameters, read into the one item that [`super::super::call`] knows.

use serde_json::{Map, Value};

use super::pairs;
use crate::block::{Block, Body, Break, Cause, Item, MAX_CALLS, Place};
use crate::json::{Defect, MAX_DEPTH, Reader, Stop};
use crate::tag::{Kind, next_tag};
use memdir_core::action::Span;
use memdir_core::catalog::{self, ACTION};

const CLOSE: &str = "</mcp:tool>";
const FORM: &str =
    "send `<mcp:tool>`, `name: memory`, `parameters: {\"operation\":\"list\"}` and `</mcp:tool>`, each on a line";

/// Reads the block whose tag ends at `start`, into one item or one break, where the text has `room` for it.
///
/// Where the tag opens nothing, as in prose that names it, the error is where the text goes on.
pub(crate) fn read(text: &str, start: usize, room: usize) -> Result<Block, usize> {
    let mut draft =
        Draft { text, reader: Reader::new(text, start), name: None, parameters: Map::new(), is_whole: false };
    let ending = if room == 0 { Err(Stop::Many) } else { draft.read() };
    let is_closed = |at| next_tag(text, at).is_some_and(|tag| tag.kind == Kind::Tool && tag.closes);
    if draft.name.is_none()
        && matches!(ending, Err(Stop::Broken { .. } | Stop::Unclosed))
        && !is_closed(draft.reader.at)
    {
        return Err(draft.reader.at);
    }
    Ok(draft.finish(start, ending))
}

/// A block while it is read.
struct Draft<'t> {
    text: &'t str,
    reader: Reader<'t>,
    name: Option<String>,
    parameters: Map<String, Value>,
    /// Whether all parameters were read.
    is_whole: bool,
}

impl Draft<'_> {
    /// Answers where the text goes on.
    fn read(&mut self) -> Result<usize, Stop> {
        self.reader.gap()?;
        if !self.word("name") {
            return Err(self.reader.broken("`name: ` and the name of an action"));
        }
        self.name = Some(self.name()?);
        self.reader.gap()?;
        if self.word("parameters") {
            self.parameters()?;
            self.reader.gap()?;
        }
        self.is_whole = true;
        match self.reader.tag() {
            Some(tag) if tag.kind == Kind::Tool && tag.closes => Ok(tag.end),
            // The end was cut in the tag itself.
            None if CLOSE.starts_with(self.reader.rest().trim_end()) => Err(Stop::Cut),
            _ => {
                self.is_whole = false;
                Err(self.reader.broken("`</mcp:tool>`"))
            }
        }
    }

    /// Takes `word` and the colon behind it.
    fn word(&mut self, word: &str) -> bool {
        let after = self.reader.rest().strip_prefix(word).map(|rest| rest.trim_start_matches([' ', '\t']));
        let Some(rest) = after.and_then(|rest| rest.strip_prefix(':')) else { return false };
        self.reader.at = self.text.len() - rest.trim_start_matches([' ', '\t']).len();
        true
    }

    fn name(&mut self) -> Result<String, Stop> {
        let rest = self.reader.rest();
        let is_quoted = rest.starts_with('"');
        let bare = rest.strip_prefix('"').unwrap_or(rest);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/');
        let length = bare.bytes().take_while(is_part).count();
        let is_ended = !is_quoted || bare.get(length..).is_some_and(|rest| rest.starts_with('"'));
        if length == 0 || !is_ended {
            return Err(self.reader.broken("the name of an action"));
        }
        self.reader.at += length + if is_quoted { 2 } else { 0 };
        Ok(bare.get(..length).unwrap_or_default().to_owned())
    }

    fn parameters(&mut self) -> Result<(), Stop> {
        if pairs::stand_here(self.text, &self.reader) {
            let row = self.name.as_deref().and_then(catalog::row);
            return pairs::read(self.text, &mut self.reader, row, &mut self.parameters);
        }
        self.reader.gap()?;
        match self.reader.peek() {
            Some(b'{') => self.reader.object(&mut self.parameters),
            _ if self.reader.tag().is_some_and(|tag| tag.kind == Kind::Tool && tag.closes) => Ok(()),
            _ => Err(self.reader.broken("`{`")),
        }
    }

    fn finish(self, start: usize, ending: Result<usize, Stop>) -> Block {
        let Self { text, mut reader, name, mut parameters, is_whole } = self;
        let span = Span { start, end: ending.unwrap_or(reader.at) };
        let mut defect = reader.defect.take();
        let mut map = Map::new();
        if parameters.shift_remove(ACTION).is_some() {
            defect.get_or_insert(Defect::Duplicate(ACTION.to_owned()));
        }
        map.extend(name.map(|name| (ACTION.to_owned(), Value::String(name))));
        map.append(&mut parameters);
        let item = Item { span, body: Body::Object(map), defect };
        let stop = match ending {
            Ok(next) => return Block { items: vec![item], broken: None, repairs: reader.repairs, next },
            Err(stop) => stop,
        };
        let doubt = match stop {
            Stop::Broken { doubt, .. } => doubt,
            Stop::Unclosed | Stop::Cut | Stop::Deep { .. } | Stop::Many => true,
        };
        let cause = cause(text, start, reader.at, stop);
        let next = if cause == Cause::Cut { text.len() } else { after(text, reader.at) };
        // What was read whole and only lacks its end may still read.
        let (items, partial) = if is_whole { (vec![item], None) } else { (Vec::new(), Some(item)) };
        Block { items, broken: Some(Break { partial, cause, doubt }), repairs: reader.repairs, next }
    }
}

/// Where the text goes on behind a block that cannot be read: behind its end, or at the tag that comes before.
fn after(text: &str, at: usize) -> usize {
    match next_tag(text, at) {
        Some(tag) if tag.kind == Kind::Tool && tag.closes => tag.end,
        Some(tag) => tag.start,
        None => text.len(),
    }
}

/// Puts a stop into words.
fn cause(text: &str, start: usize, at: usize, stop: Stop) -> Cause {
    let place = |at: usize| Place::start(start).name(text, at);
    let found = |at: usize| text.get(at..).and_then(|rest| rest.chars().next());
    let shown = |at: usize| found(at).map(|found| found.escape_debug().to_string()).unwrap_or_default();
    match stop {
        Stop::Cut => Cause::Cut,
        Stop::Unclosed => Cause::Broken {
            message: format!("expected `{CLOSE}` at {}, found `{}`", place(at), shown(at)),
            hint: "end the block with `</mcp:tool>`, and send it again",
        },
        Stop::Many => Cause::Broken {
            message: format!("more than {MAX_CALLS} actions in one text"),
            hint: "send fewer actions at once",
        },
        Stop::Deep { at } => Cause::Broken {
            message: format!("more than {MAX_DEPTH} lists and objects inside each other at {}", place(at)),
            hint: "send plain parameters",
        },
        Stop::Broken { at, expected, doubt } => Cause::Broken {
            message: format!("expected {expected} at {}, found `{}`", place(at), shown(at)),
            hint: if doubt { "write `\"` inside a text as `\\\"`, then send the whole block again" } else { FORM },
        },
    }
}
