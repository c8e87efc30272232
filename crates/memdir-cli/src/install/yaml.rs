//! The configuration of goose: an entry in the mapping `extensions`.
//!
//! `saphyr-parser` says what is where. Only block mappings are changed: what is written in braces, or with anchors and tags at
//! the places that matter, is left to the person.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::edit::{
    Edit, FoundEntry, Starts, Trouble, Written, edited, indent, is_first, line_end, line_start, listed, next_line,
    quoted,
};
use super::{Entry, NAME};

pub(super) const LIST: &str = "extensions";
/// How far a level is moved in where the file does not show it.
const STEP: &str = "  ";
/// Deeper files are not read.
const DEEPEST: usize = 64;
/// How many seconds goose waits for an answer.
const TIMEOUT: u32 = 300;

/// A part of the file.
#[derive(Debug)]
struct Node {
    start: usize,
    /// Where the last of what is written in it ends.
    end: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar(String),
    List(Vec<Node>),
    /// Each key, and behind it its value.
    Map(Vec<Node>),
    Alias,
}

/// The file as it is read, event by event.
struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// Where each character starts.
    places: Vec<usize>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, usize, usize), Trouble> {
        let event = self.parser.next_event().ok_or_else(|| unread("it ends early"))?;
        let (event, span) = event.map_err(|error| unread(&error.to_string()))?;
        let byte = |index: usize| self.places.get(index).copied().unwrap_or(self.text.len());
        Ok((event, byte(span.start.index()), byte(span.end.index())))
    }

    fn node(&mut self, depth: usize, event: (Event<'t>, usize, usize)) -> Result<Node, Trouble> {
        let (event, start, end) = event;
        if depth > DEEPEST {
            return Err(unread("it is too deep"));
        }
        match event {
            Event::Scalar(value, style, _, _) => {
                // A block scalar ends with lines that are not its own.
                let written = self.text.get(start..end).unwrap_or_default();
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let end = if is_block { start + written.trim_end().len() } else { end };
                Ok(Node { start, end, kind: Kind::Scalar(value.into_owned()) })
            }
            Event::Alias(_) => Ok(Node { start, end, kind: Kind::Alias }),
            Event::SequenceStart(..) => {
                let (end, items) = self.collection(depth, start)?;
                Ok(Node { start, end, kind: Kind::List(items) })
            }
            Event::MappingStart(..) => {
                let (end, entries) = self.collection(depth, start)?;
                Ok(Node { start, end, kind: Kind::Map(entries) })
            }
            _ => Err(unread("it is no single document")),
        }
    }

    /// What stands in a collection, and where that ends.
    fn collection(&mut self, depth: usize, start: usize) -> Result<(usize, Vec<Node>), Trouble> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd | Event::MappingEnd, ..) => break,
                event => nodes.push(self.node(depth + 1, event)?),
            }
        }
        let last = nodes.iter().map(|node| node.end).max().unwrap_or(start);
        Ok((self.closed(start, last), nodes))
    }

    /// Where a collection ends: behind its bracket, which comes after the last thing in it, else behind that thing.
    fn closed(&self, start: usize, last: usize) -> usize {
        let close = match self.text.get(start..).and_then(|text| text.chars().next()) {
            Some('{') => '}',
            Some('[') => ']',
            _ => return last,
        };
        let from = last.max(start + 1);
        self.text.get(from..).and_then(|rest| rest.find(close)).map_or(last, |at| from + at + 1)
    }
}

fn unread(why: &str) -> Trouble {
    Trouble::Unread(format!("it is no YAML that can be read: {}", why.replace('\n', " ")))
}

/// Reads the file; `None` where nothing is in it.
fn read(text: &str) -> Result<Option<Node>, Trouble> {
    let places = text.char_indices().map(|(at, _)| at).collect();
    let mut reader = Reader { text, parser: Parser::new_from_str(text), places };
    let mut root = None;
    loop {
        match reader.next()? {
            (Event::StreamEnd, ..) => return Ok(root),
            (Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing, ..) => {}
            event if root.is_none() => root = Some(reader.node(0, event)?),
            _ => return Err(unread("it is no single document")),
        }
    }
}

/// All that a text holds, each scalar as a text; an alias is nothing.
pub(super) fn value(text: &str) -> Result<serde_json::Value, Trouble> {
    Ok(read(text)?.map_or(serde_json::Value::Null, Node::into_value))
}

impl Node {
    fn into_value(self) -> serde_json::Value {
        match self.kind {
            Kind::Scalar(_) if self.is_nothing() => serde_json::Value::Null,
            Kind::Scalar(text) => text.into(),
            Kind::List(items) => items.into_iter().map(Self::into_value).collect(),
            Kind::Map(nodes) => {
                let mut nodes = nodes.into_iter();
                let mut entries = serde_json::Map::new();
                while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
                    entries.extend(key.text().map(str::to_owned).map(|key| (key, value.into_value())));
                }
                entries.into()
            }
            Kind::Alias => serde_json::Value::Null,
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(text) if text.is_empty() || text == "~" || text == "null")
            && self.end - self.start <= 4
    }

    fn entries(&self) -> Option<&[[Node; 2]]> {
        if let Kind::Map(nodes) = &self.kind { Some(nodes.as_chunks().0) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Kind::Scalar(text) = &self.kind { Some(text) } else { None }
    }

    /// The one entry of this name.
    fn get(&self, name: &str) -> Result<Option<&[Node; 2]>, Trouble> {
        let mut all = self.entries().unwrap_or_default().iter().filter(|[key, _]| key.text() == Some(name));
        let found = all.next();
        if all.next().is_some() { Err(unread(&format!("it has `{name}` twice"))) } else { Ok(found) }
    }
}

/// The mapping at the top, which has to be written in lines; `None` where nothing is there.
fn root(text: &str) -> Result<Option<Node>, Trouble> {
    let Some(root) = read(text)?.filter(|root| !(root.is_nothing() && root.start == root.end)) else { return Ok(None) };
    if root.entries().is_none() {
        return Err(unread("it is no mapping"));
    }
    let is_block = root.entries().and_then(<[_]>::first).is_none_or(|[key, _]| key.start == root.start);
    let is_flow = text.get(root.start..).is_some_and(|text| text.starts_with('{'));
    if is_flow || !is_block { Err(Trouble::Form("it")) } else { Ok(Some(root)) }
}

pub(super) fn find(text: &str) -> Result<Option<FoundEntry>, Trouble> {
    let Some(root) = root(text)? else { return Ok(None) };
    let Some([list, extensions]) = root.get(LIST)? else { return Ok(None) };
    if extensions.entries().is_none() && !extensions.is_nothing() {
        return Err(unread("its `extensions` is no mapping"));
    }
    let Some([key, value]) = extensions.get(NAME)? else { return Ok(None) };
    let is_flow = text.get(extensions.start..).is_some_and(|text| text.starts_with('{'));
    let cut = (!is_flow && is_first(text, key.start)).then(|| {
        let end = next_line(text, value.end.max(key.end).saturating_sub(1));
        let mut edits: Vec<Edit> = vec![(line_start(text, key.start)..end, String::new())];
        if extensions.entries().is_some_and(|entries| entries.len() == 1) {
            // A key with nothing behind it is no mapping.
            let colon = text.get(list.end..).and_then(|rest| rest.find(':')).map_or(list.end, |at| list.end + at + 1);
            edits.push((colon..colon, " {}".to_owned()));
        }
        edits
    });
    Ok(Some(FoundEntry { starts: starts(text, value)?, lacks: Vec::new(), cut }))
}

fn starts(text: &str, value: &Node) -> Result<Option<Starts>, Trouble> {
    let (Some([_, command]), Some([key, args])) = (value.get("cmd")?, value.get("args")?) else {
        return Ok(None);
    };
    let Kind::List(items) = &args.kind else { return Ok(None) };
    let texts: Option<Vec<String>> = items.iter().map(|item| item.text().map(str::to_owned)).collect();
    // A list in lines, which may be moved in no further than its name, starts right behind that.
    let first = items.first().map_or(args.start, |item| item.start);
    let before = text.get(key.end..first).and_then(|before| before.strip_prefix(':'));
    let start = if before.is_some_and(|before| before.trim() == "-") { key.end + 1 } else { args.start };
    let entry = command.text().zip(texts).map(|(command, args)| Entry { command: command.to_owned(), args });
    let written = Written::Apart { command: command.start..command.end, args: start..args.end };
    Ok(entry.map(|entry| Starts { entry, written }))
}

pub(super) fn add(text: &str, entry: &Entry) -> Result<String, Trouble> {
    let end = line_end(text);
    let root = root(text)?;
    let list = match &root {
        Some(root) => root.get(LIST)?,
        None => None,
    };
    let Some([key, extensions]) = list else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return Ok(format!("{text}{gap}{LIST}:{end}{}", written(end, STEP, entry)));
    };
    let line = next_line(text, key.end);
    let (inner, cut) = match extensions.entries() {
        Some([[first, _], ..]) if is_first(text, first.start) && first.start >= line => {
            (indent(text, first.start), None)
        }
        Some([]) if extensions.end <= line => (STEP, Some(extensions.start..extensions.end)),
        None if extensions.is_nothing() && extensions.end <= line => (STEP, Some(extensions.start..extensions.end)),
        _ => return Err(Trouble::Form("its `extensions`")),
    };
    let gap = if text.get(..line).is_some_and(|before| before.ends_with('\n')) { "" } else { end };
    let mut edits = vec![(line..line, format!("{gap}{}", written(end, inner, entry)))];
    if let Some(nothing) = cut.filter(|nothing| !nothing.is_empty()) {
        let before = text.get(..nothing.start).unwrap_or_default();
        edits.push((before.trim_end_matches(' ').len()..nothing.end, String::new()));
    }
    Ok(edited(text, edits))
}

/// Our entry, with this indent.
fn written(end: &str, inner: &str, entry: &Entry) -> String {
    let lines = [
        "enabled: true".to_owned(),
        "type: stdio".to_owned(),
        format!("name: {NAME}"),
        "description: Long-term memory in Markdown notes".to_owned(),
        format!("cmd: {}", quoted(&entry.command)),
        format!("args: {}", listed(&entry.args)),
        "envs: {}".to_owned(),
        "env_keys: []".to_owned(),
        format!("timeout: {TIMEOUT}"),
    ];
    let lines: String = lines.iter().map(|line| format!("{inner}{STEP}{line}{end}")).collect();
    format!("{inner}{NAME}:{end}{lines}")
}
